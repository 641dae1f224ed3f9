"""Logs: a JSON object a line, each process its own file, bounded, and no secret in them."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.base import logs
from app.base.logs import JsonLines, hide_secrets, log_event, log_in_worker, logging_to, worker_variable
from app.operations.health_log import HealthLogger
from app.operations.match_monitor import SILENCE_S
from tests.app.operations.test_metrics_and_health import HEALTH, Case

ROOT = Path(__file__).resolve().parents[3]
log = logging.getLogger("app.test")


@pytest.fixture(autouse=True)
def nothing_hidden(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(logs, "_secrets", set())


def lines(folder: Path) -> list[dict]:
    return [json.loads(line) for path in sorted(folder.glob("*.jsonl")) for line in path.read_text().splitlines()]


def test_a_line_has_time_level_process_match_what_and_figures(tmp_path: Path):
    with logging_to(tmp_path, "files", "info"):
        log_event(log, logging.INFO, "batch closed", "final", blocks=3, took_ms=1.5, place=tmp_path, odd=float("nan"))
        log_event(log, logging.DEBUG, "too much")
        try:
            raise KeyError("x")
        except KeyError:
            log.exception("it broke %d times", 2)
    first, second = lines(tmp_path)
    assert first["what"] == "batch closed"
    assert first["time"].endswith("Z")
    assert (first["level"], first["process"], first["match"], first["pid"]) == ("info", "driver", "final", os.getpid())
    assert first["figures"] == {"blocks": 3, "took_ms": 1.5, "place": str(tmp_path), "odd": None}
    assert (second["what"], second["level"], second["figures"]) == ("it broke 2 times", "error", {})
    assert "KeyError" in second["error"]
    assert [path.name for path in tmp_path.iterdir()] == [f"driver-{os.getpid()}.jsonl"]


def test_it_ends_with_the_run_and_says_that_the_run_failed(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    before = (list(logging.getLogger().handlers), logging.getLogger("app").level)
    with pytest.raises(OSError, match="gone"), logging_to(tmp_path, "files", "debug"):
        raise OSError("gone")
    assert (list(logging.getLogger().handlers), logging.getLogger("app").level) == before
    (line,) = lines(tmp_path)
    assert (line["what"], line["figures"]) == ("run failed", {"error": "OSError: gone"})
    assert capsys.readouterr().err == "", "people are told once, by the error"


def test_stderr_gets_json_or_warnings_for_people_and_off_is_off(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    with logging_to(tmp_path / "a", "stderr", "warning"):
        log_event(log, logging.WARNING, "troubled", "m", why="rain")
        log_event(log, logging.INFO, "not asked for")
    (line,) = capsys.readouterr().err.splitlines()
    assert json.loads(line)["figures"] == {"why": "rain"}
    with logging_to(tmp_path / "b", "files", "info"):
        log_event(log, logging.WARNING, "troubled", "m", why="rain")
        log_event(log, logging.INFO, "nothing for people")
        log_event(log, logging.WARNING, "input", "m", code="height", text="The ball has no height.")
    assert capsys.readouterr().err == "touchline: troubled: why rain\ntouchline: input: The ball has no height.\n"
    with logging_to(tmp_path / "c", "off", "info"):
        log_event(log, logging.INFO, "nobody hears")
    assert not (tmp_path / "a").exists()
    assert not (tmp_path / "c").exists()


@given(st.text(min_size=4).filter(lambda text: "*" not in text), st.text(), st.text())
def test_what_is_hidden_stands_in_no_line(secret: str, before: str, after: str):
    logs._secrets.clear()
    hide_secrets([secret])
    record = log.makeRecord("app", logging.ERROR, "f", 1, "%s", (before + secret + after,), None)
    record.figures = {"deep": [{"in": secret, "at": 1}]}
    line = json.loads(JsonLines("driver").format(record))
    assert secret not in line["what"]
    assert line["figures"] == {"deep": [{"in": "***", "at": 1}]}


@pytest.mark.parametrize("text", ["%73ecret-token", "secret%2Dtoken", "%73%65%63%72%65%74%2d%74%6f%6b%65%6e"])
def test_a_secret_that_an_address_encodes_is_hidden_too(text: str):
    hide_secrets(["secret-token"])
    record = log.makeRecord("app", logging.ERROR, "f", 1, "GET /?token=%s", (text,), None)
    assert json.loads(JsonLines("driver").format(record))["what"] == "GET /?token=***"


def test_a_file_that_grows_goes_on_in_another_and_the_oldest_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(logs, "FILE_BYTES", 2_000)
    with logging_to(tmp_path, "files", "info"):
        for number in range(100):
            log_event(log, logging.INFO, "again", number=number)
    names = {path.name for path in tmp_path.iterdir()}
    own = f"driver-{os.getpid()}"
    assert names == {f"{own}.jsonl", f"{own}.1.jsonl", f"{own}.2.jsonl"}
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 3 * 2_000
    kept = sorted(line["figures"]["number"] for line in lines(tmp_path))
    assert kept == list(range(100 - len(kept), 100)), "the newest are kept, each once"


def test_files_of_many_processes_are_bounded_too(tmp_path: Path):
    for number in range(60):
        path = tmp_path / f"engine-{number}.jsonl"
        path.write_text("{}\n")
        os.utime(path, (number, number))
    (tmp_path / "letter.txt").write_text("dear")
    with logging_to(tmp_path, "files", "info"):
        log_event(log, logging.INFO, "here")
    left = sorted(path.name for path in tmp_path.glob("engine-*.jsonl"))
    assert len(left) + 1 + logs.FILES_BEFORE == logs.FILES_MAX
    assert "engine-59.jsonl" in left
    assert "engine-0.jsonl" not in left
    assert (tmp_path / "letter.txt").exists()


def test_a_worker_logs_as_its_environment_says(tmp_path: Path):
    code = (
        "import logging; from app.base.logs import log_event, log_in_worker; log_in_worker(); log_in_worker();"
        "log_event(logging.getLogger('app.x'), logging.INFO, 'batch begins', 'm')"
    )
    environment = {
        **os.environ, "PYTHONPATH": str(ROOT), "TOUCHLINE_ROLE": "engine",
        logs.VARIABLE: worker_variable(tmp_path / "with a space", "files", "info"),
    }  # fmt: skip
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, timeout=60)
    (line,) = lines(tmp_path / "with a space")
    assert (line["process"], line["what"], line["match"]) == ("engine", "batch begins", "m")
    assert worker_variable(tmp_path, "off", "info") == ""


def test_in_this_process_a_worker_logs_nowhere_unless_told(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv(logs.VARIABLE, raising=False)
    before = list(logging.getLogger().handlers)
    log_in_worker.__wrapped__()
    assert logging.getLogger().handlers == before


def test_what_goes_wrong_and_right_again_is_written_down_once(tmp_path: Path):
    case = Case(tmp_path)
    observer = HealthLogger(case.monitor)
    with logging_to(tmp_path / "logs", "files", "info"):
        observer.look()
        case.say(health=HEALTH, continues_from=0)
        observer.look()
        for case.clocks.s in (SILENCE_S + 1, SILENCE_S + 2, SILENCE_S + 3):
            observer.look()
        case.say(1, epoch=1, continues_from=0)
        observer.look()
        observer.look()
        observer.rates()
    written = lines(tmp_path / "logs")
    assert [(line["what"], line["figures"]) for line in written[:-1]] == [
        ("troubled", {"reasons": "no data for 11 s"}), ("live again", {}), ("stage restarted", {"epoch": 1}),
    ]  # fmt: skip
    rates = written[-1]["figures"]
    assert written[-1]["what"] == "rates"
    assert (rates["positions"], rates["late"], rates["behind_s"]) == (1_000, 3, None)
    assert rates["updates_per_s"] > 0
