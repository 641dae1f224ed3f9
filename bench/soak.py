"""Is the memory of a live run flat?

Question: a simulated match plays at the default rate, and several followers read the page's stream. How much memory
do the driver, Java and the workers take, minute by minute, and by how much does it grow after the first ten minutes?
With ``--browser``, headless Chromium shows the live page with all layers meanwhile: its processes, and what its scripts
hold after a collection (heap in MB, and elements of the page).
Memory is the proportional set size (a page that processes share counts once). Growth is that of anonymous memory alone:
of files, the share of each process also changes when other programs begin or end. It is the ratio of two medians, of
the last fifth and of the first fifth after the settling: single samples differ by ten per cent, as garbage comes and
goes. Goal: no growth, 1.2 GB in all.

    python -m bench.soak [--minutes 60] [--followers 5] [--engine spark] [--source CAPTURE --speed 8] [--store DIR]
                         [--browser] [--json FILE]

With ``--speed``, minutes are minutes of the match, and windows are shorter in proportion, so that a match makes as many
commits. What grows with the time on the clock is not seen then.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections import deque
from contextlib import ExitStack, suppress
from pathlib import Path
from statistics import median

from websockets.exceptions import WebSocketException

from bench.dashboard_fps import ALL_LAYERS
from tests.dashboard.chromium import Browser
from tests.live_stream import LiveStream

GOAL_MB, GROWTH_GOAL = 1200.0, 1.0
SETTLED_MIN = 10
START_S = 180.0
#: Lines of the run that are shown if it ends too soon.
LINES = 40
ROLES = ("driver", "Java", "workers", "simulator")
#: Roles that last to the end of the run: the simulator is ahead of the match, and ends.
LASTING = ROLES[:3]
#: Of a page in Chromium: memory of its processes, what its scripts hold, elements in thousands.
PAGE = ("chromium", "page heap", "1000 nodes")
#: What is compared after the first minutes.
GROWING = (*(f"{role} anon" for role in LASTING), "page heap", "1000 nodes")
_LIVE_PAGE = "Live page: "


def processes_below(pid: int) -> list[int]:
    """A process and all that descend from it."""
    found = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            for child in task.read_text().split():
                found += processes_below(int(child))
    return found


def role_of(pid: int, driver: int) -> str:
    """What a process is in the run, by its command line."""
    command = Path(f"/proc/{pid}/cmdline").read_bytes()
    if pid == driver:
        return "driver"
    if b"java" in command.split(b"\0")[0]:
        return "Java"
    return "simulator" if b"app.sources.producer" in command else "workers"


def memory_mb(driver: int) -> dict[str, float]:
    """Proportional set size by role and of all, and of it the anonymous memory by lasting role."""
    total, anonymous = dict.fromkeys(ROLES, 0.0), dict.fromkeys(ROLES, 0.0)
    for pid in processes_below(driver):
        with suppress(OSError, KeyError):  # it has ended meanwhile
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
            sizes_kb = {name: int(size) for name, size, *_ in map(str.split, lines)}
            role = role_of(pid, driver)
            total[role] += sizes_kb["Pss:"] / 1024
            anonymous[role] += sizes_kb["Pss_Anon:"] / 1024
    return {**total, "all": sum(total.values())} | {f"{role} anon": anonymous[role] for role in LASTING}


def page_memory(browser: Browser) -> dict[str, float]:
    """Memory of Chromium and of the page after a collection."""
    driver = browser.driver
    driver.execute_cdp_cmd("HeapProfiler.collectGarbage", {})
    found = {one["name"]: one["value"] for one in driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]}
    pss_kb = 0
    for pid in processes_below(driver.service.process.pid)[1:]:
        with suppress(OSError, StopIteration):
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
            pss_kb += next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return dict(zip(PAGE, (pss_kb / 1024, found["JSHeapUsedSize"] / 2**20, found["Nodes"] / 1000), strict=True))


def follow(url: str, counts: list[int], index: int) -> None:
    """Reads the page's stream until the run ends."""
    with suppress(OSError, WebSocketException):
        for _ in LiveStream(url):
            counts[index] += 1


def page_of(run: subprocess.Popen[str], last_lines: deque[str]) -> str:
    """The address that the run prints; ``last_lines`` gets what it prints afterwards."""
    assert run.stdout is not None
    for line in run.stdout:
        last_lines.append(line)
        if line.startswith(_LIVE_PAGE):
            threading.Thread(target=last_lines.extend, args=(run.stdout,), daemon=True).start()
            return line.removeprefix(_LIVE_PAGE).split()[0]
    raise SystemExit("".join(("the run ended before it served a page:\n", *last_lines)))


def soak(
    minutes: int,
    followers: int,
    engine: str,
    store: Path,
    source: str = "sim",
    speed: float = 1.0,
    *,
    profile: Path | None = None,
) -> dict[str, object]:
    """Samples by minute of the match, growth by role, and messages by follower; a profile lets Chromium watch, too."""
    command = [
        sys.executable, "-m", "app.cli.main", "live", "--store", str(store), "--port", "0", "--metrics-port", "0",
        "--engine", engine, "--source", source, "--speed", f"{speed:g}", "--window", f"{max(1.0, 30 / speed):g}",
    ]  # fmt: skip
    if source == "sim":
        command += ["--duration", str(60 * minutes + 120)]
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    counts = [0] * followers
    samples: list[dict[str, float]] = []
    last_lines: deque[str] = deque(maxlen=LINES)
    stack = ExitStack()
    try:
        url = page_of(run, last_lines)
        wait_until_ready(url)
        for index in range(followers):
            threading.Thread(target=follow, args=(url, counts, index), daemon=True).start()
        browser = stack.enter_context(Browser(profile, 1280, 720)) if profile is not None else None
        if browser is not None:
            watched(browser, url)
        columns = (*ROLES, "all", *(f"{role} anon" for role in LASTING), *(PAGE if browser is not None else ()))
        print(f"{'minute':>6} " + " ".join(f"{column:>12}" for column in columns))
        begin_s = time.monotonic()
        for minute in range(minutes + 1):
            time.sleep(max(0.0, begin_s + 60 * minute / speed - time.monotonic()))
            if run.poll() is not None:
                ended = f"the run ended with code {run.returncode} after {minute} minutes; it printed last:\n"
                raise SystemExit("".join((ended, *last_lines)))
            page = page_memory(browser) if browser is not None else {}
            samples.append({"minute": minute, **memory_mb(run.pid), **page})
            figures = " ".join(f"{samples[-1][column]:12.{0 if column not in PAGE else 1}f}" for column in columns)
            print(f"{minute:6} {figures}", flush=True)
    finally:
        stack.close()
        run.terminate()
        run.wait(60)
    growth = {}
    if minutes > SETTLED_MIN:
        count = max(1, (len(samples) - SETTLED_MIN) // 5)
        begin, end = (
            {name: median(one.get(name, 0.0) for one in part) for name in GROWING}
            for part in (samples[SETTLED_MIN : SETTLED_MIN + count], samples[-count:])
        )
        growth = {name: round(end[name] / begin[name], 3) for name in GROWING if begin[name]}
    return {"samples_mb": samples, "growth": growth, "messages": counts}


def watched(browser: Browser, url: str) -> None:
    """Open the live page with all layers."""
    browser.driver.execute_cdp_cmd("Performance.enable", {})
    browser.driver.get(url)
    browser.wait(lambda: browser.run("return Boolean(document.body.dataset.status)"), "the page")
    browser.run(ALL_LAYERS)


def wait_until_ready(url: str) -> None:
    """Returns when the engine has sent its first message."""
    until_s = time.monotonic() + START_S
    while time.monotonic() < until_s:
        with suppress(OSError), urllib.request.urlopen(f"{url}ready", timeout=5):
            return
        time.sleep(0.5)
    raise SystemExit(f"the run was not ready within {START_S:.0f} s")


def main() -> None:
    """Runs the soak and prints it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=int, default=60)
    parser.add_argument("--followers", type=int, default=5)
    parser.add_argument("--engine", choices=("spark", "inprocess"), default="spark")
    parser.add_argument("--source", default="sim")
    parser.add_argument("--speed", type=float, default=1.0)
    parser.add_argument("--store", type=Path)
    parser.add_argument("--browser", action="store_true", help="show the live page in Chromium meanwhile")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        result = soak(
            given.minutes,
            given.followers,
            given.engine,
            given.store or Path(folder) / "store",
            given.source,
            given.speed,
            profile=Path(folder) / "profile" if given.browser else None,
        )
    growth = result["growth"] or "too short"
    print(f"growth after minute {SETTLED_MIN} (goal {GROWTH_GOAL}): {growth}; goal {GOAL_MB:.0f} MB in all")
    print(f"messages by follower: {result['messages']}")
    if given.json:
        given.json.write_text(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
