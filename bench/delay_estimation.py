"""How right are the slacks, how soon, and what does that spare against slacks set by hand?

Question: at the rates of paper 004 (2,000 Hz ball, 200 Hz limbs, 36,000 positions a second at most) through channel
``rtls``: what share of the stream is out of order (goal: over 95 %); how far is each unit's K from the K that the
whole stream turns out to need, over time; what share of the inputs of all units are given in order, the start
included; and how much sooner are events known than with K's chosen by an expert (004, IV-A: 500 ms on the first level
and 25 ms more on each above)? K-slack waits its K out here, whatever the sources have told, as in the papers; the
method ``progress`` goes by nothing else. Two more rows tell what can be had at all: ``at once`` waits for nothing and
takes back (000, alpha 0), and ``clairvoyant`` is the arrival of the last packet that each event needs
(``bench.speculation_000``): no ordering whatever has less. Back-setting and iterated K's come from another match than
the one that is played.
Paper 004: over 95 % out of order, 9 % without sensor events; over 95 % ordered by dynamic K, all with lambda 0.5. Its
fifth of the latency by hand (IV-B2) is that of one detector, player hits ball: at most 59.8 ms against 500. So latency
is told for all events, and for hits.

    python -m bench.delay_estimation [--seconds 20] [--seed 2] [--training-seed 1] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bench.slack_calibration import Delays, SubDelays, configured, estimated, iterated, position_delay_us
from bench.speculation_000 import first_followed
from detectors.arrivals import arrival
from detectors.catalogue import build_detectors
from football.match_sheet import MatchSheet
from football.packet_table import Ints
from football.packets import RAW_KINDS, Block
from football.recording import Recording
from middleware.consolidation import Identity, identity
from middleware.engine import Engine
from middleware.events import Event, Update
from middleware.hierarchy import Hierarchy
from middleware.ordering.policy import EngineSettings, UnitSettings
from middleware.ordering.slack.settings import SlackSettings
from middleware.ordering.speculation import FixedAlpha
from simulator.radio.channels import channel_named, transmit
from simulator.radio.delay_report import arrived_positions, out_of_order_share
from simulator.records import FOUR_LIMBS
from simulator.simulate import Simulation, simulate

CHANNEL = "rtls"
BALL_HZ, LIMB_HZ, POSITIONS = 2000, 200, 10

#: Stream time at which K's are looked at, seconds.
LOOKS_S = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 40.0, 60.0)

#: An expert's K (004, IV-A).
BY_HAND_US, BY_HAND_STEP_US = 500_000, 25_000

#: Longest way of a low-priority and of a ball position, longest time that the clock stands (a slot of the gateway
#: and a ball's packet): as the channel and the input declare them.
LIMB_DELAY_US, BALL_DELAY_US, CLOCK_STEP_US = 100_000, 5_000, 15_000


@dataclass
class Run:
    """Results of one engine.

    Attributes:
        slack_us: K by detector at each look.
        given, late: inputs of all unkeyed units, and those that came after their place; by look, since the beginning.
        learned_us: K by detector at the end, those of keyed detectors, too.
        repairs: how often an unkeyed unit had to repair, for inputs less late than K, too, which ``late`` leaves out.
        standing: each event that stands in the end, with the arrival time at which it was said for the last time.
        order: event times of published events in the order in which they were published.
    """

    slack_us: dict[float, dict[str, int]] = field(default_factory=dict)
    given: dict[float, int] = field(default_factory=dict)
    late: dict[float, int] = field(default_factory=dict)
    repairs: int = 0
    learned_us: dict[str, int] = field(default_factory=dict)
    standing: dict[Identity, tuple[Event, int]] = field(default_factory=dict)
    order: list[int] = field(default_factory=list)
    end_us: dict[str, int] = field(default_factory=dict)
    sub_delays: SubDelays = field(default_factory=SubDelays)

    def take(self, update: Update, now_us: int) -> None:
        """Note an update emitted at ``now_us``."""
        event = update.event
        if update.diff > 0:
            self.standing[identity(event)] = (event, now_us)
            self.order.append(event.ts_us)
        else:
            self.standing.pop(identity(event), None)

    def latency_ms(self, kinds: Collection[str] = ()) -> dict[str, float]:
        """Return the time from event time to the last assertion of an event, of all events or of these kinds."""
        reported = [(at_us - e.ts_us) / 1000 for e, at_us in self.standing.values() if not kinds or e.kind in kinds]
        values = np.array(reported or [0.0])
        return {
            "mean": round(float(values.mean()), 1),
            "median": round(float(np.median(values)), 1),
            "max": round(float(values.max()), 1),
            "events": len(reported),
        }


class Played:
    """One match at full rate, sent once."""

    def __init__(self, seed: int, seconds: float) -> None:
        settings = Simulation(seed=seed, duration_s=seconds, ball_hz=BALL_HZ, body_hz=LIMB_HZ, limbs=FOUR_LIMBS)
        self.recording: Recording = simulate(settings)[0]
        self.sheet: MatchSheet = self.recording.sheet
        self._sent = transmit(self.recording, channel_named(CHANNEL), seed)
        self.blocks: list[Block] = list(self._sent.blocks())

    def hierarchy(self) -> Hierarchy:
        """The product's detectors."""
        return Hierarchy(RAW_KINDS, build_detectors(self.sheet))

    def disorder(self) -> dict[str, float]:
        """Share of sensor events that arrive out of order, each alone and in packets of ten."""
        single = transmit(self.recording, channel_named(CHANNEL).single(), 1)
        return {
            "single_positions": out_of_order_share(_times(single)),
            "positions_in_packets": out_of_order_share(_times(self._sent)),
        }

    def run(
        self, slack: SlackSettings, delays: Delays | None = None, alpha: float = 1.0, back_setting: Delays | None = None
    ) -> Run:
        """A policy, purely buffering if ``alpha`` is 1; its units begin with these K's and back-settings, if given."""
        hierarchy = self.hierarchy()
        settings = EngineSettings(UnitSettings(FixedAlpha(alpha), slack=slack))
        if delays is not None or back_setting is not None:
            names = [d.spec.name for d in hierarchy.detectors]
            settings = configured(settings, delays or {}, names, back_setting)
        engine, result = Engine(hierarchy, settings), Run()
        keyed = {d.spec.name for d in hierarchy.detectors if d.spec.keyed}
        looks = [look for look in LOOKS_S if self.blocks and look * 1e6 <= self.blocks[-1].arrival_us]
        for block in self.blocks:
            for update in engine.push([arrival(packet) for packet in block.packets], block.arrival_us).updates:
                result.take(update, block.arrival_us)
            while looks and block.arrival_us >= looks[0] * 1e6:
                _look(engine, result, looks.pop(0), keyed)
        for update in engine.finish().updates:
            result.take(update, self.blocks[-1].arrival_us)
        _look(engine, result, -1.0, keyed)
        result.end_us = result.slack_us[-1.0]
        result.sub_delays = SubDelays.of(engine.metrics())
        result.learned_us = dict(engine.health().slack_us)
        return result


def _times(transmission: Any) -> Ints:
    return arrived_positions(transmission)[0]


def _look(engine: Engine, result: Run, at_s: float, keyed: set[str]) -> None:
    metrics = {name: reported for name, reported in engine.metrics().items() if name not in keyed}
    result.slack_us[at_s] = {name: reported.k_us for name, reported in metrics.items()}
    result.given[at_s] = sum(reported.stepped for reported in metrics.values())
    result.late[at_s] = sum(reported.late for reported in metrics.values())
    result.repairs = sum(reported.repairs for reported in metrics.values())


def by_hand(hierarchy: Hierarchy, old: SubDelays) -> dict[str, int]:
    """Return slacks of an expert who reckons with the worst case, and knows how far detectors date back.

    A keyed detector orders the packets of one transmitter, which need no slack: the first level is what stands above.
    """
    slack_us: dict[str, int] = {}
    late_us = dict.fromkeys(hierarchy.raw_kinds, BY_HAND_US - BY_HAND_STEP_US)
    for detector in hierarchy.detectors:
        spec = detector.spec
        max_us = max(late_us[kind] for kind in spec.inputs)
        slack_us[spec.name] = 0 if spec.keyed else max_us + BY_HAND_STEP_US
        max_us = max_us if spec.keyed else max_us + BY_HAND_STEP_US
        late_us.update(dict.fromkeys(spec.outputs, max_us + old.back_setting_us.get(spec.name, 0)))
    return slack_us


def declared_jitter_us() -> dict[str, int]:
    """Delay of raw kinds by what input and channel declare, without a single measurement."""
    limb_us = position_delay_us(LIMB_HZ, POSITIONS, LIMB_DELAY_US)
    ball_us = position_delay_us(BALL_HZ, POSITIONS, BALL_DELAY_US)
    return {kind: ball_us if kind == "raw.ball" else limb_us for kind in RAW_KINDS}


def clairvoyant(played: Played, other: Run) -> Run:
    """Return the events that stand in the end, each emitted when it first followed from the arrivals; nothing else."""
    expected = {name: event for name, (event, _) in other.standing.items()}
    found = first_followed(played.sheet, played.blocks, expected)
    return Run(
        {-1.0: {}},
        {-1.0: 0},
        {-1.0: 0},
        standing={name: (expected[name], at_us) for name, at_us in found.items()},
        end_us={"": 0},
    )


def figures(run: Run, needed_us: Mapping[str, int]) -> dict[str, Any]:
    """Estimation error over time, share ordered and latency of one run."""
    errors: dict[str, dict[str, float]] = {}
    for look, slack in run.slack_us.items():
        off_ms = [(slack[name] - needed_us[name]) / 1000 for name in slack if name in needed_us]
        if look > 0 and off_ms:
            errors[f"{look:g}"] = {
                "median_absolute_ms": round(float(np.median(np.abs(off_ms))), 1),
                "mean_absolute_ms": round(float(np.mean(np.abs(off_ms))), 1),
                "most_below_ms": round(max(0.0, -min(off_ms)), 1),
                "most_above_ms": round(max(0.0, max(off_ms)), 1),
                "units": len(off_ms),
            }
    share = {f"{look:g}" if look > 0 else "all": _share(run, look) for look in run.given}
    return {
        "k_error": errors,
        "share_ordered": share,
        "late": run.late[-1.0],
        "repairs": run.repairs,
        "inputs": run.given[-1.0],
        "latency_ms": run.latency_ms(),
        "hit_latency_ms": run.latency_ms(("hit",)),
        "k_mean_ms": round(float(np.mean(list(run.end_us.values()))) / 1000, 1),
    }


def _share(run: Run, look: float) -> float:
    return round(1.0 - run.late[look] / run.given[look], 6) if run.given[look] else 1.0


def measure(seconds: float, seed: int, training_seed: int) -> dict[str, Any]:
    """Everything, as one object."""
    played, training = Played(seed, seconds), Played(training_seed, seconds)
    kslack = SlackSettings("kslack", ignores_progress=True)
    levels = max(d.spec.level for d in played.hierarchy().detectors)
    last = training.run(kslack)
    first_level = {d.spec.name for d in played.hierarchy().detectors if d.spec.level == 1}
    jitter = {name: us for name, us in last.learned_us.items() if name in first_level}
    learned, rounds = iterated(lambda delays: training.run(kslack, delays).end_us, levels)
    old = training.run(kslack, learned).sub_delays
    guessed = estimated(played.hierarchy(), declared_jitter_us(), old, clock_step_us=CLOCK_STEP_US)
    needed, _ = iterated(lambda delays: played.run(kslack, delays).end_us, levels)
    runs = {
        "dynamic, from 0": played.run(kslack),
        "adaptive, lambda 0": played.run(SlackSettings("adaptive", scale=0.0, ignores_progress=True)),
        "adaptive, lambda 0.5": played.run(SlackSettings("adaptive", scale=0.5, ignores_progress=True)),
        "kslack:last, after one match": played.run(kslack, last.learned_us),
        "kslack:semi, after one match": played.run(kslack, jitter, back_setting=last.sub_delays.back_setting_us),
        "first level of kslack:semi only": played.run(kslack, jitter),
        "dynamic, iterated on another match": played.run(kslack, learned),
        "dynamic, estimated from sub-delays": played.run(kslack, guessed),
        "by hand": played.run(SlackSettings("fixed", ignores_progress=True), by_hand(played.hierarchy(), old)),
        "progress": played.run(SlackSettings("progress")),
        "at once": played.run(SlackSettings("kslack"), alpha=0.0),
    }
    runs["clairvoyant"] = clairvoyant(played, runs["at once"])
    reported: dict[str, Any] = defaultdict(dict)
    for name, run in runs.items():
        reported[name] = figures(run, needed)
    for row in reported.values():
        for which in ("latency", "hit_latency"):
            hand_ms = reported["by hand"][f"{which}_ms"]["mean"]
            row[f"{which}_of_by_hand"] = round(row[f"{which}_ms"]["mean"] / hand_ms, 3) if hand_ms else 0.0
    disorder = played.disorder()
    published = np.array(runs["dynamic, from 0"].order, np.int64)
    disorder["published_events"] = out_of_order_share(published)
    return {
        "seconds": seconds,
        "seed": seed,
        "training_seed": training_seed,
        "positions": played.recording.positions,
        "out_of_order": {name: round(share, 4) for name, share in disorder.items()},
        "iterations": rounds,
        "runs": dict(reported),
        "goal": {"out_of_order": 0.95, "reached": disorder["single_positions"] > 0.95},
    }


def pages(result: dict[str, Any]) -> list[str]:
    """Return the figures as text."""
    lines = [f"{result['positions']} positions in {result['seconds']:g} s; out of order: {result['out_of_order']}"]
    lines += [f"iterated K's took {result['iterations']} runs", ""]
    looks = list(result["runs"]["adaptive, lambda 0"]["k_error"])
    lines.append(f"{'median |K - needed|, ms, at s':<38}" + "".join(f"{look:>8}" for look in looks))
    for name, reported in result["runs"].items():
        cells = (reported["k_error"].get(look, {}).get("median_absolute_ms", float("nan")) for look in looks)
        lines.append(f"  {name:<36}" + "".join(f"{cell:>8.1f}" for cell in cells))
    lines += ["", "shares ordered at those times: " + str(result["runs"]["dynamic, from 0"]["share_ordered"])]
    lines += [
        "",
        f"{'':<38}{'ordered, %':>11}{'late':>8}{'repairs':>9}{'inputs':>9}{'latency':>9}{'of hand':>9}{'hits':>8}"
        f"{'of hand':>9}",
    ]
    for name, reported in result["runs"].items():
        lines.append(
            f"  {name:<36}{100 * reported['share_ordered']['all']:>11.3f}{reported['late']:>8}{reported['repairs']:>9}"
            f"{reported['inputs']:>9}"
            f"{reported['latency_ms']['mean']:>9.1f}{reported['latency_of_by_hand']:>9.3f}"
            f"{reported['hit_latency_ms']['mean']:>8.1f}{reported['hit_latency_of_by_hand']:>9.3f}"
        )
    return lines


def main() -> None:
    """Prints the figures; writes them with --json."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--training-seed", type=int, default=1)
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    chosen = parser.parse_args()
    result = measure(chosen.seconds, chosen.seed, chosen.training_seed)
    print("\n".join(pages(result)))
    if chosen.json:
        chosen.json.write_text(json.dumps(result, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
