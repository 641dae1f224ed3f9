"""Alpha: algorithm 3 of paper 000 step by step, the busy factor it goes by, and the same decisions when redone."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from middleware.detector import Spec, Step
from middleware.engine import Engine
from middleware.events import Event
from middleware.hierarchy import Hierarchy
from middleware.load_accounting import SPAN_US, Costs, LoadAccounting, Work
from middleware.ordering.policy import EngineSettings, UnitSettings
from middleware.ordering.speculation import AdaptiveAlpha, FixedAlpha
from tests.middleware.streams import expected, pushes, run, standing, streams
from tests.middleware.toys import RAW, arrival, hierarchy, raw

ADAPTIVE = UnitSettings(AdaptiveAlpha(), "auto")


#: As the paper has it.
BY_THE_BOOK = AdaptiveAlpha(first=1.0)


def alphas(busy: list[float], settings: AdaptiveAlpha = BY_THE_BOOK) -> list[float]:
    controller = settings.begin()
    values = []
    for share in busy:
        controller.end_span(share)
        values.append(round(controller.alpha, 4))
    return values


def test_000_figure_11_halving_target_zone_overload_and_the_bisection_line():
    """Down to 0.125, stay, reset on 0.95, then halve once more and go by steps of 0.05 from the line at 0.4375 on."""
    assert alphas([0.5, 0.6, 0.7]) == [0.5, 0.25, 0.125]
    assert alphas([0.5, 0.6, 0.7, 0.8, 0.85, 0.9]) == [0.5, 0.25, 0.125, 0.125, 0.125, 0.125]
    assert alphas([0.5, 0.6, 0.7, 0.85, 0.95]) == [0.5, 0.25, 0.125, 0.125, 1.0]
    after_overload = alphas([0.5, 0.6, 0.7, 0.85, 0.95, 0.5, 0.5, 0.6, 0.7, 0.85, 0.7])[5:]
    assert after_overload == [0.5, 0.45, 0.4, 0.35, 0.35, 0.3]


def test_the_bisection_line_is_half_way_from_the_last_minimum_to_no_speculation():
    controller = BY_THE_BOOK.begin()
    assert controller.bisection_line == 0.0, "nothing is known before the first overload: halving goes on"
    for busy in (0.1, 0.1, 0.1, 0.99):
        controller.end_span(busy)
    assert controller.bisection_line == pytest.approx((1 - 0.125) / 2)
    for busy in (0.99, 1.5):
        controller.end_span(busy)
        assert controller.bisection_line == pytest.approx((1 - 0.125) / 2), "an overload that goes on forgets nothing"
    values = [(controller.end_span(0.1), controller.alpha)[1] for _ in range(4)]
    assert values == pytest.approx([0.5, 0.45, 0.4, 0.35]), "the descent after it is slow from the line on"


def test_slow_mode_ends_at_full_speculation_and_an_overload_ends_slow_mode():
    controller = BY_THE_BOOK.begin()
    for busy in (0.1, 0.95, *[0.1] * 30):
        controller.end_span(busy)
    assert controller.alpha == 0.0
    controller.end_span(0.95)
    assert (controller.alpha, controller.slow) == (1.0, False)


def test_on_an_idle_machine_alpha_begins_at_0_and_the_first_overload_makes_the_next_descent_slow():
    assert alphas([0.1, 0.5, 0.85], AdaptiveAlpha()) == [0.0, 0.0, 0.0]
    assert alphas([0.95, 0.5, 0.5, 0.5, 0.85, 0.91], AdaptiveAlpha()) == [1.0, 0.5, 0.45, 0.4, 0.4, 1.0]
    assert alphas([1.5, 1.5, 0.1], AdaptiveAlpha()) == [1.0, 1.0, 0.5], "it is buffering that is too slow"


def test_what_begins_under_load_begins_at_1():
    shares = [AdaptiveAlpha(first=0.25).begin(busy).alpha for busy in (0.0, 0.79, 0.8, 0.95)]
    assert shares == [0.25, 0.25, 1.0, 1.0]


@given(st.lists(st.floats(0, 2), max_size=60), st.floats(0, 1))
def test_alpha_stays_a_share_and_falls_only_when_there_is_time_left(busy: list[float], first: float):
    controller = AdaptiveAlpha(first=first).begin()
    for share in busy:
        before = controller.alpha
        controller.end_span(share)
        assert 0.0 <= controller.alpha <= 1.0
        assert controller.alpha <= before if share < 0.8 else controller.alpha >= before
        if share > 0.9:
            assert controller.alpha == 1.0


def test_a_zone_or_share_that_cannot_be_is_refused():
    for wrong in ({"low": 0.9, "high": 0.8}, {"step": 0.0}, {"low": -1.0}, {"first": 1.1}):
        with pytest.raises(ValueError, match="no target zone, step or share"):
            AdaptiveAlpha(**wrong)
    with pytest.raises(ValueError, match="alpha must lie"):
        FixedAlpha(1.5)


def test_the_busy_factor_is_counts_times_costs_over_the_time_there_is():
    account = LoadAccounting(["a", "b"], [(1,), ()])
    account.costs = Costs(arrival_us=10, moved_us=2, step_us={"a": 3, "b": 50}, available=0.5)
    assert not account.is_over(1_000)
    account.arrivals, account.moved = 700, 1_500
    work = [Work(stepped=900, redone=100), Work(stepped=20)]
    assert not account.is_over(1_000 + SPAN_US - 1)
    assert account.is_over(1_000 + SPAN_US)
    account.end_span(1_000 + SPAN_US, work)
    used_us = 700 * 10 + 1_500 * 2 + 1_000 * 3 + 20 * 50
    assert account.busy == pytest.approx(used_us / (SPAN_US * 0.5))
    assert account.is_over(1_000 + 3 * SPAN_US)
    account.end_span(1_000 + 3 * SPAN_US, work)
    assert account.busy == 0.0, "nothing was done in the second span"


def test_the_price_of_an_update_is_what_it_leads_to_above():
    account = LoadAccounting(["low", "middle", "top"], [(1,), (2,), ()])
    account.costs = Costs(moved_us=1, step_us={"low": 1, "middle": 10, "top": 100})
    account.is_over(0)
    account.end_span(SPAN_US, [Work(), Work(disturbed=4, redone=8, sent_again=2), Work(disturbed=2, redone=2)])
    top_us = 1 + 2 * 100 / 2
    assert account.prices_us() == pytest.approx([1 + (8 * 10 + 2 * top_us) / 4, top_us, 1.0])


def test_what_buys_the_least_latency_for_its_cost_is_given_up_first():
    account = LoadAccounting(["cheap", "dear", "patient", "calm"], [(), (), (), ()])
    account.costs = Costs(moved_us=0, step_us={"cheap": 1, "dear": 100, "patient": 100, "calm": 1_000})
    work = [Work(100, 100), Work(100, 1_000), Work(100, 1_000), Work(300)]
    account.is_over(0)
    done = account.end_span(SPAN_US, work)
    slack_us = [100_000, 100_000, 400_000, 100_000]
    assert account.busy == pytest.approx(1.04, abs=0.01)
    assert account.dearest(done, slack_us, 1.0) == {1}, "of two that cost the same the one with less slack"
    assert account.dearest(done, slack_us, 0.7) == {1, 2}
    assert account.dearest(done, slack_us, 0.1) == {0, 1, 2}, "one that repairs nothing is never asked"
    assert account.dearest(done, slack_us, 1.1) == frozenset(), "there is no excess"


@pytest.fixture
def short_spans(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spans as short as the toys' streams need."""
    monkeypatch.setattr("middleware.load_accounting.SPAN_US", 20)


def costly(engine: Engine, push: int) -> None:
    """Costs that change while the stream goes on, so that the busy factor swings about its target."""
    if push % 7 == 0:
        engine.set_costs(Costs(0.3, 0.2, default_step_us=0.1 + push % 3 / 2, default_compare_us=0.1 * (push % 4)))


@settings(max_examples=60, deadline=None)
@given(stream=streams())
@pytest.mark.usefixtures("short_spans")
def test_oracle_whatever_adapts_the_law_stays(stream):
    updates, engine = run(hierarchy, stream, EngineSettings(ADAPTIVE, allowed_lateness_us=400), between=costly)
    assert standing(updates, hierarchy()) == expected(hierarchy(), stream, engine)


@settings(max_examples=40, deadline=None)
@given(stream=streams(), cut=st.floats(0, 1))
@pytest.mark.usefixtures("short_spans")
def test_differential_a_batch_redone_from_its_snapshot_adapts_in_the_same_way(stream, cut):
    """Crash in the middle of a batch: costs come from the snapshot, whatever the host would measure by then."""
    all_pushes = pushes(stream)
    at = int(cut * len(all_pushes))
    engine_settings = EngineSettings(ADAPTIVE, allowed_lateness_us=400)
    first = Engine(hierarchy(), engine_settings)
    for n, (now_us, arrivals) in enumerate(all_pushes[:at]):
        costly(first, n)
        first.push(arrivals, now_us)
    snapshot = first.snapshot()
    again = Engine(hierarchy(), engine_settings)
    again.set_costs(Costs(default_step_us=1e6))
    again.restore(snapshot)
    for now_us, arrivals in all_pushes[at:]:
        assert again.push(arrivals, now_us) == first.push(arrivals, now_us)
        assert again.health() == first.health()
    assert again.finish() == first.finish()


@pytest.mark.usefixtures("short_spans")
def test_an_idle_engine_speculates_and_a_busy_one_buffers_if_that_saves_anything():
    """The same stream with cheap and with dear steps, in order and with each second event late."""

    def alpha_at_the_end(step_us: float, speculation: AdaptiveAlpha, late_us: int) -> float:
        engine = Engine(hierarchy(), EngineSettings(UnitSettings(speculation), allowed_lateness_us=400))
        engine.set_costs(Costs(0.0, 0.0, default_step_us=step_us))
        for n in range(200):
            engine.push([arrival(raw("C", 5 * n - n % 2 * late_us, "c", n))], 5 * n)
        return max(engine.health().alpha.values())

    for speculation in (BY_THE_BOOK, AdaptiveAlpha()):
        for late_us in (0, 9):
            assert alpha_at_the_end(0.01, speculation, late_us) < 0.01
        assert alpha_at_the_end(10.0, speculation, 9) == 1.0
    assert alpha_at_the_end(10.0, AdaptiveAlpha(), 0) == 0.0, "nothing is repaired, so waiting would save nothing"


@pytest.mark.usefixtures("short_spans")
def test_a_unit_made_or_switched_under_load_buffers_at_once():
    """Within a span of an overload: a new key of a keyed detector, and a detector that was told to adapt."""
    keyed = Hierarchy(RAW, [ByColour()])
    engine = Engine(keyed, EngineSettings(UnitSettings(AdaptiveAlpha()), allowed_lateness_us=400))
    engine.set_costs(Costs(10.0, 10.0, default_step_us=10.0))
    engine.push([arrival(raw("C", 0, "red", 0))], 0)
    assert alphas_of(engine) == {"red": 0.0}
    engine.push([arrival(raw("C", 15, "red", 2))], 15)
    engine.push([arrival(raw("C", 8, "red", 1))], 16)
    engine.push([arrival(raw("C", 21, "red", 3))], 21)
    engine.push([arrival(raw("C", 22, "blue", 0))], 22)
    assert alphas_of(engine) == {"red": 1.0, "blue": 1.0}
    engine.configure("by_colour", UnitSettings(FixedAlpha(0.3)))
    engine.configure("by_colour", UnitSettings(AdaptiveAlpha()))
    assert alphas_of(engine) == {"red": 1.0, "blue": 1.0}


class ByColour:
    """One unit a source."""

    def __init__(self) -> None:
        self.spec = Spec("by_colour", "2.1", 2, ("C",), ("D",), keyed=True)

    def key(self, event: Event) -> str:
        return event.source

    def initial(self) -> int:
        return 0

    def step(self, state: int, event: Event) -> Step[int]:
        return state + 1, ()


def alphas_of(engine: Engine) -> dict[str, float]:
    return {key: unit.alpha for key, unit in engine._units[0].items()}
