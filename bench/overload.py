"""Alpha under overload: what do fixed and adaptive speculation cost and gain on a machine too slow for alpha 0?

Paper 000, sections 5.2 to 5.4 (figures 10 to 12). One simulated match at full rate goes through engines with alpha 1,
0.5, 0, and alpha by load with each retraction mode. The machine is as slow as to be busy for ``--load`` of the time
with alpha 1 (000: 50 to 70 %): so many matches share a core. ``--burst F`` lets it lose that share of its speed in
three seconds of every ten, so that overloads follow each other.

Alpha follows the counted busy factor (counts times costs measured once). Latency is on one core in virtual time: a push
begins when the one before is done and takes its CPU time, scaled by the same speed. So a run that is too slow falls
behind, as a host would. All runs must end in the same events, and nothing may be lost.

*Buffer* is the memory of inputs that wait or are held, by the measured bytes of one, and of the states beside them.

    python -m bench.overload [--seed 11] [--begin 60] [--seconds 30] [--load 0.65] [--burst 0.4] [--alone]
        [--rates full] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import structs

from app.sources.production import write_simulation
from bench.ordering_cost import bytes_per_event, stream
from bench.speculation_000 import GROUPS, MEASURED_BLOCKS, Mode, Run, Running, hierarchy_of, measured_costs
from football.match_sheet import MatchSheet
from football.packets import Block
from middleware.load_accounting import Costs
from middleware.ordering.slack.settings import SlackSettings
from middleware.ordering.speculation import AdaptiveAlpha, FixedAlpha
from replay.capture import Capture
from simulator.radio.channels import CHANNELS
from simulator.settings import rates_named
from simulator.simulate import MeasuredMatch, Simulation

FIXED = {"alpha 1": 1.0, "alpha 0.5": 0.5, "alpha 0": 0.0}
ADAPTIVE = {"by load, on demand": "on-demand", "by load, full": "full", "by load, auto": "auto"}

#: A burst takes the first of these of every second of these.
BURST_US, BURST_EVERY_US = 3_000_000, 10_000_000


@dataclass(frozen=True)
class Played:
    """Results of one engine, and the CPU time of each push in microseconds."""

    run: Run
    took_us: Sequence[float]

    @property
    def cpu_s(self) -> float:
        """CPU time of all pushes."""
        return sum(self.took_us) / 1e6


class Machine:
    """Speed of the machine over the stream's time, as a share of the one that measures."""

    def __init__(self, speed: float, burst: float) -> None:
        self._speed, self._burst = speed, burst

    def speed(self, now_us: int) -> float:
        """Wall seconds of the measuring machine that a second of the stream has."""
        return self._speed * (1.0 - self._burst if now_us % BURST_EVERY_US < BURST_US else 1.0)


def play(sheet: MatchSheet, blocks: Sequence[Block], mode: Mode, costs: Costs, machine: Machine | None) -> Played:
    """Push all blocks through an engine; with a machine the costs it decides by follow that machine's speed."""
    running, speed = Running(hierarchy_of(sheet), mode, costs), 0.0
    for block in blocks:
        if machine and (now := machine.speed(block.arrival_us)) != speed:
            speed = now
            running.engine.set_costs(structs.replace(costs, available=speed))
        running.push(block)
    return Played(running.finish(), running.took_us)


def queued_us(played: Played, blocks: Sequence[Block], machine: Machine) -> Mapping[int, int]:
    """Return by arrival time of a block when the machine has done it: each begins when the one before is done."""
    ready_us, done = 0.0, {}
    for block, took_us in zip(blocks, played.took_us, strict=True):
        ready_us = max(ready_us, block.arrival_us) + took_us / machine.speed(block.arrival_us)
        done[block.arrival_us] = round(ready_us)
    return done


def figures(
    played: Played, blocks: Sequence[Block], machine: Machine, bytes_each: Mapping[str, float]
) -> dict[str, Any]:
    """Latency, load, memory and retractions of one run."""
    run, done_us = played.run, queued_us(played, blocks, machine)
    lag_ms = [(done_us[block.arrival_us] - block.arrival_us) / 1000 for block in blocks]
    latency = {}
    for group, kinds in GROUPS.items():
        rows = [(event.ts_us, at_us) for event, at_us, _ in run.standing.values() if event.kind in kinds]
        if rows:
            first = np.array([(at - ts) / 1000 for ts, at in rows])
            ready = np.array([(done_us.get(at, at) - ts) / 1000 for ts, at in rows])
            latency[group] = {"n": len(rows), "stream_ms": _mean(first), "ready_ms": _mean(ready)}
    series = run.series
    busy_s = [
        took / machine.speed(round(at * 1e6)) for took, at in zip(series["cpu_share"], series["at_s"], strict=True)
    ]
    waiting, held = _mean(series["waiting"]), _mean(series["held"])
    kept_bytes = waiting * bytes_each["unit, waiting"] + held * bytes_each["unit, held for repair with its output"]
    return {
        "latency": latency,
        "behind_ms": {"mean": _mean(lag_ms), "max": round(max(lag_ms), 1)},
        "cpu_s": round(played.cpu_s, 2),
        "cpu_load": {"mean": round(float(np.mean(busy_s)), 3), "max": round(max(busy_s), 3)},
        "alpha_mean": round(float(np.mean(series["alpha"])), 3),
        "buffer_kbytes": round((kept_bytes + run.state_bytes) / 1024),
        "retracted": sum(m["retracted"] for m in run.metrics.values()),
        "published_taken_back": sum(run.taken_back.values()),
        "steps": sum(m["stepped"] + m["redone"] for m in run.metrics.values()),
    }


def _mean(values: Any) -> float:
    return round(float(np.mean(values)), 1)


def curve(run: Run) -> list[tuple[float, float, float]]:
    """Second, counted busy factor of the span before it, and alpha after it."""
    series = run.series
    return list(zip(series["at_s"], series["busy"], series["alpha"], strict=True))


def measure(capture: Capture, begin_us: int, end_us: int, load: float, burst: float, *, alone: bool) -> dict[str, Any]:
    """All runs over a stretch (arrival time) of a capture."""
    sheet, blocks = capture.sheet, list(capture.blocks(begin_us, end_us))
    costs = measured_costs(hierarchy_of(sheet), iter(blocks[:MEASURED_BLOCKS]), 1.0)
    slack = SlackSettings(ignores_progress=alone)
    runs = {
        name: play(sheet, blocks, Mode(FixedAlpha(a), "on-demand", slack), costs, None) for name, a in FIXED.items()
    }
    seconds = (end_us - begin_us) / 1e6
    counted = float(np.mean(runs["alpha 1"].run.series["busy"])) / load
    timed = runs["alpha 1"].cpu_s / seconds / load
    for name, retraction in ADAPTIVE.items():
        mode = Mode(AdaptiveAlpha(), retraction, slack)  # type: ignore[arg-type]
        runs[name] = play(sheet, blocks, mode, costs, Machine(counted, burst))
    standing = [{name: event for name, (event, _, _) in one.run.standing.items()} for one in runs.values()]
    bytes_each = bytes_per_event(stream(2_000, 100_000, 10_000))
    machine = Machine(timed, burst)
    return {
        "seconds": seconds,
        "matches_a_core": round(1 / timed, 2),
        "burst": burst,
        "waits_k_out": alone,
        "events": len(standing[0]),
        "same_events": all(other == standing[0] for other in standing),
        "runs": {name: figures(one, blocks, machine, bytes_each) for name, one in runs.items()},
        "busy_fixed": {n: round(float(np.mean(runs[n].run.series["busy"])) / counted, 3) for n in FIXED},
        "curves": {name: curve(runs[name].run) for name in ADAPTIVE},
    }


def show(result: dict[str, Any]) -> Iterator[str]:
    """Yield the tables as lines of text."""
    yield (
        f"{result['seconds']:g} s, {result['matches_a_core']} matches a core, burst {result['burst']:g}, "
        f"{result['events']} events, the same in all: {result['same_events']}; busy {result['busy_fixed']}"
    )
    groups = list(GROUPS)
    yield (
        f"{'':22}{'alpha':>7}{'CPU':>7}{'max':>7}{'CPU s':>7}{'behind':>9}{'max':>9}{'kB':>8}{'retracted':>10}"
        + "".join(f"{group + ', ms':>20}" for group in groups)
    )
    for name, row in result["runs"].items():
        cells = (row["latency"].get(g) for g in groups)
        yield (
            f"{name:22}{row['alpha_mean']:>7}{row['cpu_load']['mean']:>7}{row['cpu_load']['max']:>7}{row['cpu_s']:>7}"
            f"{row['behind_ms']['mean']:>9}{row['behind_ms']['max']:>9}{row['buffer_kbytes']:>8}{row['retracted']:>10}"
            + "".join(f"{c['stream_ms']:>10} /{c['ready_ms']:>8}" if c else f"{'-':>20}" for c in cells)
        )
    for name, rows in result["curves"].items():
        yield f"{name}: second, busy, alpha: " + "; ".join(f"{at:.1f} {busy} {alpha}" for at, busy, alpha in rows)


def main() -> None:
    """Prints the tables; writes everything, curves included, with --json."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--begin", type=float, default=60.0, help="second of the match")
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--rates", default="full", help="see simulator.settings")
    parser.add_argument("--load", type=float, default=0.65, help="CPU load of alpha 1")
    parser.add_argument("--burst", type=float, default=0.0, help="share of the speed that is lost in bursts")
    parser.add_argument("--alone", action="store_true", help="wait K out, as the paper does")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    chosen = parser.parse_args()
    ends_s = chosen.begin + chosen.seconds
    settings = Simulation(seed=chosen.seed, duration_s=ends_s, **{**rates_named(chosen.rates), "tags": "playing"})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "capture"
        write_simulation(MeasuredMatch(settings), path, CHANNELS["rtls"], chosen.seed)
        capture = Capture.open(path)
        begin_us = capture.begin_us + round(1e6 * chosen.begin)
        end_us = min(begin_us + round(1e6 * chosen.seconds), capture.end_us)
        result = measure(capture, begin_us, end_us, chosen.load, chosen.burst, alone=chosen.alone)
    print("\n".join(show(result)))
    if chosen.json:
        chosen.json.write_text(json.dumps(result, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
