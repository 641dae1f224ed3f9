"""The care for failures: every transition, what is shown, and that a tight picture never freezes on air."""

from __future__ import annotations

import random

import pytest

from camera.authority import WIDE_M, Authority
from camera.bounds import bounds_of
from camera.failures import (
    BALL_NOTICE_US,
    BALL_US,
    CALL_AFTER_US,
    EASE_US,
    NOTICE_US,
    PLAYER_NOTICE_US,
    PLAYER_US,
    PROBLEMS,
    RETURN_US,
    STEADY_US,
    TRANSITIONS,
    Care,
    Signs,
    fault_of,
    signs_of,
    watched,
)
from camera.head import Pose
from camera.mount import Mount
from camera.operator import GoTo, Hold, Track
from camera.planner import CALM, NORMAL, SPORT, TICK_US, Planner
from camera.profile import load_profile
from camera.roles import ROLES, Role
from football.update_stream import BallView, BodyView, View

MOUNT, PROFILE = Mount(), load_profile("brc-x400")
GOOD = Signs(view_us=0)


class Watch:
    """The machine, stepped through time."""

    def __init__(self) -> None:
        self.care, self.now_us = Care(), 0

    def see(self, fault: str, for_us: int, *, has_arrived: bool = False) -> str:
        """The state after a fault was seen for a time."""
        until_us = self.now_us + for_us
        while self.now_us < until_us:
            self.now_us += TICK_US
            self.care = watched(self.care, fault, self.now_us, has_arrived=has_arrived)
        return self.care.state


def test_a_fault_that_lasts_leads_to_the_wide_picture_and_back_with_a_ramp():
    watch = Watch()
    assert watch.see("", 1_000_000) == "following"
    assert watch.see("ball", TICK_US) == "noticed"
    assert (watch.care.fault, watch.care.problem) == ("ball", "the ball is not seen")
    assert watch.see("ball", BALL_NOTICE_US + TICK_US) == "easing"
    assert watch.care.shows_wide
    assert watch.care.needs_operator
    assert watch.see("ball", TICK_US, has_arrived=True) == "wide"
    assert watch.see("", STEADY_US - TICK_US) == "wide"
    assert watch.care.fault == "ball", "it still shows why"
    assert watch.see("", 3 * TICK_US) == "returning"
    assert watch.care.is_calm
    assert watch.care.problem == ""
    assert watch.see("", RETURN_US + 2 * TICK_US) == "following"


def test_a_short_fault_moves_nothing_and_a_second_one_on_the_way_back_does_at_once():
    watch = Watch()
    watch.see("feed", NOTICE_US - 2 * TICK_US)
    assert watch.see("", TICK_US) == "following"
    watch.see("feed", NOTICE_US + 4 * TICK_US, has_arrived=True)
    assert watch.see("", STEADY_US + 3 * TICK_US) == "returning"
    assert watch.see("ball", TICK_US) == "easing"


def test_faults_that_flicker_do_not_bring_the_camera_back():
    watch = Watch()
    watch.see("ball", 2 * BALL_NOTICE_US)
    for _ in range(20):
        watch.see("", STEADY_US // 2)
        assert watch.see("ball", TICK_US) in ("easing", "wide")


def test_a_head_that_falls_silent_and_answers_again_returns_slowly():
    for fault in ("", "ball"):
        watch = Watch()
        watch.see(fault, 2 * PLAYER_NOTICE_US)
        assert watch.see("head", TICK_US) == "silent"
        assert watch.care.problem == "its head does not answer"
        assert watch.see("", TICK_US) == "returning"


def test_a_camera_that_cannot_reach_the_wide_picture_holds_what_it_has():
    watch = Watch()
    watch.see("ball", BALL_NOTICE_US + 3 * TICK_US)
    assert watch.see("ball", EASE_US + TICK_US) == "wide"


def test_a_ball_or_player_that_is_lost_is_called_within_a_second_before_the_camera_moves():
    for fault, hidden_us, patience in (("ball", BALL_US, BALL_NOTICE_US), ("player", PLAYER_US, PLAYER_NOTICE_US)):
        role = Role() if fault == "ball" else Role(player="H9")
        assert fault_of(Signs(view_us=0, ball_us=hidden_us, player_us=hidden_us), role) == ""
        assert fault_of(Signs(view_us=0, ball_us=hidden_us + 1, player_us=hidden_us + 1), role) == fault
        watch = Watch()
        assert watch.see(fault, TICK_US) == "noticed"
        assert not watch.care.lamp(watch.now_us, on_air=False), "what lasts for a moment calls nobody"
        watch.see(fault, 950_000 - hidden_us)
        assert watch.care.lamp(watch.now_us, on_air=False)
        assert not watch.care.lamp(watch.now_us, on_air=True)
        assert not watch.care.shows_wide
        assert watch.see(fault, patience) == "easing"


def test_while_the_operator_is_needed_the_lamp_flashes_on_air_and_off():
    watch = Watch()
    watch.see("ball", CALL_AFTER_US // 2)
    assert watch.care.lamp(watch.now_us, on_air=True)
    watch.see("ball", BALL_NOTICE_US + TICK_US)
    assert watch.care.needs_operator
    for on_air in (True, False):
        lit = [watch.care.lamp(watch.care.since_us + ms * 1000, on_air=on_air) for ms in range(0, 4_000, 10)]
        assert lit[0] != on_air, "it flashes at once"
        assert sum(value != on_air for value in lit) == 80, "0.4 s of each 2 s"
    watch.see("", STEADY_US + NOTICE_US)
    assert not watch.care.lamp(watch.now_us, on_air=False)


def test_every_state_is_left_again_and_every_transition_happens():
    assert {state for state, _ in TRANSITIONS} == set(TRANSITIONS.values())
    seen, chance = set(), random.Random(5)
    watch = Watch()
    for _ in range(6_000):
        before = watch.care.state
        fault = chance.choice(["", "", "ball", "ball", "head"])
        watch.see(fault, chance.choice([1, 5, 40, 130]) * TICK_US, has_arrived=chance.random() < 0.1)
        seen.add((before, watch.care.state))
    assert {state for state, _ in seen} == {state for state, _ in TRANSITIONS}


@pytest.mark.parametrize(
    ("signs", "role", "fault"),
    [
        (GOOD, Role(), ""),
        (Signs(head_answers=False, view_us=0), Role(), "head"),
        (Signs(), Role(), ""),
        (Signs(view_us=301_000), Role(), "feed"),
        (Signs(view_us=0, wall_us=-600_000), Role(), "clock"),
        (Signs(view_us=0, wall_us=3_100_000), Role(), "late"),
        (Signs(view_us=0, ball_us=None), Role(), "ball"),
        (Signs(view_us=0, ball_us=1_100_000), Role(), "ball"),
        (Signs(view_us=0, ball_us=None), ROLES["goal-left"], ""),
        (Signs(view_us=0, ball_us=None), Role(player="H9"), ""),
        (Signs(view_us=0, player_us=None), Role(player="H9"), "player"),
        (Signs(view_us=0, player_us=1_600_000), Role(player="H9"), "player"),
        (Signs(view_us=0, distrust="the ball has no height"), Role(), "confidence"),
    ],
)
def test_the_gravest_fault_is_named(signs: Signs, role: Role, fault: str):
    assert fault_of(signs, role) == fault
    assert bool(PROBLEMS[fault]) == bool(fault)


def test_signs_are_read_from_a_view():
    view = View(5_000_000, BallView(4_000_000, 0, 0, 0, 0, 0, 0), (BodyView("H9", "home", 4_800_000, 0, 0, 0, 0),))
    assert signs_of(view, 7, 9, "H9", head_answers=True, distrust="") == Signs(True, 7, 1_000_000, 200_000, 9, "")
    assert signs_of(view, 7, 9, "H8", head_answers=True, distrust="").player_us is None
    assert signs_of(None, 7, 9, "", head_answers=True, distrust="").view_us is None


def authority() -> Authority:
    return Authority(MOUNT, PROFILE, bounds_of(PROFILE), Role(), SPORT, CALM)


def test_the_operator_wins_over_a_rule_and_both_over_the_care():
    who, pose = authority(), Pose(0, 0, 10)
    assert who.step(0, GOOD, pose).by == "planner"
    for now_us in range(0, 1_000_000, TICK_US):
        steering = who.step(now_us, Signs(view_us=400_000), pose)
    assert (steering.by, type(steering.order)) == ("care", GoTo)
    who.rule = GoTo(Pose(1, 1, 5))
    assert who.step(now_us, Signs(view_us=400_000), pose).by == "rule"
    who.operator = Hold()
    steering = who.step(now_us, Signs(view_us=400_000), pose)
    assert (steering.by, steering.order, steering.style) == ("operator", Hold(), SPORT)


def test_a_player_who_is_followed_and_not_seen_is_a_fault():
    who, pose = authority(), Pose(0, 0, 10)
    who.operator = Track("H9")
    steering = who.step(0, Signs(view_us=0, player_us=0), pose)
    assert (steering.order, steering.role.player, steering.by) == (None, "H9", "operator")
    for now_us in range(0, PLAYER_NOTICE_US + 100_000, TICK_US):
        steering = who.step(now_us, Signs(view_us=0, player_us=None), pose)
    assert steering.by == "care"
    assert who.care.fault == "player"


def test_on_air_it_moves_calmly_and_refuses_another_picture():
    who, pose = authority(), Pose(0, 0, 10)
    who.on_air = True
    assert who.step(0, GOOD, pose).style == CALM
    assert who.refusal(GoTo(pose))
    assert who.refusal(Track("H9"))
    assert not who.refusal(Hold())
    assert not who.refusal(None)
    who.on_air = False
    assert not who.refusal(GoTo(pose))
    assert who.step(0, GOOD, pose).style == SPORT


def test_on_air_a_rule_neither_moves_the_camera_nor_lets_go_of_it():
    who, pose, left, right = authority(), Pose(0, 0, 10), GoTo(Pose(-40, 0, 10)), GoTo(Pose(20, 0, 10))
    assert who.take_rule(left, "A") == ""
    who.on_air = True
    for command, name in ((right, "B"), (Track("H9"), "B"), (None, "")):
        assert "on air" in who.take_rule(command, name)
        assert (who.rule, who.rule_name) == (left, "A")
        assert who.step(0, GOOD, pose).order == left
    assert who.take_rule(left, "C") == "", "the same picture is no other one"
    who.on_air = False
    assert who.take_rule(None, "") == ""
    assert who.step(0, GOOD, pose).by == "planner"


def test_on_air_a_camera_is_handed_back_by_force_only():
    who = authority()
    who.on_air = True
    assert not who.refusal(None), "nothing is in force"
    who.operator = Hold()
    assert "another picture" in who.refusal(None)
    who.on_air = False
    assert not who.refusal(None)


def test_the_wide_picture_shows_where_play_was():
    who = authority()
    who.see_play(30.0, 10.0)
    for now_us in range(0, 1_000_000, TICK_US):
        steering = who.step(now_us, Signs(view_us=0, ball_us=None), Pose(0, 0, 10))
    goal = steering.order.pose
    assert MOUNT.in_picture(goal, PROFILE.zoom.aspect, 30.0, 10.0)
    assert MOUNT.in_picture(goal, PROFILE.zoom.aspect, 30.0 + WIDE_M / 3, 10.0)


@pytest.mark.parametrize("seed", range(4))
def test_from_any_movement_the_camera_widens_and_comes_back_within_its_limits(seed: int):
    """No tight picture stays, and no limit of acceleration or jerk of the livelier style is exceeded."""
    chance = random.Random(seed)
    who = authority()
    planner = Planner(MOUNT, PROFILE, Pose(0.0, -10.0, 8.0), SPORT)
    limits, before, pose = SPORT.pan, 0.0, Pose(0.0, -10.0, 8.0)
    x_m = 0.0
    for tick in range(1_500):
        now_us = tick * TICK_US
        is_lost = 250 <= tick < 900
        x_m = max(-50.0, min(50.0, x_m + chance.uniform(-1, 1.2)))
        if not is_lost:
            planner.take_view(View(now_us, BallView(now_us, x_m, 5.0, 0.2, 8.0, 0.0, 0.0), ()), now_us)
            who.see_play(x_m, 5.0)
        steering = who.step(now_us, Signs(view_us=400_000 if is_lost else 0), pose)
        planner.order, planner.style, planner.role = steering.order, steering.style, steering.role
        plan = planner.tick(now_us)
        pose = Pose(plan.pan.position, plan.tilt.position, plan.width_deg)
        assert abs(plan.pan.accel) <= limits.accel + 1e-6, f"seed {seed}, tick {tick}"
        assert abs(plan.pan.accel - before) <= limits.jerk * TICK_US / 1e6 + 1e-6, f"seed {seed}, tick {tick}"
        before = plan.pan.accel
        if tick == 850:
            picture_m = 2 * MOUNT.distance_m(x_m, 5.0) * 0.5 * plan.width_deg / 57.3
            assert picture_m > 0.9 * WIDE_M, f"seed {seed}: {picture_m:.1f} m"
            assert who.care.state == "wide"
    assert who.care.state == "following"
    assert NORMAL.pan.speed > CALM.pan.speed
