"""A pattern as a detector: the law of the middleware, and the definition, for any order of arrival."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from detectors.patterns.detector import PatternDetector
from detectors.patterns.language import parse
from detectors.patterns.syntax import PatternError, PatternEvent
from football.payloads import EventPayload
from middleware.consolidation import consolidate
from middleware.detector import NOTHING, Spec
from middleware.engine import Engine
from middleware.events import Arrival, Event, canonical_key
from middleware.hierarchy import Hierarchy
from middleware.oracle import published
from middleware.ordering.policy import EngineSettings, UnitSettings
from middleware.ordering.slack.settings import SlackSettings
from middleware.ordering.speculation import FixedAlpha
from tests.detectors.patterns.cases import read
from tests.detectors.patterns.definition import matches

RAW = ("a", "b", "c", "clock.tick")
TEXTS = (
    "PATTERN p = SEQ(a x, b+ y, c z) WITHIN 40 us",
    "PATTERN p = SEQ(a+ x, b+ y, c z) WHERE y.v > 1 WITHIN 40 us STRATEGY stam",
    "PATTERN p = SEQ(NOT a n, b x, NOT c m, b y) WHERE n.v = x.v AND m.v = y.v WITHIN 30 us TIES",
    "PATTERN p = SEQ(OR(a x, c y), b{1,2} q, c z) WITHIN 30 us STRATEGY stnm-all PER team",
    "PATTERN p = SEQ(a x, b+ y) WITHIN 20 us PER team",
    "PATTERN p = SEQ(a x, b y, NOT c n) WHERE n.v = x.v WITHIN 20 us STRATEGY stam",
    "PATTERN p = SEQ(NOT c m, a+ x, b+ y) WITHIN 20 us STRATEGY stam TIES",
    "PATTERN p = SEQ(a x, b* y, NOT c n) WITHIN 15 us STRATEGY stnm-all",
    "PATTERN p = SEQ(a x, b+ y, c z) WITHIN 40 us, 1 pass PER team STRATEGY stam",
    "PATTERN p = SEQ(a x, b+ y, NOT c n) WITHIN 40 us, possession PER team",
    "PATTERN p = SEQ(a x, c+ y, a z) WITHIN 40 us PER team STRATEGY strict",
    "PATTERN p = SEQ(b+ x, a y) WITHIN 20 us STRATEGY strict TIES",
    "PATTERN p = SEQ(a x, b* y, NOT c n) WITHIN 20 us STRATEGY strict",
    "PATTERN p = AND(a x, b y, c z) WHERE sum(x.v) < 3 WITHIN 30 us STRATEGY stam-all RETURN v = x.v + z.v",
)


def in_turns(first: int) -> list[Any]:
    """Every second pattern; the others are slow here, and not in the test that begins with them."""
    return [pytest.param(text, marks=pytest.mark.slow if n % 2 != first else ()) for n, text in enumerate(TEXTS)]


@st.composite
def streams(draw: st.DrawFn) -> list[tuple[int, Arrival]]:
    """(arrival time, arrival): three sources, one a kind, delayed and doubled."""
    out: list[tuple[int, Arrival]] = []
    for kind in RAW[:3]:
        steps = draw(st.lists(st.integers(1, 12), min_size=1, max_size=3))
        for seq, ts_us in enumerate(itertools.accumulate(steps)):
            team = draw(st.sampled_from(("home", "home", "away")))
            payload = EventPayload(team=team, detail={"v": draw(st.integers(1, 3))})
            event = Event(kind, ts_us, f"{kind}s", seq, payload, f"{kind}{seq}")
            for _ in range(draw(st.sampled_from((1, 1, 1, 2)))):
                out.append((ts_us + draw(st.integers(0, 80)), Arrival(event, ts_us)))
    for seq, ts_us in enumerate((*range(5, 60, 5), 200)):
        tick = Event("clock.tick", ts_us, "t", seq, None, f"t{seq}")
        out.append((ts_us + draw(st.integers(0, 80)), Arrival(tick, ts_us)))
    return sorted(out, key=lambda pair: pair[0])


@pytest.mark.parametrize("text", in_turns(0))
def test_the_law_holds_over_a_pattern(text: str) -> None:
    @settings(max_examples=25)
    @given(streams(), st.sampled_from(["full", "on-demand"]), st.sampled_from([0.0, 0.5, 1.0]))
    def check(stream: list[tuple[int, Arrival]], mode: str, alpha: float) -> None:
        note(f"{text}\n{mode} {alpha} {stream!r}")
        query = read(text)
        detector = PatternDetector(query)
        if query.strategy == "strict":
            detector.watch([Spec("raw", "1.1", 1, ("r",), ("a", "b", "c"))])
        ranks = Hierarchy(RAW, [detector])
        unit = UnitSettings(FixedAlpha(alpha), mode, SlackSettings("fixed", 15))
        engine = Engine(ranks, EngineSettings(unit, allowed_lateness_us=400))
        updates = []
        for now_us, group in itertools.groupby(stream, key=lambda pair: pair[0]):
            updates += engine.push([arrival for _, arrival in group], now_us).updates
        updates += engine.finish().updates
        standing = sorted(consolidate(updates).values(), key=lambda e: canonical_key(e, ranks.rank))
        events = {arrival.event.id: arrival.event for _, arrival in stream}
        assert standing == published(ranks, events.values())
        plain = [
            PatternEvent(
                e.ts_us, (RAW.index(e.kind), e.seq), e.id, e.kind, {"team": e.payload.team, **e.payload.detail}
            )
            for e in events.values()
            if e.kind != "clock.tick"
        ]
        assert {event.causes for event in standing} == matches(query, query.strategy or "stnm", plain)
        assert len({event.id for event in standing}) == len(standing)

    check()


def test_a_match_is_an_event_with_what_it_returns() -> None:
    detector = PatternDetector(parse(TEXTS[-1]))
    state, found = detector.initial(), ()
    for at, kind in enumerate("bac"):
        payload = EventPayload(
            team="home", player=f"h{at}", x_m=1.0, y_m=2.0, confidence=0.9 - at / 10, detail={"v": at}
        )
        state, found = detector.step(state, Event(kind, at, "s", at, payload, f"{kind}{at}"))
    (match,) = found
    assert match.kind == "pattern.p"
    assert match.id.startswith("pattern.p#b0/c2/")
    assert match.causes == ("b0", "a1", "c2")
    assert match.payload == EventPayload(
        team="home", player="h2", x_m=1.0, y_m=2.0, confidence=0.7, detail={"first_us": 0, "events": 3, "v": 3}
    )


def test_a_match_that_ends_with_not_is_known_when_its_window_is_over():
    detector = PatternDetector(parse("PATTERN p = SEQ(a x, b y, NOT c n) WITHIN 10 us"))
    state, found = detector.initial(), []
    for kind, ts_us in (("a", 1), ("b", 4), ("clock.tick", 11), ("clock.tick", 13), ("clock.tick", 20)):
        payload = EventPayload() if kind != "clock.tick" else None
        state, events = detector.step(state, Event(kind, ts_us, "s", ts_us, payload, f"{kind}{ts_us}"))
        found += events
    (match,) = found
    assert (match.ts_us, match.dated_us, match.causes) == (13, 11, ("a1", "b4"))
    assert match.payload.detail == {"first_us": 1, "events": 2, "last_us": 4, "stands_us": 11}
    assert detector.spec.inputs == ("a", "b", "c", "clock.tick")


def test_a_bound_that_the_source_cannot_show_leaves_the_pattern_out():
    detector = PatternDetector(parse("PATTERN p = SEQ(a x, b y) WITHIN possession"))
    assert detector.spec.inputs == ("a", "b", "chain.start")
    detector.watch([Spec("both", "1.1", 1, ("r",), ("a", "b"))])
    assert detector.spec.inputs == ()


class Statement(msgspec.Struct, frozen=True):
    """Holds what a raw event states: an event, known late perhaps, another version of it, or that it is void."""

    kind: str
    name: str
    dated_us: int
    value: int
    team: str
    what: str


class Corrected(msgspec.Struct, frozen=True):
    """Corrects the value of an event, as an official does."""

    value: int

    def corrected(self, version: Event) -> Event:
        payload = msgspec.structs.replace(version.payload, detail={"v": self.value})
        return msgspec.structs.replace(version, payload=payload)


class Speaker:
    """Emits what raw events say."""

    def __init__(self) -> None:
        self.spec = Spec("speaker", "1.1", 1, ("say",), ("a", "b", "c"), amends=("a", "b", "c"), annuls=("a", "b", "c"))

    def initial(self) -> None:
        return None

    def step(self, state: None, event: Event) -> tuple[None, tuple[Event, ...]]:
        stated: Any = event.payload
        if stated.what in ("official", "correction"):
            return None, NOTHING
        dated_us = min(stated.dated_us, event.ts_us)
        payload = EventPayload(team=stated.team, detail={"v": stated.value})
        annuls = stated.name if stated.what == "void" else ""
        out = Event(stated.kind, event.ts_us, stated.name, event.seq, payload, stated.name, (), annuls, dated_us)
        return None, (out,)


class Official:
    """Annuls and corrects events of others."""

    def __init__(self) -> None:
        self.spec = Spec("official", "2.1", 2, ("say",), ("word",), annuls=("a", "b", "c"))

    def initial(self) -> None:
        return None

    def step(self, state: None, event: Event) -> tuple[None, tuple[Event, ...]]:
        stated: Any = event.payload
        if stated.what not in ("official", "correction"):
            return None, NOTHING
        payload = Corrected(stated.value) if stated.what == "correction" else EventPayload()
        return None, (Event("word", event.ts_us, "w", event.seq, payload, f"w{event.seq}", (), stated.name),)


@st.composite
def statements(draw: st.DrawFn) -> list[Event]:
    """Raw events: what happens, in the end known otherwise."""
    out, ts_us = [], 0
    for seq in range(draw(st.integers(3, 12))):
        ts_us += draw(st.integers(1, 9))
        name = draw(st.sampled_from(("a0", "a1", "b0", "b1", "b2", "c0", "c1")))
        what = draw(st.sampled_from(("event", "event", "event", "void", "official", "correction")))
        dated_us = ts_us - draw(st.sampled_from((0, 0, 3, 15)))
        stated = Statement(
            name[0], name, dated_us, draw(st.integers(1, 3)), draw(st.sampled_from(("home", "away"))), what
        )
        out.append(Event("say", ts_us, "s", seq, stated))
    return out


@pytest.mark.parametrize("text", in_turns(1))
def test_matches_are_those_of_the_events_that_are_published_in_the_end(text: str) -> None:
    @settings(max_examples=40)
    @given(statements(), st.booleans())
    def check(stated: list[Event], watches: bool) -> None:
        query = read(text)
        is_strict = query.strategy == "strict"
        pattern, others = PatternDetector(query), [Speaker(), Official()]
        watches = watches or is_strict
        pattern.watch([other.spec for other in others]) if watches else None
        if not watches:
            pattern.spec = replace(pattern.spec, inputs=(*pattern.spec.inputs, "word"))
        ranks = Hierarchy(("say", "clock.tick"), [*others, pattern])
        ticks = [Event("clock.tick", ts_us, "t", ts_us) for ts_us in (*range(5, 120, 5), 300)]
        standing = published(ranks, [*stated, *ticks])
        plain = [
            PatternEvent(e.ts_us, (1, e.kind), e.id, e.kind, {"team": e.payload.team, **e.payload.detail})
            if e.kind != "word"
            else PatternEvent(e.ts_us, (2, e.kind), e.id, e.kind, {})
            for e in standing
            if e.kind in (*"abc", *(["word"] if is_strict else []))
        ]
        note(f"{text}\n{stated!r}\n{plain!r}")
        found = [event for event in standing if event.kind == "pattern.p"]
        assert {event.causes for event in found} == matches(query, query.strategy or "stnm", plain)
        assert len({event.id for event in found}) == len(found)

    check()


def test_a_goal_that_is_annulled_takes_its_match_along() -> None:
    pattern = PatternDetector(parse("PATTERN p = SEQ(a x, b y) WITHIN 1 s RETURN v = y.v"))
    pattern.watch([Speaker().spec, Official().spec])
    assert pattern.spec.inputs == ("a", "b", "word")
    payload = EventPayload(detail={"v": 1})
    state, _ = pattern.step(pattern.initial(), Event("a", 0, "a", 0, payload, "a0"))
    state, (match,) = pattern.step(state, Event("b", 5, "b", 0, payload, "b0"))
    state, (newer,) = pattern.step(state, Event("word", 90, "w", 0, Corrected(7), "w0", (), "b0"))
    state, (void,) = pattern.step(state, Event("word", 95, "w", 1, EventPayload(), "w1", (), "a0"))
    assert (newer.id, newer.ts_us, newer.dated_us, newer.payload.detail["v"]) == (match.id, 90, 5, 7)
    assert (void.id, void.annuls, void.ts_us, void.dated_us) == (match.id, match.id, 95, 5)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("PATTERN SEQ(a x, b y) WITHIN 1 s", "a detector needs a name. Write PATTERN name = SEQ"),
    ],
)
def test_what_cannot_be_a_detector_is_refused(text: str, message: str) -> None:
    with pytest.raises(PatternError, match=message.replace("(", r"\(")):
        PatternDetector(parse(text))


def test_a_kind_with_a_star_and_strict_read_what_the_match_publishes_below_them() -> None:
    specs = [
        Spec("low", "1.1", 1, ("r",), ("a.one", "a.dense", "a.two", "b"), internal=("a.dense",)),
        Spec("high", "15.1", 15, ("b",), ("a.high",)),
    ]
    for text, inputs in (
        ("PATTERN p = SEQ(a.* x, b y) WITHIN 1 s", ("b", "a.one", "a.two")),
        ("PATTERN p = SEQ(b x, b y) WITHIN 1 s STRATEGY strict", ("b", "a.one", "a.two")),
        ("PATTERN p = SEQ(c.* x, c y) WITHIN 1 s STRATEGY strict", ()),
    ):
        detector = PatternDetector(parse(text))
        detector.watch(specs)
        assert detector.spec.inputs == inputs


def test_per_possession_within_a_match_is_its_bound_and_per_match_is_all_of_it() -> None:
    detector = PatternDetector(parse("PATTERN p = SEQ(a x, b y) WITHIN 10 s PER match, possession, team"))
    assert detector.query == parse("PATTERN p = SEQ(a x, b y) WITHIN 10 s, possession PER team")
    assert detector.spec.inputs == ("a", "b", "chain.start")
    found, state = [], detector.initial()
    for ts_us, kind, name in ((1, "a", "a1"), (2, "b", "b2"), (3, "a", "a3"), (4, "chain.start", "c4"), (5, "b", "b5")):
        payload = EventPayload(team="" if kind == "chain.start" else "home", detail={"possession": name})
        state, events = detector.step(state, Event(kind, ts_us, "s", ts_us, payload, name))
        found += [event.causes for event in events]
    assert found == [("a1", "b2")]
