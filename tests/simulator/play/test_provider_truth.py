"""Duels, interceptions and recoveries by Opta's definitions: each with a case that is one, and cases that are none."""

from __future__ import annotations

from dataclasses import replace

from simulator.physics.ball import MovingBall
from simulator.play import provider_truth
from simulator.play.match_state import Flight, State
from simulator.play.squads import MatchSettings, draw_squads

HOLDER, MATE, RIVAL, AWAY_KEEPER = 9, 7, 20, 16


def state_with(places: dict[int, tuple[float, float]]) -> State:
    """Return a state in which everybody else is far away."""
    settings = MatchSettings(seed=1)
    state = State(settings, draw_squads(settings))
    state.columns[:, :2] = 50.0, 30.0
    for row, place in places.items():
        state.columns[row, :2] = place
    state.live = True
    return state


def flight_of(state: State, mate: int = MATE) -> Flight:
    """Return a pass from the centre spot to (20, 0)."""
    attempt = state.truth.add("pass.attempt", 1.0, HOLDER, (0.0, 0.0, 0.1))
    return Flight(attempt, "pass", "pass", HOLDER, 0, mate, (20.0, 0.0), 1.0, places=state.columns[:, :2].copy())


def kinds(state: State) -> list[str]:
    return [row.kind for row in state.truth.rows]


def moving_ball(state: State, x: float, y: float, speed: float = 10.0) -> None:
    """Put a ball there that has just been struck."""
    ball = MovingBall((x, y, 0.11), state.settings.length_m, state.settings.width_m)
    ball.strike((speed, 0.0, 0.0))
    ball.advance()
    state.balls[state.active] = ball


def test_an_interception_is_a_move_into_the_line_of_a_pass() -> None:
    state = state_with({HOLDER: (0.0, 0.0), RIVAL: (10.0, 3.0)})
    flight = flight_of(state)
    moving_ball(state, 10.0, 0.3)
    assert provider_truth.is_interception(state, flight, RIVAL, "trap")


def test_the_line_of_a_pass_is_where_it_went() -> None:
    state = state_with({HOLDER: (0.0, 0.0), RIVAL: (10.0, 3.0)})
    flight = flight_of(state)
    moving_ball(state, 10.0, 2.0)
    assert not provider_truth.is_interception(state, flight, RIVAL, "trap")


def test_who_stood_in_the_line_was_played_to() -> None:
    state = state_with({HOLDER: (0.0, 0.0), RIVAL: (10.0, 0.4)})
    flight = flight_of(state)
    moving_ball(state, 10.0, 0.3)
    assert not provider_truth.is_interception(state, flight, RIVAL, "trap")


def test_a_slow_ball_a_block_a_cross_and_one_meant_for_nobody_are_no_interceptions() -> None:
    state = state_with({HOLDER: (0.0, 0.0), RIVAL: (10.0, 5.0), AWAY_KEEPER: (10.0, 5.0)})
    moving_ball(state, 10.0, 0.3, speed=2.0)
    assert not provider_truth.is_interception(state, flight_of(state), RIVAL, "trap")
    moving_ball(state, 10.0, 0.3)
    assert provider_truth.is_interception(state, flight_of(state), RIVAL, "trap")
    assert not provider_truth.is_interception(state, flight_of(state), RIVAL, "deflection")
    assert not provider_truth.is_interception(state, flight_of(state), AWAY_KEEPER, "catch")
    assert not provider_truth.is_interception(state, flight_of(state, mate=-1), RIVAL, "trap")
    assert not provider_truth.is_interception(state, replace(flight_of(state), what="cross"), RIVAL, "trap")


def test_a_tackle_is_lost_if_the_other_team_plays_the_ball_next() -> None:
    for next_touch, kind in ((RIVAL, "tackle.won"), (HOLDER, "tackle.lost"), (MATE, "tackle.lost"), (-1, "tackle.won")):
        state = state_with({HOLDER: (0.0, 0.0), RIVAL: (0.8, 0.0)})
        provider_truth.tackle(state, RIVAL, HOLDER, state.truth.add("hit", 1.0, RIVAL, (0.4, 0.0, 0.1)))
        if next_touch < 0:
            provider_truth.settle_tackle(state)
        else:
            provider_truth.touched(state, next_touch)
        assert kinds(state) == ["hit", kind, "duel.start", "duel.end"]
        assert not any(row.open for row in state.truth.rows)


def test_a_carrier_who_runs_at_an_opponent_and_is_tackled_loses_a_take_on() -> None:
    for velocity, lost in (((4.0, 0.0), 1), ((-4.0, 0.0), 0), ((1.0, 0.0), 0)):
        state = state_with({HOLDER: (0.0, 0.0), RIVAL: (0.8, 0.0)})
        state.columns[HOLDER, 2:4] = velocity
        provider_truth.tackle(state, RIVAL, HOLDER, state.truth.add("hit", 1.0, RIVAL, (0.4, 0.0, 0.1)))
        assert kinds(state).count("takeon.lost") == lost


def test_a_take_on_is_won_once_the_opponent_is_passed_and_left_and_the_ball_is_kept() -> None:
    cases = ((HOLDER, 1.5, 3.0, 1), (RIVAL, 1.5, 3.0, 0), (HOLDER, 3.0, 4.0, 0), (HOLDER, 1.5, 1.6, 0))
    for last, passed_at_m, later_at_m, won in cases:
        state = state_with({HOLDER: (0.0, 0.0), RIVAL: (0.8, 0.3)})
        state.holder = state.last = HOLDER
        provider_truth.tried(state, HOLDER, RIVAL, (1.0, 0.0))
        provider_truth.watch_take_on(state)
        state.columns[HOLDER, :2] = passed_at_m, 0.0
        provider_truth.watch_take_on(state)
        passed_s = state.now_s
        state.tick += 30
        state.last = last
        state.columns[HOLDER, :2] = later_at_m, 0.0
        provider_truth.watch_take_on(state)
        assert kinds(state).count("takeon.won") == kinds(state).count("duel.end") == won
        assert all(row.t_s == passed_s for row in state.truth.rows)


def test_who_is_tackled_is_clearly_in_possession() -> None:
    for owner, since_s, has in ((HOLDER, 0.4, True), (HOLDER, 0.1, False), (RIVAL, 0.4, False), (-1, 0.0, True)):
        state = state_with({})
        state.tick = 100
        state.truth.gain = state.truth.add("possession.gain", state.now_s - since_s, HOLDER, (0.0, 0.0, 0.1))
        state.truth.owner = owner
        assert provider_truth.has_ball(state, HOLDER) is has


def test_who_attacks_the_ball_and_can_reach_it_may_be_passed() -> None:
    for rival_x, speed_m_s, watched in ((1.0, 4.0, True), (2.5, 4.0, False), (1.0, 1.0, False), (-0.2, 4.0, False)):
        state = state_with({HOLDER: (0.0, 0.0), RIVAL: (rival_x, 0.0)})
        state.holder = state.last = HOLDER
        state.columns[HOLDER, 2:4] = speed_m_s, 0.0
        moving_ball(state, 0.5, 0.0, speed=4.0)
        provider_truth.attacked(state, RIVAL)
        assert (state.watching.takeon is not None) is watched


def test_an_opponent_who_is_not_in_the_way_is_not_taken_on() -> None:
    state = state_with({HOLDER: (0.0, 0.0), RIVAL: (-0.8, 0.3)})
    state.holder = state.last = HOLDER
    provider_truth.tried(state, HOLDER, RIVAL, (1.0, 0.0))
    assert state.watching.takeon is None


def test_a_ball_won_is_a_recovery_once_the_team_touches_it_again() -> None:
    for next_touch, recovered in ((MATE, True), (HOLDER, True), (RIVAL, False)):
        state = state_with({})
        index = state.truth.add("hit", 1.0, HOLDER, (3.0, 4.0, 0.1))
        provider_truth.won(state, HOLDER, 1.0, index, -1)
        provider_truth.touched(state, next_touch)
        assert ("recovery" in kinds(state)) == recovered
        if recovered:
            assert (state.truth.rows[-1].t_s, state.truth.rows[-1].position[:2]) == (1.0, (3.0, 4.0))
        provider_truth.touched(state, MATE)
        assert kinds(state).count("recovery") == recovered


def test_a_goalkeeper_claims_and_does_not_recover() -> None:
    state = state_with({})
    provider_truth.won(state, 0, 1.0, state.truth.add("hit", 1.0, 0, (3.0, 4.0, 0.1)), -1)
    provider_truth.touched(state, MATE)
    assert "recovery" not in kinds(state)


def test_a_loose_ball_is_a_duel_if_both_run_for_it() -> None:
    for pace, meant, since_s, duels in ((9.9, -1, 9.0, 1), (5.0, -1, 9.0, 0), (9.9, MATE, 9.0, 0), (9.9, -1, 1.0, 0)):
        state = state_with({HOLDER: (0.5, 0.0), RIVAL: (-0.5, 0.0)})
        state.watching.disputed_s = state.now_s - since_s
        moving_ball(state, 0.0, 0.0, speed=1.0)
        state.paces[HOLDER], state.paces[RIVAL] = 9.9, pace
        state.flight = flight_of(state, meant)
        provider_truth.loose_duel(state, HOLDER)
        assert kinds(state).count("duel.start") == kinds(state).count("duel.end") == duels
        state.watching.disputed_s, state.touched_s[MATE] = -9.0, state.now_s - 0.2
        provider_truth.loose_duel(state, HOLDER)
        assert kinds(state).count("duel.start") == duels, "it has just been touched"


def test_a_duel_names_both_and_who_won_it() -> None:
    state = state_with({})
    provider_truth.challenge(state, HOLDER, RIVAL, RIVAL, 2.0, (1.0, 2.0, 0.1))
    start, end = state.truth.rows
    assert (start.person, start.detail["against"]) == (HOLDER, "away_5")
    assert (end.person, end.detail["against"], end.causes) == (RIVAL, "home_10", (0,))


def test_an_aerial_duel_needs_both_in_the_air() -> None:
    state = state_with({HOLDER: (0.0, 0.0), RIVAL: (0.8, 0.0)})
    provider_truth.jumped(state, HOLDER, RIVAL, 0.8)
    assert "aerial.start" not in kinds(state)
    state.tick += 10
    provider_truth.jumped(state, RIVAL, HOLDER, 0.8)
    assert kinds(state).count("aerial.start") == 1
    late = state_with({})
    provider_truth.jumped(late, HOLDER, RIVAL, 0.8)
    late.tick += 60
    provider_truth.jumped(late, RIVAL, HOLDER, 0.8)
    assert "aerial.start" not in kinds(late)


def test_a_goalkeeper_sweeps_up_outside_his_area_what_an_opponent_played() -> None:
    for row, ball_x, owner, sweeps in (
        (AWAY_KEEPER, 30.0, HOLDER, True), (AWAY_KEEPER, 40.0, HOLDER, False), (AWAY_KEEPER, 30.0, RIVAL, False),
        (AWAY_KEEPER, 30.0, AWAY_KEEPER, False), (AWAY_KEEPER, 30.0, -1, False), (RIVAL, 30.0, HOLDER, False),
    ):  # fmt: skip
        state = state_with({row: (ball_x, 0.0)})
        moving_ball(state, ball_x, 0.0)
        state.truth.owner = owner
        provider_truth.swept(state, row, 2.0, 0)
        assert ("gk.sweep" in kinds(state)) is sweeps
