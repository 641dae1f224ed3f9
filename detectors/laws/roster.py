"""Detectors of this room."""

from __future__ import annotations

from functools import partial
from typing import Any

from detectors.inputs import MatchSheet
from detectors.laws.restarts import KINDS, Restart
from detectors.parameters import Parameters
from detectors.roster import Line
from middleware.detector import Detector


def _restart(kind: Any, sheet: MatchSheet, p: Parameters) -> Detector[Any]:
    return Restart(sheet, kind, p.restart)


#: In order of their numbers.
LINES: tuple[Line, ...] = (*(Line(partial(_restart, kind), ("restart",)) for kind in KINDS),)
