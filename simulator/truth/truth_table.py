"""The lines of truth before they are a file, stored by column because there are a hundred thousand of them.

A *row* is what play writes (:class:`~simulator.records.Row`); a *line* is an event of ``truth.parquet``. Rows become
lines once the match is over, because play may still change them; geometry adds lines of its own meanwhile. Lines are
added in any order; :meth:`Lines.table` sorts and numbers them. A cause is the number of a line, if it is 0 or more.
The row of play with index ``i`` is the cause ``-1 - i``; :meth:`Lines.table` replaces it by the number of its line.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec
import numpy as np
import pyarrow as pa

from football.payloads import Scalar
from football.tables import EVENTS
from simulator.records import NAMES, Row, Vector, team_of_row

NOWHERE: Vector = (math.nan, math.nan, math.nan)
#: What play calls otherwise than the detectors, and its details that are times of the match.
_RENAMED = {"woodwork": "ball.woodwork"}
_VARIANTS = {("play.dead", "whistle"): "stop"}
#: Kinds whose variant is the end of the pitch.
_AT_AN_END = frozenset(("goal.scored", "goal.own", "goal.confirmed", "goal.disallowed"))
_TIMES = {"pass_s": "pass_us", "received_s": "received_us"}
_NOTHING: Mapping[str, Scalar] = {}


def us_of(t_s: float) -> int:
    """Return a time of the match in whole microseconds.

    >>> us_of(1.2345678)
    1234568
    """
    return round(t_s * 1e6)


def _plain(value: object) -> object:
    """Convert numpy's numbers to Python's."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} is no scalar")


class Line(NamedTuple):
    """A line that was added; ``causes`` as it was added with."""

    t_s: float
    kind: str
    variant: str
    team: str
    causes: tuple[int, ...]


class Lines:
    """Lines of truth of a match, in columns; ``names`` are the object ids by row."""

    def __init__(self, names: Sequence[str] = NAMES) -> None:
        self._names = names
        self._encode = msgspec.json.Encoder(enc_hook=_plain).encode
        self._kinds: list[str] = []
        self._variants: list[str] = []
        self._times_us: list[int] = []
        self._teams: list[str] = []
        self._persons: list[int] = []
        self._positions: list[Vector] = []
        self._details: list[bytes] = []
        self._causes: list[tuple[int, ...]] = []
        self._of_row: dict[int, int] = {}

    def __len__(self) -> int:
        """Number of lines."""
        return len(self._kinds)

    def add(
        self,
        kind: str,
        t_s: float,
        person: int,
        position: Vector = NOWHERE,
        variant: str = "",
        *,
        team: str | None = None,
        detail: Mapping[str, Scalar] = _NOTHING,
        causes: tuple[int, ...] = (),
    ) -> int:
        """Add a line and return its number, which further lines may give as their cause.

        Args:
            kind, variant, position: as in ``touchline events``; NaN for no position.
            t_s: time of the match.
            person: row, -1 for nobody; ``team``: of a line that is a team's, default the person's.
            detail: further values.
            causes: numbers of lines; minus one less the index of a row of play, which need not be added yet.
        """
        self._kinds.append(kind)
        self._variants.append(variant)
        self._times_us.append(us_of(t_s))
        self._teams.append(team_of_row(person) if team is None else team)
        self._persons.append(person)
        self._positions.append(position)
        self._details.append(self._encode(detail) if detail else b"{}")
        self._causes.append(causes)
        return len(self._kinds) - 1

    def add_rows(self, rows: Sequence[Row], until_s: float) -> None:
        """Add the rows of play before ``until_s``, under the detectors' names and with times in microseconds."""
        died_of = "start"
        for index in sorted(range(len(rows)), key=lambda i: (rows[i].t_s, i)):
            row = rows[index]
            if row.t_s >= until_s:
                continue
            detail = {_TIMES.get(k, k): us_of(float(v)) if k in _TIMES and v else v for k, v in row.detail.items()}
            variant = _VARIANTS.get((row.kind, row.variant), row.variant)
            if row.kind == "play.dead":
                died_of = variant
            elif row.kind == "play.live":
                variant, detail = died_of, {**detail, "restart": row.variant}
            elif row.kind in _AT_AN_END:
                variant = "right" if row.position[0] > 0 else "left"
            elif row.kind == "pass.out":
                variant = next((rows[c].variant for c in row.causes if rows[c].kind == "out"), "")
            causes = tuple(-1 - c for c in row.causes)
            kind = _RENAMED.get(row.kind, row.kind)
            self._of_row[index] = self.add(
                kind, row.t_s, row.person, row.position, variant, team=row.team, detail=detail, causes=causes
            )

    def of(self, *kinds: str) -> list[Line]:
        """Return the lines of some kinds so far, by time, and those of an instant as they were added."""
        chosen = (i for i, kind in enumerate(self._kinds) if kind in kinds)
        return [
            Line(self._times_us[i] / 1e6, self._kinds[i], self._variants[i], self._teams[i], self._causes[i])
            for i in sorted(chosen, key=lambda i: self._times_us[i])
        ]

    def table(self, levels: Mapping[str, int]) -> pa.Table:
        """Return all lines in the columns of ``touchline events``, by time, level, kind, person, variant, insertion.

        Args:
            levels: level of each kind in the hierarchy; 0 for kinds that are not named.
        """
        level = np.array([levels.get(kind, 0) for kind in self._kinds], np.int16)
        times_us = np.array(self._times_us, np.int64)
        names = {kind: rank for rank, kind in enumerate(sorted(set(self._kinds)))}
        rank = np.array([names[kind] for kind in self._kinds], np.int64)
        persons = np.array(self._persons, np.int64)
        variants = {name: rank for rank, name in enumerate(sorted(set(self._variants)))}
        variant = np.array([variants[name] for name in self._variants], np.int64)
        order = np.lexsort((np.arange(len(self)), variant, persons, rank, level, times_us))
        number = np.empty(len(self), np.int64)
        number[order] = np.arange(len(self))
        positions = np.array(self._positions, np.float64).reshape(len(self), 3)[order].round(4)
        at = order.tolist()
        columns = {
            "id": [f"truth#{n}" for n in range(len(self))],
            "kind": [self._kinds[i] for i in at],
            "variant": [self._variants[i] for i in at],
            "level": level[order],
            "ts_us": times_us[order],
            "team": [self._teams[i] for i in at],
            "player": [self._names[p] if (p := self._persons[i]) >= 0 else "" for i in at],
            "state": ["confirmed"] * len(self),
            "confidence": np.ones(len(self)),
            "detected_us": times_us[order],
            "lag_us": np.zeros(len(self), np.int64),
            "causes": [[f"truth#{number[c]}" for c in self._resolved(i)] for i in at],
            "detail": [self._details[i].decode() for i in at],
        }
        arrays = {name: pa.array(values, EVENTS.field(name).type) for name, values in columns.items()}
        for name, values in zip(("x_m", "y_m", "z_m"), positions.T, strict=True):
            # A position that is not known is null, as in ``touchline events``.
            arrays[name] = pa.array(values, pa.float64(), mask=np.isnan(values))
        return pa.table([arrays[name] for name in EVENTS.names], schema=EVENTS)

    def _resolved(self, line: int) -> list[int]:
        """Return causes of a line as numbers of lines, without rows that were never added."""
        results = (c if c >= 0 else self._of_row.get(-1 - c, -1) for c in self._causes[line])
        return [number for number in results if number >= 0]
