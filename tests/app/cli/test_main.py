"""The command as a person meets it: what works, and errors in one line with exit code 2."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from app.cli.main import main
from tests.waiting import eventually

ROOT = Path(__file__).resolve().parents[3]

#: What is refused before the engine matters is refused sooner when Java does not start meanwhile.
WITHOUT_SPARK = ("live", "--engine", "inprocess")


def touchline(
    *arguments: object, cwd: Path = ROOT, paths: Sequence[Path] = (ROOT,), timeout_s: float = 240
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "app.cli.main", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths)), "COLUMNS": "100", "NO_COLOR": "1"}
    return subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False, timeout=timeout_s
    )


def here(*arguments: object, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """The same in this process, which need not import the program again: for commands that start no Spark."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.chdir(cwd)
        patch.setattr("sys.argv", ["touchline", *map(str, arguments)])
        for name, value in (("COLUMNS", "100"), ("NO_COLOR", "1"), ("PYTHONSAFEPATH", "1")):
            patch.setenv(name, value)
        with pytest.raises(SystemExit) as ended:
            main()
    texts = (stream.buffer.getvalue().decode() for stream in (out, err))
    return subprocess.CompletedProcess(arguments, int(ended.value.code or 0), *texts)


def refusal(*arguments: object, cwd: Path = ROOT, run: Callable[..., Any] = touchline) -> str:
    """Runs what must be refused; the one line that is said about it."""
    done = run(*arguments, cwd=cwd)
    assert done.returncode == 2, done.stdout + done.stderr
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("touchline: ")
    return lines[0]


def write_track(path: Path, seconds: float = 4.0) -> Path:
    """A ball that is passed between two players, 25 frames a second, in our long table."""
    rows = []
    for frame in range(1, int(seconds * 25) + 1):
        t_ms, x = frame * 40, abs((frame % 100) - 50) / 2.5 - 10
        rows.append((t_ms, "ball", "ball", x, 0.0, 0.1))
        rows.append((t_ms, "home_1", "home", -10.0, 0.3, 0.0))
        rows.append((t_ms, "home_2", "home", 10.0, 0.3, 0.0))
        rows.append((t_ms, "away_1", "away", 0.0, 9.0, 0.0))
    names = ("t_ms", "object_id", "team", "x", "y", "z")
    types = (pa.int32(), pa.string(), pa.string(), pa.float32(), pa.float32(), pa.float32())
    columns = [pa.array(column, kind) for column, kind in zip(zip(*rows, strict=True), types, strict=True)]
    pq.write_table(pa.table(dict(zip(names, columns, strict=True))), path)
    return path


@pytest.fixture(scope="module")
def played(tmp_path_factory) -> tuple[Path, dict]:
    """A short match, played without Spark; the store and the summary."""
    folder = tmp_path_factory.mktemp("played")
    track = write_track(folder / "track.parquet", 8.0)
    done = touchline(
        "live", "--source", track, "--engine", "inprocess", "--speed", "max", "--store", folder / "store",
        "--no-dashboard", "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder / "store", json.loads(done.stdout)


def test_the_summary_in_json_is_all_that_stdout_gets(played):
    folder, summary = played
    assert summary["store"] == str(folder)
    assert summary["ended"]
    assert summary["positions"] == 8 * 25 * 4
    assert {"events", "detection_latency_ms", "retractions", "late", "lost", "duplicates", "differing_copies",
            "quarantined", "times_real_time", "lane_latency_ms", "cameras"} <= summary.keys()  # fmt: skip


def test_alpha_and_retraction_may_follow_the_load(played, tmp_path):
    _, summary = played
    track = write_track(tmp_path / "track.parquet", 8.0)
    done = here(
        "live", "--source", track, "--channel", "rtls", "--engine", "inprocess", "--speed", "max", "--alpha", "auto",
        "--retraction", "auto", "--store", tmp_path / "store", "--no-dashboard", "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["ended"]
    assert found["failed"] == found["faults"] == {}
    assert found["positions"] > 0.9 * summary["positions"]


def test_events_agree_with_the_summary_in_every_format(played, tmp_path):
    folder, summary = played
    as_json = touchline("events", folder, "--format", "json").stdout.splitlines()
    as_csv = here("events", folder).stdout.splitlines()
    assert here("events", folder, "--format", "parquet", "--out", tmp_path / "e.parquet").returncode == 0
    counted = sum(summary["events"].values())
    assert counted == len(as_json) == len(as_csv) - 1 == pq.read_metadata(tmp_path / "e.parquet").num_rows
    head = "id,kind,variant,level,ts_us,team,player,x_m,y_m,state,confidence,detected_us"
    assert as_csv[0].startswith(head)
    assert {json.loads(line)["state"] for line in as_json} <= {"confirmed"}


def test_updates_have_what_was_said_and_when(played):
    folder, _ = played
    records = [json.loads(line) for line in here("updates", folder, "--format", "json").stdout.splitlines()]
    assert [record["seq"] for record in records] == list(range(len(records)))
    assert {"diff", "emitted_us", "epoch", "seq"} <= records[0].keys()


def test_a_finished_match_is_not_played_twice(played):
    folder, summary = played
    done = here("live", "--store", folder, "--speed", "max", "--no-dashboard", "--json")
    again = json.loads(done.stdout)
    assert (again["events"], again["stream_s"], again["ended"]) == (summary["events"], 0.0, True)


def test_a_store_belongs_to_one_choice_of_options(played):
    folder, _ = played
    assert "contradicts" in refusal("live", "--store", folder, "--seed", 99, run=here)


def test_ctrl_c_ends_cleanly_and_the_next_run_goes_on(tmp_path):
    track = write_track(tmp_path / "track.parquet", 40.0)
    store = tmp_path / "store"
    command = [sys.executable, "-m", "app.cli.main", "live", "--source", str(track), "--engine", "inprocess",
               "--store", str(store), "--no-dashboard", "--no-camera", "--json"]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    eventually(lambda: run.poll() is not None or list(store.glob("states/*/epochs/0")))
    assert run.poll() is None, run.stderr.read().decode()
    time.sleep(1.0)
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=60)
    assert run.returncode == 0, err.decode()
    first = json.loads(out)
    assert not first["ended"]
    rest = json.loads(here("live", "--store", store, "--speed", "max", "--no-dashboard", "--json").stdout)
    assert rest["ended"]
    assert first["stream_s"] + rest["stream_s"] == pytest.approx(40.0, abs=0.1)
    assert rest["positions"] == 40 * 25 * 4


def test_two_runs_do_not_share_a_store(played):
    import fcntl

    folder, _ = played
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        assert "another run is using this folder" in refusal("live", "--store", folder, run=here)
    finally:
        os.close(handle)


def test_an_unknown_source_is_named(tmp_path):
    assert "nowhere.parquet" in refusal(*WITHOUT_SPARK, "--source", "nowhere.parquet", cwd=tmp_path, run=here)
    assert not any(tmp_path.rglob("*.arrow")), "a failed preparation must leave nothing behind"


def test_a_file_that_is_no_tracking_file_is_named(tmp_path):
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 cut off")
    message = refusal(*WITHOUT_SPARK, "--source", tmp_path / "bad.parquet", "--store", tmp_path / "s", run=here)
    assert "bad.parquet" in message


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--speed", "0"], "--speed 0: must be max, or a number above 0"),
        (["--channel", "fog"], "--channel fog"),
        (["--alpha", "2"], "--alpha 2: must be auto, or a number"),
        (["--pitch", "x"], "--pitch x"),
        (["--port", "many"], "--port"),
        (["--tempo", "1"], "--tempo"),
    ],
)
def test_a_bad_option_is_one_line(arguments, message):
    assert message in refusal("live", *arguments, run=here)


def test_an_occupied_port_is_one_line(tmp_path):
    track = write_track(tmp_path / "track.parquet")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        message = refusal(*WITHOUT_SPARK, "--source", track, "--store", tmp_path / "store", "--port", port, run=here)
    assert f"port {port}" in message


def test_a_folder_with_something_else_in_it_is_left_alone(tmp_path):
    (tmp_path / "letter.txt").write_text("dear")
    assert "neither empty nor a match store" in refusal(*WITHOUT_SPARK, "--store", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


def test_exports_refuse_what_is_no_store_or_no_format(played, tmp_path):
    folder, _ = played
    assert "not a match store" in refusal("events", tmp_path, run=here)
    assert "--format xml" in refusal("events", folder, "--format", "xml", run=here)
    assert "--out" in refusal("updates", folder, "--format", "parquet", run=here)
    assert "--out" in refusal("events", folder, "--out", tmp_path / "no" / "where.csv", run=here)


def test_help_names_every_command_and_option():
    commands = touchline("--help").stdout
    assert all(name in commands for name in ("live", "events", "updates", "test", "--version"))
    options = here("live", "--help").stdout
    for name in ("source", "channel", "seed", "speed", "duration", "store", "pitch", "sheet", "engine", "alpha",
                 "retraction", "no-dashboard", "port", "camera", "no-camera", "json"):  # fmt: skip
        assert f"--{name}" in options


def test_the_version_is_told():
    assert re.match(r"touchline \S", touchline("--version").stdout)


def test_the_entry_file_of_spark_submit_finds_pythons_own_modules_and_the_program(tmp_path):
    command = [sys.executable, ROOT / "app" / "cli" / "submit.py", "inspect", "--help"]
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONSAFEPATH")}
    run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
