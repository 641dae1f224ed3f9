"""Detectors of this room."""

from __future__ import annotations

from functools import partial
from typing import Any

from detectors.inputs import MatchSheet
from detectors.laws.clock import MatchClock
from detectors.laws.numbers import PlayersOnPitch
from detectors.laws.offences import KeeperHolding, OffsideOffence
from detectors.laws.overruled import Overruled
from detectors.laws.restarts import KINDS, Restart
from detectors.parameters import Parameters
from detectors.roster import Line
from middleware.detector import Detector


def _restart(kind: Any, sheet: MatchSheet, p: Parameters) -> Detector[Any]:
    return Restart(sheet, kind, p.restart)


#: In order of their numbers.
LINES: tuple[Line, ...] = (
    *(Line(partial(_restart, kind), ("restart",)) for kind in KINDS),
    Line(lambda s, p: MatchClock(s, p.match_clock), ("match_clock",)),
    Line(lambda s, p: OffsideOffence(s, p.offside_offence), ("offside_offence",)),
    Line(lambda s, p: KeeperHolding(p.keeper_holding), ("keeper_holding",)),
    Line(lambda s, p: PlayersOnPitch(s, p.players_on_pitch), ("players_on_pitch",)),
    Line(lambda s, p: Overruled(p.overruled), ("overruled",)),
)
