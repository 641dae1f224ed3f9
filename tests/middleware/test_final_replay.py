"""Final replay: with a promise of what is complete, every output leaves once, when it is final, and nothing is held."""

from __future__ import annotations

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from middleware.consolidation import consolidate
from middleware.engine import Engine
from middleware.events import Arrival, Event, Update, canonical_key
from middleware.hierarchy import Hierarchy
from middleware.oracle import published
from middleware.ordering.policy import EngineSettings, UnitSettings
from middleware.ordering.slack.settings import SlackSettings
from middleware.ordering.speculation import FixedAlpha
from tests.examples import in_two_lengths
from tests.middleware.test_engine_law import arrival_orders
from tests.middleware.toys import arrival, hierarchy, raw

SETTINGS = EngineSettings(UnitSettings(FixedAlpha(0.0)), allowed_lateness_us=400)
Stream = list[tuple[int, Arrival]]


def standing(updates: list[Update], ranks: Hierarchy) -> list[Event]:
    return sorted(consolidate(updates).values(), key=lambda e: canonical_key(e, ranks.rank))


def in_portions(stream: Stream, span_us: int) -> list[tuple[int, list[Arrival], int]]:
    """(arrival time, arrivals, event time before which nothing arrives any more) of stretches of arrival time."""
    portions = [list(some) for _, some in itertools.groupby(stream, key=lambda pair: pair[0] // span_us)]
    stretches, to_come_us = [], 10_000
    for some in reversed(portions):
        stretches.append((some[-1][0], [arrived for _, arrived in some], to_come_us))
        to_come_us = min([to_come_us, *(arrived.event.ts_us for _, arrived in some)])
    return stretches[::-1]


@in_two_lengths(40, 120, stream=arrival_orders(), span_us=st.sampled_from([1, 30, 500]), stop=st.integers(0, 3))
def test_oracle_final_replay_is_the_sorted_replay_and_nothing_is_retracted_or_held(stream, span_us, stop):
    engine = Engine(hierarchy(), SETTINGS)
    updates: list[Update] = []
    for n, (now_us, arrivals, complete_us) in enumerate(in_portions(stream, span_us)):
        updates += engine.push(arrivals, now_us, complete_us).updates
        health = engine.health()
        assert (health.held, health.redone, health.retracted) == (0, 0, 0)
        assert health.final_us >= complete_us
        if stop and n % stop == 0:
            snapshot, engine = engine.snapshot(), Engine(hierarchy(), SETTINGS)
            engine.restore(snapshot)
    updates += engine.finish().updates
    assert not engine.take_lost()
    assert engine.health().waiting == 0
    assert standing(updates, hierarchy()) == published(hierarchy(), [arrived.event for _, arrived in stream])


def when_known(stream: Stream, span_us: int, late_us: int | None, stop: int = 0) -> dict[Event, int]:
    """Arrival time since which each event stands, pushed in portions, with the promise that nothing is later."""
    engine, since_us = Engine(hierarchy(), SETTINGS), dict[Event, int]()
    portions = [list(some) for _, some in itertools.groupby(stream, key=lambda pair: pair[0] // span_us)]
    results = []
    for n, some in enumerate(portions):
        now_us, arrivals = some[-1][0], [arrived for _, arrived in some]
        results.append(engine.push(arrivals, now_us, None if late_us is None else now_us - late_us))
        if stop and n % stop == 0:
            snapshot, engine = engine.snapshot(), Engine(hierarchy(), SETTINGS)
            engine.restore(snapshot)
    for result in (*results, engine.finish()):
        for update, emitted_us in zip(result.updates, result.emitted_us, strict=True):
            if update.diff > 0:
                since_us[update.event] = emitted_us
            else:
                del since_us[update.event]
    return since_us


@settings(max_examples=50, deadline=None)
@given(stream=arrival_orders(), spans_us=st.tuples(*[st.sampled_from([1, 30, 500])] * 2), stop=st.integers(0, 3))
def test_when_an_event_became_known_does_not_depend_on_the_portions(stream, spans_us, stop):
    late_us = max((now_us - arrived.event.ts_us for now_us, arrived in stream), default=0)
    one, other = when_known(stream, spans_us[0], late_us), when_known(stream, spans_us[1], late_us, stop)
    last_us = stream[-1][0] if stream else 0
    assert one == other
    assert all(event.ts_us <= known_us <= last_us for event, known_us in one.items())


@settings(max_examples=50, deadline=None)
@given(stream=arrival_orders(), span_us=st.sampled_from([1, 30, 500]))
def test_nothing_is_known_sooner_than_a_live_engine_that_speculates_knows_it(stream, span_us):
    in_order = sorted(((arrived.event.ts_us, arrived) for _, arrived in stream), key=lambda pair: pair[0])
    live, replayed = when_known(in_order, 1, None), when_known(in_order, span_us, 0)
    assert live.keys() == replayed.keys()
    assert all(live[event] <= known_us for event, known_us in replayed.items())


def test_an_input_below_a_promise_is_lost_with_that_reason():
    engine = Engine(hierarchy(), SETTINGS)
    engine.push([arrival(raw("A", 100))], 100, 100)
    engine.push([arrival(raw("C", 90)), arrival(raw("B", 110))], 120, 110)
    assert [(loss.event.kind, loss.reason) for loss in engine.take_lost()] == [("C", "promise")]


def test_an_engine_that_turns_live_releases_at_once_what_has_waited():
    """Three of a source make a keyed detector speak; they wait while nothing is final, and nothing more comes of it."""
    engine = Engine(hierarchy(), SETTINGS)
    assert engine.push([arrival(raw("A", 10 + n, seq=n)) for n in range(3)], 20, 0).updates == []
    emitted = engine.push([arrival(raw("C", 50))], 50).updates
    assert "G#a:2" in {update.event.id for update in emitted}


def test_premature_outputs_are_repaired_before_final_replay_begins():
    """A live engine concludes too soon; what comes late comes with a promise: it is taken back, and nothing is kept."""
    engine = Engine(hierarchy(), SETTINGS)
    live = engine.push([arrival(raw("A", 10)), arrival(raw("C", 20))], 20).updates
    repaired = engine.push([arrival(raw("B", 15))], 25, 12).updates
    assert [(u.event.id, u.diff) for u in (*live, *repaired) if u.event.kind == "D"] == [("D#c:0", 1), ("D#c:0", -1)]
    engine.push([arrival(raw("A", 100, seq=1))], 100, 100)
    assert engine.health().held == 0


def test_an_engine_restored_after_a_promise_ends_as_the_first_one_does():
    """Final replay, too, releases the inputs that wait, and not as premature."""
    slack = SlackSettings("fixed", 15)
    settings = EngineSettings(UnitSettings(FixedAlpha(0.0), slack=slack), allowed_lateness_us=60)
    first, again = (Engine(hierarchy(), settings) for _ in range(2))
    first.push([arrival(raw("C", 5))], 240, 0)
    again.restore(first.snapshot())
    assert again.finish() == first.finish()
