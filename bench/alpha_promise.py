"""What is taken back with alpha 1, and by whom: by repairs after late packets, or by detectors that learned more?

Two engines take the same simulated input, at alpha 0 and at alpha 1. A published withdrawal that comes with an
assertion of the same id in one push is an amendment. ``repairs`` counts the outputs that units withdrew, the inner
kinds included. Without repairs all that is taken back was stated by detectors: an outcome, a longer carry, an
annulment.

With ``--slack`` the same for several policies at alpha 1, which is what an overloaded machine falls back to: latency
is from event time to the assertion that stands, of all published events; ``late`` are inputs later than K.

    python -m bench.alpha_promise [--input optical rtls wifi] [--slack kslack progress target:0.001] [--seed N]
        [--seconds 60] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

from app.pipeline.pipeline import PipelineOptions
from app.settings.slack import parse_slack
from bench.confirmation import Push, inputs
from football.recording import Recording
from middleware.engine import Engine


def measure(recording: Recording, pushes: list[Push], alpha: float, slack: str) -> dict[str, float]:
    """Return counts of published assertions, amendments and withdrawals, of repairs and late inputs, and latencies."""
    options = PipelineOptions(alpha=alpha, slack=parse_slack(slack))
    engine = Engine(options.hierarchy(recording.sheet), options.engine(recording.sheet))
    found: dict[str, float] = dict.fromkeys(("asserted", "amended", "withdrawn"), 0)
    standing: dict[str, float] = {}
    for now_us, arrivals in pushes:
        updates = engine.push(arrivals, now_us).updates
        asserted = {update.event.id for update in updates if update.diff > 0}
        for update in updates:
            event_id = update.event.id
            found["asserted" if update.diff > 0 else "amended" if event_id in asserted else "withdrawn"] += 1
            if update.diff > 0:
                standing[event_id] = (now_us - update.event.ts_us) / 1_000
            elif event_id not in asserted:
                standing.pop(event_id, None)
    health, latency_ms = engine.health(), list(standing.values()) or [0.0]
    return found | {
        "repairs": health.retracted,
        "late": health.late,
        "mean_ms": round(float(np.mean(latency_ms)), 1),
        "p95_ms": round(float(np.percentile(latency_ms, 95)), 1),
    }


def main() -> None:
    """Prints the counts; writes them with --json."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--input", nargs="+", default=["optical", "rtls"])
    parser.add_argument("--slack", nargs="+", default=["kslack"], help="policies of alpha 1, as of `touchline live`")
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--json", type=Path, help="write the counts to this file")
    chosen = parser.parse_args()
    result = {}
    for name in chosen.input:
        given = inputs(name, chosen.seed, chosen.seconds)
        for alpha, slack in ((0.0, "kslack"), *((1.0, slack) for slack in chosen.slack)):
            label = f"{name}, alpha {alpha:g}, {slack}"
            result[label] = counts = measure(*given, alpha, slack)
            print(f"{label}: {counts}", flush=True)
    if chosen.json:
        chosen.json.write_text(json.dumps(result, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
