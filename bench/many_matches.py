"""Many matches in one query: how late is each, how much goes through, and what does a second core bring?

Question: of 1, 2, 4, 10 optical matches and 1, 2 at full RTLS rate in one ``live --matches`` run on two cores, is each
within p50 25 ms, p95 60 ms, p99 250 ms of the arrival; how many times real time do all of them together reach at
``--speed max``; what does a full-rate match do to nine optical ones beside it (``mixed``); and how much more goes
through two cores than through one (``scale-4``: four optical matches as fast as they go, all processes of the run held
to one core with one seat and then on two with two, in turns; goal 1.8)? The start is not counted. ``cpu_s`` is what all
processes of the run used (start included); on a machine that others use it tells more than the wall clock does.

    python -m bench.many_matches --optical FILE [--radio CAPTURE] [--runs optical-1,optical-2,...,full-1,mixed,scale-4]
        [--seconds 30] [--speed 1|max] [--seats 2] [--window 10] [--limit 300] [--json FILE]

``FILE`` is a tracking table at 25 Hz, ``CAPTURE`` a folder of `touchline simulate --rate full`. Every match is a copy.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console

from app.run.matches import MatchesRun
from app.sources.captures import prepare_capture
from replay.capture import Capture

GOAL_MS = {"p50": 25.0, "p95": 60.0, "p99": 250.0}
GOAL_SCALE_UP = 1.8

#: Each number of cores so often, in turns.
_TURNS = 2
_TICKS = os.sysconf("SC_CLK_TCK")


def play(kinds: list[str], sources: dict[str, str], seats: int, speed: str, window_s: float) -> dict[str, Any]:
    """One run of matches of these kinds, each a copy of its source; its figures."""
    entries = [{"source": sources[kind], "name": f"{kind}-{number}"} for number, kind in enumerate(kinds)]
    common = {
        "alpha": "0", "retraction": "on-demand", "dashboard": False, "camera": False, "speed": speed,
        "window_s": window_s, "logs": "off", "seats": seats, "metrics_port": 0,
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        run = MatchesRun(lambda: entries, common, Path(folder) / "run", Console(file=io.StringIO()))
        report = run.run(threading.Event())
    matches = report["matches"].values()
    stream_s = sum(one["stream_s"] for one in matches)
    wall_s = max(one["wall_s"] for one in matches)
    return {
        "broken": report["broken"],
        "stream_s": round(stream_s, 1),
        "wall_s": wall_s,
        "times_real_time": round(stream_s / wall_s, 2),
        "positions_per_s": round(sum(one["positions"] for one in matches) / wall_s),
        "latency_ms": {name: one["lane_latency_ms"] for name, one in report["matches"].items()},
    }


def kinds_of(run: str) -> list[str]:
    """``optical-4``, ``full-2``, or ``mixed``: one at full rate and nine optical."""
    if run == "mixed":
        return ["full", *["optical"] * 9]
    kind, _, count = run.partition("-")
    return ["optical" if kind == "scale" else kind] * int(count)


def scaled(run: str, chosen: argparse.Namespace, sources: dict[str, str]) -> dict[str, Any]:
    """Run the same matches on one core and on two, in turns; return how much more goes through two."""
    reached: dict[int, list[float]] = {1: [], 2: []}
    for cores in [1, 2] * _TURNS:
        held = argparse.Namespace(**{**vars(chosen), "seats": cores, "speed": "max"})
        report = alone(run, held, sources, cores)
        if "error" in report:
            return report
        reached[cores].append(report["times_real_time"])
    one, two = (sum(times) / len(times) for times in reached.values())
    ratio = round(two / one, 2)
    return {"run": run, "one_core": reached[1], "two_cores": reached[2], "scale_up": ratio, "goal": GOAL_SCALE_UP}


def alone(run: str, chosen: argparse.Namespace, sources: dict[str, str], cores: int = 0) -> dict[str, Any]:
    """Run in a process of its own; return its results with the processor time of all its children."""
    request = json.dumps([kinds_of(run), sources, chosen.seats, chosen.speed, chosen.window])
    held = sorted(os.sched_getaffinity(0))[: cores or None]
    before = os.getloadavg()[0]
    child = subprocess.Popen(
        [sys.executable, "-m", "bench.many_matches", "--one", request],
        stdout=subprocess.PIPE, text=True, start_new_session=True, preexec_fn=lambda: os.sched_setaffinity(0, held),
    )  # fmt: skip
    used: dict[int, float] = {}
    over = threading.Event()

    def look() -> None:
        while not over.wait(0.25):
            used.update(_processor_s(child.pid))

    looking = threading.Thread(target=look, daemon=True)
    looking.start()
    text = ""
    with contextlib.suppress(subprocess.TimeoutExpired):
        text, _ = child.communicate(timeout=chosen.limit)
    over.set()
    looking.join()
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)  # what it started and did not end, too
    if child.wait():
        report = f"ended with {child.returncode}" if child.returncode > 0 else f"was not over after {chosen.limit:g} s"
        return {"run": run, "error": report}
    figures = json.loads(text.splitlines()[-1])
    load = [round(before, 1), round(os.getloadavg()[0], 1)]
    report = {"run": run, "seats": chosen.seats, "load_average": load, "cpu_s": round(sum(used.values()), 1), **figures}
    print(json.dumps(report), file=sys.stderr)  # what is known is known, should a later run be given up
    return report


def _processor_s(session: int) -> dict[int, float]:
    """Processor seconds of each process of a session."""
    found: dict[int, float] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:  # ended meanwhile
            continue
        if int(fields[3]) == session:
            found[int(path.parent.name)] = (int(fields[11]) + int(fields[12])) / _TICKS
    return found


def main() -> None:
    """Run the requested cases and print or store the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--optical")
    parser.add_argument("--radio")
    parser.add_argument("--runs", default="optical-1,optical-2,optical-4,optical-10,full-1,full-2,mixed")
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--speed", default="1")
    parser.add_argument("--seats", type=int, default=2)
    parser.add_argument("--window", type=float, default=10.0)
    parser.add_argument("--limit", type=float, default=300.0, help="seconds after which a run is given up")
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    if chosen.one:
        print(json.dumps(play(*json.loads(chosen.one))))
        return
    with tempfile.TemporaryDirectory() as folder:
        sources = {"full": str(Path(chosen.radio).resolve())} if chosen.radio else {}
        if chosen.optical:
            capture = Path(folder) / "optical"
            prepare_capture(chosen.optical, "none", 1, capture, duration_s=chosen.seconds)
            sources["optical"] = str(Capture.open(capture).path)
        began = time.monotonic()
        runs = [(scaled if run.startswith("scale") else alone)(run, chosen, sources) for run in chosen.runs.split(",")]
    result = {
        "date": datetime.now(UTC).isoformat(timespec="minutes"),
        "speed": chosen.speed,
        "window_s": chosen.window,
        "took_s": round(time.monotonic() - began),
        "runs": runs,
        "goal_ms": GOAL_MS,
    }
    print(json.dumps(result, indent=2))
    if chosen.json:
        chosen.json.write_text(json.dumps(result, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
