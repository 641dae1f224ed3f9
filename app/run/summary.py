"""The summary of a run: as a table on the terminal, or as JSON.

Detection latency is measured on the stream's own clock (:mod:`app.hub.figures`); wall-clock latency is measured from
the source to the hub, stage by stage.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console
from rich.table import Table

from app.hub.feed import MatchFeed
from app.run.in_words import MatchFigures, match_figures, rows_in_words
from football.input_quality import InputFinding, InputQuality
from replay.quality.findings import is_wrong

#: Exit code of a run that played, and whose verdict is that the input is wrong.
WRONG_INPUT = 3
#: Exit code of a run that played, and in which a detector raised an error and emitted nothing more.
FAILED_DETECTOR = 4


def summarize(
    feed: MatchFeed,
    *,
    store: str,
    ended: bool,
    played_us: int,
    took_s: float,
    quarantined: Mapping[str, int],
    cameras: Mapping[str, Mapping[str, Any]] | None = None,
    quality: InputQuality,
    findings: Sequence[InputFinding],
) -> dict[str, Any]:
    """The figures of a run, and the verdict on its input.

    Args:
        feed: the hub's feed of the match.
        store: folder of the match.
        ended: whether the stream's end was reached.
        played_us: length of the arrival time that this run played.
        took_s: wall time of that, without preparation.
        quarantined: number of refused records by reason.
        cameras: figures of each camera by name; None without cameras.
        quality: of the input.
        findings: about the input.
    """
    health = feed.health()
    return {
        "store": store,
        "ended": ended,
        "match": match_figures(Path(store)),
        **feed.figures(),
        "late": health.late if health else 0,
        "lost": health.lost if health else 0,
        "duplicates": health.duplicates if health else 0,
        "differing_copies": health.differing_copies if health else 0,
        "failed": dict(health.failed) if health else {},
        "faults": dict(health.faults) if health else {},
        "fault_texts": dict(health.fault_texts) if health else {},
        "quarantined": dict(quarantined),
        "positions": health.positions if health else 0,
        "stream_s": round(played_us / 1e6, 3),
        "wall_s": round(took_s, 3),
        "times_real_time": round(played_us / 1e6 / took_s, 2) if took_s > 0 else 0.0,
        "lane_latency_ms": feed.latency_summary(),
        "cameras": {name: dict(figures) for name, figures in cameras.items()} if cameras is not None else None,
        "input": msgspec.structs.asdict(quality),
        "verdict": "wrong" if is_wrong(findings) else "right",
        "findings": [{**msgspec.structs.asdict(finding), "text": finding.text} for finding in findings],
    }


def code_of(summary: Mapping[str, Any]) -> int:
    """Exit code of a run with this summary: ``WRONG_INPUT``, ``FAILED_DETECTOR``, or 0 if neither holds."""
    if summary.get("verdict") == "wrong":
        return WRONG_INPUT
    return FAILED_DETECTOR if summary.get("failed") else 0


def show(summary: Mapping[str, Any], console: Console, *, verbose: bool = False) -> None:
    """Prints a summary as a table: the match in words, then the run.

    Args:
        summary: of :func:`summarize`.
        console: to print on.
        verbose: True to show kinds of events, ordering and latencies, too.
    """
    table = Table(title=f"Match store: {summary['store']}", title_justify="left", show_header=False)
    table.add_column(style="bold")
    table.add_column()
    for name, text in rows_in_words(summary["match"]):
        table.add_row(name, text)
    table.add_row("State", "played to the end" if summary["ended"] else "interrupted; start again to go on")
    throughput = f"{summary['stream_s']:.1f} s in {summary['wall_s']:.1f} s"
    for finding in summary["findings"]:
        table.add_row("Input is wrong" if finding["severity"] == "wrong" else "Input", finding["text"])
    table.add_row("Throughput", f"{throughput} = {summary['times_real_time']:.1f} x real time")
    if not verbose:
        table.add_row("Events", f"{sum(summary['events'].values()):,} of {len(summary['events'])} kinds")
    refused = ", ".join(f"{count} x {reason}" for reason, count in summary["quarantined"].items())
    if verbose or refused:
        table.add_row("Quarantined", refused or "none")
    for name, error in summary["failed"].items():
        table.add_row("Failed detector", f"{name}: {error}")
    for name, count in summary["faults"].items():
        times = "once" if count == 1 else f"{count} times, last"
        table.add_row("Broken contract", f"{name}: {times}: {summary['fault_texts'].get(name, '')}")
    if verbose:
        for row in _details(summary):
            table.add_row(*row)
    console.print(table)


def _details(summary: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "Positions", f"{summary['positions']:,}"
    ordering = ("retractions", "late", "lost", "duplicates", "differing_copies")
    yield "Ordering", ", ".join(f"{summary[name]} {name.replace('_', ' ')}" for name in ordering)
    yield "Event states", ", ".join(f"{count} {state}" for state, count in summary["lifecycle"].items())
    yield "Events", "\n".join(f"{count:6d}  {kind}" for kind, count in summary["events"].items())
    yield "Detection latency", _percentiles(summary["detection_latency_ms"])
    yield "Arrival to hub", _percentiles(summary["lane_latency_ms"])
    for camera, figures in (summary["cameras"] or {}).items():
        yield f"Camera {camera}", "\n".join(f"{name}: {_figure(value)}" for name, value in figures.items())


def show_matches(summary: Mapping[str, Any], console: Console) -> None:
    """Prints the summary of a run of many matches as a table."""
    table = Table(title=f"Matches: {summary['folder']}", title_justify="left")
    table.add_column("match")
    table.add_column("score")
    for name in ("played s", "events", "taken back", "late", "p50 ms", "p95 ms", "p99 ms"):
        table.add_column(name, justify="right")
    table.add_column("state")
    for name, one in summary["matches"].items():
        total = one["lane_latency_ms"]["total"]
        latency = [f"{total.get(p, math.nan):.1f}" if total["count"] else "" for p in ("p50", "p95", "p99")]
        counts = (f"{one['stream_s']:.1f}", str(sum(one["events"].values())), str(one["retractions"]), str(one["late"]))
        state = "played to the end" if one["ended"] else "interrupted; start again to go on"
        state += "".join(f"; {finding['text']}" for finding in one["findings"] if finding["severity"] == "wrong")
        score = _score(one["match"])
        table.add_row(name, score, *counts, *latency, summary["broken"].get(name) or state)
    for name in summary["broken"].keys() - summary["matches"].keys():
        table.add_row(name, *[""] * 8, f"excluded: {summary['broken'][name]}")
    console.print(table)


def _score(figures: MatchFigures) -> str:
    home, away = figures.home, figures.away
    return f"{home.name} {home.goals} - {away.goals} {away.name}"


def _percentiles(by_name: Mapping[str, Mapping[str, float]]) -> str:
    lines = [
        f"{name:7s} p50 {f['p50']:.1f}  p95 {f['p95']:.1f}  p99 {f['p99']:.1f} ms  ({f['count']})"
        for name, f in by_name.items()
        if f["count"]
    ]
    return "\n".join(lines) or "nothing measured"


def _figure(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
