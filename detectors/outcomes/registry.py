"""Registry of the detectors of ``detectors.outcomes``."""

from __future__ import annotations

from detectors.outcomes.claims import GoalkeeperClaim
from detectors.outcomes.clearances import Clearance
from detectors.outcomes.contests import Tackle, TakeOn
from detectors.outcomes.goal_verdicts import GoalConfirmation
from detectors.outcomes.goals import Goal
from detectors.outcomes.interceptions import Interception
from detectors.outcomes.miscontrols import Miscontrol
from detectors.outcomes.offside import OffsideLine
from detectors.outcomes.receptions import PassOutcome
from detectors.outcomes.recoveries import Recovery
from detectors.outcomes.saves import Save
from detectors.outcomes.shots import ShotOnWoodwork, ShotOutcome
from detectors.registry import DetectorEntry

#: By number.
DETECTORS: tuple[DetectorEntry, ...] = (
    DetectorEntry(lambda s, p: ShotOutcome(s, p.shot_outcome), ("shot_outcome",)),
    DetectorEntry(lambda s, p: Save(s, p.save), ("save",)),
    DetectorEntry(lambda s, p: ShotOnWoodwork(p.shot_outcome), ("shot_outcome",)),
    DetectorEntry(lambda s, p: Goal(s, p.goal, p.restart_kick, p.last_touch), ("goal", "restart_kick", "last_touch")),
    DetectorEntry(lambda s, p: PassOutcome(p.pass_outcome), ("pass_outcome",)),
    DetectorEntry(lambda s, p: Interception(s, p.interception), ("interception",)),
    DetectorEntry(lambda s, p: Clearance(s, p.clearance), ("clearance",)),
    DetectorEntry(lambda s, p: Recovery(s, p.recovery), ("recovery",)),
    DetectorEntry(lambda s, p: Miscontrol(p.miscontrol), ("miscontrol",)),
    DetectorEntry(lambda s, p: TakeOn(p.take_on), ("take_on",)),
    DetectorEntry(lambda s, p: Tackle(p.tackle), ("tackle",)),
    DetectorEntry(lambda s, p: GoalkeeperClaim(s, p.goalkeeper_claim), ("goalkeeper_claim",)),
    DetectorEntry(lambda s, p: OffsideLine(p.offside), ("offside",)),
    DetectorEntry(lambda s, p: GoalConfirmation(s, p.goal), ("goal",)),
)
