"""Differential: packets taken as a run lead to what they lead to position by position, bit for bit."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from detectors.inputs import MatchSheet, Packet, Quality, arrival
from detectors.signals.conditioning import Conditioning, Track
from middleware.detector import Step
from middleware.events import Event

RTLS = Quality(2000.0, 200.0, ("left_foot",), True, 0.02, "rtls")
#: Transmitter and quality: blocks of ten, of four that packets cut, none, and a fit of two.
SOURCES = {"ball": RTLS, "home_7/left_foot": RTLS, "home_7": Quality(), "ball ": Quality()}
ODD = (math.nan, math.inf, -math.inf, 1e300, 200.0, -0.0, 30.0)


class OneByOne(Conditioning):
    """Takes no packet for a good one."""

    def step(self, state: Track, event: Event) -> Step[Track]:
        self._classes = {kind: msgspec.structs.replace(c, runs=NoRuns(c.runs)) for kind, c in self._classes.items()}
        return super().step(state, event)


class NoRuns:
    """Runs that decline every packet."""

    def __init__(self, runs: Any) -> None:
        self.packed, self.unpacked = runs.packed, runs.unpacked

    def take(self, memory: bytes, packet: Packet) -> None:
        return None


def packets(name: str, quality: Quality, count: int, seed: int, odd: float) -> Iterator[Packet]:
    """A walk; with a share of odd positions, jumps, silences, repeated numbers and short packets."""
    rng = random.Random(seed)
    hz = quality.ball_hz if name.startswith("ball") else quality.body_hz
    ts_us, place = 0, [0.0, 0.0, 0.1]
    for sequence in range(count):
        rows = []
        if rng.random() < odd:
            ts_us += rng.choice((1, 90_000, 400_000))
        if rng.random() < odd:
            place[0] = rng.uniform(-60, 60)
        for _ in range(rng.choice((10, 10, 10, 1, 3))):
            ts_us += max(1, round(1e6 / hz * rng.choice((1.0, 1.0, 1.0, 0.5))))
            place = [p + rng.gauss(0, 5) / hz for p in place]
            x_m = rng.choice(ODD) if rng.random() < odd / 5 else place[0]
            rows.append((ts_us, x_m + rng.gauss(0, 0.01), place[1], place[2]))
        number = max(0, sequence - 2) if rng.random() < odd / 3 else sequence
        yield Packet(name.strip(), number, *zip(*rows, strict=True))


def folded(detector: Conditioning, events: list[Event]) -> tuple[list[Event], list[Track]]:
    state, out, states = detector.initial(), [], []
    for event in events:
        state, emitted = detector.step(state, event)
        out.extend(emitted)
        states.append(state)
    return out, states


@pytest.mark.parametrize("name", SOURCES)
@given(seed=st.integers(0, 2**32), odd=st.sampled_from((0.0, 0.02, 0.2)))
@settings(max_examples=25, deadline=None)
def test_differential_a_run_leads_to_what_its_positions_lead_to(name: str, seed: int, odd: float) -> None:
    sheet = MatchSheet(quality=SOURCES[name])
    events = [arrival(packet).event for packet in packets(name, SOURCES[name], 60, seed, odd)]
    found, expected = folded(Conditioning(sheet), events), folded(OneByOne(sheet), events)
    assert repr(found) == repr(expected)
    assert found[1] == expected[1], "the filters are the same to the last bit"
    assert len(found[0]) > 10


def test_good_packets_are_taken_as_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Conditioning, "_one_by_one", None)
    events = [arrival(packet).event for packet in packets("ball", RTLS, 20, 1, 0.0)]
    assert len(folded(Conditioning(MatchSheet(quality=RTLS)), events)[0]) > 10


NAMES = ("home_1", "home_2", "away_1", "referee_1", "ball")


@given(seed=st.integers(0, 2**32), odd=st.sampled_from((0.0, 0.05, 0.3)))
@settings(max_examples=25, deadline=None)
def test_differential_an_instant_is_taken_as_its_packets_one_after_the_other(seed: int, odd: float) -> None:
    rng = random.Random(seed)
    sheet = MatchSheet(quality=Quality(framed=True))
    streams = {name: list(packets(name, Quality(), 40, rng.randrange(2**32), odd)) for name in NAMES}
    at_once, one_by_one = Conditioning(sheet), Conditioning(sheet)
    found: dict[str, Track] = {}
    expected: dict[str, Track] = {}
    told = 0
    for number in range(40):
        instant = [streams[name][number] for name in NAMES if rng.random() >= odd]
        if instant and rng.random() < odd:
            instant.append(rng.choice(instant))
        short = rng.random() < 0.8  # as tracking files have it
        instant = [cut(packet) if short else packet for packet in instant]
        steps = at_once.step_instant(found, instant)
        assert len(steps) == len(instant)
        for packet, (track, events) in zip(instant, steps, strict=True):
            before = expected.get(packet.transmitter) or one_by_one.initial()
            state, emitted = one_by_one.step(before, arrival(packet).event)
            assert repr((track, list(events))) == repr((state, list(emitted)))
            expected[packet.transmitter] = found[packet.transmitter] = state
            told += len(events)
    assert told > 40


def test_good_positions_of_an_instant_go_through_the_kernel_together(monkeypatch: pytest.MonkeyPatch) -> None:
    detector = Conditioning(MatchSheet(quality=Quality(framed=True)))
    streams = [[cut(packet) for packet in packets(name, Quality(), 3, 1, 0.0)] for name in NAMES]
    first, second, third = zip(*streams, strict=True)
    tracks = {p.transmitter: step[0] for p, step in zip(first, detector.step_instant({}, first), strict=True)}
    expected = [detector.step(tracks[packet.transmitter], arrival(packet).event) for packet in second]
    monkeypatch.setattr(Conditioning, "step", None)
    together = detector.step_instant(tracks, second)
    assert repr([(track, list(told)) for track, told in together]) == repr([(t, list(told)) for t, told in expected])
    doubtful = [*third[:-1], msgspec.structs.replace(third[-1], x_m=(1e3,))]
    with pytest.raises(TypeError):
        detector.step_instant(tracks, doubtful)


def cut(packet: Packet) -> Packet:
    """Its first position alone."""
    first = {name: getattr(packet, name)[:1] for name in ("ts_us", "x_m", "y_m", "z_m")}
    return msgspec.structs.replace(packet, **first)
