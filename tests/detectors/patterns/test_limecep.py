"""The profile limecep: the paper's example, its result manager, its drops; and a generator in its manner."""

from __future__ import annotations

from typing import Any

import pytest

from detectors.patterns.language import parse
from detectors.patterns.limecep import LimeMatcher, LimeSettings
from detectors.patterns.syntax import PatternError
from tests.detectors.patterns.cases import event, words
from tests.detectors.patterns.test_vectors import ABC, ABPC, APBPC, ARRIVAL, IN_ORDER, answer, live, scattered, uniform


def played(text: str, stream: str, strategy: Any, **settings: Any) -> tuple[list[tuple[str, int, str]], LimeMatcher]:
    """The log (event, diff, match) and the matcher."""
    matcher, log = LimeMatcher([words(text)], strategy, LimeSettings(**settings)), []
    for name in stream.split():
        log += [(name, c.diff, " ".join(e.id for e in c.match)) for c in matcher.push(event(name))]
    log += [("end", c.diff, " ".join(e.id for e in c.match)) for c in matcher.finish()]
    return log, matcher


def ended(matcher: LimeMatcher) -> set[str]:
    return {" ".join(e.id for e in match) for _, match in matcher.matches()}


@pytest.mark.parametrize("stream", [IN_ORDER, ARRIVAL], ids=["in order", "arrival"])
@pytest.mark.parametrize(
    ("text", "strategy", "count"), [(ABC, "stnm", 8), (ABPC, "stnm", 8), (ABPC, "stam", 10), (APBPC, "stam", 6)]
)
def test_the_mini_stream_has_the_published_matches(text: str, strategy: str, count: int, stream: str):
    _, matcher = played(text, stream, strategy)
    assert ended(matcher) == live(text, stream, strategy)
    assert len(ended(matcher)) == count
    assert matcher.dropped == []


def test_the_change_log_of_the_example():
    log, _ = played(ABPC, ARRIVAL, "stnm")
    assert [entry for entry in log if entry[0] == "b8"] == [("b8", 1, f"a{n} b8 c10") for n in (3, 4, 5, 6, 7)]
    assert log[-2:] == [("b12", -1, "a9 b11 b14 b16 c19"), ("b12", 1, "a9 b11 b12 b14 b16 c19")]
    assert ("c19", -1, "a15 b16 c20") in log


def test_without_correction_nothing_is_withdrawn():
    log, matcher = played(ABPC, ARRIVAL, "stnm", correction=False)
    assert all(diff > 0 for _, diff, _ in log)
    assert ended(matcher) > live(ABPC, ARRIVAL, "stnm")


def test_a_late_event_invalidates_the_match_that_took_a_later_one():
    log, _ = played(ABC, "a9 b12 c19 b11", "stnm")
    assert log[-2:] == [("b11", -1, "a9 b12 c19"), ("b11", 1, "a9 b11 c19")]


def test_only_ends_and_late_events_are_evaluated(monkeypatch: pytest.MonkeyPatch):
    from detectors.patterns.maximal import MaximalSearch

    ends: list[str] = []
    inner = MaximalSearch.ending_with
    monkeypatch.setattr(MaximalSearch, "ending_with", lambda self, end: (ends.append(end.id), inner(self, end))[1])
    played(ABPC, "a1 b2 c3 a4 b5 c6 a20 b21 c22", "stnm")
    assert ends == ["c3", "c6", "c22"]
    played(ABPC, "a1 c6 c20 b2", "stnm")
    assert ends[3:] == ["c6", "c20", "c6"], "the end within the potential window of b2, and no other"


def test_an_extremely_late_event_is_dropped_with_score_and_threshold():
    stream = "a1 a3 a2 b100 b102 b101 b104 b103 c105 b5 c106"
    _, matcher = played(ABPC.replace("W10", "W9"), stream, "stnm", factor=1.2)
    assert [(drop.event.id, drop.score > drop.threshold) for drop in matcher.dropped] == [("b5", True)]
    assert matcher.statistics()[0]["b"].out_of_order == 3
    assert played(ABPC, "a1 b2 c5 b4 c8", "stnm", factor=0.5)[1].dropped[0].event.id == "b4", "experiment 3: recall 0"


def test_late_events_wait_for_the_slack_together():
    stream = "a1 b2 b5 c9 b3 b4 a12 a13 b14"
    at_once, _ = played(ABPC, stream, "stnm")
    waited, matcher = played(ABPC, stream, "stnm", slack_share=0.4)
    assert [name for name, _, _ in at_once] == ["c9", "b3", "b3", "b4", "b4"]
    assert [name for name, _, _ in waited] == ["c9", "a13", "a13"]
    assert ended(matcher) == {"a1 b2 b3 b4 b5 c9"}


def test_copies_and_events_of_one_type_and_time_are_one():
    matcher = LimeMatcher([words(ABC)])
    for one in (event("a1"), event("a1"), event("a2", 1), event("b3"), event("c4")):
        matcher.push(one)
    assert matcher.duplicates == 2
    assert ended(matcher) == {"a1 b3 c4"}


@pytest.mark.parametrize("strategy", ["stnm", "stam"])
def test_in_order_it_is_the_exact_matcher(strategy: str):
    events = uniform(400, seed=21)
    matcher = LimeMatcher([words("a x, b+ y, c z W12")], strategy)  # type: ignore[arg-type]
    for one in events:
        matcher.push(one)
    expected = answer("PATTERN SEQ(a x, b+ y, c z) WITHIN 12 ms", strategy, events)
    assert {tuple(e.id for e in match) for _, match in matcher.matches()} == expected


def test_what_it_misses_is_what_it_has_dropped():
    """A generous threshold drops nothing, and then the disordered stream ends as the ordered one."""
    events = uniform(300, seed=22)
    arrivals = scattered(events, 0.7, seed=23)
    expected = answer("PATTERN SEQ(a x, b+ y, c z) WITHIN 12 ms", "stam", events)
    found = {}
    for factor in (1.0, 100.0):
        matcher = LimeMatcher([words("a x, b+ y, c z W12")], "stam", LimeSettings(factor=factor))
        for one in arrivals:
            matcher.push(one)
        found[factor] = len(matcher.dropped), {tuple(e.id for e in match) for _, match in matcher.matches()}
    assert found[100.0] == (0, expected)
    assert found[1.0][0] > 0
    assert found[1.0][1] != expected


@pytest.mark.parametrize(
    "text",
    [
        "SEQ(a x, b+ y) WITHIN 9 ms", "OR(a x, b y) WITHIN 9 ms", "SEQ(a x, b y) WITHIN 9 ms PER v",
        "SEQ(a x, b y) WITHIN 2 passes", "SEQ(a x, b y) WITHIN 9 ms STRATEGY strict",
        "SEQ(a x, b y, NOT c) WITHIN 9 ms",
    ],
)  # fmt: skip
def test_what_the_paper_has_no_meaning_for_is_refused(text: str):
    with pytest.raises(PatternError):
        LimeMatcher([parse(f"PATTERN {text}")])
    with pytest.raises(PatternError, match="knows no withdrawal"):
        LimeMatcher([words(ABC)]).push(event("a1"), -1)
