"""Decisions about a match that has ended: a new window of its store, with what they change.

Theory of operation
-------------------
The engine of a match that is over has gone, and playing ninety minutes again for a decision would take minutes. But
only few detectors read decisions, and their other inputs are events of the store. So these detectors are folded twice
over the sorted events of the store, as ``middleware.oracle`` does it: once as they are, once with the decisions in
their place. What differs is what the decisions change. A void or a correction of an event of another detector changes
that event only, as the publisher would.

Every decision has its place: just after the time that it is about, or after the event that it is about. Where
several are about one instant, the one entered last counts.

An event of these detectors that they do not conclude again, because another version of the program made the store,
changes only by a void or a correction of itself.

The window is committed like any other, so every reader of the store sees it. A decision that is in the file and in no
window, because the process died between the two, is made up for by the next one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import msgspec

from app.officials.undoing import ABOUT_ONE
from app.pipeline.folder import locked
from app.settings.resolve import read_stored_settings
from detectors.catalogue import build_detectors
from detectors.parameters import Parameters
from detectors.records import RecordMaker
from detectors.signals.official import KINDS, correction_of
from football.match_sheet import MatchSheet, Team
from football.officials import Official
from football.packets import RAW_KINDS
from football.payloads import EventPayload
from football.update_stream import EventRecord, UpdateMessage, UpdateRecord
from middleware.events import Event
from middleware.hierarchy import Hierarchy
from middleware.oracle import published
from replay.decision_log import EnteredDecision, enter_decisions, entered_decisions
from replay.formats.officials import DecisionFields, OfficialError, OfficialLine, read
from replay.match_store import (
    MatchStore,
    StoreError,
    read_newest_commit,
    update_records,
    updates_log,
    updates_table,
)

#: Detectors that conclude from decisions and need no positions.
_READERS: Final = ("official", "goal", "goal_confirmation", "key_pass", "players_on_pitch", "overruled")

#: Fields of a decision that its event has in its detail.
_FIELDS: Final = ("at_us", "other", "minutes", "event", "note", "right_kind", "right_variant", "right_us")


def decide_after_the_end(folder: Path, lines: Sequence[DecisionFields]) -> tuple[list[EnteredDecision], UpdateMessage]:
    """Enter decisions about a match that has ended, and commit what they change as a new window of its store.

    Args:
        folder: of the match store.
        lines: the decisions; a decision without a time is about the end.

    Returns:
        The decisions with their numbers, and the new updates.

    Raises:
        OfficialError: one of them cannot be.
        StoreError: the folder is no match store, another process uses it, or the match has not ended.
    """
    with locked(folder):
        commit = read_newest_commit(folder)
        if commit is None or not commit.meta.ended:
            raise StoreError(f"{folder}: the match has not ended")
        log = update_records(updates_log(folder))
        now_us = _number(commit.notes, "now_us", log[-1].emitted_us if log else 0) + 1
        store = MatchStore.open(folder)
        entered = enter_decisions(folder, lines)
        known = {one.event.id for one in log}
        decisions = [one for one in entered_decisions(folder) if one.id not in known]
        found = _Changes(store.sheet, _parameters(folder), log).of(_officials(decisions, store.sheet, now_us))
        updates = tuple(
            UpdateRecord(seq, diff, now_us, record)
            for seq, (diff, record) in enumerate(found, log[-1].seq + 1 if log else 0)
        )
        meta = commit.meta
        notes = {**commit.notes, "now_us": now_us, "next_seq": updates[-1].seq + 1 if updates else 0}
        tables = {"updates": updates_table(updates, meta.epoch)}
        store.commit(store.last_window + 1, tables, {**notes, **msgspec.structs.asdict(meta)})
    message = UpdateMessage(store.sheet.match_id, meta.epoch, now_us, meta.frontier_us, updates, ended=True)
    return entered, message


def _number(notes: object, name: str, default: int) -> int:
    value = notes.get(name) if isinstance(notes, dict) else None
    return value if isinstance(value, int) else default


def _parameters(folder: Path) -> Parameters:
    stored = (read_stored_settings(folder) or {}).get("parameters")
    return stored if isinstance(stored, Parameters) else Parameters()


def _officials(decisions: Iterable[EnteredDecision], sheet: MatchSheet, now_us: int) -> list[Official]:
    """Return the decisions as the detectors read them; those that cannot be are left out, as quarantine does."""
    found: list[Official] = []
    for one in decisions:
        line = OfficialLine(one.by, one.number, msgspec.json.encode(one.decision).decode())
        try:
            found.append(read(line, sheet, now_us))
        except OfficialError:
            continue
    return found


class _Changes:
    """Finds the differences that decisions make in the events of a match.

    Args:
        sheet: of the match.
        parameters: of its detectors.
        log: its updates.
    """

    def __init__(self, sheet: MatchSheet, parameters: Parameters, log: Sequence[UpdateRecord]) -> None:
        every = build_detectors(sheet, parameters)
        readers = [detector for detector in every if detector.spec.name in _READERS]
        self._given = {kind for detector in readers for kind in detector.spec.outputs}
        raw = {kind for detector in readers for kind in detector.spec.inputs} - self._given
        self._hierarchy = Hierarchy(sorted(raw), readers)
        self._records = RecordMaker(every, sheet, Hierarchy(RAW_KINDS, every).lag_us)
        self._standing: dict[str, EventRecord] = {}
        #: The newest version that no correction made, by id.
        self._detected: dict[str, EventRecord] = {}
        #: The decisions so far, in the order in which they took effect; also those that are void.
        self._decided: dict[str, Official] = {}
        for update in log:
            record = update.event
            if update.diff > 0:
                self._standing[record.id] = record
                if not record.detail.get("official"):
                    self._detected[record.id] = record
                if record.kind in KINDS:
                    self._decided[record.id] = _official(record)
            elif self._standing.get(record.id) == record:
                del self._standing[record.id]

    def of(self, decisions: Sequence[Official]) -> list[tuple[int, EventRecord]]:
        """Return the differences that decisions make: -1 of records that stood, +1 of those that stand instead."""
        rest = [
            _event(one)
            for one in self._standing.values()
            if one.kind in self._hierarchy.rank and one.kind not in self._given
        ]
        inputs = [self._placed(one, index) for index, one in enumerate([*self._decided.values(), *decisions])]
        then = self._concluded([*rest, *inputs[: len(self._decided)]])
        now = self._concluded([*rest, *inputs])
        # The decisions come first, as the engine publishes them before what it concludes from them.
        changed = [name for name in dict.fromkeys((*then, *now)) if then.get(name) != now.get(name)]
        changed.sort(key=lambda name: not name.startswith("official."))
        after = {name: self._records.record(now[name]) if name in now else None for name in changed}
        about_one = [one for one in decisions if one.kind in ABOUT_ONE]
        concluded = {**then, **now, **(self._concluded(rest) if about_one else {})}
        for one in about_one:
            if one.event not in concluded:
                after[one.event] = self._right(one)
        return [difference for name, record in after.items() for difference in self._differences(name, record)]

    def _placed(self, decision: Official, index: int) -> Event:
        """Return a decision at its place in the stream; ``index`` orders those about one instant."""
        name = decision.event if decision.kind in ABOUT_ONE else ""
        about = self._standing.get(name) or self._detected.get(name)
        at_us = decision.at_us if about is None else about.ts_us
        return Event("raw.official", at_us + 1 + index, decision.source, decision.number, decision)

    def _concluded(self, events: Sequence[Event]) -> dict[str, Event]:
        return {event.id: event for event in published(self._hierarchy, events)}

    def _right(self, decision: Official) -> EventRecord | None:
        """Return the event that a void or correction is about as it stands after it; None if it does not."""
        detected = self._detected.get(decision.event)
        if detected is None or decision.kind != "correction":
            return None
        right = correction_of(decision)
        return detected if right.restores else self._records.record(right.corrected(_event(detected)))

    def _differences(self, name: str, record: EventRecord | None) -> Iterable[tuple[int, EventRecord]]:
        stood = self._standing.get(name)
        if stood == record:
            return
        if stood is not None:
            yield -1, stood
        if record is not None:
            yield 1, record


def _event(record: EventRecord) -> Event:
    """Return a stored record as an event."""
    values = record.variant, _team(record), record.player, record.x_m, record.y_m, record.z_m, record.confidence
    detail = {name: value for name, value in record.detail.items() if name != "annuls"}
    anchor = record.id.partition("#")[2]
    return Event(record.kind, record.ts_us, anchor, 0, EventPayload(*values, detail), record.id, record.causes)


def _official(record: EventRecord) -> Official:
    """Return the decision that a stored event was."""
    fields = {name: record.detail[name] for name in _FIELDS if name in record.detail}
    number = record.id.rpartition(":")[2]
    made = {"source": record.detail.get("by", ""), "number": int(number) if number.isdecimal() else 0, **fields}
    return msgspec.convert(
        {**made, "kind": record.kind.removeprefix("official."), "variant": record.variant, "team": _team(record),
         "player": record.player},
        Official,
    )  # fmt: skip


def _team(record: EventRecord) -> Team:
    return "home" if record.team == "home" else "away" if record.team == "away" else ""
