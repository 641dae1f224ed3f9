"""A local Kafka broker for trials and tests: one process, KRaft (no ZooKeeper), loopback only.

The broker is Apache Kafka itself (:mod:`app.kafka.broker_jars`). A broker's home folder holds its settings, its log,
its data and the id of its process. It is for one machine: replication 1, small internal topics, topics made on first
use.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import time
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from app.base.java import Java, cache_folder
from app.kafka.broker_jars import BrokerError, broker_jars, last_line

#: A broker is up in some 5 s on a quiet machine.
START_S = 90.0
STOP_S = 30.0


@dataclass(frozen=True)
class Listener:
    """Another listener of a broker, in addition to the plain one; on loopback too.

    Attributes:
        name: capital letters.
        protocol: as Kafka calls it: PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL.
        settings: of this listener only, with Kafka's names.
        port: 0 for a free one.
        advertised_port: the port that clients are sent to, if it is a proxy's; 0 for the port itself.
    """

    name: str
    protocol: str
    settings: Mapping[str, str] = field(default_factory=dict)
    port: int = 0
    advertised_port: int = 0


@dataclass(frozen=True)
class BrokerStatus:
    """State of a broker: its process (None without one), and if its port answers."""

    home: Path
    address: str
    pid: int | None
    answers: bool

    @property
    def is_up(self) -> bool:
        """True if clients can use it."""
        return self.pid is not None and self.answers


def start_broker(
    home: Path,
    port: int,
    java: Java,
    report: Callable[[str], None] = lambda _: None,
    listeners: Sequence[Listener] = (),
) -> BrokerStatus:
    """Start a broker that listens on 127.0.0.1, and return when it answers; do nothing if it runs already.

    Args:
        home: its folder; its data stay from run to run.
        port: of clients; 0 takes a free one at the first start. The home stores it.
        java: runtime to start it with.
        report: gets a message before a step that takes long.
        listeners: further ones; their ports are stored too.

    Raises:
        BrokerError: the jars cannot be fetched, the port is taken, or the broker did not start in time.
    """
    status = broker_status(home)
    if status.is_up:
        return status
    if status.pid is not None:
        stop_broker(home)
    jars = broker_jars(java, report)
    home.mkdir(0o700, parents=True, exist_ok=True)
    port = port or _stored_port(home) or _free_port()
    if _answers(port):
        raise BrokerError(f"port {port} is taken by another program: choose another --port")
    further = [replace(one, port=one.port or listener_port(home, one.name) or _free_port()) for one in listeners]
    settings = home / "server.properties"
    settings.unlink(missing_ok=True)
    settings.touch(0o600)  # passwords of users may stand in it
    settings.write_text(_settings(home.resolve(), port, _free_port(), further))
    log = home / "broker.log"
    run = [java.home / "bin" / "java", "-Xmx512m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", f"{jars}/*"]
    if not (home / "data" / "meta.properties").exists():
        cluster_id = urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        # Joined by "=": an identifier may begin with "-", and would be taken for an option.
        arguments = ["format", "--standalone", f"--cluster-id={cluster_id}", "--config", settings]
        done = subprocess.run(
            [*run, "kafka.tools.StorageTool", *arguments], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise BrokerError(f"cannot prepare {home / 'data'}: {last_line(done.stdout + done.stderr)}")
    with log.open("ab") as sink:
        process = subprocess.Popen(
            [*run, "kafka.Kafka", settings], stdin=subprocess.DEVNULL, stdout=sink, stderr=sink,
            start_new_session=True, umask=0o077,
        )  # fmt: skip
    (home / "pid").write_text(str(process.pid))
    until = time.monotonic() + START_S
    while time.monotonic() < until:
        if process.poll() is not None:
            (home / "pid").unlink(missing_ok=True)
            raise BrokerError(f"the broker ended while starting: {last_line(log.read_text(errors='replace'))}")
        if _serves(port):
            return broker_status(home)
        time.sleep(0.2)
    stop_broker(home)
    raise BrokerError(f"the broker did not answer within {START_S:.0f} s: see {log}")


def stop_broker(home: Path) -> bool:
    """Stop the broker of ``home``; False if none was running.

    Raises:
        BrokerError: it does not end.
    """
    pid = _pid(home)
    if pid is None:
        return False
    os.kill(pid, signal.SIGTERM)
    until = time.monotonic() + STOP_S
    while time.monotonic() < until:
        if not _is_broker(pid):
            (home / "pid").unlink(missing_ok=True)
            return True
        time.sleep(0.1)
    raise BrokerError(f"process {pid} does not end: see {home / 'broker.log'}")


def broker_status(home: Path) -> BrokerStatus:
    """The state of the broker of ``home``."""
    port = _stored_port(home)
    return BrokerStatus(home, f"127.0.0.1:{port}" if port else "", _pid(home), bool(port) and _answers(port))


def listener_port(home: Path, name: str) -> int | None:
    """Port of a further listener of a broker, None if it has none of that name."""
    listener = re.search(rf"^listeners=.*\b{re.escape(name)}://[^,:]+:(\d+)", _stored_settings(home), re.MULTILINE)
    return int(listener[1]) if listener else None


def default_home() -> Path:
    """The home of a broker for which no other is named."""
    return cache_folder(os.environ) / "broker"


def _settings(home: Path, port: int, controller_port: int, further: Sequence[Listener]) -> str:
    listeners = [f"PLAINTEXT://127.0.0.1:{port}", *(f"{one.name}://127.0.0.1:{one.port}" for one in further)]
    advertised = [
        f"PLAINTEXT://127.0.0.1:{port}",
        *(f"{one.name}://127.0.0.1:{one.advertised_port or one.port}" for one in further),
    ]
    protocols = ["PLAINTEXT:PLAINTEXT", "CONTROLLER:PLAINTEXT", *(f"{one.name}:{one.protocol}" for one in further)]
    lines = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.bootstrap.servers": f"127.0.0.1:{controller_port}",
        "listeners": ",".join([*listeners, f"CONTROLLER://127.0.0.1:{controller_port}"]),
        "advertised.listeners": ",".join(advertised),
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": ",".join(protocols),
        "log.dirs": str(home / "data"),
        "num.partitions": "1",
        "offsets.topic.num.partitions": "1",
        "offsets.topic.replication.factor": "1",
        "transaction.state.log.num.partitions": "1",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "share.coordinator.state.topic.num.partitions": "1",
        "share.coordinator.state.topic.replication.factor": "1",
        "share.coordinator.state.topic.min.isr": "1",
        "group.initial.rebalance.delay.ms": "0",
        # A killed broker cannot join again before its session has expired, after nine seconds by default.
        "broker.session.timeout.ms": "3000",
        "broker.heartbeat.interval.ms": "500",
    }
    for one in further:
        lines |= {f"listener.name.{one.name.lower()}.{key}": value for key, value in one.settings.items()}
    return "".join(f"{key}={value}\n" for key, value in lines.items())


def _pid(home: Path) -> int | None:
    try:
        pid = int((home / "pid").read_text())
    except (OSError, ValueError):
        return None
    return pid if _is_broker(pid) else None


def _is_broker(pid: int) -> bool:
    """True if the process is Kafka and no zombie: another program may have the id of a broker that has ended."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as command:
            return b"kafka.Kafka" in command.read()
    except FileNotFoundError:
        if Path("/proc/self").exists():
            return False
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


def _stored_port(home: Path) -> int | None:
    return listener_port(home, "PLAINTEXT")


def _stored_settings(home: Path) -> str:
    try:
        return (home / "server.properties").read_text()
    except OSError:
        return ""


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(0.5)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _serves(port: int) -> bool:
    """True if the broker not only listens but answers the first request of a client."""
    if not _answers(port):
        return False
    from kafka import KafkaAdminClient
    from kafka.errors import KafkaError

    try:
        client = KafkaAdminClient(bootstrap_servers=f"127.0.0.1:{port}", request_timeout_ms=2_000)
    except KafkaError:
        return False
    client.close()
    return True
