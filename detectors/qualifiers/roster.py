"""Detectors of this room."""

from __future__ import annotations

from detectors.qualifiers.gains import Packing, ProgressivePlay
from detectors.qualifiers.passes import Cross, PassDirection, PassLength, SwitchOfPlay
from detectors.roster import Line

#: In order of their numbers.
LINES: tuple[Line, ...] = (
    Line(lambda s, p: PassDirection(p.pass_direction), ("pass_direction",)),
    Line(lambda s, p: PassLength(p.pass_length), ("pass_length",)),
    Line(lambda s, p: Cross(s, p.cross), ("cross",)),
    Line(lambda s, p: SwitchOfPlay(p.switch), ("switch",)),
    Line(lambda s, p: ProgressivePlay(s, p.progress), ("progress",)),
    Line(lambda s, p: Packing()),
)
