"""3.2, 3.3 and 3.10: sprints, efforts, ways."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from detectors.bodies.efforts import DistanceAccumulator, Effort, Sprint
from detectors.signals.smoothed_speed import SmoothedSpeed
from football.payloads import frame_of
from middleware.events import Event
from tests.detectors.scene import body, fold, frame_event, rows_of

STEP_S = 0.04


def run(*parts: tuple[float, float]) -> list[Event]:
    """(seconds, speed at the end of them): frames at 25 Hz of a runner whose speed goes straight to the next one."""
    frames, v, t, x_m = [], parts[0][1], 0.0, -45.0
    for seconds, to in parts:
        first = v
        for i in range(round(seconds / STEP_S)):
            v = first + (to - first) * (i + 1) * STEP_S / seconds
            x_m += v * STEP_S
            t += STEP_S
            frames.append(frame_event(round(t, 3), None, [body("home_2", x_m, 0.0), body("away_3", 0.0, 20.0)]))
    return frames


def sprints(frames: list[Event]) -> list[Event]:
    """Events of sprints."""
    return fold(Sprint(), fold(SmoothedSpeed(), frames))


def efforts(frames: list[Event]) -> list[Event]:
    """Events of efforts."""
    return fold(Effort(), fold(SmoothedSpeed(), frames))


def test_a_sprint_is_known_after_a_second_and_dated_at_its_beginning():
    out = sprints(run((2.0, 3.0), (0.2, 8.0), (2.0, 8.0), (0.2, 3.0), (1.0, 3.0)))
    assert rows_of(out) == [("sprint.start", "", "home"), ("sprint.end", "", "home")]
    assert out[0].ts_us == pytest.approx(2_150_000, abs=120_000)
    assert out[1].ts_us == pytest.approx(4_250_000, abs=150_000)
    assert out[1].payload.detail["top_m_s"] == pytest.approx(8.0, abs=0.1)


def _x_m(frame: Event) -> float:
    whole = frame_of(frame)
    return float(np.frombuffer(whole.packed_xy_m)[whole.names.index("home_2")])


def test_the_place_of_an_effort_is_where_it_began():
    frames = run((2.0, 3.0), (0.2, 8.0), (2.0, 8.0), (0.2, 3.0), (1.0, 3.0))
    places = {frame.ts_us: _x_m(frame) for frame in frames}
    for event in (*sprints(frames), *efforts(frames)):
        near_us = min(places, key=lambda ts_us: abs(ts_us - event.ts_us))
        assert event.payload.x_m == pytest.approx(places[near_us], abs=1.6), f"{event.kind} at {event.ts_us}"


def test_a_short_dash_and_a_fast_run_are_no_sprints():
    assert sprints(run((1.0, 3.0), (0.2, 8.0), (0.6, 8.0), (0.2, 3.0), (1.0, 3.0))) == []
    assert sprints(run((1.0, 3.0), (0.5, 6.6), (5.0, 6.6))) == []


def test_a_sprint_just_above_the_bound_does_not_end_with_every_wobble():
    out = sprints(run((1.0, 5.0), (0.3, 6.8), (1.5, 6.8), (0.3, 6.5), (0.3, 6.8), (1.0, 6.8), (0.5, 2.0)))
    assert [e.kind for e in out] == ["sprint.start", "sprint.end"]


def test_who_is_lost_on_the_way_has_ended_his_sprint():
    frames = run((1.0, 8.0), (1.5, 8.0))
    empty = [frame_event(2.5 + 0.04 * i, None, [body("away_3", 0.0, 20.0)]) for i in range(30)]
    out = sprints([*frames, *empty])
    assert [e.kind for e in out] == ["sprint.start", "sprint.end"]
    assert out[1].ts_us == pytest.approx(2_450_000, abs=100_000)


def test_a_player_set_down_elsewhere_has_not_run_there():
    out = sprints(run((2.0, 1.0)) + [
        frame_event(3.0 + 0.04 * i, None, [body("home_2", 30.0, 0.0)]) for i in range(60)
    ])  # fmt: skip
    assert out == []


@pytest.mark.parametrize(
    ("gain_m_s2", "seconds", "variants"),
    [(3.6, 1.2, ["3 m/s2"]), (5.0, 1.2, ["3 m/s2", "4 m/s2"]), (2.7, 1.2, []), (5.0, 0.4, [])],
)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_efforts_are_of_the_class_that_is_held(gain_m_s2, seconds, variants, sign):
    low, high = 1.0, 1.0 + gain_m_s2 * seconds
    first, last = (low, high) if sign > 0 else (high, low)
    out = efforts(run((2.0, first), (seconds, last), (2.0, last)))
    kind = "accel.effort" if sign > 0 else "decel.effort"
    assert sorted((e.kind, e.payload.variant) for e in out) == [(kind, v) for v in variants]
    assert all(e.ts_us == pytest.approx(2_000_000, abs=350_000) for e in out)


def test_jerks_of_the_feet_are_no_efforts():
    """A mean of two feet goes on by jerks: 0.12 m to and fro at every step."""
    frames, t = [], 0.0
    for i in range(200):
        t = i * STEP_S
        x_m = 3.0 * t + 0.06 * math.sin(2 * math.pi * 2.9 * t)
        frames.append(frame_event(round(t, 3), None, [body("home_2", x_m, 0.0)]))
    assert efforts(frames) == []


def test_ways_add_up_by_team_and_player():
    frames = run((4.0, 5.0), (2.0, 5.0))
    out = fold(DistanceAccumulator(), frames)
    home = [e for e in out if e.payload.team == "home"]
    assert len(home) >= 5
    last = home[-1]
    assert last.payload.detail["home_2"] == last.payload.detail["distance_m"]
    assert last.payload.detail["distance_m"] == pytest.approx(5.0 * (last.ts_us / 1e6 - 0.04), abs=1.1)
    assert [e.payload.detail["distance_m"] for e in out if e.payload.team == "away"] == [0.0] * len(home)
    assert {b.ts_us - a.ts_us for a, b in pairwise(home)} == {1_000_000}


def test_noise_of_a_player_who_stands_adds_little_and_a_gap_adds_nothing():
    noisy = [frame_event(0.04 * i, None, [body("home_2", 0.01 * (i % 2), 0.0)]) for i in range(250)]
    out = fold(DistanceAccumulator(), noisy)
    assert out[-2].payload.detail["distance_m"] < 0.6, "every frame's step would add up to 2.5 m"
    away = [frame_event(1.0, None, [body("home_2", 0.0, 0.0)]), frame_event(3.0, None, [body("home_2", 40.0, 0.0)])]
    assert fold(DistanceAccumulator(), away)[-2].payload.detail["distance_m"] == 0.0
