"""Places the detectors of a graph on its nodes."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from middleware.placement.cuckoo import search
from middleware.placement.descent import descend, greedy
from middleware.placement.exact import solve
from middleware.placement.graph import PlacementError, PlacementGraph, Problem


class Placement(msgspec.Struct, frozen=True):
    """An allocation.

    Attributes:
        allocation: the node of each detector.
        cost: of the allocation: c_t times the events a second that cross, plus c_l times the latency of each
            subscription that does, in milliseconds, plus what the critical path costs.
        bound: no allocation that overloads no node costs less.
        method: what found it: ``cuckoo``, ``greedy`` or ``exact``.
        load: of each node.
    """

    allocation: dict[str, str]
    cost: float
    bound: float
    method: str
    load: dict[str, float]


def place(graph: PlacementGraph, is_over: Callable[[], bool], solver_s: float, seed: int = 1) -> Placement:
    """Place the detectors as cheaply as the time allows.

    The exact solver gives the bound, and on small graphs the optimum.

    Args:
        graph: what to place, checked by :func:`middleware.placement.graph.read_graph`.
        is_over: ends the cuckoo search; asked after each of its iterations.
        solver_s: limit of the exact solver's time.
        seed: of the search's random numbers.

    Raises:
        PlacementError: no allocation fits, or none was found in this time.
    """
    problem = Problem(graph)
    solved = solve(problem, solver_s)
    if solved.impossible:
        raise PlacementError("no allocation fits: the loads cannot be divided among the nodes' capacities")
    start = greedy(problem)
    candidates = {
        "cuckoo": search(problem, seed, is_over),
        "greedy": None if start is None else descend(problem, start),
        "exact": solved.allocation,
    }
    found = {name: row for name, row in candidates.items() if row is not None and problem.fits(row[None])[0]}
    if not found:
        raise PlacementError("no allocation that fits was found in this time; allow more seconds")
    costs = {name: problem.cost(row) for name, row in found.items()}
    method = min(costs, key=lambda name: costs[name])
    row = found[method]
    load = {node: float(problem.cpu[row == k].sum()) for k, node in enumerate(problem.nodes)}
    return Placement(problem.named(row.tolist()), costs[method], _bound(solved.bound, costs[method]), method, load)


def _bound(bound: float, cost: float) -> float:
    """The solver's bound; the cost itself where they differ by rounding only."""
    return cost if bound >= cost * (1.0 - 1e-6) else bound
