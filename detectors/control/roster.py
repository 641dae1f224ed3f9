"""Detectors of this room."""

from __future__ import annotations

from detectors.control.effective import EffectiveTime
from detectors.control.pressure import PressingIndex, PressingIntensity, PressureOnPlayer
from detectors.control.scene import SceneMaker
from detectors.control.shape import LineHeight, TeamArea, TeamShape
from detectors.control.space import PassingOptions, PitchControl
from detectors.roster import Line

#: In order of their numbers.
LINES: tuple[Line, ...] = (
    Line(lambda s, p: SceneMaker(s, p.scene), ("scene",)),
    Line(lambda s, p: PressingIndex(p.pressing_index), ("pressing_index",)),
    Line(lambda s, p: PressureOnPlayer(s, p.pressure), ("pressure",)),
    Line(lambda s, p: PressingIntensity(p.pressing_intensity), ("pressing_intensity",)),
    Line(lambda s, p: TeamArea(s, p.team_area), ("team_area",)),
    Line(lambda s, p: TeamShape(s, p.team_shape), ("team_shape",)),
    Line(lambda s, p: LineHeight(s, p.team_shape), ("team_shape",)),
    Line(lambda s, p: PitchControl(s, p.pitch_control), ("pitch_control",)),
    Line(lambda s, p: PassingOptions(s, p.passing_options), ("passing_options",)),
    Line(lambda s, p: EffectiveTime()),
)
