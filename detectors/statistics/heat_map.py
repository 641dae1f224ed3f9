"""14.3: heat maps of players, on the four grids of the DEBS 2013 challenge (query 3).

Theory of operation
-------------------
Five times a second the cell of each player is sampled, or that he is not on the pitch. The samples are counted by cell,
for the whole match and for each sliding window; a window subtracts expired samples by reading them again. The grids
16x25, 32x50 and 64x100 are nested, so only the finest is counted; 8x13 is not, and is counted as well.

Counts are a tuple of columns, each a tuple of cells. A new count makes one new column and shares all others with the
state before, so that an old state costs two short tuples. Samples are stored in chunks of bytes, shared in the same
way. This is the largest state of all detectors, like the 800 kB of paper 000 (section 5.4).

Columns run across the pitch and rows along it, as in the challenge, whose x is our -y: column 0 is at our +y, row 0 at
our -x.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import msgspec

from detectors.emission import make_event
from detectors.reasons import reason
from football.match_sheet import MatchSheet, Team
from football.payloads import EventPayload, frame_of
from football.pitch import pitch_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

#: Columns and rows of each grid by name.
GRIDS = {"8x13": (8, 13), "16x25": (16, 25), "32x50": (32, 50), "64x100": (64, 100)}
#: Sliding windows by name, in microseconds; of the whole match 0.
WINDOWS_US = {"1 min": 60_000_000, "5 min": 300_000_000, "10 min": 600_000_000, "match": 0}

#: Counts by column and row.
Counts = tuple[tuple[int, ...], ...]
#: Counts by (column, row) of the cells that are not empty.
Cells = dict[tuple[int, int], int]

_FINE, _COARSE = GRIDS["64x100"], GRIDS["8x13"]
#: An empty column, by the number of columns of its grid.
_EMPTY = {columns: (0,) * rows for columns, rows in (_FINE, _COARSE)}
#: Samples in a chunk, and bytes of a sample: fine column, fine row, coarse column and row in one.
_CHUNK, _WIDTH = 50, 3
#: A sample of a player who is not on the pitch.
_ABSENT = bytes((255, 255, 255))


class HeatMapParameters(msgspec.Struct, frozen=True):
    """Rates of the heat map.

    Attributes:
        look_us: time between two samples.
        report_us: time between two reports.
    """

    look_us: Annotated[int, reason("Enough for cells of a metre: the fastest run 2 m between two samples.")] = 200_000
    report_us: Annotated[int, reason("Ours: statistics are state; DEBS 2013 asks for one a second.")] = 60_000_000


class Heat(msgspec.Struct, frozen=True, gc=False):
    """Samples of a player.

    Attributes:
        team: his team.
        looks: number of samples since he was first on the pitch.
        chunks: cells of the samples within the longest window, oldest first; all chunks but the last are full.
        dropped: samples in chunks that were dropped.
        fine: counts on the finest grid, for each window in the order of ``WINDOWS_US``.
        coarse: the same on the coarsest grid.
    """

    team: Team
    looks: int
    chunks: tuple[bytes, ...]
    dropped: int
    fine: tuple[Counts, ...]
    coarse: tuple[Counts, ...]


class HeatMapState(msgspec.Struct, frozen=True, gc=False):
    """State: samples by player; number of the last sample (they are ``look_us`` apart); time of the next report."""

    players: dict[str, Heat] = {}
    last: int = -(2**62)
    report_us: int = -(2**62)


class HeatMap:
    """14.3: ``stat.heatmap`` x 4 grids x 4 windows: share of a player's time in each cell of the pitch.

    ``variant`` is grid and window (``16x25, 5 min``). ``detail``: ``cells`` (``column.row:percent`` of each cell that
    is not empty, joined by semicolons, see :func:`cells_of`), ``looks`` (number of samples).
    """

    def __init__(self, sheet: MatchSheet, parameters: HeatMapParameters | None = None) -> None:
        self.parameters = p = parameters or HeatMapParameters()
        self.pitch = pitch_of(sheet)
        self._spans = tuple(window_us // p.look_us for window_us in WINDOWS_US.values())
        self.spec = Spec(
            name="heat_map",
            number="14.3",
            level=14,
            inputs=("frame",),
            outputs=("stat.heatmap",),
            parameters=msgspec.structs.asdict(p),
            source="DEBS 2013 Q3; 000 5.4 (the one large state)",
            variants={"stat.heatmap": tuple(f"{grid}, {window}" for grid in GRIDS for window in WINDOWS_US)},
            details={"stat.heatmap": ("looks", "cells")},
        )

    def initial(self) -> HeatMapState:
        """No sample."""
        return HeatMapState()

    def step(self, state: HeatMapState, event: Event) -> Step[HeatMapState]:
        """Sample the players if a sample is due, and report if a report is."""
        look = event.ts_us // self.parameters.look_us
        if look <= state.last:
            return state, NOTHING
        frame = frame_of(event)
        missed = min(look - state.last - 1, max(self._spans)) if state.players else 0
        present = {body.object_id: body for body in frame.players}
        players: dict[str, Heat] = {}
        for name in {**state.players, **present}:
            heat, body = state.players.get(name), present.get(name)
            note = _ABSENT if body is None else self._note(body.x_m, body.y_m)
            if heat is None:
                if body is None or note == _ABSENT:
                    continue
                heat = _nowhere(body.team)
            else:
                for _ in range(missed):
                    heat = self._noted(heat, _ABSENT)
            players[name] = self._noted(heat, note)
        if event.ts_us < state.report_us:
            return HeatMapState(players, look, state.report_us), NOTHING
        out = [report for name in sorted(players) for report in _report(name, players[name], event)]
        return HeatMapState(players, look, event.ts_us + self.parameters.report_us), out

    def _note(self, x_m: float, y_m: float) -> bytes:
        """A position in the form in which it is stored."""
        if not self.pitch.inside(x_m, y_m):
            return _ABSENT
        across = (self.pitch.half_width_m - y_m) / (2 * self.pitch.half_width_m)
        along = (self.pitch.half_length_m + x_m) / (2 * self.pitch.half_length_m)
        column, row = cell(_COARSE, across, along)
        return bytes((*cell(_FINE, across, along), column * _COARSE[1] + row))

    def _noted(self, heat: Heat, note: bytes) -> Heat:
        """One more sample: counted in each window, less the one that expires."""
        chunks, dropped = heat.chunks, heat.dropped
        open_chunk = bool(chunks) and len(chunks[-1]) < _CHUNK * _WIDTH
        chunks = (*chunks[:-1], chunks[-1] + note) if open_chunk else (*chunks, note)
        fine, coarse = list(heat.fine), list(heat.coarse)
        for i, span in enumerate(self._spans):
            fine[i], coarse[i] = _counted(fine[i], coarse[i], note, 1)
            expired = heat.looks - span
            if span and expired >= 0:
                fine[i], coarse[i] = _counted(fine[i], coarse[i], _look(chunks, expired - dropped), -1)
        if heat.looks - max(self._spans) - dropped >= _CHUNK:
            chunks, dropped = chunks[1:], dropped + _CHUNK
        return Heat(heat.team, heat.looks + 1, chunks, dropped, tuple(fine), tuple(coarse))


def cell(grid: tuple[int, int], across: float, along: float) -> tuple[int, int]:
    """Column and row of a position given as shares (0..1) of the pitch's width and length.

    >>> cell((8, 13), 0.0, 0.5), cell((8, 13), 1.0, 1.0)
    ((0, 6), (7, 12))
    """
    columns, rows = grid
    return min(int(across * columns), columns - 1), min(int(along * rows), rows - 1)


def cells_of(payload: EventPayload, length_m: float, width_m: float) -> list[tuple[float, float, float, float, float]]:
    """The rows of the challenge's result: ``x1, y1, x2, y2`` of each cell in our metres, and percent of time."""
    columns, rows = GRIDS[payload.variant.partition(",")[0]]
    text = str(payload.detail["cells"])
    shares: list[tuple[float, float, float, float, float]] = []
    for entry in text.split(";") if text else ():
        position, _, percent = entry.partition(":")
        column, row = map(int, position.split("."))
        x1, y1 = row * length_m / rows - length_m / 2, width_m / 2 - column * width_m / columns
        shares.append((x1, y1, x1 + length_m / rows, y1 - width_m / columns, float(percent)))
    return shares


def filled(counts: Counts) -> Cells:
    """Counts of the cells that are not empty, by column and row."""
    none = _EMPTY.get(len(counts))
    return {(c, r): n for c, column in enumerate(counts) if column is not none for r, n in enumerate(column) if n}


def coarser(cells: Cells, by: int) -> Cells:
    """Counts on a grid whose cells hold ``by`` x ``by`` of these.

    >>> coarser({(0, 1): 2, (1, 1): 3, (2, 0): 1}, 2)
    {(0, 0): 5, (1, 0): 1}
    """
    sums: Cells = {}
    for (column, row), count in cells.items():
        at = column // by, row // by
        sums[at] = sums.get(at, 0) + count
    return sums


def _nowhere(team: Team) -> Heat:
    fine, coarse = _empty(_FINE), _empty(_COARSE)
    return Heat(team, 0, (), 0, (fine,) * len(WINDOWS_US), (coarse,) * len(WINDOWS_US))


def _empty(grid: tuple[int, int]) -> Counts:
    """All columns are one and the same."""
    return (_EMPTY[grid[0]],) * grid[0]


def _counted(fine: Counts, coarse: Counts, note: bytes, by: int) -> tuple[Counts, Counts]:
    """Both grids with a sample added or subtracted."""
    if note == _ABSENT:
        return fine, coarse
    return _add(fine, note[0], note[1], by), _add(coarse, *divmod(note[2], _COARSE[1]), by)


def _add(counts: Counts, column: int, row: int, by: int) -> Counts:
    """The counts with one changed; all other columns are shared."""
    old = counts[column]
    new = (*old[:row], old[row] + by, *old[row + 1 :])
    return (*counts[:column], new, *counts[column + 1 :])


def _look(chunks: tuple[bytes, ...], index: int) -> bytes:
    """The stored form of a sample, counted from the first that is stored."""
    at = index % _CHUNK * _WIDTH
    return chunks[index // _CHUNK][at : at + _WIDTH]


def _report(name: str, heat: Heat, event: Event) -> Iterator[Event]:
    for i, window in enumerate(WINDOWS_US):
        fine = filled(heat.fine[i])
        half = coarser(fine, 2)
        grids = {"8x13": filled(heat.coarse[i]), "16x25": coarser(half, 2), "32x50": half, "64x100": fine}
        looks = sum(fine.values())
        for grid, cells in grids.items():
            text = ";".join([f"{c}.{r}:{100.0 * n / looks:.2f}" for (c, r), n in cells.items()])
            payload = EventPayload(f"{grid}, {window}", heat.team, name, detail={"looks": looks, "cells": text})
            yield make_event("stat.heatmap", event.ts_us, f"{name}:{grid}:{window}:{event.ts_us}", payload)
