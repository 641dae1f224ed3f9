"""Detectors of this room."""

from __future__ import annotations

from detectors.play.hands import GoalkeeperHands
from detectors.play.in_out import BallInPlay, BallOut, GoalCandidate
from detectors.play.phase import PlayPhase
from detectors.play.spots import RestartSpot
from detectors.roster import Line

#: In order of their numbers.
LINES: tuple[Line, ...] = (
    Line(lambda s, p: RestartSpot(s, p.spots), ("spots",)),
    Line(lambda s, p: GoalkeeperHands(s, p.keeper, p.phase), ("keeper", "phase")),
    Line(lambda s, p: PlayPhase(s, p.phase), ("phase",)),
    Line(lambda s, p: BallInPlay(s)),
    Line(lambda s, p: BallOut(s)),
    Line(lambda s, p: GoalCandidate(s)),
)
