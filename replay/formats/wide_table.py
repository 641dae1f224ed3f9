"""Tables with all objects of a frame in one row, as kloppy's ``to_df`` and many tutorials write them, made long.

Columns are ``ball_x, ball_y, ball_z`` and, for each player, ``home_7_x, home_7_y`` or ``away_7_x, away_7_y``; the time
is ``t_ms`` in milliseconds, or ``timestamp`` or ``Time [s]`` in seconds or as a duration (``0 days 00:00:00.04``).
Case matters of ``ball_x`` alone. Where a player has no position he is not there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from football.untrusted import ROWS_MAX, UntrustedError
from replay.formats.csv_table import TableRows

Floats = npt.NDArray[np.float64]

_POSITION = re.compile(r"(ball|(?:home|away)_.+)_([xyz])", re.IGNORECASE)

#: Columns of times, by what they count in milliseconds; columns of the other kinds, and what they are in a long table.
_TIMES_MS = {"t_ms": 1.0, "timestamp": 1000.0, "time [s]": 1000.0, "time_s": 1000.0}
_OTHERS = {"ball_status": "ball_status", "ball_state": "ball_status", "period": "period", "period_id": "period"}


def is_wide_text(name: str) -> bool:
    """True if a column of such a table may hold texts."""
    return name.lower() != "t_ms" and _POSITION.fullmatch(name) is None


def is_wide(names: Sequence[str]) -> bool:
    """True if a table with these columns is of this form: a time, the ball, and players of a team."""
    objects = _objects(names)
    has_time = any(name.lower() in _TIMES_MS for name in names)
    return has_time and len(objects) > 1 and "ball" in objects


def long_rows(rows: TableRows) -> TableRows:
    """The rows as those of a long table, object after object.

    Raises:
        UntrustedError: a column is not of numbers, the times are no times, or there are no positions, or too many.
    """
    table, names = rows.table, rows.table.column_names
    objects, count = _objects(names), table.num_rows
    if len(objects) * count > ROWS_MAX:
        raise UntrustedError(f"{len(objects)} objects in {count} rows: more than {ROWS_MAX} positions")
    numbers = np.arange(count) if rows.numbers is None else rows.numbers
    times_ms = _times_ms(table, next(name for name in names if name.lower() in _TIMES_MS))
    others = {_OTHERS[name.lower()]: table[name].combine_chunks() for name in names if name.lower() in _OTHERS}
    tables: list[pa.Table] = []
    at: list[npt.NDArray[np.int64]] = []
    for name, columns in objects.items():
        places = {axis: _numbers(table, column) for axis, column in columns.items()}
        there = np.flatnonzero(~(np.isnan(places["x"]) & np.isnan(places["y"])))
        if not len(there):  # a substitute who never played
            continue
        places.setdefault("z", np.full(count, np.nan))
        own: dict[str, object] = {"t_ms": times_ms[there]}
        own |= {"object_id": [name] * len(there), "team": [name.partition("_")[0]] * len(there)}
        own |= {axis: places[axis][there] for axis in "xyz"}
        own |= {kind: column.take(pa.array(there)) for kind, column in others.items()}
        tables.append(pa.table(own))
        at.append(numbers[there])
    if not tables:
        raise UntrustedError("nobody has a position in it")
    called = "row" if rows.numbers is None else rows.called
    return TableRows(pa.concat_tables(tables), np.concatenate(at), rows.rejected, called)


def _objects(names: Sequence[str]) -> dict[str, dict[str, str]]:
    """The columns of each object by axis, of those that have x and y."""
    objects: dict[str, dict[str, str]] = {}
    for name in names:
        if (found := _POSITION.fullmatch(name)) is not None:
            objects.setdefault(found[1].lower(), {})[found[2].lower()] = name
    return {name: columns for name, columns in objects.items() if "x" in columns and "y" in columns}


def _numbers(table: pa.Table, name: str) -> Floats:
    column = table[name]
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type) or pa.types.is_null(column.type)):
        raise UntrustedError(f"column {name} holds {column.type}, not numbers")
    return np.asarray(column.cast(pa.float64(), safe=False).to_numpy(), np.float64)


def _times_ms(table: pa.Table, name: str) -> Floats:
    """Times in milliseconds, from numbers or durations; NaN where there is none."""
    factor, column = _TIMES_MS[name.lower()], table[name]
    if pa.types.is_duration(column.type):
        return np.asarray(column.cast(pa.duration("us"), safe=False).cast(pa.int64()).to_numpy(), np.float64) / 1000.0
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return _numbers(table, name) * factor
    import pandas as pd  # not where other tables are read: it takes 0.2 s

    texts = pd.Series(column.to_pylist(), dtype=object)
    seconds = pd.to_numeric(texts, errors="coerce").to_numpy(np.float64)
    if np.isfinite(seconds).any():
        return seconds * factor
    durations = pd.to_timedelta(texts, errors="coerce")
    if durations.isna().all():
        raise UntrustedError(f"column {name} holds neither seconds nor durations such as 0 days 00:00:00.04")
    return np.asarray(durations.dt.total_seconds(), np.float64) * 1000.0
