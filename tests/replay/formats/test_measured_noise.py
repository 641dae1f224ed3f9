"""The noise of a file's ball: as strong as it is, whatever the ball does; of a slow one nothing is known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from football.recording import Track, measured_jitter_m
from replay.formats.tracking import read_tracking
from simulator.tracking.profile import Profile
from simulator.tracking.tracked_table import track, write_tracked
from tests.simulator.tracking.test_tracked_table import played


def rolling(noise_m: float, *, rate_hz: float = 25.0, seconds: float = 60.0, seed: int = 1) -> Track:
    """A ball that is kicked to and fro every second, and slows down."""
    rng = np.random.default_rng(seed)
    count = round(seconds * rate_hz)
    at_s = np.arange(count) / rate_hz
    phase_s = at_s % 2.0
    way_m = np.where(phase_s < 1.0, 12.0 * phase_s - phase_s**2, 11.0 * (2.0 - phase_s))
    xy = np.stack([way_m, 0.5 * way_m], axis=1) + noise_m * rng.standard_normal((count, 2))
    return Track("ball", np.round(at_s * 1e6).astype(np.int64), xy[:, 0], xy[:, 1], np.zeros(count))


@pytest.mark.parametrize("noise_m", [0.02, 0.05, 0.1])
def test_the_noise_is_that_of_a_position(noise_m: float) -> None:
    assert measured_jitter_m([rolling(noise_m)]) == pytest.approx(noise_m, rel=0.1)


def test_kicks_and_repeated_positions_are_no_noise() -> None:
    smooth = rolling(0.0)
    assert measured_jitter_m([smooth]) < 0.005
    noisy = rolling(0.05)
    held = np.arange(len(noisy)) // 25 % 2 == 1
    x_m, y_m = noisy.x_m.copy(), noisy.y_m.copy()
    x_m[held], y_m[held] = 3.0, 4.0
    assert measured_jitter_m([Track("ball", noisy.ts_us, x_m, y_m, noisy.z_m)]) == pytest.approx(0.05, rel=0.15)


def test_of_a_slow_or_a_short_track_the_noise_is_not_known() -> None:
    assert measured_jitter_m([]) == 0.0
    assert measured_jitter_m([rolling(0.1, rate_hz=10.0)]) == 0.0
    assert measured_jitter_m([rolling(0.1, seconds=8.0)]) == 0.0


@pytest.mark.parametrize(("noise_m", "declared_m"), [(0.01, 0.05), (0.06, 0.3)])
def test_a_file_declares_the_noise_that_it_has(noise_m: float, declared_m: float, tmp_path: Path) -> None:
    ball = {"jitter_m": {"range": (noise_m, noise_m), "source": "s"}}
    profile = Profile.model_validate({"name": "x", "sources": {"s": "a study"}, "ball": ball})
    write_tracked(tmp_path, track(played(), profile, 1))
    quality = read_tracking(str(tmp_path / "tracking.parquet")).sheet.quality
    assert quality.position_noise_m == pytest.approx(declared_m, rel=0.1)
