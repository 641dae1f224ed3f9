"""Attribute contacts with the ball to players: the rules of 5.1 and 5.2.

Theory of operation
-------------------
The change of the ball's velocity shows where the limb or trunk was that pushed the ball, and how fast it moved. With
limb tags, the contact is given to the candidate that fits this best. Without them (*centroids*), each candidate has a
chance to have made it: a greater one by distance, by the side that the ball was pushed from, by how near it was to him
before, by how slowly it leaves him, if it leaves for the goal that his team attacks, if it leaves to where his team is
first, and if he made the last contact. Who made that is no more than likely: each candidate's chance is kept, and
counts as far as it goes. So a contact that was given to a neighbour does not take the next ones along. The most likely
player gets the contact. If he cannot have made it, nobody does.

How good places are, no file says. But somebody is at the ball when it is played. So the distance of the nearest
centroid at contacts (its median so far, the *spread*) shows it: 0.5 to 0.65 m with cameras of a stadium, 1.0 to 1.3 m
by a television picture. Beyond ``spread_m`` distances count as fractions of the spread.

No player plays the ball twice within some 50 ms. If two contacts so close both fit one player best, one of them is
given to another player at the ball, whichever fits better. Without another player, the second is part of the first.
"""

from __future__ import annotations

import math

import msgspec

from detectors.ball.trajectory_breaks import only_slowed
from detectors.contacts.contact_parameters import ContactParameters, ContactRule
from detectors.decisions import at_least, at_most
from detectors.proximity.first_reach import first_to_reach
from detectors.proximity.near import Candidate, Closest
from football.match_sheet import Team
from football.payloads import EventPayload, Frame, location_m, number
from football.pitch import GOAL_AREA_HALF_WIDTH_M

#: A player who is more likely by e to the power of this is certain.
_CERTAIN = 30.0
#: Median distance of the nearest centroid at a contact, before any: that of good tracking, metres.
SPREAD_BEGIN_M = 0.55
#: Object ids, and the chance of each.
Chances = tuple[tuple[str, float], ...]


class PreviousContact(msgspec.Struct, frozen=True, gc=False):
    """The last contact: time, player, team, change of the ball's velocity; and the team that attacks +x.

    ``chances``: on centroids, of each candidate that he made it. ``spread_m``: on centroids, the median distance of the
    nearest one at contacts so far.
    """

    at_us: int = -(2**62)
    by: str = ""
    team: Team = ""
    m_s: float = 0.0
    attacks: Team = ""
    chances: Chances = ()
    spread_m: float = SPREAD_BEGIN_M


def with_spread(last: PreviousContact, near: tuple[Candidate, ...], p: ContactParameters) -> PreviousContact:
    """Move the median distance of the nearest centroid by one more contact."""
    if not near:
        return last
    step_m = p.spread_step_m if near[0].distance_m > last.spread_m else -p.spread_step_m
    return msgspec.structs.replace(last, spread_m=last.spread_m + step_m)


def _by_spread(
    candidates: tuple[Candidate, ...], rule: ContactRule, spread_m: float
) -> tuple[tuple[Candidate, ...], ContactRule]:
    """Centroids as near as if places were as good as those that the weights are fitted to, and softer weights.

    The worse places are, the less a distance says, and the side of the push and the way before say nothing at last.
    """
    p = rule.p
    if spread_m <= p.spread_m:
        return candidates, rule
    share = max(p.spread_m / spread_m, p.spread_share_min)
    fine = max(0.0, 2.0 * share - 1.0)
    nearer = tuple(
        msgspec.structs.replace(r, dx_m=share * r.dx_m, dy_m=share * r.dy_m, distance_m=share * r.distance_m)
        for r in candidates
    )
    softer = msgspec.structs.replace(
        p,
        nearer_factor=share * p.nearer_factor,
        beyond_factor=share * p.beyond_factor,
        push_share=fine * p.push_share,
        before_share=fine * p.before_share,
        own_m=p.own_m / share,
        kick_m=p.kick_m / share,
        forward_m=p.forward_m / share,
        lead_m=p.lead_m / share,
    )
    return nearer, msgspec.structs.replace(rule, p=softer, as_if=f", {share:.0%} for the spread of {spread_m:.2f} m")


def player_of(
    candidates: tuple[Candidate, ...], ts_us: int, payload: EventPayload, last: PreviousContact, rule: ContactRule
) -> Candidate | None:
    """The candidate that made a contact; None if no candidate did."""
    return attribution(candidates, ts_us, payload, last, rule)[0]


def attribution(
    candidates: tuple[Candidate, ...],
    ts_us: int,
    payload: EventPayload,
    last: PreviousContact,
    rule: ContactRule,
    frame: Frame | None = None,
) -> tuple[Candidate | None, Chances]:
    """The candidate that made a contact, None if no candidate did; and on centroids the chance of each.

    ``frame`` has all players just after the contact, if they are known.
    """
    if not candidates:
        return None, ()
    since_us = ts_us - last.at_us
    if rule.limbs:
        return _limb_of(candidates, payload, last, rule, since_us), ()
    nearer, softer = _by_spread(candidates, rule, last.spread_m)
    lead_s = {} if frame is None else _leads_s(candidates, payload, frame, rule)
    chances = _chances(nearer, softer, payload, last, since_us, lead_s)
    likeliest = max(range(len(chances)), key=lambda at: chances[at][1])  # of two the nearer one
    is_his = _is_his(nearer[likeliest], softer, payload, last, since_us)
    return (candidates[likeliest] if is_his else None), chances


def _is_his(by: Candidate, rule: ContactRule, payload: EventPayload, last: PreviousContact, since_us: int) -> bool:
    """True if a centroid can have made the contact."""
    what = f"the ball from the player{rule.as_if}"
    near = at_most(what, by.distance_m, rule.far_m, rule.far, (rule.kind, by.object_id))
    return (near or _is_far_contact(by, payload, rule)) and _by_body(by, since_us, payload, last, rule)


def _limb_of(
    candidates: tuple[Candidate, ...], payload: EventPayload, last: PreviousContact, rule: ContactRule, since_us: int
) -> Candidate | None:
    """The limb or trunk that fits best, if it can have made the contact."""
    p = rule.p
    by = _striker(payload, candidates, p, last, since_us)
    low = payload.z_m is not None and payload.z_m <= rule.low_m
    if not low and since_us <= p.owner_us and by.object_id != last.by and _is_turned(payload, p):
        return by
    about, change_m_s = (rule.kind, by.object_id), number(payload, "delta_v_m_s")
    near = at_most("the ball from the limb", by.distance_m, rule.far_m, rule.far, about)
    what, parameter = "change of velocity so far away", f"{rule.kind}.far_delta_v_m_s"
    if not near and not at_least(what, change_m_s, p.far_delta_v_m_s, parameter, about):
        return None
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


def _leads_s(
    candidates: tuple[Candidate, ...], payload: EventPayload, frame: Frame, rule: ContactRule
) -> dict[Team, float]:
    """By how many seconds each team would reach the ball sooner than the other one; empty if that says nothing.

    A slow ball is at the feet of both, or is on its way to nobody. A shot goes to where opponents stand.
    """
    p, teams, vx, vy = rule.p, {r.team for r in candidates}, number(payload, "vx_m_s"), number(payload, "vy_m_s")
    if len(teams) < 2 or math.hypot(vx, vy) < p.lead_from_m_s:
        return {}
    (x_m, y_m), depth_s = location_m(payload), math.inf
    if vx:
        depth_s = (rule.goal_line_m - math.copysign(1.0, vx) * x_m) / abs(vx)
    if depth_s <= p.lead_shot_s and abs(y_m + vy * depth_s) <= GOAL_AREA_HALF_WIDTH_M:
        return {}
    others = first_to_reach(payload, frame, rule.flight)[1]
    one, other = sorted(teams)
    never_s = rule.flight.horizon_s
    one_s, other_s = (others[team].after_s if team in others else never_s for team in (one, other))
    sooner_s = max(-p.lead_max_s, min(other_s - one_s, p.lead_max_s))
    return {one: sooner_s, other: -sooner_s}


def _chances(
    candidates: tuple[Candidate, ...],
    rule: ContactRule,
    payload: EventPayload,
    last: PreviousContact,
    since_us: int,
    lead_s: dict[Team, float],
) -> Chances:
    """The chance of each centroid, by distances that :func:`_by_spread` has corrected.

    Each counts by his distance, by the push, by how far the ball was from him before and how fast it moves away from
    him, by how far it leaves for the goal that his team attacks, and by how much sooner his team would reach it; and as
    nearer, with the chance that he had the ball, if not long ago.
    """
    p = rule.p
    vx, vy = number(payload, "vx_m_s"), number(payload, "vy_m_s")
    dvx, dvy = number(payload, "delta_vx_m_s"), number(payload, "delta_vy_m_s")
    size, before_s = math.hypot(dvx, dvy) or 1.0, p.before_us * 1e-6
    had = dict(last.chances) if since_us <= p.owner_us else {}
    gained_m_s = number(payload, "speed_after_m_s") - number(payload, "speed_before_m_s")
    soon = since_us < p.own_from_us and gained_m_s < p.again_m_s
    own_m = -p.own_m if soon else p.own_m + (p.kick_m if _is_kicked(payload, p) else 0.0)
    own = math.expm1(min(p.nearer_factor * own_m, _CERTAIN))
    forward_m = p.forward_m * vx / (math.hypot(vx, vy) or 1.0) if last.attacks else 0.0

    def cost_m(r: Candidate) -> float:
        reached_m = min(r.distance_m, p.leg_reach_m)
        away_m = reached_m + p.beyond_factor * (r.distance_m - reached_m)
        leaves_x, leaves_y = vx - r.vx_m_s, vy - r.vy_m_s
        before_m = math.hypot(r.dx_m - before_s * (leaves_x - dvx), r.dy_m - before_s * (leaves_y - dvy))
        pushed_m = (r.dx_m * dvx + r.dy_m * dvy) / size
        around_m = p.before_share * min(before_m, p.before_m) - p.push_share * pushed_m
        after_m = p.after_s * min(math.hypot(leaves_x, leaves_y), p.after_m_s)
        goes_m = (forward_m if r.team == last.attacks else -forward_m) + p.lead_m * lead_s.get(r.team, 0.0)
        return away_m + around_m + after_m - goes_m

    costs_m = [cost_m(r) for r in candidates]
    least_m = min(costs_m)
    weights = [
        math.exp(p.nearer_factor * (least_m - cost_m)) * (1.0 + had.get(r.object_id, 0.0) * own)
        for r, cost_m in zip(candidates, costs_m, strict=True)
    ]
    total = sum(weights)
    return tuple((r.object_id, weight / total) for r, weight in zip(candidates, weights, strict=True))


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


def _is_kicked_beyond(by: Candidate, gained_m_s: float, rule: ContactRule) -> bool:
    """True if a ball got so much faster that a centroid beyond reach kicked it: he, or it, is tracked elsewhere."""
    p, about, kind = rule.p, (rule.kind, by.object_id), rule.kind
    what = f"distance of who kicked it{rule.as_if}"
    near = at_most(what, by.distance_m, p.kicked_reach_m, f"{kind}.kicked_reach_m", about)
    return near and at_least("gain of speed so far away", gained_m_s, p.kicked_m_s, f"{kind}.kicked_m_s", about)


def _by_body(by: Candidate, since_us: int, payload: EventPayload, last: PreviousContact, rule: ContactRule) -> bool:
    """True if a centroid may have made the contact: in reach, no remainder of the last one, the ball not in hands."""
    p, about, kind = rule.p, (rule.kind, by.object_id), rule.kind
    gained_m_s = number(payload, "speed_after_m_s") - number(payload, "speed_before_m_s")
    near = at_most(f"distance of who is near{rule.as_if}", by.distance_m, rule.reach_m, "near.leave_m", about)
    if not near and not _is_kicked_beyond(by, gained_m_s, rule):
        return False
    what, change_m_s = "change of velocity so high", number(payload, "delta_v_m_s")
    above = payload.z_m is not None and payload.z_m > rule.height_m
    if above and not at_least(what, change_m_s, p.above_delta_v_m_s, f"{kind}.above_delta_v_m_s", about):
        return False
    if by.object_id != last.by:
        return True
    late = at_least("time since the player's contact before", since_us, p.own_from_us, f"{kind}.own_from_us", about)
    if not late and change_m_s < p.step_factor * last.m_s:
        what, least_us = "time since the player's contact before", p.again_from_us
        if rule.limbs or not at_least(what, since_us, least_us, f"{kind}.again_from_us", about):
            return False
        if not at_least("gain of speed so soon", gained_m_s, p.again_m_s, f"{kind}.again_m_s", about):
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
