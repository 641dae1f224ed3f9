"""3.12: which team attacks towards +x."""

from __future__ import annotations

import pytest

from detectors.bodies.sides import Direction
from football.match_sheet import MatchSheet, Period, Player
from tests.detectors.scene import body, cast, fold, frame_event

KEEPERS = tuple(Player(f"{team}_1", team, goalkeeper=True) for team in ("home", "away"))  # type: ignore[arg-type]


def directions(frames, sheet=None):
    events = fold(Direction(sheet or MatchSheet()), frames)
    return [(e.payload.team, e.ts_us / 1e6) for e in events]


def frames(players, seconds, start_s=0.0, ball=(20.0, 5.0)):
    count = round(seconds / 0.5)
    return [frame_event(start_s + 0.5 * i, ball, players, round(start_s * 2) + i) for i in range(count)]


def swapped(players):
    return tuple(body(p.object_id, -p.x_m, -p.y_m) for p in players)


def lined_up(at_centre="home_9"):
    """Both teams in their own halves, home on the left, one player at the ball."""
    return cast(**{at_centre: (-0.3 if at_centre.startswith("home") else 0.3, 0.0)})


def in_play():
    """Both teams mixed between the goalkeepers."""
    return cast(home_9=(20.0, 5.0), home_8=(10.0, 2.0), away_9=(-20.0, -5.0), away_8=(-10.0, 4.0))


def test_the_sheet_is_told_with_the_first_frame():
    assert directions(frames(cast(), 5.0), MatchSheet(attacks_positive_x="away")) == [("away", 0.0)]


def test_without_a_sheet_the_outermost_players_tell_after_three_seconds():
    assert directions(frames(cast(), 5.0)) == [("home", 2.0)]
    assert directions(frames(swapped(cast()), 5.0)) == [("away", 2.0)]


@pytest.mark.parametrize("taker", ["home_9", "away_9"])
def test_the_line_up_after_half_time_tells_the_change_of_ends_before_the_kick(taker):
    second = [*frames(swapped(lined_up(taker)), 4.0, 900.0, (0.0, 0.0)), *frames(swapped(in_play()), 60.0, 904.0)]
    events = [*frames(lined_up(), 3.0, ball=(0.0, 0.0)), *frames(in_play(), 60.0, 3.0), *second]
    assert directions(events, MatchSheet(attacks_positive_x="home")) == [("home", 0.0), ("away", 900.0)]


@pytest.mark.parametrize(("silence_s", "turned_s"), [(600.0, [603.0]), (5.0, [])], ids=["half-time", "a gap"])
def test_a_source_that_begins_the_second_half_with_the_kick_shows_the_change_of_ends(silence_s, turned_s):
    begin_s = 3.0 + silence_s
    second = [*frames(swapped(lined_up()), 0.5, begin_s, (0.0, 0.0)), *frames(swapped(in_play()), 5.0, begin_s + 0.5)]
    events = [*frames(lined_up(), 3.0, ball=(0.0, 0.0)), *second]
    found = directions(events, MatchSheet(attacks_positive_x="home"))
    assert found == [("home", 0.0), *(("away", at_s) for at_s in turned_s)]


def test_extra_time_that_keeps_and_that_changes_the_ends():
    first = [*frames(lined_up(), 3.0, ball=(0.0, 0.0)), *frames(in_play(), 60.0, 3.0)]
    kept = frames(lined_up(), 3.0, 400.0, (0.0, 0.0))
    changed = frames(swapped(lined_up()), 3.0, 800.0, (0.0, 0.0))
    assert directions([*first, *kept, *changed]) == [("home", 0.5), ("away", 800.0)]


@pytest.mark.parametrize(
    ("players", "ball"),
    [
        (in_play(), (0.0, 0.0)),
        (cast(away_8=(0.3, 0.0), home_9=(-0.3, 0.0)), (0.0, 0.0)),
        (lined_up(), (9.0, 0.0)),
        (lined_up(), None),
        (tuple(p for p in lined_up() if p.object_id in ("home_9", "home_1", "home_2", "away_1", "away_2")), (0.0, 0.0)),
    ],
    ids=["teams mixed", "both at the spot", "ball elsewhere", "ball lost", "hardly anybody"],
)
def test_what_is_no_line_up_changes_nothing(players, ball):
    sheet = MatchSheet(attacks_positive_x="away")
    assert directions(frames(players, 5.0, ball=ball), sheet) == [("away", 0.0)]


def test_one_look_is_not_enough():
    events = [*frames(lined_up(), 0.5, ball=(0.0, 0.0)), *frames(in_play(), 2.0, 0.5)]
    assert directions(events, MatchSheet(attacks_positive_x="away")) == [("away", 0.0)]


def test_a_sheet_that_is_wrong_from_the_beginning_as_of_a_mirrored_source_is_amended():
    events = fold(Direction(MatchSheet(attacks_positive_x="away")), frames(lined_up(), 5.0, ball=(0.0, 0.0)))
    assert [(e.payload.team, e.payload.detail["basis"], e.dated_us) for e in events] == [
        ("away", "sheet", None),
        ("home", "line-up", 0),
    ]
    assert events[0].id == events[1].id


def test_a_provider_knows_each_period():
    sheet = MatchSheet(periods=(Period(1, 0, "home"), Period(2, 100_000_000, "away")))
    assert directions([*frames(in_play(), 30.0), *frames(in_play(), 2.0, 105.0)], sheet) == [
        ("home", 0.0),
        ("away", 105.0),
    ]


@pytest.mark.parametrize(
    ("first", "number", "found"),
    [
        ("home", 2, [("home", "sheet", None), ("away", "law", None)]),
        ("home", 3, [("home", "sheet", None)]),
        ("", 2, []),
    ],
    ids=["a second half", "extra time, before which they toss", "nothing is known"],
)  # fmt: skip
def test_teams_change_ends_for_a_second_half_that_the_source_knows(first, number, found):
    """A picture of television: no line-up, and no goalkeepers."""
    sheet = MatchSheet(attacks_positive_x=first, periods=(Period(number - 1, 0), Period(number, 100_000_000)))
    few = in_play()[8:12]
    events = fold(Direction(sheet), [*frames(few, 30.0), *frames(few, 2.0, 105.0)])
    assert [(e.payload.team, e.payload.detail["basis"], e.dated_us) for e in events] == found


def test_teams_who_were_seen_to_change_ends_before_the_second_half_do_not_change_them_again():
    sheet = MatchSheet(attacks_positive_x="home", periods=(Period(1, 0), Period(2, 1_000_000_000)))
    few, turned = in_play()[8:12], frames(swapped(lined_up()), 2.0, 980.0, (0.0, 0.0))
    assert directions([*frames(few, 30.0), *turned, *frames(few, 2.0, 1_001.0)], sheet) == [
        ("home", 0.0),
        ("away", 980.0),
    ]
    early = frames(swapped(lined_up()), 2.0, 500.0, (0.0, 0.0))
    found = directions([*frames(few, 30.0), *early, *frames(few, 2.0, 1_001.0)], sheet)
    assert found == [("home", 0.0), ("away", 500.0), ("home", 1_001.0)], "the sheet was wrong about the first half"


def test_a_provider_that_is_wrong_is_overruled_by_the_line_up():
    sheet = MatchSheet(periods=(Period(1, 0, "home"), Period(2, 100_000_000, "home")))
    events = [*frames(lined_up(), 3.0, ball=(0.0, 0.0)), *frames(swapped(lined_up()), 3.0, 105.0, (0.0, 0.0))]
    assert directions(events, sheet) == [("home", 0.0), ("away", 106.0)]


def test_without_a_line_up_goalkeepers_of_the_sheet_tell_within_seconds():
    sheet = MatchSheet(attacks_positive_x="home", players=KEEPERS)
    found = directions([*frames(in_play(), 60.0), *frames(swapped(in_play()), 60.0, 900.0)], sheet)
    assert [team for team, _ in found] == ["home", "away"]
    assert found[1][1] <= 920.0


def test_without_a_line_up_and_goalkeepers_positions_tell_after_a_minute():
    found = directions([*frames(in_play(), 60.0), *frames(swapped(in_play()), 150.0, 60.0)])
    assert [team for team, _ in found] == ["home", "away"]
    assert 115.0 <= found[1][1] <= 160.0


def test_a_corner_with_everybody_at_one_end_changes_nothing():
    one_end = cast(home_1=(10.0, 0.0), **{f"away_{n}": (45.0 + n * 0.1, n) for n in range(2, 12)}, home_9=(52.4, 0.0))
    for sheet in (MatchSheet(), MatchSheet(players=KEEPERS)):
        found = directions([*frames(cast(), 10.0), *frames(one_end, 40.0, start_s=10.0)], sheet)
        assert [team for team, _ in found] == ["home"]


def a_picture():
    """Eight players of a part of the pitch, an attacker of each team outermost."""
    places = {"away_9": -20.0, "home_4": -15.0, "away_8": -8.0, "home_6": -2.0, "away_6": 3.0, "home_8": 9.0}
    return tuple(body(name, x_m, 2.0) for name, x_m in {**places, "away_4": 14.0, "home_9": 18.0}.items())


def someone_supposed_behind_a_goal():
    """Everybody, with two unseen players who are supposed behind the goals; the goalkeepers are not seen either."""
    unseen = cast(home_1=(-30.0, 0.0), away_1=(30.0, 0.0), away_5=(-68.0, 3.0), home_5=(68.0, 3.0))
    return tuple(one for one in unseen if one.object_id not in ("home_1", "away_1"))


@pytest.mark.parametrize("seen", [a_picture(), someone_supposed_behind_a_goal()], ids=["a picture", "behind a goal"])
def test_the_outermost_of_whom_a_picture_shows_are_no_goalkeepers(seen):
    found = directions([*frames(in_play(), 30.0), *frames(seen, 200.0, 30.0, (0.0, 20.0))])
    assert [team for team, _ in found] == ["home"]


def picture(home_m: float, away_m: float, count: int = 5):
    """A picture of television: some players of both teams, mixed, whose mean places are given."""
    spread = [5.0 * (i - (count - 1) / 2) for i in range(count)]
    teams = (("home", home_m), ("away", away_m))
    return tuple(
        body(f"{team}_{i + 2}", mean_m + x_m, 4.0 * i) for team, mean_m in teams for i, x_m in enumerate(spread)
    )


@pytest.mark.parametrize(
    ("players", "found"),
    [
        (picture(-3.0, 3.0), [("home", 8.0)]),
        (picture(14.0, 9.0), [("away", 8.0)]),
        (picture(0.0, 1.5), []),
        (picture(-3.0, 3.0, 3), []),
        (picture(-3.0, 3.0, 10), []),
    ],
    ids=["home on the left", "away, in one half", "too near to each other", "too few", "all players, no picture"],
)
def test_a_picture_without_goalkeepers_shows_the_direction_by_the_mean_places_of_the_teams(players, found):
    assert directions(frames(players, 20.0)) == found


def test_the_mean_places_of_a_picture_overrule_a_wrong_sheet_after_minutes():
    sheet = MatchSheet(attacks_positive_x="away")
    assert directions(frames(picture(-3.0, 3.0), 170.0), sheet) == [("away", 0.0)]
    assert directions(frames(picture(-3.0, 3.0), 190.0), sheet) == [("away", 0.0), ("home", 179.5)]
