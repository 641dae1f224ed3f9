"""Attribute contacts with the ball to players: the rules of 5.1 and 5.2.

Theory of operation
-------------------
The change of the ball's velocity shows where the limb or trunk was that pushed the ball, and how fast it moved. With
limb tags, the contact is given to the candidate that fits this best. Without them (*centroids*), each candidate has a
chance to have made it: a greater one by distance, by the side that the ball was pushed from, by how near it was to him
before, by how slowly it leaves him, and if he made the last contact. Who made that is no more than likely: each
candidate's chance is kept, and counts as far as it goes. So a contact that was given to a neighbour does not take the
next ones along. The most likely player gets the contact. If he cannot have made it, nobody does.

No player plays the ball twice within some 50 ms. If two contacts so close both fit one player best, one of them is
given to another player at the ball, whichever fits better. Without another player, the second is part of the first.
"""

from __future__ import annotations

import math
from typing import Annotated

import msgspec

from detectors.ball.changes import break_horizon_us
from detectors.ball.radio_breaks import SHARE_AFTER, fits_radio_breaks, window_states
from detectors.ball.trajectory_breaks import only_slowed
from detectors.contacts.recent_contacts import opponents_of
from detectors.decisions import at_least, at_most
from detectors.proximity.near import Candidate, Closest, NearParameters
from detectors.reasons import reason
from detectors.signals.sampling import ball_sampling, body_sampling
from football.match_sheet import MatchSheet, Quality, Team
from football.payloads import EventPayload, number
from football.pitch import GOAL_HALF_WIDTH_M, pitch_of

#: Generated matches on which the numbers for radio were chosen.
_RADIO = "ours, for radio; generated matches, seeds 11 to 30"
#: A player who is more likely by e to the power of this is certain.
_CERTAIN = 30.0
#: The fit of the numbers for centroids.
_FITTED = "`bench.contact_weights`, five profiles of tracking, seeds 301 to 324 and 351 to 362"


class ContactParameters(msgspec.Struct, frozen=True):
    """Attribution of contacts: what hits and touches share.

    Attributes:
        far_m: a contact at a greater distance needs ``far_delta_v_m_s``. On centroids ``near.leg_m`` is added; with
            limb tags the distance is ``near.contact_m``.
        far_delta_v_m_s: least change of velocity at a contact beyond ``far_m``.
        faster_m_s: on centroids, a ball that gets faster by this was played, from however far in reach.
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
        goal_m: on centroids, who defends a goal counts as so much farther from a ball that leaves for it.
        goal_from_m: the ball is at most so far from that goal line.
        goal_m_s: it leaves for the goal line at least so fast.
        goal_before_m_s: before, it came nearer to that line at most so fast; a faster one may come off a defender.
        goal_wide_m: it would miss the goal by at most this.
        own_from_us: on centroids, least time between two contacts of one player.
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
    goal_m: Annotated[float, reason(_FITTED)] = 1.4
    goal_from_m: Annotated[float, reason("ours: the penalty area and a step")] = 20.0
    goal_m_s: Annotated[float, reason("ours, as shot.close_speed_min_m_s: nobody plays so hard at his own goal")] = 6.0
    goal_before_m_s: Annotated[float, reason("as goal_m; 2.7 at most in five shots, 3.2 and more in two blocks")] = 3.0
    goal_wide_m: Annotated[float, reason("ours: a shot that misses the goal by more may be a cross")] = 4.0
    own_from_us: Annotated[int, reason("ours: a player's second contact takes as long")] = 200_000
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
        half_length_m: of the pitch.
        share_min: least share of its speed by which a hit changes the ball's velocity; 0 for none.
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
    half_length_m: float
    share_min: float = 0.0


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
    horizon_us = max(break_horizon_us(sheet), 2 * body_sampling(sheet.quality).period_us) + longer_us
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
        pitch_of(sheet).half_length_m,
        share_min,
    )


#: Object ids, and the chance of each.
Chances = tuple[tuple[str, float], ...]


class PreviousContact(msgspec.Struct, frozen=True, gc=False):
    """The last contact: time, player, team, change of the ball's velocity; and the team that attacks +x.

    ``chances``: on centroids, of each candidate that he made it.
    """

    at_us: int = -(2**62)
    by: str = ""
    team: Team = ""
    m_s: float = 0.0
    attacks: Team = ""
    chances: Chances = ()


def player_of(
    candidates: tuple[Candidate, ...], ts_us: int, payload: EventPayload, last: PreviousContact, rule: ContactRule
) -> Candidate | None:
    """The candidate that made a contact; None if no candidate did."""
    p = rule.p
    if not candidates:
        return None
    since_us = ts_us - last.at_us
    by = (
        _striker(payload, candidates, p, last, since_us)
        if rule.limbs
        else _pusher(payload, candidates, rule, last, since_us)
    )
    low = payload.z_m is not None and payload.z_m <= rule.low_m
    if rule.limbs and not low and since_us <= p.owner_us and by.object_id != last.by and _is_turned(payload, p):
        return by
    about, change_m_s = (rule.kind, by.object_id), number(payload, "delta_v_m_s")
    what = "the ball from the limb" if rule.limbs else "the ball from the player"
    near = at_most(what, by.distance_m, rule.far_m, rule.far, about)
    if not rule.limbs and not near:
        return by if _is_far_contact(by, payload, rule) and _by_body(by, since_us, payload, last, rule) else None
    what, parameter = "change of velocity so far away", f"{rule.kind}.far_delta_v_m_s"
    if not near and not at_least(what, change_m_s, p.far_delta_v_m_s, parameter, about):
        return None
    if not rule.limbs:
        return by if _by_body(by, since_us, payload, last, rule) else None
    if by.distance_m > p.close_m and number(payload, "delta_v_m_s") < p.weak_m_s:
        return None
    if low and by.distance_m > p.reach_m and not _is_picked_up(payload, by, p):
        return None
    is_foot = _by_foot(by, candidates, p.foot_m)
    flies = number(payload, "speed_before_m_s") >= p.flying_m_s
    if not is_foot and not flies and number(payload, "delta_v_m_s") < p.body_m_s:
        return None
    if by.object_id != last.by:
        return by
    if is_foot:
        same = since_us <= p.step_us and number(payload, "delta_v_m_s") < p.step_factor * last.m_s
        return None if same or (low and since_us <= p.owner_us and _only_slowed(payload, p.slow_m_s)) else by
    return None if since_us <= p.again_us or _is_carried(payload, by, p.let_go_m_s) else by


def _by_foot(by: Candidate, candidates: tuple[Candidate, ...], foot_m: float) -> bool:
    """True if it was a foot, or may have been: a ball at a trunk is often near a raised foot too."""
    return "foot" in by.limb or any(
        "foot" in r.limb and r.object_id == by.object_id and r.distance_m <= foot_m for r in candidates
    )


def _is_turned(payload: EventPayload, p: ContactParameters) -> bool:
    """True if the velocity changed by so much that in the air only a body can have done it; air only slows a ball."""
    sure = number(payload, "delta_v_m_s") >= p.air_factor * number(payload, "noise_m_s")
    return sure and not _only_slowed(payload, p.slow_m_s)


def _is_picked_up(payload: EventPayload, by: Candidate, p: ContactParameters) -> bool:
    """True if hands may have taken a ball that lay."""
    lay = number(payload, "speed_before_m_s") <= p.rest_m_s
    return lay and by.distance_m <= p.hands_m and number(payload, "delta_v_m_s") >= p.body_m_s


def _is_carried(payload: EventPayload, by: Candidate, let_go_m_s: float) -> bool:
    """True if the ball stays in the hands, or against the trunk, of the player."""
    return math.hypot(number(payload, "vx_m_s") - by.vx_m_s, number(payload, "vy_m_s") - by.vy_m_s) < let_go_m_s


def _only_slowed(payload: EventPayload, slow_m_s: float) -> bool:
    """True if the ball keeps its path and only slows a little."""
    change = number(payload, "delta_vx_m_s"), number(payload, "delta_vy_m_s")
    return only_slowed((number(payload, "vx_m_s") - change[0], number(payload, "vy_m_s") - change[1]), change, slow_m_s)


def candidates_at(closest: Closest, ts_us: int, payload: EventPayload) -> tuple[Candidate, ...]:
    """The candidates of a contact, nearest first: centroids as they were at its instant, from its position."""
    if closest.ball is None or payload.x_m is None or payload.y_m is None:
        return closest.candidates
    later_s = (ts_us - closest.ts_us) * 1e-6
    x_m, y_m = payload.x_m - closest.ball[0], payload.y_m - closest.ball[1]
    there = []
    for r in closest.candidates:
        dx_m, dy_m = r.dx_m + x_m - r.vx_m_s * later_s, r.dy_m + y_m - r.vy_m_s * later_s
        there.append(msgspec.structs.replace(r, dx_m=dx_m, dy_m=dy_m, distance_m=math.hypot(dx_m, dy_m)))
    return tuple(sorted(there, key=lambda r: (r.distance_m, r.key)))


def _pusher(
    payload: EventPayload, candidates: tuple[Candidate, ...], rule: ContactRule, last: PreviousContact, since_us: int
) -> Candidate:
    """The most likely centroid; of two the nearer one."""
    chances = chances_of(candidates, payload, rule, last, since_us)
    return max(zip(chances, candidates, strict=True), key=lambda pair: pair[0][1])[1]


def chances_of(
    candidates: tuple[Candidate, ...], payload: EventPayload, rule: ContactRule, last: PreviousContact, since_us: int
) -> Chances:
    """The chance of each centroid that he made a contact.

    Each counts by his distance, by the push, by how far the ball was from him before and how fast it moves away from
    him, and by the goal that it leaves for; and as nearer, with the chance that he had the ball, if not long ago.
    """
    p, defends = rule.p, _defending(payload, rule, last.attacks)
    vx, vy = number(payload, "vx_m_s"), number(payload, "vy_m_s")
    dvx, dvy = number(payload, "delta_vx_m_s"), number(payload, "delta_vy_m_s")
    size, before_s = math.hypot(dvx, dvy) or 1.0, p.before_us * 1e-6
    had = dict(last.chances) if since_us <= p.owner_us else {}
    own_m = -p.own_m if since_us < p.own_from_us else p.own_m + (p.kick_m if _is_kicked(payload, p) else 0.0)
    own = math.expm1(min(p.nearer_factor * own_m, _CERTAIN))

    def cost_m(r: Candidate) -> float:
        reached_m = min(r.distance_m, p.leg_reach_m)
        away_m = reached_m + p.beyond_factor * (r.distance_m - reached_m)
        leaves_x, leaves_y = vx - r.vx_m_s, vy - r.vy_m_s
        before_m = math.hypot(r.dx_m - before_s * (leaves_x - dvx), r.dy_m - before_s * (leaves_y - dvy))
        pushed_m = (r.dx_m * dvx + r.dy_m * dvy) / size
        around_m = p.before_share * min(before_m, p.before_m) - p.push_share * pushed_m
        after_m = p.after_s * min(math.hypot(leaves_x, leaves_y), p.after_m_s)
        return away_m + around_m + after_m + (p.goal_m if r.team == defends else 0.0)

    costs_m = [cost_m(r) for r in candidates]
    least_m = min(costs_m)
    weights = [
        math.exp(p.nearer_factor * (least_m - cost_m)) * (1.0 + had.get(r.object_id, 0.0) * own)
        for r, cost_m in zip(candidates, costs_m, strict=True)
    ]
    total = sum(weights)
    return tuple((r.object_id, weight / total) for r, weight in zip(candidates, weights, strict=True))


def _defending(payload: EventPayload, rule: ContactRule, attacks: Team) -> Team:
    """The team whose goal a ball leaves for, hard and from near it; empty if none. Nobody plays so at his own goal."""
    vx, p = number(payload, "vx_m_s"), rule.p
    sign = math.copysign(1.0, vx)
    if not attacks or payload.x_m is None or payload.y_m is None or abs(vx) < p.goal_m_s:
        return ""
    depth_m = rule.half_length_m - sign * payload.x_m
    across_m = payload.y_m + number(payload, "vy_m_s") * depth_m / abs(vx)
    under_way = sign * (vx - number(payload, "delta_vx_m_s")) > p.goal_before_m_s
    if under_way or not 0.0 <= depth_m <= p.goal_from_m or abs(across_m) > GOAL_HALF_WIDTH_M + p.goal_wide_m:
        return ""
    return opponents_of(attacks) if sign > 0.0 else attacks


def _is_kicked(payload: EventPayload, p: ContactParameters) -> bool:
    """True if a ball that was slow leaves fast. Who has it kicks so; an opponent has to win it before."""
    before_m_s, after_m_s = number(payload, "speed_before_m_s"), number(payload, "speed_after_m_s")
    return before_m_s <= p.slow_kick_m_s and after_m_s >= p.kick_m_s


def _is_far_contact(by: Candidate, payload: EventPayload, rule: ContactRule) -> bool:
    """True if a centroid so far away may have played the ball: it was kicked or turned, not stopped dead.

    Nothing but a player makes a ball faster; then the distance is an error of the positions.
    """
    p, about, kind = rule.p, (rule.kind, by.object_id), rule.kind
    before_m_s, after_m_s = number(payload, "speed_before_m_s"), number(payload, "speed_after_m_s")
    if at_least("gain of speed so far away", after_m_s - before_m_s, p.faster_m_s, f"{kind}.faster_m_s", about):
        return True
    what, change_m_s = "change of velocity so far away", number(payload, "delta_v_m_s")
    hard = at_least(what, change_m_s, p.far_delta_v_m_s, f"{kind}.far_delta_v_m_s", about)
    return hard and at_least("speed after a contact so far away", after_m_s, p.dead_m_s, f"{kind}.dead_m_s", about)


def _by_body(by: Candidate, since_us: int, payload: EventPayload, last: PreviousContact, rule: ContactRule) -> bool:
    """True if a centroid may have made the contact: in reach, no remainder of the last one, the ball not in hands."""
    p, about = rule.p, (rule.kind, by.object_id)
    if not at_most("distance of who is near", by.distance_m, rule.reach_m, "near.leave_m", about) or (
        payload.z_m is not None and payload.z_m > rule.height_m
    ):
        return False
    if by.object_id != last.by:
        return True
    what, parameter = "time since the player's contact before", f"{rule.kind}.own_from_us"
    late = at_least(what, since_us, p.own_from_us, parameter, about)
    if not late and number(payload, "delta_v_m_s") < p.step_factor * last.m_s:
        return False
    high = payload.z_m is not None and payload.z_m > rule.low_m
    return not (high and _is_carried(payload, by, p.let_go_m_s))


def other_candidate(
    candidates: tuple[Candidate, ...],
    ts_us: int,
    payload: EventPayload,
    last: PreviousContact,
    by: str,
    p: ContactParameters,
) -> tuple[float, Candidate] | None:
    """Another candidate than ``by``, and by how many metres worse it fits; None if none fits well enough."""
    others = tuple(r for r in candidates if r.object_id != by and r.distance_m <= p.close_m)
    own = tuple(r for r in candidates if r.object_id == by)
    if not others or not own:
        return None
    costs_m = [
        min((_cost_m(payload, r, p, last, ts_us - last.at_us), r.key, r) for r in some) for some in (others, own)
    ]
    worse_m = costs_m[0][0] - costs_m[1][0]
    return (worse_m, costs_m[0][2]) if worse_m <= p.other_m else None


def _striker(
    payload: EventPayload, candidates: tuple[Candidate, ...], p: ContactParameters, last: PreviousContact, since_us: int
) -> Candidate:
    """The candidate that fits best where the limb or trunk that pushed the ball was, and how fast."""
    return min(candidates, key=lambda r: _cost_m(payload, r, p, last, since_us))


def _cost_m(payload: EventPayload, r: Candidate, p: ContactParameters, last: PreviousContact, since_us: int) -> float:
    """Distance of a limb or trunk, in metres, from the position and speed that the push implies."""
    dvx, dvy = number(payload, "delta_vx_m_s"), number(payload, "delta_vy_m_s")
    before_x, before_y = number(payload, "vx_m_s") - dvx, number(payload, "vy_m_s") - dvy
    size, flat = number(payload, "delta_v_m_s") or 1.0, math.hypot(dvx, dvy) or 1.0
    behind_m = (p.touch_m if r.limb else p.trunk_touch_m) / size
    aside_m = math.hypot(r.dx_m - behind_m * dvx, r.dy_m - behind_m * dvy)
    away_m = max(0.0, math.hypot(r.dx_m, r.dy_m) - (0.0 if r.limb else p.trunk_touch_m))
    over_m = math.sqrt(max(0.0, r.distance_m * r.distance_m - away_m * away_m))
    closing_m_s = ((r.vx_m_s - before_x) * dvx + (r.vy_m_s - before_y) * dvy) / flat
    slower_m_s = abs(closing_m_s - p.closing_share * flat) if r.limb else 0.0
    own_m = p.owner_m if r.object_id == last.by and since_us <= p.owner_us else 0.0
    block_m = p.block_m if r.team != last.team and since_us <= p.step_us else 0.0
    return math.hypot(aside_m, over_m) + p.closing_s * slower_m_s - own_m - block_m
