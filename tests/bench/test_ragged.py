"""Figures of the ragged benchmark: pooled over matches, intervals by matches, goals that were none."""

from __future__ import annotations

from bench.ragged import FIGURES, HELD_OUT, TRAINING, error_table, errors_of, f1_of, row_of, share_of, table
from football.update_stream import EventRecord
from replay.scoring.figures import Score, judge, score
from replay.scoring.frames import FrameScore
from replay.scoring.truth import Truth, true_marks


def event(kind: str, at_s: float) -> EventRecord:
    return EventRecord(
        f"{kind}#{at_s}", kind, "", 6, round(at_s * 1e6), "home", "home_7", None, None, None, 1.0, (), {}
    )


def match(true: list[tuple[str, float]], found: list[tuple[str, float]]) -> Score:
    marks = true_marks([event(*one) for one in true])
    kinds = frozenset({"pass.attempt", "goal.scored", "goal.own", *(kind for kind, _ in true)})
    made = score(Truth("test", marks, kinds), [event(*one) for one in found])
    frames = {"in_play": FrameScore(100, 0.5, None, 2.0), "team_possession": FrameScore(50, 1.0)}
    return Score(made.truth, made.kinds, frames, {})


def test_seeds_of_training_and_of_the_end_are_apart() -> None:
    assert not set(TRAINING) & set(HELD_OUT)


def test_matches_count_by_their_events_not_each_the_same() -> None:
    passes = [("pass.attempt", float(n)) for n in range(9)]
    one, other = match(passes, passes), match(passes[:1], [])
    assert f1_of("pass.attempt")([one, other]) == 2 * 9 / (2 * 9 + 1)
    assert share_of("in_play")([one, other]) == 0.5
    assert f1_of("shot.attempt")([one]) is None


def test_a_goal_given_to_a_scorer_is_a_goal_and_one_from_nowhere_is_invented() -> None:
    renamed = match([("goal.own", 1.0)], [("goal.scored", 1.2)])
    invented = match([], [("goal.scored", 60.0)])
    figure = next(figure for figure in FIGURES if figure.name == "goals invented")
    assert (figure.of([renamed]), figure.of([invented]), figure.of([renamed, invented])) == (0.0, 1.0, 1.0)


def test_an_interval_holds_the_value_and_a_goal_that_is_missed_is_bold() -> None:
    passes = [("pass.attempt", float(n)) for n in range(9)]
    matches = [match(passes, passes), match(passes, passes[:3]), match(passes, passes[:6])]
    row = row_of(matches)
    attempt = row["pass.attempt F1"]
    assert attempt["low"] <= attempt["value"] <= attempt["high"]
    assert attempt["low"] < attempt["high"]
    assert not attempt["met"]
    line = table({"ragged": row})[-1]
    assert line.startswith("| `ragged` | **0.8")
    assert " 0.0 (0.0 to 0.0) " in line


def test_an_error_is_a_wrong_player_team_or_time_before_it_is_missed_or_invented() -> None:
    def by(player: str, at_s: float) -> EventRecord:
        team = player.split("_")[0]
        return EventRecord(f"{player}#{at_s}", "hit", "", 5, round(at_s * 1e6), team, player, None, None, None, 1.0)

    true = [by("home_7", 1.0), by("home_7", 10.0), by("home_7", 20.0), by("home_7", 30.0), by("home_7", 40.0)]
    found = [by("home_7", 1.1), by("home_8", 10.1), by("away_4", 20.1), by("home_7", 30.3), by("home_7", 50.0)]
    (judged,) = judge(Truth("test", true_marks(true), frozenset({"hit"})), found)
    counts = errors_of(judged, 200_000)
    assert counts == dict.fromkeys(("right", "wrong player", "wrong team", "wrong time", "missed", "invented"), 1)
    assert error_table({"ragged": {"contacts": counts}})[-1] == "| `ragged` | contacts | 5 | 1 | 1 | 1 | 1 | 1 | 1 |"
