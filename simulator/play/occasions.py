"""Occasions of a match day besides the usual play: warm-ups, quick restarts, video reviews, new shapes.

``MatchSettings.occasions`` says how much of it; the default match has none, and draws nothing here.
"""

from __future__ import annotations

import math

from simulator.play.match_state import Restart, State
from simulator.play.squads import SHAPES
from simulator.play.truth_writer import id_of
from simulator.records import REFEREES, SQUAD, STARTERS

#: A substitute's turn of warming up, standing and sitting lasts so long.
_TURN_S = 420.0
#: Shares of a turn at whose end a substitute stops to warm up, to jog along the line, to stand.
_WARM, _JOG, _STAND = 0.4, 0.55, 0.8
#: A warm-up goes to and fro so often, metres behind the line and beside the goal.
_LAP_S, _BEHIND_M, _NEAR_M, _FAR_M = 14.0, 3.0, 9.0, 24.0
#: Seconds that a taker in a hurry needs; a review takes.
_QUICK_S, _REVIEW_S = (1.0, 2.5), (40.0, 150.0)
#: So long before the second half substitutes leave the pitch.
_CLEAR_S = 90.0
#: Players exchange their places so long after the begin of a half, in seconds.
_SWAP_S = (100.0, 160.0)
#: Nobody of the last line does.
_LAST_LINE_DEPTH = 0.2
#: Second shapes are taken after so much of the second half.
_LATE_SHARE = 0.5


def warming_position(state: State, row: int, seat: tuple[float, float]) -> tuple[tuple[float, float], float]:
    """Return where a substitute goes, and how fast: behind a goal line, along the touchline, before the bench, on it.

    It follows from the time alone: chance would change the match.
    """
    team, number = row // SQUAD, row % SQUAD - STARTERS
    side = -1.0 if team == 0 else 1.0
    if state.is_break and not state.is_final and state.break_until_s - state.now_s > _CLEAR_S:
        return _half_time_position(state, row), 3.2
    turn = (state.now_s / _TURN_S + number / (SQUAD - STARTERS) + 0.37 * team) % 1.0
    swing = 0.5 + 0.5 * math.sin(2.0 * math.pi * state.now_s / _LAP_S + number)
    if turn < _WARM:
        x = side * (state.half_x + _BEHIND_M + 0.8 * number)
        y = (_NEAR_M + (_FAR_M - _NEAR_M) * swing) * (-1.0 if number % 2 else 1.0)
        return _around_the_corner(state, row, side, (x, y)), 3.6
    if turn < _JOG:
        target = side * (12.0 + 28.0 * swing), -state.half_y - 1.6 - 0.5 * number
        return _around_the_corner(state, row, side, target), 3.4
    if turn < _STAND:
        target = seat[0] + 0.6 * math.sin(0.3 * state.now_s + number), -state.half_y - 2.2
        return _around_the_corner(state, row, side, target), 1.2
    return _around_the_corner(state, row, side, seat), 1.5


def _around_the_corner(state: State, row: int, side: float, target: tuple[float, float]) -> tuple[float, float]:
    """Return where a substitute goes next: nobody crosses the pitch between goal line and touchline."""
    x, y = state.xy(row)
    if abs(x) < state.half_x and abs(y) < state.half_y:
        return x, -state.half_y - _BEHIND_M
    along = y < -state.half_y - 1.0
    behind = x * side > state.half_x + 1.0
    to_goal_line = abs(target[0]) > state.half_x
    if (to_goal_line and along and not behind) or (not to_goal_line and behind and not along):
        return side * (state.half_x + _BEHIND_M), -state.half_y - _BEHIND_M
    return target


def _half_time_position(state: State, row: int) -> tuple[float, float]:
    """Substitutes pass a ball around near the centre circle at half-time."""
    angle = 2.0 * math.pi * (row % SQUAD) / 5.0 + 0.1 * state.now_s
    side = -1.0 if row < SQUAD else 1.0
    return side * 20.0 + 7.0 * math.cos(angle), -8.0 + 7.0 * math.sin(angle)


def hurry(state: State, restart: Restart) -> None:
    """Let a throw-in or a free kick without a set piece be taken at once, now and then."""
    share = state.settings.occasions.quick_share
    plain = restart.kind == "throw_in" or (restart.kind == "free_kick" and restart.style == "short")
    if share <= 0.0 or not plain or not state.chance(share):
        return
    restart.is_quick = True
    restart.earliest_s = restart.since_s + float(state.rng.uniform(*_QUICK_S))


def review(state: State, restart: Restart, goal: int) -> None:
    """Hold up the kick-off after a goal while the video assistant looks at it; the goal stands."""
    share = state.settings.occasions.review_share
    if share <= 0.0 or not state.chance(share):
        return
    length_s = float(state.rng.uniform(*_REVIEW_S))
    restart.earliest_s += length_s
    state.lost_s += length_s
    position = state.truth.rows[goal].position
    state.truth.add("whistle", restart.since_s + 8.0, REFEREES[0], position, "review", (goal,))


def new_shapes(state: State) -> None:
    """Let teams change their shape, at the beginning of the second half or within it."""
    share = state.settings.occasions.new_shape_share
    if share <= 0.0:
        return
    for team in (0, 1):
        if not state.chance(share):
            continue
        others = [name for name in SHAPES if name != state.shapes[team]]
        late = state.chance(0.5)
        at_s = state.now_s + late * _LATE_SHARE * state.settings.half_s
        state.coming_shapes.append((at_s, team, str(state.rng.choice(others))))


def take_shapes(state: State) -> None:
    """Change to the shapes that are due, while play is dead."""
    due = [shape for shape in state.coming_shapes if shape[0] <= state.now_s]
    for shape in due:
        state.coming_shapes.remove(shape)
        _, team, name = shape
        state.shapes[team] = name
        state.shape_changes.append((state.now_s, ("home", "away")[team], name))
        state.regroup()


def swap_roles(state: State) -> None:
    """Let the widest pair of a team before its last line exchange places, while play is dead, once a half."""
    share = state.settings.occasions.role_swap_share
    if share <= 0.0:
        return
    if state.swaps_drawn < state.period:
        state.swaps_drawn = state.period
        state.coming_swaps += [
            (state.now_s + float(state.rng.uniform(*_SWAP_S)), team) for team in (0, 1) if state.chance(share)
        ]
    for swap in [one for one in state.coming_swaps if one[0] <= state.now_s]:
        state.coming_swaps.remove(swap)
        slots, shape = state.slots[swap[1]], SHAPES[state.shapes[swap[1]]]
        pairs = [
            (one[2], left + 1, right + 1)
            for left, one in enumerate(shape) for right, other in enumerate(shape)
            if one[0] == other[0] and one[2] == -other[2] > 0.0 and one[1] > _LAST_LINE_DEPTH
            and min(slots[left + 1], slots[right + 1]) >= 0
        ]  # fmt: skip
        if not pairs:
            continue
        _, left, right = max(pairs)
        slots[left], slots[right] = slots[right], slots[left]
        state.regroup()
        first, mate = sorted((slots[left], slots[right]), key=id_of)
        x, y = state.xy(first)
        state.truth.add("role.swapped", state.now_s, first, (x, y, 0.9), mate=id_of(mate))
