"""Level 5: contacts of players with the ball, and the ball that leaves its kicker.

Theory of operation
-------------------
*Player hits ball* is the seeds' A!BC: near (A), an acceleration peak (C), and no not-near (B) in between (000
Fig 3; 002 5.1). As peaks are of level 2 and proximity of level 4, at one instant the peak comes first in the
canonical order. So a peak waits until a frame closes its instant, and then is given to one of those near, by distance
and by the direction of the push (``whose``); two that follow each other at once wait for, and are judged with, each
other. ``ball.closest`` of 4.1 names nobody from a not-near on, which is the
B of the pattern; without anybody near there is no hit. A *soft touch* waits in the same way for its turn or step of
speed, and yields to a hit of the same contact.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from detectors.ball.changes import is_fitted
from detectors.ball.optical_breaks import fits_optical_breaks
from detectors.contacts.contact_attribution import (
    ContactParameters,
    ContactRule,
    PreviousContact,
    better_candidate,
    candidates_at,
    contact_rule,
    player_of,
)
from detectors.emission import make_event
from detectors.proximity.near import Candidate, Closest, NearParameters
from detectors.signals.kernels.break_solver import AIRBORNE_M
from football.constants import GRAVITY_M_S2
from football.match_sheet import MatchSheet
from football.payloads import BallState, EventPayload, Scalar, frame_of, number, payload_as, published
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

NOBODY = Closest()


class ContactState(msgspec.Struct, frozen=True, gc=False):
    """Who is near the ball; the contact that waits for its instant to close and who was near then; the last contact
    given or yielded to; the contact just before the waiting one, which waits with it, and who was near then."""

    closest: Closest = NOBODY
    waiting: Event | None = None
    chosen: Closest = NOBODY
    last: PreviousContact = PreviousContact()
    first: Event | None = None
    first_chosen: Closest = NOBODY


class HitParameters(ContactParameters, frozen=True):
    """``share_min``: a ball that flies past a body at speed shakes by tracking noise; a hit changes at least this share
    of its speed (ours: 0.15 is a deflection by 9 degrees; TRACAB balls at 20 m/s shake by 2-3 m/s). Where
    corners are fitted it is 0: their peaks stand over noise by themselves."""

    share_min: float = 0.15


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
            payload = published(event)
            if payload.variant == "touch":
                return state, NOTHING
            return ContactState(state.closest, None, NOBODY, PreviousContact(event.ts_us)), NOTHING
        if event.kind in ("ball.turn", "ball.speed_step"):
            if state.waiting is not None or event.ts_us - state.last.at_us <= self.parameters.yield_us:
                return state, NOTHING
            return ContactState(state.closest, event, state.closest, state.last), NOTHING
        return _around(state, event), NOTHING


def is_hit(peak: Event, share_min: float) -> bool:
    """Whether an acceleration peak is a hit's: high enough, no bounce, and not the shaking of a fast ball."""
    payload = published(peak)
    speed_m_s = max(number(payload, "speed_before_m_s"), number(payload, "speed_after_m_s"))
    if payload.variant == "touch" or payload.detail["bounce"]:
        return False
    return number(payload, "delta_v_m_s") >= share_min * speed_m_s


def share_min(sheet: MatchSheet, p: HitParameters) -> float:
    """The least share of its speed that a hit changes, on an input."""
    return 0.0 if is_fitted(sheet.quality) else p.share_min


def _around(state: ContactState, event: Event) -> ContactState:
    """Who is near from now on; also for the waiting contact if it is of this instant."""
    closest, waiting = payload_as(event, Closest), state.waiting
    same = waiting is not None and event.ts_us <= waiting.ts_us
    chosen = closest if same else state.chosen
    return ContactState(closest, waiting, chosen, state.last, state.first, state.first_chosen)


def _wait(state: ContactState, event: Event, rule: ContactRule) -> Step[ContactState]:
    """A second contact waits together with one just before it; else it closes the one that waits."""
    held, at = state.waiting, state.closest
    if held is not None and state.first is None and 0 < event.ts_us - held.ts_us <= rule.pair_us:
        return ContactState(at, event, at, state.last, held, state.chosen), NOTHING
    closed, out = _settle(state, event.ts_us, rule)
    return ContactState(at, event, at, closed.last), out


def _close(state: ContactState, event: Event, rule: ContactRule) -> Step[ContactState]:
    """Gives the waiting contact to one of those near it, once none that is judged with it can follow."""
    if state.waiting is None or event.ts_us <= state.waiting.ts_us + rule.pair_us:
        return state, NOTHING
    return _settle(state, event.ts_us, rule)


def _settle(state: ContactState, now_us: int, rule: ContactRule) -> Step[ContactState]:
    """Gives what waits to one of those near it, once its instant is past."""
    contact, last, first = state.waiting, state.last, state.first
    if contact is None or now_us <= contact.ts_us:
        return state, NOTHING
    payload = _fact(contact)
    late = now_us - contact.ts_us > rule.horizon_us
    if first is None or late:
        near = candidates_at(state.chosen, contact.ts_us, payload)
        by = None if late else player_of(near, contact.ts_us, payload, last, rule)
        return _given(state.closest, last, [(contact, payload, by)], rule)
    one, two, onward = _both(state, first, contact, rule)
    return _given(state.closest, last, [(first, onward, one), (contact, payload, two)], rule)


def _both(
    state: ContactState, first: Event, second: Event, rule: ContactRule
) -> tuple[Candidate | None, Candidate | None, EventPayload]:
    """Whose two contacts at once are, and the first as it is known then: two players', else one after the other."""
    payload, last, p = _fact(second), state.last, rule.p
    onward = _met_again(_fact(first), payload)
    near = candidates_at(state.chosen, second.ts_us, payload)
    near_first = candidates_at(state.first_chosen, first.ts_us, onward)
    one = player_of(near_first, first.ts_us, onward, last, rule)
    two = None if one is None else player_of(near, second.ts_us, payload, _last(first.ts_us, onward, one), rule)
    if one is not None and two is None:
        was = better_candidate(near_first, first.ts_us, onward, last, one.object_id, p)
        now = better_candidate(near, second.ts_us, payload, _last(first.ts_us, onward, one), one.object_id, p)
        if was is not None and (now is None or was[0] <= now[0]):
            same = tuple(r for r in near if r.object_id == one.object_id)
            one, two = was[1], player_of(same, second.ts_us, payload, _last(first.ts_us, onward, was[1]), rule)
        elif now is not None:
            two = now[1]
    if one is not None and two is not None and one.object_id != two.object_id:
        return one, two, onward
    plain = _fact(first)
    one = player_of(near_first, first.ts_us, plain, last, rule)
    then = last if one is None else _last(first.ts_us, plain, one)
    return one, player_of(near, second.ts_us, payload, then, rule), plain


def _given(
    closest: Closest,
    last: PreviousContact,
    made: Sequence[tuple[Event, EventPayload, Candidate | None]],
    rule: ContactRule,
) -> Step[ContactState]:
    """The state and the events of contacts that were settled."""
    out = []
    for contact, payload, by in made:
        if by is not None:
            last = _last(contact.ts_us, payload, by)
            out.append(_contact(rule.kind, contact, payload, by))
    return ContactState(closest, None, NOBODY, last), tuple(out)


def _last(at_us: int, payload: EventPayload, by: Candidate) -> PreviousContact:
    return PreviousContact(at_us, by.object_id, by.team, number(payload, "delta_v_m_s"))


def _fact(contact: Event) -> EventPayload:
    payload = published(contact)
    return payload


def _met_again(first: EventPayload, second: EventPayload) -> EventPayload:
    """A contact whose ball another one met at once: what that one knows of the way between, knows both of them."""
    ways = [(f"{axis}_m_s", f"delta_{axis}_m_s") for axis in ("vx", "vy", "vz")]
    between = [number(second, way) - number(second, change) for way, change in ways]
    before = [number(first, way) - number(first, change) for way, change in ways]
    detail = dict(first.detail)
    for (way, change), now, then in zip(ways, between, before, strict=True):
        detail[way], detail[change] = round(now, 2), round(now - then, 2)
    detail["speed_after_m_s"] = second.detail["speed_before_m_s"]
    detail["delta_v_m_s"] = round(math.dist(between, before), 2)
    return msgspec.structs.replace(first, detail=detail)


def _contact(kind: str, cause: Event, payload: EventPayload, by: Candidate) -> Event:
    detail: dict[str, Scalar] = {
        **payload.detail,
        "strength": payload.variant,
        "distance_m": round(by.distance_m, 2),
    }
    if by.limb:
        detail["limb"] = by.limb
    contact = EventPayload("", by.team, by.object_id, payload.x_m, payload.y_m, payload.z_m, payload.confidence, detail)
    return make_event(kind, cause.ts_us, cause.source, contact, causes=(cause.id,))


class ReleaseParameters(msgspec.Struct, frozen=True):
    """``release_m``: StreamTeam's kickDetection. ``apart_m``: if somebody else has the next contact first, the
    ball must at least have left the kicker's zone (4.2); in any case it has travelled that far from where it was
    hit. ``piece_us``: a camera's ball that leaves so soon still flies as the fit of the hit has it (ours; about what
    that fit is of)."""

    release_m: float = 2.25
    apart_m: float = 1.5
    piece_us: int = 240_000


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
        self._pieces = fits_optical_breaks(sheet.quality)
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
        held = contact.first or contact.waiting
        if held is not None and state.frame is not None and state.frame.ts_us >= held.ts_us:
            # Where the ball was when it was met is asked later.
            return ReleaseState(contact, state.hit, state.frame), NOTHING
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
        out: list[Event] = []
        old = state.hit
        for new in hits:
            if old is not None and frame is not None and _player(old) != _player(new):
                before = state.frame if state.frame is not None and state.frame.ts_us >= new.ts_us else frame
                released = self._released(old, before, self.parameters.apart_m)
                out += [released] if released else []
            old = new
        return ReleaseState(contact, old, frame), tuple(out)

    def _velocity(self, hit: Event, kicked: EventPayload, ball: BallState, now_us: int) -> tuple[float, float, float]:
        """Of the ball as it leaves: of a camera's more is known from the piece that began with the hit than from two
        frames."""
        flown_us = now_us - hit.ts_us
        if not self._pieces or flown_us > self.parameters.piece_us:
            return ball.vx_m_s, ball.vy_m_s, ball.vz_m_s
        fallen_m_s = GRAVITY_M_S2 * flown_us * 1e-6 if ball.z_m > AIRBORNE_M else 0.0
        return number(kicked, "vx_m_s"), number(kicked, "vy_m_s"), number(kicked, "vz_m_s") - fallen_m_s

    def _released(self, hit: Event, frame_event: Event, distance_m: float) -> Event | None:
        frame, kicked = frame_of(frame_event), published(hit)
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
        vx, vy, vz = self._velocity(hit, kicked, ball, frame_event.ts_us)
        detail: dict[str, Scalar] = {
            "kick_us": hit.ts_us,
            "kick_x_m": kicked.x_m,
            "kick_y_m": kicked.y_m,
            "kick_z_m": kicked.z_m,
            "speed_before_m_s": kicked.detail["speed_before_m_s"],
            "speed_after_m_s": kicked.detail["speed_after_m_s"],
            "vx_m_s": round(vx, 2),
            "vy_m_s": round(vy, 2),
            "vz_m_s": round(vz, 2),
        }
        payload = EventPayload("", kicked.team, kicked.player, ball.x_m, ball.y_m, ball.z_m, kicked.confidence, detail)
        return make_event("kick.released", frame_event.ts_us, hit.source, payload, causes=hit.causes)


def _player(event: Event) -> str:
    payload = published(event)
    return payload.player
