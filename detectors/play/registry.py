"""Registry of the detectors of ``detectors.play``."""

from __future__ import annotations

from detectors.play.goalkeeper_hands import GoalkeeperHands
from detectors.play.in_out import BallInPlay, BallOut, GoalCandidate
from detectors.play.phase import PlayPhase
from detectors.play.spots import RestartSpot
from detectors.registry import DetectorEntry

#: By number.
DETECTORS: tuple[DetectorEntry, ...] = (
    DetectorEntry(lambda s, p: RestartSpot(s, p.spots), ("spots",)),
    DetectorEntry(lambda s, p: GoalkeeperHands(s, p.keeper), ("keeper",)),
    DetectorEntry(lambda s, p: PlayPhase(s, p.phase, p.restart_kick), ("phase", "restart_kick")),
    DetectorEntry(lambda s, p: BallInPlay(s, p.last_touch, p.restart_kick), ("last_touch", "restart_kick")),
    DetectorEntry(lambda s, p: BallOut(s, p.last_touch, p.restart_kick), ("last_touch", "restart_kick")),
    DetectorEntry(lambda s, p: GoalCandidate(s)),
)
