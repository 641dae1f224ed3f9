"""Advice: which detectors to move, from the traffic that a stretch over several nodes has shown."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import numpy as np

from middleware.nodes.simulation import Outcome
from middleware.placement.graph import PlacedDetector, PlacedNode, PlacementGraph, Problem, Subscription, Weights
from middleware.placement.incremental import Incremental, IncrementalSettings

#: Iterations of the search: a number and no time, so that the advice can be repeated.
_ITERATIONS = 100


class Advice(msgspec.Struct, frozen=True):
    """Moves that are worth making, in order.

    Attributes:
        moves: detector and node.
        crossing_s: events a second over all subscriptions between nodes, as measured, and after the moves.
    """

    moves: tuple[tuple[str, int], ...]
    crossing_s: tuple[float, float]


def advise(outcome: Outcome, placement: Mapping[str, int], count: int, seconds: float, at_once: int) -> Advice:
    """Search for moves that save traffic between nodes. Gate and sink stay where they are.

    The load of a detector is its steps a second. A node may get three halves of an equal share of all of them, or what
    it has now if that is more.

    Args:
        outcome: has the events by subscription, and the steps by detector.
        placement: node of each detector by name, and of the sink as ``@sink``.
        count: number of nodes.
        seconds: length of the stretch.
        at_once: number of moves; more only where fewer would save nothing.
    """
    load = {name: steps / seconds for name, steps in outcome.steps.items()}
    ends = {"@gate": 0, "@sink": placement.get("@sink", 0)}
    where = {name: placement.get(name, 0) for name in load} | ends
    by_node = [sum(cpu for name, cpu in load.items() if where[name] == node) for node in range(count)]
    room = max(1.5 * sum(load.values()) / count, max(load.values(), default=0.0))
    graph = PlacementGraph(
        tuple(PlacedDetector(name, load.get(name, 0.0)) for name in where),
        tuple(Subscription(one, other, n / seconds) for (one, other), n in sorted(outcome.edges.items())),
        tuple(PlacedNode(str(node), max(room, by_node[node])) for node in range(count)),
        tuple(tuple(float(one != other) for other in range(count)) for one in range(count)),
        Weights(1.0, 0.0),
        {name: str(node) for name, node in ends.items()},
    )
    current = {name: str(node) for name, node in where.items()}
    left = iter(range(_ITERATIONS))
    optimiser = Incremental(IncrementalSettings(at_once=at_once, hysteresis=0.01))
    moves = optimiser.cycle(graph, current, lambda: next(left, None) is None)
    problem = Problem(graph)

    def cost(allocation: Mapping[str, str]) -> float:
        return round(problem.cost(np.array([int(allocation[name]) for name in problem.names])), 1)

    return Advice(tuple((name, int(node)) for name, node in moves), (cost(current), cost(current | dict(moves))))
