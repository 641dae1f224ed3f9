"""6.9: aerial duels: two opponents go up for a high ball."""

from __future__ import annotations

import math
from typing import Annotated

import msgspec

from detectors.decisions import at_least, at_most, note
from detectors.emission import make_event
from detectors.reasons import reason
from football.constants import GRAVITY_M_S2
from football.match_sheet import MatchSheet
from football.payloads import (
    BallState,
    BodyState,
    EventPayload,
    Frame,
    Scalar,
    frame_of,
    location_m,
    payload_of,
)
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class AerialParameters(msgspec.Struct, frozen=True):
    """Limits of an aerial duel.

    Attributes:
        reach_m: greatest distance of both players from the predicted position of the ball.
        high_m: least height of the ball there.
        ahead_us: the ball is there at most this long after the jump.
        step_us: step of the prediction.
        within_us: a duel that neither player has won by then is over.
        head_m: without jumps, least height of a contact with an opponent in reach of the ball.
    """

    reach_m: Annotated[float, reason("Hierarchy 6.9.")] = 1.5
    high_m: Annotated[float, reason("Hierarchy 6.9.")] = 1.5
    ahead_us: Annotated[int, reason("Hierarchy 6.9.")] = 500_000
    step_us: Annotated[int, reason("Ours.")] = 50_000
    within_us: Annotated[int, reason("Ours.")] = 1_500_000
    head_m: Annotated[float, reason("Ours: who stands heads a lower ball.")] = 1.8


class AerialState(msgspec.Struct, frozen=True, gc=False):
    """State: True if play is dead; the newest frame; the duel that neither player has won yet."""

    dead: bool = False
    frame: Event | None = None
    start: Event | None = None


class AerialDuel:
    """6.9: ``aerial.start``: a player jumps for a ball that will be high near him and an opponent; ``aerial.won``: one
    of the two touches it first.

    ``player`` of the start jumps, of the win touches the ball. The position of the start is the predicted one of the
    ball. Named by the jump. Without limb transmitters nobody is seen to jump: then both are published when a player
    plays a ball above his head with an opponent in reach of it. Who reaches it has mostly jumped first, so he is the
    ``player`` of both. Goalkeepers claim. ``detail``: ``other`` (the opponent).
    """

    def __init__(self, sheet: MatchSheet, parameters: AerialParameters | None = None) -> None:
        self.parameters = parameters or AerialParameters()
        # As the registry enables the detector of jumps (3.5).
        self._jumps = {"left_foot", "right_foot"} <= {*sheet.quality.limbs}
        self._keepers = frozenset(p.object_id for p in sheet.players if p.goalkeeper)
        self.spec = Spec(
            name="aerial_duel",
            number="6.9",
            level=6,
            inputs=("frame", *(("jump.take_off",) if self._jumps else ()), "hit", "touch", "phase.dead", "phase.live"),
            outputs=("aerial.start", "aerial.won"),
            parameters=msgspec.structs.asdict(self.parameters),
            source="kloppy AERIAL; socceraction issue 470; numbers ours",
            needs="height of the ball",
            team_variants={"aerial.won": ("",)},
            details=dict.fromkeys(("aerial.start", "aerial.won"), ("other",)),
        )

    def initial(self) -> AerialState:
        """Play counts as live, as in 5.10."""
        return AerialState()

    def step(self, state: AerialState, event: Event) -> Step[AerialState]:
        """Follow a jump, then a contact."""
        if event.kind == "frame":
            return AerialState(state.dead, event, state.start), NOTHING
        payload = payload_of(event)
        if event.kind in ("phase.dead", "phase.live"):
            return AerialState(event.kind == "phase.dead", state.frame), NOTHING
        if event.kind == "jump.take_off":
            return self._jumped(state, event, payload)
        return self._played(state, event, payload) if self._jumps else self._headed(state, event, payload)

    def _headed(self, state: AerialState, event: Event, played: EventPayload) -> Step[AerialState]:
        """The duel of a player who plays a high ball, and the opponent beside it."""
        if state.dead or state.frame is None or played.player in self._keepers or played.z_m is None:
            return state, NOTHING
        if not at_least("height of the ball", played.z_m, self.parameters.head_m, "aerial_duel.head_m"):
            return state, NOTHING
        frame, place = frame_of(state.frame), (*location_m(played), played.z_m)
        own = next((b for b in frame.players if b.object_id == played.player), None)
        rival = None if own is None else _nearest_rival(frame, own, place, self.parameters.reach_m)
        if rival is None or rival.object_id in self._keepers:
            return state, NOTHING
        duel = msgspec.structs.replace(played, variant="", detail={"other": rival.object_id})
        start = make_event("aerial.start", event.ts_us, event.source, duel, causes=(event.id,))
        return state, (start, make_event("aerial.won", event.ts_us, event.source, duel, causes=(start.id, event.id)))

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
        """The position of the ball when it is nearest to the jumper, if it is high and within his reach there."""
        p, best, nearest_m = self.parameters, None, self.parameters.reach_m
        for after_us in range(0, p.ahead_us + 1, p.step_us):
            t = after_us * 1e-6
            x, y = ball.x_m + ball.vx_m_s * t, ball.y_m + ball.vy_m_s * t
            z = ball.z_m + ball.vz_m_s * t - 0.5 * GRAVITY_M_S2 * t * t
            away_m = math.hypot(x - jumper.x_m - jumper.vx_m_s * t, y - jumper.y_m - jumper.vy_m_s * t)
            if z > p.high_m and away_m <= nearest_m:
                best, nearest_m = (x, y, z), away_m
        if best is not None:
            note("height of the ball", best[2], "at least", p.high_m, "aerial_duel.high_m", "aerial.start")
            note("the jumper from the ball", nearest_m, "at most", p.reach_m, "aerial_duel.reach_m", "aerial.start")
        return best

    def _played(self, state: AerialState, event: Event, payload: EventPayload) -> Step[AerialState]:
        start = state.start
        if start is None or event.ts_us <= start.ts_us:
            return state, NOTHING
        made = payload_of(start)
        after = AerialState(state.dead, state.frame)
        other = str(made.detail["other"])
        what, since_us, path = "time since it began", event.ts_us - start.ts_us, "aerial_duel.within_us"
        late = not at_most(what, since_us, self.parameters.within_us, path, about="aerial.won")
        if late or payload.player not in (made.player, other):
            return after, NOTHING
        detail: dict[str, Scalar] = {"other": other if payload.player == made.player else made.player}
        won = msgspec.structs.replace(payload, variant="", detail=detail)
        return after, (make_event("aerial.won", event.ts_us, start.source, won, causes=(start.id, event.id)),)


def _nearest_rival(
    frame: Frame, jumper: BodyState, place: tuple[float, float, float], reach_m: float
) -> BodyState | None:
    """The opponent nearest to a position, if it is within his reach."""
    rivals = [
        (math.hypot(b.x_m - place[0], b.y_m - place[1]), i)
        for i, b in enumerate(frame.players)
        if b.team and b.team != jumper.team
    ]
    away_m, i = min(rivals, default=(math.inf, -1))
    return frame.players[i] if away_m <= reach_m else None
