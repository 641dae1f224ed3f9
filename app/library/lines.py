"""Events as lines for people, with the names and shirt numbers of the match sheet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
import pyarrow as pa

from football.kind_names import kind_name, variant_name
from football.match_sheet import MatchSheet
from football.payloads import Scalar
from football.untrusted import decode_json
from football.update_stream import EventRecord
from replay.event_choice import format_time


class Names:
    """The names of teams and players.

    Args:
        sheet: of the match; None where it is not known: object ids then stand for names.
    """

    def __init__(self, sheet: MatchSheet | None) -> None:
        sheet = sheet or MatchSheet(home="", away="")
        self._teams = {"home": sheet.home, "away": sheet.away}
        self._players = {player.object_id: player for player in sheet.players}

    def team(self, side: str) -> str:
        """Name of a team; the side itself without one."""
        return self._teams.get(side) or side

    def player(self, object_id: str) -> str:
        """Shirt number and name, as far as known; the object id without either."""
        player = self._players.get(object_id)
        shirt = "" if player is None or player.shirt is None else str(player.shirt)
        return " ".join(filter(None, (shirt, player.name if player else ""))) or object_id

    def of(self, team: str, player: str) -> str:
        """Team and player of an event; an object id alone where the match sheet lacks the player."""
        name = self.player(player) if player else ""
        return name if name and name == player else " ".join(filter(None, (self.team(team), name)))


def _tenths(metres: float) -> str:
    """A coordinate with one place; never -0.0."""
    return f"{round(metres, 1) + 0.0:.1f}"


def _receiver(detail: Mapping[str, Any] | str | None) -> str:
    """Object id of the receiver of a pass; empty without one."""
    if isinstance(detail, str):
        detail = decode_json(detail, dict[str, Scalar]) if '"receiver"' in detail else {}
    return str((detail or {}).get("receiver") or "")


def event_line(event: EventRecord | Mapping[str, Any], names: Names) -> str:
    """An event as a line: time, kind, team and player, variant, location, and the id, which has the kind's own name."""
    row = msgspec.structs.asdict(event) if isinstance(event, EventRecord) else event
    at = "" if row["x_m"] is None or row["y_m"] is None else f"{_tenths(row['x_m'])}, {_tenths(row['y_m'])} m"
    receiver = _receiver(row["detail"])
    to = f" to {names.player(receiver)} " if receiver else ""
    who = names.of(row["team"] or "", row["player"] or "")
    kind, variant = kind_name(row["kind"]), variant_name(row["kind"], row["variant"] or "")
    cells = f"{format_time(row['ts_us']):>10}  {kind:<28} {who:<26} {variant:<14} {at:<14}"
    state = "  (tentative)" if row.get("state") == "tentative" else ""
    return f"{cells}{to} {row['id']}{state}"


def table_lines(table: pa.Table, sheet: MatchSheet | None) -> Iterator[str]:
    """The rows of a table of events; of updates also the sign, and the arrival time of the emission."""
    names = Names(sheet)
    for batch in table.to_batches(max_chunksize=10_000):
        for row in batch.to_pylist():
            if "diff" in row:
                yield update_line(row["diff"], row["emitted_us"], row, names)
            else:
                yield event_line(row, names)


def update_line(diff: int, emitted_us: int, event: EventRecord | Mapping[str, Any], names: Names) -> str:
    """An update as a line: arrival time of its emission, sign, event."""
    return f"{format_time(emitted_us):>10} {'+' if diff > 0 else '-'} {event_line(event, names)}"
