"""How soon passes are known over a whole half of a match: pure buffering beside speculation by load, minute by minute.

Paper 000, section 5.1, shows the latency of its pass detector over 45 minutes. Here two engines take the same blocks in
lockstep, so one reading of the stream serves both and a run that is stopped early is whole up to its last minute:
``--json`` is written anew after every minute. Below both frontiers both must have said the same events (checked).

To make 45 minutes affordable, only those detectors run that the reported events need, down to the positions (the
chain of :mod:`bench.speculation_000`; ``--all`` for every one), and there is no clairvoyant bound: it is a third fold.

    python -m bench.speculation_long [--minutes 45] [--rates live] [--seed N | --capture FOLDER] [--all] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from app.sources.production import write_simulation
from bench.speculation_000 import GROUPS, MEASURED_BLOCKS, MODES, Running, measured_costs
from detectors.catalogue import build_detectors
from football.match_sheet import MatchSheet
from football.packets import RAW_KINDS
from middleware.detector import Detector
from middleware.hierarchy import Hierarchy
from replay.capture import Capture
from simulator.radio.channels import CHANNELS
from simulator.settings import DEFAULT_SEED, rates_named
from simulator.simulate import MeasuredMatch, Simulation

MINUTE_US = 60_000_000

#: The two runs.
COMPARED = ("buffered", "by load, auto")


def chain(detectors: Sequence[Detector[Any]], kinds: Iterable[str]) -> list[Detector[Any]]:
    """Those of ``detectors`` that events of ``kinds`` follow from, at whatever remove."""
    expected, before = set(kinds), -1
    while len(expected) != before:
        before = len(expected)
        for detector in detectors:
            if not expected.isdisjoint(detector.spec.outputs):
                expected.update(detector.spec.inputs)
    return [detector for detector in detectors if not expected.isdisjoint(detector.spec.outputs)]


def hierarchy_of(sheet: MatchSheet, everything: bool) -> Hierarchy:
    """All detectors, or the chain of those that are reported."""
    detectors = build_detectors(sheet)
    kinds = [kind for group in GROUPS.values() for kind in group]
    return Hierarchy(RAW_KINDS, detectors if everything else chain(detectors, kinds))


def minute_of(running: Running, begin_us: int, minute: int) -> dict[str, Any]:
    """Return the figures of one minute: latency by group over its events, load over its spans."""
    from_us, to_us = begin_us + minute * MINUTE_US, begin_us + (minute + 1) * MINUTE_US
    row: dict[str, Any] = {}
    for group, kinds in GROUPS.items():
        late_us = [
            emitted_us - event.ts_us
            for event, emitted_us, _ in running.standing.values()
            if event.kind in kinds and from_us <= event.ts_us < to_us
        ]
        row[group] = {"events": len(late_us), "mean_ms": round(float(np.mean(late_us)) / 1000, 1) if late_us else None}
    spans = [n for n, at_s in enumerate(running.series["at_s"]) if from_us <= at_s * 1e6 < to_us]
    for name in ("cpu_share", "waiting", "held", "alpha"):
        values = [running.series[name][n] for n in spans]
        row[name] = round(float(np.mean(values)), 3) if values else None
    return row


def whole(running: Running, begin_us: int, until_us: int) -> dict[str, Any]:
    """Latency by group over everything dated before ``until_us``."""
    rows = {}
    for group, kinds in GROUPS.items():
        late = [
            emitted_us - event.ts_us
            for event, emitted_us, _ in running.standing.values()
            if event.kind in kinds and begin_us <= event.ts_us < until_us
        ]
        if late:
            p50, p95 = np.percentile(late, [50, 95])
            figures = (("mean", float(np.mean(late))), ("p50", p50), ("p95", p95), ("max", max(late)))
            rows[group] = {"events": len(late)} | {name: round(us / 1000, 1) for name, us in figures}
    return rows


def differ(one: Running, other: Running, until_us: int) -> int:
    """Count events dated before ``until_us`` that stand in one run only, or differ."""
    first, second = ({n: e for n, (e, _, _) in run.standing.items() if e.ts_us < until_us} for run in (one, other))
    return sum(first.get(name) != second.get(name) for name in first.keys() | second.keys())


def play(capture: Capture, end_us: int, everything: bool, out: Path | None, command: dict[str, Any]) -> dict[str, Any]:
    """Both runs over a capture up to ``end_us``; prints a line a minute."""
    sheet, begin_us = capture.sheet, capture.begin_us
    costs = measured_costs(
        hierarchy_of(sheet, everything), islice(capture.blocks(begin_us, end_us), MEASURED_BLOCKS), 1.0
    )
    runs = {name: Running(hierarchy_of(sheet, everything), MODES[name], costs) for name in COMPARED}
    max_lag_us = hierarchy_of(sheet, everything).max_lag_us
    minutes: dict[str, list[dict[str, Any]]] = {name: [] for name in COMPARED}
    result: dict[str, Any] = {}

    def report(done: int, until_us: int) -> None:
        for name, running in runs.items():
            minutes[name].extend(minute_of(running, begin_us, n) for n in range(len(minutes[name]), done))
            if done:
                print(name, done, json.dumps(minutes[name][-1]), flush=True)
        result.update(
            command=command,
            minutes=done,
            different_events=differ(*runs.values(), until_us),
            latency_ms={name: whole(running, begin_us, until_us) for name, running in runs.items()},
            cpu_s={name: round(running.cpu_s, 1) for name, running in runs.items()},
            by_minute=minutes,
        )
        if out is not None:
            out.write_text(json.dumps(result, indent=1), encoding="utf-8")

    for block in capture.blocks(begin_us, end_us):
        for running in runs.values():
            running.push(block)
        # A minute is told when nothing in it can change any more.
        final_us = min(running.engine.final_us for running in runs.values())
        frontier_us = final_us - max_lag_us
        done = max(0, (frontier_us - begin_us) // MINUTE_US)
        if done > len(minutes[COMPARED[0]]):
            report(done, begin_us + done * MINUTE_US)
    for running in runs.values():
        running.finish()
    report(-(-(end_us - begin_us) // MINUTE_US), end_us)
    return result


def main() -> None:
    """Prints a line a minute and the whole at the end; writes everything with --json."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=45.0)
    parser.add_argument("--rates", default="live", help="see simulator.settings")
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED)
    parser.add_argument("--capture", type=Path, help="take this capture, which may still grow, instead of making one")
    parser.add_argument("--all", action="store_true", help="every detector, not only the chain up to passes and shots")
    parser.add_argument("--json", type=Path, help="write the figures to this file, anew after every minute")
    chosen = parser.parse_args()
    rates = {**rates_named(chosen.rates), "tags": "playing"}
    with tempfile.TemporaryDirectory() as folder:
        path = chosen.capture
        if path is None:
            path = Path(folder) / "capture"
            settings = Simulation(seed=chosen.seed, duration_s=60 * chosen.minutes, **rates)
            write_simulation(MeasuredMatch(settings), path, CHANNELS["rtls"], chosen.seed)
        capture = Capture.open(path)
        command = {"minutes": chosen.minutes, "rates": chosen.rates, "seed": chosen.seed, "all": chosen.all}
        end_us = capture.begin_us + round(chosen.minutes * MINUTE_US)
        if capture.is_finished:
            end_us = min(end_us, capture.end_us)
        result = play(capture, end_us, chosen.all, chosen.json, command)
    print(json.dumps({name: result[name] for name in ("minutes", "different_events", "latency_ms", "cpu_s")}, indent=1))


if __name__ == "__main__":
    main()
