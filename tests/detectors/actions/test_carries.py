"""6.10, 6.11, 7.10: carries, loose balls and recoveries, on hand-made frames and contacts."""

from __future__ import annotations

import pytest

from detectors.actions.carries import Carry
from detectors.actions.loose import LooseBall
from detectors.emission import make_event
from football.match_sheet import MatchSheet, Player, Team
from football.payloads import BallState, BodyState, EventPayload, build_frame
from middleware.events import Event
from tests.detectors.scene import fold

SHEET = MatchSheet(players=(Player("home_1", "home", goalkeeper=True), Player("home_9", "home")))


def team(player: str) -> Team:
    return "home" if player.startswith("home") else "away" if player else ""


def contact(kind: str, at_s: float, player: str, x_m: float = 0.0, y_m: float = 0.0, **detail: object) -> Event:
    payload = EventPayload("", team(player), player, x_m, y_m, 0.1, detail=detail)
    return make_event(kind, round(at_s * 1e6), f"ball:{at_s}", payload)


def released(at_s: float, player: str, x_m: float, speed_m_s: float, kick_s: float) -> Event:
    detail = {"kick_us": round(kick_s * 1e6), "kick_x_m": x_m - 2.0, "kick_y_m": 0.0}
    return contact("kick.released", at_s, player, x_m, vx_m_s=speed_m_s, vy_m_s=0.0, vz_m_s=0.0, **detail)


def look(at_s: float, ball_m: float | None, speed_m_s: float = 0.0, **players: float) -> Event:
    """A frame with ball and players on the x axis, all with one speed."""
    bodies = tuple(BodyState(n, team(n), "", x, 0.0, 0.0, speed_m_s, 0.0) for n, x in sorted(players.items()))
    ball = None if ball_m is None else BallState(ball_m, 0.0, 0.1, speed_m_s, 0.0, 0.0, 40_000)
    return Event("frame", round(at_s * 1e6), "frame", round(at_s * 1e6), build_frame(ball, bodies))


def run(start_s: float, seconds: float, speed_m_s: float, player: str = "home_9", x_m: float = 0.0) -> list[Event]:
    """A player who runs with the ball 0.4 m ahead, away_4 30 m off."""
    times = [start_s + 0.04 * i for i in range(1, round(seconds / 0.04) + 1)]
    places = [(t, x_m + speed_m_s * (t - start_s)) for t in times]
    return [look(t, x + 0.4, speed_m_s, **{player: x, "away_4": 30.0}) for t, x in places]


def rows(events: list[Event]) -> list[tuple[str, str, float | None, float]]:
    """kind, player, shown at s, place."""
    return [(e.kind, e.payload.player, (e.dated_us or e.ts_us) / 1e6, e.payload.x_m) for e in events]


def test_a_carry_is_told_after_three_metres_and_ends_at_the_kick() -> None:
    causes = [contact("hit", 1.0, "home_9", 0.4), *run(1.0, 2.0, 5.0)]
    causes += [contact("hit", 3.0, "home_9", 10.4), released(3.2, "home_9", 13.4, 15.0, 3.0)]
    start, end = fold(Carry(SHEET), causes)
    assert (start.kind, start.dated_us, start.payload.x_m) == ("carry.start", 1_000_000, 0.4)
    assert 1_600_000 <= start.ts_us <= 1_800_000
    assert (end.kind, end.dated_us, end.ts_us, end.payload.x_m) == ("carry.end", 3_000_000, 3_200_000, 11.4)
    assert end.payload.detail["distance_m"] == pytest.approx(10.0, abs=0.8)
    assert (start.source, end.source) == ("ball:1.0", "ball:1.0")


def test_two_metres_are_no_carry_and_neither_is_standing_with_the_ball() -> None:
    short = [contact("hit", 1.0, "home_9", 0.4), *run(1.0, 0.4, 5.0), contact("hit", 1.5, "away_4", 2.0)]
    assert fold(Carry(SHEET), short) == []
    still = [look(1 + 0.04 * i, 0.4, home_9=0.2 * (i % 2)) for i in range(1, 500)]
    assert fold(Carry(SHEET), [contact("hit", 1.0, "home_9", 0.4), *still, contact("hit", 30, "away_4", 2.0)]) == []


def test_a_ball_that_its_carrier_pushes_ahead_and_reaches_first_is_still_carried() -> None:
    causes = [contact("hit", 1.0, "home_9", 0.4), *run(1.0, 1.0, 6.0)]
    causes += [
        released(2.0, "home_9", 8.5, 7.0, 1.9),
        *run(2.0, 1.0, 6.0, x_m=6.0),
        contact("hit", 3.1, "away_4", 12.5),
    ]
    assert [(kind, at_s) for kind, _, at_s, _ in rows(fold(Carry(SHEET), causes))] == [
        ("carry.start", 1.0),
        ("carry.end", pytest.approx(3.0, abs=0.11)),
    ]


@pytest.mark.parametrize("kick_s", [1.0, 1.2], ids=["the first contact", "a contact too soon"])
def test_a_carry_lasts_as_long_as_its_distance_takes(kick_s: float) -> None:
    causes = [contact("hit", 1.0, "home_9", 0.4), *run(1.0, 1.0, 5.0), released(2.1, "home_9", 13.0, 15.0, kick_s)]
    _, end = fold(Carry(SHEET), causes)
    assert end.payload.detail["seconds_s"] == pytest.approx(1.0, abs=0.11)
    assert end.payload.x_m == pytest.approx(5.4, abs=0.6)


@pytest.mark.parametrize("last", [contact("phase.dead", 3.05, ""), contact("touch", 3.05, "away_4", 10.5)])
def test_a_death_or_an_opponents_contact_ends_a_carry(last: Event) -> None:
    causes = [contact("hit", 1.0, "home_9", 0.4), *run(1.0, 2.0, 5.0), last]
    assert [row[0] for row in rows(fold(Carry(SHEET), causes))] == ["carry.start", "carry.end"]


def test_a_ball_that_runs_away_is_not_carried_on() -> None:
    causes = [contact("hit", 1.0, "home_9", 0.4), *run(1.0, 2.0, 5.0)]
    causes += [look(3 + 0.04 * i, 20.0, home_9=10.0, away_4=30.0) for i in range(1, 80)]
    assert [row[0] for row in rows(fold(Carry(SHEET), causes))] == ["carry.start", "carry.end"]


def test_nobody_carries_a_dead_ball_a_goalkeeper_nothing_in_his_area_and_a_lost_ball_is_waited_for() -> None:
    dead = [contact("phase.dead", 0.5, ""), contact("hit", 1.0, "home_9", 0.4), *run(1.0, 2.0, 5.0)]
    assert fold(Carry(SHEET), dead) == []
    keeper = [contact("hit", 1.0, "home_1", -49.6), *run(1.0, 2.0, 3.0, "home_1", -50.0)]
    assert fold(Carry(SHEET), [*keeper, contact("hit", 4.0, "away_4", 0.0)]) == []
    lost = [look(1 + 0.04 * i, None, home_9=0.2 * i) for i in range(1, 75)]
    causes = [contact("hit", 1.0, "home_9", 0.4), *lost, contact("hit", 4.1, "away_4", 15.0)]
    assert fold(Carry(SHEET), causes) == []


def test_changed_ends_and_a_team_of_seven_change_nothing() -> None:
    causes = [contact("hit", 1.0, "away_9", 0.4), *run(1.0, 2.0, -5.0, "away_9"), contact("phase.dead", 3.1, "")]
    assert [(row[0], row[1]) for row in rows(fold(Carry(SHEET), causes))] == [
        ("carry.start", "away_9"),
        ("carry.end", "away_9"),
    ]


def zone(kind: str, at_s: float, player: str) -> Event:
    return contact(f"pz.{kind}", at_s, player)


def alone(start_s: float, seconds: float, speed_m_s: float = 3.0) -> list[Event]:
    return [look(start_s + 0.04 * i, 5.0, speed_m_s, home_9=0.0) for i in range(round(seconds / 0.04) + 1)]


def test_a_ball_is_loose_after_half_a_second_alone_and_once() -> None:
    causes = [zone("enter", 0, "home_9"), zone("leave", 1, "home_9"), *alone(1.0, 3.0)]
    assert [(e.kind, e.ts_us) for e in fold(LooseBall(), causes)] == [("ball.loose", 1_520_000)]


def test_a_ball_that_was_played_may_be_loose_again() -> None:
    causes = [*alone(1.0, 1.0), contact("touch", 2.1, "home_9"), *alone(2.2, 1.0)]
    emitted = fold(LooseBall(), causes)
    assert [e.ts_us for e in emitted] == [1_520_000, 2_720_000]
    assert [e.dated_us for e in emitted] == [1_000_000, 2_100_000], "since it is alone, or was played"


@pytest.mark.parametrize(
    "causes",
    [
        alone(1.0, 0.4),
        alone(1.0, 3.0, speed_m_s=8.5),
        [zone("enter", 0.5, "home_9"), *alone(1.0, 3.0)],
        [contact("phase.dead", 0.5, ""), *alone(1.0, 3.0)],
        [*alone(1.0, 0.4), zone("enter", 1.42, "away_4"), zone("leave", 1.43, "away_4"), *alone(1.44, 0.4)],
        [look(1 + 0.04 * i, None, home_9=0.0) for i in range(100)],
    ],
)
def test_a_ball_is_not_loose(causes: list[Event]) -> None:
    assert fold(LooseBall(), causes) == []
