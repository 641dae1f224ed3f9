"""The two ends of the hierarchy as parts: the gate, which admits raw events, and the sink, which publishes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from middleware.events import BEGINNING_US, END_US, Arrival, Loss, Update
from middleware.hierarchy import Hierarchy
from middleware.isolation import Report
from middleware.nodes.messages import GATE, SINK, Statement
from middleware.nodes.part import PartBase
from middleware.ordering.policy import EngineSettings
from middleware.publisher import Publisher
from middleware.sources.delay_bound import waited_out
from middleware.sources.progress import SourceProgress, Verdict


class Gate(PartBase):
    """Judges arrivals (new, duplicate or lost), and states clock, source progress and final for all nodes.

    One gate judges all arrivals of a match, so whether an input counts is decided once, whatever the nodes do.

    Args:
        hierarchy: has the raw kinds.
        settings: allowed lateness, and how long sources are waited for.
        state_every_us: least arrival time between two statements; 0 states after each push. Between them the nodes get
            the clock only. Every part answers a statement, so they are a part of the traffic.

    Attributes:
        lost: lost arrivals, each with the reason, since the host took them.
        offset: of the input, as the host counts: where a restart goes on.
        duplicates: proven copies; ``losses``: all lost arrivals, ``differing``: those of which another copy counts.
        count: of the updates that were admitted since the beginning.
        admitted: updates of raw events that were not emitted yet.
    """

    def __init__(self, hierarchy: Hierarchy, settings: EngineSettings, state_every_us: int) -> None:
        super().__init__(GATE, hierarchy.raw_kinds)
        self._state_every_us, self._stated_us, self._now_us = state_every_us, BEGINNING_US, BEGINNING_US
        self.progress = SourceProgress(hierarchy.raw_kinds, settings.allowed_lateness_us, settings.progress)
        self._target = settings.unit.slack.followed
        if self._target is not None:
            self.progress.follow(self._target)
        self.lost: list[Loss] = []
        self.offset = self.duplicates = self.count = self.losses = self.differing = 0
        self.admitted: list[Update] = []
        self._is_new = False

    def push(self, arrivals: Iterable[Arrival], now_us: int) -> list[Update]:
        """Admit what arrived at ``now_us`` (arrival time), as an engine does; return the updates of raw events."""
        progress = self.progress
        new = []
        for arrival in arrivals:
            verdict = progress.offer(arrival, now_us)
            if verdict is Verdict.NEW:
                new.append(progress.event)
            elif verdict is Verdict.DUPLICATE:
                self.duplicates += 1
            else:
                self.losses += 1
                self.differing += verdict is Verdict.COPY_DIFFERS
                self.lost.append(progress.loss_of(arrival, verdict))
        progress.update_progress(now_us)
        if progress.advance_final(now_us):
            progress.forget(now_us)
        asserted, withdrawn = progress.net_of(new)
        updates = [*(Update(event, -1) for event in withdrawn), *(Update(event, 1) for event in asserted)]
        self.admitted += updates
        self.count += len(updates)
        self._is_new, self._now_us = True, now_us
        return updates

    def end(self) -> None:
        """End the stream: everything is final."""
        self.progress.end()
        self._is_new = True

    def statement(self) -> Statement | None:
        """Return the next statement; None if nothing was pushed since the last one, or that was just now."""
        progress = self.progress
        if not self._is_new or (self._now_us - self._stated_us < self._state_every_us and progress.final_us != END_US):
            return None
        self._is_new, self._stated_us = False, self._now_us
        known = progress.progress_us
        if self._target is not None:
            known = waited_out(known, progress.waits_us(self._target), self._now_us)
        return Statement(self.reached + 1, progress.clk_us, tuple(known.items()), progress.final_us)

    def process(self, statement: Statement | None, clk_us: int, now_us: int) -> list[Update]:
        """Return the admitted updates, which the new statement covers."""
        if statement is not None:
            self.reached, self.final_us = statement.number, statement.final_us
        updates, self.admitted = self.admitted, []
        return updates

    def state(self) -> dict[str, Any]:
        """Return what must survive a restart."""
        counts = self.offset, self.duplicates, self.count, self.losses, self.differing
        return {**super().state(), "gate": (self.progress, self.lost, *counts)}

    def resume(self, state: Mapping[str, Any]) -> None:
        """Continue from what :meth:`state` returned."""
        super().resume(state)
        self.progress, self.lost, *counts = state["gate"]
        self.offset, self.duplicates, self.count, self.losses, self.differing = counts


class Sink(PartBase):
    """Publishes the sparse events of all parts (:mod:`middleware.publisher`).

    Attributes:
        published: updates since the host took them.
        watched: the same of the internal kinds that the host reads, for views; the publisher does not see them.
        count: of the published updates since the beginning.
        watermark_us: event time below which nothing that is published changes any more.
    """

    def __init__(self, hierarchy: Hierarchy, report: Report) -> None:
        super().__init__(SINK, ())
        self._publisher = Publisher(hierarchy.rank, hierarchy.amendable)
        self._max_lag_us, self._report = hierarchy.max_lag_us, report
        self._internal = hierarchy.internal
        self.published: list[Update] = []
        self.watched: list[Update] = []
        self.count = 0
        self.watermark_us = BEGINNING_US

    def process(self, statement: Statement | None, clk_us: int, now_us: int) -> list[Update]:
        """Publish the inputs."""
        updates: list[Update] = []
        for update, _ in self.inputs:
            (self.watched if update.event.kind in self._internal else updates).append(update)
        self.inputs.clear()
        published = self._publisher.publish(updates, self._report)
        self.published += published
        self.count += len(published)
        if statement is not None:
            final_us = statement.final_us
            if final_us > self.final_us:
                self.watermark_us = END_US if final_us == END_US else final_us - self._max_lag_us
                self._publisher.forget(self.watermark_us)
            self.reached, self.final_us = statement.number, final_us
        return []

    def state(self) -> dict[str, Any]:
        """Return what must survive a restart."""
        return {**super().state(), "sink": (self._publisher.state(), self.count, self.watermark_us)}

    def resume(self, state: Mapping[str, Any]) -> None:
        """Continue from what :meth:`state` returned."""
        super().resume(state)
        publisher, self.count, self.watermark_us = state["sink"]
        self._publisher.resume(publisher)
