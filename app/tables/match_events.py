"""The events of a match as the tables ask for them: by kind, and by the contact that they belong to.

The id of an event derives from what it is named by: ``pass.attempt``, ``pass.complete`` and ``packing`` of one pass
all end in the ball state of its kick. That part of an id is its *anchor*, and joins what several detectors publish
about one action.

A store may be of anybody: a payload without a value, or with one of another type, gives a null.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from app.tables.clock import MatchClock, whole
from app.tables.columns import RESTARTS
from football.match_sheet import MatchSheet
from football.payloads import Scalar
from football.update_stream import EventRecord
from replay.event_list import consolidated_events, event_records
from replay.match_store import read_sheet_of

Row = dict[str, object]

#: A taker may not play the ball again (Laws 13 to 17), so a contact of the same player this soon is the restart.
_SAME_KICK_US = 1_000_000


class MatchEvents:
    """The events of a match that stand, and its match sheet.

    Attributes:
        sheet: the match sheet.
        clock: its periods.
        records: the events, in order of time.
    """

    def __init__(self, sheet: MatchSheet, records: Iterable[EventRecord]) -> None:
        self.sheet = sheet
        self.records = tuple(records)
        self.clock = MatchClock(self.records)
        self._players = {player.object_id: player for player in sheet.players}
        self._kinds: dict[str, list[EventRecord]] = defaultdict(list)
        self._anchors: dict[tuple[str, str], EventRecord] = {}
        for record in self.records:
            self._kinds[record.kind].append(record)
            self._anchors.setdefault((record.kind, anchor_of(record)), record)
        self._directions = [(e.ts_us, e.team) for e in self._kinds["direction"] if e.team]
        self._pressed = _pressed(self._kinds["press.under"], self._kinds["press.released"])
        self._restarts = _by_player(record for kind in RESTARTS for record in self._kinds[f"restart.{kind}"])

    def of(self, *kinds: str) -> Iterator[EventRecord]:
        """The events of some kinds, kind by kind, each in order of time."""
        for kind in kinds:
            yield from self._kinds.get(kind, ())

    def at(self, kind: str, anchor: str) -> EventRecord | None:
        """The event of a kind with an anchor."""
        return self._anchors.get((kind, anchor))

    def team_name(self, team: str) -> str | None:
        """Name of a team on the sheet."""
        return {"home": self.sheet.home, "away": self.sheet.away}.get(team)

    def when(self, ts_us: int) -> Row:
        """The columns of an instant."""
        return self.clock.at(ts_us)._asdict()

    def actor(self, team: str, player: str, ts_us: int) -> Row:
        """The columns of the player whom a row is about."""
        named = {"team": team or None, "team_name": self.team_name(team), "player": player or None}
        return {**named, **self._names("", player), "attacks_x": self.attacks_x(team, ts_us)}

    def person(self, name: str, player: Scalar) -> Row:
        """The columns of another player; null for nobody."""
        known = player if isinstance(player, str) and player else None
        return {name: known, **self._names(f"{name}_", known)}

    def _names(self, prefix: str, player: str | None) -> Row:
        found = self._players.get(player) if player else None
        shirt, name = (found.shirt, found.name or None) if found else (None, None)
        return {f"{prefix}shirt": shirt, f"{prefix}name": name}

    def team_of(self, player: str) -> str:
        """Team of a player on the sheet; empty if unknown."""
        found = self._players.get(player)
        return found.team if found else ""

    def attacks_x(self, team: str, ts_us: int) -> int | None:
        """1 if a team attacks towards +x at an event time, -1 if towards -x, None if that is unknown."""
        index = bisect_right(self._directions, (ts_us, "~")) - 1
        plus = self._directions[max(index, 0)][1] if self._directions else ""
        return (1 if plus == team else -1) if plus and team else None

    def under_pressure(self, player: str, ts_us: int) -> bool:
        """True if a player was under pressure (10.1) at an event time."""
        begins, ends = self._pressed.get(player, ((), ()))
        index = bisect_right(begins, ts_us) - 1
        return index >= 0 and ts_us <= ends[index]

    def restart(self, player: str, ts_us: int) -> str | None:
        """The restart that a contact of a player is."""
        times, names = self._restarts.get(player, ((), ()))
        index = bisect_right(times, ts_us + _SAME_KICK_US) - 1
        return names[index] if index >= 0 and abs(ts_us - times[index]) <= _SAME_KICK_US else None

    def body_part(self, anchor: str) -> str | None:
        """Part of the body of a contact."""
        found = self.at("bodypart", anchor)
        return found.variant if found else None


def read_match_events(folder: Path, kinds: Sequence[str]) -> MatchEvents:
    """Read the events of some kinds that stand in a match store.

    Raises:
        StoreError: not a match store, or damaged; the message names the file.
        UntrustedError: a detail that is no JSON object of values.
    """
    return MatchEvents(read_sheet_of(folder), event_records(consolidated_events(folder, kinds)))


def anchor_of(event: EventRecord) -> str:
    """The part of an id that names what an event belongs to, such as the ball state of a kick."""
    return event.id.partition("#")[2].split("/hit")[0].split("/touch")[0]


def number(event: EventRecord | None, name: str) -> float | None:
    """A number of an event's detail; None without it, or if it is none."""
    value = event.detail.get(name) if event else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


def count(event: EventRecord | None, name: str) -> int | None:
    """A whole number of an event's detail."""
    value = number(event, name)
    return int(value) if value is not None and abs(value) < 2**31 else None


def flag(event: EventRecord | None, name: str) -> bool | None:
    """A yes or no of an event's detail."""
    value = event.detail.get(name) if event else None
    return value if isinstance(value, bool) else None


def text(event: EventRecord | None, name: str) -> str | None:
    """A text of an event's detail; None if it is empty."""
    value = event.detail.get(name) if event else None
    return value if isinstance(value, str) and value else None


def variant(event: EventRecord | None) -> str | None:
    """The variant of an event; None without an event or a variant."""
    return (event.variant or None) if event else None


def speed_m_s(event: EventRecord) -> float | None:
    """The speed of the ball as it left."""
    parts = [number(event, name) for name in ("vx_m_s", "vy_m_s", "vz_m_s")]
    known = [part for part in parts if part is not None]
    return round(math.hypot(*known), 2) if known else None


def table_of(rows: Sequence[Row], schema: pa.Schema) -> pa.Table:
    """Rows as a table of a schema."""
    return pa.Table.from_pylist([{name: row.get(name) for name in schema.names} for row in rows], schema)


def _by_player(events: Iterable[EventRecord]) -> dict[str, tuple[list[int], list[str]]]:
    found: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for event in events:
        found[event.player].append((event.ts_us, event.kind.removeprefix("restart.")))
    return {
        player: ([ts_us for ts_us, _ in sorted(rows)], [name for _, name in sorted(rows)])
        for player, rows in found.items()
    }


def _pressed(begins: Iterable[EventRecord], ends: Sequence[EventRecord]) -> dict[str, tuple[list[int], list[int]]]:
    """Of each player the begins and ends of the times under pressure; one without an end lasts."""
    released = {anchor_of(event): event.ts_us for event in ends}
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for event in begins:
        found[event.player].append((event.ts_us, released.get(anchor_of(event), 2**62)))
    return {
        player: ([begin for begin, _ in sorted(spans)], [end for _, end in sorted(spans)])
        for player, spans in found.items()
    }


def kick_us(event: EventRecord) -> int:
    """Event time of the kick that an event is about."""
    return whole(event.detail.get("kick_us"), event.ts_us)
