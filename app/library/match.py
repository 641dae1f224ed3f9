"""A recorded match: events, updates, positions and match sheet of a match store as tables."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

import pyarrow as pa
import pyarrow.compute as pc

from app.tables.build import flat_tables
from football.errors import UserError
from football.match_sheet import MatchSheet
from replay.event_choice import make_choice, parse_time_us
from replay.event_list import consolidated_events
from replay.match_store import read_sheet_of, read_table, updates_log

if TYPE_CHECKING:
    import pandas as pd

Form = Literal["pandas", "arrow", "polars"]

#: Time of a match: seconds, or text such as ``4:01``.
Time = str | float

_PLAYERS = pa.schema(
    [
        ("object_id", pa.string()),
        ("team", pa.string()),
        ("team_name", pa.string()),
        ("shirt", pa.int64()),
        ("name", pa.string()),
        ("goalkeeper", pa.bool_()),
        ("starts", pa.bool_()),
    ]
)


class FormError(UserError, ValueError):
    """A table that cannot be given in a form; the message says what is missing."""


class Match:
    """A match store, read as far as it is committed; a match that is being played grows from call to call.

    Every table has a ``form``: ``pandas`` (a data frame), ``arrow`` (a ``pyarrow.Table``) or ``polars``. Times are
    microseconds of event time in columns, and seconds or text such as ``4:01`` in arguments.

    Args:
        folder: of the store.
        keep: lives as long as the match, such as a temporary folder.

    Attributes:
        folder: of the store.
        sheet: the match sheet: teams, players, pitch, quality of the input.

    Raises:
        TouchlineError: the folder is no match store.
    """

    def __init__(self, folder: str | Path, *, keep: object = None) -> None:
        self.folder = Path(folder)
        self.sheet: MatchSheet = read_sheet_of(self.folder)
        self._keep = keep

    def __repr__(self) -> str:
        return f"Match({str(self.folder)!r}: {self.sheet.home} - {self.sheet.away})"

    @overload
    def events(
        self,
        kind: str | Iterable[str] = (),
        *,
        team: str = "",
        player: str | int = "",
        begin: Time | None = None,
        end: Time | None = None,
        form: Literal["pandas"] = "pandas",
    ) -> pd.DataFrame: ...
    @overload
    def events(
        self,
        kind: str | Iterable[str] = (),
        *,
        team: str = "",
        player: str | int = "",
        begin: Time | None = None,
        end: Time | None = None,
        form: Literal["arrow"],
    ) -> pa.Table: ...
    @overload
    def events(
        self,
        kind: str | Iterable[str] = (),
        *,
        team: str = "",
        player: str | int = "",
        begin: Time | None = None,
        end: Time | None = None,
        form: Literal["polars"],
    ) -> Any: ...
    def events(
        self, kind: str | Iterable[str] = (), *, team: str = "", player: str | int = "", begin: Time | None = None,
        end: Time | None = None, form: Form = "pandas",
    ) -> Any:  # fmt: skip
        """The events of the match: a row for each that stands, with corrections applied, in order of time.

        Args:
            kind: kinds, or their first words: ``pass`` stands for ``pass.attempt``, ``pass.complete`` and so on.
            team: ``home``, ``away``, or the team's name.
            player: object id, shirt number, or a part of the name.
            begin, end: stretch of the match.
            form: of the table.

        Returns:
            The columns of ``touchline events``, and ``name`` and ``shirt`` of the player.

        Raises:
            TouchlineError: there is no such kind, team or player.
        """
        choice = make_choice(self.sheet, kind, team, player, begin, end)
        return as_form(self._with_names(choice.rows(consolidated_events(self.folder)), "player"), form)

    @overload
    def updates(
        self,
        kind: str | Iterable[str] = (),
        *,
        team: str = "",
        player: str | int = "",
        begin: Time | None = None,
        end: Time | None = None,
        form: Literal["pandas"] = "pandas",
    ) -> pd.DataFrame: ...
    @overload
    def updates(
        self,
        kind: str | Iterable[str] = (),
        *,
        team: str = "",
        player: str | int = "",
        begin: Time | None = None,
        end: Time | None = None,
        form: Literal["arrow"],
    ) -> pa.Table: ...
    @overload
    def updates(
        self,
        kind: str | Iterable[str] = (),
        *,
        team: str = "",
        player: str | int = "",
        begin: Time | None = None,
        end: Time | None = None,
        form: Literal["polars"],
    ) -> Any: ...
    def updates(
        self, kind: str | Iterable[str] = (), *, team: str = "", player: str | int = "", begin: Time | None = None,
        end: Time | None = None, form: Form = "pandas",
    ) -> Any:  # fmt: skip
        """Every update in its order: ``diff`` is 1 where an event was asserted, and -1 where it was withdrawn.

        ``emitted_us`` is the arrival time at which it was emitted. Arguments and errors as in :meth:`events`.
        """
        choice = make_choice(self.sheet, kind, team, player, begin, end)
        return as_form(self._with_names(choice.rows(updates_log(self.folder)), "player"), form)

    @overload
    def positions(
        self, *, begin: Time | None = None, end: Time | None = None, form: Literal["pandas"] = "pandas"
    ) -> pd.DataFrame: ...
    @overload
    def positions(self, *, begin: Time | None = None, end: Time | None = None, form: Literal["arrow"]) -> pa.Table: ...
    @overload
    def positions(self, *, begin: Time | None = None, end: Time | None = None, form: Literal["polars"]) -> Any: ...
    def positions(self, *, begin: Time | None = None, end: Time | None = None, form: Form = "pandas") -> Any:
        """Positions and velocities of ball and players, a row for each object and instant.

        Args:
            begin, end: stretch of the match.
            form: of the table.
        """
        table = read_table(self.folder, "positions")
        if begin is not None:
            table = table.filter(pc.greater_equal(table["ts_us"], parse_time_us(begin)))
        if end is not None:
            table = table.filter(pc.less(table["ts_us"], parse_time_us(end)))
        return as_form(self._with_names(table.sort_by([("ts_us", "ascending")]), "object_id"), form)

    @overload
    def players(self, form: Literal["pandas"] = "pandas") -> pd.DataFrame: ...
    @overload
    def players(self, form: Literal["arrow"]) -> pa.Table: ...
    @overload
    def players(self, form: Literal["polars"]) -> Any: ...
    def players(self, form: Form = "pandas") -> Any:
        """The players of the match sheet, a row for each."""
        sheet = self.sheet
        teams = {"home": sheet.home, "away": sheet.away}
        rows = [
            {
                "object_id": player.object_id, "team": player.team, "team_name": teams.get(player.team, ""),
                "shirt": player.shirt, "name": player.name, "goalkeeper": player.goalkeeper, "starts": player.starts,
            }
            for player in sheet.players
        ]  # fmt: skip
        return as_form(pa.Table.from_pylist(rows, _PLAYERS), form)

    @overload
    def table(self, name: str, form: Literal["pandas"] = "pandas") -> pd.DataFrame: ...
    @overload
    def table(self, name: str, form: Literal["arrow"]) -> pa.Table: ...
    @overload
    def table(self, name: str, form: Literal["polars"]) -> Any: ...
    def table(self, name: str, form: Form = "pandas") -> Any:
        """An analyst's table, with what the details of events hold as typed columns; ``docs/tables.md`` has them all.

        Args:
            name: ``passes``, ``shots``, ``goals``, ``carries``, ``duels``, ``possessions``, ``sprints``, ``running``,
                ``statistics``.
            form: of the table.

        Raises:
            TouchlineError: there is no such table.
        """
        return as_form(flat_tables(self.folder, (name,))[name], form)

    def _with_names(self, table: pa.Table, column: str) -> pa.Table:
        """The table with name and shirt number of the player that a column names."""
        players = {player.object_id: player for player in self.sheet.players}
        rows = [players.get(object_id) for object_id in table[column].to_pylist()]
        names = pa.array([row.name if row else "" for row in rows], pa.string())
        shirts = pa.array([row.shirt if row else None for row in rows], pa.int64())
        return table.append_column("name", names).append_column("shirt", shirts)


def as_form(table: pa.Table, form: Form) -> Any:
    """A table in the form that a caller asks for.

    Raises:
        FormError: there is no such form, or its package is not installed.
    """
    if form == "arrow":
        return table
    if form == "pandas":
        frame = table.to_pandas(integer_object_nulls=True)
        for field in table.schema:
            if pa.types.is_integer(field.type) and table[field.name].null_count:
                frame[field.name] = frame[field.name].astype("Int64")  # with missing values, never fractions
        return frame
    if form != "polars":
        raise FormError(f"form {form}: must be pandas, arrow or polars")
    try:
        import polars
    except ImportError:
        raise FormError("form polars: the package is not installed; `pip install polars`, or take arrow") from None
    return polars.from_arrow(table)
