"""Stretches made by hand: persons and ball go where functions of time say, nobody plays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from simulator.records import (
    BALLS,
    COLUMNS,
    MARGIN_S,
    PERSONS,
    STEP_S,
    TICK_S,
    Col,
    Contact,
    PlayedInterval,
)

#: Places at given times: (n,) -> (n, 2) of a person, (n, 3) of a ball.
Trajectory = Callable[[np.ndarray], np.ndarray]


def at(*position: float) -> Trajectory:
    """Stays there."""
    return lambda t_s: np.tile(np.array(position, float), (len(t_s), 1))


def along(*waypoints: tuple[float, ...]) -> Trajectory:
    """Straight from waypoint to waypoint (second, coordinates ...), and stays at the last."""
    table = np.array(waypoints, float)
    return lambda t_s: np.stack([np.interp(t_s, table[:, 0], c) for c in table[:, 1:].T], axis=1)


def intervals(
    seconds: float,
    persons: Mapping[int, Trajectory],
    ball: Trajectory,
    contacts: tuple[Contact, ...] = (),
    *,
    each_s: float = 2.0,
    extra: Mapping[tuple[int, Col], Callable[[np.ndarray], np.ndarray]] | None = None,
) -> Iterator[PlayedInterval]:
    """A match of ``seconds`` in stretches of ``each_s``; ``extra`` gives further columns of persons, spare balls lie
    beside the pitch."""
    total = round(seconds / TICK_S)
    all_s = np.arange(total) * TICK_S
    table = np.full((total, PERSONS, COLUMNS), np.nan)
    for row, path in persons.items():
        table[:, row] = 0.0
        table[:, row, [Col.X, Col.Y]] = path(all_s)
        table[:, row, [Col.VX, Col.VY]] = (path(all_s + 1e-3) - path(all_s - 1e-3)) / 2e-3
    for (row, column), values in (extra or {}).items():
        table[:, row, column] = values(all_s)
    count = round(each_s / TICK_S)
    margin = round(MARGIN_S / TICK_S)
    for first in range(0, total, count):
        last = min(first + count, total)
        low, high = max(0, first - margin), min(total, last + margin)
        steps_s = all_s[first] + np.arange(round((last - first) * TICK_S / STEP_S)) * STEP_S
        balls = np.stack([ball(steps_s), *(at(5.0 * n, -40.0, 0.11)(steps_s) for n in range(1, len(BALLS)))])
        velocity = (ball(steps_s + 1e-4) - ball(steps_s - 1e-4)) / 2e-4
        inside = tuple(c for c in contacts if all_s[low] <= c.t_s <= all_s[high - 1])
        yield PlayedInterval(
            float(all_s[first]), float(last * TICK_S), all_s[low:high], table[low:high], inside, balls, velocity,
            np.zeros(len(steps_s), np.int64),
        )  # fmt: skip
