"""11.6, 11.7, 12.2 to 12.4 on hand-made scenes: counter-press, second ball, recovery run, trigger, press of several."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pytest

from detectors.control.scene import Scene
from detectors.tactics.press import PressTrigger, TeamPress
from detectors.tactics.second_ball import SecondBall
from detectors.tactics.turnovers import CounterPress, RecoveryRun
from football.match_sheet import MatchSheet, Player
from football.payloads import BallState, BodyState
from middleware.events import Event
from tests.detectors.chains.test_chains import about
from tests.detectors.scene import fold

SHEET = MatchSheet(players=(Player("home_1", "home", goalkeeper=True),))
#: Place and velocity.
Motion = tuple[float, float, float, float]


def looked(
    at_s: float, players: Mapping[str, Motion], ball: tuple[float, float] = (0.0, 0.0), live: bool = True
) -> Event:
    """A scene; home attacks +x."""
    bodies = [
        BodyState(name, "home" if name.startswith("home") else "away", "", x, y, 0.0, vx, vy)
        for name, (x, y, vx, vy) in sorted(players.items())
    ]
    home, away = (tuple(b for b in bodies if b.team == team) for team in ("home", "away"))
    scene = Scene(BallState(*ball, 0.1, 0.0, 0.0, 0.0, 200_000), home, away, "home", live)
    return Event("scene", round(at_s * 1e6), "scene", round(at_s * 5), scene)


def looks(from_s: float, to_s: float, players: Mapping[str, Motion], ball=(0.0, 0.0)) -> list[Event]:
    """Scenes five times a second, in which nobody moves on."""
    return [looked(from_s + 0.2 * n, players, ball) for n in range(round(5 * (to_s - from_s)))]


def gain(at_s: float, who: str, variant: str = "hit", place=(0.0, 0.0)) -> Event:
    return about("possession.gain", at_s, who, place, variant)


def rows(events: Iterable[Event]) -> list[tuple[str, str, float]]:
    return [(e.kind, e.payload.player or e.payload.team, round(e.ts_us / 1e6, 3)) for e in events]


TURNOVER = [gain(1.0, "home_6"), gain(2.0, "away_4")]
CLOSE = {"home_6": (2.5, 0.0, -3.0, 0.0), "away_4": (0.3, 0.0, 0.0, 0.0)}


def test_a_counter_press_begins_within_two_seconds_and_is_won_within_five():
    begun = [*TURNOVER, *looks(2.2, 3.0, CLOSE)]
    assert rows(fold(CounterPress(), [*begun, gain(6.9, "home_8")])) == [
        ("counterpress.start", "home_6", 2.2), ("counterpress.won", "home_8", 6.9),
    ]  # fmt: skip
    assert rows(fold(CounterPress(), [*begun, gain(7.1, "home_8")])) == [("counterpress.start", "home_6", 2.2)]
    assert fold(CounterPress(), [*TURNOVER, *looks(4.2, 5.0, CLOSE)]) == []


@pytest.mark.parametrize(
    "events",
    [
        [*TURNOVER, *looks(2.2, 3.0, {"home_6": (3.2, 0.0, -3.0, 0.0)})],
        [*TURNOVER, *looks(2.2, 3.0, {"home_6": (2.5, 0.0, -1.5, 0.0)})],
        [gain(1.0, "home_6"), gain(2.0, "away_4", "restart"), *looks(2.2, 3.0, CLOSE)],
        [gain(1.0, "home_6"), about("play.dead", 1.5), gain(2.0, "away_4"), *looks(2.2, 3.0, CLOSE)],
        [gain(1.0, "away_9"), gain(2.0, "away_4"), *looks(2.2, 3.0, CLOSE)],
    ],
    ids=["too far", "walks", "restart", "dead between", "no turnover"],
)
def test_no_counter_press(events):
    assert fold(CounterPress(), events) == []


BACK = {"home_9": (30.0, 5.0, -6.0, 0.0), "home_1": (30.0, 0.0, -6.0, 0.0), "home_2": (-5.0, 0.0, -6.0, 0.0)}


def test_a_recovery_run_lasts_a_second_and_starts_ahead_of_the_ball():
    out = fold(RecoveryRun(SHEET), [*TURNOVER, *looks(2.2, 5.0, BACK)])
    assert rows(out) == [("run.recovery", "home_9", 3.2)], "neither goalkeeper nor who is behind the ball; once"
    assert out[0].payload.detail["since_us"] == 2_200_000
    assert fold(RecoveryRun(SHEET), [*TURNOVER, *looks(2.2, 3.2, BACK)]) == [], "too short"
    assert fold(RecoveryRun(SHEET), [*TURNOVER, *looks(12.2, 15.0, BACK)]) == [], "too long after the loss"
    assert fold(RecoveryRun(SHEET), [*TURNOVER, *looks(2.2, 5.0, {"home_9": (30.0, 5.0, -4.5, 0.0)})]) == [], "too slow"


def test_a_run_that_pauses_begins_anew():
    slow = looked(3.0, {"home_9": (30.0, 5.0, -3.0, 0.0)})
    out = fold(RecoveryRun(SHEET), [*TURNOVER, *looks(2.2, 3.0, BACK), slow, *looks(3.2, 5.0, BACK)])
    assert [e.payload.detail["since_us"] for e in out] == [3_200_000]


def pressing(count: int) -> dict[str, Motion]:
    return {f"home_{n}": (10.0 + n, 0.0, -3.0, 0.0) for n in range(2, 2 + count)}


def test_three_who_close_in_press_together_until_they_stop():
    events = [gain(1.0, "away_4"), *looks(1.2, 3.0, pressing(3)), *looks(3.0, 5.0, pressing(2))]
    start, end = fold(TeamPress(), events)
    assert rows([start, end]) == [("press.team.start", "home", 1.8), ("press.team.end", "home", 3.8)]
    assert start.payload.detail == {"since_us": 1_200_000, "players": 3, "on": "away"}
    assert end.payload.detail == {"since_us": 2_800_000, "seconds": 1.6, "players": 3, "how": "over"}


@pytest.mark.parametrize(
    ("ending", "how"), [(gain(2.5, "home_6"), "won"), (about("play.dead", 2.5, variant="touch"), "dead")]
)
def test_a_press_ends_with_a_gain_or_a_stop(ending, how):
    end = fold(TeamPress(), [gain(1.0, "away_4"), *looks(1.2, 2.4, pressing(3)), ending])[-1]
    assert (end.kind, end.payload.detail["how"]) == ("press.team.end", how)


def test_two_or_a_moment_or_from_afar_is_no_press():
    far = {name: (x + 15.0, y, vx, vy) for name, (x, y, vx, vy) in pressing(3).items()}
    for events in (
        looks(1.2, 3.0, pressing(2)),
        [*looks(1.2, 1.8, pressing(3)), *looks(1.8, 2.0, pressing(2)), *looks(2.0, 2.4, pressing(3))],
        looks(1.2, 3.0, far),
    ):
        assert fold(TeamPress(), [gain(1.0, "away_4"), *events]) == []


def arrived(receiver: str = "home_4", start_x: float = -5.0, place=(0.0, 0.0), took_s: float = 1.0, length_m=15.0):
    """A pass of the home team that arrives at 2.0 s."""
    kick_us = round((2.0 - took_s) * 1e6)
    detail = {"receiver": receiver, "start_x_m": start_x, "start_y_m": 0.0, "kick_us": kick_us, "length_m": length_m}
    return about("pass.complete", 2.0, "home_6", place, **detail)


def answered(cue: Event, gains_m_s: float = 3.0, ball=(0.0, 0.0)) -> list[tuple[str, str, float]]:
    """The trigger of a cue, and of an opponent who is faster by so much 0.6 s later."""
    before, after = ({"away_9": (ball[0] + 8.0, ball[1], -v, 0.0)} for v in (1.0, 1.0 + gains_m_s))
    events = [cue, looked(2.2, before, ball), looked(2.6, before, ball), looked(2.8, after, ball)]
    return [(e.payload.variant, e.payload.player, e.ts_us / 1e6) for e in fold(PressTrigger(SHEET), events)]


@pytest.mark.parametrize(
    ("cue", "variant"),
    [
        (arrived(start_x=6.0), "back pass"),
        (arrived("home_1", start_x=6.0), "GK pass"),
        (arrived(place=(0.0, 30.0)), "wide trap"),
        (arrived(took_s=1.95, length_m=12.0), "slow pass"),
    ],
)
def test_a_cue_that_an_opponent_answers(cue, variant):
    assert answered(cue) == [(variant, "away_9", 2.8)]
    assert answered(cue, gains_m_s=1.0) == [], "he does not speed up"


def test_a_plain_pass_is_no_cue():
    assert answered(arrived()) == []


def test_a_bad_touch_is_a_cue_unless_the_ball_was_played_on():
    bad = {"home_4": (0.0, 0.0, 0.0, 0.0), "away_9": (12.0, 0.0, -1.0, 0.0)}
    fast = {**bad, "away_9": (10.0, 0.0, -5.0, 0.0)}
    events = [gain(2.0, "home_4"), looked(2.4, bad, (2.3, 0.0)), looked(3.0, fast, (2.5, 0.0))]
    (found,) = fold(PressTrigger(SHEET), events)
    assert (found.payload.variant, found.payload.detail["on"]) == ("bad touch", "home_4")
    played = [events[0], about("pass.attempt", 2.1, "home_4"), *events[1:]]
    assert fold(PressTrigger(SHEET), played) == []


def test_the_second_ball_is_the_next_players_near_the_header():
    won = about("aerial.won", 2.0, "home_9", (10.0, 0.0))
    own = gain(2.0, "home_9", place=(10.0, 0.0))
    near, late, far = (
        gain(3.0, "away_4", place=(15.0, 0.0)),
        gain(5.1, "away_4"),
        gain(3.0, "away_4", place=(25.0, 0.0)),
    )
    assert rows(fold(SecondBall(), [won, own, near, gain(3.5, "home_8")])) == [("secondball", "away_4", 3.0)]
    assert fold(SecondBall(), [won, own, late]) == []
    assert fold(SecondBall(), [won, own, far]) == []
    assert fold(SecondBall(), [won, about("play.dead", 2.5), near]) == []
