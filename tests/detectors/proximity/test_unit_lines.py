"""4.6 and 4.9: rings around the goals, and the lines that a team stands in."""

from __future__ import annotations

import math
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detectors.emission import make_event
from detectors.proximity.rings import GoalRing
from detectors.proximity.unit_lines import UnitLines, unit_lines
from football.match_sheet import MatchSheet, Player
from football.payloads import EventPayload
from middleware.events import Event
from tests.detectors.scene import ball_track, body, fold, frame_event, path, rows_of

SHEET = MatchSheet(players=(Player("home_1", "home", goalkeeper=True), Player("away_1", "away", goalkeeper=True)))


def test_a_ball_comes_through_the_rings_of_a_goal_one_after_the_other():
    out = fold(GoalRing(MatchSheet()), ball_track([(0.0, 3.0), *path((0.0, 3.0), (-50.0, 3.0), 2.0)]))
    assert [e.payload.variant for e in out] == ["left 35 m", "left 25 m", "left 16.5 m", "left 11 m"]
    for event, radius_m in zip(out, (35.0, 25.0, 16.5, 11.0), strict=True):
        assert radius_m - 1.0 < event.payload.detail["distance_m"] < radius_m


def test_a_jump_of_the_ball_tells_every_ring_that_it_came_into():
    out = fold(GoalRing(MatchSheet()), ball_track([(0.0, 0.0), (45.0, 0.0), (45.1, 0.0)]))
    assert [e.payload.variant for e in out] == ["right 35 m", "right 25 m", "right 16.5 m", "right 11 m"]


def test_a_ball_on_the_ring_does_not_flicker_and_comes_in_anew_from_half_a_metre_outside():
    at = 52.5 - 16.5
    wobble = [(at + d, 0.0) for d in (-2.0, 0.1, -0.4, 0.1, -0.4, 0.1, -0.6, 0.1)]
    out = [e for e in fold(GoalRing(MatchSheet()), ball_track(wobble)) if "16.5" in e.payload.variant]
    assert [e.ts_us for e in out] == [40_000, 280_000]


@given(st.lists(st.tuples(st.floats(-60.0, 60.0), st.floats(-40.0, 40.0)), min_size=1, max_size=30))
def test_the_rings_are_those_of_a_slow_reading_of_the_rule(points):
    inside: set[str] = set()
    expected = []
    for x, y in points:
        for end, goal_x in (("left", -52.5), ("right", 52.5)):
            for r in (35.0, 25.0, 16.5, 11.0):
                name, d = f"{end} {r:g} m", math.hypot(x - goal_x, y)
                if name not in inside and d < r:
                    inside.add(name)
                    expected.append(name)
                elif name in inside and d > r + 0.5:
                    inside.remove(name)
    assert [e.payload.variant for e in fold(GoalRing(MatchSheet()), ball_track(points))] == expected


def _brute(order: list[float], groups: int) -> float:
    def squares(part: list[float]) -> float:
        mean = sum(part) / len(part)
        return sum((p - mean) ** 2 for p in part)

    cuts = ((0, *c, len(order)) for c in combinations(range(1, len(order)), groups - 1))
    return min(sum(squares(order[a:b]) for a, b in pairwise(c)) for c in cuts)


@given(st.lists(st.floats(-50.0, 50.0), min_size=5, max_size=10))
def test_lines_are_the_groups_with_the_least_squares(places):
    groups, count = unit_lines(places, 0.5)
    order = sorted(places)
    assert [p for group in groups for p in group] == order
    assert all(groups)
    three, four = _brute(order, 3), _brute(order, 4)
    assert count == (4 if four < 0.5 * three else 3) or math.isclose(four, 0.5 * three, abs_tol=1e-6)
    if count == 3:
        spread = sum(sum((p - sum(g) / len(g)) ** 2 for p in g) for g in groups)
        assert spread == pytest.approx(three, abs=1e-6)


def team(name: str, sign: float, *lines: tuple[float, int]) -> list:
    places = [(sign * x, 10.0 * i - 15.0) for x, n in lines for i in range(n)]
    return [body(f"{name}_{i + 2}", *place) for i, place in enumerate(places)] + [body(f"{name}_1", -sign * 50.0, 0.0)]


def direction(side: str, at_us: int = 0) -> Event:
    return make_event("direction", at_us, f"frame:{at_us}", EventPayload("", side))  # type: ignore[arg-type]


def scene(*parts: tuple[float, list]) -> list[Event]:
    """Frames ten times a second; each cast stays until the next one's second."""
    frames = []
    until = [start for start, _ in parts[1:]] + [parts[-1][0] + 3.0]
    for (start, players), end in zip(parts, until, strict=True):
        frames += [frame_event(t / 10, None, players) for t in range(round(start * 10), round(end * 10))]
    return frames


def test_a_four_three_three_has_its_lines_and_the_goalkeeper_is_in_none():
    players = team("home", 1.0, (-30.0, 4), (-10.0, 3), (5.0, 3)) + team("away", -1.0, (-20.0, 3), (0.0, 4), (20.0, 2))
    out = fold(UnitLines(SHEET), [direction("home"), *scene((0.0, players))])
    assert [(e.payload.team, e.payload.variant, e.payload.x_m, e.payload.detail["players"]) for e in out] == [
        ("home", "defence", -30.0, 4),
        ("home", "midfield", -10.0, 3),
        ("home", "attack", 5.0, 3),
        ("away", "defence", 20.0, 3),
        ("away", "midfield", 0.0, 4),
        ("away", "attack", -20.0, 2),
    ]


def test_a_four_two_three_one_has_four_lines_and_its_midfield_is_both_inner_ones():
    players = team("home", 1.0, (-30.0, 4), (-18.0, 2), (-6.0, 3), (8.0, 1))
    out = fold(UnitLines(SHEET), [direction("home"), *scene((0.0, players))])
    assert [(e.payload.variant, e.payload.detail["players"], e.payload.detail["lines"]) for e in out] == [
        ("defence", 4, 4), ("midfield", 5, 4), ("attack", 1, 4)
    ]  # fmt: skip


def test_a_line_is_told_anew_once_it_has_stood_elsewhere_for_a_second():
    here = team("home", 1.0, (-30.0, 4), (-10.0, 3), (5.0, 3))
    step = team("home", 1.0, (-28.0, 4), (-10.0, 3), (5.0, 3))
    push = team("home", 1.0, (-24.0, 4), (-10.0, 3), (5.0, 3))
    brief = fold(UnitLines(SHEET), [direction("home"), *scene((0.0, here), (2.0, push), (2.8, here))])
    assert len(brief) == 3
    small = fold(UnitLines(SHEET), [direction("home"), *scene((0.0, here), (2.0, step))])
    assert len(small) == 3
    out = fold(UnitLines(SHEET), [direction("home"), *scene((0.0, here), (2.0, push))])
    assert rows_of(out)[3:] == [("lines.changed", "defence", "home")]
    assert out[3].payload.x_m == -24.0
    assert 3_000_000 <= out[3].ts_us <= 3_500_000


def test_nothing_is_told_before_the_direction_is_known_and_changed_ends_turn_the_lines():
    players = team("home", 1.0, (-30.0, 4), (-10.0, 3), (5.0, 3))
    assert fold(UnitLines(SHEET), scene((0.0, players))) == []
    frames = scene((0.0, players))
    turned = sorted([direction("home"), direction("away", 1_500_000), *frames], key=lambda e: e.ts_us)
    out = fold(UnitLines(SHEET), turned)
    assert [(e.payload.variant, e.payload.x_m) for e in out][3:] == [
        ("defence", 5.0),
        ("midfield", -10.0),
        ("attack", -30.0),
    ]


def test_nine_men_have_lines_and_three_have_none():
    nine = team("home", 1.0, (-30.0, 3), (-10.0, 3), (5.0, 2))
    assert len(fold(UnitLines(SHEET), [direction("home"), *scene((0.0, nine))])) == 3
    three = team("home", 1.0, (-30.0, 1), (-10.0, 1), (5.0, 1))
    assert fold(UnitLines(SHEET), [direction("home"), *scene((0.0, three))]) == []
