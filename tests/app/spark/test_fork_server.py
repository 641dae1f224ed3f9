"""The fork server: what it forks is like what the interpreter would have started."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.spark import launcher

SERVER = "import socket, sys; from app.spark.fork_server import serve; serve(socket.socket(fileno=int(sys.argv[1])))"

#: A module that shows how it was started.
SHOWN = """
import json, os, sys
print(json.dumps([os.getppid(), __name__, sys.argv[1:], os.environ.get("SHOWN"), "HOME" in os.environ]))
print("and says", sys.stdin.read(), file=sys.stderr)
sys.exit(3 if "fails" in sys.argv else 0)
"""


class Served:
    """A server, and the launcher's command."""

    def __init__(self, folder: Path) -> None:
        self.address, self.folder = folder / "forks", folder
        (folder / "shown.py").write_text(SHOWN)
        (folder / "sleeper.py").write_text("print('sleeps', flush=True)\nimport time\ntime.sleep(60)\n")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(self.address))
            listener.listen()
            command = [sys.executable, "-c", SERVER, str(listener.fileno())]
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[listener.fileno()])

    def start(self, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-I", "-S", launcher.__file__, str(self.address), "-m", *arguments],
            env={"PYTHONPATH": str(self.folder), **environment},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    made = Served(tmp_path_factory.mktemp("s"))
    yield made
    made.process.communicate()
    assert made.process.returncode == 0, "it ends when its run has closed the pipe"


def test_a_module_runs_with_the_arguments_environment_and_streams_of_the_launcher(served: Served):
    process = served.start("shown", "one", "fails", SHOWN="here")
    out, err = process.communicate("a line")
    parent, name, arguments, variable, has_home = json.loads(out)
    assert (name, arguments, variable, has_home) == ("__main__", ["one", "fails"], "here", False)
    assert parent == served.process.pid
    assert err == "and says a line\n"
    assert process.returncode == 3


def test_sigterm_to_the_launcher_ends_the_process(served: Served):
    process = served.start("sleeper")
    assert process.stdout is not None
    assert process.stdout.readline() == "sleeps\n"
    process.send_signal(signal.SIGTERM)
    process.communicate()
    assert process.returncode == 1, "a process that sleeps for a minute would return 0"


def test_a_sigterm_that_comes_before_the_launcher_knows_the_process_ends_it_all_the_same(tmp_path: Path):
    address = str(tmp_path / "forks")
    with socket.socket(socket.AF_UNIX) as server, subprocess.Popen(["sleep", "60"]) as sleeper:
        server.bind(address)
        server.listen()
        command = [sys.executable, "-I", "-S", launcher.__file__, address, "-m", "sleeper"]
        with subprocess.Popen(command) as process:
            connection, _ = server.accept()
            with connection:
                size = launcher.LENGTH.unpack(connection.recv(launcher.LENGTH.size))[0]
                while size:
                    size -= len(connection.recv(size))
                process.send_signal(signal.SIGTERM)
                connection.sendall(launcher.NUMBER.pack(sleeper.pid))
                try:
                    assert sleeper.wait(20) == -signal.SIGTERM
                finally:
                    sleeper.kill()
                connection.sendall(launcher.NUMBER.pack(1))
        assert process.returncode == 1


def test_without_a_server_the_launcher_becomes_the_interpreter(tmp_path: Path):
    (tmp_path / "shown.py").write_text(SHOWN)
    command = [sys.executable, "-I", "-S", launcher.__file__, str(tmp_path / "nobody"), "-m", "shown", "fails"]
    environment = {"PYTHONPATH": str(tmp_path), "SHOWN": "here"}
    done = subprocess.run(command, env=environment, input="", capture_output=True, text=True, check=False)
    assert json.loads(done.stdout)[:4] == [os.getpid(), "__main__", ["fails"], "here"]
    assert done.returncode == 3
