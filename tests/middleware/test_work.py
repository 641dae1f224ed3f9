"""Differential: a unit that processes inputs together does the same as one that is offered them one by one."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event, Update, canonical_key
from middleware.ordering.policy import UnitSettings
from middleware.ordering.slack.settings import SlackSettings
from middleware.ordering.speculation import FixedAlpha
from middleware.ordering.unit import OrderingUnit

RANK = {"a": 0, "b": 1}
METHODS = ("kslack", "fixed", "adaptive", "progress", "bett", "flink")


class Sums:
    """Tells of every third input the sum so far, dated a little back; raises once it has become too much."""

    def __init__(self, correction_batch_us: int) -> None:
        self.spec = Spec(
            "sums", "5.1", 5, ("a", "b"), ("sum",), ("sum",), horizon_us=3, correction_batch_us=correction_batch_us
        )

    def initial(self) -> tuple[int, int]:
        return 0, 0

    def step(self, state: tuple[int, int], event: Event) -> Step[tuple[int, int]]:
        count, total = state[0] + 1, state[1] + event.seq
        if total > 3_000:
            raise ValueError("too much")
        out = Event("sum", event.ts_us - event.seq % 3, "s", event.ts_us * 100 + event.seq, total)
        return (count, total), (out,) if count % 3 == 0 else NOTHING


def pushes(rng: random.Random, late: float) -> list[tuple[list[Update], int, int]]:
    """Updates of each push, with the clock and the progress by then: mostly in order, some late, some withdrawn."""
    sequence, held, ts_us = [], [], 0
    for _ in range(60):
        updates = []
        for _ in range(rng.choice((0, 1, 1, 1, 2, 5))):
            ts_us += rng.choice((0, 1, 4))
            at_us = max(0, ts_us - rng.randrange(20)) if rng.random() < late else ts_us
            if held and rng.random() < late / 3:
                updates.append(Update(held.pop(rng.randrange(len(held))), -1))
                continue
            event = Event(rng.choice("ab"), at_us, "s", rng.randrange(40), rng.random())
            if all(canonical_key(event, RANK) != canonical_key(other, RANK) for other in held):
                held.append(event)
                updates.append(Update(event, 1, rng.choice((0, 0, 2))))
        sequence.append((updates, ts_us, ts_us - rng.choice((0, 3, 10, 30))))
    return sequence


@pytest.mark.parametrize("method", METHODS)
@given(
    seed=st.integers(0, 2**32),
    late=st.sampled_from((0.0, 0.05, 0.5)),
    alpha=st.sampled_from((0.0, 0.3, 1.0)),
    correction_batch_us=st.sampled_from((0, 0, 15)),
    own=st.booleans(),
)
@settings(max_examples=30, deadline=None)
def test_differential_processing_inputs_together_is_offering_them_one_by_one(
    method: Any, seed: int, late: float, alpha: float, correction_batch_us: int, own: bool
) -> None:
    chosen = UnitSettings(FixedAlpha(alpha), "on-demand", SlackSettings(method, 5 if method == "fixed" else None))
    at_once, one_by_one = (OrderingUnit(Sums(correction_batch_us), chosen) for _ in range(2))
    now_us = 0
    for updates, clk_us, progress_us in pushes(random.Random(seed), late):
        now_us += 7
        given_now = [(update, canonical_key(update.event, RANK)) for update in updates]
        settles = now_us % 70 == 0
        found = at_once.process(given_now, None if own else clk_us, progress_us, now_us, flush=settles)
        for update, key in given_now:
            one_by_one.offer(update, key)
        own_us = one_by_one.newest_us if own else clk_us
        assert list(found) == list(one_by_one.process((), own_us, progress_us, now_us, flush=settles))
        for name in ("has_waiting", "waiting", "held", "output_delay_us", "clk_us", "newest_us"):
            assert getattr(at_once, name) == getattr(one_by_one, name), name
        assert at_once.buffer.newest_state == one_by_one.buffer.newest_state
        assert at_once.counters.stepped == one_by_one.counters.stepped
        assert at_once.counters.late == one_by_one.counters.late
        if settles:
            for unit in (at_once, one_by_one):
                unit.purge(progress_us - 40)
