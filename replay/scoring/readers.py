"""Readers of truth: the simulator's, Opta's labels of the clip, the annotation of the DEBS 2013 match.

truth.parquet           columns of ``touchline events``; with ``frames.parquet`` next to it, a row an instant; it or the
                        folder that ``touchline simulate`` writes
events_*.csv            Opta's labels; with ``tracking_*.parquet`` next to it, the provider's flags
possession.csv, shots_on_goal.csv, interruptions.csv    any of the three names the folder of the annotation
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa

from football.match_sheet import MatchSheet
from football.payloads import Scalar
from football.truth_kinds import KINDS
from football.untrusted import UntrustedError, decode_json, read_parquet
from football.update_stream import EventRecord
from replay.scoring.debs_annotation import FILES, Annotation, Clock, object_ids, read_annotation
from replay.scoring.opta import read_opta
from replay.scoring.truth import Flags, Mark, ScoreError, Truth, true_marks

#: Columns of a truth in the form of ``touchline events`` that are needed.
COLUMNS = ("id", "kind", "variant", "ts_us", "team", "player", "detail")

TRUTH = "truth.parquet"
FRAMES = "frames.parquet"
#: Beside a simulator's truth: then it speaks of all kinds that the simulator knows, though they never happened.
SIMULATION = "simulation.json"

#: The annotation was timed by hand against video (its README allows a second).
DEBS_TOLERANCE_US = 1_000_000
#: Instants at which the annotation is asked who has the ball.
_DEBS_STEP_US = 100_000


def read_truth(path: Path, sheet: MatchSheet) -> Truth:
    """Read the truth in a file, of whichever form it is.

    Args:
        path: see the module's text.
        sheet: of the match that is scored; names the players.

    Raises:
        ScoreError, TrackingError: it cannot be read, or is of another match; the message names the file.
    """
    if path.is_dir() and any((path / name).is_file() for name in FILES):
        return debs_truth(path, sheet)
    if path.is_dir():
        if (path / TRUTH).is_file():
            return simulator_truth(path / TRUTH)
        raise ScoreError(
            f"--truth {path}: a folder without {TRUTH}, or the tables of an annotation: {', '.join(FILES)}"
        )
    if not path.is_file():
        raise ScoreError(f"--truth {path}: no such file")
    if path.name in FILES:
        return debs_truth(path.parent, sheet)
    if path.suffix == ".csv":
        return read_opta(path)
    if path.suffix in (".parquet", ".pq"):
        return simulator_truth(path)
    raise ScoreError(f"--truth {path}: must be a truth.parquet, Opta's events .csv, or an annotation's folder")


def simulator_truth(path: Path) -> Truth:
    """Read a truth in the form of events, exact to the microsecond, with ``frames.parquet`` if it exists.

    It covers the kinds that occur in it; next to a ``simulation.json``, all kinds of the simulator.

    Raises:
        ScoreError: not such a file.
    """
    table = _table(path, COLUMNS)
    try:
        records = [msgspec.convert(row, EventRecord) for row in _records(table)]
    except (msgspec.ValidationError, UntrustedError) as error:
        raise ScoreError(f"{path}: not a truth: {error}") from error
    marks = true_marks(records)
    known = frozenset(KINDS) if (path.parent / SIMULATION).is_file() else frozenset()
    frames = path.parent / FRAMES
    flags = _flags(frames) if frames.is_file() else None
    return Truth("simulator", marks, known | {mark.kind for mark in marks}, flags=flags)


def debs_truth(folder: Path, sheet: MatchSheet) -> Truth:
    """Read the DEBS annotation: shots, gains of possession, interruptions; and possession ten times a second.

    Raises:
        TrackingError: a table is damaged.
        ScoreError: it names a player who is not on the sheet.
    """
    annotation, clock = read_annotation(folder)
    ids = object_ids(sheet)

    def mark(kind: str, half: int, at_s: float, team: str, player: str) -> Mark:
        if (team, player) not in ids:
            raise ScoreError(f"{folder}: {player} of team {team} is not on the match sheet: another match?")
        name = ids[team, player]
        return Mark(clock.ts_us(half, at_s), kind, "", name.partition("_")[0], name)

    marks = [mark("shot.attempt", s.half, s.time_s, s.team, s.player) for s in annotation.shots]
    marks += _gains([mark("possession.gain", p.half, p.begin_s, p.team, p.player) for p in annotation.possession])
    for stop in annotation.interruptions:
        marks.append(Mark(clock.ts_us(stop.half, stop.begin_s), "play.dead"))
        if stop.end_s is not None:
            marks.append(Mark(clock.ts_us(stop.half, stop.end_s), "play.live"))
    kinds = frozenset(("shot.attempt", "possession.gain", "play.dead", "play.live"))
    flags = _annotated_flags(annotation, clock, marks)
    return Truth("DEBS 2013 annotation", tuple(marks), kinds, DEBS_TOLERANCE_US, flags=flags)


def _gains(rows: list[Mark]) -> list[Mark]:
    """Return gains; a player who is annotated twice in a row has not lost the ball between (6.2)."""
    rows.sort(key=lambda mark: mark.ts_us)
    return [mark for i, mark in enumerate(rows) if i == 0 or rows[i - 1].player != mark.player]


def _annotated_flags(annotation: Annotation, clock: Clock, marks: list[Mark]) -> Flags:
    spans = [clock.span_us(half.half) for half in clock.halves]
    ts_us = np.concatenate([np.arange(begin, end, _DEBS_STEP_US) for begin, end in spans])
    in_play = np.ones(len(ts_us), np.bool_)
    for stop in annotation.interruptions:
        begin_us = clock.ts_us(stop.half, stop.begin_s)
        end_us = clock.span_us(stop.half)[1] if stop.end_s is None else clock.ts_us(stop.half, stop.end_s)
        in_play &= (ts_us < begin_us) | (ts_us >= end_us)
    gains = sorted((m for m in marks if m.kind == "possession.gain"), key=lambda m: m.ts_us)
    teams = np.array(["", *(m.team for m in gains)], dtype=object)
    return Flags(ts_us, in_play, teams[np.searchsorted([m.ts_us for m in gains], ts_us, "right")])


def _flags(path: Path) -> Flags:
    """Read flags of instants: ``ts_us``, ``in_play`` and ``team``."""
    table = _table(path, ("ts_us", "in_play", "team"))
    try:
        ts_us = table["ts_us"].cast(pa.int64()).to_numpy()
        in_play = np.asarray(table["in_play"].cast(pa.bool_()).to_numpy())
    except pa.ArrowException as error:
        raise ScoreError(f"{path}: not flags of frames: {error}") from error
    order = np.argsort(ts_us, kind="stable")
    team = np.array([name or "" for name in table["team"].to_pylist()], dtype=object)
    return Flags(ts_us[order], in_play[order], team[order])


def _table(path: Path, columns: tuple[str, ...]) -> pa.Table:
    try:
        table = read_parquet(path, (*EventRecord.__struct_fields__, *columns))
    except (OSError, UntrustedError) as error:
        raise ScoreError(f"{path}: not Parquet, or damaged: {error}") from error
    missing = [name for name in columns if name not in table.column_names]
    if missing:
        raise ScoreError(f"{path}: column {', '.join(missing)} is missing")
    return table


def _records(table: pa.Table) -> Iterator[dict[str, object]]:
    """Return rows as fields of event records; absent columns get their default meaning in a truth."""
    silent = {"level": 0, "x_m": None, "y_m": None, "z_m": None, "confidence": 1.0, "causes": ()}
    columns = [name for name in EventRecord.__struct_fields__ if name in table.column_names]
    for batch in table.select(columns).to_batches(max_chunksize=10_000):
        for row in batch.to_pylist():
            detail = row["detail"]
            yield {**silent, **row, "detail": decode_json(detail, dict[str, Scalar]) if detail else {}}
