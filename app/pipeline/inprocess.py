"""In-process host: the same pipeline without Spark, in one process and thread, with the same store, states and hub.

For tests, notebooks and comparison, and for machines without a Java runtime. It commits window by window like the Spark
driver, and resumes after the last committed window.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, Protocol

import msgspec

from app.base.garbage import collect_rarely
from app.base.pace import NEVER_US, Pace, Waiter, wall_us
from app.pipeline.commits import CommitLog
from app.pipeline.disk_full import SpaceWaiter, is_full
from app.pipeline.framing import divided, recorded_us
from app.pipeline.options import load_pipeline
from app.pipeline.state_store import StateStore
from app.sources.interface import Recording, end_past_silence_us
from football.update_stream import UpdateMessage
from replay.official_feed import OfficialFeed


class InProcessConfig(msgspec.Struct, frozen=True):
    """Configuration of an in-process run.

    Attributes:
        pipeline: ``module:class`` of the pipeline.
        settings: passed to it.
        states: folder of the state store.
        speed: stream seconds per wall second; 0 is as fast as possible.
        window_us: length of a window in arrival time.
        stop_us: arrival time at which the run ends at the latest; the recording may end earlier.
        officials: folder of the match store and further files to which officials write; empty for none.
    """

    pipeline: str
    settings: Any
    states: Path
    speed: float
    window_us: int
    stop_us: int = NEVER_US
    officials: tuple[Path, ...] = ()


class UpdateSink(Protocol):
    """Receives the update stream as the engine emits it: the hub. (A :class:`app.run.sinks.Sink` publishes it.)"""

    def apply(self, message: UpdateMessage) -> None:
        """Processes a message."""
        ...


class NoFollower:
    """Takes the update stream and does nothing with it."""

    def apply(self, message: UpdateMessage) -> None:
        """See :class:`UpdateSink`."""


class InProcessHost:
    """Host of one run over one recording, which resumes after the last commit.

    Args:
        recording: the match.
        config: of the run.
        sink: receives the update stream.
        commits: receives closed windows.
    """

    def __init__(self, recording: Recording, config: InProcessConfig, sink: UpdateSink, commits: CommitLog) -> None:
        self._recording, self._config, self._sink, self._commits = recording, config, sink, commits
        self._match = recording.sheet.match_id
        self._officials = OfficialFeed(config.officials[0], config.officials[1:]) if config.officials else None
        self._store = StateStore(config.states, self._match)
        self._epoch = self._store.claim_epoch()
        self._pipeline = load_pipeline(config.pipeline)(recording.sheet, config.settings, self._epoch)
        self._start_us = commits.offset(self._match)
        if self._start_us > recording.begin_us and not commits.has_ended(self._match):
            self._pipeline.restore(self._store.read(self._start_us, self._pipeline.maker))

    def run(self, stop: threading.Event) -> None:
        """Plays the recording to its end, or until soon after ``stop`` is set; all is committed when it returns."""
        for message in self.messages(stop):
            self._sink.apply(message)

    def messages(self, stop: threading.Event) -> Iterator[UpdateMessage]:
        """As :meth:`run`, but yields the update stream instead of giving it to the sink."""
        collect_rarely()
        config = self._config
        start_us = self._start_us
        zero_us = None if self._recording.is_finished else self._recording.live_zero_us
        pace = Pace(config.speed, start_us, wall_us()) if zero_us is None else Pace(1.0, 0, zero_us)
        waiter = Waiter(stop.is_set)
        while start_us < self._stop_us() and not stop.is_set():
            end_us = start_us + config.window_us
            if config.speed == 0 and self._recording.is_finished:
                end_us = end_past_silence_us(self._recording, start_us, config.window_us)
            until_us = min(end_us, self._stop_us())
            end_us = yield from self._window(self._blocks(start_us, until_us), until_us, pace, waiter)
            # Checked after a whole window only, since the answer may require a wait.
            if end_us == until_us and not self._recording.has_blocks_from(end_us):
                end_us = self._recording.end_us
                yield self._pipeline.finish()
            self._commit(start_us, end_us, stop)
            start_us = end_us

    def _stop_us(self) -> int:
        """Arrival time at which the run ends, as far as known: a recording that still grows has no end yet."""
        recording, stop_us = self._recording, self._config.stop_us
        return min(stop_us, recording.end_us) if recording.is_finished else stop_us

    def _blocks(self, start_us: int, end_us: int) -> Iterator[tuple[int, bytes]]:
        """Blocks of a range, merged with official lines."""
        blocks = self._recording.payloads(start_us, end_us)
        if self._officials is None:
            return blocks
        return self._officials.interleaved(blocks, start_us, end_us, lambda: self._recording.has_blocks_from(end_us))

    def _window(
        self, blocks: Iterator[tuple[int, bytes]], end_us: int, pace: Pace, waiter: Waiter
    ) -> Generator[UpdateMessage, None, int]:
        """Processes blocks when they are due; returns the offset reached: ``end_us``, or earlier after a stop."""
        # At full speed latency does not matter: a pipeline that adapts to load takes portions and emits later.
        full_speed = self._config.speed == 0 and self._recording.is_finished and self._pipeline.adapts
        late_us = self._recording.late_most_us if full_speed else None
        span_us = recorded_us(framed=self._recording.sheet.quality.framed, late_us=late_us) if full_speed else 0
        timed = ((arrival_us, pace.due_wall_us(arrival_us), payload) for arrival_us, payload in blocks)
        for portion in divided(timed, lambda block: span_us):
            arrival_us, due_us, _ = portion[0]
            waiter.sleep_until(due_us)
            if waiter.stopped:
                return arrival_us
            stage_us = wall_us()
            message = self._pipeline.push_together(portion, self._complete_us(portion[-1][0], late_us))
            if message is not None:
                yield msgspec.structs.replace(message, stage_wall_us=stage_us, sent_wall_us=wall_us())
            self._pipeline.measure_in_pause()
        return end_us

    def _complete_us(self, arrival_us: int, late_us: int | None) -> int | None:
        """Event time before which no input arrives after ``arrival_us``; None if ``late_us`` is unknown."""
        if late_us is None:
            return None
        complete_us = arrival_us - late_us
        return complete_us if self._officials is None else self._officials.settled(arrival_us, complete_us)

    def _commit(self, start_us: int, end_us: int, stop: threading.Event) -> None:
        tables = self._pipeline.take_tables()
        meta = {**self._pipeline.commit_meta(), "epoch": self._epoch, "end_offset": end_us}
        self._pipeline.inspect_detectors()
        state, maker = self._pipeline.snapshot(), self._pipeline.maker
        space_waiter = SpaceWaiter(self._config.states, stop)
        while True:
            try:
                self._store.write(end_us, self._epoch, state, maker)
                self._commits.commit(self._match, start_us, tables, meta)
                break
            except OSError as error:
                if not is_full(error):
                    raise
                space_waiter.wait(error)
        self._store.forget_before(start_us)
