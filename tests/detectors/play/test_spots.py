"""4.7: the ball at a restart's place, and who stands ready."""

from __future__ import annotations

import pytest

from detectors.play.spots import RestartSpot, spot_at
from football.match_sheet import MatchSheet
from football.pitch import Pitch
from tests.detectors.scene import cast, fold, path, rows_of, scene, stay


def spots(points, **moved):
    frames = [e for e in scene(points, cast(**moved)) if e.kind == "frame"]
    return rows_of(fold(RestartSpot(MatchSheet()), frames))


@pytest.mark.parametrize(
    ("place", "spot"),
    [
        ((1.0, 1.0), "centre"),
        ((-41.0, 1.0), "penalty mark"),
        ((52.0, -33.0), "corner"),
        ((-50.0, 7.0), "goal area"),
        ((20.0, 33.0), "touch line"),
        ((20.0, 36.0), "touch line"),
        ((20.0, 20.0), ""),
    ],
)
def test_places_have_names(place, spot):
    assert spot_at(Pitch(), *place, 2.0) == spot


def test_a_ball_laid_at_the_corner_and_the_taker_beside_it_are_told_once():
    way = [*path((50.0, 20.0), (52.2, 33.6), 5.0), *stay((52.2, 33.6), 5.0)]
    assert spots(way, home_10=(52.5, 34.5)) == [("spot.ball", "corner", ""), ("spot.taker", "corner", "home")]


def test_a_ball_that_rolls_across_a_spot_is_not_at_it():
    assert spots(path((-20.0, 0.0), (20.0, 0.0), 4.0)) == []
