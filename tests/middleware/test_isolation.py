"""Detectors that break their contract: the match goes on, the law holds for what they are, health says who and how."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from middleware.detector import NOTHING, Detector, Spec, Step
from middleware.engine import Engine
from middleware.events import Event
from middleware.hierarchy import Hierarchy
from middleware.ordering.policy import EngineSettings, UnitSettings
from middleware.ordering.speculation import FixedAlpha
from tests.middleware.streams import expected, run, standing, streams
from tests.middleware.toys import RAW, Counter, Joiner, arrival, raw


class Faulty:
    """Stands where the toy that gives D does, and is what joiners above rely on. ``fault`` says what is wrong.

    * ``raises``: when a B comes right behind an A; so only some orders of arrival make it raise too soon;
    * ``horizon``: dates every fourth event too early, every fifth into the future;
    * ``kind``: gives an event of a kind that it did not declare;
    * ``payload``: publishes an event in two with a payload that is not what it declared;
    * ``stutters``: gives two events under one canonical key, that differ;
    * ``repeats``: gives the very same event twice;
    * ``key``: raises when it is asked for the key of every third event;
    * ``initial``: has no first state;
    * ``outputs``: gives something that is no sequence of events;
    * ``states``: its states can't be compared.
    """

    def __init__(self, fault: str) -> None:
        self.fault = fault
        self.spec = Spec("faulty", "5.1", 5, ("A", "B", "C"), ("D",), horizon_us=15, keyed=fault == "key")
        if fault == "payload":
            self.spec = dataclasses.replace(self.spec, payload=str)

    def initial(self) -> Any:
        if self.fault == "initial":
            raise RuntimeError("nothing to begin with")
        return Uncomparable("") if self.fault == "states" else ""

    def key(self, event: Event) -> str:
        if event.ts_us % 3 == 0:
            raise KeyError(event.source)
        return event.source

    def step(self, state: Any, event: Event) -> Step[Any]:
        before = state.kind if isinstance(state, Uncomparable) else state
        after: Any = Uncomparable(event.kind) if self.fault == "states" else event.kind
        name = f"D#{event.source}:{event.seq}"
        if self.fault == "raises" and (before, event.kind) == ("A", "B"):
            raise ValueError(f"B after A at {event.ts_us}")
        if event.kind != "C":
            return after, NOTHING
        found = Event("D", event.ts_us, event.source, event.seq, before, name)
        if self.fault == "horizon":
            wrong_us = {0: -16, 1: +1}.get(event.seq % 4, 0)
            return after, (Event("D", event.ts_us + wrong_us, event.source, event.seq, before, name),)
        if self.fault == "kind":
            return after, (found, Event("E" if event.seq % 2 else "nowhere", event.ts_us, "x", 0, None, "x"))
        if self.fault == "payload" and event.seq % 2:
            return after, (Event("D", event.ts_us, event.source, event.seq, 7, name),)
        if self.fault == "stutters":
            return after, (found, Event("D", event.ts_us, event.source, event.seq, f"{before}?", name))
        if self.fault == "repeats":
            return after, (found, found)
        if self.fault == "outputs" and event.seq % 3 == 2:
            return after, 7  # type: ignore[return-value]
        return after, (found,)


class Uncomparable:
    """A state like a numpy array: comparing two of them says neither yes nor no."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __eq__(self, other: object) -> bool:
        raise ValueError("the truth value of this is ambiguous")

    __hash__ = None  # type: ignore[assignment]


FAULTS = {
    "raises": "raised", "horizon": "refused", "kind": "refused", "payload": "refused", "stutters": "doubled",
    "repeats": "doubled", "key": "raised", "initial": "raised", "outputs": "raised", "states": "incomparable",
}  # fmt: skip
modes = st.sampled_from(["full", "on-demand", "auto"])
alphas = st.sampled_from([0.0, 0.5, 1.0])


def hierarchy_with(fault: str) -> Hierarchy:
    detectors: list[Detector[Any]] = [Faulty(fault), Counter(), JoinerOfD()]
    return Hierarchy(RAW, detectors)


class JoinerOfD(Joiner):
    """The toys' joiner, above a detector that may be gone."""

    def __init__(self) -> None:
        self.spec = Spec("joiner", "7.1", 7, ("D", "G"), ("H",))


@pytest.mark.parametrize(
    "fault", [pytest.param(fault, marks=pytest.mark.slow if n % 2 else ()) for n, fault in enumerate(FAULTS)]
)
def test_oracle_the_law_holds_with_a_faulty_detector_in_the_middle(fault: str):
    @settings(max_examples=25, deadline=None)
    @given(stream=streams(), mode=modes, alpha=alphas)
    def check(stream, mode, alpha):
        engine_settings = EngineSettings(UnitSettings(FixedAlpha(alpha), mode), allowed_lateness_us=400)
        updates, engine = run(lambda: hierarchy_with(fault), stream, engine_settings)
        again, restarted = run(lambda: hierarchy_with(fault), stream, engine_settings, restart_every=6)
        assert again == updates
        assert restarted.health().faults == engine.health().faults, "what is done again is not counted again"
        assert standing(updates, hierarchy_with(fault)) == expected(hierarchy_with(fault), stream, engine)
        counted = [event for event in standing(updates, hierarchy_with(fault)) if event.kind == "G"]
        assert counted == expected(Hierarchy(RAW, [Counter()]), stream, engine), "others are not touched"

    check()


@pytest.mark.parametrize(("fault", "reported"), FAULTS.items())
def test_health_names_the_detector_and_its_fault(fault: str, reported: str):
    stream = [(5 * n, arrival(raw(kind, 5 * n, kind.lower(), n // 3))) for n, kind in enumerate("ACCABC" * 8)]
    stream = [(now, a) for n, (now, a) in enumerate(stream) if n % 5] + [(400, stream[5][1]), (400, stream[10][1])]
    _, engine = run(lambda: hierarchy_with(fault), stream, EngineSettings(allowed_lateness_us=4_000))
    faults = engine.health().faults
    assert list(faults) == ["faulty"], faults
    assert faults["faulty"][reported].count > 0
    assert engine.health().fault_counts() == {"faulty": sum(fault.count for fault in faults["faulty"].values())}
    assert f"{reported}: {faults['faulty'][reported].last}" in engine.health().fault_texts()["faulty"]
    silent = engine.health().failed
    assert list(silent) == (["faulty"] if fault in ("raises", "initial", "outputs") else [])


def test_outputs_before_a_failure_stand_and_none_follow():
    engine = Engine(hierarchy_with("raises"), EngineSettings(allowed_lateness_us=1_000))
    emitted = []
    for n, (kind, ts_us) in enumerate((("A", 0), ("C", 10), ("A", 20), ("B", 30), ("C", 40), ("C", 50))):
        emitted += engine.push([arrival(raw(kind, ts_us, f"{kind}{n}"))], ts_us).updates
    assert [(u.event.ts_us, u.diff) for u in emitted if u.event.kind == "D"] == [(10, 1)]
    assert engine.health().failed == {"faulty": "ValueError: B after A at 30"}
    assert engine.metrics()["faulty"].failed == {"": "ValueError: B after A at 30"}


def test_a_failure_that_only_a_misordered_input_caused_is_undone():
    """B seems to follow A until the C between them comes: then nothing has failed, and everything is said."""
    engine = Engine(hierarchy_with("raises"), EngineSettings(allowed_lateness_us=1_000))
    for kind, ts_us in (("A", 10), ("B", 30), ("C", 40)):
        assert not [u for u in engine.push([arrival(raw(kind, ts_us))], 50).updates if u.event.kind == "D"]
    assert engine.health().failed
    emitted = engine.push([arrival(raw("C", 20, "late"))], 60).updates
    assert [(u.event.ts_us, u.diff) for u in emitted if u.event.kind == "D"] == [(20, 1), (40, 1)]
    assert not engine.health().failed


def test_only_the_key_that_failed_is_silent():
    class OfOneSource(Counter):
        def step(self, state: int, event: Event) -> Step[int]:
            if event.source == "bad":
                raise ZeroDivisionError
            return super().step(state, event)

    engine = Engine(Hierarchy(RAW, [OfOneSource()]), EngineSettings(allowed_lateness_us=1_000))
    emitted = []
    for n in range(9):
        arrivals = [arrival(raw("C", 10 * n, source, n)) for source in ("good", "bad")]
        emitted += engine.push(arrivals, 10 * n).updates
    assert [u.event.source for u in emitted] == ["good"] * 3
    assert list(engine.metrics()["counter"].failed) == ["bad"]


class Moody(Joiner):
    """Not pure: counts its own calls."""

    def __init__(self) -> None:
        self.spec = Spec("moody", "7.1", 7, ("D", "G"), ("H",))
        self.calls = 0

    def step(self, state: str, event: Event) -> Step[str]:
        self.calls += 1
        return state, (Event("H", event.ts_us, "h", self.calls, None, f"H#{self.calls}"),)


@settings(max_examples=30, deadline=None)
@given(stream=streams(), mode=modes, alpha=alphas)
def test_an_impure_detector_stops_nothing_not_even_over_restarts(stream, mode, alpha):
    def with_moody() -> Hierarchy:
        return Hierarchy(RAW, [Faulty(""), Counter(), Moody(), Above()])

    engine_settings = EngineSettings(UnitSettings(FixedAlpha(alpha), mode), allowed_lateness_us=400)
    updates, engine = run(with_moody, stream, engine_settings, restart_every=5)
    below = [u for u in updates if u.event.kind in "DG"]
    assert standing(below, with_moody()) == [
        event for event in expected(with_moody(), stream, engine) if event.kind in "DG"
    ]


class Above(Joiner):
    """Listens to the moody one: what is withdrawn from it may never have been given."""

    def __init__(self) -> None:
        self.spec = Spec("above", "8.1", 8, ("H",), ("J",))

    def step(self, state: str, event: Event) -> Step[str]:
        return "", (Event("J", event.ts_us, event.source, event.seq, None, f"J#{event.id}"),)


def test_a_purity_check_finds_the_impure_and_clears_the_pure():
    engine = Engine(Hierarchy(RAW, [Faulty(""), Counter(), Moody()]), EngineSettings(allowed_lateness_us=1_000))
    for n in range(12):
        engine.push([arrival(raw("C", 10 * n, "c", n))], 10 * n)
    before = engine.snapshot()
    assert engine.check_purity("faulty", 5) == 5
    assert engine.snapshot() == before, "nothing comes of a rehearsal"
    assert engine.check_purity("moody", 100) > 5
    assert {name: list(found) for name, found in engine.health().faults.items()} == {"moody": ["impure"]}
    check = engine.purity_check("faulty", 5)
    assert check.step() == check.compare() == 5
