"""3.9: ball and players enter and leave areas.

Theory of operation
-------------------
Nearly always nobody crosses an edge. So each object carries, with the set of areas it is in, a *calm box*: a
rectangle within which that set cannot change. Four comparisons a frame tell that all is calm; only on
leaving the box are the areas asked, and a new box drawn. Near a circle, or where height decides, there
is no calm and the areas are asked every time.

An area is entered at its edge and left 0.2 m beyond it, so that nobody flickers on a line.
"""

from __future__ import annotations

import math

import msgspec

from detectors.bodies.areas import Area, ball_areas, player_areas
from detectors.facts import Fact, fact_event
from detectors.inputs import MatchSheet, Team
from detectors.pitch import pitch_of
from detectors.states import Frame
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

BALL = "ball"


class AreaParameters(msgspec.Struct, frozen=True):
    """``leave_m``: an area is left this far outside its edge (hierarchy 3.9)."""

    leave_m: float = 0.2


class Mark(msgspec.Struct, frozen=True, gc=False):
    """The areas an object is in (bit i: area i), and its calm box."""

    inside: int
    low_x_m: float
    high_x_m: float
    low_y_m: float
    high_y_m: float


#: Marks by object id. Never changed after it was made.
Marks = dict[str, Mark]


class AreaWatch:
    """3.9: ``area.enter`` and ``area.leave``; ``variant`` is the area. Team and player are empty for the ball.

    Where somebody is when he is first seen is not told.
    """

    def __init__(self, sheet: MatchSheet, parameters: AreaParameters | None = None) -> None:
        self.parameters = parameters or AreaParameters()
        pitch = pitch_of(sheet)
        self.ball_areas = ball_areas(pitch)
        self.player_areas = player_areas(pitch)
        self.spec = Spec(
            name="area_watch",
            number="3.9",
            level=3,
            inputs=("frame",),
            outputs=("area.leave", "area.enter"),
            parameters=msgspec.structs.asdict(self.parameters),
            source="IFAB Law 1; StreamTeam; mplsoccer's positional grids",
            variants=dict.fromkeys(("area.leave", "area.enter"), tuple(area.name for area in self.ball_areas)),
            team_variants=dict.fromkeys(("area.leave", "area.enter"), tuple(area.name for area in self.player_areas)),
        )

    def initial(self) -> Marks:
        """Nobody seen."""
        return {}

    def step(self, state: Marks, event: Event) -> Step[Marks]:
        """Looks who left his calm box."""
        frame = event.payload
        assert isinstance(frame, Frame)
        changed: Marks = {}
        out: list[Event] = []
        for p in frame.players:
            x_m, y_m = p.x_m, p.y_m
            mark = state.get(p.object_id)
            if mark and mark.low_x_m < x_m < mark.high_x_m and mark.low_y_m < y_m < mark.high_y_m:
                continue
            self._look(event, p.object_id, p.team, (x_m, y_m, 0.0), mark, self.player_areas, changed, out)
        ball = frame.ball
        if ball is not None:
            mark = state.get(BALL)
            x_m, y_m = ball.x_m, ball.y_m
            if not (mark and mark.low_x_m < x_m < mark.high_x_m and mark.low_y_m < y_m < mark.high_y_m):
                self._look(event, BALL, "", (x_m, y_m, ball.z_m), mark, self.ball_areas, changed, out)
        if not changed:
            return state, NOTHING
        out.sort(key=_kind, reverse=True)
        return {**state, **changed}, out

    def _look(
        self,
        event: Event,
        name: str,
        team: Team,
        place: tuple[float, float, float],
        before: Mark | None,
        areas: tuple[Area, ...],
        changed: Marks,
        out: list[Event],
    ) -> None:
        mark = draw(areas, place, before.inside if before else 0, self.parameters.leave_m)
        changed[name] = mark
        if before is None or mark.inside == before.inside:
            return
        player = "" if name == BALL else name
        for i, area in enumerate(areas):
            if (mark.inside ^ before.inside) >> i & 1:
                kind = "area.enter" if mark.inside >> i & 1 else "area.leave"
                fact = Fact(area.name, team, player, place[0], place[1])
                out.append(fact_event(kind, event.ts_us, f"{name}:{event.ts_us}/{area.name}", fact))


def draw(areas: tuple[Area, ...], place: tuple[float, float, float], inside: int, leave_m: float) -> Mark:
    """The areas that an object at ``place`` is in, if it was in those of ``inside`` before; and its calm box."""
    x_m, y_m, z_m = place
    low_x, high_x, low_y, high_y = -math.inf, math.inf, -math.inf, math.inf
    now, calm = 0, True
    for i, area in enumerate(areas):
        if area.holds(x_m, y_m, z_m, leave_m if inside >> i & 1 else 0.0):
            now |= 1 << i
            calm = calm and area.plain
            low_x, high_x = max(low_x, area.low_x_m - leave_m), min(high_x, area.high_x_m + leave_m)
            low_y, high_y = max(low_y, area.low_y_m - leave_m), min(high_y, area.high_y_m + leave_m)
        elif x_m < area.low_x_m:
            high_x = min(high_x, area.low_x_m)
        elif x_m > area.high_x_m:
            low_x = max(low_x, area.high_x_m)
        elif y_m < area.low_y_m:
            high_y = min(high_y, area.low_y_m)
        elif y_m > area.high_y_m:
            low_y = max(low_y, area.high_y_m)
        else:
            calm = False
    if not calm:
        return Mark(now, math.inf, -math.inf, math.inf, -math.inf)
    return Mark(now, low_x, high_x, low_y, high_y)


def _kind(event: Event) -> str:
    return event.kind
