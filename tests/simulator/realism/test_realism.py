"""Figures of a match: known motion gives known figures, and the real match at hand is a real match."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from football.match_sheet import MatchSheet, Player
from replay.formats.tracking import read_tracking
from simulator.realism.estimates import CLASS_NAMES, Sampler, footage_of, live_spans, measure, periods_of
from simulator.realism.targets import COUNTED, MEASURED, as_json, as_table, outside, tally, verdict
from simulator.records import Row, object_id, team_of_row
from tests.simulator.handmade import along, at, intervals

SHEET = MatchSheet(
    attacks_positive_x="home",
    players=tuple(Player(object_id(p), team_of_row(p), goalkeeper=p in (0, 16)) for p in range(32)),  # type: ignore[arg-type]
)
#: Ten outfield players a team on a grid 8 m apart, the goalkeepers on their lines.
GRID = {
    side + n + 1: at(sign * (8.0 * (n % 5) + 2.0), 8.0 * (n // 5))
    for side, sign in ((0, -1), (16, 1))
    for n in range(10)
}
ROLLING = along((0, -50.0, -20.0, 0.11), (20, 50.0, -20.0, 0.11))
KEEPERS = {0: at(-52.0, 0.0), 16: at(52.0, 0.0)}


def position(row: int) -> np.ndarray:
    """Position of a person of the grid."""
    return GRID[row](np.zeros(1))[0]


def figures(seconds: float = 15.0, **changed: object) -> dict[str, float]:
    """Of a match on a grid with the ball rolling along far from everybody, less what is changed."""
    persons = {**GRID, **KEEPERS, **changed.get("persons", {})}  # type: ignore[dict-item]
    sampler = Sampler(SHEET)
    for interval in intervals(seconds, persons, changed.get("ball", ROLLING)):  # type: ignore[arg-type]
        sampler.take(interval)
    return measure(sampler.pieces())


def test_stretches_become_frames_of_a_camera_without_gaps_or_doubles() -> None:
    sampler = Sampler(SHEET)
    for interval in intervals(
        10.0, {**GRID, **KEEPERS, 1: along((0, 0, 0), (10, 50, 0))}, along((0, 0, 0, 0), (10, 20, 0, 2))
    ):
        sampler.take(interval)
    (piece,) = sampler.pieces()
    assert len(piece.ball) == 250
    assert piece.ball[:, 0] == pytest.approx(np.arange(250) * 0.04 * 2.0, abs=1e-5)
    assert piece.positions[:, piece.ids.index("home_2"), 0] == pytest.approx(np.arange(250) * 0.2, abs=1e-4)
    assert set(piece.ids) == {object_id(p) for p in {**GRID, **KEEPERS}}
    assert piece.sheet.attacks_positive_x == "home"


def test_who_is_off_the_pitch_is_not_counted() -> None:
    sampler = Sampler(SHEET)
    for interval in intervals(4.0, {**GRID, **KEEPERS, 12: at(0.0, 38.0)}, at(0, 0, 0.11)):
        sampler.take(interval)
    assert "home_13" not in sampler.pieces()[0].ids


@pytest.mark.parametrize(
    ("kmh", "name"), [(0.5, "standing"), (8, "trot"), (12, "low"), (16, "medium"), (20, "high"), (28, "sprint")]
)
def test_a_steady_runner_is_in_his_class_and_covers_his_distance(kmh: float, name: str) -> None:
    runners = {row: along((0, *position(row)), (4, *(position(row) - (0.0, kmh / 3.6 * 4.0)))) for row in GRID}
    got = figures(4.0, persons=runners)
    assert got[f"{name}_share"] == pytest.approx(1.0)
    assert sum(got[f"{c}_share"] for c in CLASS_NAMES) == pytest.approx(1.0)
    assert got["distance_outfield_m_90"] == pytest.approx(kmh / 3.6 * 5400, rel=0.02)
    assert got["speed_m_s_p50"] == pytest.approx(kmh / 3.6, rel=1e-3)
    assert got["distance_keeper_m_90"] == pytest.approx(0.0, abs=1.0)
    assert got["sprints_90"] == pytest.approx(5400 / 3.52 if name == "sprint" else 0.0)


def test_spacing_on_a_grid_is_that_of_the_grid() -> None:
    got = figures()
    assert got["team_length_m_p50"] == pytest.approx(32.0)
    assert got["team_width_m_p50"] == pytest.approx(8.0)
    assert got["nearest_mate_m_p50"] == pytest.approx(8.0)
    assert got["nearest_opponent_m_p10"] == pytest.approx(4.0)
    assert got["centroids_apart_m_median"] == pytest.approx(36.0)
    assert got["keeper_off_line_m_median"] == pytest.approx(0.5)


def test_acceleration_of_a_known_ramp() -> None:
    ramp = {row: (lambda t, row=row: position(row) + np.stack([0 * t, -1.0 * t**2], 1)) for row in GRID}
    got = figures(4.0, persons=ramp)
    assert got["acceleration_m_s2_p95"] == pytest.approx(2.0, abs=0.05)
    assert got["acceleration_m_s2_p5"] == pytest.approx(2.0, abs=0.05)


def test_ball_speed_and_height_are_measured_while_in_play() -> None:
    got = figures(ball=along((0, -50.0, -20.0, 1.0), (15, 50.0, -20.0, 1.0)))
    assert got["ball_speed_m_s_p50"] == pytest.approx(100 / 15, rel=0.01)
    assert got["ball_low_share"] == pytest.approx(1.0)
    assert got["ball_across_median"] == pytest.approx(20 / 34)


def row(kind: str, t_s: float, **detail: object) -> Row:
    return Row(kind, t_s, 1, "home", (0.0, 0.0, 0.11), detail=detail)  # type: ignore[arg-type]


def test_play_is_live_from_a_restart_to_the_next_stop() -> None:
    rows = [
        row("restart.kick_off", 1.0),
        row("out", 11.0),
        row("foul", 12.0),
        row("restart.throw_in", 20.0),
        row("foul", 25.0, advantage=True),
    ]
    assert live_spans(rows, 30.0) == [(1.0, 11.0), (20.0, 30.0)]
    assert periods_of(rows, 30.0) == [(0.0, 30.0)]
    halves = [row("period.start", 0.5), row("period.end", 10.0), row("period.start", 15.0)]
    assert periods_of(halves, 30.0) == [(0.5, 10.0), (15.0, 30.0)]


def test_truth_rows_are_counted_per_ninety_minutes() -> None:
    rows = [row("pass.attempt", t, outcome=o) for t, o in enumerate(["complete"] * 3 + ["out", ""])]
    rows += [Row("pass.complete", 5.0, 1, "home", (15.0, 0.0, 0.11), causes=(0,))]
    rows += [row("shot.attempt", 6.0, outcome="saved"), row("shot.attempt", 7.0, outcome="off")]
    rows += [row("goal.scored", 8.0), row("goal.scored", 800.0)]
    got = tally(rows, 600.0, 540.0, 300.0)
    assert got["true_passes_90"] == 50
    assert got["true_pass_completion"] == 0.75
    assert got["true_pass_length_m_p50"] == 15.0
    assert got["true_shots_90"] == 20
    assert got["true_shots_on_target_share"] == 0.5
    assert got["true_goals_90"] == 10
    assert got["true_in_play_share"] == pytest.approx(300 / 540)
    assert set(got) == set(COUNTED)


def test_a_table_shows_every_figure_with_its_verdict() -> None:
    matches = {"a": {"true_goals_90": 2.0, "true_fouls_90": 99.0}, "b": {"true_goals_90": math.nan}}
    assert outside(matches["a"]) == ["true_fouls_90"]
    assert verdict("true_goals_90", math.nan) == "?"
    assert verdict("no such figure", 1.0) == ""
    table = as_table(matches)
    assert table.row_count == 2
    reported = as_json(matches)["matches"]
    counted = as_json({"c": {"true_goals_90": np.float64(2.0)}})["matches"]["c"]["true_goals_90"]["value"]  # type: ignore[index]
    assert type(counted) is float, "numpy's numbers are no JSON"
    assert reported == {  # type: ignore[comparison-overlap]
        "a": {"true_goals_90": {"value": 2.0, "verdict": "ok"}, "true_fouls_90": {"value": 99.0, "verdict": "high"}},
        "b": {"true_goals_90": {"value": None, "verdict": "?"}},
    }


@pytest.mark.slow
def test_the_real_match_is_in_every_range_that_it_may_judge(shared_data: Path) -> None:
    got = measure(
        footage_of(read_tracking(str(shared_data / "portugal_switzerland_2019" / "first_20_minutes.parquet")))
    )
    assert set(got) >= set(MEASURED)
    # Counts of twenty minutes times 4.5 are no counts of a match.
    judged = {name: value for name, value in got.items() if not name.endswith("_90") or "distance" in name}
    assert outside(judged) == []
