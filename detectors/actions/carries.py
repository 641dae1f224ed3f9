"""6.10: carries: somebody moves with the ball."""

from __future__ import annotations

import math

import msgspec

from detectors.actions.flight import FlightParameters, first_to_reach
from detectors.emission import make_event
from football.match_sheet import MatchSheet, Team
from football.payloads import BodyState, EventPayload, Scalar, frame_of, number, published
from football.pitch import end_of, pitch_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class CarryParameters(msgspec.Struct, frozen=True):
    """Thresholds of a carry.

    Attributes:
        least_m: SPADL's shortest dribble. Its longest ones, 60 m and 10 s, guard against events that are missing
            between two others; we see the ball on the way.
        with_m: the ball is with its holder up to here (5.8's release: farther, he has kicked it).
        step_m: shorter steps of the holder are not counted, as a body that stands sways (ours).
        every_us: how often he is looked at: a sprinter goes one step in it (ours).
        apart_us: a ball that nobody played is no longer carried after being away from him for so long (ours: a push
            that takes longer to run down was a pass to nobody).
    """

    least_m: float = 3.0
    with_m: float = 2.25
    step_m: float = 0.5
    every_us: int = 100_000
    apart_us: int = 2_500_000


class Holder(msgspec.Struct, frozen=True, gc=False):
    """Who has the ball: the contact by which he got it, when and where; how far he has gone with it.

    ``x_m``, ``y_m`` is the place of his body that was counted last, nan before the first; ``with_us``, ``ball_x_m``,
    ``ball_y_m`` when and where the ball was with him last; ``told``: whether the beginning was told.
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
    gone_m: float = 0.0
    told: bool = False


class CarryState(msgspec.Struct, frozen=True, gc=False):
    """Whether play is dead; the holder; the frame looked at last; when the next look is due."""

    dead: bool = False
    holder: Holder | None = None
    frame: Event | None = None
    due_us: int = -(2**62)


class Carry:
    """6.10: ``carry.start`` and ``carry.end``: a player moves 3 m or more with the ball before he gives it away.

    Both are named by the contact by which he got the ball. The start is told when he has gone so far, and shown at
    that contact; the end is told when the ball has left him, unless he himself will reach it first, and shown at his
    last contact. ``detail``: ``from_x_m``, ``from_y_m`` and ``distance_m``, his way. Goalkeepers who hold the ball in
    their penalty area carry nothing.
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
        )

    def initial(self) -> CarryState:
        """Nobody has the ball."""
        return CarryState()

    def step(self, state: CarryState, event: Event) -> Step[CarryState]:
        """Looks at the holder now and then; contacts, releases and deaths change who he is."""
        holder = state.holder
        if event.kind == "frame":
            if holder is None or event.ts_us < state.due_us:
                return state, NOTHING
            return self._look(state, holder, event)
        payload = published(event)
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

    def _look(self, state: CarryState, holder: Holder, event: Event) -> Step[CarryState]:
        frame, p = frame_of(event), self.parameters
        due_us = event.ts_us + p.every_us
        body = next((b for b in frame.players if b.object_id == holder.player), None)
        ball = frame.ball
        if ball is None or body is None or self._in_hands(body):
            return CarryState(False, holder, event, due_us), NOTHING
        if math.hypot(ball.x_m - body.x_m, ball.y_m - body.y_m) > p.with_m:
            if event.ts_us - holder.with_us <= p.apart_us:
                return CarryState(False, holder, event, due_us), NOTHING
            return CarryState(False, None, event, due_us), self._end(holder, event)
        gone_m, x_m, y_m = holder.gone_m, holder.x_m, holder.y_m
        if x_m is None or y_m is None:
            x_m, y_m = body.x_m, body.y_m
        elif (step_m := math.hypot(body.x_m - x_m, body.y_m - y_m)) >= p.step_m:
            gone_m, x_m, y_m = gone_m + step_m, body.x_m, body.y_m
        far = gone_m >= p.least_m
        after = msgspec.structs.replace(
            holder,
            with_us=event.ts_us,
            ball_x_m=ball.x_m,
            ball_y_m=ball.y_m,
            x_m=x_m,
            y_m=y_m,
            gone_m=gone_m,
            told=holder.told or far,
        )
        out = (_started(after, event),) if far and not holder.told else NOTHING
        return CarryState(False, after, event, due_us), out

    def _released(self, state: CarryState, event: Event, release: EventPayload) -> Step[CarryState]:
        """The ball has left: for good, unless its kicker gets there before all others."""
        holder = state.holder
        if holder is None or holder.player != release.player or state.frame is None:
            return state, NOTHING
        kick_us = round(number(release, "kick_us"))
        frame = frame_of(state.frame)
        own, others = first_to_reach(release, frame, self.flight)
        soonest_s = min((reach.after_s for reach in others.values()), default=math.inf)
        if kick_us < holder.since_us or (own is not None and own.after_s <= soonest_s):
            return state, NOTHING
        kicked = msgspec.structs.replace(
            holder,
            with_us=kick_us,
            ball_x_m=number(release, "kick_x_m"),
            ball_y_m=number(release, "kick_y_m"),
        )
        return CarryState(False, None, state.frame, state.due_us), self._end(kicked, event)

    def _end(self, holder: Holder, event: Event) -> tuple[Event, ...]:
        """The end of a carry whose beginning was told, where the ball was with him last."""
        if not holder.told:
            return NOTHING
        detail: dict[str, Scalar] = {**_way(holder), "seconds_s": round((holder.with_us - holder.since_us) * 1e-6, 2)}
        payload = EventPayload("", holder.team, holder.player, holder.ball_x_m, holder.ball_y_m, None, detail=detail)
        causes = (holder.contact, event.id)
        end = make_event("carry.end", event.ts_us, holder.anchor, payload, causes=causes, dated_us=holder.with_us)
        return (end,)

    def _in_hands(self, body: BodyState) -> bool:
        if body.object_id not in self._keepers:
            return False
        return self._pitch.in_penalty_area(body.x_m, body.y_m, end_of(body.x_m))


def _holder(event: Event, payload: EventPayload) -> Holder:
    x_m, y_m = payload.x_m, payload.y_m
    assert x_m is not None
    assert y_m is not None
    return Holder(payload.player, payload.team, event.source, event.id, event.ts_us, x_m, y_m, event.ts_us, x_m, y_m)


def _way(holder: Holder) -> dict[str, Scalar]:
    return {
        "from_x_m": round(holder.from_x_m, 2),
        "from_y_m": round(holder.from_y_m, 2),
        "distance_m": round(holder.gone_m, 2),
    }


def _started(holder: Holder, event: Event) -> Event:
    payload = EventPayload("", holder.team, holder.player, holder.from_x_m, holder.from_y_m, None, detail=_way(holder))
    causes = (holder.contact,)
    return make_event("carry.start", event.ts_us, holder.anchor, payload, causes=causes, dated_us=holder.since_us)
