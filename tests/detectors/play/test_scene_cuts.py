"""Cuts of the scene: dead time that a source leaves out without a gap in its times, as simulated football does."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pytest

from detectors.play.scene_cuts import CutParameters, is_cut
from football.payloads import BallState, BodyState, Frame, build_frame
from tests.detectors import stage

#: When the scene is cut, when the ball is played then, and how long a jump between two frames takes.
CUT_S, KICK_S, JUMP_S = 10.0, 12.6, 0.001

Place = tuple[float, float]


def in_play(number: int, sign: float) -> Place:
    """Return where a player is in the field, both teams among each other."""
    return (-48.0 * sign, 0.0) if number == 1 else (-30.0 + 17.0 * number % 61, sign * (-28.0 + 23.0 * number % 55))


def lined_up(number: int, sign: float) -> Place:
    """Return where a player stands for a kick-off, home on the left."""
    return (-48.0 * sign, 0.0) if number == 1 else (-sign * (8.0 + 4.0 * (number % 7)), -25.0 + 5.0 * number)


def everybody(place) -> dict[str, Place]:
    """All players of both teams at their places."""
    return {f"{team}_{n}": place(n, sign) for team, sign in (("home", 1.0), ("away", -1.0)) for n in range(1, 12)}


def path(before: Place, after: Place, run_m: float = 6.0) -> list[tuple[float, ...]]:
    """A player who walks, is elsewhere after the cut, stands there and runs with the kick."""
    (x, y), (cut_x, cut_y) = before, after
    stands, runs = (KICK_S, cut_x, cut_y), (KICK_S + 2.0, cut_x, cut_y + run_m)
    return [(0.0, x, y - 15.0), (CUT_S, x, y), (CUT_S + JUMP_S, cut_x, cut_y), stands, runs]


def played(ball, after: Mapping[str, Place], **paths: list[tuple[float, ...]]) -> list[tuple[str, str, str, float]]:
    """Kind, variant, team and second of restarts, goals and the state of play."""
    players = {name: path(place, after[name]) for name, place in everybody(in_play).items()}
    players["home_7"] = [*(point for point in ball if point[0] <= CUT_S), *players["home_7"][2:]]
    found = stage.play(ball, {**players, **paths}, KICK_S + 6.0)
    kinds = ("restart.", "goal.scored", "play.dead", "play.live")
    return [
        (event.kind, event.payload.variant, event.payload.team, round(event.ts_us / 1e6, 1))
        for event in found
        if event.kind.startswith(kinds) and event.ts_us >= 9_000_000
    ]


def kinds(found: list[tuple[str, str, str, float]]) -> list[str]:
    """The kinds alone."""
    return [kind for kind, *_ in found]


def rolled_to(*rest: tuple[float, ...]) -> list[tuple[float, ...]]:
    """A ball that is passed about before the scene is cut, and its way since."""
    about = [(2.0 * i, -8.0 + 3.0 * i, 9.0 * (i % 2)) for i in range(5)]
    return [*about, *rest]


SHIFTED = {name: (x * 0.5, y * 0.6 - 8.0) for name, (x, y) in everybody(in_play).items()}


def test_play_was_stopped_where_the_scene_is_cut_and_goes_on_with_a_free_kick():
    lies = (5.0, 12.0)
    ball = rolled_to((CUT_S, 8.0, 1.0), (CUT_S + JUMP_S, *lies), (KICK_S, *lies), (KICK_S + 1.5, 30.0, 20.0))
    found = played(ball, {**SHIFTED, "home_5": (5.0, 10.5)})
    assert [kind for kind in kinds(found) if kind.startswith("restart")] == ["restart.free_kick"]
    assert found[0][:2] == ("play.dead", "stop")
    assert found[0][3] == pytest.approx(CUT_S, abs=0.3)
    assert next(one for one in found if one[0] == "restart.free_kick")[2:] == ("home", pytest.approx(KICK_S, abs=0.2))


def test_a_ball_that_was_about_to_leave_the_pitch_has_gone_out():
    leaves, lies = (9.0, 20.0, -30.0), (8.0, -34.0)
    thrown = [(KICK_S, *lies), (KICK_S + 1.0, 14.0, -25.0)]
    ball = rolled_to(leaves, (CUT_S, 21.0, -33.9), (CUT_S + JUMP_S, *lies), *thrown)
    found = played(ball, {**SHIFTED, "away_5": (8.0, -34.5)})
    assert found[0][:2] == ("play.dead", "touch")
    assert [one[:3] for one in found if one[0].startswith("restart")] == [("restart.throw_in", "", "away")]


def test_a_stop_that_nobody_saw_is_named_by_its_place():
    lies = (47.0, 2.0)
    ball = rolled_to((CUT_S, 8.0, 1.0), (CUT_S + JUMP_S, *lies), (KICK_S, *lies), (KICK_S + 2.0, 0.0, 10.0))
    found = played(ball, {**SHIFTED, "away_1": (48.0, 2.0)})
    assert [one[:3] for one in found if one[0].startswith("restart")] == [("restart.goal_kick", "", "away")]


def kicked_off(taker: str) -> dict[str, list[tuple[float, ...]]]:
    """The taker, who runs on with the ball, and an opponent inside the centre circle."""
    sign = 1.0 if taker.startswith("home") else -1.0
    other = "away_10" if sign > 0.0 else "home_10"
    before = everybody(in_play)
    x = -1.7 * sign
    stands, runs = (KICK_S - 0.4, x, 0.0), [(KICK_S, 0.0, 0.0), (KICK_S + 3.0, 4.0 * x, 8.0)]
    comes = [*path(before[taker], (x, 0.0))[:3], stands, *runs]
    return {taker: comes, other: path(before[other], (2.7 * sign, 0.0))}


#: A ball that is dribbled away from the centre spot.
DRIBBLED = ((CUT_S + JUMP_S, 0.0, 0.0), (KICK_S, 0.0, 0.0))


@pytest.mark.parametrize(
    ("shot", "taker", "goals"),
    [
        ([(9.0, 40.0, 0.0), (CUT_S, 51.5, 0.5)], "away_9", ["home"]),
        ([(9.0, 40.0, 0.0), (CUT_S, 42.0, 0.5)], "home_9", []),
    ],
    ids=["a ball in the mouth of the goal", "half-time, without another end"],
)
def test_a_kick_off_to_which_the_scene_is_cut(shot, taker, goals):
    sign = 1.0 if taker.startswith("home") else -1.0
    ball = rolled_to(*shot, *DRIBBLED, (KICK_S + 3.0, -6.8 * sign, 8.0))
    found = played(ball, everybody(lined_up), **kicked_off(taker))
    assert [one[:3] for one in found if one[0].startswith("restart")] == [("restart.kick_off", "", taker[:4])]
    assert [one[2] for one in found if one[0] == "goal.scored"] == goals


def frame(places: Mapping[str, Place], run_m_s: float = 0.0) -> Frame:
    """Everybody at his place."""
    bodies = [
        BodyState(name, "home" if name.startswith("home") else "away", "", x, y, 0.0, run_m_s, 0.0)
        for name, (x, y) in sorted(places.items())
    ]
    return build_frame(BallState(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 40_000), tuple(bodies))


def shows_cut(
    before: Mapping[str, Place], after: Mapping[str, Place], run_m_s: float = 2.0, gap_us: int = 40_000
) -> bool:
    """Return True if a frame shows that the scene was cut since the one before, in which everybody ran."""
    return is_cut(frame(before, run_m_s), frame(after), gap_us, CutParameters())


def spread(places: Mapping[str, Place], away_m: float, only: str = "") -> dict[str, Place]:
    """Everybody, or one team, that far from where he was, each in another direction."""
    return {
        name: (x + away_m * math.cos(number), y + away_m * math.sin(number)) if name.startswith(only) else (x, y)
        for number, (name, (x, y)) in enumerate(sorted(places.items()))
    }


def test_a_cut_is_a_jump_of_nearly_everybody():
    start = everybody(in_play)
    assert shows_cut(start, spread(start, 4.0))
    assert not shows_cut(start, spread(start, 2.0)), "a position errs"
    assert not shows_cut(start, spread(start, 4.0, "home")), "one team is tracked anew"
    assert not shows_cut(start, spread(start, 4.0), run_m_s=0.0), "tracking stood still, and goes on"
    assert not shows_cut(start, spread(start, 4.0), gap_us=400_000), "time has passed, too"
    assert not shows_cut(start, spread(start, 3.3), gap_us=300_000), "they may have run"
    assert not shows_cut(start, {name: (x + 6.0, y) for name, (x, y) in start.items()}), "calibration has slipped"
    others = {name.replace("_9", "_19"): place for name, place in spread(start, 4.0).items()}
    assert not shows_cut(start, others), "others are in the picture"
    few = {name: place for name, place in start.items() if name.endswith(("_1", "_2", "_3", "_4", "_5"))}
    assert not shows_cut(few, spread(few, 4.0)), "a picture of television"


def test_some_who_stay_where_they_are_do_not_hide_a_cut():
    start = everybody(in_play)
    assert shows_cut(start, {**spread(start, 9.0), "home_1": start["home_1"], "away_1": start["away_1"]})
