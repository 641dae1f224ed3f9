"""A run as another user of the machine meets it: files, sockets, ports, and modules in the working folder.

The run has the worst surroundings: umask 0, a temporary folder that everybody can write to, and a working folder with
modules that are named like those of Python.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.app.cli.test_main import ROOT, write_track
from tests.app.operations.test_secrets import members
from tests.app.run.test_crash import jvm, kill_group

#: Loopback as /proc/net has it: of IPv4, and of IPv4 in a socket of IPv6, as Java opens it.
_LOOPBACK, _LOOPBACK_MAPPED = "0100007F", "0000000000000000FFFF00000100007F"
HUB = secrets.token_hex(16)
pytestmark = [pytest.mark.spark, pytest.mark.skipif(not Path("/proc/net/unix").exists(), reason="looks into /proc")]
as_another = pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")

#: Runs ``touchline`` with umask 0 and a hub whose token is known.
_RUN = f"""
import os, secrets
os.umask(0)
real = secrets.token_hex
secrets.token_hex = lambda n: "{HUB}" if n == 16 else real(n)
from app.cli.main import main
main()
"""

#: Tries, as another user, to list and read all that lies below the paths, and to connect to the sockets among them.
_FOREIGNER = """
import os, pathlib, socket, sys
os.setgroups([]); os.setgid(65534); os.setuid(65534)
for top in sys.argv[1:]:
    for path in [pathlib.Path(top), *(pathlib.Path(a) / n for a, ds, ns in os.walk(top) for n in ds + ns)]:
        try:
            if path.is_socket():
                socket.socket(socket.AF_UNIX).connect(str(path))
            elif path.is_dir():
                os.listdir(path)
            else:
                path.read_bytes()
        except OSError:
            continue
        print(path)
"""


class PrivateRun:
    """A live match in mid-window."""

    def __init__(self, folder: Path, process: subprocess.Popen[bytes]) -> None:
        self.folder, self.process = folder, process
        self.store, self.temporary = folder / "store", folder / "tmp"

    def pids(self) -> list[int]:
        return list(members(self.process))

    def sockets(self, pid: int) -> set[str]:
        """Inodes of the sockets of a process."""
        links = (os.readlink(entry) for entry in Path(f"/proc/{pid}/fd").iterdir() if entry.is_symlink())
        return {match[1] for link in links if (match := re.fullmatch(r"socket:\[(\d+)\]", link))}


@pytest.fixture(scope="module")
def run() -> Iterator[PrivateRun]:
    folder = Path(tempfile.mkdtemp(prefix="open-", dir="/tmp"))  # pytest's own are closed to other users
    folder.chmod(0o755)
    (folder / "tmp").mkdir()
    (folder / "tmp").chmod(0o1777)
    for module in ("numbers", "queue", "platform"):
        (folder / f"{module}.py").write_text(f"open({str(folder)!r} + '/imported-{module}', 'a')\nraise ImportError\n")
    track = write_track(folder / "track.parquet", 60.0)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(folder / "tmp")}
    environment.pop("PYTHONSAFEPATH", None)
    command = [sys.executable, "-P", "-c", _RUN, "live", "--source", str(track), "--store", str(folder / "store")]
    with (folder / "output").open("ab") as output:
        process = subprocess.Popen(
            [*command, "--port", "0", "--metrics-port", "0", "--window", "2", "--log-level", "debug"],
            cwd=folder, env=environment, stdout=output, stderr=output, start_new_session=True,
        )  # fmt: skip
    try:
        until_s = time.monotonic() + 120
        while not list((folder / "store" / "commits").glob("[0-9]*.json")):
            assert process.poll() is None, (folder / "output").read_text()
            assert time.monotonic() < until_s, (folder / "output").read_text()
            time.sleep(0.05)
        yield PrivateRun(folder, process)
    finally:
        kill_group(process)
        shutil.rmtree(folder, ignore_errors=True)


def test_all_files_and_sockets_of_a_run_are_for_its_user_only(run: PrivateRun):
    (temporary,) = run.temporary.glob("touchline-*")
    paths = [path for top in (run.store, temporary) for path in (top, *top.rglob("*"))]
    assert any(path.is_socket() for path in paths), "Spark's workers listen in the temporary folder"
    open_ones = [path for path in paths if path.exists() and stat.S_IMODE(path.stat().st_mode) & 0o077]
    assert not open_ones
    assert [path for path in run.temporary.iterdir() if path != temporary and path.stat().st_mode & 0o077] == []


@as_another
def test_another_user_reads_nothing_and_connects_to_no_socket(run: PrivateRun):
    command = [sys.executable, "-P", "-I", "-c", _FOREIGNER, str(run.store), str(run.temporary)]
    tried = subprocess.run(command, capture_output=True, text=True, check=False)
    assert tried.returncode == 0, tried.stderr
    assert tried.stdout.split() == [str(run.temporary)]


def test_no_unix_socket_of_a_run_lies_elsewhere(run: PrivateRun):
    (temporary,) = run.temporary.glob("touchline-*")
    inodes = set().union(*(run.sockets(pid) for pid in run.pids()))
    rows = [line.split() for line in Path("/proc/net/unix").read_text().splitlines()[1:]]
    paths = {Path(row[7]) for row in rows if len(row) > 7 and row[6] in inodes and row[7].startswith("/")}
    assert paths
    assert {path.parent for path in paths} == {temporary}


def test_a_run_listens_on_loopback_only_and_python_for_the_page_only(run: PrivateRun):
    """Py4J's callback server would be a second port, on which every local process may call functions of the driver.

    Java's ports are Py4J's gateway, which asks for a secret, and Spark's, which does so by ``spark.authenticate``.
    """
    lines = [line for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]]
    listening = {row[9]: row[1].partition(":")[0] for row in map(str.split, lines) if row[3] == "0A"}
    ports = {pid: [listening[inode] for inode in run.sockets(pid) if inode in listening] for pid in run.pids()}
    assert {address for addresses in ports.values() for address in addresses} <= {_LOOPBACK, _LOOPBACK_MAPPED}
    assert len(ports[run.process.pid]) == 1
    java = jvm(run.process)
    assert len(ports[java]) == 3, ports
    assert not [pid for pid in ports if ports[pid] and pid not in (run.process.pid, java)]


def test_no_process_imports_from_the_working_folder(run: PrivateRun):
    output = (run.folder / "output").read_text()
    assert len(run.pids()) >= 4, f"driver, Java, a source and an engine, not {run.pids()}: {output}"
    assert not list(run.folder.glob("imported-*"))


def test_the_hubs_token_is_in_no_file(run: PrivateRun):
    tops = (run.store, run.temporary)
    files = [path for top in tops for path in top.rglob("*") if path.is_file() and not path.is_symlink()]
    assert files
    needles = (HUB.encode(), bytes.fromhex(HUB))
    assert not [path for path in files if any(needle in path.read_bytes() for needle in needles)]
