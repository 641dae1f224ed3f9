"""Truths from files: the three forms, and what is said about a file that is none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from football.errors import TrackingError
from football.match_sheet import MatchSheet, Player
from football.update_stream import EventRecord
from replay.formats.debs import Half, read_sensors, with_carriers
from replay.scoring.debs_annotation import (
    Annotation,
    Clock,
    Interruption,
    Possession,
    ShotOnGoal,
    annotate,
    read_annotation,
    write_annotation,
)
from replay.scoring.figures import score
from replay.scoring.readers import read_truth
from replay.scoring.truth import ScoreError

SHEET = MatchSheet(players=(Player("home_1", "home", "Ana"), Player("away_1", "away", "Bo")))
ROWS = [
    {"id": "a", "kind": "hit", "variant": "head", "ts_us": 5, "team": "home", "player": "home_1", "detail": "{}"},
    {"id": "b", "kind": "out", "variant": "", "ts_us": 9, "team": "away", "player": "", "detail": '{"since_us": 7}'},
]


def write(folder: Path, rows: list[dict[str, object]]) -> Path:
    pq.write_table(pa.Table.from_pylist(rows), folder / "truth.parquet")
    return folder / "truth.parquet"


def test_a_truth_like_events_speaks_of_its_kinds_and_a_simulations_of_all_that_it_knows(tmp_path):
    truth = read_truth(write(tmp_path, ROWS), SHEET)
    assert truth.kinds == {"hit", "out"}
    (tmp_path / "simulation.json").write_text("{}")
    assert read_truth(tmp_path / "truth.parquet", SHEET).kinds >= {"hit", "out", "goal.scored", "pass.complete"}
    assert [(m.ts_us, m.kind, m.variant, m.team, m.player) for m in truth.marks] == [
        (5, "hit", "head", "home", "home_1"),
        (7, "out", "", "away", ""),
    ]
    assert truth.flags is None


def test_a_goal_that_was_disallowed_is_no_true_goal(tmp_path):
    goal = {**ROWS[0], "kind": "goal.scored", "variant": "left", "causes": []}
    off = {**goal, "id": "d", "kind": "goal.disallowed", "ts_us": 20, "causes": ["c"]}
    rows = [{**goal, "id": "b", "ts_us": 6}, {**goal, "id": "c", "ts_us": 9}, off]
    marks = read_truth(write(tmp_path, rows), SHEET).marks
    assert [(mark.ts_us, mark.kind) for mark in marks] == [(6, "goal.scored"), (20, "goal.disallowed")]


def test_flags_of_frames_lie_beside_it(tmp_path):
    table = pa.table({"ts_us": [4, 2], "in_play": [True, False], "team": ["home", None]})
    pq.write_table(table, tmp_path / "frames.parquet")
    flags = read_truth(write(tmp_path, ROWS), SHEET).flags
    assert flags.ts_us.tolist() == [2, 4]
    assert (flags.in_play.tolist(), flags.team.tolist()) == ([False, True], ["", "home"])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"kind": "hit"}], "column id, variant, ts_us"),
        ([{**ROWS[0], "ts_us": "soon"}], "Expected `int`"),
        ([{**ROWS[0], "detail": "{"}], "truth.parquet: not a truth"),
    ],
)
def test_a_file_that_is_no_truth_is_named_with_the_reason(tmp_path, rows, message):
    with pytest.raises(ScoreError, match=r"truth\.parquet") as refused:
        read_truth(write(tmp_path, rows), SHEET)
    assert message in str(refused.value)


def test_what_cannot_be_read_is_named(tmp_path):
    (tmp_path / "cut.parquet").write_bytes(b"PAR1 and no more")
    (tmp_path / "notes.txt").write_text("goal")
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    for name, error in (("none.parquet", ScoreError), ("cut.parquet", ScoreError), ("notes.txt", ScoreError),
                        ("other.csv", TrackingError), ("", ScoreError)):  # fmt: skip
        with pytest.raises(error, match=name or tmp_path.name):
            read_truth(tmp_path / name, SHEET)


@pytest.mark.parametrize(
    ("columns", "message"),
    [({"in_play": [True]}, "column ts_us is missing"), ({"in_play": ["x"], "ts_us": [1]}, "not flags of frames")],
)
def test_frames_without_a_time_or_with_other_things_are_refused(tmp_path, columns, message):
    pq.write_table(pa.table({**columns, "team": ["home"]}), tmp_path / "frames.parquet")
    with pytest.raises(ScoreError, match=rf"frames\.parquet: {message}"):
        read_truth(write(tmp_path, ROWS), SHEET)


def test_labels_of_the_clip(shared_data):
    truth = read_truth(shared_data / "opta_tracab_clip" / "events_first_3_minutes.csv", MatchSheet())
    counted = {kind: len(truth.of(kind)) for kind in truth.kinds}
    assert counted["pass.attempt"] == counted["pass.complete"] + counted["pass.failed"] == 39
    assert (counted["shot.attempt"], counted["out"], counted["aerial.start"]) == (1, 2, 4)
    assert {kind for kind in counted if kind.startswith("restart.") and counted[kind]} == {
        "restart.kick_off", "restart.throw_in", "restart.free_kick", "restart.goal_kick",
    }  # fmt: skip
    assert len(truth.flags.ts_us) == 4500
    assert np.mean(truth.flags.in_play) == pytest.approx(0.65, abs=0.01)


def test_a_wrong_cell_of_the_labels_is_named_by_its_line(shared_data, tmp_path):
    labels = (shared_data / "opta_tracab_clip" / "events_first_3_minutes.csv").read_text().splitlines()
    labels[3] = labels[3].replace("6120", "late")
    (tmp_path / "events.csv").write_text("\n".join(labels))
    with pytest.raises(TrackingError, match="line 4: Expected `float"):
        read_truth(tmp_path / "events.csv", MatchSheet())


def test_the_debs_annotation_as_a_truth(shared_data):
    folder = shared_data / "debs2013"
    sheet = with_carriers(MatchSheet(), read_sensors(folder / "sensors.csv"))
    truth = read_truth(folder / "shots_on_goal.csv", sheet)
    assert len(truth.of("shot.attempt")) == 43
    assert (len(truth.of("play.dead")), len(truth.of("play.live"))) == (68, 67)
    assert 700 < len(truth.of("possession.gain")) <= 896
    first = min(truth.of("possession.gain"), key=lambda mark: mark.ts_us)
    assert (first.team, first.ts_us) == ("away", round((3.205 - 4.08) * 1e6))
    assert truth.rule("shot.attempt").window_us >= 1_000_000
    in_play = truth.flags.in_play
    stopped_s = sum(s.end_s - s.begin_s for s in _interruptions(folder))
    assert np.sum(~in_play) / 10 == pytest.approx(stopped_s, rel=0.05)


def _interruptions(folder: Path) -> list[Interruption]:
    return [s for s in read_annotation(folder)[0].interruptions if s.end_s is not None]


def test_somebody_who_is_not_on_the_sheet_makes_it_another_match(shared_data):
    with pytest.raises(ScoreError, match="is not on the match sheet"):
        read_truth(shared_data / "debs2013", SHEET)


def record(kind: str, at_s: float, player: str = "", **detail: object) -> EventRecord:
    team = player.partition("_")[0]
    return EventRecord(f"{kind}{at_s}", kind, "", 6, round(at_s * 1e6), team, player, *(None,) * 3, 1.0, (), detail)


#: Ana plays the ball three times, Bo once; a stop; Ana shoots in the second half, and it ends with the ball dead.
FOUND = [
    record("possession.gain", 1, "home_1"), record("hit", 1, "home_1"), record("touch", 1.5, "home_1"),
    record("hit", 2.25, "home_1"), record("possession.loss", 3, "home_1"),
    record("possession.gain", 3, "away_1"), record("hit", 3, "away_1"), record("possession.loss", 5, "away_1"),
    record("play.dead", 5, since_us=4_500_000), record("play.live", 8, kick_us=7_500_000),
    record("possession.gain", 31, "home_1"), record("shot.attempt", 31, "home_1"),
    record("play.dead", 35, since_us=34_000_000),
]  # fmt: skip
HALVES = (Half(1, 10**13, 10**13 + 20 * 10**12, 4.0), Half(2, 10**13 + 30 * 10**12, 10**13 + 50 * 10**12))


def test_what_was_found_in_the_form_of_the_annotation():
    annotation = annotate(FOUND, SHEET, Clock(HALVES))
    assert annotation == Annotation(
        (Possession(1, "A", "Ana", 5.0, 6.25), Possession(1, "B", "Bo", 7.0, 7.0), Possession(2, "A", "Ana", 1.0, 1.0)),
        (ShotOnGoal(2, 1.0, "A", "Ana"),),
        (Interruption(1, 8.5, 11.5), Interruption(2, 4.0, None)),
    )


def test_finds_written_as_an_annotation_are_their_own_truth(tmp_path):
    write_annotation(tmp_path, annotate(FOUND, SHEET, Clock(HALVES)), HALVES)
    result = score(read_truth(tmp_path, SHEET), [*FOUND, record("team.possession", 1, "home_1"),
                                                 record("team.possession", 3, "away_1"),
                                                 record("team.possession", 31, "home_1")])  # fmt: skip
    assert {kind: (f.tp, f.fp, f.fn) for kind, f in result.kinds.items()} == {
        "possession.gain": (3, 0, 0),
        "shot.attempt": (1, 0, 0),
        "play.dead": (2, 0, 0),
        "play.live": (1, 0, 0),
    }
    assert result.frames["team_possession"].agreement == 1.0
    assert result.frames["in_play"].agreement == 1.0


def test_a_half_that_is_not_there_is_an_error(tmp_path):
    write_annotation(tmp_path, Annotation(shots=(ShotOnGoal(3, 1.0, "A", "Ana"),)), HALVES)
    with pytest.raises(TrackingError, match="half 3"):
        read_truth(tmp_path, SHEET)
