"""How calm is what people see, and what does calm cost in latency?

A simulated match goes through the engine. Of each published event of a kind that the page shows when it opens, or that
a camera follows, it is known when it was asserted, and when it was withdrawn, if it was. A viewer shows it at once, or
after some age:

* by its confidence alone (``camera.chances``), at a share of 0.1;
* by the age that is learned for its kind (:mod:`dashboard.steadiness`), for several accepted shares;
* once it is confirmed.

*Flicker* is the number of shown events that were withdrawn, per shown event that stands; *wrong* is how long these were
shown. *Latency* is from event time until an event that stands is shown; *wait* is the viewer's part of it. Amendments
are counted apart: the event stays.

    python -m bench.flicker [--input rtls optical] [--source FILE] [--seed 11] [--seconds 120] [--alpha 0] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from app.pipeline.pipeline import PipelineOptions
from app.sources.captures import first_seconds
from bench.confirmation import Push, inputs, pushes_of
from camera.chances import load_chances
from camera.framing import is_among, load_framing
from dashboard.families import FAMILIES, family_of
from dashboard.steadiness import NEVER_US, Steadiness
from detectors.records import RecordMaker
from football.recording import Recording
from football.update_stream import EventRecord, UpdateRecord
from middleware.engine import Engine
from replay.formats.tracking import read_tracking

SHARES = (0.1, 0.05, 0.02, 0.01)


@dataclass
class Seen:
    """One assertion of an event: when it was known, until when it stood, and by each viewer the age to show it at."""

    event: EventRecord
    asserted_us: int
    ages_us: dict[str, int]
    withdrawn_us: int | None = None
    confirmed_us: int | None = None


def is_visible() -> Callable[[str], bool]:
    """True of the kinds of families that are on when the page opens, and of those that cameras follow."""
    shown = {family.name for family in FAMILIES if family.shown}
    followed = tuple(kind for situation in load_framing().situation for kind in situation.kinds)
    return lambda kind: family_of(kind) in shown or is_among(kind, followed)


def play(recording: Recording, pushes: Sequence[Push], alpha: float) -> tuple[list[Seen], dict[str, int]]:
    """Return what viewers could see, and counts of all updates, of visible kinds and of the others."""
    options = PipelineOptions(alpha=alpha)
    hierarchy = options.hierarchy(recording.sheet)
    records = RecordMaker(hierarchy.detectors, recording.sheet, hierarchy.lag_us)
    engine = Engine(hierarchy, options.engine(recording.sheet))
    chances, visible = load_chances(), is_visible()
    learned = {f"learned, {share:g}": Steadiness(share, chances.of) for share in SHARES}
    viewers = {f"confidence, {share:g}": Steadiness(share, chances.of) for share in SHARES[:1]} | learned
    opened: dict[str, Seen] = {}
    seen: list[Seen] = []
    counts = dict.fromkeys(("asserted", "amended", "withdrawn", "hidden asserted", "hidden withdrawn"), 0)

    def take(found: list[UpdateRecord], frontier_us: int) -> None:
        asserted = {update.event.id for update in found if update.diff > 0}
        for update in found:
            event, now_us = update.event, update.emitted_us
            if not visible(event.kind):
                counts["hidden asserted" if update.diff > 0 else "hidden withdrawn"] += 1
            elif update.diff > 0 and event.id in opened:
                counts["amended"] += 1
                opened[event.id].event = event
            elif update.diff > 0:
                ages = {"at once": 0} | {name: one.age_us(event) for name, one in viewers.items()}
                opened[event.id] = Seen(event, now_us, ages)
                seen.append(opened[event.id])
                counts["asserted"] += 1
            elif event.id not in asserted and event.id in opened:
                opened.pop(event.id).withdrawn_us = now_us
                counts["withdrawn"] += 1
        for one in learned.values():
            one.apply(found)
            one.advance(frontier_us)

    now_us = 0
    for now_us, arrivals in pushes:
        updates = engine.push(arrivals, now_us).updates
        take([UpdateRecord(0, u.diff, now_us, records.record(u.event)) for u in updates], engine.final_us)
        for name, one in list(opened.items()):
            if one.event.is_confirmed(engine.final_us):
                one.confirmed_us = now_us
                del opened[name]
    for one in opened.values():
        one.confirmed_us = now_us
    return seen, counts


def figures(seen: Sequence[Seen], viewer: str) -> dict[str, float]:
    """Return flicker and latency of one viewer."""
    wrong_ms, latency_ms, wait_ms, missing = [], [], [], 0
    for one in seen:
        confirmed_us = one.confirmed_us if one.confirmed_us is not None else NEVER_US
        age_us = one.ages_us.get(viewer, NEVER_US)
        shown_us = min(one.asserted_us + age_us, confirmed_us)
        if one.withdrawn_us is None:
            latency_ms.append((shown_us - one.event.ts_us) / 1000)
            wait_ms.append((shown_us - one.asserted_us) / 1000)
        elif shown_us < one.withdrawn_us:
            wrong_ms.append((one.withdrawn_us - shown_us) / 1000)
        else:
            missing += 1
    return {
        "stand": len(wait_ms),
        "withdrawn_when_shown": len(wrong_ms),
        "never_shown": missing,
        "flicker": round(len(wrong_ms) / max(1, len(wait_ms)), 4),
        "wrong_ms": _mean(wrong_ms),
        "wait_ms": _mean(wait_ms),
        "wait_p95_ms": round(float(np.percentile(wait_ms or [0.0], 95)), 1),
        "latency_ms": _mean(latency_ms),
    }


def _mean(values: Sequence[float]) -> float:
    return round(float(np.mean(values)), 1) if values else 0.0


def measure(recording: Recording, pushes: Sequence[Push], alpha: float) -> dict[str, Any]:
    """Return the counts and the figures of all viewers."""
    seen, counts = play(recording, pushes, alpha)
    viewers = [*(seen[0].ages_us if seen else ()), "confirmed"]
    return {"counts": counts, "viewers": {viewer: figures(seen, viewer) for viewer in viewers}}


def main() -> None:
    """Prints the tables; writes them with --json."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--input", nargs="+", default=["rtls", "optical"])
    parser.add_argument("--source", type=Path, help="a recorded match in the place of the simulated one")
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--alpha", type=float, default=0.0)
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    chosen = parser.parse_args()
    result = {}
    for name in chosen.input:
        if chosen.source:
            given = pushes_of(first_seconds(read_tracking(str(chosen.source)), chosen.seconds), name, chosen.seed)
        else:
            given = inputs(name, chosen.seed, chosen.seconds)
        result[name] = row = measure(*given, chosen.alpha)
        print(f"{name}, alpha {chosen.alpha:g}: {row['counts']}")
        for viewer, found in row["viewers"].items():
            print(f"  {viewer:18}", found)
    if chosen.json:
        chosen.json.write_text(json.dumps(result, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
