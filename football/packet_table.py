"""Packets as columns, without an object a packet: the form in which radio, captures and analyses use them.

A batch has one row per delivered packet and one row per position; packet ``i`` holds the positions
``bounds[i]:bounds[i + 1]``. Positions are integer millimetres, as an RTLS gives them (paper 000, section 5).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from football.packets import Block, InstantBlock, PackedInstant, Packet

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Values = npt.NDArray[np.int32]

#: Columns of ``Packets.values``: place in mm and quality of location in percent; and, where the source gives them,
#: velocity in mm/s and acceleration in mm/s^2.
POSITION = slice(0, 3)
QUALITY = 3
MOTION = slice(4, 10)
WIDTH, WIDTH_WITH_MOTION = 4, 10

#: What stands for a value that is no number.
MISSING = np.iinfo(np.int32).min

_PORTION = 512
_LARGEST = float(np.iinfo(np.int32).max)


@dataclass(frozen=True, eq=False)
class Packets:
    """Delivered packets in arrival order.

    Attributes:
        names: transmitters; ``tag`` are indexes into it.
        arrival_us, tag, sequence: (n,) of each packet.
        bounds: (n + 1,) first position of each packet, and the number of positions.
        ts_us: (m,) event times of the positions.
        values: (m, WIDTH or WIDTH_WITH_MOTION) see ``POSITION``, ``QUALITY``, ``MOTION``.
    """

    names: tuple[str, ...]
    arrival_us: Ints
    tag: Ints
    sequence: Ints
    bounds: Ints
    ts_us: Ints
    values: Values

    def __post_init__(self) -> None:
        assert len(self.arrival_us) == len(self.tag) == len(self.sequence) == len(self.bounds) - 1
        assert len(self.ts_us) == len(self.values) == self.bounds[-1]

    def __len__(self) -> int:
        """Number of packets."""
        return len(self.arrival_us)

    @property
    def sizes(self) -> Ints:
        """Number of positions of each packet."""
        return np.diff(self.bounds)

    def taken(self, rows: Ints) -> Packets:
        """Return the packets at ``rows``, in that order."""
        sizes = self.sizes[rows]
        positions = concatenated_ranges(self.bounds[:-1][rows], sizes)
        return Packets(
            self.names, self.arrival_us[rows], self.tag[rows], self.sequence[rows], bounds_of(sizes),
            self.ts_us[positions], self.values[positions],
        )  # fmt: skip

    def part(self, first: int, stop: int) -> Packets:
        """Return packets ``first`` to ``stop`` (exclusive)."""
        begin, end = int(self.bounds[first]), int(self.bounds[stop])
        rows, positions = slice(first, stop), slice(begin, end)
        return Packets(
            self.names, self.arrival_us[rows], self.tag[rows], self.sequence[rows],
            self.bounds[first : stop + 1] - begin, self.ts_us[positions], self.values[positions],
        )  # fmt: skip

    def blocks(self, slot_us: int) -> Iterator[Block]:
        """Return the packets as the engine takes them, see :func:`block_times`."""
        times = block_times(self.arrival_us, slot_us)
        first = 0
        while first < len(self):
            # In portions, so that who plays them as time goes is not kept waiting for objects of the far future.
            stop = int(np.searchsorted(times, times[min(first + _PORTION, len(self)) - 1], side="right"))
            packets = self.part(first, stop).objects()
            edges = [0, *(np.flatnonzero(np.diff(times[first:stop])) + 1).tolist(), stop - first]
            for begin, end in pairwise(edges):
                yield Block(int(times[first + begin]), tuple(packets[begin:end]))
            first = stop

    def packed_blocks(self, slot_us: int) -> Iterator[Block | InstantBlock]:
        """Return what :meth:`blocks` does; a block whose packets have one position each, of one time, in columns."""
        if not len(self) or self.sizes.min() != 1 or self.sizes.max() != 1:
            yield from self.blocks(slot_us)
            return
        times = block_times(self.arrival_us, slot_us)
        edges = np.append(np.flatnonzero(np.diff(times, prepend=times[0] - 1)), len(self))
        first_us, last_us = (least.reduceat(self.ts_us, edges[:-1]) for least in (np.minimum, np.maximum))
        columns = np.vstack((self._metres().T, np.rint(self._percents()) / 100.0))
        sequences, names_of, tags = self.sequence.tolist(), _Names(self.names), self.tag.astype(np.int64)
        rows = zip(pairwise(edges.tolist()), times[edges[:-1]].tolist(), first_us.tolist(), strict=True)
        for ((begin, end), at_us, ts_us), is_instant in zip(rows, (first_us == last_us).tolist(), strict=True):
            if is_instant:
                names = names_of[tags[begin:end].tobytes()]
                table = columns[:, begin:end].tobytes()
                yield InstantBlock(at_us, PackedInstant(ts_us, names, tuple(sequences[begin:end]), table))
            else:
                yield Block(at_us, tuple(self.part(begin, end).objects()))

    def _metres(self) -> npt.NDArray[np.float64]:
        millimetres = self.values[:, POSITION]
        metres: npt.NDArray[np.float64] = millimetres / 1000.0
        metres[millimetres == MISSING] = np.nan
        return metres

    def _percents(self) -> npt.NDArray[np.float64]:
        quality = self.values[:, QUALITY].astype(np.float64)
        quality[self.values[:, QUALITY] == MISSING] = np.nan
        return quality

    def objects(self) -> list[Packet]:
        """Return packets as the detectors read them: metres, and one quality in 0..1, the mean of its positions'."""
        if not len(self):
            return []
        x, y, z = (tuple(column.tolist()) for column in self._metres().T)
        ts = tuple(self.ts_us.tolist())
        quality = self._percents()
        sizes = np.maximum(self.sizes, 1)
        means = np.rint(np.add.reduceat(quality, np.minimum(self.bounds[:-1], len(ts) - 1)) / sizes) / 100.0
        bounds = self.bounds.tolist()
        names = self.names
        return [
            Packet(names[tag], number, ts[a:b], x[a:b], y[a:b], z[a:b], mean)
            for tag, number, a, b, mean in zip(
                self.tag.tolist(), self.sequence.tolist(), bounds, bounds[1:], means.tolist(), strict=False
            )
        ]


class _Names(dict[bytes, tuple[str, ...]]):
    """The transmitters of an instant, by the memory of their tags: one tuple for all instants that have the same."""

    def __init__(self, names: tuple[str, ...]) -> None:
        super().__init__()
        self._names = names

    def __missing__(self, tags: bytes) -> tuple[str, ...]:
        """Look the tags up."""
        found = self[tags] = tuple([self._names[tag] for tag in np.frombuffer(tags, np.int64).tolist()])
        return found


def bounds_of(sizes: Ints) -> Ints:
    """Return 0 and the running sums.

    >>> bounds_of(np.array([2, 3])).tolist()
    [0, 2, 5]
    """
    return np.append(0, np.cumsum(sizes)).astype(np.int64)


def concatenated_ranges(starts: Ints, sizes: Ints) -> Ints:
    """Return the indexes of ranges laid end to end.

    >>> spread(np.array([7, 1]), np.array([3, 2])).tolist()
    [7, 8, 9, 1, 2]
    """
    total = int(sizes.sum())
    return np.repeat(starts - (np.cumsum(sizes) - sizes), sizes) + np.arange(total)


def block_times(arrival_us: Ints, slot_us: int) -> Ints:
    """Return the arrival time of each packet's block: the latest arrival in its slot of ``slot_us``.

    A gateway passes on its packets slot by slot, and no packet before it arrived. 0: every instant is a block.
    """
    if slot_us == 0 or not len(arrival_us):
        return arrival_us
    slots = arrival_us // slot_us
    last = np.append(np.flatnonzero(np.diff(slots)), len(slots) - 1)
    return np.repeat(arrival_us[last], np.diff(np.append(-1, last)))


def to_mm(metres: npt.ArrayLike) -> Values:
    """Return millimetres of positions in metres, of any shape; NaN becomes ``MISSING``.

    Positions beyond 2,147 km are clipped to that distance, and so remain recognisable as invalid.
    """
    scaled = np.asarray(metres, np.float64) * 1000.0
    rounded = np.clip(np.rint(scaled), -_LARGEST, _LARGEST)
    return np.where(np.isfinite(scaled), rounded, MISSING).astype(np.int32)


def no_packets(names: tuple[str, ...], width: int = WIDTH) -> Packets:
    """Return an empty batch of these transmitters."""
    empty = np.empty(0, np.int64)
    return Packets(names, empty, empty, empty, np.zeros(1, np.int64), empty, np.empty((0, width), np.int32))


def concat(parts: Sequence[Packets]) -> Packets:
    """Return batches of the same transmitters and width, one behind the other; at least one."""
    first = parts[0]
    if len(parts) == 1:
        return first
    assert all(part.names == first.names for part in parts), "one list of transmitters"
    return Packets(
        first.names,
        np.concatenate([p.arrival_us for p in parts]),
        np.concatenate([p.tag for p in parts]),
        np.concatenate([p.sequence for p in parts]),
        bounds_of(np.concatenate([p.sizes for p in parts])),
        np.concatenate([p.ts_us for p in parts]),
        np.concatenate([p.values for p in parts]),
    )


def from_blocks(blocks: Iterable[Block]) -> Packets:
    """Return the columns of blocks, each of whose packets arrived when its block did.

    Positions are rounded to millimetres, qualities to percent.
    """
    arrived = [(block.arrival_us, packet) for block in blocks for packet in block.packets]
    codes: dict[str, int] = {}
    for _, packet in arrived:
        codes.setdefault(packet.transmitter, len(codes))
    sizes = np.array([len(packet.ts_us) for _, packet in arrived], np.int64)
    columns = [[v for _, p in arrived for v in getattr(p, name)] for name in ("x_m", "y_m", "z_m")]
    quality = np.repeat(np.array([p.quality for _, p in arrived], np.float64), sizes)
    percent = np.where(np.isfinite(quality), np.rint(quality * 100.0), MISSING).astype(np.int32)
    return Packets(
        tuple(codes),
        np.array([arrival for arrival, _ in arrived], np.int64),
        np.array([codes[p.transmitter] for _, p in arrived], np.int64),
        np.array([p.sequence for _, p in arrived], np.int64),
        bounds_of(sizes),
        np.array([ts for _, p in arrived for ts in p.ts_us], np.int64),
        np.column_stack([to_mm(np.array(columns, np.float64).T.reshape(-1, 3)), percent]).astype(np.int32),
    )
