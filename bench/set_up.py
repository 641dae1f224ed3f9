"""From a clone to the first answer: how long does a stranger wait, step by step?

Question: the present commit is cloned, `./touchline` sets itself up, a simulated match starts, its page shows positions
and then an event, and pandas reads the events of a match that was stored. How many seconds does each step take? The
caches of packages are as they are: the first run on a machine fills them. Goal: set-up within 75 s with warm caches.
With `--compare` the same commit is set up by pip alone, from the same lock file, instead of the steps after the set-up;
the ratio is the time of `./touchline` over the time of pip, both taken in the same run.

    python -m bench.set_up [--compare] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.first_frame import free_port, page_state

ROOT = Path(__file__).resolve().parents[1]
GOAL_S = 75.0
_ANSWER = "from replay.event_list import consolidated_events as e; print(e('match').to_pandas().kind.value_counts())"


def timed(steps: dict[str, float], name: str, step: Callable[[], object]) -> None:
    """Runs a step and keeps its seconds."""
    began_s = time.monotonic()
    step()
    steps[name] = round(time.monotonic() - began_s, 2)


def run(command: list[str], cwd: Path) -> None:
    """Runs a command; a failure ends the benchmark with its output."""
    done = subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(done.stdout)


def set_up_by_pip(folder: Path) -> None:
    """What a set-up by pip alone takes: the same versions, from the same lock file."""
    python = str(folder / ".pip" / "bin" / "python")
    run([sys.executable, "-m", "venv", str(folder / ".pip")], folder)
    install = [python, "-m", "pip", "install", "--quiet"]
    run([*install, "--require-hashes", "-r", "requirements/setup.txt"], folder)
    run([*install, "--no-build-isolation", "--require-hashes", "-r", "requirements/runtime.txt"], folder)
    run([*install, "--no-build-isolation", "--no-deps", "-e", "."], folder)


def first_event(folder: Path, steps: dict[str, float]) -> None:
    """Starts a match and waits for positions, then for an event, on its page."""
    port, began_s = free_port(), time.monotonic()
    command = ["./touchline", "live", "--store", "live", "--port", str(port)]
    with (folder / "live.txt").open("wb") as output:
        live = subprocess.Popen(command, cwd=folder, stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        while "first_event_s" not in steps:
            if live.poll() is not None:
                raise SystemExit((folder / "live.txt").read_text())
            state = page_state(port) or {}
            for name, shown in (("first_position_s", "ids"), ("first_event_s", "rows")):
                if state.get(shown):
                    steps.setdefault(name, round(time.monotonic() - began_s, 2))
            time.sleep(0.05)
    finally:
        os.killpg(live.pid, signal.SIGINT)
        live.wait(60)


def measure(folder: Path, compare: bool) -> dict[str, Any]:
    """The steps in a fresh clone; seconds by step."""
    steps: dict[str, float] = {}
    clone = folder / "touchline"
    timed(steps, "clone_s", lambda: run(["git", "clone", "--quiet", str(ROOT), str(clone)], folder))
    timed(steps, "set_up_s", lambda: run(["./touchline", "--version"], clone))
    found: dict[str, Any] = {"steps": steps, "goal_s": GOAL_S, "ratio_to_goal": round(steps["set_up_s"] / GOAL_S, 2)}
    if compare:
        timed(steps, "set_up_by_pip_s", lambda: set_up_by_pip(clone))
        return {**found, "ratio_to_pip": round(steps["set_up_s"] / steps["set_up_by_pip_s"], 2)}
    os.environ["NUMBA_CACHE_DIR"] = str(folder / "kernels")  # as on a machine that has never played a match
    first_event(clone, steps)
    play = [
        "live",
        "--store",
        "match",
        "--engine",
        "inprocess",
        "--speed",
        "max",
        "--duration",
        "120",
        "--no-dashboard",
    ]
    timed(steps, "two_minutes_stored_s", lambda: run(["./touchline", *play], clone))
    timed(steps, "answer_in_pandas_s", lambda: run([".venv/bin/python", "-c", _ANSWER], clone))
    to_first_event_s = sum(steps[name] for name in ("clone_s", "set_up_s", "first_event_s"))
    return {**found, "clone_to_first_event_s": round(to_first_event_s, 1)}


def main() -> None:
    """Runs the steps once and prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compare", action="store_true", help="set up by pip alone, too, and stop there")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="set-up-"))
    try:
        result = {**measure(folder, options.compare), "load_average": os.getloadavg()[0]}
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(json.dumps(result, indent=2))
    if options.json:
        options.json.write_text(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
