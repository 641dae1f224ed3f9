"""Truth of 4.7: the ball lies at a restart spot, and a player stands ready."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from football.packet_table import Floats
from football.pitch import (
    GOAL_AREA_DEPTH_M,
    GOAL_AREA_HALF_WIDTH_M,
    PENALTY_MARK_DISTANCE_M,
    Pitch,
)
from simulator.records import STEP_S, Col, PlayedInterval
from simulator.truth.truth_table import Lines

#: Ball and taker to the spot, how slow for how long, and how much further the ball has left it.
NEAR_M, SLOW_M_S, HOLD_S, LEAVE_M = 2.0, 2.5, 0.8, 1.0


@dataclass
class SpotTruth:
    """Truth of 4.7, interval by interval, checked every tick; nobody is at a spot at first."""

    pitch: Pitch
    spot: str = ""
    since_s: float = 0.0
    is_ready: bool = False
    taker: int = -1

    def take(self, interval: PlayedInterval, players: int, lines: Lines) -> None:
        """Add what happened in an interval; rows below ``players`` may take a restart."""
        inside = (interval.ticks_s > interval.begin_s - 1e-9) & (interval.ticks_s < interval.end_s - 1e-9)
        times_s, rows = interval.ticks_s[inside], interval.persons[inside, :players]
        steps = np.rint((times_s - interval.begin_s) / STEP_S).astype(int)
        ball = interval.balls[interval.active[steps], steps]
        slow = np.hypot(*interval.ball_velocity[steps, :2].T) <= SLOW_M_S
        for tick in np.flatnonzero(slow | bool(self.spot) | np.roll(slow, 1)).tolist():
            self._look(float(times_s[tick]), ball[tick], bool(slow[tick]), rows[tick], lines)

    def _look(self, t_s: float, ball: Floats, slow: bool, rows: Floats, lines: Lines) -> None:
        x, y, z = ball.tolist()
        if self.is_ready:
            if not spot_at(self.pitch, x, y, NEAR_M + LEAVE_M):
                self.spot, self.is_ready, self.taker = "", False, -1
            elif slow:
                self._stand(t_s, (x, y, z), rows, lines)
            return
        spot = spot_at(self.pitch, x, y, NEAR_M) if slow else ""
        if spot != self.spot:
            self.spot, self.since_s = spot, t_s
        elif spot and t_s - self.since_s >= HOLD_S - 1e-9:
            self.is_ready = True
            lines.add("spot.ball", t_s, -1, (x, y, z), spot)
            self._stand(t_s, (x, y, z), rows, lines)

    def _stand(self, t_s: float, ball: tuple[float, float, float], rows: Floats, lines: Lines) -> None:
        away = np.hypot(rows[:, Col.X] - ball[0], rows[:, Col.Y] - ball[1])
        if np.isnan(away).all():
            return
        nearest = int(np.nanargmin(away))
        if away[nearest] <= NEAR_M and nearest != self.taker:
            self.taker = nearest
            lines.add("spot.taker", t_s, nearest, ball, self.spot)


def spot_at(pitch: Pitch, x_m: float, y_m: float, near_m: float) -> str:
    """Return the kind of restart spot at a position, the narrowest first; empty if there is none."""
    depth_m = pitch.half_length_m - abs(x_m)
    if math.hypot(x_m, y_m) <= near_m:
        return "centre"
    if math.hypot(depth_m - PENALTY_MARK_DISTANCE_M, y_m) <= near_m:
        return "penalty mark"
    if math.hypot(depth_m, pitch.half_width_m - abs(y_m)) <= near_m:
        return "corner"
    if 0.0 <= depth_m <= GOAL_AREA_DEPTH_M and abs(y_m) <= GOAL_AREA_HALF_WIDTH_M:
        return "goal area"
    return "touch line" if abs(y_m) >= pitch.half_width_m - near_m else ""
