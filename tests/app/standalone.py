"""A standalone Spark cluster on this machine, from the classes in pyspark's jars: each member a process."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark

from app.base.java import find_java

_MASTER = "org.apache.spark.deploy.master.Master"
_WORKER = "org.apache.spark.deploy.worker.Worker"
_PATIENCE_S = 180.0


@contextmanager
def cluster(folder: Path, workers: int = 2) -> Iterator[str]:
    """The master's address while the context lasts; logs of all are in ``folder``."""
    started: list[subprocess.Popen[bytes]] = []
    port = _free_port()
    address = f"spark://127.0.0.1:{port}"
    try:
        started.append(_start(folder / "master", _MASTER, "--port", port, "--webui-port", _free_port()))
        _wait_for(folder / "master" / "log", r"I have been elected leader|New state: ALIVE")
        for number in range(workers):
            where = folder / f"worker-{number}"
            started.append(
                _start(where, _WORKER, "--webui-port", _free_port(), "--cores", 1, "--memory", "2g", "--work-dir",
                       where / "work", address)
            )  # fmt: skip
        for number in range(workers):
            _wait_for(folder / f"worker-{number}" / "log", r"Successfully registered with master")
        yield address
    finally:
        for process in reversed(started):
            process.send_signal(signal.SIGTERM)
        for process in started:
            process.wait(30)


def _start(folder: Path, name: str, *arguments: object) -> subprocess.Popen[bytes]:
    folder.mkdir(parents=True)
    java = find_java(os.environ)
    spark = Path(pyspark.__file__).parent
    command = [
        java.home / "bin" / "java",
        "-Xmx512m",
        "-cp",
        spark / "jars" / "*",
        name,
        "--host",
        "127.0.0.1",
        *arguments,
    ]
    environment = {
        **os.environ, "JAVA_HOME": str(java.home), "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_HOME": str(spark), "SPARK_SCALA_VERSION": "2.13",
    }  # fmt: skip
    with (folder / "log").open("wb") as log:
        return subprocess.Popen([str(part) for part in command], env=environment, stdout=log, stderr=log)


def _wait_for(log: Path, pattern: str) -> None:
    until_s = time.monotonic() + _PATIENCE_S
    while not re.search(pattern, log.read_text(errors="replace")):
        assert time.monotonic() < until_s, f"{log} never said {pattern}:\n{log.read_text(errors='replace')}"
        time.sleep(0.2)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]
