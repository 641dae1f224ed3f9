"""Monitors one match in the driver: input, costs, distance to the live edge, and problems.

Theory of operation
-------------------
The monitor reads the update stream and the commits; no process sends a message for it alone. The counters of a stage
fall when it repeats a window, because it restores the state of the window's start. The monitor takes their maximum, so
each record counts once.

*Behind the live edge* is the wall time now less the wall time at which the newest processed block was due at the
source; of a topic, less the time of its record. It grows while no block arrives, and while blocks arrive faster than
the engine processes them. An unpaced run (``--speed max``) has no live edge.
"""

from __future__ import annotations

import logging
import shutil
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import msgspec
import pyarrow as pa

from app.base.logs import log_event
from app.hub.feed import MatchFeed
from app.hub.latency import Histogram
from app.nodes.status import NodesStatus
from app.operations.play_clock import PlayClock
from app.pipeline.commits import CommitLog
from app.pipeline.disk_full import ENOUGH_BYTES
from app.sources.interface import MatchInput
from dashboard.feed import InputState
from football.input_quality import InputFinding, InputQuality
from football.update_stream import Health, UpdateMessage, UpdateRecord
from replay.quality.findings import Circumstances, findings_of

#: Time without a message from the engine after which data count as missing. A turn-around of Spark takes less.
SILENCE_S = 10.0

#: Thresholds of a quarantine storm: number of quarantined records within the window, and their share of all.
STORM_RECORDS, STORM_SHARE = 50, 0.1
WINDOW_S = 10.0

#: Counters of a stage's health, each a sum since the match began.
COUNTERS = ("positions", "packets", "late", "lost", "duplicates", "differing_copies", "quarantined", "retractions")

_log = logging.getLogger(__name__)


class StageLink(Protocol):
    """Counts the connected engine stages. The hub implements it."""

    def connected_stages(self) -> int:
        """Return the number of stages that are connected now."""
        ...


class Publisher(Protocol):
    """Publishes the match to topics. The relay implements it."""

    def waiting(self) -> int:
        """Return the number of records that no broker has acknowledged yet."""
        ...

    def waits_s(self) -> float:
        """Return the seconds since a broker acknowledged the last record; 0 if no record waits."""
        ...


class Commits(msgspec.Struct):
    """Commits of this run: number, rows and times (``took``). ``state_bytes``: size of the newest engine state."""

    count: int = 0
    failed: int = 0
    rows: int = 0
    state_bytes: int = 0
    took: Any = None
    error: str = ""


class _Sample(msgspec.Struct, frozen=True):
    """Counters at an instant."""

    at_s: float
    now_us: int
    packets: int
    quarantined: int


class MatchMonitor:
    """State of a running match. Thread safe; subscribes to the feed at its construction.

    Args:
        feed: of the match; it already holds the committed updates.
        states: folder of its engine states.
        paced: True if each block is due at a wall time, so that the match can be behind.
        source: the match's input, which may have findings and unreadable records of its own; None without one.
        link: the hub if stages connect to it; None where the engine runs in this process.
        clock_s: a monotonic clock, in seconds.
        wall_us: the wall clock, in microseconds.
    """

    def __init__(
        self,
        feed: MatchFeed,
        states: Path,
        *,
        paced: bool,
        source: MatchInput | None = None,
        link: StageLink | None = None,
        clock_s: Callable[[], float] = time.monotonic,
        wall_us: Callable[[], int] = lambda: time.time_ns() // 1000,
    ) -> None:
        self.feed, self.match = feed, feed.sheet().match_id
        self.commits = Commits(took=Histogram())
        self.asserted = self.withdrawn = self.restarts = 0
        #: Number of records of the topic that are not processed yet; None if unknown, or if the source is no topic.
        self.records_behind: int | None = None
        #: Reason why the run excluded the match; empty if it did not.
        self.exclusion = ""
        #: Reason why its topic cannot be read now; empty while it can be read, or if its source is no topic.
        self.source_trouble = ""
        #: Figures by name, by feed of the gateway that the match comes from, and what is wrong with the feeds.
        self.feed_figures: Mapping[str, Mapping[str, float]] = {}
        self.feed_problems: Sequence[str] = ()
        #: Publisher of the match, if there is one.
        self.publisher: Publisher | None = None
        #: Gives by camera what is wrong with its head; empty where it answers.
        self.camera_problems: Callable[[], Mapping[str, str]] = dict
        #: Gives by camera the state of its care for failures, and the fault that it has seen.
        self.camera_cares: Callable[[], Mapping[str, tuple[str, str]]] = dict
        #: Gives by camera the figures of its steering.
        self.camera_figures: Callable[[], Mapping[str, Mapping[str, float | str]]] = dict
        #: Gives the figures of the match's nodes; None if it has one.
        self.nodes: Callable[[], NodesStatus | None] = lambda: None
        self._states, self._paced, self._link = states, paced, link
        self._clock_s, self._wall_us = clock_s, wall_us
        self._lock = threading.Lock()
        self._files = tuple(source.findings) if source is not None else ()
        self._unreadable = Counter(record.reason for record in source.rejected) if source is not None else Counter()
        self._play, self._quality = PlayClock(), InputQuality()
        self._findings = self._files
        self._logged: set[str] = set()
        self._maxima = dict.fromkeys(COUNTERS, 0)
        self._recent: deque[_Sample] = deque()
        self._epoch: int | None = None
        self._received_s: float | None = None
        self._began_s = clock_s()
        self._due_wall_us = 0
        self._was_connected = False
        feed.subscribe(self._receive)
        feed.provide_input(self.input)

    def _receive(self, message: UpdateMessage, applied: Sequence[UpdateRecord]) -> None:
        with self._lock:
            now_s = self._clock_s()
            self._received_s = now_s
            self._was_connected = True
            self._due_wall_us = max(self._due_wall_us, message.due_wall_us)
            if self._epoch is not None and message.epoch > self._epoch:
                self.restarts += 1
            self._epoch = max(message.epoch, self._epoch or 0)
            for update in applied:
                if update.diff > 0:
                    self.asserted += 1
                else:
                    self.withdrawn += 1
            self._play.apply(applied)
            if message.health is not None:
                self._note(message.health, message.now_us, now_s)

    def _note(self, health: Health, now_us: int, now_s: float) -> None:
        for name in COUNTERS:
            self._maxima[name] = max(self._maxima[name], getattr(health, name))
        self._recent.append(_Sample(now_s, now_us, self._maxima["packets"], self._maxima["quarantined"]))
        while self._recent[0].at_s < now_s - WINDOW_S:
            self._recent.popleft()

        quality = health.quality
        if quality is not None and quality != self._quality:
            self._quality, before = quality, {finding.code for finding in self._findings}
            known = Circumstances(self._files, self._unreadable, self._play.passes, self._play.since_pass_s(now_us))
            self._findings = findings_of(quality, self.feed.sheet(), known)
            for finding in self._findings:
                # One that comes and goes would fill the terminal.
                if finding.code not in before and finding.text not in self._logged:
                    self._logged.add(finding.text)
                    log_event(_log, logging.WARNING, "input", self.match, code=finding.code, text=finding.text)

    def quality(self) -> InputQuality:
        """Return the measured quality of the input."""
        return self._quality

    def findings(self) -> tuple[InputFinding, ...]:
        """Return what is wrong with the input, or worth knowing, the gravest first."""
        return self._findings

    def distrust(self) -> str:
        """Return what is wrong with the input, so that its events cannot be relied on; empty if nothing is."""
        return next((finding.text for finding in self._findings if finding.severity == "wrong"), "")

    def has_started(self) -> bool:
        """True once the engine has sent a message, or an earlier run has ended the match."""
        return self._received_s is not None or self.feed.ended()

    def counters(self) -> Mapping[str, int]:
        """Return the counters by name, since the match began; a repeated batch counts once."""
        with self._lock:
            return dict(self._maxima)

    def committed(self, meta: Mapping[str, Any], rows: int, took_s: float) -> None:
        """Count a committed window, and let the feed drop its committed updates and final events."""
        self.feed.settle(int(meta.get("next_seq", 0)), int(meta.get("frontier_us", -(2**62))))
        with self._lock:
            self.commits.count += 1
            self.commits.rows += rows
            self.commits.took.add(round(took_s * 1e6))
            self.commits.error = ""
            self.commits.state_bytes = _newest_state_bytes(self._states)

    def commit_failed(self, error: str) -> None:
        """Count a window that could not be committed."""
        with self._lock:
            self.commits.failed += 1
            self.commits.error = error

    def commit_costs(self) -> tuple[list[tuple[int, int]], int, int]:
        """Return (commits that took no longer than each bound, number of commits, their total time in microseconds)."""
        with self._lock:
            took = self.commits.took
            return took.cumulative(), took.count, took.total_us

    def newest_due_wall_us(self) -> int:
        """Return the wall time at which the newest processed block was due; 0 before the first."""
        return self._due_wall_us

    def behind_s(self) -> float | None:
        """Return the seconds behind the live edge; None if there is none, or no block has arrived yet."""
        if not self._paced or not self._due_wall_us or self.feed.ended():
            return None
        return max(0, self._wall_us() - self._due_wall_us) / 1e6

    def speed(self) -> float | None:
        """Return stream seconds per wall second, over the last ten; None before the second sample or after the end."""
        with self._lock:
            if len(self._recent) < 2 or self.feed.ended():
                return None
            first, last = self._recent[0], self._recent[-1]
            passed_s = self._clock_s() - first.at_s
        return (last.now_us - first.now_us) / 1e6 / passed_s if passed_s > 0 else None

    def problems(self) -> list[str]:
        """Return the reasons why this match is not live, one text each; empty if it is live, or has ended.

        ``docs/operation.md`` explains each text.
        """
        if self.exclusion:
            return [f"broken: {self.exclusion}"]
        try:
            is_full = not self.feed.ended() and shutil.disk_usage(self._states.parent).free < ENOUGH_BYTES
        except OSError as error:
            return [f"the store is failing: {self._states.parent}: {error.strerror or error}"]
        if is_full:
            return ["the store is failing: its disk is full"]
        with self._lock:
            if self.commits.error:
                return [f"the store is failing: {self.commits.error}"]
            if self.feed.ended():
                return []
            now_s = self._clock_s()
            if self._received_s is None:
                return [f"starting: no message from the engine yet, after {now_s - self._began_s:.0f} s"]
            problems = []
            if self.source_trouble:
                problems.append(f"the source cannot be read: {self.source_trouble}")
            if self.publisher is not None and (waits_s := self.publisher.waits_s()) > SILENCE_S:
                waiting = self.publisher.waiting()
                problems.append(f"the broker has acknowledged nothing for {waits_s:.0f} s: {waiting} records wait")
            if self._link is not None and self._was_connected and not self._link.connected_stages():
                problems.append("the engine is restarting")
            if (silent_s := now_s - self._received_s) > SILENCE_S:
                problems.append(f"no data for {silent_s:.0f} s")
            if storm := self._storm(now_s):
                problems.append(storm)
            problems += [f"feed {problem}" for problem in self.feed_problems]
            cameras = self.camera_problems()
            problems += [f"camera {name}: {problem}" for name, problem in cameras.items() if problem]
            problems += [f"input: {finding.text}" for finding in self._findings if finding.severity == "wrong"]
            return problems

    def _storm(self, now_s: float) -> str:
        recent = [sample for sample in self._recent if sample.at_s >= now_s - WINDOW_S]
        if len(recent) < 2:
            return ""
        bad = recent[-1].quarantined - recent[0].quarantined
        records = bad + recent[-1].packets - recent[0].packets
        if bad < STORM_RECORDS or bad < STORM_SHARE * records:
            return ""
        return f"quarantine storm: {bad} of {records} records of the last {WINDOW_S:.0f} s were quarantined"

    def input(self) -> InputState:
        """Return the state of the input, as the page shows it under "Live edge"."""
        findings = tuple(finding.text for finding in self._findings)
        problems = tuple(self.problems())
        return InputState(self.behind_s(), self.records_behind, self.speed(), self.restarts, problems, findings)


class MonitoredCommitter:
    """A :class:`app.pipeline.commits.CommitLog` that reports each commit, and each failure, to the match's monitor.

    Args:
        commits: where windows are committed.
        monitors: the monitor of each match.
    """

    def __init__(self, commits: CommitLog, monitors: Mapping[str, MatchMonitor]) -> None:
        self._commits, self._monitors = commits, monitors

    def offset(self, match: str) -> int:
        """See :class:`app.pipeline.commits.CommitLog`."""
        return self._commits.offset(match)

    def has_ended(self, match: str) -> bool:
        """See :class:`app.pipeline.commits.CommitLog`."""
        return self._commits.has_ended(match)

    def failed(self, match: str, reason: str) -> None:
        """See :class:`app.pipeline.commits.CommitLog`."""
        self._commits.failed(match, reason)

    def commit(self, match: str, start: int, tables: Mapping[str, pa.Table], meta: Mapping[str, Any]) -> None:
        """See :class:`app.pipeline.commits.CommitLog`."""
        monitor, began_s = self._monitors[match], time.perf_counter()
        try:
            self._commits.commit(match, start, tables, meta)
        except Exception as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            monitor.commit_failed(reason)
            log_event(_log, logging.ERROR, "commit failed", match, error=reason)
            raise
        took_s, rows = time.perf_counter() - began_s, {name: len(table) for name, table in tables.items()}
        monitor.committed(meta, sum(rows.values()), took_s)
        figures = {name: meta.get(name) for name in ("epoch", "end_offset", "next_seq", "positions", "late", "lost")}
        log_event(
            _log, logging.INFO, "batch committed", match, took_ms=round(took_s * 1e3, 1),
            state_bytes=monitor.commits.state_bytes, rows=rows, **figures,
        )  # fmt: skip


def _newest_state_bytes(states: Path) -> int:
    newest = max(states.glob("*/*.state"), key=lambda path: int(path.name.partition(".")[0]), default=None)
    try:
        return newest.stat().st_size if newest is not None else 0
    except FileNotFoundError:  # deleted meanwhile
        return 0
