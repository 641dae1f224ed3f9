"""Good packets taken as one run of positions, by a compiled kernel.

Theory of operation
-------------------
What the plain fold of :mod:`detectors.signals.conditioning` does position by position (gate, average, fit), the kernel
does for a packet at once, with the same operations in the same order, so that both give the same to the last bit. It
declines a packet of which it would refuse anything, and the plain fold takes it.

The filter of a transmitter is kept as bytes: immutable, comparable, small when stored, and read by the kernel as they
are. Layout, eight bytes each: whether anything was seen, states since the last jump, time of the last state, number of
averages, number of samples in the block; times of the last position, of the averages, of the block; then their x, y, z.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from struct import Struct
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from detectors.signals.sampling import Sampling
from football.packets import Packet
from football.payloads import RUN_MAX

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

#: One sample, or the mean of some: time in microseconds, then metres.
Point = tuple[int, float, float, float]

#: A conditioned position: time, place of its last sample in the packet, states since the last jump, time since the
#: state before; and where it was and how it moved, in metres and metres a second.
Fitted = tuple[int, int, int, int, float, float, float, float, float, float]

#: The filter after a packet, and what was fitted; of a limb its states.
Taken = tuple[bytes, tuple[Any, ...]]

#: How the kernel gives one, and what of it is the state of a limb.
_FITTED, _LIMB = Struct("=4q6d"), Struct("=q24x5d8x")

#: Numbers before the times; numbers of a state.
_HEAD, _STATE = 5, 10

#: Beyond these a time is no longer told exactly by the kernel's sums.
_TIME_MAX_US = 2**58


class Filter(NamedTuple):
    """The filter of one transmitter, plain: last position, averages of the fit (oldest first), samples of the block in
    hand, states since the last jump, time of the last state."""

    last: Point | None = None
    points: tuple[Point, ...] = ()
    block: tuple[Point, ...] = ()
    run: int = 0
    state_us: int = 0


class PacketFilter:
    """Gate, average and fit of the transmitters of one class.

    Args:
        sampling: samples of an average, averages of a fit.
        speed_max_m_s, slack_m: how far from the last position the next one may be.
        reset_us: after such a silence the fit begins afresh.
        bounds_m: greatest x, y, z.
        limb: True to give limb states in place of all that was fitted.
    """

    def __init__(
        self,
        sampling: Sampling,
        speed_max_m_s: float,
        slack_m: float,
        reset_us: int,
        bounds_m: tuple[float, float, float],
        *,
        limb: bool = False,
    ) -> None:
        self._size, self._fit = sampling.block, sampling.fit
        self._found = _LIMB if limb else _FITTED
        self._rows: dict[int, Struct] = {}
        self.numbers = np.array([sampling.block, sampling.fit, reset_us, RUN_MAX], np.int64)
        self.bounds = np.array([speed_max_m_s, slack_m, *bounds_m])
        self._points = 1 + sampling.fit + sampling.block
        self.words = _HEAD + 4 * self._points
        # Once, so that the kernel is loaded now and not while the first packets wait.
        self.take(b"", Packet("", 0, (0,), (0.0,), (0.0,), (0.0,)))

    def take(self, memory: bytes, packet: Packet) -> Taken | None:
        """The filter after a packet, and what was fitted; None if a position of it is not to be believed."""
        count = len(packet.ts_us)
        rows = bytearray(self.row(count).pack(memory, *_numbers(packet)))
        states = _take(np.frombuffer(rows, np.int64), count, self.numbers, self.bounds)
        return self.result(bytes(rows), 0, count, states)

    def row(self, count: int) -> Struct:
        """Layout of what the kernel works on for a packet of ``count`` positions."""
        row = self._rows.get(count)
        if row is None:
            row = self._rows[count] = _row(self.words, count, count // self._size + 1)
        return row

    def result(self, rows: bytes, begin: int, count: int, states: int) -> Taken | None:
        """Result of the kernel for a packet of ``count`` positions whose row begins at byte ``begin``."""
        if states < 0:
            return None
        after = begin + 8 * self.words
        end = after + 8 * self.words
        at = end + 32 * count
        return rows[after:end], tuple(self._found.iter_unpack(rows[at : at + states * _FITTED.size]))

    def unpack(self, memory: bytes) -> Filter:
        """The filter as the plain fold uses it."""
        if not memory:
            return Filter()
        seen, run, state_us, averages, block = np.frombuffer(memory, np.int64, _HEAD).tolist()
        times = np.frombuffer(memory, np.int64, self._points, 8 * _HEAD).tolist()
        places = np.frombuffer(memory, np.float64, offset=8 * (_HEAD + self._points)).reshape(3, -1).T.tolist()
        points: list[Point] = [(t, x, y, z) for t, (x, y, z) in zip(times, places, strict=True)]
        first = 1 + self._fit
        return Filter(
            points[0] if seen else None,
            tuple(points[1 : 1 + averages]),
            tuple(points[first : first + block]),
            run,
            state_us,
        )

    def pack(self, plain: Filter) -> bytes:
        """The same as bytes."""
        none: Point = (0, 0.0, 0.0, 0.0)
        points = [plain.last or none]
        points += [*plain.points, *[none] * (self._fit - len(plain.points))]
        points += [*plain.block, *[none] * (self._size - len(plain.block))]
        head = [plain.last is not None, plain.run, plain.state_us, len(plain.points), len(plain.block)]
        times = np.array([*head, *(point[0] for point in points)], np.int64)
        return times.tobytes() + np.array([point[1:] for point in points]).T.tobytes()


class PacketFilters:
    """Gate, average and fit of packets of several transmitters, with one call of the kernel.

    Args:
        filters: one a class of transmitters.
    """

    def __init__(self, filters: Sequence[PacketFilter]) -> None:
        self._filters = tuple(filters)
        self._numbers = np.stack([its.numbers for its in filters])
        self._bounds = np.stack([its.bounds for its in filters])
        # Once, so that the kernel is loaded now and not while the first packets wait.
        self.take([(0, b"", Packet("", 0, (0,), (0.0,), (0.0,), (0.0,)))])

    def take(self, packets: Sequence[tuple[int, bytes, Packet]]) -> list[Taken | None]:
        """Return what :meth:`PacketFilter.take` returns for each packet.

        Args:
            packets: the number of its class among ``filters``, the filter before it, and the packet, of each.
        """
        filters = self._filters
        layouts = [filters[number].row(len(packet.ts_us)) for number, _, packet in packets]
        begins = [0, *accumulate([layout.size for layout in layouts])]
        rows = bytearray(begins.pop())
        for layout, begin, (_, memory, packet) in zip(layouts, begins, packets, strict=True):
            layout.pack_into(rows, begin, memory, *_numbers(packet))
        numbers, counts = [number for number, _, _ in packets], [len(packet.ts_us) for _, _, packet in packets]
        table = np.array((begins, counts, numbers))
        _take_each(np.frombuffer(rows, np.int64), table, self._numbers, self._bounds)
        states, after = table[0].tolist(), bytes(rows)
        return [
            filters[number].result(after, begin, count, state)
            for number, begin, count, state in zip(numbers, begins, counts, states, strict=True)
        ]


class FrameFilter:
    """Gate and fit of transmitters that each give one position at the same instant, with one call of the kernel.

    What the kernel works on is one piece of memory: the filters before, one behind the other; after; the time; all x,
    all y, all z; and of each transmitter what was found: x, y, z and the velocities along them, states since the last
    jump, and time since the state before (8 rows).

    Args:
        runs: those of each transmitter's class, in the order of transmitters. Samples must not be averaged.
        stray_m: two transmitters that are farther from where they were to be may have been exchanged.
    """

    def __init__(self, runs: Sequence[PacketFilter], stray_m: float) -> None:
        classes = list(dict.fromkeys(runs))
        self._begins = np.cumsum([0, *(its.words for its in runs)])
        self._classes = np.array([classes.index(its) for its in runs])
        self._numbers = np.stack([its.numbers for its in classes])
        self._bounds = np.stack([its.bounds for its in classes])
        self._stray_m = stray_m
        #: Where in the filters that of each transmitter ends.
        self.ends = tuple([8 * end for end in self._begins[1:].tolist()])
        count, size = len(runs), self.ends[-1]
        self._size, self._result = size, 2 * size + 8 + 24 * count
        self._whole = Struct(f"={size}s{size}xq{24 * count}s{8 * (8 * count + _STATE)}x")
        self._shape = 8, count

    def take(self, memory: bytes, ts_us: int, places: bytes) -> tuple[bytes, Floats] | None:
        """The filters after a position of each; None if one is not believed, or two may have been exchanged.

        Args:
            memory: the filters before.
            ts_us: time of the positions.
            places: all x, then all y, then all z in metres, as the memory of float64 numbers.

        Returns:
            the filters; and what was found, the last two rows as the memory of integers.
        """
        if not -_TIME_MAX_US < ts_us < _TIME_MAX_US:
            return None
        row = bytearray(self._whole.pack(memory, ts_us, places))
        words = np.frombuffer(row, np.int64)
        if not _take_together(words, self._begins, self._classes, self._numbers, self._bounds, self._stray_m):
            return None
        count = self._shape[1]
        emitted = np.frombuffer(row, np.float64, 8 * count, self._result).reshape(self._shape)
        return bytes(memoryview(row)[self._size : 2 * self._size]), emitted


def last_of(memory: bytes) -> Point | None:
    """The last position that a filter kept as bytes has taken; None before the first."""
    if not memory:
        return None
    numbers = np.frombuffer(memory, np.int64)
    places = np.frombuffer(memory, np.float64)
    points = (len(numbers) - _HEAD) // 4
    if not numbers[0]:
        return None
    x_m, y_m, z_m = (float(places[_HEAD + i * points]) for i in (1, 2, 3))
    return int(numbers[_HEAD]), x_m, y_m, z_m


def _numbers(packet: Packet) -> tuple[float, ...]:
    """Times and places as the kernel takes them; what it will not believe where a time is beyond what it can tell."""
    ts_us = packet.ts_us
    if -_TIME_MAX_US < ts_us[0] <= ts_us[-1] < _TIME_MAX_US:
        return ts_us + packet.x_m + packet.y_m + packet.z_m
    return *((0,) * len(ts_us)), *((math.nan,) * len(ts_us)), *packet.y_m, *packet.z_m


@lru_cache(maxsize=256)
def _row(length: int, positions: int, states: int) -> Struct:
    """Arrays of one packet for the kernel: filter before; after; times, x, y, z; and its results, the states."""
    return Struct(f"={8 * length}s{8 * length}x{positions}q{3 * positions}d{states * _FITTED.size}x")


@njit(cache=True)
def _take(row: Ints, n: int, numbers: Ints, bounds: Floats) -> int:
    """Works on a packet: see :func:`_row`. Returns the number of states, less than 0 if a position is not believed."""
    length = _HEAD + 4 * (1 + numbers[1] + numbers[0])
    at = 2 * length
    return _take_row(row, row.view(np.float64), 0, length, at, n, at + n, n, at + 4 * n, numbers, bounds)


@njit(cache=True)
def _take_each(rows: Ints, table: Ints, numbers: Ints, bounds: Floats) -> None:
    """Works on several packets. The table has of each the first byte of its row, which the number of its states
    replaces, the number of its positions, and that of its class."""
    real = rows.view(np.float64)
    for i in range(table.shape[1]):
        before, n, its = table[0, i] >> 3, table[1, i], table[2, i]
        after = before + _HEAD + 4 * (1 + numbers[its, 1] + numbers[its, 0])
        at = 2 * after - before
        table[0, i] = _take_row(rows, real, before, after, at, n, at + n, n, at + 4 * n, numbers[its], bounds[its])


@njit(cache=True)
def _take_together(words: Ints, begins: Ints, classes: Ints, numbers: Ints, bounds: Floats, stray_m: float) -> bool:
    """Works on an instant: see :class:`FrameFilter`; False if it declines."""
    count, size = len(classes), begins[-1]
    real = words.view(np.float64)
    places = 2 * size + 1
    emitted = places + 3 * count
    row = emitted + 8 * count
    strays = 0
    for i in range(count):
        before, its = begins[i], classes[i]
        averages, first = words[before + 3], before + _HEAD + 1
        if averages > 1:
            last, points = first + averages - 1, 1 + numbers[its, 1] + numbers[its, 0]
            ahead = (words[2 * size] - words[last]) / (words[last] - words[first])
            x, y = last + points, last + 2 * points
            dx = real[places + i] - real[x] - (real[x] - real[first + points]) * ahead
            dy = real[places + count + i] - real[y] - (real[y] - real[first + 2 * points]) * ahead
            strays += dx * dx + dy * dy > stray_m * stray_m
            if strays > 1:
                return False
        if _take_row(
            words, real, before, size + before, 2 * size, 1, places + i, count, row, numbers[its], bounds[its]
        ) < 1:  # fmt: skip
            return False
        for k in range(6):
            real[emitted + k * count + i] = real[row + 4 + k]
        words[emitted + 6 * count + i], words[emitted + 7 * count + i] = words[row + 2], words[row + 3]
    return True


@njit(cache=True)
def _take_row(
    words: Ints, real: Floats, b: int, a: int, t: int, n: int, p: int, stride: int, to: int, numbers: Ints,
    bounds: Floats,
) -> int:  # fmt: skip
    """How many states ``n`` positions gave; less than 0 if one is not believed.

    All is in one piece of memory, ``words`` and ``real``: the filter before at ``b``, and after at ``a``; times at
    ``t``; x at ``p``, y and z each ``stride`` farther on; and the states, told one after the other, at ``to``.
    """
    size, fit, reset_us, run_max = numbers[0], numbers[1], numbers[2], numbers[3]
    speed_max_m_s, slack_m, x_max_m, y_max_m, z_max_m = bounds[0], bounds[1], bounds[2], bounds[3], bounds[4]
    points = 1 + fit + size
    length = _HEAD + 4 * points
    at_us, y_p, z_p = a + _HEAD, p + stride, p + 2 * stride
    x_at, y_at, z_at = at_us + points, at_us + 2 * points, at_us + 3 * points
    # The first position of all is compared with itself.
    t0, x0, y0, z0 = words[t], real[p], real[y_p], real[z_p]
    if words[b]:
        back = b - a
        t0, x0, y0, z0 = words[b + _HEAD], real[x_at + back], real[y_at + back], real[z_at + back]
    for i in range(n):
        x, y, z = real[p + i], real[y_p + i], real[z_p + i]
        dx, dy, dz = x - x0, y - y0, z - z0
        reach_m = speed_max_m_s * (words[t + i] - t0) * 1e-6 + slack_m
        near = dx * dx + dy * dy + dz * dz <= reach_m * reach_m
        if not (near and abs(x) <= x_max_m and abs(y) <= y_max_m and abs(z) <= z_max_m):
            return -1
        t0, x0, y0, z0 = words[t + i], x, y, z
    for k in range(length):
        words[a + k] = words[b + k]
    run, state_us, averages, held = words[b + 1], words[b + 2], words[b + 3], words[b + 4]
    count = 0
    for i in range(n):
        at = 1 + fit + held
        words[at_us + at] = words[t + i]
        real[x_at + at], real[y_at + at], real[z_at + at] = real[p + i], real[y_p + i], real[z_p + i]
        held += 1
        if held < size:
            continue
        t_sum = np.int64(0)
        x_sum = y_sum = z_sum = 0.0
        for k in range(1 + fit, points):
            t_sum += words[at_us + k]
            x_sum += real[x_at + k]
            y_sum += real[y_at + k]
            z_sum += real[z_at + k]
        mean_us, x, y, z = t_sum // size, x_sum / size, y_sum / size, z_sum / size
        if size == 1:
            x, y, z = real[p + i], real[y_p + i], real[z_p + i]
        held = 0
        if averages and mean_us - words[at_us + averages] > reset_us:
            averages = run = 0
        if averages == fit:
            for k in range(1, fit):
                words[at_us + k] = words[at_us + k + 1]
                real[x_at + k], real[y_at + k], real[z_at + k] = (
                    real[x_at + k + 1],
                    real[y_at + k + 1],
                    real[z_at + k + 1],
                )
            averages -= 1
        averages += 1
        words[at_us + averages] = mean_us
        real[x_at + averages], real[y_at + averages], real[z_at + averages] = x, y, z
        run = min(run + 1, run_max)
        # The slope of the straight line through the averages.
        vx = vy = vz = 0.0
        first_us, last_us = words[at_us + 1], words[at_us + averages]
        even = averages == 2 or (averages == 3 and words[at_us + 2] - first_us == last_us - words[at_us + 2])
        if even:
            per_s = 1e6 / (last_us - first_us)
            vx, vy, vz = (x - real[x_at + 1]) * per_s, (y - real[y_at + 1]) * per_s, (z - real[z_at + 1]) * per_s
        elif averages > 1:
            d_sum = np.int64(0)
            for k in range(1, averages + 1):
                d_sum += words[at_us + k] - first_us
            middle_us = d_sum / averages + first_us
            tt = tx = ty = tz = 0.0
            for k in range(1, averages + 1):
                d = words[at_us + k] - middle_us
                tt += d * d
                tx += d * (real[x_at + k] - real[x_at + 1])
                ty += d * (real[y_at + k] - real[y_at + 1])
                tz += d * (real[z_at + k] - real[z_at + 1])
            per_s = 1e6 / tt
            vx, vy, vz = tx * per_s, ty * per_s, tz * per_s
        if size > 1:
            ahead_s = (words[t + i] - mean_us) * 1e-6
            x, y, z = x + vx * ahead_s, y + vy * ahead_s, z + vz * ahead_s
        words[to], words[to + 1], words[to + 2], words[to + 3] = words[t + i], i, run, words[t + i] - state_us
        real[to + 4], real[to + 5], real[to + 6] = x, y, z
        real[to + 7], real[to + 8], real[to + 9] = vx, vy, vz
        state_us = words[t + i]
        to += _STATE
        count += 1
    # What is not held any more leaves no trace, so that equal filters are equal bytes.
    for k in range(averages + 1, 1 + fit):
        words[at_us + k] = 0
        real[x_at + k] = real[y_at + k] = real[z_at + k] = 0.0
    for k in range(1 + fit + held, points):
        words[at_us + k] = 0
        real[x_at + k] = real[y_at + k] = real[z_at + k] = 0.0
    words[a], words[a + 1], words[a + 2], words[a + 3], words[a + 4] = 1, run, state_us, averages, held
    words[at_us] = words[t + n - 1]
    real[x_at], real[y_at], real[z_at] = real[p + n - 1], real[y_p + n - 1], real[z_p + n - 1]
    return count
