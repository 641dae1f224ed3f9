"""The detectors of pitch, lines, restarts and goals for one match."""

from __future__ import annotations

from typing import Any

from detectors.area_watch import AreaWatch
from detectors.goals import Goal, GoalConfirmation
from detectors.inputs import MatchSheet
from detectors.lines import GoalMouth, LineCrossing
from detectors.motion import BallMotion
from detectors.phase import PlayPhase
from detectors.play import BallInPlay, BallOut, GoalCandidate
from detectors.restarts import KINDS, Restart
from detectors.sides import Direction
from detectors.spots import RestartSpot
from middleware.detector import Detector


def build(sheet: MatchSheet) -> tuple[Detector[Any], ...]:
    """2.4, 2.8, 2.9, 3.9, 3.12, 4.7, 5.10, 6.4-6.6, 7.5, 9.1-9.5 and 10.14.

    They need ``ball.state``, ``frame``, ``hit``, ``touch`` and ``kick.released``.

    Raises:
        PitchError: the sheet's pitch is not one.
    """
    return (
        BallMotion(sheet),
        LineCrossing(sheet),
        GoalMouth(sheet),
        AreaWatch(sheet),
        Direction(sheet),
        RestartSpot(sheet),
        PlayPhase(sheet),
        BallInPlay(sheet),
        BallOut(sheet),
        GoalCandidate(sheet),
        Goal(sheet),
        *(Restart(sheet, kind) for kind in KINDS),
        GoalConfirmation(sheet),
    )
