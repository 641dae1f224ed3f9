"""Decisions of the player on the ball: whom he passes to when an opponent stands before him."""

from __future__ import annotations

import math

import pytest

from simulator.play.decisions import best_pass
from simulator.play.match_state import State
from simulator.play.squads import MatchSettings, draw_squads

HOLDER, MATE, OTHER, RIVAL = 5, 6, 7, 20


def state_with(rival: tuple[float, float]) -> State:
    """Return a state in which one mate is ahead of the holder, one to his side, one opponent near; all else far."""
    settings = MatchSettings(seed=1)
    state = State(settings, draw_squads(settings))
    sign = float(state.sign[state.team[HOLDER]])
    state.columns[:, :4] = 0.0
    state.columns[:, :2] = -50.0 * sign, -33.0
    state.columns[HOLDER, :2] = 0.0, 0.0
    state.columns[MATE, :2] = 14.0 * sign, 0.0
    state.columns[OTHER, :2] = 0.0, 14.0
    state.columns[RIVAL, :2] = rival[0] * sign, rival[1]
    # Who is onside has two opponents between him and the goal line.
    for row in (19, 21):
        state.columns[row, :2] = 45.0 * sign, -30.0
    state.ball.hold((0.0, 0.0, 0.11))
    return state


@pytest.mark.parametrize(("rival", "ahead"), [((-3.0, -3.0), True), ((0.8, 0.1), False)])
def test_nobody_plays_the_ball_into_the_legs_of_the_opponent_before_him(rival: tuple[float, float], ahead: bool):
    """The direction of the pass that he would choose, in most of some tries: straight on, or to the side."""
    state, tries = state_with(rival), 40
    sign = float(state.sign[state.team[HOLDER]])
    targets = [best_pass(state, HOLDER).target for _ in range(tries)]
    straight_on = sum(abs(math.atan2(y, x * sign)) < 0.5 for x, y, _ in targets)
    assert (straight_on > tries / 2) == ahead
