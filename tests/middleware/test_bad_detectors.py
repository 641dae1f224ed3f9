"""Detectors that break their promises: what the contract checks find."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import pytest

from middleware.detector import NOTHING, Spec
from middleware.events import Event
from tests.detectors import contract
from tests.middleware.worlds import RAW
from tests.middleware.zoo import FAMILIES, FAULTY, Part, build

#: A function of (state, event, calls so far) that gives the next state and what is concluded.
Rule = Callable[[Any, Event, int], Any]


class Faulty:
    """A detector whose step is the given rule, with everything at hand that a step must not have."""

    def __init__(self, rule: Rule, first: Any = 0, *, keyed: bool = False) -> None:
        self.rule, self.first, self.calls = rule, first, itertools.count()
        self.spec = Spec("faulty", "2.1", 2, ("in",), ("out",), ("out",), horizon_us=10, keyed=keyed)

    def initial(self) -> Any:
        return self.first

    def step(self, state: Any, event: Event) -> Any:
        return self.rule(state, event, next(self.calls))

    def key(self, event: Event) -> str:
        return event.source


def echo_of(event: Event, back_us: int = 0, name: str = "", payload: object = None) -> tuple[Event, ...]:
    return (Event("out", event.ts_us - back_us, "x", event.seq, payload, f"out#{name or event.seq}"),)


def changed_in_place(state: list[int], event: Event, _: int) -> Any:
    state.append(event.seq)
    return state, NOTHING


def grown_in_place(state: dict[str, int], event: Event, _: int) -> Any:
    return {**state, "last": state.setdefault("first", event.seq)}, NOTHING


FAULTS: dict[str, tuple[Rule, Any, str]] = {
    "counts its calls in its state": (lambda s, e, n: (n, NOTHING), 0, "another result"),
    "counts its calls in what it says": (lambda s, e, n: (s, echo_of(e, payload=n)), 0, "another result"),
    "names what it says by its calls": (lambda s, e, n: (s, echo_of(e, name=str(n))), 0, "another result"),
    "changes a list in place": (changed_in_place, [], "changed the state"),
    "changes a dict in place": (grown_in_place, {}, "changed the state"),
    "has a state that is not itself": (lambda s, e, n: (math.nan, NOTHING), 0.0, "another result|after pickling"),
    "has a state that cannot be stored": (lambda s, e, n: (lambda: None, NOTHING), 0, "pickl"),
    "remembers everything": (lambda s, e, n: ((*s, str(e.seq) * 300), NOTHING), (), "bytes"),
    "dates into the future": (lambda s, e, n: (s, echo_of(e, back_us=-1)), 0, "after its cause"),
    "dates beyond its horizon": (lambda s, e, n: (s, echo_of(e, back_us=11)), 0, "before its cause"),
    "says one id twice": (lambda s, e, n: (s, echo_of(e, name="same")), 0, "share an id"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_contract_finds_a_detector_that(fault: str):
    rule, first, complaint = FAULTS[fault]
    events = [Event("in", 100 + n, "s", n) for n in range(40)]
    try:
        broken = contract.check_fold(Faulty(rule, first), events)[1]
    except Exception as error:  # a state that no pickle takes is found by the pickle
        broken = [f"{type(error).__name__}: {error}"]
    assert any(part in line for line in broken for part in complaint.split("|")), broken


def test_contract_finds_a_keyed_detector_whose_keys_meet_behind_its_back():
    """Step by step nothing shows: the set does not change between a step and its repetition."""
    seen: set[str] = set()

    def rule(state: int, event: Event, _: int) -> Any:
        seen.add(event.source)
        return state, echo_of(event, payload=len(seen))

    events = [Event("in", 100 + n, "ab"[n % 2], n) for n in range(10)]
    broken = contract.check_fold(Faulty(rule, keyed=True), events)[1]
    assert broken == ["a second fold of a alone gives other events"]


def test_contract_finds_a_detector_that_remembers_outside_its_state():
    emitted_before: set[int] = set()

    def rule(state: int, event: Event, n: int) -> Any:
        first = event.seq not in emitted_before
        if n % 2:
            emitted_before.add(event.seq)
        return state, echo_of(event) if first else NOTHING

    events = [Event("in", 100 + n, "s", n) for n in range(10)]
    assert "a second fold gives other events" in contract.check_fold(Faulty(rule), events)[1]


@pytest.mark.parametrize("family", FAULTY)
def test_contract_finds_the_made_up_detectors_that_break_it(family: str):
    part = Part(family, 2, 1, RAW, ("out",), ("out",), numbers=(3,))
    events = [Event(RAW[n % 4], 7 * n - n % 2 * 7, "s", n, n * 7919 % 1000, f"{RAW[n % 4]}#{n}") for n in range(400)]
    try:
        assert contract.check_fold(build(part), events)[1]
    except ZeroDivisionError:
        assert family == "raiser"


@pytest.mark.parametrize("family", [family for family in FAMILIES if family not in FAULTY])
@pytest.mark.parametrize("keyed", [False, True])
def test_contract_the_made_up_detectors_keep_it(family: str, keyed: bool):
    """Random graphs are made of these; a fault of theirs would be taken for one of the engine."""
    outputs = (f"{family}.0", f"{family}.1")
    annuls = {"judge": ("raw.a",), "regretter": outputs[:1]}.get(family, ())
    numbers = (60, 3) if family in ("window", "pattern") else (4, 3)
    part = Part(family, 2, 1, RAW, outputs, outputs, horizon_us=20, keyed=keyed, annuls=annuls, numbers=numbers)
    part = part._replace(amends=outputs if family == "amender" else ())
    events = [Event(RAW[n % 4], 7 * n, "s", n, n * 7919 % 1000, f"{RAW[n % 4]}#{n}") for n in range(400)]
    emitted, broken = contract.check_fold(build(part), events)
    assert broken == []
    assert emitted
