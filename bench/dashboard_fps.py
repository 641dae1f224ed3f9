"""Does the page draw 30 frames a second with all layers, and how soon is an event on the screen?

Questions:

* How many frames a second does headless Chromium draw with 22 players, ball, trails, camera and marks, and how long
  are the gaps between frames? And with all layers on? (Goal: 30 a second.)
* How long from an update in the feed until its line is in a drawn frame, and which stage takes how much of it: until
  the server makes the message (``wait``), until the page has it (``travel``), until the list has its line (``list``),
  until the next frame (``frame``)? (Goal: 150 ms.)
* How long from the request of the page until the first paint, and until the first frame with players? (Goal: 1.5 s.)
* Do 20 viewers get all messages, and what do they cost the driver process? What does one cost?

The feed is the scripted match of ``dashboard.demo`` at 50 views a second, in the process that serves. Everything,
Chromium with software rendering included, shares this machine's cores. Run it from the root of the repository::

    python -m bench.dashboard_fps --json out.json
    python -m bench.dashboard_fps --with-match 100                                    # while a match runs through Spark
    python -m bench.dashboard_fps --url http://127.0.0.1:8050/ --json out.json    # on the page of a running match
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dashboard.demo import Choreography, ScriptedFeed, demo_event, demo_sheet
from dashboard.live import Had, LiveState, Message
from dashboard.routes import page_routes
from dashboard.server import WebServer
from tests.dashboard.chromium import Browser

WARM_UP_S = 4.0
WATCH_FRAMES = """
window.gaps = []; let last = performance.now();
requestAnimationFrame(function tick(now) { gaps.push(now - last); last = now; requestAnimationFrame(tick); });
"""
#: Notes for each event when the page has its message, when the list has its line, and when the next frame begins.
WATCH_EVENTS = """
window.marks = { travel: {}, list: {}, frame: {} };
const note = (stage, ids) => { for (const id of ids) marks[stage][id] ??= performance.timeOrigin + performance.now(); };
const ids = (message) => (message.rows || []).map((row) => row.id);
touchline.link.handlers.unshift((message) => note("travel", ids(message)));
touchline.link.handlers.push((message) => {
  note("list", ids(message));
  requestAnimationFrame(() => note("frame", ids(message)));
});
"""
ALL_LAYERS = "for (const name in touchline.layers.on) touchline.layers.on[name] = true;"
#: Notes when the first frame with players is drawn.
WATCH_START = """
requestAnimationFrame(function look() {
  if (window.touchline && touchline.scene && touchline.scene.clock !== null && touchline.stats.frames > 0)
    window.startedMs = performance.now();
  else requestAnimationFrame(look);
});
"""
VIEWERS = 20
#: Viewers in a process of their own: each reads its stream for some seconds; prints the messages of each.
STREAM_READERS = """
import asyncio, sys, time
from websockets.asyncio.client import connect
host, port, seconds, count = sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4])
async def viewer():
    until, messages = time.monotonic() + seconds, 0
    async with connect(f'ws://{host}:{port}/live/stream', compression=None, proxy=None, max_size=2**24) as page:
        while time.monotonic() < until:
            await page.recv()
            messages += 1
            if messages % 10 == 0:
                await page.send(str(messages))
    return messages
async def main():
    print(*await asyncio.gather(*(viewer() for _ in range(count))))
asyncio.run(main())
"""


@contextmanager
def playing(feed: ScriptedFeed) -> Iterator[None]:
    """Run the scripted match in a thread, 50 views a second, from its 40th second on."""
    choreography, stop = Choreography(feed), threading.Event()
    for now_us in range(0, 40_000_000, 40_000):
        choreography.play(now_us)
    began = time.monotonic()

    def run() -> None:
        while not stop.wait(0.02):
            choreography.play(40_000_000 + int((time.monotonic() - began) * 1e6))

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def drawn(url: str, browser: Browser, seconds: float, layers: str = "") -> dict[str, float]:
    """Return the number of frames that the page drew, and the gaps between frames; ``layers`` chooses its layers."""
    browser.driver.get(url)
    browser.wait(lambda: browser.run("return document.body.dataset.status") == "live", "the page to be live")
    browser.run(layers)
    time.sleep(WARM_UP_S)
    browser.run(WATCH_FRAMES)
    counters = "return [touchline.stats.frames, touchline.stats.messages, performance.now()]"
    before = browser.run(counters)
    time.sleep(seconds)
    after = browser.run(counters)
    gaps = sorted(browser.run("return gaps"))
    elapsed_s = (after[2] - before[2]) / 1000
    return {
        "frames_per_s": round((after[0] - before[0]) / elapsed_s, 1),
        "messages_per_s": round((after[1] - before[1]) / elapsed_s, 1),
        "gap_p50_ms": round(gaps[len(gaps) // 2], 1),
        "gap_p99_ms": round(gaps[len(gaps) * 99 // 100], 1),
        "gap_max_ms": round(gaps[-1], 1),
    }


class NotedState(LiveState):
    """Notes when the first message with an event is made, in milliseconds of wall time by id."""

    def __init__(self, feed: ScriptedFeed) -> None:
        super().__init__(feed)
        self.made_ms: dict[str, float] = {}

    def message(self, *chosen: Any, **how: Any) -> tuple[Message, Had]:
        """Return the next message for a page."""
        message, has = super().message(*chosen, **how)
        for row in message.rows or ():
            self.made_ms.setdefault(row.id, time.time() * 1000)
        return message, has


def on_screen(live: NotedState, feed: ScriptedFeed, browser: Browser, url: str, events: int) -> dict[str, float]:
    """Time from an update's entry into the feed to the frame that shows its line, with usual layers, and its stages."""
    browser.driver.get(url)
    browser.wait(lambda: browser.run("return document.body.dataset.status") == "live", "the page to be live")
    time.sleep(WARM_UP_S)
    browser.run(WATCH_EVENTS)
    published: dict[str, float] = {}
    for number in range(events):
        event = demo_event("restart.free_kick", feed.now_us(), f"bench:{number}", team="home")
        published[event.id] = time.time() * 1000
        feed.publish(event)
        time.sleep(0.137)  # no multiple of the message interval, so that every phase occurs
    time.sleep(1.0)
    on_page = browser.run("return marks")
    marks = {"wait": live.made_ms, **{stage: on_page[stage] for stage in ("travel", "list", "frame")}}
    shown_ms, before = marks["frame"], published
    stages: dict[str, float] = {}
    for stage, at_ms in marks.items():
        took = sorted(at_ms[name] - before[name] for name in published if name in shown_ms)
        stages[f"{stage}_p50_ms"] = round(statistics.median(took), 1)
        stages[f"{stage}_p95_ms"] = round(took[len(took) * 95 // 100], 1)
        before = at_ms
    delays = sorted(shown_ms[name] - at_ms for name, at_ms in published.items() if name in shown_ms)
    return {
        "events": events,
        "seen": len(delays),
        "p50_ms": round(statistics.median(delays), 1),
        "p95_ms": round(delays[len(delays) * 95 // 100], 1),
        "max_ms": round(delays[-1], 1),
        **stages,
    }


@contextmanager
def live_match(seconds: float) -> Iterator[None]:
    """Run a simulated match through Spark for some seconds; enter once it plays. Nothing for 0 seconds."""
    if not seconds:
        yield
        return
    command = [sys.executable, "-m", "app.cli.main", "live", "--no-dashboard", "--no-camera", "--json", "--duration"]
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store"
        match = subprocess.Popen([*command, str(seconds), "--store", str(store)], stdout=subprocess.DEVNULL)
        try:
            while match.poll() is None and not any(store.glob("**/*.parquet")):
                time.sleep(0.5)
            yield
        finally:
            match.terminate()
            match.wait()


def started(url: str, browser: Browser, loads: int) -> dict[str, float]:
    """Return how long the page takes to its first paint and to its first frame with players; the first load is cold."""
    script = browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH_START})
    paint = "return performance.getEntriesByName('first-contentful-paint').map((one) => one.startTime)[0]"
    figures = []
    for _ in range(loads):
        browser.driver.get(url)
        browser.wait(lambda: browser.run("return window.startedMs"), "the first frame", 60.0)
        figures.append((browser.run(paint), browser.run("return startedMs")))
    browser.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)
    paints, frames = zip(*figures, strict=True)
    return {
        "loads": loads,
        "first_paint_p50_ms": round(statistics.median(paints)),
        "first_frame_p50_ms": round(statistics.median(frames)),
        "first_frame_cold_ms": round(frames[0]),
        "first_frame_max_ms": round(max(frames)),
    }


def viewers(server: WebServer, seconds: float, count: int) -> dict[str, float]:
    """Return the messages that each of some viewers gets, and the processor time of this process for them.

    What the scripted match takes meanwhile is measured first, and not counted.
    """
    host, port = server.url.removeprefix("http://").strip("/").split(":")
    began_cpu_s = time.process_time()
    time.sleep(seconds)
    idle_s = time.process_time() - began_cpu_s
    began_s, began_cpu_s = time.monotonic(), time.process_time()
    command = [sys.executable, "-c", STREAM_READERS, host, port, str(seconds), str(count)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    passed_s = time.monotonic() - began_s
    spent_s = time.process_time() - began_cpu_s - idle_s * passed_s / seconds
    messages = sorted(int(each) for each in done.stdout.split())
    return {
        "viewers": len(messages),
        "messages_per_s_least": round(messages[0] / seconds, 1),
        "messages_per_s_p50": round(statistics.median(messages) / seconds, 1),
        "share_of_a_core": round(spent_s / passed_s, 3),
        "cpu_ms_per_message": round(spent_s / sum(messages) * 1e3, 3),
    }


def main() -> None:
    """Run all measurements; print the figures, and write them with --json."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="file for the figures")
    parser.add_argument("--url", help="page of a running match: frames are measured there, and nothing else")
    parser.add_argument("--seconds", type=float, default=15.0, help="length of each measurement")
    parser.add_argument(
        "--with-match",
        dest="match_s",
        type=float,
        default=0.0,
        help="seconds of a match that runs through Spark meanwhile",
    )
    arguments = parser.parse_args()
    with live_match(arguments.match_s):
        figures = on_a_match(arguments.url, arguments.seconds) if arguments.url else on_the_script(arguments.seconds)
        figures["load_average"] = os.getloadavg()[0]
    text = json.dumps(figures, indent=2)
    print(text)
    if arguments.json:
        arguments.json.write_text(text + "\n", encoding="utf-8")


def on_a_match(url: str, seconds: float) -> dict[str, Any]:
    """Return frames on the page of a running match, with usual and with all layers."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile, Browser(Path(profile)) as browser:
        browser.resize(1280, 720)
        return {
            "start": started(url, browser, 5),
            "drawn": drawn(url, browser, seconds),
            "drawn_all_layers": drawn(url, browser, seconds, ALL_LAYERS),
        }


def on_the_script(seconds: float) -> dict[str, Any]:
    """Return all figures on the scripted match."""
    feed = ScriptedFeed(demo_sheet())
    figures: dict[str, Any] = {}
    live = NotedState(feed)
    with WebServer(page_routes(live)) as server, playing(feed):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile, Browser(Path(profile)) as browser:
            for width, height in ((1440, 900), (1280, 720)):
                browser.resize(width, height)
                figures[f"drawn_{width}x{height}"] = drawn(server.url, browser, seconds)
            figures["drawn_all_layers_1280x720"] = drawn(server.url, browser, seconds, ALL_LAYERS)
            figures["event_on_screen"] = on_screen(live, feed, browser, server.url, 100)
            figures["start"] = started(server.url, browser, 5)
        figures["viewers"] = viewers(server, seconds, VIEWERS)
        figures["viewer"] = viewers(server, seconds, 1)
    figures["cpu_of_20_to_1"] = round(figures["viewers"]["share_of_a_core"] / figures["viewer"]["share_of_a_core"], 2)
    return figures


if __name__ == "__main__":
    main()
