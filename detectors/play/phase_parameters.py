"""Limits of 5.10: when the ball is dead, what counts as a kick from rest, and which evidence corrects the state."""

from __future__ import annotations

from typing import Annotated

import msgspec

from detectors.play.alive_flag import FlagParameters
from detectors.play.dead_ball_kicks import RestParameters
from detectors.play.evidence import EvidenceParameters
from detectors.play.scene_cuts import CutParameters
from detectors.play.setting_off import SettingOffParameters
from detectors.play.stalls import StallParameters
from detectors.reasons import reason


class VanishedParameters(msgspec.Struct, frozen=True):
    """When a ball that vanishes at a line is out.

    Attributes:
        way_us: it would have crossed the line at most so long after it was seen last.
        flagged_us: it stays away for this long, if the alive flag says dead.
        flag_us: the flag says so at most this long before the ball vanishes.
        away_us: it stays away for this long, if there is no flag, or nothing came in meanwhile.
        held_us: the same at the mouth of a goal, where the goalkeeper may hold it unseen.
        hidden: after so many appearances where it was kicked from, a ball that stays away is dead.
        hidden_most: more appearances do not count.
        corner_m: a ball that appears farther from a corner than this, after it went out over a goal line, was kicked
            from the goal area.
        taker_m: who has kicked it is at most this far from there.
        flies_m_s: speed of such a kick until it appears.
    """

    way_us: Annotated[int, reason("Ours: two frames at 10 Hz, and the lag of a velocity.")] = 250_000
    flagged_us: Annotated[int, reason("As settle_us.")] = 400_000
    flag_us: Annotated[int, reason("Ours: both are of one operator, some frames apart.")] = 200_000
    away_us: Annotated[int, reason("As unseen_us.")] = 2_000_000
    held_us: Annotated[int, reason("Law 12: a goalkeeper holds the ball for 8 s, and two to be sure.")] = 10_000_000
    hidden: Annotated[int, reason("Ours: one or two may be chance.")] = 3
    hidden_most: Annotated[int, reason("Ours: a source that changes is known after two restarts.")] = 6
    corner_m: Annotated[float, reason("Ours: half a second of a corner kick.")] = 15.0
    taker_m: Annotated[float, reason("Ours: a run-up of three steps.")] = 4.0
    flies_m_s: Annotated[float, reason("Ours: a goal kick, long or short.")] = 20.0


class PhaseParameters(msgspec.Struct, frozen=True):
    """When the ball is dead, and what counts as a kick from rest.

    Attributes:
        settle_us: a ball that has crossed a line is dead after this time outside, on camera tracking.
        settle_rtls_us: a ball that has crossed a line is dead after this time outside, on radio.
        sure: least confidence of a ball in the goal that ends play at once.
        outside_m: a ball that is found outside without having crossed a line is at least this far outside.
        far_out_m: a ball that has crossed a line is dead at once so far outside.
        post_m: nor does one so near to a post on camera tracking: where it has settled shows whether it is in the net.
        flat_m: nor does a lower one there: its height may be unknown, and it may have flown over the bar.
        net_side_m: a ball in the net, that crossed by a post, is at most this far outside the posts, as it is tracked.
        net_m: a ball in the net is at most this far behind the goal line, as it is tracked.
        net_m_s: a ball that is so fast behind the goal line was not stopped by the net yet.
        net_us: after this time it is in the net if it is no farther than ``net_m``, or had been if it comes back.
        rest_us: least time for which the ball is slow before a kick from rest.
        travel_m: least distance that the ball covers at once from a corner kick, goal kick or kick-off.
        travel_touch_m: least distance that the ball covers at once from a throw-in.
        travel_stop_m: least distance that the ball covers at once from a free kick.
        put_us: if the ball has lain for this long, a free kick may be as short as ``travel_put_m``.
        travel_put_m: least distance that the ball covers at once from a free kick, if it has lain for ``put_us``.
        lay_us: the ball was out over a line, then lay in the field for this long and was kicked as far as a free kick:
            the cause was a stop, before the ball ran out.
        reach_m: greatest distance of the taker from the resting ball.
        left_m: least distance of the kicked ball from its taker.
        keeper_us: time for which a defender in his own penalty area may keep a stalled ball in play.
        play_m: a change of the ball's velocity this near to a player is his contact.
        play_spread_factor: or this many times the median distance of the nearest player at such changes, if it is more.
        spread_step_m: by how much each of them moves the median.
        play_m_s: least change of the ball's velocity at such a contact.
        touch_m_s: the same in play of a ball that rolls: a light contact shows that it has not been stopped yet.
        rolls_m_s: least speed before such a contact.
        offence_m: a ball that ran out had been stopped after its last contact so near to the free kick that follows;
            so near to the centre spot the kick may be a kick-off.
        guard_m: greatest distance from the ball of a defender who keeps it in play (``keeper_us``).
        others_us: a ball that flies after it lay for this long, farther than ``guard_m`` off, was played by others.
        all_players: with fewer in the frame, a player may have done it.
        kicked_us: the kick that ends a pause is dated at most this long before the ball is seen to leave.
        found_us: a ball that was found elsewhere is played at most this long after, if its restart was not seen.
        silence_us: a ball that was not seen for this long has been dead since: it is half-time, or the sources paused.
        replay_us: if a source that does not show all players sent no frame for this long, the ball has been dead since.
        unseen_us: if the ball was unseen for this long before the first sign of play, the restart was taken meanwhile;
            and a calm of all players that is long enough ends play then.
        missed_us: if a dead ball was not seen for this long, it may have been in play meanwhile.
        goal_rest_us: after a goal, the ball lies for at least this long before a restart that is no kick-off.
        interval_us: after a pause this long, a kick that is no kick-off ends it only if everybody sets off with it.
        rest: limits of a rest.
        stall: signs of a stalled ball.
        evidence: what shows that a dead ball is in play.
        setting_off: what players show of a restart whose ball is not seen.
        flag: how far the alive flag of a tracking system is believed.
        vanished: when a ball that vanishes at a line is out.
        cut: when the scene was cut.
    """

    settle_us: Annotated[int, reason("Optical tracks wobble over the line for less.")] = 400_000
    settle_rtls_us: Annotated[int, reason("A radio's ball is exact to some centimetres.")] = 100_000
    sure: Annotated[float, reason("More likely in than not.")] = 0.5
    outside_m: Annotated[
        float,
        reason("Simulated seeds 401 to 420: balls in play are seen up to 0.43 m outside for the settling time."),
    ] = 0.55
    far_out_m: Annotated[float, reason("Ours: five times the error of a keyed ball; see post_m.")] = 2.0
    post_m: Annotated[
        float, reason("Error of a keyed ball: 0.15 to 0.4 m (Linke et al. 2018, as the profile ragged has it).")
    ] = 0.4
    flat_m: Annotated[
        float, reason("Ours: above the noise of a ball that rolls, and of the ground where flights have no height.")
    ] = 0.5
    net_side_m: Annotated[float, reason("As post_m.")] = 0.4
    net_m: Annotated[float, reason("Ours: goals are 2 to 2.5 m deep, and the net bulges.")] = 3.5
    net_m_s: Annotated[float, reason("Ours: above the noise of a television picture's velocities.")] = 3.0
    net_us: Annotated[int, reason("Ours: a ball that the bar has slowed to 4 m/s is beyond net_m by then.")] = 1_000_000
    rest_us: Annotated[int, reason("Portugal-Switzerland 2019.")] = 1_000_000
    travel_m: Annotated[float, reason("These restarts have a position of their own.")] = 3.0
    travel_touch_m: Annotated[float, reason("Opta/TRACAB clip: a lob of 2.5 m to a mate beside the line.")] = 2.0
    travel_stop_m: Annotated[
        float, reason("Players push a dead ball about; Opta/TRACAB clip: one chips it 5.5 m to where the foul was.")
    ] = 6.0
    put_us: Annotated[int, reason("Portugal-Switzerland 2019.")] = 2_500_000
    travel_put_m: Annotated[float, reason("Portugal-Switzerland 2019.")] = 4.0
    lay_us: Annotated[
        int,
        reason(
            "The whistle came before the ball ran out (generated match, seed 19); in Portugal-Switzerland 2019 no dead "
            "ball lies so long where it may not be taken from."
        ),
    ] = 4_000_000
    reach_m: Annotated[
        float, reason("Portugal-Switzerland 2019: at most 1.7 m in 20 restarts; StreamTeam has 3 m.")
    ] = 2.5
    left_m: Annotated[
        float,
        reason(
            "Else the taker runs along the line with the ball in his hands (0.2 to 0.5 m in generated matches; a leg's "
            "length)."
        ),
    ] = 1.0
    keeper_us: Annotated[int, reason("Law 12: 8 s with hands, more with feet.")] = 12_000_000
    play_m: Annotated[float, reason("As a contact of 5.2: a stretched leg.")] = 1.0
    play_spread_factor: Annotated[
        float,
        reason("Simulated matches of television, seeds 432 to 448 and 471 to 478: of 1.5, 2 and 2.5 the best one."),
    ] = 2.0
    spread_step_m: Annotated[float, reason("As ``spread_step_m`` of contacts.")] = 0.05
    play_m_s: Annotated[float, reason("Ours: above the noise of optical velocities.")] = 2.0
    touch_m_s: Annotated[
        float, reason("Simulated seeds 645, 646, 651 and 655 to 659: stops after such touches of dribblers.")
    ] = 0.8
    rolls_m_s: Annotated[float, reason("The same matches: a ball that is picked up has lain, or nearly so.")] = 1.0
    offence_m: Annotated[
        float,
        reason(
            "Law 13.2; simulated seeds 645 to 660: 33 of 34 such free kicks have a contact so near, before the whistle."
        ),
    ] = 4.0
    guard_m: Annotated[float, reason("Ours: farther away he has left the ball alone.")] = 6.0
    others_us: Annotated[
        int, reason("Simulated seeds 401 to 448: at most 0.16 s in play, where a track jumps; else 0.56 s and more.")
    ] = 500_000
    all_players: Annotated[int, reason("Ours: two teams, less one sent off each.")] = 20
    kicked_us: Annotated[int, reason("Ours: five frames at 25 Hz, the fit of a velocity.")] = 200_000
    found_us: Annotated[int, reason("Ours: a pass, and the time that its receiver takes.")] = 4_000_000
    silence_us: Annotated[
        int, reason("Law 7: the break of extra time is a minute at most; a ball in play is lost for seconds.")
    ] = 50_000_000
    replay_us: Annotated[
        int, reason("Ours: television shows replays while the ball is dead; close-ups in play are shorter.")
    ] = 8_000_000
    unseen_us: Annotated[int, reason("Ours; 1, 2 and 4 s are equal on the same matches.")] = 2_000_000
    missed_us: Annotated[
        int, reason("Ours: a kick, and its ball out of play again. `broadcast`, 694, 703 and 713: four more are right.")
    ] = 5_000_000
    goal_rest_us: Annotated[
        int, reason("After a goal a player may kick the ball from the net towards the centre: no restart.")
    ] = 2_000_000
    interval_us: Annotated[
        int, reason("Ours: treatment and reviews are mostly over by then, and half-time is longer (Law 7).")
    ] = 300_000_000
    rest: RestParameters = RestParameters()
    stall: StallParameters = StallParameters()
    evidence: EvidenceParameters = EvidenceParameters()
    setting_off: SettingOffParameters = SettingOffParameters()
    flag: FlagParameters = FlagParameters()
    vanished: VanishedParameters = VanishedParameters()
    cut: CutParameters = CutParameters()
