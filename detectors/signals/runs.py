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
from struct import Struct
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from detectors.inputs import Packet
from detectors.signals.sampling import Sampling
from detectors.states import RUN_MAX

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

#: One sample, or the mean of some: time in microseconds, then metres.
Point = tuple[int, float, float, float]

#: A conditioned position: time, place of its last sample in the packet, states since the last jump, time since the
#: state before; and where it was and how it moved, in metres and metres a second.
Fitted = tuple[int, int, int, int, float, float, float, float, float, float]

#: The filter after a packet, and what was fitted.
Taken = tuple[bytes, list[Fitted]]

#: How the kernel tells one, and how many.
_FITTED, _COUNT = Struct("=4q6d"), Struct("=q")

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


class Runs:
    """Gate, average and fit of the transmitters of one class.

    Args:
        sampling: samples of an average, averages of a fit.
        speed_max_m_s, slack_m: how far from the last position the next one may be.
        reset_us: after such a silence the fit begins afresh.
        bounds_m: greatest x, y, z.
    """

    def __init__(
        self,
        sampling: Sampling,
        speed_max_m_s: float,
        slack_m: float,
        reset_us: int,
        bounds_m: tuple[float, float, float],
    ) -> None:
        self._size, self._fit = sampling.block, sampling.fit
        self.numbers = np.array([sampling.block, sampling.fit, reset_us, RUN_MAX], np.int64)
        self.bounds = np.array([speed_max_m_s, slack_m, *bounds_m])
        self._points = 1 + sampling.fit + sampling.block
        self.words = _HEAD + 4 * self._points
        # Once, so that the kernel is loaded now and not while the first packets wait.
        self.take(b"", Packet("", 0, (0,), (0.0,), (0.0,), (0.0,)))

    def take(self, memory: bytes, packet: Packet) -> Taken | None:
        """The filter after a packet, and what was fitted; None if a position of it is not to be believed."""
        count = len(packet.ts_us)
        told = bytearray(_row(self.words, count, count // self._size + 1).pack(memory, *_numbers(packet)))
        _take(np.frombuffer(told, np.int64), count, self.numbers, self.bounds)
        return self._told(memoryview(told), count)

    def _told(self, row: memoryview, count: int) -> Taken | None:
        """What the kernel says of a packet of ``count`` positions."""
        length = 8 * self.words
        at = 2 * length + 32 * count
        states: int = _COUNT.unpack_from(row, at)[0]
        if states < 0:
            return None
        at += _COUNT.size
        return bytes(row[length : 2 * length]), list(_FITTED.iter_unpack(row[at : at + states * _FITTED.size]))

    def unpacked(self, memory: bytes) -> Filter:
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

    def packed(self, plain: Filter) -> bytes:
        """The same as bytes."""
        none: Point = (0, 0.0, 0.0, 0.0)
        points = [plain.last or none]
        points += [*plain.points, *[none] * (self._fit - len(plain.points))]
        points += [*plain.block, *[none] * (self._size - len(plain.block))]
        head = [plain.last is not None, plain.run, plain.state_us, len(plain.points), len(plain.block)]
        times = np.array([*head, *(point[0] for point in points)], np.int64)
        return times.tobytes() + np.array([point[1:] for point in points]).T.tobytes()


class Together:
    """Gate and fit of transmitters that each give one position at the same instant, with one call of the kernel.

    Args:
        runs: those of each transmitter's class, in the order of transmitters. Samples must not be averaged.
    """

    def __init__(self, runs: Sequence[Runs]) -> None:
        classes = list(dict.fromkeys(runs))
        self._begins = np.cumsum([0, *(its.words for its in runs)])
        self._classes = np.array([classes.index(its) for its in runs])
        self._numbers = np.stack([its.numbers for its in classes])
        self._bounds = np.stack([its.bounds for its in classes])
        self._places = Struct(f"={3 * len(runs)}d")
        #: Where in the filters, kept one behind the other as one piece of memory, that of each transmitter ends.
        self.ends = tuple([8 * end for end in self._begins[1:].tolist()])

    def take(self, memory: bytes, ts_us: int, places: Sequence[float]) -> tuple[bytes, Ints, Floats] | None:
        """The filters after a position of each, all x, then all y, then all z in metres; None if one is not believed.

        Returns:
            the filters; of each transmitter states since the last jump, and time since the state before (2 rows); of
            each x, y, z and the velocities along them (6 rows).
        """
        if not -_TIME_MAX_US < ts_us < _TIME_MAX_US:
            return None
        count = len(self.ends)
        after, since, told = np.empty(len(memory) // 8, np.int64), np.empty((2, count), np.int64), np.empty((6, count))
        before, here = np.frombuffer(memory, np.int64), np.frombuffer(self._places.pack(*places)).reshape(3, count)
        its = self._begins, self._classes, ts_us, here, self._numbers, self._bounds
        return (after.tobytes(), since, told) if _take_together(before, after, *its, since, told) else None


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
        return *ts_us, *packet.x_m, *packet.y_m, *packet.z_m
    return *((0,) * len(ts_us)), *((math.nan,) * len(ts_us)), *packet.y_m, *packet.z_m


@lru_cache(maxsize=256)
def _row(length: int, positions: int, states: int) -> Struct:
    """What the kernel works on, of one packet: the filter before; after; times, x, y, z; and what it finds: how many
    states, and these."""
    return Struct(f"={8 * length}s{8 * length}x{positions}q{3 * positions}d8x{states * _FITTED.size}x")


@njit(cache=True)
def _take(row: Ints, n: int, numbers: Ints, bounds: Floats) -> None:
    """Works on a packet: see :func:`_row`. The number of states is less than 0 if a position is not believed."""
    length = _HEAD + 4 * (1 + numbers[1] + numbers[0])
    at = 2 * length
    places = row.view(np.float64)[at + n : at + 4 * n].reshape(3, n)
    told = row[at + 4 * n + 1 :]
    row[at + 4 * n] = _take_row(row[:length], row[length:at], row[at : at + n], places, told, numbers, bounds)


@njit(cache=True)
def _take_together(
    before: Ints,
    after: Ints,
    begins: Ints,
    classes: Ints,
    t: int,
    places: Floats,
    numbers: Ints,
    bounds: Floats,
    since: Ints,
    told: Floats,
) -> bool:
    """See :meth:`Together.take`; False if a position is not believed."""
    times = np.full(1, t)
    row = np.empty(_STATE, np.int64)
    real = row.view(np.float64)
    for i in range(len(classes)):
        begin, end, its = begins[i], begins[i + 1], classes[i]
        at = places[:, i : i + 1]
        if _take_row(before[begin:end], after[begin:end], times, at, row, numbers[its], bounds[its]) < 1:
            return False
        since[0, i], since[1, i] = row[2], row[3]
        for k in range(6):
            told[k, i] = real[4 + k]
    return True


@njit(cache=True)
def _take_row(before: Ints, after: Ints, times: Ints, places: Floats, row: Ints, numbers: Ints, bounds: Floats) -> int:
    """How many states positions gave, told in ``row`` one after the other; less than 0 if one is not believed."""
    size, fit, reset_us, run_max = numbers[0], numbers[1], numbers[2], numbers[3]
    speed_max_m_s, slack_m, x_max_m, y_max_m, z_max_m = bounds[0], bounds[1], bounds[2], bounds[3], bounds[4]
    points = 1 + fit + size
    told, now, real = before.view(np.float64), after.view(np.float64), row.view(np.float64)
    n, xs, ys, zs = len(times), places[0], places[1], places[2]
    x_at, y_at, z_at = _HEAD + points, _HEAD + 2 * points, _HEAD + 3 * points
    # The first position of all is compared with itself.
    t0, x0, y0, z0 = times[0], xs[0], ys[0], zs[0]
    if before[0]:
        t0, x0, y0, z0 = before[_HEAD], told[x_at], told[y_at], told[z_at]
    for i in range(n):
        x, y, z = xs[i], ys[i], zs[i]
        dx, dy, dz = x - x0, y - y0, z - z0
        reach_m = speed_max_m_s * (times[i] - t0) * 1e-6 + slack_m
        near = dx * dx + dy * dy + dz * dz <= reach_m * reach_m
        if not (near and abs(x) <= x_max_m and abs(y) <= y_max_m and abs(z) <= z_max_m):
            return -1
        t0, x0, y0, z0 = times[i], x, y, z
    after[:] = before
    run, state_us, averages, held = before[1], before[2], before[3], before[4]
    count = 0
    for i in range(n):
        at = 1 + fit + held
        after[_HEAD + at] = times[i]
        now[x_at + at], now[y_at + at], now[z_at + at] = xs[i], ys[i], zs[i]
        held += 1
        if held < size:
            continue
        t_sum = np.int64(0)
        x_sum = y_sum = z_sum = 0.0
        for k in range(1 + fit, points):
            t_sum += after[_HEAD + k]
            x_sum += now[x_at + k]
            y_sum += now[y_at + k]
            z_sum += now[z_at + k]
        mean_us, x, y, z = t_sum // size, x_sum / size, y_sum / size, z_sum / size
        if size == 1:
            x, y, z = xs[i], ys[i], zs[i]
        held = 0
        if averages and mean_us - after[_HEAD + averages] > reset_us:
            averages = run = 0
        if averages == fit:
            for k in range(1, fit):
                after[_HEAD + k] = after[_HEAD + k + 1]
                now[x_at + k], now[y_at + k], now[z_at + k] = now[x_at + k + 1], now[y_at + k + 1], now[z_at + k + 1]
            averages -= 1
        averages += 1
        after[_HEAD + averages] = mean_us
        now[x_at + averages], now[y_at + averages], now[z_at + averages] = x, y, z
        run = min(run + 1, run_max)
        # The slope of the straight line through the averages.
        vx = vy = vz = 0.0
        first_us, last_us = after[_HEAD + 1], after[_HEAD + averages]
        even = averages == 2 or (averages == 3 and after[_HEAD + 2] - first_us == last_us - after[_HEAD + 2])
        if even:
            per_s = 1e6 / (last_us - first_us)
            vx, vy, vz = (x - now[x_at + 1]) * per_s, (y - now[y_at + 1]) * per_s, (z - now[z_at + 1]) * per_s
        elif averages > 1:
            d_sum = np.int64(0)
            for k in range(1, averages + 1):
                d_sum += after[_HEAD + k] - first_us
            middle_us = d_sum / averages + first_us
            tt = tx = ty = tz = 0.0
            for k in range(1, averages + 1):
                d = after[_HEAD + k] - middle_us
                tt += d * d
                tx += d * (now[x_at + k] - now[x_at + 1])
                ty += d * (now[y_at + k] - now[y_at + 1])
                tz += d * (now[z_at + k] - now[z_at + 1])
            per_s = 1e6 / tt
            vx, vy, vz = tx * per_s, ty * per_s, tz * per_s
        if size > 1:
            ahead_s = (times[i] - mean_us) * 1e-6
            x, y, z = x + vx * ahead_s, y + vy * ahead_s, z + vz * ahead_s
        to = _STATE * count
        row[to], row[to + 1], row[to + 2], row[to + 3] = times[i], i, run, times[i] - state_us
        real[to + 4], real[to + 5], real[to + 6] = x, y, z
        real[to + 7], real[to + 8], real[to + 9] = vx, vy, vz
        state_us = times[i]
        count += 1
    # What is not held any more leaves no trace, so that equal filters are equal bytes.
    for k in range(averages + 1, 1 + fit):
        after[_HEAD + k] = 0
        now[x_at + k] = now[y_at + k] = now[z_at + k] = 0.0
    for k in range(1 + fit + held, points):
        after[_HEAD + k] = 0
        now[x_at + k] = now[y_at + k] = now[z_at + k] = 0.0
    after[0], after[1], after[2], after[3], after[4] = 1, run, state_us, averages, held
    after[_HEAD] = times[n - 1]
    now[x_at], now[y_at], now[z_at] = xs[n - 1], ys[n - 1], zs[n - 1]
    return count
