"""Registry of the detectors of ``detectors.control``."""

from __future__ import annotations

from detectors.control.access import DangerousSpace
from detectors.control.dominance import VoronoiShare
from detectors.control.effective import EffectiveTime
from detectors.control.encroachment import Encroachment
from detectors.control.fouls import FoulCandidate
from detectors.control.pass_difficulty import PassDifficulty
from detectors.control.pressure import PressingIndex, PressingIntensity, PressureOnPlayer
from detectors.control.scene import SceneMaker
from detectors.control.shape import LineHeight, TeamArea, TeamShape
from detectors.control.space import PassingOptions, PitchControl
from detectors.registry import DetectorEntry, limbs_named

#: By number.
DETECTORS: tuple[DetectorEntry, ...] = (
    DetectorEntry(lambda s, p: PassDifficulty(s, p.pass_difficulty), ("pass_difficulty",)),
    DetectorEntry(lambda s, p: SceneMaker(s, p.scene), ("scene",)),
    DetectorEntry(lambda s, p: PressingIndex(p.pressing_index), ("pressing_index",)),
    DetectorEntry(lambda s, p: PressureOnPlayer(s, p.pressure), ("pressure",)),
    DetectorEntry(lambda s, p: PressingIntensity(p.pressing_intensity), ("pressing_intensity",)),
    DetectorEntry(lambda s, p: TeamArea(s, p.team_area), ("team_area",)),
    DetectorEntry(lambda s, p: TeamShape(s, p.team_shape), ("team_shape",)),
    DetectorEntry(lambda s, p: LineHeight(s, p.team_shape), ("team_shape",)),
    DetectorEntry(lambda s, p: PitchControl(s, p.pitch_control), ("pitch_control",)),
    DetectorEntry(lambda s, p: VoronoiShare(s, p.voronoi_share), ("voronoi_share",)),
    DetectorEntry(lambda s, p: PassingOptions(s, p.passing_options), ("passing_options",)),
    DetectorEntry(
        lambda s, p: DangerousSpace(s, p.dangerous_space), ("dangerous_space",), opt_in_name="dangerous_space"
    ),
    DetectorEntry(lambda s, p: Encroachment(s, p.encroachment), ("encroachment",)),
    DetectorEntry(lambda s, p: EffectiveTime()),
    DetectorEntry(lambda s, p: FoulCandidate(p.foul), ("foul",), limbs_named("left_hand", "right_hand")),
)
