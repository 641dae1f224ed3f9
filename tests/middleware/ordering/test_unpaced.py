"""Sources without a beat: what people say comes late, doubled and out of order, and never holds anything up."""

from __future__ import annotations

import itertools
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from middleware.engine import Engine
from middleware.events import Arrival, Event
from middleware.isolation import deciding_event
from middleware.oracle import published
from middleware.ordering.policy import EngineSettings, UnitSettings
from middleware.ordering.slack.settings import SlackSettings
from middleware.ordering.speculation import FixedAlpha
from middleware.sources.progress import ProgressSettings, SourceProgress, Verdict
from tests.examples import in_two_lengths
from tests.middleware.test_engine_law import arrival_orders, run, standing
from tests.middleware.toys import arrival, hierarchy, raw

S = 1_000_000
SETTINGS = ProgressSettings(patience_us=2 * S, unpaced_kinds=("official",))


def word(number: int, ts_us: int, source: str = "operator") -> Arrival:
    return Arrival(Event("official", ts_us, source, number), ts_us)


def beat(number: int) -> Arrival:
    return Arrival(Event("tag", number * 100_000, "ball", number), number * 100_000)


def progress_of(words: dict[int, list[Arrival]], beats: int = 200) -> list[tuple[int | None, int, int, int]]:
    """Progress of the tag, clock, newest and final after each of its beats, with words in between."""
    progress = SourceProgress(("tag", "official"), 3 * S, SETTINGS)
    seen = []
    for n in range(beats):
        now_us = n * 100_000 + 20_000
        for arrived in (beat(n), *words.get(n, ())):
            progress.offer(arrived, now_us)
        progress.update_progress(now_us)
        progress.advance_final(now_us)
        seen.append((progress.progress_us.get("tag"), progress.clk_us, progress.newest_us, progress.final_us))
        assert "official" not in progress.progress_us
    return seen


@given(
    st.dictionaries(st.integers(0, 199), st.lists(st.tuples(st.integers(0, 40), st.integers(0, 22 * S)), max_size=3))
)
@settings(max_examples=60, deadline=None)
def test_unpaced_entries_move_neither_progress_nor_clock_nor_final(
    entries: dict[int, list[tuple[int, int]]],
):
    words = {n: [word(number, ts_us) for number, ts_us in some] for n, some in entries.items()}
    assert progress_of(words) == progress_of({})


def test_a_paced_source_that_falls_silent_would_hold_progress_so_the_test_above_can_fail():
    def released_at(kinds: tuple[str, ...]) -> int:
        progress = SourceProgress(("tag", "official"), 3 * S, ProgressSettings(patience_us=2 * S, unpaced_kinds=kinds))
        for n in range(20):
            progress.offer(beat(n), n * 100_000)
        progress.offer(word(0, 1_900_000), 1_950_000)
        progress.offer(beat(20), 2_000_000)
        progress.update_progress(2_000_000)
        return min(progress.progress_us.values())

    assert released_at(()) < released_at(("official",))


def test_entries_are_deduplicated_as_packets_are():
    progress = SourceProgress(("tag", "official"), 3 * S, SETTINGS)
    for n in range(100):
        progress.offer(beat(n), n * 100_000)
        progress.update_progress(n * 100_000)
        progress.advance_final(n * 100_000)
    now_us = 9_900_000
    entries = [word(3, 9_800_000), word(1, 9_700_000), word(3, 9_800_000), word(1, 9_700_000), word(2, 9_000_000)]
    new, double = Verdict.NEW, Verdict.DUPLICATE
    assert [progress.offer(w, now_us) for w in entries] == [new, new, double, double, new]
    assert progress.offer(word(4, 1_000_000), now_us) is Verdict.BEYOND_ALLOWED_LATENESS
    assert progress.offer(word(5, 600 * S), now_us) is Verdict.CLOCK_OUTLIER
    assert progress.offer(word(3, 9_800_000, source="var"), now_us) is new
    again = pickle.loads(pickle.dumps(progress))
    assert again.offer(word(4, 1_000_000), now_us) is double


@pytest.mark.parametrize("number", range(8))
def test_of_entries_that_differ_the_one_with_the_greatest_representation_counts(number: int):
    copies = [Event("official", S, "operator", number, content) for content in ("goal", "no goal", "offside")]
    for order in itertools.permutations(copies):
        progress = SourceProgress(("official",), 3 * S, SETTINGS)
        stands = order[0]
        for n, event in enumerate(order):
            verdict = progress.offer(Arrival(event, S), S + n)
            assert verdict is (Verdict.COPY_DIFFERS if n else Verdict.NEW)
            if n and progress.replaced is not None:
                assert progress.replaced is stands
                stands = event
        assert stands == deciding_event(copies) == max(copies, key=repr)


def test_the_first_entry_may_arrive_before_any_packet():
    progress = SourceProgress(("tag", "official"), 3 * S, SETTINGS)
    assert progress.offer(word(0, 5), 10) is Verdict.NEW
    progress.update_progress(10)
    assert progress.progress_us == {}


@in_two_lengths(
    20,
    60,
    stream=arrival_orders(),
    entries=st.lists(st.tuples(st.integers(0, 300), st.integers(0, 120), st.integers(1, 2)), max_size=8),
    alpha=st.sampled_from([0.0, 1.0]),
)
def test_the_law_holds_with_entries_among_the_packets(stream, entries, alpha):
    """A and B are people here, as late as they like below memory; C keeps its beat."""
    words = []
    for number, (ts_us, late_us, copies) in enumerate(entries):
        words += [(ts_us + late_us, arrival(raw("A", ts_us, "operator", number)))] * copies
    mixed = sorted([*stream, *words], key=lambda pair: pair[0])
    progress = ProgressSettings(unpaced_kinds=("A", "B"))
    engine_settings = EngineSettings(UnitSettings(FixedAlpha(alpha)), allowed_lateness_us=600, progress=progress)
    updates, engine = run(mixed, engine_settings, stop_every=7)
    assert not engine.take_lost()
    assert standing(updates, hierarchy()) == published(hierarchy(), [a.event for _, a in mixed])


@pytest.mark.parametrize("unpaced", [("A",), ()])
def test_an_entry_does_not_hold_back_what_the_sources_have_reported(unpaced: tuple[str, ...]):
    """Inputs that wait for the sources' progress are released with it, unless it waits for the operator, too."""
    unit = UnitSettings(FixedAlpha(1.0), slack=SlackSettings("progress"))
    progress = ProgressSettings(unpaced_kinds=unpaced, discovery_us=0)
    one = EngineSettings(unit, allowed_lateness_us=10_000_000, progress=progress)
    engine = Engine(hierarchy(), one)
    stream = [(100 * n + 1, arrival(raw("C", 100 * n, "Cp", n))) for n in range(1, 40)]
    stream.insert(20, (2_001, arrival(raw("A", 2_000, "operator", 0))))
    for now_us, group in itertools.groupby(stream, key=lambda pair: pair[0]):
        engine.push([a for _, a in group], now_us)
    waiting = engine.metrics()["a_not_b_c"].waiting
    assert waiting <= 1 if unpaced else waiting > 5
