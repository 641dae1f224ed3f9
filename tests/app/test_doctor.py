"""The doctor finds what is wrong and says how to mend it."""

from __future__ import annotations

import json
import shutil
import socket
from pathlib import Path

import pytest

from app.commands.doctor import examine, run_doctor
from app.spark.java import JavaNotFoundError


def findings(port: int, folder: Path):
    return {finding.what: finding for finding in examine(port, folder)}


def test_a_sound_machine_is_sound(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert run_doctor(0, tmp_path / "matches", as_json=True)
    told = json.loads(capsys.readouterr().out)
    assert {finding["verdict"] for finding in told} <= {"ok", "note"}
    assert all(finding["remedy"] for finding in told if finding["verdict"] != "ok")


def test_a_taken_port_is_bad(tmp_path: Path):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        found = findings(port, tmp_path)["port of the page"]
    assert found.verdict == "bad"
    assert "--port" in found.remedy


def test_missing_java_and_a_full_disk_are_bad(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def no_java(environ: object) -> None:
        raise JavaNotFoundError("Spark needs Java")

    monkeypatch.setattr("app.commands.doctor.find_java", no_java)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(100, 99, 1))
    found = findings(0, tmp_path)
    assert found["Java"].verdict == found["disk for matches"].verdict == "bad"
    assert not run_doctor(0, tmp_path, as_json=False)


def test_an_old_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(
        "app.commands.doctor.requires", lambda name: ["numpy>=99", "no-such-thing", "pytest; extra == 'test'"]
    )
    found = findings(0, tmp_path)["packages"]
    assert found.verdict == "bad"
    assert "numpy" in found.found
    assert "no-such-thing is missing" in found.found
    assert "pytest" not in found.found
