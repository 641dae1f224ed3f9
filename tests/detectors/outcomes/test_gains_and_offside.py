"""7.15, 8.7, 8.8 on hand-made frames: lines and positions of Law 11, progress, opponents left behind."""

from __future__ import annotations

import pytest

from detectors.emission import make_event
from detectors.outcomes.offside import OffsideLine
from detectors.qualifiers.gains import Packing, ProgressivePlay
from football.match_sheet import MatchSheet, Team
from football.payloads import EventPayload
from middleware.events import Event
from tests.detectors.scene import body, fold, frame_event

SHEET = MatchSheet()


def team(player: str) -> Team:
    return "home" if player.startswith("home") else "away" if player else ""


def about(kind: str, at_s: float, player: str, x_m: float = 0.0, anchor: str = "k", **detail: object) -> Event:
    payload = EventPayload("", team(player), player, x_m, 0.0, detail=detail)
    return make_event(kind, round(at_s * 1e6), anchor, payload)


def direction(attacks: Team) -> Event:
    return make_event("direction", 0, "d", EventPayload(team=attacks))


def frame(at_s: float, ball_m: float | None, **players: float) -> Event:
    ball = None if ball_m is None else (ball_m, 0.0)
    return frame_event(at_s, ball, [body(name, x, 0.0) for name, x in players.items()])


def kicked(sign: float, ball_m: float, kind: str = "pass.attempt", **players: float) -> list[Event]:
    """Events of a kick by home_6, who attacks ``sign``."""
    turned = {name: sign * x for name, x in players.items()}
    attacks: Team = "home" if sign > 0 else "away"
    look = frame(1.0, sign * ball_m, home_6=sign * ball_m, **turned)
    return fold(OffsideLine(), [direction(attacks), look, about(kind, 1.0, "home_6", sign * ball_m)])


@pytest.mark.parametrize("sign", [1.0, -1.0], ids=["to the right", "to the left"])
@pytest.mark.parametrize(
    ("ball_m", "opponents", "line_m"),
    [
        (10.0, (50.0, 30.0, 20.0), 30.0),  # second-last opponent
        (35.0, (50.0, 30.0, 20.0), 35.0),  # ball
        (-20.0, (50.0, -5.0, -9.0), 0.0),  # halfway line
        (10.0, (30.0, 31.0, 20.0), 30.0),  # the goalkeeper has gone forward: he counts like others
        (10.0, (50.0, 30.0), 30.0),  # a team of two
    ],
)
def test_the_line_is_the_farthest_of_opponent_ball_and_halfway(
    sign: float, ball_m: float, opponents: tuple[float, ...], line_m: float
) -> None:
    players = {f"away_{i}": x for i, x in enumerate(opponents, 1)}
    (line,) = kicked(sign, ball_m, **players)
    assert (line.kind, line.payload.variant, line.payload.team) == ("offside.line", "kick", "home")
    assert line.payload.x_m == pytest.approx(sign * line_m)


@pytest.mark.parametrize("sign", [1.0, -1.0], ids=["to the right", "to the left"])
@pytest.mark.parametrize("kind", ["pass.attempt", "shot.attempt"])
def test_mates_beyond_the_line_are_in_offside_positions(sign: float, kind: str) -> None:
    mates = {"home_7": 30.0, "home_8": 30.1, "home_9": 33.0, "home_10": 29.0}
    emitted = kicked(sign, 10.0, kind, away_1=50.0, away_2=30.0, away_3=12.0, **mates)
    positions = [(e.payload.player, e.payload.detail["margin_m"], e.payload.detail["close"]) for e in emitted[1:]]
    assert positions == [("home_8", 0.1, True), ("home_9", 3.0, False)]  # level is not offside
    assert all(e.kind == "offside.position" and e.payload.team == "home" for e in emitted[1:])


def test_nobody_is_offside_in_his_own_half_or_behind_the_ball() -> None:
    assert len(kicked(1.0, -30.0, away_1=50.0, away_2=-20.0, home_9=-1.0)) == 1
    assert len(kicked(1.0, 45.0, away_1=50.0, away_2=30.0, home_9=44.0)) == 1


def test_without_two_opponents_or_known_sides_there_is_no_line() -> None:
    assert kicked(1.0, 10.0, away_1=50.0) == []
    look, kick = frame(1.0, 10.0, away_1=50.0, away_2=30.0), about("pass.attempt", 1.0, "home_6", 10.0)
    assert fold(OffsideLine(), [look, kick]) == []


def test_in_play_the_line_is_told_when_it_has_moved_and_somebody_has_the_ball() -> None:
    def moving(i: int) -> Event:
        return frame(1.0 + 0.1 * i, 0.0, home_6=0.0, away_1=50.0, away_2=30.0 - 0.1 * i)

    looks = [moving(i) for i in range(61)]
    causes = [direction("home"), about("team.possession", 1.0, "home_6"), *looks]
    lines = fold(OffsideLine(), causes)
    assert [round(e.payload.x_m, 1) for e in lines] == [30.0, 28.0, 26.0, 24.0]
    assert {e.payload.variant for e in lines} == {"moved"}
    assert fold(OffsideLine(), [direction("home"), *looks]) == []
    contest = [direction("home"), about("team.possession", 1.0, "home_6"), about("team.possession", 1.05, ""), *looks]
    assert fold(OffsideLine(), contest) == []


def test_a_lost_ball_leaves_the_line_to_the_opponents() -> None:
    causes = [direction("home"), about("team.possession", 1.0, "home_6")]
    (line,) = fold(OffsideLine(), [*causes, frame(1.1, None, home_6=40.0, away_1=50.0, away_2=30.0)])
    assert line.payload.x_m == 30.0


def passed(start_m: float, end_m: float, sign: float = 1.0) -> Event:
    detail = {"start_x_m": sign * start_m, "start_y_m": 0.0, "kick_us": 1_000_000}
    return about("pass.complete", 2.0, "home_6", sign * end_m, **detail)


def carried(start_m: float, end_m: float) -> Event:
    return about("carry.end", 2.0, "home_6", end_m, "c", from_x_m=start_m, from_y_m=0.0)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(
    ("start_m", "end_m", "expected"),
    [
        (-40.0, -9.9, True),
        (-40.0, -10.1, False),
        (-8.0, 7.1, True),
        (-8.0, 6.9, False),
        (10.0, 20.1, True),
        (10.0, 19.9, False),
        (20.0, -20.0, False),
    ],
)
def test_progress_has_three_measures(start_m: float, end_m: float, expected: bool, sign: float) -> None:
    attacks: Team = "home" if sign > 0 else "away"
    emitted = fold(ProgressivePlay(SHEET), [direction(attacks), passed(start_m, end_m, sign)])
    assert [e.kind for e in emitted] == (["progress.pass"] if expected else [])
    assert all(e.dated_us == 1_000_000 for e in emitted)


def test_a_carry_progresses_too() -> None:
    (event,) = fold(ProgressivePlay(SHEET), [direction("home"), carried(10.0, 21.0)])
    assert (event.kind, event.payload.player, event.payload.detail["gain_m"]) == ("progress.carry", "home_6", 11.0)
    assert fold(ProgressivePlay(SHEET), [carried(10.0, 21.0)]) == []


def packed(ahead_before: int, ahead_after: int, sign: float = 1.0) -> tuple[str, object]:
    """Variant and number of a pass from 0 to 10 m; opponents stand at 5 m (passed), 20 m (ahead) or -5 m (behind)."""
    before = {f"away_{i}": sign * (5.0 if i >= ahead_after else 20.0) for i in range(ahead_before)}
    before |= {f"away_{i}": sign * -5.0 for i in range(20, 31 - ahead_before)}
    attacks: Team = "home" if sign > 0 else "away"
    causes = [direction(attacks), frame(0.9, 0.0, **before), about("pass.attempt", 1.0, "home_6", 0.0)]
    emitted = fold(Packing(), [*causes, frame(1.9, sign * 10.0, **before), passed(0.0, 10.0, sign)])
    return emitted[0].payload.variant, emitted[0].payload.detail["opponents"]


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(
    ("before", "after", "variant"),
    [(4, 4, "0"), (4, 3, "1-2"), (4, 2, "1-2"), (7, 4, "3-4"), (7, 3, "3-4"), (7, 2, "5+"), (11, 1, "5+")],
)
def test_packing_counts_opponents_left_behind(before: int, after: int, variant: str, sign: float) -> None:
    assert packed(before, after, sign) == (variant, before - after)


def test_a_pass_back_packs_nobody_and_its_number_says_so() -> None:
    rivals = {"away_2": 5.0, "away_3": -5.0}
    causes = [direction("home"), frame(0.9, 0.0, **rivals), about("pass.attempt", 1.0, "home_6", 0.0)]
    (event,) = fold(Packing(), [*causes, frame(1.9, -10.0, **rivals), passed(0.0, -10.0)])
    assert (event.payload.variant, event.payload.detail["opponents"]) == ("0", -1)


def test_packing_of_a_carry_counts_from_the_gain_of_the_same_player() -> None:
    rivals = {"away_2": 5.0, "away_3": 6.0, "away_1": 50.0}
    gain, look = about("possession.gain", 1.0, "home_6", 0.0), frame(0.9, 0.0, **rivals)
    (event,) = fold(Packing(), [direction("home"), look, gain, carried(0.0, 10.0)])
    assert (event.kind, event.payload.variant) == ("packing.carry", "1-2")
    other = about("possession.gain", 1.0, "home_8", 0.0)
    assert fold(Packing(), [direction("home"), look, other, carried(0.0, 10.0)]) == []
