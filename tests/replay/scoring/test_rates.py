"""Rates against published figures: counted over the time that was played, outside only beyond chance."""

from __future__ import annotations

import pytest

from football.truth_kinds import KINDS
from replay.scoring.rates import LeagueFigure, league_figures, league_rates, played_seconds, rate_of, rate_rows
from replay.scoring.truth import Mark

GOALS = LeagueFigure("goals", ("goal.scored",), (2.0, 4.0), "made up")
ARRIVE = LeagueFigure("arrive", ("pass.complete",), (0.75, 0.85), "made up", of=("pass.attempt",))


def marks(kind: str, count: int, variant: str = "") -> list[Mark]:
    return [Mark(n * 1_000_000, kind, variant) for n in range(count)]


def test_every_published_figure_counts_kinds_that_exist_and_has_a_source() -> None:
    figures = league_figures()
    assert len({figure.name for figure in figures}) == len(figures) >= 15
    for figure in figures:
        assert {*figure.kinds, *figure.of} <= set(KINDS), figure.name
        assert 0.0 <= figure.range[0] < figure.range[1]
        assert len(figure.source) > 15


@pytest.mark.parametrize(
    ("count", "seconds", "verdict"),
    [(3, 5400, "ok"), (12, 5400, "high"), (0, 5400, "ok"), (0, 54_000, "low"), (3, 300, "high"), (1, 300, "ok")],
)
def test_a_number_is_outside_beyond_chance_only(count: int, seconds: float, verdict: str) -> None:
    rate = rate_of(GOALS, marks("goal.scored", count), seconds)
    assert rate.verdict == verdict
    assert rate.value == pytest.approx(count * 5400 / seconds)
    assert rate.low <= rate.value <= rate.high


@pytest.mark.parametrize(("complete", "verdict"), [(80, "ok"), (50, "low"), (99, "high")])
def test_a_share_is_of_its_kinds(complete: int, verdict: str) -> None:
    events = marks("pass.attempt", 100) + marks("pass.complete", complete)
    assert rate_of(ARRIVE, events, 600.0).verdict == verdict
    assert rate_of(ARRIVE, marks("pass.complete", 3), 600.0).value is None


def test_variants_restrict_a_count() -> None:
    long = LeagueFigure("long", ("pass.len",), (0.05, 0.1), "made up", ("long",), ("pass.len",))
    events = marks("pass.len", 9, "short") + marks("pass.len", 1, "long")
    assert rate_of(long, events, 60.0).value == 0.1


def test_half_time_is_not_played() -> None:
    events = [Mark(2_700_000_000, "period.end", "1"), Mark(3_600_000_000, "period.start", "2")]
    assert played_seconds(events, (0, 6_300_000_000)) == 5400.0
    assert played_seconds([*events, Mark(3_599_000_000, "period.end", "1")], (0, 6_300_000_000)) == 5400.0
    assert played_seconds([], (0, 60_000_000)) == 60.0


def test_truth_counts_where_it_covers_the_kinds() -> None:
    rates = league_rates(
        marks("goal.scored", 3), marks("goal.scored", 2), ("goal.scored", "goal.own"), (0, 5_400_000_000)
    )
    goals = next(rate for rate in rates if rate.published.name == "goals")
    assert (goals.found.value, goals.true and goals.true.value) == (3.0, 2.0)
    assert next(rate for rate in rates if rate.published.name == "passes").true is None


def test_rows_show_found_and_true_and_mark_what_no_league_has() -> None:
    span_us = (0, 5_400_000_000)
    rates = league_rates(marks("shot.attempt", 90), marks("shot.attempt", 25), {"shot.attempt"}, span_us)
    rows = rate_rows(rates)
    assert rows[0] == ("a match of 90 minutes", "found", "true", "published")
    assert ("shots", "90 ! high", "25", "20 to 30") in rows
    assert next(row for row in rows if row[0] == "corners")[2] == "-", "the truth does not cover them"
