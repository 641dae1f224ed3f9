"""3.12: which team attacks towards +x."""

from __future__ import annotations

from detectors.bodies.sides import Direction
from football.match_sheet import MatchSheet
from tests.detectors.scene import body, cast, fold, frame_event


def directions(frames, sheet=None):
    events = fold(Direction(sheet or MatchSheet()), frames)
    return [(e.payload.team, e.ts_us / 1e6) for e in events]


def frames(players, seconds, start_s=0.0):
    count = round(seconds / 0.5)
    return [frame_event(start_s + 0.5 * i, (0.0, 0.0), players, round(start_s * 2) + i) for i in range(count)]


def swapped(players):
    return tuple(body(p.object_id, -p.x_m, -p.y_m) for p in players)


def test_the_sheet_is_told_with_the_first_frame():
    assert directions(frames(cast(), 5.0), MatchSheet(attacks_positive_x="away")) == [("away", 0.0)]


def test_without_a_sheet_the_outermost_players_tell_after_three_seconds():
    assert directions(frames(cast(), 5.0)) == [("home", 2.0)]
    assert directions(frames(swapped(cast()), 5.0)) == [("away", 2.0)]


def test_a_minute_on_the_other_side_amends_it_as_after_half_time():
    second = frames(swapped(cast()), 150.0, start_s=60.0)
    found = directions([*frames(cast(), 60.0), *second], MatchSheet(attacks_positive_x="home"))
    assert [team for team, _ in found] == ["home", "away"]
    assert 115.0 <= found[1][1] <= 160.0


def test_a_corner_with_everybody_at_one_end_changes_nothing():
    one_end = cast(home_1=(10.0, 0.0), **{f"away_{n}": (45.0 + n * 0.1, n) for n in range(2, 12)}, home_9=(52.4, 0.0))
    found = directions([*frames(cast(), 10.0), *frames(one_end, 40.0, start_s=10.0)])
    assert [team for team, _ in found] == ["home"]
