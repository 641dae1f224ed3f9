"""How much sooner are hits, passes and shots known with speculation than with pure buffering, for the same events?

Both engines get the same packets through the same radio channel, the same detectors and dynamic K-slack; one waits
the whole slack (alpha 1), the other emits at once and takes back what was wrong (alpha 0, on-demand retraction).
Latency is measured on the stream's own clock: arrival time at which the assertion that stands left the engine,
less the event's time. The ratio is taken in one run; the consolidated events of both are compared.
Reference: paper 000, section 5.1, has 0.60 for the pass (1,276 ms buffered, below 800 ms speculative).

    python bench/detection_latency.py [--source FILE|sim] [--channel rtls] [--seconds 300] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from app.sources.captures import first_seconds
from detectors.arrivals import arrival
from detectors.catalogue import build_detectors
from football.packets import RAW_KINDS
from football.recording import Recording
from middleware.engine import Engine
from middleware.events import Event
from middleware.hierarchy import Hierarchy
from middleware.ordering.policy import EngineSettings, UnitSettings
from middleware.ordering.speculation import FixedAlpha
from replay.formats.tracking import read_tracking
from simulator.radio.channels import Transmission, channel_named, transmit
from simulator.simulate import Simulation, simulate

KINDS = ("near", "hit", "touch", "kick.released", "pass.attempt", "pass.complete", "shot.attempt")
BUFFERED, SPECULATIVE = 1.0, 0.0


@dataclass
class Run:
    """Results of one engine: standing events with the arrival time at which they left, and its retractions."""

    standing: dict[str, tuple[int, Event]]
    retractions: int


def run(transmission: Transmission, alpha: float) -> Run:
    """Pushes a transmission through an engine."""
    hierarchy = Hierarchy(RAW_KINDS, build_detectors(transmission.recording.sheet))
    engine = Engine(hierarchy, EngineSettings(UnitSettings(FixedAlpha(alpha))))
    standing: dict[str, tuple[int, Event]] = {}
    retractions = now_us = 0
    for block in transmission.blocks():
        now_us = block.arrival_us
        for update in engine.push([arrival(packet) for packet in block.packets], now_us).updates:
            if update.diff > 0:
                standing[update.event.id] = (now_us, update.event)
            else:
                retractions += 1
                standing.pop(update.event.id, None)
    for update in engine.finish().updates:
        if update.diff > 0:
            standing[update.event.id] = (now_us, update.event)
        else:
            standing.pop(update.event.id, None)
    return Run(standing, retractions)


def latencies_ms(result: Run) -> dict[str, list[float]]:
    """Detection latency of each standing event, by kind."""
    found: dict[str, list[float]] = defaultdict(list)
    for left_us, event in result.standing.values():
        found[event.kind].append((left_us - event.ts_us) / 1000)
    return found


def compare(recording: Recording, channel: str, seed: int) -> dict[str, object]:
    """Both engines over one transmission."""
    transmission = transmit(recording, channel_named(channel), seed)
    buffered, speculative = run(transmission, BUFFERED), run(transmission, SPECULATIVE)
    same = {k: e for k, (_, e) in buffered.standing.items()} == {k: e for k, (_, e) in speculative.standing.items()}
    slow, fast = latencies_ms(buffered), latencies_ms(speculative)
    kinds = {}
    for kind in KINDS:
        if slow.get(kind) and fast.get(kind):
            kinds[kind] = {
                "events": len(fast[kind]),
                "buffered_ms": _figures(slow[kind]),
                "speculative_ms": _figures(fast[kind]),
                "ratio_of_means": round(float(np.mean(fast[kind]) / np.mean(slow[kind])), 3),
            }
    return {
        "channel": channel,
        "seed": seed,
        "same_consolidated_events": same,
        "retractions": {"buffered": buffered.retractions, "speculative": speculative.retractions},
        "kinds": kinds,
    }


def _figures(values: list[float]) -> dict[str, float]:
    p50, p95 = np.percentile(values, [50, 95])
    return {"mean": round(float(np.mean(values)), 1), "p50": round(float(p50), 1), "p95": round(float(p95), 1)}


def main() -> None:
    """Prints the table; writes it with --json."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", default="sim", help="sim, or a tracking file (default: sim)")
    parser.add_argument("--channel", default="rtls")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    chosen = parser.parse_args()
    if chosen.source == "sim":
        recording, _ = simulate(Simulation(duration_s=chosen.seconds))
    else:
        recording = first_seconds(read_tracking(chosen.source), chosen.seconds)
    result = compare(recording, chosen.channel, chosen.seed)
    print(f"{'kind':16}{'events':>8}{'buffered mean/p95 ms':>24}{'speculative mean/p95 ms':>26}{'ratio':>8}")
    for kind, row in result["kinds"].items():  # type: ignore[attr-defined]
        slow, fast = row["buffered_ms"], row["speculative_ms"]
        print(
            f"{kind:16}{row['events']:>8}{slow['mean']:>14} /{slow['p95']:>8}{fast['mean']:>16} /{fast['p95']:>8}"
            f"{row['ratio_of_means']:>8}"
        )
    print(f"same consolidated events: {result['same_consolidated_events']}; retractions: {result['retractions']}")
    if chosen.json:
        chosen.json.write_text(json.dumps(result, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
