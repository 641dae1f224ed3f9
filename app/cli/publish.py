"""``touchline publish`` and ``touchline follow``."""

from __future__ import annotations

import math
import signal
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from datetime import timedelta
from pathlib import Path

import msgspec
from rich.console import Console
from rich.progress import Progress

from app.kafka.address import parse
from app.kafka.clients import make_topic
from app.kafka.follow import follow
from app.kafka.publish import Published, publish
from app.settings.model import SettingsError
from replay.capture import Capture


def run_publish(
    folders: Sequence[Path], url: str, speed: str, *, matches: Sequence[str] = (), partitions: int, as_json: bool
) -> None:
    """Plays captures into a topic side by side, with progress; Ctrl-C ends it early, without an end of the matches.

    Args:
        folders: of captures.
        url: of the topic.
        speed: 1, 4 or max.
        matches: what each is called there, in the same order; empty for as its sheet says.
        partitions: of a topic that is made.
        as_json: figures as JSON on stdout: of one capture an object, of several a list.

    Raises:
        CaptureError, KafkaError, SettingsError: a capture, the topic, the speed or a name cannot be used.
    """
    times = _times(speed)
    address = parse(url)
    captures = _called([Capture.open(folder) for folder in folders], matches)
    console, stop = Console(stderr=as_json), threading.Event()
    signal.signal(signal.SIGINT, lambda number, frame: stop.set())
    make_topic(address, partitions)
    with Progress(console=console, transient=True) as bar, ThreadPoolExecutor(len(captures)) as pool:

        def play(match: str, capture: Capture) -> Published:
            total = (capture.end_us - capture.begin_us) / 1e6 if capture.is_finished else None
            task = bar.add_task(f"Publishing {match} to {address.topic}", total=total)

            def progress(arrival_us: int) -> None:
                bar.update(task, completed=(arrival_us - capture.begin_us) / 1e6)

            return publish(capture, address, times, stop=stop, progress=progress, partitions=partitions, match=match)

        playing = [pool.submit(play, match, capture) for match, capture in captures.items()]
        try:
            told = [one.result() for one in as_completed(playing)]
        finally:
            stop.set()  # one that cannot be sent ends all
    if as_json:
        print(msgspec.json.encode(told[0] if len(told) == 1 else told).decode())
        return
    for one in told:
        per_block = one.bytes / max(one.blocks, 1)
        console.print(
            f"{one.match}: {one.blocks} blocks ({one.bytes / 1e6:.1f} MB, {per_block:.0f} bytes each) of "
            f"{one.seconds:.1f} s in {one.wall_s:.1f} s; {one.delayed} left more than 5 ms late"
        )


def _called(captures: Sequence[Capture], matches: Sequence[str]) -> dict[str, Capture]:
    """Captures by what they are called in the topic."""
    if matches and len(matches) != len(captures):
        raise SettingsError(f"--match: {len(matches)} names for {len(captures)} captures; one each, in their order")
    names = list(matches) or [capture.sheet.match_id for capture in captures]
    if twice := sorted({name for name in names if not name or names.count(name) > 1}):
        raise SettingsError(f"{twice[0] or 'no name'}: several captures are called so; give each a name with --match")
    return dict(zip(names, captures, strict=True))


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
