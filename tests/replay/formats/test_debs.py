"""The DEBS 2013 stream: written and read back it is the same; original rows are read; bad ones are told."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.sources.captures import prepare_capture
from football import untrusted
from football.errors import TrackingError
from football.match_sheet import MatchSheet, Player, Quality
from football.recording import Recording, Track, track_order
from replay.capture import Capture
from replay.formats import debs
from replay.formats.debs import (
    COLUMNS,
    MATCH_HALVES,
    Half,
    read_debs,
    read_halves,
    read_sensors,
    write_debs,
)
from replay.formats.tracking import read_tracking
from replay.scoring.debs_annotation import Annotation, Possession, read_annotation, write_annotation

ZERO_PS = MATCH_HALVES[0].begin_ps
SHEET = MatchSheet(
    "game", "Reds", "Blues", 104.0, 66.0, "away",
    (Player("home_1", "home", "Ana", 1, True), Player("away_7", "away", "Bo", 7)),
)  # fmt: skip
CARRIERS = ("referee_1/left_foot", "home_1/left_foot", "home_1/right_hand", "away_7/left_foot", "away_7/right_foot",
            "ball", "ball_2")  # fmt: skip


def recording(names: tuple[str, ...] = CARRIERS, rows: int = 40, seed: int = 1) -> Recording:
    """Random walks in whole millimetres, each transmitter at its own phase."""
    rng = np.random.default_rng(seed)
    tracks = []
    for number, name in enumerate(sorted(names, key=track_order)):
        ts_us = 7 * number + np.arange(rows) * (500 if name.startswith("ball") else 5000)
        x_m, y_m, z_m = np.cumsum(rng.integers(-9, 9, (3, rows)), axis=1) / 1e3
        tracks.append(Track(name, ts_us.astype(np.int64), x_m, y_m, z_m))
    return Recording(SHEET, tuple(tracks))


def same(one: Recording, other: Recording) -> None:
    assert [t.transmitter for t in one.tracks] == [t.transmitter for t in other.tracks]
    for left, right in zip(one.tracks, other.tracks, strict=True):
        assert np.array_equal(left.ts_us, right.ts_us)
        for axis in ("x_m", "y_m", "z_m"):
            assert np.allclose(getattr(left, axis), getattr(right, axis), atol=1e-9)


@settings(max_examples=15, deadline=None)
@given(st.sets(st.sampled_from(CARRIERS[:-2])), st.integers(1, 60), st.integers(0, 99))
def test_written_and_read_back_it_is_the_same(tmp_path_factory, names, rows, seed):
    before = recording((*names, "ball"), rows, seed)
    path = write_debs(tmp_path_factory.mktemp("debs"), before)
    after = read_debs(path)
    same(before, after)
    assert after.sheet.players == SHEET.players
    assert (after.sheet.length_m, after.sheet.width_m, after.sheet.attacks_positive_x) == (104.0, 66.0, "away")
    assert after.rejected == ()


def test_the_quality_is_what_the_rows_show(tmp_path):
    quality = read_debs(write_debs(tmp_path, recording())).sheet.quality
    assert quality == Quality(2000.0, 200.0, ("left_foot", "right_foot"), True, 0.02, "rtls")


def test_lines_have_their_columns_in_order_of_time_and_their_units(tmp_path):
    """A ball that falls along their x (our -y) at 10 m/s from the middle of the field, braked by 4 m/s2."""
    t_s = np.arange(0, 0.2, 0.0005)
    ball = Track("ball", np.rint(t_s * 1e6).astype(np.int64), 0 * t_s, -(10 * t_s - 2 * t_s**2), 0 * t_s)
    path = write_debs(tmp_path, Recording(SHEET, (ball,)))
    rows = np.loadtxt(path, delimiter=",", dtype=np.int64)
    assert rows.shape == (400, len(COLUMNS))
    assert np.all(np.diff(rows[:, 1]) == 500 * 10**6)
    assert rows[0, :5].tolist() == [1, ZERO_PS, 33_000, 0, 0]
    middle = dict(zip(COLUMNS, rows[200].tolist(), strict=True))
    assert middle["v_abs"] == pytest.approx(9.6e6, rel=0.01)
    assert middle["a_abs"] == pytest.approx(4e6, rel=0.35)
    assert (middle["vx"], middle["vy"], middle["vz"]) == (10_000, 0, 0)
    assert middle["ax"] < -9_900


def test_a_long_stream_is_written_in_stretches_and_stays_in_order(tmp_path, monkeypatch):
    monkeypatch.setattr("replay.formats.debs._CHUNK_US", 3_000)
    before = recording()
    path = write_debs(tmp_path, before)
    times = np.loadtxt(path, delimiter=",", dtype=np.int64)[:, 1]
    assert np.all(np.diff(times) >= 0)
    same(before, read_debs(path))


def test_what_lies_outside_the_halves_is_passed_over(tmp_path):
    halves = (Half(1, ZERO_PS, ZERO_PS + 5_000 * 10**6), Half(2, ZERO_PS + 9_000 * 10**6, ZERO_PS + 10**12))
    ball = read_debs(write_debs(tmp_path, recording(("ball",)), halves)).tracks[0]
    assert ball.ts_us.tolist() == [*range(0, 5_000, 500), *range(9_000, 20_000, 500)]
    assert read_halves(tmp_path) == halves


def original(shared_data: Path, folder: Path) -> Path:
    """The sample rows of the match as a stream: its map beside it, no header."""
    shutil.copyfile(shared_data / "debs2013" / "sensors.csv", folder / "sensors.csv")
    lines = (shared_data / "debs2013" / "stream_sample.csv").read_text().splitlines()
    (folder / "stream.csv").write_text("\n".join(lines[1:]) + "\n")
    return folder / "stream.csv"


def test_original_rows_are_read_with_their_clock_field_and_carriers(shared_data, tmp_path):
    match = read_debs(original(shared_data, tmp_path))
    # Eight of the 52 rows lie before the first half.
    assert match.positions == 44
    assert (match.sheet.length_m, match.sheet.width_m) == (67.925, 52.483)
    assert len(match.sheet.players) == 16
    assert [(p.object_id, p.name) for p in match.sheet.players if p.goalkeeper] == [
        ("home_1", "Nick Gertje"), ("away_1", "Leon Krapf"),
    ]  # fmt: skip
    tracks = {t.transmitter: t for t in match.tracks}
    assert {"ball_4", "ball_8", "ball_10", "referee_1/left_foot", "away_1/right_hand"} <= tracks.keys()
    # Sensor 4 at the first half's very begin: 27187, -405, 451 mm.
    ball = tracks["ball_4"]
    assert (ball.ts_us[0], ball.x_m[0], ball.y_m[0], ball.z_m[0]) == pytest.approx((0, -0.4075, -0.9455, 0.451))
    keeper = tracks["home_1/left_foot"]
    assert (keeper.x_m[0], keeper.y_m[0]) == pytest.approx((-29.2765, -0.2515))


def test_a_stream_is_a_source_by_its_prefix(tmp_path):
    before = recording()
    same(before, read_tracking(f"debs:{write_debs(tmp_path, before)}"))


def test_bad_lines_and_unknown_sensors_are_kept_out_and_told(tmp_path):
    path = write_debs(tmp_path, recording(("ball",), 3))
    rows = path.read_text().splitlines()
    path.write_text("\n".join([rows[0], "1,2,3", rows[1], rows[2].replace("1,", "77,", 1)]) + "\n")
    match = read_debs(path)
    assert match.positions == 2
    assert [(r.transmitter, r.reason) for r in match.rejected] == [
        ("", "3 columns instead of 13"), ("77", "sensor 77 is not in sensors.csv"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("sensors.csv", None, "sensors.csv: no such file"),
        ("sensors.csv", "sid,kind\n1,ball\n", "column team, name, role, limb is missing"),
        ("sensors.csv", "sid,kind,team,name,role,limb\nx,ball,,ball,,\n", "sensors.csv line 2"),
        ("sensors.csv", "sid,kind,team,name,role,limb\n1,dog,,Rex,,\n", "'dog'"),
        ("halves.csv", "half,begin_ps,end_ps\n", "tells no half"),
        ("halves.csv", f"half,begin_ps,end_ps\n1,0,{10**20}\n", "last 3 hours at most"),
        ("halves.csv", "half,begin_ps,end_ps\n1,5,5\n", "must begin before it ends"),
        ("halves.csv", "half,begin_ps,end_ps\n" + "1,0,5\n" * 9, "at most 8"),
        ("stream.csv", None, "stream.csv: no such file"),
        ("stream.csv", "1,soon" + ",0" * 11 + "\n", "stream.csv: not a stream"),
        ("stream.csv", "", "stream.csv"),
        ("stream.csv", "1,5" + ",0" * 11 + "\n", "no ball"),
    ],
)
def test_what_makes_a_stream_unreadable_is_named(tmp_path, file, content, message):
    path = write_debs(tmp_path, recording(("ball",), 3))
    (tmp_path / file).unlink()
    if content is not None:
        (tmp_path / file).write_text(content)
    with pytest.raises(TrackingError) as refused:
        read_debs(path)
    assert message in str(refused.value)


def test_a_compressed_stream_expands_so_far_and_has_so_many_sensors_and_positions(tmp_path, monkeypatch):
    path = write_debs(tmp_path, recording())
    packed = tmp_path / "stream.csv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    same(read_tracking(f"debs:{packed}"), read_tracking(f"debs:{path}"))
    monkeypatch.setattr(debs, "SOURCES_MAX", len(CARRIERS))
    read_tracking(f"debs:{path}")
    with path.open("a") as file:
        file.write("".join(f"{99 + n},{MATCH_HALVES[0].begin_ps}" + ",0" * 11 + "\n" for n in range(2)))
    with pytest.raises(TrackingError, match=rf"more than {len(CARRIERS)} sensors"):
        read_tracking(f"debs:{path}")
    monkeypatch.setattr(debs, "POSITIONS_MAX", 100)
    with pytest.raises(TrackingError, match="more than 100 positions"):
        read_tracking(f"debs:{packed}")
    monkeypatch.setattr(untrusted, "TABLE_BYTES", 2_000)
    monkeypatch.setattr(untrusted, "TABLE_BYTES_PER_BYTE", 0)
    with pytest.raises(TrackingError, match="expands to more than 2000 bytes"):
        read_tracking(f"debs:{packed}")


def test_the_sensor_map_of_the_match(shared_data):
    sensors = read_sensors(shared_data / "debs2013" / "sensors.csv")
    assert len(sensors) == 42
    assert sum(s.kind == "ball" for s in sensors) == 4


def test_a_capture_of_a_stream_is_made_anew_when_its_map_changes(tmp_path):
    path = write_debs(tmp_path / "debs", recording())
    out = prepare_capture(f"debs:{path}", "", 0, tmp_path / "m.capture")
    capture = Capture.open(out)
    assert (capture.channel, capture.sheet.players) == ("none", SHEET.players)
    assert sum(len(p.ts_us) for b in capture.blocks(0, capture.end_us) for p in b.packets) == recording().positions
    assert Capture.open(prepare_capture(f"debs:{path}", "", 0, out)).fingerprint == capture.fingerprint
    sensors = path.parent / "sensors.csv"
    sensors.write_text(sensors.read_text().replace("right_arm", "right_leg"))
    assert Capture.open(prepare_capture(f"debs:{path}", "", 0, out)).fingerprint != capture.fingerprint


def test_an_annotation_of_a_half_without_times_is_refused_by_its_folder(tmp_path: Path) -> None:
    annotation = Annotation((Possession(1, "A", "Ana", 5.0, 9.5),))
    write_annotation(tmp_path, annotation, MATCH_HALVES[1:])
    with pytest.raises(TrackingError, match=f"{tmp_path}: speaks of half 1"):
        read_annotation(tmp_path)
