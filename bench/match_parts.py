"""Where does the time of a match at full rate go, and how do alpha, disorder and loss change it?

Question: a radio match of 36,000 positions a second goes through ``MatchPipeline`` block by block, as a live one does.
How many times real time is that on one core, with alpha 0, 0.5, 1 and by load, and with channels from none to harsh?
How many steps are done again, what is held, how large is a snapshot and how long does the engine stand still for it?
Which part of the product takes how much, and which detectors make the steps? Goals: no part above 25 %, a snapshot
within 100 ms.

Each row has a process of its own. Time is CPU time. Parts are counted by samples a thousand times a second: a sample
belongs to the innermost function of the product that is at work. Memory is what the process grows by from the first
second of the stream to its end.

    python -m bench.match_parts [--seconds 6] [--seed 18] [--channels rtls wifi ...] [--json FILE]

The file has the steps of every detector; the ten with the most are printed.
"""

from __future__ import annotations

import argparse
import gc
import json
import multiprocessing
import signal
import tempfile
import time
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any, Literal

from app.base.garbage import collect_rarely
from app.pipeline.pipeline import MatchPipeline, PipelineOptions
from app.sources.production import write_simulation
from replay.capture import Capture
from simulator.radio.channels import channel_named
from simulator.settings import rates_named
from simulator.simulate import MeasuredMatch, Simulation

Alpha = float | Literal["auto"]

#: Rows: channel and alpha.
ROWS: tuple[tuple[str, Alpha], ...] = (
    ("rtls", 0.0), ("rtls", 0.5), ("rtls", 1.0), ("rtls", "auto"), ("none", 0.0), ("wifi", 0.0), ("harsh", 0.0),
)  # fmt: skip

#: Parts by the beginning of a module's path; the first that fits counts.
PARTS: tuple[tuple[str, str], ...] = (
    ("middleware/ordering/repair.py", "redo and retract"),
    ("middleware/ordering/retraction.py", "redo and retract"),
    ("middleware/ordering/correction_batching.py", "redo and retract"),
    ("middleware/ordering/", "order and release"),
    ("middleware/sources/", "source progress"),
    ("middleware/publisher.py", "publish"),
    ("middleware/", "deliver"),
    ("detectors/records.py", "records and views"),
    ("detectors/arrivals.py", "decode and check"),
    ("detectors/", "steps"),
    ("football/packets.py", "decode and check"),
    ("football/untrusted.py", "decode and check"),
    ("football/", "steps"),
    ("app/pipeline/input_gate.py", "decode and check"),
    ("replay/", "decode and check"),
    ("app/", "records and views"),
)

#: Goals: the greatest share of a part, and how long a snapshot takes.
GOAL_SHARE, GOAL_SNAPSHOT_MS = 0.25, 100.0

_ROOT = str(Path(__file__).resolve().parents[1]) + "/"


def part_of(frame: FrameType | None) -> str:
    """Return the part whose function is at work in a frame, or in the nearest one that called it."""
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(_ROOT):
            path = file[len(_ROOT) :]
            for begin, part in PARTS:
                if path.startswith(begin):
                    return part
        frame = frame.f_back
    return "other"


def resident_mb() -> float:
    """Return the memory of this process in MB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4_096 / 1e6


def measure(folder: str, alpha: Alpha) -> dict[str, Any]:
    """Return the figures of a row."""
    collect_rarely()
    capture = Capture.open(Path(folder))
    blocks = list(capture.payloads(capture.begin_us, capture.end_us))
    warm = MatchPipeline(capture.sheet, PipelineOptions(alpha=alpha))
    for arrival_us, payload in blocks[: len(blocks) // 10]:
        warm.push(payload, arrival_us)
    del warm
    pipeline = MatchPipeline(capture.sheet, PipelineOptions(alpha=alpha))
    gc.collect()
    samples: Counter[str] = Counter()
    signal.signal(signal.SIGPROF, lambda _, frame: samples.update((part_of(frame),)))
    begun_mb, begun_s = 0.0, time.process_time()
    signal.setitimer(signal.ITIMER_PROF, 0.001, 0.001)
    for arrival_us, payload in blocks:
        pipeline.push(payload, arrival_us)
        if not begun_mb and arrival_us > capture.begin_us + 1_000_000:
            begun_mb = resident_mb()
    signal.setitimer(signal.ITIMER_PROF, 0.0)
    took_s = time.process_time() - begun_s
    grown_mb, health = resident_mb() - begun_mb, pipeline._engine.health()
    pipeline.take_tables()
    began_s = time.process_time()
    snapshot = pipeline.snapshot()
    snapshot_ms = (time.process_time() - began_s) * 1_000
    total = sum(samples.values())
    by_detector = {
        name: {"steps": own.stepped, "again": own.redone, "late": own.late, "units": own.units}
        for name, own in pipeline._engine.metrics().items()
    }
    return {
        "times_real_time": round((capture.end_us - capture.begin_us) / 1e6 / took_s, 2),
        "steps": sum(pipeline._engine.work_counts()[2].values()),
        "redone": health.redone,
        "retracted": health.retracted,
        "held": health.held,
        "grown_mb": round(grown_mb, 1),
        "snapshot_mb": round(len(snapshot) / 1e6, 2),
        "snapshot_ms": round(snapshot_ms, 1),
        "parts": {part: round(count / total, 3) for part, count in samples.most_common()},
        "by_detector": dict(sorted(by_detector.items(), key=lambda item: -item[1]["steps"] - item[1]["again"])),
    }


def main() -> None:
    """Prints a row each; writes them with --json."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=6.0, help="of each match")
    parser.add_argument("--seed", type=int, default=18)
    every = tuple(dict.fromkeys(channel for channel, _ in ROWS))
    parser.add_argument("--channels", nargs="+", choices=every, default=list(every), help="rows of these only")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    chosen = parser.parse_args()
    rows: dict[str, dict[str, Any]] = {}
    spawn = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as made:
        for channel in chosen.channels:
            match = MeasuredMatch(Simulation(seed=chosen.seed, duration_s=chosen.seconds, **rates_named("full")))
            write_simulation(match, Path(made) / channel, channel_named(channel), chosen.seed)
        for channel, alpha in (row for row in ROWS if row[0] in chosen.channels):
            with spawn.Pool(1) as pool:
                row = pool.apply(measure, (str(Path(made) / channel), alpha))
            rows[f"{channel}, alpha {alpha}"] = row
            worst = max(row["parts"].values())
            missed = [
                name
                for name, is_met in (
                    ("part", worst <= GOAL_SHARE),
                    ("snapshot", row["snapshot_ms"] <= GOAL_SNAPSHOT_MS),
                )
                if not is_met
            ]
            shown = {name: value for name, value in row.items() if name != "by_detector"}
            print(f"{channel}, alpha {alpha}: {shown}" + (f" MISSED {missed}" if missed else ""), flush=True)
            for name, own in list(row["by_detector"].items())[:10]:
                print(f"    {name}: {own}", flush=True)
    if chosen.json:
        chosen.json.write_text(json.dumps(rows, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
