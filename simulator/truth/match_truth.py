"""The truth of a simulated match: every event of its play and its geometry, and possession frame by frame.

Theory of operation
-------------------
Play writes the rows that it knows: intentions, touches, the referee's decisions. The rest follows from the noiseless
paths of ball, bodies and limbs, interval by interval: :mod:`~simulator.truth.ball`, :mod:`~simulator.truth.bodies`,
:mod:`~simulator.truth.passes`; once the match is over, from the order of the rows: :mod:`~simulator.truth.chains`,
:mod:`~simulator.truth.states`; and from both: :mod:`~simulator.truth.entries`, :mod:`~simulator.truth.pressing`,
:mod:`~simulator.truth.off_ball`, :mod:`~simulator.truth.phases`, :mod:`~simulator.truth.set_pieces`.
Names, variants, teams and players are the detectors', so that detected and true events can be compared.
``football.truth_kinds`` defines each kind.

Two files: ``truth.parquet`` in the columns of ``touchline events``, and ``frames.parquet``, a row every 40 ms.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from football.match_sheet import MatchSheet
from football.payloads import Scalar
from football.pitch import pitch_of
from football.truth_kinds import LEVELS
from football.untrusted import decode_json
from football.update_stream import EventRecord
from simulator.physics.limbs import limb_paths
from simulator.records import BALLS, NAMES, PERSONS, SQUAD, Contact, PlayedInterval, Row, team_of_row
from simulator.truth.ball import PEAKS_M_S2, BallTruth
from simulator.truth.bodies import BodyTruth, LimbPaths
from simulator.truth.chains import add_chains
from simulator.truth.entries import EntryTruth
from simulator.truth.off_ball import OffBallTruth
from simulator.truth.passes import PassTruth
from simulator.truth.phases import PhaseTruth
from simulator.truth.pressing import PressingTruth
from simulator.truth.restart_spots import SpotTruth
from simulator.truth.set_pieces import add_set_pieces
from simulator.truth.shape import ShapeTruth
from simulator.truth.states import add_momentum, add_states
from simulator.truth.truth_table import Lines, us_of

T = TypeVar("T")

#: By then every transmitter has sent its first position; a detector cannot know anything earlier.
HEARD_S = 0.1

#: Frames a second in ``frames.parquet``.
FRAMES_HZ = 25

#: ``team`` has the ball, empty while both dispute it or nobody has it; ``control`` is 6.3's value; ``player`` touched
#: it last in play; ``ball`` is the transmitter in play; ``attacks_positive_x`` the team that does.
FRAMES = pa.schema(
    [
        ("ts_us", pa.int64()),
        ("in_play", pa.bool_()),
        ("team", pa.string()),
        ("control", pa.string()),
        ("player", pa.string()),
        ("ball", pa.string()),
        ("period", pa.int8()),
        ("home", pa.int16()),
        ("away", pa.int16()),
        ("attacks_positive_x", pa.string()),
    ]
)


class TruthInput(Protocol):
    """The parts of a match that truth needs besides its intervals; ``simulator.play.match.Match`` is one.

    ``rows`` are play's rows so far.
    """

    rows: list[Row]

    @property
    def shapes(self) -> Sequence[tuple[float, str, str]]:
        """Shapes of the teams so far: since when (s), team, shape; empty where they are unknown."""

    @property
    def on_pitch(self) -> Collection[int]:
        """Rows of the players on the pitch."""


class KnownTouches:
    """A match of which only the touches are known, as of a tracking file.

    Args:
        contacts: all touches.
        on_pitch: rows of everybody who takes part.

    Attributes:
        rows: a ``hit`` or ``touch`` for each contact, and what follows from it alone.
        shapes: none.
    """

    def __init__(self, contacts: Sequence[Contact], on_pitch: Collection[int]) -> None:
        self.on_pitch = on_pitch
        self.shapes: Sequence[tuple[float, str, str]] = ()
        self.rows: list[Row] = []
        for contact in contacts:
            hard = math.pi / 2.0 * math.dist(contact.before, contact.after) / contact.duration_s >= PEAKS_M_S2["hit"]
            self._note("hit" if hard else "touch", contact, contact.limb, {"what": contact.what})
            if contact.what == "catch" and contact.hold_s > 0.0:
                self._note("gk.catch", contact, "", {})
            elif contact.limb == "head":
                self._note("header", contact, "", {})

    def _note(self, kind: str, contact: Contact, variant: str, detail: dict[str, Scalar]) -> None:
        team = team_of_row(contact.person)
        self.rows.append(Row(kind, contact.t_s, contact.person, team, contact.position, variant, detail))


class Truth:
    """Collects the truth of a match.

    Args:
        sheet: its match sheet.
        match: gives rows and persons on the pitch, asked at each interval.
        limb_positions: function that gives limbs' positions; the simulator's own unless a test has others.
        names: object ids by row, of a match that has its own.
    """

    def __init__(
        self, sheet: MatchSheet, match: TruthInput, limb_positions: LimbPaths = limb_paths, names: Sequence[str] = NAMES
    ) -> None:
        self._pitch = pitch = pitch_of(sheet)
        self._sheet, self._match, self._names = sheet, match, names
        self.lines = Lines(names)
        self._ball, self._bodies, self._passes = BallTruth(pitch), BodyTruth(pitch, limb_positions), PassTruth(pitch)
        self._spots, self._shape = SpotTruth(pitch), ShapeTruth(pitch)
        self._entries, self._pressing = EntryTruth(pitch), PressingTruth()
        self._actives: list[tuple[float, int]] = []
        self._starts: list[Row] = []
        self._rows_read = 0
        self._end_s = 0.0

    def take(self, interval: PlayedInterval) -> None:
        """Add an interval; intervals come in order and without a gap."""
        playing = np.zeros(PERSONS, bool)
        playing[list(self._match.on_pitch)] = True
        rows = self._match.rows
        self._ball.take(interval, self.lines)
        self._bodies.take(interval, self.lines)
        self._spots.take(interval, 2 * SQUAD, self.lines)
        sign = self._signs(interval.begin_s)
        self._passes.take(interval, rows, playing, sign, self.lines)
        self._shape.take(interval, playing, sign, self.lines)
        self._entries.take(interval)
        self._pressing.take(interval, playing)
        changes = np.flatnonzero(np.diff(interval.active, prepend=-1))
        step_s = (interval.end_s - interval.begin_s) / max(len(interval.active), 1)
        for step in changes.tolist():
            ball = int(interval.active[step])
            if not self._actives or self._actives[-1][1] != ball:
                self._actives.append((interval.begin_s + step * step_s, ball))
        self._end_s = interval.end_s

    def finish(self) -> tuple[pa.Table, pa.Table]:
        """Return truth and frames of everything up to the end of the last interval; to be called once."""
        rows = self._match.rows
        self.lines.add_rows(rows, self._end_s)
        add_chains(rows, self._end_s, self._sheet.length_m, self._attacks(), self.lines)
        add_states(rows, self._end_s, self.lines)
        self._entries.finish(rows, self._end_s, self._attacks(), self.lines)
        self._pressing.finish(rows, self._end_s, self._attacks(), self.lines)
        OffBallTruth(self._pitch, rows, self._attacks(), self.lines).follow(self._pressing.looks, self._end_s)
        PhaseTruth(self._pitch, self._attacks()).follow(self._pressing.looks, self.lines)
        add_set_pieces(self._pitch, rows, self._pressing.looks, self._end_s, self._attacks(), self.lines)
        add_momentum(self._pitch, rows, self._end_s, self._attacks(), self.lines)
        self._add_periods()
        self._add_beginning()
        return self.lines.table(LEVELS), self._frames([row for row in rows if row.t_s < self._end_s])

    def _add_periods(self) -> None:
        """Add the team that attacks +x (3.12) in each period, and the shapes of the teams (12.13), when they change."""
        starts_s = [row.t_s for row in self._periods() if row.t_s < self._end_s]
        for row in self._periods():
            if row.t_s < self._end_s:
                home, _ = self._attacks()[int(row.variant)]
                self.lines.add("direction", row.t_s, -1, team="home" if home > 0 else "away")
        first_s = min(starts_s, default=math.inf)
        shown = {team: shape for since_s, team, shape in self._match.shapes if since_s <= first_s < self._end_s}
        for team, shape in shown.items():
            self.lines.add("formation", first_s, -1, variant=shape, team=team)
        for since_s, team, shape in self._match.shapes:
            if first_s < since_s < self._end_s and shown.get(team) != shape:
                shown[team] = shape
                self.lines.add("formation", since_s, -1, variant=shape, team=team)

    def _add_beginning(self) -> None:
        """Add a stoppage (6.3, 6.4) if the stream begins before the kick-off: the ball is dead from ``HEARD_S`` on."""
        first = min((r for r in self._match.rows if r.kind in ("play.live", "play.dead")), key=_when, default=None)
        if first is not None and first.kind == "play.live" and HEARD_S < first.t_s < self._end_s:
            self.lines.add("play.dead", HEARD_S, -1, variant="stop")
            self.lines.add("team.possession", HEARD_S, -1, variant="dead")

    def _id_of(self, row: Row) -> str:
        return self._names[row.person] if row.person >= 0 else ""

    def _signs(self, t_s: float) -> tuple[float, float]:
        """Return the directions of attack of home and away at a time."""
        period = max((int(r.variant) for r in self._periods() if r.t_s <= t_s), default=self._first_period())
        return self._attacks().get(period, (1.0, -1.0))

    def _periods(self) -> list[Row]:
        """Return the rows of the beginnings of periods so far."""
        rows = self._match.rows
        new = (row for row in rows[self._rows_read :] if row.kind == "period.start" and row.variant.isdecimal())
        self._starts.extend(new)
        self._rows_read = len(rows)
        return self._starts

    def _first_period(self) -> int:
        return int(next((row.variant for row in self._periods()), "1"))

    def _attacks(self) -> Mapping[int, tuple[float, float]]:
        """Return directions of attack by period; the teams change ends after each."""
        first = 1.0 if self._sheet.attacks_positive_x != "away" else -1.0
        begin = self._first_period()
        return {p: (first * (-1.0) ** (p - begin), -first * (-1.0) ** (p - begin)) for p in range(begin, begin + 64)}

    def _frames(self, rows: Sequence[Row]) -> pa.Table:
        times_us = np.arange(0, us_of(self._end_s), 1_000_000 // FRAMES_HZ)
        order = sorted(rows, key=lambda row: row.t_s)
        live = _held(times_us, order, {"play.live": lambda r: True, "play.dead": lambda r: False}, False)
        control = _held(times_us, order, {"team.possession": lambda r: r.variant}, "dead")
        player = _held(times_us, order, {"possession.gain": self._id_of, "play.dead": lambda r: ""}, "")
        period = _held(times_us, order, {"period.start": lambda r: int(r.variant)}, self._first_period())
        score = _held(times_us, order, dict.fromkeys(("goal.scored", "goal.own", "goal.disallowed"), _score), (0, 0))
        ball = np.array([a for _, a in self._actives])[
            np.searchsorted([us_of(t) for t, _ in self._actives], times_us, side="right") - 1
        ]
        attacks = self._attacks()
        columns = {
            "ts_us": times_us,
            "in_play": live,
            "team": [value if value in ("home", "away") else "" for value in control],
            "control": control,
            "player": player,
            "ball": [BALLS[b] for b in ball.tolist()],
            "period": period,
            "home": [home for home, _ in score],
            "away": [away for _, away in score],
            "attacks_positive_x": ["home" if attacks[p][0] > 0 else "away" for p in period],
        }
        return pa.table(columns, schema=FRAMES)


def _held(times_us: np.ndarray, rows: Sequence[Row], values: Mapping[str, Callable[[Row], T]], before: T) -> list[T]:
    """For each instant return the value of the newest row of some kinds."""
    values_at = [(us_of(row.t_s), values[row.kind](row)) for row in rows if row.kind in values]
    at = np.searchsorted([t for t, _ in values_at], times_us, side="right") - 1
    return [values_at[i][1] if i >= 0 else before for i in at.tolist()]


def _when(row: Row) -> float:
    return row.t_s


def _score(row: Row) -> tuple[int, int]:
    return int(row.detail.get("home") or 0), int(row.detail.get("away") or 0)


def write_truth(folder: Path, truth: pa.Table, frames: pa.Table | None) -> None:
    """Write ``truth.parquet`` and, if there is one, ``frames.parquet``; equal tables make equal bytes."""
    for name, table in (("truth", truth), ("frames", frames)):
        if table is not None:
            pq.write_table(table, folder / f"{name}.parquet", compression="zstd", row_group_size=1 << 16)


def records_of(truth: pa.Table) -> tuple[EventRecord, ...]:
    """Return a truth table as records, in its order."""
    names = [name for name in EventRecord.__struct_fields__ if name in truth.column_names]
    rows = truth.select(names).to_pylist()
    return tuple(
        EventRecord(**{**row, "causes": tuple(row["causes"]), "detail": decode_json(row["detail"], dict[str, Scalar])})
        for row in rows
    )
