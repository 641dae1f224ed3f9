"""4.5: marking by distance, its side, and how long it must hold."""

from __future__ import annotations

from detectors.emission import make_event
from detectors.proximity.marking import Marking
from football.match_sheet import MatchSheet, Player
from football.payloads import EventPayload
from middleware.events import Event
from tests.detectors.scene import body, fold, frame_event

SHEET = MatchSheet(players=(Player("home_1", "home", goalkeeper=True),))
HOME_RIGHT = make_event("direction", 0, "direction", EventPayload("", "home"))


def frames(*stretches: tuple[float, float], keeper: bool = False) -> list[Event]:
    """Frames ten times a second: of each stretch its seconds and where the opponent of a player at x = 0 is."""
    out: list[Event] = []
    for seconds, x_m in stretches:
        for _ in range(round(seconds * 10)):
            players = [body("home_9", 0.0, 0.0), body("away_4", x_m, 0.0)]
            out.append(frame_event(len(out) / 10, None, [*players, *([body("home_1", x_m, 0.5)] if keeper else [])]))
    return out


def marks(*events: Event) -> list[tuple[str, str, float, object]]:
    """Kind, player, metres and side of what is found."""
    found = fold(Marking(SHEET), events)
    return [
        (e.kind, e.payload.player, e.payload.detail["distance_m"], e.payload.detail.get("goal_side")) for e in found
    ]


def test_each_band_is_told_once_it_has_held_of_both_players():
    tight, loose, free = ((kind, metres) for kind, metres in (("tight", 1.5), ("loose", 4.0), ("free", 9.0)))
    found = marks(HOME_RIGHT, *frames((2.0, 1.5), (2.0, 4.0), (2.0, 9.0)))
    assert found == [
        (f"mark.{kind}", player, metres, True)
        for kind, metres in (tight, loose, free)
        for player in ("home_9", "away_4")
    ]


def test_a_moment_is_no_marking_and_a_goalkeeper_neither_marks_nor_is_marked():
    assert marks(*frames((0.9, 1.5))) == []
    assert [row[0] for row in marks(*frames((2.0, 4.0), (0.8, 1.0), (2.0, 4.0)))] == ["mark.loose"] * 2
    assert {row[1] for row in marks(*frames((2.0, 1.5), keeper=True))} == {"home_9", "away_4"}


def test_an_opponent_behind_the_player_is_not_goal_side():
    assert marks(HOME_RIGHT, *frames((2.0, -1.5))) == [
        ("mark.tight", "home_9", 1.5, False), ("mark.tight", "away_4", 1.5, False),
    ]  # fmt: skip
    assert marks(*frames((2.0, -1.5)))[0][3] is None
