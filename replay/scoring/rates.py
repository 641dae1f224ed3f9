"""Rates of events compared with published figures of league matches.

A rate that no league shows is wrong, whatever a truth says: detector and truth may share a definition that nobody
else has. ``league_figures.toml`` holds the ranges with their sources. A short match can differ by chance; a rate counts
as outside only where the range is outside a 95 % interval of the counts (Poisson; for shares Wilson).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Protocol

import msgspec
import numpy as np
from scipy.stats import chi2

from football.untrusted import read_toml

_FILE = Path(__file__).parent / "league_figures.toml"
_MATCH_S = 5400.0
_TAIL = 0.025


class LeagueFigure(msgspec.Struct, frozen=True):
    """A published figure.

    Attributes:
        name: of the figure.
        kinds: of the events that count.
        range: of a match of 90 minutes, both teams; of a share if there is ``of``.
        source: who published it.
        variants: that count; all if there are none.
        of: kinds that the share is of.
    """

    name: str
    kinds: tuple[str, ...]
    range: tuple[float, float]
    source: str
    variants: tuple[str, ...] = ()
    of: tuple[str, ...] = ()


class _File(msgspec.Struct):
    figure: list[LeagueFigure]


class Rate(msgspec.Struct, frozen=True):
    """A figure of a match.

    Attributes:
        value: per 90 minutes, or a share; None: there is nothing to take a share of.
        low, high: interval of the value by chance.
        verdict: ``low``, ``high`` or ``ok`` against the published range; empty without a value.
    """

    value: float | None
    low: float = 0.0
    high: float = 0.0
    verdict: str = ""


class LeagueRate(msgspec.Struct, frozen=True):
    """A published figure with that of the detections, and that of the truth if it covers the kinds."""

    published: LeagueFigure
    found: Rate
    true: Rate | None = None


class Counted(Protocol):
    """An event that can be counted: a record, or a mark."""

    @property
    def kind(self) -> str:
        """Name of its type."""

    @property
    def variant(self) -> str:
        """Value within the kind."""

    @property
    def ts_us(self) -> int:
        """Event time."""


@cache
def league_figures() -> tuple[LeagueFigure, ...]:
    """Return the published figures."""
    return tuple(msgspec.convert(read_toml(_FILE), _File).figure)


def league_rates(
    found: Sequence[Counted], true: Sequence[Counted], kinds: Collection[str], span_us: tuple[int, int]
) -> tuple[LeagueRate, ...]:
    """Return all published figures with those of a match.

    Args:
        found, true: detections and truths.
        kinds: that the truth covers.
        span_us: first and last instant that was played.
    """
    seconds = played_seconds(found, span_us)
    return tuple(
        LeagueRate(
            figure,
            rate_of(figure, found, seconds),
            rate_of(figure, true, seconds) if {*figure.kinds, *figure.of} <= set(kinds) else None,
        )
        for figure in league_figures()
    )


def played_seconds(events: Iterable[Counted], span_us: tuple[int, int]) -> float:
    """Return the length of a span without its breaks, each from the end of a period to the start of the next."""
    total_us = span_us[1] - span_us[0]
    ended_us: int | None = None
    for event in sorted(events, key=lambda event: event.ts_us):
        if event.kind == "period.end" and ended_us is None:
            ended_us = event.ts_us
        elif event.kind == "period.start" and ended_us is not None:
            total_us -= event.ts_us - ended_us
            ended_us = None
    return max(total_us / 1e6, 1.0)


def rate_of(figure: LeagueFigure, events: Sequence[Counted], seconds: float) -> Rate:
    """Return a figure of some events over a length of time."""
    count = sum(e.kind in figure.kinds and (not figure.variants or e.variant in figure.variants) for e in events)
    if figure.of:
        whole = sum(event.kind in figure.of for event in events)
        if not whole:
            return Rate(None)
        value, (low, high) = count / whole, wilson(count, whole)
    else:
        matches = seconds / _MATCH_S
        value = count / matches
        low = float(chi2.ppf(_TAIL, 2 * count)) / 2.0 / matches if count else 0.0
        high = float(chi2.ppf(1.0 - _TAIL, 2 * count + 2)) / 2.0 / matches
    verdict = "high" if low > figure.range[1] else "low" if high < figure.range[0] else "ok"
    return Rate(round(value, 4), round(low, 4), round(high, 4), verdict)


def rate_rows(rates: Iterable[LeagueRate]) -> list[tuple[str, str, str, str]]:
    """Return a head, and for each figure its name, the match's found and true one, and the published range.

    ``!`` marks a figure outside, beyond what chance explains.
    """
    rows = [("a match of 90 minutes", "found", "true", "published")]
    for rate in rates:
        low, high = rate.published.range
        rows.append((rate.published.name, _shown(rate.found), _shown(rate.true), f"{low:g} to {high:g}"))
    return rows


def _shown(rate: Rate | None) -> str:
    if rate is None or rate.value is None:
        return "-"
    figure = f"{rate.value:,.0f}" if rate.value >= 1_000 else f"{rate.value:.3g}"
    return figure + ("" if rate.verdict == "ok" else f" ! {rate.verdict}")


def wilson(count: int, whole: int) -> tuple[float, float]:
    """Return the 95 % interval of a share (Wilson 1927): of ``count`` in ``whole``, which is above 0."""
    z = 1.96
    middle = (count + z * z / 2.0) / (whole + z * z)
    half = z / (whole + z * z) * float(np.sqrt(count * (whole - count) / whole + z * z / 4.0))
    return middle - half, middle + half
