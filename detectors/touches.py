"""Level 5: contacts of players with the ball, and the ball that leaves its kicker.

Theory of operation
-------------------
*Player hits ball* is the seeds' A!BC: near (A), an acceleration peak (C), and no not-near (B) in between (000
Fig 3; 002 5.1). As peaks are of level 2 and proximity of level 4, at one instant the peak comes first in the
canonical order. So a peak waits until the next frame closes its instant, and then is given to who is closest
among those near (``ball.closest`` of 4.1 names nobody from a not-near on, which is the B of the pattern);
without anybody near there is no hit. A *soft touch* waits in the same way for its turn or step of
speed, and yields to a hit of the same contact.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from detectors.ball import corner_horizon_us
from detectors.facts import Fact, Scalar, fact_event
from detectors.inputs import MatchSheet
from detectors.proximity import Closest
from detectors.signal import body_sampling
from detectors.states import Frame
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

NOBODY = Closest("")


class ContactState(msgspec.Struct, frozen=True, gc=False):
    """Who near the ball is closest to it; the contact that waits for its instant to close and who was closest
    then; time of the last contact given or yielded to."""

    closest: Closest = NOBODY
    waiting: Event | None = None
    chosen: Closest = NOBODY
    last_us: int = -(2**62)


class HitParameters(msgspec.Struct, frozen=True):
    """``share_min``: a ball that flies past a body at speed shakes by tracking noise; a hit changes at least this
    share of its speed (ours: 0.15 is a deflection by 9 degrees; TRACAB balls at 20 m/s shake by 2-3 m/s)."""

    share_min: float = 0.15


class PlayerHitsBall:
    """5.1: ``hit``, at the ball's state where its velocity changed, by the closest of those near."""

    def __init__(self, sheet: MatchSheet, parameters: HitParameters | None = None) -> None:
        self.parameters = parameters or HitParameters()
        self.spec = Spec(
            name="player_hits_ball",
            number="5.1",
            level=5,
            inputs=("frame", "ball.accel_peak", "ball.closest"),
            outputs=("hit",),
            horizon_us=contact_horizon_us(sheet),
            parameters=msgspec.structs.asdict(self.parameters),
            source="000 Fig 3; 002 5.1; DEBS 2013 Q2",
        )

    def initial(self) -> ContactState:
        """Nobody near, no contact."""
        return ContactState()

    def step(self, state: ContactState, event: Event) -> Step[ContactState]:
        """A (near), not B (not_near), C (peak); the next frame closes the instant."""
        if event.kind == "frame":
            return _close(state, event, "hit", self.spec.horizon_us)
        if event.kind == "ball.accel_peak":
            if not is_hit(event, self.parameters.share_min):
                return state, NOTHING
            return _wait(state, event, "hit", self.spec.horizon_us)
        return _around(state, event), NOTHING


class TouchParameters(msgspec.Struct, frozen=True):
    """``yield_us``: a hit so close in time is the same contact (ours: two periods of 25 Hz)."""

    yield_us: int = 90_000


class SoftTouch:
    """5.2: ``touch``: near, and a turn or a step of speed without the peak of a hit."""

    def __init__(self, sheet: MatchSheet, parameters: TouchParameters | None = None) -> None:
        self.parameters = parameters or TouchParameters()
        self.spec = Spec(
            name="soft_touch",
            number="5.2",
            level=5,
            inputs=("frame", "ball.accel_peak", "ball.turn", "ball.speed_step", "ball.closest"),
            outputs=("touch",),
            horizon_us=contact_horizon_us(sheet) + self.parameters.yield_us,
            parameters=msgspec.structs.asdict(self.parameters),
            source="StreamTeam (ball hit); databallpy (gain rule)",
        )

    def initial(self) -> ContactState:
        """Nobody near, no contact."""
        return ContactState()

    def step(self, state: ContactState, event: Event) -> Step[ContactState]:
        """A turn or step waits; a hit takes its place; the first frame after ``yield_us`` decides."""
        if event.kind == "frame":
            if state.waiting is not None and event.ts_us - state.waiting.ts_us <= self.parameters.yield_us:
                return state, NOTHING
            return _close(state, event, "touch", self.spec.horizon_us)
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


def number(fact: Fact, name: str) -> float:
    """A number of a fact's details."""
    value = fact.detail[name]
    assert isinstance(value, float | int), f"{name} is not a number"
    return float(value)


def contact_horizon_us(sheet: MatchSheet) -> int:
    """The frame that closes a contact's instant comes within one period, or two if one is lost."""
    return max(corner_horizon_us(sheet), 2 * body_sampling(sheet.quality).period_us)


def _around(state: ContactState, event: Event) -> ContactState:
    """Who is closest from now on; also for the waiting contact if it is of this instant."""
    closest, waiting = event.payload, state.waiting
    assert isinstance(closest, Closest)
    same = waiting is not None and event.ts_us <= waiting.ts_us
    return ContactState(closest, waiting, closest if same else state.chosen, state.last_us)


def _wait(state: ContactState, event: Event, kind: str, horizon_us: int) -> Step[ContactState]:
    """A second contact closes the one that waits, if no frame came between."""
    closed, out = _close(state, event, kind, horizon_us)
    return ContactState(closed.closest, event, closed.closest, closed.last_us), out


def _close(state: ContactState, event: Event, kind: str, horizon_us: int) -> Step[ContactState]:
    """Gives the waiting contact to who was closest, once its instant is past."""
    contact = state.waiting
    if contact is None or event.ts_us <= contact.ts_us:
        return state, NOTHING
    after = ContactState(state.closest, None, NOBODY, contact.ts_us)
    if not state.chosen.key or event.ts_us - contact.ts_us > horizon_us:
        return after, NOTHING
    return after, (_contact(kind, contact, state.chosen),)


def _contact(kind: str, cause: Event, closest: Closest) -> Event:
    fact = cause.payload
    assert isinstance(fact, Fact)
    detail: dict[str, Scalar] = {
        **fact.detail,
        "strength": fact.variant,
        "distance_m": round(closest.distance_m, 2),
    }
    if closest.limb:
        detail["limb"] = closest.limb
    contact = Fact("", closest.team, closest.object_id, fact.x_m, fact.y_m, fact.z_m, fact.confidence, detail)
    return fact_event(kind, cause.ts_us, cause.source, contact, causes=(cause.id,))


class ReleaseParameters(msgspec.Struct, frozen=True):
    """``release_m``: StreamTeam's kickDetection. ``apart_m``: if somebody else has the next contact first, the
    ball must at least have left the kicker's zone (4.2); in any case it has travelled that far from where it was hit.
    ``share_min`` as of 5.1."""

    release_m: float = 2.25
    apart_m: float = 1.5
    share_min: float = 0.15


class ReleaseState(msgspec.Struct, frozen=True, gc=False):
    """The contact machine of 5.1, the hit whose ball has not left yet, and the newest frame."""

    contact: ContactState = ContactState()
    hit: Event | None = None
    frame: Event | None = None


class KickReleased:
    """5.8: ``kick.released``: after a hit, the ball is farther than ``release_m`` from who hit it.

    Dated at that instant; the anchor is the hit's ball state, ``detail`` has ``kick_us``, ``kick_x_m``,
    ``kick_y_m`` of the hit and the ball's velocity on leaving. As hits are of this very level, the pattern of 5.1
    is followed here again by the same code. A new hit re-arms.
    """

    def __init__(self, sheet: MatchSheet, parameters: ReleaseParameters | None = None) -> None:
        self.parameters = parameters or ReleaseParameters()
        self._contact_horizon_us = contact_horizon_us(sheet)
        self.spec = Spec(
            name="kick_released",
            number="5.8",
            level=5,
            inputs=("frame", "ball.accel_peak", "ball.closest"),
            outputs=("kick.released",),
            horizon_us=self._contact_horizon_us,
            parameters=msgspec.structs.asdict(self.parameters),
            source="StreamTeam kickDetection",
        )

    def initial(self) -> ReleaseState:
        """No hit yet."""
        return ReleaseState()

    def step(self, state: ReleaseState, event: Event) -> Step[ReleaseState]:
        """Follows the hits as 5.1 does, and the distance frame by frame."""
        if event.kind == "ball.closest":
            return ReleaseState(_around(state.contact, event), state.hit, state.frame), NOTHING
        if event.kind == "ball.accel_peak":
            if not is_hit(event, self.parameters.share_min):
                return state, NOTHING
            contact, hits = _wait(state.contact, event, "hit", self._contact_horizon_us)
            return self._hits(state, contact, hits, state.frame)
        contact, hits = _close(state.contact, event, "hit", self._contact_horizon_us)
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
            "speed_before_m_s": kicked.detail["speed_before_m_s"],
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
