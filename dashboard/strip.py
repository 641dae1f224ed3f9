"""The health strip: the small tables at the bottom of the page, as text.

There are two latencies. *Pipeline* latency is the wall time of a block in each stage, as the feed measures it.
*Detection* latency is the arrival time at which an event was first asserted less its event time, on the stream's own
clock; this module takes it from the update log.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from dashboard.feed import InputState
from football.input_quality import InputQuality
from football.update_stream import Health, UpdateRecord

#: Kinds for which the page shows detection latency: the papers have figures for these.
WATCHED: Final = {"hit": "hit", "pass.attempt": "pass", "shot.attempt": "shot"}
#: Number of latencies retained of each of these kinds: those of the newest minutes.
KEPT: Final = 400
ROWS: Final = 5
#: A source that has sent nothing for so long is called silent; below it, it is merely the slowest.
SILENT_US: Final = 500_000
UNIT_COLUMNS: Final = ("K ms", "alpha", "lag ms", "cost")
PERCENTILES: Final = ("p50", "p95", "p99")
_ABSENT: Final = "–"


class Table(msgspec.Struct, frozen=True):
    """A small table: each row is a label and one text per column."""

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]


class DetectionLatency:
    """Newest detection latencies of the watched kinds, microseconds. Only an event's first assertion counts."""

    def __init__(self) -> None:
        self._latencies_us: dict[str, deque[int]] = {name: deque(maxlen=KEPT) for name in WATCHED.values()}
        self._newest_us: dict[str, int] = {}

    def apply(self, updates: Iterable[UpdateRecord]) -> None:
        """Take the next updates of the log.

        An event that is asserted again was late or amended, and must not count twice. The log is nearly sorted by event
        time, so an assertion at or before the newest event of its kind is ignored.
        """
        for update in updates:
            name = WATCHED.get(update.event.kind)
            if name is None or update.diff < 0:
                continue
            if update.event.ts_us > self._newest_us.get(name, -(2**62)):
                self._newest_us[name] = update.event.ts_us
                self._latencies_us[name].append(update.emitted_us - update.event.ts_us)

    def percentiles_ms(self) -> dict[str, dict[str, float]]:
        """Return p50, p95 and p99 by name of the kind; a kind without a value is absent."""
        return {name: percentiles_ms(seen) for name, seen in self._latencies_us.items() if seen}


def percentiles_ms(values_us: Iterable[int]) -> dict[str, float]:
    """Percentiles by nearest rank.

    >>> percentiles_ms([1000, 2000, 3000])["p50"]
    2.0
    """
    ordered = sorted(values_us)
    assert ordered, "percentiles of nothing"
    return {name: ordered[max(0, math.ceil(int(name[1:]) / 100 * len(ordered)) - 1)] / 1000 for name in PERCENTILES}


def strip_tables(
    health: Health | None,
    latency: Mapping[str, Mapping[str, float]],
    detection: Mapping[str, Mapping[str, float]],
    now_us: int,
    frontier_us: int,
    state: InputState | None = None,
    withdrawn: int = 0,
    *,
    all_units: bool = True,
) -> list[Table]:
    """Return all tables of the strip, in their order on the page.

    Args:
        health: of the engine.
        latency, detection: milliseconds by stage, and by kind.
        now_us, frontier_us: arrival time, and the watermark.
        state: of the input; without it there is no "Live edge".
        withdrawn: how many events were withdrawn of the kinds that are shown when the page opens.
        all_units: every unit, and not only those with the most slack.
    """
    return [
        *([Table("Live edge", ("",), _edge_rows(state))] if state is not None else []),
        Table("Pipeline, ms", PERCENTILES, _latency_rows(latency)),
        Table("Detection, ms", PERCENTILES, _latency_rows(detection)),
        Table("Units", UNIT_COLUMNS, _unit_rows(health)[: None if all_units else ROWS]),
        *([Table("Input", ("",), _input_rows(health.quality, state))] if health and health.quality else []),
        Table("Ordering", ("",), _ordering_rows(health, now_us, frontier_us)),
        Table("Repairs and losses", ("",), _repair_rows(health, withdrawn)),
    ]


def watermark_sentence(health: Health | None) -> str:
    """Return what holds the watermark back, as a sentence; empty if it is not known."""
    if health is None or (hold := health.hold) is None:
        return ""
    source, since = hold.source, f"{hold.since_us / 1e6:.1f} s"
    limit = f"; it waits {hold.patience_us / 1e6:.1f} s at most."
    if hold.reason == "source" and hold.since_us < SILENT_US:
        return f"The watermark follows the slowest source, {source}."
    return {
        "none": "No source is waited for: the watermark stands where the input does.",
        "lateness": "The watermark trails the newest position by the allowed lateness: packets may come that late.",
        "distrust": "The watermark trails by the allowed lateness: a source numbers its packets out of order.",
        "new": "The watermark waits for sources that have sent nothing yet.",
        "source": f"The watermark waits for {source}, silent for {since}{limit}",
        "gap": f"The watermark waits for a packet of {source}, missing for {since}{limit}",
        "silent": f"The watermark waits for what {source} may still owe, silent for {since}{limit}",
    }[hold.reason]


def _latency_rows(latency: Mapping[str, Mapping[str, float]]) -> list[tuple[str, ...]]:
    rows = [
        (stage.replace("_", " "), *(_figure(values.get(name)) for name in PERCENTILES))
        for stage, values in latency.items()
    ]
    return rows[:ROWS]


def _edge_rows(state: InputState) -> list[tuple[str, ...]]:
    behind = _ABSENT if state.behind_s is None else f"{state.behind_s:,.2f} s"
    return [
        ("condition", "; ".join(state.problems) or "running"),
        ("behind", behind),
        ("records behind", _count(state.records)),
        ("speed", _ABSENT if state.speed is None else f"{state.speed:.2f} x"),
        ("engine restarts", _count(state.restarts)),
    ]


def _input_rows(quality: InputQuality, state: InputState | None) -> list[tuple[str, ...]]:
    findings = state.findings if state is not None else ()
    return [
        ("verdict", " ".join(findings) or "nothing wrong"),
        ("ball seen", f"{quality.ball_share:.1%}"),
        ("impossible steps", f"ball {quality.ball_outliers:.2%}, players {quality.identity_jumps:,}"),
        ("frozen, silent", f"{quality.frozen_s:,.0f} s, {quality.gap_s:,.0f} s"),
        ("players", f"{quality.home_players} and {quality.away_players}"),
    ]


def _unit_rows(health: Health | None) -> list[tuple[str, ...]]:
    if health is None:
        return []
    slowest: Sequence[str] = sorted(health.slack_us, key=lambda unit: (-health.slack_us[unit], unit))
    return [
        (
            unit.replace("_", " "),
            _figure(health.slack_us[unit] / 1000),
            _alpha(health.alpha.get(unit)),
            _figure(health.lag_us.get(unit, 0) / 1000),
            f"{health.work_shares.get(unit, 0):.1%}" if health.work_shares else _ABSENT,
        )
        for unit in slowest
    ]


def _ordering_rows(health: Health | None, now_us: int, frontier_us: int) -> list[tuple[str, ...]]:
    known = health is not None and frontier_us > -(2**61)
    lag = f"{max(0, now_us - frontier_us) / 1e6:,.2f} s" if known else _ABSENT
    return [
        ("watermark lag", lag),
        ("buffered inputs", _count(health and health.buffered)),
        ("held for repair", _count(health and health.held)),
        ("late", _count(health and health.late)),
        ("positions", _count(health and health.positions)),
    ]


def _repair_rows(health: Health | None, withdrawn: int) -> list[tuple[str, ...]]:
    return [
        ("retractions", _ABSENT if health is None else f"{health.retractions:,}, {withdrawn:,} of shown kinds"),
        ("duplicates", _count(health and health.duplicates)),
        ("quarantined", _count(health and health.quarantined)),
        ("lost", _lost(health)),
        ("failed detectors", _ABSENT if health is None else ", ".join(health.failed) or "none"),
    ]


def _lost(health: Health | None) -> str:
    """Count of lost packets, and of the differing copies among them if there are any."""
    differing = f", {health.differing_copies:,} differ" if health and health.differing_copies else ""
    return _count(health and health.lost) + differing


def _figure(value: float | None) -> str:
    """Format milliseconds: one digit after the point below ten, else none."""
    if value is None or not math.isfinite(value):
        return _ABSENT
    return f"{value:,.0f}" if value >= 9.95 else f"{value:.1f}"


def _alpha(value: float | None) -> str:
    return _ABSENT if value is None else f"{value:.2f}"


def _count(value: int | None) -> str:
    return _ABSENT if value is None else f"{value:,}"
