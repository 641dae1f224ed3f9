"""Steps of one transmitter: speeds, noise, stillness, from some of its positions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from math import hypot

import numpy as np
import numpy.typing as npt

from football.recording import BEND_SIGMAS

Floats = npt.NDArray[np.float64]

#: Time between the positions that are looked at, by class, a little less than whole periods of usual sources. There are
#: twenty players, and none moves much in a twelfth of a second; each position of theirs cost 4 % of a replay.
PERIODS_US = {"ball": 19_000, "player": 79_000, "limb": 99_000}

#: The greatest speeds in m/s: those of the gate (``detectors.signals.conditioning``), so that the share is what it
#: refuses; and what noise may add to a step, in metres.
SPEEDS_MAX_M_S = {"ball": 42.0, "player": 12.0, "limb": 30.0}
NOISE_M = 0.3

#: A step of an impossible speed that is longer has left the player for another.
JUMP_M = 3.0

#: A longer time between two positions of a transmitter is no step.
STEP_MAX_US = 500_000

#: Changes from step to step below this are none, metres: the grid of positions in a packet has millimetres.
SAME_M = 0.0011

#: Steps shorter than this say nothing of keyframes: a ball at rest repeats its step, too.
MOVING_M = 0.05

#: If so many jump at once, the scene was cut: fewer than seven a side are no match (Law 3).
CUT_PLAYERS = 14

#: Of so many steps one is compared with the step before it.
ONE_IN = 4

#: Bins of noise in an octave of metres.
_BINS = 8


class ClassFigures:
    """Sums over the transmitters of a class: ``ball``, ``player`` or ``limb``."""

    def __init__(self) -> None:
        self.steps = self.outliers = self.jumps = self.cuts = self.still = self.moving = self.straight = 0
        self.noise: Counter[int] = Counter()
        self._jumped_us, self._jumped = -(2**62), 0

    def jump(self, ts_us: int, count: int) -> None:
        """Take jumps at one time; those of nearly everybody are a cut of the scene, and count as nobody's."""
        self._jumped = count + (self._jumped if ts_us == self._jumped_us else 0)
        self._jumped_us = ts_us
        was_cut = self._jumped - count >= CUT_PLAYERS
        if self._jumped < CUT_PLAYERS:
            self.jumps += count
        elif not was_cut:
            self.cuts += 1
            self.jumps -= self._jumped - count

    def compare(self, length_m: float, change_x_m: float, change_y_m: float) -> None:
        """Take the change from a step to the next one, which is so long."""
        change_m = abs(change_x_m)
        self.noise[math.floor(_BINS * math.log2(change_m)) if change_m > 1e-9 else -100] += 1
        if length_m > MOVING_M:
            self.moving += 1
            self.straight += change_m < SAME_M and abs(change_y_m) < SAME_M

    def compare_all(self, length_m: Floats, change_x_m: Floats, change_y_m: Floats) -> None:
        """Take many changes as :meth:`compare` takes one."""
        changes_m = np.abs(change_x_m)
        is_change = changes_m > 1e-9
        bins, counts = np.unique(np.floor(_BINS * np.log2(changes_m[is_change])), return_counts=True)
        for number, count in zip(bins.tolist(), counts.tolist(), strict=True):
            self.noise[int(number)] += count
        if unchanged := len(changes_m) - int(is_change.sum()):
            self.noise[-100] += unchanged
        moves = length_m > MOVING_M
        self.moving += int(moves.sum())
        self.straight += int((moves & (changes_m < SAME_M) & (np.abs(change_y_m) < SAME_M)).sum())

    def noise_m(self) -> float:
        """Standard deviation of one position: by the median second difference."""
        total = sum(self.noise.values())
        seen = 0
        for number in sorted(self.noise):
            seen += self.noise[number]
            if 2 * seen >= total:
                return 2.0 ** ((number + 0.5) / _BINS) / BEND_SIGMAS if number > -99 else 0.0
        return 0.0


class TransmitterTrack:
    """The newest positions of one transmitter.

    Attributes:
        object_id: the ball or the player; ``team``: of the sheet.
        positions: number of all its positions; ``repeats``: of those whose time was there already.
        newest_us: event time of its newest packet, looked at or not.
        stock_us: event time from which stock of it is taken again; ``spot``: its position at the last time.
    """

    __slots__ = (
        "due_us", "figures", "is_ball", "last", "name", "newest_us", "object_id", "period_us", "positions",
        "repeats", "speed_max_m_s", "spot", "step", "stock_us", "team",
    )  # fmt: skip

    def __init__(self, name: str, object_id: str, team: str, figures: ClassFigures) -> None:
        self.name, self.object_id, self.team, self.figures = name, object_id, team, figures
        self.period_us, self.speed_max_m_s = PERIODS_US[name], SPEEDS_MAX_M_S[name]
        self.is_ball, self.positions, self.repeats = name == "ball", 0, 0
        self.due_us = self.stock_us = self.newest_us = -(2**62)
        self.last: tuple[int, float, float] | None = None
        self.step: tuple[int, float, float] | None = None
        self.spot: tuple[float, float] | None = None

    def take(self, ts_us: int, x_m: float, y_m: float) -> None:
        """Take a position that is later than the last."""
        self.due_us = ts_us + self.period_us
        before, self.last = self.last, (ts_us, x_m, y_m)
        if before is None:
            return
        before_us, before_x_m, before_y_m = before
        step_us, dx_m, dy_m = ts_us - before_us, x_m - before_x_m, y_m - before_y_m
        if step_us > STEP_MAX_US:
            self.step = None
            return
        figures, step, length_m = self.figures, self.step, hypot(dx_m, dy_m)
        self.step = (step_us, dx_m, dy_m)
        figures.steps += 1
        if length_m > self.speed_max_m_s * step_us * 1e-6 + NOISE_M:
            figures.outliers += 1
            if length_m > JUMP_M:
                figures.jump(ts_us, 1)
        elif not length_m:
            figures.still += 1
        if figures.steps % ONE_IN == 0 and step is not None and step[0] == step_us:
            figures.compare(length_m, dx_m - step[1], dy_m - step[2])


def take_together(tracks: Sequence[TransmitterTrack], times_us: Sequence[int], x_m: Floats, y_m: Floats) -> None:
    """Let tracks of one class take positions at the same times, in columns; else as :meth:`TransmitterTrack.take`.

    Args:
        tracks: (n,) at least one.
        times_us: (k,) increasing, by no more than ``STEP_MAX_US``; all later than the tracks' last positions.
        x_m, y_m: (k, n) positions.
    """
    for track, x, y in zip(tracks, x_m[0].tolist(), y_m[0].tolist(), strict=True):
        track.take(times_us[0], x, y)
    if len(times_us) == 1:
        return
    figures, speed_max_m_s, count = tracks[0].figures, tracks[0].speed_max_m_s, len(tracks)
    steps_us, dx_m, dy_m = np.diff(times_us), np.diff(x_m, axis=0), np.diff(y_m, axis=0)
    lengths_m = np.hypot(dx_m, dy_m)
    is_outlier = lengths_m > (speed_max_m_s * steps_us * 1e-6 + NOISE_M)[:, None]
    figures.outliers += int(is_outlier.sum())
    jumped = (is_outlier & (lengths_m > JUMP_M)).sum(axis=1)
    for row in np.flatnonzero(jumped).tolist():
        figures.jump(times_us[row + 1], int(jumped[row]))
    figures.still += int((~is_outlier & (lengths_m == 0.0)).sum())
    # The steps before these: those of the first row, which the tracks have taken, and all but the last one.
    first = np.array([track.step or (0, 0.0, 0.0) for track in tracks]).T
    before_us = np.vstack((first[0], np.repeat(steps_us[:-1, None], count, axis=1)))
    change_x_m, change_y_m = dx_m - np.vstack((first[1], dx_m[:-1])), dy_m - np.vstack((first[2], dy_m[:-1]))
    begin = (-figures.steps - 1) % ONE_IN
    figures.steps += lengths_m.size
    chosen = np.zeros(lengths_m.size, bool)
    chosen[begin::ONE_IN] = True
    chosen &= (before_us == steps_us[:, None]).ravel()
    figures.compare_all(lengths_m.ravel()[chosen], change_x_m.ravel()[chosen], change_y_m.ravel()[chosen])
    last_us, step_us = times_us[-1], int(steps_us[-1])
    ends = zip(tracks, *(rows[-1].tolist() for rows in (x_m, y_m, dx_m, dy_m)), strict=True)
    for track, x, y, dx, dy in ends:
        track.due_us, track.last, track.step = last_us + track.period_us, (last_us, x, y), (step_us, dx, dy)
