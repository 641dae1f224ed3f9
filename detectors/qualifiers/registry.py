"""Registry of the detectors of ``detectors.qualifiers``."""

from __future__ import annotations

from detectors.qualifiers.chances import KeyPass, ShotValue
from detectors.qualifiers.gains import Packing, ProgressivePlay
from detectors.qualifiers.heights import PassHeight
from detectors.qualifiers.linebreaks import LineBreak
from detectors.qualifiers.lines import ThroughBall
from detectors.qualifiers.passes import Cross, PassDirection, PassLength, SwitchOfPlay
from detectors.registry import DetectorEntry

#: By number.
DETECTORS: tuple[DetectorEntry, ...] = (
    DetectorEntry(lambda s, p: PassDirection(p.pass_direction), ("pass_direction",)),
    DetectorEntry(lambda s, p: PassLength(p.pass_length), ("pass_length",)),
    DetectorEntry(lambda s, p: PassHeight(p.pass_height), ("pass_height",), lambda quality: quality.ball_height),
    DetectorEntry(lambda s, p: Cross(s, p.cross), ("cross",)),
    DetectorEntry(lambda s, p: ThroughBall(s, p.through_ball), ("through_ball",)),
    DetectorEntry(lambda s, p: SwitchOfPlay(p.switch), ("switch",)),
    DetectorEntry(lambda s, p: ProgressivePlay(s, p.progress), ("progress",)),
    DetectorEntry(lambda s, p: Packing()),
    DetectorEntry(lambda s, p: LineBreak(s, p.line_break), ("line_break",), lambda quality: quality.ball_height),
    DetectorEntry(lambda s, p: ShotValue(s, p.shot_value, p.restart_kick), ("shot_value", "restart_kick")),
    DetectorEntry(lambda s, p: KeyPass(p.key_pass), ("key_pass",)),
)
