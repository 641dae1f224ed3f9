"""Registry of the detectors of ``detectors.tactics``."""

from __future__ import annotations

from detectors.registry import DetectorEntry
from detectors.tactics.momentum import Momentum
from detectors.tactics.offside_trap import OffsideTrap
from detectors.tactics.overload import Overload
from detectors.tactics.phases import Phases
from detectors.tactics.press import PressTrigger, TeamPress
from detectors.tactics.runs import OffBallRun
from detectors.tactics.second_ball import SecondBall
from detectors.tactics.set_pieces import SetPieceShape, Wall
from detectors.tactics.turnovers import CounterPress, RecoveryRun

#: By number.
DETECTORS: tuple[DetectorEntry, ...] = (
    DetectorEntry(lambda s, p: CounterPress(p.counter_press), ("counter_press",)),
    DetectorEntry(lambda s, p: SecondBall(p.second_ball), ("second_ball",)),
    DetectorEntry(lambda s, p: OffBallRun(s, p.off_ball_run), ("off_ball_run",)),
    DetectorEntry(lambda s, p: RecoveryRun(s, p.recovery_run), ("recovery_run",)),
    DetectorEntry(lambda s, p: PressTrigger(s, p.press_trigger), ("press_trigger",)),
    DetectorEntry(lambda s, p: TeamPress(p.team_press), ("team_press",)),
    DetectorEntry(lambda s, p: OffsideTrap(s, p.offside_trap), ("offside_trap",)),
    DetectorEntry(lambda s, p: Overload(p.overload), ("overload",)),
    DetectorEntry(lambda s, p: SetPieceShape(s, p.set_piece_shape), ("set_piece_shape",)),
    DetectorEntry(lambda s, p: Wall(s, p.wall), ("wall",)),
    DetectorEntry(lambda s, p: Phases(s, p.phases), ("phases",)),
    DetectorEntry(lambda s, p: Momentum(s, p.momentum), ("momentum",)),
)
