"""14.3: where everybody spends his time, on the four grids of the DEBS 2013 challenge (query 3).

Theory of operation
-------------------
Five times a second everybody's cell is noted, and of those who are not on the field that they are not. Of the whole
match and of each sliding window the looks are counted by cell; a window forgets what it counted by reading again what
was noted. The grids of 16x25, 32x50 and 64x100 lie in one
another, so only the finest is counted; 8x13 does not, and is counted besides.

Counts are a tuple of columns, each a tuple of cells: a new count makes one new column and shares all others with the
state before, so that keeping an old state costs two short tuples. What was noted is kept in chunks of bytes, shared
in the same way. That makes the largest state of the house, like the 800 kB of paper 000 (section 5.4).

Columns run across the pitch and rows along it, as in the challenge, whose x is our -y: column 0 is at our +y, row 0 at
our -x.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from detectors.emission import make_event
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
#: A column where nobody was, by the number of columns of its grid.
_EMPTY = {columns: (0,) * rows for columns, rows in (_FINE, _COARSE)}
#: Looks in a chunk, and bytes of a look: fine column, fine row, coarse column and row in one.
_CHUNK, _WIDTH = 50, 3
#: A look at somebody who is not on the field.
_ABSENT = bytes((255, 255, 255))


class HeatMapParameters(msgspec.Struct, frozen=True):
    """``look_us``: five looks a second are enough for cells of a metre (the fastest run 2 m between two).
    ``report_us``: the challenge's rate."""

    look_us: int = 200_000
    report_us: int = 1_000_000


class Heat(msgspec.Struct, frozen=True, gc=False):
    """A player.

    Attributes:
        team: his.
        looks: how often he was looked for since he was first seen.
        chunks: the cells of the looks within the longest window, oldest first; all but the last are full.
        dropped: looks in chunks that were forgotten.
        fine, coarse: counts on the finest and the coarsest grid, for each window in the order of ``WINDOWS_US``.
    """

    team: Team
    looks: int
    chunks: tuple[bytes, ...]
    dropped: int
    fine: tuple[Counts, ...]
    coarse: tuple[Counts, ...]


class HeatMapState(msgspec.Struct, frozen=True, gc=False):
    """Everybody by name; number of the last look (they are ``look_us`` apart); time of the next report."""

    players: dict[str, Heat] = {}
    last: int = -(2**62)
    report_us: int = -(2**62)


class HeatMap:
    """14.3: ``stat.heatmap`` x 4 grids x 4 windows: share of a player's time in each cell where he was.

    ``variant`` is grid and window (``16x25, 5 min``); ``detail.cells`` holds ``column.row:percent`` of every cell that
    is not empty, see :func:`cells_of`; ``detail.looks`` how many looks that is made from.
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
        )

    def initial(self) -> HeatMapState:
        """Nobody seen."""
        return HeatMapState()

    def step(self, state: HeatMapState, event: Event) -> Step[HeatMapState]:
        """Looks at everybody if a look is due, and reports if a report is."""
        look = event.ts_us // self.parameters.look_us
        if look <= state.last:
            return state, NOTHING
        frame = frame_of(event)
        missed = min(look - state.last - 1, max(self._spans)) if state.players else 0
        seen = {body.object_id: body for body in frame.players}
        players: dict[str, Heat] = {}
        for name in {**state.players, **seen}:
            heat, body = state.players.get(name), seen.get(name)
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
        out = [told for name in sorted(players) for told in _report(name, players[name], event)]
        return HeatMapState(players, look, event.ts_us + self.parameters.report_us), out

    def _note(self, x_m: float, y_m: float) -> bytes:
        """A place in the form in which it is kept."""
        if not self.pitch.inside(x_m, y_m):
            return _ABSENT
        across = (self.pitch.half_width_m - y_m) / (2 * self.pitch.half_width_m)
        along = (self.pitch.half_length_m + x_m) / (2 * self.pitch.half_length_m)
        column, row = cell(_COARSE, across, along)
        return bytes((*cell(_FINE, across, along), column * _COARSE[1] + row))

    def _noted(self, heat: Heat, note: bytes) -> Heat:
        """One more look: counted in every window, the one that falls out of each taken off."""
        chunks, dropped = heat.chunks, heat.dropped
        open_chunk = bool(chunks) and len(chunks[-1]) < _CHUNK * _WIDTH
        chunks = (*chunks[:-1], chunks[-1] + note) if open_chunk else (*chunks, note)
        fine, coarse = list(heat.fine), list(heat.coarse)
        for i, span in enumerate(self._spans):
            fine[i], coarse[i] = _counted(fine[i], coarse[i], note, 1)
            gone = heat.looks - span
            if span and gone >= 0:
                fine[i], coarse[i] = _counted(fine[i], coarse[i], _look(chunks, gone - dropped), -1)
        if heat.looks - max(self._spans) - dropped >= _CHUNK:
            chunks, dropped = chunks[1:], dropped + _CHUNK
        return Heat(heat.team, heat.looks + 1, chunks, dropped, tuple(fine), tuple(coarse))


def cell(grid: tuple[int, int], across: float, along: float) -> tuple[int, int]:
    """Column and row of a place given as shares (0..1) of the way across and along the pitch.

    >>> cell((8, 13), 0.0, 0.5), cell((8, 13), 1.0, 1.0)
    ((0, 6), (7, 12))
    """
    columns, rows = grid
    return min(int(across * columns), columns - 1), min(int(along * rows), rows - 1)


def cells_of(payload: EventPayload, length_m: float, width_m: float) -> list[tuple[float, float, float, float, float]]:
    """The rows of the challenge's answer: ``x1, y1, x2, y2`` of each cell in our metres, and percent of time."""
    columns, rows = GRIDS[payload.variant.partition(",")[0]]
    told = str(payload.detail["cells"])
    found: list[tuple[float, float, float, float, float]] = []
    for entry in told.split(";") if told else ():
        place, _, percent = entry.partition(":")
        column, row = map(int, place.split("."))
        x1, y1 = row * length_m / rows - length_m / 2, width_m / 2 - column * width_m / columns
        found.append((x1, y1, x1 + length_m / rows, y1 - width_m / columns, float(percent)))
    return found


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
    """Both grids with a look added or taken off."""
    if note == _ABSENT:
        return fine, coarse
    return _add(fine, note[0], note[1], by), _add(coarse, *divmod(note[2], _COARSE[1]), by)


def _add(counts: Counts, column: int, row: int, by: int) -> Counts:
    """The counts with one changed; all other columns are shared."""
    old = counts[column]
    new = (*old[:row], old[row] + by, *old[row + 1 :])
    return (*counts[:column], new, *counts[column + 1 :])


def _look(chunks: tuple[bytes, ...], index: int) -> bytes:
    """The note of a look, counted from the first that is kept."""
    at = index % _CHUNK * _WIDTH
    return chunks[index // _CHUNK][at : at + _WIDTH]


def _report(name: str, heat: Heat, event: Event) -> Iterator[Event]:
    for i, window in enumerate(WINDOWS_US):
        fine = filled(heat.fine[i])
        half = coarser(fine, 2)
        grids = {"8x13": filled(heat.coarse[i]), "16x25": coarser(half, 2), "32x50": half, "64x100": fine}
        looks = sum(fine.values())
        for grid, cells in grids.items():
            told = ";".join([f"{c}.{r}:{100.0 * n / looks:.2f}" for (c, r), n in cells.items()])
            payload = EventPayload(f"{grid}, {window}", heat.team, name, detail={"looks": looks, "cells": told})
            yield make_event("stat.heatmap", event.ts_us, f"{name}:{grid}:{window}:{event.ts_us}", payload)
