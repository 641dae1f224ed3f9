"""``touchline cameras``: files are checked, heads are asked, simulated heads run as processes."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from app.cli.camera_setup import monotonic_us
from app.cli.cameras import CameraCommandError, quirks_of
from camera.head import new_head, ordered
from camera.head_connection import ask, connect
from camera.profile import load_profile
from camera.protocols.messages import Drive
from camera.protocols.registry import PROTOCOLS, Address
from camera.simulated.server import HeadServer, Quirks
from tests.app.cli.test_main import ROOT, here
from tests.camera.test_protocols import PROFILES


def run(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return here("cameras", *arguments, cwd=cwd or ROOT)


def test_profiles_protocols_and_roles_are_listed() -> None:
    known = json.loads(run("--json").stdout)
    assert {"brc-x400", "onvif-generic"} <= set(known["profiles"])
    assert known["protocols"] == ["visca", "visca-tcp", "onvif", "aw"]


def test_a_file_is_checked_and_its_heads_are_asked(tmp_path: Path) -> None:
    with HeadServer(load_profile()) as head:
        file = tmp_path / "venue.toml"
        file.write_text(f'[[camera]]\nname = "main"\naddress = "localhost:{head.address[1]}"\n')
        found = run("check", str(file), "--connect", "--json")
        assert found.returncode == 0, found.stderr
        row = json.loads(found.stdout)[0]
        assert (row["head"], row["answer"]) == ("Sony BRC-X400", "it answers")
        assert head.executed == 0, "it is asked, and neither moved nor stopped"


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_question_neither_moves_nor_stops_a_head(name: str) -> None:
    profile = load_profile(PROFILES[name])
    turning = ordered(new_head(profile), Drive(3, 0))
    with HeadServer(profile, turning, protocol=name) as head:
        assert ask(profile, Address(*head.address), name, 10.0) == ""
        assert head.executed == 0
        assert head.moving
    assert "does not answer within 0 s" in ask(profile, Address(*head.address), name, 0.1)


@pytest.mark.parametrize("name", ["onvif", "aw"])
def test_a_head_that_refuses_the_login_is_named_so(name: str) -> None:
    profile = load_profile(PROFILES[name])
    with HeadServer(profile, protocol=name, user="op", password="right", quirks=Quirks(login="digest")) as head:
        assert ask(profile, Address(*head.address, "op", "wrong"), name, 10.0) == "its head refuses the login"
        assert ask(profile, Address(*head.address, "op", "right"), name, 10.0) == ""
        connection = connect(profile, Address(*head.address, "op", "wrong"), name, monotonic_us())
        end_s = time.monotonic() + 20
        while "login" not in connection.problem and time.monotonic() < end_s:
            connection.listen(monotonic_us())
            connection.send(monotonic_us())
            time.sleep(0.01)
        connection.close()
        assert connection.problem == "its head refuses the login"


def test_address_and_limits_stand_in_full(tmp_path: Path) -> None:
    file = tmp_path / "venue.toml"
    file.write_text('[[camera]]\nname = "main"\naddress = "a-long-name-of-a-head.venue.example:52381"\n')
    found = run("check", str(file))
    assert "a-long-name-of-a-head.venue.example:52381\n" in found.stdout
    assert "pan -170.0 to 170.0, tilt -20.0 to 90.0\n" in found.stdout


def test_a_simulated_head_asks_for_a_login_that_the_environment_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEAD_USER", "op")
    refused = run("simulate", "--protocol", "onvif", "--port", "0", "--user-env", "HEAD_USER", "--password-env", "NONE")
    assert refused.returncode == 2
    assert "--password-env NONE: there is no such variable" in refused.stderr
    refused = run("simulate", "--port", "0", "--user-env", "HEAD_USER", "--password-env", "HEAD_USER")
    assert "the protocol visca has no login" in refused.stderr


def test_the_examples_of_the_docs_pass_as_they_are_pasted(tmp_path: Path) -> None:
    page = (Path(__file__).resolve().parents[3] / "docs" / "cameras.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```toml\n(# cameras\.toml.*?)^```", page, flags=re.M | re.S)
    (rules,) = re.findall(r"^```toml\n(\[\[rule\]\].*?)^```", page, flags=re.M | re.S)
    (tmp_path / "cameras.toml").write_text(example)
    (tmp_path / "cameras.rules.toml").write_text(rules)
    found = run("check", "--json", cwd=tmp_path)
    assert found.returncode == 0, found.stderr
    assert [camera["name"] for camera in json.loads(found.stdout)] == ["main", "behind", "striker"]


def test_a_mistake_is_one_sentence(tmp_path: Path) -> None:
    file = tmp_path / "venue.toml"
    file.write_text('[[camera]]\nname = "main"\nrole = "wide"\n')
    refused = run("check", str(file))
    assert refused.returncode == 2
    assert "'main': role: no role wide" in refused.stderr
    assert "Traceback" not in refused.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_simulated_head_says_when_it_is_ready_and_ends_by_a_signal(number: signal.Signals) -> None:
    command = [sys.executable, "-m", "app.cli.main", "cameras", "simulate", "--port", "0", "--json"]
    # A shell starts a command in the background like this: it ignores Ctrl-C until it says otherwise.
    ignoring = partial(signal.signal, signal.SIGINT, signal.SIG_IGN)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, preexec_fn=ignoring) as process:
        try:
            assert process.stdout is not None
            ready = json.loads(process.stdout.readline())
            assert ready["ready"]
            assert ready["port"] > 0
            process.send_signal(number)
            assert process.wait(60) == 0
        finally:
            process.kill()


def test_quirks_are_read_from_options() -> None:
    assert quirks_of(["loss=0.02", "split_bytes=3"]).split_bytes == 3
    with pytest.raises(CameraCommandError, match="speed"):
        quirks_of(["speed=3"])
    with pytest.raises(CameraCommandError):
        quirks_of(["loss"])


def test_rules_next_to_the_file_are_checked_too(tmp_path: Path) -> None:
    (tmp_path / "venue.toml").write_text('[[camera]]\nname = "main"\n')
    rules = tmp_path / "venue.rules.toml"
    rules.write_text('[[rule]]\nname = "a"\nwhen = "restart"\ncamera = "main"\nplayer = "event"\n')
    assert f"{rules}: 1 rules" in run("check", str(tmp_path / "venue.toml")).stdout
    rules.write_text(rules.read_text().replace('"main"', '"two"'))
    refused = run("check", str(tmp_path / "venue.toml"))
    assert refused.returncode == 2
    assert "venue.rules.toml: rule 'a': camera: no camera two" in refused.stderr.replace("\n", "")
