"""What does the simulator cost, and what do its captures?

Questions: (1) at 36,000 and 50,000 positions/s, how many times faster than real time is a match made on one core, and
which room takes how much of it: play, limbs, measurement, radio, capture? Goal: at least 5 times. Limbs are measured
by asking for them a second time. (2) How much memory does it take at its peak, over how long a match? It must not
grow with it. (3) How big is a minute of capture with each compression, how fast is it read as arrays (goal: 100 times
real time) and as blocks for the engine, how long does a look into the middle take (goal: 100 ms)?

    python -m bench.simulator [--seconds 120] [--rates full 50k live] [--seed N] [--json FILE]
    python -m bench.simulator --whole-match     # 90 minutes at full rate: takes minutes, and gigabytes of disk
    python -m bench.simulator --look FIRST LAST # the most eventful first five minutes of these seeds, to choose one
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from app.sources.production import write_simulation
from football.packet_table import WIDTH_WITH_MOTION, Packets, concat
from replay import segments
from replay.capture import Capture, CaptureWriter
from simulator.physics.limbs import limb_paths
from simulator.radio.channels import CHANNELS
from simulator.radio.transmission import Radio
from simulator.records import PlayedInterval
from simulator.settings import DEFAULT_SEED, rates_named
from simulator.simulate import (
    MeasuredMatch,
    Simulation,
    match_of,
)

#: Compiles everything, and fills the buffers.
WARM_UP_S = 12.0

STAGES = ("play", "limbs", "measure", "radio", "capture")
SEEKS = 20


def generation(settings: Simulation, out: Path) -> dict[str, Any]:
    """Make a match stage by stage, with a clock between them."""
    production = MeasuredMatch(settings)
    match, measurement = production.play, production.measurement
    radio = Radio(production.names, CHANNELS["rtls"], settings.seed, WIDTH_WITH_MOTION)
    took_s = dict.fromkeys(STAGES, 0.0)
    positions, seconds = 0, 0.0
    assert settings.duration_s is not None
    with CaptureWriter(out, production.sheet, channel="rtls", slot_us=CHANNELS["rtls"].slot_us) as writer:
        at = [time.perf_counter()]
        for interval in match.intervals(settings.duration_s):
            at.append(time.perf_counter())
            measured = measurement.take(interval, set(match.on_pitch) if settings.tags == "playing" else None)
            at.append(time.perf_counter())
            packets = radio.send(measured.rows, measured.until_us)
            at.append(time.perf_counter())
            writer.write(packets)
            at.append(time.perf_counter())
            limbs_s = _limbs(
                interval,
                [(tag.person, tag.limb, rows.ts_us) for tag, rows in zip(measurement.tags, measured.rows, strict=True)],
            )
            if interval.begin_s >= WARM_UP_S:
                play, measure, send, write = np.diff(at).tolist()
                for stage, spent in zip(STAGES, (play, limbs_s, measure - limbs_s, send, write), strict=True):
                    took_s[stage] += spent
                positions += len(packets.ts_us)
                seconds += interval.end_s - interval.begin_s
            at = [time.perf_counter()]
    total_s = sum(took_s.values())
    return {
        "seconds": seconds,
        "positions_per_s": round(positions / seconds),
        "times_real_time": round(seconds / total_s, 1),
        "share_of_real_time": {stage: round(spent / seconds, 4) for stage, spent in took_s.items()},
    }


def _limbs(interval: PlayedInterval, asked: list[tuple[int, str, np.ndarray]]) -> float:
    begun = time.perf_counter()
    for person, limb, ts_us in asked:
        if limb:
            limb_paths(interval, person, limb, ts_us / 1e6)
    return time.perf_counter() - begun


def captures(path: Path) -> dict[str, Any]:
    """Size of a capture with each compression, and how fast it is read."""
    capture = Capture.open(path)
    begin_us, end_us = capture.begin_us, capture.end_us
    seconds = (end_us - begin_us) / 1e6
    batches = list(capture.packets(begin_us, end_us))
    figures: dict[str, Any] = {"compression": segments.COMPRESSION}
    figures["bytes_a_minute"] = {kind: round(60 * _size(batches, kind) / seconds) for kind in ("none", "lz4", "zstd")}
    for name, read in (("arrays", capture.packets), ("blocks", capture.blocks), ("payloads", capture.payloads)):
        begun = time.perf_counter()
        for _ in read(begin_us, end_us):
            pass
        figures[f"{name}_times_real_time"] = round(seconds / (time.perf_counter() - begun))
    looks = np.random.default_rng(0).integers(begin_us, end_us - 1_000_000, SEEKS).tolist()
    took_ms = []
    for at_us in looks:
        begun = time.perf_counter()
        next(iter(Capture.open(path).packets(at_us, end_us)))
        took_ms.append(1e3 * (time.perf_counter() - begun))
    figures["seek_ms"] = {"p50": round(float(np.median(took_ms)), 1), "max": round(max(took_ms), 1)}
    return figures


def _size(batches: list[Packets], kind: str) -> int:
    chosen = segments.COMPRESSION
    segments.COMPRESSION = None if kind == "none" else kind  # type: ignore[assignment]
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "segment"
            total = 0
            for batch in batches:
                segments.write_segment(path, concat([batch]))
                total += path.stat().st_size
    finally:
        segments.COMPRESSION = chosen
    return total


def whole_match(settings: Simulation, out: Path) -> dict[str, Any]:
    """Run a match from kick-off to the final whistle, through the product's own entry point."""
    peaks: dict[int, float] = {}

    def after(end_s: float, writer: CaptureWriter) -> None:
        peaks[int(end_s) // 600 * 10] = _peak_mb()

    begun = time.perf_counter()
    written = write_simulation(
        MeasuredMatch(replace(settings, duration_s=None)), out, CHANNELS["rtls"], settings.seed, after=after
    )
    took_s = time.perf_counter() - begun
    size = sum(path.stat().st_size for path in out.iterdir())
    return {
        "seconds": written.seconds,
        "positions": written.positions,
        "times_real_time": round(written.seconds / took_s, 1),
        "peak_mb_by_minute": peaks,
        "bytes": size,
        "out_of_order_share": round(written.out_of_order_share, 4),
    }


def _peak_mb() -> float:
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)


#: What a newcomer should see in the first minutes; a seed is the better, the more of it it has.
RESTARTS = ("throw_in", "corner", "goal_kick", "free_kick", "penalty")
SHOW = (
    "goal.scored",
    "shot.attempt",
    "foul",
    "offside",
    "woodwork",
    "card.yellow",
    *(f"restart.{r}" for r in RESTARTS),
)


def look(seed: int, seconds: float = 300.0) -> tuple[int, str]:
    """Return how many kinds of ``SHOW`` the first minutes of a seed contain, and a line of counts."""
    match = match_of(Simulation(seed=seed))
    for _ in match.intervals(seconds):
        pass
    kinds = Counter(row.kind for row in match.rows if row.t_s < seconds)
    reported = ", ".join(f"{kind.removeprefix('restart.')} {kinds[kind]}" for kind in SHOW if kinds[kind])
    return sum(kinds[kind] > 0 for kind in SHOW), f"seed {seed}: passes {kinds['pass.attempt']}, {reported}"


def main() -> None:
    """Prints the figures; writes them with --json."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--rates", nargs="*", default=["full", "50k", "live"])
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED)
    parser.add_argument("--whole-match", action="store_true")
    parser.add_argument("--look", type=int, nargs=2, metavar=("FIRST", "LAST"))
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    if chosen.look is not None:
        found = []
        for seed in range(chosen.look[0], chosen.look[1] + 1):
            found.append(look(seed))
            print(f"{found[-1][0]} kinds, {found[-1][1]}", flush=True)
        print("The most eventful ones:")
        for _, line in sorted(found, reverse=True)[:10]:
            print(line)
        return
    result: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for rate in chosen.rates:
            settings = Simulation(seed=chosen.seed, duration_s=chosen.seconds + WARM_UP_S, **rates_named(rate))
            out = Path(folder) / rate.replace("/", "-")
            result[rate] = {**generation(settings, out), "capture": captures(out), "peak_mb": _peak_mb()}
        if chosen.whole_match:
            settings = Simulation(seed=chosen.seed, **rates_named("full"))
            result["whole_match"] = whole_match(settings, Path(folder) / "whole")
    print(json.dumps(result, indent=1))
    if chosen.json:
        chosen.json.write_text(json.dumps(result, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
