"""Truth of runs, overloads, answers to cues, offside traps and phases: by hand, so that the answer is plain."""

from __future__ import annotations

import pytest

from football.pitch import Pitch
from football.truth_kinds import LEVELS
from simulator.truth.off_ball import OffBallTruth
from simulator.truth.phases import PhaseTruth
from simulator.truth.pressing import PressingTruth
from simulator.truth.truth_table import Lines
from tests.simulator.handmade import Trajectory, along, at, intervals
from tests.simulator.truth.test_rows import DIRECTIONS, PLAYING, Story

Rows = list[tuple[str, str, str, float]]
#: The ball at the feet of home's sixth player, at the centre spot; away's last line is 20 m ahead.
HOLDS: dict[int, Trajectory] = {5: at(0.5, 0.0), 20: at(20.0, 5.0)}


CENTRE = at(0.0, 0.0, 0.11)


def truth_of(persons: dict[int, Trajectory], story: Story, ball: Trajectory = CENTRE, but: str = "overload") -> Rows:
    """Kind, variant, player or team, and second of what the truth says of six seconds; one kind is left out."""
    lines, truth = Lines(), PressingTruth()
    for interval in intervals(6.0, HOLDS | persons, ball):
        truth.take(interval, PLAYING)
    OffBallTruth(Pitch(), story.rows, DIRECTIONS, lines).follow(truth.looks, 10.0)
    rows = [row for row in lines.table(LEVELS).to_pylist() if row["kind"] != but]
    return [(r["kind"], r["variant"], r["player"] or r["team"], r["ts_us"] / 1e6) for r in rows]


def gained() -> Story:
    story = Story()
    story.note("play.live", 0.1, 5)
    story.note("possession.gain", 0.2, 5, variant="hit")
    return story


@pytest.mark.parametrize(
    ("begin", "end", "sort"),
    [
        ((10.0, -9.0), (30.0, -9.0), "behind"),
        ((-6.0, 12.0), (9.0, 12.0), "underlap"),
        ((-40.0, -9.0), (-25.0, -9.0), "support"),
        ((3.0, -20.0), (18.0, -20.0), "ahead"),
        ((18.0, 2.0), (3.0, 2.0), "coming short"),
        ((-3.0, 2.0), (-18.0, 2.0), "dropping off"),
        ((5.0, -15.0), (6.0, -30.0), "pulling wide"),
        ((5.0, 2.0), (6.0, 17.0), "pulling half-space"),
    ],
)
def test_a_run_has_the_class_of_its_way(begin, end, sort):
    way = along((1.0, *begin), (4.0, *end))
    assert truth_of({7: way}, gained()) == [("run", sort, "home_8", pytest.approx(1.0, abs=0.21))]


def test_a_slow_or_short_run_of_an_opponent_or_of_who_has_the_ball_is_none():
    assert truth_of({7: along((1.0, 0.0, 20.0), (5.0, 15.0, 20.0))}, gained()) == []
    assert truth_of({7: along((1.0, 0.0, 20.0), (1.6, 4.0, 20.0))}, gained()) == []
    fast = along((1.0, 0.0, 20.0), (4.0, 18.0, 20.0))
    assert truth_of({20: fast}, gained()) == []
    ball = along((1.0, 0.5, 0.0, 0.11), (4.0, 18.5, 0.0, 0.11))
    assert truth_of({5: along((1.0, 0.0, 0.0), (4.0, 18.0, 0.0)), 20: at(40.0, 0.0)}, gained(), ball) == []


def test_an_overload_begins_with_the_second_player_more_in_the_lane():
    mates = {6: at(5.0, 2.0), 7: along((2.0, -30.0, -2.0), (2.1, -3.0, -2.0))}
    opponents = {20: at(8.0, 1.0)}
    found = truth_of(mates | opponents, gained(), but="run")
    assert found == [("overload", "centre lane", "home", pytest.approx(2.2, abs=0.21))]
    opponents[21] = at(9.0, 1.0)
    assert truth_of(mates | opponents, gained(), but="run") == []


def received(story: Story, start, end, receiver: int = 6) -> Story:
    story.passed(1.0, 5, start, end, receiver, 1.0)
    story.note("possession.gain", 2.0, receiver, end, variant="hit")
    return story


@pytest.mark.parametrize(
    ("start", "end", "receiver", "cue"),
    [
        ((10.0, 0.0), (0.0, 0.0), 6, "back pass"), ((-8.0, 0.0), (0.0, 0.0), 0, "GK pass"),
        ((-12.5, 0.0), (0.0, 0.0), 6, ""),
    ],
)  # fmt: skip
def test_an_opponent_who_speeds_up_to_the_ball_answers_a_cue(start, end, receiver, cue):
    runs = along((2.2, 20.0, 0.0), (2.6, 19.2, 0.0), (3.0, 17.0, 0.0), (4.0, 9.0, 0.0))
    found = truth_of({6: at(0.3, 0.0), 0: at(0.3, 0.2), 20: runs}, received(gained(), start, end, receiver))
    assert [row[:3] for row in found if row[0] == "trigger"] == ([("trigger", cue, "away_5")] if cue else [])
    walks = along((2.2, 20.0, 0.0), (4.0, 18.0, 0.0))
    assert truth_of({6: at(0.3, 0.0), 20: walks}, received(gained(), start, end, receiver)) == []


def test_a_line_that_steps_up_before_a_kick_and_is_passed_is_beaten():
    story = gained()
    story.passed(2.0, 5, (0.0, 0.0), (19.0, 0.0), 6)
    steps = along((1.0, 20.0, 5.0), (2.0, 18.0, 5.0))
    assert [row[:3] for row in truth_of({20: steps}, story)] == [("trap", "beaten", "away")]
    assert truth_of({}, story) == []


@pytest.mark.parametrize("offends", [False, True])
def test_a_line_that_steps_up_springs_its_trap_if_the_player_it_leaves_behind_offends(offends: bool):
    story = gained()
    kick = story.note("pass.attempt", 2.0, 5, (0.0, 0.0))
    position = story.note("offside.position", 2.0, 6, (19.0, 5.0), causes=(kick,))
    if offends:
        story.note("offside.offence", 3.0, 6, (25.0, 5.0), causes=(kick, position))
    steps = along((1.0, 20.0, 5.0), (2.0, 18.0, 5.0))
    found = truth_of({6: at(19.0, 5.0), 20: steps}, story)
    assert found == ([("trap", "sprung", "away", 2.0)] if offends else [])


def phases(*, corner: bool = False, ball_x: float = -40.0, away_x: float = 20.0) -> Rows:
    """The phases of a chain of home's from 1.0 s on; ten of away stand at ``away_x``."""
    lines, truth, ball = Lines(), PressingTruth(), at(ball_x, 0.0, 0.11)
    story = Story()
    story.note("play.live", 1.0 if corner else 0.1, 5)
    story.note("possession.gain", 1.0, 5, variant="hit")
    if corner:
        story.note("restart.corner", 1.0, 5)
    lines.add_rows(story.rows, 20.0)
    lines.add("chain.start", 1.0, 5, causes=(-2,))
    others = {row: at(away_x, row - 21.0) for row in range(17, 27)}
    for interval in intervals(14.0, {5: at(-40.0, 0.0), **others}, ball):
        truth.take(interval, PLAYING)
    PhaseTruth(Pitch(), DIRECTIONS).follow(truth.looks, lines)
    found = lines.of("phase.in", "phase.out")
    return [(one.kind, one.variant, one.team, pytest.approx(one.t_s, abs=0.21)) for one in found]


def test_after_a_gain_there_is_a_transition_and_then_a_build_up_before_a_block():
    assert phases() == [
        ("phase.in", "transition", "home", 1.0), ("phase.out", "transition", "away", 1.0),
        ("phase.in", "build-up unopposed", "home", 6.1), ("phase.out", "mid block", "away", 6.1),
    ]  # fmt: skip
    near = [row[1] for row in phases(away_x=-36.0)]
    assert near == ["transition", "transition", "build-up opposed", "high block"]


def test_a_corner_is_a_set_piece_and_a_team_that_is_passed_recovers():
    assert [row[:3] for row in phases(corner=True, ball_x=40.0, away_x=30.0)] == [
        ("phase.in", "set piece", "home"), ("phase.out", "recovery", "away"), ("phase.in", "final third", "home"),
    ]  # fmt: skip
