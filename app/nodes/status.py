"""Figures of the nodes of a live match: of each node, of its links, and of what detectors send to one another."""

from __future__ import annotations

import resource
from collections.abc import Iterable, Mapping
from dataclasses import replace

import msgspec

from middleware.isolation import Fault
from middleware.metrics import EngineHealth, engine_health
from middleware.nodes.links import LinkCounts
from middleware.nodes.node import Node
from middleware.nodes.part import Part
from middleware.ordering.unit import OrderingUnit


class LinkStatus(msgspec.Struct, frozen=True):
    """Figures of one direction of a link since the node began.

    Attributes:
        node: that it leads to.
        updates, messages, bytes: sent.
        latency_us, jitter_us, offset_us: of the other direction, as this end measures it; see
            :class:`middleware.nodes.links.LinkCounts`.
    """

    node: int
    updates: int
    messages: int
    bytes: int
    latency_us: int | None
    jitter_us: int
    offset_us: int | None


class EdgeStatus(msgspec.Struct, frozen=True):
    """Updates that a detector has sent to another since the match began; gate and sink are ``@gate`` and ``@sink``."""

    sender: str
    receiver: str
    updates: int


class NodeStatus(msgspec.Struct, frozen=True):
    """Figures of one node.

    Attributes:
        node: its number.
        busy_us: wall time for which it worked since it began.
        memory_bytes: greatest memory of its process so far.
        parts: that run here, by name; a key that is placed by itself as ``DETECTOR:KEY``.
        steps: of each detector that runs here, since the match began.
        links: to the other nodes.
        edges: of what runs here.
        health: of the units that run here; times, duplicates and losses are those of node 0.
    """

    node: int
    busy_us: int
    memory_bytes: int
    parts: tuple[str, ...]
    steps: dict[str, int]
    links: tuple[LinkStatus, ...]
    edges: tuple[EdgeStatus, ...]
    health: EngineHealth


class NodesStatus(msgspec.Struct, frozen=True):
    """Figures of all nodes of a match, as node 0 writes them.

    Attributes:
        wall_us: when.
        now_us: arrival time that node 0 has got to.
        count: number of nodes.
        cordoned: nodes that no detector moves to.
        detectors: names of all.
        orders: lines of the file of orders that node 0 has taken.
        refused: the newest orders that it refused, with the reason.
        nodes: that have reported, by number.
    """

    wall_us: int
    now_us: int
    count: int
    cordoned: tuple[int, ...]
    detectors: tuple[str, ...]
    orders: int
    refused: tuple[str, ...]
    nodes: tuple[NodeStatus, ...]

    def where(self) -> dict[str, int]:
        """Node of each part."""
        return {part: status.node for status in self.nodes for part in status.parts}


def status_of(node: Node, links: Mapping[int, LinkCounts], busy_us: int) -> NodeStatus:
    """Return the figures of a node."""
    units: dict[str, dict[str, OrderingUnit]] = {}
    edges: dict[tuple[str, str], int] = {}
    for part in node.parts.values():
        for output in part.outputs.values():
            for reader in output.readers:
                edges[part.name[0], reader[0]] = edges.get((part.name[0], reader[0]), 0) + output.seq
        if isinstance(part, Part):
            units.setdefault(part.name[0], {}).update(part.units)
    steps = {
        name: sum(unit.counters.stepped + unit.counters.redone for unit in by_key.values())
        for name, by_key in units.items()
    }
    health = engine_health(list(units), list(units.values()), node.clk_us, 0, 0.0, 0, 0, 0, node.faults.by_detector)
    return NodeStatus(
        node.me,
        busy_us,
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        tuple(sorted(":".join(filter(None, name)) for name, part in node.parts.items() if part.active)),
        steps,
        tuple(_link_status(other, counts) for other, counts in links.items()),
        tuple(EdgeStatus(*pair, updates) for pair, updates in edges.items()),
        health,
    )


def health_of_all(own: EngineHealth, others: Iterable[EngineHealth]) -> EngineHealth:
    """Return the health of all nodes.

    Args:
        own: of node 0, which knows times, duplicates and losses.
        others: as the other nodes reported it last.
    """
    slack, backset, alpha = dict(own.slack_us), dict(own.backset_us), dict(own.alpha)
    failed, lag_us = dict(own.failed), dict(own.lag_us)
    faults: dict[str, dict[str, Fault]] = {name: dict(found) for name, found in own.faults.items()}
    for health in others:
        pairs = (slack, health.slack_us), (backset, health.backset_us), (alpha, health.alpha), (lag_us, health.lag_us)
        for mine, theirs in pairs:
            for name, value in theirs.items():
                mine[name] = max(mine.get(name, value), value)
        failed |= health.failed
        for name, found in health.faults.items():
            for what, fault in found.items():
                known = faults.setdefault(name, {}).get(what)
                faults[name][what] = fault if known is None else Fault(known.count + fault.count, fault.last)
        own = replace(
            own,
            waiting=own.waiting + health.waiting,
            held=own.held + health.held,
            late=own.late + health.late,
            redone=own.redone + health.redone,
            retracted=own.retracted + health.retracted,
        )
    return replace(
        own, slack_us=slack, backset_us=backset, alpha=alpha, failed=failed, faults=faults, lag_us=lag_us
    )  # fmt: skip


def _link_status(other: int, counts: LinkCounts) -> LinkStatus:
    return LinkStatus(
        other, counts.updates, counts.messages, counts.bytes, counts.latency_us, counts.jitter_us, counts.offset_us
    )
