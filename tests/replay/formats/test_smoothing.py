"""How much the ball was smoothed is measured from its hardest turns; of one that was not, it is zero."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from scipy.ndimage import gaussian_filter1d, uniform_filter1d
from scipy.signal import savgol_filter

from football.recording import Track
from replay.formats.smoothing import ball_smoothing, smoothing_s
from replay.formats.tracking import read_tracking
from simulator.tracking.profile import Ball, Profile
from simulator.tracking.tracked_table import track
from tests.replay.formats.test_measured_noise import rolling
from tests.simulator.tracking.test_tracked_table import played

Floats = npt.NDArray[np.float64]


def kicked(noise_m: float, seconds: float = 240.0, rate_hz: float = 25.0) -> Track:
    return rolling(noise_m, rate_hz=rate_hz, seconds=seconds)


def filtered(ball: Track, run: Callable[[Floats], Floats]) -> Track:
    return Track("ball", ball.ts_us, run(ball.x_m), run(ball.y_m), ball.z_m)


@pytest.mark.parametrize("width_s", [0.05, 0.1, 0.2])
@pytest.mark.parametrize("noise_m", [0.0, 0.02])
def test_the_width_of_a_filter_is_found(width_s: float, noise_m: float) -> None:
    ball = filtered(kicked(noise_m), lambda c: gaussian_filter1d(c, width_s * 25.0))
    assert smoothing_s(ball) == pytest.approx(width_s, rel=0.1)


def test_other_filters_have_the_width_of_a_gaussian() -> None:
    ball = kicked(0.02)
    assert smoothing_s(filtered(ball, lambda c: savgol_filter(c, 7, 2))) == pytest.approx(0.05, abs=0.015)
    assert smoothing_s(filtered(ball, lambda c: uniform_filter1d(c, 9))) == pytest.approx(0.12, abs=0.03)


@pytest.mark.parametrize("rate_hz", [10.0, 25.0, 50.0])
@pytest.mark.parametrize("noise_m", [0.0, 0.03, 0.1])
def test_a_ball_as_it_was_measured_is_not_smoothed(rate_hz: float, noise_m: float) -> None:
    assert smoothing_s(kicked(noise_m, rate_hz=rate_hz)) == 0.0


def test_of_a_short_track_or_none_the_smoothing_is_not_known() -> None:
    assert smoothing_s(filtered(kicked(0.02, 20.0), lambda c: gaussian_filter1d(c, 2.5))) == 0.0
    assert [smoothing_s(kicked(0.02, rows / 25.0)) for rows in range(1, 90)] == [0.0] * 89
    assert ball_smoothing(()) == (0.0, ())


def test_jumps_of_a_wrong_position_and_missing_frames_do_not_hide_it() -> None:
    ball = filtered(kicked(0.02), lambda c: gaussian_filter1d(c, 2.5))
    x_m = ball.x_m.copy()
    x_m[::900] += 20.0
    kept = np.arange(len(ball)) % 400 > 30
    assert smoothing_s(Track("ball", ball.ts_us[kept], x_m[kept], ball.y_m[kept], ball.z_m[kept])) == pytest.approx(
        0.1, rel=0.1
    )


@pytest.mark.parametrize("width_s", [0.0, 0.1])
def test_a_file_declares_its_smoothing_and_says_so(width_s: float, tmp_path: Path) -> None:
    ball = kicked(0.02)
    if width_s:
        ball = filtered(ball, lambda c: gaussian_filter1d(c, width_s * 25.0))
    rows = {"t_ms": ball.ts_us / 1e3, "object_id": "ball", "team": "", "x": ball.x_m.round(2), "y": ball.y_m.round(2)}
    pd.DataFrame(rows).to_csv(tmp_path / "tracking.csv", index=False)
    recording = read_tracking(str(tmp_path / "tracking.csv"))
    assert recording.sheet.quality.ball_smoothing_s == pytest.approx(width_s, rel=0.1)
    assert [f.code for f in recording.findings if f.code == "smoothed"] == (["smoothed"] if width_s else [])


def test_a_simulated_provider_smooths_the_ball_as_its_profile_says() -> None:
    ball = {"smoothing_s": {"range": (0.1, 0.1), "source": "s"}}
    profile = Profile.model_validate({"name": "x", "sources": {"s": "a study"}, "ball": ball})
    as_it_was = track(played(), profile.model_copy(update={"ball": Ball()}), 1).ball
    wanted = gaussian_filter1d(as_it_was, 0.1 * profile.frames.rate_hz, axis=0, mode="nearest")
    assert track(played(), profile, 1).ball == pytest.approx(wanted, abs=0.006, nan_ok=True)
    assert np.abs(as_it_was - wanted).max() > 0.2
