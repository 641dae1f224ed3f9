"""How long do the figures of a season take over many matches?

Copies of one match store, by hard links, stand for the matches: each has a folder, commits and tables of its own. The
tables are kept in the stores beforehand, as ``touchline open`` and ``touchline query`` leave them; how long it takes to
build those of one match is a figure of its own. Then the archive is opened, and each table of a season asked three
times; the first answer reads the tables.

    python -m bench.season --store matches/demo --matches 100 --json
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from app.history.engines import ask_duckdb
from app.history.layout import open_archive
from app.history.season import SEASON, season
from app.tables.stored import FOLDER, stored_tables


def measure(store: Path, matches: int) -> dict[str, object]:
    """Seconds of each step over ``matches`` copies of a store."""
    with tempfile.TemporaryDirectory(dir=store.parent) as made:
        first = Path(made) / "match_000"
        shutil.copytree(store, first, copy_function=os.link, ignore=shutil.ignore_patterns(FOLDER, "states"))
        build_s, _ = _timed(lambda: stored_tables(first))
        for number in range(1, matches):
            shutil.copytree(first, Path(made) / f"match_{number:03d}", copy_function=os.link)
        open_s, ask = _timed(lambda: ask_duckdb(open_archive([made])))
        asked = {name: [_timed(lambda name=name: season(ask, name)) for _ in range(3)] for name in SEASON}
    return {
        "matches": matches,
        "build_one_s": build_s,
        "open_s": open_s,
        "first_s": {name: round(runs[0][0], 3) for name, runs in asked.items()},
        "again_s": {name: round(max(seconds for seconds, _ in runs[1:]), 3) for name, runs in asked.items()},
        "rows": {name: len(runs[0][1]) for name, runs in asked.items()},
    }


def _timed(work: Callable[[], object]) -> tuple[float, object]:
    begin_s = time.perf_counter()
    found = work()
    return round(time.perf_counter() - begin_s, 3), found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--store", type=Path, required=True, help="a match store")
    parser.add_argument("--matches", type=int, default=100)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found = measure(given.store.resolve(), given.matches)
    if given.json:
        print(json.dumps(found))
        return
    for name, value in found.items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    main()
