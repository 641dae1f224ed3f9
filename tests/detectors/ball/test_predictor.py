"""2.10: predictions against flights reckoned in fine steps, and what is told of them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detectors.ball.predictor import (
    DRAG_PER_M,
    PredictorParameters,
    TrajectoryPredictor,
    predict,
)
from football.constants import BALL_SPEED_MAX_M_S, GRAVITY_M_S2
from football.match_sheet import MatchSheet
from football.payloads import BallState
from football.pitch import Pitch
from tests.detectors.scene import ball_track, fold, path, stay

P = PredictorParameters()
PITCH = Pitch()


def ball(x_m: float, y_m: float, z_m: float, vx: float, vy: float, vz: float) -> BallState:
    return BallState(x_m, y_m, z_m, vx, vy, vz, 5_000)


@pytest.mark.parametrize(
    ("state", "variant"),
    [
        (ball(40, 0, 0.11, 20, 0, 0), "goal mouth right"),
        (ball(-40, 2, 0.11, -20, 0, 4), "goal mouth left"),
        (ball(40, 0, 0.11, 20, 6, 0), "goal line wide right"),
        (ball(40, 0, 0.11, 22, 0, 9), "goal line wide right"),  # over the bar
        (ball(-10, 30, 0.11, 3, 8, 0), "touch line left"),
        (ball(-10, -30, 0.11, 3, -8, 0), "touch line right"),
        (ball(-10, 0, 2.0, 15, 0, 0), "landing left"),
        (ball(-2, 0, 2.0, 15, 0, 0), "landing right"),
    ],
)
def test_what_the_ball_meets_first(state: BallState, variant: str):
    prediction = predict(state, PITCH, P, True)
    assert prediction is not None
    assert prediction.variant == variant


@pytest.mark.parametrize(
    "state",
    [
        ball(0, 0, 0.11, 10, 0, 0),  # rolls on in the field
        ball(50, 0, 0.11, 2, 0, 0),  # too slow
        ball(60, 0, 0.11, 20, 0, 0),  # off the field
        BallState(40, 0, 0.11, 20, 0, 0, 5_000, 1.0, 1),  # velocity unknown
    ],
)
def test_what_is_not_predicted(state: BallState):
    assert predict(state, PITCH, P, True) is None


def test_without_height_every_ball_rolls():
    prediction = predict(ball(40, 0, 5.0, 22, 0, 9), PITCH, P, False)
    assert prediction is not None
    assert prediction.variant == "goal mouth right"


@given(st.floats(-15.0, 15.0), st.floats(5.0, 20.0), st.floats(1.0, 4.0), st.floats(-1.0, 4.0))
def test_a_landing_is_where_a_flight_in_fine_steps_comes_down(vy, vx, z, vz):
    prediction = predict(ball(-30, 0, z, vx, vy, vz), PITCH, P, True)
    x, y, t, dt = -30.0, 0.0, 0.0, 1e-4
    while z > 0.11 and t < P.horizon_s - 0.02:
        speed = math.sqrt(vx * vx + vy * vy + vz * vz)
        k = DRAG_PER_M * P.drag_share * speed
        vx, vy, vz = vx - k * vx * dt, vy - k * vy * dt, vz - (k * vz + GRAVITY_M_S2) * dt
        x, y, z, t = x + vx * dt, y + vy * dt, z + vz * dt, t + dt
    if z > 0.11:
        return
    assert prediction is not None
    assert math.dist((prediction.x_m, prediction.y_m), (x, y)) < 1.0
    assert prediction.in_s == pytest.approx(t, abs=0.04)


def shot() -> list[tuple[float, ...]]:
    start = (30.0, 0.0, 0.11)
    return [*[start] * 20, *path(start, (52.0, 2.0, 0.11), 1.0), *path((52.0, 2.0, 0.11), (40.0, 10.0, 0.11), 1.0)]


def test_a_flight_is_told_from_its_second_metre_on_and_not_again_while_it_stays_the_same():
    out = fold(TrajectoryPredictor(MatchSheet()), ball_track(shot()))
    mouth = [e for e in out if e.payload.variant == "goal mouth right"]
    assert 1 <= len(mouth) <= 3
    assert 800_000 < mouth[0].ts_us <= 1_000_000
    assert mouth[0].payload.y_m == pytest.approx(2.0, abs=0.3)
    assert mouth[0].payload.detail["at_us"] == pytest.approx(1_830_000, abs=150_000)
    assert not [e for e in out if e.ts_us > 2_000_000 and "goal" in e.payload.variant], "it came back from the keeper"


def test_a_ball_that_seems_faster_than_any_is_predicted_as_the_fastest():
    out = fold(TrajectoryPredictor(MatchSheet()), ball_track([(2.0 * i, 0.0, 0.11) for i in range(20)]))
    assert {e.payload.detail["vx_m_s"] for e in out} == {BALL_SPEED_MAX_M_S}


def test_a_ball_at_rest_and_a_ball_that_came_back_into_sight_predict_nothing_at_once():
    assert fold(TrajectoryPredictor(MatchSheet()), ball_track(stay((50.0, 0.0, 0.11), 2.0))) == []
