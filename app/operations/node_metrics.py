"""Metrics of the nodes of a match, from the figures that node 0 writes (:mod:`app.nodes.orders`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric

from app.nodes.status import NodesStatus


def node_metrics(matches: Iterable[tuple[str, NodesStatus]]) -> Iterator[Metric]:
    """Yield the metrics of the nodes of matches; none of a match on one node.

    Args:
        matches: name and figures of each.
    """
    node, link = ["match", "node"], ["match", "sender", "receiver"]
    busy = CounterMetricFamily("touchline_node_busy_seconds", "Wall time for which a node worked.", labels=node)
    memory = GaugeMetricFamily("touchline_node_memory_bytes", "Greatest memory of a node's process.", labels=node)
    held = GaugeMetricFamily("touchline_node_held_inputs", "Inputs that units of a node hold.", labels=node)
    parts = GaugeMetricFamily("touchline_node_detectors", "Detectors on a node, gate and sink included.", labels=node)
    steps = CounterMetricFamily("touchline_node_steps", "Steps of the detectors on a node.", labels=node)
    updates = CounterMetricFamily("touchline_node_link_updates", "Updates sent over a link.", labels=link)
    sent = CounterMetricFamily("touchline_node_link_bytes", "Bytes sent over a link.", labels=link)
    latency = GaugeMetricFamily("touchline_node_link_latency_seconds", "Least latency of a link.", labels=link)
    jitter = GaugeMetricFamily("touchline_node_link_jitter_seconds", "Variation of a link's delay.", labels=link)
    edges = CounterMetricFamily(
        "touchline_node_edge_updates", "Updates from a detector to one on another node.", labels=link
    )
    for match, status in matches:
        where = {part.partition(":")[0]: at for part, at in status.where().items()}
        for one in status.nodes:
            name = [match, str(one.node)]
            busy.add_metric(name, one.busy_us / 1e6)
            memory.add_metric(name, one.memory_bytes)
            held.add_metric(name, one.health.held)
            parts.add_metric(name, len(one.parts))
            steps.add_metric(name, sum(one.steps.values()))
            for to in one.links:
                labels = [*name, str(to.node)]
                updates.add_metric(labels, to.updates)
                sent.add_metric(labels, to.bytes)
                latency.add_metric([match, str(to.node), str(one.node)], (to.latency_us or 0) / 1e6)
                jitter.add_metric([match, str(to.node), str(one.node)], to.jitter_us / 1e6)
            for edge in one.edges:
                if where.get(edge.receiver, one.node) != one.node:
                    edges.add_metric([match, edge.sender, edge.receiver], edge.updates)
    yield from (busy, memory, held, parts, steps, updates, sent, latency, jitter, edges)
