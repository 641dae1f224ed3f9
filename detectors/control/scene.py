"""9.13 (ours): the scene: both teams on the pitch, the ball, and who has it, a few times a second.

Theory of operation
-------------------
Measures of space and pressure change over tenths of a second, their inputs come fifty times a second. So one
detector thins the frames on a grid of event time, puts the teams apart, leaves out who is not on the pitch (benches,
who was sent off), and adds what the measures ask for: which way the teams play, whether the ball is in play, and who
has it at his feet. The measures of level 10 listen to nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Collection

import msgspec

from football.match_sheet import MatchSheet, Team
from football.payloads import BallState, BodyState, frame_of, published
from football.pitch import End, pitch_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

Bodies = tuple[BodyState, ...]


class SceneParameters(msgspec.Struct, frozen=True):
    """What a scene is; all ours.

    Attributes:
        every_us: time between scenes. A player at 8 m/s goes 1.6 m in it, less than the metre-wide doubts of models
            of space, and a band that must hold for a second is seen five times.
        outside_m: players are on the pitch up to this far outside its lines (a thrower's place); benches are farther.
        reach_m: the ball is with its holder up to this far from him; farther it is on its way.
    """

    every_us: int = 200_000
    outside_m: float = 1.0
    reach_m: float = 3.0


class Scene(msgspec.Struct, frozen=True, gc=False):
    """Payload of ``scene``.

    Attributes:
        ball: None while it is lost.
        home, away: who is on the pitch, sorted by object id.
        attacks_x: team that attacks towards +x, empty if unknown.
        live: whether the ball is in play, as far as is known.
        holder, holder_team: who has the ball at his feet, empty if nobody has.
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
        """A player of either team, None if he is not on the pitch."""
        return next((p for team in (self.home, self.away) for p in team if p.object_id == object_id), None)


class SceneState(msgspec.Struct, frozen=True, gc=False):
    """What was heard of direction, play and possession, and the time from which on the next scene is due."""

    attacks_x: Team = ""
    live: bool = True
    holder: str = ""
    due_us: int = -(2**62)


class SceneMaker:
    """9.13: ``scene``, five times a second; see :class:`Scene`."""

    def __init__(self, sheet: MatchSheet, parameters: SceneParameters | None = None) -> None:
        self.parameters = parameters or SceneParameters()
        self.pitch = pitch_of(sheet)
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
        """Nothing heard; play is taken as live until it is known to be dead."""
        return SceneState()

    def step(self, state: SceneState, event: Event) -> Step[SceneState]:
        """Passes a frame on if one is due; remembers the rest."""
        if event.kind == "frame":
            if event.ts_us < state.due_us:
                return state, NOTHING
            return self._show(state, event)
        payload = published(event)
        if event.kind == "direction":
            return msgspec.structs.replace(state, attacks_x=payload.team), NOTHING
        if event.kind in ("play.dead", "play.live"):
            return msgspec.structs.replace(state, live=event.kind == "play.live"), NOTHING
        holder = payload.player if event.kind == "possession.gain" else ""
        return msgspec.structs.replace(state, holder=holder), NOTHING

    def _show(self, state: SceneState, event: Event) -> Step[SceneState]:
        frame, p = frame_of(event), self.parameters
        inside = self.pitch.inside
        there = [b for b in frame.players if inside(b.x_m, b.y_m, p.outside_m)]
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

    Who is none by the sheet may stand in goal (a keeper sent off, an unknown team): then it is the rearmost.
    """
    ordered = sorted(team, key=lambda b: (sign * b.x_m, b.object_id))
    if not ordered:
        return None, []
    keeper = next((b for b in ordered if b.object_id in keepers), ordered[0])
    return keeper, [b for b in ordered if b is not keeper]


def attacked_end(sign: float) -> End:
    """The end that a team attacks; ``sign`` as of :meth:`Scene.sign`, not 0."""
    return "right" if sign > 0.0 else "left"
