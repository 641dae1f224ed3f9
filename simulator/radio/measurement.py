"""Measurement of true paths by a locating system: tags sample at their own instants, with errors.

Theory of operation
-------------------
Every tag (a ball, or a limb of a person) samples at its own rate and phase. A sample's error has these parts:

* *white* noise, and noise with *memory* (a Gauss-Markov process of ``MEMORY_S``): carrier phases and antenna
  geometry change slowly. Together they have the standard deviation asked for; height is ``HEIGHT_FACTOR`` worse.
* *shadow*: bodies around a tag block the radio. The nearer and the more, the larger its noise, up to threefold.
* *multipath*: for some milliseconds an echo is taken for the signal and the position is off by decimetres, more in
  shadow.
* *loss*: a tag is silent for seconds (rarely), or, in deep shadow, for fractions of one. Then there is no sample.

Quality of location estimates these errors roughly, as percent. Velocity and acceleration are those of the system's
own filter over its measurements (a fading-memory polynomial of second degree): noisy, a little late, and misled by
multipath. All values are integers: mm, mm/s, mm/s^2, percent.

Each tag has random streams of its own for each purpose, and each number belongs to one sample or one spell. The
samples are therefore the same however the match is cut into intervals.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from zlib import crc32

import numpy as np
import numpy.typing as npt
from numba import njit

from football.packet_table import WIDTH_WITH_MOTION, Floats, Ints, Values
from simulator.physics.limbs import limb_paths
from simulator.radio.transmission import Delay, Rows, Spells
from simulator.records import BALLS, NAMES, PERSONS, STEP_S, TICK_S, Col, PlayedInterval

#: Shares of the noise's standard deviation: white and remembered (their squares add up to one).
WHITE, REMEMBERED = 0.6, 0.8
MEMORY_S = 0.4
HEIGHT_FACTOR = 1.3

#: Shadow is told from where everybody is every so many ticks; whose bodies count how far, for a limb and for a ball.
SHADOW_TICKS = 5
_BODY_REACH_M, _BALL_REACH_M = 1.6, 1.0
_HALF_SHADOW = 1.5

#: Spells: mean time between them, and how long they last. A ball is not worn, nothing lies on it: it is lost less.
_ECHO_S, _ECHO = 40.0, Delay(2_000, 60_000, 2.0)
_LOSS_S, _BALL_LOSS_S, _LOSS = 600.0, 2_400.0, Delay(300_000, 4_000_000, 2.0)
_BLOCK_S, _BLOCK = 10.0, Delay(20_000, 300_000, 2.0)
_DEEP = 0.5

#: An echo is off by this in full shadow (standard deviation of each coordinate), and by this share of it in the open.
_ECHO_M, _ECHO_OPEN = 0.5, 0.25

#: Memory of the filter for velocity and acceleration: at least so long, and so many samples.
_BALL_FILTER_S, _LIMB_FILTER_S, _FILTER_SAMPLES = 0.008, 0.025, 3.0

#: Height of a tag that a person carries at the breast, where there are no limbs.
_BREAST_M = 0.9

_PHASE, _NOISE, _ECHOES, _ECHO_VECTORS, _LOSSES, _BLOCKS = range(1, 7)
_STEP_US = round(STEP_S * 1e6)


@dataclass(frozen=True)
class Tag:
    """A transmitter: ball number ``ball``, or limb ``limb`` (empty: the breast) of row ``person``; ``rate_hz``."""

    name: str
    rate_hz: float
    ball: int = -1
    person: int = -1
    limb: str = ""


class Measured(NamedTuple):
    """An interval as measured: the samples of each tag in turn; everything before ``until_us`` has been given."""

    rows: list[Rows]
    until_us: int


def body_tags(persons: Sequence[int], limbs: Sequence[str], rate_hz: float, names: Sequence[str] = NAMES) -> list[Tag]:
    """Return the tags of persons (rows; ``names`` has their ids): each of these limbs, or one at the breast if none."""
    return [
        Tag(names[person] + (f"/{limb}" if limb else ""), rate_hz, person=person, limb=limb)
        for person in persons
        for limb in limbs or ("",)
    ]


def ball_tags(count: int, rate_hz: float) -> list[Tag]:
    """Return the tags of the first so many balls."""
    return [Tag(name, rate_hz, ball=number) for number, name in enumerate(BALLS[:count])]


class Measurement:
    """Measures interval after interval of one match.

    Args:
        tags: transmitters, in the order of what is returned.
        noise_m: standard deviation of one coordinate in the open; 0 switches every error off.
        seed: of all random numbers of the measurement.
    """

    def __init__(self, tags: Sequence[Tag], noise_m: float, seed: int) -> None:
        self.tags = tuple(tags)
        self._samplers = [_Sampler(tag, noise_m, seed) for tag in tags]
        self._shadow = np.zeros(PERSONS + len(BALLS))
        self._last_positions = np.zeros((len(BALLS), 3))

    def take(self, interval: PlayedInterval, present: Collection[int] | None = None) -> Measured:
        """Measure an interval.

        Args:
            interval: the one that follows the last.
            present: rows of the persons whose tags are switched on; None: everybody's.
        """
        times_s, shadow = self._shadows(interval)
        balls = _Balls(interval, self._last_positions)
        self._last_positions = interval.balls[:, -1].copy()
        until_us = round(interval.end_s * 1e6)
        rows: list[Rows] = []
        for tag, sampler in zip(self.tags, self._samplers, strict=True):
            if tag.ball >= 0:
                ts_us = sampler.times(balls.last_us + 1)
                share, column = balls.at(tag.ball, ts_us), PERSONS + tag.ball
            else:
                ts_us = sampler.times(until_us)
                is_on = present is None or tag.person in present
                share, column = _body_path(interval, tag, ts_us / 1e6, is_on), tag.person
            which = np.searchsorted(times_s, ts_us / 1e6, side="right")
            rows.append(sampler.measure(ts_us, share, shadow[which, column]))
        return Measured(rows, balls.last_us + 1)

    def _shadows(self, interval: PlayedInterval) -> tuple[Floats, Floats]:
        """Return grid times, and shadow of persons and balls (0 to 1) before the first of them and from each on."""
        ticks = np.rint(interval.ticks_s / TICK_S).astype(np.int64)
        inside = (interval.ticks_s >= interval.begin_s - 1e-9) & (interval.ticks_s < interval.end_s - 1e-9)
        rows = np.flatnonzero(inside & (ticks % SHADOW_TICKS == 0))
        positions = interval.persons[rows][:, :, [Col.X, Col.Y]]
        steps = np.rint((interval.ticks_s[rows] - interval.begin_s) / STEP_S).astype(np.int64)
        balls = interval.balls[:, steps, :2].transpose(1, 0, 2)
        crowding = _crowding(positions, positions, _BODY_REACH_M) - 1.0
        around = np.concatenate([np.maximum(crowding, 0.0), _crowding(balls, positions, _BALL_REACH_M)], axis=1)
        shadow = np.concatenate([self._shadow[None], around / (around + _HALF_SHADOW)])
        self._shadow = shadow[-1]
        return interval.ticks_s[rows], shadow


class _Balls:
    """Positions of an interval's balls at any time up to its last step, the step before its first included."""

    def __init__(self, interval: PlayedInterval, before: Floats) -> None:
        self._positions = np.concatenate([before[:, None], interval.balls], axis=1)
        self._first_us = round(interval.begin_s * 1e6) - _STEP_US
        self.last_us = self._first_us + _STEP_US * interval.balls.shape[1]

    def at(self, ball: int, ts_us: Ints) -> Floats:
        positions = self._positions[ball]
        step, rest_us = np.divmod(ts_us - self._first_us, _STEP_US)
        share = (rest_us / _STEP_US)[:, None]
        following = np.minimum(step + 1, len(positions) - 1)
        return positions[step] * (1.0 - share) + positions[following] * share


class _Sampler:
    """One tag: its clock, its random streams, its filter."""

    def __init__(self, tag: Tag, noise_m: float, seed: int) -> None:
        code = crc32(tag.name.encode())

        def stream(purpose: int) -> np.random.Generator:
            return np.random.default_rng([seed, code, purpose])

        self._period_us = 1e6 / tag.rate_hz
        # Tags have no common clock: each samples at a phase of its own.
        self._phase_us = int(stream(_PHASE).random() * self._period_us)
        self._count = 0
        self._noise_m = noise_m
        self._noise, self._vectors = stream(_NOISE), stream(_ECHO_VECTORS)
        self._echoes = Spells((seed, code, _ECHOES), _ECHO_S, _ECHO)
        loss_s = _BALL_LOSS_S if tag.ball >= 0 else _LOSS_S
        self._losses = Spells((seed, code, _LOSSES), loss_s, _LOSS)
        self._blocks = Spells((seed, code, _BLOCKS), _BLOCK_S, _BLOCK)
        self._echo_m = np.empty((0, 3))
        dt_s = self._period_us / 1e6
        memory_s = _BALL_FILTER_S if tag.ball >= 0 else _LIMB_FILTER_S
        self._fade = float(np.exp(-dt_s / max(memory_s, _FILTER_SAMPLES * dt_s)))
        self._keep = float(np.exp(-dt_s / MEMORY_S))
        # Remembered error (3), filtered place, velocity and acceleration (9), time of the last sample (s).
        self._state = np.full(13, np.nan)

    def times(self, until_us: int) -> Ints:
        """Return the next sampling times, as far as they lie before ``until_us``."""
        stop = max(self._count, int((until_us - self._phase_us) / self._period_us) + 2)
        ts_us = self._phase_us + np.rint(np.arange(self._count, stop) * self._period_us).astype(np.int64)
        ts_us = ts_us[: int(np.searchsorted(ts_us, until_us))]
        self._count += len(ts_us)
        return ts_us

    def measure(self, ts_us: Ints, share: Floats, shadow: Floats) -> Rows:
        """Return the samples of a path at those times; none where the tag is lost or there is no path."""
        values = np.empty((len(ts_us), WIDTH_WITH_MOTION), np.int32)
        heard = ~np.isnan(share[:, 0])
        if self._noise_m > 0.0:
            normals = self._noise.standard_normal((len(ts_us), 7))
            echo = self._echo(ts_us, shadow)
            blocked = (self._blocks.end_of(ts_us) > ts_us) & (shadow > _DEEP)
            heard &= ~(blocked | (self._losses.end_of(ts_us) > ts_us))
        else:
            normals, echo = np.zeros((len(ts_us), 7)), np.zeros((len(ts_us), 3))
        _measure(
            ts_us, share, heard, shadow, echo, normals, self._noise_m, self._period_us / 1e6, self._keep, self._fade,
            self._state, values,
        )  # fmt: skip
        return Rows(ts_us, values) if heard.all() else Rows(ts_us[heard], values[heard])

    def _echo(self, ts_us: Ints, shadow: Floats) -> Floats:
        """Return by how much each sample is off because of echoes."""
        off = np.zeros((len(ts_us), 3))
        inside = self._echoes.end_of(ts_us) > ts_us
        if not inside.any():
            return off
        which = np.searchsorted(self._echoes.begins_us, ts_us[inside], side="right") - 1
        while len(self._echo_m) <= int(which.max()):
            self._echo_m = np.concatenate([self._echo_m, _ECHO_M * self._vectors.standard_normal((16, 3))])
        off[inside] = self._echo_m[which] * (_ECHO_OPEN + (1.0 - _ECHO_OPEN) * shadow[inside])[:, None]
        return off


def _body_path(interval: PlayedInterval, tag: Tag, t_s: Floats, is_on: bool) -> Floats:
    if not is_on or not len(t_s):
        return np.full((len(t_s), 3), np.nan)
    if tag.limb:
        return limb_paths(interval, tag.person, tag.limb, t_s)
    columns = interval.persons[:, tag.person]
    x, y = (np.interp(t_s, interval.ticks_s, columns[:, c]) for c in (Col.X, Col.Y))
    return np.column_stack([x, y, np.full(len(t_s), _BREAST_M)])


def _crowding(positions: Floats, bodies: Floats, reach_m: float) -> Floats:
    """Return (grid, positions) the bodies around, each weighted by nearness; 0 for a person who is not there."""
    gaps = positions[:, :, None] - bodies[:, None]
    nearness = 1.0 - np.hypot(gaps[..., 0], gaps[..., 1]) / reach_m
    return np.where(nearness > 0.0, nearness, 0.0).sum(axis=2)


@njit(cache=True)
def _whole(value: float) -> int:
    return int(np.rint(min(max(value, -2.147e9), 2.147e9)))


@njit(cache=True)
def _measure(
    ts_us: Ints, share: Floats, heard: npt.NDArray[np.bool_], shadow: Floats, echo: Floats, normals: Floats,
    noise_m: float, dt_s: float, keep: float, fade: float, state: Floats, out: Values,
) -> None:  # fmt: skip
    """Compute errors, filter and integers of one tag's samples; ``state`` continues from call to call."""
    fresh = np.sqrt(1.0 - keep * keep)
    for n in range(len(ts_us)):
        for axis in range(3):
            drawn = REMEMBERED * noise_m * normals[n, 3 + axis]
            before = state[axis]
            state[axis] = drawn if np.isnan(before) else keep * before + fresh * drawn
        if not heard[n]:
            continue
        now_s = ts_us[n] * 1e-6
        gap_s = now_s - state[12]
        # After a silence of a few samples the filter begins anew: old motion says nothing about the present.
        starts = not (gap_s < 4.5 * dt_s)
        theta = fade if gap_s < 1.5 * dt_s else fade ** (gap_s / dt_s)
        alpha = 1.0 - theta**3
        beta = 1.5 * (1.0 - theta * theta) * (1.0 - theta)
        gamma = (1.0 - theta) ** 3
        blur = 1.0 + 2.0 * shadow[n]
        off = 0.0
        for axis in range(3):
            vertical = HEIGHT_FACTOR if axis == 2 else 1.0
            error = vertical * blur * (WHITE * noise_m * normals[n, axis] + state[axis]) + echo[n, axis]
            off += echo[n, axis] ** 2
            position = share[n, axis] + error
            out[n, axis] = _whole(position * 1000.0)
            if starts:
                state[3 + axis], state[6 + axis], state[9 + axis] = position, 0.0, 0.0
            else:
                v, a = state[6 + axis], state[9 + axis]
                expected = state[3 + axis] + v * gap_s + 0.5 * a * gap_s * gap_s
                residual = position - expected
                state[3 + axis] = expected + alpha * residual
                state[6 + axis] = v + a * gap_s + beta / gap_s * residual
                state[9 + axis] = a + gamma / (gap_s * gap_s) * residual
            out[n, 4 + axis] = _whole(state[6 + axis] * 1000.0)
            out[n, 7 + axis] = _whole(state[9 + axis] * 1000.0)
        state[12] = now_s
        if noise_m > 0.0:
            reported_percent = 97.0 - 40.0 * shadow[n] - min(100.0 * np.sqrt(off), 55.0) - 2.0 * abs(normals[n, 6])
            out[n, 3] = int(min(max(reported_percent, 1.0), 100.0))
        else:
            out[n, 3] = 100
