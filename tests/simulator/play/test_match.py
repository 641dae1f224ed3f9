"""The match: the same however it is cut, whole stretches, and contacts where ball and bodies are."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.play import substitutions
from simulator.play.match import Match
from simulator.play.squads import MatchSettings
from simulator.records import BALLS, COLUMNS, MARGIN_S, PERSONS, TICK_S, PlayedInterval

PLAYED_S = 90.0


def played(seed: int, every_s: float = 4.0) -> tuple[Match, list[PlayedInterval]]:
    match = Match(MatchSettings(seed=seed))
    return match, list(match.intervals(PLAYED_S, every_s))


def test_a_match_does_not_depend_on_how_it_is_cut() -> None:
    one, whole = played(5, 4.0)
    two, parts = played(5, 7.3)
    shortest = min(len(one.rows), len(two.rows))
    assert one.rows[:shortest] == two.rows[:shortest]
    a, b = (np.concatenate([s.balls for s in cut], axis=1) for cut in (whole, parts))
    assert np.array_equal(a, b)
    assert played(6)[0].rows[:200] != one.rows[:200]


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_stretches_join_and_look_over_their_borders(seed: int) -> None:
    _, intervals = played(seed)
    end_s = 0.0
    for interval in intervals:
        assert interval.begin_s == pytest.approx(end_s)
        end_s = interval.end_s
        steps = round((interval.end_s - interval.begin_s) * 2000)
        assert interval.balls.shape == (len(BALLS), steps, 3)
        assert interval.ball_velocity.shape == (steps, 3)
        assert interval.persons.shape == (len(interval.ticks_s), PERSONS, COLUMNS)
        assert np.isfinite(interval.balls).all()
        assert np.isfinite(interval.persons).all()
        assert interval.ticks_s[0] == pytest.approx(max(interval.begin_s - MARGIN_S, 0.0))
        assert interval.ticks_s[-1] == pytest.approx(interval.end_s + MARGIN_S - TICK_S)
    assert end_s == pytest.approx(PLAYED_S)


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_contact_is_where_the_ball_is_and_somebody_can_reach_it(seed: int) -> None:
    _, intervals = played(seed)
    count = 0
    for interval in intervals:
        for contact in interval.contacts:
            if not interval.begin_s <= contact.t_s < interval.end_s:
                continue
            count += 1
            step = round((contact.t_s - interval.begin_s) * 2000)
            assert interval.balls[interval.active[step], step] == pytest.approx(contact.position, abs=1e-6)
            tick = int((contact.t_s - interval.ticks_s[0]) / TICK_S + 1e-6)
            x, y = interval.persons[tick, contact.person, :2]
            reach = 1.45 if "hand" in contact.limb else 1.1
            assert np.hypot(contact.position[0] - x, contact.position[1] - y) < reach, contact
    assert count > 40


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow), pytest.param(3, marks=pytest.mark.slow)])
def test_a_ball_that_is_carried_to_its_place_does_not_fly_when_its_carrier_is_sent_off(seed: int) -> None:
    match = Match(MatchSettings(seed=seed))
    state = match.state
    sent_s: float | None = None
    while sent_s is None or state.now_s < sent_s + 60.0:
        match.tick()
        restart = state.restart
        if sent_s is None and restart is not None and restart.stage == "carrying" and state.now_s > 5.0:
            substitutions.send_off(state, restart.fetcher, -1)
            sent_s = state.now_s
            assert not state.ball.in_hands
        assert state.moving() < 45.0
    assert any(row.kind.startswith("restart.") and row.t_s > sent_s for row in match.rows), "play goes on"


def test_a_field_player_takes_the_gloves_of_a_goalkeeper_who_is_sent_off() -> None:
    state = Match(MatchSettings(seed=1)).state
    before = set(state.of_team[0].tolist())
    keeper = state.keeper(0)
    substitutions.send_off(state, keeper, -1)
    assert state.keeper(0) in before - {keeper}
    assert len(state.of_team[0]) == 10
    assert len(state.outfield[0]) == 9
