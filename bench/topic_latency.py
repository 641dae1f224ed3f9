"""How long from a block's arrival at the source to what it said at a consumer of a topic of updates?

Question: at the speed of life, one match through Spark, published to a broker on this machine: is an update with who
follows the topic (`app.kafka.follow`) within p50 25 ms, p95 60 ms, p99 250 ms of the arrival of the block that led to
it? The update says when on the stream's clock it left the engine, which is the arrival of its block; the run's clock
says when that was.

    python -m bench.topic_latency [--seconds 90] [--rate RATE] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import threading
from pathlib import Path
from typing import Any

import numpy as np

from app.base.java import find_java
from app.base.pace import anchored_pace, wall_us
from app.kafka.address import KafkaError
from app.kafka.broker import start_broker, stop_broker
from app.kafka.follow import follow
from app.run.live import run_live
from app.settings.resolve import make_settings
from bench.spark_latency import GOAL_MS


def followed(url: str, arrived: list[tuple[int, int]], over: threading.Event) -> None:
    """Note when each update left the engine (stream's clock) and when it was here (wall clock)."""
    while not over.is_set():
        try:
            for change in follow(url):
                arrived.append((change.update.emitted_us, wall_us()))
            return
        except KafkaError:  # nobody has made the topic yet
            over.wait(0.2)


def main() -> None:
    """Starts a broker, plays the match, and prints or stores the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=90.0)
    parser.add_argument("--rate", default="")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    arrived: list[tuple[int, int]] = []
    over = threading.Event()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        broker = start_broker(folder / "broker", 0, find_java(os.environ))
        url = f"kafka://{broker.address}/events"
        reader = threading.Thread(target=followed, args=(url, arrived, over), daemon=True)
        reader.start()
        try:
            given: dict[str, Any] = {
                "source": "sim", "duration_s": asked.seconds, "store": folder / "match", "publish": url,
                "dashboard": False, "camera": False, "metrics_port": 0,
            }  # fmt: skip
            hub = run_live(make_settings(given | ({"rate": asked.rate} if asked.rate else {})))["lane_latency_ms"]
            reader.join(20)
            pace = anchored_pace(folder / "match" / "spark" / "anchor", 1.0, 0)
        finally:
            over.set()
            stop_broker(folder / "broker")
    took_ms = [(here_us - pace.due_wall_us(emitted_us)) / 1e3 for emitted_us, here_us in arrived]
    p50, p95, p99 = (round(float(ms), 1) for ms in np.percentile(took_ms, [50, 95, 99]))
    figures = {"p50": p50, "p95": p95, "p99": p99, "max": round(max(took_ms), 1), "updates": len(took_ms)}
    result = {
        "seconds": asked.seconds,
        "rate": asked.rate or "default",
        "load_average": os.getloadavg()[0],
        "latency_ms": {"consumer": figures, "hub": hub["total"]},
        "ratio": {name: round(figures[name] / hub["total"][name], 2) for name in GOAL_MS},
        "goal_ms": GOAL_MS,
        "reached": {name: figures[name] <= goal for name, goal in GOAL_MS.items()},
    }
    print(json.dumps(result, indent=2))
    if asked.json:
        asked.json.write_text(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
