"""Parameters of the attribution of contacts (5.1, 5.2), and the rule that an input makes of them."""

from __future__ import annotations

from typing import Annotated

import msgspec

from detectors.ball.changes import fit_horizon_us
from detectors.ball.radio_breaks import SHARE_AFTER, fits_radio_breaks, window_states
from detectors.proximity.first_reach import FlightParameters
from detectors.proximity.near import NearParameters
from detectors.reasons import reason
from detectors.signals.sampling import ball_sampling, body_sampling
from football.match_sheet import MatchSheet, Quality
from football.pitch import pitch_of

#: Generated matches on which the numbers for radio were chosen.
_RADIO = "ours, for radio; generated matches, seeds 11 to 30"
#: The fit of the numbers for centroids.
_FITTED = "`bench.contact_weights`, five profiles of tracking, seeds 301 to 324 and 351 to 362"
#: Ragged matches whose contacts were counted one by one.
_RAGGED = "`ragged`, seeds 301 to 315"


class ContactParameters(msgspec.Struct, frozen=True):
    """Attribution of contacts: what hits and touches share.

    Attributes:
        far_m: a contact at a greater distance needs ``far_delta_v_m_s``. On centroids ``near.leg_m`` is added; with
            limb tags the distance is ``near.contact_m``.
        far_delta_v_m_s: least change of velocity at a contact beyond ``far_m``.
        faster_m_s: on centroids, a ball that gets faster by this was played, from however far in reach.
        above_delta_v_m_s: on centroids, least change of a ball above ``near.height_max_m`` that a player made.
        dead_m_s: on centroids, nobody stops a ball beyond ``far_m`` so that it is slower than this.
        nearer_factor: on centroids, a player who is nearer by 1 m is as likely by e to the power of this.
        push_share: on centroids, a player behind the push counts as nearer by this share of the distance, one in front
            of it as farther.
        before_us: on centroids, how far the ball was from a player so long before the contact counts, too.
        before_share: share of that distance that counts.
        before_m: a greater one counts as this.
        after_s: on centroids, a player counts as farther away by what the ball moves away from him within this time.
        after_m_s: a ball that moves away from a player faster counts as this.
        leg_reach_m: on centroids, who is farther away reaches the ball with no foot, but for the noise of positions.
        beyond_factor: metres beyond ``leg_reach_m`` count so many times.
        own_m: on centroids, the player who had the ball counts as so much nearer; as so much farther within
            ``own_from_us`` of the last contact.
        kick_m: on centroids, the player who had the ball counts as so much nearer still if a slow ball leaves fast.
        kick_m_s: on centroids, least speed of a ball that leaves fast.
        slow_kick_m_s: on centroids, greatest speed of a slow ball.
        forward_m: on centroids, who plays the ball straight towards the goal that his team attacks counts as so much
            nearer, who plays it straight back as so much farther, and others by the cosine of the direction.
        lead_m: on centroids, a player counts as nearer by this for each second by which his team would reach the ball
            sooner than the other one, or as farther for each second later.
        lead_max_s: a greater lead counts as this.
        lead_from_m_s: least speed of a ball that leaves for somebody.
        lead_shot_s: a ball that would cross the goal line within this time, no wider than the goal area, may be a shot,
            and leaves for nobody.
        lead_run_m_s: speed of a player who runs for a ball that leaves.
        lead_reaction_s: reaction time of a player who runs for a ball that leaves.
        spread_m: on centroids, greatest median distance of the nearest one at contacts for which distances hold.
        spread_step_m: by how much each contact moves the median.
        spread_share_min: least share at which distances count.
        kicked_reach_m: on centroids, greatest distance of who kicked a ball that got faster by ``kicked_m_s``.
        kicked_m_s: on centroids, a ball that gets faster by this was kicked, though nobody is in reach.
        own_from_us: on centroids, least time between two contacts of one player.
        again_from_us: on centroids, least time between a player's contact and the kick by which the ball gets faster.
        again_m_s: on centroids, a player may have made the ball faster by this sooner than that.
        let_go_m_s: speed at which a carried ball leaves a player.
        again_us: least time between two contacts of hands or trunk.
        touch_m: distance of the ball's centre from the limb that pushed it.
        trunk_touch_m: distance of the ball's centre from the middle of a trunk that pushed it.
        closing_s: metres that count for 1 m/s of a limb's closing speed.
        closing_share: share of the change of velocity at which the limb closed on the ball.
        owner_m: with limb tags, a limb of the player who had the ball counts as so much nearer.
        owner_us: how long a player counts as having had the ball.
        slow_m_s: greatest loss of speed of a low ball without a turn that the ground explains.
        reach_m: greatest distance of a limb from a low ball that it played.
        rest_m_s: greatest speed of a ball that lies.
        hands_m: greatest distance of hands that pick up a ball that lies.
        body_m_s: a smaller change at a trunk or in hands is carrying.
        flying_m_s: least speed of a flying ball, which chests and heads stop or turn.
        weak_m_s: a smaller change needs a limb within ``close_m``.
        close_m: greatest distance of a limb at a weak contact.
        foot_m: a foot within this may have played a ball at a trunk.
        step_us: least time between two contacts of a player's feet.
        step_factor: a second contact that is so many times as strong may come sooner than that.
        other_m: by how much worse another player may fit the second contact.
        block_m: an opponent of the player of the last contact counts as so much nearer.
        air_factor: least change of a high ball in standard errors that only a body explains.
    """

    far_m: Annotated[
        float,
        reason(
            "beyond it every second change as small as a hit's is noise; Opta clip: changes above 2.2 m/s in 12 % of "
            "frames at 1.0 to 1.5 m from a centroid, in 6 % with no player within 2.5 m, in 19 % within 1.0 m"
        ),
    ] = 0.5
    far_delta_v_m_s: Annotated[float, reason("twice a hit's, see far_m")] = 4.4
    faster_m_s: Annotated[float, reason("ours: grass and air only slow a ball; above the noise of a break")] = 1.0
    above_delta_v_m_s: Annotated[
        float,
        reason(
            f"{_RAGGED}: heights are wrong by up to 1 m, and all of 23 such changes, from 6.2 m/s on, are headers of a "
            "player there; in the air nothing else turns a ball but the bar"
        ),
    ] = 6.0
    dead_m_s: Annotated[
        float, reason("ours: a ball that stops dead is trapped under a foot, or the tracking repeats its position")
    ] = 0.5
    nearer_factor: Annotated[float, reason(_FITTED)] = 2.2
    push_share: Annotated[
        float, reason(f"{_FITTED}: a body can only push, so the velocity changes away from the player")
    ] = 0.2
    before_us: Annotated[int, reason("ours; 0.2 and 0.4 s do as well")] = 300_000
    before_share: Annotated[float, reason(_FITTED)] = 0.25
    before_m: Annotated[float, reason("ours: who was farther away has not had the ball, however far")] = 4.0
    after_s: Annotated[float, reason(_FITTED)] = 0.33
    after_m_s: Annotated[float, reason("ours: a ball that is so fast was struck, or not taken")] = 8.0
    leg_reach_m: Annotated[
        float,
        reason(
            "ours, a stretched leg; of 690 contacts of who had the ball, clean matches, 90 % are at 0.78 m at most, of "
            "72 of an opponent who took it half leave him 0.92 m away"
        ),
    ] = 0.8
    beyond_factor: Annotated[
        float, reason(f"{_FITTED}; 2 would do on `ragged`, where places are wrong by as much, 4 on clean tracking")
    ] = 3.5
    own_m: Annotated[float, reason(_FITTED)] = 0.85
    kick_m: Annotated[float, reason(_FITTED)] = 0.9
    kick_m_s: Annotated[
        float,
        reason(
            "ours; a tackle leaves no faster: of 1,141 balls that leave so fast at most 6.5 m/s the last player kicked "
            "1,113; see kick_m"
        ),
    ] = 9.0
    slow_kick_m_s: Annotated[float, reason("ours, a dribbler's ball; see kick_m_s")] = 6.5
    forward_m: Annotated[
        float,
        reason(
            "`ragged`, seeds 301 to 322, `optical` and `optical_keyed`, 381 to 392; 0.25 and 0.45 do nearly as well"
        ),
    ] = 0.35
    lead_m: Annotated[
        float,
        reason(
            "contacts of `ragged`, `optical_keyed` and `optical`, seeds 401 to 420, with two to choose from: 232 wrong "
            "without it, 211 with it; 0.11 to 0.27 do as well"
        ),
    ] = 0.18
    lead_max_s: Annotated[float, reason("as lead_m; 1.5 and 3 do as well, with 1.0 216 are wrong")] = 2.0
    lead_from_m_s: Annotated[float, reason("as lead_m; 7 and 9 do as well, with 3.5 248 are wrong")] = 6.0
    lead_shot_s: Annotated[float, reason("as lead_m; 3.0 does as well, without it 216 are wrong")] = 2.5
    lead_run_m_s: Annotated[float, reason("Spearman's; as lead_m, with 6.5 216 are wrong")] = 5.0
    lead_reaction_s: Annotated[float, reason("Spearman's; as lead_m, with 0.35 217 are wrong")] = 0.7
    spread_m: Annotated[
        float,
        reason(
            "the median is 0.48 to 0.66 in 36 matches of `optical`, `optical_keyed` and `ragged`, 1.0 to 1.3 in ten of "
            "`broadcast`, seeds 301 to 312; with 0.6 `ragged` loses"
        ),
    ] = 0.7
    spread_step_m: Annotated[
        float,
        reason("`broadcast`, seeds 301 to 310, with 0.65 for spread_m: 472 passes of 665 are right, 461 with 0.02"),
    ] = 0.05
    spread_share_min: Annotated[float, reason("ours: who is beyond reach of four metres is nobody near")] = 0.45
    kicked_reach_m: Annotated[
        float, reason("as release.release_m (5.8): a ball that is farther away has left; see kicked_m_s")
    ] = 2.25
    kicked_m_s: Annotated[
        float,
        reason(
            "nothing but a player makes a ball so much faster: of 39 in play whose nearest one is 1.65 to 2.25 m away "
            "he kicked 35, of 6 from 2.5 to 3 m none (whole matches 506, 507, 510, 511, `ragged` 401 to 420 and 301 "
            "to 313, `optical_keyed` 401 to 420)"
        ),
    ] = 5.0
    own_from_us: Annotated[int, reason("ours: a player's second contact takes as long")] = 200_000
    again_from_us: Annotated[
        int,
        reason(
            "two breaks closer together are one kick; on the matches of kicked_m_s the nearest one in reach made 73 of "
            "83 later ones by which the ball gets faster by 3 m/s or more"
        ),
    ] = 130_000
    again_m_s: Annotated[
        float,
        reason(f"{_RAGGED}: 14 of 19 such contacts are kicks, one is another's; times of keyed contacts are wrong"),
    ] = 3.0
    let_go_m_s: Annotated[
        float, reason("ours: a throw; a carrier shakes the ball, but no arm is that fast against its body")
    ] = 4.0
    again_us: Annotated[
        int, reason("ours: hands and trunks push once, of which radio shows both ends; a throw takes up to 0.1 s")
    ] = 120_000
    touch_m: Annotated[float, reason(f"the ball's radius and 2 cm of boot; {_RADIO}")] = 0.13
    trunk_touch_m: Annotated[float, reason(f"half of a shoulder's width; {_RADIO}")] = 0.25
    closing_s: Annotated[
        float,
        reason(
            "of 319 hits with two players within 0.5 m, seeds 11 to 30, 3 are the other's from 0.015 to 0.02, 4 with "
            "0.01, 5 with 0.03; the team that had the ball before, or has it next, is no better evidence"
        ),
    ] = 0.015
    closing_share: Annotated[float, reason(_RADIO)] = 0.77
    owner_m: Annotated[float, reason(_RADIO)] = 0.05
    owner_us: Annotated[int, reason("ours")] = 2_000_000
    slow_m_s: Annotated[
        float,
        reason(
            f"{_RADIO}: of 35 false contacts 14 were a ball that slowed where it lands or rolls, as one in 1,656 true "
            "ones looks"
        ),
    ] = 3.0
    reach_m: Annotated[float, reason("hierarchy 5.3")] = 0.5
    rest_m_s: Annotated[float, reason(_RADIO)] = 0.5
    hands_m: Annotated[float, reason(f"{_RADIO}: a ball that lies does not rise by itself")] = 1.0
    body_m_s: Annotated[
        float,
        reason(f"{_RADIO}: of 43 false contacts 17 were a dead ball in hands, that changed by 3.0 to 4.4 m/s"),
    ] = 4.5
    flying_m_s: Annotated[float, reason(_RADIO)] = 8.0
    weak_m_s: Annotated[float, reason(f"{_RADIO}: a ball that lands beside a foot is slowed as much")] = 2.5
    close_m: Annotated[float, reason(_RADIO)] = 0.25
    foot_m: Annotated[float, reason(_RADIO)] = 0.2
    step_us: Annotated[int, reason(f"{_RADIO}: no two true contacts of one player are less than 225 ms apart")] = 80_000
    step_factor: Annotated[float, reason(_RADIO)] = 3.0
    other_m: Annotated[
        float, reason(f"{_RADIO}: of 1,692 true contacts in play 13 were another player's, 7 with all these rules")
    ] = 0.1
    block_m: Annotated[float, reason("ours: the opponent was in the way")] = 0.05
    air_factor: Annotated[
        float,
        reason(
            "in the air only a body turns the ball; from 7.6 on, which every peak has; seeds 11 to 23: 3 of 4 such "
            "contacts found, none invented"
        ),
    ] = 8.0


class ContactRule(msgspec.Struct, frozen=True):
    """How a waiting contact becomes an event.

    Attributes:
        kind: of the event.
        horizon_us: greatest age of the contact.
        far_m: distance beyond which it is doubted.
        far: the parameter that decides it.
        reach_m: greatest distance of a centroid.
        height_m: greatest height of a ball that a centroid plays.
        limbs: whether limbs are known.
        low_m: greatest height of a ball that is played with feet.
        pair_us: a second contact within this is judged together with the first.
        p: parameters of the detector.
        share_min: least share of its speed by which a hit changes the ball's velocity; 0 for none.
        as_if: what an explanation says of distances that are not those measured.
        flight: who would reach a ball that leaves, and when.
        goal_line_m: distance of the goal lines from the middle.
    """

    kind: str
    horizon_us: int
    far_m: float
    far: str
    reach_m: float
    height_m: float
    limbs: bool
    low_m: float
    pair_us: int
    p: ContactParameters
    share_min: float = 0.0
    as_if: str = ""
    flight: FlightParameters = FlightParameters()
    goal_line_m: float = 52.5


def known_after_us(quality: Quality) -> int:
    """Delay after which a break of a radio ball is known: waiting for less costs no latency."""
    return round(SHARE_AFTER * window_states(quality)) * ball_sampling(quality).period_us


def contact_rule(
    kind: str, sheet: MatchSheet, p: ContactParameters, near: NearParameters, longer_us: int = 0, share_min: float = 0.0
) -> ContactRule:
    """The rule for an input. The frame that closes a contact's instant comes within one period, or two.

    A radio's break is known late enough that a hit may wait a while without being reported later.
    """
    limbs = bool(sheet.quality.limbs)
    paired = fits_radio_breaks(sheet.quality) and not longer_us
    pair_us = max(0, known_after_us(sheet.quality) - body_sampling(sheet.quality).period_us) if paired else 0
    horizon_us = max(fit_horizon_us(sheet), 2 * body_sampling(sheet.quality).period_us) + longer_us
    far_m, far = (near.contact_m, "near.contact_m") if limbs else (p.far_m + near.leg_m, f"{kind}.far_m")
    return ContactRule(
        kind,
        horizon_us,
        far_m,
        far,
        near.leave_m + near.leg_m,
        near.height_max_m,
        limbs,
        near.trunk_low_m,
        pair_us,
        p,
        share_min,
        flight=FlightParameters(reaction_s=p.lead_reaction_s, run_m_s=p.lead_run_m_s),
        goal_line_m=pitch_of(sheet).half_length_m,
    )
