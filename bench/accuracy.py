"""How right is what is found in a simulated match, kind by kind, held against its truth?

Each seed is simulated once a channel, its capture played through the real engine in this process (as ``touchline live
--engine inprocess --speed max`` does), and the store held against the truth as ``touchline score`` does. Of each kind
the table has the mean and the least F1 over the seeds; precision, recall, median time error and what missed truths were
taken for are those of all seeds together. A second table has the rates of every match beside what leagues publish.

    python -m bench.accuracy [--seeds 1 2 3 4 5] [--channels none rtls harsh] [--rate live] [--minutes 5] [--sorted]
                             [--match DAY] [--officials] [--all] [--cases CHANNEL] [--keep DIR] [--json FILE]

``--sorted`` folds the same detectors over what has arrived, put in order, instead of the engine: by the law of the
middleware it says the same but for what came too late to be repaired, in a fraction of the time. ``--keep`` leaves
matches and figures in a folder; a later run with the same code takes those of seeds that are done from there.
``--match`` plays a match day of ``touchline simulate``, such as ``duels``, which has take-ons.
``--officials``: of every whistle that stopped play an operator tells half a second later (``official.stop``).
``--rate optical`` is what cameras see of the same matches: 25 Hz, a point a player, a noise of 1 cm between
neighbours as in published tracking, nothing lost; in order (``--sorted``), on the channel ``none``.

Detectors were tuned on seeds 11 to 30 and 101 to 105; the default seeds are others.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import shutil
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow.parquet as pq
from rich.console import Console

from app.library.scores import truth_and_events
from app.library.simulation import SimulateOptions, prepare, produce, settings_of
from app.pipeline.seal import fingerprint
from app.run.live import run_live
from app.settings.model import LiveSettings
from bench.hierarchy import raw_events
from bench.sorted_world import packets_of
from detectors.arrivals import official_arrival
from detectors.catalogue import build_detectors
from detectors.records import RecordMaker
from detectors.signals.sampling import jitter_m
from football.match_sheet import MatchSheet, Quality
from football.officials import Official
from football.packets import RAW_KINDS
from football.truth_kinds import KINDS
from football.update_stream import EventRecord
from middleware.detector import Detector
from middleware.events import Event
from middleware.hierarchy import Hierarchy
from middleware.oracle import published
from replay.capture import Capture
from replay.scoring.figures import Score, judge, score
from replay.scoring.rates import rate_rows
from replay.scoring.readers import read_truth
from replay.scoring.truth import Truth
from simulator.radio.channels import channel_named
from simulator.simulate import Simulation, simulate

#: The kinds that are asked for, or their beginnings.
ASKED = (
    "hit", "pass.attempt", "pass.complete", "pass.intercepted", "pass.out", "shot.", "goal.scored", "goal.own", "out",
    "restart.", "possession.gain", "team.possession", "play.",
)  # fmt: skip

#: What shall be reached on the channel of a locating system.
GOAL_F1 = 0.98


#: A rate that is none of the simulator's: what cameras see.
OPTICAL = "optical"
#: As :mod:`replay.formats.tracking` has it of a provider's file; between neighbours a fifth of the noise is left.
CAMERA = Quality(25.0, 25.0, (), True, 0.05, "optical")

#: An operator tells of a whistle so long after it.
OPERATOR_US = 500_000
#: Code that the figures of a match depend on.
CODE = ("middleware", "detectors", "replay", "app/commands", "app/run/live.py", "app/match", "bench/accuracy.py")


class Played(msgspec.Struct, frozen=True):
    """A match that was played: its figures, and its misses and inventions as lines."""

    figures: Score
    cases: tuple[str, ...]
    took_s: float


def cached_play(
    seed: int, channel: str, rate: str, minutes: float, folder: Path, *, in_order: bool, whistled: bool, day: str = ""
) -> Played:
    """Return :func:`play`'s result, from a file in ``folder`` if the same code wrote one."""
    root = Path(__file__).resolve().parents[1]
    files = [file for part in CODE for file in ([root / part] if part.endswith(".py") else (root / part).rglob("*.py"))]
    code = fingerprint([(str(file.relative_to(root)), file.read_text("utf-8")) for file in sorted(files)])
    into = folder / f"{channel}-{rate}-{minutes:g}-{seed}{day and '-' + day}"
    stored = into / f"{'sorted' if in_order else 'engine'}{'-whistled' if whistled else ''}-{code}.json"
    if stored.is_file():
        return msgspec.json.decode(stored.read_bytes(), type=Played)
    done = play(seed, channel, rate, minutes, into, in_order=in_order, whistled=whistled, day=day)
    half = stored.with_suffix(".part")
    half.write_bytes(msgspec.json.encode(done))
    os.replace(half, stored)
    return done


def play(
    seed: int, channel: str, rate: str, minutes: float, folder: Path, *, in_order: bool, whistled: bool, day: str = ""
) -> Played:
    """Simulates a match into ``folder``, plays it (or folds it ``in_order``, perhaps with its whistles), scores it."""
    optical = rate == OPTICAL
    options = SimulateOptions(
        folder / "match", seed=seed, minutes=minutes, rate="live" if optical else rate, channel=channel,
        match=day or None,
    )  # fmt: skip
    simulation, quiet = settings_of(options, None), Console(quiet=True)
    radio = channel_named(channel)
    prepare(options.out, simulation, radio.name)
    produce(options, simulation, radio, None, quiet)
    begun = time.perf_counter()
    if in_order:
        raw, sheet = as_cameras_see(simulation) if optical else arrived(options.out)
        truth, found = folded(options.out, raw, sheet, whistled=whistled)
    else:
        truth, found = played(options.out, folder / "store")
    took_s = time.perf_counter() - begun
    cases = []
    for judged in judge(truth, found):
        if judged.kind.startswith(ASKED):
            rows = [(mark, "missed  ") for mark in judged.missed] + [(mark, "invented") for mark in judged.surplus]
            cases += [(m.ts_us, f"seed {seed} {m.ts_us / 1e6:8.3f} s {w} {m.kind:18} {m.player}") for m, w in rows]
    return Played(score(truth, found), tuple(line for _, line in sorted(cases)), took_s)


def played(match: Path, store: Path) -> tuple[Truth, list[EventRecord]]:
    """Return the truth of a simulated match, and the engine's events."""
    capture = str(match / "capture")
    shutil.rmtree(store, ignore_errors=True)
    live = LiveSettings(source=capture, engine="inprocess", speed="max", store=store, dashboard=False, camera=False)
    with contextlib.redirect_stdout(io.StringIO()):
        run_live(live, as_json=True)
    return truth_and_events(store, match / "truth.parquet")


def arrived(match: Path) -> tuple[list[Event], MatchSheet]:
    """All that has arrived of a simulated match, and its sheet."""
    capture = Capture.open(match / "capture")
    return raw_events(list(capture.blocks(capture.begin_us, capture.end_us)), capture.sheet), capture.sheet


def as_cameras_see(simulation: Simulation) -> tuple[list[Event], MatchSheet]:
    """Return raw events of the same match as cameras see it."""
    recording, _ = simulate(replace(simulation, ball_hz=25, body_hz=25, limbs=(), noise_m=jitter_m(CAMERA)))
    recording = replace(recording, sheet=msgspec.structs.replace(recording.sheet, quality=CAMERA))
    return list(packets_of(recording)), recording.sheet


def folded(match: Path, raw: Sequence[Event], sheet: MatchSheet, *, whistled: bool) -> tuple[Truth, list[EventRecord]]:
    """Return the truth of a simulated match, and its detectors' events for raw events in order.

    ``whistled``: an operator has told of every whistle that stopped play, ``OPERATOR_US`` after it.
    """
    detectors = needed(build_detectors(sheet))
    records, hierarchy = RecordMaker(detectors, sheet), Hierarchy(RAW_KINDS, detectors)
    stops = whistles(match) if whistled else []
    found = [records.record(event) for event in published(hierarchy, [*raw, *stops])]
    times_us = [event.ts_us for event in raw]
    return read_truth(match / "truth.parquet", sheet).between(min(times_us), max(times_us)), found


def whistles(match: Path) -> list[Event]:
    """Return the referee's whistles in the truth of a simulated match, as an operator's decisions."""
    at_us = [row["ts_us"] for row in pq.read_table(match / "truth.parquet").to_pylist() if row["kind"] == "whistle"]
    output = [Official("operator", number, "stop", ts_us) for number, ts_us in enumerate(sorted(at_us))]
    return [official_arrival(one, one.at_us + OPERATOR_US, one.at_us - OPERATOR_US).event for one in output]


def needed(detectors: Sequence[Detector[Any]], wanted: Iterable[str] = KINDS) -> list[Detector[Any]]:
    """Those that give some kinds, else those whose events a truth judges, and all that these stand on."""
    kinds, stored = set(wanted), set[str]()
    while more := [d.spec for d in detectors if d.spec.name not in stored and kinds.intersection(d.spec.outputs)]:
        stored.update(spec.name for spec in more)
        kinds.update(kind for spec in more for kind in spec.inputs)
    return [detector for detector in detectors if detector.spec.name in stored]


def summary(scores: Sequence[Score], *, everything: bool) -> dict[str, dict[str, Any]]:
    """Figures by kind over several matches. A kind that happened nowhere and was found nowhere is left out."""
    kinds = sorted({kind for figures in scores for kind in figures.kinds})
    rows: dict[str, dict[str, Any]] = {}
    for kind in kinds:
        if not everything and not kind.startswith(ASKED):
            continue
        parts = [figures.kinds[kind] for figures in scores if kind in figures.kinds]
        tp, fp, fn = (sum(getattr(part, name) for part in parts) for name in ("tp", "fp", "fn"))
        taken: Counter[str] = Counter()
        for part in parts:
            taken.update(part.confusion)
        errors = [part.time_error_ms.median for part in parts if part.time_error_ms]
        rows[kind] = {
            "true": tp + fn,
            "found": tp + fp,
            "precision": round(tp / (tp + fp), 4) if tp + fp else None,
            "recall": round(tp / (tp + fn), 4) if tp + fn else None,
            "f1": round(2 * tp / (2 * tp + fp + fn), 4),
            "f1_mean": round(float(np.mean([part.f1 for part in parts])), 4),
            "f1_least": round(min(part.f1 for part in parts), 4),
            "error_ms": round(float(np.median(errors)), 1) if errors else None,
            "confusion": dict(sorted(taken.items())),
        }
    return rows


def frames(scores: Iterable[Score]) -> dict[str, float]:
    """Agreement by frames, mean over matches."""
    found: defaultdict[str, list[float]] = defaultdict(list)
    for figures in scores:
        for name, figure in figures.frames.items():
            found[name].append(figure.agreement)
    return {name: round(float(np.mean(values)), 4) for name, values in found.items()}


def table(rows: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the lines of a table; figures below the goal are marked."""
    lines = ["| kind | true | found | precision | recall | F1 | mean | least | err ms | missed ones taken for |"]
    lines.append("|---|---|---|---|---|---|---|---|---|---|")
    for kind, row in rows.items():
        numbers = [row[name] for name in ("precision", "recall", "f1", "f1_mean", "f1_least")]
        cells = ["-" if value is None else f"{value:.3f}" for value in numbers]
        if row["true"] and row["f1"] < GOAL_F1:
            cells[2] = f"**{cells[2]}**"
        error = "-" if row["error_ms"] is None else f"{row['error_ms']:.0f}"
        taken = ", ".join(f"{name} {count}" for name, count in row["confusion"].items())
        lines.append(f"| {kind} | {row['true']} | {row['found']} | {' | '.join(cells)} | {error} | {taken} |")
    return lines


def rate_table(seeds: Sequence[int], scores: Sequence[Score]) -> list[str]:
    """Return the lines of a table of every match's rates, found and true, beside what leagues publish."""
    of_matches = [rate_rows(figures.rates) for figures in scores]
    lines = [f"| {of_matches[0][0][0]} | published | {' | '.join(f'{n}: found, true' for n in seeds)} |"]
    lines.append("|---" * (len(seeds) + 2) + "|")
    for same in zip(*(rows[1:] for rows in of_matches), strict=True):
        cells = " | ".join(f"{found}, {true}" for _, found, true, _ in same)
        lines.append(f"| {same[0][0]} | {same[0][3]} | {cells} |")
    return lines


def main() -> None:
    """Prints a table a channel; writes all figures with --json."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    parser.add_argument("--channels", nargs="+", default=["none", "rtls", "harsh"])
    parser.add_argument("--rate", default="live")
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--match", default="", help="a match day, as of touchline simulate")
    parser.add_argument("--sorted", action="store_true", help="fold what arrived in order, without the engine")
    parser.add_argument("--officials", action="store_true", help="with --sorted: an operator tells of every whistle")
    parser.add_argument("--all", action="store_true", help="all kinds that truth knows, not only those asked for")
    parser.add_argument("--cases", help="a channel of which every miss and invention is listed")
    parser.add_argument("--keep", type=Path, help="a folder for matches and figures, to go on from later")
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    if (chosen.officials or chosen.rate == OPTICAL) and not chosen.sorted:
        parser.error("--officials and --rate optical need --sorted")
    if chosen.rate == OPTICAL and chosen.channels != ["none"]:
        parser.error("--rate optical needs --channels none")
    length = chosen.rate, chosen.minutes
    how: dict[str, Any] = {"in_order": chosen.sorted, "whistled": chosen.officials, "day": chosen.match}
    result: dict[str, Any] = {"rate": chosen.rate, "minutes": chosen.minutes, "seeds": chosen.seeds, "channels": {}}
    for channel in chosen.channels:
        matches = []
        for seed in chosen.seeds:
            if chosen.keep:
                matches.append(cached_play(seed, channel, *length, chosen.keep, **how))
                continue
            with tempfile.TemporaryDirectory() as folder:
                matches.append(play(seed, channel, *length, Path(folder), **how))
        scores = [match.figures for match in matches]
        rows, by_frame = summary(scores, everything=chosen.all), frames(scores)
        print(f"\n## {channel}, {chosen.rate}, {chosen.minutes:g} min, seeds {chosen.seeds}\n")
        print("\n".join(table(rows)))
        print(", ".join(f"{name.replace('_', ' ')} {share:.1%} of frames" for name, share in by_frame.items()))
        print("\n".join(["", *rate_table(chosen.seeds, scores)]))
        if channel == chosen.cases:
            print("\n".join(["", *(line for match in matches for line in match.cases)]))
        took_s = sum(match.took_s for match in matches)
        result["channels"][channel] = {"kinds": rows, "frames": by_frame, "took_s": round(took_s, 1)}
    if chosen.json:
        chosen.json.write_text(json.dumps(result, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
