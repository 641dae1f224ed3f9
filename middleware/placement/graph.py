"""Detectors, the events between them, the nodes that they may run on, and the cost of an allocation.

Paper 002 (4.3) grades an allocation by the subscriptions that cross from one node to another: each costs ``c_t`` times
the events that it carries, plus ``c_l`` times the latency between the two nodes. Subscriptions within a node cost
nothing. A node never gets more load than its capacity.

Ours is the *critical path*: an event that somebody waits for, such as a camera, waits for the slowest chain of
subscriptions that leads to it. The latency of that chain over the links, in the mean over the awaited events at their
measured rates, costs ``critical`` a millisecond. 002 counts each subscription that crosses, also those off the path.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

#: Share of a capacity by which sums of loads may be inexact.
_ROUNDING = 1e-9


class PlacementError(ValueError):
    """A graph that cannot be placed; the message has the field and the reason."""


class PlacedDetector(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A detector and its load, in the unit of the capacities."""

    name: str
    cpu: float


class Subscription(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"source": "from", "target": "to"}):
    """Events that one detector sends another: how many a second, and how large one is."""

    source: str
    target: str
    events_s: float
    bytes: float = 0.0


class PlacedNode(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A node and its capacity."""

    name: str
    capacity: float


class Weights(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The weights of the parts of a cost.

    Attributes:
        traffic: c_t, cost of an event a second that crosses.
        latency: c_l, cost of a millisecond of a subscription that crosses.
        bytes: cost of a byte a second that crosses; the paper counts events only.
        critical: cost of a millisecond of the critical path to the awaited events; see the module.
    """

    traffic: float = 1.0
    latency: float = 1.0
    bytes: float = 0.0
    critical: float = 0.0


class PlacementGraph(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Detectors, subscriptions and nodes, as a file states them.

    Attributes:
        detectors, edges, nodes: see their classes.
        latency_ms: latency from one node to another: a row for each node, in their order.
        weights: what counts.
        pinned: detectors that must run on a certain node, by name.
        awaited: events a second of the detectors whose events are waited for, by name.
    """

    detectors: tuple[PlacedDetector, ...]
    edges: tuple[Subscription, ...]
    nodes: tuple[PlacedNode, ...]
    latency_ms: tuple[tuple[float, ...], ...]
    weights: Weights = Weights()
    pinned: Mapping[str, str] = {}
    awaited: Mapping[str, float] = {}


class Step(NamedTuple):
    """A detector on a path to an awaited event, and those that send to it, as indexes."""

    detector: int
    senders: Ints


class Problem:
    """A graph as arrays.

    Args:
        graph: a graph that :func:`read_graph` has checked.

    Attributes:
        names, nodes: of the detectors and nodes.
        cpu, room: load of each detector, capacity of each node with what rounding may add.
        crossing: (detectors, detectors): what it costs, without the latency, if one sends to the other across.
        links: (detectors, detectors): number of subscriptions from one to the other.
        latency: (nodes, nodes): cost of the latency from one to the other, 0 within a node.
        pairs: indexes of the detectors, lower one first, between which there are subscriptions.
        allowed: (detectors, nodes): False where a detector is pinned elsewhere.
        delay: (nodes, nodes): latency from one to the other in milliseconds, 0 within a node.
        awaited: what a millisecond of the critical path to a detector costs, by its index; none without that weight.
        steps: detectors on the paths to the awaited ones, senders before receivers.
    """

    def __init__(self, graph: PlacementGraph) -> None:
        index = {one.name: i for i, one in enumerate(graph.detectors)}
        edges = [edge for edge in graph.edges if edge.source != edge.target]
        self.names, self.nodes = tuple(index), tuple(node.name for node in graph.nodes)
        self.cpu = np.array([one.cpu for one in graph.detectors])
        self.room: Floats = np.array([node.capacity for node in graph.nodes]) * (1.0 + _ROUNDING)
        weights = graph.weights
        self.crossing: Floats = np.zeros((len(index), len(index)))
        self.links: Floats = np.zeros((len(index), len(index)))
        for edge in edges:
            at = index[edge.source], index[edge.target]
            self.crossing[at] += edge.events_s * (weights.traffic + weights.bytes * edge.bytes)
            self.links[at] += 1.0
        self.pairs = np.nonzero(np.triu(self.links + self.links.T))
        self.latency: Floats = weights.latency * np.array(graph.latency_ms, np.float64)
        np.fill_diagonal(self.latency, 0.0)
        self.allowed = np.ones((len(index), len(self.nodes)), np.bool_)
        for name, node in graph.pinned.items():
            self.allowed[index[name]] = [other == node for other in self.nodes]
        self.delay: Floats = np.array(graph.latency_ms, np.float64)
        np.fill_diagonal(self.delay, 0.0)
        rates, total = graph.awaited, sum(graph.awaited.values())
        share = weights.critical / total if total else 0.0
        self.awaited = {index[name]: share * rate for name, rate in rates.items() if share * rate > 0.0}
        senders = _senders(graph)
        self.steps = tuple(
            Step(index[name], np.array([index[one] for one in senders[name]], np.int64))
            for name in _in_order(senders, tuple(self.names[at] for at in self.awaited))
        )

    def costs(self, allocations: Ints) -> Floats:
        """The cost of each row of allocations, (rows, detectors) of node indexes."""
        first, second = self.pairs
        here, there = allocations[:, first], allocations[:, second]
        costs = (here != there) * (self.crossing + self.crossing.T)[self.pairs]
        costs += self.links[first, second] * self.latency[here, there]
        costs += self.links[second, first] * self.latency[there, here]
        return np.asarray(costs.sum(axis=1)) + self.waiting(allocations)

    def waiting(self, allocations: Ints) -> Floats:
        """The part of the cost of each row that is the critical path to the awaited events."""
        costs: Floats = np.zeros(len(allocations))
        if not self.awaited:
            return costs
        delays_ms: Floats = np.zeros(allocations.shape)
        for detector, senders in self.steps:
            if len(senders):
                links = self.delay[allocations[:, senders], allocations[:, detector, None]]
                delays_ms[:, detector] = (delays_ms[:, senders] + links).max(axis=1)
        for detector, cost in self.awaited.items():
            costs += cost * delays_ms[:, detector]
        return costs

    def cost(self, allocation: Ints) -> float:
        """The cost of an allocation."""
        return float(self.costs(allocation[None])[0])

    def fits(self, allocations: Ints) -> npt.NDArray[np.bool_]:
        """Of each row of allocations, whether no capacity is exceeded and all pins hold."""
        within = np.ones(len(allocations), np.bool_)
        for node, room in enumerate(self.room.tolist()):
            within &= (allocations == node) @ self.cpu <= room
        return within & self.allowed[np.arange(len(self.names)), allocations].all(axis=1)

    def named(self, allocation: Sequence[int]) -> dict[str, str]:
        """An allocation by names."""
        return {name: self.nodes[node] for name, node in zip(self.names, allocation, strict=True)}


def read_graph(value: Any) -> PlacementGraph:
    """Check a graph, as decoded from JSON.

    Raises:
        PlacementError: a field is missing, unknown or out of range, or no allocation can exist because of it.
    """
    try:
        graph = msgspec.convert(value, PlacementGraph)
    except msgspec.ValidationError as error:
        raise PlacementError(str(error)) from None
    for what, names in (("detector", [d.name for d in graph.detectors]), ("node", [n.name for n in graph.nodes])):
        if not names:
            raise PlacementError(f"{what}s: there is none")
        if double := next((name for name in names if names.count(name) > 1), None):
            raise PlacementError(f"{what}s: {double} is there twice")
    detectors, nodes = {one.name: one for one in graph.detectors}, {node.name: node for node in graph.nodes}
    _check_numbers(graph)
    for edge in graph.edges:
        if unknown := [name for name in (edge.source, edge.target) if name not in detectors]:
            raise PlacementError(f"edge {edge.source} to {edge.target}: there is no detector {unknown[0]}")
    for name, node in graph.pinned.items():
        if name not in detectors:
            raise PlacementError(f"pinned: there is no detector {name}")
        if node not in nodes:
            raise PlacementError(f"pinned: there is no node {node}")
    for name in graph.awaited:
        if name not in detectors:
            raise PlacementError(f"awaited: there is no detector {name}")
    if graph.weights.critical:
        if not sum(graph.awaited.values()):
            raise PlacementError("weights: critical: needs awaited detectors with events a second")
        _in_order(_senders(graph), tuple(graph.awaited))
    _check_loads(graph)
    return graph


def _senders(graph: PlacementGraph) -> dict[str, list[str]]:
    """Return who sends events to each detector; a subscription that carries none delays nothing."""
    senders: dict[str, list[str]] = {one.name: [] for one in graph.detectors}
    for edge in graph.edges:
        if edge.events_s > 0.0 and edge.source != edge.target and edge.source not in senders[edge.target]:
            senders[edge.target].append(edge.source)
    return senders


def _in_order(senders: Mapping[str, Sequence[str]], last: Sequence[str]) -> list[str]:
    """The detectors on the paths to ``last``, senders before receivers.

    Raises:
        PlacementError: the paths go in a circle.
    """
    needed, waiting = set[str](), list(last)
    while waiting:
        if (name := waiting.pop()) not in needed:
            needed.add(name)
            waiting += senders[name]
    sorter = TopologicalSorter({name: senders[name] for name in sorted(needed)})
    try:
        return list(sorter.static_order())
    except CycleError as error:
        raise PlacementError(
            f"weights: critical: the subscriptions go in a circle: {', '.join(error.args[1])}"
        ) from None


def _check_numbers(graph: PlacementGraph) -> None:
    """Refuse numbers that are no loads, rates or latencies."""
    count = len(graph.nodes)
    if len(graph.latency_ms) != count or any(len(row) != count for row in graph.latency_ms):
        raise PlacementError(f"latency_ms: must have {count} rows of {count} numbers, one for each node")
    numbers = [(f"detector {one.name}: cpu", one.cpu) for one in graph.detectors]
    numbers += [(f"node {node.name}: capacity", node.capacity) for node in graph.nodes]
    numbers += [(f"edge {edge.source} to {edge.target}: events_s", edge.events_s) for edge in graph.edges]
    numbers += [(f"edge {edge.source} to {edge.target}: bytes", edge.bytes) for edge in graph.edges]
    numbers += [(f"awaited: {name}", rate) for name, rate in graph.awaited.items()]
    numbers += [("latency_ms", value) for row in graph.latency_ms for value in row]
    numbers += [(f"weights: {name}", value) for name, value in msgspec.structs.asdict(graph.weights).items()]
    for what, value in numbers:
        if not 0.0 <= value < float("inf"):
            raise PlacementError(f"{what}: {value:g} must be 0 or more, and finite")


def _check_loads(graph: PlacementGraph) -> None:
    """Refuse loads for which sums alone show that no node has room."""
    capacity = {node.name: node.capacity for node in graph.nodes}
    for one in graph.detectors:
        room = capacity[graph.pinned[one.name]] if one.name in graph.pinned else max(capacity.values())
        if one.cpu > room * (1.0 + _ROUNDING):
            raise PlacementError(f"detector {one.name}: its cpu, {one.cpu:g}, is more than a node's capacity, {room:g}")
    load, room = sum(one.cpu for one in graph.detectors), sum(capacity.values())
    if load > room * (1.0 + _ROUNDING):
        raise PlacementError(f"the detectors need {load:g}, and all nodes together have {room:g}")
