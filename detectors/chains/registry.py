"""Registry of the detectors of ``detectors.chains``."""

from __future__ import annotations

from detectors.chains.attacks import BuildUpAttack, CounterAttack, DirectAttack, RecoveryTime
from detectors.chains.combinations import OverlapUsed, ThirdMan
from detectors.chains.entries import Entry
from detectors.chains.formations import Formation
from detectors.chains.game_state import StateOfPlay
from detectors.chains.possession_chain import PossessionChain
from detectors.chains.roles import RoleSwap
from detectors.chains.sequences import DoublePass, PassSequence
from detectors.registry import DetectorEntry

#: By number.
DETECTORS: tuple[DetectorEntry, ...] = (
    DetectorEntry(lambda s, p: PassSequence(p.sequence), ("sequence",)),
    DetectorEntry(lambda s, p: DoublePass(p.sequence), ("sequence",)),
    DetectorEntry(lambda s, p: ThirdMan(p.third_man), ("third_man",)),
    DetectorEntry(lambda s, p: OverlapUsed(p.overlap_used), ("overlap_used",)),
    DetectorEntry(lambda s, p: PossessionChain(p.chain), ("chain",)),
    DetectorEntry(lambda s, p: BuildUpAttack(s, p.attack), ("attack",)),
    DetectorEntry(lambda s, p: DirectAttack(s, p.attack), ("attack",)),
    DetectorEntry(lambda s, p: CounterAttack(s, p.attack), ("attack",)),
    DetectorEntry(lambda s, p: RecoveryTime(p.recovery_time), ("recovery_time",)),
    DetectorEntry(lambda s, p: Formation(s, p.formation), ("formation",)),
    DetectorEntry(lambda s, p: RoleSwap(s, p.role_swap), ("role_swap",)),
    DetectorEntry(lambda s, p: StateOfPlay()),
    DetectorEntry(lambda s, p: Entry(s)),
)
