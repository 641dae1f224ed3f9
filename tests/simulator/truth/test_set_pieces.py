"""Truth of walls, marking at set pieces and momentum: by hand, so that the answer is plain."""

from __future__ import annotations

from football.pitch import Pitch
from football.truth_kinds import LEVELS
from simulator.truth.pressing import PressingTruth
from simulator.truth.set_pieces import add_set_pieces
from simulator.truth.states import add_momentum
from simulator.truth.truth_table import Lines
from tests.simulator.handmade import Trajectory, along, at, intervals
from tests.simulator.truth.test_rows import DIRECTIONS, PLAYING, Story

BALL = at(30.0, 0.0, 0.11)


def truth_of(persons: dict[int, Trajectory], story: Story) -> list[tuple[str, str, str]]:
    """Kind, variant and team of what the truth says of eight seconds."""
    lines, truth = Lines(), PressingTruth()
    for interval in intervals(8.0, persons, BALL):
        truth.take(interval, PLAYING)
    add_set_pieces(Pitch(), story.rows, truth.looks, 10.0, DIRECTIONS, lines)
    return [(row["kind"], row["variant"], row["team"]) for row in lines.table(LEVELS).to_pylist()]


def kick(kind: str, variant: str = "", x_m: float = 30.0, y_m: float = 0.0) -> Story:
    story = Story()
    story.note(f"restart.{kind}", 4.0, 5, (x_m, y_m, 0.11), variant=variant)
    return story


def test_a_wall_is_the_longest_row_with_small_gaps_before_the_ball():
    three = {row: at(39.5, y) for row, y in ((18, -0.6), (19, 0.0), (20, 0.6))}
    alone = {21: at(39.3, 3.5), 22: at(33.0, 0.0), 23: at(39.5, -12.0)}
    assert truth_of(three | alone, kick("free_kick", "direct shot")) == [("wall", "3", "away")]
    assert truth_of(alone, kick("free_kick", "direct shot")) == [("wall", "1", "away")]
    assert truth_of({22: at(33.0, 0.0)}, kick("free_kick", "direct shot")) == []
    assert truth_of(three | alone, kick("free_kick", "short", x_m=-20.0)) == [], "far from the goal"


def marked(moving: int) -> dict[int, Trajectory]:
    """Five forwards before the goal who run, of whom so many have a marker who runs with them."""
    persons: dict[int, Trajectory] = {}
    for number in range(5):
        y = -12.0 + 6.0 * number
        persons[6 + number] = along((3.5, 40.0, y), (5.5, 47.0, y))
        persons[18 + number] = along((3.5, 41.0, y), (5.5, 48.0, y)) if number < moving else at(41.0, y)
    return persons


def test_a_scheme_goes_by_the_share_of_defenders_who_run_with_their_men():
    schemes = [truth_of(marked(moving), kick("corner", "left", 52.0, 33.5)) for moving in (5, 2, 0)]
    assert schemes == [[("setpiece.shape", name, "away")] for name in ("man", "mixed", "zonal")]
    assert truth_of(marked(5), kick("free_kick", "short", x_m=20.0, y_m=30.0)) == [], "nothing is crossed"
    few = {row: way for row, way in marked(5).items() if row < 21}
    assert truth_of(few, kick("corner", "left", 52.0, 33.5)) == [], "three defenders are no scheme"


def test_momentum_turns_when_the_balance_has_been_a_teams_for_a_minute():
    def turns(*gains: tuple[float, int]) -> list[tuple[str, float]]:
        story, lines = Story(), Lines()
        story.note("period.start", 0.0, 5, variant="1")
        for at_s, person in gains:
            x_m = 45.0 if person < 16 else -45.0
            story.note("possession.gain", at_s, person, (x_m, 0.0, 0.11))
        add_momentum(Pitch(), story.rows, 300.0, DIRECTIONS, lines)
        return [(row["team"], row["ts_us"] / 1e6) for row in lines.table(LEVELS).to_pylist()]

    assert turns((10.0, 5), (11.0, 5)) == [("home", 120.0)], "at the first minute after it has held"
    assert turns((10.0, 5)) == [], "one fades below the least lead"
    assert turns((10.0, 5), (11.0, 5), (130.0, 20), (131.0, 20), (132.0, 20)) == [("home", 120.0), ("away", 240.0)]
