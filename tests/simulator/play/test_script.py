"""Scripts: the match begins as told, persons try what they are told, and the ball decides."""

from __future__ import annotations

import pytest

from simulator.play.match import Match
from simulator.play.script import Instruction, Opening, Script, Start
from simulator.play.squads import MatchSettings
from simulator.records import Row

HOME_9, HOME_10, HOME_5, AWAY_1, AWAY_4, AWAY_5 = 8, 9, 4, 16, 19, 20


def act(opening: Opening, *instructed: Instruction, seconds: float = 8.0, still: bool = True, seed: int = 3) -> Match:
    """Plays a script."""
    match = Match(MatchSettings(seed=seed, scenario=Script(opening, instructed, still)))
    for _ in match.intervals(seconds):
        pass
    return match


def of_kind(match: Match, kind: str) -> list[Row]:
    return [row for row in match.rows if row.kind == kind]


def at(x: float, y: float, **more: float) -> Start:
    return Start(x, y, **more)


def test_a_told_pass_leaves_at_its_time_and_is_complete_because_the_mate_gets_it() -> None:
    opening = Opening({HOME_9: at(0, 0), HOME_10: at(15, 4), AWAY_4: at(25, 20)}, (0.5, 0.0, 0.11), holder=HOME_9)
    match = act(
        opening,
        Instruction("pass", HOME_9, at_s=1.0, mate=HOME_10),
        Instruction("trap", HOME_10, after="pass.attempt"),
    )
    attempt = of_kind(match, "pass.attempt")[0]
    assert attempt.t_s == pytest.approx(1.0, abs=0.1)
    assert attempt.detail["outcome"] == "complete"
    assert attempt.detail["receiver"] == "home_10"
    assert of_kind(match, "pass.complete")[0].person == HOME_9


def test_in_a_still_script_nobody_else_plays() -> None:
    opening = Opening({HOME_9: at(0, 0), AWAY_4: at(9, 0.1)}, (0.5, 0.0, 0.11), holder=HOME_9)
    match = act(opening, Instruction("pass", HOME_9, at_s=0.5, target=(30.0, 0.0, 0.11), speed_m_s=14.0))
    touches = [row for row in match.rows if row.kind in ("hit", "touch")]
    assert {row.person for row in touches} == {HOME_9, AWAY_4}
    assert next(row for row in touches if row.person == AWAY_4).variant in ("body", "left_foot", "right_foot")


def test_a_cross_is_headed_in() -> None:
    opening = Opening(
        {HOME_9: at(44, 25), HOME_10: at(43, 0), AWAY_1: at(52.3, 3.0)}, (44.3, 24.6, 0.11), holder=HOME_9
    )
    match = act(
        opening,
        Instruction("cross", HOME_9, at_s=0.5, target=(45.5, 0.0, 2.1), height_m=4.0),
        Instruction("header", HOME_10, after="pass.attempt", target=(52.5, -2.5, 0.5), speed_m_s=14.0),
    )
    header = of_kind(match, "header")[0]
    assert header.person == HOME_10
    assert of_kind(match, "pass.attempt")[0].detail["what"] == "cross"
    goal = of_kind(match, "goal.scored")[0]
    assert (goal.person, goal.team, goal.detail["home"]) == (HOME_10, "home", 1)
    assert match.score == (1, 0)


def test_a_told_block_stops_the_shot() -> None:
    opening = Opening({HOME_9: at(33.5, 4), AWAY_4: at(38.5, 3.4)}, (34.0, 4.0, 0.11), holder=HOME_9)
    match = act(
        opening,
        Instruction("shot", HOME_9, at_s=1.0, target=(52.5, 1.0, 0.5), speed_m_s=24.0),
        Instruction("block", AWAY_4, after="shot.attempt"),
    )
    assert of_kind(match, "shot.blocked")[0].detail["by"] == "away_4"
    assert of_kind(match, "shot.attempt")[0].detail["outcome"] == "blocked"


@pytest.mark.parametrize(("how", "kind"), [("catch", "gk.catch"), ("parry", "gk.parry")])
def test_a_goalkeeper_saves_as_he_is_told(how: str, kind: str) -> None:
    opening = Opening({HOME_9: at(30, 0), AWAY_1: at(50.5, 0.2)}, (30.5, 0.0, 0.11), holder=HOME_9)
    match = act(
        opening,
        Instruction("shot", HOME_9, at_s=0.5, target=(52.5, 1.2, 1.0), speed_m_s=20.0),
        Instruction(how, AWAY_1, after="shot.attempt"),
    )
    assert of_kind(match, kind)[0].person == AWAY_1
    saved = of_kind(match, "shot.saved")
    assert not saved or saved[0].person == AWAY_1


def test_a_told_foul_is_whistled_and_a_told_handball_too() -> None:
    opening = Opening({HOME_9: at(10, 0), AWAY_4: at(14, 0)}, (10.5, 0.0, 0.11), holder=HOME_9)
    fouled = act(opening, Instruction("foul", AWAY_4, at_s=0.5))
    assert of_kind(fouled, "foul")[0].person == AWAY_4
    assert of_kind(fouled, "whistle")[0].variant == "foul"
    opening = Opening({HOME_9: at(10, 0), AWAY_5: at(17, 0)}, (10.5, 0.0, 0.11), holder=HOME_9)
    handled = act(
        opening,
        Instruction("pass", HOME_9, at_s=0.5, target=(25.0, 0.0, 1.0), height_m=1.2),
        Instruction("handle", AWAY_5, after="pass.attempt"),
    )
    assert of_kind(handled, "handball")[0].person == AWAY_5
    assert of_kind(handled, "foul")[0].variant == "handball"
    assert of_kind(handled, "whistle")


def test_a_tackle_takes_the_ball_off_the_holder() -> None:
    opening = Opening({HOME_9: at(0, 0), AWAY_4: at(4, 0.5)}, (0.5, 0.0, 0.11), holder=HOME_9)
    match = act(opening, Instruction("tackle", AWAY_4, at_s=0.3))
    assert of_kind(match, "tackle.won")[0].person == AWAY_4


def test_a_penalty_waits_for_its_taker() -> None:
    opening = Opening(ball=(41.5, 0.0, 0.11), restart="penalty", restart_team=0)
    free = act(opening, seconds=9.0, still=False)
    taker = of_kind(free, "restart.penalty")[0].person
    instructed = act(
        opening,
        Instruction("shot", taker, at_s=6.0, target=(52.5, 3.0, 0.4), speed_m_s=26.0),
        seconds=12.0,
        still=False,
    )
    kick = of_kind(instructed, "restart.penalty")[0]
    assert kick.t_s >= 6.0
    assert of_kind(instructed, "shot.attempt")[0].detail["what"] == "foot"


def test_a_half_is_extended_for_a_penalty_kick_until_its_ball_is_in_the_goal() -> None:
    over_s = 2700.0 + 60.0 + 45.0  # a half, added time, and all the patience of the referee
    opening = Opening(ball=(41.5, 0.0, 0.11), restart="penalty", restart_team=0, clock_s=over_s)
    taker = of_kind(act(opening, seconds=9.0, still=False), "restart.penalty")[0].person
    shot = Instruction("shot", taker, at_s=6.0, target=(52.5, 3.0, 0.4), speed_m_s=26.0)
    match = act(opening, shot, seconds=12.0, still=False)
    scored, ended = of_kind(match, "goal.scored")[0], of_kind(match, "period.end")[0]
    assert ended.t_s > scored.t_s


def test_runs_and_stands_and_falls() -> None:
    opening = Opening({HOME_9: at(0, 0), HOME_10: at(5, 5)}, (20.0, 20.0, 0.11))
    match = act(
        opening,
        Instruction("run", HOME_9, at_s=0.0, target=(12.0, 0.0, 0.0), speed_m_s=6.0),
        Instruction("fall", HOME_10, at_s=1.0, for_s=3.0),
        seconds=6.0,
    )
    x, y = match.state.xy(HOME_9)
    assert abs(x - 12.0) < 0.7
    assert abs(y) < 0.5
    down, up = of_kind(match, "player.down")[0], of_kind(match, "player.up")[0]
    assert (down.person, up.person) == (HOME_10, HOME_10)
    assert up.t_s - down.t_s == pytest.approx(3.0, abs=0.1)


def test_period_score_ends_and_absence_are_the_openings() -> None:
    opening = Opening(period=2, clock_s=100.0, score=(1, 2), home_attacks_positive_x=False, absent=(25,))
    match = act(opening, seconds=2.0)
    assert match.score == (1, 2)
    assert match.state.sign.tolist() == [-1.0, 1.0]
    assert 25 not in match.on_pitch
    assert len(match.on_pitch) == 21


def test_what_cannot_be_told_is_refused() -> None:
    with pytest.raises(ValueError, match="do 'fly'"):
        Instruction("fly", 3)
    with pytest.raises(ValueError, match="person 99"):
        Instruction("run", 99)
