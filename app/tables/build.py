"""Builds the analyst's tables of a match store."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from app.tables.actions import carries, duels, goals, passes, shots, sprints
from app.tables.columns import TABLES, kinds_of
from app.tables.match_events import MatchEvents, Row, read_match_events, table_of
from app.tables.possessions import possessions
from app.tables.running import running
from app.tables.statistics import statistics
from football.errors import UserError

_FROM_EVENTS: Mapping[str, Callable[[MatchEvents], list[Row]]] = {
    "passes": passes, "shots": shots, "goals": goals, "carries": carries, "duels": duels, "sprints": sprints,
    "statistics": statistics,
}  # fmt: skip


class TableError(UserError, ValueError):
    """A table that does not exist; the message has the names of those that do."""


def flat_tables(folder: Path | str, names: Sequence[str] = tuple(TABLES)) -> dict[str, pa.Table]:
    """The analyst's tables of a match store, as far as it is committed.

    Args:
        folder: of the store.
        names: of the tables; all by default.

    Returns:
        Each table by its name, with the columns of ``TABLES``.

    Raises:
        TableError: there is no such table.
        StoreError, UntrustedError: not a match store, or damaged.
    """
    for name in names:
        if name not in TABLES:
            raise TableError(f"no table {name}; there are {', '.join(TABLES)}")
    match = read_match_events(Path(folder), kinds_of(names))
    made: dict[str, list[Row]] = {}

    def rows_of(name: str) -> list[Row]:
        if name not in made:
            if name == "running":
                made[name] = running(match, Path(folder))
            elif name == "possessions":
                made[name] = possessions(match, rows_of("passes"), rows_of("carries"), rows_of("shots"))
            else:
                made[name] = _FROM_EVENTS[name](match)
        return made[name]

    return {name: table_of(rows_of(name), TABLES[name].schema) for name in names}
