"""The named radio channels, and a whole recording sent through one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from football.errors import UserError
from football.packet_table import WIDTH, Ints, Packets, block_times, bounds_of, concatenated_ranges, to_mm
from football.packets import Block
from football.recording import Recording
from simulator.radio.transmission import NO_DELAY, Channel, Delay, Sender, receivers_of


class ChannelError(UserError, ValueError):
    """No channel of that name; the message lists the known ones."""


#: Extraction as Fig. 6 of paper 004 has it: the ball within 5 ms, the others within 5 to 100 ms, both with the
#: network's share included; most of the low priority positions come within some 30 ms, few after 80. The ball's
#: delays lean to their upper end: else fewer than 95 % of single positions were overtaken.
_BALL = Delay(200, 3_800, 0.6)
_BODY = Delay(5_000, 98_800, 4.0)

CHANNELS = {
    # Arrival is event time: for files that are to be taken as they are.
    "none": Channel("none", NO_DELAY, NO_DELAY, NO_DELAY, positions_max=1, is_instant=True),
    # Paper 004, IV-A: routers and lanes of a wired network add less than a millisecond, packaging up to 45 ms, so
    # that single low priority positions come after at most 100 ms, packed ones after 145, and the ball's after 5
    # (packed: 9.5). The antennas are synchronised over fibre. At 70 % of the system's capacity nothing is lost or
    # held back; what two antennas at a packet's border both hear comes twice.
    "rtls": Channel(
        "rtls", _BALL, _BODY, Delay(0, 500), Delay(0, 200), duplicate_share=0.005, duplicate_lag=Delay(100, 500)
    ),
    # Receivers behind a wireless LAN: tens of milliseconds (004, IV-A; 001, table 4: S-7 to S-9 take 32 to
    # 39 ms in the median, half of it there and back), a pause of up to 0.2 s every half minute, one packet
    # in a thousand lost, one in a hundred sent again although it had come. Clocks are quartzes, set every 10 s.
    "wifi": Channel(
        "wifi",
        _BALL,
        _BODY,
        Delay(2_000, 120_000, 8.0),
        Delay(0, 3_000),
        burst_every_s=30.0,
        burst=Delay(30_000, 200_000, 2.0),
        duplicate_share=0.01,
        duplicate_lag=Delay(1_000, 60_000, 3.0),
        loss_share=0.001,
        drift_ppm=10.0,
    ),
    # As bad as the mobile sessions D-1 to D-5 of 001 at their worst moments: whole receivers silent for up to
    # 1.5 s every twenty seconds, one packet in fifty lost, one in twenty doubled, clocks wrong by up to 0.4 ms;
    # every three minutes a receiver is out for up to eight seconds, and its neighbour hears seven packets in ten.
    "harsh": Channel(
        "harsh",
        _BALL,
        _BODY,
        Delay(2_000, 300_000, 8.0),
        Delay(0, 10_000),
        burst_every_s=20.0,
        burst=Delay(200_000, 1_500_000, 1.5),
        duplicate_share=0.05,
        duplicate_lag=Delay(1_000, 200_000, 3.0),
        loss_share=0.02,
        drift_ppm=40.0,
        failure_every_s=180.0,
        failure=Delay(2_000_000, 8_000_000),
        overheard_share=0.7,
    ),
}


def channel_named(name: str) -> Channel:
    """Return the channel of a name.

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
        """Arrival time of the block that each packet comes in, see :func:`football.packet_table.block_times`."""
        return block_times(self.arrival_us, self.channel.slot_us)

    def packets(self) -> Packets:
        """Return the delivered packets with their content: event times by the receivers' clocks, positions in mm."""
        tracks = self.recording.tracks
        names = tuple(track.transmitter for track in tracks)
        receivers = receivers_of(self.channel, self.seed)
        homes = [Sender(name, self.channel, self.seed, receivers).home for name in names]
        times = [home.dated(track.ts_us) for home, track in zip(homes, tracks, strict=True)]
        values = [np.full((len(track), WIDTH), 100, np.int32) for track in tracks]
        for table, track in zip(values, tracks, strict=True):
            table[:, :3] = to_mm(np.column_stack([track.x_m, track.y_m, track.z_m]))
        begins = bounds_of(np.array([len(track) for track in tracks], np.int64))
        sizes = self.stop - self.start
        rows = concatenated_ranges(begins[self.track] + self.start, sizes)
        ts_us = np.concatenate([*times, np.empty(0, np.int64)])[rows]
        every = np.concatenate([*values, np.empty((0, WIDTH), np.int32)])
        return Packets(names, self.arrival_us, self.track, self.sequence, bounds_of(sizes), ts_us, every[rows])

    def blocks(self) -> Iterator[Block]:
        """The packets as blocks, in arrival order."""
        return self.packets().blocks(self.channel.slot_us)


def transmit(recording: Recording, channel: Channel, seed: int) -> Transmission:
    """Send a recording through a channel. The same three arguments give the same transmission.

    Rows off a track's time line have no measuring time of their own: they travel in the packet of the row before them.
    """
    receivers = receivers_of(channel, seed)
    columns: list[list[Ints]] = [[], [], [], [], []]
    lost: list[tuple[str, int]] = []
    total = 0
    for number, track in enumerate(recording.tracks):
        copies = Sender(track.transmitter, channel, seed, receivers).send(track.ts_us[track.line])
        edges = np.append(track.line, len(track))
        edges[0] = 0  # rows off the line before its first row ride in the first packet
        total += copies.sent
        lost += [(track.transmitter, n) for n in copies.lost.tolist()]
        mine = np.full(len(copies.sequence), number)
        columns_of_packets = (copies.arrival_us, mine, edges[copies.start], edges[copies.stop], copies.sequence)
        for column, values in zip(columns, columns_of_packets, strict=True):
            column.append(values)
    arrival, which, start, stop, sequence = (np.concatenate([*c, np.empty(0, np.int64)]) for c in columns)
    order = np.lexsort((sequence, which, arrival))
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
