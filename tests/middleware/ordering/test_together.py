"""Differential: units whose detector steps several keys at once do what units do that take one input after the other.

The general unit is the reference. Both ways are compared update by update over the same streams: late, doubled, lost
and withdrawn inputs, keys that come and go, detectors that raise, promises, and snapshots that the other one continues.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import strategies as st

from middleware.detector import NOTHING, Spec, Step
from middleware.engine import Engine
from middleware.events import Arrival, Event, Update, canonical_key
from middleware.hierarchy import Hierarchy
from middleware.ordering.policy import EngineSettings, UnitSettings
from middleware.ordering.slack.settings import SlackSettings
from middleware.ordering.speculation import AdaptiveAlpha, FixedAlpha
from middleware.ordering.together import steps_of_keys
from middleware.ordering.unit import OrderingUnit
from tests.examples import in_two_lengths

RAW = ("a", "b")
SPEC = Spec("sums", "1.1", 1, RAW, ("sum", "odd"), ("sum",), horizon_us=3, keyed=True)


class OneByOne:
    """The sum of each source's numbers, mostly; raises once it is too much, and dates some outputs wrong."""

    def __init__(self, raises_at: int = 10**9) -> None:
        self.spec = SPEC
        self._raises_at = raises_at

    def key(self, event: Event) -> str:
        return event.source

    def initial(self) -> tuple[int, int]:
        return 0, 0

    def step(self, state: tuple[int, int], event: Event) -> Step[tuple[int, int]]:
        assert isinstance(event.payload, int)
        count, total = state[0] + 1, state[1] + event.payload
        if total > self._raises_at:
            raise ValueError("too much")
        at_us = event.ts_us - event.payload % 5  # 4 is before the horizon
        out = Event("sum", at_us, event.source, event.ts_us * 100 + event.seq, total)
        odd = Event("odd", event.ts_us, event.source, event.seq, total, f"odd#{event.source}:{event.ts_us}:{event.seq}")
        return (count, total), (out, odd) if total % 2 else (out,) if count % 2 else NOTHING


class Together(OneByOne):
    """The same, several keys at once. ``calls``: how many inputs each call had."""

    def __init__(self, raises_at: int = 10**9, breaks: str = "") -> None:
        super().__init__(raises_at)
        self.calls: list[int] = []
        self._breaks = breaks

    def step_together(self, states: Sequence[tuple[int, int]], events: Sequence[Event]) -> Sequence[Any]:
        self.calls.append(len(events))
        if self._breaks == "raises":
            raise RuntimeError("no batch today")
        steps = [self.step(state, event) for state, event in zip(states, events, strict=True)]
        return steps[1:] if self._breaks == "forgets" else steps


class Above:
    """Counts all sums, in order; what it says depends on each of them."""

    def __init__(self) -> None:
        self.spec = Spec("above", "2.1", 2, ("sum",), ("count",))

    def initial(self) -> int:
        return 0

    def step(self, state: int, event: Event) -> Step[int]:
        assert isinstance(event.payload, int)
        after = (state * 7 + event.payload) % 1_000
        out = Event("count", event.ts_us, event.source, event.seq, after, f"count#{event.source}:{event.seq}")
        return after, (out,) if after % 3 else NOTHING


def pushes(rng: random.Random, late: float) -> list[tuple[int, list[Arrival]]]:
    """Sources that begin and end; now and then a packet is late, doubled, or another one under the same number."""
    sent: list[tuple[int, Arrival]] = []
    for name in "pqrst":
        ts_us = rng.randrange(100)
        for seq in range(rng.randrange(5, 40)):
            ts_us += rng.choice((5, 10, 10, 10, 80))
            delay_us = rng.randrange(60) if rng.random() < late else 3
            kind = rng.choice("ab" if name == "t" else "a")
            arrived = Arrival(Event(kind, ts_us, name, seq, rng.randrange(9)), ts_us)
            if rng.random() < late / 8:
                continue
            sent.append((ts_us + delay_us, arrived))
            if rng.random() < late / 4:
                sent.append((ts_us + delay_us + rng.randrange(40), arrived))
            if rng.random() < late / 8:
                other = Arrival(Event(kind, ts_us, name, seq, 99), ts_us)
                sent.append((ts_us + delay_us + rng.randrange(40), other))
    slots: dict[int, list[Arrival]] = {}
    for at_us, arrived in sorted(sent, key=lambda pair: pair[0]):
        slots.setdefault(at_us // 10 * 10 + 10, []).append(arrived)
    return list(slots.items())


def engine(detector: OneByOne, unit: UnitSettings) -> Engine:
    return Engine(Hierarchy(RAW, [detector, Above()]), EngineSettings(unit, allowed_lateness_us=200), ("sum",))


def figures(of: Engine) -> dict[str, object]:
    """Metrics, but for the memory that states share, which a restart may better."""
    return {name: dataclasses.replace(m, snapshots=0, snapshot_bytes=0) for name, m in of.metrics().items()}


@pytest.mark.parametrize("alpha", [FixedAlpha(0.0), FixedAlpha(0.4), AdaptiveAlpha()], ids=str)
@in_two_lengths(
    10,
    25,
    seed=st.integers(0, 2**32),
    late=st.sampled_from((0.0, 0.1, 0.5)),
    slack=st.sampled_from((SlackSettings(), SlackSettings("fixed", 20), SlackSettings("progress"))),
    raises_at=st.sampled_from((10**9, 10**9, 60)),
    breaks=st.sampled_from(("", "", "", "raises", "forgets")),
)
def test_differential_an_engine_that_steps_keys_together_says_the_same(
    alpha: Any, seed: int, late: float, slack: SlackSettings, raises_at: int, breaks: str
) -> None:
    rng = random.Random(seed)
    unit = UnitSettings(alpha, "on-demand", slack)
    batched = Together(raises_at, breaks)
    first, second = engine(batched, unit), engine(OneByOne(raises_at), unit)
    swapped = False
    for now_us, arrivals in pushes(rng, late):
        complete_us = now_us - 300 if rng.random() < 0.05 else None
        assert first.push(arrivals, now_us, complete_us) == second.push(arrivals, now_us, complete_us)
        assert figures(first) == figures(second)
        assert first.health() == second.health()
        if rng.random() < 0.1:  # each goes on from what the other has stored
            stored = first.snapshot(), second.snapshot()
            kinds = (OneByOne(raises_at), batched) if not swapped else (batched, OneByOne(raises_at))
            first, second = (engine(kind, unit) for kind in kinds)
            first.restore(stored[1])
            second.restore(stored[0])
            swapped = not swapped
    assert first.finish() == second.finish()
    assert first.take_lost() == second.take_lost()


def test_most_inputs_of_several_transmitters_in_order_are_taken_with_one_call() -> None:
    detector = Together()
    of = engine(detector, UnitSettings(FixedAlpha(0.0)))
    for number in range(20):
        arrivals = [Arrival(Event("a", 10 * number, name, number, 1), 10 * number) for name in "pqrs"]
        of.push(arrivals, 10 * number + 5)
    assert detector.calls == [4] * 20
    assert of.metrics()["sums"].stepped == 80


@pytest.mark.parametrize("breaks", ["raises", "forgets"])
def test_units_are_untouched_by_a_call_that_breaks_the_contract(breaks: str) -> None:
    detector = Together(breaks=breaks)
    units = {name: OrderingUnit(detector, UnitSettings()) for name in "pq"}
    inputs = {name: [keyed(Event("a", 5, name, 0, 1))] for name in "pq"}
    assert not steps_of_keys(detector.step_together, units, inputs)
    assert [unit.held + unit.waiting for unit in units.values()] == [0, 0]


def test_only_a_newest_input_that_is_due_at_once_is_taken_together() -> None:
    detector = Together()

    def taken(update: Update, unit: UnitSettings | None = None) -> bool:
        units = {"p": OrderingUnit(detector, unit or UnitSettings())}
        units["p"].process([keyed(Event("a", 50, "p", 5, 1))], None, 60, 50)
        return "p" in steps_of_keys(detector.step_together, units, {"p": [(update, key_of(update.event))]})

    newest, late = Event("a", 60, "p", 6, 1), Event("a", 40, "p", 4, 1)
    assert taken(Update(newest, 1))
    assert not taken(Update(late, 1))
    assert not taken(Update(Event("a", 50, "p", 5, 1), -1))
    assert not taken(Update(newest, 1), UnitSettings(FixedAlpha(1.0)))


def key_of(event: Event) -> Any:
    return canonical_key(event, {"a": 0, "b": 1})


def keyed(event: Event) -> tuple[Update, Any]:
    return Update(event, 1), key_of(event)
