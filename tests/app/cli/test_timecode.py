"""``touchline timecode`` and ``touchline events --house``."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from app.cli.event_output import write_events
from app.cli.timecode import timecode
from football.house_time import HouseTime, TimecodeError
from football.match_sheet import MatchSheet
from football.tables import POSITIONS
from football.update_stream import EventRecord, UpdateRecord
from replay.event_list import consolidated_events
from replay.house_times import FILE, read_house_time, write_house_time
from replay.match_store import MatchStore, updates_table

US = 1_000_000
EVERYTHING = (None, "", "", None, None)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    folder = tmp_path / "store"
    made = MatchStore.create(folder, MatchSheet(), {})
    goal = EventRecord("goal.scored#1", "goal.scored", "", 8, 241_240_400, "home", "home_9", 50.0, 0.0, 1.0, 1.0)
    tables = {"updates": updates_table([UpdateRecord(0, 1, 242 * US, goal)], 0), "positions": POSITIONS.empty_table()}
    made.commit(0, tables, {"frontier_us": 300 * US})
    return folder


def shown(capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, object]]:
    return json.loads(capsys.readouterr().out)


def test_a_match_has_no_house_time_until_somebody_sets_it(store: Path, capsys: pytest.CaptureFixture[str]):
    timecode(store, as_json=True)
    assert shown(capsys)["zero"] == {"utc": "", "timecode": ""}
    assert not (store / FILE).exists()
    with pytest.raises(TimecodeError, match="touchline timecode"):
        write_events(consolidated_events, store, EVERYTHING, "csv", None, house=True)
    timecode(store, zero="2026-11-23T19:00:00Z", zone="+01:00", rate="50")
    capsys.readouterr()
    timecode(store, as_json=True)
    assert shown(capsys)["zero"] == {"utc": "2026-11-23T19:00:00.000000Z", "timecode": "20:00:00:00"}
    timecode(store, at="4:01.2", reads="20:15:33:07", as_json=True)
    assert shown(capsys)["zero"]["timecode"] == "20:11:31:47"
    with pytest.raises(TimecodeError, match="--at and --reads"):
        timecode(store, rate="25")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"at": "4:01"}, "belong together"), ({"zone": "an hour"}, "--zone"), ({"zero": "yesterday"}, "--zero"),
        ({"rate": "26"}, "no rate"), ({"at": "1", "reads": "1:2"}, "no timecode"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_and_nothing_is_written(store: Path, options: dict[str, str], reason: str):
    with pytest.raises(TimecodeError, match=reason):
        timecode(store, **options)
    assert read_house_time(store) is None


def test_events_have_utc_and_timecode_when_asked(store: Path, tmp_path: Path):
    write_house_time(store, HouseTime(1_795_460_400 * US, None, "25", 3_600))
    plain, dated, lines = (tmp_path / name for name in ("plain.csv", "dated.csv", "lines.txt"))
    write_events(consolidated_events, store, EVERYTHING, "csv", plain)
    write_events(consolidated_events, store, EVERYTHING, "csv", dated, house=True)
    write_events(consolidated_events, store, EVERYTHING, "text", lines, house=True)
    (row,) = csv.DictReader(io.StringIO(dated.read_text()))
    assert (row.pop("utc"), row.pop("timecode")) == ("2026-11-23T19:04:01.240400Z", "20:04:01:06")
    assert [row] == list(csv.DictReader(io.StringIO(plain.read_text())))
    assert lines.read_text().startswith("20:04:01:06  ")


def test_a_damaged_file_is_an_error_that_names_it(store: Path):
    (store / FILE).write_text('{"rate": "26"}')
    with pytest.raises(TimecodeError, match=FILE):
        read_house_time(store)
