"""Published and measured vectors: the paper's example stream, its change log, and streams that LimeCEP gets wrong."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

import pytest

from detectors.patterns.language import parse
from detectors.patterns.matcher import Matcher
from detectors.patterns.search import TooManyMatchesError
from detectors.patterns.syntax import PatternEvent
from tests.detectors.patterns.cases import event, words
from tests.detectors.patterns.definition import matches

IN_ORDER = "b1 b2 a3 a4 a5 a6 a7 b8 a9 c10 b11 b12 a13 b14 a15 b16 a17 a18 c19 c20"
ARRIVAL = "b1 b2 b11 a3 c10 a4 a6 c20 a5 a18 a7 b8 a17 a9 a13 b14 b16 a15 c19 b12"
ABC, ABPC, APBPC = "a x, b y, c z W10", "a x, b+ y, c z W10", "a+ x, b+ y, c z W10"

STNM = [
    *(f"{start} b8 c10" for start in ("a3", "a4", "a5", "a6", "a7")),
    "a9 b11 b12 b14 b16 c19", "a13 b14 b16 c19", "a15 b16 c19",
]  # fmt: skip


def log_of(text: str, stream: str, strategy: Any) -> list[tuple[str, list[str], list[str]]]:
    """For each event that changes something: its name, the matches withdrawn, the matches asserted."""
    matcher, found = Matcher([words(text)], strategy), []
    for name in stream.split():
        changes = matcher.push(event(name))
        by = {d: sorted(" ".join(e.id for e in c.match) for c in changes if c.diff == d) for d in (-1, 1)}
        if changes:
            found.append((name, by[-1], by[1]))
    return found


def live(text: str, stream: str, strategy: Any) -> set[str]:
    """The live set after a stream."""
    matcher = Matcher([words(text)], strategy)
    for name in stream.split():
        matcher.push(event(name))
    return {" ".join(e.id for e in match) for _, match in matcher.matches()}


@pytest.mark.parametrize("stream", [IN_ORDER, ARRIVAL], ids=["in order", "arrival"])
@pytest.mark.parametrize(
    ("text", "counts"), [(ABC, (8, 15, 15, 8)), (ABPC, (8, 10, 28, 12)), (APBPC, (None, 6, 61, 26))]
)
def test_the_mini_stream_has_the_published_counts(stream: str, text: str, counts: tuple[int | None, ...]):
    for strategy, count in zip(("stnm", "stam", "stam-all", "stnm-all"), counts, strict=True):
        if count is not None:
            assert len(live(text, stream, strategy)) == count, strategy


@pytest.mark.parametrize("stream", [IN_ORDER, ARRIVAL], ids=["in order", "arrival"])
def test_the_mini_stream_has_the_published_matches(stream: str):
    assert live(ABPC, stream, "stnm") == set(STNM)
    assert live(ABPC, stream, "stam") == {*STNM, "a13 b14 b16 c20", "a15 b16 c20"}


@pytest.mark.parametrize("strategy", ["stnm", "stam"])
def test_the_change_log_of_the_paper(strategy: str):
    changes = {name: (withdrawn, new) for name, withdrawn, new in log_of(ABPC, ARRIVAL, strategy)}
    assert changes["b8"] == ([], STNM[:5])
    assert changes["a15"][1][-1] == "a15 b16 c20"
    ended_later = ["a13 b14 b16 c20", "a15 b16 c20"] if strategy == "stnm" else []
    assert changes["c19"] == (ended_later, ["a13 b14 b16 c19", "a15 b16 c19", "a9 b11 b14 b16 c19"])
    assert changes["b12"] == (["a9 b11 b14 b16 c19"], ["a9 b11 b12 b14 b16 c19"])
    assert "c10" not in changes


@pytest.mark.parametrize(
    ("text", "stream", "strategy", "expected"),
    [
        (ABC, "a9 b12 c19 b11", "stnm", ["a9 b11 c19"]),
        (ABPC, "a9 b12 b14 b16 c19 b11", "stnm", ["a9 b11 b12 b14 b16 c19"]),
        (APBPC, "A1 A2 B3 A4 B5 B6 C7".lower(), "stam", ["a1 a2 b3 b5 b6 c7", "a1 a2 a4 b5 b6 c7"]),
        (ABC, "a1 c3 b2", "stnm", ["a1 b2 c3"]),
        (ABPC, "a1 b2 c5 b4", "stnm", ["a1 b2 b4 c5"]),
        (ABPC, "a1 b2 a3 a4 b5 c6", "stam", ["a1 b2 b5 c6", "a3 b5 c6", "a4 b5 c6"]),
        (ABPC, "a9 b12 c19", "stnm", ["a9 b12 c19"]),
        (ABPC, "a9 b12 c20", "stnm", []),
        (ABPC, "a13 b14 c19 c20", "stnm", ["a13 b14 c19"]),
        (ABPC, "a1 b2 c3 b4 c5", "stnm", ["a1 b2 c3"]),
        (ABPC, "a1 b2 c3 b4 c5", "stnm-all", ["a1 b2 c3", "a1 b2 b4 c5"]),
        ("a x, b y, a z W10", "a1 b2 a3 b4 a5", "stnm", ["a1 b2 a3", "a3 b4 a5"]),
    ],
)
def test_streams_that_are_easily_wrong(text: str, stream: str, strategy: str, expected: list[str]):
    assert live(text, stream, strategy) == {*expected}


def test_the_late_event_retracts_and_asserts():
    assert log_of(ABC, "a9 b12 c19 b11", "stnm")[-1] == ("b11", ["a9 b12 c19"], ["a9 b11 c19"])


@pytest.mark.parametrize("strategy", ["stnm", "stam", "stnm-all", "stam-all", "strict"])
def test_copies_of_ends_change_nothing(strategy: str):
    assert log_of(ABPC, f"{IN_ORDER} c19 c20", strategy) == log_of(ABPC, IN_ORDER, strategy)


def test_two_events_of_one_instant_are_both_there():
    events = [event("a1"), event("b2", 5), event("b3", 5), event("c9")]
    for clause, expected in (("", {("a1", "b2", "c9")}), ("TIES", {("a1", "b2", "b3", "c9")})):
        query = parse(f"PATTERN SEQ(a x, b+ y, c z) WITHIN 10 ms {clause}")
        matcher = Matcher([query])
        for one in reversed(events):
            matcher.push(one)
        assert {tuple(e.id for e in match) for _, match in matcher.matches()} == expected


def uniform(count: int, seed: int, kinds: str = "abc") -> list[PatternEvent]:
    """Events of uniform kinds, one a millisecond."""
    chance = random.Random(seed)
    return [event(f"{chance.choice(kinds)}{number}") for number in range(count)]


def scattered(events: list[PatternEvent], share: float, seed: int) -> list[PatternEvent]:
    """A share of the events moved to a random earlier place."""
    chance, order = random.Random(seed), list(events)
    for place, one in enumerate(events):
        if chance.random() < share:
            order.remove(one)
            order.insert(chance.randrange(place + 1), one)
    return order


def answer(text: str, strategy: Any, events: Iterable[PatternEvent]) -> set[tuple[str, ...]]:
    """Ids of the live set."""
    matcher = Matcher([parse(text)], strategy)
    for one in events:
        matcher.push(one)
    return {tuple(e.id for e in match) for _, match in matcher.matches()}


@pytest.mark.parametrize("strategy", ["stnm", "stam"])
@pytest.mark.parametrize("share", [0.2, 0.7])
def test_disorder_of_any_kind_ends_with_the_same_matches(strategy: str, share: float):
    events = uniform(600, seed=3)
    text = "PATTERN SEQ(a x, b+ y, c z) WITHIN 30 ms"
    assert answer(text, strategy, scattered(events, share, seed=4)) == answer(text, strategy, events)


def test_a_late_event_searches_only_what_it_concerns(monkeypatch: pytest.MonkeyPatch):
    """At W = 1,000 events and 70 % disorder, the searches grow with the events, not with the window."""
    from detectors.patterns.search import Search

    searched = []
    inner = Search.next_simple
    monkeypatch.setattr(Search, "next_simple", lambda self, first: (searched.append(first.id), inner(self, first))[1])
    events = scattered(uniform(3_000, seed=5), 0.7, seed=6)
    answer("PATTERN SEQ(a x, b+ y, c z) WITHIN 1 s", "stnm", events)
    assert len(searched) < 12 * len(events), len(searched)


def test_too_many_matches_are_refused_by_their_number():
    matcher = Matcher([parse("PATTERN SEQ(a x, b+ y, c z) WITHIN 1 s")], "stam-all", most=1_000)
    for one in [event("a0"), *(event(f"b{n}") for n in range(1, 31))]:
        matcher.push(one)
    with pytest.raises(TooManyMatchesError, match=r"about 1,073,741,823 matches end with the event c40"):
        matcher.push(event("c40"))


def test_purged_events_are_forgotten_and_the_rest_goes_on():
    matcher, whole = (Matcher([words(ABPC)]) for _ in range(2))
    events = uniform(500, seed=8)
    changes, expected = [], []
    for one in events:
        changes += matcher.push(one)
        expected += whole.push(one)
        matcher.purge(one.ts_us - 5_000)
    assert changes == expected
    assert matcher.held < 50 < whole.held


def test_patterns_share_the_lists_of_their_steps():
    matcher = Matcher([words(ABC), words(ABPC), words(APBPC)])
    matcher.push(event("a1"))
    (partition,) = matcher._partitions.values()
    assert len(partition.lists) == 3


@pytest.mark.slow
@pytest.mark.parametrize("within", [10, 100])
def test_the_engine_agrees_with_the_definition_on_long_streams(within: int):
    """Skip till next match on 400 events of three kinds, by the definition's own greedy run."""
    events = uniform(400, seed=9)
    for structure in ("a x, b y, c z", "a x, b+ y, c z"):
        query = words(f"{structure} W{within}")
        expected = matches(query, "stnm", events)
        assert answer(f"PATTERN SEQ({structure}) WITHIN {within} ms", "stnm", scattered(events, 0.7, 1)) == expected
