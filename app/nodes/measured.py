"""The graph of a match's detectors, with the rates that were measured, for :mod:`middleware.placement`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from camera.framing import is_among, load_framing
from middleware.hierarchy import Hierarchy
from middleware.placement.graph import PlacedDetector, PlacedNode, PlacementGraph, Subscription, Weights

#: Gate and sink of a match over nodes, as detectors that stay where they are.
GATE, SINK = "@gate", "@sink"

#: A node gets at most so many equal shares of the load.
_SHARES = 1.5


class Measured(NamedTuple):
    """Rates, places and latencies that were measured of a match over nodes.

    Attributes:
        where: node of each detector by name, and of gate and sink.
        steps_s: steps a second of each detector.
        events_s: events a second from one detector to another.
        latency_ms: latency from one node to another: a row for each node.
        awaited: events a second that cameras wait for, by detector.
        full: nodes that get nothing more.
    """

    where: dict[str, int]
    steps_s: Mapping[str, float]
    events_s: Mapping[tuple[str, str], float]
    latency_ms: Sequence[Sequence[float]]
    awaited: Mapping[str, float]
    full: Sequence[int] = ()

    @property
    def places(self) -> dict[str, str]:
        """Node of each detector of the graph by name."""
        ends = {_end_of(name): self.where[SINK] for name in self.awaited}
        return {name: str(node) for name, node in (self.where | ends).items()}

    def graph(self, weights: Weights) -> PlacementGraph:
        """Return the graph. The load of a detector is its steps a second; gate and sink are pinned.

        Each awaited detector has a sink of its own, beside the other one, so that the last link is on its path, too. A
        node may get three halves of an equal share of all load, or what it has now if that is more.
        """
        count, where = len(self.latency_ms), self.places
        names = {name: self.steps_s.get(name, 0.0) for name in where}
        by_node = [sum(load for name, load in names.items() if where[name] == str(node)) for node in range(count)]
        room = max(_SHARES * sum(names.values()) / count, max(names.values(), default=0.0))
        capacity = [by_node[node] if node in self.full else max(room, by_node[node]) for node in range(count)]
        return PlacementGraph(
            tuple(PlacedDetector(name, load) for name, load in names.items()),
            tuple(
                Subscription(one, _end_of(one) if other == SINK and one in self.awaited else other, rate)
                for (one, other), rate in sorted(self.events_s.items())
            ),
            tuple(PlacedNode(str(node), capacity[node]) for node in range(count)),
            tuple(map(tuple, self.latency_ms)),
            weights,
            {name: node for name, node in where.items() if name.startswith("@")},
            {_end_of(name): rate for name, rate in self.awaited.items()},
        )


def _end_of(name: str) -> str:
    return f"{SINK}.{name}"


def awaited_of(hierarchy: Hierarchy, events_s: Mapping[tuple[str, str], float]) -> dict[str, float]:
    """Return the events a second that cameras wait for, by detector.

    Those are the published ones of detectors that give a kind which the packaged framing table turns a camera for; in a
    stretch without any of them all published ones.
    """
    kinds = tuple(kind for situation in load_framing().situation for kind in situation.kinds)
    published = {one: rate for (one, other), rate in events_s.items() if other == SINK and rate > 0.0}
    turning = {
        detector.spec.name
        for detector in hierarchy.detectors
        if any(is_among(kind, kinds) for kind in detector.spec.outputs)
    }
    return {name: rate for name, rate in published.items() if name in turning} or published
