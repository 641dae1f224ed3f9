"""How soon is an event of each kind known, and how likely is it to be taken back?

Question: a simulated match goes through the engine at alpha 0. For each published kind of some levels: how many events
stand in the end, how long after its time is an event that stands asserted first (stream clock; negative for what is
known before its time), and which share of all that was asserted was withdrawn for good, or amended? An event is known
by its id: a withdrawal with an assertion of the same id in one push is an amendment.

    python -m bench.first_known [--input rtls optical] [--seed 201] [--seconds 300] [--levels 11 15] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from pathlib import Path

import numpy as np

from app.pipeline.pipeline import PipelineOptions
from bench.confirmation import Push, inputs
from football.recording import Recording
from middleware.engine import Engine


def measure(recording: Recording, pushes: list[Push], levels: range) -> dict[str, dict[str, float]]:
    """Return counts, latencies and shares by kind, of the published kinds of some levels."""
    options = PipelineOptions(alpha=0.0)
    hierarchy = options.hierarchy(recording.sheet)
    engine = Engine(hierarchy, options.engine(recording.sheet))
    level = {kind: detector.spec.level for detector in hierarchy.detectors for kind in detector.spec.outputs}
    first_us: dict[str, dict[str, int]] = defaultdict(dict)
    standing: dict[str, set[str]] = defaultdict(set)
    amended: dict[str, int] = defaultdict(int)
    results = [(now_us, engine.push(arrivals, now_us)) for now_us, arrivals in pushes]
    for now_us, result in [*results, (pushes[-1][0], engine.finish())]:
        asserted = {update.event.id for update in result.updates if update.diff > 0}
        for update in result.updates:
            event = update.event
            if level.get(event.kind) not in levels:
                continue
            if update.diff > 0:
                first_us[event.kind].setdefault(event.id, now_us - event.ts_us)
                standing[event.kind].add(event.id)
            elif event.id in asserted:
                amended[event.kind] += 1
            else:
                standing[event.kind].discard(event.id)
    rows = {}
    for kind, asserted_us in sorted(first_us.items(), key=lambda item: (level[item[0]], item[0])):
        latency_ms = [asserted_us[event_id] / 1_000 for event_id in standing[kind]] or [0.0]
        rows[kind] = {
            "level": level[kind],
            "stand": len(standing[kind]),
            "p50_ms": round(float(np.percentile(latency_ms, 50))),
            "p95_ms": round(float(np.percentile(latency_ms, 95))),
            "withdrawn": round(1 - len(standing[kind]) / len(asserted_us), 3),
            "amended": round(amended[kind] / len(asserted_us), 2),
        }
    return rows


def main() -> None:
    """Prints a table for each input; writes them with --json."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--input", nargs="+", default=["rtls", "optical"])
    parser.add_argument("--seed", type=int, default=201)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--levels", type=int, nargs=2, default=(11, 15), help="the first and the last one")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    chosen = parser.parse_args()
    found = {}
    for name in chosen.input:
        levels = range(chosen.levels[0], chosen.levels[1] + 1)
        found[name] = rows = measure(*inputs(name, chosen.seed, chosen.seconds), levels)
        print(f"\n{name}\n\n| level | kind | stand | p50, p95 ms | withdrawn | amended |\n|---|---|---|---|---|---|")
        for kind, row in rows.items():
            latency = f"{row['p50_ms']:g}, {row['p95_ms']:g}"
            print(f"| {row['level']} | `{kind}` | {row['stand']} | {latency} | {row['withdrawn']} | {row['amended']} |")
    if chosen.json:
        chosen.json.write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
