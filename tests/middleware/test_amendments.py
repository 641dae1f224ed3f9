"""Versions and annulments: the last word about an event is published, whatever the order in which the words arrive."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from middleware.detector import NOTHING, Spec, Step
from middleware.engine import Engine
from middleware.events import Event, Update
from middleware.hierarchy import Hierarchy
from middleware.isolation import ignore_faults
from middleware.ordering.policy import EngineSettings, UnitSettings
from middleware.ordering.speculation import FixedAlpha
from middleware.publisher import Publisher
from tests.examples import in_two_lengths
from tests.middleware.streams import expected, run, standing, streams
from tests.middleware.toys import RAW, Joiner, arrival, raw


class Attempt:
    """A is an attempt, published at once; a C completes it and a B voids it. Then it is said again, under its id.

    ``V`` are attempts, ``internal`` makes them dense. Versions are shown at the time of the attempt.
    """

    def __init__(self, internal: bool = False) -> None:
        self.spec = Spec("attempt", "6.1", 6, ("A", "B", "C"), ("V",), ("V",) if internal else (), amends=("V",))

    def initial(self) -> Event | None:
        return None

    def step(self, state: Event | None, event: Event) -> Step[Event | None]:
        if event.kind == "A":
            tried = Event("V", event.ts_us, event.source, 0, "open", f"V#{event.source}:{event.seq}")
            return tried, (tried,)
        if state is None:
            return state, NOTHING
        dated_us = state.ts_us if state.dated_us is None else state.dated_us
        seq = state.seq + 1
        if event.kind == "B":
            return None, (Event("V", event.ts_us, state.source, seq, "void", state.id, (), state.id, dated_us),)
        emitted = Event("V", event.ts_us, state.source, seq, f"complete {seq}", state.id, (), "", dated_us)
        return emitted, (emitted,)


class Referee:
    """Another detector, higher up: annuls the attempt that the third of its versions was about."""

    def __init__(self) -> None:
        self.spec = Spec("referee", "9.1", 9, ("V",), ("W",), annuls=("V",))

    def initial(self) -> None:
        return None

    def step(self, state: None, event: Event) -> Step[None]:
        if event.seq != 2 or event.annuls:
            return None, NOTHING
        return None, (Event("W", event.ts_us, event.source, event.seq, None, f"W#{event.id}", (), event.id),)


class Right(msgspec.Struct, frozen=True):
    """Makes another payload of an attempt's, and shows it a unit of time later."""

    def corrected(self, version: Event) -> Event:
        return msgspec.structs.replace(version, payload=f"{version.payload}, corrected", ts_us=version.ts_us + 1)


class Editor:
    """A third detector: corrects an attempt at its second version, and when the referee has annulled it."""

    def __init__(self) -> None:
        self.spec = Spec("editor", "10.1", 10, ("V", "W"), ("E",), annuls=("V",))

    def initial(self) -> None:
        return None

    def step(self, state: None, event: Event) -> Step[None]:
        about = event.annuls or event.id
        if event.kind == "V" and (event.seq != 1 or event.annuls):
            return None, NOTHING
        name = f"E#{event.kind}/{about}"
        return None, (Event("E", event.ts_us, event.source, event.seq, Right(), name, (), about),)


def make() -> Hierarchy:
    """T passes time and is listened to by nobody."""
    return Hierarchy((*RAW, "T"), [Attempt(), Referee(), JoinerOfV()])


def corrected() -> Hierarchy:
    """The same with corrections."""
    return Hierarchy((*RAW, "T"), [Attempt(), Referee(), Editor()])


class JoinerOfV(Joiner):
    """Sees every version as an input of its own."""

    def __init__(self) -> None:
        self.spec = Spec("joiner", "7.1", 7, ("V",), ("H",))

    def step(self, state: str, event: Event) -> Step[str]:
        name = f"H#{event.id}/{event.seq}"
        return state, (Event("H", event.ts_us, event.source, event.seq, event.payload, name),)


modes = st.sampled_from(["full", "on-demand", "auto"])
alphas = st.sampled_from([0.0, 0.5, 1.0])


@in_two_lengths(40, 100, stream=streams(), mode=modes, alpha=alphas)
def test_oracle_the_last_statement_is_published_whatever_the_order_of_arrival(stream, mode, alpha):
    engine_settings = EngineSettings(UnitSettings(FixedAlpha(alpha), mode), allowed_lateness_us=400)
    updates, engine = run(make, stream, engine_settings)
    again, _ = run(make, stream, engine_settings, restart_every=6)
    assert again == updates
    found = standing(updates, make())
    assert found == expected(make(), stream, engine)
    attempts = [event for event in found if event.kind == "V"]
    assert len({event.id for event in attempts}) == len(attempts), "one version of each stands"


@in_two_lengths(40, 100, stream=streams(), mode=modes, alpha=alphas)
def test_oracle_a_correction_gives_what_the_sorted_stream_with_it_gives(stream, mode, alpha):
    engine_settings = EngineSettings(UnitSettings(FixedAlpha(alpha), mode), allowed_lateness_us=400)
    updates, engine = run(corrected, stream, engine_settings)
    again, _ = run(corrected, stream, engine_settings, restart_every=6)
    assert again == updates
    assert standing(updates, corrected()) == expected(corrected(), stream, engine)


@settings(max_examples=60, deadline=None)
@given(stream=streams(most=60), alpha=alphas)
def test_oracle_statements_too_far_apart_concern_different_events(stream, alpha):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("middleware.publisher.AMENDABLE_US", 15)
        patch.setattr("middleware.oracle.AMENDABLE_US", 15)
        engine_settings = EngineSettings(UnitSettings(FixedAlpha(alpha)), allowed_lateness_us=130)
        updates, engine = run(make, stream, engine_settings)
        assert standing(updates, make()) == expected(make(), stream, engine)
        updates, engine = run(corrected, stream, engine_settings)
        assert standing(updates, corrected()) == expected(corrected(), stream, engine)


def test_a_correction_is_of_the_newest_version_and_a_later_version_counts_again():
    engine = Engine(corrected(), EngineSettings(allowed_lateness_us=1_000))
    emitted_by(engine, "A", 10)
    assert emitted_by(engine, "C", 50) == [(10, "open", -1), (11, "complete 1, corrected", 1)]
    assert emitted_by(engine, "C", 60) == [(11, "complete 1, corrected", -1), (11, "complete 2, corrected", 1)]
    assert emitted_by(engine, "C", 70) == [(11, "complete 2, corrected", -1), (10, "complete 3", 1)]
    assert emitted_by(engine, "B", 90) == [(10, "complete 3", -1)]


def emitted_by(engine: Engine, kind: str, ts_us: int, source: str = "") -> list[tuple[int, object, int]]:
    updates = engine.push([arrival(raw(kind, ts_us, source or f"{kind}{ts_us}"))], ts_us).updates
    return [(u.event.ts_us, u.event.payload, u.diff) for u in updates if u.event.kind == "V"]


def test_an_amendment_is_minus_the_old_and_plus_the_new_under_the_time_of_the_old():
    engine = Engine(make(), EngineSettings(allowed_lateness_us=1_000))
    assert emitted_by(engine, "A", 10) == [(10, "open", 1)]
    assert emitted_by(engine, "C", 50) == [(10, "open", -1), (10, "complete 1", 1)]
    assert emitted_by(engine, "B", 90) == [(10, "complete 1", -1)]
    assert emitted_by(engine, "C", 95) == []


def test_a_withdrawn_statement_lets_the_one_before_count_again():
    engine = Engine(make(), EngineSettings(allowed_lateness_us=1_000))
    emitted_by(engine, "A", 10)
    assert emitted_by(engine, "B", 50) == [(10, "open", -1)]
    assert emitted_by(engine, "A", 40, "late") == [(10, "open", 1)], "the B was about the attempt that came late"


def test_an_amendment_reaches_below_the_watermark():
    engine = Engine(make(), EngineSettings(allowed_lateness_us=100))
    emitted_by(engine, "A", 10)
    for n in range(1, 50):
        engine.push([arrival(raw("T", 100 * n, "clock", n))], 100 * n)
    assert engine.watermark_us("V") > 4_000
    assert emitted_by(engine, "C", 5_000) == [(10, "open", -1), (10, "complete 1", 1)]


def test_statements_are_forgotten_when_nothing_can_follow_them(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("middleware.publisher.AMENDABLE_US", 500)
    publisher = Publisher({"V": 0, "W": 1}, frozenset({"V"}))
    remembered = []
    for n in range(600):
        ts_us = 10 * n
        emitted = [
            Event("V", ts_us, "s", n, None, f"V#{n}"),
            Event("W", ts_us, "s", n, None, f"W#{n}", (), f"V#{n - 5}"),
        ]
        publisher.publish([Update(event, 1) for event in emitted], ignore_faults)
        publisher.forget(ts_us - 100)
        remembered.append(sum(len(found) for found in publisher.state()[:2]))
    assert max(remembered) < 100, "about 600 us of them, of one word in 10 us and kind"


def test_an_event_amended_for_ever_is_not_remembered_for_ever(monkeypatch: pytest.MonkeyPatch):
    """One event, a new version of it in every instant: old ones go, and each new one takes the place of the last."""
    monkeypatch.setattr("middleware.publisher.AMENDABLE_US", 500)
    publisher = Publisher({"V": 0}, frozenset({"V"}))
    remembered, emitted = [], []
    for n in range(600):
        version = Event("V", 10 * n, "s", n, n, "V#0", dated_us=0)
        emitted += publisher.publish([Update(version, 1)], ignore_faults)
        publisher.forget(10 * n - 100)
        remembered.append(sum(len(words) for words in publisher.state()[0].values()))
    assert max(remembered) < 70, "650 us of them and what lies above the frontier, of one word in 10 us"
    assert [(update.event.payload, update.diff) for update in emitted[-2:]] == [(598, -1), (599, 1)]
    assert len(emitted) == 2 * 600 - 1


def test_versions_of_an_internal_kind_are_inputs_and_nothing_is_published_of_them():
    hierarchy = Hierarchy(RAW, [Attempt(internal=True), JoinerOfV()])
    engine = Engine(hierarchy, EngineSettings(allowed_lateness_us=1_000))
    emitted = [
        u for kind, ts_us in (("A", 10), ("C", 20)) for u in engine.push([arrival(raw(kind, ts_us))], ts_us).updates
    ]
    assert [(u.event.kind, u.event.payload, u.diff) for u in emitted] == [("H", "open", 1), ("H", "complete 1", 1)]
