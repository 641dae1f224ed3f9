"""The local broker, for real: it is fetched, started, used by a foreign client, stopped, and keeps its data."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import uuid
from pathlib import Path

import pytest
from kafka import KafkaConsumer, KafkaProducer

from app.base.java import find_java
from app.kafka.broker import BrokerError, broker_status, start_broker, stop_broker

ROOT = Path(__file__).resolve().parents[3]


def command(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "app.cli.main", "broker", *words], cwd=ROOT, capture_output=True, text=True, check=False
    )


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
    with pytest.raises(BrokerError, match="did not answer"):
        start_broker(tmp_path, 0, find_java(os.environ))
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
