"""The life of events in the lifecycle: tentative, confirmed, withdrawn, amended."""

from __future__ import annotations

import random
import tracemalloc

import msgspec
import pytest

from dashboard.demo import demo_event
from dashboard.families import FAMILIES, FAMILY_NAMES, family_of
from football.lifecycle import Lifecycle
from football.update_stream import EventRecord, UpdateRecord

PASS = demo_event("pass.attempt", 1_000, "ball:1", team="home", player="home_2")


def log(*updates: tuple[int, EventRecord], at_us: int = 5_000) -> list[UpdateRecord]:
    return [UpdateRecord(i, diff, at_us + i, event) for i, (diff, event) in enumerate(updates)]


def state(lifecycle: Lifecycle, event: EventRecord = PASS) -> str:
    entry = lifecycle.get(event.id, event.kind)
    assert entry is not None
    return entry.state


def test_an_asserted_event_is_tentative_until_the_frontier_has_passed_it():
    lifecycle = Lifecycle(family_of)
    lifecycle.apply(log((1, PASS)))
    lifecycle.advance(1_000)
    assert state(lifecycle) == "tentative", "an event at the frontier may still change"
    lifecycle.advance(1_001)
    assert state(lifecycle) == "confirmed"


def test_an_event_asserted_below_the_frontier_is_confirmed_at_once():
    lifecycle = Lifecycle(family_of)
    lifecycle.advance(2_000)
    lifecycle.apply(log((1, PASS)))
    assert state(lifecycle) == "confirmed"


def test_a_withdrawn_event_stays_withdrawn_when_the_frontier_passes():
    lifecycle = Lifecycle(family_of)
    lifecycle.apply(log((1, PASS), (-1, PASS)))
    lifecycle.advance(9_000)
    assert state(lifecycle) == "withdrawn"
    assert lifecycle.totals["pass.attempt"] == 0
    assert lifecycle.withdrawn_ever == 1


def test_an_amendment_keeps_the_event_and_counts_as_revision():
    better = msgspec.structs.replace(PASS, x_m=3.0)
    lifecycle = Lifecycle(family_of)
    lifecycle.apply(log((1, PASS), (-1, PASS), (1, better)))
    entry = lifecycle.get(PASS.id, PASS.kind)
    assert entry is not None
    assert (entry.state, entry.revision, entry.record.x_m) == ("tentative", 1, 3.0)
    assert entry.emitted_us == 5_000, "the event is known since its first assertion"
    assert entry.changed_us == 5_002


def test_an_amendment_that_asserts_before_it_withdraws_ends_the_same():
    better = msgspec.structs.replace(PASS, x_m=3.0)
    lifecycle = Lifecycle(family_of)
    lifecycle.apply(log((1, PASS), (1, better), (-1, PASS)))
    entry = lifecycle.get(PASS.id, PASS.kind)
    assert entry is not None
    assert (entry.state, entry.revision, entry.record) == ("tentative", 1, better)


def test_the_same_record_asserted_again_is_no_amendment():
    lifecycle = Lifecycle(family_of)
    lifecycle.apply(log((1, PASS), (-1, PASS), (1, PASS)))
    entry = lifecycle.get(PASS.id, PASS.kind)
    assert entry is not None
    assert (entry.state, entry.revision) == ("tentative", 0)
    assert lifecycle.amended_ever == 0


def test_an_event_amended_to_a_later_time_waits_for_the_frontier_to_pass_that_time():
    later = msgspec.structs.replace(PASS, ts_us=3_000)
    lifecycle = Lifecycle(family_of)
    lifecycle.apply(log((1, PASS), (-1, PASS), (1, later)))
    lifecycle.advance(2_000)
    assert state(lifecycle) == "tentative"
    lifecycle.advance(3_001)
    assert state(lifecycle) == "confirmed"


def test_a_frontier_that_goes_back_takes_no_confirmation_away():
    lifecycle = Lifecycle(family_of)
    lifecycle.apply(log((1, PASS)))
    lifecycle.advance(2_000)
    lifecycle.advance(500)
    assert state(lifecycle) == "confirmed"


def test_a_confirmed_event_of_a_replaced_stage_can_be_taken_back():
    lifecycle = Lifecycle(family_of)
    lifecycle.apply(log((1, PASS)))
    lifecycle.advance(2_000)
    lifecycle.apply(log((-1, PASS)))
    assert state(lifecycle) == "withdrawn"


def test_changes_come_once_and_in_order():
    first, second = PASS, demo_event("shot.attempt", 1_500, "ball:2")
    lifecycle = Lifecycle(family_of)
    lifecycle.apply(log((1, first), (1, second)))
    seen = lifecycle.changes(0, FAMILY_NAMES, 10)
    assert [entry.record.id for entry in seen] == [first.id, second.id]
    assert lifecycle.changes(lifecycle.version, FAMILY_NAMES) == []
    before = lifecycle.version
    lifecycle.advance(1_200)
    assert [(e.record.id, e.state) for e in lifecycle.changes(before, FAMILY_NAMES)] == [(first.id, "confirmed")]


def test_only_families_that_were_asked_for_come():
    lifecycle = Lifecycle(family_of)
    lifecycle.apply(log((1, PASS), (1, demo_event("area.enter", 1_100, "ball:3"))))
    assert [e.record.kind for e in lifecycle.changes(0, {"areas"})] == ["area.enter"]


def test_memory_is_bounded_for_each_family_and_totals_are_not_affected():
    lifecycle = Lifecycle(family_of, entries_per_group=10)
    lifecycle.apply(log(*((1, demo_event("touch", t, f"ball:{t}")) for t in range(50)), (1, PASS)))
    assert len(lifecycle.changes(0, FAMILY_NAMES, 100)) == 11
    assert lifecycle.totals["touch"] == 50
    lifecycle.apply(log((-1, demo_event("touch", 0, "ball:0"))))
    assert lifecycle.totals["touch"] == 49, "an event that is no longer kept still counts"


def test_every_family_has_its_kinds_and_dense_ones_are_hidden_at_first():
    assert {family.name for family in FAMILIES if family.shown} == {"shots", "passes", "restarts", "officials"}
    kinds = {
        "goal.confirmed": "shots", "shot.saved": "shots", "pass.intercepted": "passes", "interception": "passes",
        "restart.free_kick": "restarts", "out": "restarts", "possession.gain": "possession",
        "team.possession": "possession", "play.dead": "possession", "ball.accel_peak": "ball", "hit": "ball",
        "pz.enter": "ball", "area.leave": "areas", "quality": "other", "pass.len": "qualifiers",
        "packing": "qualifiers",
        "control.shift": "space", "offside.line": "space", "offside.offence": "restarts", "sprint.start": "players",
        "official.card": "officials",
    }  # fmt: skip
    assert {kind: family_of(kind) for kind in kinds} == kinds


@pytest.mark.parametrize("seed", range(6))
def test_differential_packed_entries_are_read_as_they_were_stored(seed: int):
    rng = random.Random(seed)
    plain, packed = (Lifecycle(family_of, entries_per_group=12, packed=is_packed) for is_packed in (False, True))
    versions: dict[str, EventRecord] = {}
    for number in range(300):
        kind, name = rng.choice((("touch", "a"), ("pass.attempt", "b"), ("shot.attempt", "c"))), rng.randrange(20)
        event = demo_event(kind[0], rng.randrange(2_000), f"{kind[1]}:{name}", team="home", player="home_2")
        changed = {"confidence": rng.random(), "x_m": rng.choice((None, 1.5)), "lag_us": rng.choice((0, 300))}
        detail = {"speed_m_s": rng.random(), "count": rng.randrange(9), "on_target": True, "why": "é"}
        event = msgspec.structs.replace(event, **changed, detail=detail, causes=("ball:1", "home_2:7"))
        before = versions.get(event.id)
        updates = [(1, event)] if before is None or rng.random() < 0.3 else [(-1, before), (1, event)]
        updates = [(-1, before)] if before is not None and rng.random() < 0.3 else updates
        versions[event.id] = event
        for lifecycle in (plain, packed):
            lifecycle.apply(log(*updates, at_us=number))
            lifecycle.advance(number * 8)
        since = rng.randrange(plain.version + 1)
        assert packed.changes(since, FAMILY_NAMES) == plain.changes(since, FAMILY_NAMES)
        assert packed.recent(family_of(kind[0]), 1_000) == plain.recent(family_of(kind[0]), 1_000)
        assert packed.get(event.id, event.kind) == plain.get(event.id, event.kind)
    assert (packed.amended_ever, packed.withdrawn_ever) == (plain.amended_ever, plain.withdrawn_ever)
    assert any(entry.older for entry in packed.changes(0, FAMILY_NAMES))


def test_a_packed_entry_takes_less_than_half_the_memory():
    def size_of(count: int, *, packed: bool) -> int:
        lifecycle = Lifecycle(family_of, entries_per_group=count, packed=packed)
        tracemalloc.start()
        try:
            for number in range(count):
                detail = {f"value_{part}": number + part / 7 for part in range(6)}
                causes = tuple(f"ball:{number * 10 + part}" for part in range(4))
                event = demo_event("pass.attempt", number, f"ball:{number}", team="home", player="home_2")
                lifecycle.apply(log((1, msgspec.structs.replace(event, detail=detail, causes=causes))))
                del detail, causes, event
            lifecycle.advance(2 * count)
            return tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()

    plain, packed = size_of(400, packed=False), size_of(400, packed=True)
    assert packed < 0.5 * plain
    assert packed < 800 * 400
