"""Breaks of a ball's way that nobody saw: the ball was lost on one way, and found again on another.

Cameras lose the ball most often where it is played: at a player's feet, behind his legs. It comes on a straight way, is
out of sight, and leaves on another way. If both ways meet while it was lost, it was struck once, where they meet. If
not, somebody had it: it was stopped as it was lost, and struck just before it was found. Whether anybody was there, and
who, is asked of every break (5.1).

The numbers were chosen on simulated matches: 694 with the ball hidden near players, 700 (``ragged``), 713
(``broadcast``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from detectors.ball.trajectory_breaks import SLOWED_MAX_M_S, TrajectoryBreak, only_slowed
from detectors.signals.kernels.break_solver import Position, Vector
from football.constants import BALL_SPEED_MAX_M_S

#: A ball that was lost for longer may have been anywhere; one that was lost for less has jumped.
GAP_MIN_FRAMES, GAP_MAX_US = 1.5, 1_500_000
#: Newest positions before the loss, at least and at most, and positions after it, that show a way.
STATES_BEFORE_MIN, STATES_BEFORE_MOST, STATES_FOUND = 2, 4, 3
#: A ball is found on the way on which it was lost if it is off it by no more than this and so much of what it covered,
#: and its velocity has changed by no more than this and so much of it.
OFF_M, OFF_SHARE = 0.4, 0.15
TURNED_M_S, TURNED_SHARE = 2.0, 0.3
#: Ways that pass each other by less have met.
MEET_M = 0.5
#: Least change of velocity.
CHANGE_MIN_M_S = 1.0
#: Standard error of a change, as of two velocities of a few positions each.
_NOISE_M_S = 0.3


class Way(msgspec.Struct, frozen=True, gc=False):
    """A straight way of the ball: time, place and velocity where it was seen last, or again."""

    at_us: int
    place_m: Vector
    velocity_m_s: Vector


def way_until(positions: Sequence[Position]) -> Way | None:
    """The way of the newest of some positions, oldest first; None if they are too few."""
    newest = positions[-STATES_BEFORE_MOST:]
    return _way(newest, newest[-1][0]) if len(newest) >= STATES_BEFORE_MIN else None


def breaks_between(
    lost: Way, positions: Sequence[Position], source: str, period_us: int
) -> tuple[TrajectoryBreak, ...]:
    """The breaks, none to two, of a ball that was lost on a way, and found at some positions.

    Args:
        lost: the way.
        positions: ``STATES_FOUND`` of them, oldest first.
        source: the ball.
        period_us: time between positions.
    """
    found = _way(positions, positions[0][0])
    gap_s = (found.at_us - lost.at_us) * 1e-6
    if not GAP_MIN_FRAMES * period_us <= gap_s * 1e6 <= GAP_MAX_US:
        return ()
    into, out = lost.velocity_m_s, found.velocity_m_s
    turned_m_s, speed_m_s = math.dist(into[:2], out[:2]), math.hypot(*into[:2])
    off_m = math.dist(found.place_m[:2], _place(lost, gap_s)[:2])
    if off_m < OFF_M + OFF_SHARE * speed_m_s * gap_s and turned_m_s < max(TURNED_M_S, TURNED_SHARE * speed_m_s):
        return ()
    met_s = _meeting_s(lost, found, gap_s)
    if met_s is not None:
        one = _break(source, lost.at_us + met_s * 1e6, _place(lost, met_s), into, out)
        return (one,) if turned_m_s >= CHANGE_MIN_M_S else ()
    x_m_s, y_m_s = ((there - here) / gap_s for here, there in zip(lost.place_m[:2], found.place_m[:2], strict=True))
    if math.hypot(x_m_s, y_m_s) > BALL_SPEED_MAX_M_S:
        return ()
    between = x_m_s, y_m_s, 0.0
    edge_us = min(float(period_us), gap_s * 1e6 / 3.0)
    both = (
        _break(source, lost.at_us + edge_us, lost.place_m, _flat(into), between),
        _break(source, found.at_us - edge_us, found.place_m, between, _flat(out)),
    )
    return tuple(one for one in both if _is_played(one.before, one.after))


def _is_played(before: Vector, after: Vector) -> bool:
    change = after[0] - before[0], after[1] - before[1], 0.0
    return math.hypot(*change) >= CHANGE_MIN_M_S and not only_slowed(before, change, SLOWED_MAX_M_S)


def _meeting_s(lost: Way, found: Way, gap_s: float) -> float | None:
    """How long after the loss the two ways meet over the ground; None if they do not while the ball was lost."""
    vx, vy = (a - b for a, b in zip(lost.velocity_m_s[:2], found.velocity_m_s[:2], strict=True))
    x, y = (a - b for a, b in zip(lost.place_m[:2], _place(found, -gap_s)[:2], strict=True))
    square = vx * vx + vy * vy
    if square <= 0.0:
        return None
    at_s = -(x * vx + y * vy) / square
    met = 0.0 <= at_s <= gap_s and math.hypot(x + vx * at_s, y + vy * at_s) < MEET_M
    return at_s if met else None


def _place(way: Way, after_s: float) -> Vector:
    (x, y, z), (vx, vy, vz) = way.place_m, way.velocity_m_s
    return x + vx * after_s, y + vy * after_s, z + vz * after_s


def _flat(velocity: Vector) -> Vector:
    return velocity[0], velocity[1], 0.0


def _break(source: str, at_us: float, place: Vector, before: Vector, after: Vector) -> TrajectoryBreak:
    x_m, y_m, z_m = (round(coordinate, 3) for coordinate in place)
    return TrajectoryBreak(round(at_us), source, x_m, y_m, z_m, before, after, _NOISE_M_S)


def _way(positions: Sequence[Position], at_us: int) -> Way:
    """The line through some positions by least squares, at one time of theirs."""
    count = len(positions)
    times_s = [(position[0] - at_us) * 1e-6 for position in positions]
    mean_s = sum(times_s) / count
    spread = sum((at_s - mean_s) ** 2 for at_s in times_s)
    place, velocity = [], []
    for axis in (1, 2, 3):
        mean = sum(position[axis] for position in positions) / count
        slope = sum((at_s - mean_s) * (p[axis] - mean) for at_s, p in zip(times_s, positions, strict=True)) / spread
        place.append(mean - slope * mean_s)
        velocity.append(slope)
    return Way(at_us, (place[0], place[1], place[2]), (velocity[0], velocity[1], velocity[2]))
