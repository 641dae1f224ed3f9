"""Detectors of this room."""

from __future__ import annotations

from detectors.outcomes.claims import GoalkeeperClaim
from detectors.outcomes.clearances import Clearance
from detectors.outcomes.contests import Tackle, TakeOn
from detectors.outcomes.goals import Goal, GoalConfirmation
from detectors.outcomes.offside import OffsideLine
from detectors.outcomes.receptions import Interception, PassOutcome
from detectors.outcomes.recoveries import Recovery
from detectors.outcomes.saves import Save
from detectors.outcomes.shots import ShotOnWoodwork, ShotOutcome
from detectors.roster import Line

#: In order of their numbers.
LINES: tuple[Line, ...] = (
    Line(lambda s, p: ShotOutcome(s, p.shot_outcome), ("shot_outcome",)),
    Line(lambda s, p: Save(s, p.save), ("save",)),
    Line(lambda s, p: ShotOnWoodwork(p.shot_outcome), ("shot_outcome",)),
    Line(lambda s, p: Goal(s, p.goal), ("goal",)),
    Line(lambda s, p: PassOutcome(p.pass_outcome), ("pass_outcome",)),
    Line(lambda s, p: Interception(p.interception), ("interception",)),
    Line(lambda s, p: Clearance(s, p.clearance), ("clearance",)),
    Line(lambda s, p: Recovery()),
    Line(lambda s, p: TakeOn(p.take_on), ("take_on",)),
    Line(lambda s, p: Tackle(p.tackle), ("tackle",)),
    Line(lambda s, p: GoalkeeperClaim(s, p.goalkeeper_claim), ("goalkeeper_claim",)),
    Line(lambda s, p: OffsideLine(p.offside), ("offside",)),
    Line(lambda s, p: GoalConfirmation(s, p.goal), ("goal",)),
)
