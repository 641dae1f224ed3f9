"""Does a match lose or invent an event, or does its memory grow, while everything attacks it at once?

Question: a simulated match plays at the default rate through Spark, with followers of the page, while connections of
all kinds of :mod:`bench.hostile` attack the page at once. Afterwards the capture is played again without Spark and
without attackers. Which events differ, and how much memory does the match take, minute by minute?
Goal: no event differs, no follower loses the stream, and memory does not grow after the first ten minutes.

    python -m bench.hostile_soak [--minutes 60] [--connections 1000] [--engine spark] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import threading
import time
from pathlib import Path

import pyarrow.parquet as pq

from app.batch.inputs import RecordedMatch
from app.batch.play import CHANGES_FILE, BatchOptions, play
from app.batch.run import totals
from bench.hostile import KINDS, Attack, playing
from bench.soak import LASTING, ROLES, SETTLED_MIN, follow, memory_mb

FOLLOWERS = 3
#: Differing events that are listed.
CASES = 40


def soak(minutes: int, count: int, engine: str, folder: Path) -> dict[str, object]:
    """Memory by minute, messages by follower, connections opened by kind, and the events that differ."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 2 * count + 200)), hard))
    counts, samples = [0] * FOLLOWERS, []
    with playing(engine, 60 * minutes + 120, folder) as (run, page):
        url = f"http://127.0.0.1:{page}/"
        for index in range(FOLLOWERS):
            threading.Thread(target=follow, args=(url, counts, index), daemon=True).start()
        time.sleep(5)  # the followers have their streams before others ask for connections
        attacks = {kind: Attack(page, sent, count // len(KINDS)) for kind, sent in KINDS.items()}
        threads = [threading.Thread(target=attack.run, args=(60.0 * minutes,)) for attack in attacks.values()]
        for thread in threads:
            thread.start()
        begin_s = time.monotonic()
        print(f"{'minute':>6} " + " ".join(f"{role:>10}" for role in (*ROLES, "all")))
        for minute in range(minutes + 1):
            time.sleep(max(0.0, begin_s + 60 * minute - time.monotonic()))
            if run.poll() is not None:
                raise SystemExit(f"the match ended after {minute} minutes")
            samples.append({"minute": minute, **memory_mb(run.pid)})
            print(f"{minute:6} " + " ".join(f"{samples[-1][role]:10.0f}" for role in (*ROLES, "all")), flush=True)
        for thread in threads:
            thread.join()
        for attack in attacks.values():
            attack.close()
    return {
        "samples_mb": samples,
        "messages": counts,
        "connections_opened": {kind: attack.opened for kind, attack in attacks.items()},
        **differing_events(folder),
    }


def differing_events(folder: Path) -> dict[str, object]:
    """Play the capture again, without attackers, and compare what was stored under them."""
    store = str(folder / "store")
    result = play("again", RecordedMatch(store, store), BatchOptions(str(folder / "again"), positions=False))
    if result.broken:
        raise SystemExit(f"the capture cannot be played again: {result.broken}")
    kinds = totals([result])
    changes = pq.read_table(folder / "again" / "again" / CHANGES_FILE).to_pylist()
    cases = [
        f"{(c['recorded_us'] or c['now_us']) / 1e6:.2f} s {c['change']} {c['kind']} {c['altered']}" for c in changes
    ]
    return {
        "events": result.events,
        "cases": cases[:CASES],
        "differing": {kind: [c.missing, c.new, c.moved, c.altered] for kind, c in kinds.items() if not c.unchanged},
    }


def main() -> None:
    """Runs the soak and prints it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=int, default=60)
    parser.add_argument("--connections", type=int, default=1_000)
    parser.add_argument("--engine", choices=("spark", "inprocess"), default="spark")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        result = soak(given.minutes, given.connections, given.engine, Path(name))
    samples = result["samples_mb"]
    if given.minutes > SETTLED_MIN:
        base, last = samples[SETTLED_MIN], samples[-1]  # type: ignore[index]
        for measured, roles in (("of all", (*ROLES, "all")), ("anonymous", [f"{role} anon" for role in LASTING])):
            growth = {role: round(last[role] / base[role], 3) for role in roles if base[role]}
            print(f"growth after minute {SETTLED_MIN}, memory {measured}: {growth}")
    print(f"connections opened: {result['connections_opened']}; messages by follower: {result['messages']}")
    print("\n".join(result["cases"]))  # type: ignore[arg-type]
    print(f"events: {result['events']}; differing (gone, new, moved, altered): {result['differing'] or 'none'}")
    if given.json:
        given.json.write_text(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
