"""Unit costs of the engine's work on this machine, measured anew at the end of each window.

The engine adapts by counts and costs in its state, never by a clock (``middleware.load_accounting``). This module has
the clock. A pipeline reports the duration of each block to the meter, outside and inside the engine. In the pauses
between blocks the meter makes one detector after the other repeat its last steps and times them. At a window's end it
spreads the rest of the measured time over arrivals and moved updates. The costs thus add up to the time that was really
spent, and the measurement does not prolong the end of a window.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from middleware.engine import Engine
from middleware.load_accounting import Costs

#: Steps and comparisons of a detector that are timed; fewer than the minimum are not significant. The shortest of
#: several times counts, since the others were interrupted.
_STEPS, _MIN_STEPS, _REPETITIONS = 40, 8, 5

#: Steps that each detector repeats at the end of a window where nothing adapts, as a purity check.
_CHECKED_STEPS = 4

#: Weight of the newest check in the cost of a step: a check has few steps.
_NEWEST = 0.25

#: Lower bound of a cost, against failed measurements.
_MIN_COST_US = 0.05


class CostMeter:
    """Adds up the durations of blocks, and derives costs from them.

    Args:
        available: wall seconds per second of the stream, see ``Costs.available``.
    """

    def __init__(self, available: float) -> None:
        self._available = available
        self._outside_ns = 0
        self._inside_ns = 0
        self._counted: tuple[int, int, dict[str, int]] | None = None
        self._step_us: dict[str, float] = {}
        self._compare_us: dict[str, float] = {}
        self._timed_names: set[str] = set()

    def add(self, outside_ns: int, inside_ns: int) -> None:
        """Adds the duration of a block: outside the engine (decoding, checks, records) and inside it, in ns."""
        self._outside_ns += outside_ns
        self._inside_ns += inside_ns

    def time_next(self, engine: Engine, names: Sequence[str]) -> None:
        """Times repeated steps of one detector: the next among ``names`` that is not timed yet, then the first again.

        The repetition has no effect on the output; it also serves as a purity check.
        """
        name = next((name for name in names if name not in self._timed_names), names[0])
        if name in self._timed_names:
            self._timed_names.clear()
        self._time(engine, name)

    def check(self, engine: Engine, names: Sequence[str]) -> Costs:
        """Checks the purity of all detectors by a few repeated steps of each. Returns what these cost."""
        for name in names:
            began_ns = time.perf_counter_ns()
            if count := engine.check_purity(name, _CHECKED_STEPS):
                step_us = (time.perf_counter_ns() - began_ns) / 1e3 / count
                before_us = self._step_us.get(name, step_us)
                self._step_us[name] = before_us + _NEWEST * (step_us - before_us)
        return Costs(step_us=dict(self._step_us), available=self._available)

    def measure(self, engine: Engine, names: Sequence[str]) -> Costs:
        """Costs of the engine's work since the last call; detectors that no pause was long enough for are timed now."""
        for name in names:
            if name not in self._timed_names and name not in self._step_us:
                self._time(engine, name)
        step_us, compare_us = dict(self._step_us), dict(self._compare_us)
        before = self._counted or (0, 0, {})
        self._counted = arrivals, moved, steps = engine.work_counts()
        outside_us, inside_us = self._outside_ns / 1e3, self._inside_ns / 1e3
        self._outside_ns = self._inside_ns = 0
        known = Costs(step_us=step_us, compare_us=compare_us, available=self._available)
        stepping_us = sum((count - before[2].get(name, 0)) * known.step(name) for name, count in steps.items())
        arrivals, moved = arrivals - before[0], moved - before[1]
        return Costs(
            arrival_us=max(_MIN_COST_US, outside_us / arrivals) if arrivals else known.arrival_us,
            moved_us=max(_MIN_COST_US, (inside_us - stepping_us) / moved) if moved else known.moved_us,
            step_us=step_us,
            compare_us=compare_us,
            available=self._available,
        )

    def _time(self, engine: Engine, name: str) -> None:
        self._timed_names.add(name)
        check = engine.purity_check(name, _STEPS)
        if check.step() >= _MIN_STEPS:
            self._step_us[name] = _timed(check.step)
            self._compare_us[name] = _timed(check.compare)


def _timed(work: Callable[[], int]) -> float:
    """Microseconds per piece of ``work``, a function that returns the number of pieces that it did."""
    min_us = float("inf")
    for _ in range(_REPETITIONS):
        began_ns = time.perf_counter_ns()
        done = work()
        min_us = min(min_us, (time.perf_counter_ns() - began_ns) / 1e3 / done)
    return max(_MIN_COST_US, min_us)
