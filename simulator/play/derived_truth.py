"""Rows of truth that follow from the course of play: carries, loose balls, miscontrols."""

from __future__ import annotations

import math

import numpy as np

from simulator.play import provider_truth
from simulator.play.match_state import State
from simulator.play.truth_writer import Watching
from simulator.records import Vector

#: 5.8: the ball has left its kicker. 6.10: shortest carry. 6.11: nobody near a slow ball for so long.
RELEASED_M, CARRY_M = 2.25, 3.0
LOOSE_M, LOOSE_M_S, LOOSE_S = 1.5, 8.0, 0.5
#: 7.11: time in which a bad touch is lost.
LOST_S, MISS_M = 2.0, 3.0


def watch(state: State) -> None:
    """Update everything that is being watched, each tick of live play after the ball has moved."""
    ball = state.ball.position
    if state.watching.kick >= 0:
        _release(state, ball)
    _carry(state, ball)
    _loose(state)
    provider_truth.watch_take_on(state)
    _touch(state, ball)


def ended(state: State, t_s: float, position: Vector) -> None:
    """End everything that is being watched, because play is dead."""
    _end_carry(state, t_s, position)
    state.watching = Watching()


def _release(state: State, ball: Vector) -> None:
    row = state.truth.rows[state.watching.kick]
    if state.last != row.person:
        state.watching.kick = -1
    elif math.hypot(ball[0] - state.columns[row.person, 0], ball[1] - state.columns[row.person, 1]) > RELEASED_M:
        state.truth.add("kick.released", state.now_s, row.person, ball, "", (state.watching.kick,))
        state.watching.kick = -1


def _carry(state: State, ball: Vector) -> None:
    holder = state.holder if not state.in_hands else -1
    if state.watching.carry is not None and state.watching.carry[0] != holder:
        _end_carry(state, state.now_s, ball)
    if holder < 0:
        return
    if state.watching.carry is None:
        state.watching.carry = (holder, state.now_s, ball, 0.0, ball)
        return
    row, since_s, begin, length_m, before = state.watching.carry
    state.watching.carry = (row, since_s, begin, length_m + math.dist(ball[:2], before[:2]), ball)


def _end_carry(state: State, t_s: float, position: Vector) -> None:
    if state.watching.carry is None:
        return
    row, since_s, begin, length_m, _ = state.watching.carry
    state.watching.carry = None
    if length_m < CARRY_M:
        return
    start = state.truth.add("carry.start", since_s, row, begin)
    state.truth.add(
        "carry.end", t_s, row, position, "", (start,), length_m=round(length_m, 2), seconds=round(t_s - since_s, 2)
    )


def _loose(state: State) -> None:
    """Follow a loose ball (6.11), which begins at the touch that lost it, and its recovery (7.10)."""
    x, y, _ = state.ball.position
    free = state.holder < 0 and not state.in_hands and state.moving() < LOOSE_M_S
    if free and float(np.min(state.gaps(state.players, x, y))) > LOOSE_M:
        state.watching.alone_s += 0.02
        if state.watching.alone_s >= LOOSE_S and state.watching.loose < 0:
            touched_s = float(state.touched_s.max())
            since_s = touched_s if touched_s >= 0.0 else state.now_s - LOOSE_S
            state.watching.loose = state.truth.add("ball.loose", since_s, -1, state.ball.position)
            state.watching.loose_team = int(state.team[state.last]) if state.last >= 0 else -1
    else:
        state.watching.alone_s = 0.0
    gain = state.truth.gain
    if state.watching.loose >= 0 and gain > state.watching.loose:
        row = state.truth.rows[gain]
        if state.team[row.person] != state.watching.loose_team and state.interception < 0:
            provider_truth.won(state, row.person, row.t_s, gain, state.watching.loose)
        state.watching.loose = -1


def controlled(state: State, row: int, index: int) -> None:
    """Begin to watch a touch of who has the ball for a miscontrol, once the one before is decided."""
    _touch(state, state.ball.position)
    state.watching.touch = (row, state.now_s, state.ball.position, index)


def _touch(state: State, ball: Vector) -> None:
    """Detect a miscontrol (7.11); who is tackled has not miscontrolled the ball."""
    if state.watching.touch is None:
        return
    row, since_s, position, index = state.watching.touch
    if state.now_s - since_s > LOST_S or (state.last == row and state.touched_s[row] > since_s + 0.1):
        state.watching.touch = None
    elif state.last != row:
        tackled = state.truth.rows[state.last_contact].detail.get("what") == "tackle"
        lost = state.team[state.last] != state.team[row] and not tackled
        if lost and math.dist(ball[:2], position[:2]) > MISS_M:
            state.truth.add("miscontrol", since_s, row, position, "", (index, state.truth.gain))
        state.watching.touch = None
