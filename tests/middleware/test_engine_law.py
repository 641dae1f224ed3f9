"""The law: consolidated output equals the sorted replay, whatever the arrival order (oracle, property)."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from middleware.consolidation import consolidate
from middleware.engine import Engine
from middleware.events import Arrival, Event, Update, canonical_key
from middleware.hierarchy import Hierarchy
from middleware.oracle import published
from middleware.ordering.policy import EngineSettings, UnitSettings
from middleware.ordering.slack.settings import SlackSettings
from middleware.ordering.speculation import FixedAlpha
from tests.middleware.toys import arrival, hierarchy, raw

ALLOWED_LATENESS_US = 400

modes = st.sampled_from(["full", "on-demand"])
alphas = st.sampled_from([0.0, 0.25, 1.0])
slacks = st.sampled_from([SlackSettings(), SlackSettings("fixed", 0), SlackSettings("fixed", 15)])


@st.composite
def arrival_orders(draw: st.DrawFn) -> list[tuple[int, Arrival]]:
    """(arrival time, arrival): three sources with delays up to 120, some packets doubled, some never sent on."""
    out: list[tuple[int, Arrival]] = []
    for source in ("p", "q", "r"):
        steps = draw(st.lists(st.integers(1, 12), min_size=1, max_size=25))
        for seq, ts_us in enumerate(itertools.accumulate(steps)):
            kind = draw(st.sampled_from(["A", "B", "C", "C"]))
            event = arrival(raw(kind, ts_us, f"{kind}{source}", _count(out, f"{kind}{source}")))
            if draw(st.integers(0, 19)) == 0:
                out.append((-1, event))
                continue
            for _ in range(1 if draw(st.integers(0, 9)) else 2):
                out.append((ts_us + draw(st.integers(0, 120)), event))
            assert seq >= 0
    return sorted((pair for pair in out if pair[0] >= 0), key=lambda pair: pair[0])


def _count(out: list[tuple[int, Arrival]], source: str) -> int:
    return len({a.event.seq for _, a in out if a.event.source == source})


def run(
    stream: list[tuple[int, Arrival]], engine_settings: EngineSettings, *, stop_every: int = 0
) -> tuple[list[Update], Engine]:
    """Pushes a stream, one push per arrival time; with ``stop_every`` restores into a fresh engine now and then."""
    engine = Engine(hierarchy(), engine_settings)
    updates: list[Update] = []
    for n, (now_us, group) in enumerate(itertools.groupby(stream, key=lambda pair: pair[0])):
        updates += engine.push([a for _, a in group], now_us).updates
        if stop_every and n % stop_every == 0:
            snapshot = engine.snapshot()
            engine = Engine(hierarchy(), engine_settings)
            engine.restore(snapshot)
    updates += engine.finish().updates
    return updates, engine


def standing(updates: list[Update], ranks: Hierarchy) -> list[Event]:
    return sorted(consolidate(updates).values(), key=lambda e: canonical_key(e, ranks.rank))


@settings(max_examples=120, deadline=None)
@given(stream=arrival_orders(), mode=modes, alpha=alphas, slack=slacks)
def test_oracle_any_arrival_order_consolidates_to_the_sorted_replay(stream, mode, alpha, slack):
    note(f"replay: stream={stream!r}")
    engine_settings = EngineSettings(
        UnitSettings(FixedAlpha(alpha), mode, slack), allowed_lateness_us=ALLOWED_LATENESS_US
    )
    updates, engine = run(stream, engine_settings)
    assert not engine.take_lost()
    expected = published(hierarchy(), [a.event for _, a in stream])
    assert standing(updates, hierarchy()) == expected


@settings(max_examples=40, deadline=None)
@given(stream=arrival_orders(), mode=modes, alpha=alphas, stop=st.integers(1, 7))
def test_differential_restart_from_snapshots_gives_the_same_updates(stream, mode, alpha, stop):
    engine_settings = EngineSettings(UnitSettings(FixedAlpha(alpha), mode), allowed_lateness_us=ALLOWED_LATENESS_US)
    assert run(stream, engine_settings)[0] == run(stream, engine_settings, stop_every=stop)[0]


@settings(max_examples=80, deadline=None)
@given(stream=arrival_orders(), mode=modes, alpha=alphas)
def test_oracle_lost_inputs_are_recorded_and_only_they_are_missing(stream, mode, alpha):
    """With a memory shorter than the delays some inputs are lost; the output is that of the others.

    A copy that arrives once its packet is final is lost, too, and the packet stays.
    """
    engine_settings = EngineSettings(UnitSettings(FixedAlpha(alpha), mode), allowed_lateness_us=32)
    engine, updates = Engine(hierarchy(), engine_settings), []
    arrived: set[tuple[str, int]] = set()
    missing: set[tuple[str, int]] = set()
    for now_us, group in itertools.groupby(stream, key=lambda pair: pair[0]):
        arrivals = [a for _, a in group]
        updates += engine.push(arrivals, now_us).updates
        missing |= {(loss.event.source, loss.event.seq) for loss in engine.take_lost()} - arrived
        arrived |= {(a.event.source, a.event.seq) for a in arrivals}
    updates += engine.finish().updates
    kept = [a.event for _, a in stream if (a.event.source, a.event.seq) not in missing]
    assert standing(updates, hierarchy()) == published(hierarchy(), kept)


def test_the_lost_case_does_occur():
    stream = [(t, arrival(raw("A", t, "Ap", t // 10))) for t in range(0, 500, 10)]
    stream.append((500, arrival(raw("C", 3, "Cp", 0))))
    _, engine = run(stream, EngineSettings(allowed_lateness_us=32))
    assert [a.event.kind for a in engine.take_lost()] == ["C"]


@settings(max_examples=80, deadline=None)
@given(stream=arrival_orders(), mode=modes)
def test_nothing_below_the_watermark_ever_changes_but_by_annulment(stream, mode):
    engine = Engine(hierarchy(), EngineSettings(UnitSettings(FixedAlpha(0.0), mode), allowed_lateness_us=60))
    for now_us, group in itertools.groupby(stream, key=lambda pair: pair[0]):
        frontier = {kind: engine.watermark_us(kind) for kind in "DEFGHJ"}
        for update in engine.push([a for _, a in group], now_us).updates:
            if update.event.kind != "D":
                assert update.event.ts_us >= frontier[update.event.kind], update


def test_final_keeps_up_however_many_packets_are_missing():
    """Every third packet is lost for good: each gap is waited for from its own beginning, not one after the other."""
    engine = Engine(hierarchy(), EngineSettings(allowed_lateness_us=100))
    for n in range(1, 600):
        if n % 3:
            engine.push([arrival(raw("A", 10 * n, "Ap", n))], 10 * n)
    health = engine.health()
    assert health.clk_us - health.final_us <= 3 * 100


@pytest.mark.parametrize("mode", ["full", "on-demand"])
def test_late_input_takes_back_what_it_makes_wrong(mode):
    engine = Engine(hierarchy(), EngineSettings(UnitSettings(FixedAlpha(0.0), mode), allowed_lateness_us=1000))
    out = [u for ts, k in ((10, "A"), (20, "C")) for u in engine.push([arrival(raw(k, ts))], ts).updates]
    assert [(u.event.kind, u.diff) for u in out if u.event.kind == "D"] == [("D", 1)]
    out = engine.push([arrival(raw("B", 15))], 25).updates
    assert [(u.event.id, u.diff) for u in out if u.event.kind == "D"] == [("D#c:0", -1)]


def test_pure_buffering_never_retracts_once_the_slack_is_known():
    stream = [
        (ts + delay, arrival(raw(kind, ts, kind.lower(), n)))
        for n in range(40)
        for kind, ts, delay in (("A", 30 * n, 40), ("C", 30 * n + 7, 0), ("B", 30 * n + 9, 0))
    ]
    stream.sort(key=lambda pair: pair[0])
    slack = SlackSettings("fixed", 100)
    updates, engine = run(stream, EngineSettings(UnitSettings(FixedAlpha(1.0), slack=slack), allowed_lateness_us=1000))
    assert engine.health().retracted == 0
    assert all(u.diff > 0 for u in updates if u.event.kind != "D")
    speculative, engine = run(
        stream, EngineSettings(UnitSettings(FixedAlpha(0.0), slack=slack), allowed_lateness_us=1000)
    )
    assert engine.health().retracted > 0
    assert standing(speculative, hierarchy()) == standing(updates, hierarchy())


def test_on_demand_stops_behind_a_stateless_detector_and_full_does_not():
    engines = {
        m: Engine(hierarchy(), EngineSettings(UnitSettings(FixedAlpha(0.0), m), allowed_lateness_us=10_000))
        for m in ("full", "on-demand")
    }
    for engine in engines.values():
        for n in range(50):
            engine.push([arrival(raw("C", 10 * n + 10, "c", n))], 10 * n + 10)
        engine.push([arrival(raw("C", 5, "late", 0))], 600)
    redone = {mode: engine.health().redone for mode, engine in engines.items()}
    assert redone["on-demand"] < redone["full"] / 5


def test_a_duplicate_has_one_effect():
    engine = Engine(hierarchy(), EngineSettings(allowed_lateness_us=1000))
    assert engine.push([arrival(raw("C", 10))], 10).updates
    assert engine.push([arrival(raw("C", 10))], 12).updates == []
    assert engine.health().duplicates == 1
