"""Metrics of matches for Prometheus, read from the monitors at each request."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from prometheus_client import CollectorRegistry, Metric, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

from app.operations.match_monitor import MatchMonitor
from app.operations.node_metrics import node_metrics
from football.input_quality import InputQuality
from football.update_stream import Health
from replay.quality.findings import is_wrong

#: Exported bounds of a histogram: from 0.64 ms to 10.5 s, each twice the one before it.
_BOUNDS_US = frozenset(640 << doubling for doubling in range(15))

#: Help text of each counter of a stage's health.
_COUNTED = {
    "positions": "Positions received and readable.",
    "packets": "Packets received and readable.",
    "late": "Inputs of ordering units that arrived after the whole slack K, and were repaired.",
    "lost": "Inputs that were not taken in, such as those after the allowed lateness.",
    "duplicates": "Packets received more than once, with the same content.",
    "differing_copies": "Packets not taken in because a copy with another content counts.",
    "quarantined": "Records in quarantine.",
    "retractions": "Updates that withdrew an event.",
}

#: Name, help text and value of each figure of the quality of the input.
_INPUT: Sequence[tuple[str, str, Callable[[InputQuality], float]]] = (
    ("input_ball_ratio", "Share of instants with a usable position of a ball.", lambda q: q.ball_share),
    ("input_ball_outlier_ratio", "Share of impossible steps of the ball.", lambda q: q.ball_outliers),
    ("input_ball_still_ratio", "Share of the ball's steps without any change.", lambda q: q.ball_still),
    ("input_ball_height_ratio", "Share of the ball's positions that have a height.", lambda q: q.ball_height_share),
    (
        "input_ball_noise_metres",
        "Noise of the positions of the ball, a standard deviation.",
        lambda q: q.ball_noise_m,
    ),
    ("input_body_noise_metres", "The same of players or limbs.", lambda q: q.body_noise_m),
    (
        "input_identity_jumps",
        "Steps of players that are impossible and longer than three metres.",
        lambda q: q.identity_jumps,
    ),
    ("input_frozen_seconds", "Seconds in which no player moved.", lambda q: q.frozen_s),
    ("input_gap_seconds", "Seconds in which nothing was sent.", lambda q: q.gap_s),
    ("input_refused_records", "Records that were refused.", lambda q: q.refused),
)

Bounds = tuple[list[tuple[int, int]], int, int]


class MatchCollector(Collector):
    """Metrics of matches.

    Args:
        monitors: of the running matches; may grow.
        folder: of the match store, or of the run; the free space of its disk is a metric.
    """

    def __init__(self, monitors: Sequence[MatchMonitor], folder: Path) -> None:
        self._monitors, self._folder = monitors, folder

    def collect(self) -> Iterator[Metric]:
        """Yields all metric families. A thread of the server calls this for each request."""
        yield from self._flow()
        yield from self._lag()
        yield from self._units()
        yield from self._hold()
        yield from self._input()
        yield from self._batches()
        known = ((monitor.match, monitor.nodes()) for monitor in self._monitors)
        yield from node_metrics((match, status) for match, status in known if status is not None)
        disk = GaugeMetricFamily("touchline_store_free_bytes", "Free space on the disk of the match store.")
        with suppress(OSError):  # /health reports it
            disk.add_metric([], shutil.disk_usage(self._folder).free)
        yield disk

    def _flow(self) -> Iterator[Metric]:
        for name, text in _COUNTED.items():
            yield self._counter(name, text, lambda monitor, name=name: monitor.counters()[name])
        updates = CounterMetricFamily("touchline_updates", "Updates applied in this run.", labels=["match", "diff"])
        for monitor in self._monitors:
            updates.add_metric([monitor.match, "assert"], monitor.asserted)
            updates.add_metric([monitor.match, "withdraw"], monitor.withdrawn)
        yield updates
        yield self._counter("restarts", "Restarts of the engine's stage.", lambda monitor: monitor.restarts)
        cameras = GaugeMetricFamily(
            "touchline_camera_online", "1 if a camera's head answers.", labels=["match", "camera"]
        )
        for monitor in self._monitors:
            for name, problem in monitor.camera_problems().items():
                cameras.add_metric([monitor.match, name], int(not problem))
        yield cameras
        care = GaugeMetricFamily(
            "touchline_camera_care",
            "1 for the state of a camera's care for failures, with the fault that it has seen; `following` is none.",
            labels=["match", "camera", "state", "fault"],
        )
        for monitor in self._monitors:
            for name, (state, fault) in monitor.camera_cares().items():
                care.add_metric([monitor.match, name, state, fault], 1)
        yield care
        steering = GaugeMetricFamily(
            "touchline_camera_steering",
            "Figures of a camera's steering.",
            labels=["match", "camera", "figure"],
        )
        for monitor in self._monitors:
            for name, figures in monitor.camera_figures().items():
                for figure, value in figures.items():
                    if isinstance(value, float):
                        steering.add_metric([monitor.match, name, figure], value)
        yield steering
        yield self._gauge("epoch", "Epoch of the engine's stage.", lambda monitor: monitor.feed.epoch())
        yield self._gauge("ended", "1 once the match is over.", lambda monitor: int(monitor.feed.ended()))
        yield self._gauge("live", "1 if healthy, see /health.", lambda monitor: int(not monitor.problems()))

    def _lag(self) -> Iterator[Metric]:
        yield self._gauge(
            "source_lag_seconds", "Wall time since the newest processed block was due.", MatchMonitor.behind_s
        )
        yield self._gauge(
            "source_lag_records", "Records of the topic not processed yet.", lambda monitor: monitor.records_behind
        )
        yield self._gauge(
            "publish_waiting_records",
            "Records for the topics of --publish that no broker has acknowledged yet.",
            lambda monitor: monitor.publisher.waiting() if monitor.publisher is not None else None,
        )
        feeds = GaugeMetricFamily(
            "touchline_feed",
            "Figures of a feed of the gateway, see docs/gateway.md.",
            labels=["match", "feed", "figure"],
        )
        for monitor in self._monitors:
            for feed, figures in monitor.feed_figures.items():
                for figure, number in figures.items():
                    feeds.add_metric([monitor.match, feed, figure], number)
        yield feeds
        yield self._gauge("frontier_lag_seconds", "Newest arrival time less the watermark.", _frontier_lag_s)
        yield self._gauge("speed_ratio", "Stream seconds per wall second, over the last ten.", MatchMonitor.speed)
        latency = HistogramMetricFamily(
            "touchline_latency_seconds",
            "Wall time from a block's arrival at the source to the hub (total), and its parts.",
            labels=["match", "stage"],
        )
        for monitor in self._monitors:
            for stage, bounds in monitor.feed.latency_bounds().items():
                _add_histogram(latency, [monitor.match, stage], bounds)
        yield latency

    def _units(self) -> Iterator[Metric]:
        yield self._gauge("buffered_inputs", "Inputs that wait in ordering units.", _of_health(lambda h: h.buffered))
        yield self._gauge("held_inputs", "Inputs that ordering units retain for repair.", _of_health(lambda h: h.held))
        yield self._gauge("busy_ratio", "Share of its time that the engine works.", _of_health(lambda h: h.busy))
        by_detector: Iterable[tuple[type, str, str, Callable[[Health], Mapping[str, float]]]] = (
            (GaugeMetricFamily, "slack_seconds", "Greatest slack K of a detector's ordering units.", _slack_s),
            (GaugeMetricFamily, "alpha_ratio", "Share of the slack that a detector's units wait.", lambda h: h.alpha),
            (
                GaugeMetricFamily,
                "unit_lag_seconds",
                "Age of the oldest input that waits in a detector's units.",
                _lag_s,
            ),
            (GaugeMetricFamily, "work_ratio", "A detector's share of all detectors' work.", lambda h: h.work_shares),
            (CounterMetricFamily, "detector_faults", "Times that a detector broke its contract.", lambda h: h.faults),
            (GaugeMetricFamily, "detector_failed", "1 for a detector that raised an error: it emits no more.", _failed),
        )
        for family, name, text, values in by_detector:
            metric = family(f"touchline_{name}", text, labels=["match", "detector"])
            for monitor in self._monitors:
                health = monitor.feed.health()
                for detector, value in values(health).items() if health is not None else ():
                    metric.add_metric([monitor.match, detector], value)
            yield metric

    def _hold(self) -> Iterator[Metric]:
        hold = GaugeMetricFamily(
            "touchline_frontier_hold_seconds",
            "What holds the watermark back, and for how long a source that does so has sent nothing.",
            labels=["match", "reason", "source"],
        )
        for monitor in self._monitors:
            health = monitor.feed.health()
            if health is not None and (found := health.hold) is not None and not monitor.feed.ended():
                hold.add_metric([monitor.match, found.reason, found.source], found.since_us / 1e6)
        yield hold

    def _input(self) -> Iterator[Metric]:
        yield self._gauge(
            "input_wrong", "1 if the verdict on the input is wrong.", lambda m: int(is_wrong(m.findings()))
        )
        for name, text, value in _INPUT:
            yield self._gauge(name, text, _of_quality(value))

    def _batches(self) -> Iterator[Metric]:
        yield self._counter("commits", "Windows committed in this run.", lambda monitor: monitor.commits.count)
        yield self._counter("commit_failures", "Commits that failed.", lambda monitor: monitor.commits.failed)
        yield self._counter("committed_rows", "Rows committed in this run.", lambda monitor: monitor.commits.rows)
        yield self._gauge(
            "state_bytes", "Bytes of the newest engine state.", lambda monitor: monitor.commits.state_bytes
        )
        took = HistogramMetricFamily("touchline_commit_seconds", "Time that a commit took.", labels=["match"])
        for monitor in self._monitors:
            _add_histogram(took, [monitor.match], monitor.commit_costs())
        yield took

    def _counter(self, name: str, text: str, value: Callable[[MatchMonitor], float]) -> CounterMetricFamily:
        family = CounterMetricFamily(f"touchline_{name}", text, labels=["match"])
        for monitor in self._monitors:
            family.add_metric([monitor.match], value(monitor))
        return family

    def _gauge(self, name: str, text: str, value: Callable[[MatchMonitor], float | None]) -> GaugeMetricFamily:
        """Return a gauge; a match whose value is unknown is absent, not zero."""
        family = GaugeMetricFamily(f"touchline_{name}", text, labels=["match"])
        for monitor in self._monitors:
            if (known := value(monitor)) is not None:
                family.add_metric([monitor.match], known)
        return family


def registry_of(monitors: Sequence[MatchMonitor], folder: Path) -> CollectorRegistry:
    """Return the metrics of matches and of this process (memory, processor time, open files)."""
    registry = CollectorRegistry()
    registry.register(MatchCollector(monitors, folder))
    ProcessCollector(registry=registry)
    return registry


def _of_health(value: Callable[[Health], float]) -> Callable[[MatchMonitor], float | None]:
    def of(monitor: MatchMonitor) -> float | None:
        health = monitor.feed.health()
        return None if health is None else value(health)

    return of


def _of_quality(value: Callable[[InputQuality], float]) -> Callable[[MatchMonitor], float | None]:
    def of(monitor: MatchMonitor) -> float | None:
        quality = monitor.quality()
        return value(quality) if quality.positions else None

    return of


def _frontier_lag_s(monitor: MatchMonitor) -> float | None:
    frontier_us = monitor.feed.frontier_us()
    known = -(2**61) < frontier_us < 2**61
    return max(0, monitor.feed.now_us() - frontier_us) / 1e6 if known else None


def _slack_s(health: Health) -> Mapping[str, float]:
    return {detector: k_us / 1e6 for detector, k_us in health.slack_us.items()}


def _lag_s(health: Health) -> Mapping[str, float]:
    return {detector: health.lag_us.get(detector, 0) / 1e6 for detector in health.slack_us}


def _failed(health: Health) -> Mapping[str, float]:
    return dict.fromkeys(health.failed, 1.0)


def _add_histogram(family: HistogramMetricFamily, labels: list[str], histogram: Bounds) -> None:
    bounds, count, total_us = histogram
    buckets = [(str(bound_us / 1e6), float(below)) for bound_us, below in bounds if bound_us in _BOUNDS_US]
    family.add_metric(labels, [*buckets, ("+Inf", float(count))], total_us / 1e6)
