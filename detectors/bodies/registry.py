"""Detectors of this room."""

from __future__ import annotations

from detectors.bodies.area_watch import AreaWatch
from detectors.bodies.efforts import DistanceAccumulator, Effort, Sprint
from detectors.bodies.limbs import Jump, LegSwing, PlayerDown
from detectors.bodies.running import RunningIntensity
from detectors.bodies.sides import Direction
from detectors.registry import DetectorEntry, feet, limbs_named

_hands = limbs_named("left_hand", "right_hand")

#: In order of their numbers.
DETECTORS: tuple[DetectorEntry, ...] = (
    DetectorEntry(lambda s, p: Sprint(p.sprint), ("sprint",)),
    DetectorEntry(lambda s, p: Effort(p.effort), ("effort",)),
    DetectorEntry(lambda s, p: Jump(s, p.jump), ("jump",), feet),
    DetectorEntry(lambda s, p: PlayerDown(s, p.player_down), ("player_down",), _hands),
    DetectorEntry(lambda s, p: LegSwing(p.leg_swing), ("leg_swing",), feet),
    DetectorEntry(lambda s, p: AreaWatch(s, p.areas), ("areas",)),
    DetectorEntry(lambda s, p: DistanceAccumulator(p.distance), ("distance",), opt_in_name="distance_accumulator"),
    DetectorEntry(lambda s, p: Direction(s, p.direction), ("direction",)),
    DetectorEntry(lambda s, p: RunningIntensity(p.running), ("running",), opt_in_name="running_intensity"),
)
