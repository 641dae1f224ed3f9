"""Server that forks Spark's Python processes off one that has imported what they need.

Theory of operation
-------------------
A run of Spark needs a dozen Python processes, and each would import PySpark, Arrow and, for the engine, the detectors
and their kernels: three seconds of processor time, most of it after Spark is up, while everything else waits. The run
starts this server first. The server imports while Spark's Java starts.

Java starts the launcher (:mod:`app.spark.launcher`) in place of the interpreter. The launcher sends its arguments,
environment and standard streams over a socket, and the server forks a process that takes them over and runs the module.
A request that comes while the server still imports waits. The socket lies in a folder that only this user can enter.

The server ends with the run: it holds the reading end of a pipe whose other end closes with the run's process. The
processes that it has forked end with Spark's Java, as those that Java starts itself.
"""

from __future__ import annotations

import gc
import json
import os
import runpy
import select
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path

from app.base.arrow import without_pandas
from app.base.private import private_files, temporary_folder
from app.base.program import IMPORT_ROOT, module_name
from app.spark import launcher

#: What the processes import: Spark's own modules, and ours.
_MODULES = (
    "pyspark.daemon", "pyspark.worker", "pyspark.sql.worker.create_data_source",
    "pyspark.sql.worker.plan_data_source_read", "pyspark.sql.streaming.python_streaming_source_runner",
    module_name("app.spark.worker_daemon"), module_name("app.spark.source"), module_name("app.spark.stage"),
    module_name("app.pipeline.pipeline"),
)  # fmt: skip


@contextmanager
def fork_server() -> Iterator[Path]:
    """Runs a server while the context lasts; yields the program that Spark runs in place of the interpreter."""
    folder = temporary_folder()
    address, program = folder / "forks", folder / "python"
    command = [sys.executable, "-I", "-S", launcher.__file__, str(address)]
    with private_files(), socket.socket(socket.AF_UNIX) as listener:
        address.unlink(missing_ok=True)
        listener.bind(str(address))
        listener.listen()
        program.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
        program.chmod(0o700)
        server = subprocess.Popen(
            [sys.executable, "-P", "-u", "-m", __name__, str(listener.fileno())],
            # All processes of Spark must hash alike.
            env={**os.environ, "PYTHONHASHSEED": os.environ.get("PYTHONHASHSEED", "0"), "PYTHONPATH": _path()},
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, pass_fds=[listener.fileno()], start_new_session=True,
        )  # fmt: skip
    try:
        yield program
    finally:
        server.terminate()
        server.communicate()
        address.unlink(missing_ok=True)


def _path() -> str:
    return os.pathsep.join(filter(None, [str(IMPORT_ROOT), os.environ.get("PYTHONPATH")]))


def main(descriptor: int) -> None:
    """Entry point of the server."""
    _import_all()
    gc.freeze()  # the processes share these objects as long as none of them looks for garbage among them
    serve(socket.socket(fileno=descriptor))


def serve(listener: socket.socket) -> None:
    """Forks a process for each request, until standard input is closed."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the system clears its children away
    while True:
        ready, _, _ = select.select([listener, 0], [], [])
        if 0 in ready:
            return
        connection, _ = listener.accept()
        with connection, suppress(ConnectionError, json.JSONDecodeError):
            arguments, environment, streams = _request(connection)
            pid = os.fork()
            if pid == 0:
                listener.close()
                _become(connection, arguments, environment, streams)
            connection.sendall(launcher.NUMBER.pack(pid))
            for stream in streams:
                os.close(stream)


def _import_all() -> None:
    without_pandas()
    for name in _MODULES:
        import_module(name)
    from detectors.catalogue import DETECTORS, REFERENCES
    from detectors.parameters import Parameters
    from detectors.signals.kernels.break_solver import is_compiled
    from football.match_sheet import MatchSheet

    if not is_compiled():  # the run compiles them, see app.run.live
        return
    sheet, parameters = MatchSheet(quality=REFERENCES[0]), Parameters()
    for entry in DETECTORS:
        if entry.enabled_for(sheet.quality):
            entry.build(sheet, parameters).initial()  # loads its kernels


def _request(connection: socket.socket) -> tuple[list[str], dict[str, str], list[int]]:
    """Receives a request: the arguments of an interpreter, the environment, and the standard streams.

    Raises:
        ConnectionError: the launcher has ended.
    """
    head, streams, _, _ = socket.recv_fds(connection, launcher.LENGTH.size, 3)
    if len(head) < launcher.LENGTH.size:
        raise ConnectionError("the launcher has ended")
    with connection.makefile("rb") as body:
        arguments, environment = json.loads(body.read(launcher.LENGTH.unpack(head)[0]))
    return arguments, environment, streams


def _become(connection: socket.socket, arguments: list[str], environment: dict[str, str], streams: list[int]) -> None:
    """Turns this fork into the process that was requested, and ends it; the launcher gets its exit code."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.environ.clear()
    os.environ.update(environment)
    if role := environment.get("TOUCHLINE_ROLE"):
        Path("/proc/self/comm").write_text(role, encoding="ascii")  # the system lists it by its role
    sys.path[:0] = [part for part in environment.get("PYTHONPATH", "").split(os.pathsep) if part not in sys.path]
    _, module, *rest = arguments  # -m MODULE
    sys.modules.pop(module, None)  # it runs anew, as the main module
    sys.argv = [module, *rest]
    code = 1
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
            connection.sendall(launcher.NUMBER.pack(code))
        os._exit(code)


if __name__ == "__main__":
    main(int(sys.argv[1]))
