"""Metrics of the ordering: counts of each unit, its memory, and faults. Plain data, no I/O."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from middleware.events import END_US
from middleware.isolation import Failed, Fault
from middleware.load_accounting import total
from middleware.ordering.retraction import Mode
from middleware.ordering.unit import OrderingUnit
from middleware.sources.final_limit import NO_HOLD, FinalHold

#: Smallest share of the work that is reported: health goes out twice a second.
_MIN_SHARE = 0.001


@dataclass(frozen=True)
class DetectorMetrics:
    """One detector's units together. ``k_us`` and ``alpha`` are the greatest, counts are sums since the beginning.

    Attributes:
        level: in the hierarchy.
        units: their number; more than one if keyed.
        k_us: slack K.
        alpha: share of K that inputs wait.
        waiting, held: inputs not yet given to the detector, and those held for repair.
        snapshots: states held for repair.
        snapshot_bytes: size of the newest state, pickled; the greatest of several units.
        mode: how it retracts now.
        failed: keys of units whose detector has raised, with the error.
        redo_us: cost of redoing, by the measured cost of a step.
        backset_us: how far before its cause an output was dated at most (004, section IV-A).
        others: see ``middleware.load_accounting.Counters``.
    """

    level: int
    units: int
    k_us: int
    alpha: float
    waiting: int
    held: int
    snapshots: int
    snapshot_bytes: int
    mode: Mode
    failed: Mapping[str, str]
    stepped: int
    redone: int
    redo_us: float
    compared: int
    late: int
    repairs: int
    retracted: int
    repaired: int
    backset_us: int


@dataclass(frozen=True)
class EngineHealth:
    """Health of the ordering since the beginning; mappings are by detector name.

    Attributes:
        final_us: the watermark of the raw input.
        faults: by detector, then by sort of fault, see ``middleware.isolation.Faults.note``.
        failed: error of each detector with a unit that has failed and, as things stand, will emit nothing more.
        differing: see ``middleware.push_result.Counts``.
        lag_us: of each detector with waiting inputs, how far the oldest of them lies behind ``clk_us``.
        work_shares: each detector's share of all detectors' work since the beginning, by counted steps and measured
            costs; without the smallest, and empty before the first measurement.
        hold: what holds final back.
        others: see :class:`DetectorMetrics` and ``middleware.load_accounting.Counters``.
    """

    clk_us: int
    final_us: int
    slack_us: Mapping[str, int]
    backset_us: Mapping[str, int]
    alpha: Mapping[str, float]
    waiting: int
    held: int
    late: int
    redone: int
    retracted: int
    duplicates: int
    lost: int
    differing: int
    busy: float
    failed: Mapping[str, str]
    faults: Mapping[str, Mapping[str, Fault]]
    lag_us: Mapping[str, int] = field(default_factory=dict)
    work_shares: Mapping[str, float] = field(default_factory=dict)
    hold: FinalHold = NO_HOLD

    def fault_counts(self) -> dict[str, int]:
        """Return how often each detector has broken its contract."""
        return {name: sum(fault.count for fault in found.values()) for name, found in self.faults.items()}

    def fault_texts(self) -> dict[str, str]:
        """Return for people how each detector has broken its contract: of each sort of fault the newest."""
        return {
            name: "; ".join(f"{what}: {fault.last}" for what, fault in sorted(found.items()))
            for name, found in self.faults.items()
        }


def failure(state: object) -> str:
    """Return the error of a failed state, empty if it has not failed."""
    return state.error if isinstance(state, Failed) else ""


def engine_health(
    names: Sequence[str],
    units: Sequence[Mapping[str, OrderingUnit]],
    clk_us: int,
    final_us: int,
    busy: float,
    duplicates: int,
    lost: int,
    differing: int,
    faults: Mapping[str, Mapping[str, Fault]],
    hold: FinalHold = NO_HOLD,
    step_us: Mapping[str, float] | None = None,
) -> EngineHealth:
    """Return the health of all units; the arguments after ``units`` are the engine's own figures."""
    slack: dict[str, int] = {}
    backset: dict[str, int] = {}
    alpha: dict[str, float] = {}
    failed: dict[str, str] = {}
    lag_us: dict[str, int] = {}
    work_us: dict[str, float] = {}
    waiting = held = late = redone = retracted = 0
    for name, by_key in zip(names, units, strict=True):
        oldest_us, steps, k_us, alpha_now, backset_us = END_US, 0, -1, -1.0, -1
        for unit in by_key.values():
            if unit.slack.k_us > k_us:
                k_us = unit.slack.k_us
            if unit.backset_us > backset_us:
                backset_us = unit.backset_us
            if (unit_alpha := unit.alpha) > alpha_now:
                alpha_now = unit_alpha
            held += unit.held
            if unit.has_waiting:
                waiting += unit.waiting
                oldest_us = min(oldest_us, unit.oldest_waiting_us)
            counters = unit.counters
            late += counters.late
            redone += counters.redone
            steps += counters.stepped + counters.redone
            retracted += counters.retracted
            if error := failure(unit.buffer.newest_state):
                failed[name] = error
        if by_key:
            slack[name], backset[name], alpha[name] = k_us, backset_us, alpha_now
        if oldest_us < clk_us:
            lag_us[name] = clk_us - oldest_us
        if step_us and name in step_us:
            work_us[name] = steps * step_us[name]
    all_us = sum(work_us.values())
    shares = {name: round(own_us / all_us, 4) for name, own_us in work_us.items() if own_us > _MIN_SHARE * all_us}
    return EngineHealth(
        clk_us, final_us, slack, backset, alpha, waiting, held, late, redone, retracted, duplicates, lost, differing,
        busy, failed, faults, lag_us, shares, hold,
    )  # fmt: skip


def detector_metrics(level: int, by_key: Mapping[str, OrderingUnit], step_us: float) -> DetectorMetrics:
    """Return the metrics of a detector's units, at least one.

    Args:
        level: in the hierarchy.
        by_key: its units.
        step_us: cost of a step.
    """
    units = list(by_key.values())
    work = total([unit.counters for unit in units])
    return DetectorMetrics(
        level=level,
        units=len(units),
        k_us=max(unit.slack.k_us for unit in units),
        alpha=max(unit.alpha for unit in units),
        waiting=sum(unit.waiting for unit in units),
        held=sum(unit.held for unit in units),
        snapshots=sum(unit.buffer.snapshots for unit in units),
        snapshot_bytes=max(len(pickle.dumps(unit.buffer.newest_state)) for unit in units),
        mode=units[0].mode,
        failed={key: error for key, unit in by_key.items() if (error := failure(unit.buffer.newest_state))},
        stepped=work.stepped,
        redone=work.redone,
        redo_us=work.redone * step_us,
        compared=sum(unit.counters.compared for unit in units),
        late=sum(unit.counters.late for unit in units),
        repairs=sum(unit.counters.repairs for unit in units),
        retracted=sum(unit.counters.retracted for unit in units),
        repaired=sum(unit.counters.repaired for unit in units),
        backset_us=max(unit.backset_us for unit in units),
    )
