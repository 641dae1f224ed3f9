"""Tracking files: what is unreadable is said by name, what is merely bad goes on to the quarantine."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from football.errors import TrackingError
from football.match_sheet import Player
from football.recording import Recording
from replay import wire
from replay.block_validation import check_block
from replay.formats.tracking import read_tracking
from simulator.radio.channels import CHANNELS, transmit


def rows(frames: int = 5) -> pd.DataFrame:
    """Five frames of a ball and two players."""
    table = [
        (40 * i, name, team, x + 0.1 * i, y, z)
        for i in range(frames)
        for name, team, x, y, z in (
            ("ball", "ball", 0.0, 0.0, 0.2),
            ("home_7", "home", 1.0, 1.0, 0.0),
            ("away_1", "away", 50.0, 0.0, 0.0),
        )
    ]
    return pd.DataFrame(table, columns=["t_ms", "object_id", "team", "x", "y", "z"])


def written(frame: pd.DataFrame, folder: Path) -> str:
    path = folder / "clip.parquet"
    frame.to_parquet(path)
    return str(path)


def reasons(recording: Recording, channel: str = "none") -> Counter[tuple[str, str]]:
    """(transmitter, reason) of everything that the quarantine takes out of a recording."""
    found: Counter[tuple[str, str]] = Counter()
    for block in transmit(recording, CHANNELS[channel], 0).blocks():
        _, rejected = check_block(wire.encode(block), recording.sheet, "clip")
        found.update((r.transmitter, r.reason) for r in rejected)
    return found


def test_an_id_with_control_characters_costs_its_rows_and_no_file(tmp_path: Path) -> None:
    table = rows()
    table.loc[table.object_id == "away_1", "object_id"] = "\x1baway_1"
    recording = read_tracking(written(table, tmp_path))
    assert [player.object_id for player in recording.sheet.players] == ["home_7"]
    assert [track.transmitter for track in recording.tracks] == ["home_7", "ball"]
    assert len(recording.rejected) == 5


def test_a_long_table_becomes_one_packet_per_object_and_frame(tmp_path: Path) -> None:
    recording = read_tracking(written(rows(), tmp_path))
    assert [t.transmitter for t in recording.tracks] == ["away_1", "home_7", "ball"]
    blocks = list(transmit(recording, CHANNELS["none"], 0).blocks())
    assert [b.arrival_us for b in blocks] == [0, 40_000, 80_000, 120_000, 160_000]
    assert [[p.transmitter for p in b.packets] for b in blocks] == [["away_1", "home_7", "ball"]] * 5
    ball = blocks[3].packets[2]
    assert (ball.sequence, ball.ts_us, ball.z_m) == (3, (120_000,), (0.2,))
    assert ball.x_m == pytest.approx((0.3,))
    assert not reasons(recording)


@pytest.mark.parametrize("name", ["clip.parquet", "clip.csv"])
def test_the_alive_flag_is_a_transmitter_of_its_own(tmp_path: Path, name: str) -> None:
    """It speaks at each change, and once a second; a frame in which it has no word, or another one, says nothing."""
    table = rows(60)
    frame = table.t_ms // 40
    table["ball_status"] = np.where(frame < 10, "alive", np.where(frame < 13, "?", "dead"))
    table.loc[frame == 40, "ball_status"] = ""
    table = table[~((table.object_id == "ball") & (frame > 20))]  # the flag stands in every row
    path = tmp_path / name
    table.to_csv(path, index=False) if name.endswith(".csv") else table.to_parquet(path)
    recording = read_tracking(str(path))
    flag = recording.tracks[-1]
    assert (flag.transmitter, flag.ts_us.tolist()) == ("alive_flag", [0, 520_000, 1_520_000])
    assert flag.x_m.tolist() == [1.0, 0.0, 0.0]
    assert recording.positions == len(table)
    assert recording.sheet.quality.body_hz == pytest.approx(25.0)
    assert not reasons(recording)
    assert not recording.rejected


def test_words_of_a_table_may_have_capitals(tmp_path: Path) -> None:
    table = rows(60)
    table["team"] = table["team"].str.title()
    table["ball_status"] = np.where(table.t_ms // 40 < 10, "Alive", "DEAD")
    recording = read_tracking(written(table, tmp_path))
    assert {player.object_id: player.team for player in recording.sheet.players} == {"home_7": "home", "away_1": "away"}
    assert recording.tracks[-1].x_m.tolist()[:2] == [1.0, 0.0]


def test_a_column_of_that_name_that_is_no_text_is_ignored(tmp_path: Path) -> None:
    table = rows()
    table["ball_status"] = [[1]] * len(table)
    assert [track.transmitter for track in read_tracking(written(table, tmp_path)).tracks][-1] == "ball"


def test_without_a_sheet_teams_come_from_the_rows_and_the_pitch_from_the_option(tmp_path: Path) -> None:
    sheet = read_tracking(written(rows(), tmp_path), pitch=(100.0, 64.0)).sheet
    assert (sheet.length_m, sheet.width_m, sheet.attacks_positive_x) == (100.0, 64.0, "")
    assert sheet.players == (Player("home_7", "home", shirt=7), Player("away_1", "away", shirt=1))
    assert (sheet.quality.ball_hz, sheet.quality.body_hz, sheet.quality.kind) == (25.0, 25.0, "optical")
    assert sheet.quality.ball_height


def test_a_sheet_beside_the_table_is_taken(tmp_path: Path) -> None:
    metadata = {
        "match": {"source_match_id": "m9"},
        "pitch": {"length_m": 104.0, "width_m": 67.0},
        "period": {"attacks_positive_x": "away"},
        "teams": {"home": "Reds", "away": "Blues"},
        "players": [{"object_id": "home_7", "name": "Ana"}, {"object_id": "away_1", "goalkeeper": True}],
    }
    (tmp_path / "metadata.json").write_text(json.dumps(metadata))
    sheet = read_tracking(written(rows(), tmp_path)).sheet
    assert (sheet.match_id, sheet.home, sheet.away, sheet.length_m, sheet.width_m) == ("m9", "Reds", "Blues", 104, 67)
    assert sheet.attacks_positive_x == "away"
    assert sheet.players == (Player("home_7", "home", "Ana", 7), Player("away_1", "away", "", 1, True))


@pytest.mark.parametrize(
    ("text", "message"), [("{", "not a usable match sheet"), ('{"pitch": {"length_m": "long"}}', "length_m")]
)
def test_a_broken_sheet_is_named(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "metadata.json").write_text(text)
    with pytest.raises(TrackingError, match=rf"metadata\.json.*{message}"):
        read_tracking(written(rows(), tmp_path))


def test_an_unusable_file_is_named_with_the_reason(tmp_path: Path) -> None:
    whole = Path(written(rows(400), tmp_path))
    (tmp_path / "empty.parquet").touch()
    (tmp_path / "cut.parquet").write_bytes(whole.read_bytes()[:-200])
    (tmp_path / "text.parquet").write_text("t_ms,object_id\n")
    rows(0).to_parquet(tmp_path / "norows.parquet")
    rows().drop(columns=["x", "team"]).to_parquet(tmp_path / "column.parquet")
    rows().assign(x="here").to_parquet(tmp_path / "words.parquet")
    rows().query("object_id != 'ball'").to_parquet(tmp_path / "noball.parquet")
    (tmp_path / "match.xlsx").touch()
    (tmp_path / "events.csv").write_text("time,what\n1,pass\n")
    rows().to_csv(tmp_path / "comma.csv", sep=";", decimal=",", index=False)
    (tmp_path / "latin.csv").write_bytes(rows().to_csv(index=False).replace("home_7", "home_Ä7").encode("latin-1"))
    halves = pd.concat([rows(500), rows(500)])
    halves.to_parquet(tmp_path / "halves.parquet")
    wide = pd.DataFrame({"period_id": [1], "timestamp": ["0 days 00:00:00"], "ball_x": [0.5], "home_7_x": [0.1]})
    wide.to_csv(tmp_path / "wide.csv", index=False)
    wide.to_parquet(tmp_path / "wide.parquet")
    (tmp_path / "folder").mkdir()
    for name, reason in {
        "absent.parquet": "no such file",
        "empty.parquet": "the file is empty",
        "cut.parquet": "truncated, or not Parquet",
        "text.parquet": "truncated, or not Parquet",
        "norows.parquet": "no rows",
        "column.parquet": "column team, x is missing",
        "words.parquet": "column x holds .*string, not numbers",
        "noball.parquet": "no ball",
        "match.xlsx": "unknown format",
        "events.csv": "its first line names none of the columns t_ms",
        "comma.csv": "none of its lines is a row; comma.csv line 2: x is not a number: '0,0'",
        "latin.csv": "its text is not in UTF-8",
        "halves.parquet": "begins anew at 0 after 19,960: .* add the time",
        "wide.csv": "a row has all objects of a frame .column ball_x.: .* a row for each object and frame",
        "wide.parquet": "a row has all objects of a frame",
        "folder": "neither a capture nor a match store",
    }.items():
        with pytest.raises(TrackingError, match=rf"{name}.*{reason}"):
            read_tracking(str(tmp_path / name))


def test_halves_that_stand_in_the_wrong_order_are_sorted_and_a_short_file_is_said(tmp_path: Path) -> None:
    table = rows(800)
    late_first = pd.concat([table[table.t_ms >= 16_000], table[table.t_ms < 16_000]])
    assert [found.code for found in read_tracking(written(late_first, tmp_path)).findings] == ["no sheet", "sorted"]
    assert [found.code for found in read_tracking(written(rows(), tmp_path)).findings] == ["no sheet", "short"]


def test_bad_positions_go_into_packets_and_are_found_by_the_quarantine(tmp_path: Path) -> None:
    table = rows()
    table.loc[3, "x"] = math.nan
    table.loc[4, "y"] = 1000.0
    recording = read_tracking(written(table, tmp_path))
    assert recording.positions == len(table)
    assert reasons(recording) == {
        ("ball", "position is not a number"): 1,
        ("home_7", "outside the tracking volume (pitch + 60 m)"): 1,
    }


@pytest.mark.parametrize("channel", ["none", "rtls"])
def test_time_that_goes_back_or_leaps_or_stands_costs_only_the_bad_rows(tmp_path: Path, channel: str) -> None:
    table = rows(60)
    back, leap = 10 * 3, 20 * 3
    table.loc[back, "t_ms"] = 40
    table.loc[leap, "t_ms"] = 3_600_000
    twice = pd.concat([table.iloc[:31], table.iloc[30:31], table.iloc[31:]])
    recording = read_tracking(written(twice.reset_index(drop=True), tmp_path))
    found = reasons(recording, channel)
    assert {transmitter for transmitter, _ in found} == {"ball"}
    assert sum(found.values()) == 3
    blocks = list(transmit(recording, CHANNELS[channel], 0).blocks())
    assert blocks[-1].arrival_us < 60 * 40_000 + 200_000
    good = [p for b in blocks for p in (check_block(wire.encode(b), recording.sheet, "")[0] or b).packets]
    ball = {p.sequence: p.ts_us for p in good if p.transmitter == "ball"}
    assert [ts for n in sorted(ball) for ts in ball[n]] == [40_000 * i for i in range(60) if i not in (10, 20)]
    assert sorted(ball) == list(range(len(ball)))


def test_a_repeated_row_is_quarantined_once(tmp_path: Path) -> None:
    table = pd.concat([rows(), rows().iloc[:1]]).sort_values("t_ms", kind="stable").reset_index(drop=True)
    assert reasons(read_tracking(written(table, tmp_path))) == {
        ("ball", "event time does not increase within the packet"): 1
    }


def test_an_object_of_no_team_is_a_stranger(tmp_path: Path) -> None:
    table = rows()
    table.loc[table.object_id == "away_1", ["object_id", "team"]] = ["drone", "press"]
    recording = read_tracking(written(table, tmp_path))
    assert reasons(recording) == {("drone", "unknown transmitter: not on the match sheet"): 5}


def test_rows_that_no_packet_can_hold_are_returned_with_their_number(tmp_path: Path) -> None:
    table = rows()
    table["t_ms"] = table["t_ms"].astype(float)
    table.loc[4, "t_ms"] = math.nan
    table.loc[5, "object_id"] = None
    table.loc[6, "object_id"] = ""
    table.loc[7, "t_ms"] = math.inf
    recording = read_tracking(written(table, tmp_path))
    assert [(r.record, r.transmitter, r.reason) for r in recording.rejected] == [
        ("clip.parquet row 4", "home_7", "no usable time"),
        ("clip.parquet row 5", "", "no object id"),
        ("clip.parquet row 6", "", "no object id"),
        ("clip.parquet row 7", "home_7", "no usable time"),
    ]
    assert recording.positions == len(table) - 4


def test_an_object_missing_in_a_frame_sends_nothing_then(tmp_path: Path) -> None:
    recording = read_tracking(written(rows().drop(index=[4]), tmp_path))
    home = recording.tracks[1]
    assert home.ts_us.tolist() == [0, 80_000, 120_000, 160_000]


def test_heights_missing_for_players_are_zero_but_a_gap_in_the_balls_is_a_bad_row(tmp_path: Path) -> None:
    table = rows()
    table.loc[table.object_id != "ball", "z"] = math.nan
    table.loc[3, "z"] = math.nan
    assert reasons(read_tracking(written(table, tmp_path))) == {("ball", "position is not a number"): 1}
    table["z"] = math.nan
    flat = read_tracking(written(table, tmp_path))
    assert not reasons(flat)
    assert not flat.sheet.quality.ball_height


@pytest.mark.parametrize("form", ["parquet", "csv", "csv.gz", "nothing in it"])
def test_a_table_without_heights_is_read_as_one_whose_heights_are_empty(form: str, tmp_path: Path) -> None:
    empty = read_tracking(written(rows().assign(z=math.nan), tmp_path))
    flat, path = rows().drop(columns="z"), tmp_path / f"flat.{form}"
    if form == "nothing in it":
        path = Path(written(flat.assign(z=None), tmp_path))
    elif form == "parquet":
        flat.to_parquet(path)
    else:
        flat.to_csv(path, index=False)
    read = read_tracking(str(path))
    assert not reasons(read)
    assert not read.sheet.quality.ball_height
    assert [track.transmitter for track in read.tracks] == [track.transmitter for track in empty.tracks]
    for own, other in zip(read.tracks, empty.tracks, strict=True):
        assert own.z_m.tolist() == other.z_m.tolist() == [0.0] * len(own)
        assert (own.ts_us.tolist(), own.x_m.tolist()) == (other.ts_us.tolist(), other.x_m.tolist())


def test_the_real_match_is_read_whole(shared_data: Path) -> None:
    recording = read_tracking(str(shared_data / "portugal_switzerland_2019" / "first_20_minutes.parquet"))
    sheet = recording.sheet
    assert recording.positions == 689_977
    assert (recording.begin_us, recording.end_us) == (40_000, 1_199_960_000)
    assert (sheet.home, sheet.away, sheet.attacks_positive_x) == ("Portugal", "Switzerland", "home")
    assert [p.object_id for p in sheet.players if p.goalkeeper] == ["home_1", "away_1"]
    assert {t.transmitter for t in recording.tracks} == {p.object_id for p in sheet.players} | {"ball"}
    assert all(len(t.line) == len(t) for t in recording.tracks)
    assert (sheet.quality.ball_hz, sheet.quality.ball_height) == (25.0, True)


def test_the_clip_without_a_sheet_is_read_whole(shared_data: Path) -> None:
    path = shared_data / "opta_tracab_clip" / "tracking_first_3_minutes.parquet"
    recording = read_tracking(str(path), pitch=(104.9, 67.8))
    assert recording.positions == 103_500
    assert len(recording.sheet.players) == 22
    assert not any(np.isnan(t.z_m).any() for t in recording.tracks)
    assert not recording.rejected


def test_texts_that_are_none_are_refused(tmp_path: Path) -> None:
    """Arrow takes any bytes for a text until somebody asks for it."""
    offsets, bad = np.array([0, 1, 2], np.int32), b"\x80\x80"
    texts = pa.Array.from_buffers(pa.string(), 2, [None, pa.py_buffer(offsets), pa.py_buffer(bad)])
    numbers = pa.array([0.0, 40.0])
    columns = {"t_ms": numbers, "object_id": texts, "team": texts, "x": numbers, "y": numbers, "z": numbers}
    pq.write_table(pa.table(columns), tmp_path / "track.parquet")
    with pytest.raises(TrackingError, match=r"track\.parquet"):
        read_tracking(str(tmp_path / "track.parquet"))
