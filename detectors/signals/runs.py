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

#: Numbers before the times.
_HEAD = 5

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
        self._numbers = np.array([sampling.block, sampling.fit, reset_us, RUN_MAX], np.int64)
        self._bounds = np.array([speed_max_m_s, slack_m, *bounds_m])
        self._points = 1 + sampling.fit + sampling.block
        self._length = _HEAD + 4 * self._points
        # Once, so that the kernel is loaded now and not while the first packets wait.
        self.take(b"", Packet("", 0, (0,), (0.0,), (0.0,), (0.0,)))

    def take(self, memory: bytes, packet: Packet) -> tuple[bytes, list[Fitted]] | None:
        """The filter after a packet, and what was fitted; None if a position of it is not to be believed."""
        if not -_TIME_MAX_US < packet.ts_us[0] <= packet.ts_us[-1] < _TIME_MAX_US:
            return None
        times = np.array(packet.ts_us, np.int64)
        places = np.array((packet.x_m, packet.y_m, packet.z_m))
        before = np.frombuffer(memory, np.int64) if memory else np.zeros(self._length, np.int64)
        after = np.empty(self._length, np.int64)
        most = len(times) // self._size + 1
        found, where = np.empty((most, 4), np.int64), np.empty((most, 6))
        count = _take(times, places, before, after, self._numbers, self._bounds, found, where)
        if count < 0:
            return None
        rows = zip(found[:count].tolist(), where[:count].tolist(), strict=True)
        return after.tobytes(), [(*one, *other) for one, other in rows]

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


@njit(cache=True)
def _take(
    times: Ints, places: Floats, before: Ints, after: Ints, numbers: Ints, bounds: Floats, found: Ints, where: Floats
) -> int:
    """How many states the packet gave, in ``found`` and ``where``; less than 0 if a position is not believed."""
    size, fit, reset_us, run_max = numbers[0], numbers[1], numbers[2], numbers[3]
    speed_max_m_s, slack_m, x_max_m, y_max_m, z_max_m = bounds[0], bounds[1], bounds[2], bounds[3], bounds[4]
    points = 1 + fit + size
    n = len(times)
    told = before.view(np.float64)
    x_at, y_at, z_at = _HEAD + points, _HEAD + 2 * points, _HEAD + 3 * points
    # The first position of all is compared with itself.
    t0, x0, y0, z0 = times[0], places[0, 0], places[1, 0], places[2, 0]
    if before[0]:
        t0, x0, y0, z0 = before[_HEAD], told[x_at], told[y_at], told[z_at]
    for i in range(n):
        x, y, z = places[0, i], places[1, i], places[2, i]
        dx, dy, dz = x - x0, y - y0, z - z0
        reach_m = speed_max_m_s * (times[i] - t0) * 1e-6 + slack_m
        near = dx * dx + dy * dy + dz * dz <= reach_m * reach_m
        if not (near and abs(x) <= x_max_m and abs(y) <= y_max_m and abs(z) <= z_max_m):
            return -1
        t0, x0, y0, z0 = times[i], x, y, z
    after[:] = before
    now = after.view(np.float64)
    run, state_us, averages, held = before[1], before[2], before[3], before[4]
    count = 0
    for i in range(n):
        at = 1 + fit + held
        after[_HEAD + at] = times[i]
        now[x_at + at], now[y_at + at], now[z_at + at] = places[0, i], places[1, i], places[2, i]
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
            x, y, z = places[0, i], places[1, i], places[2, i]
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
        found[count, 0], found[count, 1], found[count, 2], found[count, 3] = times[i], i, run, times[i] - state_us
        where[count, 0], where[count, 1], where[count, 2] = x, y, z
        where[count, 3], where[count, 4], where[count, 5] = vx, vy, vz
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
    now[x_at], now[y_at], now[z_at] = places[0, n - 1], places[1, n - 1], places[2, n - 1]
    return count
