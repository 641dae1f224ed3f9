"""The doctor finds what is wrong and says how to mend it."""

from __future__ import annotations

import json
import os
import shutil
import socket
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from typer.testing import CliRunner

from app.base.java import JavaNotFoundError
from app.cli.doctor import Finding, examine, run_doctor
from app.cli.main import app
from app.kafka import clients


def findings(folder: Path, **flags: object) -> dict[str, Finding]:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("TOUCHLINE_")}
    return {finding.what: finding for finding in examine({"port": 0, **flags}, environ, folder)}


def test_a_sound_machine_is_sound(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert run_doctor({"port": 0, "store": tmp_path / "matches"}, as_json=True)
    findings = json.loads(capsys.readouterr().out)
    assert {finding["verdict"] for finding in findings} <= {"ok", "note"}
    assert all(finding["remedy"] for finding in findings if finding["verdict"] != "ok")
    assert {"settings", "Python", "packages", "Java", "disk for matches", "port of the page", "port of metrics",
            "broker"} <= {finding["what"] for finding in findings}  # fmt: skip


def test_ports_that_are_taken_are_bad_unless_another_may_be_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        page = findings(tmp_path, port=port)["port of the page"]
        metrics = findings(tmp_path, metrics_port=port)["port of metrics"]
        monkeypatch.setattr("app.cli.doctor.METRICS_PORT", port)
        default = findings(tmp_path)["port of metrics"]
        without = findings(tmp_path, metrics_port=0, dashboard=False)
    assert (page.verdict, metrics.verdict, default.verdict) == ("bad", "bad", "note")
    assert "--port" in page.remedy
    assert "--metrics-port" in metrics.remedy
    assert {"port of the page", "port of metrics"}.isdisjoint(without)


def test_missing_java_and_a_full_disk_are_bad(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def no_java(environ: object) -> None:
        raise JavaNotFoundError("Spark needs Java")

    monkeypatch.setattr("app.cli.doctor.find_java", no_java)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(100, 99, 1))
    found = findings(tmp_path)
    assert found["Java"].verdict == found["disk for matches"].verdict == "bad"
    assert not run_doctor({"port": 0}, as_json=False)


def test_the_disk_is_that_of_the_store_that_the_settings_name(tmp_path: Path):
    (tmp_path / "touchline.toml").write_text('store = "elsewhere/store"\n')
    (tmp_path / "elsewhere").mkdir()
    assert findings(tmp_path)["disk for matches"].found.endswith(str(tmp_path / "elsewhere"))


def test_an_old_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(
        "app.cli.doctor.requires", lambda name: ["numpy>=99", "no-such-thing", "pytest; extra == 'test'"]
    )
    found = findings(tmp_path)["packages"]
    assert found.verdict == "bad"
    assert "numpy" in found.found
    assert "no-such-thing is missing" in found.found
    assert "pytest" not in found.found


def test_a_package_other_than_the_lock_says_is_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    locked = [Requirement("numpy==1.0"), Requirement("no-such-thing==2"), Requirement("gone==1; python_version < '3'")]
    monkeypatch.setattr("app.cli.doctor.locked_requirements", lambda file: locked)
    found = findings(tmp_path)["packages"]
    assert found.verdict == "note"
    assert "requirements/runtime.txt" in found.found
    assert "not ==1.0; no-such-thing is missing" in found.found
    assert "gone" not in found.found


def test_settings_that_cannot_be_are_bad_and_the_rest_is_looked_at_all_the_same(tmp_path: Path):
    (tmp_path / "touchline.toml").write_text("seed = -1\n")
    found = findings(tmp_path)
    assert found["settings"].verdict == "bad"
    assert "touchline.toml: seed -1" in found["settings"].found
    assert found["Python"].verdict == "ok"


def test_a_settings_file_with_secrets_that_others_can_read_is_noted(tmp_path: Path):
    file = tmp_path / "touchline.toml"
    file.write_text('token = "correct-horse-battery"\n')
    file.chmod(0o644)
    found = findings(tmp_path)["secrets"]
    assert (found.verdict, found.remedy) == ("note", f"chmod 600 {tmp_path / 'touchline.toml'}")
    file.chmod(0o600)
    assert "secrets" not in findings(tmp_path)


def test_a_broker_that_the_settings_name_and_that_does_not_answer_is_bad(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(clients.BOOTSTRAP, "bootstrap_timeout_ms", 500)
    found = findings(tmp_path, source="kafka://127.0.0.1:1/positions")["broker"]
    assert found.verdict == "bad"
    assert "127.0.0.1:1" in found.found


def test_the_command_takes_the_options_of_live(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["doctor", "--json", "--port", "0", "--metrics-port", "0", "--no-dashboard"])
    findings = {finding["what"] for finding in json.loads(done.stdout)}
    assert "port of the page" not in findings
    assert "port of metrics" not in findings
    assert CliRunner().invoke(app, ["doctor", "--tempo", "3"]).exit_code != 0
