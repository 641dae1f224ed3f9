"""Take-ons: a player with the ball goes past the opponent in the way; an opponent who misses the ball stops.

``Occasions.take_on_share`` says how often; the default match has none, and draws nothing here. Without them players
with the ball avoid their opponents (:func:`simulator.play.decisions.carry`).
"""

from __future__ import annotations

import math

from football.constants import BALL_RADIUS_M
from simulator.play import provider_truth
from simulator.play.match_state import Action, State

#: Name of the action.
TAKE_ON = "take_on"
#: An opponent so far away, at most 66 degrees off the way to the goal, is taken on; nobody does it near the own goal.
_FROM_M, _TO_M, _IN_THE_WAY, _DEEP_M = 1.0, 5.0, 0.4, 80.0
#: The ball goes past so far beside the opponent, to a point so far behind, so fast; meanwhile nothing else is decided.
_ASIDE_M, _BEYOND_M, _PACE_M_S, _COMMITTED_S = 1.2, 4.0, 6.8, 0.9
#: A player with the ball looks for somebody to take on this often.
_EVERY_TICKS = 10
#: Chance that the opponent tries for the ball within reach; by so much his chance to win it is less than otherwise.
TRIES, HARDER = 0.25, 0.35


def take_on(state: State, row: int) -> Action | None:
    """Return the attempt to go past the opponent in the way, if there is one and the player dares."""
    share = state.settings.occasions.take_on_share
    if share <= 0.0 or state.is_keeper(row) or state.tick % _EVERY_TICKS:
        return None
    if state.action is not None and state.action.what == TAKE_ON and state.now_s < state.decide_s:
        return None
    x, y = state.xy(row)
    team = int(state.team[row])
    if state.depth(team, x) > _DEEP_M:
        return None
    rival, gap_m = state.nearest(state.opponents(row), x, y)
    if not _FROM_M < gap_m < _TO_M or state.is_keeper(rival):
        return None
    dx, dy = state.half_x * float(state.sign[team]) - x, -0.5 * y
    away = math.hypot(dx, dy)
    wx, wy = dx / away, dy / away
    rx, ry = state.columns[rival, 0] - x, state.columns[rival, 1] - y
    if (rx * wx + ry * wy) < _IN_THE_WAY * gap_m or not state.chance(share):
        return None
    side = -1.0 if wx * ry - wy * rx > 0.0 else 1.0
    target_x = float(x + rx + _BEYOND_M * wx - side * _ASIDE_M * wy)
    target_y = float(y + ry + _BEYOND_M * wy + side * _ASIDE_M * wx)
    if abs(target_x) > state.half_x - 1.0 or abs(target_y) > state.half_y - 1.0:
        return None
    state.decide_s = state.now_s + _COMMITTED_S
    action = Action("carry", TAKE_ON, -1, (target_x, target_y, BALL_RADIUS_M), _PACE_M_S, 0.0, 0.0)
    provider_truth.tried(state, row, rival, (wx, wy))
    return action


def stop(state: State) -> None:
    """Let opponents who missed the ball stop until they can play again."""
    for row, until_s in list(state.stopping.items()):
        if state.now_s >= until_s:
            del state.stopping[row]
            continue
        state.targets[row] = state.xy(row)
        state.paces[row] = 1.0
