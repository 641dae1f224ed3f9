"""Detectors of this room."""

from __future__ import annotations

from detectors.ball.bands import HeightBand, SpeedClass
from detectors.ball.changes import AccelerationPeak, BallTurn, SpeedStep
from detectors.ball.lines import GoalMouth, LineCrossing
from detectors.ball.motion import BallMotion
from detectors.ball.predictor import TrajectoryPredictor
from detectors.ball.rebounds import BallBounce, Woodwork
from detectors.roster import Line

#: In order of their numbers.
LINES: tuple[Line, ...] = (
    Line(lambda s, p: AccelerationPeak(s, p.ball_peak), ("ball_peak",)),
    Line(lambda s, p: BallTurn(s, p.ball_bend), ("ball_bend",)),
    Line(lambda s, p: SpeedStep(s, p.ball_bend), ("ball_bend",)),
    Line(lambda s, p: BallMotion(s, p.ball_motion), ("ball_motion",)),
    Line(lambda s, p: HeightBand(s, p.ball_height), ("ball_height",), lambda quality: quality.ball_height),
    Line(lambda s, p: BallBounce(s, p.ball_bounce), ("ball_bounce",), lambda quality: quality.ball_height),
    Line(lambda s, p: SpeedClass(s, p.ball_speed), ("ball_speed",)),
    Line(lambda s, p: LineCrossing(s, p.lines), ("lines",)),
    Line(lambda s, p: GoalMouth(s, p.lines), ("lines",)),
    Line(lambda s, p: TrajectoryPredictor(s, p.predictor), ("predictor",)),
    Line(lambda s, p: Woodwork(s, p.woodwork), ("woodwork",)),
)
