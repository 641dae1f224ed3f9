"""Launcher that Spark's Java runs in place of the Python interpreter: has the fork server start the process.

    python -I -S launcher.py SOCKET -m MODULE [ARGUMENT ...]

The launcher sends its arguments, its environment and its standard streams to the server behind ``SOCKET``
(:mod:`app.spark.fork_server`), lives as long as the process that the server forks, and passes SIGTERM on to it. If no
server answers, it becomes the interpreter itself. It imports little, since the run waits for it several times.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
import sys
from contextlib import suppress

#: Length of the request, which follows as JSON: arguments, environment.
LENGTH = struct.Struct(">I")

#: The answers: the identifier of the process, and its exit code when it has ended.
NUMBER = struct.Struct(">i")


def main(address: str, arguments: list[str]) -> int:
    """Starts the process and waits until it has ended; returns its exit code, 1 if it was killed."""
    with socket.socket(socket.AF_UNIX) as connection:
        # A signal waits until the process to pass it on to is known: it would end the launcher alone.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
        try:
            pid = _ask(connection, address, arguments)
        except OSError:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
            os.execv(sys.executable, [sys.executable, *arguments])
        signal.signal(signal.SIGTERM, lambda *_: _terminate(pid))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
        return _number(connection)


def _ask(connection: socket.socket, address: str, arguments: list[str]) -> int:
    """Sends the request and returns the identifier of the process.

    Raises:
        OSError: no server answers.
    """
    request = json.dumps([arguments, dict(os.environ)]).encode()
    connection.connect(address)
    socket.send_fds(connection, [LENGTH.pack(len(request))], [0, 1, 2])
    connection.sendall(request)
    if (pid := _number(connection, 0)) == 0:
        raise ConnectionError("the fork server has ended")
    return pid


def _number(connection: socket.socket, default: int = 1) -> int:
    answer = connection.recv(NUMBER.size)
    return int(NUMBER.unpack(answer)[0]) if len(answer) == NUMBER.size else default


def _terminate(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
