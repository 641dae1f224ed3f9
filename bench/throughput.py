"""How many times faster than real time is a whole match played, through Spark and in process?

Question: at --speed max, with everything committed to a match store, does the in-process engine reach 60 times real
time and the one through Spark 20 times, on two cores and 25 Hz optical input? Both play the same source in one run;
the ratio is Spark's rate over the in-process one. Preparation (reading the file, starting Spark) is not counted. The
consolidated events of both stores are compared; not when each was told, since a recording is taken in longer portions
in process (decision 026).

    python -m bench.throughput [--source FILE] [--channel none] [--seconds N] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from app.run.live import run_live
from app.settings.resolve import make_settings
from replay.event_list import consolidated_events

GOAL = {"inprocess": 60.0, "spark": 20.0}


def play(engine: str, chosen: argparse.Namespace, store: Path) -> dict[str, Any]:
    """One run into ``store``; its summary."""
    given = {
        "source": chosen.source, "channel": chosen.channel, "duration_s": chosen.seconds, "speed": "max",
        "store": store, "engine": engine, "dashboard": False, "camera": False,
    }  # fmt: skip
    return run_live(make_settings(given))


def main() -> None:
    """Runs both engines and prints or stores the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", default="sim")
    parser.add_argument("--channel")
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    if chosen.seconds is None and chosen.source == "sim":
        chosen.seconds = 300.0  # the whole match is played live, not to time it
    with tempfile.TemporaryDirectory() as folder:
        stores = {engine: Path(folder) / engine for engine in GOAL}
        rates = {engine: play(engine, chosen, store)["times_real_time"] for engine, store in stores.items()}
        events = [consolidated_events(store).drop_columns(["detected_us"]) for store in stores.values()]
    result = {
        "source": chosen.source,
        "times_real_time": rates,
        "ratio_spark_to_inprocess": round(rates["spark"] / rates["inprocess"], 3),
        "same_events": events[0].equals(events[1]),
        "events": events[0].num_rows,
        "goal": GOAL,
        "reached": {engine: rates[engine] >= goal for engine, goal in GOAL.items()},
    }
    print(json.dumps(result, indent=2))
    if chosen.json:
        chosen.json.write_text(json.dumps(result, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
