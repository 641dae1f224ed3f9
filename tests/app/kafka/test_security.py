"""Topics over TLS with users and passwords, for real; and that no secret is left anywhere."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from app.base.java import find_java
from app.hub.feed import MatchFeed
from app.kafka import clients
from app.kafka.address import Address, KafkaError, parse
from app.kafka.broker import listener_port, start_broker, stop_broker
from app.kafka.follow import follow
from app.kafka.matches import find_match
from app.kafka.publish import publish
from app.kafka.relay import Relay
from app.kafka.security import SECURED, add_user, secured_listener
from tests.app.kafka.test_topics import capture, message, read_all
from tests.app.run.test_crash import ROOT, kill_group, launch, wait_for
from tests.quick_java import quick_java

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificates"),
]


class Secured(NamedTuple):
    """A broker with a plain port and a secured one, its client's settings and the password in them."""

    plain: str
    port: int
    client: Path
    password: str

    def address(self, topic: str, settings: Path | None = None) -> Address:
        return parse(f"kafka://127.0.0.1:{self.port}/{topic}?settings={settings or self.client}")


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    home = tmp_path_factory.mktemp("secured") / "broker"
    listener, client = secured_listener(home)
    java = find_java(os.environ)
    with quick_java():
        status = start_broker(home, 0, java, listeners=[listener])
    try:
        add_user(status.address, home)
        port = listener_port(home, SECURED)
        assert port is not None
        yield Secured(status.address, port, client, (home / "security" / "password").read_text())
    finally:
        stop_broker(home)


def settings(secured: Secured, folder: Path, *changes: tuple[str, str]) -> Path:
    """The client's settings with words replaced."""
    text = secured.client.read_text().replace('"ca.pem"', f'"{secured.client.parent / "ca.pem"}"')
    text = text.replace('"password"', f'"{secured.client.parent / "password"}"')
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (folder / "client.toml").write_text(text)
    return folder / "client.toml"


def test_what_a_secured_broker_needs_is_for_its_owner_only(secured: Secured):
    folder = secured.client.parent
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in (*folder.iterdir(), folder.parent / "server.properties")} == {
        0o600
    }
    assert secured_listener(folder.parent)[1].read_text() == secured.client.read_text(), "made once"


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-512", pytest.param("PLAIN", marks=pytest.mark.slow)])
def test_a_match_goes_in_and_out_over_tls_with_a_login(secured: Secured, tmp_path: Path, mechanism: str):
    mine = settings(secured, tmp_path, ("SCRAM-SHA-512", mechanism))
    positions, events = (secured.address(f"{mechanism}-{name}", mine) for name in ("positions", "events"))
    source = capture(tmp_path / "capture", blocks=5)
    publish(source, positions, speed=0)
    assert find_match(positions).match == "final"
    feed = MatchFeed(source.sheet)
    with Relay(feed, events, tmp_path):
        feed.apply(message(0, 0, 5, 0, ended=True), 0)
    assert list(follow(events))[-1].events == feed.events()
    assert len(read_all(secured.plain, f"{mechanism}-positions")) == 7


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ([("sasl_plain_password_file", "sasl_plain_password")], "user 'touchline' logged in with SCRAM-SHA-512"),
        pytest.param(
            [('"touchline"', '"nobody"')], "user 'nobody' logged in with SCRAM-SHA-512", marks=pytest.mark.slow
        ),
        ([("ssl_cafile", "#")], "the broker's certificate is not trusted"),
        pytest.param(
            [("SASL_SSL", "SASL_PLAINTEXT")],
            "logged in with SCRAM-SHA-512 over SASL_PLAINTEXT",
            marks=pytest.mark.slow,
        ),
        pytest.param([('"SASL_SSL"', '"PLAINTEXT"')], "PLAINTEXT may be wrong for this port", marks=pytest.mark.slow),
    ],
    ids=["password", "user", "certificate", "no TLS", "nothing"],
)
def test_a_wrong_setting_is_one_clear_line_without_the_secret(
    secured: Secured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: list[tuple[str, str]], message: str
):
    monkeypatch.setitem(clients.BOOTSTRAP, "bootstrap_timeout_ms", 2_000)
    with pytest.raises(KafkaError, match=message) as error:
        clients.make_topic(secured.address("t", settings(secured, tmp_path, *changes)))
    assert "\n" not in str(error.value)
    assert secured.password not in str(error.value)


def everything_in(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_commands_take_the_password_from_the_environment_and_tell_it_nobody(secured: Secured, tmp_path: Path):
    mine = settings(secured, tmp_path, ("sasl_plain_password_file", "sasl_plain_password_env"))
    text = mine.read_text()
    mine.write_text(text.replace(f'"{secured.client.parent / "password"}"', '"WORD_FOR_KAFKA"'))
    capture(tmp_path / "capture", blocks=3)
    done = subprocess.run(
        [sys.executable, "-m", "app.cli.main", "publish", tmp_path / "capture", f"kafka://127.0.0.1:{secured.port}/by-hand"],
        cwd=ROOT, capture_output=True, text=True, check=False,
        env={**os.environ, "TOUCHLINE_KAFKA_SETTINGS": str(mine), "WORD_FOR_KAFKA": secured.password},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert len(read_all(secured.plain, "by-hand")) == 5
    assert secured.password not in done.stdout + done.stderr
    assert secured.password.encode() not in everything_in(tmp_path)


def test_the_command_says_how_to_get_at_the_secured_port_and_not_the_password(secured: Secured):
    home = secured.client.parent.parent
    done = subprocess.run(
        [sys.executable, "-m", "app.cli.main", "broker", "start", "--secured", "--home", home],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert f"secured: kafka://127.0.0.1:{secured.port}/TOPIC?settings={secured.client}" in done.stdout
    assert secured.password not in done.stdout + done.stderr


@pytest.mark.slow
def test_a_live_match_over_tls_leaves_the_password_nowhere(secured: Secured, tmp_path: Path):
    """Neither in store, checkpoint or logs, nor in what anybody can see of a process."""
    source = capture(tmp_path / "capture", blocks=40)
    publish(source, secured.address("live"), speed=0)
    where = f"kafka://127.0.0.1:{secured.port}"
    store, log = tmp_path / "store", tmp_path / "run.log"
    run = launch(
        log, "app.cli.main", "live", "--source", f"{where}/live?settings={secured.client}", "--publish",
        f"{where}/live-events?settings={secured.client}", "--store", store, "--no-dashboard", "--no-camera",
    )  # fmt: skip
    try:
        wait_for(lambda: (store / "spark" / "spark.log").exists(), run, "Spark's log")
        seen = b"".join(path.read_bytes() for path in _command_lines())
        assert run.wait(240) == 3, log.read_text()[-3000:]  # played to the end; but its input has no ball
    finally:
        kill_group(run)
    changes = list(follow(secured.address("live-events"), idle_s=20))
    assert changes
    assert b"live-events" in seen, "the command lines were seen"
    assert secured.password.encode() not in seen
    for content in (everything_in(store), log.read_bytes()):
        assert content
        assert secured.password.encode() not in content
    assert str(secured.client).encode() in everything_in(store), "what is kept is where the settings are"


def _command_lines() -> list[Path]:
    return [path for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
