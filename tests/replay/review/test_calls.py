"""The review of close calls: instants between samples, margins by the laws, and probabilities that hold."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from football.pitch import Pitch
from replay.review.calls import BALL_RADIUS_M, Line, ReviewError, Scene, offside, over_line, penalty_area, too_near
from replay.review.kick import HALF_CONTACT_S, exactly, kick_instant
from replay.review.motion import Noise, Samples, motion_at

PITCH = Pitch()
NOISE = Noise(0.05, 1.0)
#: Of a tracking without any noise.
EXACT = Noise(1e-6, 1.0)
TEAMS = {"home_9": "home", "away_1": "away", "away_4": "away", "away_5": "away"}
Path = Callable[[np.ndarray], tuple[object, object]]


def sampled(name: str, path: Path, *, rate_hz: float = 25.0, phase_s: float = 0.013, error=0.0, quality: float = 1.0):
    """Samples of a path of seconds, around zero."""
    t_s = np.arange(-1.0, 1.0, 1.0 / rate_hz) + phase_s
    xyz = np.zeros((len(t_s), 3))
    xyz[:, 0], xyz[:, 1] = path(t_s)
    return Samples(name, t_s * 1e6, xyz + error, np.full(len(t_s), quality))


def standing(name: str, x_m: float, y_m: float = 0.0, **options) -> Samples:
    return sampled(name, lambda t_s: (x_m, y_m), **options)


def by_name(*samples: Samples) -> dict[str, Samples]:
    return {one.transmitter: one for one in samples}


def scene(*samples: Samples, noise: Noise = EXACT) -> Scene:
    return Scene(by_name(*samples), TEAMS, noise, exactly(0))


DEFENCE = (standing("away_1", 50.0), standing("away_4", 30.0, 4.0), standing("away_5", 28.0, -4.0))


def test_an_instant_between_samples_is_that_of_the_parabola():
    runner = sampled("home_9", lambda t_s: (7.0 * t_s + 1.5 * t_s**2, -t_s))
    motion = motion_at(runner, 5_000, EXACT)
    assert motion is not None
    assert motion.place_m[:2].tolist() == pytest.approx([7.0 * 0.005 + 1.5 * 0.005**2, -0.005], abs=1e-6)
    assert motion_at(runner, 2_000_000, EXACT) is None  # nothing on the far side


@pytest.mark.parametrize("rate_hz", [25.0, 200.0])
def test_a_kick_is_found_between_samples_and_dated_at_its_first_touch(rate_hz: float):
    noise_m, errors_s = 0.02, []
    for seed in range(20):
        chance = np.random.default_rng(seed)
        error = noise_m * chance.standard_normal((round(2 * rate_hz), 3)) * (1, 1, 0)
        bend_s = chance.uniform(-0.01, 0.01)
        ball = sampled(
            "ball",
            lambda t_s, at=bend_s: (np.where(t_s < at, 2.0, 25.0) * (t_s - at), 0.0),
            rate_hz=rate_hz,
            error=error,
        )
        instant = kick_instant(ball, 0.0, rate_hz)
        errors_s.append(abs(instant.mean_us / 1e6 - (bend_s - HALF_CONTACT_S)))
        assert instant.weights.sum() == pytest.approx(1.0)
    assert np.median(errors_s) < 0.003, errors_s


def test_a_kick_without_a_ball_keeps_the_detectors_time():
    instant = kick_instant(None, 40_000.0, 25.0)
    assert instant.mean_us == pytest.approx(40_000.0, abs=1.0)
    assert instant.deviation_us > 5_000


def test_the_second_last_opponent_is_the_line():
    call = offside(scene(standing("home_9", 30.25), *DEFENCE), "home_9", 1.0, "ball", PITCH)
    assert call.margin_m == pytest.approx(0.25, abs=1e-3)
    assert call.probability == 1.0
    assert {one.object_id: one.role for one in call.points} == {
        "home_9": "subject", "away_1": "other", "away_4": "line", "away_5": "other",
    }  # fmt: skip
    assert call.line[0][0] == pytest.approx(30.0, abs=1e-3)


def test_the_ball_and_the_halfway_line_are_lines_too():
    ahead = scene(standing("home_9", 30.25), standing("ball", 30.4), *DEFENCE)
    assert offside(ahead, "home_9", 1.0, "ball", PITCH).margin_m == pytest.approx(-0.15, abs=1e-3)
    mirrored = scene(
        standing("home_9", -1.0), standing("away_1", -50.0), standing("away_4", 3.0), standing("away_5", 9.0)
    )
    call = offside(mirrored, "home_9", -1.0, "", PITCH)
    assert call.margin_m == pytest.approx(1.0, abs=1e-3)
    assert call.line[0][0] == pytest.approx(0.0, abs=1e-6)


def test_the_nearest_foot_counts_and_no_hand():
    parts = [
        standing(f"home_9/{part}", x_m)
        for part, x_m in (("left_foot", 29.9), ("right_foot", 30.1), ("left_hand", 31.0))
    ]
    assert offside(scene(*parts, *DEFENCE), "home_9", 1.0, "", PITCH).margin_m == pytest.approx(0.1, abs=1e-3)


def test_substitutes_beside_the_pitch_are_no_opponents():
    bench = (standing("away_4", 30.0, 38.0), DEFENCE[0], DEFENCE[2])
    assert offside(scene(standing("home_9", 30.0), *bench), "home_9", 1.0, "", PITCH).margin_m == pytest.approx(
        2.0, abs=1e-3
    )


def test_who_has_no_position_cannot_be_judged():
    with pytest.raises(ReviewError, match="home_9 has no positions"):
        offside(scene(*DEFENCE), "home_9", 1.0, "", PITCH)
    with pytest.raises(ReviewError, match="fewer than two opponents"):
        offside(scene(standing("home_9", 30.0), DEFENCE[0]), "home_9", 1.0, "", PITCH)


def test_less_quality_of_location_is_more_uncertain():
    deviations = []
    for quality in (1.0, 0.7):
        found = motion_at(standing("home_9", 0.0, quality=quality), 0.0, NOISE)
        assert found is not None
        deviations.append(found.deviation_m)
    assert deviations[1] > 1.5 * deviations[0]


def test_a_level_player_is_a_coin():
    call = offside(scene(standing("home_9", 30.0), *DEFENCE, noise=NOISE), "home_9", 1.0, "", PITCH)
    assert call.probability == pytest.approx(0.5, abs=0.03)
    assert call.low_m < 0.0 < call.high_m


def test_the_stated_probability_is_the_share_that_is_right():
    chance, stated, is_so = np.random.default_rng(7), [], []
    for _ in range(300):
        true_m = chance.uniform(-0.12, 0.12)
        slow, white = 0.04 * chance.standard_normal(3), 0.03 * chance.standard_normal((50, 3))
        runner = standing("home_9", 36.0 + true_m, error=slow + white)
        call = penalty_area(scene(runner, noise=NOISE), "home_9", "right", PITCH)
        stated.append(call.probability)
        is_so.append(true_m > 0)
    for low in (0.0, 0.25, 0.5, 0.75):
        inside = [so for one, so in zip(stated, is_so, strict=True) if low <= one <= low + 0.25]
        expected = np.mean([one for one in stated if low <= one <= low + 0.25])
        assert np.mean(inside) == pytest.approx(expected, abs=0.16), (
            f"stated {low} to {low + 0.25}, {len(inside)} calls"
        )


def test_the_penalty_area_is_left_over_its_front_and_its_corner():
    for place, margin_m in (((36.3, 0.0), 0.3), ((35.7, 0.0), -0.3), ((35.6, 20.46), -0.5), ((40.0, 20.06), 0.1)):
        call = penalty_area(scene(standing("home_9", *place)), "home_9", "right", PITCH)
        assert call.margin_m == pytest.approx(margin_m, abs=1e-3), place


def test_too_near_to_a_place_and_to_the_nearest_of_several():
    players = scene(standing("away_4", 9.0), standing("ball", 0.0), standing("away_5", 9.0, 0.6))
    assert too_near(players, "away_4", 9.15, ("ball",)).margin_m == pytest.approx(0.15, abs=1e-3)
    assert too_near(players, "away_4", 9.15, (-1.0, 0.0)).margin_m == pytest.approx(-0.85, abs=1e-3)
    assert too_near(players, "away_4", 1.0, ("ball", "away_5")).margin_m == pytest.approx(0.4, abs=1e-3)


@pytest.mark.parametrize("kicked_back", [False, True])
def test_the_ball_is_judged_where_it_was_farthest_over_the_line(kicked_back: bool):
    def rolling(t_s: np.ndarray) -> tuple[object, object]:
        back = -15.0 * abs(t_s - 0.05) if kicked_back else -20.0 * (t_s - 0.05) ** 2
        return 52.5 + BALL_RADIUS_M + 0.04 + back, 3.0

    ball = sampled("ball", rolling, rate_hz=200.0)
    call = over_line(by_name(ball), EXACT, 200.0, 0.0, "ball", Line(0, 1.0, 52.5, 34.0))
    assert call.margin_m == pytest.approx(0.04, abs=0.01)
    assert call.instant_us == pytest.approx(50_000, abs=10_000)
    with pytest.raises(ReviewError, match="the ball has no positions"):
        over_line({}, EXACT, 200.0, 0.0, "ball", Line(0, 1.0, 52.5, 34.0))


def test_equal_input_gives_equal_figures():
    one, other = (
        offside(scene(standing("home_9", 30.05), *DEFENCE, noise=NOISE), "home_9", 1.0, "", PITCH) for _ in "12"
    )
    assert one == other
