"""Packets of positions, as transmitters send them and gateways pass them on.

This module states the project's coordinates once. Metres, origin at the centre spot, x along the pitch (goal lines at
x = +-length/2), y across it, +y to the left of a team that attacks towards +x, z up. Time: integer microseconds from
the source's own zero.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import lru_cache

import msgspec
import numpy as np
import numpy.typing as npt

#: Raw kinds in canonical rank order. At one instant bodies come before the ball, so that whoever looks at a
#: ball position already knows where the players of that instant are.
RAW_KINDS = ("raw.referee", "raw.limb", "raw.player", "raw.ball", "raw.frame", "raw.flag", "raw.official", "raw.end")

#: Raw kinds that come when there is something to say, of people and of the host: nobody waits for the next one.
UNPACED_KINDS = ("raw.flag", "raw.official", "raw.end")

#: Name under which a tracking system says whether the ball is in play: a packet's x is 1 while it is, 0 while not.
ALIVE_FLAG = "alive_flag"

#: Name under which a tracking system speaks that gives all objects of an instant at once.
TRACKING_SYSTEM = "tracking system"


class Packet(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Up to ten positions of one transmitter (paper 004, IV-A), oldest first.

    Attributes:
        transmitter: ``ball``, a source's object id such as ``home_7``, or ``home_7/left_foot`` for a limb.
        sequence: counts this transmitter's packets from 0 without gaps.
        ts_us: event times, strictly increasing.
        x_m, y_m, z_m: positions; same length as ``ts_us``.
        quality: quality of location in [0, 1], one for the packet.
    """

    transmitter: str
    sequence: int
    ts_us: tuple[int, ...]
    x_m: tuple[float, ...]
    y_m: tuple[float, ...]
    z_m: tuple[float, ...]
    quality: float = 1.0


def words_of_flag(packet: Packet) -> tuple[bool, ...]:
    """Return for each time of a packet of the alive flag whether it says that the ball is in play."""
    return tuple([x_m >= 0.5 for x_m in packet.x_m])


class Block(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """All packets that reached the gateway at one arrival time: the unit that is stored and sent."""

    arrival_us: int
    packets: tuple[Packet, ...]


class PackedInstant(msgspec.Struct, frozen=True, gc=False):
    """One position each of some transmitters, all of one event time, in columns: what a tracking system gives at once.

    Twenty-three packets are two hundred objects, which cost more to make and to free than all that is done with them.

    Attributes:
        ts_us: event time.
        names: the transmitters, at least one.
        sequences: numbers of their packets.
        columns: all x, all y, all z in metres, then all qualities, as the memory of float64 numbers.
    """

    ts_us: int
    names: tuple[str, ...]
    sequences: tuple[int, ...]
    columns: bytes

    @property
    def table(self) -> npt.NDArray[np.float64]:
        """Rows x, y, z and quality, a column a transmitter."""
        return np.frombuffer(self.columns, np.float64).reshape(4, -1)

    @property
    def packets(self) -> tuple[Packet, ...]:
        """The same, packet by packet."""
        at_us = (self.ts_us,)
        rows = zip(self.names, self.sequences, *self.table.tolist(), strict=True)
        return tuple(
            [Packet(name, number, at_us, (x,), (y,), (z,), quality) for name, number, x, y, z, quality in rows]
        )


class InstantBlock(msgspec.Struct, frozen=True, gc=False):
    """A :class:`Block` of one packed instant."""

    arrival_us: int
    instant: PackedInstant

    @property
    def packets(self) -> tuple[Packet, ...]:
        """The packets of the instant."""
        return self.instant.packets


def pack_instant(packets: Sequence[Packet]) -> PackedInstant | None:
    """Return packets in columns; None if they do not have one position each, all of one time."""
    times = [packet.ts_us for packet in packets]
    if not times or len(times[0]) != 1 or times.count(times[0]) != len(times):
        return None
    if any(len(p.x_m) != 1 or len(p.y_m) != 1 or len(p.z_m) != 1 for p in packets):
        return None
    x, y, z = [p.x_m[0] for p in packets], [p.y_m[0] for p in packets], [p.z_m[0] for p in packets]
    columns = array("d", [*x, *y, *z, *[p.quality for p in packets]]).tobytes()
    names = tuple([p.transmitter for p in packets])
    return PackedInstant(times[0][0], names, tuple([p.sequence for p in packets]), columns)


@lru_cache(maxsize=4096)
def raw_kind(transmitter: str) -> str:
    """Return the raw kind of a transmitter, by its name alone.

    >>> raw_kind("ball"), raw_kind("home_7/left_foot"), raw_kind("referee_1"), raw_kind("home_7")
    ('raw.ball', 'raw.limb', 'raw.referee', 'raw.player')
    >>> raw_kind("alive_flag")
    'raw.flag'
    """
    if transmitter == ALIVE_FLAG:
        return "raw.flag"
    if transmitter == "ball" or transmitter.startswith("ball_"):
        return "raw.ball"
    if transmitter.startswith("referee"):
        return "raw.referee"
    return "raw.limb" if "/" in transmitter else "raw.player"


class RejectedRecord(msgspec.Struct, frozen=True, gc=False):
    """A record that cannot be used.

    Attributes:
        record: its location, e.g. ``match.capture@1200000 packet 3 position 0`` or ``clip.parquet row 17``.
        transmitter: its transmitter, empty if unknown.
        sequence: its packet's number, -1 if unknown.
        ts_us: event time it claims, None if it has none.
        reason: the reason as text.
        raw: the offending values, short.
    """

    record: str
    transmitter: str
    sequence: int
    ts_us: int | None
    reason: str
    raw: str
