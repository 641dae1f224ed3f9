"""Choosing steps of a coarse speed table."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from camera.drive import GAP_MAX_DEG_S, LOOKS, Fit, Response, StepChooser, _gap, best_step, nearest_step
from camera.metrics import exact_jerk, rms
from camera.motion import Motion
from camera.profile import load_profile
from camera.protocols.messages import Drive

X400, SIZE_DEG = load_profile(), 25.0


def _driven(plans: list[Motion], lag_s: float, nearest: bool = False) -> np.ndarray:
    """Return the pan of a head with a lag, tick by tick, that gets a command every other tick."""
    position, step, found = plans[0].position, 0, []
    response = Response(lag_s=lag_s)
    for tick, plan in enumerate(plans):
        if tick % 2 == 0:
            fitted = best_step(X400.pan, plan, position, step, response, Fit(), SIZE_DEG)
            step = nearest_step(X400.pan, plan.velocity) if nearest else fitted
        found.append(position)
        speed = X400.pan.speed_deg_s(step)
        by_speed, anyway = response.path(0.02)
        position, response = position + by_speed * speed + anyway, response.after(speed, 0.02)
    return np.array(found)


def _even(speed_deg_s: float, seconds: float) -> list[Motion]:
    return [Motion(speed_deg_s * tick * 0.02, speed_deg_s) for tick in range(round(seconds / 0.02))]


def _swinging() -> list[Motion]:
    """Return a smooth movement through all speeds of a ball, up to 16 degrees a second."""
    times = [tick * 0.02 for tick in range(3000)]
    return [Motion(20 * math.sin(0.8 * t), 16 * math.cos(0.8 * t), -12.8 * math.sin(0.8 * t)) for t in times]


@pytest.mark.parametrize("speed_deg_s", [0.4, 2.0, 4.8, -4.8, 9.0, 17.0, -25.0, 35.0])
@pytest.mark.parametrize("lag_s", [0.0, 0.1, 0.2])
def test_a_speed_in_a_hole_of_the_table_is_met_on_the_mean(speed_deg_s: float, lag_s: float) -> None:
    seconds = min(40.0, 160.0 / abs(speed_deg_s))
    plans = _even(speed_deg_s, seconds)
    errors = np.array([plan.position for plan in plans]) - _driven(plans, lag_s)
    table = (0.0, *X400.pan.speeds_deg_s)
    hole = min(v for v in table if v > abs(speed_deg_s)) - max(v for v in table if v <= abs(speed_deg_s))
    assert np.abs(errors[100:]).max() < 1.5 + 0.3 * hole
    nearest = X400.pan.speed_deg_s(nearest_step(X400.pan, speed_deg_s))
    if abs(nearest - speed_deg_s) > 0.3:
        assert abs(errors[-1]) < 0.5 * abs(nearest - speed_deg_s) * seconds


def test_error_feedback_keeps_the_aim_that_nearest_speeds_lose() -> None:
    plans = _swinging()
    plan = np.array([one.position for one in plans])
    head, nearest = _driven(plans, 0.1), _driven(plans, 0.1, nearest=True)
    assert rms((head - plan)[100:]) < 0.07 * SIZE_DEG
    assert rms((nearest - plan)[100:]) > 1.8 * rms((head - plan)[100:])


def test_a_larger_lag_of_the_head_gives_less_jerk_at_the_same_aim() -> None:
    plans = _swinging()
    plan = np.array([one.position for one in plans])
    quick, slow = _driven(plans, 0.05), _driven(plans, 0.2)
    assert rms(exact_jerk(slow[100:])) < 0.4 * rms(exact_jerk(quick[100:]))
    assert rms((slow - plan)[100:]) < 1.5 * rms((quick - plan)[100:])


@settings(deadline=None, max_examples=60)
@given(st.floats(-50, 50), st.floats(-200, 200), st.floats(-50, 50), st.floats(0.01, 0.4), st.floats(0.001, 1.0))
def test_the_response_in_closed_form_is_that_of_small_steps(
    velocity: float, accel: float, speed: float, lag_s: float, dt_s: float
) -> None:
    response = Response(velocity, accel, lag_s)
    a, b = response.path(dt_s)
    turned, small = 0.0, response
    for _ in range(200):
        by_speed, anyway = small.path(dt_s / 200)
        turned, small = turned + by_speed * speed + anyway, small.after(speed, dt_s / 200)
    assert turned == pytest.approx(a * speed + b, abs=1e-6)
    assert small.velocity == pytest.approx(response.after(speed, dt_s).velocity, abs=1e-6)


@settings(deadline=None, max_examples=60)
@given(st.floats(-30, 30), st.floats(-60, 60), st.integers(-24, 24), st.floats(0.0, 0.3))
def test_the_chosen_step_costs_least_of_all(error: float, velocity: float, current: int, lag_s: float) -> None:
    plan, response, fit = Motion(error, velocity), Response(X400.pan.speed_deg_s(current), 0.0, lag_s), Fit()

    def cost(step: int) -> float:
        speed, total = X400.pan.speed_deg_s(step), 0.0
        for share in LOOKS:
            a, b = response.path(t := share * (fit.horizon_s + lag_s))
            total += (error + velocity * t - a * speed - b) ** 2
        jolt = (speed - X400.pan.speed_deg_s(current)) / (fit.ease_deg_s + min(GAP_MAX_DEG_S, _gap(X400.pan, velocity)))
        return total / (len(LOOKS) * (fit.tolerance * SIZE_DEG) ** 2) + jolt * jolt

    if abs(velocity) >= fit.still_deg_s:
        chosen = best_step(X400.pan, plan, 0.0, current, response, fit, SIZE_DEG)
        assert cost(chosen) == pytest.approx(min(map(cost, range(-24, 25))))


def test_a_plan_at_rest_is_a_standstill_and_not_a_creep() -> None:
    def step(plan_deg: float, head_deg: float, current: int = 0) -> int:
        return best_step(X400.pan, Motion(plan_deg), head_deg, current, Response(lag_s=0.1), Fit(), SIZE_DEG)

    assert step(10.0, 10.3) == 0
    assert step(10.0, 10.3, 1) == 0
    assert step(10.0, 5.0) > 0
    assert step(10.0, 15.0) < 0


def test_a_tele_lens_asks_for_a_smaller_error() -> None:
    def step(size_deg: float) -> int:
        return best_step(X400.pan, Motion(10.0), 9.6, 0, Response(lag_s=0.1), Fit(), size_deg)

    assert step(25.0) == 0
    assert step(5.0) > 0


def test_a_large_error_is_driven_at_the_head_s_fastest_steps() -> None:
    fastest = best_step(X400.pan, Motion(100.0, 60.0), 0.0, 18, Response(62.0, 0.0, 0.1), Fit(), SIZE_DEG)
    assert X400.pan.speed_deg_s(fastest) > 60.0


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
