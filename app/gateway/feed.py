"""One feed of a match: from messages to packets on the gateway's time line, with figures of all that happened.

The gateway's time line begins at ``zero_us`` (UTC): event and arrival times are microseconds since then, so a capture
of a feed needs no date, and its UTC is known. A packet gets its number from the source if the source counts the packets
of each tag, so that the engine sees what was lost; else the feed counts.
"""

from __future__ import annotations

from collections import Counter, deque

import msgspec

from app.gateway.clock import ArrivalJitter, ClockFigures, SourceClock
from app.gateway.decoder import Decoder, Measurement
from app.gateway.identities import Identifier, TagTable
from app.gateway.profile import TIME_UNITS, Profile
from football.match_sheet import MatchSheet
from football.packets import Packet, RejectedRecord
from football.untrusted import REJECTED_MAX, SOURCES_MAX

#: Event times of a transmitter that are remembered, so that a copy of a datagram is known.
_REMEMBERED = 64

#: Time at the beginning in which the clock of a source is only learned. Its packets wait: at the first one nobody knows
#: how long it took, and event times that jump are worse than a late start.
SETTLE_US = 1_000_000

#: Packets that wait while a clock is learned.
_SETTLING_MAX = 100_000

#: Positions, and messages, of a feed in a second; more are left out. A match at full rate has 36,000 positions.
POSITIONS_S_MAX = 200_000

#: Latencies of which the figures are computed.
_LATENCIES_MAX = 4_096

#: Refused records that are kept until somebody takes them; further ones are counted.
_REFUSED_WAITING_MAX = 1_000


class FeedFigures(msgspec.Struct, frozen=True):
    """Figures of a feed since its beginning.

    Attributes:
        messages, bytes: received.
        positions: passed on.
        copies: positions with a time that their transmitter had already.
        disordered: positions older than the newest of their transmitter.
        lost_messages: numbers that are missing, of a source that counts its messages.
        refused: records that cannot be used, by reason.
        left_out: records that the profile leaves out, by reason.
        latency_p50_us, latency_p95_us: from event to arrival, of the newest positions.
        jitter_us: of arrivals, for a source without times; else 0.
        clock: see :class:`app.gateway.clock.ClockFigures`.
        transmitters: positions of each transmitter.
    """

    messages: int
    bytes: int
    positions: int
    copies: int
    disordered: int
    lost_messages: int
    refused: dict[str, int]
    left_out: dict[str, int]
    latency_p50_us: int
    latency_p95_us: int
    jitter_us: float
    clock: ClockFigures
    transmitters: dict[str, int]


class _Tag:
    """Memory of one transmitter."""

    __slots__ = ("arrival_us", "count", "newest_us", "order", "recent", "sequence")

    def __init__(self) -> None:
        self.recent: set[int] = set()
        self.order: deque[int] = deque()
        self.newest_us = self.arrival_us = -(2**62)
        self.sequence = 0
        self.count = 0

    def is_new(self, ts_us: int) -> bool:
        """Remember an event time; False if the transmitter had it already."""
        if ts_us in self.recent:
            return False
        self.recent.add(ts_us)
        self.order.append(ts_us)
        if len(self.order) > _REMEMBERED:
            self.recent.discard(self.order.popleft())
        return True


class Feed:
    """Turns the messages of one source into packets.

    Args:
        name: of the feed, in figures and refused records.
        profile: its form.
        sheet: of the match.
        zero_us: UTC of the time line's zero.
        table: of tags that may change, or None.

    Raises:
        GatewayProfileError: the profile contradicts itself or the sheet.
    """

    def __init__(
        self, name: str, profile: Profile, sheet: MatchSheet, zero_us: int, table: TagTable | None = None
    ) -> None:
        self.name, self.profile, self._zero_us = name, profile, zero_us
        self.identifier = Identifier(profile.identities, sheet, table)
        self.decoder = Decoder(profile, sheet, self.identifier)
        time = profile.time
        factor, divisor = TIME_UNITS.get(time.unit, (1_000_000, 1))
        per_unit_us = factor / divisor if time.unit != "frames" else 1e6 / time.rate_hz
        fixed_us = -zero_us if time.clock == "utc" else None
        self.clock = SourceClock(time.latency_us, round(time.wraps_at * per_unit_us), fixed_us)
        self._jitter = ArrivalJitter()
        self._framed = profile.quality.framed
        self._counts_tags = profile.sequence.counts == "tag"
        self._settles = fixed_us is None
        self._settling: list[tuple[list[Measurement], int]] = []
        self._tags: dict[str, _Tag] = {}
        self._second, self._allowed, self._is_over = 0, POSITIONS_S_MAX, False
        #: Positions that wait, by transmitter and, where the source counts packets, number.
        self._waiting: dict[tuple[str, int], list[tuple[int, float, float, float, float]]] = {}
        self._frames: list[tuple[Packet, ...]] = []
        self._refused: Counter[str] = Counter()
        self.refused_records: deque[RejectedRecord] = deque(maxlen=_REFUSED_WAITING_MAX)
        self._messages = self._bytes = self._positions = self._copies = self._disordered = self._lost = 0
        self._last_number = -1
        self._latencies_us: deque[int] = deque(maxlen=_LATENCIES_MAX)

    def receive(self, message: bytes, topic: str, arrival_us: int) -> None:
        """Take in a message that has arrived at a time of the gateway's time line."""
        self._messages += 1
        self._bytes += len(message)
        if self._is_too_fast(arrival_us):
            return
        wall_us = arrival_us + self._zero_us
        self.identifier.refresh(wall_us)
        measurements, rejected = self.decoder.decode(message, topic, wall_us)
        self._allowed -= max(1, len(measurements))
        for record in rejected:
            self._refuse(record)
        if measurements and measurements[0].sequence >= 0 and not self._counts_tags:
            self._count_message(measurements[0].sequence)
        if self._settles:
            self._settle(measurements, arrival_us)
        else:
            self._place_all(measurements, arrival_us)

    def _is_too_fast(self, arrival_us: int) -> bool:
        """True if a message comes after more positions in this second than any match has; it is counted."""
        second = arrival_us // 1_000_000
        if second != self._second:
            self._second, self._allowed, self._is_over = second, POSITIONS_S_MAX, False
        if self._allowed > 0:
            return False
        reason = f"faster than {POSITIONS_S_MAX} positions a second"
        if not self._is_over:
            self._is_over = True
            self._refuse(RejectedRecord(f"message {self._messages}", "", -1, None, reason, ""))
        else:
            self._refused[reason] += 1
        return True

    def finish(self) -> None:
        """Place what still waits for the clock; nothing comes any more."""
        self._settles = False
        for measurements, arrival_us in self._settling:
            self._place_all(measurements, arrival_us)
        self._settling = []

    def _settle(self, measurements: list[Measurement], arrival_us: int) -> None:
        """Learn the source's clock; place everything when that is done."""
        newest_us = max((m.source_us for m in measurements if m.source_us is not None), default=None)
        if newest_us is not None:
            self.clock.event_us(newest_us, arrival_us)
        if measurements:
            self._settling.append((measurements, arrival_us))
        if self._settling and (
            arrival_us >= self._settling[0][1] + SETTLE_US or len(self._settling) >= _SETTLING_MAX or newest_us is None
        ):
            self.finish()

    def _place_all(self, measurements: list[Measurement], arrival_us: int) -> None:
        if len(measurements) > 1:  # the newest has waited least, and shows the clock
            measurements = sorted(measurements, key=_newest_first)
        for measurement in measurements:
            self._place(measurement, arrival_us)
        if self._framed and self._waiting:
            self._frames.append(self._packets())

    def take(self) -> list[tuple[Packet, ...]]:
        """Return what waits: the packets of one block; of a source of frames those of a block a frame."""
        if self._framed:
            frames, self._frames = self._frames, []
            return frames
        return [self._packets()] if self._waiting else []

    @property
    def newest_us(self) -> int:
        """Newest event time so far."""
        return max((tag.newest_us for tag in self._tags.values()), default=-(2**62))

    def figures(self) -> FeedFigures:
        """Return the figures of the feed."""
        latencies = sorted(self._latencies_us)
        p50, p95 = (latencies[int(len(latencies) * share)] if latencies else 0 for share in (0.5, 0.95))
        return FeedFigures(
            self._messages, self._bytes, self._positions, self._copies, self._disordered, self._lost,
            dict(self._refused.most_common(20)), dict(self.decoder.left_out), p50, p95, self._jitter.jitter_us,
            self.clock.figures(), {name: tag.count for name, tag in self._tags.items()},
        )  # fmt: skip

    def _place(self, measured: Measurement, arrival_us: int) -> None:
        """Put a measurement on the time line, with the others of its packet."""
        name = measured.transmitter
        if measured.source_us is None:
            self._jitter.observe(name, arrival_us)
            ts_us: int | None = arrival_us
        else:
            ts_us = self.clock.event_us(measured.source_us, arrival_us)
        if ts_us is None:
            reason = "time that does not fit the source's clock"
            raw = f"{measured.source_us} us"
            self._refuse(RejectedRecord(f"message {self._messages}", name, measured.sequence, None, reason, raw))
            return
        tag = self._tags.get(name)
        if tag is None:
            if len(self._tags) >= SOURCES_MAX:
                reason = f"more than {SOURCES_MAX} transmitters"
                self._refuse(RejectedRecord(f"message {self._messages}", name, -1, ts_us, reason, ""))
                return
            tag = self._tags[name] = _Tag()
        if not tag.is_new(ts_us):
            self._copies += 1
            return
        if ts_us > tag.newest_us:
            tag.newest_us = ts_us
        elif arrival_us != tag.arrival_us:
            self._disordered += 1
        tag.arrival_us = arrival_us
        tag.count += 1
        self._positions += 1
        self._latencies_us.append(arrival_us - ts_us)
        number = measured.sequence if self._counts_tags else -1
        position = (ts_us, measured.x_m, measured.y_m, measured.z_m, measured.quality)
        waiting = self._waiting.get((name, number))
        if waiting is None:
            self._waiting[name, number] = [position]
        else:
            waiting.append(position)

    def _packets(self) -> tuple[Packet, ...]:
        """The waiting positions as packets, oldest first in each."""
        packets = []
        for (name, number), positions in self._waiting.items():
            if len(positions) > 1:
                positions.sort()
            if number < 0:
                tag = self._tags[name]
                number, tag.sequence = tag.sequence, tag.sequence + 1
            ts_us, x_m, y_m, z_m, quality = zip(*positions, strict=True)
            mean = quality[0] if len(positions) == 1 else round(sum(quality) / len(quality) * 100.0) / 100.0
            packets.append(Packet(name, number, ts_us, x_m, y_m, z_m, mean))
        self._waiting = {}
        return tuple(packets)

    def _count_message(self, number: int) -> None:
        """Count the messages that are missing before one."""
        wraps_at = self.profile.sequence.wraps_at
        if self._last_number >= 0:
            step = number - self._last_number
            if wraps_at and step < -wraps_at // 2:
                step += wraps_at
            if 1 < step < REJECTED_MAX:
                self._lost += step - 1
            if step <= 0:
                return
        self._last_number = number

    def _refuse(self, record: RejectedRecord) -> None:
        if len(self._refused) < REJECTED_MAX or record.reason in self._refused:
            self._refused[record.reason.partition(":")[0]] += 1
        self.refused_records.append(record)


def _newest_first(measured: Measurement) -> int:
    return -(measured.source_us or 0)
