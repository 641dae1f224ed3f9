"""Detectors of this room."""

from __future__ import annotations

from detectors.actions.aerials import AerialDuel
from detectors.actions.carries import Carry
from detectors.actions.duels import Duel
from detectors.actions.loose import LooseBall
from detectors.actions.passes import PassAttempt
from detectors.actions.possession import IndividualPossession, TeamPossession
from detectors.actions.shots import ShotAttempt
from detectors.roster import Line, feet

_STRIKE = ("strike", "flight", "shot")

#: In order of their numbers.
LINES: tuple[Line, ...] = (
    Line(lambda s, p: ShotAttempt(s, p.strike, p.flight, p.shot), _STRIKE),
    Line(lambda s, p: IndividualPossession()),
    Line(lambda s, p: TeamPossession(p.team_possession), ("team_possession",)),
    Line(lambda s, p: PassAttempt(s, p.strike, p.flight, p.shot), _STRIKE),
    Line(lambda s, p: Duel(p.duel), ("duel",)),
    Line(lambda s, p: AerialDuel(p.aerial_duel), ("aerial_duel",), feet),
    Line(lambda s, p: Carry(s, p.carry, p.flight), ("carry", "flight")),
    Line(lambda s, p: LooseBall(p.loose_ball), ("loose_ball",)),
)
