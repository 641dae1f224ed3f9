"""How long does a viewer wait for a changed stretch of a match?

A simulated match is filmed by cameras (25 Hz, a point a player), played into a store and served, and a minute in its
middle is played again with changes. Each is the first of its stretch, asked for as soon as the panel opens and after
some seconds in it (the panel has the unchanged side played ahead), and a later one (the unchanged side is known). A
change that is played without the panel, as by ``touchline whatif``, plays both sides. Goal: 5 s for a minute of optical
play. Printed with the waiting: processor time of this process.

    python -m bench.what_if [--seed N] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import httpx
import msgspec

from app.recorded.matches import RecordedMatches
from app.recorded.serve import serve_matches
from app.settings.resolve import make_settings
from app.what_if.change import Change, Delay, Move
from app.what_if.run import WhatIf
from dashboard.server import WebServer
from tests.app.recordings import optical_table, record

S = 1_000_000
#: A minute of a match of two minutes and a half.
BEGIN_US, END_US, LENGTH_S = 60 * S, 120 * S, 150.0
#: Time in the panel before the first change is asked for: a threshold is chosen and a value typed.
THINKS_S = 5.0
CHANGES: Mapping[str, Change] = {
    "a threshold": Change(BEGIN_US, END_US, thresholds={"near.enter_m": 0.9}),
    "a player moved": Change(BEGIN_US, END_US, moves=(Move("home_9", 1.0, 0.0),)),
    "a player removed": Change(BEGIN_US, END_US, removed=("home_9",)),
    "alpha 0.5": Change(BEGIN_US, END_US, alpha=0.5),
    "packets a second late": Change(BEGIN_US, END_US, delays=(Delay("", 1000),)),
}


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Return the seconds of waiting and of processor time that something takes."""
    began_s, worked_s = time.monotonic(), time.process_time()
    work()
    return round(time.monotonic() - began_s, 2), round(time.process_time() - worked_s, 2)


def asked(server: WebServer, change: Change) -> None:
    """Ask the server for a change, and wait for the answer."""
    values = {"change": msgspec.json.encode(change).decode()}
    httpx.get(f"{server.url}/api/v1/matches/store/what-if", params=values, timeout=120).raise_for_status()


def opened(server: WebServer) -> threading.Thread:
    """Ask for the unchanged side as the panel does when it opens; return without waiting."""
    path = f"{server.url}/api/v1/matches/store/what-if/unchanged?begin_us={BEGIN_US}&end_us={END_US}"
    thread = threading.Thread(target=lambda: httpx.get(path, timeout=120).raise_for_status())
    thread.start()
    return thread


def measured(store: Path, change: Change) -> dict[str, tuple[float, float]]:
    """Return seconds of waiting and of processor time for a change in each turn; each server knows nothing at first."""
    row = {"both sides": timed(lambda: WhatIf(store).play(change))}
    for name, thinks_s in (("at once", 0.2), (f"after {THINKS_S:g} s", THINKS_S)):
        with serve_matches(RecordedMatches([store]), make_settings({"port": 0})) as server:
            httpx.get(f"{server.url}/api/v1/matches/store/what-if/choices", timeout=120)
            ahead = opened(server)
            time.sleep(thinks_s)
            row[name] = timed(lambda: asked(server, change))
            ahead.join()
            later = msgspec.structs.replace(change, thresholds={**change.thresholds, "momentum.fade_us": 170e6})
            row["later"] = timed(lambda: asked(server, later))  # noqa: B023
    return row


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
            found[name] = measured(store, change)
            turns = "  ".join(f"{turn} {waited_s} ({worked_s})" for turn, (waited_s, worked_s) in found[name].items())
            print(f"{name:24}{turns}", flush=True)
    if chosen.json:
        chosen.json.write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
