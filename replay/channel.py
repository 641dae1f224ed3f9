"""The radio channel: seeded delays, bursts, doubles and losses between a recording and the gateway.

Theory of operation
-------------------
A position's way (paper 004, section IV-A) has four stages, and each named channel is a set of numbers for them:

1. *extraction*: the position is computed from the microwave signal. The ball has priority; the others wait.
2. *packaging*: a packet leaves when its last position has been extracted. It closes after ten positions, or
   after the time that ten positions take at the paper's rates (4.5 ms of a 2,000 Hz ball, 45 ms of a 200 Hz
   limb): a slower transmitter sends fewer positions a packet rather than older ones.
3. *network*: a jitter for every copy of a packet. With some probability a second receiver delivers the packet
   too, a little later and under the same sequence number, and with some it is lost altogether.
4. *bursts*: a receiver falls silent for a while and then delivers what it holds at once.

Every transmitter has its own random stream, made of the seed and its name, and every receiver one for its
silences. Hence one seed gives one transmission, whatever else is in the recording.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from zlib import crc32

import numpy as np

from detectors.inputs import Block, Packet, raw_kind
from replay.recording import Floats, Ints, Recording, Track, cut

#: The gateway hands on what it got in slots of this length.
SLOT_US = 10_000

#: Receivers; every transmitter belongs to one of them.
RECEIVERS = 4


class ChannelError(ValueError):
    """No channel of that name; the message lists those there are."""


@dataclass(frozen=True)
class Delay:
    """A random delay, ``least + (most - least) * Beta(1, steepness)``: bounded, mostly short, rarely long.

    The mean lies at ``1 / (1 + steepness)`` of the way from least to most; steepness 1 is uniform.
    """

    least_us: int
    most_us: int
    steepness: float = 1.0

    def draw(self, rng: np.random.Generator, size: int) -> Ints:
        """``size`` delays in whole microseconds."""
        return self.at(rng.random(size))

    def at(self, uniform: Floats) -> Ints:
        """The delays that numbers uniform in [0, 1) stand for."""
        share = 1.0 - uniform ** (1.0 / self.steepness)
        return (self.least_us + (self.most_us - self.least_us) * share).astype(np.int64)


@dataclass(frozen=True)
class Channel:
    """Numbers of a channel; what they mean is said at the top of the module.

    Attributes:
        ball, body: extraction delay of one position by priority.
        positions_max: positions a packet at most.
        ball_span_us, body_span_us: a packet closes before it spans this.
        network: jitter of every delivered copy.
        burst_every_s: mean time between a receiver's silences; 0 for none.
        burst: how long it is silent.
        duplicate_share: share of packets that a second receiver delivers too.
        duplicate_lag: how much later the second copy comes.
        loss_share: share of packets that nobody delivers.
        is_instant: nothing is delayed: arrival is event time, with one position a packet.
    """

    name: str
    ball: Delay
    body: Delay
    network: Delay
    positions_max: int = 10
    ball_span_us: int = 5_000
    body_span_us: int = 50_000
    burst_every_s: float = 0.0
    burst: Delay = Delay(0, 0)
    duplicate_share: float = 0.0
    duplicate_lag: Delay = Delay(0, 0)
    loss_share: float = 0.0
    is_instant: bool = False

    def delay_max_us(self, is_ball: bool) -> int:
        """Longest time from a packet's first position to its arrival, second copies included."""
        if self.is_instant:
            return 0
        extraction, span = (self.ball, self.ball_span_us) if is_ball else (self.body, self.body_span_us)
        packaging = span if self.positions_max > 1 else 0
        way = self.network.most_us + self.duplicate_lag.most_us + self.burst.most_us
        return extraction.most_us + packaging + way + SLOT_US


_NOTHING = Delay(0, 0)

#: Extraction as Fig. 6 of paper 004 has it: ball 1 to 5 ms, the others 5 to 100 ms, both with the network's
#: millisecond included; most of the low priority positions come within some 30 ms, few after 80.
_BALL = Delay(1_000, 4_000)
_BODY = Delay(5_000, 99_000, 4.0)

CHANNELS = {
    # Arrival is event time: for files that are to be taken as they are.
    "none": Channel("none", _NOTHING, _NOTHING, _NOTHING, positions_max=1, is_instant=True),
    # Paper 004, IV-A: a wired network adds less than a millisecond, packaging up to 45 ms, so that low
    # priority positions come after at most 145 ms and the ball's after 5. At 70 % of the system's capacity
    # nothing is lost or held back; what the two antennas at a packet's border both hear comes twice.
    "rtls": Channel(
        "rtls", _BALL, _BODY, Delay(0, 1_000), duplicate_share=0.005, duplicate_lag=Delay(100, 1_000)
    ),
    # Receivers behind a wireless LAN: tens of milliseconds (004, IV-A; 001, table 4: S-7 to S-9 take 32 to
    # 39 ms in the median, half of it there and back), a pause of up to 0.2 s every half minute, one packet
    # in a thousand lost, one in a hundred sent again although it had come.
    "wifi": Channel(
        "wifi",
        _BALL,
        _BODY,
        Delay(2_000, 120_000, 8.0),
        burst_every_s=30.0,
        burst=Delay(30_000, 200_000, 2.0),
        duplicate_share=0.01,
        duplicate_lag=Delay(1_000, 60_000, 3.0),
        loss_share=0.001,
    ),
    # As bad as the mobile sessions D-1 to D-5 of 001 at their worst moments: whole receivers silent for up to
    # 1.5 s every twenty seconds, one packet in fifty lost, one in twenty doubled.
    "harsh": Channel(
        "harsh",
        _BALL,
        _BODY,
        Delay(2_000, 300_000, 8.0),
        burst_every_s=20.0,
        burst=Delay(200_000, 1_500_000, 1.5),
        duplicate_share=0.05,
        duplicate_lag=Delay(1_000, 200_000, 3.0),
        loss_share=0.02,
    ),
}


def channel_named(name: str) -> Channel:
    """The channel of that name.

    Raises:
        ChannelError: there is none.
    """
    if name not in CHANNELS:
        raise ChannelError(f"no channel {name!r}: there are {', '.join(CHANNELS)}")
    return CHANNELS[name]


@dataclass(frozen=True, eq=False)
class Transmission:
    """Every packet that reaches the gateway, in arrival order: columns of one row per delivered copy.

    Attributes:
        recording, channel, seed: what was sent, and how.
        arrival_us: ascending.
        track: index into ``recording.tracks``.
        start, stop: rows of that track in the packet.
        sequence: number of the packet.
        sent: packets sent; ``lost`` (transmitter, sequence) of those that never arrived; ``duplicates``
            delivered second copies. ``len(arrival_us) == sent - len(lost) + duplicates``.
    """

    recording: Recording
    channel: Channel
    seed: int
    arrival_us: Ints
    track: Ints
    start: Ints
    stop: Ints
    sequence: Ints
    sent: int
    lost: tuple[tuple[str, int], ...]
    duplicates: int

    @cached_property
    def block_us(self) -> Ints:
        """Arrival time of the block that each packet comes in: the latest real arrival in its slot.

        No packet is released before it arrived. Without a channel every instant has its own block.
        """
        if self.channel.is_instant or not len(self.arrival_us):
            return self.arrival_us
        slots = self.arrival_us // SLOT_US
        last = np.append(np.flatnonzero(np.diff(slots)), len(slots) - 1)
        return np.repeat(self.arrival_us[last], np.diff(np.append(-1, last)))

    def blocks(self) -> Iterator[Block]:
        """The packets as blocks, in arrival order."""
        tracks = self.recording.tracks
        held: list[Packet] = []
        now_us: int | None = None
        rows = zip(self.block_us, self.track, self.sequence, self.start, self.stop, strict=True)
        for block_us, track, sequence, start, stop in rows:
            if block_us != now_us and now_us is not None:
                yield Block(int(now_us), tuple(held))
                held = []
            now_us = block_us
            held.append(tracks[track].packet(int(sequence), int(start), int(stop)))
        if now_us is not None:
            yield Block(int(now_us), tuple(held))


@dataclass(frozen=True, eq=False)
class _Sent:
    """One track's packets: bounds, moment of sending, and for each delivered copy its packet and arrival."""

    start: Ints
    stop: Ints
    copies: Ints
    arrival_us: Ints
    lost: Ints


def transmit(recording: Recording, channel: Channel, seed: int) -> Transmission:
    """Sends a recording through a channel. The same three arguments give the same transmission."""
    sent = [_send(track, channel, seed) for track in recording.tracks]
    which = np.concatenate([np.full(len(s.copies), i) for i, s in enumerate(sent)] or [np.empty(0, np.int64)])
    empty = [np.empty(0, np.int64)]
    arrival = np.concatenate([s.arrival_us for s in sent] or empty)
    sequence = np.concatenate([s.copies for s in sent] or empty)
    start = np.concatenate([s.start[s.copies] for s in sent] or empty)
    stop = np.concatenate([s.stop[s.copies] for s in sent] or empty)
    order = np.lexsort((sequence, which, arrival))
    lost = [(t.transmitter, n) for t, s in zip(recording.tracks, sent, strict=True) for n in s.lost.tolist()]
    total = sum(len(s.start) for s in sent)
    return Transmission(
        recording,
        channel,
        seed,
        arrival[order],
        which[order],
        start[order],
        stop[order],
        sequence[order],
        total,
        tuple(lost),
        len(order) - total + len(lost),
    )


def _send(track: Track, channel: Channel, seed: int) -> _Sent:
    is_ball = raw_kind(track.transmitter) == "raw.ball"
    start = cut(track, channel.positions_max, channel.ball_span_us if is_ball else channel.body_span_us)
    stop = np.append(start[1:], len(track))
    if channel.is_instant:
        everything = np.arange(len(start))
        return _Sent(start, stop, everything, track.ts_us[track.line], np.empty(0, np.int64))
    rng = np.random.default_rng([seed, crc32(track.transmitter.encode())])
    ready = extracted_us(track, channel.ball if is_ball else channel.body, rng)
    left = np.maximum.reduceat(ready, start)
    lost = rng.random(len(start)) < channel.loss_share
    doubled = ~lost & (rng.random(len(start)) < channel.duplicate_share)
    first = left + channel.network.draw(rng, len(left))
    second = first + channel.duplicate_lag.draw(rng, len(left))
    receiver = crc32(track.transmitter.encode()) % RECEIVERS
    copies, arrivals = [], []
    for mask, times, heard_by in ((~lost, first, receiver), (doubled, second, receiver + 1)):
        numbers = np.flatnonzero(mask)
        copies.append(numbers)
        arrivals.append(_after_bursts(times[numbers], channel, seed, heard_by % RECEIVERS, track))
    return _Sent(start, stop, np.concatenate(copies), np.concatenate(arrivals), np.flatnonzero(lost))


def extracted_us(track: Track, extraction: Delay, rng: np.random.Generator) -> Ints:
    """When each position of a track has been extracted.

    A row off the time line does not know when it was measured: it counts with the row before it.
    """
    delays = extraction.draw(rng, len(track))
    ready = track.ts_us + delays
    if len(track.line) < len(track):
        on_line = np.zeros(len(track), bool)
        on_line[track.line] = True
        ready[~on_line] = np.iinfo(np.int64).min
    return ready


def _after_bursts(times: Ints, channel: Channel, seed: int, receiver: int, track: Track) -> Ints:
    """Arrivals after a receiver's silences: what falls into one comes at its end, in the order of its numbers."""
    if not channel.burst_every_s or not len(times):
        return times
    begins, ends = silences(channel, seed, receiver, int(track.ts_us[track.line[-1]]))
    inside = np.searchsorted(begins, times, side="right") - 1
    held = (inside >= 0) & (times < ends[inside])
    return np.where(held, ends[inside], times)


def silences(channel: Channel, seed: int, receiver: int, until_us: int) -> tuple[Ints, Ints]:
    """Begins and ends of a receiver's silences, in arrival time, from 0 to at least ``until_us``."""
    rng = np.random.default_rng([seed, 0xB0B, receiver])
    # Enough that running short is out of the question: six standard deviations above the mean count. One
    # row of random numbers a silence, so that asking for a longer time does not change the earlier ones.
    mean = max(until_us, 0) / 1e6 / channel.burst_every_s
    shares = rng.random((int(mean + 6 * np.sqrt(mean) + 10), 2))
    gaps = (-np.log1p(-shares[:, 0]) * channel.burst_every_s * 1e6).astype(np.int64)
    lengths = channel.burst.at(shares[:, 1])
    begins = np.cumsum(gaps + np.append(0, lengths[:-1]))
    return begins, begins + lengths
