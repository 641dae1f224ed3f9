"""The content of pairs is judged: a wrong variant, place or payload lowers a figure."""

from __future__ import annotations

import msgspec
import pytest

from football.update_stream import EventRecord
from replay.scoring.figures import KindScore, score
from replay.scoring.truth import Truth, true_marks


def event(kind: str, at_s: float, variant: str = "", x_m: float | None = 1.0, **detail: object) -> EventRecord:
    y_m = None if x_m is None else 2.0
    return EventRecord(
        f"{kind}#{at_s}", kind, variant, 6, round(at_s * 1e6), "home", "home_7", x_m, y_m, None, 1.0, (), detail
    )  # type: ignore[arg-type]


def judged(true: list[EventRecord], found: list[EventRecord]) -> KindScore:
    marks = true_marks(true)
    (figures,) = score(Truth("test", marks, frozenset(mark.kind for mark in marks)), found).kinds.values()
    return figures


def test_a_wrong_variant_counts_in_the_strict_figure_only() -> None:
    true = [event("pass.height", n, "high") for n in range(4)]
    found = [event("pass.height", n, "ground" if n == 0 else "high") for n in range(4)]
    figures = judged(true, found)
    assert figures.f1 == 1.0
    assert figures.strict_f1 == 0.75
    assert figures.variant_right == 0.75
    assert judged(true, true).strict_f1 == 1.0


def test_a_variant_that_one_side_does_not_name_is_not_wrong() -> None:
    figures = judged([event("hit", 1.0, "left_foot")], [event("hit", 1.0)])
    assert (figures.variant_right, figures.strict_f1) == (None, 1.0)


def test_places_are_compared_where_both_have_one() -> None:
    true = [event("out", 1.0, x_m=1.0), event("out", 5.0, x_m=1.0), event("out", 9.0, x_m=None)]
    found = [event("out", 1.0, x_m=1.0), event("out", 5.0, x_m=4.0), event("out", 9.0, x_m=1.0)]
    place = judged(true, found).place_m
    assert place is not None
    assert (place.pairs, place.median) == (2, 1.5)
    assert judged(true[2:], found[2:]).place_m is None


def test_a_line_has_a_place_along_one_axis() -> None:
    (found,) = [event("offside.line", 1.0, "kick", x_m=4.0)]
    line = msgspec.structs.replace(found, y_m=None)
    place = judged([event("offside.line", 1.0, "kick", x_m=2.0)], [line]).place_m
    assert place is not None
    assert place.median == 2.0


def test_a_wrong_place_or_value_counts_in_the_strict_figure() -> None:
    true = [event("pass.len", n, "short", length_m=10.0) for n in range(4)]
    found = [event("pass.len", 0, "short", x_m=9.0, length_m=10.0), event("pass.len", 1, "short", length_m=14.0)]
    found += [event("pass.len", n, "short", x_m=1.5, length_m=11.0) for n in (2, 3)]
    figures = judged(true, found)
    assert (figures.f1, figures.variant_right, figures.strict_f1) == (1.0, 1.0, 0.5)


def test_a_count_is_equal_or_wrong() -> None:
    assert judged([event("packing", 1.0, opponents=2)], [event("packing", 1.0, opponents=3)]).strict_f1 == 0.0


def test_texts_of_a_payload_are_equal_or_not() -> None:
    true = [event("duel.start", 1.0, against="away_4"), event("duel.start", 5.0, against="away_5")]
    found = [event("duel.start", 1.0, other="away_4"), event("duel.start", 5.0, other="away_4")]
    values = judged(true, found).values
    assert values["other"].right == 0.5


def test_numbers_of_a_payload_have_an_error() -> None:
    true = [event("pass.complete", n, length_m=10.0, receiver="home_8") for n in range(3)]
    found = [event("pass.complete", n, length_m=10.0 + n, receiver="home_8") for n in range(3)]
    values = judged(true, found).values
    assert values["length_m"].median == 1.0
    assert values["length_m"].p95 == pytest.approx(1.9)
    assert values["receiver"].right == 1.0


def test_an_empty_or_absent_value_is_not_compared() -> None:
    true = [event("pass.attempt", 1.0, receiver=""), event("pass.attempt", 5.0, receiver="home_8")]
    found = [event("pass.attempt", 1.0, receiver="home_8"), event("pass.attempt", 5.0)]
    assert judged(true, found).values == {}
