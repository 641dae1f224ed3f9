"""What is taken back with alpha 1, and by whom: by repairs after late packets, or by detectors that learned more?

Two engines take the same simulated input, at alpha 0 and at alpha 1. A published withdrawal that comes with an
assertion of the same id in one push is an amendment. ``repairs`` counts the outputs that units withdrew, the inner
kinds included. Without repairs all that is taken back was stated by detectors: an outcome, a longer carry, an
annulment.

    python -m bench.alpha_promise [--input optical rtls] [--seed N] [--seconds 60] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from app.pipeline.pipeline import PipelineOptions
from bench.confirmation import Push, inputs
from football.recording import Recording
from middleware.engine import Engine


def measure(recording: Recording, pushes: list[Push], alpha: float) -> dict[str, int]:
    """Return counts of published assertions, amendments and withdrawals, and of outputs that repairs withdrew."""
    options = PipelineOptions(alpha=alpha)
    engine = Engine(options.hierarchy(recording.sheet), options.engine(recording.sheet))
    found = dict.fromkeys(("asserted", "amended", "withdrawn"), 0)
    for now_us, arrivals in pushes:
        updates = engine.push(arrivals, now_us).updates
        asserted = {update.event.id for update in updates if update.diff > 0}
        for update in updates:
            amends = update.event.id in asserted
            found["asserted" if update.diff > 0 else "amended" if amends else "withdrawn"] += 1
    return {**found, "repairs": engine.health().retracted}


def main() -> None:
    """Prints the counts; writes them with --json."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--input", nargs="+", default=["optical", "rtls"])
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--json", type=Path, help="write the counts to this file")
    chosen = parser.parse_args()
    result = {}
    for name in chosen.input:
        given = inputs(name, chosen.seed, chosen.seconds)
        for alpha in (0.0, 1.0):
            result[f"{name}, alpha {alpha:g}"] = counts = measure(*given, alpha)
            print(f"{name}, alpha {alpha:g}: {counts}")
    if chosen.json:
        chosen.json.write_text(json.dumps(result, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
