"""Truth about positions of players to each other: opponents near (4.4), length and width (10.5), last line (10.6).

It is counted over the noiseless bodies, pair by pair, and play knows the goalkeepers: the formulas of the detectors are
not repeated, so that their errors show. It is checked every fifth of a second, because shapes of teams change over
seconds. A band must last for a second, and is dated at its beginning. The bounds are the hierarchy's, half a metre
further out where a band is left again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from football.packet_table import Floats
from football.pitch import Pitch
from simulator.play.truth_writer import id_of
from simulator.records import AWAY, HOME, KEEPERS, TICK_S, Col, PlayedInterval
from simulator.truth.truth_table import NOWHERE, Lines

#: Ticks between two looks.
EVERY = 10
OPPONENT_M, APART_M = 3.0, 3.5
#: Names below, between and above two bounds, in metres; an empty band has no event.
LENGTHS, LENGTHS_M = ("shape.short", "", "shape.long"), (25.0, 35.0)
WIDTHS, WIDTHS_M = ("shape.narrow", "", "shape.wide"), (30.0, 45.0)
HEIGHTS, HEIGHTS_M = ("line.low", "line.mid", "line.high"), (25.0, 40.0)
#: Players who make the last line: those with fewer than so many outfield mates behind them.
LAST_LINE = 4
HOLD_S, MARGIN_M = 1.0, 0.5


@dataclass
class Band:
    """A banded value: the band emitted (-1: none yet), the one now, and since when."""

    names: tuple[str, str, str]
    bounds: tuple[float, float]
    band_shown: int = -1
    now: int = -1
    since_s: float = 0.0

    def follow(self, value: float, t_s: float) -> str | None:
        """Return the name of a band once it has lasted long enough, else None."""
        low, high = self.bounds
        margins = [(-MARGIN_M if self.now > k else MARGIN_M) if self.now >= 0 else 0.0 for k in (0, 1)]
        band = int(value >= low + margins[0]) + int(value >= high + margins[1])
        if band != self.now:
            self.now, self.since_s = band, t_s
        if band == self.band_shown or t_s - self.since_s < HOLD_S - 1e-6:
            return None
        self.band_shown = band
        return self.names[band] or None


@dataclass
class ShapeTruth:
    """Truth of 4.4, 10.5 and 10.6 of a match, interval by interval."""

    pitch: Pitch
    _close: set[tuple[int, int]] = field(default_factory=set)
    _bands: tuple[tuple[Band, Band, Band], ...] = field(
        default_factory=lambda: tuple(
            (Band(LENGTHS, LENGTHS_M), Band(WIDTHS, WIDTHS_M), Band(HEIGHTS, HEIGHTS_M)) for _ in range(2)
        )
    )

    def take(self, interval: PlayedInterval, playing: np.ndarray, sign: tuple[float, float], lines: Lines) -> None:
        """Add what happened in an interval; ``playing`` and ``sign`` as in ``simulator.truth.passes``."""
        numbers = np.rint(interval.ticks_s / TICK_S).astype(int)
        inside = (interval.ticks_s > interval.begin_s - 1e-9) & (interval.ticks_s < interval.end_s - 1e-9)
        rows = [np.flatnonzero(playing[part]) + part.start for part in (HOME, AWAY)]
        for tick in np.flatnonzero(inside & (numbers % EVERY == 0)).tolist():
            t_s = float(numbers[tick]) * TICK_S
            positions = interval.persons[tick][:, [Col.X, Col.Y]]
            self._opponents(t_s, positions, rows, lines)
            for number, team in enumerate(("home", "away")):
                outfield = rows[number][rows[number] != KEEPERS[number]]
                self._shape(t_s, positions[outfield] * sign[number], number, team, lines)

    def _opponents(self, t_s: float, positions: Floats, rows: list[np.ndarray], lines: Lines) -> None:
        home, away = rows
        if not len(home) or not len(away):
            return
        gaps = np.hypot(*(positions[home][:, None] - positions[away][None]).transpose(2, 0, 1))
        near = {(int(home[i]), int(away[j])) for i, j in np.argwhere(gaps < OPPONENT_M)}
        within = {(int(home[i]), int(away[j])) for i, j in np.argwhere(gaps <= APART_M)}
        for kind, pairs in (("opponents.near", near - self._close), ("opponents.apart", self._close - within)):
            for pair in sorted(pairs):
                x, y = positions[list(pair)].mean(axis=0).tolist()
                lines.add(kind, t_s, pair[1], (x, y, math.nan), detail={"other": id_of(pair[0])})
        self._close = near | (self._close & within)

    def _shape(self, t_s: float, upfield: Floats, number: int, team: str, lines: Lines) -> None:
        """Check a team's shape; ``upfield``: positions of its outfield players as it sees them."""
        outfield = upfield[np.isfinite(upfield[:, 0])]
        if len(outfield) < LAST_LINE:
            return
        apart = np.abs(outfield[:, None] - outfield[None])
        behind = (outfield[:, None, 0] > outfield[None, :, 0]).sum(axis=1)
        height = float(outfield[behind < LAST_LINE, 0].mean()) + self.pitch.half_length_m
        measures = float(apart[:, :, 0].max()), float(apart[:, :, 1].max()), height
        for band, value in zip(self._bands[number], measures, strict=True):
            name = band.follow(value, t_s)
            if name is not None:
                detail = {"metres": round(value, 2)}
                lines.add(name, band.since_s, -1, NOWHERE, team=team, detail=detail)
