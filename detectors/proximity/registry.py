"""Detectors of this room."""

from __future__ import annotations

from detectors.proximity.marking import Marking
from detectors.proximity.near import Near, NearestPlayer, PossessionZone
from detectors.proximity.opponents import OpponentProximity
from detectors.proximity.rings import GoalRing
from detectors.proximity.unit_lines import UnitLines
from detectors.registry import DetectorEntry

#: In order of their numbers.
DETECTORS: tuple[DetectorEntry, ...] = (
    DetectorEntry(lambda s, p: Near(s, p.near), ("near",)),
    DetectorEntry(lambda s, p: PossessionZone(p.possession_zone), ("possession_zone",)),
    DetectorEntry(lambda s, p: NearestPlayer(p.nearest), ("nearest",)),
    DetectorEntry(lambda s, p: OpponentProximity(p.opponents), ("opponents",)),
    DetectorEntry(lambda s, p: Marking(s, p.marking), ("marking",), opt_in_name="marking"),
    DetectorEntry(lambda s, p: GoalRing(s, p.goal_ring), ("goal_ring",)),
    DetectorEntry(lambda s, p: UnitLines(s, p.unit_lines), ("unit_lines",)),
)
