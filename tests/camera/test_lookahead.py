"""Look-ahead: the free ball, the next player, and the contact at which the free flight ends."""

from __future__ import annotations

import itertools
import math

import pytest

from camera.lookahead import STEP_S, Outlook, free_path, outlook
from football.update_stream import BallView, BodyView, View


def ball(x_m: float = 0.0, z_m: float = 0.0, vx_m_s: float = 0.0, vz_m_s: float = 0.0) -> BallView:
    return BallView(0, x_m, 0.0, z_m, vx_m_s, 0.0, vz_m_s)


def player(name: str, x_m: float, y_m: float = 0.0, vx_m_s: float = 0.0) -> BodyView:
    return BodyView(name, name.split("_")[0], 0, x_m, y_m, vx_m_s, 0.0)


def ahead(one: BallView, *players: BodyView) -> Outlook:
    found = outlook(View(0, one, players))
    assert found is not None
    return found


def test_a_ball_in_the_air_flies_with_gravity_and_is_never_below_the_grass() -> None:
    rising = ahead(ball(z_m=3.0, vz_m_s=8.0))
    assert rising.at(0.5)[2] == pytest.approx(3.0 + 4.0 - 9.81 / 8, abs=0.15)
    assert all(z_m >= 0.0 for _, _, z_m in free_path(ball(z_m=1.0, vz_m_s=-20.0)))


def test_a_rolling_ball_slows_down_and_stops() -> None:
    path = free_path(ball(vx_m_s=1.0))
    steps = [b[0] - a[0] for a, b in itertools.pairwise(path)]
    assert steps == sorted(steps, reverse=True)
    assert steps[-1] < 0.01


def test_a_pass_is_expected_to_stop_at_its_receiver() -> None:
    found = ahead(ball(vx_m_s=15.0), player("home_7", -0.5), player("home_9", 8.0), player("away_4", 8.0, 20.0))
    assert next(one.body.object_id for one in found.players) == "home_9"
    assert 0.3 < found.contact_s < 0.7
    assert found.at(1.0)[0] == pytest.approx(8.0, abs=1.2)
    assert free_path(ball(vx_m_s=15.0))[10][0] > 12.0, "nobody there: it would roll on"


def test_a_ball_above_the_heads_is_met_by_nobody() -> None:
    assert ahead(ball(z_m=6.0, vx_m_s=15.0, vz_m_s=6.0), player("home_9", 8.0)).contact_s == math.inf


def test_a_carried_ball_goes_on_with_its_carrier_whatever_its_touches_do() -> None:
    found = ahead(ball(x_m=0.5, vx_m_s=6.0), player("home_7", 0.0, vx_m_s=4.0), player("home_9", 15.0))
    assert found.at(1.0)[0] == pytest.approx(4.5)
    assert [one.body.object_id for one in found.players] == ["home_7", "home_9"]
    assert sum(one.chance for one in found.players) <= 1.0 + 1e-9


def test_who_swings_a_leg_is_about_to_pass() -> None:
    seen = View(0, ball(x_m=0.5), (player("home_7", 0.0), player("home_9", 15.0), player("away_4", 1.5, 30.0)))
    kept, swung, other = (outlook(seen, swinging=ids) for ids in ((), {"home_7"}, {"away_4"}))
    assert kept is not None
    assert swung is not None
    assert [one.body.object_id for one in kept.players] == ["home_7", "home_9"]
    assert [one.body.object_id for one in swung.players] == ["home_9", "home_7"]
    assert swung.players[0].chance > kept.players[1].chance
    assert swung.at(1.0) == kept.at(1.0), "where to the ball goes is not known before the contact"
    assert other == kept


def test_no_ball_no_outlook() -> None:
    assert outlook(View(0, None, (player("home_7", 0.0),))) is None


def test_the_path_is_that_of_small_steps() -> None:
    assert STEP_S <= 0.1


@pytest.mark.parametrize(("home_m", "attack"), [(-12.0, 1.0), (12.0, -1.0), (0.2, 0.0)])
def test_the_team_on_the_ball_attacks_away_from_its_own_players(home_m: float, attack: float) -> None:
    teams = [
        player(f"{team}_{n}", x_m + n - 2, 20.0) for team, x_m in (("home", home_m), ("away", 0.0)) for n in range(5)
    ]
    near = ball(x_m=home_m - 2, vx_m_s=0.5)
    carrier = player("home_0", home_m - 2)
    assert ahead(near, carrier, *teams[1:]).attack == attack
    assert ahead(near, player("away_0", home_m - 2), *teams[:5], *teams[6:]).attack == -attack
    assert ahead(near, carrier, *teams[1:4], *teams[5:]).attack == 0.0, "four players of a team show nothing"
