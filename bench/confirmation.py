"""How far does the frontier of each kind trail arrival, and what has been reported, with final by either rule?

The frontier of a kind is final less its declared horizon, and final is a matter of the sources alone. So both rules are
played over the blocks of one transmission by :class:`middleware.sources.progress.SourceProgress`, without detectors:
*lateness* (final trails the newest event by the allowed lateness) and *sources* (final follows what the sources have
reported, decision 051). Times are sampled every 20 ms of arrival time once the first ten seconds are over. ``excess``
is how far a frontier trails source progress beyond its horizon; it is the same for all kinds. ``lost`` counts packets
that are not taken in: those that arrive after they are final. ``clairvoyant`` is source progress of a receiver that
knows which packets will never arrive and waits for no others: no rule without loss can be sooner.

With ``--patience-ms`` it is played again for each time that a silent source is waited for: what it costs to wait less.
With ``--cost`` whole engines play the same seconds in turn; their cost is the ratio of CPU time.

    python -m bench.confirmation [--input rtls harsh optical] [--seed N] [--seconds 300]
        [--patience-ms 3000 1000] [--cost] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from app.pipeline.pipeline import PipelineOptions
from detectors.arrivals import arrival, frame_arrival
from detectors.catalogue import build_detectors
from football.packets import RAW_KINDS, UNPACED_KINDS, Packet
from football.recording import Recording
from middleware.engine import Engine
from middleware.events import BEGINNING_US, Arrival
from middleware.hierarchy import Hierarchy
from middleware.ordering.policy import EngineSettings
from middleware.sources.progress import ProgressSettings, SourceProgress
from simulator.radio.channels import channel_named, transmit
from simulator.settings import rates_named
from simulator.simulate import Simulation, simulate

FRAME_US = 40_000
SAMPLE_US, FIRST_US = 20_000, 10_000_000
RULES = {"lateness": False, "sources": True}
ALLOWED_LATENESS_US = 3_000_000

Push = tuple[int, list[Arrival]]


def inputs(name: str, seed: int, seconds: float) -> tuple[Recording, list[Push]]:
    """Return a simulated match and its pushes: through the radio channel ``name``, or as frames of cameras."""
    rates = {"ball_hz": 25, "body_hz": 25, "limbs": ()} if name == "optical" else rates_named("live")
    recording, _ = simulate(Simulation(seed=seed, duration_s=seconds, **rates))
    return pushes_of(recording, name, seed)


def pushes_of(recording: Recording, name: str, seed: int) -> tuple[Recording, list[Push]]:
    """Return a recording as it is sent, through the radio channel ``name`` or as frames of cameras, and its pushes."""
    if name != "optical":
        blocks = transmit(recording, channel_named(name), seed).blocks()
        return recording, [(block.arrival_us, [arrival(packet) for packet in block.packets]) for block in blocks]
    sheet = msgspec.structs.replace(
        recording.sheet, quality=msgspec.structs.replace(recording.sheet.quality, framed=True)
    )
    instants: dict[int, list[Packet]] = defaultdict(list)
    for block in transmit(recording, channel_named("none"), seed).blocks():
        instants[block.arrival_us // FRAME_US].extend(block.packets)
    frames = [frame_arrival(packets, number) for number, packets in enumerate(instants.values())]
    return replace(recording, sheet=sheet), [(frame.until_us, [frame]) for frame in frames]


def play(
    pushes: list[Push], follows: bool, patience_us: int = ALLOWED_LATENESS_US
) -> Iterator[tuple[int, SourceProgress, Counter[str]]]:
    """Yield the arrival time, the state and the verdicts so far after each push."""
    settings = ProgressSettings(patience_us, unpaced_kinds=UNPACED_KINDS, final_follows_sources=follows)
    progress = SourceProgress(RAW_KINDS, ALLOWED_LATENESS_US, settings)
    verdicts: Counter[str] = Counter()
    for now_us, arrivals in pushes:
        for one in arrivals:
            verdicts[progress.offer(one, now_us).value] += 1
        progress.update_progress(now_us)
        if progress.advance_final(now_us):
            progress.forget(now_us)
        progress.net_of([])
        yield now_us, progress, verdicts


def clairvoyant_ms(pushes: list[Push]) -> list[float]:
    """Return how far arrival is ahead of the oldest packet that is still to arrive, sampled."""
    lags, due_us = [], pushes[0][0] + FIRST_US
    seen: set[tuple[str, str, int]] = set()
    firsts = []
    for now_us, new in pushes:
        fresh = [a for a in new if (a.event.kind, a.event.source, a.event.seq) not in seen]
        seen.update((a.event.kind, a.event.source, a.event.seq) for a in fresh)
        if fresh:
            firsts.append((now_us, min(a.event.ts_us for a in fresh)))
    oldest_us = np.minimum.accumulate([ts_us for _, ts_us in reversed(firsts)])[::-1]
    for at, (now_us, _) in enumerate(firsts[:-1]):
        if now_us >= due_us:
            due_us = now_us + SAMPLE_US
            lags.append((now_us - int(oldest_us[at + 1])) / 1_000)
    return lags


def figures(values: list[float]) -> dict[str, float]:
    """Mean and quantiles."""
    p50, p95, p99 = np.percentile(values, [50, 95, 99])
    found = {"mean": np.mean(values), "p50": p50, "p95": p95, "p99": p99}
    return {name: round(float(value), 1) for name, value in found.items()}


def measure(pushes: list[Push], lag_us: dict[str, int]) -> dict[str, Any]:
    """Return the figures of both rules over one input."""
    result: dict[str, Any] = {"clairvoyant_ms": figures(clairvoyant_ms(pushes))}
    for rule, follows in RULES.items():
        reported, final, excess = [], [], []
        due_us = pushes[0][0] + FIRST_US
        verdicts: Counter[str] = Counter()
        for now_us, progress, so_far in play(pushes, follows):
            verdicts = so_far
            if now_us >= due_us and progress.final_us > BEGINNING_US:
                due_us = now_us + SAMPLE_US
                reported.append((now_us - progress.reported_us) / 1_000)
                final.append((now_us - progress.final_us) / 1_000)
                excess.append(final[-1] - reported[-1])
        kinds = {kind: figures([ms + us / 1_000 for ms in final]) for kind, us in lag_us.items()}
        result[rule] = {
            "source_progress_ms": figures(reported), "final_ms": figures(final), "excess_ms": figures(excess),
            "packets": sum(verdicts.values()), "verdicts": dict(verdicts), "kinds_ms": kinds,
        }  # fmt: skip
    return result


def patient(pushes: list[Push], patience_us: int) -> dict[str, Any]:
    """Return source progress, sampled, and the verdicts, if silent sources and gaps are waited for no longer."""
    reported, due_us = [], pushes[0][0] + FIRST_US
    verdicts: Counter[str] = Counter()
    for now_us, progress, so_far in play(pushes, True, patience_us):
        verdicts = so_far
        if now_us >= due_us and progress.final_us > BEGINNING_US:
            due_us = now_us + SAMPLE_US
            reported.append((now_us - progress.reported_us) / 1_000)
    return {"source_progress_ms": figures(reported), "verdicts": dict(verdicts)}


def cost(recording: Recording, pushes: list[Push]) -> dict[str, float]:
    """Return the CPU time of an engine with either rule, in turn, second by second."""
    hierarchy = Hierarchy(RAW_KINDS, build_detectors(recording.sheet))
    base = PipelineOptions().engine(recording.sheet)
    engines = {rule: Engine(hierarchy, with_rule(base, follows)) for rule, follows in RULES.items()}
    spent = dict.fromkeys(RULES, 0.0)
    for at in range(0, len(pushes), 100):
        for rule, engine in engines.items():
            began = time.process_time()
            for now_us, arrivals in pushes[at : at + 100]:
                engine.push(arrivals, now_us)
            spent[rule] += time.process_time() - began
    return {**{rule: round(s, 2) for rule, s in spent.items()}, "ratio": round(spent["sources"] / spent["lateness"], 3)}


def with_rule(settings: EngineSettings, follows: bool) -> EngineSettings:
    """Return settings with one of the rules."""
    return replace(settings, progress=replace(settings.progress, final_follows_sources=follows))


def main() -> None:
    """Prints the figures; writes them with --json."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--input", nargs="+", default=["rtls", "harsh", "optical"])
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--patience-ms", type=int, nargs="*", default=[], help="times that sources are waited for")
    parser.add_argument("--cost", action="store_true", help="measure the CPU time of whole engines, too")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    chosen = parser.parse_args()
    result = {}
    for name in chosen.input:
        recording, pushes = inputs(name, chosen.seed, chosen.seconds)
        hierarchy = Hierarchy(RAW_KINDS, build_detectors(recording.sheet))
        lag_us = {kind: us for kind, us in hierarchy.lag_us.items() if kind not in hierarchy.internal}
        result[name] = found = measure(pushes, lag_us)
        print(f"{name}: clairvoyant {found['clairvoyant_ms']}")
        for rule in RULES:
            row = found[rule]
            kinds = row["kinds_ms"].values()
            medians = {q: round(float(np.median([one[q] for one in kinds])), 1) for q in ("p50", "p95")}
            slowest = {q: max(one[q] for one in kinds) for q in ("p50", "p95")}
            print(f"  {rule:9} reported {row['source_progress_ms']}  final {row['final_ms']}")
            print(f"            excess {row['excess_ms']}  median kind {medians}  slowest kind {slowest}")
            print(f"            verdicts {row['verdicts']}")
        for patience_ms in chosen.patience_ms:
            found[f"patience {patience_ms}"] = row = patient(pushes, 1_000 * patience_ms)
            print(f"  patience of {patience_ms} ms: {row}", flush=True)
        if chosen.cost:
            found["cpu_s"] = cost(recording, pushes)
            print(f"  CPU: {found['cpu_s']}")
    if chosen.json:
        chosen.json.write_text(json.dumps(result, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
