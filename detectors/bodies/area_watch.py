"""3.9: ball and players enter and leave areas.

Theory of operation
-------------------
Nearly always no object crosses an edge. So the state has for each object, with the set of areas that it is in, a *calm
box*: a rectangle within which that set cannot change. Four comparisons a frame check the box. Only when the object has
left it are the areas evaluated, and a new box drawn. Near a circle, or where height decides, there is no calm box and
the areas are evaluated every time.

An area is entered at its edge and left 0.2 m beyond it, so that an object on a line does not flicker.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from typing import Annotated

import msgspec

from detectors.decisions import is_recording, note
from detectors.emission import make_event
from detectors.reasons import reason
from detectors.signals.kernels.frame_kernels import first_outside
from football.areas import Area, ball_areas, player_areas
from football.match_sheet import MatchSheet, Team
from football.payloads import EventPayload, build_frame, frame_of
from football.pitch import pitch_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

BALL = "ball"


class AreaParameters(msgspec.Struct, frozen=True):
    """Hysteresis of areas.

    Attributes:
        leave_m: distance outside its edge at which an area is left.
    """

    leave_m: Annotated[float, reason("hierarchy 3.9")] = 0.2


class Mark(msgspec.Struct, frozen=True, gc=False):
    """The areas an object is in (bit i: area i), and its calm box."""

    inside: int
    low_x_m: float
    high_x_m: float
    low_y_m: float
    high_y_m: float


#: Of whom nothing is known.
_NOWHERE = Mark(0, math.inf, -math.inf, math.inf, -math.inf)

#: Marks by object id. Never changed after it was made.
Marks = dict[str, Mark]


class Watch(msgspec.Struct, frozen=True, gc=False):
    """State: marks; and of the players of the last frame, by their names, the calm boxes as a kernel reads them: all
    low x, all high x, all low y, all high y."""

    marks: Marks = {}
    names: tuple[str, ...] = ()
    boxes: bytes = b""


class AreaWatch:
    """3.9: ``area.enter`` and ``area.leave``; ``variant`` is the area. Team and player are empty for the ball.

    The areas of an object's first sample are not reported. Substitutes on the bench are watched, too.
    """

    def __init__(self, sheet: MatchSheet, parameters: AreaParameters | None = None) -> None:
        self.parameters = parameters or AreaParameters()
        pitch = pitch_of(sheet)
        first_outside(build_frame(None, ()), b"")  # loads the kernel before the first frame
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

    def initial(self) -> Watch:
        """No object yet."""
        return Watch()

    def step(self, state: Watch, event: Event) -> Step[Watch]:
        """Judge the objects that have left their calm box."""
        frame = frame_of(event)
        names, marks = frame.names, state.marks
        boxes = state.boxes if names == state.names else _boxes(names, marks)
        changed: Marks = {}
        out: list[Event] = []
        at = first_outside(frame, boxes)
        while at >= 0:
            p = frame.players[at]
            name, place = p.object_id, (p.x_m, p.y_m, 0.0)
            changed[name] = self._look(event, name, p.team, place, marks.get(name), self.player_areas, out)
            boxes = _put(boxes, at, changed[name])
            at = first_outside(frame, boxes, at + 1)
        for p in frame.others:
            mark = marks.get(p.object_id)
            if p.team and not (mark and mark.low_x_m < p.x_m < mark.high_x_m and mark.low_y_m < p.y_m < mark.high_y_m):
                place = (p.x_m, p.y_m, 0.0)
                changed[p.object_id] = self._look(event, p.object_id, p.team, place, mark, self.player_areas, out)
        ball = frame.ball
        if ball is not None:
            mark = marks.get(BALL)
            x_m, y_m = ball.x_m, ball.y_m
            if not (mark and mark.low_x_m < x_m < mark.high_x_m and mark.low_y_m < y_m < mark.high_y_m):
                changed[BALL] = self._look(event, BALL, "", (x_m, y_m, ball.z_m), mark, self.ball_areas, out)
        if not changed and names == state.names:
            return state, NOTHING
        out.sort(key=_kind, reverse=True)
        return Watch({**marks, **changed}, names, boxes), out or NOTHING

    def _look(
        self,
        event: Event,
        name: str,
        team: Team,
        place: tuple[float, float, float],
        before: Mark | None,
        areas: tuple[Area, ...],
        out: list[Event],
    ) -> Mark:
        mark = draw(areas, place, before.inside if before else 0, self.parameters.leave_m)
        if before is None or mark.inside == before.inside:
            return mark
        player = "" if name == BALL else name
        for i, area in enumerate(areas):
            if (mark.inside ^ before.inside) >> i & 1:
                kind = "area.enter" if mark.inside >> i & 1 else "area.leave"
                payload = EventPayload(area.name, team, player, place[0], place[1])
                anchor = f"{name}:{event.ts_us}/{area.name}"
                out.append(make_event(kind, event.ts_us, anchor, payload))
                if is_recording():
                    _note_depth(kind, anchor, area, place, self.parameters.leave_m)
        return mark


def _note_depth(kind: str, anchor: str, area: Area, place: tuple[float, float, float], leave_m: float) -> None:
    """Note how deep inside an area an object is, or how far outside."""
    x_m, y_m, z_m = place
    outside_m = max(
        area.low_x_m - x_m,
        x_m - area.high_x_m,
        area.low_y_m - y_m,
        y_m - area.high_y_m,
        area.low_z_m - z_m,
        z_m - area.high_z_m,
        math.hypot(x_m - area.x_m, y_m - area.y_m) - area.radius_m,
    )
    if kind == "area.leave":
        note("distance outside it", outside_m, "at least", leave_m, "areas.leave_m", anchor)
    else:
        note("depth inside it", -outside_m, "at least", 0.0, "", anchor, "m")


def _boxes(names: Sequence[str], marks: Marks) -> bytes:
    """Calm boxes as in :class:`Watch`; that of a new object is empty."""
    of = [marks.get(name, _NOWHERE) for name in names]
    low_x, high_x = [mark.low_x_m for mark in of], [mark.high_x_m for mark in of]
    low_y, high_y = [mark.low_y_m for mark in of], [mark.high_y_m for mark in of]
    return array("d", [*low_x, *high_x, *low_y, *high_y]).tobytes()


def _put(boxes: bytes, at: int, mark: Mark) -> bytes:
    """The same boxes with that of one player changed."""
    numbers = array("d", boxes)
    count = len(numbers) // 4
    numbers[at], numbers[count + at] = mark.low_x_m, mark.high_x_m
    numbers[2 * count + at], numbers[3 * count + at] = mark.low_y_m, mark.high_y_m
    return numbers.tobytes()


def draw(areas: tuple[Area, ...], place: tuple[float, float, float], inside: int, leave_m: float) -> Mark:
    """The areas that an object at ``place`` is in, if it was in those of ``inside`` before; and its calm box."""
    x_m, y_m, z_m = place
    low_x, high_x, low_y, high_y = -math.inf, math.inf, -math.inf, math.inf
    now, calm = 0, True
    for i, area in enumerate(areas):
        if area.contains(x_m, y_m, z_m, leave_m if inside >> i & 1 else 0.0):
            now |= 1 << i
            calm = calm and area.is_plain_rectangle
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
