"""2.5 and 2.7: bands of height and speed against a slow reading of the rule."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detectors.ball.bands import HEIGHTS, SPEEDS, HeightBand, SpeedClass
from football.constants import BALL_SPEED_MAX_M_S
from football.match_sheet import MatchSheet
from football.payloads import BallState
from middleware.events import Event
from tests.detectors.scene import fold

SHEET = MatchSheet()
PERIOD_US = 40_000


def track(values: list[float], what: str, run: int = 100) -> list[Event]:
    states = [
        BallState(
            0.0, 0.0, v if what == "height" else 0.1, v if what == "speed" else 0.0, 0.0, 0.0, PERIOD_US, 1.0, run
        )
        for v in values
    ]
    return [Event("ball.state", i * PERIOD_US, "ball", i, state) for i, state in enumerate(states)]


def changes(values: list[float], bounds: tuple[float, ...], names: tuple[str, ...]) -> list[tuple[int, str]]:
    """Each band from when it first held for three states in a row (80 ms, the first multiple over 50)."""
    bands = [sum(v >= b for b in bounds) for v in values]
    found, emitted = [], -1
    for i in range(len(bands) - 2):
        if bands[i] == bands[i + 1] == bands[i + 2] != emitted:
            emitted = bands[i]
            found.append((i * PERIOD_US, names[emitted]))
    return found


@given(st.lists(st.sampled_from([0.1, 0.29, 0.31, 1.4, 1.6, 2.4, 2.5, 6.0]), max_size=40))
def test_height_bands_hold_and_are_dated_at_their_beginning(heights: list[float]):
    out = fold(HeightBand(SHEET), track(heights, "height"))
    assert [(e.ts_us, e.payload.variant) for e in out] == changes(heights, (0.3, 1.5, 2.44), HEIGHTS)


@given(st.lists(st.sampled_from([0.0, 4.9, 5.1, 14.9, 15.1, 24.9, 25.1, 30.0]), max_size=40))
def test_speed_classes_hold_and_are_dated_at_their_beginning(speeds: list[float]):
    out = fold(SpeedClass(SHEET), track(speeds, "speed"))
    assert [(e.ts_us, e.payload.variant) for e in out] == changes(speeds, (5.0, 15.0, 25.0), SPEEDS)


def test_a_change_says_what_was_before():
    out = fold(HeightBand(SHEET), track([0.1] * 4 + [3.0] * 4, "height"))
    assert [e.payload.detail.get("was") for e in out] == [None, "ground"]
    assert out[1].payload.z_m == 3.0


def test_no_ball_is_faster_than_the_fastest():
    out = fold(SpeedClass(SHEET), track([3.0] * 4 + [49.0] * 4, "speed"))
    assert [e.payload.detail["speed_m_s"] for e in out] == [3.0, BALL_SPEED_MAX_M_S]


def test_a_speed_that_is_not_known_is_no_speed():
    assert fold(SpeedClass(SHEET), track([10.0] * 6, "speed", run=1)) == []


def test_after_a_gap_a_change_is_dated_no_farther_back_than_is_promised():
    """The ball is lost for three seconds in which it may have risen at any time."""
    low, high = track([0.1] * 5, "height"), track([5.0] * 5, "height")
    late = [Event(e.kind, e.ts_us + 3_000_000, e.source, 100 + e.seq, e.payload) for e in high]
    first = Event("ball.state", 200_000, "ball", 50, high[0].payload)
    out = fold(HeightBand(SHEET), [*low, first, *late])
    assert [e.payload.variant for e in out] == ["ground", "high"]
    assert out[1].ts_us == late[0].ts_us - HeightBand(SHEET).spec.horizon_us


@pytest.mark.parametrize("axis", ["vx_m_s", "vy_m_s", "vz_m_s"])
def test_speed_is_in_space(axis: str):
    fast = BallState(**{**dict.fromkeys(BallState.__struct_fields__[:6], 0.0), axis: -math.pi * 9}, gap_us=PERIOD_US)
    out = fold(SpeedClass(SHEET), [Event("ball.state", i * PERIOD_US, "ball", i, fast) for i in range(4)])
    assert [e.payload.variant for e in out] == ["rocket"]
