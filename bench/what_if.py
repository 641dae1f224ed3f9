"""How long does a viewer wait for a changed stretch of a match?

A simulated match is filmed by cameras (25 Hz, a point a player), played into a store, and a minute in its middle is
played again with changes, each as the first of its stretch (both sides are played) and as a later one (the unchanged
side is known). Goal: 5 s for a minute of optical play.

    python -m bench.what_if [--seed 32] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from app.what_if.change import Change, Delay, Move
from app.what_if.run import WhatIf
from tests.app.recordings import optical_table, record

S = 1_000_000
#: A minute of a match of two minutes and a half.
BEGIN_US, END_US, LENGTH_S = 60 * S, 120 * S, 150.0
CHANGES: Mapping[str, Change] = {
    "a threshold": Change(BEGIN_US, END_US, thresholds={"near.enter_m": 0.9}),
    "a player moved": Change(BEGIN_US, END_US, moves=(Move("home_9", 1.0, 0.0),)),
    "a player removed": Change(BEGIN_US, END_US, removed=("home_9",)),
    "alpha 0.5": Change(BEGIN_US, END_US, alpha=0.5),
    "packets a second late": Change(BEGIN_US, END_US, delays=(Delay("", 1000),)),
}


def main() -> None:
    """Print seconds of waiting and of processor time; write them with --json."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=32)
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    found = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        store = record(optical_table(folder / "match.parquet", chosen.seed, LENGTH_S), folder / "store")
        WhatIf(store).play(CHANGES["alpha 0.5"])  # kernels are compiled, as in a server that has warmed up
        for name, change in CHANGES.items():
            what_if, row = WhatIf(store), {}
            for turn in ("first", "later"):
                began_s, worked_s = time.monotonic(), time.process_time()
                outcome = what_if.play(change)
                row[f"{turn}_s"] = round(time.monotonic() - began_s, 2)
                row[f"{turn}_cpu_s"] = round(time.process_time() - worked_s, 2)
            found[name] = {**row, "events": outcome.before.events, "differing": len(outcome.differences)}
            print(f"{name:24} {found[name]}", flush=True)
    if chosen.json:
        chosen.json.write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
