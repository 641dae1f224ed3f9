"""A source whose packet counter wraps, or begins anew, is conditioned as one whose counter goes on."""

from __future__ import annotations

import pytest

from detectors.arrivals import arrival
from detectors.signals.conditioning import Conditioning
from football.match_sheet import MatchSheet
from football.packets import RAW_KINDS, Packet
from middleware.engine import Engine
from middleware.events import Event
from middleware.hierarchy import Hierarchy

PACKETS = 300


def conditioned(first: int, counter) -> tuple[list[Event], list[Event]]:
    """States of a player at walking pace whose packets are numbered by ``counter``, and what was published."""
    detector = Conditioning(MatchSheet())
    engine = Engine(Hierarchy(RAW_KINDS, [detector]), watch=detector.spec.internal)
    states, published = [], []
    for n in range(PACKETS):
        ts_us = 20_000 * n
        packet = Packet("home_7", counter(first + n), (ts_us,), (0.03 * n,), (0.0,), (0.0,))
        outcome = engine.push([arrival(packet)], ts_us + 5_000)
        states += [update.event for update in outcome.watched]
        published += [update.event for update in outcome.updates]
    assert engine.health().duplicates == engine.health().lost == 0
    return states, published


@pytest.mark.parametrize("counter", [lambda n: n % 256, lambda n: n % 310])
def test_a_wrapped_counter_changes_nothing_but_numbers(counter):
    expected, nothing = conditioned(200, lambda n: n)
    found, rejected = conditioned(200, counter)
    assert nothing == rejected == []
    assert len(expected) >= PACKETS - 1
    assert [(e.ts_us, e.payload) for e in found] == [(e.ts_us, e.payload) for e in expected]
    assert len({(e.source, e.seq) for e in found}) == len(found), "each state has a number of its own"
