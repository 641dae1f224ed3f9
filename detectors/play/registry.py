"""Detectors of this room."""

from __future__ import annotations

from detectors.play.goalkeeper_hands import GoalkeeperHands
from detectors.play.in_out import BallInPlay, BallOut, GoalCandidate
from detectors.play.phase import PlayPhase
from detectors.play.spots import RestartSpot
from detectors.registry import DetectorEntry

#: In order of their numbers.
DETECTORS: tuple[DetectorEntry, ...] = (
    DetectorEntry(lambda s, p: RestartSpot(s, p.spots), ("spots",)),
    DetectorEntry(lambda s, p: GoalkeeperHands(s, p.keeper, p.phase), ("keeper", "phase")),
    DetectorEntry(lambda s, p: PlayPhase(s, p.phase), ("phase",)),
    DetectorEntry(lambda s, p: BallInPlay(s)),
    DetectorEntry(lambda s, p: BallOut(s)),
    DetectorEntry(lambda s, p: GoalCandidate(s)),
)
