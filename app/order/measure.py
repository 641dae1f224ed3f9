"""Runs a slack policy over an out-of-order file or a capture, and measures the resulting order and times.

The ordering unit of the product runs with the policy, before a detector that passes every event on, with the product's
source progress. Time passes between arrivals: a unit that waits for a time runs at that time, before inputs that arrive
at the same instant.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from math import ceil
from typing import Any

import numpy as np

from middleware.detector import Spec, Step
from middleware.events import BEGINNING_US, END_US, Arrival, Event, Update, canonical_key
from middleware.ordering.policy import UnitSettings
from middleware.ordering.slack.settings import SlackSettings
from middleware.ordering.speculation import FixedAlpha
from middleware.ordering.unit import OrderingUnit
from middleware.sources.delay_bound import ReleaseTarget
from middleware.sources.progress import (
    ProgressSettings,
    SourceProgress,
    Verdict,
)
from replay.formats.ooo_dataset import ROW, Row

#: Allowed lateness of inputs that count: more than any slack, so that policies are compared and not the lateness.
ALLOWED_LATENESS_US = 60_000_000

#: By method: the B that "timed out on arrival" is held against in paper 001's table 5 is that before the policy has
#: learned from the arrival, or that after it. No one rule gives the paper's counts; the profile ``paper`` takes these.
_COUNTED_BEFORE = frozenset({"betta", "bettd"})

_KIND = "ordered"


class PassOn:
    """A detector that publishes each of its inputs."""

    def __init__(self, raw_kinds: tuple[str, ...]) -> None:
        self.spec = Spec("pass_on", "2.1", 2, raw_kinds, (_KIND,))

    def initial(self) -> None:
        """No state."""

    def step(self, state: None, event: Event) -> Step[None]:
        """An event of the same time, source and number."""
        return None, (Event(_KIND, event.ts_us, event.source, event.seq, None, event.id),)


@dataclass
class Ordering:
    """The result of a policy, event by event.

    Attributes:
        left_us, ts_us: of each released event, in that order: time of release, and event time.
        k_us: K or B when the wait of an event was over, for each event. That is when it left, but for one that was
            overtaken: it leaves at once, and paper 001 reads B when it would have left.
        waiting: events in the buffer after each arrival.
        events: accepted; ``out_of_order``: of these, arrived after one of a later event time.
        timeout_late: arrived when their own wait was over already.
        duplicates, lost: not accepted.
    """

    left_us: list[int] = field(default_factory=list)
    ts_us: list[int] = field(default_factory=list)
    k_us: list[int] = field(default_factory=list)
    waiting: list[int] = field(default_factory=list)
    events: int = 0
    out_of_order: int = 0
    timeout_late: int = 0
    duplicates: int = 0
    lost: int = 0

    @property
    def order_late(self) -> int:
        """Events that left after one of a later event time."""
        times = np.array(self.ts_us, np.int64)
        return int(np.sum(times < np.maximum.accumulate(times))) if len(times) else 0

    @property
    def latency_us(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """From event time to leaving, of each event."""
        return np.array(self.left_us, np.int64) - np.array(self.ts_us, np.int64)


class _Measurement:
    """One unit, its clocks and the record of its releases."""

    def __init__(
        self, raw_kinds: tuple[str, ...], slack: SlackSettings, alpha: float, progress: ProgressSettings
    ) -> None:
        self.record = Ordering()
        self._rank = {kind: n for n, kind in enumerate(raw_kinds)}
        self._progress = SourceProgress(raw_kinds, ALLOWED_LATENESS_US, progress)
        at_sources = replace(slack, at_sources=True)
        self._unit = OrderingUnit(PassOn(raw_kinds), UnitSettings(FixedAlpha(alpha), slack=at_sources))
        self._alpha = alpha
        self._by_progress = slack.method in ("progress", "target")
        self._target = slack.followed
        if self._target is not None:
            self._progress.follow(self._target)
        self._by_arrival = self._unit.slack.clock == "arrival"
        self._counts_late_after = self._by_arrival and not (
            slack.profile == "paper" and slack.method in _COUNTED_BEFORE
        )
        self._now_us = self._newest_us = self._left_us = BEGINNING_US
        self._overtaken: list[int] = []

    def push(self, arrivals: Iterable[Arrival], now_us: int) -> None:
        """Take the arrivals of one time, after everything that was due until then."""
        self.pass_time(now_us)
        record = self.record
        late_before = late_after = 0
        accepted = [event for arrival in arrivals if (event := self._accept(arrival, now_us)) is not None]
        for event in accepted:
            late_before += self._is_over(event.ts_us, now_us)
            record.out_of_order += event.ts_us < self._newest_us
            self._newest_us = max(self._newest_us, event.ts_us)
            self._unit.offer(Update(event, 1), canonical_key(event, self._rank))
        self._run(now_us)
        if self._counts_late_after:
            late_after = sum(self._is_over(event.ts_us, now_us) for event in accepted)
        record.events += len(accepted)
        record.timeout_late += late_after if self._counts_late_after else late_before
        record.waiting.append(self._unit.waiting)
        if self._progress.advance_final(now_us):
            self._unit.purge(self._progress.final_us)

    def pass_time(self, until_us: int) -> None:
        """Run the unit at every time up to ``until_us`` at which something is due though nothing arrives."""
        while (self._unit.waiting or self._overtaken) and (due_us := self._due_us()) <= until_us:
            self._run(max(due_us, self._now_us))

    def finish(self) -> Ordering:
        """Let time pass until the buffer is empty; inputs that wait for a clock that has stopped leave at once."""
        self.pass_time(END_US - 1)
        self._run(self._now_us, at_end=True)
        return self.record

    def _accept(self, arrival: Arrival, now_us: int) -> Event | None:
        verdict = self._progress.offer(arrival, now_us)
        self._progress.net_of([])  # what an event is called does not matter here
        if verdict is Verdict.NEW:
            return self._progress.event
        self.record.duplicates += verdict is Verdict.DUPLICATE
        self.record.lost += verdict is not Verdict.DUPLICATE
        return None

    def _is_over(self, ts_us: int, now_us: int) -> bool:
        """True if the wait of an event of ``ts_us`` ended before ``now_us``."""
        if self._by_progress:
            return ts_us <= self._progress_us()
        clock_us = now_us if self._by_arrival else self._unit.clk_us
        return ts_us + self._unit.slack.k_us < clock_us

    def _progress_us(self) -> int:
        progress_us = self._progress.reported_us
        return progress_us if self._target is None else max(progress_us, self._now_us - self._wait_us(self._target))

    def _wait_us(self, target: ReleaseTarget) -> int:
        """How long the rule waits at most for an event of any kind."""
        return max(self._progress.waits_us(target).values())

    def _due_us(self) -> int:
        if self._by_progress:
            due_us = self._progress.next_change_us()
            if self._target is None or not self._unit.waiting:
                return due_us
            return min(due_us, self._unit.oldest_waiting_us + self._wait_us(self._target))
        if not self._by_arrival:
            return END_US
        k_us = self._unit.slack.k_us
        due_us = self._unit.oldest_waiting_us + ceil(self._alpha * k_us)
        return min(due_us, self._overtaken[0] + k_us) if self._overtaken else due_us

    def _run(self, now_us: int, *, at_end: bool = False) -> None:
        self._now_us = now_us
        self._progress.update_progress(now_us)
        unit, record = self._unit, self.record
        progress_us = END_US if at_end else self._progress_us() if self._by_progress else BEGINNING_US
        k_us = unit.slack.k_us
        updates = unit.process((), self._progress.clk_us, progress_us, now_us)
        if unit.slack.learns == "before":
            k_us = unit.slack.k_us
        for update in updates:
            ts_us = update.event.ts_us
            record.left_us.append(now_us)
            record.ts_us.append(ts_us)
            if ts_us < self._left_us and self._by_arrival:
                heappush(self._overtaken, ts_us)
            else:
                record.k_us.append(k_us)
            self._left_us = max(self._left_us, ts_us)
        while self._overtaken and (at_end or self._overtaken[0] + k_us <= now_us):
            heappop(self._overtaken)
            record.k_us.append(k_us)


def order_blocks(
    pushes: Iterable[tuple[int, Iterable[Arrival]]],
    slack: SlackSettings,
    *,
    raw_kinds: tuple[str, ...] = (ROW,),
    alpha: float = 1.0,
    progress: ProgressSettings | None = None,
) -> Ordering:
    """Run a policy over arrivals.

    Args:
        pushes: (arrival time, its arrivals), in order of arrival time.
        slack: the policy.
        raw_kinds: kinds of the arrivals, in canonical rank order.
        alpha: share of the slack to wait.
        progress: patience with sources; for the method ``progress``.
    """
    run = _Measurement(raw_kinds, slack, alpha, progress or ProgressSettings())
    for now_us, arrivals in pushes:
        run.push(arrivals, now_us)
    return run.finish()


def order_rows(rows: Iterable[Row], slack: SlackSettings, **more: Any) -> Ordering:
    """Run a policy over the rows of an out-of-order file, with one push per row."""
    return order_blocks(((row.arrival_us, (row.arrival(),)) for row in rows), slack, **more)
