"""Films from a small match store: poses between rows, a head that is silent, gaps, endings of files."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import pyarrow as pa
import pytest
from PIL import Image
from typer.testing import CliRunner

from app.cameras.film import Film, FilmError, write_film
from app.cli.render import app
from camera.installation import Camera, CameraSetup
from camera.mount import Mount
from camera.profile import load_profile
from camera.record import CAMERA_SCHEMA
from camera.recorded import RecordedCamerasError, read_cameras, write_cameras
from football.kind_names import kind_name
from football.match_sheet import MatchSheet, Player
from football.tables import POSITIONS
from football.update_stream import EventRecord, UpdateRecord
from replay.match_store import MatchStore, updates_table

MOUNT = Mount()


def camera_rows(head: str) -> pa.Table:
    """Ten seconds at 50 Hz: the head follows the ball, and is silent from 6 s to 7 s."""
    rows = []
    for tick in range(500):
        ts_us, silent = tick * 20_000, 300 <= tick < 350
        pan_deg, tilt_deg = MOUNT.aim(-20 + tick * 0.08, 0)
        row = dict.fromkeys(CAMERA_SCHEMA.names, 0.0)
        achieved = (None, None, None) if silent else (pan_deg, tilt_deg, 20.0)
        row |= dict(zip(("achieved_pan_deg", "achieved_tilt_deg", "achieved_width_deg"), achieved, strict=True))
        row |= {"ts_us": ts_us, "wall_us": ts_us, "mode": "offline" if silent else "follow", "framed": True}
        rows.append(row)
    table = pa.Table.from_pylist(rows, schema=CAMERA_SCHEMA)
    return table.add_column(0, "head", pa.array([head] * len(rows), pa.string()))


def positions() -> pa.Table:
    rows = []
    for tick in range(250):
        for name, team, y_m in (("ball", "", 0.0), ("H7", "home", 2.0)):
            if name == "H7" and 100 <= tick < 150:
                continue
            row = dict.fromkeys(POSITIONS.names, 0.0)
            row |= {"ts_us": tick * 40_000, "object_id": name, "team": team, "x_m": -20 + tick * 0.16, "y_m": y_m}
            rows.append(row)
    return pa.Table.from_pylist(rows, schema=POSITIONS)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("film") / "match"
    sheet = MatchSheet(players=(Player("H7", "home", name="Seven", shirt=7),))
    made = MatchStore.create(folder, sheet, {"settings": {}})
    made.commit(0, {"positions": positions()}, {"frontier_us": 10_000_000, "ended": True})
    made.commit(0, {"camera": camera_rows("main")}, {}, series="camera")
    write_cameras(folder, [Camera(CameraSetup("main", mount=MOUNT), load_profile(), None)], 0)
    return folder


def test_the_picture_follows_the_pose_and_players_move_between_their_positions(store: Path) -> None:
    film = Film(store, "main", 1_000_000, 3_000_000, 320)
    assert film.size == (320, 180)
    (figure,) = film.scene(1_020_000).figures
    assert figure.x_m == pytest.approx(-20 + 25.5 * 0.16)
    assert figure.label == "7"
    assert film.scene(1_020_000).ball == pytest.approx((-20 + 25.5 * 0.16, 0, 0))
    assert film.picture(1_000_000) == film.picture(1_000_000)
    assert film.picture(1_000_000) != film.picture(2_000_000)


def test_a_mount_that_is_calibrated_during_the_match_leaves_earlier_pictures_as_they_were(
    store: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "match"
    shutil.copytree(store, folder)
    moved = msgspec.structs.replace(MOUNT, y_m=MOUNT.y_m - 10.0)
    for wall_us, mount in ((2_000_000, MOUNT), (3_000_000, moved)):
        write_cameras(folder, [Camera(CameraSetup("main", mount=mount), load_profile(), None)], wall_us)
    assert [one.since_us for one in read_cameras(folder)["main"]] == [0, 3_000_000], "an equal mount adds nothing"
    film, before = Film(folder, "main", 1_000_000, 5_000_000, 320), Film(store, "main", 1_000_000, 5_000_000, 320)
    assert film.picture(1_000_000) == before.picture(1_000_000)
    assert film.picture(4_000_000) != before.picture(4_000_000)
    assert [film.mount(ts_us) for ts_us in (2_960_000, 3_020_000)] == [MOUNT, moved]
    (folder / "cameras.json").write_text("[3")
    write_cameras(folder, [Camera(CameraSetup("main", mount=moved), load_profile(), None)], 4_000_000)
    assert [one.mount for one in read_cameras(folder)["main"]] == [moved], "a damaged file is begun anew"


def test_a_player_without_positions_is_not_drawn(store: Path) -> None:
    film = Film(store, "main", 4_000_000, 7_000_000, 320)
    assert film.scene(5_000_000).figures == ()
    assert film.scene(6_500_000).figures != ()


def test_a_silent_head_gives_its_last_picture_dimmed(store: Path) -> None:
    film = Film(store, "main", 5_000_000, 7_500_000, 320)
    seen, dimmed = (sum(film.picture(ts).convert("L").tobytes()) for ts in (5_900_000, 6_500_000))
    assert dimmed < 0.7 * seen


def test_events_are_written_by_their_names_and_only_those_that_a_viewer_sees(tmp_path: Path) -> None:
    made = MatchStore.create(
        tmp_path / "match", MatchSheet(players=(Player("H7", "home", "Seven", 7),)), {"settings": {}}
    )
    found = [
        UpdateRecord(n, 1, 0, EventRecord(kind, kind, "", 6, 2_000_000, "home", "H7", 0.0, 0.0, None, 1.0))
        for n, kind in enumerate(("pass.complete", "goal_ring", "outlet"))
    ]
    tables = {"positions": positions(), "updates": updates_table(found, 0)}
    made.commit(0, tables, {"frontier_us": 10_000_000, "ended": True})
    made.commit(0, {"camera": camera_rows("main")}, {}, series="camera")
    write_cameras(tmp_path / "match", [Camera(CameraSetup("main", mount=MOUNT), load_profile(), None)], 0)
    film = Film(tmp_path / "match", "main", 1_000_000, 4_000_000, 320, with_events=True)
    assert film._events == [(2_000_000, f"{kind_name('pass.complete')}  Seven")]


@pytest.mark.slow
def test_mp4_gif_and_png_are_written(store: Path, tmp_path: Path) -> None:
    film = Film(store, "main", 1_000_000, 2_000_000, 160)
    assert write_film(film, tmp_path / "film.mp4", 10) == 10
    assert b"ftyp" in (tmp_path / "film.mp4").read_bytes()[:12]
    assert write_film(film, tmp_path / "film.gif", 10) == 10
    with Image.open(tmp_path / "film.gif") as gif:
        assert (gif.n_frames, gif.size) == (10, (160, 90))
    assert write_film(film, tmp_path / "film.png", 10) == 1
    with pytest.raises(FilmError, match="must end in"):
        write_film(film, tmp_path / "film.avi", 10)


def test_the_command_draws_and_names_its_mistakes(store: Path, tmp_path: Path) -> None:
    out = tmp_path / "one.png"
    done = CliRunner().invoke(app, [str(store), "--from", "0:02", "--events", "--width", "320", "--out", str(out)])
    assert done.exit_code == 0, done.output
    with Image.open(out) as image:
        assert image.size == (320, 180)
    for options, reason in (
        (["--camera", "none"], "no camera none; there are main"),
        (["--from", "1:00:00"], "has no rows"),
        (["--from", "9", "--to", "8"], "the end must be later"),
        (["--from", "x"], "is no time"),
    ):
        failed = CliRunner().invoke(app, [str(store), *options, "--out", str(out)])
        assert failed.exit_code != 0
        assert reason in str(failed.exception)


def test_a_store_without_cameras_is_named(tmp_path: Path) -> None:
    MatchStore.create(tmp_path / "match", MatchSheet(), {"settings": {}})
    with pytest.raises(RecordedCamerasError, match=r"does not say where its cameras stand: there is no cameras\.json"):
        Film(tmp_path / "match", "main", 0, 1_000_000, 320)
