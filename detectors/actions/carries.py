"""6.10: carries: a player moves with the ball."""

from __future__ import annotations

import math
from typing import Annotated

import msgspec

from detectors.contacts.releases import ReleaseParameters
from detectors.decisions import at_least, is_over, note
from detectors.emission import make_event
from detectors.proximity.first_reach import FlightParameters, first_to_reach
from detectors.reasons import reason
from detectors.signals.conditioning import ConditioningParameters
from football.match_sheet import MatchSheet, Team
from football.payloads import BodyState, EventPayload, Scalar, frame_of, location_m, number, payload_of
from football.pitch import end_of, pitch_of
from middleware.detector import NOTHING, Known, Spec, Step
from middleware.events import Event


class CarryParameters(msgspec.Struct, frozen=True):
    """Limits of a carry.

    Attributes:
        least_m: least distance of a carry.
        with_m: the ball is with its holder up to this distance.
        step_m: shorter steps of the holder do not count.
        every_us: time between two samples of the holder.
        fastest_m_s: nobody covers the distance of a carry faster.
        apart_us: a ball that has been farther from the holder than ``with_m`` for this long is no longer carried.
    """

    least_m: Annotated[
        float,
        reason("SPADL's shortest dribble. Its longest, 60 m and 10 s, guard against missing events."),
    ] = 3.0
    with_m: Annotated[float, reason("The default of release.release_m (5.8): farther away, the ball was kicked.")] = (
        ReleaseParameters().release_m
    )
    step_m: Annotated[float, reason("Ours: the body of a standing player sways by less.")] = 0.5
    every_us: Annotated[int, reason("Ours: a sprinter makes one step in it.")] = 100_000
    fastest_m_s: Annotated[float, reason("The default of conditioning.body_speed_max_m_s (1.3).")] = (
        ConditioningParameters().body_speed_max_m_s
    )
    apart_us: Annotated[int, reason("Ours: a push that takes longer to run down was a pass to no one.")] = 2_500_000


class Holder(msgspec.Struct, frozen=True, gc=False):
    """The player who has the ball.

    Attributes:
        player: the player.
        team: his team.
        anchor: name of the contact by which he got the ball.
        contact: its id.
        since_us: its time.
        from_x_m: its position.
        from_y_m: its position.
        with_us: newest time at which the ball was with him.
        ball_x_m: position of the ball then.
        ball_y_m: position of the ball then.
        x_m: position of his body at the newest step; None before the first.
        y_m: position of his body at the newest step; None before the first.
        travelled_m: distance that he has covered with the ball.
        reported: True once the start was published.
    """

    player: str
    team: Team
    anchor: str
    contact: str
    since_us: int
    from_x_m: float
    from_y_m: float
    with_us: int
    ball_x_m: float
    ball_y_m: float
    x_m: float | None = None
    y_m: float | None = None
    travelled_m: float = 0.0
    reported: bool = False


class CarryState(msgspec.Struct, frozen=True, gc=False):
    """State: True if play is dead; the holder; the newest sampled frame; the time of the next sample."""

    dead: bool = False
    holder: Holder | None = None
    frame: Event | None = None
    due_us: int = -(2**62)


class Carry:
    """6.10: ``carry.start`` and ``carry.end``: a player moves 3 m or more with the ball before he gives it away.

    Both are named by the contact by which he got the ball. The start is known when he has covered that distance, and
    shown at that contact. The end is known when the ball has left him, unless he will reach it first himself, and shown
    at his last contact. A goalkeeper in his penalty area carries nothing. ``detail``: ``from_x_m``, ``from_y_m`` (where
    he got the ball), ``distance_m`` (distance covered); of the end also ``seconds_s``.
    """

    def __init__(
        self, sheet: MatchSheet, parameters: CarryParameters | None = None, flight: FlightParameters | None = None
    ) -> None:
        self.parameters = parameters or CarryParameters()
        self.flight = flight or FlightParameters()
        self._pitch = pitch_of(sheet)
        self._keepers = frozenset(p.object_id for p in sheet.players if p.goalkeeper)
        self.spec = Spec(
            name="carry",
            number="6.10",
            level=6,
            inputs=("frame", "hit", "touch", "kick.released", "phase.dead", "phase.live"),
            outputs=("carry.start", "carry.end"),
            parameters={**msgspec.structs.asdict(self.parameters), **msgspec.structs.asdict(self.flight)},
            source="SPADL (dribble); StreamTeam (dribbling)",
            team_variants=dict.fromkeys(("carry.start", "carry.end"), ("",)),
            amends=("carry.start", "carry.end"),
            known={
                "carry.start": Known("when he has covered the least distance"),
                "carry.end": Known("when the ball has left him for good"),
            },
            details={
                "carry.start": ("from_x_m", "from_y_m", "distance_m"),
                "carry.end": ("from_x_m", "from_y_m", "distance_m", "seconds_s"),
            },
        )

    def initial(self) -> CarryState:
        """No player has the ball."""
        return CarryState()

    def step(self, state: CarryState, event: Event) -> Step[CarryState]:
        """Sample the holder; contacts, releases and stoppages change him."""
        holder = state.holder
        if event.kind == "frame":
            if holder is None or event.ts_us < state.due_us:
                return state, NOTHING
            return self._follow(state, holder, event)
        payload = payload_of(event)
        if event.kind == "phase.dead":
            return CarryState(dead=True), self._end(holder, event) if holder is not None else NOTHING
        if event.kind == "phase.live":
            return CarryState() if state.dead else state, NOTHING
        if state.dead:
            return state, NOTHING
        if event.kind == "kick.released":
            return self._released(state, event, payload)
        if holder is not None and holder.player == payload.player:
            return state, NOTHING
        out = self._end(holder, event) if holder is not None else NOTHING
        return CarryState(False, _holder(event, payload), state.frame, state.due_us), out

    def _follow(self, state: CarryState, holder: Holder, event: Event) -> Step[CarryState]:
        frame, p = frame_of(event), self.parameters
        due_us = event.ts_us + p.every_us
        body = next((b for b in frame.players if b.object_id == holder.player), None)
        ball = frame.ball
        if ball is None or body is None or self._in_goalkeepers_area(body):
            return CarryState(False, holder, event, due_us), NOTHING
        if math.hypot(ball.x_m - body.x_m, ball.y_m - body.y_m) > p.with_m:
            what, apart_us, path = "time away from the ball", event.ts_us - holder.with_us, "carry.apart_us"
            if not is_over(what, apart_us, p.apart_us, path, about="carry.end"):
                return CarryState(False, holder, event, due_us), NOTHING
            return CarryState(False, None, event, due_us), self._end(holder, event)
        travelled_m, x_m, y_m = holder.travelled_m, holder.x_m, holder.y_m
        if x_m is None or y_m is None:
            x_m, y_m = body.x_m, body.y_m
        elif (step_m := math.hypot(body.x_m - x_m, body.y_m - y_m)) >= p.step_m:
            travelled_m, x_m, y_m = travelled_m + step_m, body.x_m, body.y_m
        far = at_least("distance with the ball", travelled_m, p.least_m, "carry.least_m", about="carry.start")
        after = msgspec.structs.replace(
            holder,
            with_us=event.ts_us,
            ball_x_m=ball.x_m,
            ball_y_m=ball.y_m,
            x_m=x_m,
            y_m=y_m,
            travelled_m=travelled_m,
            reported=holder.reported or far,
        )
        out = (_started(after, event),) if far and not holder.reported else NOTHING
        return CarryState(False, after, event, due_us), out

    def _released(self, state: CarryState, event: Event, release: EventPayload) -> Step[CarryState]:
        """End the carry at a release, unless its kicker reaches the ball before all others.

        A contact before he can have covered his way, as that which the carry began with, is no kick: he took the ball
        along, and lost it later.
        """
        holder = state.holder
        if holder is None or holder.player != release.player or state.frame is None:
            return state, NOTHING
        kick_us = round(number(release, "kick_us"))
        frame = frame_of(state.frame)
        own, others = first_to_reach(release, frame, self.flight)
        soonest_s = min((reach.after_s for reach in others.values()), default=math.inf)
        if kick_us < holder.since_us or (own is not None and own.after_s <= soonest_s):
            return state, NOTHING
        kicked = holder
        if holder.travelled_m <= self.parameters.fastest_m_s * (kick_us - holder.since_us) * 1e-6:
            kick_x_m, kick_y_m = number(release, "kick_x_m"), number(release, "kick_y_m")
            kicked = msgspec.structs.replace(holder, with_us=kick_us, ball_x_m=kick_x_m, ball_y_m=kick_y_m)
        return CarryState(False, None, state.frame, state.due_us), self._end(kicked, event)

    def _end(self, holder: Holder, event: Event) -> tuple[Event, ...]:
        """The end of a carry whose start was published, at the last position of the ball with the holder."""
        if not holder.reported:
            return NOTHING
        least_m = self.parameters.least_m
        note("distance with the ball", holder.travelled_m, "at least", least_m, "carry.least_m", about="carry.end")
        took_s = (holder.with_us - holder.since_us) * 1e-6
        detail: dict[str, Scalar] = {**_path(holder), "seconds_s": round(took_s, 2)}
        payload = EventPayload("", holder.team, holder.player, holder.ball_x_m, holder.ball_y_m, None, detail=detail)
        causes = (holder.contact, event.id)
        end = make_event("carry.end", event.ts_us, holder.anchor, payload, causes=causes, dated_us=holder.with_us)
        return (end,)

    def _in_goalkeepers_area(self, body: BodyState) -> bool:
        if body.object_id not in self._keepers:
            return False
        return self._pitch.in_penalty_area(body.x_m, body.y_m, end_of(body.x_m))


def _holder(event: Event, payload: EventPayload) -> Holder:
    x_m, y_m = location_m(payload)
    return Holder(payload.player, payload.team, event.source, event.id, event.ts_us, x_m, y_m, event.ts_us, x_m, y_m)


def _path(holder: Holder) -> dict[str, Scalar]:
    return {
        "from_x_m": round(holder.from_x_m, 2),
        "from_y_m": round(holder.from_y_m, 2),
        "distance_m": round(holder.travelled_m, 2),
    }


def _started(holder: Holder, event: Event) -> Event:
    payload = EventPayload("", holder.team, holder.player, holder.from_x_m, holder.from_y_m, None, detail=_path(holder))
    causes = (holder.contact,)
    return make_event("carry.start", event.ts_us, holder.anchor, payload, causes=causes, dated_us=holder.since_us)
