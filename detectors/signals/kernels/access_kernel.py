"""The space that a team can reach by a pass: the model of accessible-space 2.1.0, as a kernel (10.10).

Passes leave the ball in ``ANGLES`` directions at ``SPEEDS_M_S``. On each ray a player intercepts at a rate that jumps
up once he can be there before the ball. The *possibility* of a place is the greatest chance, over the speeds, that a
mate has the ball there while no opponent took it on the way; summed over the pitch it is the accessible space in square
metres, weighed by the chance of a goal from there the dangerous accessible space (Bischofberger and Baca 2024).

All numbers are the package's defaults for this measure (``interface.py``, MIT licence), fitted there to passes of real
matches. They are coefficients of one fit, so none of them is a parameter. It counts with 32 bits, this kernel with 64.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from detectors.signals.kernels.control_kernel import Floats
from football.pitch import GOAL_HALF_WIDTH_M

#: Directions of a pass, and its speeds.
ANGLES = 30
SPEEDS_M_S = np.linspace(3.0, 30.0, 15)
#: Between two places on a ray, in metres.
STEP_M = 3.0
#: A player keeps his velocity for a while, and then runs at this speed; to a place as near as this he runs at once.
INERTIA_S, PLAYER_M_S, NEAR_M = 0.17, 9.0, 5.0
#: The rate of interception by the seconds that he is late, and its scale by the speed of the ball.
RATE_B0, RATE_B1 = -4.565680899844368, -2000.0
SCALE, SCALE_EXPONENT = 5.077423030272923, 1.0063028450754512
#: Log-odds of a goal: a constant, per metre of distance, per radian of the visible angle.
DANGER, DANGER_PER_M, DANGER_PER_RAD = -0.52156283, -0.14447723, 0.40579492
#: From the middle of the goal to that of a post, in metres.
POST_M = GOAL_HALF_WIDTH_M + 0.06


@njit(cache=True)
def _danger(depth_m: float, across_m: float) -> float:
    """The chance of a goal from a place, by its distance from the goal line and from the middle of the pitch."""
    outside_m = max(abs(across_m) - POST_M, 0.0)
    distance_m = math.sqrt(depth_m * depth_m + outside_m * outside_m)
    left, right = POST_M - across_m, -POST_M - across_m
    norms = math.sqrt(depth_m * depth_m + left * left) * math.sqrt(depth_m * depth_m + right * right)
    cosine = (depth_m * depth_m + left * right) / norms if norms > 0.0 else 0.0
    angle = math.acos(min(max(cosine, -1.0), 1.0))
    return 1.0 / (1.0 + math.exp(-(DANGER + DANGER_PER_M * distance_m + DANGER_PER_RAD * angle)))


@njit(cache=True)
def _arrivals(players: Floats, x: float, y: float, places: int, ux: float, uy: float, times: Floats) -> None:
    """When each player can be at each place of a ray, in seconds, into ``times``."""
    for i in range(len(players)):
        x0, y0 = players[i, 0], players[i, 1]
        x1, y1 = x0 + players[i, 2] * INERTIA_S, y0 + players[i, 3] * INERTIA_S
        for k in range(places):
            px, py = x + ux * STEP_M * k, y + uy * STEP_M * k
            away = math.sqrt((px - x0) ** 2 + (py - y0) ** 2)
            if away < NEAR_M:
                times[i, k] = away / PLAYER_M_S
            else:
                times[i, k] = INERTIA_S + math.sqrt((px - x1) ** 2 + (py - y1) ** 2) / PLAYER_M_S


@njit(cache=True)
def _possible(players: Floats, mates: int, places: int, times: Floats, rates: Floats, possible: Floats) -> float:
    """The greatest chance over the speeds, by player and place, into ``possible``; and the greatest of all.

    ``rates``: workspace of the shape of ``times``.
    """
    possible[:] = 0.0
    most = 0.0
    for speed in SPEEDS_M_S:
        scale, step_s = SCALE * speed**-SCALE_EXPONENT, STEP_M / speed
        for i in range(len(players)):
            for k in range(places):
                z = RATE_B0 + RATE_B1 * (times[i, k] - k * step_s)
                rates[i, k] = 0.5 * (z / (1.0 + abs(z)) + 1.0) / scale
        taken_own = taken_other = before_own = before_other = 0.0
        for k in range(places):
            own = other = 0.0
            for i in range(mates):
                own += rates[i, k]
            for i in range(mates, len(players)):
                other += rates[i, k]
            if k:
                taken_own += 0.5 * (before_own + own) * step_s
                taken_other += 0.5 * (before_other + other) * step_s
            before_own, before_other = own, other
            free_own, free_other = math.exp(-taken_own) / speed, math.exp(-taken_other) / speed
            for i in range(len(players)):
                chance = rates[i, k] * (free_other if i < mates else free_own)
                if chance > possible[i, k]:
                    possible[i, k] = chance
                    most = max(most, chance)
    return most


@njit(cache=True)
def accessible_space(
    players: Floats, mates: int, x: float, y: float, sign: float, half_length_m: float, half_width_m: float
) -> tuple[float, float]:
    """Accessible and dangerous accessible space of a team, in square metres.

    Args:
        players: a row (x, y, vx, vy) a player who may take the ball, those of the team first.
        mates: how many of them are the team's.
        x: of the ball, as ``y`` in metres.
        sign: +1 if the team attacks towards +x, else -1.
    """
    most_m = math.sqrt(4.0 * half_length_m**2 + 4.0 * half_width_m**2) + 3.0 * STEP_M
    places = math.ceil((most_m + STEP_M) / STEP_M)
    times, rates, possible = (
        np.empty((len(players), places)), np.empty((len(players), places)), np.empty((len(players), places))
    )  # fmt: skip
    reached = dangerous = 0.0
    for direction in range(ANGLES):
        angle = 2.0 * math.pi * direction / ANGLES
        ux, uy = sign * math.cos(angle), sign * math.sin(angle)
        _arrivals(players, x, y, places, ux, uy, times)
        most = _possible(players, mates, places, times, rates, possible)
        if most <= 0.0:
            continue
        # As in the package: the first and the last ray, and the first and the last place, have half a share. The first
        # ray goes towards the opponents' goal line, whichever that is; in the package it goes towards +x.
        turn = 2.0 * math.pi / ANGLES * (0.5 if direction in (0, ANGLES - 1) else 1.0)
        for k in range(places):
            px, py = x + ux * STEP_M * k, y + uy * STEP_M * k
            if abs(px) > half_length_m or abs(py) > half_width_m:
                continue
            best = 0.0
            for i in range(mates):
                best = max(best, possible[i, k])
            inner, outer = max(k - 0.5, 0.0) * STEP_M, (k + 0.5 if k < places - 1 else float(k)) * STEP_M
            share = best / (most * STEP_M) * (outer - inner) * turn / 2.0 * (outer * outer - inner * inner)
            reached += share
            dangerous += share * _danger(half_length_m - sign * px, sign * py)
    return reached, dangerous
