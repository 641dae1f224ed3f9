"""3.9: areas of the field, and who enters and leaves them."""

from __future__ import annotations

import random

import pytest

from detectors.bodies.area_watch import AreaWatch, draw
from football.areas import ball_areas, player_areas
from football.match_sheet import MatchSheet
from football.pitch import Pitch
from tests.detectors.scene import body, fold, frame_event, rows_of

WATCH = AreaWatch(MatchSheet())


def names_at(x_m, y_m, z_m=0.0):
    return {a.name for a in ball_areas(Pitch()) if a.contains(x_m, y_m, z_m, 0.0)}


def walk(places, ball=(0.0, 0.0)):
    frames = [frame_event(0.04 * i, ball, [body("home_7", *place)], i) for i, place in enumerate(places)]
    return rows_of(fold(WATCH, frames))


@pytest.mark.parametrize(
    ("place", "some"),
    [
        ((50.0, 0.0), {"field", "right half", "right third", "right penalty area", "right goal area", "zone 17"}),
        ((-52.0, 33.6), {"left left corner", "left wing", "zone 1", "left third"}),
        ((52.0, -33.6), {"right right corner", "right wing", "zone 18"}),
        ((0.0, 9.0), {"centre circle", "middle third", "centre lane"}),
        ((34.0, 0.0), {"right penalty arc"}),
        ((10.0, 36.0), {"over left touch"}),
        ((53.0, 1.0, 1.0), {"right goal"}),
        ((53.0, 1.0, 3.0), {"over right bar"}),
        ((-53.0, -10.0), {"beside left goal -y"}),
    ],
)
def test_a_place_lies_in_its_areas(place, some):
    assert some <= names_at(*place)


def test_a_place_in_the_penalty_area_is_not_in_its_arc():
    assert "right penalty arc" not in names_at(36.5, 0.0)


def test_every_place_on_the_field_has_one_third_one_lane_and_one_zone():
    generator = random.Random(3)
    for _ in range(500):
        names = names_at(generator.uniform(-52.4, 52.4), generator.uniform(-33.9, 33.9))
        assert sum(name.endswith("third") for name in names) == 1
        assert sum(name.endswith(("wing", "half-space", "lane")) for name in names) == 1
        assert sum(name.startswith("zone") for name in names) == 1


def test_there_are_fifteen_areas_for_players_and_fifty_for_the_ball():
    assert len(player_areas(Pitch())) == 15
    assert len({a.name for a in ball_areas(Pitch())}) == len(ball_areas(Pitch())) == 50


def test_a_player_who_crosses_halfway_leaves_one_half_and_enters_the_other():
    assert walk([(-1.0, 0.0), (-0.1, 0.0), (0.1, 0.0), (0.3, 0.0)]) == [
        ("area.enter", "right half", "home"),
        ("area.leave", "left half", "home"),
    ]


def test_a_player_who_stands_on_a_line_does_not_flicker():
    assert len(walk([(-1.0, 0.0), *((0.1 * (-1) ** i, 0.0) for i in range(50))])) == 1


def test_where_somebody_is_first_seen_is_not_told():
    assert walk([(40.0, 0.0)]) == []


def test_the_ball_has_neither_team_nor_player():
    frames = [frame_event(0.04 * i, (x_m, 0.0), (), i) for i, x_m in enumerate((8.0, 9.0, 9.2, 9.5))]
    (event,) = fold(WATCH, frames)
    assert (event.kind, event.payload.variant, event.payload.team, event.payload.player) == (
        "area.leave",
        "centre circle",
        "",
        "",
    )


@pytest.mark.parametrize("seed", range(5))
def test_within_the_calm_box_nothing_changes(seed):
    """Replay with the seed in the test's name."""
    generator = random.Random(seed)
    areas = ball_areas(Pitch())
    x_m, y_m, inside = 0.0, 0.0, 0
    for _ in range(2000):
        mark = draw(areas, (x_m, y_m, 0.0), inside, 0.2)
        x_m, y_m, inside = x_m + generator.gauss(0, 1.0), y_m + generator.gauss(0, 1.0), mark.inside
        x_m, y_m = max(-56.0, min(56.0, x_m)), max(-37.0, min(37.0, y_m))
        if mark.low_x_m < x_m < mark.high_x_m and mark.low_y_m < y_m < mark.high_y_m:
            assert draw(areas, (x_m, y_m, 0.0), inside, 0.2).inside == inside, (seed, x_m, y_m)
