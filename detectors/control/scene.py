"""9.13: the scene: both teams on the pitch, the ball and its holder, a few times a second.

Theory of operation
-------------------
Measures of space and pressure change over tenths of a second; frames arrive fifty times a second. So one detector
thins the frames on a grid of event time, splits the teams (frames have those who play only), and adds the attacking
direction, whether the ball is in play, and its holder. The measures of level 10 read nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from operator import attrgetter
from typing import Annotated

import msgspec

from detectors.reasons import reason
from football.match_sheet import MatchSheet, Team
from football.payloads import BallState, BodyState, frame_of, payload_of
from football.pitch import End
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

Bodies = tuple[BodyState, ...]

_X_M = attrgetter("x_m")


class SceneParameters(msgspec.Struct, frozen=True):
    """Limits of a scene.

    Attributes:
        every_us: time between two scenes.
        reach_m: the ball is with its holder up to this distance.
    """

    every_us: Annotated[
        int,
        reason(
            "Ours: a player at 8 m/s covers 1.6 m in it, about the uncertainty of models of space, and a band that "
            "must last a second is sampled five times."
        ),
    ] = 200_000
    reach_m: Annotated[float, reason("Ours: farther away, the ball is on its way.")] = 3.0


class Scene(msgspec.Struct, frozen=True, gc=False):
    """Payload of ``scene``.

    Attributes:
        ball: None while it is lost.
        home: players of the home team, sorted by object id.
        away: players of the away team, sorted by object id.
        attacks_x: team that attacks towards +x, empty if unknown.
        live: True if the ball is in play, as far as is known.
        holder: the player who has the ball at his feet; empty if there is none.
        holder_team: his team.
    """

    ball: BallState | None
    home: Bodies
    away: Bodies
    attacks_x: Team = ""
    live: bool = True
    holder: str = ""
    holder_team: Team = ""

    def team(self, team: Team) -> Bodies:
        """Players of a team."""
        return self.home if team == "home" else self.away

    def opponents(self, team: Team) -> Bodies:
        """Players of the other team."""
        return self.away if team == "home" else self.home

    def sign(self, team: Team) -> float:
        """+1 if a team attacks towards +x, -1 towards -x, 0 if unknown."""
        return 0.0 if not self.attacks_x else 1.0 if self.attacks_x == team else -1.0

    def body(self, object_id: str) -> BodyState | None:
        """A player of either team; None if he is not on the pitch."""
        return next((p for team in (self.home, self.away) for p in team if p.object_id == object_id), None)


class SceneState(msgspec.Struct, frozen=True, gc=False):
    """State: attacking direction, play and possession; the time from which on the next scene is due."""

    attacks_x: Team = ""
    live: bool = True
    holder: str = ""
    due_us: int = -(2**62)


class SceneMaker:
    """9.13: ``scene``, five times a second; see :class:`Scene`."""

    def __init__(self, sheet: MatchSheet, parameters: SceneParameters | None = None) -> None:
        self.parameters = parameters or SceneParameters()
        self.spec = Spec(
            name="scene",
            number="9.13",
            level=9,
            inputs=("frame", "direction", "play.dead", "play.live", "possession.loss", "possession.gain"),
            outputs=("scene",),
            internal=("scene",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="ours",
        )

    def initial(self) -> SceneState:
        """Nothing known; play counts as live until it is known to be dead."""
        return SceneState()

    def step(self, state: SceneState, event: Event) -> Step[SceneState]:
        """Publish a scene if one is due; remember the other inputs."""
        if event.kind == "frame":
            if event.ts_us < state.due_us:
                return state, NOTHING
            return self._show(state, event)
        payload = payload_of(event)
        if event.kind == "direction":
            return msgspec.structs.replace(state, attacks_x=payload.team), NOTHING
        if event.kind in ("play.dead", "play.live"):
            return msgspec.structs.replace(state, live=event.kind == "play.live"), NOTHING
        holder = payload.player if event.kind == "possession.gain" else ""
        return msgspec.structs.replace(state, holder=holder), NOTHING

    def _show(self, state: SceneState, event: Event) -> Step[SceneState]:
        frame, p = frame_of(event), self.parameters
        there = frame.players
        holder = ""
        team: Team = ""
        if frame.ball is not None and state.holder:
            ball = frame.ball
            body = next((b for b in there if b.object_id == state.holder), None)
            if body is not None and math.hypot(body.x_m - ball.x_m, body.y_m - ball.y_m) <= p.reach_m:
                holder, team = state.holder, body.team
        scene = Scene(
            frame.ball,
            tuple([b for b in there if b.team == "home"]),
            tuple([b for b in there if b.team == "away"]),
            state.attacks_x,
            state.live,
            holder,
            team,
        )
        # On a grid of event time, so that one frame more or less does not move all scenes after it.
        due_us = event.ts_us // p.every_us * p.every_us + p.every_us
        after = SceneState(state.attacks_x, state.live, state.holder, due_us)
        return after, (Event("scene", event.ts_us, "scene", event.ts_us // p.every_us, scene),)


def keepers_of(sheet: MatchSheet) -> frozenset[str]:
    """Object ids of the goalkeepers that a match sheet names."""
    return frozenset(p.object_id for p in sheet.players if p.goalkeeper)


def outfield(team: Bodies, sign: float, keepers: Collection[str]) -> tuple[BodyState | None, list[BodyState]]:
    """A team's goalkeeper and the others, the rearmost first; ``sign`` as of :meth:`Scene.sign`, not 0.

    Of a team that is sorted by object id, as scenes and frames have it, who stand equally far keep that order.
    Without a goalkeeper of the sheet (sent off, or an unknown team), the rearmost player counts as goalkeeper.
    """
    ordered = sorted(team, key=_X_M, reverse=sign < 0.0)
    if not ordered:
        return None, []
    keeper = next((b for b in ordered if b.object_id in keepers), ordered[0])
    return keeper, [b for b in ordered if b is not keeper]


def attacked_end(sign: float) -> End:
    """The end that a team attacks; ``sign`` as of :meth:`Scene.sign`, not 0."""
    return "right" if sign > 0.0 else "left"
