"""Measurement: samples where and when they should be, errors of the size that is said, and told by the quality."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from football.packet_table import MOTION, POSITION, QUALITY
from simulator.physics.limbs import limb_paths
from simulator.radio.measurement import HEIGHT_FACTOR, MEMORY_S, Measurement, Tag, ball_tags, body_tags
from simulator.radio.transmission import Rows
from simulator.records import FEET, FOUR_LIMBS, PERSONS
from tests.simulator.handmade import Trajectory, along, at, intervals

ALONE = {0: at(0.0, 0.0)}


def everybody(apart_m: float) -> dict[int, Trajectory]:
    """All persons in a square grid, so far apart."""
    return {row: at(apart_m * (row % 6), apart_m * (row // 6)) for row in range(PERSONS)}


def measure(
    tags: list[Tag], persons: dict[int, Trajectory], ball: Trajectory, seconds: float, *, noise_m: float = 0.0,
    each_s: float = 2.0, seed: int = 1,
) -> list[Rows]:  # fmt: skip
    """All samples of each tag."""
    measurement = Measurement(tags, noise_m, seed)
    parts = [measurement.take(s).rows for s in intervals(seconds, persons, ball, each_s=each_s)]
    return [
        Rows(np.concatenate([p[n].ts_us for p in parts]), np.concatenate([p[n].values for p in parts]))
        for n in range(len(tags))
    ]


def test_each_tag_samples_at_its_rate_and_at_a_phase_of_its_own() -> None:
    tags = body_tags(range(PERSONS), FOUR_LIMBS, 200) + ball_tags(4, 2000)
    found = measure(tags, everybody(9.0), at(0, 0, 0.11), 4.0)
    assert len(tags) == 144
    assert sum(len(rows.ts_us) for rows in found) == pytest.approx(4 * 36_000, abs=144)
    for tag, rows in zip(tags, found, strict=True):
        period_us = 1e6 / tag.rate_hz
        assert np.abs(np.diff(rows.ts_us) - period_us).max() <= 1
        assert 0 <= rows.ts_us[0] < period_us
    assert len({int(rows.ts_us[0]) for rows in found[:140]}) > 120


@pytest.mark.parametrize("rate_hz", [30.0, 200.0, 2000.0])
def test_without_noise_a_ball_is_measured_where_it_is(rate_hz: float) -> None:
    share = along((0.0, -20.0, 3.0, 0.1), (6.0, 25.0, -4.0, 9.0))
    (rows,) = measure(ball_tags(1, rate_hz), ALONE, share, 6.0)
    assert np.abs(rows.values[:, POSITION] / 1e3 - share(rows.ts_us / 1e6)).max() <= 0.00051
    assert (rows.values[:, QUALITY] == 100).all()


def test_without_noise_a_limb_is_measured_where_it_is() -> None:
    walk = along((0.0, -5.0, 0.0), (6.0, 6.0, 3.0))
    tags = body_tags([3], FEET, 200.0)
    found = measure(tags, {3: walk}, at(0, 0, 0.11), 6.0)
    for interval in intervals(6.0, {3: walk}, at(0, 0, 0.11)):
        for tag, rows in zip(tags, found, strict=True):
            t_s = rows.ts_us / 1e6
            now = (t_s >= interval.begin_s) & (t_s < interval.end_s)
            expected = limb_paths(interval, 3, tag.limb, t_s[now])
            assert np.abs(rows.values[now, POSITION] / 1e3 - expected).max() <= 0.00051


def test_velocity_and_acceleration_follow_the_motion() -> None:
    (rows,) = measure(ball_tags(1, 2000), ALONE, lambda t: np.stack([5 * t, -2 * t, 1 + 0 * t], axis=1), 2.0)
    settled = rows.values[400:, MOTION] / 1e3
    assert settled[:, :3] == pytest.approx(np.tile([5.0, -2.0, 0.0], (len(settled), 1)), abs=0.02)
    assert np.abs(settled[:, 3:].mean(axis=0)).max() < 0.1
    (falls,) = measure(ball_tags(1, 2000), ALONE, lambda t: np.stack([0 * t, 0 * t, 20 - 4.905 * t**2], axis=1), 2.0)
    assert falls.values[400:, 9].mean() / 1e3 == pytest.approx(-9.81, rel=0.01)


def test_a_kick_is_a_peak_of_acceleration_within_hundredths_of_a_second() -> None:
    """25 m/s gained in 9 ms: about 2,800 m/s^2 on average, of which the filter's 8 ms leave a third."""

    def kicked(t: np.ndarray) -> np.ndarray:
        since = np.clip(t - 2.0, 0.0, None)
        hard = np.clip(since, 0.0, 0.009)
        x = 0.5 * (25.0 / 0.009) * hard**2 + 25.0 * np.clip(since - 0.009, 0.0, None)
        return np.stack([x, 0 * t, 0.11 + 0 * t], axis=1)

    (rows,) = measure(ball_tags(1, 2000), ALONE, kicked, 4.0, noise_m=0.02, seed=3)
    size = np.hypot(rows.values[:, 7], rows.values[:, 8]) / 1e3
    t_s = rows.ts_us / 1e6
    assert size.max() > 700
    assert abs(t_s[size.argmax()] - 2.0045) < 0.02
    assert np.median(size[(t_s > 0.2) & (t_s < 1.9)]) < 60


def test_noise_has_its_size_and_its_memory() -> None:
    tags = body_tags(range(PERSONS), FEET, 50.0)
    found = measure(tags, everybody(9.0), at(99, 99, 0.11), 60.0, noise_m=0.02)
    still = measure(tags, everybody(9.0), at(99, 99, 0.11), 0.1)
    errors = []
    for rows, true in zip(found, still, strict=True):
        error = (rows.values[:, POSITION] - true.values[0, POSITION]) / 1e3
        errors.append(error[rows.values[:, QUALITY] > 85])
    every = np.concatenate(errors)
    assert every[:, :2].std() == pytest.approx(0.02, rel=0.06)
    assert every[:, 2].std() == pytest.approx(0.02 * HEIGHT_FACTOR, rel=0.08)
    whole = [e for e, rows in zip(errors, found, strict=True) if len(e) == len(rows.ts_us) == 3_000]
    assert len(whole) > 10
    for lag in (1, 10, 40):
        together = np.mean([np.mean(e[lag:, 0] * e[:-lag, 0]) for e in whole])
        assert together / 0.02**2 == pytest.approx(0.64 * np.exp(-lag * 0.02 / MEMORY_S), abs=0.08)


def test_a_crowd_blurs_and_the_quality_tells() -> None:
    tags = body_tags(range(PERSONS), FEET, 100.0)
    open_, crowded = (measure(tags, everybody(m), at(99, 99, 0.11), 20.0, noise_m=0.02) for m in (9.0, 0.4))
    quality = [np.concatenate([r.values[:, QUALITY] for r in found]) for found in (open_, crowded)]
    assert np.median(quality[0]) > 90
    assert np.median(quality[1]) < 80
    spread = [np.median([r.values[:, 0].std() for r in found]) for found in (open_, crowded)]
    assert spread[1] > 1.8 * spread[0]
    heard = [sum(len(r.ts_us) for r in found) for found in (open_, crowded)]
    assert heard[1] < heard[0], "in deep shadow tags are lost now and then"


def test_an_echo_is_off_by_decimetres_for_milliseconds_and_of_low_quality() -> None:
    tags = body_tags(range(PERSONS), FEET, 200.0)
    found = measure(tags, everybody(9.0), at(99, 99, 0.11), 60.0, noise_m=0.02)
    far, spells = [], 0
    for rows in found:
        off = np.abs(rows.values[:, :2] - np.median(rows.values[:, :2], axis=0)).max(axis=1) > 130
        far.append(rows.values[off, QUALITY])
        spells += int((np.diff(off.astype(int)) == 1).sum())
        edges = np.flatnonzero(np.diff(np.concatenate([[0], off.astype(int), [0]])))
        assert all(b - a <= 13 for a, b in zip(edges[::2], edges[1::2], strict=True)), "60 ms at most"
    assert 10 < spells < 140
    assert np.concatenate(far).mean() < 80


def test_a_tag_is_lost_for_seconds_and_comes_back_with_its_filter_fresh() -> None:
    persons = {row: along((0.0, 0.0, 9.0 * row), (300.0, 300.0, 9.0 * row)) for row in range(12)}
    found = measure(body_tags(range(12), FEET, 20.0), persons, at(99, 99, 0.11), 300.0, noise_m=0.02, each_s=10.0)
    gaps = np.concatenate([np.diff(rows.ts_us) for rows in found])
    assert 2 <= (gaps > 300_000).sum() <= 60
    assert 300_000 < gaps.max() < 4_100_000
    for rows in found:
        for after in np.flatnonzero(np.diff(rows.ts_us) > 300_000) + 1:
            assert rows.values[after, MOTION].tolist() == [0] * 6


def test_who_is_not_there_or_switched_off_is_not_measured() -> None:
    tags = body_tags([0, 1], FEET, 50.0)
    found = measure(tags, ALONE, at(0, 0, 0.11), 2.0)
    assert [len(rows.ts_us) > 0 for rows in found] == [True, True, False, False]
    measurement = Measurement(tags, 0.02, 1)
    first, second = intervals(4.0, {0: at(0, 0), 1: at(5, 5)}, at(0, 0, 0.11))
    rows = [measurement.take(first, {0}).rows, measurement.take(second, {1}).rows]
    assert [[len(r.ts_us) > 0 for r in part] for part in rows] == [
        [True, True, False, False],
        [False, False, True, True],
    ]
    assert rows[1][2].ts_us[0] >= 2_000_000


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([0.5, 0.74, 1.0, 3.0]))
def test_however_the_match_is_cut_the_same_samples_come(seed: int, each_s: float) -> None:
    persons = {row: along((0.0, 0.3 * row, 0.0), (6.0, 3.0 - 0.2 * row, 5.0)) for row in range(8)}
    tags = body_tags(range(8), FOUR_LIMBS, 60.0) + ball_tags(2, 500)
    ball = along((0.0, 0.0, 0.0, 0.1), (6.0, 30.0, 5.0, 4.0))
    whole = measure(tags, persons, ball, 6.0, noise_m=0.03, each_s=6.0, seed=seed)
    cut = measure(tags, persons, ball, 6.0, noise_m=0.03, each_s=each_s, seed=seed)
    for tag, a, b in zip(tags, whole, cut, strict=True):
        assert np.array_equal(a.ts_us, b.ts_us), tag
        # The handmade bodies differ by rounding where their stretches do; a millimetre is the unit.
        assert np.abs(a.values[:, POSITION] - b.values[:, POSITION]).max() <= 1, tag
        assert np.array_equal(a.values[:, QUALITY], b.values[:, QUALITY]), tag


def test_another_seed_errs_otherwise() -> None:
    one, two = (measure(ball_tags(1, 200), ALONE, at(9, 9, 0.11), 1.0, noise_m=0.02, seed=s)[0] for s in (1, 2))
    assert one.ts_us[0] != two.ts_us[0]
    assert not np.array_equal(one.values[:90], two.values[:90])
