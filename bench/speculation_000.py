"""How much sooner are passes, hits and shots known with speculation, at what cost, and how near is that to the best?

Paper 000, section 5, on a simulated match at full rate (ball 2,000 Hz, four limbs a player at 200 Hz, channel
``rtls``), the same capture for all. Two questions, the same consolidated events in all runs (checked):

* pure buffering (alpha 1), full speculation (alpha 0), alpha by load, all on demand: latency, CPU, buffers, states,
  alpha. Pure buffering is run twice: K-slack ``alone``, as in 000, and ``buffered``, which does not wait K out where
  the sources have told everything;
* on demand against full against automatic retraction, alpha by load: hits and cascaded events taken back, redone
  steps, average alpha, latency.

And one for each detector: ``--each``. All detectors take back on demand, at alpha 0, but for one, which does it in
full, or automatically. What the whole engine then does more or less than with all on demand (steps, comparisons,
updates; at the measured costs in milliseconds) is what that detector's way is worth, cascades above included. Nothing
else would be fair: what a detector is given depends on how those below it take back, and what is withdrawn from it and
given again counts as new.

*Latency* is arrival time of the push in which the event as it stands in the end was said for the last time, less its
event time: the stream's own clock. Beside it ``processed``: the same with the time that pushes take on one core, queues
included. *Passes* are told twice: ``pass.attempt``, dated at the kick and told when the ball has left its kicker; and
the outcome (``pass.complete``, ``.intercepted``, ``.out``), dated when the receiver is known, as 000's pass event is.

*Clairvoyant bound*: arrival of the last packet that an event needs. It is found by folding everything that has arrived,
after every block, with no wait anywhere (not even for dense joins), and taking for each event the first block after
which it followed exactly as it stands in the end; whatever else was said is ignored, as by somebody who knows what is
right, and has no end of CPU. So it has the detectors' own waiting in it, and the packets' way, and no ordering at
all. Events that an engine told sooner than that are counted (``sooner_than_bound``). What of it the detectors and the
packaging take, without any radio delay, is told as ``own``: the same fold over packets that arrive when they end.

References: 000, 5.1: pass 1,276 ms buffered, below 800 ms with alpha by load (0.60); 5.4: 5,623 hits retracted in full,
735 on demand. Goals: ratio of the pass <= 0.40, hits <= 60 ms in the mean, all within 1.25 of the bound.

    python -m bench.speculation_000 [--begin 65] [--seconds 65 | --minutes 45] [--rates full] [--available 1.0]
        [--seed N | --capture FOLDER] [--each] [--json FILE]
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import tempfile
import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from app.pipeline.costs import CostMeter
from app.sources.production import write_simulation
from detectors.arrivals import arrival
from detectors.catalogue import build_detectors
from football.match_sheet import MatchSheet
from football.packets import RAW_KINDS, Block
from middleware.consolidation import Identity, identity
from middleware.engine import Engine
from middleware.events import Event, Update
from middleware.hierarchy import Hierarchy
from middleware.load_accounting import Costs
from middleware.ordering.policy import EngineSettings, UnitSettings
from middleware.ordering.retraction import Retraction
from middleware.ordering.slack.settings import SlackSettings
from middleware.ordering.speculation import AdaptiveAlpha, FixedAlpha, Speculation
from replay.capture import Capture
from simulator.radio.channels import CHANNELS
from simulator.settings import DEFAULT_SEED, rates_named
from simulator.simulate import MeasuredMatch, Simulation

#: What is reported, as groups of kinds.
GROUPS = {
    "hit": ("hit",),
    "pass attempt": ("pass.attempt",),
    "pass outcome": ("pass.complete", "pass.intercepted", "pass.out"),
    "shot": ("shot.attempt",),
}

SPAN_US = 500_000
METRICS_EVERY_SPANS = 10

#: Blocks on which costs are measured, as a live run does.
MEASURED_BLOCKS = 1_000

#: Longest radio delay that duplicates are looked for (arrival time).
RADIO_MAX_US = 5_000_000

GOALS = {"pass": 0.40, "hit_ms": 60.0, "bound": 1.25}


class Mode(NamedTuple):
    """How the units of one run wait and retract."""

    speculation: Speculation
    retraction: Retraction
    slack: SlackSettings = SlackSettings()
    by_detector: Mapping[str, UnitSettings] = MappingProxyType({})


MODES = {
    "alone": Mode(FixedAlpha(1.0), "on-demand", SlackSettings(ignores_progress=True)),
    "buffered": Mode(FixedAlpha(1.0), "on-demand"),
    "at once": Mode(FixedAlpha(0.0), "on-demand"),
    "by load": Mode(AdaptiveAlpha(), "on-demand"),
    "by load, full": Mode(AdaptiveAlpha(), "full"),
    "by load, auto": Mode(AdaptiveAlpha(), "auto"),
}
BUFFERING = ("alone", "buffered")
RETRACTIONS = {"on-demand": "by load", "full": "by load, full", "auto": "by load, auto"}


@dataclasses.dataclass
class Run:
    """Results of one engine.

    ``standing``: event, arrival time at which it was said for the last time, and when it was ready on one core.
    """

    standing: dict[Identity, tuple[Event, int, int]]
    series: dict[str, list[float]]
    taken_back: dict[str, int]
    metrics: dict[str, Any]
    moved: int
    cpu_s: float
    state_bytes: float


def hierarchy_of(sheet: MatchSheet, *, eager: bool = False) -> Hierarchy:
    """The match's detectors; ``eager`` ones wait nowhere, dense joins included."""
    detectors = build_detectors(sheet)
    if eager:
        for detector in detectors:
            detector.spec = dataclasses.replace(detector.spec, speculative=True)
    return Hierarchy(RAW_KINDS, detectors)


class Running:
    """An engine that is given blocks, with a clock around each push."""

    def __init__(self, hierarchy: Hierarchy, mode: Mode, costs: Costs) -> None:
        unit = UnitSettings(mode.speculation, mode.retraction, slack=mode.slack)
        self.engine = Engine(hierarchy, EngineSettings(unit, dict(mode.by_detector)))
        self.engine.set_costs(costs)
        self.standing: dict[Identity, tuple[Event, int, int]] = {}
        self.series: dict[str, list[float]] = defaultdict(list)
        self.took_us: list[float] = []
        self._speculative = [d.spec.name for d in hierarchy.detectors if d.spec.speculative]
        self._taken_back: dict[str, int] = defaultdict(int)
        self._state_bytes: list[float] = []
        self._ready_us = self._now_us = self._spent_ns = self._span_ns = self._span = 0

    @property
    def cpu_s(self) -> float:
        """CPU time that pushes took."""
        return self._spent_ns / 1e9

    def push(self, block: Block) -> None:
        """Takes a block in."""
        self._now_us = now_us = block.arrival_us
        arrivals = [arrival(packet) for packet in block.packets]
        began_ns = time.process_time_ns()
        updates = self.engine.push(arrivals, now_us).updates
        took_ns = time.process_time_ns() - began_ns
        self._spent_ns += took_ns
        self.took_us.append(took_ns / 1e3)
        self._ready_us = max(self._ready_us, now_us) + took_ns // 1000
        self._book(updates)
        if now_us // SPAN_US != self._span:
            self._note_span(now_us)

    def finish(self) -> Run:
        """End the stream; return its results."""
        self._book(self.engine.finish().updates)
        metrics = {name: dataclasses.asdict(m) for name, m in self.engine.metrics().items()}
        mean_bytes = float(np.mean(self._state_bytes)) if self._state_bytes else 0.0
        moved = self.engine.work_counts()[1]
        return Run(
            self.standing, dict(self.series), dict(self._taken_back), metrics, moved, self.cpu_s, mean_bytes
        )  # fmt: skip

    def _book(self, updates: Iterable[Update]) -> None:
        for update in updates:
            if update.diff > 0:
                self.standing[identity(update.event)] = (update.event, self._now_us, self._ready_us)
            else:
                self._taken_back[update.event.kind] += 1
                self.standing.pop(identity(update.event), None)

    def _note_span(self, now_us: int) -> None:
        series, spans = self.series, now_us // SPAN_US - self._span
        health = self.engine.health()
        alphas = [health.alpha[name] for name in self._speculative if name in health.alpha]
        series["at_s"].append(now_us / 1e6)
        series["cpu_share"].append(round((self._spent_ns - self._span_ns) / 1e3 / (spans * SPAN_US), 4))
        series["waiting"].append(health.waiting)
        series["held"].append(health.held)
        series["alpha"].append(round(float(np.mean(alphas or [1.0])), 4))
        series["busy"].append(round(health.busy, 3))
        series["pass_k_ms"].append(health.slack_us.get("pass_outcome", 0) / 1000)
        if len(series["at_s"]) % METRICS_EVERY_SPANS == 0:
            figures = self.engine.metrics().values()
            self._state_bytes.append(sum(m.snapshots * m.snapshot_bytes for m in figures))
        self._span, self._span_ns = now_us // SPAN_US, self._spent_ns


def run(sheet: MatchSheet, blocks: Iterable[Block], mode: Mode, costs: Costs) -> Run:
    """Pushes all blocks through an engine."""
    running = Running(hierarchy_of(sheet), mode, costs)
    for block in blocks:
        running.push(block)
    return running.finish()


def first_followed(sheet: MatchSheet, blocks: Iterable[Block], expected: dict[Identity, Event]) -> dict[Identity, int]:
    """For each expected event return the arrival time of the first block after which it followed as expected."""
    engine = Engine(hierarchy_of(sheet, eager=True), EngineSettings(UnitSettings(FixedAlpha(0.0))))
    found: dict[Identity, int] = {}
    now_us = 0
    for block in blocks:
        now_us = block.arrival_us
        for update in engine.push([arrival(packet) for packet in block.packets], now_us).updates:
            name = identity(update.event)
            if update.diff > 0 and name not in found and expected.get(name) == update.event:
                found[name] = now_us
    for update in engine.finish().updates:
        name = identity(update.event)
        if update.diff > 0 and name not in found and expected.get(name) == update.event:
            found[name] = now_us
    return found


def without_radio(blocks: Iterable[Block]) -> Iterator[Block]:
    """The same packets, once each, arriving when their last position is measured."""
    by_time: dict[int, dict[tuple[str, int], Any]] = defaultdict(dict)
    next_us = 0
    for block in blocks:
        for packet in block.packets:
            by_time[packet.ts_us[-1]].setdefault((packet.transmitter, packet.sequence), packet)
        if block.arrival_us >= next_us:
            next_us = block.arrival_us + RADIO_MAX_US
            for at_us in sorted(at_us for at_us in by_time if at_us < block.arrival_us - RADIO_MAX_US):
                yield Block(at_us, tuple(by_time.pop(at_us).values()))
    for at_us in sorted(by_time):
        yield Block(at_us, tuple(by_time[at_us].values()))


def measured_costs(hierarchy: Hierarchy, blocks: Iterable[Block], available: float) -> Costs:
    """Costs of this machine, from the first blocks, the same for all runs."""
    engine = Engine(hierarchy, EngineSettings(UnitSettings(FixedAlpha(0.0))))
    meter = CostMeter(available)
    for block in blocks:
        arrivals = [arrival(packet) for packet in block.packets]
        began_ns = time.process_time_ns()
        engine.push(arrivals, block.arrival_us)
        meter.add(0, time.process_time_ns() - began_ns)
    return meter.measure(engine, [d.spec.name for d in hierarchy.detectors])


def latencies(result: Run, bound_us: dict[Identity, int], own_us: dict[Identity, int]) -> dict[str, dict[str, Any]]:
    """Return the latency of each group, with the bound and its parts, over the events that have all of them."""
    rows: dict[str, dict[str, Any]] = {}
    for group, kinds in GROUPS.items():
        reported = [(name, *output) for name, output in result.standing.items() if output[0].kind in kinds]
        reported = [row for row in reported if row[0] in bound_us and row[0] in own_us]
        if not reported:
            continue
        event_us = np.array([event.ts_us for _, event, _, _ in reported])
        left, ready = np.array([row[2] for row in reported]), np.array([row[3] for row in reported])
        bound, own = np.array([bound_us[row[0]] for row in reported]), np.array([own_us[row[0]] for row in reported])
        latency = left - event_us
        rows[group] = {
            "events": len(reported),
            "ms": _figures(latency),
            "processed_ms": _figures(ready - event_us),
            "bound_ms": _figures(bound - event_us),
            "own_ms": _figures(own - event_us),
            "ratio_to_bound": round(float(latency.mean() / (bound - event_us).mean()), 3),
            "sooner_than_bound": int((left < bound).sum()),
            "series": sorted(
                (round(int(at) / 1e6, 3), round(int(ms) / 1e3, 1)) for at, ms in zip(left, latency, strict=True)
            ),
        }
    return rows


def retractions(runs: dict[str, Run], costs: Costs) -> dict[str, Any]:
    """Return the cost of retraction in each mode. Repeated steps are those beyond the fewest of any mode."""
    table: dict[str, Any] = {}
    mode_of = {method: mode for method, mode in RETRACTIONS.items() if mode in runs}
    first = min((sum(m["stepped"] for m in runs[mode].metrics.values()) for mode in mode_of.values()), default=0)
    for method, mode in mode_of.items():
        result = runs[mode]
        metrics = result.metrics
        table[method] = {
            "hits_taken_back": result.taken_back.get("hit", 0),
            "events_taken_back": sum(m["retracted"] for m in metrics.values()),
            "taken_back_above_level_1": sum(m["retracted"] for m in metrics.values() if m["level"] > 1),
            "steps_again": sum(m["stepped"] + m["redone"] for m in metrics.values()) - first,
            "compared": sum(m["compared"] for m in metrics.values()),
            "work_s": round(work(metrics, result.moved, costs) / 1e6, 3),
            "alpha_mean": round(float(np.mean(result.series["alpha"])), 3),
            "cpu_s": round(result.cpu_s, 2),
        }
    return table


def work(metrics: dict[str, Any], moved: int, costs: Costs) -> float:
    """Return the work of an engine, in microseconds at given costs, without taking arrivals in."""
    done_us = moved * costs.moved_us
    for name, m in metrics.items():
        done_us += (m["stepped"] + m["redone"]) * costs.step(name) + m["compared"] * costs.compare(name)
    return done_us


def each_alone(
    capture: Capture, begin_us: int, end_us: int, available: float, names: Collection[str]
) -> dict[str, Any]:
    """For each detector that repairs anything: what the engine does more than with all on demand, if it alone differs.

    Args:
        capture, begin_us, end_us: stretch (arrival time) of a capture.
        available: see ``Costs.available``.
        names: only of these detectors; of all if empty.

    Returns:
        By detector and way ("full", "auto"): steps, comparisons and updates more, milliseconds more; the way that
        ``auto`` ended in; and what those repairs of the detector itself come to that its way decides on.
    """
    sheet = capture.sheet
    costs = measured_costs(hierarchy_of(sheet), islice(capture.blocks(begin_us, end_us), MEASURED_BLOCKS), available)

    def done(name: str, retraction: Retraction) -> Run:
        mode = Mode(FixedAlpha(0.0), "on-demand", by_detector={name: UnitSettings(FixedAlpha(0.0), retraction)})
        return run(sheet, capture.blocks(begin_us, end_us), mode, costs)

    base = done("conditioning", "on-demand")
    table: dict[str, Any] = {}
    for name, own in base.metrics.items():
        if not own["compared"] or (names and name not in names):
            continue
        row: dict[str, Any] = {"repairs_ms": round(work({name: {**own, "stepped": 0}}, 0, costs) / 1e3, 2)}
        for method in ("full", "auto"):
            other = done(name, method)
            counts = {key: _sum(other.metrics, key) - _sum(base.metrics, key) for key in ("stepped", "redone")}
            row[method] = {
                "steps": sum(counts.values()),
                "compared": _sum(other.metrics, "compared") - _sum(base.metrics, "compared"),
                "updates": other.moved - base.moved,
                "taken_back": _sum(other.metrics, "retracted") - _sum(base.metrics, "retracted"),
                "ms": round((work(other.metrics, other.moved, costs) - work(base.metrics, base.moved, costs)) / 1e3, 2),
            }
        row["auto_ends_in"] = other.metrics[name]["way"]
        table[name] = row
    return table


def _sum(metrics: dict[str, Any], key: str) -> int:
    return sum(m[key] for m in metrics.values())


def _figures(values_us: Any) -> dict[str, float]:
    p50, p95 = np.percentile(values_us, [50, 95])
    mean_us, max_us = float(np.mean(values_us)), float(np.max(values_us))
    return {name: round(us / 1000, 1) for name, us in (("mean", mean_us), ("p50", p50), ("p95", p95), ("max", max_us))}


def compare(
    capture: Capture, begin_us: int, end_us: int, available: float, expected_runs: Collection[str]
) -> dict[str, Any]:
    """Run over an interval (arrival time) of one capture; "at once" must be among the modes."""

    def blocks() -> Iterator[Block]:
        return capture.blocks(begin_us, end_us)

    sheet = capture.sheet
    costs = measured_costs(hierarchy_of(sheet), islice(blocks(), MEASURED_BLOCKS), available)
    runs = {name: run(sheet, blocks(), mode, costs) for name, mode in MODES.items() if name in expected_runs}
    expected = {name: event for name, (event, _, _) in runs["at once"].standing.items()}
    same = all({n: e for n, (e, _, _) in result.standing.items()} == expected for result in runs.values())
    bound_us = first_followed(sheet, blocks(), expected)
    own_us = first_followed(sheet, without_radio(blocks()), expected) if len(runs) == len(MODES) else bound_us
    table = {name: latencies(result, bound_us, own_us) for name, result in runs.items()}
    duration_s = (end_us - begin_us) / 1e6
    return {
        "seconds": round(duration_s, 1),
        "available": available,
        "same_consolidated_events": same,
        "events": len(expected),
        "without_bound": sorted({expected[name].kind for name in expected if name not in bound_us}),
        "latency": table,
        "load": {
            name: {
                "cpu_share_mean": round(result.cpu_s / duration_s, 3),
                "cpu_share_max": max(result.series["cpu_share"], default=0.0),
                "waiting_mean": round(float(np.mean(result.series["waiting"]))),
                "held_mean": round(float(np.mean(result.series["held"]))),
                "state_kbytes": round(result.state_bytes / 1024),
                "alpha_mean": round(float(np.mean(result.series["alpha"])), 3),
            }
            for name, result in runs.items()
        },
        "series": {name: result.series for name, result in runs.items()},
        "retraction": retractions(runs, costs),
        "ratios": {base: ratios(table, base) for base in BUFFERING if base in runs},
    }


def ratios(table: dict[str, dict[str, dict[str, Any]]], base: str) -> dict[str, dict[str, float]]:
    """Mean latency of each group over that of a run of pure buffering."""
    buffered = table[base]
    return {
        name: {g: round(row["ms"]["mean"] / buffered[g]["ms"]["mean"], 3) for g, row in rows.items() if g in buffered}
        for name, rows in table.items()
    }


def show(result: dict[str, Any]) -> None:
    """Return the tables as text."""
    print(f"{result['seconds']} s, {result['events']} events, the same in all: {result['same_consolidated_events']}")
    heads = (("run", 16), ("event", 14), ("n", -5), ("mean", -8), ("p95", -8), ("processed", -11), ("own", -8))
    heads = (*heads, ("bound", -8), ("x bound", -9), ("x alone", -9), ("x buffered", -12))
    print("".join(text.ljust(width) if width > 0 else text.rjust(-width) for text, width in heads))
    for name, rows in result["latency"].items():
        for group, row in rows.items():
            alone, buffered = (result["ratios"].get(base, {}).get(name, {}).get(group, 0.0) for base in BUFFERING)
            print(
                f"{name:16}{group:14}{row['events']:>5}{row['ms']['mean']:>8}{row['ms']['p95']:>8}"
                f"{row['processed_ms']['mean']:>11}{row['own_ms']['mean']:>8}{row['bound_ms']['mean']:>8}"
                f"{row['ratio_to_bound']:>9}{alone:>9}{buffered:>12}"
            )
    for name, row in result["load"].items():
        print(f"{name:16}", row)
    for method, row in result["retraction"].items():
        print(f"{method:16}", row)
    print("goals:", GOALS)


def show_each(table: dict[str, Any]) -> None:
    """What each detector's way is worth, for people: more (+) or less (-) than on demand."""
    keys = ("steps", "compared", "updates", "taken_back", "ms")
    print(
        f"{'detector':24}{'own, ms':>9}"
        + "".join(f"{method + ' ' + key:>17}" for method in ("full", "auto") for key in keys)
    )
    for name, row in table.items():
        cells = "".join(f"{row[method][key]:>+17}" for method in ("full", "auto") for key in keys)
        print(f"{name:24}{row['repairs_ms']:>9}{cells}  {row['auto_ends_in']}")


def main() -> None:
    """Prints the tables; writes everything, series included, with --json."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=65.0)
    parser.add_argument("--minutes", type=float, help="instead of --seconds")
    parser.add_argument("--begin", type=float, default=0.0, help="second of the match at which the stretch begins")
    parser.add_argument("--capture", type=Path, help="take this capture instead of making one")
    parser.add_argument("--each", nargs="*", metavar="NAME", help="only: each detector's way to take back by itself")
    parser.add_argument("--runs", nargs="*", choices=MODES, default=tuple(MODES), help="only these, for long stretches")
    parser.add_argument("--rates", default="full", help="see simulator.settings")
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED)
    parser.add_argument("--available", type=float, default=1.0, help="wall seconds for a second of the stream")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    chosen = parser.parse_args()
    seconds = chosen.seconds if chosen.minutes is None else 60 * chosen.minutes
    ends_s = chosen.begin + seconds
    settings = Simulation(seed=chosen.seed, duration_s=ends_s, **{**rates_named(chosen.rates), "tags": "playing"})
    with tempfile.TemporaryDirectory() as folder:
        path = chosen.capture
        if path is None:
            path = Path(folder) / "capture"
            write_simulation(MeasuredMatch(settings), path, CHANNELS["rtls"], chosen.seed)
        capture = Capture.open(path)
        begin_us = capture.begin_us + round(1e6 * chosen.begin)
        end_us = min(begin_us + round(1e6 * seconds), capture.end_us)
        if chosen.each is not None:
            result = each_alone(capture, begin_us, end_us, chosen.available, chosen.each)
        else:
            result = compare(capture, begin_us, end_us, chosen.available, {*chosen.runs, "at once"})
    (show if chosen.each is None else show_each)(result)
    command = {"begin": chosen.begin, "seconds": seconds, "rates": chosen.rates, "seed": chosen.seed}
    result = {"command": command, "result": result}
    if chosen.json:
        chosen.json.write_text(json.dumps(result, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
