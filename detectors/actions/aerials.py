"""6.9: aerial duels: two opponents go up for a high ball."""

from __future__ import annotations

import math

import msgspec

from detectors.ball.trajectory_breaks import GRAVITY_M_S2
from detectors.emission import make_event
from football.payloads import BallState, BodyState, EventPayload, Frame, Scalar, frame_of, published
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class AerialParameters(msgspec.Struct, frozen=True):
    """Hierarchy 6.9: ``reach_m``: both are so near to the ball's predicted place; ``high_m``: it is above this there;
    ``ahead_us``: so soon after the jump. ``step_us``: of the prediction; ``within_us``: a duel that nobody has won by
    then is over. Both ours."""

    reach_m: float = 1.5
    high_m: float = 1.5
    ahead_us: int = 500_000
    step_us: int = 50_000
    within_us: int = 1_500_000


class AerialState(msgspec.Struct, frozen=True, gc=False):
    """Whether play is dead, the newest frame, the duel that nobody has won yet."""

    dead: bool = False
    frame: Event | None = None
    start: Event | None = None


class AerialDuel:
    """6.9: ``aerial.start``: somebody jumps for a ball that will be high beside him and an opponent; ``aerial.won``:
    who of both touches it first.

    ``detail.other`` is the opponent; the place of the start is where the ball is expected. Named by the jump.
    """

    def __init__(self, parameters: AerialParameters | None = None) -> None:
        self.parameters = parameters or AerialParameters()
        self.spec = Spec(
            name="aerial_duel",
            number="6.9",
            level=6,
            inputs=("frame", "jump.take_off", "hit", "touch", "phase.dead", "phase.live"),
            outputs=("aerial.start", "aerial.won"),
            parameters=msgspec.structs.asdict(self.parameters),
            source="kloppy AERIAL; socceraction issue 470; numbers ours",
            needs="limb transmitters, for the jumps",
            team_variants={"aerial.won": ("",)},
        )

    def initial(self) -> AerialState:
        """Play is taken as live, as 5.10 does."""
        return AerialState()

    def step(self, state: AerialState, event: Event) -> Step[AerialState]:
        """A jump, then a contact."""
        if event.kind == "frame":
            return AerialState(state.dead, event, state.start), NOTHING
        payload = published(event)
        if event.kind in ("phase.dead", "phase.live"):
            return AerialState(event.kind == "phase.dead", state.frame), NOTHING
        if event.kind == "jump.take_off":
            return self._jumped(state, event, payload)
        return self._played(state, event, payload)

    def _jumped(self, state: AerialState, event: Event, jump: EventPayload) -> Step[AerialState]:
        going_on = state.start is not None and event.ts_us - state.start.ts_us <= self.parameters.within_us
        if state.dead or going_on or state.frame is None:
            return state, NOTHING
        frame = frame_of(state.frame)
        jumper = next((b for b in frame.players if b.object_id == jump.player), None)
        if frame.ball is None or jumper is None:
            return state, NOTHING
        place = self._meets(frame.ball, jumper)
        rival = _nearest_rival(frame, jumper, place, self.parameters.reach_m) if place is not None else None
        if place is None or rival is None:
            return state, NOTHING
        detail: dict[str, Scalar] = {"other": rival.object_id}
        x_m, y_m, z_m = (round(value, 2) for value in place)
        payload = EventPayload("", jumper.team, jumper.object_id, x_m, y_m, z_m, detail=detail)
        start = make_event("aerial.start", event.ts_us, event.source, payload, causes=(event.id,))
        return AerialState(state.dead, state.frame, start), (start,)

    def _meets(self, ball: BallState, jumper: BodyState) -> tuple[float, float, float] | None:
        """Where the ball will come nearest to who jumps, if it is high and within his reach there."""
        p, best, nearest_m = self.parameters, None, self.parameters.reach_m
        for after_us in range(0, p.ahead_us + 1, p.step_us):
            t = after_us * 1e-6
            x, y = ball.x_m + ball.vx_m_s * t, ball.y_m + ball.vy_m_s * t
            z = ball.z_m + ball.vz_m_s * t - 0.5 * GRAVITY_M_S2 * t * t
            away_m = math.hypot(x - jumper.x_m - jumper.vx_m_s * t, y - jumper.y_m - jumper.vy_m_s * t)
            if z > p.high_m and away_m <= nearest_m:
                best, nearest_m = (x, y, z), away_m
        return best

    def _played(self, state: AerialState, event: Event, payload: EventPayload) -> Step[AerialState]:
        start = state.start
        if start is None or event.ts_us <= start.ts_us:
            return state, NOTHING
        made = published(start)
        after = AerialState(state.dead, state.frame)
        other = str(made.detail["other"])
        late = event.ts_us - start.ts_us > self.parameters.within_us
        if late or payload.player not in (made.player, other):
            return after, NOTHING
        detail: dict[str, Scalar] = {"other": other if payload.player == made.player else made.player}
        won = EventPayload(
            "", payload.team, payload.player, payload.x_m, payload.y_m, payload.z_m, payload.confidence, detail
        )
        return after, (make_event("aerial.won", event.ts_us, start.source, won, causes=(start.id, event.id)),)


def _nearest_rival(
    frame: Frame, jumper: BodyState, place: tuple[float, float, float], reach_m: float
) -> BodyState | None:
    """The opponent nearest to a place, if it is within his reach."""
    rivals = [
        (math.hypot(b.x_m - place[0], b.y_m - place[1]), i)
        for i, b in enumerate(frame.players)
        if b.team and b.team != jumper.team
    ]
    away_m, i = min(rivals, default=(math.inf, -1))
    return frame.players[i] if away_m <= reach_m else None
