"""Incremental optimisation of a running allocation: a few moves at a time, watched, and taken back if they were worse.

Source: 002, section 4.3 and Fig. 6: a cycle of measuring, cuckoo search and moving, which is repeated, because streams
change and a search may end before the optimum. Ours: hysteresis, cost of moving, and going back.

    cycle    measured graph ─▶ judge the last moves ─▶ search ─▶ at most a few moves
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from middleware.placement.cuckoo import search
from middleware.placement.descent import descend
from middleware.placement.graph import Ints, PlacementGraph, Problem

#: A detector and the node that it is to run on.
Moved = tuple[str, str]


@dataclass(frozen=True)
class IncrementalSettings:
    """How carefully an allocation is changed.

    Attributes:
        at_once: moves in a cycle at most; more only where fewer would not save the share of ``hysteresis``, because
            detectors belong together.
        hysteresis: share of the cost that a better allocation must save at least.
        move_cost: what a move costs, in the unit of the graph's cost; it must be saved, too.
        rest: cycles for which a move that was taken back is not made again.
    """

    at_once: int = 2
    hysteresis: float = 0.05
    move_cost: float = 0.0
    rest: int = 5


class Incremental:
    """Changes a running allocation step by step.

    Args:
        settings: how carefully.
        seed: of the searches' random numbers.

    Attributes:
        taken_back: number of moves that were taken back.
    """

    def __init__(self, settings: IncrementalSettings | None = None, seed: int = 1) -> None:
        self._settings = settings or IncrementalSettings()
        self._seed = seed
        self._cycle = 0
        self._before: tuple[float, tuple[Moved, ...]] | None = None
        self._resting: dict[Moved, int] = {}
        self.taken_back = 0

    def cycle(
        self, graph: PlacementGraph, allocation: Mapping[str, str], is_over: Callable[[], bool]
    ) -> tuple[Moved, ...]:
        """Return the moves to make now; none if the allocation is good enough.

        Args:
            graph: as measured since the last cycle.
            allocation: node of each detector, as it runs.
            is_over: ends the search; asked after each of its iterations.
        """
        self._cycle += 1
        problem = Problem(graph)
        current = np.array([problem.nodes.index(allocation[name]) for name in problem.names])
        cost = problem.cost(current)
        if self._before is not None:
            before, undo = self._before
            self._before = None
            if cost > before * (1.0 + self._settings.hysteresis):
                self.taken_back += len(undo)
                for name, _ in undo:
                    self._resting[name, allocation[name]] = self._cycle + self._settings.rest
                return undo
        moves = self._plan(problem, current, cost, is_over)
        if moves:
            self._before = cost, tuple((name, allocation[name]) for name, _ in moves)
        return moves

    def _plan(self, problem: Problem, current: Ints, cost: float, is_over: Callable[[], bool]) -> tuple[Moved, ...]:
        """Return the first moves on the way to the best allocation that was found."""
        settings = self._settings
        candidates = [descend(problem, current)] if problem.fits(current[None])[0] else []
        if (found := search(problem, self._seed + self._cycle, is_over)) is not None:
            candidates.append(found)
        if not candidates:
            return ()
        target = min(candidates, key=problem.cost)
        distance = int((target != current).sum())
        if cost - problem.cost(target) <= settings.hysteresis * cost + settings.move_cost * distance:
            return ()
        moves: list[Moved] = []
        step = current.copy()
        reached, enough = cost, cost * (1.0 - settings.hysteresis)
        while (len(moves) < settings.at_once or reached > enough) and (left := np.flatnonzero(target != step)).size:
            options = np.repeat(step[None], len(left), axis=0)
            options[np.arange(len(left)), left] = target[left]
            named = [(problem.names[at], problem.nodes[target[at]]) for at in left.tolist()]
            rests = np.array([self._resting.get(move, 0) >= self._cycle for move in named])
            costs = np.where(problem.fits(options) & ~rests, problem.costs(options), np.inf)
            best = int(costs.argmin())
            if not np.isfinite(costs[best]):
                break
            step, reached = options[best], float(costs[best])
            moves.append(named[best])
        return tuple(moves) if reached <= enough else ()
