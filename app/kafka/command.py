"""``touchline publish`` and ``touchline follow``."""

from __future__ import annotations

import math
import signal
import threading
from datetime import timedelta
from pathlib import Path

import msgspec
from rich.console import Console
from rich.progress import Progress

from app.kafka.address import parse
from app.kafka.follow import follow
from app.kafka.publish import publish
from app.settings import SettingsError
from replay.capture import Capture


def run_publish(folder: Path, url: str, speed: str, *, partitions: int, as_json: bool) -> None:
    """Plays a capture into a topic, with progress; Ctrl-C ends it early, without an end of the match.

    Raises:
        CaptureError, KafkaError, SettingsError: the capture, the topic or the speed cannot be used.
    """
    times = _times(speed)
    capture, address = Capture.open(folder), parse(url)
    console, stop = Console(stderr=as_json), threading.Event()
    signal.signal(signal.SIGINT, lambda number, frame: stop.set())
    with Progress(console=console, transient=True) as bar:
        total = (capture.end_us - capture.begin_us) / 1e6 if capture.is_finished else None
        task = bar.add_task(f"Publishing {capture.sheet.match_id} to {address.topic}", total=total)
        begin_us = capture.begin_us
        told = publish(
            capture,
            address,
            times,
            stop=stop,
            progress=lambda arrival_us: bar.update(task, completed=(arrival_us - begin_us) / 1e6),
            partitions=partitions,
        )
    if as_json:
        print(msgspec.json.encode(told).decode())
        return
    per_block = told.bytes / max(told.blocks, 1)
    console.print(
        f"{told.match}: {told.blocks} blocks ({told.bytes / 1e6:.1f} MB, {per_block:.0f} bytes each) of "
        f"{told.seconds:.1f} s in {told.wall_s:.1f} s; {told.delayed} left more than 5 ms late"
    )


def _times(speed: str) -> float:
    """Stream seconds in a wall second, 0 for as fast as it goes."""
    try:
        times = 0.0 if speed == "max" else float(speed)
    except ValueError:
        times = -1.0
    if not (speed == "max" or 0.0 < times < math.inf):
        raise SettingsError(f"--speed {speed}: must be max, or a number above 0 such as 1 or 4")
    return times


def run_follow(url: str, *, idle_s: float | None, as_json: bool) -> None:
    """Prints every change of a match's view; one JSON object a line, or a sentence.

    Raises:
        KafkaError, GapError: the topic cannot be used, or does not hold the whole match any more.
    """
    for change in follow(url, idle_s=idle_s):
        update, event = change.update, change.update.event
        if as_json:
            print(msgspec.json.encode(update).decode(), flush=True)
            continue
        sign = "+" if update.diff > 0 else "-"
        who = " ".join(word for word in (event.variant, event.team, event.player) if word)
        print(f"{sign} {timedelta(microseconds=event.ts_us)} {event.kind} {who}", flush=True)
