"""Detectors of this room."""

from __future__ import annotations

from detectors.roster import Line

#: In order of their numbers.
LINES: tuple[Line, ...] = ()
