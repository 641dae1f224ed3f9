"""Figures 7 and 8 of paper 004, and the share of the CPU that ordering takes.

* *K by level* (figure 7): K of every detector at the end of a stretch of a simulated match at full rate, channel
  ``rtls``, dynamic K-slack that waits K out (alpha 1). The paper's levels are others; what is asked is whether delays
  add up.
* *Ordering's share*: CPU time of the pushes, less what the detectors' steps take. 004 says up to 20 %. The steps are
  timed apart: each detector repeats some of its own, as a live run does. Ordering here is all that the engine does
  besides: sources, routing, sorting, repair, publishing.
* *Throughput by processes* (figure 8): the same stretch in one process, and in several at once, one match each:
  positions for a second of CPU time of each, and all positions for a second on the clock, which needs free cores.

    python -m bench.paper_004 [--seed 11] [--begin 60] [--seconds 10] [--processes 1 2] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from app.sources.production import write_simulation
from bench.speculation_000 import MEASURED_BLOCKS, Mode, Running, hierarchy_of, measured_costs
from middleware.ordering.slack.settings import SlackSettings
from middleware.ordering.speculation import FixedAlpha
from replay.capture import Capture
from simulator.radio.channels import CHANNELS
from simulator.settings import rates_named
from simulator.simulate import MeasuredMatch, Simulation

MODES = {
    "alpha 1, waits K out": Mode(FixedAlpha(1.0), "on-demand", SlackSettings(ignores_progress=True)),
    "alpha 1": Mode(FixedAlpha(1.0), "on-demand"),
    "alpha 0": Mode(FixedAlpha(0.0), "on-demand"),
}


def shares(path: Path, begin_us: int, end_us: int) -> dict[str, Any]:
    """Return K by level of the first mode, and ordering's share of the CPU in each."""
    capture = Capture.open(path)
    hierarchy, blocks = hierarchy_of(capture.sheet), list(capture.blocks(begin_us, end_us))
    costs = measured_costs(hierarchy, iter(blocks[:MEASURED_BLOCKS]), 1.0)
    by_level: dict[int, list[float]] = defaultdict(list)
    rows: dict[str, dict[str, float]] = {}
    for name, mode in MODES.items():
        running = Running(hierarchy_of(capture.sheet), mode, costs)
        for block in blocks:
            running.push(block)
        metrics = running.engine.metrics()
        if not rows:
            for row in metrics.values():
                by_level[row.level].append(row.k_us / 1000)
        steps_s = sum((row.stepped + row.redone) * costs.step(one) for one, row in metrics.items()) / 1e6
        rows[name] = {
            "cpu_s": round(running.cpu_s, 2),
            "steps_s": round(steps_s, 2),
            "ordering_share": round(1 - steps_s / running.cpu_s, 3),
        }
    levels = {
        level: {"detectors": len(k), **dict(zip(("least", "median", "most"), _spread(k), strict=True))}
        for level, k in sorted(by_level.items())
    }
    return {"k_ms_by_level": levels, "share": rows}


def _spread(values: list[float]) -> list[float]:
    return [round(float(value), 1) for value in np.percentile(values, [0, 50, 100])]


def positions_and_cpu_s(path: Path, begin_us: int, end_us: int) -> tuple[int, float]:
    """Play the stretch at alpha 0 in this process; return its positions and the CPU time of the pushes."""
    capture = Capture.open(path)
    blocks = list(capture.blocks(begin_us, end_us))
    running = Running(
        hierarchy_of(capture.sheet), MODES["alpha 0"], measured_costs(hierarchy_of(capture.sheet), (), 1.0)
    )
    for block in blocks:
        running.push(block)
    return sum(len(packet.ts_us) for block in blocks for packet in block.packets), running.cpu_s


def throughput(path: Path, begin_us: int, end_us: int, processes: int) -> dict[str, float]:
    """Return positions a second of CPU time and on the clock, with as many matches at once."""
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        list(pool.map(abs, range(processes)))
        began_s = time.monotonic()
        done = list(pool.map(positions_and_cpu_s, *zip(*[(path, begin_us, end_us)] * processes, strict=True)))
        took_s = time.monotonic() - began_s
    positions = sum(row[0] for row in done)
    return {
        "positions_a_cpu_second": round(positions / sum(row[1] for row in done)),
        "positions_a_second": round(positions / took_s),
    }


def main() -> None:
    """Prints the tables; writes them with --json."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--begin", type=float, default=60.0, help="second of the match")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--processes", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    chosen = parser.parse_args()
    settings = Simulation(
        seed=chosen.seed, duration_s=chosen.begin + chosen.seconds, **{**rates_named("full"), "tags": "playing"}
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "capture"
        write_simulation(MeasuredMatch(settings), path, CHANNELS["rtls"], chosen.seed)
        begin_us = Capture.open(path).begin_us + round(1e6 * chosen.begin)
        stretch = begin_us, begin_us + round(1e6 * chosen.seconds)
        result = shares(path, *stretch)
        result["throughput"] = {n: throughput(path, *stretch, n) for n in chosen.processes}
    for level, row in result["k_ms_by_level"].items():
        print(f"level {level}: K in ms {row}")
    for name, row in (*result["share"].items(), *result["throughput"].items()):
        print(name, row)
    if chosen.json:
        chosen.json.write_text(json.dumps(result, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
