"""Kicks that are passes or shots by what becomes of their balls (6.1 and 6.7), on hand-made causes."""

from __future__ import annotations

import pytest

from detectors.actions.passes import PassAttempt
from detectors.actions.shots import ShotAttempt
from detectors.emission import make_event
from football.match_sheet import MatchSheet, Quality
from middleware.events import Event
from tests.detectors.actions.test_actions import SHEET, event
from tests.detectors.scene import body, fold, frame_event

LIMBS = MatchSheet(players=SHEET.players, quality=Quality(2000.0, 200.0, ("left_foot", "right_foot")))


def attempts(events: list[Event], sheet: MatchSheet = SHEET) -> list[tuple[str, str]]:
    """Kind and player of all attempts at shots and passes."""
    found = [e for detector in (ShotAttempt, PassAttempt) for e in fold(detector(sheet), events)]
    return [(e.kind.removesuffix(".attempt"), e.payload.player) for e in found if e.kind.endswith(".attempt")]


def kicked(
    player: str, x_m: float, y_m: float, velocity_m_s: tuple[float, float], *others: tuple[str, float, float],
    kick_z_m: float = 0.1,
) -> list[Event]:  # fmt: skip
    """A kick 5 s into the match that is released 0.2 s later; home attacks +x."""
    vx, vy = velocity_m_s
    kick: dict[str, object] = {"kick_us": 5_000_000, "kick_x_m": x_m, "kick_y_m": y_m, "kick_z_m": kick_z_m}
    moving = {"speed_after_m_s": 20.0, "vx_m_s": vx, "vy_m_s": vy, "vz_m_s": 2.0}
    released = event("kick.released", 5.2, player, "", x_m + 0.2 * vx, y_m + 0.2 * vy, **kick, **moving)
    players = [body(player, x_m, y_m), *(body(name, x, y) for name, x, y in others)]
    hit = event("hit", 5.0, player, "", x_m, y_m, **moving)
    return [event("direction", 0, "home_9"), frame_event(5.19, (x_m, y_m), players), hit, released]


def leaves(at_s: float, y_m: float, line: str = "right goal line +y out", x_m: float = 52.61) -> Event:
    return event("ball.crossed", at_s, "", line, x_m, y_m)


#: A drive from 17 m that goes 5 m past the goal, by a mate.
WIDE = kicked("home_9", 35.5, -1.5, (20.0, 12.0), ("home_7", 46.5, 5.1))


def test_a_fast_ball_that_nobody_plays_and_that_leaves_near_the_goal_was_a_shot() -> None:
    assert attempts([*WIDE, leaves(5.9, 8.5)]) == [("shot", "home_9")]


def test_its_shot_says_when_it_was_kicked_and_where_it_left() -> None:
    shot = fold(ShotAttempt(SHEET), [*WIDE, leaves(5.9, 8.5)])[0]
    detail = shot.payload.detail
    assert (shot.ts_us, detail["kick_us"], detail["on_target"]) == (5_000_000, 5_000_000, False)
    assert (detail["goal_y_m"], detail["goal_after_s"]) == (8.5, 0.9)


@pytest.mark.parametrize(
    "then",
    [
        [event("touch", 5.5, "home_7"), leaves(5.9, 8.5)],
        [event("hit", 5.6, "away_4"), leaves(5.9, 8.5)],
        [leaves(5.9, 8.5, "left touch out", 45.0)],
        [leaves(5.9, 8.5, "left goal line +y out", -52.61)],
        [leaves(5.9, 12.0)],
        [leaves(6.9, 8.5)],
        [frame_event(6.42, (52.0, 5.0), []), leaves(6.45, 8.5)],
    ],
    ids=["a mate plays it", "an opponent does", "touch", "the other end", "too wide", "too slow", "too late"],
)
def test_it_is_a_pass_as_soon_as_that_is_known(then: list[Event]) -> None:
    assert attempts([*WIDE, *then]) == [("pass", "home_9")]


def test_the_lines_that_a_ball_crosses_on_its_way_decide_nothing() -> None:
    way = event("ball.crossed", 5.3, "", "right penalty front in", 36.0, 1.0)
    assert attempts([*WIDE, way]) == []
    assert attempts([*WIDE, way, leaves(5.9, 8.5)]) == [("shot", "home_9")]


def test_a_stop_decides_nothing_and_its_restart_does() -> None:
    stop = event("phase.dead", 5.4, variant="stop")
    live = event("phase.live", 6, "away_4", fallback=True, kick_us=6_000_000)
    assert attempts([*WIDE, stop]) == []
    assert attempts([*WIDE, stop, live]) == [("pass", "home_9")]


@pytest.mark.parametrize(
    ("x_m", "y_m", "kick_z_m", "kind"),
    [(35.5, -1.5, 0.1, "shot"), (40.0, 22.0, 0.1, "pass"), (40.0, 9.0, 2.3, "shot"), (30.0, 14.0, 2.3, "pass")],
    ids=["open goal", "from the wing", "header", "header from far away"],
)
def test_it_is_a_shot_only_from_where_players_shoot(x_m: float, y_m: float, kick_z_m: float, kind: str) -> None:
    kick = kicked("home_9", x_m, y_m, (16.0, -6.0), ("home_7", x_m + 8.0, y_m - 3.0), kick_z_m=kick_z_m)
    assert attempts([*kick, leaves(6.0, 6.0)]) == [(kind, "home_9")]


#: A defender's ball of 20 m/s to his own goal.
OWN = ("away_4", 40.0, 3.0, (20.0, -5.0))


def test_a_defenders_ball_to_his_own_goal_was_the_shot_of_the_attacker_at_it() -> None:
    causes = kicked(*OWN, ("home_9", 40.9, 3.4), ("home_7", 41.5, 3.4))
    assert attempts([*causes, leaves(5.65, -0.5, "right goal mouth out")]) == [("shot", "home_9")]
    assert attempts([*causes, leaves(5.65, -7.0)]) == [("shot", "home_9")]


@pytest.mark.parametrize(
    ("attacker", "out", "sheet"),
    [
        ((43.0, 3.0), leaves(5.65, -0.5, "right goal mouth out"), SHEET),
        ((40.9, 3.4), leaves(5.65, -9.0), SHEET),
        ((40.9, 3.4), leaves(6.5, -0.5, "right goal mouth out"), SHEET),
        ((40.9, 3.4), leaves(5.65, -0.5, "right goal mouth out"), LIMBS),
    ],
    ids=["nobody else was at it", "cleared past the goal", "slow", "limb tags tell who kicked it"],
)
def test_it_is_his_own_kick_otherwise(attacker: tuple[float, float], out: Event, sheet: MatchSheet) -> None:
    assert attempts([*kicked(*OWN, ("home_9", *attacker)), out], sheet) == [("pass", "away_4")]


def test_a_defender_who_meets_a_shot_has_deflected_it() -> None:
    """The shot itself was seen only by its release, right before his."""
    first = kicked("home_9", 36.0, 3.0, (20.0, 0.0))[-1]
    shot = make_event("kick.released", 4_990_000, "ball:4800000", first.payload)
    causes = kicked(*OWN, ("home_9", 40.9, 3.4))
    shot.payload.detail["kick_us"] = 4_800_000  # type: ignore[index]
    events = [*causes[:2], shot, *causes[2:], leaves(5.65, -0.5, "right goal mouth out")]
    assert attempts(events).count(("shot", "home_9")) == 1
