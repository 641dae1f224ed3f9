"""How long until a match that was interrupted for 30 s is at the live edge again?

Question: a match plays from a topic to another, at the speed of life. Then

* ``stall``: the broker answers nobody for 30 s (it is stopped by a signal, and goes on);
* ``broker``: the broker is killed and started again after 30 s;
* ``process``: the whole of `touchline live` is killed and started again after 30 s with the same store;
* ``standby``: the whole of `touchline live` is killed while another stands by (`--standby`): nobody starts anything.

From the moment at which the cause is gone (the broker goes on; the broker answers again; the command is started; with
one that stands by, from the kill): how many seconds until what a follower of the topic gets is within a second of the
live edge, and stays there for two? In the third, Java, Python and Spark start anew; the
seconds until the first update are printed, too, and by the logs when each part began.
Goal: 10 s.

    python -m bench.restart [--source sim] [--outage 30] [--kinds stall broker process standby] [--store DIR]
        [--json FILE]

With a capture as source (`touchline simulate --rate live --minutes 5 --out DIR`) nothing need be simulated first.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from app.base.java import find_java
from app.kafka import updates
from app.kafka.address import Address, KafkaError, parse
from app.kafka.broker import broker_status, start_broker, stop_broker
from app.kafka.clients import consumer, kind_of, partitions_of, poll_records
from app.kafka.publish import publish
from app.sources.captures import is_capture, prepare_capture
from football.update_stream import View
from replay.capture import Capture

GOAL_S = 10.0
EDGE_S, STEADY_S = 1.0, 2.0
PATIENCE_S = 600.0

#: Seconds of stream that a kind of outage takes besides: to come to rest, to catch up. To start takes as long.
SPARE_S = 35.0

#: What a run that begins says in its logs, in order.
STEPS = ("run begins", "spark is up", "warmed up", "window begins", "window closed", "batch committed")


class Edge:
    """Measures how far a follower of positions is behind the gateway, in seconds."""

    def __init__(self, capture: Capture, events: Address) -> None:
        self._capture, self._events = capture, events.sibling(updates.POSITIONS_SUFFIX)
        self._anchor: tuple[float, int] | None = None
        self.view_us = -(2**62)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)

    def sent(self, arrival_us: int) -> None:
        """Note the gateway's progress; the first call sets the clock."""
        if self._anchor is None:
            self._anchor = (time.monotonic(), arrival_us)
            self._thread.start()

    def behind_s(self) -> float:
        """Return the live edge by the clock, less the newest positions that were followed."""
        if self._anchor is None:
            return float("inf")
        began_s, begin_us = self._anchor
        live_us = begin_us + (time.monotonic() - began_s) * 1e6
        return (min(live_us, self._capture.end_us) - self.view_us) / 1e6

    def _follow(self) -> None:
        while not self._over.is_set():
            try:
                self._read()
            except KafkaError:
                time.sleep(0.2)

    def _read(self) -> None:
        client = consumer(self._events)
        try:
            parts = partitions_of(client, self._events)
            client.assign(parts)
            client.seek_to_beginning(*parts)
            while not self._over.is_set():
                for record in poll_records(client, 50):
                    if kind_of(record) == updates.VIEW:
                        view = msgspec.json.decode(record.value, type=View)
                        self.view_us = max(self.view_us, view.ts_us)
        finally:
            client.close()


def until(condition: Callable[[], bool], what: str, patience_s: float = PATIENCE_S) -> float:
    """Seconds until a condition holds."""
    began = time.monotonic()
    while not condition():
        if time.monotonic() > began + patience_s:
            raise SystemExit(f"waited {patience_s:.0f} s for {what}")
        time.sleep(0.02)
    return time.monotonic() - began


def caught_up_s(edge: Edge) -> float:
    """Return the seconds until the follower is at the edge and stays there for a while."""
    began = reached = time.monotonic()
    while time.monotonic() < began + PATIENCE_S:
        if edge.behind_s() > EDGE_S:
            reached = time.monotonic()
        elif time.monotonic() >= reached + STEADY_S:
            return reached - began
        time.sleep(0.02)
    return float("inf")


class Trial:
    """A broker, a gateway and `touchline live` between two topics."""

    def __init__(self, folder: Path, capture: Capture, store: Path) -> None:
        self.home, self._java, self._store = folder / "broker", find_java(os.environ), store
        self._log = folder / "live.log"
        at = start_broker(self.home, 0, self._java).address
        self.positions, self.events = parse(f"kafka://{at}/positions"), parse(f"kafka://{at}/events")
        self.edge = Edge(capture, self.events)
        self.run = self.start()
        self._stop = threading.Event()
        self._gateway = threading.Thread(target=self._run_gateway, args=(capture,), daemon=True)

    def start(self, *more: str) -> subprocess.Popen[bytes]:
        """`touchline live`, in a group of its own."""
        command = [
            sys.executable, "-m", "app.cli.main", "live", "--source", self.positions.url, "--publish", self.events.url,
            "--store", str(self._store), "--no-dashboard", "--no-camera", *more,
        ]  # fmt: skip
        with self._log.open("ab") as steps:
            self.run = subprocess.Popen(command, stdout=steps, stderr=steps, start_new_session=True)
        return self.run

    def start_gateway(self) -> None:
        """Start the gateway; it runs until its match is over."""
        self._gateway.start()

    def _run_gateway(self, capture: Capture) -> None:
        publish(capture, self.positions, 1.0, stop=self._stop, progress=self.edge.sent)

    def kill(self) -> None:
        """Kill the whole run at once."""
        os.killpg(self.run.pid, signal.SIGKILL)
        self.run.wait()

    def stall(self, outage_s: float) -> dict[str, float]:
        """Pause the broker."""
        pid = broker_status(self.home).pid
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        time.sleep(outage_s)
        os.kill(pid, signal.SIGCONT)
        return {"caught_up_s": caught_up_s(self.edge)}

    def broker(self, outage_s: float) -> dict[str, float]:
        """Kill the broker and start it again."""
        pid = broker_status(self.home).pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        time.sleep(outage_s)
        began = time.monotonic()
        start_broker(self.home, 0, self._java)
        starts_s = time.monotonic() - began
        return {"caught_up_s": caught_up_s(self.edge), "broker_starts_s": starts_s}

    def process(self, outage_s: float) -> dict[str, float]:
        """Kill the command and start it again."""
        self.kill()
        time.sleep(outage_s)
        newest_us, began_wall, began = self.edge.view_us, time.time(), time.monotonic()
        self.start()
        moves_s = until(lambda: self.edge.view_us > newest_us, "the run to move again")
        caught_up_s(self.edge)
        took_s = time.monotonic() - STEADY_S - began
        return {"caught_up_s": took_s, "first_new_words_s": moves_s, **self.steps(began_wall)}

    def standby(self, outage_s: float) -> dict[str, float]:
        """Kill the command while a stand-by waits."""
        dying, began = self.run, time.monotonic()
        self.start("--standby")
        until(lambda: b"Standing by" in self._log.read_bytes(), "somebody to stand by")
        ready_s = time.monotonic() - began
        time.sleep(STEADY_S * 5)
        newest_us, began_wall, began = self.edge.view_us, time.time(), time.monotonic()
        os.killpg(dying.pid, signal.SIGKILL)
        dying.wait()
        moves_s = until(lambda: self.edge.view_us > newest_us, "the run to move again")
        caught_up_s(self.edge)
        took_s = time.monotonic() - STEADY_S - began
        return {"caught_up_s": took_s, "first_new_words_s": moves_s, "ready_after_s": ready_s, **self.steps(began_wall)}

    def steps(self, since_wall: float) -> dict[str, float]:
        """Seconds until each step of a run that was started then, by its logs."""
        lines = (line for path in (self._store / "logs").glob("*.jsonl") for line in path.read_text().splitlines())
        steps = sorted((datetime.fromisoformat(one["time"]).timestamp(), one["what"]) for one in map(json.loads, lines))
        return {
            f"{step}, s": next(at for at, what in steps if what == step and at >= since_wall) - since_wall
            for step in STEPS
            if any(what == step and at >= since_wall for at, what in steps)
        }

    def close(self) -> None:
        """Ends everything."""
        self._stop.set()
        if self.run.poll() is None:
            self.kill()
        stop_broker(self.home)


@contextmanager
def trial(source: str, seconds: float, store: Path | None) -> Iterator[Trial]:
    """Return a trial at the live edge, at least so many seconds before its match is over."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if not is_capture(source):
            prepare_capture(source, "rtls", 32, folder / "capture", duration_s=seconds)
        capture = Capture.open(source if is_capture(source) else folder / "capture")
        if capture.end_us - capture.begin_us < seconds * 1e6:
            raise SystemExit(f"{source}: is shorter than the {seconds:.0f} s that this takes")
        made = Trial(folder, capture, store or folder / "store")
        try:
            made.start_gateway()
            until(lambda: made.edge.behind_s() < EDGE_S, "the live edge for the first time")
            yield made
        finally:
            made.close()


def main() -> None:
    """Try every kind of outage in a match of its own, and print or store the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--outage", type=float, default=30.0)
    parser.add_argument("--source", default="sim", help="sim (live rates), a file, or the folder of a capture")
    parser.add_argument("--kinds", nargs="+", default=["stall", "broker", "process"])
    parser.add_argument("--store", type=Path, help="where the match is kept; by itself it is thrown away")
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    seconds = SPARE_S + len(chosen.kinds) * (chosen.outage + SPARE_S)
    result: dict[str, Any] = {"outage_s": chosen.outage, "source": Path(chosen.source).name, "goal_s": GOAL_S}
    with trial(chosen.source, seconds, chosen.store) as made:
        for kind in chosen.kinds:
            time.sleep(STEADY_S * 5)
            figures = getattr(made, kind)(chosen.outage)
            result[kind] = {name: round(value, 2) for name, value in figures.items()}
            result[kind]["load_average"] = round(os.getloadavg()[0], 1)
            print(json.dumps({kind: result[kind]}), flush=True)
    if chosen.json:
        chosen.json.write_text(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
