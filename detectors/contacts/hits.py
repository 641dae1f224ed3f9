"""Level 5: contacts of players with the ball, and the ball that leaves its kicker.

Theory of operation
-------------------
*Player hits ball* is the seeds' A!BC: near (A), an acceleration peak (C), and no not-near (B) in between (000
Fig 3; 002 5.1). As peaks are of level 2 and proximity of level 4, at one instant the peak comes first in the
canonical order. So a peak waits until the next frame closes its instant, and then is given to one of those near,
by distance and by the direction of the push. ``ball.closest`` of 4.1 names nobody from a not-near on, which is the
B of the pattern; without anybody near there is no hit. A *soft touch* waits in the same way for its turn or step of
speed, and yields to a hit of the same contact.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from detectors.ball.changes import corner_horizon_us
from detectors.ball.kinks import has_kinks
from detectors.facts import Fact, Scalar, fact_event
from detectors.inputs import MatchSheet
from detectors.proximity.near import Closest, NearParameters, Reacher
from detectors.signals.sampling import body_sampling
from detectors.states import Frame
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

NOBODY = Closest()


class ContactState(msgspec.Struct, frozen=True, gc=False):
    """Who is near the ball; the contact that waits for its instant to close and who was near then; time of the
    last contact given or yielded to, who had it, and by how much it changed the ball's velocity."""

    closest: Closest = NOBODY
    waiting: Event | None = None
    chosen: Closest = NOBODY
    last_us: int = -(2**62)
    last_by: str = ""
    last_m_s: float = 0.0


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
    seconds (of 564 contacts with two players near, 3 are the other's instead of 8 by distance and direction alone).
    ``owner_m``, ``owner_us``: of two players at the ball it is rather his who had it so shortly before: he counts as so
    much nearer. ``slow_m_s``: a low ball at the feet of who pushed it on that only gets slower, by less than this and
    without a turn, was slowed by the ground on which it lands or rolls. ``reach_m``: a limb farther away has not played
    a low ball, however hard it was hit (that of 5.3), but ``hands_m`` where it lay (``rest_m_s``), for hands that pick
    it up: it does not rise by itself. ``body_m_s``: a ball at a trunk or in hands that changes its velocity by less is
    carried, by him or by who brings it; chests and heads stop or turn what comes flying at ``flying_m_s``.
    ``weak_m_s``, ``close_m``: by a smaller change only a limb so near has played it: a ball that lands beside a foot is
    slowed as much. ``foot_m``: unless one of his feet is so near, which then may have played it as well. ``step_us``,
    ``step_factor``: nobody plays the ball with his feet twice in so short a time: the second is what is left of the
    first, unless it is so many times as strong. ``air_factor``: a ball in the air is turned by nobody but a body, feet
    being no more of it than trunks: so above ``NearParameters.trunk_low_m`` a change that stands so many standard
    errors over noise is a contact of who is next to it, be he as far as 4.1 has it, unless he had it himself, and while
    others played it within ``owner_us`` (of a dead ball that is fetched, thrown and carried nobody can tell; seeds 11
    to 23: 3 of 4 such contacts, none invented; from 7.6 on, which every peak has). From ``touch_m`` on all are for
    radio only, chosen on generated matches, seeds 11 to 30: of 1,692 true contacts in play 13 were another player's and
    are 7 now; of 35 false ones 14 were a ball that slowed, as one in 1,656 true ones looks; of 43 false ones 17 were a
    dead ball in hands, that changed by 3.0 to 4.4 m/s; no two true ones of one player are less than 225 ms apart."""

    far_m: float = 0.5
    far_delta_v_m_s: float = 4.4
    push_share: float = 0.5
    let_go_m_s: float = 4.0
    again_us: int = 120_000
    touch_m: float = 0.13
    trunk_touch_m: float = 0.25
    closing_s: float = 0.01
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
    air_factor: float = 8.0


class HitParameters(ContactParameters, frozen=True):
    """``share_min``: a ball that flies past a body at speed shakes by tracking noise; a hit changes at least this share
    of its speed (ours: 0.15 is a deflection by 9 degrees; TRACAB balls at 20 m/s shake by 2-3 m/s). Where limbs are
    known it is 0, as a radio's peaks stand over noise by themselves."""

    share_min: float = 0.15


class ContactRule(msgspec.Struct, frozen=True):
    """How a waiting contact becomes an event: its kind, how old it may be, from which distance it is doubted, whether
    limbs are told apart, up to which height a ball is played with feet, and the numbers of the detector."""

    kind: str
    horizon_us: int
    far_m: float
    limbs: bool
    low_m: float
    p: ContactParameters


class PlayerHitsBall:
    """5.1: ``hit``, at the ball's state where its velocity changed, by the closest of those near."""

    def __init__(
        self, sheet: MatchSheet, parameters: HitParameters | None = None, near: NearParameters | None = None
    ) -> None:
        self.parameters = parameters or HitParameters()
        self._rule = contact_rule("hit", sheet, self.parameters, near or NearParameters())
        self._share_min = share_min(sheet, self.parameters)
        self.spec = Spec(
            name="player_hits_ball",
            number="5.1",
            level=5,
            inputs=("frame", "ball.accel_peak", "ball.closest"),
            outputs=("hit",),
            horizon_us=self._rule.horizon_us,
            parameters=msgspec.structs.asdict(self.parameters),
            source="000 Fig 3; 002 5.1; DEBS 2013 Q2",
            team_variants={"hit": ("",)},
        )

    def initial(self) -> ContactState:
        """Nobody near, no contact."""
        return ContactState()

    def step(self, state: ContactState, event: Event) -> Step[ContactState]:
        """A (near), not B (not_near), C (peak); the next frame closes the instant."""
        if event.kind == "frame":
            return _close(state, event, self._rule)
        if event.kind == "ball.accel_peak":
            if not is_hit(event, self._share_min):
                return state, NOTHING
            return _wait(state, event, self._rule)
        return _around(state, event), NOTHING


class TouchParameters(ContactParameters, frozen=True):
    """``yield_us``: a hit so close in time is the same contact (ours: two periods of 25 Hz)."""

    yield_us: int = 90_000


class SoftTouch:
    """5.2: ``touch``: near, and a turn or a step of speed without the peak of a hit."""

    def __init__(
        self, sheet: MatchSheet, parameters: TouchParameters | None = None, near: NearParameters | None = None
    ) -> None:
        self.parameters = parameters or TouchParameters()
        self._rule = contact_rule("touch", sheet, self.parameters, near or NearParameters(), self.parameters.yield_us)
        self.spec = Spec(
            name="soft_touch",
            number="5.2",
            level=5,
            inputs=("frame", "ball.accel_peak", "ball.turn", "ball.speed_step", "ball.closest"),
            outputs=("touch",),
            horizon_us=self._rule.horizon_us,
            parameters=msgspec.structs.asdict(self.parameters),
            source="StreamTeam (ball hit); databallpy (gain rule)",
            team_variants={"touch": ("",)},
        )

    def initial(self) -> ContactState:
        """Nobody near, no contact."""
        return ContactState()

    def step(self, state: ContactState, event: Event) -> Step[ContactState]:
        """A turn or step waits; a hit takes its place; the first frame after ``yield_us`` decides."""
        if event.kind == "frame":
            if state.waiting is not None and event.ts_us - state.waiting.ts_us <= self.parameters.yield_us:
                return state, NOTHING
            return _close(state, event, self._rule)
        if event.kind == "ball.accel_peak":
            fact = event.payload
            assert isinstance(fact, Fact)
            if fact.variant == "touch":
                return state, NOTHING
            return ContactState(state.closest, None, NOBODY, event.ts_us), NOTHING
        if event.kind in ("ball.turn", "ball.speed_step"):
            if state.waiting is not None or event.ts_us - state.last_us <= self.parameters.yield_us:
                return state, NOTHING
            return ContactState(state.closest, event, state.closest, state.last_us), NOTHING
        return _around(state, event), NOTHING


def is_hit(peak: Event, share_min: float) -> bool:
    """Whether an acceleration peak is a hit's: high enough, no bounce, and not the shaking of a fast ball."""
    fact = peak.payload
    assert isinstance(fact, Fact)
    speed_m_s = max(number(fact, "speed_before_m_s"), number(fact, "speed_after_m_s"))
    if fact.variant == "touch" or fact.detail["bounce"]:
        return False
    return number(fact, "delta_v_m_s") >= share_min * speed_m_s


def share_min(sheet: MatchSheet, p: HitParameters) -> float:
    """The least share of its speed that a hit changes, on an input."""
    return 0.0 if has_kinks(sheet.quality) else p.share_min


def number(fact: Fact, name: str) -> float:
    """A number of a fact's details."""
    value = fact.detail[name]
    assert isinstance(value, float | int), f"{name} is not a number"
    return float(value)


def contact_rule(
    kind: str, sheet: MatchSheet, p: ContactParameters, near: NearParameters, longer_us: int = 0
) -> ContactRule:
    """The rule for an input. The frame that closes a contact's instant comes within one period, or two."""
    limbs = bool(sheet.quality.limbs)
    horizon_us = max(corner_horizon_us(sheet), 2 * body_sampling(sheet.quality).period_us) + longer_us
    return ContactRule(kind, horizon_us, near.contact_m if limbs else p.far_m + near.leg_m, limbs, near.trunk_low_m, p)


def _around(state: ContactState, event: Event) -> ContactState:
    """Who is near from now on; also for the waiting contact if it is of this instant."""
    closest, waiting = event.payload, state.waiting
    assert isinstance(closest, Closest)
    same = waiting is not None and event.ts_us <= waiting.ts_us
    chosen = closest if same else state.chosen
    return ContactState(closest, waiting, chosen, state.last_us, state.last_by, state.last_m_s)


def _wait(state: ContactState, event: Event, rule: ContactRule) -> Step[ContactState]:
    """A second contact closes the one that waits, if no frame came between."""
    closed, out = _close(state, event, rule)
    after = ContactState(closed.closest, event, closed.closest, closed.last_us, closed.last_by, closed.last_m_s)
    return after, out


def _close(state: ContactState, event: Event, rule: ContactRule) -> Step[ContactState]:
    """Gives the waiting contact to one of those near it, once its instant is past."""
    contact = state.waiting
    if contact is None or event.ts_us <= contact.ts_us:
        return state, NOTHING
    fact = contact.payload
    assert isinstance(fact, Fact)
    late = event.ts_us - contact.ts_us > rule.horizon_us
    by = None if late else _player_of(state, contact.ts_us, fact, rule)
    if by is None:
        return ContactState(state.closest, None, NOBODY, state.last_us, state.last_by, state.last_m_s), NOTHING
    told = ContactState(state.closest, None, NOBODY, contact.ts_us, by.object_id, number(fact, "delta_v_m_s"))
    return told, (_contact(rule.kind, contact, fact, by),)


def _player_of(state: ContactState, ts_us: int, fact: Fact, rule: ContactRule) -> Reacher | None:
    """Who of those near made the contact that waits; None if it was nobody's."""
    reachers, p = state.chosen.reachers, rule.p
    if not reachers:
        return None
    since_us = ts_us - state.last_us
    owner = state.last_by if rule.limbs and since_us <= p.owner_us else ""
    by = _striker(fact, reachers, p, owner) if rule.limbs else _pusher(fact, reachers, p)
    low = fact.z_m is not None and fact.z_m <= rule.low_m
    if rule.limbs and not low and since_us <= p.owner_us and by.object_id != state.last_by and _is_turned(fact, p):
        return by
    if by.distance_m > rule.far_m and number(fact, "delta_v_m_s") < p.far_delta_v_m_s:
        return None
    if not rule.limbs:
        return by
    if by.distance_m > p.close_m and number(fact, "delta_v_m_s") < p.weak_m_s:
        return None
    if low and by.distance_m > p.reach_m and not _is_picked_up(fact, by, p):
        return None
    is_foot = _by_foot(by, reachers, p.foot_m)
    flies = number(fact, "speed_before_m_s") >= p.flying_m_s
    if not is_foot and not flies and number(fact, "delta_v_m_s") < p.body_m_s:
        return None
    if by.object_id != state.last_by:
        return by
    if is_foot:
        same = since_us <= p.step_us and number(fact, "delta_v_m_s") < p.step_factor * state.last_m_s
        return None if same or (low and since_us <= p.owner_us and _only_slowed(fact, p.slow_m_s)) else by
    return None if since_us <= p.again_us or _is_carried(fact, by, p.let_go_m_s) else by


def _by_foot(by: Reacher, reachers: tuple[Reacher, ...], foot_m: float) -> bool:
    """Whether it was a foot, or could have been one: what is next to the trunk is often next to a raised foot too."""
    return "foot" in by.limb or any(
        "foot" in r.limb and r.object_id == by.object_id and r.distance_m <= foot_m for r in reachers
    )


def _is_turned(fact: Fact, p: ContactParameters) -> bool:
    """Whether the ball's velocity changed by so much more than noise that in the air only a body can have done it. What
    only slows a fast ball is the air."""
    sure = number(fact, "delta_v_m_s") >= p.air_factor * number(fact, "noise_m_s")
    return sure and not _only_slowed(fact, p.slow_m_s)


def _is_picked_up(fact: Fact, by: Reacher, p: ContactParameters) -> bool:
    """Whether hands may have taken a ball that lay."""
    lay = number(fact, "speed_before_m_s") <= p.rest_m_s
    return lay and by.distance_m <= p.hands_m and number(fact, "delta_v_m_s") >= p.body_m_s


def _is_carried(fact: Fact, by: Reacher, let_go_m_s: float) -> bool:
    """Whether the ball stays in the hands, or against the trunk, of who has it."""
    return math.hypot(number(fact, "vx_m_s") - by.vx_m_s, number(fact, "vy_m_s") - by.vy_m_s) < let_go_m_s


def _only_slowed(fact: Fact, slow_m_s: float) -> bool:
    """Whether the ball goes on the way that it went, a little slower."""
    vx, vy = number(fact, "vx_m_s"), number(fact, "vy_m_s")
    dvx, dvy = number(fact, "delta_vx_m_s"), number(fact, "delta_vy_m_s")
    before_x, before_y = vx - dvx, vy - dvy
    before_m_s = math.hypot(before_x, before_y)
    turned_back = vx * before_x + vy * before_y < 0.0
    if turned_back or math.hypot(vx, vy) >= before_m_s or math.hypot(dvx, dvy) >= slow_m_s:
        return False
    along = dvx * before_x + dvy * before_y
    return 2.0 * abs(dvx * before_y - dvy * before_x) < -along


def _pusher(fact: Fact, reachers: tuple[Reacher, ...], p: ContactParameters) -> Reacher:
    """The nearest, weighed by the direction in which the ball was pushed."""
    dvx, dvy = number(fact, "delta_vx_m_s"), number(fact, "delta_vy_m_s")
    size = math.hypot(dvx, dvy) or 1.0
    return min(reachers, key=lambda r: r.distance_m - p.push_share * (r.dx_m * dvx + r.dy_m * dvy) / size)


def _striker(fact: Fact, reachers: tuple[Reacher, ...], p: ContactParameters, owner: str) -> Reacher:
    """Whose limb or trunk was most nearly where, and as fast as, the one that pushed the ball so was."""
    dvx, dvy = number(fact, "delta_vx_m_s"), number(fact, "delta_vy_m_s")
    before_x, before_y = number(fact, "vx_m_s") - dvx, number(fact, "vy_m_s") - dvy
    size, flat = number(fact, "delta_v_m_s") or 1.0, math.hypot(dvx, dvy) or 1.0

    def cost_m(r: Reacher) -> float:
        behind_m = (p.touch_m if r.limb else p.trunk_touch_m) / size
        aside_m = math.hypot(r.dx_m - behind_m * dvx, r.dy_m - behind_m * dvy)
        away_m = max(0.0, math.hypot(r.dx_m, r.dy_m) - (0.0 if r.limb else p.trunk_touch_m))
        over_m = math.sqrt(max(0.0, r.distance_m * r.distance_m - away_m * away_m))
        closing_m_s = ((r.vx_m_s - before_x) * dvx + (r.vy_m_s - before_y) * dvy) / flat
        slower_m_s = abs(closing_m_s - p.closing_share * flat) if r.limb else 0.0
        own_m = p.owner_m if r.object_id == owner else 0.0
        return math.hypot(aside_m, over_m) + p.closing_s * slower_m_s - own_m

    return min(reachers, key=cost_m)


def _contact(kind: str, cause: Event, fact: Fact, by: Reacher) -> Event:
    detail: dict[str, Scalar] = {
        **fact.detail,
        "strength": fact.variant,
        "distance_m": round(by.distance_m, 2),
    }
    if by.limb:
        detail["limb"] = by.limb
    contact = Fact("", by.team, by.object_id, fact.x_m, fact.y_m, fact.z_m, fact.confidence, detail)
    return fact_event(kind, cause.ts_us, cause.source, contact, causes=(cause.id,))


class ReleaseParameters(msgspec.Struct, frozen=True):
    """``release_m``: StreamTeam's kickDetection. ``apart_m``: if somebody else has the next contact first, the
    ball must at least have left the kicker's zone (4.2); in any case it has travelled that far from where it was
    hit."""

    release_m: float = 2.25
    apart_m: float = 1.5


class ReleaseState(msgspec.Struct, frozen=True, gc=False):
    """The contact machine of 5.1, the hit whose ball has not left yet, and the newest frame."""

    contact: ContactState = ContactState()
    hit: Event | None = None
    frame: Event | None = None


class KickReleased:
    """5.8: ``kick.released``: after a hit, the ball is farther than ``release_m`` from who hit it.

    Dated at that instant; the anchor is the hit's ball state, ``detail`` has ``kick_us``, ``kick_x_m``,
    ``kick_y_m``, ``kick_z_m`` of the hit, the speeds around it and the ball's velocity on leaving. As hits are of this
    very level, the pattern of 5.1 is followed here again by the same code. A new hit re-arms.
    """

    def __init__(
        self,
        sheet: MatchSheet,
        parameters: ReleaseParameters | None = None,
        hit: HitParameters | None = None,
        near: NearParameters | None = None,
    ) -> None:
        self.parameters = parameters or ReleaseParameters()
        self._hit = hit or HitParameters()
        self._rule = contact_rule("hit", sheet, self._hit, near or NearParameters())
        self._share_min = share_min(sheet, self._hit)
        self.spec = Spec(
            name="kick_released",
            number="5.8",
            level=5,
            inputs=("frame", "ball.accel_peak", "ball.closest"),
            outputs=("kick.released",),
            horizon_us=self._rule.horizon_us,
            parameters={**msgspec.structs.asdict(self.parameters), **msgspec.structs.asdict(self._hit)},
            source="StreamTeam kickDetection",
            team_variants={"kick.released": ("",)},
        )

    def initial(self) -> ReleaseState:
        """No hit yet."""
        return ReleaseState()

    def step(self, state: ReleaseState, event: Event) -> Step[ReleaseState]:
        """Follows the hits as 5.1 does, and the distance frame by frame."""
        if event.kind == "ball.closest":
            return ReleaseState(_around(state.contact, event), state.hit, state.frame), NOTHING
        if event.kind == "ball.accel_peak":
            if not is_hit(event, self._share_min):
                return state, NOTHING
            contact, hits = _wait(state.contact, event, self._rule)
            return self._hits(state, contact, hits, state.frame)
        contact, hits = _close(state.contact, event, self._rule)
        after, out = self._hits(state, contact, hits, event)
        if after.hit is None or contact.waiting is not None:
            return after, out
        released = self._released(after.hit, event, self.parameters.release_m)
        if released is None:
            return after, out
        return ReleaseState(contact, None, event), (*out, released)

    def _hits(
        self, state: ReleaseState, contact: ContactState, hits: Sequence[Event], frame: Event | None
    ) -> Step[ReleaseState]:
        """A new hit by another player releases the old one if the ball had left its zone by then."""
        if not hits:
            return ReleaseState(contact, state.hit, frame), NOTHING
        new, old = hits[0], state.hit
        out: tuple[Event, ...] = ()
        if old is not None and frame is not None and _player(old) != _player(new):
            before = state.frame if state.frame is not None and state.frame.ts_us >= new.ts_us else frame
            released = self._released(old, before, self.parameters.apart_m)
            out = (released,) if released else ()
        return ReleaseState(contact, new, frame), out

    def _released(self, hit: Event, frame_event: Event, distance_m: float) -> Event | None:
        frame, kicked = frame_event.payload, hit.payload
        assert isinstance(frame, Frame)
        assert isinstance(kicked, Fact)
        ball = frame.ball
        kicker = next((b for b in frame.players if b.object_id == kicked.player), None)
        if ball is None or kicker is None:
            return None
        if math.hypot(ball.x_m - kicker.x_m, ball.y_m - kicker.y_m) <= distance_m:
            return None
        assert kicked.x_m is not None
        assert kicked.y_m is not None
        if math.hypot(ball.x_m - kicked.x_m, ball.y_m - kicked.y_m) <= self.parameters.apart_m:
            return None
        detail: dict[str, Scalar] = {
            "kick_us": hit.ts_us,
            "kick_x_m": kicked.x_m,
            "kick_y_m": kicked.y_m,
            "kick_z_m": kicked.z_m,
            "speed_before_m_s": kicked.detail["speed_before_m_s"],
            "speed_after_m_s": kicked.detail["speed_after_m_s"],
            "vx_m_s": round(ball.vx_m_s, 2),
            "vy_m_s": round(ball.vy_m_s, 2),
            "vz_m_s": round(ball.vz_m_s, 2),
        }
        fact = Fact("", kicked.team, kicked.player, ball.x_m, ball.y_m, ball.z_m, kicked.confidence, detail)
        return fact_event("kick.released", frame_event.ts_us, hit.source, fact, causes=hit.causes)


def _player(event: Event) -> str:
    fact = event.payload
    assert isinstance(fact, Fact)
    return fact.player
