"""How long does a viewer of the analyst's room wait for the first chart?

`touchline open STORE` runs in a process of its own, and the tables of the match are kept in its store. Headless
Chromium, 1280 x 720, opens the room some seconds after the server says that it is ready; from the navigation to the
first chart that is drawn, of the first viewer after the start of the server and of the next ones. Goal: 1.5 s, also of
the first. The ratio is the first viewer's time over the goal. Run it from the root of the repository::

    ./touchline live --no-dashboard --source sim --store /tmp/match --speed max     # any finished match
    python -m bench.analyst_paint /tmp/match --after 5 --runs 3 --json out.json
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx

from bench.first_frame import free_port
from tests.dashboard.chromium import Browser

GOAL_MS = 1_500
DRAWN = "return document.querySelector('#charts figure svg, #charts figure table') ? performance.now() : null"


def paint_ms(browser: Browser, url: str) -> float:
    """Milliseconds from the navigation to the room to its first chart."""
    browser.driver.get("about:blank")
    browser.driver.get(url)
    return float(browser.wait(lambda: browser.run(DRAWN), "the first chart", 60.0))


def run(store: Path, after_s: float) -> list[float]:
    """Three viewers of one server, one after the other."""
    url = f"http://127.0.0.1:{(port := free_port())}"
    command = [sys.executable, "-m", "app.cli.main", "open", str(store), "--port", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile, Browser(Path(profile)) as browser:
            browser.resize(1280, 720)
            until_s = time.monotonic() + 60
            while time.monotonic() < until_s:
                try:
                    httpx.get(f"{url}/pages/shared/shell.js", timeout=5)
                    break
                except httpx.TransportError:
                    time.sleep(0.05)
            time.sleep(after_s)
            return [paint_ms(browser, f"{url}/analyst") for _ in range(3)]
    finally:
        server.terminate()
        server.wait()


def main() -> None:
    """Run it some times; print the figures, and write them with --json."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", type=Path)
    parser.add_argument("--after", type=float, default=5.0, help="seconds from the server's start to the first viewer")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    runs = [run(chosen.store, chosen.after) for _ in range(chosen.runs)]
    first, second = (round(statistics.median(one[n] for one in runs)) for n in (0, 1))
    found = {"first_ms": first, "second_ms": second, "runs_ms": runs, "ratio_to_goal": round(first / GOAL_MS, 2)}
    text = json.dumps(found, indent=1)
    print(text)
    if chosen.json:
        chosen.json.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
