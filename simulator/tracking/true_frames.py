"""Noiseless frames of a simulated match, which tracking profiles then spoil.

Frames are taken at every tick (50 Hz), so that one played match serves profiles of any rate.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from football.match_sheet import MatchSheet
from football.packet_table import Floats, Ints
from simulator.records import SQUAD, STEP_S, TICK_S, Col, PlayedInterval, object_id

#: Ticks a second.
TICK_HZ = round(1.0 / TICK_S)
#: A tracking system follows players so far beyond the lines, in metres.
BEYOND_M = 3.5


@dataclass(frozen=True, eq=False)
class TrueFrames:
    """A match as it was, at every tick.

    Attributes:
        sheet: of the match.
        ids: object ids of the columns of ``bodies``.
        ts_us: (n,) times.
        ball: (n, 3) centre of the ball in play.
        bodies: (n, players, 4) position and velocity over ground; NaN where a player takes no part.
        in_play: (n,) Law 9.
        period: (n,) number of the newest period that has begun.
        touches: (k, 4) time in seconds and position of the ball at each contact.
    """

    sheet: MatchSheet
    ids: tuple[str, ...]
    ts_us: Ints
    ball: Floats
    bodies: Floats
    in_play: np.ndarray
    period: Ints
    touches: Floats

    def __len__(self) -> int:
        """Number of frames."""
        return len(self.ts_us)


class FrameSampler:
    """Collects the noiseless frames of a match, interval by interval."""

    def __init__(self, sheet: MatchSheet) -> None:
        self._sheet = sheet
        self._ball: list[Floats] = []
        self._bodies: list[Floats] = []
        self._times: list[Ints] = []
        self._touches: dict[tuple[float, int], tuple[float, float, float, float]] = {}

    def take(self, interval: PlayedInterval, on_pitch: Collection[int]) -> None:
        """Add an interval; ``on_pitch`` are the rows of the players who take part."""
        numbers = np.rint(interval.ticks_s / TICK_S).astype(np.int64)
        inside = (numbers >= round(interval.begin_s / TICK_S)) & (numbers < round(interval.end_s / TICK_S))
        steps = np.rint((numbers[inside] * TICK_S - interval.begin_s) / STEP_S).astype(np.int64)
        self._ball.append(interval.balls[interval.active[steps], steps].astype(np.float32))
        bodies = interval.persons[inside][:, : 2 * SQUAD, [Col.X, Col.Y, Col.VX, Col.VY]].astype(np.float32)
        absent = np.ones(2 * SQUAD, bool)
        absent[[row for row in on_pitch if row < 2 * SQUAD]] = False
        bodies[:, absent] = np.nan
        off = np.abs(bodies[:, :, 0]) > self._sheet.length_m / 2 + BEYOND_M
        off |= np.abs(bodies[:, :, 1]) > self._sheet.width_m / 2 + BEYOND_M
        bodies[off] = np.nan
        self._bodies.append(bodies)
        self._times.append(numbers[inside] * round(TICK_S * 1e6))
        for contact in interval.contacts:
            self._touches[contact.t_s, contact.person] = (contact.t_s, *contact.position)

    def finish(self, truth_frames: pa.Table) -> TrueFrames:
        """Return all frames; ``truth_frames`` has the ball in play, and the period."""
        ts_us = np.concatenate(self._times)
        known_us = truth_frames["ts_us"].to_numpy()
        at = np.clip(np.searchsorted(known_us, ts_us, side="right") - 1, 0, len(known_us) - 1)
        in_play = truth_frames["in_play"].to_numpy(zero_copy_only=False)[at]
        period = np.asarray(truth_frames["period"].to_numpy(), np.int64)[at]
        ids = tuple(object_id(row) for row in range(2 * SQUAD))
        touches = np.array(sorted(self._touches.values()), dtype=float).reshape(-1, 4)
        ball, bodies = np.concatenate(self._ball).astype(float), np.concatenate(self._bodies)
        return TrueFrames(self._sheet, ids, ts_us, ball, bodies, np.asarray(in_play, bool), period, touches)
