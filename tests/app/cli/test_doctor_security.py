"""The doctor's findings about other users of the machine."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from app.base.tokens import TokenStore
from app.cli import doctor_ports
from app.cli.doctor import run_doctor
from app.cli.doctor_ports import listeners_of
from app.cli.doctor_security import examine_security
from app.cli.finding import Finding
from app.pipeline.folder import locked
from app.pipeline.seal import KEY_VARIABLE
from app.settings.model import LiveSettings
from app.settings.resolve import make_settings
from dashboard.roles import Role
from football.match_sheet import MatchSheet
from replay.match_store import MatchStore


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "configuration"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    monkeypatch.delenv("PYTHONPATH", raising=False)


def findings(folder: Path, settings: LiveSettings | None = None) -> dict[str, Finding]:
    found = examine_security(settings or LiveSettings(), os.environ, folder)
    return {finding.what: finding for finding in found}


def test_a_sound_machine_is_sound(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    found = findings(tmp_path)
    assert {name for name, finding in found.items() if finding.verdict != "ok"} <= {"page and metrics", "broker"}
    assert run_doctor({"store": tmp_path / "store"}, as_json=True, security=True)
    shown = json.loads(capsys.readouterr().out)
    assert {"umask", "cache folder", "temporary folder", "state key", "code", "store"} <= {one["what"] for one in shown}
    assert all(one["remedy"] for one in shown if one["verdict"] != "ok")


def test_folders_that_others_can_write_to_are_bad(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("cache/touchline", "tmp", "modules", "matches"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name).chmod(0o777)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "modules"))
    store = MatchStore.create(tmp_path / "matches" / "m", MatchSheet(), {}).path
    store.chmod(0o777)
    before = os.umask(0)
    try:
        found = findings(tmp_path)
    finally:
        os.umask(before)
    assert {found[name].verdict for name in ("cache folder", "temporary folder", "code: PYTHONPATH", "store")} == {
        "bad"
    }
    assert found["umask"].verdict == "note"


def test_a_file_in_the_cache_that_others_can_write_to_is_bad(tmp_path: Path):
    (tmp_path / "cache" / "touchline" / "spark-classes").mkdir(parents=True)
    archive = tmp_path / "cache" / "touchline" / "spark-classes" / "1.classes"
    archive.write_bytes(b"classes")
    archive.chmod(0o666)
    assert findings(tmp_path)["cache folder"].found == f"{archive}: others could have changed it"


def test_a_store_that_others_can_read_is_noted_and_one_with_a_link_is_bad(tmp_path: Path):
    store = MatchStore.create(tmp_path / "matches" / "m", MatchSheet(), {}).path
    assert findings(tmp_path)["store"].verdict == "ok"
    store.chmod(0o755)
    assert findings(tmp_path)["store"].verdict == "note"
    (store / "logs").symlink_to(tmp_path)
    assert findings(tmp_path)["store"].verdict == "bad"


def test_a_state_key_that_is_none_or_that_others_can_read_is_bad(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(KEY_VARIABLE, "short")
    assert findings(tmp_path)["state key"].verdict == "bad"
    monkeypatch.setenv(KEY_VARIABLE, "ab" * 16)
    assert KEY_VARIABLE in findings(tmp_path)["state key"].found
    assert "ab" * 16 not in findings(tmp_path)["state key"].found
    monkeypatch.delenv(KEY_VARIABLE)
    file = tmp_path / "state" / "touchline" / "state.key"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"k" * 32)
    file.chmod(0o644)
    assert "other users can read the key" in findings(tmp_path)["state key"].found


def test_a_page_that_others_reach_without_a_token_or_tls_is_noted(tmp_path: Path):
    assert "every user" in findings(tmp_path)["page and metrics"].found
    assert findings(tmp_path, make_settings({"token": "0123456789abcdef" * 2}))["page and metrics"].verdict == "ok"
    beyond = make_settings({"host": "0.0.0.0", "token": "0123456789abcdef" * 2})
    assert "TLS" in findings(tmp_path, beyond)["page and metrics"].remedy


def test_a_file_of_tokens_that_others_can_read_is_bad(tmp_path: Path):
    TokenStore().create("press", Role.VIEWER, 1.0)
    assert findings(tmp_path)["tokens"].verdict == "ok"
    (tmp_path / "configuration" / "touchline" / "tokens.json").chmod(0o644)
    assert findings(tmp_path)["tokens"].verdict == "bad"


def listening(address: str, family: socket.AddressFamily = socket.AF_INET) -> socket.socket:
    server = socket.socket(family)
    server.bind((address, 0))
    server.listen()
    return server


needs_proc = pytest.mark.skipif(not Path("/proc/locks").exists(), reason="looks into /proc")


@needs_proc
def test_the_ports_of_a_running_match_are_shown_and_those_beyond_loopback_noted(tmp_path: Path):
    store = MatchStore.create(tmp_path / "matches" / "m", MatchSheet(), {}).path
    assert findings(tmp_path)["ports"].found == "no match is running in these stores"
    with locked(store), listening("127.0.0.1") as inner:
        shown = findings(tmp_path)["ports"]
        assert shown.verdict == "ok"
        assert f"on 127.0.0.1 port {inner.getsockname()[1]}" in shown.found
        with listening("0.0.0.0") as outer:
            shown = findings(tmp_path)["ports"]
            assert shown.verdict == "note"
            assert f"on 0.0.0.0 port {outer.getsockname()[1]}" in shown.found
    assert findings(tmp_path)["ports"].found == "no match is running in these stores"


@needs_proc
def test_ports_of_descendants_belong_to_a_run_and_those_of_other_processes_do_not(tmp_path: Path):
    code = (
        "import socket, sys; server = socket.create_server(('127.0.0.1', 0));"
        " print(server.getsockname()[1], flush=True); sys.stdin.read()"
    )
    inner = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {code!r}])"
    with (
        subprocess.Popen(
            [sys.executable, "-c", inner], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as run,
        listening("127.0.0.1") as other,
    ):
        assert run.stdin is not None
        assert run.stdout is not None
        port = int(run.stdout.readline())
        found = {listener.port for listener in listeners_of(run.pid)}
        assert found == {port}
        assert other.getsockname()[1] in {listener.port for listener in listeners_of(os.getpid())} - found
        run.stdin.close()


@needs_proc
@pytest.mark.skipif(not socket.has_ipv6, reason="needs IPv6")
def test_an_address_of_ipv6_is_read_and_loopback_of_ipv4_in_it_counts_as_loopback():
    try:
        servers = [listening(address, socket.AF_INET6) for address in ("::1", "::ffff:127.0.0.1", "::")]
    except OSError as error:
        pytest.skip(f"no IPv6 here: {error}")
    shown = {listener.port: listener.address for listener in listeners_of(os.getpid())}
    addresses = [shown[server.getsockname()[1]] for server in servers]
    for server in servers:
        server.close()
    assert addresses == ["::1", "127.0.0.1", "::"]


def test_java_beyond_loopback_is_bad(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    store = MatchStore.create(tmp_path / "matches" / "m", MatchSheet(), {}).path
    monkeypatch.setattr(doctor_ports, "listeners_of", lambda pid: {doctor_ports.Listener("java", "0.0.0.0", 40_000)})
    with locked(store):
        assert findings(tmp_path)["ports"].verdict == "bad"
