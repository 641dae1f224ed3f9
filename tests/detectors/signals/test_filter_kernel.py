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

from detectors.arrivals import arrival, frame_arrival
from detectors.signals.conditioning import Conditioning, Track
from detectors.signals.exchanges import ExchangeParameters
from detectors.signals.frame_fast_path import Instant, PackedFrameState, pack, unpack
from detectors.signals.optical import OpticalAdapter
from football.match_sheet import MatchSheet, Quality
from football.packets import PackedInstant, Packet
from middleware.detector import Step
from middleware.events import Event

RTLS = Quality(2000.0, 200.0, ("left_foot",), True, 0.02, "rtls")
#: Transmitter and quality: blocks of ten, of four that packets cut, none, and a fit of two.
SOURCES = {"ball": RTLS, "home_7/left_foot": RTLS, "home_7": Quality(), "ball ": Quality()}
ODD = (math.nan, math.inf, -math.inf, 1e300, 200.0, -0.0, 30.0)


class OneByOne(Conditioning):
    """Takes no packet for a good one."""

    def step(self, state: Track, event: Event) -> Step[Track]:
        self.classes = {
            kind: msgspec.structs.replace(c, packets=NoPackets(c.packets)) for kind, c in self.classes.items()
        }
        return super().step(state, event)


class NoPackets:
    """A packet filter that declines every packet."""

    def __init__(self, runs: Any) -> None:
        self.pack, self.unpack = runs.pack, runs.unpack

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


TOGETHER = ("ball", "home_7/left_foot", "home_7", "away_2/head", "referee_1", "nobody")


@given(seed=st.integers(0, 2**32), odd=st.sampled_from((0.0, 0.05, 0.3)))
@settings(max_examples=25, deadline=None)
def test_differential_packets_of_several_transmitters_taken_together_are_taken_one_by_one(
    seed: int, odd: float
) -> None:
    """Balls, limbs, bodies and unknown ones; good packets and bad ones in one call."""
    rng = random.Random(seed)
    detector = Conditioning(MatchSheet(quality=RTLS))
    streams = {name: list(packets(name, RTLS, 25, rng.randrange(2**32), odd)) for name in TOGETHER}
    states = dict.fromkeys(TOGETHER, detector.initial())
    emitted = 0
    for number in range(25):
        chosen = [name for name in TOGETHER if rng.random() < 0.7]
        events = [arrival(streams[name][number]).event for name in chosen]
        before = [states[name] for name in chosen]
        steps = detector.step_together(before, events)
        expected = [detector.step(state, event) for state, event in zip(before, events, strict=True)]
        assert [(state, list(out)) for state, out in steps] == [(state, list(out)) for state, out in expected]
        assert repr(steps) == repr(expected)
        states |= {name: state for name, (state, _) in zip(chosen, steps, strict=True)}
        emitted += sum(len(out) for _, out in steps)
    assert emitted > 25


NAMES = ("away_1", "home_1", "home_2", "referee_1", "ball")


class PacketByPacket(OpticalAdapter):
    """Takes no instant as one."""

    def step(self, state: Instant | PackedFrameState, event: Event) -> Step[Instant | PackedFrameState]:
        assert isinstance(state, Instant)
        return self._packet_by_packet(state, packets_of(event))


def packets_of(event: Event) -> tuple[Packet, ...]:
    """The packets of an instant, which is in columns or not."""
    packets = event.payload.packets if isinstance(event.payload, PackedInstant) else event.payload
    assert isinstance(packets, tuple)
    return packets


def instants(seed: int, odd: float) -> Iterator[Event]:
    """Of a tracking system; a share with absences, second balls, packets twice or of several positions, jumps."""
    rng = random.Random(seed)
    names = NAMES if rng.random() < 0.8 else rng.choice((NAMES[:3], NAMES[2:3], (*NAMES[:3], "ball")))
    streams = {name: list(packets(name, Quality(), 60, rng.randrange(2**32), odd / 8)) for name in names}
    absent_until: dict[str, int] = {}
    for number in range(60):
        for name in names:
            if rng.random() < odd / 8:
                absent_until[name] = number + rng.choice((1, 2, 12))
        instant = [streams[name][number] for name in names if absent_until.get(name, 0) <= number]
        together = rng.random() >= odd / 2
        instant = [cut(p, number * 40_000 + (number > 30) * 300_000 if together else None) for p in instant]
        if instant and rng.random() < odd / 4:
            instant.append(rng.choice(instant))
        if instant and rng.random() < odd / 8:
            instant.append(msgspec.structs.replace(instant[-1], transmitter="ball_2"))
        if instant:
            yield frame_arrival(instant, number).event


@given(seed=st.integers(0, 2**32), odd=st.sampled_from((0.0, 0.1, 0.4, 1.0)))
@settings(max_examples=60, deadline=None)
def test_differential_an_instant_as_one_leads_to_what_its_packets_lead_to(seed: int, odd: float) -> None:
    sheet = MatchSheet(quality=Quality(framed=True))
    at_once, one_by_one = OpticalAdapter(sheet), PacketByPacket(sheet)
    found: Instant | PackedFrameState = at_once.initial()
    expected: Instant | PackedFrameState = one_by_one.initial()
    packed_states = count = 0
    for event in instants(seed, odd):
        (found, emitted), (expected, those) = at_once.step(found, event), one_by_one.step(expected, event)
        assert repr(list(emitted)) == repr(list(those))
        count += len(emitted)
        assert isinstance(expected, Instant)
        if isinstance(found, PackedFrameState):
            packed_states += 1
            assert unpack(found) == expected
        assert found == pack(expected), "what a state holds says which of the two it is"
    assert count > 20
    assert packed_states > 40 or odd or len(emitted) < 2, "of one player alone there is nothing to take together"


def test_good_positions_of_an_instant_go_through_the_kernel_together(monkeypatch: pytest.MonkeyPatch) -> None:
    smooth = ExchangeParameters(apart_m=10.0)  # nobody runs as these walks go
    adapter = OpticalAdapter(MatchSheet(quality=Quality(framed=True)), exchange=smooth)
    events = list(instants(4, 0.0))
    state: Instant | PackedFrameState = adapter.initial()
    for event in events[:3]:
        state, _ = adapter.step(state, event)
    monkeypatch.setattr(Conditioning, "step", None)
    for event in events[3:20]:
        state, emitted = adapter.step(state, event)
        assert [e.kind for e in emitted if e.kind != "clock.tick"] == ["ball.state", "frame"]
    doubtful = [msgspec.structs.replace(p, x_m=(1e3,)) for p in packets_of(events[20])]
    with pytest.raises(TypeError):
        adapter.step(state, frame_arrival(doubtful, 20).event)


def cut(packet: Packet, ts_us: int | None) -> Packet:
    """Its first position alone, at ``ts_us``, and a fifth of the way that ten go; all of it, if that is None."""
    if ts_us is None:
        return packet
    first = {name: (getattr(packet, name)[0] / 5,) for name in ("x_m", "y_m", "z_m")}
    return msgspec.structs.replace(packet, ts_us=(ts_us,), **first)
