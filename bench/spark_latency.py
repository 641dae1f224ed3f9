"""How long from a block's arrival at the source to what it said at the hub, through Spark, and where does it go?

Question: at the speed of life, one match through the radio channel, is the fast lane within p50 25 ms, p95 60 ms,
p99 250 ms of the arrival? Stages of a message: `source` from the time at which its block was due to the engine stage
(Spark's part, the turn-around between batches included), `engine` in the pipeline, `lane` from there to the hub's
thread (msgpack, loopback, follower), `total`. The whole run counts, its start included; messages that follow a block
at once, views among them, count like any other. The same run without Spark stands beside it; its `source` is what a
sleeping thread is late.

    python -m bench.spark_latency [--source sim] [--seconds 120] [--window 30] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from app.run.live import run_live
from app.settings.resolve import make_settings

GOAL_MS = {"p50": 25.0, "p95": 60.0, "p99": 250.0}


def measure(source: str, seconds: float, window_s: float, engine: str) -> dict[str, Any]:
    """One run in a folder of its own; the summary of it."""
    with tempfile.TemporaryDirectory() as folder:
        given = {
            "source": source, "channel": "rtls", "duration_s": seconds, "store": Path(folder) / "match",
            "engine": engine, "window_s": window_s, "dashboard": False, "camera": False,
        }  # fmt: skip
        return run_live(make_settings(given))


def main() -> None:
    """Runs both engines and prints or stores the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", default="sim")
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--window", type=float, default=30.0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    runs = {
        engine: measure(options.source, options.seconds, options.window, engine)["lane_latency_ms"]
        for engine in ("inprocess", "spark")
    }
    total = runs["spark"]["total"]
    result = {
        "source": options.source,
        "seconds": options.seconds,
        "window_s": options.window,
        "load_average": os.getloadavg()[0],
        "latency_ms": runs,
        "goal_ms": GOAL_MS,
        "reached": {name: total[name] <= goal for name, goal in GOAL_MS.items()},
    }
    print(json.dumps(result, indent=2))
    if options.json:
        options.json.write_text(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
