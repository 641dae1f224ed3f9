"""Boundary lines: when the ball is out, and by whom."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.physics.ball import BallTick
from simulator.play.boundary_lines import lines
from simulator.play.match_state import State
from simulator.play.squads import MatchSettings, draw_squads
from simulator.records import STEP_S

HOME_PLAYER = 9


@pytest.mark.parametrize(("touched_s", "out_s"), [(9.0, 10.001), (10.0015, 10.0015)], ids=["before", "after"])
def test_a_ball_that_is_played_as_it_crosses_goes_out_by_that_contact(touched_s: float, out_s: float) -> None:
    settings = MatchSettings(seed=1)
    state = State(settings, draw_squads(settings))
    state.live, state.last = True, HOME_PLAYER
    state.touched_s[HOME_PLAYER] = touched_s
    limit_m = state.half_x + 0.11
    positions = np.array([[limit_m + (k - 2) * 0.005, 12.0, 0.11] for k in range(round(0.02 / STEP_S) + 1)])
    lines(state, BallTick(positions, np.zeros_like(positions), ()), 10.0)
    (out,) = [row for row in state.truth.rows if row.kind == "out"]
    assert (out.person, float(out.t_s)) == (HOME_PLAYER, pytest.approx(out_s))


@pytest.mark.parametrize(("on_target", "goal", "scorer"), [(True, "goal.scored", 9), (False, "goal.own", 20)])
def test_a_blocked_shot_that_goes_in_was_deflected(on_target: bool, goal: str, scorer: int) -> None:
    settings = MatchSettings(seed=1)
    state = State(settings, draw_squads(settings))
    end = float(state.sign[0])
    attempt = state.truth.add("shot.attempt", 9.0, HOME_PLAYER, (end * 40.0, 0.0, 0.11), "", (), outcome="blocked")
    block = state.truth.add("shot.blocked", 9.2, HOME_PLAYER, (end * 45.0, 0.0, 0.11), "", (attempt,))
    state.watching.block = block, attempt, on_target
    state.live, state.last = True, 20
    at_m = [end * (state.half_x + 0.11 + (k - 2) * 0.005) for k in range(round(0.02 / STEP_S) + 1)]
    lines(state, BallTick(np.array([[x, 1.0, 0.11] for x in at_m]), np.zeros((len(at_m), 3)), ()), 10.0)
    (scored,) = [row for row in state.truth.rows if row.kind in ("goal.scored", "goal.own")]
    assert (scored.kind, scored.person, state.truth.rows[block].kind) == (goal, scorer, "shot.deflected")
