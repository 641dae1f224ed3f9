"""Plays a stretch of a stored match twice, as it was recorded and with a change, and compares the events.

Theory of operation
-------------------
Both sides play the same packets from :data:`app.what_if.change.LEAD_US` before the stretch, so that the detectors know
their past, and nothing but the change differs. Two ways:

* If the change is about values only (thresholds, detectors, objects moved or removed), inputs are folded once in order:
  by the law the engine comes to the same events, and folding is several times as fast.
* If it is about time (alpha, slack, a delay), the engine takes each block of the stretch when it arrives; what lies
  before is folded, too, since neither side changes it. The events differ where a delay goes beyond the allowed
  lateness; else only what was reported early, and withdrawn, differs.

A finished match keeps no snapshots, so none is restored. The unchanged side of a stretch stays in memory for the next
change; it may be played ahead, both ways, while somebody still thinks about the first change.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any, Final, NamedTuple

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from app.pipeline.pipeline import MatchPipeline, PipelineOptions
from app.settings.resolve import read_stored_settings
from app.settings.slack import fixed, parse_slack
from app.sources.interface import TimedBlock
from app.sources.registry import source_of_store
from app.what_if.change import LEAD_US, Change, WhatIfError, altered, check, check_stretch, with_thresholds
from dashboard.families import family_of
from detectors.parameters import Parameters
from football.errors import CaptureError
from football.kind_names import kind_name, variant_name
from football.update_stream import UpdateRecord
from replay import wire
from replay.capture import Capture
from replay.event_list import consolidated_events, standing_events
from replay.match_store import updates_table
from replay.official_feed import replayed
from replay.scoring.changes import compare

#: Blocks that are folded together; unchanged sides in memory; wall seconds after which a request is given up.
_TOGETHER: Final = 250
_KNOWN_MAX: Final = 4
DEADLINE_S: Final = 120.0
#: Arrival time after the stretch in which its events may still be amended.
_AFTER_US: Final = 8_000_000
_LATE_US: Final = 3_000_000
_NEVER_US: Final = 2**62


class Side(msgspec.Struct, frozen=True):
    """Figures of one side, of the events of the stretch.

    Attributes:
        events: number that stands at the end.
        updates, withdrawn: number of updates, and of those that took an event back.
        delay_ms: median arrival time from an event to its first report; None of a side that was folded in order.
    """

    events: int
    updates: int
    withdrawn: int
    delay_ms: float | None


class Difference(msgspec.Struct, frozen=True):
    """An event that differs.

    Attributes:
        change: ``gone``, ``new``, ``moved`` (in time) or ``altered``.
        kind, family, title, team, player: of the event.
        before_us, now_us: its event time on each side; None where it is missing.
        before_variety, now_variety: its variant in words; None where it is missing.
        before_id, now_id: the same.
        altered: names of the fields that differ.
    """

    change: str
    kind: str
    family: str
    title: str
    team: str
    player: str
    before_us: int | None
    now_us: int | None
    before_variety: str | None
    now_variety: str | None
    before_id: str | None
    now_id: str | None
    altered: list[str]


class Outcome(msgspec.Struct, frozen=True):
    """Result of a change.

    Attributes:
        before, now: figures of the unchanged and of the changed side.
        kept: number of events that are the same on both.
        differences: in order of time.
        as_stored: share of the unchanged side's events that the store has, too: below 1 where detectors would need a
            longer past than was played.
        lead_us: what was played before the stretch.
        took_s: wall seconds.
    """

    before: Side
    now: Side
    kept: int
    differences: list[Difference]
    as_stored: float
    lead_us: int
    took_s: float


class Stretch(NamedTuple):
    """Key of an unchanged side: its event time, and whether each block is taken when it arrives."""

    begin_us: int
    end_us: int
    in_time: bool


class SupersededError(Exception):
    """A stretch is no longer needed ahead: something else is to be played."""


class _Played(NamedTuple):
    """Updates of a side, and its events of the stretch."""

    side: Side
    events: pa.Table


class WhatIf:
    """Plays changes of one match.

    Args:
        folder: of the match store.

    Raises:
        WhatIfError: the store has no packets.
        StoreError, ParametersError: the store cannot be used.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        if not source_of_store(folder).has_recording:
            raise WhatIfError("the match came out of a topic, so its store has no packets to play again")
        try:
            self._capture = Capture.open(folder)
        except CaptureError as error:
            raise WhatIfError(f"the capture is missing: {error}") from error
        stored = read_stored_settings(folder) or {}
        self._parameters: Parameters = stored.get("parameters", Parameters())
        self._options = PipelineOptions(
            slack=parse_slack(stored.get("slack", "")),
            allowed_lateness_ms=round(1_000 * stored.get("allowed_lateness_s", 3.0)), parameters=self._parameters,
            extra=tuple(stored.get("detectors", ())), patterns=stored.get("patterns", {}),
        )  # fmt: skip
        alpha = stored.get("alpha")
        #: A match that followed the load had none of its own: it is played as on an idle machine.
        self._alpha = float(alpha) if isinstance(alpha, int | float) else 0.0
        self._known: OrderedDict[Stretch, _Played] = OrderedDict()

    def play_ahead(self, begin_us: int, end_us: int, is_needed: Callable[[Stretch], bool]) -> Side:
        """Play the unchanged side of a stretch, so that its first change waits for its own side only.

        The stretch is folded first, since most changes need no more, and then played block by block.

        Args:
            begin_us, end_us: stretch of event time.
            is_needed: asked again and again; False gives up.

        Returns:
            Figures of the stretch, block by block.

        Raises:
            SupersededError: ``is_needed`` said so.
            WhatIfError: the stretch is too long, or takes too long.
        """
        check_stretch(begin_us, end_us)
        ways = (Stretch(begin_us, end_us, in_time=False), Stretch(begin_us, end_us, in_time=True))
        for stretch in ways:

            def check_need(stretch: Stretch = stretch) -> None:
                if not is_needed(stretch):
                    raise SupersededError

            check_need()
            self._unchanged(stretch, time.monotonic(), check_need)
        return self._known[ways[-1]].side

    def play(self, change: Change, progress: Callable[[str], None] = lambda text: None) -> Outcome:
        """Play a stretch with a change, and compare.

        Raises:
            WhatIfError: the change cannot be made, or takes too long.
            ParametersError: a threshold has no such value.
        """
        began_s = time.monotonic()
        check(change, self._capture.sheet)
        alpha = self._alpha if change.alpha is None else change.alpha
        options = replace(
            self._options, alpha=alpha,
            slack=self._options.slack if change.slack_ms is None else fixed(change.slack_ms),
            parameters=with_thresholds(self._parameters, change.thresholds),
            extra=tuple(sorted({*self._options.extra, *change.detectors})),
        )  # fmt: skip
        stretch = stretch_of(change)
        if stretch not in self._known:
            progress("Playing the stretch as it was recorded")
        before = self._unchanged(stretch, began_s)
        progress("Playing the stretch with the change")
        now = self._side(stretch, options, began_s, change)
        counts, rows = compare("", before.events, now.events)
        kept = sum(one.kept - one.altered for one in counts.values()) + sum(
            row["change"] == "moved" and bool(row["altered"]) for row in rows.to_pylist()
        )
        return Outcome(
            before.side, now.side, kept, [_difference(row) for row in rows.to_pylist()],
            self._as_stored(before.events, change), min(LEAD_US, change.begin_us - self._capture.begin_us),
            round(time.monotonic() - began_s, 3),
        )  # fmt: skip

    def _unchanged(self, stretch: Stretch, began_s: float, check_need: Callable[[], None] = lambda: None) -> _Played:
        if stretch not in self._known:
            options = replace(self._options, alpha=self._alpha)
            self._known[stretch] = self._side(stretch, options, began_s, None, check_need)
            if len(self._known) > _KNOWN_MAX:
                self._known.popitem(last=False)
        self._known.move_to_end(stretch)
        return self._known[stretch]

    def _side(
        self,
        stretch: Stretch,
        options: PipelineOptions,
        began_s: float,
        change: Change | None,
        check_need: Callable[[], None] = lambda: None,
    ) -> _Played:
        pipeline, updates = MatchPipeline(self._capture.sheet, options), list[UpdateRecord]()
        in_time_us = stretch.begin_us - self._late_us() if stretch.in_time else _NEVER_US
        for message in _pushed(pipeline, self._blocks(stretch, change), self._late_us(), in_time_us):
            updates += message
            check_need()
            if time.monotonic() - began_s > DEADLINE_S:
                raise WhatIfError(f"not done after {DEADLINE_S:.0f} s: choose a shorter stretch")
        updates += pipeline.finish().updates
        mine = [one for one in updates if stretch.begin_us <= one.event.ts_us < stretch.end_us]
        events = standing_events(updates_table(mine, 0), 2**62, ended=True)
        withdrawn = sum(one.diff < 0 for one in mine)
        return _Played(Side(len(events), len(mine), withdrawn, _delay_ms(mine) if stretch.in_time else None), events)

    def _blocks(self, stretch: Stretch, change: Change | None) -> Iterator[tuple[int, bytes]]:
        """Encoded blocks of the stretch, of its lead and of what follows, with the lines of officials."""
        capture = self._capture
        begin_us = max(capture.begin_us, stretch.begin_us - LEAD_US)
        end_us = min(stretch.end_us + self._late_us() + _AFTER_US, capture.readable_us)
        if change is not None and change.alters_packets:
            found = altered(capture.blocks(begin_us, end_us), change, framed=capture.sheet.quality.framed)
            blocks = ((block.arrival_us, wire.encode(block)) for block in found)
        else:
            blocks = capture.payloads(begin_us, end_us)
        return replayed(self._folder, blocks, begin_us, end_us)

    def _late_us(self) -> int:
        late_us = self._capture.late_most_us
        return _LATE_US if late_us is None else late_us

    def _as_stored(self, events: pa.Table, change: Change) -> float:
        """Share of the events of a side that the store has, too."""
        stored = consolidated_events(self._folder)
        times = stored["ts_us"]
        inside = pc.and_(pc.greater_equal(times, change.begin_us), pc.less(times, change.end_us))
        known = set(stored.filter(inside)["id"].to_pylist())
        found = events["id"].to_pylist()
        return round(sum(one in known for one in found) / len(found), 4) if found else 1.0


def stretch_of(change: Change) -> Stretch:
    """Return the unchanged side that a change is compared with."""
    return Stretch(change.begin_us, change.end_us, change.in_time)


def _pushed(
    pipeline: MatchPipeline, blocks: Iterator[tuple[int, bytes]], late_us: int, in_time_us: int
) -> Iterator[tuple[UpdateRecord, ...]]:
    """Push blocks; yield the updates. Blocks before ``in_time_us`` are pushed together, to be folded in order.

    ``late_us`` is the greatest lateness of an input.
    """
    portion: list[TimedBlock] = []
    for arrival_us, payload in blocks:
        portion.append((arrival_us, 0, payload))
        if arrival_us >= in_time_us or len(portion) == _TOGETHER:
            message = pipeline.push_together(portion, None if arrival_us >= in_time_us else arrival_us - late_us)
            portion = []
            yield message.updates if message is not None else ()
    if portion:
        message = pipeline.push_together(portion)
        yield message.updates if message is not None else ()


def _delay_ms(updates: list[UpdateRecord]) -> float | None:
    """Median time from an event to its first report."""
    first: dict[str, int] = {}
    for one in updates:
        if one.diff > 0:
            first.setdefault(one.event.id, one.emitted_us - one.event.ts_us)
    return round(median(first.values()) / 1e3, 1) if first else None


def _difference(row: dict[str, Any]) -> Difference:
    names = {"before_us": "recorded_us", "before_id": "recorded_id"}
    kind, sides = row["kind"], (row["recorded_variant"], row["now_variant"])
    before, now = (None if variant is None else variant_name(kind, variant) for variant in sides)
    named = {"family": family_of(kind), "title": kind_name(kind), "before_variety": before, "now_variety": now}
    row = {**row, **named}
    return Difference(**{name: row[names.get(name, name)] for name in Difference.__struct_fields__})
