"""10.10: the space that the team with the ball can reach by a pass, and how dangerous it is."""

from __future__ import annotations

from typing import Annotated

import msgspec
import numpy as np

from detectors.control.scene import Bodies, Scene
from detectors.decisions import at_least
from detectors.emission import make_event
from detectors.outcomes.offside import line_before_m
from detectors.reasons import reason
from detectors.signals.kernels.access_kernel import accessible_space
from football.match_sheet import MatchSheet, Team
from football.payloads import BallState, EventPayload, Scalar, payload_as
from football.pitch import Pitch, pitch_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

#: Where the numbers come from, as events say it.
MODEL = "accessible-space 2.1.0"


class AccessParameters(msgspec.Struct, frozen=True):
    """Limits of a changed space.

    Attributes:
        change_share: a space is published when it differs from the published one by this share of it.
        base_m2: the share of a smaller space is that of this one.
        every_us: time between two looks.
    """

    change_share: Annotated[float, reason("Hierarchy 10.10.")] = 0.1
    base_m2: Annotated[float, reason("Ours: a tenth of almost nothing is nothing.")] = 1.0
    every_us: Annotated[
        int,
        reason("Ours: 5 Hz of the hierarchy cost five times as much; the space changes over seconds."),
    ] = 1_000_000


class AccessState(msgspec.Struct, frozen=True, gc=False):
    """State: the published dangerous space and its team; the time of the next look."""

    team: Team = ""
    dangerous_m2: float = 0.0
    due_us: int = -(2**62)


class DangerousSpace:
    """10.10: ``das.step`` x team: the dangerous accessible space of the team with the ball has changed by a tenth.

    The space that passes of its holder can reach, each place weighed by the chance of a goal from there. Players who
    are offside reach nothing. Published while a player has the ball, at his team's first look and at each change.
    ``detail``: ``dangerous_m2``, ``accessible_m2`` (not weighed), ``model`` (where the numbers come from: a fit to
    passes of other matches).
    """

    def __init__(self, sheet: MatchSheet, parameters: AccessParameters | None = None) -> None:
        self.parameters = parameters or AccessParameters()
        self.pitch = pitch_of(sheet)
        # Load the kernel, or compile it the first time, so that the first look of a match is not late.
        accessible_space(np.zeros((1, 4)), 1, 0.0, 0.0, 1.0, self.pitch.half_length_m, self.pitch.half_width_m)
        self.spec = Spec(
            name="dangerous_space",
            number="10.10",
            level=10,
            inputs=("scene",),
            outputs=("das.step",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="Bischofberger and Baca 2024 (accessible-space 2.1.0, MIT)",
            team_variants={"das.step": ("",)},
            details={"das.step": ("dangerous_m2", "accessible_m2", "model")},
        )

    def initial(self) -> AccessState:
        """Nothing published."""
        return AccessState()

    def step(self, state: AccessState, event: Event) -> Step[AccessState]:
        """Look once a second while a player has the ball."""
        scene, p = payload_as(event, Scene), self.parameters
        team, ball = scene.holder_team, scene.ball
        if event.ts_us < state.due_us or not scene.live or not scene.attacks_x or not team or ball is None:
            return state, NOTHING
        due_us = event.ts_us // p.every_us * p.every_us + p.every_us
        reached_m2, dangerous_m2 = spaces(scene, ball, team, self.pitch)
        change = abs(dangerous_m2 - state.dangerous_m2) / max(state.dangerous_m2, p.base_m2)
        what, path = "change of the dangerous space", "dangerous_space.change_share"
        if state.team == team and not at_least(what, change, p.change_share, path):
            return AccessState(team, state.dangerous_m2, due_us), NOTHING
        detail: dict[str, Scalar] = {
            "dangerous_m2": round(dangerous_m2, 3), "accessible_m2": round(reached_m2, 1), "model": MODEL,
        }  # fmt: skip
        payload = EventPayload("", team, scene.holder, ball.x_m, ball.y_m, detail=detail)
        return AccessState(team, dangerous_m2, due_us), (
            make_event("das.step", event.ts_us, f"{team}:{event.ts_us}", payload),
        )


def spaces(scene: Scene, ball: BallState, team: Team, pitch: Pitch) -> tuple[float, float]:
    """Accessible and dangerous accessible space of a team, in square metres."""
    sign, opponents = scene.sign(team), scene.opponents(team)
    mates = onside(scene.team(team), opponents, sign, ball.x_m, scene.holder)
    rows = [(b.x_m, b.y_m, b.vx_m_s, b.vy_m_s) for b in (*mates, *opponents)]
    players = np.array(rows, dtype=np.float64).reshape(len(rows), 4)
    half = pitch.half_length_m, pitch.half_width_m
    reached_m2, dangerous_m2 = accessible_space(players, len(mates), ball.x_m, ball.y_m, sign, *half)
    return float(reached_m2), float(dangerous_m2)


def onside(mates: Bodies, opponents: Bodies, sign: float, ball_x_m: float, holder: str) -> Bodies:
    """Players of a team who are not offside; its holder of the ball never is."""
    line_m = line_before_m((sign * b.x_m for b in opponents), sign * ball_x_m)
    if line_m is None:  # Fewer than two opponents are seen.
        line_m = max(sign * ball_x_m, 0.0)
    return tuple([b for b in mates if b.object_id == holder or sign * b.x_m <= line_m])
