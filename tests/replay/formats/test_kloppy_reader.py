"""Providers' files through kloppy: metres from the centre, the provider's direction, names from its metadata."""

from __future__ import annotations

import gzip
import importlib
import inspect
import json
import math
import re
from pathlib import Path
from typing import Any

import kloppy.tracab
import msgspec
import numpy as np
import pytest

from football import untrusted
from football.errors import TrackingError
from football.match_sheet import MatchSheet, Period
from football.recording import Recording
from replay.formats import kloppy_reader
from replay.formats.kloppy_reader import PROVIDERS
from replay.formats.tracking import read_tracking

_INPUT_PAGE = Path(__file__).parents[3] / "docs" / "input.md"

TRACAB_METADATA = """<?xml version="1.0"?>
<TracabMetaData sVersion="1.0">
  <match iId="77" dtDate="2024-01-01 20:00:00" iFrameRateFps="25" fPitchXSizeMeters="104.00"
         fPitchYSizeMeters="66.00" fTrackingAreaXSizeMeters="110" fTrackingAreaYSizeMeters="80">
    <period iId="1" iStartFrame="100" iEndFrame="102"/>
    <period iId="2" iStartFrame="1100" iEndFrame="1101"/>
  </match>
  <HomeTeam><LongName>Reds United</LongName><ShortName>Reds</ShortName><TeamId>1</TeamId>
    <Players><Player><PlayerId>11</PlayerId><FirstName>Ana</FirstName><LastName>Ray</LastName>
      <JerseyNo>7</JerseyNo><StartFrameCount>100</StartFrameCount><EndFrameCount>1101</EndFrameCount>
    </Player></Players></HomeTeam>
  <AwayTeam><LongName>Blues City</LongName><ShortName>Blues</ShortName><TeamId>2</TeamId>
    <Players><Player><PlayerId>21</PlayerId><FirstName>Bea</FirstName><LastName>Sun</LastName>
      <JerseyNo>1</JerseyNo><StartFrameCount>100</StartFrameCount><EndFrameCount>1101</EndFrameCount>
    </Player></Players></AwayTeam>
</TracabMetaData>
"""

# frame : team, target id, shirt, x cm, y cm, speed; ... : ball x, y, z cm, speed, owner, state;
TRACAB_FRAMES = """100:1,1,7,-1000,250,1.0;0,2,1,4800,-100,0.0;:-200,300,150,2.0,H,Alive;:
101:1,1,7,-990,250,1.0;0,2,1,4800,-100,0.0;:-180,310,140,2.0,H,Dead;:
102:1,1,7,-980,250,1.0;:-160,320,130,2.0,H,Alive;:
1100:1,1,7,500,0,1.0;0,2,1,-4800,0,0.0;:0,0,11,0.0,A,Alive;:
1101:1,1,7,510,0,1.0;0,2,1,-4800,0,0.0;:0,0,11,0.0,A,Alive;:
"""

METRICA_HOME = """,,,Home,,Home,,,
,,,7,,1,,,
Period,Frame,Time [s],Player7,,Player1,,Ball,
1,1,0.04,0.25,0.50,0.02,0.5,0.50,0.50
1,2,0.08,0.26,0.25,0.02,0.5,0.75,0.25
1,3,0.12,0.27,0.25,NaN,NaN,NaN,NaN
"""

METRICA_AWAY = """,,,Away,,Away,,,
,,,9,,1,,,
Period,Frame,Time [s],Player9,,Player1,,Ball,
1,1,0.04,0.75,0.50,0.98,0.5,0.50,0.50
1,2,0.08,0.74,0.50,0.98,0.5,0.75,0.25
1,3,0.12,0.73,0.50,0.98,0.5,NaN,NaN
"""


def tracab(folder: Path, frames: str = TRACAB_FRAMES) -> str:
    (folder / "meta.xml").write_text(TRACAB_METADATA)
    (folder / "raw.dat").write_text(frames)
    return f"kloppy:tracab:{folder / 'raw.dat'}:{folder / 'meta.xml'}"


def metrica(folder: Path) -> str:
    (folder / "home.csv").write_text(METRICA_HOME)
    (folder / "away.csv").write_text(METRICA_AWAY)
    return f"kloppy:metrica:{folder / 'home.csv'}:{folder / 'away.csv'}"


def test_tracab_comes_in_metres_with_its_names_and_its_dead_frames(tmp_path: Path) -> None:
    recording = read_tracking(tracab(tmp_path))
    sheet = recording.sheet
    assert (sheet.match_id, sheet.home, sheet.away) == ("77", "Reds", "Blues")
    assert (sheet.length_m, sheet.width_m, sheet.quality.ball_hz) == (104.0, 66.0, 25.0)
    assert {(p.object_id, p.team, p.name, p.shirt) for p in sheet.players} == {
        ("11", "home", "Ana Ray", 7),
        ("21", "away", "Bea Sun", 1),
    }
    track = {t.transmitter: t for t in recording.tracks}
    assert track["ball"].x_m == pytest.approx([-2.0, -1.8, -1.6, 0.0, 0.0])
    assert track["ball"].y_m == pytest.approx([3.0, 3.1, 3.2, 0.0, 0.0])
    assert track["ball"].z_m == pytest.approx([1.5, 1.4, 1.3, 0.11, 0.11])
    assert track["11"].x_m == pytest.approx([-10.0, -9.9, -9.8, 5.0, 5.1])
    assert sheet.quality.ball_height


def test_a_sheet_with_names_out_of_xml_can_be_stored(tmp_path: Path) -> None:
    sheet = read_tracking(tracab(tmp_path)).sheet
    assert msgspec.json.decode(msgspec.json.encode(sheet), type=MatchSheet) == sheet


def test_periods_keep_their_distance_and_a_missing_player_has_no_row(tmp_path: Path) -> None:
    track = {t.transmitter: t for t in read_tracking(tracab(tmp_path)).tracks}
    assert track["ball"].ts_us.tolist() == [0, 40_000, 80_000, 40_000_000, 40_040_000]
    assert track["21"].ts_us.tolist() == [0, 40_000, 40_000_000, 40_040_000]


def test_the_sheet_has_the_periods_with_their_directions(tmp_path: Path) -> None:
    periods = read_tracking(tracab(tmp_path)).sheet.periods
    assert periods == (Period(1, 0, "home"), Period(2, 40_000_000, "away"))


def skillcorner(folder: Path, frames: list[list[dict[str, object]]], period: int = 1) -> Recording:
    """A file at 10 Hz of frames in which SkillCorner sees these objects."""
    teams = {side: {"id": number, "name": side} for number, side in ((1, "home_team"), (2, "away_team"))}
    known = {"first_name": "Ana", "last_name": "Ray", "start_time": "00:00:00", "player_role": {"id": 0}}
    players = [{**known, "id": 7, "trackable_object": 70, "team_id": 1, "number": 9}]
    players += [{**known, "id": 8, "trackable_object": 80, "team_id": 2, "number": 4, "start_time": "00:60:00"}]
    meta = {**teams, "players": players, "referees": [], "ball": {"trackable_object": 55}, "id": 3}
    size = {"pitch_length": 105, "pitch_width": 68, "home_team_coach": None, "away_team_coach": None}
    size |= {"home_team_score": 0, "away_team_score": 0}
    (folder / "meta.json").write_text(json.dumps({**meta, **size}))
    rows = [
        {
            "frame": i,
            "period": period,
            "time": f"{i // 600}:{i / 10 % 60:05.2f}",
            "possession": {"trackable_object": None, "group": "home team" if i % 2 else None},
            "data": [{"x": 0.1 * i, "y": 0.0, "z": 0.0, "trackable_object": 55, "track_id": 1}, *seen],
        }
        for i, seen in enumerate(frames)
    ]
    (folder / "raw.json").write_text(json.dumps(rows))
    return read_tracking(f"kloppy:skillcorner:{folder / 'raw.json'}:{folder / 'meta.json'}")


def sight(track: int, x_m: float, team: str = "home team") -> dict[str, object]:
    """A player whom SkillCorner does not know."""
    return {"x": x_m, "y": 5.0, "track_id": track, "group_name": team}


def test_players_whom_nobody_knows_become_as_few_as_were_seen_at_once(tmp_path: Path) -> None:
    known = {"x": 3.0, "y": 4.0, "track_id": 2, "trackable_object": 70}
    frames = [[known, sight(11, 1.0), sight(12, 2.0), sight(13, 30.0, "away team")] for _ in range(20)]
    frames += [[known] for _ in range(60)]
    frames += [[known, sight(14, 8.0)] for _ in range(20)]
    frames += [[known, sight(14, 8.0), sight(15, 9.0)] for _ in range(10)]
    recording = skillcorner(tmp_path, frames)
    found = {track.transmitter: (len(track), sorted(set(track.x_m.tolist()))) for track in recording.tracks}
    assert found == {
        "7": (110, [3.0]),
        "home_unnamed_1": (50, [1.0, 8.0]),
        "home_unnamed_2": (30, [2.0, 9.0]),
        "away_unnamed_1": (20, [30.0]),
        "ball": (110, [pytest.approx(0.1 * i) for i in range(110)]),
    }
    assert {p.object_id: (p.team, p.starts) for p in recording.sheet.players} == {
        "7": ("home", True),
        "8": ("away", False),
        "home_unnamed_1": ("home", False),
        "home_unnamed_2": ("home", False),
        "away_unnamed_1": ("away", False),
    }
    assert all(np.all(np.diff(track.ts_us) > 0) for track in recording.tracks)


@pytest.mark.parametrize(("x_m", "players"), [(35.0, 2), (2.0, 1)], ids=["far away", "near"])
def test_a_sight_right_after_another_one_is_of_another_player_if_it_is_far_away(
    tmp_path: Path, x_m: float, players: int
) -> None:
    frames = [*([[sight(11, 1.0)]] * 10), *([[]] * 30), *([[sight(12, x_m)]] * 10)]
    tracks = [track.transmitter for track in skillcorner(tmp_path, frames).tracks]
    assert tracks == [*(f"home_unnamed_{n}" for n in range(1, players + 1)), "ball"]


def test_whom_a_sheet_of_the_user_leaves_out_stays_a_stranger(tmp_path: Path) -> None:
    (tmp_path / "sheet.json").write_text(json.dumps({"players": [{"object_id": "11", "team": "home"}]}))
    recording = read_tracking(tracab(tmp_path), sheet_path=tmp_path / "sheet.json")
    assert [player.object_id for player in recording.sheet.players] == ["11"]
    assert "21" in {track.transmitter for track in recording.tracks}


def test_a_position_that_is_no_number_is_no_row(tmp_path: Path) -> None:
    """kloppy has such positions of who is off the pitch (EPTS), and of a ball that is not seen (Hawk-Eye)."""
    known = {"x": 3.0, "y": 4.0, "track_id": 2, "trackable_object": 70}
    frames = [[{**known, "y": math.nan}], *([[known]] * 20), [{**known, "x": math.nan}]]
    tracks = {track.transmitter: len(track) for track in skillcorner(tmp_path, frames).tracks}
    assert tracks == {"7": 20, "ball": 22}


def test_who_has_the_ball_is_no_alive_flag(tmp_path: Path) -> None:
    """Of SkillCorner, kloppy takes the ball for alive while a team has it."""
    recording = skillcorner(tmp_path, [[sight(11, 1.0)]] * 20)
    assert "alive_flag" not in {track.transmitter for track in recording.tracks}


def test_the_direction_stays_as_the_provider_recorded_it(tmp_path: Path) -> None:
    recording = read_tracking(tracab(tmp_path))
    track = {t.transmitter: t for t in recording.tracks}
    assert track["21"].x_m.tolist() == pytest.approx([48.0, 48.0, -48.0, -48.0])
    assert recording.sheet.attacks_positive_x == "home"


def test_metrica_comes_in_metres_as_kloppy_understands_it(tmp_path: Path) -> None:
    recording = read_tracking(metrica(tmp_path))
    track = {t.transmitter: t for t in recording.tracks}
    assert track["ball"].x_m == pytest.approx([0.0, 26.25])
    # kloppy takes the y of these files to grow upwards; the reader decides that, not we.
    assert track["ball"].y_m == pytest.approx([0.0, -17.0])
    assert track["home_7"].x_m == pytest.approx([-26.25, -25.2, -24.15])
    assert np.all(np.diff(track["home_7"].ts_us) == 40_000)
    assert len(track["home_1"]) == 2
    assert not recording.sheet.quality.ball_height
    assert recording.sheet.attacks_positive_x == "home"


def test_what_kloppy_cannot_read_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(TrackingError, match=r"raw\.dat.*kloppy cannot read it.*files are raw_data, meta_data, in this"):
        read_tracking(tracab(tmp_path, "this is no frame\n"))


def test_a_folder_stands_for_the_files_of_a_feed_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for name in ("m_2_46.samples.ball", "m_1_10.samples.ball", "m_1_2.samples.ball", "m_1_1.samples.centroids"):
        (tmp_path / name).touch()
    with pytest.raises(TrackingError, match=r"m_1_2\.samples\.ball: the file is empty"):
        read_tracking(f"kloppy:hawkeye:{tmp_path}:{tmp_path}")


def test_a_file_without_the_ball_is_refused(tmp_path: Path) -> None:
    source = metrica(tmp_path)
    for name in ("home.csv", "away.csv"):
        text = (tmp_path / name).read_text().replace("0.50,0.50\n", "NaN,NaN\n").replace("0.75,0.25\n", "NaN,NaN\n")
        (tmp_path / name).write_text(text)
    with pytest.raises(TrackingError, match="no ball"):
        read_tracking(source)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("kloppy:betamax:x.dat", "unknown format: kloppy provider 'betamax'"),
        ("kloppy:tracab:/nowhere/x.dat:/nowhere/y.xml", "x.dat: no such file"),
        ("kloppy:tracab", "give the files raw_data, meta_data"),
        ("kloppy:tracab:raw.dat", "give the files raw_data, meta_data"),
        ("kloppy:tracab:a:b:c", "give the files raw_data, meta_data"),
    ],
)
def test_wrong_options_are_told(source: str, message: str) -> None:
    with pytest.raises(TrackingError, match=message):
        read_tracking(source)


def test_an_empty_provider_file_is_named(tmp_path: Path) -> None:
    source = tracab(tmp_path, "")
    with pytest.raises(TrackingError, match=r"raw\.dat: the file is empty"):
        read_tracking(source)


def test_a_compressed_file_is_read_and_one_that_expands_too_far_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = read_tracking(tracab(tmp_path))
    tracab(tmp_path)
    raw = tmp_path / "raw.dat.gz"
    raw.write_bytes(gzip.compress(TRACAB_FRAMES.encode()))
    source = f"kloppy:tracab:{raw}:{tracab(tmp_path).rpartition(':')[2]}"
    assert [len(track) for track in read_tracking(source).tracks] == [len(track) for track in plain.tracks]
    monkeypatch.setattr(untrusted, "TABLE_BYTES", len(TRACAB_FRAMES) - 1)
    monkeypatch.setattr(untrusted, "TABLE_BYTES_PER_BYTE", 0)
    with pytest.raises(TrackingError, match=r"raw\.dat\.gz: expands to more than"):
        read_tracking(source)


def test_positions_objects_and_times_have_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tracab(tmp_path)
    for limit, most in (("ROWS_MAX", 4), ("IDS_MAX", 1), ("SOURCES_MAX", 1), ("NUMBER_MAX", 10_000)):
        with monkeypatch.context() as patch:
            patch.setattr(kloppy_reader, limit, most)
            with pytest.raises(TrackingError, match=r"more than|a time that cannot be"):
                read_tracking(source)


@pytest.mark.parametrize("provider", sorted(PROVIDERS))
def test_every_listed_provider_is_one_that_kloppy_has(provider: str) -> None:
    module, function, names = PROVIDERS[provider]
    loader = getattr(importlib.import_module(f"kloppy.{module}"), function)
    assert set(names) <= set(inspect.signature(loader).parameters)


def test_the_page_of_the_input_lists_the_files_of_every_provider() -> None:
    page = _INPUT_PAGE.read_text(encoding="utf-8")
    for provider, (_, _, names) in PROVIDERS.items():
        assert f"| `{provider}` | {', '.join(names)} |" in page


def test_the_example_makes_a_table_of_data_in_memory(tmp_path: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", _INPUT_PAGE.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, Any] = {}
    exec(example, names)
    source = tracab(tmp_path, "".join(TRACAB_FRAMES.splitlines(keepends=True)[:3]))
    raw, meta = tmp_path / "raw.dat", tmp_path / "meta.xml"
    dataset = kloppy.tracab.load(meta_data=meta, raw_data=raw, coordinates="secondspectrum", only_alive=False)
    file = tmp_path / "table.parquet"
    names["tracking_table"](dataset).to_parquet(file)
    of_table, of_file = (
        {track.transmitter: (track.ts_us.tolist(), track.x_m.tolist(), track.y_m.tolist()) for track in one.tracks}
        for one in (read_tracking(str(file)), read_tracking(source))
    )
    assert of_table == of_file
