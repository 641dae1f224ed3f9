"""Cuckoo search with Lévy flights and a particle swarm (002, 4.3).

Theory of operation
-------------------
An individual is an allocation: of each detector, the node that runs it. *Nests* hold allocations. In each iteration
every cuckoo makes a new one from a nest:

* by a **Lévy flight**: it moves a number of detectors that a heavy-tailed distribution gives, mostly one or two and
  sometimes nearly all. The distance of two allocations is the number of detectors that run elsewhere;
* or, as a particle of a **swarm**, by going part of the way towards the best allocation that it has found itself, and
  part of the way towards the best of all. This takes the place of the ordinary, short movement of a cuckoo.

It then chooses a nest at random and keeps its allocation there if it is better. Allocations that overload a node are
discarded. After each iteration, the worst nests are abandoned and filled anew.

In each iteration one new allocation, and each best one, goes downhill: a detector moves, or two change places, as long
as that helps. The paper has no such descent; it makes the last few moves, which a random search finds slowly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from middleware.placement.descent import descend, packed
from middleware.placement.graph import Floats, Ints, Problem

#: Exponent of the Lévy distribution of Mantegna's method, and the matching width of its numerator.
_BETA = 1.5
_SIGMA = 0.6966


@dataclass(frozen=True)
class CuckooSettings:
    """How the search goes.

    Attributes:
        nests: number of allocations that are held.
        flight_share: share of the cuckoos that fly; the others follow the swarm.
        abandoned_share: share of the nests that are abandoned after an iteration.
        own_share, swarm_share: share of the way towards a particle's own best, and towards the best of all.
    """

    nests: int = 32
    flight_share: float = 0.5
    abandoned_share: float = 0.15
    own_share: float = 0.3
    swarm_share: float = 0.3


def search(
    problem: Problem,
    seed: int,
    is_over: Callable[[], bool],
    settings: CuckooSettings | None = None,
) -> Ints | None:
    """Return the best allocation found until ``is_over``; None if none was found that overloads no node.

    Args:
        problem: what to place.
        seed: of the random numbers.
        is_over: asked after each iteration; at least one is made.
        settings: how the search goes.
    """
    return _Search(problem, seed, settings or CuckooSettings()).run(is_over)


class _Search:
    """A search with its nests; row i of ``own`` is the best allocation of cuckoo i."""

    def __init__(self, problem: Problem, seed: int, settings: CuckooSettings) -> None:
        self._problem, self._settings = problem, settings
        self._random = np.random.default_rng(seed)
        self._choices = [np.flatnonzero(row) for row in problem.allowed]

    def run(self, is_over: Callable[[], bool]) -> Ints | None:
        problem, count = self._problem, self._settings.nests
        nests = self._filled(count)
        while nests is None:
            if is_over():
                return None
            nests = self._filled(count)
        costs = problem.costs(nests)
        own, own_costs = nests.copy(), costs.copy()
        best = descend(problem, nests[int(costs.argmin())])
        best_cost = problem.cost(best)
        while True:
            eggs = self._eggs(nests, own, best)
            at = int(self._random.integers(count))
            if problem.fits(eggs[at : at + 1])[0]:
                eggs[at] = descend(problem, eggs[at])
            fits = problem.fits(eggs)
            egg_costs = np.where(fits, problem.costs(eggs), np.inf)
            better = egg_costs < own_costs
            own[better], own_costs[better] = eggs[better], egg_costs[better]
            for egg, nest in enumerate(self._random.permutation(count).tolist()):
                if egg_costs[egg] < costs[nest]:
                    nests[nest], costs[nest] = eggs[egg], egg_costs[egg]
            self._abandon(nests, costs)
            if costs.min() < best_cost:
                best = descend(problem, nests[int(costs.argmin())])
                best_cost = problem.cost(best)
            if is_over() or best_cost == 0.0:
                return best

    def _filled(self, count: int) -> Ints | None:
        """Random allocations that fit; None if none was found."""
        rows = [packed(self._problem, self._random, self._choices) for _ in range(count)]
        found = [row for row in rows if row is not None]
        return np.array([found[i % len(found)] for i in range(count)]) if found else None

    def _eggs(self, nests: Ints, own: Ints, best: Ints) -> Ints:
        """A new allocation of each cuckoo."""
        count, detectors = nests.shape
        random, settings = self._random, self._settings
        eggs = nests.copy()
        flies = np.asarray(random.random(count) < settings.flight_share)
        draw = random.random((count, detectors))
        follows = ~flies[:, None]
        towards_own = follows & (draw < settings.own_share)
        towards_best = follows & (draw >= 1.0 - settings.swarm_share)
        eggs[towards_own] = own[towards_own]
        eggs[towards_best] = np.broadcast_to(best, eggs.shape)[towards_best]
        steps = np.abs(random.normal(0.0, _SIGMA, count)) / np.abs(random.normal(0.0, 1.0, count)) ** (1.0 / _BETA)
        lengths = np.minimum(1 + steps.astype(np.int64), detectors)
        for cuckoo in np.flatnonzero(flies | (random.random(count) < 0.5)).tolist():
            moved = random.choice(detectors, int(lengths[cuckoo]) if flies[cuckoo] else 1, replace=False)
            for detector in moved.tolist():
                eggs[cuckoo, detector] = random.choice(self._choices[detector])
        return eggs

    def _abandon(self, nests: Ints, costs: Floats) -> None:
        """Fill the worst nests anew."""
        for nest in np.argsort(costs)[len(costs) - int(self._settings.abandoned_share * len(costs)) :].tolist():
            row = packed(self._problem, self._random, self._choices)
            if row is not None:
                nests[nest], costs[nest] = row, self._problem.cost(row)
