"""Detectors of this room."""

from __future__ import annotations

from detectors.ball.bands import HeightBand, SpeedClass
from detectors.ball.changes import AccelerationPeak, BallTurn, SpeedStep
from detectors.ball.lines import GoalMouth, LineCrossing
from detectors.ball.motion import BallMotion
from detectors.ball.predictor import TrajectoryPredictor
from detectors.ball.rebounds import BallBounce, Woodwork
from detectors.registry import DetectorEntry

#: In order of their numbers.
DETECTORS: tuple[DetectorEntry, ...] = (
    DetectorEntry(lambda s, p: AccelerationPeak(s, p.ball_peak, p.ball_bend), ("ball_peak", "ball_bend")),
    DetectorEntry(lambda s, p: BallTurn(s, p.ball_bend), ("ball_bend",)),
    DetectorEntry(lambda s, p: SpeedStep(s, p.ball_bend), ("ball_bend",)),
    DetectorEntry(lambda s, p: BallMotion(s, p.ball_motion), ("ball_motion",)),
    DetectorEntry(lambda s, p: HeightBand(s, p.ball_height), ("ball_height",), lambda quality: quality.ball_height),
    DetectorEntry(lambda s, p: BallBounce(s, p.ball_bounce), ("ball_bounce",), lambda quality: quality.ball_height),
    DetectorEntry(lambda s, p: SpeedClass(s, p.ball_speed), ("ball_speed",)),
    DetectorEntry(lambda s, p: LineCrossing(s, p.lines), ("lines",)),
    DetectorEntry(lambda s, p: GoalMouth(s, p.lines), ("lines",)),
    DetectorEntry(lambda s, p: TrajectoryPredictor(s, p.predictor), ("predictor",)),
    DetectorEntry(lambda s, p: Woodwork(s, p.woodwork), ("woodwork",)),
)
