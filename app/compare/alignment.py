"""Aligns two lists of actions: each in order of time, some missing on either side.

Theory of operation
-------------------
Needleman and Wunsch (Journal of Molecular Biology 48, 1970) align two sequences so that the sum of the scores of
the pairs is greatest, and the order of both is kept. Only actions of one kind and team pair; time, player and place
score; an action without a partner costs nothing. Providers' clocks are off by seconds, and otherwise in each half. So
the shift is searched first: the one at which the best partners of all actions score most. The median of the pairs
then makes it exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

#: Shifts of the clocks that are tried, and the greatest distance in time of a pair once it is taken off, in seconds.
SHIFTS_S = np.arange(-15.0, 15.01, 0.5)
WITHIN_S = 5.0
#: A pair loses its whole score over this distance in metres, and gains or loses so much by the player.
FAR_M = 40.0
SAME_PLAYER, OTHER_PLAYER = 0.75, 0.4


class Row(NamedTuple):
    """An action to be aligned: time in seconds, kind with team, player (empty if unknown), place in metres or NaN."""

    seconds: float
    kind: str
    player: str
    x_m: float
    y_m: float


class Aligned(NamedTuple):
    """Pairs as indexes into both lists, in order; and the time that the second list is ahead of the first."""

    pairs: list[tuple[int, int]]
    shift_s: float


def align(ours: Sequence[Row], theirs: Sequence[Row]) -> Aligned:
    """Align the actions of one period; both lists in order of time."""
    if not ours or not theirs:
        return Aligned([], 0.0)
    apart_s, others = _apart_s(ours, theirs), _others(ours, theirs)
    shift_s = float(max(SHIFTS_S, key=lambda shift: _scores(apart_s - shift, others).max(axis=1).clip(0.0).sum()))
    pairs = _pairs(_scores(apart_s - shift_s, others))
    if pairs:
        shift_s = float(np.median([theirs[j].seconds - ours[i].seconds for i, j in pairs]))
    return Aligned(_pairs(_scores(apart_s - shift_s, others)), shift_s)


def _apart_s(ours: Sequence[Row], theirs: Sequence[Row]) -> Floats:
    apart: Floats = (
        np.array([one.seconds for one in theirs])[None, :] - np.array([one.seconds for one in ours])[:, None]
    )
    return apart


def _others(ours: Sequence[Row], theirs: Sequence[Row]) -> Floats:
    """Score of each pair by player and place; minus infinity where the kinds differ."""
    places = [np.array([(one.x_m, one.y_m) for one in side], float) for side in (ours, theirs)]
    apart_m = np.linalg.norm(places[1][None] - places[0][:, None], axis=2)
    mine, yours = (np.array([one.player for one in side], object) for side in (ours, theirs))
    known = (mine != "")[:, None] & (yours != "")[None, :]
    player = np.where(known, np.where(mine[:, None] == yours[None, :], SAME_PLAYER, -OTHER_PLAYER), 0.0)
    kinds = [np.array([one.kind for one in side], object) for side in (ours, theirs)]
    scores: Floats = 1.0 + player - np.nan_to_num(apart_m, nan=FAR_M / 2) / FAR_M
    return np.where(kinds[0][:, None] == kinds[1][None, :], scores, -np.inf)


def _scores(apart_s: Floats, others: Floats) -> Floats:
    """Score of each pair; below zero where there can be none."""
    away = np.abs(apart_s) / WITHIN_S
    return np.where(away <= 1.0, others - away, -1.0)


def _pairs(scores: Floats) -> list[tuple[int, int]]:
    """Pairs with the greatest sum of scores that keep both orders."""
    rows, columns = scores.shape
    best = np.zeros((rows + 1, columns + 1))
    for i in range(rows):
        paired = np.maximum(best[i, 1:], best[i, :-1] + scores[i])
        best[i + 1, 1:] = np.maximum.accumulate(paired)
    pairs, i, j = [], rows, columns
    while i and j:
        if best[i, j] == best[i - 1, j]:
            i -= 1
        elif best[i, j] == best[i, j - 1]:
            j -= 1
        else:
            pairs.append((i - 1, j - 1))
            i, j = i - 1, j - 1
    return pairs[::-1]
