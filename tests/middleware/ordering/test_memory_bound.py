"""The bound on held inputs: what is past it goes, final moves on early, losses are recorded with their reason."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from middleware.consolidation import consolidate
from middleware.detector import Spec
from middleware.engine import Engine
from middleware.events import Event
from middleware.hierarchy import Hierarchy
from middleware.oracle import published
from middleware.ordering.policy import EngineSettings, UnitSettings
from middleware.ordering.slack.settings import SlackSettings
from middleware.ordering.speculation import FixedAlpha
from middleware.sources.progress import ProgressSettings, SourceProgress, Verdict
from tests.examples import in_two_lengths
from tests.middleware.sources.test_bad_sources import Echo, sent
from tests.middleware.streams import expected, pushes, run, standing, streams
from tests.middleware.toys import arrival, hierarchy, raw

bounds = st.integers(4, 80)
alphas = st.sampled_from([0.0, 0.5, 1.0])


@in_two_lengths(25, 60, stream=streams(), max_held=bounds, alpha=alphas, k_us=st.sampled_from([None, 200]))
def test_oracle_at_the_bound_losses_are_recorded_and_only_they_are_missing(stream, max_held, alpha, k_us):
    unit = UnitSettings(FixedAlpha(alpha), slack=SlackSettings("fixed", k_us))
    engine_settings = EngineSettings(unit, allowed_lateness_us=400, max_held=max_held)
    updates, engine = run(hierarchy, stream, engine_settings)
    again, _ = run(hierarchy, stream, engine_settings, restart_every=4)
    assert again == updates
    assert standing(updates, hierarchy()) == expected(hierarchy(), stream, engine)


@settings(max_examples=40, deadline=None)
@given(stream=streams(most=60), max_held=bounds, alpha=alphas)
def test_after_no_push_more_is_held_than_the_bound_or_than_horizons_need(stream, max_held, alpha):
    """Inputs within the horizons before clk cannot be final, however little may be held."""
    engine = Engine(
        hierarchy(), EngineSettings(UnitSettings(FixedAlpha(alpha)), allowed_lateness_us=10_000, max_held=max_held)
    )
    frontiers = {kind: engine.watermark_us(kind) for kind in "DEFGHJ"}
    for now_us, arrivals in pushes(stream):
        engine.push(arrivals, now_us)
        health = engine.health()
        assert health.held + health.waiting <= max_held or health.final_us == health.clk_us
        before, frontiers = frontiers, {kind: engine.watermark_us(kind) for kind in "DEFGHJ"}
        assert all(frontiers[kind] >= before[kind] for kind in before)


def test_the_reason_of_a_loss_names_the_bound():
    engine = Engine(hierarchy(), EngineSettings(allowed_lateness_us=1_000, max_held=60))
    for n in range(100):
        engine.push([arrival(raw("C", 10 * n, "c", n))], 10 * n)
    assert engine.health().final_us > 990 - 1_000, "final has moved on before its time"
    engine.push([arrival(raw("B", 500, "b", 0))], 1_000)
    for n in range(100, 400):
        engine.push([arrival(raw("C", 10 * n, "c", n))], 10 * n)
    engine.push([arrival(raw("B", 501, "b", 1))], 4_000)
    assert [(loss.event.ts_us, loss.reason) for loss in engine.take_lost()] == [(500, "held"), (501, "memory")]
    assert engine.health().lost == 2


def test_without_need_the_bound_does_nothing():
    stream = [(10 * n, arrival(raw("C", 10 * n, "c", n))) for n in range(200)]
    wide, narrow = (
        run(hierarchy, stream, EngineSettings(allowed_lateness_us=50, max_held=most))[0] for most in (10**6, 100)
    )
    assert wide == narrow


class Counted(Echo):
    """As its parent, keyed by source: a state for each."""

    def __init__(self) -> None:
        self.spec = Spec("counted", "2.1", 2, ("raw",), ("echo",), keyed=True)

    def key(self, event: Event) -> str:
        return event.source


def test_invented_sources_make_no_states_beyond_a_bound():
    """Ten thousand names: a bounded number of states; who was there before is heard on; the law holds for the rest."""
    hierarchy = Hierarchy(("raw",), [Counted()])
    settings = EngineSettings(UnitSettings(FixedAlpha(0.0)), progress=ProgressSettings(max_sources=50))
    engine, updates, arrived, lost = Engine(hierarchy, settings), [], [], []
    for number in range(10_000):
        for name, sequence in (("s0", number), (f"invented{number}", 0)):
            one = sent(name, sequence, number * 10_000)
            arrived.append(one.event)
            updates += engine.push([one], number * 10_000).updates
        lost += engine.take_lost()
        if number == 5_000:
            before = len(engine.snapshot())
    assert len(engine.snapshot()) < 1.2 * before
    assert sum(len(units) for units in engine._units) == 50
    updates += engine.finish().updates
    assert {loss.reason for loss in lost} == {"sources"}
    assert len(lost) == 10_000 - 49
    assert "s0" not in {loss.event.source for loss in lost}
    refused = {(loss.event.source, loss.event.seq) for loss in lost}
    taken = [event for event in arrived if (event.source, event.seq) not in refused]
    assert sorted(e.id for e in consolidate(updates).values()) == sorted(e.id for e in published(hierarchy, taken))


def test_a_name_that_was_forgotten_is_admitted_again():
    progress = SourceProgress(("raw",), 1_000_000, ProgressSettings(max_sources=2))
    verdicts = [progress.offer(sent(name, 0, 1_000 * n), 1_000 * n) for n, name in enumerate("abc")]
    assert verdicts == [Verdict.NEW, Verdict.NEW, Verdict.TOO_MANY_SOURCES]
    del progress._kinds["raw"].sources["a"]
    assert progress.offer(sent("a", 1, 5_000), 5_000) is Verdict.NEW
