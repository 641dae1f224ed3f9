"""The best allocation and a lower bound of its cost, by mixed-integer programming (HiGHS, in SciPy)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

from middleware.placement.graph import Ints, Problem

#: Problems with more variables are left to the search: to set them up takes seconds.
VARIABLES_MAX = 20_000

#: Status of SciPy's solver for a problem that has no solution.
_INFEASIBLE = 2


class Solved(NamedTuple):
    """The findings of the solver in its time.

    Attributes:
        allocation: the best that it found; None if it found none.
        bound: no allocation costs less.
        impossible: True if it has proven that no allocation fits.
    """

    allocation: Ints | None
    bound: float
    impossible: bool


def solve(problem: Problem, seconds: float) -> Solved:
    """Solve a problem exactly, as far as the time suffices.

    A variable ``x[i, k]`` says that detector i runs on node k, and ``y[p, k, l]`` that the two detectors of pair p,
    which exchange events, run on k and l. For each of the two, the ``y`` of the pair sum up to its ``x``; ``y`` need
    not be whole. With awaited events a variable ``t[i]`` is the delay of the critical path to detector i: at least that
    of each sender and of the link from it.

    Args:
        problem: what to place.
        seconds: limit of the solver's time; to set up a large problem takes longer, and such a one is not tried.
    """
    detectors, nodes = len(problem.names), len(problem.nodes)
    first, second = problem.pairs
    places, pairs = detectors * nodes, len(first)
    if pairs * nodes * nodes > VARIABLES_MAX:
        return Solved(None, 0.0, impossible=False)
    apart = ~np.eye(nodes, dtype=np.bool_)
    crossing = (problem.crossing + problem.crossing.T)[problem.pairs]
    pair_costs = crossing[:, None, None] * apart
    pair_costs += problem.links[first, second][:, None, None] * problem.latency
    pair_costs += problem.links[second, first][:, None, None] * problem.latency.T
    delayed = [step.detector for step in problem.steps]
    awaited = np.array([problem.awaited.get(detector, 0.0) for detector in delayed])
    costs = np.concatenate((np.zeros(places), pair_costs.reshape(-1), awaited))
    x = np.arange(places).reshape(detectors, nodes)
    y = places + np.arange(pairs * nodes * nodes).reshape(pairs, nodes, nodes)
    room = coo_array(
        (np.repeat(problem.cpu, nodes), (np.tile(np.arange(nodes), detectors), x.ravel())), shape=(nodes, len(costs))
    )
    constraints = [
        LinearConstraint(_rows(x, len(costs)), 1.0, 1.0),
        LinearConstraint(room, -np.inf, problem.room),
    ]
    for side, at in ((y, first), (y.transpose(0, 2, 1), second)) if pairs else ():
        ends = _rows(side.reshape(-1, nodes), len(costs)) - _rows(x[at].reshape(-1, 1), len(costs))
        constraints.append(LinearConstraint(ends, 0.0, 0.0))
    if delayed:
        constraints += _path_constraints(problem, y, places + y.size, len(costs))
    highest = np.concatenate(
        (problem.allowed.ravel().astype(np.float64), np.ones(y.size), np.full(len(delayed), np.inf))
    )
    whole = np.concatenate((np.ones(places), np.zeros(len(costs) - places)))
    options = {"time_limit": seconds, "mip_rel_gap": 0.0}
    result = milp(costs, integrality=whole, bounds=Bounds(0.0, highest), constraints=constraints, options=options)
    bound = result.mip_dual_bound if result.mip_dual_bound is not None else 0.0
    allocation = None if result.x is None else result.x[:places].reshape(detectors, nodes).argmax(axis=1)
    return Solved(allocation, max(0.0, float(bound)) if np.isfinite(bound) else 0.0, result.status == _INFEASIBLE)


def _path_constraints(problem: Problem, y: Ints, first_t: int, width: int) -> list[LinearConstraint]:
    """Each delay is at least that of each sender and of the link from it."""
    pair_of = {pair: at for at, pair in enumerate(zip(*(ends.tolist() for ends in problem.pairs), strict=True))}
    t = {step.detector: first_t + at for at, step in enumerate(problem.steps)}
    values, rows, columns, row = list[float](), list[int](), list[int](), 0
    for detector, senders in problem.steps:
        for sender in senders.tolist():
            forth = y[pair_of[min(sender, detector), max(sender, detector)]]
            link = forth if sender < detector else forth.T  # by node of the sender and of the detector
            values += [1.0, -1.0, *(-problem.delay).ravel().tolist()]
            columns += [t[detector], t[sender], *link.ravel().tolist()]
            rows += [row] * (2 + link.size)
            row += 1
    return [LinearConstraint(coo_array((values, (rows, columns)), shape=(row, width)), 0.0, np.inf)] if row else []


def _rows(columns: Ints, width: int) -> coo_array:
    """A matrix whose row i has ones in the columns that row i names."""
    count, each = columns.shape
    at = np.repeat(np.arange(count), each)
    return coo_array((np.ones(count * each), (at, columns.ravel())), shape=(count, width))
