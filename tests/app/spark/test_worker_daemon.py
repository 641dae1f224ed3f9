"""The daemon of Spark's Python processes says nothing where Java is gone."""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import sys

import pytest

from app.base.private import temporary_folder
from app.spark import worker_daemon


@pytest.fixture
def daemon():
    """Starts the daemon with this standard output."""
    folder = str(temporary_folder())  # short enough for the path of a socket
    environment = {**os.environ, "PYTHON_UNIX_DOMAIN_ENABLED": "true", "PYTHON_WORKER_FACTORY_SOCK_DIR": folder}
    command = [sys.executable, "-m", worker_daemon.__name__, "pyspark.worker"]

    def start(stdout: int) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        return subprocess.Popen(command, stdin=pipe, stdout=stdout, stderr=pipe, env=environment)

    return start


def test_a_java_that_is_gone_before_a_process_answers_leaves_no_traceback(daemon):
    run = daemon(subprocess.PIPE)
    path = run.stdout.read(struct.unpack("!i", run.stdout.read(4))[0]).decode()
    for _ in range(3):
        with socket.socket(socket.AF_UNIX) as java:
            java.connect(path)
    run.stdin.close()
    assert run.stderr.read() == b"", "the end of stderr: of the daemon and of all its processes"
    run.wait(30)


def test_a_java_that_is_gone_before_the_daemon_listens_leaves_no_traceback(daemon):
    reader, writer = os.pipe()
    os.close(reader)
    run = daemon(writer)
    os.close(writer)
    assert run.communicate(timeout=30)[1] == b""
    assert run.returncode == 1


@pytest.mark.parametrize(("error", "is_printed"), [(BrokenPipeError(), False), (ValueError("bad"), True)])
def test_any_other_error_is_printed(capsys, error: Exception, is_printed: bool):
    try:
        raise error
    except Exception:
        worker_daemon.print_exc()
    assert ("Traceback" in capsys.readouterr().err) == is_printed
