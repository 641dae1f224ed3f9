"""From the command to the first frame on the page: how long does a user of `touchline live` look at nothing?

Question: `touchline live` is started in a process of its own, the simulated match at the default rate, with its page.
How many seconds until the page answers, and until the state that it serves holds the first positions? Compiled kernels
are there (*warm*); with `--cold` they are not, as at the very first start of an installation. And how many seconds of
processor time have all processes of the run taken by then? On a machine with other work that is the figure to compare.
Goals: 10 s warm, 30 s cold. The ratio is the time over the goal.

    python -m bench.first_frame [--runs 3] [--cold] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from websockets.exceptions import WebSocketException

from tests.live_stream import live_state

GOAL_S = {False: 10.0, True: 30.0}
_MODULE = "app.cli.main"


def free_port() -> int:
    """A port that no program has now."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def measure(cold: bool, module: str) -> dict[str, float]:
    """One run: seconds until the page answers, and until it has positions."""
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, **({"NUMBA_CACHE_DIR": f"{folder}/kernels"} if cold else {})}
        command = [sys.executable, "-m", module, "live", "--store", f"{folder}/match", "--port", str(port)]
        began_s = time.monotonic()
        with Path(folder, "output").open("wb") as output:
            run = subprocess.Popen(
                command, stdout=output, stderr=subprocess.STDOUT, env=environment, start_new_session=True
            )
        found: dict[str, float] = {}
        try:
            while "first_frame_s" not in found:
                if run.poll() is not None:
                    raise SystemExit(Path(folder, "output").read_text())
                state = page_state(port)
                if state is not None:
                    found.setdefault("page_s", round(time.monotonic() - began_s, 2))
                    if state.get("ids"):
                        found["first_frame_s"] = round(time.monotonic() - began_s, 2)
                        found["processor_s"] = round(processor_s(run.pid), 2)
                time.sleep(0.05)
        finally:
            os.killpg(run.pid, signal.SIGINT)
            run.wait(60)
    return found


def processor_s(root: int) -> float:
    """Processor time of a process and its descendants, with those that have ended and were waited for."""
    parents: dict[int, int] = {}
    took: dict[int, float] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = path.read_text().rpartition(")")[2].split()
            parents[int(path.parent.name)] = int(fields[1])
            took[int(path.parent.name)] = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    ours = {root}
    while grown := {pid for pid, parent in parents.items() if parent in ours} - ours:
        ours |= grown
    return sum(took.get(pid, 0.0) for pid in ours)


def page_state(port: int) -> dict[str, Any] | None:
    """What the page would show now; None while nothing answers."""
    try:
        return live_state(f"http://127.0.0.1:{port}")
    except (OSError, WebSocketException, StopIteration):
        return None


def main() -> None:
    """Runs it some times and prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--cold", action="store_true", help="without compiled kernels")
    parser.add_argument("--module", default=_MODULE, help="module of the command line, to measure another checkout")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    runs = [measure(options.cold, options.module) for _ in range(options.runs)]
    median_s = statistics.median(run["first_frame_s"] for run in runs)
    goal_s = GOAL_S[options.cold]
    result = {
        "cold": options.cold, "runs": runs, "median_s": median_s, "goal_s": goal_s,
        "median_processor_s": statistics.median(run["processor_s"] for run in runs),
        "ratio_to_goal": round(median_s / goal_s, 2), "load_average": os.getloadavg()[0],
    }  # fmt: skip
    print(json.dumps(result, indent=2))
    if options.json:
        options.json.write_text(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
