"""4.4 against every pair measured, at every look; hysteresis, uneven teams, players who come and go."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from detectors.proximity.opponents import OpponentProximity, OpponentsParameters
from tests.detectors.scene import body, fold, frame_event

PLACE = st.tuples(st.floats(-8.0, 8.0), st.floats(-3.0, 3.0))


def _names(team: str, places: list[tuple[float, float]]) -> dict[str, tuple[float, float]]:
    return {f"{team}_{i}": place for i, place in enumerate(places)}


@given(st.lists(st.tuples(st.lists(PLACE, max_size=5), st.lists(PLACE, max_size=4)), min_size=1, max_size=6))
def test_the_pairs_that_are_near_are_those_that_a_full_search_finds(looks):
    p = OpponentsParameters()
    near: set[tuple[str, str]] = set()
    expected, frames = [], []
    for k, (home, away) in enumerate(looks):
        ours, theirs = _names("home", home), _names("away", away)
        frames.append(frame_event(k * 0.2, None, [body(n, *at) for n, at in {**ours, **theirs}.items()]))
        now = {
            (b, a)
            for a, one in ours.items()
            for b, other in theirs.items()
            if math.dist(one, other) < p.enter_m or ((b, a) in near and math.dist(one, other) <= p.leave_m)
        }
        expected += [("opponents.apart", k, *pair) for pair in sorted(near - now)]
        expected += [("opponents.near", k, *pair) for pair in sorted(now - near)]
        near = now
    out = fold(OpponentProximity(p), frames)
    assert [(e.kind, e.ts_us // 200_000, e.payload.player, e.payload.detail["other"]) for e in out] == expected


def _pair(at_s: float, distance_m: float):
    return frame_event(at_s, None, [body("home_2", 0.0, 0.0), body("away_3", distance_m, 0.0), body("home_4", 0.5, 0)])


def test_mates_are_no_opponents_and_a_pair_parts_half_a_metre_farther_out():
    scene = [_pair(0.1 * i, d) for i, d in enumerate((5.0, 3.2, 2.9, 3.4, 3.6))]
    out = [e for e in fold(OpponentProximity(), scene) if e.payload.detail["other"] == "home_2"]
    assert [(e.kind, e.ts_us, e.payload.player, e.payload.team) for e in out] == [
        ("opponents.near", 200_000, "away_3", "away"),
        ("opponents.apart", 400_000, "away_3", "away"),
    ]
    assert (out[0].payload.x_m, out[0].payload.detail["distance_m"]) == (1.45, 2.9)


def test_who_is_no_longer_seen_is_near_nobody():
    alone = frame_event(0.2, None, [body("home_2", 0.0, 0.0)])
    out = fold(OpponentProximity(), [_pair(0.0, 1.0), alone])
    assert [e.kind for e in out] == ["opponents.near"] * 2 + ["opponents.apart"] * 2
    assert {(e.payload.team, e.payload.x_m) for e in out[2:]} == {("", None)}


def test_frames_between_two_looks_change_nothing_not_even_the_state():
    detector = OpponentProximity()
    state, _ = detector.step(detector.initial(), _pair(0.0, 1.0))
    after, out = detector.step(state, _pair(0.05, 9.0))
    assert after is state
    assert not out
