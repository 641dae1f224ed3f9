"""The radio channel: every packet once or counted, nothing before its time, the same for the same seed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from detectors.inputs import Block, MatchSheet, Packet
from replay.channel import CHANNELS, SLOT_US, Channel, ChannelError, Delay, channel_named, silences, transmit
from replay.delays import arrived_positions, delay_report, out_of_order_share
from replay.recording import Recording, Track, cut, time_line, track_order

SEEDS = st.integers(0, 2**32 - 1)
NAMES = sorted(CHANNELS)


def track(name: str, rate_hz: float, seconds: float, phase_us: int = 0) -> Track:
    ts = phase_us + (np.arange(int(seconds * rate_hz)) * (1e6 / rate_hz)).astype(np.int64)
    ramp = np.arange(len(ts)) / 100.0
    return Track(name, ts, ramp, -ramp, np.zeros(len(ts)))


def recording(seconds: float = 2.0, ball_hz: float = 200.0, limb_hz: float = 50.0, limbs: int = 6) -> Recording:
    tracks = [track(f"home_{i}/left_foot", limb_hz, seconds, 317 * i) for i in range(limbs)]
    tracks += [track("ball", ball_hz, seconds)]
    return Recording(MatchSheet(), tuple(sorted(tracks, key=lambda t: track_order(t.transmitter))))


def sent_packets(source: Recording, channel: Channel) -> dict[tuple[str, int], Packet]:
    packets = {}
    for t in source.tracks:
        span = channel.ball_span_us if t.transmitter == "ball" else channel.body_span_us
        starts = cut(t, channel.positions_max, span).tolist()
        for n, (a, b) in enumerate(zip(starts, [*starts[1:], len(t)], strict=True)):
            packets[t.transmitter, n] = t.packet(n, a, b)
    return packets


@settings(max_examples=40)
@given(SEEDS, st.sampled_from(NAMES), st.floats(0.05, 3.0), st.sampled_from([25.0, 50.0, 200.0]))
def test_every_packet_arrives_once_or_doubled_or_is_counted_lost(
    seed: int, name: str, seconds: float, limb_hz: float
) -> None:
    note(f"replay: transmit(recording({seconds}, limb_hz={limb_hz}), CHANNELS[{name!r}], {seed})")
    source = recording(seconds, limb_hz=limb_hz)
    transmission = transmit(source, CHANNELS[name], seed)
    expected = sent_packets(source, CHANNELS[name])
    copies: Counter[tuple[str, int]] = Counter()
    for block in transmission.blocks():
        for packet in block.packets:
            assert packet == expected[packet.transmitter, packet.sequence]
            copies[packet.transmitter, packet.sequence] += 1
    assert transmission.sent == len(expected)
    assert set(transmission.lost) == set(expected) - set(copies)
    assert len(transmission.lost) == len(set(transmission.lost))
    assert max(copies.values(), default=1) <= 2
    assert sum(copies.values()) - len(copies) == transmission.duplicates


@settings(max_examples=40)
@given(SEEDS, st.sampled_from(NAMES))
def test_no_packet_is_released_before_it_arrived_and_blocks_come_in_order(seed: int, name: str) -> None:
    note(f"replay: transmit(recording(), CHANNELS[{name!r}], {seed})")
    transmission = transmit(recording(), CHANNELS[name], seed)
    assert np.all(np.diff(transmission.arrival_us) >= 0)
    assert np.all(transmission.block_us >= transmission.arrival_us)
    blocks = list(transmission.blocks())
    arrivals = [b.arrival_us for b in blocks]
    assert arrivals == sorted(set(arrivals))
    assert set(arrivals) <= set(transmission.arrival_us.tolist())
    for block in blocks:
        assert all(p.ts_us[-1] <= block.arrival_us for p in block.packets)
    if name != "none":
        slots = [a // SLOT_US for a in arrivals]
        assert slots == sorted(set(slots))


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_blocks_and_another_gives_others(name: str) -> None:
    once, twice, other = (list(transmit(recording(), CHANNELS[name], s).blocks()) for s in (5, 5, 6))
    assert once == twice
    assert (once == other) == (name == "none")


def test_what_a_transmitter_suffers_does_not_depend_on_who_else_sends() -> None:
    whole = recording()
    alone = Recording(whole.sheet, (whole.tracks[-1],))
    for name in NAMES:
        mine = [p for b in transmit(alone, CHANNELS[name], 3).blocks() for p in b.packets]
        among = [p for b in transmit(whole, CHANNELS[name], 3).blocks() for p in b.packets]
        assert mine == [p for p in among if p.transmitter == alone.tracks[0].transmitter]


def test_without_a_channel_arrival_is_event_time_and_every_instant_is_a_block() -> None:
    source = recording(0.5, ball_hz=25, limb_hz=25)
    blocks = list(transmit(source, CHANNELS["none"], 0).blocks())
    assert [b.arrival_us for b in blocks] == sorted({int(ts) for t in source.tracks for ts in t.ts_us})
    assert all(p.ts_us == (b.arrival_us,) for b in blocks for p in b.packets)


@pytest.mark.parametrize("name", ["rtls", "wifi", "harsh"])
@pytest.mark.parametrize("seed", range(3))
def test_delays_keep_the_bounds_that_the_channel_declares(name: str, seed: int) -> None:
    channel = CHANNELS[name]
    event_us, arrival_us, is_ball = arrived_positions(transmit(recording(40, limbs=3), channel, seed))
    delay = arrival_us - event_us
    assert delay[is_ball].max() <= channel.delay_max_us(True)
    assert delay[~is_ball].max() <= channel.delay_max_us(False)
    assert delay.min() >= 1_000


def test_rtls_has_the_delays_of_paper_004() -> None:
    channel = replace(CHANNELS["rtls"], duplicate_share=0.0)
    source = recording(20, ball_hz=200, limb_hz=200, limbs=20)
    for packed, most_ms in ((replace(channel, positions_max=1), 100), (channel, 145)):
        event_us, arrival_us, is_ball = arrived_positions(transmit(source, packed, 1))
        delay_ms = (arrival_us - event_us) / 1e3
        assert delay_ms[is_ball].max() <= 5.0
        assert delay_ms[~is_ball].min() >= 5.0
        assert 0.85 * most_ms < delay_ms[~is_ball].max() <= most_ms
    assert out_of_order_share(event_us) > 0.95


def test_a_fast_ball_sends_ten_positions_a_packet_and_a_slow_limb_fewer_rather_than_older() -> None:
    packets = sent_packets(recording(0.5, ball_hz=2000, limb_hz=50, limbs=1), CHANNELS["rtls"])
    assert {len(p.ts_us) for (name, _), p in packets.items() if name == "ball"} == {10}
    assert {len(p.ts_us) for (name, _), p in packets.items() if name != "ball"} <= {1, 2, 3}


def test_harsh_loses_doubles_and_falls_silent_for_up_to_a_second_and_a_half() -> None:
    transmission = transmit(recording(120, limbs=8), CHANNELS["harsh"], 2)
    assert 0.015 < len(transmission.lost) / transmission.sent < 0.025
    assert 0.04 < transmission.duplicates / transmission.sent < 0.06
    event_us, arrival_us, is_ball = arrived_positions(transmission)
    assert 1_000_000 < (arrival_us - event_us)[is_ball].max() < 2_000_000


def test_a_silent_receiver_delivers_afterwards_and_in_order() -> None:
    still = Delay(0, 0)
    channel = Channel("bursts", still, still, still, burst_every_s=2.0, burst=Delay(500_000, 600_000))
    source = Recording(MatchSheet(), (track("ball", 200, 30),))
    transmission = transmit(source, channel, 9)
    assert np.all(np.diff(transmission.sequence) > 0)
    delays = transmission.arrival_us - source.tracks[0].ts_us[transmission.start]
    assert delays.max() > 400_000
    assert float(np.mean(delays == 0)) > 0.5


def test_asking_for_more_silences_does_not_change_the_first() -> None:
    short, _ = silences(CHANNELS["harsh"], 1, 0, 10_000_000)
    long, _ = silences(CHANNELS["harsh"], 1, 0, 900_000_000)
    assert np.array_equal(short, long[: len(short)])
    assert long[-1] > 900_000_000


def test_an_unknown_channel_is_named_with_those_there_are() -> None:
    with pytest.raises(ChannelError, match="no channel 'lte': there are none, rtls, wifi, harsh"):
        channel_named("lte")


def test_a_recording_without_tracks_gives_no_block() -> None:
    transmission = transmit(Recording(MatchSheet(), ()), CHANNELS["rtls"], 0)
    assert (list(transmission.blocks()), transmission.sent) == ([Block(0, ())][:0], 0)


def test_the_report_prints_both_priorities_beside_the_paper() -> None:
    report = delay_report(recording(5), CHANNELS["rtls"], 1)
    assert "paper 004" in report
    assert "out of order" in report
    assert "ball packet" in report


@given(st.lists(st.integers(0, 12), min_size=1, max_size=40))
def test_the_time_line_is_a_longest_increasing_run(times: list[int]) -> None:
    line = time_line(np.array(times))
    chosen = [times[i] for i in line]
    assert line.tolist() == sorted(set(line.tolist()))
    assert chosen == sorted(set(chosen))
    best = [1] * len(times)
    for i, t in enumerate(times):
        best[i] = 1 + max((best[j] for j in range(i) if times[j] < t), default=0)
    assert len(chosen) == max(best)


@given(st.lists(st.integers(0, 200_000), min_size=1, max_size=60), st.integers(1, 12))
def test_packets_hold_every_row_once_and_keep_to_their_limits(times: list[int], most: int) -> None:
    ts = np.array(times, np.int64)
    zeros = np.zeros(len(ts))
    one = Track("home_1", ts, zeros, zeros, zeros)
    starts = cut(one, most, 50_000)
    assert starts[0] == 0
    assert np.all(np.diff(starts) > 0)
    on_line = set(one.line.tolist())
    for a, b in zip(starts, [*starts[1:], len(ts)], strict=True):
        mine = [times[i] for i in range(a, b) if i in on_line]
        assert 1 <= len(mine) <= most
        assert mine[-1] - mine[0] < 50_000
