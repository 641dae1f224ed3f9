"""Is a recording played as fast as it can be faster or slower than by another commit?

Question: with the kinds of detectors that both have, how many times real time do this checkout and another one play the
same optical input at full speed (``bench.hierarchy``, setting "as fast as it can be": a pipeline in process, in CPU
time)? Processes of both checkouts run by turns, so that an hour in which the machine is slow is slow for both. The
ratio is this checkout's rate over the other's, pair by pair. Each has its own ``.venv``. Goal: 0.95. With
``--by-block`` each block is pushed as it arrives, as in a live match.

    git clone . OTHER && git -C OTHER checkout a2db79d && (cd OTHER && ./touchline --version)
    python -m bench.paired --other OTHER --source FILE [--by-block] [--seconds 120] [--pairs 7]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from statistics import median
from typing import Any

GOAL = 0.95
HERE = Path(__file__).resolve().parents[1]

#: Runs in either checkout. It needs only what both have in ``bench.hierarchy``; the names of detectors restrict it.
_CHILD = """
import gc, json, sys, tempfile, time
from pathlib import Path
sys.path.insert(0, "")
import bench.hierarchy as hierarchy
from detectors import catalogue
hierarchy.collect_rarely()
source, seconds, names = sys.argv[1], float(sys.argv[2]), json.loads(sys.argv[3])
by_block = sys.argv[4] == "block"
if names:
    entries = {}
    for entry in catalogue.DETECTORS:
        for quality in catalogue.REFERENCES:
            if entry.enabled_for(quality):
                built = entry.build(hierarchy.MatchSheet(quality=quality), hierarchy.Parameters())
                entries.setdefault(entry, set()).add(built.spec.name)
    catalogue.DETECTORS = tuple(entry for entry, found in entries.items() if found & set(names))
with tempfile.TemporaryDirectory() as folder:
    capture = hierarchy.capture_of(source, "full" if source == "sim" else "", seconds, 18, Path(folder) / "capture")
    blocks = [(at_us, 0, payload) for at_us, payload in capture.payloads(capture.begin_us, capture.end_us)]
    portions = [[block] for block in blocks]
    if not by_block:
        if hasattr(hierarchy, "in_portions"):
            portions = hierarchy.in_portions(capture, blocks, hierarchy.RECORDED_US)
        else:
            portions = list(hierarchy.divided(blocks, lambda block: hierarchy.RECORDED_US))
    def play(some):
        pipeline = hierarchy.MatchPipeline(capture.sheet, hierarchy.PipelineOptions(alpha=0.0))
        if by_block:
            messages = [pipeline.push(payload, at_us) for ((at_us, _, payload),) in some]
        else:
            messages = [pipeline.push_together(one, one[-1][0] - capture.late_most_us) for one in some]
        return pipeline, [*messages, pipeline.finish()]
    pipeline, _ = play(portions[: len(portions) // 4])
    found, rates = pipeline._detectors, []
    for _ in range(3):
        gc.collect()
        began_s = time.process_time()
        played = play(portions)
        rates.append((capture.end_us - capture.begin_us) / 1e6 / (time.process_time() - began_s))
        del played
print(json.dumps({"rate": sorted(rates)[1], "detectors": found}))
"""


def played(folder: Path, source: str, seconds: float, names: list[str], by: str) -> dict[str, Any]:
    """One process of a checkout: the median rate of three runs, and its detectors."""
    command = [str(folder / ".venv/bin/python"), "-c", _CHILD, source, str(seconds), json.dumps(names), by]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if run.returncode:
        sys.exit(f"{folder}: {run.stderr[-2000:]}")
    result: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return result


def main() -> None:
    """Runs the pairs and prints or stores the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--other", type=Path, required=True, help="the other checkout, set up")
    parser.add_argument("--source", required=True, help="a tracking file, or sim for radio at full rate")
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--by-block", action="store_true", help="speculating, alpha 0: as a live match is played")
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    source = chosen.source if chosen.source == "sim" else str(Path(chosen.source).resolve())
    by = "block" if chosen.by_block else "portion"
    names = played(chosen.other, source, min(chosen.seconds, 2.0), [], by)["detectors"]
    pairs = []
    for number in range(chosen.pairs):
        other = played(chosen.other, source, chosen.seconds, [], by)["rate"]
        mine = played(HERE, source, chosen.seconds, names, by)["rate"]
        pairs.append({"other": round(other, 2), "this": round(mine, 2), "ratio": round(mine / other, 3)})
        print(f"pair {number + 1}: {pairs[-1]}", flush=True)
    ratios = [pair["ratio"] for pair in pairs]
    result = {
        "detectors": len(names),
        "pairs": pairs,
        "median": {key: round(median(pair[key] for pair in pairs), 3) for key in ("other", "this", "ratio")},
        "spread": [min(ratios), max(ratios)],
        "goal": GOAL,
    }
    print(json.dumps({key: result[key] for key in ("detectors", "median", "spread", "goal")}))
    if chosen.json:
        chosen.json.write_text(json.dumps(result, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
