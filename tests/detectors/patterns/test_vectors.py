"""Published and measured vectors: the paper's example stream, its change log, and streams that LimeCEP gets wrong."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

import pytest

from detectors.patterns.language import parse
from detectors.patterns.matcher import Matcher
from detectors.patterns.search import TooManyMatchesError
from detectors.patterns.syntax import PatternError, PatternEvent
from football.pitch import Pitch
from tests.detectors.patterns.cases import event, run, words
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


def test_an_end_that_comes_back_meets_what_came_late_in_between():
    a1, a2, b3, c5 = map(event, ("a1", "a2", "b3", "c5"))
    arrivals = [(a1, 1), (b3, 1), (c5, 1), (c5, -1), (a2, 1), (c5, 1)]
    assert run(words("a x, b y, c z W10"), "stnm", arrivals) == {("a1", "b3", "c5"), ("a2", "b3", "c5")}


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


@pytest.mark.parametrize("strategy", ["stam", "stam-all"])
@pytest.mark.parametrize("structure", ["a x, b y, c z", "a x, b+ y, c z", "a+ x, b+ y, c z", "a x, b+ y, d+ w, c z"])
def test_the_number_of_matches_is_known_before_they_are_searched(structure: str, strategy: Any):
    """A bound of one less than the number refuses, and names the number."""
    events = [*uniform(9, seed=2, kinds="abd"), event("c14")]
    query = words(f"{structure} W30")
    found = len(matches(query, strategy, events))
    assert found > 1
    matcher = Matcher([query], strategy, most=found - 1)
    for one in events[:-1]:
        matcher.push(one)
    with pytest.raises(TooManyMatchesError, match=f"about {found} matches end with the event c14"):
        matcher.push(events[-1])


@pytest.mark.parametrize("stream", ["{a} c99", "b0 {a} c99", "{a} d98 c99"])
def test_repetitions_that_come_to_no_match_are_not_searched(stream: str):
    """Forty repetitions have a trillion picks, none of which goes on."""
    repeated = " ".join(f"a{ts}" for ts in range(1, 41))
    assert live("a+ x, b y, c z W100", stream.format(a=repeated), "stam-all") == set()


def test_matches_that_hold_too_many_events_are_refused_by_their_number():
    query = parse("PATTERN SEQ(a+ x, b+ y, c z) WITHIN 1 s")
    with pytest.raises(TooManyMatchesError, match=r"matches stand and hold more than 5,000 events, the bound"):
        run(query, "stam", [(one, 1) for one in uniform(900, seed=6)], most=50)


def test_an_end_without_the_rarest_step_is_not_searched(monkeypatch: pytest.MonkeyPatch):
    from detectors.patterns.maximal import MaximalSearch

    ends: list[str] = []
    inner = MaximalSearch.ending_with
    monkeypatch.setattr(MaximalSearch, "ending_with", lambda self, end: (ends.append(end.id), inner(self, end))[1])
    events = [event(f"{'b' if n in (5, 2_500) else 'ac'[n % 2]}{n}") for n in range(3_000)]
    found = answer("PATTERN SEQ(a x, b y, c z) WITHIN 9 ms", "stam", events)
    near = [number for b in (5, 2_500) for number in range(max(b - 9, 0), b + 10)]
    triples = [
        (first, b, last)
        for b in (5, 2_500)
        for first in near
        for last in near
        if first < b < last <= first + 9 and events[first].kind == "a" and events[last].kind == "c"
    ]
    assert found == {tuple(events[number].id for number in triple) for triple in triples}
    assert len(ends) < 12


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
    assert len(partition.uses) == 3


@pytest.mark.parametrize("strategy", ["stnm", "stam", "stnm-all", "stam-all"])
@pytest.mark.parametrize("structure", [ABC, ABPC, APBPC])
def test_patterns_that_differ_in_their_window_are_searched_once_and_each_has_its_own_matches(
    structure: str, strategy: Any
):
    arrivals = [(one, 1) for one in scattered(uniform(120, seed=11), 0.3, seed=12)]
    arrivals += [(one, -1) for one, _ in arrivals[::9]]
    queries = [words(structure.replace("W10", f"W{within}")) for within in (7, 3, 12, 3)]
    matcher, live = Matcher(queries, strategy), [set[tuple[str, ...]]() for _ in queries]
    nests = strategy in ("stnm", "stnm-all") or structure != APBPC
    assert len(matcher.families) == (1 if nests else len(queries))
    for one, diff in arrivals:
        for change in matcher.push(one, diff):
            ids = tuple(each.id for each in change.match)
            (live[change.pattern].add if change.diff > 0 else live[change.pattern].remove)(ids)
    for number, query in enumerate(queries):
        assert live[number] == run(query, strategy, arrivals), number
        assert live[number] == {tuple(e.id for e in m) for n, m in matcher.matches() if n == number}


def test_steps_with_the_same_conditions_share_a_list():
    texts = ("SEQ(a x, b y) WHERE y.v > 1", "SEQ(c y, b x) WHERE x.v > 1", "SEQ(a x, b y) WHERE y.v > 2")
    matcher = Matcher([parse(f"PATTERN {text} WITHIN 9 ms") for text in texts])
    for name in ("a1", "c2", "b3"):
        matcher.push(event(name, v=2))
    (partition,) = matcher._partitions.values()
    assert sorted(len(use.events) for use in partition.uses.values()) == [0, 1, 1, 1]
    assert sorted(number for number, _ in matcher.matches()) == [0, 1]


@pytest.mark.slow
@pytest.mark.parametrize("within", [10, 100])
def test_the_engine_agrees_with_the_definition_on_long_streams(within: int):
    """Skip till next match on 400 events of three kinds, by the definition's own greedy run."""
    events = uniform(400, seed=9)
    for structure in ("a x, b y, c z", "a x, b+ y, c z"):
        query = words(f"{structure} W{within}")
        expected = matches(query, "stnm", events)
        assert answer(f"PATTERN SEQ({structure}) WITHIN {within} ms", "stnm", scattered(events, 0.7, 1)) == expected


def test_zones_and_areas_are_those_of_the_pitch():
    events = [
        PatternEvent(at * 1_000_000, ("a",), f"a{at}", "a", {"x_m": x_m, "y_m": y_m})
        for at, (x_m, y_m) in enumerate([(-52.0, 33.0), (-45.0, 0.0), (52.0, -33.0), (35.0, 0.0), (60.0, 0.0)])
    ]
    nowhere = PatternEvent(9_000_000, ("a",), "a9", "a", {})

    def found(where: str, pitch: Pitch) -> list[str]:
        matcher = Matcher([parse(f"PATTERN SEQ(a x) WHERE {where} WITHIN 1 s")._replace(pitch=pitch)])
        return [change.match[0].id for event in (*events, nowhere) for change in matcher.push(event)]

    assert found("zone(x) = 1", Pitch()) == ["a0"]
    assert found("zone(x) = 18", Pitch()) == ["a2"]
    assert found("zone(x) >= 1", Pitch()) == ["a0", "a1", "a2", "a3"]
    assert found('in_area(x, "left penalty area")', Pitch()) == ["a1"]
    assert found('in_area(x, "right penalty area")', Pitch()) == []
    assert found('in_area(x, "right penalty area")', Pitch(half_length_m=50.0)) == ["a3"]
    assert found('NOT in_area(x, "field")', Pitch()) == ["a4"]


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("zone(x, y) = 1", "zone takes a binding. Write zone"),
        ("in_area(x)", "in_area takes a binding and the name of an area"),
        ('in_area(x, "left penalty aera")', "no area 'left penalty aera'. There are left penalty area"),
    ],
)
def test_areas_that_there_are_not_are_refused(where: str, message: str):
    with pytest.raises(PatternError, match=message.replace("(", r"\(")):
        Matcher([parse(f"PATTERN SEQ(a x, b y) WHERE {where} WITHIN 1 s")])
