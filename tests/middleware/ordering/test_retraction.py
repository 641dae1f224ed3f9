"""The ways to take back: they say the same in the end, cost differently, and the cheapest is found."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from middleware.detector import Detector, Spec, Step
from middleware.engine import Engine
from middleware.events import BEGINNING_US, Event, Update, canonical_key
from middleware.hierarchy import Hierarchy
from middleware.load_accounting import Costs, Work, total
from middleware.ordering.policy import EngineSettings, UnitSettings
from middleware.ordering.retraction import TRIAL_EVERY, RetractionChooser
from middleware.ordering.speculation import FixedAlpha
from middleware.ordering.unit import OrderingUnit
from tests.middleware.streams import expected, pushes, run, standing, streams
from tests.middleware.toys import RAW, arrival, hierarchy, raw


def choice(on_demand: tuple[int, int], full: tuple[int, int], compare_us: float = 1.0, price_us: float = 1.0) -> str:
    """The choice after ten trials that took (steps, updates) on demand, and would have in full; a step costs 1."""
    chooser = RetractionChooser()
    work = Work(trials=10, trial_steps=on_demand[0], trial_sent=on_demand[1])
    return chooser.end_span(work._replace(trial_steps_full=full[0], trial_sent_full=full[1]), 1.0, compare_us, price_us)


def test_stopping_early_pays_for_comparing_states():
    assert choice((10, 0), (500, 100)) == "on-demand"
    assert choice((400, 0), (500, 0), compare_us=2.0) == "differences", "it stops too late to pay for 800 comparisons"


def test_where_no_state_ever_agrees_only_what_was_concluded_is_compared():
    assert choice((500, 10), (500, 200)) == "differences"


def test_where_everything_differs_and_costs_little_above_nothing_is_compared():
    """000, section 5.4: the pass detector."""
    assert choice((500, 900), (500, 900), price_us=0.01) == "full"
    assert choice((500, 10), (500, 200), price_us=10.0) == "differences", "what it need not send is dear above"


def test_no_choice_without_trials_and_none_for_a_small_margin():
    assert RetractionChooser().end_span(Work(trial_steps=500, trial_steps_full=500), 1.0, 9.0, 1.0) == "on-demand"
    assert choice((500, 0), (501, 0), compare_us=0.005) == "on-demand"
    assert choice((500, 90), (500, 100), price_us=0.01) == "differences", "full saves less than it may cost"


def test_the_choice_follows_when_the_detector_behaves_otherwise():
    chooser = RetractionChooser()
    dull = Work(trials=10, trial_steps=500, trial_steps_full=500)
    lively = Work(trials=5, trial_steps=5, trial_steps_full=500)
    ways = [chooser.end_span(work, 1.0, 1.0, 1.0) for work in [dull] * 20 + [lively] * 40]
    assert ways[19] == "differences"
    assert ways[-1] == "on-demand"
    assert sum(a != b for a, b in pairwise(ways)) == 1, "it does not waver"


class Restless:
    """Another state after every input, seldom a word: comparing states never pays (000's pass detector)."""

    def __init__(self) -> None:
        self.spec = Spec("restless", "2.1", 2, ("A", "B", "C"), ("E",))

    def initial(self) -> int:
        return 1

    def step(self, state: int, event: Event) -> Step[int]:
        after = (state * 31 + event.ts_us) % 1_000_003
        return after, (
            Event("E", event.ts_us, event.source, event.seq, None, f"E#{event.id}"),
        ) if after % 7 == 0 else ()


class Forgetful:
    """Remembers only which kind was last: a redo agrees with what was after a step or two."""

    def __init__(self) -> None:
        self.spec = Spec("forgetful", "2.2", 2, ("A", "B", "C"), ("F",))

    def initial(self) -> str:
        return ""

    def step(self, state: str, event: Event) -> Step[str]:
        return event.kind, (Event("F", event.ts_us, event.source, event.seq, state, f"F#{event.id}"),)


class Listener:
    """Above both: what they send in vain costs something here."""

    def __init__(self) -> None:
        self.spec = Spec("listener", "5.1", 5, ("E", "F"), ("H",))

    def initial(self) -> int:
        return 0

    def step(self, state: int, event: Event) -> Step[int]:
        return (state + 1) % 5, () if state % 5 else (Event("H", event.ts_us, event.source, 0, None, f"H#{event.id}"),)


def contrasts() -> Hierarchy:
    detectors: list[Detector] = [Restless(), Forgetful(), Listener()]
    return Hierarchy(RAW, detectors)


COSTS = Costs(1.0, 2.0, step_us={}, compare_us={}, default_step_us=3.0, default_compare_us=2.0)


def costs_of(way: str) -> dict[str, float]:
    """Cost of each detector's redoing and sending over a long disordered stream."""
    rng = Random(3)
    stream = []
    for n in range(1500):
        sent = arrival(raw("ABC"[n % 3], 3 * n, "abc"[n % 3], n // 3))
        stream.append((3 * n + rng.randrange(60), sent))
    stream.sort(key=lambda pair: pair[0])
    engine = Engine(contrasts(), EngineSettings(UnitSettings(FixedAlpha(0.0), way), allowed_lateness_us=500))
    engine.set_costs(COSTS)
    for now_us, arrivals in pushes(stream):
        engine.push(arrivals, now_us)
    return {
        name: 3.0 * (m.stepped + m.redone) + 2.0 * m.compared + 2.0 * (m.retracted + m.repaired)
        for name, m in engine.metrics().items()
    }


def test_automatic_is_as_good_as_the_better_of_the_two_for_each_detector(monkeypatch: pytest.MonkeyPatch):
    """The margin pays for what is tried and for the time until the first choice.

    The listener's inputs depend on how those below it take back, so only the sum is comparable there.
    """
    monkeypatch.setattr("middleware.load_accounting.SPAN_US", 100)
    full, on_demand, automatic = (costs_of(way) for way in ("full", "on-demand", "auto"))
    for name in ("restless", "forgetful"):
        assert automatic[name] <= 1.03 * min(full[name], on_demand[name]), (full, on_demand, automatic)
    assert sum(automatic.values()) < 0.9 * min(sum(full.values()), sum(on_demand.values()))
    assert automatic["restless"] < 0.9 * on_demand["restless"], "it has stopped comparing states"
    assert automatic["forgetful"] < 0.5 * full["forgetful"], "it has gone on comparing them"


@settings(max_examples=60, deadline=None)
@given(stream=streams(), alpha=st.sampled_from([0.0, 0.3]))
def test_differential_all_retraction_modes_lead_to_the_same(stream, alpha):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("middleware.load_accounting.SPAN_US", 20)
        for make in (contrasts, hierarchy):
            ways = [
                EngineSettings(UnitSettings(FixedAlpha(alpha), way), allowed_lateness_us=400)
                for way in ("full", "auto")
            ]
            found = [run(make, stream, way) for way in ways]
            for updates, engine in found:
                assert standing(updates, make()) == expected(make(), stream, engine)


@pytest.mark.parametrize("way", TRIAL_EVERY)
def test_exploration_is_bounded(way: str):
    """A trial compares states; the others do as their way is."""
    engine = Engine(contrasts(), EngineSettings(UnitSettings(FixedAlpha(0.0), "auto"), allowed_lateness_us=10**6))
    for n in range(50):
        engine.push([arrival(raw("A", 1_000 + 10 * n, "a", n))], 1_000 + 10 * n)
    unit = engine._units[0][""]
    for n in range(2 * 64):
        unit.mode = way
        engine.push([arrival(raw("B", 5 + n, f"late {n}"))], 5_000 + n)
    assert unit.counters.repairs == 2 * 64
    assert unit.counters.trials == 2 * 64 // TRIAL_EVERY[way]
    if way != "on-demand":
        assert unit.counters.compared <= 2 * (50 + 2 * 64)


@settings(max_examples=80, deadline=None)
@given(rng=st.randoms(use_true_random=False), make=st.sampled_from([Restless, Forgetful, Listener]))
def test_differential_a_trial_counts_what_the_other_modes_do(rng: Random, make: type[Detector[object]]):
    """The same inputs, late and withdrawn ones among them, to three units: each repair is a trial of the first."""
    kinds = make().spec.inputs
    units = {way: OrderingUnit(make(), UnitSettings(FixedAlpha(0.0), way)) for way in ("auto", "full", "on-demand")}
    rank = {kind: n for n, kind in enumerate(kinds)}
    held: list[Event] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(TRIAL_EVERY, "on-demand", 1)
        for n in range(25):
            updates = []
            for _ in range(rng.randint(1, 3)):
                if held and rng.random() < 0.3:
                    updates.append(Update(held.pop(rng.randrange(len(held))), -1))
                else:
                    held.append(Event(rng.choice(kinds), rng.randrange(40), "s", len(held) + 100 * n, None, f"e{n}"))
                    updates.append(Update(held[-1], 1))
            found = {way: _done(unit, updates, rank) for way, unit in units.items()}
            if not found["auto"].trials:
                continue
            assert found["auto"].trial_steps - found["auto"].trial_steps_full == steps(found["auto"]) - steps(
                found["full"]
            )
            assert found["auto"].trial_sent == found["on-demand"].sent_again == found["auto"].sent_again
            assert found["auto"].trial_sent_full == found["full"].sent_again


def steps(work: Work) -> int:
    return work.stepped + work.redone


def _done(unit: OrderingUnit, updates: list[Update], rank: dict[str, int]) -> Work:
    before = total([unit.counters])
    for update in updates:
        unit.offer(update, canonical_key(update.event, rank))
    unit.process((), 100, BEGINNING_US, 100)
    return total([unit.counters]).less(before)


def test_a_purity_check_repeats_steps_apart_from_comparisons():
    """Else what comparing costs would be taken for the price of a step, and on-demand for cheaper than it is."""
    compared = []

    class State:
        def __init__(self, number: int) -> None:
            self.number = number

        def __eq__(self, other: object) -> bool:
            compared.append(self.number)
            return isinstance(other, State) and other.number == self.number

        __hash__ = None  # type: ignore[assignment]

    class Stateful(Restless):
        def initial(self) -> State:
            return State(0)

        def step(self, state: State, event: Event) -> Step[State]:
            return State(state.number + 1), ()

    engine = Engine(Hierarchy(RAW, [Stateful()]), EngineSettings(allowed_lateness_us=10**6))
    for n in range(10):
        engine.push([arrival(raw("A", 10 * n, "a", n))], 10 * n)
    check = engine.purity_check("restless", 6)
    assert (check.step(), compared) == (6, [])
    assert (check.compare(), compared) == (6, [5, 6, 7, 8, 9, 10]), "states made twice, not one with itself"
