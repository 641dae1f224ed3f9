"""Hostile clients: many connections that are slow, silent or read nothing, and a process that has few descriptors."""

from __future__ import annotations

import contextlib
import os
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

#: As many as usually exhaust the descriptors of a process.
CONNECTIONS, DESCRIPTORS = 1_010, 1_024

#: A process with few descriptors: it serves something, and opens a file again and again, as a match does. Prints the
#: port, and at its end the number of files that it could not open.
_VICTIM = """
import resource, sys, threading
resource.setrlimit(resource.RLIMIT_NOFILE, ({descriptors}, {descriptors}))
{serve}
over, failures = threading.Event(), []
def look():
    while not over.wait(0.001):
        try:
            open("/dev/null").close()
        except OSError as error:
            failures.append(error)
threading.Thread(target=look, daemon=True).start()
print(port, flush=True)
sys.stdin.readline()
over.set()
print(len(failures), flush=True)
"""

PAGE = """
from dashboard.demo import ScriptedFeed, demo_sheet
from dashboard.live import LiveState
from dashboard.routes import page_routes
from dashboard.server import WebServer
server = WebServer(page_routes(LiveState(ScriptedFeed(demo_sheet()))))
port = int(server.url.rpartition(":")[2])
"""

HUB = """
from app.hub.server import Hub
from football.match_sheet import MatchSheet
import secrets
secrets.token_hex = lambda n: "0" * 2 * n
hub = Hub([MatchSheet(match_id="m")])
port = hub.address.path
"""


class Victim:
    """A process that serves something with few descriptors; see :data:`_VICTIM`."""

    def __init__(self, serve: str, descriptors: int = DESCRIPTORS) -> None:
        code = _VICTIM.format(descriptors=descriptors, serve=serve)
        self.process = subprocess.Popen(
            [sys.executable, "-c", code], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        #: Port of a server, or path of a Unix socket.
        self.address = self.process.stdout.readline().strip()

    def __enter__(self) -> Victim:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()

    def open_files(self) -> int:
        """Number of the process's descriptors."""
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def memory_mb(self) -> float:
        """Resident memory."""
        pages = Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE") / 1e6

    def failures(self) -> int:
        """End it; returns the number of files that it could not open."""
        out, _ = self.process.communicate("\n", timeout=20)
        return int(out)


@contextlib.contextmanager
def connections(address: str, sent: bytes = b"", count: int = CONNECTIONS) -> Iterator[list[socket.socket]]:
    """Open many connections at once, which send these bytes and read nothing."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, count + 500)), hard))
    opened: list[socket.socket] = []
    try:
        for _ in range(count):
            client = socket.socket() if address.isdecimal() else socket.socket(socket.AF_UNIX)
            client.setblocking(False)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect_ex(("127.0.0.1", int(address)) if address.isdecimal() else address)
            opened.append(client)
        time.sleep(0.3)
        for client in opened:
            with contextlib.suppress(OSError):
                client.send(sent)
        yield opened
    finally:
        for client in opened:
            client.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
