"""The local broker, for real: it is fetched, started, used by a foreign client, stopped, and keeps its data."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import subprocess
import sys
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from kafka import KafkaConsumer, KafkaProducer

from app.base.java import Java, find_java
from app.kafka import broker_jars
from app.kafka.broker import BrokerError, broker_status, start_broker, stop_broker
from tests.quick_java import quick_java

ROOT = Path(__file__).resolve().parents[3]


def command(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "app.cli.main", "broker", *words], cwd=ROOT, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
@pytest.mark.spark
def test_a_broker_serves_keeps_its_data_and_its_port(tmp_path: Path):
    home = tmp_path / "broker"
    started = command("start", "--port", "0", "--home", str(home), "--json")
    assert started.returncode == 0, started.stderr
    address = json.loads(started.stdout)["address"]
    try:
        producer = KafkaProducer(bootstrap_servers=address)
        producer.send("trial", b"first").get(30)
        producer.close()
        assert start_broker(home, 0, find_java(os.environ)).pid == json.loads(started.stdout)["pid"]
        assert "up at" in command("status", "--home", str(home)).stdout
        assert command("stop", "--home", str(home)).stdout == "stopped\n"
        assert command("status", "--home", str(home)).returncode == 1
        assert start_broker(home, 0, find_java(os.environ)).address == address
        consumer = KafkaConsumer(
            "trial", bootstrap_servers=address, auto_offset_reset="earliest", consumer_timeout_ms=20_000
        )
        assert next(consumer).value == b"first"
        consumer.close()
    finally:
        stop_broker(home)


@pytest.mark.spark
def test_a_cluster_id_that_begins_with_a_dash_is_no_option(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("app.kafka.broker.uuid.uuid4", lambda: uuid.UUID(bytes=b"\xf8" * 16))
    monkeypatch.setattr("app.kafka.broker.START_S", 0.0)  # preparing the data is enough
    java = find_java(os.environ)
    with quick_java(), pytest.raises(BrokerError, match="did not answer"):
        start_broker(tmp_path, 0, java)
    assert "cluster.id=-" in (tmp_path / "data" / "meta.properties").read_text()


def test_a_taken_port_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("app.kafka.broker.broker_jars", lambda java, tell: tmp_path)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(BrokerError, match=f"port {port} is taken"):
            start_broker(tmp_path / "broker", port, find_java(os.environ))


def test_a_number_that_belongs_to_another_program_is_not_the_broker(tmp_path: Path):
    (tmp_path / "pid").write_text(str(os.getpid()))
    assert broker_status(tmp_path).pid is None
    assert not stop_broker(tmp_path)


@pytest.fixture
def jars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("a.jar", "b.jar"):
        (tmp_path / name).write_bytes(name.encode())
    known = {name: hashlib.sha256(name.encode()).hexdigest() for name in ("a.jar", "b.jar")}
    monkeypatch.setattr(broker_jars, "SHA256", known)
    broker_jars.check_jars(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "fault"),
    [("a.jar", "is not the jar that was released"), ("c.jar", "c.jar is unknown"), ("b.jar", "b.jar is missing")],
)
def test_the_broker_starts_from_released_jars_only(jars: Path, name: str, fault: str):
    (jars / name).write_bytes(b"other") if name != "b.jar" else (jars / name).unlink()
    with pytest.raises(BrokerError, match=fault):
        broker_jars.check_jars(jars)


def test_jars_in_the_cache_are_checked_at_each_start(tmp_path: Path):
    folder = tmp_path / f"kafka-{broker_jars.KAFKA[2]}"
    folder.mkdir()
    (folder / "kafka_2.13-4.1.0.jar").write_bytes(b"other")
    with pytest.raises(BrokerError, match="remove the folder, it is fetched again"):
        broker_jars.broker_jars(find_java(os.environ), print, tmp_path)


FETCHES = """#!/bin/sh
mkdir {at_work} || exit 1  # another fetch is under way
sleep 0.3
while [ "$1" != -dependency ]; do shift; done
name="$3-$4.jar"
while [ "$1" != -retrieve ]; do shift; done
folder=$(dirname "$2")
mkdir -p "$folder" && printf %s "$name" > "$folder/$name"
echo "$name" >> {fetched}
rmdir {at_work}
"""


def test_one_of_several_processes_fetches_the_jars_and_the_others_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    program, fetched, cache = tmp_path / "java/bin/java", tmp_path / "fetched", tmp_path / "cache"
    program.parent.mkdir(parents=True)
    program.write_text(FETCHES.format(at_work=tmp_path / "at_work", fetched=fetched))
    program.chmod(0o755)
    names = [f"{module[1]}-{module[2]}.jar" for module in (broker_jars.KAFKA, broker_jars.SLF4J)]
    monkeypatch.setattr(broker_jars, "SHA256", {name: hashlib.sha256(name.encode()).hexdigest() for name in names})
    java = Java(tmp_path / "java", 17, "a test", "")
    with ThreadPoolExecutor(3) as several:
        found = list(several.map(lambda _: broker_jars.broker_jars(java, print, cache), range(3)))
    assert found == [cache / f"kafka-{broker_jars.KAFKA[2]}"] * 3
    assert fetched.read_text().split() == names


def test_a_fetch_that_fails_gives_the_reason_and_leaves_nothing(tmp_path: Path):
    program = tmp_path / "java/bin/java"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\necho 'module not found'\necho ::::::::\nexit 1\n")
    program.chmod(0o755)
    with pytest.raises(BrokerError, match=r"cannot fetch .*: module not found"):
        broker_jars.broker_jars(Java(tmp_path / "java", 17, "a test", ""), print, tmp_path / "cache")
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["ivy"]
