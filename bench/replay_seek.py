"""How long does the replay take to show another moment of a 90-minute match?

Questions:

* How long from a request for the positions of a random moment to their last byte? (Part of the goal of 100 ms.)
* How long from a seek in headless Chromium until that moment is drawn? (Goal: 100 ms.)
* How long until a page that is opened shows its first positions? (Goal: 1.5 s.)

The store has a ball and 22 players 25 times a second for 90 minutes, in windows of 30 s. A seek nearly always goes to a
window that is not in memory. Run it from the root of the repository::

    python -m bench.replay_seek --json out.json
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pyarrow as pa

from app.recorded.matches import RecordedMatches
from app.recorded.serve import serve_matches
from app.settings.resolve import make_settings
from football.match_sheet import MatchSheet, Player
from football.tables import POSITIONS
from football.update_stream import EventRecord, UpdateRecord
from replay.match_store import MatchStore, updates_table
from tests.dashboard.chromium import Browser

WINDOW_S, RATE_HZ, S = 30, 25, 1_000_000
SEEK = """
const done = arguments[1];
replay.player.seek(arguments[0]);
(function wait() { replay.stats.soughtAt === null ? done(replay.stats.seekMs) : setTimeout(wait, 2); })();
"""


def write_store(folder: Path, minutes: float, seed: int) -> None:
    """Write a match in which everybody walks at random; a pass every ten seconds."""
    chance = np.random.default_rng(seed)
    names = ["ball", *(f"{team}_{n}" for team in ("home", "away") for n in range(1, 12))]
    players = tuple(Player(name, name[:4], name, int(name[5:])) for name in names[1:])
    store = MatchStore.create(folder, MatchSheet("bench", players=players), {"settings": {}})
    frames, seq = WINDOW_S * RATE_HZ, 0
    for window in range(round(minutes * 60 / WINDOW_S)):
        begin_us = window * WINDOW_S * S
        times = begin_us + np.arange(frames) * (S // RATE_HZ)
        steps = chance.normal(0, 0.2, (frames, len(names), 3)).cumsum(axis=0).astype(np.float32)
        columns = {name: np.zeros(frames * len(names), np.float32) for name in POSITIONS.names[6:]}
        table = pa.table(
            {
                "ts_us": np.repeat(times, len(names)), "object_id": names * frames,
                "team": ["" if name == "ball" else name[:4] for name in names] * frames,
                "x_m": steps[..., 0].ravel(), "y_m": steps[..., 1].ravel(), "z_m": abs(steps[..., 2]).ravel(),
                **columns,
            },
            POSITIONS,
        )  # fmt: skip
        updates = []
        for ts_us in range(begin_us, begin_us + WINDOW_S * S, 10 * S):
            event = EventRecord(f"pass.attempt#{ts_us}", "pass.attempt", "", 6, ts_us, "home", "home_9", 0, 0, 0, 1.0)
            updates.append(UpdateRecord(seq, 1, ts_us, event))
            seq += 1
        end_us = begin_us + WINDOW_S * S
        meta = {"frontier_us": end_us, "end_offset": end_us, "next_seq": seq, "now_us": end_us, "ended": True}
        store.commit(window, {"positions": table, "updates": updates_table(updates, 0)}, meta)


def spread(values: list[float]) -> dict[str, float]:
    """Percentiles of milliseconds."""
    found = {f"p{share}": float(np.percentile(values, share)) for share in (50, 95, 99)}
    return {name: round(value, 1) for name, value in {**found, "max": max(values)}.items()}


def measure(minutes: float, seeks: int, seed: int) -> dict[str, Any]:
    """Measure requests and seeks."""
    chance = random.Random(seed)
    moments = [chance.uniform(0, minutes * 60) for _ in range(2 * seeks)]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "bench"
        write_store(folder, minutes, seed)
        with serve_matches(RecordedMatches([folder]), make_settings({"port": 0})) as server:
            found: dict[str, Any] = {"minutes": minutes, "seeks": seeks}
            with httpx.Client(timeout=60) as client:
                client.get(f"{server.url}/api/v1/matches/bench/replay")
                taken = []
                for at_s in moments[:seeks]:
                    began_s = time.perf_counter()
                    client.get(f"{server.url}/api/v1/matches/bench/replay/chunk?number={int(at_s // 10)}")
                    taken.append(1e3 * (time.perf_counter() - began_s))
                    time.sleep(0.03)  # the rate of the API is limited
            found["request_ms"] = spread(taken)
            with Browser(Path(temporary) / "profile", 1280, 720) as browser:
                began_s = time.perf_counter()
                browser.driver.get(f"{server.url}/replay?match=bench")
                browser.wait(lambda: browser.run("return window.replay && replay.bodies"), "positions", 60)
                found["first_positions_ms"] = round(1e3 * (time.perf_counter() - began_s))
                shown = []
                for at_s in moments[seeks:]:
                    shown.append(browser.driver.execute_async_script(SEEK, at_s * 1e6))
                    time.sleep(0.1)
            found["seek_ms"] = spread(shown)
    return found


def main() -> None:
    """Measure, print, and write the figures where they are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=90.0)
    parser.add_argument("--seeks", type=int, default=100)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    found = measure(given.minutes, given.seeks, given.seed)
    print(json.dumps(found, indent=1))
    if given.json:
        given.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
