"""Choosing steps of a coarse speed table."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pytest

from bench import camera_latency
from camera.drive import Fit, StepChooser, best_step, nearest_step
from camera.head import new_head
from camera.metrics import exact_jerk, rms
from camera.motion import Motion
from camera.mount import Mount
from camera.profile import load_profile
from camera.protocols.messages import Drive

X400 = load_profile()


def _driven(speed_deg_s: float, seconds: float) -> np.ndarray:
    """Error of a head that is to turn evenly, tick by tick."""
    axis, step, errors = new_head(X400).pan, 0, []
    for tick in range(round(seconds / 0.02)):
        plan = Motion(speed_deg_s * tick * 0.02, speed_deg_s)
        if tick % 2 == 0:
            chosen = best_step(X400.pan, plan, axis.position, step, Fit())
            if chosen != step:
                step, axis = chosen, axis.drive(X400.pan.speed_deg_s(chosen))
        errors.append(plan.position - axis.position)
        axis = axis.advance(0.02)
    return np.array(errors)


@pytest.mark.parametrize("speed_deg_s", [0.4, 2.0, 4.8, -4.8, 9.0, 17.0, -25.0, 35.0])
def test_a_speed_in_a_hole_of_the_table_is_met_on_the_mean(speed_deg_s: float) -> None:
    seconds = min(40.0, 160.0 / abs(speed_deg_s))  # before the head reaches its end of travel
    errors = _driven(speed_deg_s, seconds)
    table = (0.0, *X400.pan.speeds_deg_s)
    hole = min(v for v in table if v > abs(speed_deg_s)) - max(v for v in table if v <= abs(speed_deg_s))
    assert np.abs(errors[100:]).max() < 1.0 + 0.3 * hole
    nearest = X400.pan.speed_deg_s(nearest_step(X400.pan, speed_deg_s))
    if abs(nearest - speed_deg_s) > 0.3:
        assert abs(errors[-1]) < 0.5 * abs(nearest - speed_deg_s) * seconds


def test_a_plan_at_rest_is_a_standstill_and_not_a_creep() -> None:
    assert best_step(X400.pan, Motion(10.0), 10.3, 0, Fit()) == 0
    assert best_step(X400.pan, Motion(10.0), 10.3, 1, Fit()) == 0
    assert best_step(X400.pan, Motion(10.0), 5.0, 0, Fit()) > 0
    assert best_step(X400.pan, Motion(10.0), 15.0, 0, Fit()) < 0


def test_a_large_error_is_driven_at_the_head_s_fastest_steps() -> None:
    assert X400.pan.speed_deg_s(best_step(X400.pan, Motion(100.0, 60.0), 0.0, 18, Fit())) > 60.0


def test_commands_keep_the_interval_and_are_not_repeated() -> None:
    chooser, sent = StepChooser(X400), []
    for tick in range(500):
        now_us = tick * 20_000
        pan = Motion(20 * math.sin(tick / 60), 20 * math.cos(tick / 60) / 1.2)
        command = chooser.choose(pan, Motion(0.0), 0.0, 0.0, now_us)
        if command:
            sent.append((now_us, command))
    assert len(sent) > 10
    assert all(b[0] - a[0] >= X400.link.command_interval_us for a, b in itertools.pairwise(sent))
    assert all(a[1] != b[1] for a, b in itertools.pairwise(sent))


def test_after_a_foreign_stop_the_same_step_is_sent_again() -> None:
    chooser = StepChooser(X400)
    away = Motion(30.0, 10.0)
    first = chooser.choose(away, Motion(0.0), 0.0, 0.0, 0)
    assert first is not None
    assert chooser.choose(away, Motion(0.0), 0.0, 0.0, 20_000) is None
    chooser.forget()
    assert chooser.current == Drive(0, 0)
    assert chooser.choose(away, Motion(0.0), 0.0, 0.0, 30_000) is not None


def test_on_a_real_ball_feedback_keeps_the_aim_that_nearest_steps_lose(shared_data: Path) -> None:
    track = shared_data / "portugal_switzerland_2019" / "first_20_minutes.parquet"
    ball = camera_latency.load_ball(track, minutes=2.0)
    plans = camera_latency.planned(ball, Mount(), X400, 60_000, with_delay=True)
    plan = np.array([p.position for p in plans])
    fed_back, nearest = (camera_latency.driven(plans, X400, feedback) for feedback in (True, False))
    assert rms(fed_back - plan) < 1.0
    assert rms(nearest - plan) > 3 * rms(fed_back - plan)
    assert rms(exact_jerk(fed_back)) < 1.2 * rms(exact_jerk(nearest))


def test_less_delay_keeps_the_real_ball_closer(shared_data: Path) -> None:
    track = shared_data / "portugal_switzerland_2019" / "first_20_minutes.parquet"
    ball = camera_latency.load_ball(track, minutes=3.0)
    truth = camera_latency.true_pan(ball, Mount(), np.arange(ball[0].ts_us, ball[-1].ts_us, 20_000))
    errors = []
    for delay_us in (60_000, 800_000):
        plans = camera_latency.planned(ball, Mount(), X400, delay_us, with_delay=True)
        errors.append(camera_latency.judged(np.array([p.position for p in plans]), truth)["rms_deg"])
    assert errors[1] > 1.5 * errors[0]
