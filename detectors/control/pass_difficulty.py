"""8.11: how difficult a pass is: the chance, at the kick, that a team mate controls it."""

from __future__ import annotations

import math
from typing import Annotated

import msgspec
import numpy as np

from detectors.control.scene import Bodies, keepers_of, outfield
from detectors.control.spearman import SpearmanParameters, control_grid, load, pass_success, players_array
from detectors.decisions import note
from detectors.emission import make_event, withdrawal
from detectors.reasons import reason
from football.constants import GRAVITY_M_S2
from football.match_sheet import MatchSheet, Team
from football.payloads import EventPayload, Scalar, frame_of, location_m, number, payload_of
from middleware.detector import NOTHING, Known, Spec, Step
from middleware.events import Event

#: From the easiest on.
CLASSES = ("safe", "fair", "risky")


class DifficultyParameters(msgspec.Struct, frozen=True):
    """Limits of a pass's difficulty.

    Attributes:
        safe_share: least chance of a safe pass.
        fair_share: least chance of a fair pass; any other is risky.
        over_m: a ball that rises above this height flies over the players on its path.
        slow_m_s: least mean speed of a pass in the model.
        fast_m_s: greatest mean speed of a pass in the model.
        model: numbers of Spearman's model; ``ball_m_s`` only of a pass whose time is not predicted.
    """

    safe_share: Annotated[
        float, reason("Of 253 passes of simulated matches, seeds 11 to 14, 92 % of those above it arrive.")
    ] = 0.8
    fair_share: Annotated[
        float, reason("As safe_share: 83 % of those between the two arrive, 42 % of those below.")
    ] = 0.5
    over_m: Annotated[float, reason("The height of the crossbar (Law 1), which few reach without a jump.")] = 2.44
    slow_m_s: Annotated[
        float, reason("A slower ball rolls out within some metres; the model's time would explode.")
    ] = 4.0
    fast_m_s: Annotated[
        float, reason("The mean of a hard pass over its whole way; 8.2's fastest balls start faster.")
    ] = 30.0
    model: SpearmanParameters = SpearmanParameters()


class DifficultyState(msgspec.Struct, frozen=True, gc=False):
    """State: the team that attacks +x, the newest frame, the newest two values."""

    attacks: Team = ""
    frame: Event | None = None
    newest: tuple[Event, ...] = ()


class PassDifficulty:
    """8.11: ``pass.xc`` x {safe, fair, risky}: the chance of the passing team to control the ball it has just passed.

    Spearman's model with all players as they stand and run at the kick. On its way a low ball may be taken by anybody;
    a ball that rises above ``over_m`` only where it ends. It ends where the first mate would reach it (6.7), after the
    time predicted for it; a ball that no mate would reach has the chance 0. What becomes of the pass changes nothing,
    so the value may be held against the outcome; a kick that was a dribble withdraws it. The position is that of the
    kick. ``detail``: ``xc`` (the chance), ``to`` (the mate; absent if there is none), ``over`` (true if it flies over
    the players on its path).
    """

    def __init__(self, sheet: MatchSheet, parameters: DifficultyParameters | None = None) -> None:
        self.parameters = parameters or DifficultyParameters()
        load()
        self._keepers = keepers_of(sheet)
        self.spec = Spec(
            name="pass_difficulty",
            number="8.11",
            level=8,
            inputs=("frame", "direction", "pass.attempt", "pass.kept"),
            outputs=("pass.xc",),
            parameters=msgspec.to_builtins(self.parameters),
            source="Spearman 2017; accessible-space",
            team_variants={"pass.xc": CLASSES},
            amends=("pass.xc",),
            annuls=("pass.xc",),
            details={"pass.xc": ("xc", "to", "over")},
            known={"pass.xc": Known("with the pass")},
        )

    def initial(self) -> DifficultyState:
        """Nothing known."""
        return DifficultyState()

    def step(self, state: DifficultyState, event: Event) -> Step[DifficultyState]:
        """Remember where everybody is; value a pass, or withdraw the value of a dribble."""
        if event.kind == "frame":
            return DifficultyState(state.attacks, event, state.newest), NOTHING
        payload = payload_of(event)
        if event.kind == "direction":
            return DifficultyState(payload.team, state.frame, state.newest), NOTHING
        if event.kind == "pass.kept":
            return self._withdrawn(state, event)
        if state.frame is None:
            return state, NOTHING
        value = self._value(state, state.frame, event, payload)
        return DifficultyState(state.attacks, state.frame, (*state.newest[-1:], value)), (value,)

    def _withdrawn(self, state: DifficultyState, event: Event) -> Step[DifficultyState]:
        value = next((one for one in state.newest if one.source == event.source), None)
        if value is None:
            return state, NOTHING
        remaining = tuple(one for one in state.newest if one is not value)
        return DifficultyState(state.attacks, state.frame, remaining), (withdrawal(value, event.ts_us),)

    def _value(self, state: DifficultyState, frame: Event, event: Event, attempt: EventPayload) -> Event:
        p = self.parameters
        over = self._flies_over(attempt)
        chance = self._chance(state.attacks, frame_of(frame).players, attempt, over=over)
        limits = ((p.safe_share, "safe_share"), (p.fair_share, "fair_share"))
        for limit, name in limits:
            note(
                "chance of the pass", chance, "at least" if chance >= limit else "at most", limit,
                f"pass_difficulty.{name}",
            )  # fmt: skip
        variant = CLASSES[sum(chance < limit for limit, _ in limits)]
        detail: dict[str, Scalar] = {"xc": round(chance, 3), "over": over}
        if "receiver" in attempt.detail:
            detail["to"] = attempt.detail["receiver"]
        shown = msgspec.structs.replace(attempt, variant=variant, detail=detail)
        return make_event("pass.xc", event.ts_us, event.source, shown, causes=(event.id,))

    def _flies_over(self, attempt: EventPayload) -> bool:
        up_m_s = number(attempt, "vz_m_s")
        return up_m_s > 0.0 and (attempt.z_m or 0.0) + up_m_s**2 / (2.0 * GRAVITY_M_S2) > self.parameters.over_m

    def _chance(self, attacks: Team, players: Bodies, attempt: EventPayload, *, over: bool) -> float:
        """The chance of control of the passing team."""
        x_m, y_m = attempt.detail.get("end_x_m"), attempt.detail.get("end_y_m")
        if not isinstance(x_m, float) or not isinstance(y_m, float):
            return 0.0
        model, team, start = self._model(attempt, (x_m, y_m)), attempt.team, location_m(attempt)
        mates = tuple([b for b in players if b.team == team and b.object_id != attempt.player])
        opponents = tuple([b for b in players if b.team and b.team != team])
        sign = 0.0 if not attacks else -1.0 if team == attacks else 1.0
        keeper = outfield(opponents, sign, self._keepers)[0] if sign else None
        own, other = (
            players_array(mates, "", model),
            players_array(opponents, keeper.object_id if keeper else "", model),
        )
        if over:
            return float(control_grid(np.array([x_m]), np.array([y_m]), start, own, other, model)[0, 0])
        return pass_success((x_m, y_m), start, own, other, model)

    def _model(self, attempt: EventPayload, end: tuple[float, float]) -> SpearmanParameters:
        """The model with the mean speed that the pass is predicted to have."""
        p, after_s = self.parameters, number(attempt, "receiver_after_s")
        if after_s <= 0.0:
            return p.model
        speed_m_s = math.dist(location_m(attempt), end) / after_s
        return msgspec.structs.replace(p.model, ball_m_s=min(max(speed_m_s, p.slow_m_s), p.fast_m_s))
