"""The bound on held inputs: what is past it goes, final moves on early, losses are recorded with their reason."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from middleware.engine import Engine
from middleware.policy import EngineSettings, FixedAlpha, UnitSettings
from middleware.slack.settings import SlackSettings
from tests.middleware.streams import expected, pushes, run, standing, streams
from tests.middleware.toys import arrival, hierarchy, raw

bounds = st.integers(4, 80)
alphas = st.sampled_from([0.0, 0.5, 1.0])


@settings(max_examples=60, deadline=None)
@given(stream=streams(), held_most=bounds, alpha=alphas, k_us=st.sampled_from([None, 200]))
def test_oracle_at_the_bound_losses_are_recorded_and_only_they_are_missing(stream, held_most, alpha, k_us):
    unit = UnitSettings(FixedAlpha(alpha), slack=SlackSettings("fixed", k_us))
    engine_settings = EngineSettings(unit, memory_us=400, held_most=held_most)
    updates, engine = run(hierarchy, stream, engine_settings)
    again, _ = run(hierarchy, stream, engine_settings, restart_every=4)
    assert again == updates
    assert standing(updates, hierarchy()) == expected(hierarchy(), stream, engine)


@settings(max_examples=40, deadline=None)
@given(stream=streams(most=60), held_most=bounds, alpha=alphas)
def test_after_no_push_more_is_held_than_the_bound_or_than_horizons_need(stream, held_most, alpha):
    """What lies within the horizons before clk cannot be final, however little may be held."""
    engine = Engine(hierarchy(), EngineSettings(UnitSettings(FixedAlpha(alpha)), memory_us=10_000, held_most=held_most))
    frontiers = {kind: engine.frontier_us(kind) for kind in "DEFGHJ"}
    for now_us, arrivals in pushes(stream):
        engine.push(arrivals, now_us)
        health = engine.health()
        assert health.held + health.waiting <= held_most or health.final_us == health.clk_us
        before, frontiers = frontiers, {kind: engine.frontier_us(kind) for kind in "DEFGHJ"}
        assert all(frontiers[kind] >= before[kind] for kind in before)


def test_the_reason_of_a_loss_says_which_bound_it_was():
    engine = Engine(hierarchy(), EngineSettings(memory_us=1_000, held_most=60))
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
    wide, narrow = (run(hierarchy, stream, EngineSettings(memory_us=50, held_most=most))[0] for most in (10**6, 100))
    assert wide == narrow
