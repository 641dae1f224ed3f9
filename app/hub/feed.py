"""Feed of one match in the hub: its update stream, consolidated, for any number of readers.

Readers call from their own threads; a thread of the hub applies messages. Returned values are immutable. Each commit
releases memory: the feed drops committed updates and final events (:meth:`MatchFeed.settle`). Subscribers are called in
the thread that applies messages, so a slow one delays the stage.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec

from app.hub.figures import RunFigures
from app.hub.latency import Histogram
from football.match_sheet import MatchSheet
from football.update_stream import EventRecord, Follower, Health, UpdateMessage, UpdateRecord, View
from replay.match_store import CommitMeta

#: Called in the thread that applies messages, with a message and the updates that changed the view; must be quick.
Subscriber = Callable[[UpdateMessage, Sequence[UpdateRecord]], None]

#: Stages of a message whose latency is measured: ``total`` is from the block's arrival at the source to the hub.
STAGES = ("source", "engine", "lane", "total")


#: Committed updates that the log retains for a log reader that is behind; a reader that is further behind finds a gap,
#: and reads the match store.
RETAINED_MAX = 20_000


class MatchFeed:
    """Follows one match. Implements the feed protocols of the dashboard and the camera."""

    def __init__(self, sheet: MatchSheet) -> None:
        self._sheet = sheet
        self._follower = Follower()
        self._lock = threading.Lock()
        self._log: list[UpdateRecord] = []
        self._log_begin = 0
        self._log_readers: list[Callable[[], int]] = []
        self._figures = RunFigures()
        self._subscribers: list[Subscriber] = []
        self._latency = {stage: Histogram() for stage in STAGES}
        self._cameras: Callable[[], tuple[Any, ...]] = tuple
        self._input: Callable[[], Any] = lambda: None
        self._ended = threading.Event()
        self._view_wall_us = 0
        self.messages = 0

    def apply(self, message: UpdateMessage, hub_wall_us: int) -> None:
        """Applies a message, which reached the hub at ``hub_wall_us``, to the view; then calls the subscribers.

        Raises:
            ValueError: updates are missing between this message and those before it.
        """
        with self._lock:
            applied = self._follower.apply(message)
            self._log.extend(applied)
            self._figures.apply(applied)
            self.messages += 1
            self._measure(message, hub_wall_us)
            if message.view is not None:
                self._view_wall_us = message.due_wall_us
            subscribers = tuple(self._subscribers)
        for subscriber in subscribers:
            subscriber(message, applied)
        if self._follower.ended:
            self._ended.set()

    def seed(
        self, batches: Iterable[tuple[Sequence[UpdateRecord], CommitMeta]], *, ended: bool, view: View | None = None
    ) -> None:
        """Applies what a store has committed, window by window, and settles each.

        Args:
            batches: committed updates in their order from seq 0, each with the data of its commit.
            ended: True if the match is over.
            view: its last positions, where no stage will send any.
        """
        match, last = self._sheet.match_id, None
        for updates, meta in batches:
            now_us = updates[-1].emitted_us if updates else self.now_us()
            last = UpdateMessage(match, max(meta.epoch, self.epoch()), now_us, meta.frontier_us, tuple(updates))
            self.apply(last, 0)
            self.settle(self.next_seq(), meta.frontier_us)
        if last is not None and (ended or view is not None):
            self.apply(msgspec.structs.replace(last, updates=(), ended=ended, view=view), 0)

    def settle(self, seq: int, frontier_us: int) -> None:
        """Drops committed updates, those before ``seq``, that all log readers have read, and events that are final.

        Of committed updates that a log reader has not read, the newest ``RETAINED_MAX`` stay.

        Args:
            seq: number of the first update that is not committed.
            frontier_us: the watermark at the commit.
        """
        with self._lock:
            self._figures.settle(self._follower.settle(seq, frontier_us), frontier_us)
            log_end = self._log_begin + len(self._log)
            end = max(log_end - RETAINED_MAX, min((read() for read in self._log_readers), default=log_end))
            readable = self._log[: max(0, end - self._log_begin)]
            count = next((i for i, update in enumerate(readable) if update.seq >= seq), len(readable))
            del self._log[:count]
            self._log_begin += count

    def retain_from(self, cursor: Callable[[], int]) -> None:
        """Adds a log reader: the log retains the updates after ``cursor()``, the number of updates that it has read.

        The limit of :meth:`settle` applies.
        """
        with self._lock:
            self._log_readers.append(cursor)

    def _measure(self, message: UpdateMessage, hub_wall_us: int) -> None:
        if message.due_wall_us == 0:  # not paced, or read before it was due: there is no arrival to measure from
            return
        self._latency["source"].add(message.stage_wall_us - message.due_wall_us)
        self._latency["engine"].add(message.sent_wall_us - message.stage_wall_us)
        self._latency["lane"].add(hub_wall_us - message.sent_wall_us)
        self._latency["total"].add(hub_wall_us - message.due_wall_us)

    def subscribe(self, subscriber: Subscriber) -> None:
        """Calls ``subscriber`` with every message from now on."""
        with self._lock:
            self._subscribers.append(subscriber)

    @contextmanager
    def subscribed(self, subscriber: Subscriber) -> Iterator[None]:
        """Calls ``subscriber`` with every message while the context lasts."""
        self.subscribe(subscriber)
        try:
            yield
        finally:
            with self._lock:
                self._subscribers.remove(subscriber)

    def provide_cameras(self, poses: Callable[[], tuple[Any, ...]]) -> None:
        """Sets the function that gives the cameras' poses."""
        self._cameras = poses

    def provide_input(self, state: Callable[[], Any]) -> None:
        """Sets the function that returns the state of the input."""
        self._input = state

    def sheet(self) -> MatchSheet:
        """Teams, shirts and pitch."""
        return self._sheet

    def latest_view(self) -> View | None:
        """Newest known positions, None before the first."""
        return self._follower.view

    def view_wall_us(self) -> int:
        """Wall time at which the newest view's block reached the source, 0 if unknown."""
        return self._view_wall_us

    def events(self) -> Mapping[str, EventRecord]:
        """A copy of the asserted events that are not yet settled as final, by event id."""
        with self._lock:
            return dict(self._follower.events)

    def events_since(self, cursor: int) -> tuple[int, Sequence[UpdateRecord]]:
        """The update log after ``cursor`` (0 is its beginning) as far as it is retained, and the new cursor.

        The new cursor less the length of what is returned is ``cursor``, unless updates after it are not retained.
        """
        with self._lock:
            return self._log_begin + len(self._log), self._log[max(0, cursor - self._log_begin) :]

    def retained_log(self) -> tuple[int, int, Sequence[UpdateRecord]]:
        """The cursor at the end of the log, the ``seq`` of the first retained update, and the retained updates."""
        with self._lock:
            begin_seq = self._log[0].seq if self._log else self._follower.next_seq
            return self._log_begin + len(self._log), begin_seq, tuple(self._log)

    def standing_updates(self, since: int, limit: int) -> list[UpdateRecord]:
        """At most ``limit`` updates that stand and are not committed, from number ``since`` on."""
        with self._lock:
            return self._follower.unsettled(since, limit)

    def settled_seq(self) -> int:
        """Number of the first update that is not committed."""
        return self._follower.settled_seq

    def epoch_of(self, seq: int) -> int:
        """Epoch that published the update of a number; -1 if none did."""
        with self._lock:
            return self._follower.epoch_of(seq)

    def valid_until(self, epoch: int) -> int:
        """Number up to which a reader of ``epoch`` still has what stands now."""
        with self._lock:
            return self._follower.valid_until(epoch)

    def update_count(self) -> int:
        """Number of updates that have changed the view so far."""
        return self._log_begin + len(self._log)

    def figures(self) -> dict[str, Any]:
        """Counts of events by kind and state, retractions and detection latency."""
        with self._lock:
            return {
                "events": self._figures.by_kind(),
                "detection_latency_ms": self._figures.detection_latency_ms(),
                "lifecycle": self._figures.states(self._follower.frontier_us),
                "retractions": self._figures.retractions,
            }

    def frontier_us(self) -> int:
        """Event time below which no late packet changes anything."""
        return self._follower.frontier_us

    def now_us(self) -> int:
        """Arrival time of the newest message."""
        return self._follower.now_us

    def next_seq(self) -> int:
        """Number of the next update."""
        return self._follower.next_seq

    def epoch(self) -> int:
        """Epoch of the stage that is followed, -1 before the first message."""
        return self._follower.epoch

    def health(self) -> Health | None:
        """Newest state of the ordering units, None before the first."""
        return self._follower.health

    def latency(self) -> Mapping[str, Mapping[str, float]]:
        """Stage -> p50, p95, p99 in milliseconds; stages without a measurement are left out."""
        with self._lock:
            measured = {stage: h for stage, h in self._latency.items() if h.count}
            return {stage: histogram.percentiles_ms() for stage, histogram in measured.items()}

    def latency_summary(self) -> dict[str, dict[str, float]]:
        """As :meth:`latency`, with counts and maxima."""
        with self._lock:
            return {stage: histogram.summary_ms() for stage, histogram in self._latency.items()}

    def latency_bounds(self) -> dict[str, tuple[list[tuple[int, int]], int, int]]:
        """Stage -> counts below bounds (see ``Histogram.cumulative``), how many there are, and their sum in us."""
        with self._lock:
            return {stage: (h.cumulative(), h.count, h.total_us) for stage, h in self._latency.items() if h.count}

    def cameras(self) -> tuple[Any, ...]:
        """The poses of the cameras."""
        return self._cameras()

    def input(self) -> Any:
        """The state of the input, None where it is not monitored."""
        return self._input()

    def ended(self) -> bool:
        """True once the last message of the match has been applied."""
        return self._ended.is_set()

    def wait_ended(self, timeout_s: float) -> bool:
        """Waits for the last message; False if it does not arrive in time."""
        return self._ended.wait(timeout_s)
