"""``touchline score``: a store against a truth, as JSON and as a table, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from app.cli.score import lines, score
from app.library.scores import find_truth
from football.match_sheet import MatchSheet, Player
from football.payloads import BallState, build_frame
from football.update_stream import EventRecord, UpdateRecord
from replay.event_list import consolidated_events, export_events
from replay.match_store import MatchStore, StoreError, positions_table, updates_table
from replay.scoring.truth import ScoreError

SHEET = MatchSheet("m", players=(Player("home_7", "home", "Ana"), Player("away_4", "away", "Bo")))


def event(kind: str, at_s: float, player: str = "home_7", **detail: object) -> EventRecord:
    team = player.partition("_")[0]
    return EventRecord(f"{kind}#{at_s}", kind, "", 6, round(at_s * 1e6), team, player, 1.0, 2.0, None, 1.0, (), detail)


EVENTS = [
    event("pass.attempt", 1.0),
    event("pass.attempt", 4.0, "away_4"),
    event("out", 6.5, since_us=6_000_000),
    event("play.dead", 6.5, since_us=6_000_000),
    event("team.possession", 1.0),
]


def store(folder: Path, events: list[EventRecord], until_s: float = 10.0, sheet: MatchSheet = SHEET) -> Path:
    """A store that holds some events, and positions from 0 to ``until_s``."""
    made = MatchStore.create(folder, sheet, {})
    frame = build_frame(BallState(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0), ())
    tables = {
        "updates": updates_table((UpdateRecord(n, 1, e.ts_us, e) for n, e in enumerate(events)), 0),
        "positions": positions_table((ts_us, frame) for ts_us in (0, round(until_s * 1e6))),
    }
    made.commit(0, tables, {"ended": True})
    return folder


@pytest.fixture
def truth(tmp_path) -> Path:
    """Another store's events as truth, in the form of ``touchline events``, with frames beside them."""
    (tmp_path / "true").mkdir()
    with (tmp_path / "true" / "truth.parquet").open("wb") as file:
        export_events(consolidated_events(store(tmp_path / "true_store", EVENTS)), "parquet", file)
    frames = pa.table(
        {"ts_us": range(0, 12_000_000, 1_000_000), "in_play": [True] * 6 + [False] * 6, "team": ["home"] * 12}
    )
    pq.write_table(frames, tmp_path / "true" / "frames.parquet")
    return tmp_path / "true" / "truth.parquet"


def test_a_store_against_its_own_events_is_perfect(tmp_path, truth, capsys):
    score(store(tmp_path / "s", EVENTS), truth, as_json=True)
    scores = json.loads(capsys.readouterr().out)
    assert scores["kinds"].keys() == {e.kind for e in EVENTS}
    assert all(figures["f1"] == 1.0 for figures in scores["kinds"].values())
    assert scores["kinds"]["pass.attempt"]["time_error_ms"] == {"median": 0.0, "p95": 0.0, "bias": 0.0}
    assert scores["frames"]["in_play"] == {
        "frames": 11,
        "agreement": 1.0,
        "live": pytest.approx(10 / 11),
        "longest_wrong_s": 0.0,
    }
    assert scores["frames"]["team_possession"]["agreement"] == pytest.approx(5 / 6)


def test_what_is_missed_invented_and_late_is_counted(tmp_path, truth, capsys):
    found = [event("pass.attempt", 1.2), event("pass.attempt", 8.0), event("goal.scored", 3.0)]
    result = score(store(tmp_path / "s", found), truth, as_json=False)
    figures = result.kinds["pass.attempt"]
    assert (figures.tp, figures.fp, figures.fn) == (1, 1, 1)
    assert figures.time_error_ms.median == 200.0
    assert result.unjudged == {"goal.scored": 1}
    table = capsys.readouterr().out
    assert table == "\n".join(lines(result)) + "\n"
    assert "Never found: out (1), play.dead (1), team.possession (1)" in table


def test_what_was_not_played_is_not_asked_for(tmp_path, truth):
    result = score(store(tmp_path / "s", EVENTS[:1], until_s=3.0), truth, as_json=True)
    assert (result.kinds["pass.attempt"].tp, result.kinds["pass.attempt"].fn) == (1, 0)
    assert result.frames["in_play"].frames == 4


def test_a_truth_of_another_match_is_refused(tmp_path, truth):
    strangers = msgspec.structs.replace(SHEET, players=(Player("home_9", "home"),))
    with pytest.raises(ScoreError, match="none of its 2 players"):
        score(store(tmp_path / "a", EVENTS, sheet=strangers), truth, as_json=True)
    with pytest.raises(ScoreError, match="lies outside the time"):
        score(store(tmp_path / "b", EVENTS, until_s=0.5), truth, as_json=True)


def test_a_store_without_positions_and_a_folder_that_is_none_are_refused(tmp_path, truth):
    MatchStore.create(tmp_path / "empty", SHEET, {})
    with pytest.raises(StoreError, match="nothing was played"):
        score(tmp_path / "empty", truth, as_json=True)
    with pytest.raises(StoreError, match="not a match store"):
        score(tmp_path, truth, as_json=True)
    with pytest.raises(ScoreError, match=r"a folder without truth.parquet, or the tables of an annotation"):
        score(tmp_path / "empty", tmp_path / "empty", as_json=True)


def test_kinds_without_a_detector_and_opt_in_ones_are_not_said_to_be_missed(tmp_path: Path):
    kinds = {"out": "Never found", "run.intensity": "Not asked for", "an.unknown": "No detector"}
    with (tmp_path / "truth.parquet").open("wb") as file:
        export_events(
            consolidated_events(store(tmp_path / "true", [event(kind, 1.0) for kind in kinds])), "parquet", file
        )
    table = "\n".join(lines(score(store(tmp_path / "found", []), tmp_path / "truth.parquet")))
    for kind, reason in kinds.items():
        assert any(line.startswith(reason) and f"{kind} (1)" in line for line in table.splitlines()), table


def test_the_truth_beside_the_source_is_the_default_and_none_says_how_to_get_one(tmp_path: Path, truth: Path):
    film = truth.parent / "tracking.parquet"
    film.touch()
    for name, source in (("folder", truth.parent), ("file", film)):
        MatchStore.create(tmp_path / name, SHEET, {"settings": {"source": str(source)}})
        assert find_truth(tmp_path / name) == truth
    MatchStore.create(tmp_path / "other", SHEET, {"settings": {"source": "sim"}})
    with pytest.raises(ScoreError, match=r"played from sim, which has no truth .*`touchline simulate --out DIR`"):
        find_truth(tmp_path / "other")
