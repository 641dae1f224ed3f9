"""Differential: a limb that is passed over early, by its newest position alone, is none that is near."""

from __future__ import annotations

import math
import random

from detectors.proximity.near import Near, NearState
from football.match_sheet import MatchSheet, Quality
from football.payloads import BallState, LimbRun

BALL = BallState(0.3, -0.2, 0.11, 0.0, 0.0, 0.0, 5_000)


def run_of(rng: random.Random) -> LimbRun:
    first_us = rng.randrange(-260_000, 20_000)
    states = [
        (
            first_us + 20_000 * at, rng.uniform(-3.5, 3.5), rng.uniform(-1.0, 1.0), rng.uniform(0.0, 0.6),
            rng.uniform(-15.0, 15.0), rng.uniform(-15.0, 15.0),
        )
        for at in range(rng.choice((1, 2, 3)))
    ]  # fmt: skip
    return LimbRun("home_1", "home", "left_foot", tuple(states), 0.9)


def is_near(detector: Near, run: LimbRun) -> bool:
    """The rule of 4.1 in the plain: fresh, and within the distance of entering, in space."""
    ts_us, x_m, y_m, z_m, _, _ = run.interpolated(0)
    away_m = math.dist((x_m, y_m, z_m), (BALL.x_m, BALL.y_m, BALL.z_m))
    return -ts_us <= detector.parameters.stale_us and away_m < detector.parameters.enter_m


def test_differential_limbs_near_the_ball_are_those_of_the_plain_rule() -> None:
    detector = Near(MatchSheet(quality=Quality(kind="rtls", limbs=("left_foot", "right_foot"))))
    rng, near = random.Random(7), 0
    for _ in range(3_000):
        runs = {f"limb {number}": run_of(rng) for number in range(6)}
        found, _ = detector._bodies(NearState(limbs=runs, centre=(0.0, 0.0)), BALL, 0)
        expected = {key for key, run in runs.items() if is_near(detector, run)}
        assert {key for _, key, _ in found} == expected
        near += len(expected)
    assert near > 300
