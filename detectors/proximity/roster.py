"""Detectors of this room."""

from __future__ import annotations

from detectors.proximity.near import Near, NearestPlayer, PossessionZone
from detectors.proximity.opponents import OpponentProximity
from detectors.proximity.rings import GoalRing
from detectors.proximity.unit_lines import UnitLines
from detectors.roster import Line

#: In order of their numbers.
LINES: tuple[Line, ...] = (
    Line(lambda s, p: Near(s, p.near), ("near",)),
    Line(lambda s, p: PossessionZone(p.possession_zone), ("possession_zone",)),
    Line(lambda s, p: NearestPlayer(p.nearest), ("nearest",)),
    Line(lambda s, p: OpponentProximity(p.opponents), ("opponents",)),
    Line(lambda s, p: GoalRing(s, p.goal_ring), ("goal_ring",)),
    Line(lambda s, p: UnitLines(s, p.unit_lines), ("unit_lines",)),
)
