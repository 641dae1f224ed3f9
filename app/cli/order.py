"""``touchline order``: sorts a data set by slack policies, and prints a report or a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, cast, get_args

import numpy as np
import typer

from app.cli.options import Given
from app.cli.output import print_json
from app.order.measure import Ordering, order_blocks, order_rows
from detectors.arrivals import arrival
from football.errors import TrackingError, UserError
from football.packets import RAW_KINDS
from middleware.events import Arrival
from middleware.ordering.slack.estimators import Profile
from middleware.ordering.slack.settings import Method, SlackSettings
from middleware.sources.delay_bound import LATE_SHARE, ReleaseTarget
from middleware.sources.progress import ProgressSettings
from replay.capture import Capture
from replay.formats.ooo_dataset import is_ooo_file, read_rows

app = typer.Typer(add_completion=False)

METHODS: tuple[str, ...] = get_args(Method)

_HEAD = (
    "method", "order-late", "timeout-late", "mean", "median", "p95", "p99", "max", "B mean", "B median", "B max",
    "buffered",
)  # fmt: skip

#: Former name of the policy ``progress``. A frontier is something else where the word comes from (timely dataflow).
_FORMER = "frontier"


class OrderError(UserError, ValueError):
    """A policy that does not exist, or a setting out of range; the message names the option."""


@app.command()
def order(
    dataset: Annotated[
        Path, typer.Argument(help="A CSV file of the out-of-order data sets (.csv, .csv.gz), or a capture's folder.")
    ],
    method: Annotated[
        str,
        Given(help="fixed, kslack, adaptive, sba, bett, betta, bettwa, bettd, flink, progress, target, or all."),
    ] = "progress",
    profile: Annotated[
        str, Given(help="Reading of paper 001: literal, or paper (what its tables come from).")
    ] = "literal",
    alpha: Annotated[float, Given(help="Share of the slack to wait, 0 to 1.")] = 1.0,
    k: Annotated[int | None, Given(help="Slack in ms of fixed, sba and flink; first slack of the others.")] = None,
    scale: Annotated[float, Given("--lambda", help="Margin of adaptive, in standard deviations.")] = 0.5,
    patience: Annotated[float, Given(help="Seconds that progress waits for a silent source.")] = 7.0,
    discovery: Annotated[
        float, Given("--newcomers", help="Seconds without a new source until progress expects no more.")
    ] = 6.0,
    sources: Annotated[int | None, Given(help="Number of the sources, if known; for progress and target.")] = None,
    late: Annotated[float, Given(help="Share of inputs that may be late, of target.")] = LATE_SHARE,
    wait: Annotated[int | None, Given(help="Longest wait in ms after the event time, of target.")] = None,
    as_json: Annotated[bool, Given("--json", help="Print a JSON object for each method on stdout.")] = False,
) -> None:
    """Sorts an out-of-order stream by a slack policy, and reports the resulting order and times.

    Examples:
        touchline order demo/capture --method all
        touchline order D-1.csv.gz --method kslack --json
    """
    given = {
        "method": method, "profile": profile, "alpha": alpha, "k": k, "lambda": scale, "patience": patience,
        "newcomers": discovery, "sources": sources, "late": late, "wait": wait,
    }  # fmt: skip
    run_order(dataset, given, as_json=as_json)


def run_order(dataset: Path, given: dict[str, Any], *, as_json: bool) -> list[dict[str, Any]]:
    """Run a policy over a data set, or all policies, and print the figures.

    Args:
        dataset: file or folder.
        given: method, profile, alpha, k (ms), scale, patience (s), newcomers (s), sources, late, wait (ms).
        as_json: one JSON object a line instead of text.

    Raises:
        OrderError: a setting is wrong.
        TrackingError, CaptureError: the data set cannot be read.
    """
    methods = METHODS if given["method"] == "all" else (_choice("--method", given["method"], (*METHODS, "all")),)
    profile = _choice("--profile", given["profile"], get_args(Profile))
    if not 0.0 <= given["alpha"] <= 1.0:
        raise OrderError(f"--alpha {given['alpha']}: must lie in 0 to 1")
    for name in ("k", "lambda", "patience", "newcomers", "sources", "wait"):
        if given[name] is not None and given[name] < 0:
            raise OrderError(f"--{name} {given[name]}: must not be negative")
    patience_us, discovery_us = (round(given[name] * 1e6) for name in ("patience", "newcomers"))
    progress = ProgressSettings(patience_us, discovery_us, given["sources"])
    k_us = None if given["k"] is None else given["k"] * 1000
    if not 0.0 < given["late"] < 1.0:
        raise OrderError(f"--late {given['late']}: must lie between 0 and 1")
    target = ReleaseTarget(given["late"], None if given["wait"] is None else given["wait"] * 1000)
    stream = _Stream(dataset)
    reports: list[dict[str, Any]] = []
    for method in methods:
        slack = SlackSettings(cast(Method, method), k_us, given["lambda"], cast(Profile, profile), target=target)
        gaps = replace(progress, late_share=target.late_share) if method == "target" else progress
        result = stream.run(slack, alpha=given["alpha"], progress=gaps)
        reports.append(report(result, stream.name, method, profile))
        if as_json:
            print_json(reports[-1])
        elif len(methods) == 1:
            print("\n".join(_page(reports[0], result)))
    if not as_json and len(methods) > 1:
        print("\n".join(_table(reports)))
    return reports


class _Stream:
    """A data set, read once for any number of policies."""

    def __init__(self, path: Path) -> None:
        self.name = path.name.removesuffix(".gz").removesuffix(".csv")
        self._rows = read_rows(path) if is_ooo_file(path) else None
        if self._rows is None:
            if not path.exists():
                raise TrackingError(f"{path}: no such file or folder")
            self._capture = Capture.open(path)

    def run(self, slack: SlackSettings, **more: Any) -> Ordering:
        """Run one policy over the whole data set."""
        if self._rows is not None:
            return order_rows(self._rows, slack, **more)
        return order_blocks(self._blocks(), slack, raw_kinds=RAW_KINDS, **more)

    def _blocks(self) -> Iterator[tuple[int, list[Arrival]]]:
        for block in self._capture.blocks(self._capture.begin_us, self._capture.end_us):
            yield block.arrival_us, [arrival(packet) for packet in block.packets]


def report(result: Ordering, dataset: str, method: str, profile: str) -> dict[str, Any]:
    """Figures of a run, in milliseconds; quartiles by linear interpolation, sd of the sample."""
    latency, buffer = result.latency_us / 1000, np.array(result.k_us) / 1000
    waiting = np.array(result.waiting)
    least, q1, median, q3, greatest = np.percentile(buffer, [0, 25, 50, 75, 100]) if len(buffer) else [0.0] * 5
    middle, p95, p99, longest = np.percentile(latency, [50, 95, 99, 100]) if len(latency) else [0.0] * 4
    return {
        "dataset": dataset,
        "method": method,
        "profile": profile,
        "events": result.events,
        "out_of_order": result.out_of_order,
        "order_late": result.order_late,
        "timeout_late": result.timeout_late,
        "latency_ms": _rounded(mean=_mean(latency), median=middle, p95=p95, p99=p99, max=longest),
        "buffer_ms": _rounded(
            min=least, q1=q1, median=median, mean=_mean(buffer), q3=q3, max=greatest,
            sd=np.std(buffer, ddof=1) if len(buffer) > 1 else 0.0,
        ),
        "buffered_events": _rounded(mean=_mean(waiting), max=waiting.max(initial=0)),
    }  # fmt: skip


def _mean(values: np.ndarray[Any, Any]) -> float:
    return float(np.mean(values)) if len(values) else 0.0


def _rounded(**figures: float) -> dict[str, float]:
    return {name: round(float(value), 3) for name, value in figures.items()}


def _page(figures: dict[str, Any], result: Ordering) -> Iterator[str]:
    latency, buffer, buffered = figures["latency_ms"], figures["buffer_ms"], figures["buffered_events"]
    share = 100 * figures["out_of_order"] / max(1, figures["events"])
    yield f"{figures['dataset']}: {figures['events']} events, {figures['out_of_order']} out of order ({share:.1f} %)"
    if result.duplicates or result.lost:
        yield f"not taken in: {result.duplicates} doubled, {result.lost} lost"
    late = f"{figures['order_late']} left out of order, {figures['timeout_late']} timed out"
    yield f"{figures['method']} ({figures['profile']}): {late}"
    yield "latency, ms: " + ", ".join(f"{name} {value:.1f}" for name, value in latency.items())
    yield "buffer, ms:  " + ", ".join(f"{name} {value:.1f}" for name, value in buffer.items())
    yield f"buffered:    mean {buffered['mean']:.1f}, most {buffered['max']:.0f} events"


def _table(reports: list[dict[str, Any]]) -> Iterator[str]:
    first = reports[0]
    share = 100 * first["out_of_order"] / max(1, first["events"])
    yield f"{first['dataset']}: {first['events']} events, {first['out_of_order']} out of order ({share:.1f} %)"
    yield f"profile {first['profile']}; latency and buffer time B in ms, buffered: mean number of events"
    yield ""
    rows = [_HEAD, *(tuple(_cells(figures)) for figures in reports)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(_HEAD))]
    for row in rows:
        numbers = (cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
        yield "  ".join([row[0].ljust(widths[0]), *numbers])


def _cells(figures: dict[str, Any]) -> Iterator[str]:
    latency, buffer = figures["latency_ms"], figures["buffer_ms"]
    yield figures["method"]
    yield from (str(figures["order_late"]), str(figures["timeout_late"]))
    yield from (f"{latency[name]:.1f}" for name in ("mean", "median", "p95", "p99", "max"))
    yield from (f"{buffer[name]:.1f}" for name in ("mean", "median", "max"))
    yield f"{figures['buffered_events']['mean']:.1f}"


def _choice(option: str, value: str, known: Iterable[str]) -> str:
    if value == _FORMER:
        raise OrderError(f"{option} {value}: is called progress, since it waits for source progress")
    if value not in known:
        raise OrderError(f"{option} {value}: must be one of {', '.join(known)}")
    return value
