"""Files that others made: tracking, captures, stores, truths, sheets."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import strategies as st

from football.errors import CaptureError, TrackingError
from football.match_sheet import MatchSheet
from football.packets import Block, Packet
from football.update_stream import EventRecord, UpdateRecord
from replay.capture import Capture, CaptureWriter
from replay.event_list import consolidated_events
from replay.formats.debs import MATCH_HALVES, read_debs, write_debs
from replay.formats.match_sheets import read_sheet
from replay.formats.ooo_dataset import read_rows
from replay.formats.tracking import read_tracking
from replay.match_store import (
    MatchStore,
    StoreError,
    read_commits,
    read_sheet_of,
    updates_log,
    updates_table,
)
from replay.scoring.debs_annotation import (
    Annotation,
    Interruption,
    Possession,
    ShotOnGoal,
    read_annotation,
    write_annotation,
)
from replay.scoring.readers import read_truth
from replay.scoring.truth import ScoreError
from tests.app.cli.test_main import write_track
from tests.fuzz.cases import NUMBERS, both, changed_text, hold, json_like, mangled, refusal
from tests.replay.formats.test_debs import SHEET, recording
from tests.replay.formats.test_kloppy_reader import TRACAB_FRAMES, TRACAB_METADATA

SHEET_JSON = b"""{"match": {"id": "final"}, "pitch": {"length_m": 105.0, "width_m": 68.0}, "teams": {"home": "A",
"away": "B"}, "players": [{"object_id": "home_1", "team": "home", "name": "Ana", "shirt": 1}], "periods": []}"""


def spoiled(file: Path, read: Callable[[], object], kinds: type[Exception] | tuple[type[Exception], ...], named: str):
    """A test body: the file holds these bytes; reading gives something, or one of ``kinds`` that names it."""

    def body(content: bytes | str) -> None:
        file.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
        message = refusal(kinds, read)
        assert message is None or named in message, message

    return body


@both
def test_a_tracking_table(cases: int, tmp_path: Path):
    track = write_track(tmp_path / "track.parquet", 0.4)
    hold(
        cases, mangled([track.read_bytes()]), spoiled(track, lambda: read_tracking(str(track)), TrackingError, "track")
    )


@both
def test_a_tracking_table_of_other_types_and_values(cases: int, tmp_path: Path):
    good = pq.read_table(write_track(tmp_path / "track.parquet", 0.4))
    file = tmp_path / "other.parquet"
    values = {
        "numbers": st.lists(NUMBERS.filter(lambda n: isinstance(n, float) or abs(n) < 2**63), min_size=4, max_size=4),
        "texts": st.lists(
            st.none() | st.text(max_size=4) | st.sampled_from(["ball", "home_1"]), min_size=4, max_size=4
        ),
    }
    columns = st.dictionaries(st.sampled_from(good.column_names), st.one_of(*values.values()), max_size=4)

    def body(changed: dict[str, list]) -> None:
        table = good.slice(0, 4)
        for name, column in changed.items():
            made = [float(v) if isinstance(v, int | float) else v for v in column]
            table = table.set_column(table.column_names.index(name), name, pa.array(made))
        pq.write_table(table, file)
        message = refusal(TrackingError, lambda: read_tracking(str(file)))
        assert message is None or "other.parquet" in message

    hold(cases, columns, body)


@both
def test_a_match_sheet(cases: int, tmp_path: Path):
    file = tmp_path / "metadata.json"
    names = ["match", "id", "pitch", "length_m", "width_m", "teams", "home", "players", "object_id", "team", "shirt"]
    contents = mangled([SHEET_JSON]) | json_like(names).map(json.dumps)
    hold(cases, contents, spoiled(file, lambda: read_sheet(file), TrackingError, "metadata.json"))


@both
def test_a_providers_file(cases: int, tmp_path: Path):
    frames, meta = tmp_path / "77.dat", tmp_path / "77.xml"

    def read() -> object:
        return read_tracking(f"kloppy:tracab:{frames}:{meta}")

    meta.write_text(TRACAB_METADATA)
    hold(cases // 2, changed_text([TRACAB_FRAMES]), spoiled(frames, read, TrackingError, "77"))
    frames.write_text(TRACAB_FRAMES)
    hold(cases // 2, changed_text([TRACAB_METADATA]), spoiled(meta, read, TrackingError, "77"))


@both
@pytest.mark.parametrize("which", ["stream", "sensors", "halves"])
def test_a_stream_of_the_challenge(cases: int, tmp_path: Path, which: str):
    path = write_debs(tmp_path / "debs", recording(rows=6))
    files = [file for file in sorted((tmp_path / "debs").rglob("*")) if file.is_file()]
    chosen = {"stream": files[0], "sensors": files[1 % len(files)], "halves": files[-1]}[which]
    if which == "stream":
        chosen = path if path.is_file() else chosen
    text = chosen.read_text()
    hold(cases // 3, changed_text([text]), spoiled(chosen, lambda: read_debs(path), TrackingError, str(tmp_path)))


@both
def test_an_annotation(cases: int, tmp_path: Path):
    folder = tmp_path / "annotation"
    folder.mkdir()
    annotation = Annotation(
        (Possession(1, "A", "Ana", 5.0, 9.5),), (ShotOnGoal(1, 7.0, "A", "Ana"),), (Interruption(2, 3.0, 8.0),)
    )
    write_annotation(folder, annotation, MATCH_HALVES)
    files = [file for file in sorted(folder.iterdir()) if file.is_file()]
    assert files
    for file in files:
        text = file.read_text()
        hold(cases // len(files), changed_text([text]),
             spoiled(file, lambda: (read_annotation(folder), read_truth(folder, SHEET)), (TrackingError, ScoreError),
                     str(tmp_path)))  # fmt: skip
        file.write_text(text)


@both
def test_a_table_of_arrivals(cases: int, tmp_path: Path):
    file = tmp_path / "rows.csv"
    names = ("S.Message.received.time.ms", "S.Client.Detection.Time", "S.Device.ID", "S.Message.ID",
             "A.ooo.Event.Sent.Time")  # fmt: skip
    good = "\n".join([";".join(names), *(f"{1000 + 5 * i};{990 + 4 * i};d{i % 2};{i};{i % 3 == 0}" for i in range(9))])
    file.write_text(good)
    assert read_rows(file)
    hold(cases, changed_text([good]), spoiled(file, lambda: read_rows(file), TrackingError, "rows.csv"))


EVENT = EventRecord("hit#1", "hit", "", 5, 7, "home", "home_7", 1.0, 2.0, None, 1.0, ("x",), {"limb": "head"})


@both
def test_a_truth(cases: int, tmp_path: Path):
    file = tmp_path / "truth.parquet"
    pq.write_table(updates_table([UpdateRecord(0, 1, 5, EVENT)], 0), file)
    assert read_truth(file, MatchSheet("final")).marks is not None
    hold(cases, mangled([file.read_bytes()]),
         spoiled(file, lambda: read_truth(file, MatchSheet("final")), ScoreError, "truth"))  # fmt: skip


@both
@pytest.mark.parametrize("which", ["head.json", "end.json", "0000000.arrow"])
def test_a_capture(cases: int, tmp_path: Path, which: str):
    folder = tmp_path / "capture"
    with CaptureWriter(folder, MatchSheet("final")) as writer:
        writer.extend(
            Block(i * 10_000 + 10, (Packet("ball", i, (i * 10_000,), (0.1,), (0.2,), (0.11,), 0.9),)) for i in range(9)
        )
    (segment,) = folder.glob("*.arrow")
    file = segment if which.endswith("arrow") else folder / which

    def read() -> None:
        capture = Capture.open(folder)
        for _ in capture.payloads(capture.begin_us, min(capture.end_us, capture.begin_us + 10_000_000)):
            pass
        _ = capture.rejected, capture.notes

    hold(cases, mangled([file.read_bytes()]), spoiled(file, read, CaptureError, str(folder)))


@both
@pytest.mark.parametrize("which", ["run.json", "sheet.json", "commits/00000000.json", "updates/part-00000000.parquet"])
def test_a_match_store(cases: int, tmp_path: Path, which: str):
    folder = tmp_path / "store"
    store = MatchStore.create(folder, MatchSheet("final"), {"settings": {}})
    meta = {"frontier_us": 5, "end_offset": 9, "epoch": 0, "ended": True}
    store.commit(0, {"updates": updates_table([UpdateRecord(0, 1, 5, EVENT)], 0)}, meta)
    file, kept = folder / which, tmp_path / "kept"
    shutil.copytree(folder, kept)
    assert consolidated_events(folder).num_rows == 1

    def read() -> None:
        read_commits(folder)
        read_sheet_of(folder)
        updates_log(folder)
        consolidated_events(folder)

    hold(cases, mangled([file.read_bytes()]), spoiled(file, read, StoreError, str(folder)))
