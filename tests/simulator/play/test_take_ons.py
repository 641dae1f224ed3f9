"""Take-ons as play has them: who is taken on and where to, and who stops after a try that missed."""

from __future__ import annotations

import pytest

from simulator.play import take_ons
from simulator.play.match_state import State
from simulator.play.squads import MatchSettings, Occasions, draw_squads

HOLDER, RIVAL = 9, 20


def state_with(rival: tuple[float, float], share: float = 1.0) -> State:
    """Return a state in which home's holder stands at the centre spot, and everybody but one rival is far away."""
    settings = MatchSettings(seed=1, occasions=Occasions(take_on_share=share))
    state = State(settings, draw_squads(settings))
    state.columns[:, :2] = 50.0, 30.0
    state.columns[HOLDER, :2] = 0.0, 0.0
    state.columns[RIVAL, :2] = rival
    state.holder = state.last = HOLDER
    return state


def test_an_opponent_in_the_way_is_passed_on_the_open_side() -> None:
    for y in (-0.5, 0.5):
        action = take_ons.take_on(state_with((2.5, y)), HOLDER)
        assert action is not None
        x, target_y, _ = action.target
        assert x > 5.0
        assert target_y * y < 0.0


@pytest.mark.parametrize("rival", [(-2.5, 0.0), (0.5, 2.5), (6.0, 0.0), (0.4, 0.0)])
def test_an_opponent_behind_beside_far_away_or_at_the_ball_is_not_taken_on(rival: tuple[float, float]) -> None:
    assert take_ons.take_on(state_with(rival), HOLDER) is None


def test_the_default_match_has_none_and_draws_nothing() -> None:
    state = state_with((2.5, 0.0), share=0.0)
    before = state.rng.bit_generator.state
    assert take_ons.take_on(state, HOLDER) is None
    assert state.rng.bit_generator.state == before


def test_who_is_committed_decides_nothing_else() -> None:
    state = state_with((2.5, 0.0))
    state.action = take_ons.take_on(state, HOLDER)
    assert state.decide_s > state.now_s
    assert take_ons.take_on(state, HOLDER) is None


def test_who_missed_the_ball_stops_until_he_can_play_again() -> None:
    state = state_with((2.5, 0.0))
    state.stopping[RIVAL] = state.now_s + 0.5
    state.targets[RIVAL] = 9.0, 9.0
    take_ons.stop(state)
    assert tuple(state.targets[RIVAL]) == (2.5, 0.0)
    state.tick += 30
    state.targets[RIVAL] = 9.0, 9.0
    take_ons.stop(state)
    assert tuple(state.targets[RIVAL]) == (9.0, 9.0)
    assert not state.stopping
