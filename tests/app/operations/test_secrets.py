"""Secrets of a run are in no log, store, checkpoint or list of processes, and in no child that needs them not."""

from __future__ import annotations

import http.client
import json
import os
import re
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from app.base.java import find_java
from app.hub.client import HubAddress
from app.kafka.address import parse
from app.kafka.broker import listener_port, start_broker, stop_broker
from app.kafka.publish import publish
from app.kafka.security import SECURED, add_user, secured_listener
from app.sources.captures import prepare_capture
from replay.capture import Capture
from simulator.settings import DEFAULT_SEED
from tests.app.cli.test_main import write_track
from tests.app.run.test_crash import kill_group

ROOT = Path(__file__).resolve().parents[3]
pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks into /proc")

PAGE = secrets.token_urlsafe(24)
HUB = secrets.token_hex(16)

#: Runs `touchline` with a hub whose token is known. A relay's session is shorter, and no secret.
_KNOWN_HUB = (
    "import secrets; hub, real = open({file!r}).read(), secrets.token_hex\n"
    "secrets.token_hex = lambda n: hub if n == 16 else real(n)\n"
    "from app.cli.main import main; main()"
)


def start(folder: Path, *arguments: object, **environ: str) -> subprocess.Popen[bytes]:
    """A live run in a group of its own; what Spark keeps for itself lies in the folder, too."""
    file = folder.with_name("hub")
    file.write_text(HUB)
    code = _KNOWN_HUB.format(file=str(file))
    environment = {
        **os.environ, "PYTHONPATH": str(ROOT), "TOUCHLINE_TOKEN": PAGE, "SPARK_LOCAL_DIRS": str(folder / "local"),
        "TMPDIR": str(folder / "tmp"), **environ,
    }  # fmt: skip
    (folder / "tmp").mkdir(parents=True)
    command = [sys.executable, "-c", code, "live", *map(str, arguments), "--port", "0", "--log-level", "debug"]
    with (folder / "output").open("ab") as output:
        return subprocess.Popen(
            command, cwd=folder, env=environment, stdout=output, stderr=output, start_new_session=True
        )


def members(run: subprocess.Popen[bytes]) -> Iterator[int]:
    """Processes of the run: itself and all that descend from it."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError, IndexError):
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    for pid in parents:
        ancestor = pid
        while ancestor not in (run.pid, 0):
            ancestor = parents.get(ancestor, 0)
        if ancestor:
            yield pid


def seen(run: subprocess.Popen[bytes], what: str) -> dict[int, bytes]:
    """``cmdline`` or ``environ`` of all processes of the run but the tests' own starter."""
    found = {}
    for pid in members(run):
        try:
            found[pid] = Path(f"/proc/{pid}/{what}").read_bytes()
        except OSError:
            continue
    return found


def holding(folder: Path, hidden: list[str]) -> list[str]:
    """Files below the folder in which one of the secrets stands."""
    found = []
    for path in folder.rglob("*"):
        try:
            content = path.read_bytes() if path.is_file() else b""
        except OSError:
            continue
        found += [f"{path.relative_to(folder)}: secret {i}" for i, one in enumerate(hidden) if one.encode() in content]
    return found


def wait_for(run: subprocess.Popen[bytes], folder: Path, pattern: str) -> None:
    until_s = time.monotonic() + 180
    while not list(folder.glob(pattern)):
        assert run.poll() is None, (folder / "output").read_text()[-2000:]
        assert time.monotonic() < until_s, f"{pattern} did not come"
        time.sleep(0.1)


def check_server(folder: Path) -> None:
    """Metrics and health are served where the run says, to who brings the token."""
    found = re.search(r"Metrics: http://(127\.0\.0\.1:\d+)/metrics", (folder / "output").read_text())
    assert found
    for path, token, statuses in (("/metrics", "", {401}), ("/metrics", PAGE, {200}), ("/health", PAGE, {200, 503})):
        connection = http.client.HTTPConnection(found[1], timeout=20)
        connection.request("GET", path, headers={"Authorization": f"Bearer {token}"} if token else {})
        answer = connection.getresponse()
        assert answer.status in statuses
        body = answer.read().decode()
        assert not token or path == "/health" or f'touchline_commits_total{{match="sim-{DEFAULT_SEED}"}}' in body


@pytest.mark.slow
def test_the_token_of_page_and_hub_is_nowhere_in_a_run(tmp_path: Path):
    folder = tmp_path / "run"
    run = start(folder, "--engine", "inprocess", "--duration", 2700, "--window", 1, "--store", folder / "store")
    try:
        wait_for(run, folder, "store/commits/0*.json")  # of the engine: on a busy machine a camera commits before it
        check_server(folder)
        lines, children = (
            seen(run, "cmdline"),
            {pid: text for pid, text in seen(run, "environ").items() if pid != run.pid},
        )
        os.kill(run.pid, signal.SIGINT)
        assert run.wait(60) == 0
    finally:
        kill_group(run)
    assert children, "the simulator is a child"
    for text in (*lines.values(), *children.values()):
        assert PAGE.encode() not in text
    assert holding(folder, [PAGE, HUB]) == []
    (folder / "store" / "bait").write_text(f"x{HUB}x")
    assert holding(folder, [PAGE, HUB]) == ["store/bait: secret 1"], "what is there is found"
    assert "?token=..." in (folder / "output").read_text()
    (log,) = (folder / "store" / "logs").glob("*.jsonl")
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert {"run begins", "batch committed", "rates", "run ends"} <= {line["what"] for line in lines}
    assert {line["match"] for line in lines if line["logger"].startswith("app.")} == {f"sim-{DEFAULT_SEED}"}


def test_an_address_shows_no_token():
    assert HUB not in repr(HubAddress("hub", HUB)) + str([HubAddress("hub", HUB)])


@pytest.mark.slow
@pytest.mark.spark
def test_no_secret_is_left_by_spark_and_topics_even_if_all_is_killed(tmp_path: Path):
    home, java, folder = tmp_path / "broker", find_java(os.environ), tmp_path / "run"
    listener, client = secured_listener(home)
    password = (client.parent / "password").read_text()
    status = start_broker(home, 0, java, listeners=[listener])
    add_user(status.address, home)
    broker = f"127.0.0.1:{listener_port(home, SECURED)}"
    source, events = (f"kafka://{broker}/{topic}?settings={client}" for topic in ("positions", "events"))
    prepare_capture(str(write_track(tmp_path / "track.parquet", 40.0)), "none", 1, tmp_path / "capture")
    speaker = threading.Thread(
        target=publish, args=(Capture.open(tmp_path / "capture"), parse(source), 1.0), daemon=True
    )
    run = start(folder, "--source", source, "--publish", events, "--window", 3, "--store", folder / "store")
    try:
        speaker.start()
        wait_for(run, folder, "store/commits/0*.json")
        lines, environs = seen(run, "cmdline"), seen(run, "environ")
        while_running = holding(folder, [PAGE, HUB, password])
    finally:
        kill_group(run)
        speaker.join(120)
        stop_broker(home)
    assert any(b"SparkSubmit" in line for line in lines.values())
    assert sum(b"pyspark" in line for line in lines.values()) >= 2, "workers were there"
    for line in lines.values():
        assert not [one for one in (PAGE, HUB, password) if one.encode() in line], line
    for pid, environ in environs.items():
        assert pid == run.pid or PAGE.encode() not in environ
        assert HUB.encode() not in environ
        assert password.encode() not in environ
    assert while_running == holding(folder, [PAGE, HUB, password]) == []
    logs = "".join(path.read_text() for path in (folder / "store" / "logs").glob("*.jsonl"))
    assert '"process":"engine-0"' in logs
    assert '"process":"source"' in logs
