"""Detectors of this room."""

from __future__ import annotations

from detectors.bodies.area_watch import AreaWatch
from detectors.bodies.efforts import DistanceAccumulator, Effort, Sprint
from detectors.bodies.limbs import Jump, LegSwing, PlayerDown
from detectors.bodies.running import RunningIntensity
from detectors.bodies.sides import Direction
from detectors.roster import Line, feet, worn

_hands = worn("left_hand", "right_hand")

#: In order of their numbers.
LINES: tuple[Line, ...] = (
    Line(lambda s, p: Sprint(p.sprint), ("sprint",)),
    Line(lambda s, p: Effort(p.effort), ("effort",)),
    Line(lambda s, p: Jump(s, p.jump), ("jump",), feet),
    Line(lambda s, p: PlayerDown(s, p.player_down), ("player_down",), _hands),
    Line(lambda s, p: LegSwing(p.leg_swing), ("leg_swing",), feet),
    Line(lambda s, p: AreaWatch(s, p.areas), ("areas",)),
    Line(lambda s, p: DistanceAccumulator(p.distance), ("distance",), asked="distance_accumulator"),
    Line(lambda s, p: Direction(s, p.direction), ("direction",)),
    Line(lambda s, p: RunningIntensity(p.running), ("running",), asked="running_intensity"),
)
