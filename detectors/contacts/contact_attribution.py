"""Whose contact with the ball it was: the rules of 5.1 and 5.2.

Theory of operation
-------------------
Of those near, the one whose limb or trunk was most nearly where, and as fast as, what pushed the ball so must have
been; on centroids the nearest, weighed by the side that the ball was pushed from. What he cannot have done is nobody's.

Nobody plays the ball twice within some 50 ms. So of two contacts so close that look like one player's one is another's:
the one that fits another player better, if there is one at the ball; else the second is what is left of the first.
"""

from __future__ import annotations

import math

import msgspec

from detectors.ball.changes import break_horizon_us
from detectors.ball.radio_breaks import SHARE_AFTER, fits_radio_breaks, window_states
from detectors.ball.trajectory_breaks import only_slowed
from detectors.proximity.near import Candidate, Closest, NearParameters
from detectors.signals.sampling import ball_sampling, body_sampling
from football.match_sheet import MatchSheet, Quality, Team
from football.payloads import EventPayload, number


class ContactParameters(msgspec.Struct, frozen=True):
    """What hits and touches share. ``far_m``, ``far_delta_v_m_s``: farther than this (and ``NearParameters.leg_m`` for
    centroids) every second change as small as a hit's is noise, so twice a hit is asked for (Opta clip: changes above
    2.2 m/s in 12 % of frames at 1.0-1.5 m from a centroid, in 6 % with nobody within 2.5 m, in 19 % within 1.0 m).
    ``push_share``: a body can only push, so the ball's velocity changes away from who played it. Distance counts less
    by this share of how far the ball lies from a player in that direction, more if it lies the other way (ours: two
    players who head for one ball are equally near within the noise, but on different sides of it). Where limbs are
    known, ``far_m`` is 4.1's contact band. ``let_go_m_s``: a ball in hands, or against the trunk, is shaken by its
    carrier; after his first contact another one of his counts only if the ball leaves him this fast (ours: a throw;
    nobody's arms are that fast). ``again_us``: hands and trunks don't play the ball twice in so short a time: it is one
    push, of which a radio sees both ends (a throw takes up to 0.1 s). Feet strike for 10 ms and may follow each other
    as soon. ``touch_m``, ``trunk_touch_m``, ``closing_s``: where limbs are known, who played the ball is behind it on
    the side that it was pushed from, so far from its centre (its radius and 2 cm of boot), and his limb closed on it by
    ``closing_share`` of the change of its velocity; 1 m/s more or less counts as so many metres as ``closing_s`` has
    seconds (of 319 hits with two players within 0.5 m, seeds 11 to 30, 3 are the other's from 0.015 to 0.02, 4 with
    0.01, 5 with 0.03; whose team had the ball before, or has it next, tells none of them better).
    ``own_m``, ``own_from_us``: of two centroids at the ball it is rather his who had it up to ``owner_us`` before, but
    not before this time: a second contact takes as long, and what is no stronger than ``step_factor`` times his first
    is left of that (of 866 contacts of generated matches, seeds 11 to 20, with more than one player within 2 m, 17 are
    another's by distance from where the ball's ways meet, push and this; 91 by the distance alone). ``owner_m``,
    ``owner_us``: of two players at the ball it is rather his who had it so shortly before: he counts as so much
    nearer. ``slow_m_s``: a low ball at the feet of who pushed it on that only gets slower, by less than this and
    without a turn, was slowed by the ground on which it lands or rolls. ``reach_m``: a limb farther away has not played
    a low ball, however hard it was hit (that of 5.3), but ``hands_m`` where it lay (``rest_m_s``), for hands that pick
    it up: it does not rise by itself. ``body_m_s``: a ball at a trunk or in hands that changes its velocity by less is
    carried, by him or by who brings it; chests and heads stop or turn what comes flying at ``flying_m_s``.
    ``weak_m_s``, ``close_m``: by a smaller change only a limb so near has played it: a ball that lands beside a foot is
    slowed as much. ``foot_m``: unless one of his feet is so near, which then may have played it as well. ``step_us``,
    ``step_factor``: nobody plays the ball with his feet twice in so short a time: the second is what is left of the
    first, unless it is so many times as strong, or another player was there, who fits it (or the first) by up to
    ``other_m`` worse. ``block_m``: of a mate and an opponent of who played it just before, it is rather the
    opponent, who was in the way: he counts as so much nearer.
    ``air_factor``: a ball in the air is turned by nobody but a body, feet being no more of it than trunks: so above
    ``NearParameters.trunk_low_m`` a change that stands so many standard errors over noise is a contact of who is next
    to it, be he as far as 4.1 has it, unless he had it himself, and while others played it within ``owner_us`` (of a
    dead ball that is fetched, thrown and carried nobody can tell; seeds 11 to 23: 3 of 4 such contacts, none
    invented; from 7.6 on, which every peak has). From ``touch_m`` on all are for radio only, chosen on generated
    matches, seeds 11 to 30: of 1,692 true contacts in play 13 were another player's and are 7 now; of 35 false ones
    14 were a ball that slowed, as one in 1,656 true ones looks; of 43 false ones 17 were a dead ball in hands, that
    changed by 3.0 to 4.4 m/s; no two true ones of one player are less than 225 ms apart."""

    far_m: float = 0.5
    far_delta_v_m_s: float = 4.4
    push_share: float = 0.1
    own_m: float = 0.5
    own_from_us: int = 200_000
    let_go_m_s: float = 4.0
    again_us: int = 120_000
    touch_m: float = 0.13
    trunk_touch_m: float = 0.25
    closing_s: float = 0.015
    closing_share: float = 0.77
    owner_m: float = 0.05
    owner_us: int = 2_000_000
    slow_m_s: float = 3.0
    reach_m: float = 0.5
    rest_m_s: float = 0.5
    hands_m: float = 1.0
    body_m_s: float = 4.5
    flying_m_s: float = 8.0
    weak_m_s: float = 2.5
    close_m: float = 0.25
    foot_m: float = 0.2
    step_us: int = 80_000
    step_factor: float = 3.0
    other_m: float = 0.1
    block_m: float = 0.05
    air_factor: float = 8.0


class ContactRule(msgspec.Struct, frozen=True):
    """How a waiting contact becomes an event: its kind, how old it may be, from which distance it is doubted, whether
    limbs are told apart, up to which height a ball is played with feet, how soon a contact after it is judged with it,
    and the numbers of the detector."""

    kind: str
    horizon_us: int
    far_m: float
    reach_m: float
    height_m: float
    limbs: bool
    low_m: float
    pair_us: int
    p: ContactParameters


def known_after_us(quality: Quality) -> int:
    """How long after a kink of a radio's ball it is known: what is asked about it till then costs no time."""
    return round(SHARE_AFTER * window_states(quality)) * ball_sampling(quality).period_us


def contact_rule(
    kind: str, sheet: MatchSheet, p: ContactParameters, near: NearParameters, longer_us: int = 0
) -> ContactRule:
    """The rule for an input. The frame that closes a contact's instant comes within one period, or two.

    A radio's corner is known late enough that a hit may wait a while without being told later.
    """
    limbs = bool(sheet.quality.limbs)
    kinks = fits_radio_breaks(sheet.quality) and not longer_us
    pair_us = max(0, known_after_us(sheet.quality) - body_sampling(sheet.quality).period_us) if kinks else 0
    horizon_us = max(break_horizon_us(sheet), 2 * body_sampling(sheet.quality).period_us) + longer_us
    far_m, reach_m = near.contact_m if limbs else p.far_m + near.leg_m, near.leave_m + near.leg_m
    return ContactRule(kind, horizon_us, far_m, reach_m, near.height_max_m, limbs, near.trunk_low_m, pair_us, p)


class PreviousContact(msgspec.Struct, frozen=True, gc=False):
    """The last contact given: when, to whom, and by how much it changed the ball's velocity."""

    at_us: int = -(2**62)
    by: str = ""
    team: Team = ""
    m_s: float = 0.0


def player_of(
    candidates: tuple[Candidate, ...], ts_us: int, payload: EventPayload, last: PreviousContact, rule: ContactRule
) -> Candidate | None:
    """Who of those near made a contact; None if it was nobody's."""
    p = rule.p
    if not candidates:
        return None
    since_us = ts_us - last.at_us
    by = (
        _striker(payload, candidates, p, last, since_us)
        if rule.limbs
        else _pusher(payload, candidates, p, last, since_us)
    )
    low = payload.z_m is not None and payload.z_m <= rule.low_m
    if rule.limbs and not low and since_us <= p.owner_us and by.object_id != last.by and _is_turned(payload, p):
        return by
    if by.distance_m > rule.far_m and number(payload, "delta_v_m_s") < p.far_delta_v_m_s:
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
    """Whether it was a foot, or could have been one: what is next to the trunk is often next to a raised foot too."""
    return "foot" in by.limb or any(
        "foot" in r.limb and r.object_id == by.object_id and r.distance_m <= foot_m for r in candidates
    )


def _is_turned(payload: EventPayload, p: ContactParameters) -> bool:
    """Whether the ball's velocity changed by so much more than noise that in the air only a body can have done it. What
    only slows a fast ball is the air."""
    sure = number(payload, "delta_v_m_s") >= p.air_factor * number(payload, "noise_m_s")
    return sure and not _only_slowed(payload, p.slow_m_s)


def _is_picked_up(payload: EventPayload, by: Candidate, p: ContactParameters) -> bool:
    """Whether hands may have taken a ball that lay."""
    lay = number(payload, "speed_before_m_s") <= p.rest_m_s
    return lay and by.distance_m <= p.hands_m and number(payload, "delta_v_m_s") >= p.body_m_s


def _is_carried(payload: EventPayload, by: Candidate, let_go_m_s: float) -> bool:
    """Whether the ball stays in the hands, or against the trunk, of who has it."""
    return math.hypot(number(payload, "vx_m_s") - by.vx_m_s, number(payload, "vy_m_s") - by.vy_m_s) < let_go_m_s


def _only_slowed(payload: EventPayload, slow_m_s: float) -> bool:
    """Whether the ball goes on the way that it went, a little slower."""
    change = number(payload, "delta_vx_m_s"), number(payload, "delta_vy_m_s")
    return only_slowed((number(payload, "vx_m_s") - change[0], number(payload, "vy_m_s") - change[1]), change, slow_m_s)


def candidates_at(closest: Closest, ts_us: int, payload: EventPayload) -> tuple[Candidate, ...]:
    """Who was near a contact, nearest first: centroids where they were at its instant, from where it was."""
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
    payload: EventPayload, candidates: tuple[Candidate, ...], p: ContactParameters, last: PreviousContact, since_us: int
) -> Candidate:
    """The nearest centroid, weighed by the direction in which the ball was pushed and by whose ball it was."""
    dvx, dvy = number(payload, "delta_vx_m_s"), number(payload, "delta_vy_m_s")
    size = math.hypot(dvx, dvy) or 1.0
    owner = last.by if since_us <= p.owner_us else ""
    own_m = p.own_m if since_us >= p.own_from_us else -p.own_m

    def cost_m(r: Candidate) -> float:
        pushed_m = (r.dx_m * dvx + r.dy_m * dvy) / size
        return r.distance_m - p.push_share * pushed_m - (own_m if r.object_id == owner else 0.0)

    return min(candidates, key=cost_m)


def _by_body(by: Candidate, since_us: int, payload: EventPayload, last: PreviousContact, rule: ContactRule) -> bool:
    """Whether a centroid within reach may have made the contact: not what is left of his last one, nor while he carries
    the ball in his hands."""
    p = rule.p
    if by.distance_m > rule.reach_m or (payload.z_m is not None and payload.z_m > rule.height_m):
        return False
    if by.object_id != last.by:
        return True
    if since_us < p.own_from_us and number(payload, "delta_v_m_s") < p.step_factor * last.m_s:
        return False
    high = payload.z_m is not None and payload.z_m > rule.low_m
    return not (high and _is_carried(payload, by, p.let_go_m_s))


def better_candidate(
    candidates: tuple[Candidate, ...],
    ts_us: int,
    payload: EventPayload,
    last: PreviousContact,
    by: str,
    p: ContactParameters,
) -> tuple[float, Candidate] | None:
    """Who else than ``by`` was at the ball, and by how many metres worse he fits; None if nobody does well enough."""
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
    """Whose limb or trunk was most nearly where, and as fast as, the one that pushed the ball so was."""
    return min(candidates, key=lambda r: _cost_m(payload, r, p, last, since_us))


def _cost_m(payload: EventPayload, r: Candidate, p: ContactParameters, last: PreviousContact, since_us: int) -> float:
    """How far a limb or trunk is from where, and as fast as, the one that pushed the ball so was."""
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
