"""10.12: distances at restarts (Laws 8, 13 to 17)."""

from __future__ import annotations

import pytest

from detectors.control.encroachment import Encroachment
from detectors.control.scene import SceneMaker
from detectors.emission import make_event
from football.match_sheet import MatchSheet, Player
from football.payloads import EventPayload
from tests.detectors.scene import body, fold, frame_event

SHEET = MatchSheet(players=tuple(Player(f"{t}_1", t, goalkeeper=True) for t in ("home", "away")))  # type: ignore[arg-type]
FAR = {"home_1": (-50.0, 0.0), "away_1": (51.5, 0.0), "home_6": (-20.0, 5.0), "away_6": (5.0, 20.0)}


def found(kind, at, rest_s=8.0, **places):
    """(variant, player, distance) at a restart of home's 9 with people standing around."""
    players = [body(name, *place) for name, place in {**FAR, "home_9": at, **places}.items()]
    (scene,) = fold(SceneMaker(SHEET), [frame_event(10.0, (*at, 0.1), players)])
    detail = {"after": "stop", "rest_s": rest_s, "out_by": ""}
    restart = EventPayload("", "home", "home_9", *at, detail=detail)
    event = make_event(f"restart.{kind}", 10_100_000, "ball:10.1", restart)
    return [
        (e.payload.variant, e.payload.player, e.payload.detail["distance_m"])
        for e in fold(Encroachment(SHEET), [scene, event])
    ]


@pytest.mark.parametrize(
    ("kind", "at", "near", "far", "row"),
    [
        ("kick_off", (0.0, 0.0), (7.0, 0.0), (9.2, 0.0), ("9.15 m", "away_4", 7.0)),
        ("free_kick", (30.0, 0.0), (37.5, 0.0), (38.3, 0.0), ("9.15 m", "away_4", 7.5)),
        ("corner", (52.4, 33.8), (47.0, 28.0), (45.5, 26.0), ("9.15 m", "away_4", 7.92)),
        ("throw_in", (10.0, 33.8), (10.0, 33.2), (10.0, 31.0), ("2 m throw", "away_4", 0.6)),
        ("goal_kick", (-47.0, 4.0), (-39.0, 4.0), (-35.5, 4.0), ("penalty area", "away_4", -1.0)),
        ("penalty", (41.5, 0.0), (38.0, 10.0), (35.0, 10.0), ("penalty area", "away_4", -1.0)),
        ("penalty", (41.5, 0.0), (34.0, 0.0), (32.0, 0.0), ("penalty area", "away_4", 7.5)),
    ],
)
def test_an_opponent_who_is_too_near_and_one_who_is_not(kind, at, near, far, row):
    assert found(kind, at, away_4=near) == [row]
    assert found(kind, at, away_4=far) == []


def test_a_mate_keeps_no_distance_except_at_a_penalty_kick():
    for kind in ("kick_off", "free_kick", "corner", "throw_in"):
        assert found(kind, (30.0, 0.0), home_8=(30.5, 0.5)) == []
    assert found("penalty", (41.5, 0.0), home_8=(40.0, 5.0)) == [("penalty area", "home_8", -1.0)]


def test_the_goalkeeper_stays_at_a_penalty_kick_and_defenders_may_stand_on_their_goal_line():
    assert found("penalty", (41.5, 0.0), away_1=(52.4, 0.0)) == []
    assert found("free_kick", (46.0, 0.0), away_4=(52.4, 1.0)) == []
    assert [v for v, *_ in found("free_kick", (46.0, 0.0), away_4=(50.0, 1.0))] == ["9.15 m"]


def test_who_takes_a_free_kick_quickly_gives_up_the_distance():
    assert found("free_kick", (30.0, 0.0), rest_s=2.0, away_4=(32.0, 0.0)) == []


def test_a_mate_in_the_wall_is_too_near_and_two_are_no_wall():
    wall = {f"away_{n}": (39.2, 0.8 * n - 2.4) for n in (2, 3, 4)}
    assert found("free_kick", (30.0, 0.0), **wall, home_8=(39.2, 1.5)) == [("1 m wall", "home_8", 0.7)]
    assert found("free_kick", (30.0, 0.0), **wall, home_8=(39.2, 2.5)) == []
    two = {name: wall[name] for name in ("away_3", "away_4")}
    assert found("free_kick", (30.0, 0.0), **two, home_8=(39.2, 1.5)) == []


def test_the_nearest_of_a_team_is_named_with_the_number_of_all():
    at = (30.0, 0.0)
    assert found("free_kick", at, away_4=(36.0, 0.0), away_5=(35.0, 0.0)) == [("9.15 m", "away_5", 5.0)]
