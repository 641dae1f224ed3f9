"""What do 20 viewers, and a viewer of the rooms, cost a live match through Spark?

Three spans beside one running match, whose page is given: nobody looks; 20 viewers read the stream of the live page;
and with them a client opens the replay room and the analyst's room and follows both, as a page does. For each span:
latency from a block's arrival at the source to the hub (``touchline_latency_seconds``, stage ``total``), processor time
of the run's own process, and the messages that the viewers got. Ratios are of the first span. Run it from the root::

    ./touchline live --store /tmp/match --port 8050 &
    python -m bench.live_viewers --url http://127.0.0.1:8050 --seconds 30 --json out.json
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

import httpx
from prometheus_client.parser import text_string_to_metric_families

from bench.dashboard_fps import STREAM_READERS, VIEWERS

#: Interval at which the client of the rooms asks, as their pages do.
ASK_S = 4.0


def metrics(url: str) -> tuple[dict[float, float], float]:
    """Messages below each latency in seconds, and processor seconds of the run's process."""
    below: dict[float, float] = {}
    cpu_s = 0.0
    for family in text_string_to_metric_families(httpx.get(f"{url}/metrics", timeout=30).text):
        for sample in family.samples:
            if sample.name == "touchline_latency_seconds_bucket" and sample.labels["stage"] == "total":
                below[float(sample.labels["le"])] = sample.value
            elif sample.name == "process_cpu_seconds_total":
                cpu_s = sample.value
    return below, cpu_s


def percentile_ms(before: Mapping[float, float], after: Mapping[float, float], share: float) -> float:
    """Upper bound of the bucket that holds a percentile of the messages between two readings."""
    counts = {bound: value - before.get(bound, 0.0) for bound, value in sorted(after.items())}
    wanted = share * max(counts.values())
    return next(1e3 * bound for bound, count in counts.items() if count >= wanted)


def look_into_the_rooms(url: str, match: str, stop: threading.Event, answered: list[float]) -> None:
    """Ask as the replay room and the analyst's room do, until told to stop; note the seconds of each answer."""
    paths = ("/replay", "/replay/timeline?families=passes,shots,restarts", "/analyst", "/analyst/charts/teams")
    while not stop.is_set():
        for path in paths:
            began_s = time.monotonic()
            httpx.get(f"{url}/api/v1/matches/{match}{path}", timeout=60)
            answered.append(time.monotonic() - began_s)
        stop.wait(ASK_S)


def span(url: str, seconds: float, *, viewers: bool, rooms: bool) -> dict[str, float]:
    """Return the figures of a span."""
    host, port = urlsplit(url).hostname, str(urlsplit(url).port)
    match = httpx.get(f"{url}/api/v1/matches", timeout=30).json()[0]["match"]
    stop, answered = threading.Event(), list[float]()
    client = threading.Thread(target=look_into_the_rooms, args=(url, match, stop, answered))
    if rooms:
        client.start()
    (before, cpu_s), began_s = metrics(url), time.monotonic()
    figures: dict[str, float] = {}
    if viewers:
        command = [sys.executable, "-c", STREAM_READERS, str(host), port, str(seconds), str(VIEWERS)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        figures["messages_per_s_least"] = round(min(map(int, done.stdout.split())) / seconds, 1)
    else:
        time.sleep(seconds)
    (after, after_cpu_s), passed_s = metrics(url), time.monotonic() - began_s
    stop.set()
    if rooms:
        client.join()
        figures["slowest_answer_s"] = round(max(answered), 2)
    figures |= {f"p{share}_ms": percentile_ms(before, after, share / 100) for share in (50, 95, 99)}
    return {**figures, "share_of_a_core": round((after_cpu_s - cpu_s) / passed_s, 2)}


def main() -> None:
    """Measure the three spans; print them, and write them with --json."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", required=True, help="page of a running match")
    parser.add_argument("--seconds", type=float, default=30.0, help="length of each span")
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    url = chosen.url.rstrip("/")
    found = {
        "nobody": span(url, chosen.seconds, viewers=False, rooms=False),
        "viewers": span(url, chosen.seconds, viewers=True, rooms=False),
        "viewers_and_rooms": span(url, chosen.seconds, viewers=True, rooms=True),
    }
    ratios = {name: round(one["p95_ms"] / found["nobody"]["p95_ms"], 2) for name, one in found.items()}
    text = json.dumps({**found, "p95_to_nobody": ratios}, indent=1)
    print(text)
    if chosen.json:
        chosen.json.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
