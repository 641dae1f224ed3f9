"""Advice: which detectors to move, from the traffic that a stretch over several nodes has shown."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import numpy as np

from app.nodes.measured import Measured
from middleware.placement.graph import Problem, Weights
from middleware.placement.incremental import Incremental

#: Iterations of the search: a number and no time, so that the advice can be repeated.
_ITERATIONS = 100


class Advice(msgspec.Struct, frozen=True):
    """Moves that are worth making, in order.

    Attributes:
        moves: detector and node.
        crossing_s: events a second over all subscriptions between nodes, as measured, and after the moves.
        awaited_ms: latency of the slowest path over the links to an event that cameras wait for, in the mean, as
            measured, and after the moves.
    """

    moves: tuple[tuple[str, int], ...]
    crossing_s: tuple[float, float]
    awaited_ms: tuple[float, float]


def advise(measured: Measured, optimiser: Incremental, critical: float = 0.0) -> Advice:
    """Search for moves that save traffic between nodes, and latency to what cameras wait for.

    Args:
        measured: the match over nodes as it runs.
        optimiser: knows what it advised before, and advises to take back what made it worse.
        critical: events a second between nodes that a millisecond of that latency is worth.
    """
    graph = measured.graph(Weights(1.0, 0.0, critical=critical if measured.awaited else 0.0))
    current = measured.places
    left = iter(range(_ITERATIONS))
    moves = optimiser.cycle(graph, current, lambda: next(left, None) is None)
    after = current | dict(moves)
    crossing = Problem(measured.graph(Weights(1.0, 0.0)))
    awaited = Problem(measured.graph(Weights(0.0, 0.0, critical=1.0)))
    return Advice(
        tuple((name, int(node)) for name, node in moves),
        (_cost(crossing, current), _cost(crossing, after)),
        (_cost(awaited, current), _cost(awaited, after)),
    )


def _cost(problem: Problem, allocation: Mapping[str, str]) -> float:
    return round(problem.cost(np.array([int(allocation[name]) for name in problem.names])), 1)
