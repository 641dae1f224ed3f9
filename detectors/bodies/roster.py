"""Detectors of this room."""

from __future__ import annotations

from detectors.bodies.area_watch import AreaWatch
from detectors.bodies.running import RunningIntensity
from detectors.bodies.sides import Direction
from detectors.roster import Line

#: In order of their numbers.
LINES: tuple[Line, ...] = (
    Line(lambda s, p: AreaWatch(s, p.areas), ("areas",)),
    Line(lambda s, p: Direction(s, p.direction), ("direction",)),
    Line(lambda s, p: RunningIntensity(p.running), ("running",), asked="running_intensity"),
)
