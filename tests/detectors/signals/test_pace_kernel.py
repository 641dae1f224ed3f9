"""Differential: the kernels over paces give what array operations give, to the last bit."""

from __future__ import annotations

import numpy as np

from detectors.signals.kernels.pace_kernel import add_load, add_window, chord_speeds
from detectors.statistics.load import COST_J_KG_M, GRAVITY_M_S2, STEEPEST

RNG = np.random.default_rng(5)
PEOPLE = 23


def paces() -> np.ndarray:
    return np.where(RNG.random(PEOPLE) < 0.2, np.nan, RNG.uniform(0.0, 9.0, PEOPLE))


def test_differential_the_load_of_a_way() -> None:
    before, now, dt_s = paces(), paces(), 0.12
    sums = RNG.uniform(0.0, 50.0, (4, PEOPLE))
    mean, slope = 0.5 * (before + now), np.clip((now - before) / (dt_s * GRAVITY_M_S2), -STEEPEST, STEEPEST)
    cost, metres = np.sqrt(1.0 + slope * slope) * np.polyval(COST_J_KG_M, slope), mean * dt_s
    rows = np.stack([np.maximum(cost, 0.0) * metres, 0.0 * metres + dt_s, metres * (mean >= 5), metres * (mean >= 7)])
    expected = sums + np.where(np.isnan(mean), 0.0, rows)
    add_load(sums, before.tobytes(), now.tobytes(), dt_s, COST_J_KG_M, GRAVITY_M_S2, STEEPEST, 5.0, 7.0)
    assert sums.tobytes() == expected.tobytes()


def test_differential_the_windows_of_fatigue() -> None:
    now, dt_s, sums = paces(), 0.12, RNG.uniform(0.0, 50.0, (8, PEOPLE))
    expected, pace = sums.copy(), np.where(np.isnan(now), 0.0, now)
    base = sums[0] < 30.0
    for first, who in ((0, base & ~np.isnan(now)), (3, ~base & ~np.isnan(now))):
        expected[first] += who * dt_s
        expected[first + 1] += who * (pace >= 5.5) * pace * dt_s
        expected[first + 2] = np.where(who, np.maximum(expected[first + 2], pace), expected[first + 2])
    assert add_window(sums, now.tobytes(), dt_s, 30.0, 5.5) == expected[3].max()
    assert sums.tobytes() == expected.tobytes()


def test_differential_the_speeds_over_chords() -> None:
    places, took_s = RNG.uniform(-50.0, 50.0, (9, 2, PEOPLE)), RNG.uniform(0.3, 0.5, 5)
    places[3, :, 4] = np.nan
    steps = places[4:] - places[:-4]
    expected = (np.sqrt((steps * steps).sum(axis=1)) / took_s[:, None]).sum(axis=0) / 5
    assert chord_speeds(places.tobytes(), PEOPLE, 4, took_s).tobytes() == expected.tobytes()
