"""Registry of the detectors of ``detectors.actions``."""

from __future__ import annotations

from detectors.actions.aerials import AerialDuel
from detectors.actions.carries import Carry
from detectors.actions.duels import Duel
from detectors.actions.loose import LooseBall
from detectors.actions.passes import PassAttempt
from detectors.actions.possession import IndividualPossession, TeamPossession
from detectors.actions.shots import ShotAttempt
from detectors.registry import DetectorEntry

_STRIKE = ("strike", "flight", "shot", "wall")

#: By number.
DETECTORS: tuple[DetectorEntry, ...] = (
    DetectorEntry(lambda s, p: ShotAttempt(s, p.strike, p.flight, p.shot, p.wall), _STRIKE),
    DetectorEntry(lambda s, p: IndividualPossession()),
    DetectorEntry(lambda s, p: TeamPossession(p.team_possession), ("team_possession",)),
    DetectorEntry(lambda s, p: PassAttempt(s, p.strike, p.flight, p.shot, p.wall), _STRIKE),
    DetectorEntry(lambda s, p: Duel(p.duel, limbs=bool(s.quality.limbs)), ("duel",)),
    DetectorEntry(lambda s, p: AerialDuel(s, p.aerial_duel), ("aerial_duel",)),
    DetectorEntry(lambda s, p: Carry(s, p.carry, p.flight), ("carry", "flight")),
    DetectorEntry(lambda s, p: LooseBall(p.loose_ball), ("loose_ball",)),
)
