"""The timeline of a stored match: its events with their states, at the end or as believed at an arrival time."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from app.api.answers import Direction, Timeline, TimelineEvent
from dashboard.families import family_of
from dashboard.live import version_of
from dashboard.marks import marks
from football.kind_names import kind_name, variant_name
from football.lifecycle import Entry, Lifecycle
from football.tables import UPDATES
from football.update_stream import UpdateRecord
from replay.match_store import read_commits, read_part, update_records

#: Events of one answer.
EVENTS_MAX: Final = 20_000
#: Choices of updates that stay in memory as records.
_CHOICES_MAX: Final = 6
_FAR_US: Final = 2**62


class TimelineReader:
    """Reads the timeline of one match. Thread safe.

    Args:
        folder: of the store.

    Raises:
        StoreError: not a match store, or damaged; by every method, too.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self.refresh()

    def refresh(self) -> None:
        """Forget what was read: the store has grown."""
        with self._lock:
            self._log: pa.Table | None = None
            self._chosen: OrderedDict[tuple[object, ...], list[UpdateRecord]] = OrderedDict()
            self._commits = [commit for commit in read_commits(self._folder) if not commit.series]

    def bounds_us(self) -> tuple[int, int]:
        """Event time of the first and of the last event; 0 without any."""
        bounds = pc.min_max(self._updates()["ts_us"]).as_py()
        return bounds["min"] or 0, bounds["max"] or 0

    def windows(self) -> int:
        """How many windows are committed."""
        return len(self._commits)

    def ended(self) -> bool:
        """True if the match is over and all of it is committed."""
        return any(commit.meta.ended for commit in self._commits)

    def _directions(self) -> list[Direction]:
        """Which team attacks towards +x, from which event time on."""
        found = self._records(("direction",), None, None, by_kind=True)
        standing: dict[str, UpdateRecord] = {}
        for update in found:
            if update.diff > 0:
                standing[update.event.id] = update
            else:
                standing.pop(update.event.id, None)
        rows = sorted((one.event.ts_us, one.event.team) for one in standing.values())
        return [Direction(ts_us, team) for ts_us, team in rows]

    def read(
        self, families: Sequence[str], arrival_us: int | None, begin_us: int | None, end_us: int | None
    ) -> Timeline:
        """Return the timeline.

        Args:
            families: of kinds that it has.
            arrival_us: only updates that were emitted up to this arrival time; None for all. A state is then confirmed
                by the last window that was committed by that time.
            begin_us, end_us: only events of this stretch of event time, the end excluded.
        """
        updates = self._records(families, begin_us, end_us)
        if arrival_us is not None:
            updates = [one for one in updates if one.emitted_us <= arrival_us]
        lifecycle = Lifecycle(entries_per_group=_FAR_US)
        lifecycle.apply(updates)
        lifecycle.advance(self._frontier_us(arrival_us))
        entries = sorted(
            lifecycle.changes(0, [""]), key=lambda one: (one.record.ts_us, one.record.level, one.record.id)
        )
        rows = [_event(entry) for entry in entries[:EVENTS_MAX]]
        by_family = Lifecycle(family_of, entries_per_group=_FAR_US)
        by_family.apply(one for one in updates if family_of(one.event.kind) in _MARKED)
        by_family.advance(lifecycle.frontier_us)
        strokes = marks(by_family, -_FAR_US)
        return Timeline(lifecycle.frontier_us, len(entries) > EVENTS_MAX, rows, strokes, self._directions())

    def _frontier_us(self, arrival_us: int | None) -> int:
        if arrival_us is None:
            return _FAR_US if self.ended() else max((one.meta.frontier_us for one in self._commits), default=-_FAR_US)
        known = [
            (now_us, commit.meta.frontier_us)
            for commit in self._commits
            if isinstance(now_us := commit.notes.get("now_us"), int)
        ]
        at = bisect_right(known, (arrival_us, _FAR_US))
        return known[at - 1][1] if at else -_FAR_US

    def _updates(self) -> pa.Table:
        with self._lock:
            if self._log is None:
                parts = [read_part(self._folder, one, "updates") for one in self._commits if "updates" in one.parts]
                self._log = pa.concat_tables(parts).sort_by("seq") if parts else UPDATES.empty_table()
            return self._log

    def _records(
        self, names: Sequence[str], begin_us: int | None, end_us: int | None, *, by_kind: bool = False
    ) -> list[UpdateRecord]:
        key = (tuple(names), begin_us, end_us)
        if (known := self._chosen.get(key)) is not None:
            return known
        log = self._updates()
        kinds = pc.unique(log["kind"]).to_pylist()
        chosen = [kind for kind in kinds if (kind if by_kind else family_of(kind)) in names]
        mask = pc.is_in(log["kind"], pa.array(chosen, pa.string()))
        if begin_us is not None:
            mask = pc.and_(mask, pc.greater_equal(log["ts_us"], begin_us))
        if end_us is not None:
            mask = pc.and_(mask, pc.less(log["ts_us"], end_us))
        found = update_records(log.filter(mask))
        with self._lock:
            if self._log is log:  # else the store has grown meanwhile
                self._chosen[key] = found
            if len(self._chosen) > _CHOICES_MAX:
                self._chosen.popitem(last=False)
        return found


#: Families whose events are drawn on the pitch.
_MARKED: Final = ("passes", "shots", "restarts")


def _event(entry: Entry) -> TimelineEvent:
    record = entry.record
    return TimelineEvent(
        record.id,
        record.kind,
        family_of(record.kind),
        kind_name(record.kind),
        record.variant,
        variant_name(record.kind, record.variant),
        record.level,
        record.ts_us,
        record.team,
        record.player,
        str(record.detail.get("receiver") or ""),
        record.x_m,
        record.y_m,
        record.confidence,
        entry.state,
        entry.revision,
        entry.emitted_us,
        entry.changed_us,
        [version_of(one) for one in entry.older],
    )
