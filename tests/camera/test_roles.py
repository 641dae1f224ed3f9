"""Cameras of each role, and the pictures that they show."""

from __future__ import annotations

import math

import pytest

from camera.head import Pose
from camera.mount import Mount
from camera.planner import TICK_US, Planner
from camera.profile import load_profile
from camera.roles import RoleError, role_of
from football.update_stream import BallView, BodyView, View

X400, MOUNT = load_profile(), Mount()


def view(ts_us: int, ball_x_m: float | None, team: str = "") -> View:
    ball = None if ball_x_m is None else BallView(ts_us, ball_x_m, 0.0, 0.0, 0.0, 0.0, 0.0)
    return View(ts_us, ball, (BodyView("A7", team, ts_us, -20.0, 10.0, 0.0, 0.0),))


def settled(role: str, ball_x_m: float | None, player: str = "", team: str = "") -> tuple[float, float, str]:
    planned = Planner(MOUNT, X400, Pose(0.0, -10.0, 40.0), role=role_of(role, player))
    for tick in range(1, 500):
        now_us = tick * TICK_US
        planned.take_view(view(now_us, ball_x_m, team), now_us)
        plan = planned.tick(now_us)
    return plan.pan.position, plan.width_deg, plan.mode


def test_the_tight_camera_shows_half_of_the_width_and_the_high_one_twice() -> None:
    widths = {role: math.tan(math.radians(settled(role, 0.0)[1] / 2)) for role in ("main", "tight", "high-behind")}
    assert widths["tight"] == pytest.approx(widths["main"] / 2, rel=0.12)
    assert widths["high-behind"] == pytest.approx(widths["main"] * 2, rel=0.12)


def test_a_likely_next_player_widens_the_picture_of_the_play_but_not_the_tight_one() -> None:
    alone, with_mate = (settled("main", 0.0, team=team)[1] for team in ("", "home"))
    assert with_mate > alone + 3.0
    assert settled("tight", 0.0, team="home")[1] == pytest.approx(settled("tight", 0.0)[1], abs=0.1)


@pytest.mark.parametrize(("role", "side"), [("goal-left", -1), ("goal-right", 1)])
def test_the_camera_of_a_goal_waits_there_until_the_ball_is_near(role: str, side: int) -> None:
    at_goal = MOUNT.aim(side * 52.5, 0.0)[0]
    assert settled(role, -side * 30.0)[0] == pytest.approx(at_goal, abs=1.5)
    assert settled(role, None)[0] == pytest.approx(at_goal, abs=1.5)
    assert settled(role, side * 30.0)[0] == pytest.approx(MOUNT.aim(side * 30.0, 0.0)[0], abs=1.5)


def test_a_camera_that_follows_a_player_does_not_look_at_the_ball() -> None:
    pan_deg, _, mode = settled("follow", 30.0, "A7")
    assert pan_deg == pytest.approx(MOUNT.aim(-20.0, 10.0)[0], abs=1.0)
    assert mode != "stop"


def test_without_its_player_it_stands_still() -> None:
    assert settled("follow", 30.0, "A8")[2] == "stop"


@pytest.mark.parametrize(("role", "player"), [("wide", ""), ("follow", ""), ("main", "A7")])
def test_roles_that_do_not_exist_or_lack_their_player_are_refused(role: str, player: str) -> None:
    with pytest.raises(RoleError):
        role_of(role, player)
