"""Payloads of events: what users see of a sparse event, and the dense kinds (positions, frames) inside the engine."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar

import msgspec

from football.match_sheet import Team

Scalar = str | int | float | bool | None


class EventPayload(msgspec.Struct, frozen=True, gc=False):
    """Values of an event that users see, besides kind, time and id.

    Attributes:
        variant: value of the kind's own enumeration (``left``, ``wide right``, ``hit`` ...), empty if none.
        team: ``home``, ``away`` or empty.
        player: the source's object id, or empty.
        x_m, y_m, z_m: position in metres from the centre spot; None where the event has none.
        confidence: 0..1.
        detail: further values by name, with the unit in the name; ``docs/detectors.md`` lists them by kind. It must
            not be changed once the payload exists.
    """

    variant: str = ""
    team: Team = ""
    player: str = ""
    x_m: float | None = None
    y_m: float | None = None
    z_m: float | None = None
    confidence: float = 1.0
    detail: Mapping[str, Scalar] = {}


class PayloadError(TypeError):
    """An event carries another payload, or a payload another value, than its kind promises."""


class HasPayload(Protocol):
    """An event, as far as its payload is read (``middleware.events.Event``)."""

    @property
    def kind(self) -> str:
        """Its kind."""
        ...

    @property
    def payload(self) -> object:
        """Values that it carries."""
        ...


P = TypeVar("P")


def payload_as(event: HasPayload, payload_type: type[P]) -> P:
    """The payload of an event, which must be of a type.

    Raises:
        PayloadError: it is of another.
    """
    payload = event.payload
    if not isinstance(payload, payload_type):
        raise PayloadError(f"{event.kind} carries {type(payload).__name__}, not {payload_type.__name__}")
    return payload


def payload_of(event: HasPayload) -> EventPayload:
    """The ``EventPayload`` of an event that users see, such as a hit or a pass."""
    return payload_as(event, EventPayload)


def number(payload: EventPayload, name: str) -> float:
    """A number of a payload's detail.

    Raises:
        PayloadError: it is something else.
    """
    value = payload.detail[name]
    if not isinstance(value, float | int):
        raise PayloadError(f"{name} is {value!r}, not a number")
    return float(value)


def time_us(payload: EventPayload, name: str) -> int:
    """A time of a payload's detail in microseconds.

    Raises:
        PayloadError: it is something else.
    """
    value = payload.detail[name]
    if not isinstance(value, int):
        raise PayloadError(f"{name} is {value!r}, not a time in whole microseconds")
    return value


def location_m(payload: EventPayload) -> tuple[float, float]:
    """Where an event of a kind that has a location took place: x and y in metres.

    Raises:
        PayloadError: it has none.
    """
    if payload.x_m is None or payload.y_m is None:
        raise PayloadError(f"no location: {payload}")
    return payload.x_m, payload.y_m


def height_m(payload: EventPayload) -> float:
    """The height of an event of a kind that has one, in metres.

    Raises:
        PayloadError: it has none.
    """
    if payload.z_m is None:
        raise PayloadError(f"no height: {payload}")
    return payload.z_m


#: ``run`` of a ball state counts up to this number and stays there.
RUN_MAX = 100


class BallState(msgspec.Struct, frozen=True, gc=False):
    """One conditioned ball position. Metres, metres a second.

    Attributes:
        gap_us: time since the state before it.
        quality: quality of location in [0, 1].
        run: states since the ball was last lost or jumped, this one included, counted up to ``RUN_MAX``. In a
            run of 1 the velocity is unknown and zero; velocities of different runs must not be compared.
    """

    x_m: float
    y_m: float
    z_m: float
    vx_m_s: float
    vy_m_s: float
    vz_m_s: float
    gap_us: int
    quality: float = 1.0
    run: int = RUN_MAX


class BodyState(msgspec.Struct, frozen=True, gc=False):
    """One conditioned position of a player (``limb`` empty) or of one limb. Metres, metres a second."""

    object_id: str
    team: Team
    limb: str
    x_m: float
    y_m: float
    z_m: float
    vx_m_s: float
    vy_m_s: float
    quality: float = 1.0


#: One conditioned position of a limb: time in microseconds, then x, y, z in metres, vx, vy in metres a second.
LimbState = tuple[int, float, float, float, float, float]


class LimbRun(msgspec.Struct, frozen=True, gc=False):
    """Payload of ``foot.run`` and ``limb.run``: conditioned positions of one limb from one packet, oldest first.

    The event is dated by the first of ``states``, of which there is at least one. Positions come as a run, and not
    each by itself, because limbs are the densest input there is: 6,300 positions a second on 2,600 runs.
    """

    object_id: str
    team: Team
    limb: str
    states: tuple[LimbState, ...]
    quality: float = 1.0

    def at(self, now_us: int) -> LimbState:
        """The newest position that is not later than ``now_us``; the first one if all are."""
        states = self.states
        for state in reversed(states):
            if state[0] <= now_us:
                return state
        return states[0]

    def interpolated(self, now_us: int) -> LimbState:
        """Return the limb's state at an instant, dated by the position of :meth:`at`.

        It is interpolated between the positions around the instant, else extrapolated from the nearest at its velocity.
        """
        after: LimbState | None = None
        for state in reversed(self.states):
            if state[0] <= now_us or state is self.states[0]:
                break
            after = state
        ts_us, x_m, y_m, z_m, vx_m_s, vy_m_s = state
        age_us = now_us - ts_us
        if after is None or age_us < 0:
            return ts_us, x_m + vx_m_s * age_us * 1e-6, y_m + vy_m_s * age_us * 1e-6, z_m, vx_m_s, vy_m_s
        gap_us = after[0] - ts_us
        dx_m, dy_m, share = after[1] - x_m, after[2] - y_m, age_us / gap_us
        z_m += share * (after[3] - z_m)
        return ts_us, x_m + share * dx_m, y_m + share * dy_m, z_m, 1e6 * dx_m / gap_us, 1e6 * dy_m / gap_us


#: ``packed_sides`` of a frame, by team.
SIDES: dict[Team, int] = {"home": 0, "away": 1, "": 2}


class NearestPlayers(msgspec.Struct, frozen=True, gc=False):
    """The players of a frame nearest to the ball over the ground.

    Indices among the frame's players, -1 for nobody, and squared distances in square metres, infinite for nobody.
    Of several as near it is the first one. ``home``, ``away``: of either team; ``first``, ``second``: the nearest two
    of all.
    """

    home: int
    home_m2: float
    away: int
    away_m2: float
    first: int
    second: int
    first_m2: float


class Frame(msgspec.Struct, frozen=True, gc=False):
    """The state of all objects at one instant: those who play, the others, and the ball, None while it is lost.

    A person without a sample of that instant is extrapolated at the last velocity for a short while, then left out.

    Attributes:
        players: those who play, sorted by object id (:mod:`detectors.signals.playing`).
        names: object ids of ``players``, so that frames of the same players are recognised at once.
        packed_xy_m: all x, then all y of ``players`` in metres, as the memory of float64 numbers. Detectors ask
            ``detectors.signals.kernels.frame_kernels``, which reads it.
        packed_sides: of each a byte, see ``SIDES``.
        nearest: the players nearest to the ball; None without ball.
        others: everybody else who is tracked, sorted by object id: benches, players sent off, people without a team.
    """

    ball: BallState | None
    players: tuple[BodyState, ...]
    names: tuple[str, ...]
    packed_xy_m: bytes
    packed_sides: bytes
    nearest: NearestPlayers | None
    others: tuple[BodyState, ...] = ()

    def everybody(self) -> tuple[BodyState, ...]:
        """All people who are tracked, sorted by object id."""
        return tuple(sorted((*self.players, *self.others), key=_object_id)) if self.others else self.players


def _object_id(body: BodyState) -> str:
    return body.object_id


def frame_of(event: HasPayload) -> Frame:
    """The frame that an event carries."""
    payload = event.payload
    return payload if isinstance(payload, Frame) else payload_as(event, Frame)


def ball_of(event: HasPayload) -> BallState:
    """The ball state that an event carries."""
    payload = event.payload
    return payload if isinstance(payload, BallState) else payload_as(event, BallState)


def build_frame(ball: BallState | None, players: tuple[BodyState, ...], others: tuple[BodyState, ...] = ()) -> Frame:
    """A frame of a ball, those who play and the others, each sorted by object id."""
    positions = array("d", [*[body.x_m for body in players], *[body.y_m for body in players]]).tobytes()
    names, sides = tuple([body.object_id for body in players]), bytes([SIDES[body.team] for body in players])
    around = nearest_players(ball, players) if ball is not None else None
    return Frame(ball, players, names, positions, sides, around, others)


def nearest_players(ball: BallState, players: Sequence[BodyState]) -> NearestPlayers:
    """The players nearest to a ball."""
    x_m, y_m = ball.x_m, ball.y_m
    home = away = first = second = -1
    home_m2 = away_m2 = first_m2 = second_m2 = math.inf
    for i, body in enumerate(players):
        dx, dy = body.x_m - x_m, body.y_m - y_m
        d2 = dx * dx + dy * dy
        if d2 < second_m2:
            if d2 < first_m2:
                first, second, first_m2, second_m2 = i, first, d2, first_m2
            else:
                second, second_m2 = i, d2
        if d2 < home_m2 and body.team == "home":
            home, home_m2 = i, d2
        elif d2 < away_m2 and body.team == "away":
            away, away_m2 = i, d2
    return NearestPlayers(home, home_m2, away, away_m2, first, second, first_m2)


class LastSample(msgspec.Struct, frozen=True, gc=False):
    """When a player or the ball last gave a sample, and its quality."""

    object_id: str
    ts_us: int
    quality: float


class Tick(msgspec.Struct, frozen=True, gc=False):
    """Payload of ``clock.tick``: progress of event time, and the last sample of each object."""

    seen: tuple[LastSample, ...]
