"""Does a live match stay as fast under hostile connections as it is without them?

Question: a simulated match plays at the default rate through Spark. How long does a block take from its arrival at the
source to the hub, first in quiet, then while a thousand connections of one kind after the other attack the page?
A connection that is closed is opened again, up to a hundred a second. The attackers share the processor with the match.
Goal: p99 under each attack at most twice its quiet value.

    python -m bench.hostile [--seconds 12] [--connections 1000] [--engine spark] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bench.soak import LINES, page_of, wait_until_ready

GOAL_RATIO = 2.0
#: Seconds of the match that do not count: its start, and those in which an attack begins or is cleared away.
WARM_S, PAUSE_S = 12.0, 3.0
OPENED_PER_S = 100

_SCRIPT = b"/_dash-component-suites/plotly/package_data/plotly.min.js"
#: Kind of attack -> what each connection sends. No other user reaches the hub's socket, so only the page is attacked.
KINDS = {
    "idle": b"",
    "slow": b"GET / HTTP/1.1\r\nHost: local",
    "never reading": b"GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n" % _SCRIPT,
    "64 MB of body": b"POST /officials HTTP/1.1\r\nHost: localhost\r\nContent-Length: 67108864\r\n\r\n" + b"x" * 65_536,
}

#: Plays a match. Writes for each message that reaches the hub wall time and latency in us.
_MATCH = """
import atexit
from pathlib import Path
from app.hub.feed import MatchFeed
out, real = open({file!r}, "w"), MatchFeed._measure
def measure(feed, message, hub_us):
    real(feed, message, hub_us)
    if message.due_wall_us:
        out.write(f"{{hub_us}} {{hub_us - message.due_wall_us}}\\n")
MatchFeed._measure = measure
atexit.register(out.close)
from app.cli.main import main
main()
"""


class Attack:
    """Holds as many connections open as it can, which send something and read nothing."""

    def __init__(self, port: int, sent: bytes, count: int) -> None:
        self._port, self._sent, self._count = port, sent, count
        self._open: list[socket.socket] = []
        self.opened = 0

    def run(self, seconds: float) -> None:
        """Attack for some seconds: all connections at once, then those that were closed."""
        self._connect(self._count)
        until_s = time.monotonic() + seconds
        while time.monotonic() < until_s:
            time.sleep(0.1)
            self._open = [client for client in self._open if self._is_open(client)]
            self._connect(min(self._count - len(self._open), OPENED_PER_S // 10))

    def close(self) -> None:
        """End all connections."""
        for client in self._open:
            client.close()

    def _connect(self, count: int) -> None:
        for _ in range(count):
            client = socket.socket()
            client.setblocking(False)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect_ex(("127.0.0.1", self._port))
            self._open.append(client)
            self.opened += 1
            with suppress(OSError):
                client.send(self._sent)

    def _is_open(self, client: socket.socket) -> bool:
        """True if the other side has not closed; nothing that it has sent is read."""
        try:
            if client.recv(1, socket.MSG_PEEK) != b"":
                return True
        except BlockingIOError:
            return True
        except OSError:
            pass
        client.close()
        return False


@contextmanager
def playing(engine: str, seconds: float, folder: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A match, and the port of its page."""
    code = _MATCH.format(file=str(folder / "latency"))
    command = [
        sys.executable, "-c", code, "live", "--store", str(folder / "store"),
        "--port", "0", "--metrics-port", "0", "--engine", engine, "--no-camera", "--duration", str(seconds),
    ]  # fmt: skip
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        url = page_of(run, deque(maxlen=LINES))
        wait_until_ready(url)
        page = int(url.rstrip("/").rpartition(":")[2])
        yield run, page
    finally:
        run.terminate()
        run.wait(60)


def p99_ms(latencies: list[tuple[int, int]], begin_us: int, end_us: int) -> tuple[float, int]:
    """The 99th percentile of the latencies in a range of wall time, in milliseconds, and their number."""
    those = sorted(latency for at_us, latency in latencies if begin_us <= at_us < end_us)
    return (those[min(len(those) - 1, int(0.99 * len(those)))] / 1e3 if those else float("nan")), len(those)


def measure(engine: str, seconds: float, count: int) -> dict[str, object]:
    """The p99 in quiet and under each attack, and the ratios."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 2 * count)), hard))
    spans: dict[str, tuple[int, int]] = {}
    opened: dict[str, int] = {}
    load_1min = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        total_s = WARM_S + 2 * seconds + len(KINDS) * (seconds + PAUSE_S) + 60
        with playing(engine, total_s, folder) as (run, page):
            time.sleep(WARM_S)
            begin_us = time.time_ns() // 1000
            time.sleep(2 * seconds)
            spans["quiet"] = begin_us, time.time_ns() // 1000
            for kind, sent in KINDS.items():
                attack = Attack(page, sent, count)
                begin_us = time.time_ns() // 1000
                attack.run(seconds)
                spans[kind] = begin_us, time.time_ns() // 1000
                attack.close()
                opened[kind] = attack.opened
                if run.poll() is not None:
                    raise SystemExit(f"{kind}: the match has ended")
                time.sleep(PAUSE_S)
        lines = (folder / "latency").read_text().splitlines()
    latencies = [(int(at), int(latency)) for at, latency in map(str.split, lines)]
    figures = {kind: p99_ms(latencies, *span) for kind, span in spans.items()}
    quiet, _ = figures["quiet"]
    return {
        "load_1min_before": round(load_1min, 2),
        "kinds": {
            kind: {"p99_ms": round(p99, 1), "messages": messages, "ratio": round(p99 / quiet, 2),
                   "connections_opened": opened.get(kind, 0)}
            for kind, (p99, messages) in figures.items()
        },
        "goal_ratio": GOAL_RATIO,
    }  # fmt: skip


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=12.0)
    parser.add_argument("--connections", type=int, default=1_000)
    parser.add_argument("--engine", choices=("spark", "inprocess"), default="spark")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    result = measure(given.engine, given.seconds, given.connections)
    print(f"load of the machine before: {result['load_1min_before']} (1 min); goal: ratio {GOAL_RATIO}")
    print(f"{'':24} {'p99 ms':>8} {'ratio':>6} {'messages':>9} {'opened':>7}")
    for kind, row in result["kinds"].items():  # type: ignore[attr-defined]
        print(f"{kind:24} {row['p99_ms']:8} {row['ratio']:6} {row['messages']:9} {row['connections_opened']:7}")
    if given.json:
        given.json.write_text(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
