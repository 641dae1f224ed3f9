"""The radio channel: every packet once or counted, nothing before its time, the same for the same seed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from zlib import crc32

import msgspec
import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from football.match_sheet import MatchSheet
from football.packet_table import WIDTH, concat, to_mm
from football.packets import Block, Packet
from football.recording import Recording, Track, time_line, track_order
from simulator.radio.channels import (
    CHANNELS,
    ChannelError,
    channel_named,
    transmit,
)
from simulator.radio.delay_report import arrived_positions, channel_report, delay_report, out_of_order_share
from simulator.radio.transmission import (
    RECEIVERS,
    SLOT_US,
    Channel,
    Delay,
    Radio,
    Rows,
    Spells,
    packet_starts,
    receivers_of,
)

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


def cut(track: Track, most: int, span_us: int) -> np.ndarray:
    """First rows of a track's packets; rows off its time line belong to the packet of the row before them."""
    starts = track.line[packet_starts(track.ts_us[track.line], most, span_us)]
    starts[0] = 0
    return starts


def sent_packets(source: Recording, channel: Channel) -> dict[tuple[str, int], Packet]:
    """Expected packets by the channel's numbers alone; positions as a capture has them, rounded to mm."""
    packets = {}
    for t in source.tracks:
        starts = cut(t, channel.positions_max, channel.span_us(t.transmitter == "ball")).tolist()
        for n, (a, b) in enumerate(pairwise([*starts, len(t)])):
            x, y, z = (tuple((np.rint(c[a:b] * 1000) / 1000).tolist()) for c in (t.x_m, t.y_m, t.z_m))
            packets[t.transmitter, n] = Packet(t.transmitter, n, tuple(t.ts_us[a:b].tolist()), x, y, z)
    return packets


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.sampled_from(NAMES), st.floats(0.05, 3.0), st.sampled_from([25.0, 50.0, 200.0]))
def test_every_packet_arrives_once_or_doubled_or_is_counted_lost(
    seed: int, name: str, seconds: float, limb_hz: float
) -> None:
    note(f"replay: transmit(recording({seconds}, limb_hz={limb_hz}), CHANNELS[{name!r}], {seed})")
    source, channel = recording(seconds, limb_hz=limb_hz), CHANNELS[name]
    transmission = transmit(source, channel, seed)
    expected = sent_packets(source, channel)
    copies: Counter[tuple[str, int]] = Counter()
    for block in transmission.blocks():
        for packet in block.packets:
            true = expected[packet.transmitter, packet.sequence]
            wrong_us = max(abs(a - b) for a, b in zip(packet.ts_us, true.ts_us, strict=True))
            assert wrong_us <= channel.clock_error_max_us
            assert msgspec.structs.replace(packet, ts_us=true.ts_us) == true
            assert all(a < b for a, b in pairwise(packet.ts_us))
            copies[packet.transmitter, packet.sequence] += 1
    assert transmission.sent == len(expected)
    assert set(transmission.lost) == set(expected) - set(copies)
    assert len(transmission.lost) == len(set(transmission.lost))
    assert max(copies.values(), default=1) <= 2
    assert sum(copies.values()) - len(copies) == transmission.duplicates


@settings(max_examples=40, deadline=None)
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
    assert delay[is_ball].min() >= channel.ball.min_us + channel.network.min_us
    assert delay[~is_ball].min() >= channel.body.min_us + channel.network.min_us


@pytest.fixture(scope="module")
def stadium() -> Recording:
    """The papers' mix: four balls at 2,000 Hz and 140 limbs at 200 Hz, each at a phase of its own; 36,000 a second."""
    phases = np.random.default_rng(4).integers(0, 500, 144).tolist()
    tracks = [track(f"home_{i}/left_foot", 200, 12, 10 * phases[i]) for i in range(140)]
    tracks += [track(name, 2000, 12, phases[140 + i]) for i, name in enumerate(("ball", "ball_2", "ball_3", "ball_4"))]
    return Recording(MatchSheet(), tuple(sorted(tracks, key=lambda t: track_order(t.transmitter))))


def test_rtls_has_the_delays_of_paper_004(stadium: Recording) -> None:
    packed, single = (
        arrived_positions(transmit(stadium, channel, 1)) for channel in (CHANNELS["rtls"], CHANNELS["rtls"].single())
    )
    for (event_us, arrival_us, is_ball), ball_ms, max_ms in ((single, 5.0, 100), (packed, 9.5, 145)):
        delay_ms = (arrival_us - event_us) / 1e3
        assert delay_ms[is_ball].max() <= ball_ms
        assert delay_ms[~is_ball].min() >= 5.0
        assert 0.9 * max_ms < delay_ms[~is_ball].max() <= max_ms
    assert out_of_order_share(single[0]) > 0.95
    # A packet of ten overtakes nothing within itself: of four balls' 8,000 a second the newest 2,000 are in order.
    assert 0.93 < out_of_order_share(packed[0]) < 1 - 2_000 / 36_000


def test_single_positions_are_delayed_as_the_channel_defines_it(stadium: Recording) -> None:
    """The histogram against the definition: extraction plus jitter plus the receiver's lane, of either priority."""
    channel = replace(CHANNELS["rtls"].single(), duplicate_share=0.0, latency=Delay(200, 200))
    event_us, arrival_us, is_ball = arrived_positions(transmit(stadium, channel, 3))
    for mask, extraction in ((is_ball, channel.ball), (~is_ball, channel.body)):
        delay = np.sort(arrival_us[mask] - event_us[mask]) - 200
        jitter = np.linspace(channel.network.min_us, channel.network.max_us, 401)
        grid = np.linspace(extraction.min_us, extraction.max_us + channel.network.max_us, 60)
        expected = np.array([extraction.share_below(at - jitter).mean() for at in grid])
        found = np.searchsorted(delay, grid, side="right") / len(delay)
        assert np.abs(found - expected).max() < 4.0 / np.sqrt(len(delay)) + 1e-3


def test_a_fast_ball_sends_ten_positions_a_packet_and_a_slow_limb_fewer_rather_than_older() -> None:
    packets = sent_packets(recording(0.5, ball_hz=2000, limb_hz=50, limbs=1), CHANNELS["rtls"])
    assert {len(p.ts_us) for (name, _), p in packets.items() if name == "ball"} == {10}
    assert {len(p.ts_us) for (name, _), p in packets.items() if name != "ball"} <= {1, 2, 3}


def test_harsh_loses_doubles_and_falls_silent_for_up_to_a_second_and_a_half() -> None:
    channel = replace(CHANNELS["harsh"], failure_every_s=0.0)
    transmission = transmit(recording(120, limbs=8), channel, 2)
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
    harsh = CHANNELS["harsh"]
    short, long = (Spells((1, 2), harsh.burst_every_s, harsh.burst) for _ in range(2))
    short.reach(10_000_000)
    long.reach(900_000_000)
    assert np.array_equal(short.begins_us, long.begins_us[: len(short.begins_us)])
    assert long.begins_us[-1] > 900_000_000
    assert np.all(long.begins_us[1:] >= long.ends_us[:-1])


STILL = Delay(0, 0)


def test_what_a_failed_receiver_misses_its_neighbour_hears_in_part_and_then_it_comes_back() -> None:
    channel = Channel(
        "failing", STILL, STILL, STILL, failure_every_s=5.0, failure=Delay(1_000_000, 2_000_000), overheard_share=0.5
    )
    source = Recording(MatchSheet(), (track("ball", 2000, 60),))
    transmission = transmit(source, channel, 3)
    home, is_overheard = (Spells((3, 0xF41, n), 5.0, channel.failure) for n in receivers_of_ball())
    ends = source.tracks[0].ts_us[9::10]
    out = home.end_of(ends) > ends
    deaf = is_overheard.end_of(ends) > ends
    got = np.zeros(len(ends), bool)
    got[transmission.sequence] = True
    assert out.any()
    assert got[~out].all()
    assert not got[out & deaf].any()
    assert 0.45 < got[out & ~deaf].mean() < 0.55
    assert len(transmission.lost) == (~got).sum()
    assert transmission.duplicates == 0


def receivers_of_ball() -> tuple[int, int]:
    code = crc32(b"ball")
    return code % RECEIVERS, (code + 1) % RECEIVERS


def test_a_receivers_clock_drifts_evenly_is_set_right_and_stays_within_its_bound() -> None:
    channel = replace(Channel("drifting", STILL, STILL, STILL), drift_ppm=40.0)
    ts_us = np.arange(0, 60_000_000, 500)
    for receiver in receivers_of(channel, 8):
        error = receiver.dated(ts_us) - ts_us
        assert 0 < np.abs(error).max() <= channel.clock_error_max_us
        steps = np.diff(error)
        assert (np.abs(steps) > 20).sum() == 6, "set right every ten seconds"
        assert np.all(np.diff(receiver.dated(ts_us)) > 0), "and never behind the position before"
    rates = {round(float(r.dated(ts_us)[1_000] - ts_us[1_000]), 3) for r in receivers_of(channel, 8)}
    assert len(rates) > 1, "each clock runs at a rate of its own"


@settings(max_examples=25, deadline=None)
@given(SEEDS, st.sampled_from(NAMES), st.lists(st.integers(1, 2_999), max_size=6), st.sampled_from([25.0, 200.0]))
def test_however_the_stream_is_cut_the_same_packets_come_in_the_same_order(
    seed: int, name: str, cuts_ms: list[int], limb_hz: float
) -> None:
    source, channel = recording(3.0, limb_hz=limb_hz, limbs=3), CHANNELS[name]
    expected = transmit(source, channel, seed)
    names = [t.transmitter for t in source.tracks]
    radio = Radio(names, channel, seed, WIDTH)
    parts, begin_us = [], 0
    for until_us in [*sorted({1000 * ms for ms in cuts_ms}), 3_000_000]:
        rows = []
        for t in source.tracks:
            now = (t.ts_us >= begin_us) & (t.ts_us < until_us)
            positions = to_mm(np.column_stack([t.x_m[now], t.y_m[now], t.z_m[now]]))
            rows.append(Rows(t.ts_us[now], np.column_stack([positions, np.full(len(positions), 100, np.int32)])))
        parts.append(radio.send(rows, until_us, final=until_us == 3_000_000))
        begin_us = until_us
    found, whole = concat(parts), expected.packets()
    for column in ("arrival_us", "tag", "sequence", "bounds", "ts_us", "values"):
        assert np.array_equal(getattr(found, column), getattr(whole, column)), column
    assert (radio.sent, radio.lost, radio.duplicates) == (expected.sent, len(expected.lost), expected.duplicates)


def test_a_transmitter_that_falls_silent_holds_nobody_up() -> None:
    """Its last packet leaves when its time is over, so that what others sent meanwhile need not wait for it."""
    radio = Radio(["home_1/left_foot", "ball"], CHANNELS["rtls"], 1, WIDTH)
    begin, arrived = 0, 0
    for second in range(1, 30):
        ts_us = np.arange(begin, second * 1_000_000, 5_000)
        limb = ts_us[ts_us < 1_012_000]
        rows = [Rows(t, np.zeros((len(t), WIDTH), np.int32)) for t in (limb, ts_us)]
        packets = radio.send(rows, second * 1_000_000)
        arrived += int((packets.tag == 1).sum())
        begin = second * 1_000_000
    assert arrived >= 29 * 200 - 40


def test_an_unknown_channel_is_named_with_those_there_are() -> None:
    with pytest.raises(ChannelError, match="no channel 'lte': there are none, rtls, wifi, harsh"):
        channel_named("lte")


def test_a_recording_without_tracks_gives_no_block() -> None:
    transmission = transmit(Recording(MatchSheet(), ()), CHANNELS["rtls"], 0)
    assert (list(transmission.blocks()), transmission.sent) == ([Block(0, ())][:0], 0)


def test_the_channels_own_report_is_made_of_the_papers_mix() -> None:
    report = channel_report(CHANNELS["rtls"], 1, seconds=2.0)
    assert "72000 positions" in report
    assert report == channel_report(CHANNELS["rtls"], 1, seconds=2.0)


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
