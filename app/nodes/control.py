"""Control of the nodes of a running match by commands: figures, read twice for rates, and orders, with a wait."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from app.nodes.measured import GATE, SINK, Measured, awaited_of
from app.nodes.orders import Order, give_order, read_status
from app.nodes.playback import hierarchy_of
from app.nodes.status import NodesStatus
from football.errors import UserError
from replay.match_store import read_sheet_of

#: Time between two readings, and the limit of the wait for the second.
_APART_US, _PATIENCE_S = 1_000_000, 4.0

#: Limit of the wait until an order is carried out; a detector moves within a second of the match.
_ORDER_S = 60.0

_POLL_S = 0.1


class NodesControlError(UserError):
    """The match has no nodes, does not run, or refused the order; the message has the reason."""


def two_readings(store: Path) -> tuple[NodesStatus, NodesStatus]:
    """Return the figures of a match twice, a second apart; the same twice if it does not run.

    Raises:
        NodesControlError: the match never ran over several nodes.
    """
    first = second = _known(store)
    until_s = time.monotonic() + _PATIENCE_S
    while time.monotonic() < until_s and second.wall_us - first.wall_us < _APART_US:
        time.sleep(_POLL_S)
        second = _known(store)
    return first, second


def measured_live(store: Path, seconds: float) -> Measured:
    """Measure a running match.

    Raises:
        NodesControlError: the match never ran over several nodes, or does not run.
    """
    first = second = _known(store)
    until_s = time.monotonic() + seconds + _PATIENCE_S
    while time.monotonic() < until_s and second.wall_us - first.wall_us < seconds * 1e6:
        time.sleep(_POLL_S)
        second = _known(store)
    passed_s = (second.now_us - first.now_us) / 1e6
    if passed_s <= 0.0:
        raise NodesControlError(f"{store}: the match does not run")
    before, after = (_sums(status) for status in (first, second))
    events_s = {pair: max(0, n - before[0].get(pair, 0)) / passed_s for pair, n in after[0].items()}
    steps_s = {name: max(0, n - before[1].get(name, 0)) / passed_s for name, n in after[1].items()}
    where = {part: node for part, node in second.where().items() if ":" not in part} | {GATE: 0, SINK: 0}
    events_s = {pair: rate for pair, rate in events_s.items() if set(pair) <= set(where)}
    latency_ms = [[0.0] * second.count for _ in range(second.count)]
    for status in second.nodes:
        for link in status.links:
            latency_ms[link.node][status.node] = (link.latency_us or 0) / 1e3
    awaited = awaited_of(hierarchy_of(read_sheet_of(store)), events_s)
    return Measured(where, steps_s, events_s, latency_ms, awaited, second.cordoned)


def _sums(status: NodesStatus) -> tuple[dict[tuple[str, str], int], dict[str, int]]:
    """Updates by sender and receiver, and steps by detector; both go with a detector that moves."""
    edges: dict[tuple[str, str], int] = {}
    steps: dict[str, int] = {}
    for node in status.nodes:
        for edge in node.edges:
            pair = edge.sender, edge.receiver
            edges[pair] = max(edges.get(pair, 0), edge.updates)
        for name, number in node.steps.items():
            steps[name] = max(steps.get(name, 0), number)
    return edges, steps


def carry_out(store: Path, order: Order, is_done: Callable[[NodesStatus], bool]) -> None:
    """Give an order to a running match and wait until it is carried out.

    Raises:
        NodesControlError: the match has no nodes, refuses the order, or does not carry it out in time.
    """
    known = _known(store)
    if not 0 <= order.node < known.count:
        raise NodesControlError(f"there is no node {order.node}; they are 0 to {known.count - 1}")
    if order.part and order.part.partition(":")[0] not in known.detectors:
        raise NodesControlError(f"there is no detector {order.part.partition(':')[0]}")
    if two_readings(store)[1].wall_us == known.wall_us:
        raise NodesControlError(f"{store}: the match does not run")
    line = give_order(store, order)
    until_s = time.monotonic() + _ORDER_S
    while time.monotonic() < until_s:
        status = _known(store)
        for text in status.refused:
            number, _, reason = text.removeprefix("line ").partition(": ")
            if number == str(line):
                raise NodesControlError(reason)
        if status.orders >= line and is_done(status):
            return
        time.sleep(_POLL_S)
    raise NodesControlError(f"{store}: the order is not carried out yet; `touchline nodes show` shows the nodes")


def nodes_lines(first: NodesStatus, second: NodesStatus) -> list[str]:
    """Return figures as text.

    Args:
        first, second: two readings; rates are those between them.
    """
    seconds = (second.wall_us - first.wall_us) / 1e6
    text = [] if seconds else ["the match does not run; its last figures:"]
    before = {status.node: status for status in first.nodes}
    for status in second.nodes:
        old = before.get(status.node, status)
        cordoned = ", cordoned off" if status.node in second.cordoned else ""
        memory = f"{status.memory_bytes / 1e6:.0f} MB"
        detectors = sum(not part.startswith("@") for part in status.parts)
        busy = f", busy {(status.busy_us - old.busy_us) / seconds / 1e4:.0f} %" if seconds else ""
        text.append(
            f"node {status.node}: {detectors} detectors{busy}, {status.health.held} inputs held, {memory}{cordoned}"
        )
        links = {link.node: link for link in old.links}
        for link in status.links:
            was = links.get(link.node, link)
            rates = ""
            if seconds:
                updates_s = (link.updates - was.updates) / seconds
                rates = f"{updates_s:.0f} events/s, {(link.bytes - was.bytes) / seconds / 1e3:.1f} kB/s, "
            latency = "" if link.latency_us is None else f", {link.latency_us / 1e3:.1f} ms away"
            text.append(f"  to node {link.node}: {rates}{link.bytes / 1e6:.1f} MB in all{latency}")
    return text + [f"refused: {reason}" for reason in second.refused]


def _known(store: Path) -> NodesStatus:
    if (status := read_status(store)) is None:
        raise NodesControlError(f"{store}: no match runs over nodes here: `touchline live --nodes 2` begins one")
    return status
