"""Registry of the detectors of ``detectors.laws``."""

from __future__ import annotations

from functools import partial
from typing import Any

from detectors.laws.back_pass import BackPass
from detectors.laws.clock import MatchClock
from detectors.laws.numbers import PlayersOnPitch
from detectors.laws.offences import KeeperHolding, OffsideOffence
from detectors.laws.overruled import Overruled
from detectors.laws.restarts import KINDS, Restart
from detectors.laws.shoot_out import ShootOut
from detectors.parameters import Parameters
from detectors.play.restart_kicks import Kind
from detectors.registry import DetectorEntry, limbs_named
from football.match_sheet import MatchSheet
from middleware.detector import Detector


def _restart(kind: Kind, sheet: MatchSheet, p: Parameters) -> Detector[Any]:
    return Restart(sheet, kind, p.restart, p.restart_kick)


hands = limbs_named("left_hand", "right_hand")

#: By number.
DETECTORS: tuple[DetectorEntry, ...] = (
    *(DetectorEntry(partial(_restart, kind), ("restart", "restart_kick")) for kind in KINDS),
    DetectorEntry(lambda s, p: MatchClock(s, p.match_clock, p.restart_kick), ("match_clock", "restart_kick")),
    DetectorEntry(
        lambda s, p: OffsideOffence(s, p.offside_offence, p.restart_kick), ("offside_offence", "restart_kick")
    ),
    DetectorEntry(lambda s, p: KeeperHolding(p.keeper_holding, heights=s.quality.ball_height), ("keeper_holding",)),
    DetectorEntry(lambda s, p: PlayersOnPitch(s, p.players_on_pitch), ("players_on_pitch",)),
    DetectorEntry(lambda s, p: BackPass(s, p.back_pass, p.restart_kick), ("back_pass", "restart_kick"), hands),
    DetectorEntry(lambda s, p: ShootOut(p.shoot_out), ("shoot_out",)),
    DetectorEntry(lambda s, p: Overruled(p.overruled), ("overruled",)),
)
