"""Explains events: each with its causes, thresholds and margins, down to positions.

Theory of operation
-------------------
A match store holds the updates and the capture; it stores nothing else for explanations. The log of updates gives the
event, its history and the ids of its causes. The rest follows from playing the capture once more, with the parameters
and detectors of the match, through units that record what each detector concluded, on which input and in which state
(``middleware.provenance``). Units do not speculate, so the recorded inputs are in order.

Only a stretch around the event and its causes is played. The state of a detector may depend on earlier input (sides,
possession), so the outcome is compared with the log; if it differs, a longer stretch is played, in the end the whole
match up to the event.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from app.explain.tree import Node, Tree, shown
from app.pipeline.pipeline import MatchPipeline, PipelineOptions
from app.settings.resolve import read_stored_settings
from app.sources.registry import source_of_store
from detectors.catalogue import catalogue
from detectors.parameters import Parameters
from detectors.records import RecordMaker
from football.errors import CaptureError, UserError
from football.payloads import Scalar
from football.untrusted import decode_json
from football.update_stream import EventRecord
from middleware.engine import Engine
from middleware.provenance import Conclusion, ConclusionLog
from replay.capture import Capture
from replay.formats.officials import decode
from replay.match_store import updates_log
from replay.official_feed import replayed

#: Times before the first cause at which the stretches begin that are tried.
_LEADS_US = (20_000_000, 60_000_000, 300_000_000, 2**62)

#: Time before and after an event or cause for which positions and inner events are recorded.
_BEFORE_US, _AFTER_US = 2_000_000, 1_500_000

#: Played on after the last update of the event, so that all before it is final.
_ON_US = 4_000_000

#: Limit of the similar ids named for an unknown one.
_NEAR_MAX = 5


class ExplainError(UserError, ValueError):
    """An event that cannot be explained; the message has the reason."""


class HistoryEntry(msgspec.Struct, frozen=True):
    """A line of an event's history.

    Attributes:
        now_us: arrival time at which it was emitted.
        what: ``asserted``, ``withdrawn`` or ``amended``.
        changed: field -> (before, after) of an amendment.
        packets: number of packets that had just arrived; ``oldest`` of them, with its event time.
        officials: lines of officials that had just arrived.
    """

    now_us: int
    what: str
    changed: dict[str, tuple[Any, Any]] = {}
    packets: int = 0
    oldest: str = ""
    oldest_us: int = 0
    officials: tuple[str, ...] = ()


class Explanation(msgspec.Struct, frozen=True):
    """An explanation: the tree, the history, notes about missing parts, and from when to when the match was played."""

    event: Node
    history: tuple[HistoryEntry, ...]
    notes: tuple[str, ...]
    played_us: tuple[int, int] | None = None


class Played(NamedTuple):
    """A stretch of the match played once more: conclusions by name, what makes their records, and from when to when."""

    conclusions: dict[str, list[Conclusion]]
    records: RecordMaker | None
    span_us: tuple[int, int] | None


class Log:
    """The updates of a store by id.

    Args:
        folder: of the store.
    """

    def __init__(self, folder: Path) -> None:
        self._table = updates_log(folder)
        self._folder = folder
        self._rows: dict[str, list[int]] = {}
        for row, name in enumerate(self._table["id"].to_pylist()):
            self._rows.setdefault(name, []).append(row)

    def need(self, name: str) -> None:
        """Refuse an id without updates.

        Raises:
            ExplainError: names similar ids.
        """
        if name in self._rows:
            return
        begin_so = sorted(known for known in self._rows if known.startswith(name))
        near = begin_so or get_close_matches(name, self._rows, _NEAR_MAX, 0.7)
        message = f"{name}: no event of that id in {self._folder}"
        if not near:
            raise ExplainError(f"{message}; `touchline events` lists all")
        more = len(near) - _NEAR_MAX
        rest = f" and {more} more" if more > 0 else ""
        how = "ids that begin so" if begin_so else "near it"
        raise ExplainError(f"{message}; {how}: {', '.join(near[:_NEAR_MAX])}{rest}")

    def updates(self, name: str) -> list[dict[str, Any]]:
        """All updates of an event, in order."""
        rows = self._table.take(pa.array(self._rows.get(name, []), pa.int64()))
        return rows.to_pylist()

    def last(self, name: str) -> EventRecord | None:
        """The last assertion of an event."""
        assertions = [update for update in self.updates(name) if update["diff"] > 0]
        return _record(assertions[-1]) if assertions else None

    def stands(self, name: str) -> bool:
        """True if the event stands in the end."""
        return sum(update["diff"] for update in self.updates(name)) > 0

    def with_causes(self, name: str) -> dict[str, EventRecord]:
        """The event and all its causes in the log, by id."""
        records: dict[str, EventRecord] = {}
        left = [name]
        while left:
            if (one := left.pop()) not in records and (record := self.last(one)) is not None:
                records[one] = record
                left.extend(record.causes)
        return records

    def span_us(self, names: Sequence[str]) -> tuple[int, int]:
        """Arrival times of the first and the last update of some events."""
        rows = pa.array([row for name in names for row in self._rows.get(name, [])], pa.int64())
        times = pc.min_max(self._table["emitted_us"].take(rows)).as_py()
        return times["min"], times["max"]


def explain(folder: Path, name: str, progress: Callable[[str], None] = lambda text: None) -> Explanation:
    """Explains an event of a match store.

    Args:
        folder: of the store.
        name: the event's id.
        progress: gets a message at each stage.

    Raises:
        ExplainError: there is no such event.
        StoreError, ParametersError: the store cannot be used.
    """
    log = Log(folder)
    log.need(name)
    stored = read_stored_settings(folder) or {}
    parameters: Parameters = stored.get("parameters", Parameters())
    known = log.with_causes(name)
    notes: list[str] = []
    capture = _capture(folder, notes)
    played = Played({}, None, None)
    if not log.stands(name):
        notes.append("It was withdrawn and does not stand: its causes come from the log; `touchline trace` plays it")
    elif capture is not None:
        extra, lateness_ms = tuple(stored["detectors"]), round(stored["allowed_lateness_s"] * 1_000)
        options = PipelineOptions(
            alpha=1.0, allowed_lateness_ms=lateness_ms, parameters=parameters, extra=extra, patterns=stored["patterns"]
        )
        standing = {one: record for one, record in known.items() if log.stands(one)}
        notes += _without_unknown(standing, parameters, stored["patterns"])
        played = _play(capture, options, log, standing, notes, progress)
    tree = Tree(known, parameters, played.conclusions, played.records)
    return Explanation(tree.node(name), tuple(_history(log.updates(name), capture)), tuple(notes), played.span_us)


def _without_unknown(standing: dict[str, EventRecord], parameters: Parameters, patterns: Iterable[str]) -> list[str]:
    """Leave out events of detectors that this program lacks, such as a user's own; return notes about them."""
    kinds = {kind for entry in catalogue(parameters) for kind in entry.outputs}
    kinds |= {f"pattern.{name}" for name in patterns}
    unknown = sorted({record.kind for record in standing.values()} - kinds)
    for name in [name for name, record in standing.items() if record.kind in unknown]:
        del standing[name]
    return [
        f"{kind} is of a detector that this program does not have: its causes come from the log" for kind in unknown
    ]


def _capture(folder: Path, notes: list[str]) -> Capture | None:
    """The capture of the match, if it exists and is the match's: that of a topic is for warming up only."""
    missing = "explained from the log, without margins and positions"
    source = (read_stored_settings(folder) or {}).get("source", "its source")
    if not source_of_store(folder).has_recording:
        notes.append(f"The match was read from {source}, which is not read again: {missing}")
        return None
    try:
        return Capture.open(folder)
    except CaptureError as error:
        notes.append(f"The capture of {source} is missing ({error}): {missing}")
        return None


def _play(
    capture: Capture,
    options: PipelineOptions,
    log: Log,
    standing: Mapping[str, EventRecord],
    notes: list[str],
    progress: Callable[[str], None],
) -> Played:
    """Play longer and longer stretches until one agrees with the log."""
    if not standing:
        return Played({}, None, None)
    first_us, last_us = log.span_us(list(standing))
    windows = _windows(sorted(record.ts_us for record in standing.values()))
    for lead_us in _LEADS_US:
        begin_us = max(capture.begin_us, first_us - lead_us)
        progress(f"Playing {begin_us / 1e6:.0f} s to {last_us / 1e6:.0f} s once more")
        log = ConclusionLog(lambda event: event.id in standing or _within(event.ts_us, windows))
        records = _replay(capture, begin_us, last_us + _ON_US, options, log)
        differs = [name for name, record in standing.items() if shown(log.conclusions.get(name), records) != record]
        if not differs or begin_us == capture.begin_us:
            break
    if differs:
        some = ", ".join(differs[:_NEAR_MAX])
        notes.append(f"Played once more, these do not come out as the store has them: {some}")
    return Played(log.conclusions, records, (begin_us, last_us))


def _replay(
    capture: Capture, begin_us: int, until_us: int, options: PipelineOptions, log: ConclusionLog
) -> RecordMaker:
    """Push a stretch of the capture; returns what makes the records of its events."""
    pipeline = MatchPipeline(capture.sheet, options, make_engine=partial(Engine, make_unit=log.unit))
    end_us = min(until_us, capture.readable_us)
    blocks = replayed(capture.path.parent, capture.payloads(begin_us, end_us), begin_us, end_us)
    for arrival_us, payload in blocks:
        pipeline.push(payload, arrival_us)
    pipeline.finish()
    return pipeline.records


def _windows(times_us: Sequence[int]) -> list[tuple[int, int]]:
    """Stretches of event time around instants; touching ones are merged."""
    windows: list[tuple[int, int]] = []
    for ts_us in times_us:
        begin_us, end_us = ts_us - _BEFORE_US, ts_us + _AFTER_US
        if windows and begin_us <= windows[-1][1]:
            begin_us = windows.pop()[0]
        windows.append((begin_us, end_us))
    return windows


def _within(ts_us: int, windows: Sequence[tuple[int, int]]) -> bool:
    at = bisect_right(windows, (ts_us, 2**62)) - 1
    return at >= 0 and ts_us <= windows[at][1]


def _record(row: Mapping[str, Any]) -> EventRecord:
    fields = {name: row[name] for name in EventRecord.__struct_fields__}
    detail = decode_json(row["detail"], dict[str, Scalar])
    return EventRecord(**{**fields, "causes": tuple(row["causes"]), "detail": detail})


def _history(updates: Sequence[Mapping[str, Any]], capture: Capture | None) -> Iterator[HistoryEntry]:
    """The history of an event: a withdrawal and an assertion at one instant are an amendment."""
    standing: Mapping[str, Any] | None = None
    for at, update in enumerate(updates):
        following = updates[at + 1] if at + 1 < len(updates) else None
        now_us = update["emitted_us"]
        if update["diff"] < 0:
            if following is not None and following["diff"] > 0 and following["emitted_us"] == now_us:
                continue
            standing = None
            yield _entry(now_us, "withdrawn", {}, capture)
            continue
        before = standing if at and updates[at - 1]["emitted_us"] == now_us else None
        standing = update
        if before is None:
            yield _entry(now_us, "asserted", {}, capture)
        else:
            yield _entry(now_us, "amended", _changes(_record(before), _record(update)), capture)


def _changes(before: EventRecord, after: EventRecord) -> dict[str, tuple[Any, Any]]:
    fields = {name: (getattr(before, name), getattr(after, name)) for name in EventRecord.__struct_fields__}
    fields |= {f"detail.{k}": (before.detail.get(k), after.detail.get(k)) for k in {*before.detail, *after.detail}}
    del fields["detail"]
    return {name: pair for name, pair in sorted(fields.items()) if pair[0] != pair[1]}


def _entry(now_us: int, what: str, changed: dict[str, tuple[Any, Any]], capture: Capture | None) -> HistoryEntry:
    """An entry with the packets that had just arrived."""
    if capture is None or now_us >= capture.readable_us:
        return HistoryEntry(now_us, what, changed)
    packets = [packet for block in capture.blocks(now_us, now_us + 1) for packet in block.packets]
    decided = replayed(capture.path.parent, iter(()), now_us, now_us + 1)
    officials = tuple(decode(line).text for _, line in decided)
    if not packets:
        return HistoryEntry(now_us, what, changed, officials=officials)
    oldest = min(packets, key=lambda packet: packet.ts_us[0])
    name = f"{oldest.transmitter}:{oldest.sequence}"
    return HistoryEntry(now_us, what, changed, len(packets), name, oldest.ts_us[0], officials)
