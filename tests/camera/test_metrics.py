"""Figures from recorded columns, against movements whose figures are known."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

from camera import metrics
from camera.metrics import CameraFigures, derivatives, exact_jerk, reversals
from camera.record import CAMERA_SCHEMA, Row, camera_table

TIME_S = np.arange(0, 60, 0.02)


def _figures(pan: np.ndarray, ball_pan: np.ndarray, time_s: np.ndarray = TIME_S) -> CameraFigures:
    figures, unknown = CameraFigures(), (None,) * 3
    for at_s, pan_deg, ball_deg in zip(time_s.tolist(), pan.tolist(), ball_pan.tolist(), strict=True):
        achieved = unknown if math.isnan(pan_deg) else (pan_deg, -10.0, 30.0)
        ball = unknown if math.isnan(ball_deg) else (ball_deg, -10.0, 80.0)
        framed = abs(pan_deg - ball_deg) < 10
        figures.add(
            Row(round(at_s * 1e6), 0, "follow", 0.0, 0.0, pan_deg, 0.0, 30.0, 0.0, 0.0, *achieved, *ball, framed)
        )
    return figures


def test_a_sine_has_the_speed_acceleration_and_jerk_of_a_sine() -> None:
    speed, accel, jerk = derivatives(TIME_S, 20 * np.sin(TIME_S))
    assert metrics.rms(speed) == pytest.approx(20 / np.sqrt(2), rel=0.02)
    assert metrics.rms(accel) == pytest.approx(20 / np.sqrt(2), rel=0.03)
    assert metrics.rms(jerk) == pytest.approx(20 / np.sqrt(2), rel=0.03)


def test_the_steps_of_a_device_s_own_units_make_no_jerk() -> None:
    smooth = 20 * np.sin(TIME_S)
    stepped = np.round(smooth * 51.2) / 51.2
    assert metrics.rms(derivatives(TIME_S, stepped)[2]) < 1.1 * metrics.rms(derivatives(TIME_S, smooth)[2])
    assert metrics.rms(exact_jerk(stepped)) > 50 * metrics.rms(exact_jerk(smooth))


def test_a_hole_in_the_record_is_not_a_movement() -> None:
    time_s = np.concatenate([TIME_S[:1000], TIME_S[2000:]])
    pan = np.concatenate([np.zeros(1000), np.full(1000, 50.0)])
    assert np.abs(derivatives(time_s, pan)).max() < 1e-6


def test_a_constant_offset_is_the_aim_error_in_degrees_and_metres() -> None:
    figures = _figures(np.zeros_like(TIME_S), np.full_like(TIME_S, 3.0)).figures()
    expected_deg = 3.0 * np.cos(np.radians(10))
    assert figures["aim_rms_deg"] == pytest.approx(expected_deg, rel=1e-3)
    assert figures["aim_p95_m"] == pytest.approx(80 * np.tan(np.radians(expected_deg)), rel=1e-3)
    assert figures["framed_share"] == 1.0
    assert figures["still_share"] == 1.0


def test_a_sine_turns_round_twice_a_period() -> None:
    figures = _figures(20 * np.sin(2 * np.pi * TIME_S / 6), np.zeros_like(TIME_S)).figures()
    assert figures["reversals_per_min"] == pytest.approx(20, abs=1)
    assert reversals(np.array([1.0, 0.1, -0.1, 0.2, 1.0])) == 0


def test_a_camera_that_trails_a_moving_ball_lacks_lead_room() -> None:
    ball = 20 * np.sin(2 * np.pi * TIME_S / 12)
    ahead, behind = (_figures(np.roll(ball, shift), ball).figures()["lead_room"] for shift in (-10, 10))
    assert ahead > 0.03
    assert behind == pytest.approx(-ahead, abs=0.01)
    assert "lead_room" not in _figures(np.zeros_like(TIME_S), np.full_like(TIME_S, 3.0)).figures()


def test_what_the_head_does_not_do_of_the_plan_is_the_quantisation_error() -> None:
    figures = CameraFigures()
    for tick in range(100):
        plan = (0.0, 0.0, float(tick) + 0.5, 0.0, 30.0, 0.0, 0.0)
        figures.add(Row(tick * 20_000, 0, "follow", *plan, float(tick), -10.0, 30.0, 0.0, -10.0, 80.0, True))
    assert figures.figures()["quantisation_rms_deg"] == pytest.approx(0.5)


def test_no_rows_no_figures() -> None:
    assert CameraFigures().figures() == {}
    unknown = np.full_like(TIME_S, np.nan)
    assert _figures(unknown, unknown).figures() == {}


def test_the_figures_of_hours_need_no_more_memory_and_are_those_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    time_s = np.arange(0, 1200, 0.02)
    ball = 20 * np.sin(time_s) + 2 * np.sin(time_s / 100)
    monkeypatch.setattr(metrics, "FOLD_ROWS", len(time_s) + 1)
    whole = _figures(20 * np.sin(time_s), ball, time_s)
    monkeypatch.setattr(metrics, "FOLD_ROWS", 5_000)
    folded = _figures(20 * np.sin(time_s), ball, time_s)
    assert folded.figures() == pytest.approx(whole.figures(), rel=0.01, abs=1e-4)
    assert folded.figures()["aim_p95_deg"] == whole.figures()["aim_p95_deg"]
    early = _figures(20 * np.sin(time_s[:10_000]), ball[:10_000], time_s[:10_000])
    assert len(pickle.dumps(folded)) < 1.01 * len(pickle.dumps(early)) < len(pickle.dumps(whole)) / 5


def test_rows_become_a_table_with_the_schema() -> None:
    row = Row(1, 2, "offline", 1.0, 2.0, 3.0, 4.0, 5.0, 0.0, 0.0, None, None, None, None, None, None, False)
    table = camera_table([row, row])
    assert table.schema == CAMERA_SCHEMA
    assert table.num_rows == 2
    assert table["achieved_pan_deg"].null_count == 2
    assert camera_table([]).schema == CAMERA_SCHEMA
