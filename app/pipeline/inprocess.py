"""The same pipeline without Spark: one process, one thread, the same capture, store, states and hub.

For tests, notebooks and comparison, and for machines without a Java runtime. It commits window by window like
the Spark host, and goes on from the last committed one.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import msgspec

from app.base.garbage import collect_rarely
from app.base.pace import NEVER_US, Pace, Waiter, wall_us
from app.pipeline.commits import Committer
from app.pipeline.disk_full import Room, is_full
from app.pipeline.framing import RECORDED_US, divided
from app.pipeline.options import load_pipeline
from app.pipeline.state_store import StateStore
from football.update_stream import UpdateMessage
from replay.capture import Capture
from replay.official_feed import OfficialFeed


class InProcessConfig(msgspec.Struct, frozen=True):
    """A run, in data. See ``app.spark.host.HostConfig`` and ``app.spark.stage.StageConfig`` for the fields.

    ``batch_id`` and ``start_us``: the first batch of this run, and where it begins. ``officials``: folder of the match
    store and further files, where officials write; empty for nowhere.
    """

    pipeline: str
    settings: Any
    states: Path
    speed: float
    window_us: int
    start_us: int
    stop_us: int = NEVER_US
    batch_id: int = 0
    officials: tuple[Path, ...] = ()


class Listener(Protocol):
    """Who hears what the engine says, as it says it: the hub, or nobody."""

    def apply(self, message: UpdateMessage) -> None:
        """Takes a message."""
        ...


class InProcessHost:
    """One run over one capture."""

    def __init__(self, capture: Capture, config: InProcessConfig, hub: Listener, committer: Committer) -> None:
        self._capture, self._config, self._hub, self._committer = capture, config, hub, committer
        self._match = capture.sheet.match_id
        self._desk = OfficialFeed(config.officials[0], config.officials[1:]) if config.officials else None
        self._store = StateStore(config.states, self._match)
        self._epoch = self._store.claim_epoch()
        self._pipeline = load_pipeline(config.pipeline)(capture.sheet, config.settings, self._epoch)
        if config.start_us > capture.begin_us and not committer.has_ended():
            self._pipeline.restore(self._store.read(config.start_us, self._pipeline.maker))

    def run(self, stop: threading.Event) -> None:
        """Returns when the capture's end is reached and committed, or soon after ``stop`` was set, committed."""
        collect_rarely()
        config = self._config
        pace = Pace(config.speed, config.start_us, wall_us())
        waiter = Waiter(stop.is_set)
        batch_id, start_us = config.batch_id, config.start_us
        while start_us < self._stop_us() and not waiter.stopped:
            until_us = min(start_us + config.window_us, self._stop_us())
            end_us = self._window(self._blocks(start_us, until_us), until_us, pace, waiter)
            # Asked after a whole window only: the answer may have to be waited for.
            if end_us == until_us and not self._capture.has_blocks_from(end_us):
                end_us = self._capture.end_us
                self._publish(self._pipeline.finish())
            self._commit(batch_id, start_us, end_us, stop)
            batch_id, start_us = batch_id + 1, end_us

    def _stop_us(self) -> int:
        """Where the run ends, as far as that is known: a capture that still grows has no end yet."""
        capture, stop_us = self._capture, self._config.stop_us
        return min(stop_us, capture.end_us) if capture.is_finished else stop_us

    def _blocks(self, start_us: int, end_us: int) -> Iterator[tuple[int, bytes]]:
        """Blocks of a range, and what officials say between them."""
        blocks = self._capture.payloads(start_us, end_us)
        if self._desk is None:
            return blocks
        return self._desk.woven(blocks, start_us, end_us, lambda: self._capture.has_blocks_from(end_us))

    def _window(self, blocks: Iterator[tuple[int, bytes]], end_us: int, pace: Pace, waiter: Waiter) -> int:
        """Works on blocks as they are due; returns the offset up to which it did: all, or up to a stop."""
        # Nobody waits for a recording that is played as fast as it can be. What follows the load may speak later then.
        unhurried = self._config.speed == 0 and self._capture.is_finished and self._pipeline.adapts
        span_us = RECORDED_US if unhurried else 0
        late_us = self._capture.late_most_us if unhurried else None
        framed = ((arrival_us, pace.due_wall_us(arrival_us), payload) for arrival_us, payload in blocks)
        for portion in divided(framed, lambda block: span_us):
            arrival_us, due_us, _ = portion[0]
            waiter.sleep_until(due_us)
            if waiter.stopped:
                return arrival_us
            stage_us = wall_us()
            message = self._pipeline.push_together(portion, self._complete_us(portion[-1][0], late_us))
            if message is not None:
                message = msgspec.structs.replace(message, stage_wall_us=stage_us, sent_wall_us=wall_us())
                self._publish(message)
            self._pipeline.pause()
        return end_us

    def _complete_us(self, arrival_us: int, late_us: int | None) -> int | None:
        """Event time before which nothing comes after ``arrival_us``, where a recording tells how late it is."""
        if late_us is None:
            return None
        complete_us = arrival_us - late_us
        return complete_us if self._desk is None else self._desk.settled(arrival_us, complete_us)

    def _publish(self, message: UpdateMessage) -> None:
        self._hub.apply(message)

    def _commit(self, batch_id: int, start_us: int, end_us: int, stop: threading.Event) -> None:
        tables = self._pipeline.take_tables()
        meta = {**self._pipeline.commit_meta(), "epoch": self._epoch, "end_offset": end_us}
        self._pipeline.settle()
        state, maker = self._pipeline.snapshot(), self._pipeline.maker
        room = Room(self._config.states, stop)
        while True:
            try:
                self._store.write(end_us, self._epoch, state, maker)
                self._committer.commit(batch_id, self._match, tables, meta)
                break
            except OSError as error:
                if not is_full(error):
                    raise
                room.wait(error)
        self._store.forget_before(start_us)
