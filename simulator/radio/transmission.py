"""The path of a position from a tag to the gateway: extraction, packets, receivers, network; interval by interval.

Theory of operation
-------------------
The path of a position (paper 004, section IV-A) has these stages, and each channel is a set of numbers for them:

1. *extraction*: the position is computed from the microwave signal. The ball has priority; the others wait.
2. *packaging*: a packet leaves when its last position has been extracted. It closes after ten positions, or
   after the time that ten positions take at the paper's rates (4.5 ms of a 2,000 Hz ball, 45 ms of a 200 Hz
   limb): a slower transmitter sends fewer positions a packet rather than older ones.
3. *receivers*: each transmitter belongs to one, which dates its positions by its own clock (drifting, and
   synchronized now and then) and may fail for a while. The next receiver hears some packets too: it delivers a second
   copy a little later under the same number, or the only one while the first is out.
4. *network*: a fixed latency of each receiver, a jitter for every packet, and bursts: a receiver is silent for a
   while and then delivers everything that it holds at once. Some packets are lost altogether.

Every transmitter has two random streams (extraction, packets), made of the seed and its name, every receiver one
for each of its properties, and each number is drawn for one row, packet or spell in order. Hence one seed gives
one transmission, whatever else is sent and however the stream is cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple
from zlib import crc32

import numpy as np
import numpy.typing as npt

from football.packet_table import Floats, Ints, Packets, Values, bounds_of, concat, concatenated_ranges, no_packets
from football.packets import raw_kind

#: The gateway hands on what it got in slots of this length.
SLOT_US = 10_000

#: Receivers; every transmitter belongs to one of them.
RECEIVERS = 4

_EXTRACTION, _PACKETS = 1, 2
_SILENCES, _FAILURES, _CLOCK, _LATENCY = 0xB0B, 0xF41, 0xC10C, 0x1A4E

#: Spells are drawn in portions of so many.
_SPELLS = 16

_NEVER_US = 2**62


@dataclass(frozen=True)
class Delay:
    """A random delay, ``min + (max - min) * Beta(1, steepness)``: bounded, mostly short, rarely long.

    The mean lies ``1 / (1 + steepness)`` of the range above the minimum; steepness 1 is uniform.
    """

    min_us: int
    max_us: int
    steepness: float = 1.0

    def draw(self, rng: np.random.Generator, size: int) -> Ints:
        """Draw ``size`` delays in whole microseconds."""
        return self.at(rng.random(size))

    def at(self, uniform: Floats) -> Ints:
        """Return the delays for numbers uniform in [0, 1)."""
        share = 1.0 - uniform ** (1.0 / self.steepness)
        return (self.min_us + (self.max_us - self.min_us) * share).astype(np.int64)

    def share_below(self, delay_us: Floats) -> Floats:
        """Return the share of delays of at most ``delay_us`` (the distribution function)."""
        share = np.clip((delay_us - self.min_us) / max(self.max_us - self.min_us, 1), 0.0, 1.0)
        return 1.0 - (1.0 - share) ** self.steepness


NO_DELAY = Delay(0, 0)


@dataclass(frozen=True)
class Channel:
    """Numbers of a channel; the module's theory of operation explains them.

    Attributes:
        ball, body: extraction delay of one position by priority.
        network: jitter of every packet; ``latency``: fixed delay of each receiver.
        positions_max: greatest number of positions in a packet.
        ball_span_us, body_span_us: a packet closes before it spans this.
        burst_every_s: mean time between a receiver's silences; 0 for none. ``burst``: how long it is silent.
        duplicate_share: share of packets that the next receiver delivers too, ``duplicate_lag`` later.
        loss_share: share of packets that nobody delivers.
        drift_ppm: greatest drift of a receiver's clock, which is synchronized every ``resync_us``.
        failure_every_s: mean time between a receiver's failures; 0 for none. ``failure``: how long it is out.
        overheard_share: share of a failed receiver's packets that the next one hears and delivers.
        is_instant: nothing is delayed: arrival is event time, with one position a packet.
    """

    name: str
    ball: Delay
    body: Delay
    network: Delay
    latency: Delay = NO_DELAY
    positions_max: int = 10
    ball_span_us: int = 5_000
    body_span_us: int = 50_000
    burst_every_s: float = 0.0
    burst: Delay = NO_DELAY
    duplicate_share: float = 0.0
    duplicate_lag: Delay = NO_DELAY
    loss_share: float = 0.0
    drift_ppm: float = 0.0
    resync_us: int = 10_000_000
    failure_every_s: float = 0.0
    failure: Delay = NO_DELAY
    overheard_share: float = 0.0
    is_instant: bool = False

    @property
    def slot_us(self) -> int:
        """Length of the gateway's slots; 0 if every instant is passed on separately."""
        return 0 if self.is_instant else SLOT_US

    @property
    def clock_error_max_us(self) -> int:
        """Greatest error of an event time."""
        return int(self.drift_ppm * 1e-6 * self.resync_us) + 1 if self.drift_ppm else 0

    def extraction(self, is_ball: bool) -> Delay:
        """Extraction delay by priority."""
        return self.ball if is_ball else self.body

    def span_us(self, is_ball: bool) -> int:
        """Bound of a packet's time by priority."""
        return self.ball_span_us if is_ball else self.body_span_us

    def delay_max_us(self, is_ball: bool) -> int:
        """Longest time from a packet's first position to its block, second copies and clock errors included."""
        if self.is_instant:
            return 0
        packaging = self.span_us(is_ball) if self.positions_max > 1 else 0
        share = self.latency.max_us + self.network.max_us + self.duplicate_lag.max_us + self.burst.max_us
        return self.extraction(is_ball).max_us + packaging + share + self.clock_error_max_us + SLOT_US

    def single(self) -> Channel:
        """The same channel with every position in a packet of its own."""
        return replace(self, positions_max=1)


class Spells:
    """Recurring times in which a receiver is silent, or out; generated as far as they are asked for."""

    def __init__(self, seed: Sequence[int], every_s: float, length: Delay) -> None:
        self._rng = np.random.default_rng(list(seed))
        self._every_us, self._length = every_s * 1e6, length
        self.begins_us: Ints = np.empty(0, np.int64)
        self.ends_us: Ints = np.empty(0, np.int64)

    def reach(self, until_us: int) -> None:
        """Generate spells until one begins after ``until_us``."""
        while self._every_us and (not len(self.begins_us) or self.begins_us[-1] <= until_us):
            shares = self._rng.random((_SPELLS, 2))
            gaps = (-np.log1p(-shares[:, 0]) * self._every_us).astype(np.int64)
            lengths = self._length.at(shares[:, 1])
            before_us = self.ends_us[-1] if len(self.ends_us) else 0
            ends = before_us + np.cumsum(gaps + lengths)
            self.begins_us = np.concatenate([self.begins_us, ends - lengths])
            self.ends_us = np.concatenate([self.ends_us, ends])

    def end_of(self, times_us: Ints) -> Ints:
        """For each time return the end of the spell that it falls into, or the time itself."""
        if not self._every_us or not len(times_us):
            return times_us
        self.reach(int(times_us.max()))
        which = np.searchsorted(self.begins_us, times_us, side="right") - 1
        ends = self.ends_us[np.maximum(which, 0)]
        return np.where((which >= 0) & (times_us < ends), ends, times_us)


class Receiver:
    """One receiver: its latency, its clock, its silences and failures."""

    def __init__(self, channel: Channel, seed: int, number: int) -> None:
        self.latency_us = int(channel.latency.draw(np.random.default_rng([seed, _LATENCY, number]), 1)[0])
        rate, phase = np.random.default_rng([seed, _CLOCK, number]).random(2)
        self._drift = (2.0 * rate - 1.0) * channel.drift_ppm * 1e-6
        self._resync_us = channel.resync_us
        self._set_us = int(phase * channel.resync_us)
        self.silences = Spells((seed, _SILENCES, number), channel.burst_every_s, channel.burst)
        self.failures = Spells((seed, _FAILURES, number), channel.failure_every_s, channel.failure)

    def dated(self, ts_us: Ints) -> Ints:
        """Return event times by its clock, which gains or loses evenly between synchronizations."""
        if not self._drift:
            return ts_us
        return ts_us + ((ts_us - self._set_us) % self._resync_us * self._drift).astype(np.int64)

    def is_up(self, times_us: Ints) -> npt.NDArray[np.bool_]:
        """Return whether it works at those times."""
        return self.failures.end_of(times_us) == times_us


class Copies(NamedTuple):
    """Delivered copies of one transmitter's packets.

    Attributes:
        sequence, start, stop, arrival_us: of each copy; rows count from the first one that was still held.
        done: number of rows that are in packets now and may be dropped.
        lost: numbers of the packets that nobody delivered; ``sent`` packets in all.
    """

    sequence: Ints
    start: Ints
    stop: Ints
    arrival_us: Ints
    done: int
    lost: Ints
    sent: int


class Sender:
    """One transmitter's path through a channel; works on times only, and continues from call to call.

    Args:
        name: of the transmitter; decides its priority, its receiver and its random numbers.
        receivers: all of them.
    """

    def __init__(self, name: str, channel: Channel, seed: int, receivers: Sequence[Receiver]) -> None:
        self.channel, self.is_ball = channel, raw_kind(name) == "raw.ball"
        code = crc32(name.encode())
        self.home = receivers[code % len(receivers)]
        self._second = receivers[(code + 1) % len(receivers)]
        self._extraction = np.random.default_rng([seed, code, _EXTRACTION])
        self._packets = np.random.default_rng([seed, code, _PACKETS])
        self._min_us = channel.extraction(self.is_ball).min_us
        self._times_us = self._ready_us = np.empty(0, np.int64)
        self._sequence = 0

    def send(self, ts_us: Ints, until_us: int = _NEVER_US) -> Copies:
        """Take the next positions' times, strictly increasing; none before ``until_us`` will follow."""
        channel = self.channel
        if channel.is_instant:
            numbers = self._sequence + np.arange(len(ts_us))
            self._sequence += len(ts_us)
            rows = np.arange(len(ts_us))
            return Copies(numbers, rows, rows + 1, ts_us, len(ts_us), _NONE, len(ts_us))
        ready = ts_us + channel.extraction(self.is_ball).draw(self._extraction, len(ts_us))
        times = np.concatenate([self._times_us, ts_us])
        ready = np.concatenate([self._ready_us, ready])
        span_us = channel.span_us(self.is_ball)
        starts = packet_starts(times, channel.positions_max, span_us)
        if (
            len(starts)
            and len(times) - starts[-1] < channel.positions_max
            and until_us - int(times[starts[-1]]) < span_us
        ):
            done = int(starts[-1])
            starts = starts[:-1]
        else:
            done = len(times)
        self._times_us, self._ready_us = times[done:], ready[done:]
        stops = np.append(starts[1:], done)[: len(starts)]
        left = np.maximum.reduceat(ready[:done], starts) if len(starts) else _NONE
        return self._delivered(starts, stops, left, done)

    def _delivered(self, starts: Ints, stops: Ints, left_us: Ints, done: int) -> Copies:
        channel = self.channel
        numbers = self._sequence + np.arange(len(starts))
        self._sequence += len(starts)
        shares = self._packets.random((len(starts), 4))
        heard = shares[:, 0] >= channel.loss_share
        first_up, second_up = self.home.is_up(left_us), self._second.is_up(left_us)
        is_overheard = shares[:, 1] < np.where(first_up, channel.duplicate_share, channel.overheard_share)
        jitter = channel.network.at(shares[:, 2])
        first = self.home.silences.end_of(left_us + jitter + self.home.latency_us)
        lag = jitter + channel.duplicate_lag.at(shares[:, 3])
        second = self._second.silences.end_of(left_us + lag + self._second.latency_us)
        by_first, by_second = heard & first_up, heard & second_up & is_overheard
        copies = np.concatenate([np.flatnonzero(by_first), np.flatnonzero(by_second)])
        arrivals = np.concatenate([first[by_first], second[by_second]])
        lost = numbers[~(by_first | by_second)]
        return Copies(numbers[copies], starts[copies], stops[copies], arrivals, done, lost, len(numbers))

    def earliest_us(self, until_us: int) -> int:
        """Return the earliest arrival of packets still to come, if all positions before ``until_us`` were given."""
        if self.channel.is_instant:
            return until_us
        ready_us = int(self._ready_us.max()) if len(self._ready_us) else until_us + self._min_us
        return ready_us + self.channel.network.min_us + self.channel.latency.min_us


_NONE: Ints = np.empty(0, np.int64)


def receivers_of(channel: Channel, seed: int) -> tuple[Receiver, ...]:
    """All receivers of a channel."""
    return tuple(Receiver(channel, seed, number) for number in range(RECEIVERS))


def packet_starts(times_us: Ints, positions_max: int, span_us: int) -> Ints:
    """Return the row indexes at which packets begin, the first of them 0; none for no times.

    A packet takes up to ``positions_max`` rows and closes before it spans ``span_us``.
    """
    if positions_max == 1 or not len(times_us):
        return np.arange(len(times_us))
    rows = np.arange(len(times_us))
    by_span = np.searchsorted(times_us, times_us + span_us)
    following = np.maximum(np.minimum(by_span, rows + positions_max), rows + 1).tolist()
    starts = [0]
    while (after := following[starts[-1]]) < len(following):
        starts.append(after)
    return np.array(starts)


class Rows(NamedTuple):
    """Positions of one transmitter, in order: times, and values as in :class:`football.packet_table.Packets`."""

    ts_us: Ints
    values: Values


class Radio:
    """Sends all transmitters through a channel, interval by interval: positions in, packets out.

    Args:
        names: transmitters, in the order in which packets of one arrival time come.
        width: of the values.

    Attributes:
        sent, lost, duplicates: packets so far.
    """

    def __init__(self, names: Sequence[str], channel: Channel, seed: int, width: int) -> None:
        receivers = receivers_of(channel, seed)
        self.names = tuple(names)
        self._senders = [Sender(name, channel, seed, receivers) for name in self.names]
        self._waiting = [Rows(_NONE, np.empty((0, width), np.int32)) for _ in self.names]
        self._held = no_packets(self.names, width)
        self.sent = self.lost = self.duplicates = 0

    def send(self, measured: Sequence[Rows], until_us: int, *, final: bool = False) -> Packets:
        """Take the positions of an interval; return the packets that have arrived by then, in arrival order.

        Args:
            measured: of each transmitter in turn.
            until_us: all positions before this time have been given, with these.
            final: none will follow; everything is returned.
        """
        parts: list[Packets] = [self._held]
        for tag, (sender, waiting, rows) in enumerate(zip(self._senders, self._waiting, measured, strict=True)):
            if len(rows.ts_us) or len(waiting.ts_us):
                parts.append(self._sent(tag, sender, waiting, rows, _NEVER_US if final else until_us))
        arrived = concat(parts)
        order = np.lexsort((arrived.sequence, arrived.tag, arrived.arrival_us))
        horizon_us = _NEVER_US if final else min(sender.earliest_us(until_us) for sender in self._senders)
        ready = int(np.searchsorted(arrived.arrival_us[order], horizon_us))
        self._held = arrived.taken(order[ready:])
        return arrived.taken(order[:ready])

    def _sent(self, tag: int, sender: Sender, waiting: Rows, rows: Rows, until_us: int) -> Packets:
        copies = sender.send(rows.ts_us, until_us)
        if len(waiting.ts_us):
            rows = Rows(np.concatenate([waiting.ts_us, rows.ts_us]), np.concatenate([waiting.values, rows.values]))
        self._waiting[tag] = Rows(rows.ts_us[copies.done :], rows.values[copies.done :])
        self.sent += copies.sent
        self.lost += len(copies.lost)
        self.duplicates += len(copies.sequence) - (copies.sent - len(copies.lost))
        sizes = copies.stop - copies.start
        positions = concatenated_ranges(copies.start, sizes)
        return Packets(
            self.names, copies.arrival_us, np.full(len(sizes), tag, np.int64), copies.sequence, bounds_of(sizes),
            sender.home.dated(rows.ts_us)[positions], rows.values[positions],
        )  # fmt: skip
