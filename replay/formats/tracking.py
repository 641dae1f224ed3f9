"""Read tracking files: the long table (Parquet or CSV), DEBS 2013 streams, and through kloppy all of its formats.

The long table has one row per object and frame: ``t_ms, object_id, team, x, y`` (metres from the centre spot), and
perhaps ``z``, without which nothing has a height, ``ball_status`` (``alive`` or ``dead``, the same in all rows of a
frame), and ``period`` (1 to 5); further columns are ignored. A ``metadata.json`` next to it, if there is one, gives
the match sheet.

A row without a position, or with a placeholder instead, counts as one that is not there
(:mod:`replay.formats.missing`). Only what makes a file unreadable as a whole is an error here. A bad row enters the
recording unchanged, so that the validation rejects it under its packet's number; a row that fits into no packet (no
time, no object) is returned in ``Recording.rejected``.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from detectors.signals.sampling import with_jitter
from football.errors import TrackingError
from football.input_quality import InputFinding
from football.match_sheet import MatchSheet, Period, Player, Quality, Team
from football.packet_table import Floats
from football.packets import RejectedRecord, raw_kind
from football.recording import Recording, Track, flag_track, measured_jitter_m, rate_hz, track_order
from football.untrusted import ID_CHARACTERS_MAX, REJECTED_MAX, SOURCES_MAX, UntrustedError, is_text, read_parquet
from replay.formats.csv_table import TableRows, read_csv_table
from replay.formats.debs import read_debs
from replay.formats.goalkeepers import with_goalkeepers
from replay.formats.kloppy_reader import read_kloppy
from replay.formats.match_sheets import no_sheet, read_sheet, says_pitch, sheet_next_to, shirt_in, within_limits
from replay.formats.missing import with_positions
from replay.formats.periods import in_line, period_numbers
from replay.formats.pitch_size import UNKNOWN_M, with_pitch
from replay.formats.smoothing import ball_smoothing
from replay.formats.teams import apart, rows_by_team, sides_of
from replay.formats.times import check_restarts, check_unit, from_zero, in_order, too_short
from replay.formats.unnamed import IDS_MAX, SQUAD_MAX, with_unnamed
from replay.formats.wide_table import is_wide, is_wide_text, long_rows

Codes = npt.NDArray[np.int64]

#: Columns that a long table must have.
COLUMNS = ("t_ms", "object_id", "team", "x", "y")

#: A column that it may have: heights. Without it all of them are missing.
HEIGHT = "z"

#: Another one: whether the ball is in play, as the source says. Other values, and none, say nothing.
FLAG, FLAG_VALUES = "ball_status", {"alive": True, "dead": False}

#: A third one: the number of the period. Other values, and none, say nothing.
PERIOD = "period"

#: A column of tables that have all objects of a frame in one row.
WIDE = "ball_x"

#: Columns that hold texts; numbers of periods are read as such, so that another value refuses no row, and
#: what nobody reads.
TEXTS = ("object_id", "team", FLAG, PERIOD, WIDE)

#: Ends of the names of long tables.
PARQUET, CSV = (".parquet", ".pq"), (".csv", ".csv.gz")

#: Teams in a table's column, with officials, balls and others.
_TEAMS_MAX = 100

#: Microseconds; an event time further from zero is taken for nonsense that no packet can hold.
_TIME_MAX_US = 2**53


def read_tracking(
    source: str, *, pitch: tuple[float, float] = (105.0, 68.0), sheet_path: Path | None = None
) -> Recording:
    """Read a tracking file.

    Args:
        source: path of a long table, ``kloppy:<provider>:<path>[:<further path> ...]``, or ``debs:<path>``
            of a stream in the form of the DEBS 2013 challenge.
        pitch: length and width in metres, used where neither sheet nor provider gives them.
        sheet_path: match sheet in the form of ``metadata.json``; default: the one next to the table.

    Raises:
        TrackingError: the file as a whole cannot be used; the message names file and reason.
    """
    if source.startswith("kloppy:"):
        provider, *paths = source.removeprefix("kloppy:").split(":")
        return read_kloppy(provider, [Path(p) for p in paths], pitch, sheet_path)
    if source.startswith("debs:"):
        return read_debs(Path(source.removeprefix("debs:")), sheet_path=sheet_path)
    path = Path(source)
    if path.is_dir():
        raise TrackingError(f"{path}: a folder that is neither a capture nor a match store, nor has a capture in it")
    if not path.name.lower().endswith((*PARQUET, *CSV)):
        raise TrackingError(
            f"{path}: unknown format {path.suffix or '(no suffix)'!r}: give a .parquet or .csv table (also .csv.gz),"
            " kloppy:<provider>:<path>[:<meta path>] for a provider's file, or debs:<path> for a DEBS 2013 stream"
        )
    return read_long_table(path, pitch=pitch, sheet_path=sheet_path)


def read_long_table(
    path: Path, *, pitch: tuple[float, float] = (105.0, 68.0), sheet_path: Path | None = None
) -> Recording:
    """Read a long table, Parquet or CSV; arguments and errors as in :func:`read_tracking`."""
    rows = _rows(path)
    table = rows.table
    objects, codes = _texts(table, "object_id", path)
    if len(objects) > IDS_MAX:
        raise TrackingError(f"{path}: {len(objects)} objects; at most {IDS_MAX}")
    times_us, x_m, y_m, z_m = _numbers(table, path)
    times_us, periods, joined = _in_line(table, times_us, path)
    teams, team_codes = _texts(table, "team", path)
    if len(teams) > _TEAMS_MAX:
        raise TrackingError(f"{path}: column team has {len(teams)} teams; at most {_TEAMS_MAX}")
    objects, codes, shared = apart(objects, codes, teams, team_codes, times_us)
    names = np.array([*objects, ""], dtype=object)[codes]
    usable, unusable = _usable(rows, path.name, names, times_us, x_m, y_m, z_m)
    rejected = [*rows.rejected, *unusable]
    tracks = _tracks(objects, codes, times_us, x_m, y_m, z_m, usable)
    if not any(raw_kind(track.transmitter) == "raw.ball" for track in tracks):
        raise TrackingError(f"{path}: no ball: no row has the object_id 'ball'")
    sheet_path = sheet_path or sheet_next_to(path)
    given: tuple[InputFinding, ...] = ()
    unknown: dict[str, Team] = {}
    if sheet_path is not None:
        sheet = read_sheet(sheet_path, pitch)
    else:
        sheet, unknown, given = _sheet_from_rows(path, pitch, objects, codes, teams, team_codes)
    check_unit(path, tracks)
    check_restarts(path, tracks)
    tracks, nowhere = with_positions(tracks)
    tracks, unordered = in_order((*tracks, *_flag(table, times_us, usable, path)))
    first_us = int(tracks[0].ts_us[0])
    tracks, shifted = from_zero(tracks)
    by_us = int(tracks[0].ts_us[0]) - first_us
    if not sheet.periods:
        begun = tuple(Period(period.number, period.from_us + by_us) for period in periods)
        sheet = msgspec.structs.replace(sheet, periods=begun)
    with within_limits(path):
        tracks, unnamed, followed = with_unnamed(tracks, unknown)
        if len(tracks) > SOURCES_MAX:
            raise TrackingError(f"{path}: {len(tracks)} objects; at most {SOURCES_MAX}")
        sheet = msgspec.structs.replace(sheet, players=(*sheet.players, *unnamed))
    is_known = pitch != UNKNOWN_M or (sheet_path is not None and says_pitch(sheet_path))
    sheet, sized = with_pitch(sheet, tracks, is_known=is_known)
    sheet, kept = with_goalkeepers(sheet, tracks)
    smoothing_s, smoothed = ball_smoothing(tracks)
    if sheet_path is None:
        given = (no_sheet((sheet.length_m, sheet.width_m)), *given)
    with within_limits(path):
        findings = (
            *given,
            *shared,
            *followed,
            *sized,
            *kept,
            *joined,
            *nowhere,
            *unordered,
            *shifted,
            *smoothed,
            *too_short(tracks),
        )
        return Recording(_with_quality(sheet, tracks, smoothing_s), tracks, tuple(rejected), findings)


def _in_line(
    table: pa.Table, times_us: Floats, path: Path
) -> tuple[Floats, tuple[Period, ...], tuple[InputFinding, ...]]:
    """The times of the rows in one line over all periods, and these, if the table has their column."""
    if PERIOD not in table.column_names:
        return times_us, (), ()
    values, codes = _texts(table, PERIOD, path)
    numbers = np.append(period_numbers(values), 0)[codes]
    return in_line(np.where(np.abs(times_us) < _TIME_MAX_US, numbers, 0), times_us)


def _rows(path: Path) -> TableRows:
    """The rows of a file; those of a CSV that are no rows of the table are rejected already."""
    try:
        if path.stat().st_size == 0:
            raise TrackingError(f"{path}: the file is empty")
        is_csv = path.name.lower().endswith(CSV)
        wanted = (*COLUMNS, HEIGHT, FLAG, PERIOD, WIDE)
        rows = read_csv_table(path, wanted, TEXTS.__contains__) if is_csv else TableRows(read_parquet(path, wanted))
        if WIDE in rows.table.column_names and not set(COLUMNS) <= set(rows.table.column_names):
            rows = _read_wide(path, rows, is_csv=is_csv)
    except FileNotFoundError:
        raise TrackingError(f"{path}: no such file") from None
    except (OSError, UntrustedError) as error:
        raise TrackingError(f"{path}: {error}") from error
    missing = [name for name in COLUMNS if name not in rows.table.column_names]
    if missing and WIDE in rows.table.column_names:
        raise TrackingError(
            f"{path}: a row has all objects of a frame (column {WIDE}): a tracking table has a row for each object and"
            f" frame, with {', '.join(COLUMNS)} (metres from the centre spot), or columns that say time and teams"
            " (t_ms, ball_x, ball_y, home_7_x, home_7_y and so on). A provider's own file is read as"
            " kloppy:<provider>:<path>[:<meta path>]"
        )
    if missing:
        raise TrackingError(
            f"{path}: column {', '.join(missing)} is missing: a tracking table has {', '.join(COLUMNS)}, and for"
            f" heights {HEIGHT}"
        )
    if not rows.table.num_rows:
        if not rows.rejected:
            raise TrackingError(f"{path}: the table has no rows")
        first = rows.rejected[0]
        raise TrackingError(
            f"{path}: none of its lines is a row; {first.record}: {first.reason}: {first.raw}. Times are milliseconds,"
            " and numbers have a point, no comma"
        )
    return rows


def _read_wide(path: Path, rows: TableRows, *, is_csv: bool) -> TableRows:
    """The long rows of a table with all objects of a frame in one row; ``rows`` if it is none that says the teams."""
    every = read_csv_table(path, None, is_wide_text) if is_csv else TableRows(read_parquet(path))
    return long_rows(every) if is_wide(every.table.column_names) else rows


def _texts(table: pa.Table, column: str, path: Path) -> tuple[list[str], Codes]:
    """Return a text column's values and, of each row, the value's index; -1 where it is missing or empty."""
    try:
        texts = table[column].cast(pa.string())
    except pa.ArrowException as error:
        raise TrackingError(f"{path}: column {column} is not text: {error}") from error
    named = pc.if_else(pc.equal(texts, ""), pa.scalar(None, pa.string()), texts)
    encoded = named.combine_chunks().dictionary_encode()
    codes = pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False)
    return encoded.dictionary.to_pylist(), np.asarray(codes, np.int64)


def _numbers(table: pa.Table, path: Path) -> tuple[Floats, Floats, Floats, Floats]:
    """Return times in microseconds and positions in metres; missing values as NaN."""
    columns: list[Floats] = []
    for name in ("t_ms", "x", "y", HEIGHT):
        if name == HEIGHT and (name not in table.column_names or pa.types.is_null(table[name].type)):
            columns.append(np.full(table.num_rows, np.nan))
            continue
        column = table[name]
        if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
            raise TrackingError(f"{path}: column {name} holds {column.type}, not numbers")
        # Beyond 2^53 a whole number is rounded; no time and no position is that large.
        columns.append(np.asarray(column.cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64))
    return columns[0] * 1000.0, columns[1], columns[2], columns[3]


def _usable(
    rows: TableRows, file: str, names: npt.NDArray[np.object_], times_us: Floats, x_m: Floats, y_m: Floats, z_m: Floats
) -> tuple[Codes, list[RejectedRecord]]:
    """Return indexes of the rows that fit into a packet, and the others as rejected records."""
    timed = np.abs(times_us) < _TIME_MAX_US
    unusable = {name for name in set(names) if not _is_id(name)}
    good = timed & np.array([name not in unusable for name in names], np.bool_)
    bad = np.flatnonzero(~good)
    rejected: list[RejectedRecord] = []
    for row in bad[:REJECTED_MAX].tolist():
        ts_us = round(times_us[row]) if timed[row] else None
        name = str(names[row])
        reason = "no usable time" if not timed[row] else "no usable object id" if name else "no object id"
        raw = repr((float(times_us[row]), float(x_m[row]), float(y_m[row]), float(z_m[row])))
        rejected.append(RejectedRecord(f"{file} {rows.place(row)}", name[:ID_CHARACTERS_MAX], -1, ts_us, reason, raw))
    if len(bad) > REJECTED_MAX:
        reason = f"{len(bad) - REJECTED_MAX} more cannot be used"
        rejected.append(RejectedRecord(f"{file}: further rows", "", -1, None, reason, ""))
    return np.flatnonzero(good), rejected


def _tracks(
    objects: list[str], codes: Codes, times_us: Floats, x_m: Floats, y_m: Floats, z_m: Floats, usable: Codes
) -> tuple[Track, ...]:
    """Return the usable rows by object, each object's in the order of the file."""
    if not objects:
        return ()
    order = usable[np.argsort(codes[usable], kind="stable")]
    bounds = np.cumsum(np.bincount(codes[usable], minlength=len(objects)))[:-1]
    tracks: list[Track] = []
    for name, rows in zip(objects, np.split(order, bounds), strict=True):
        if not len(rows):
            continue
        heights = z_m[rows]
        # A centroid has no height, and some sources leave the column empty for players; the ball's height is
        # a measurement: it may be missing throughout, but a single gap in it is a bad row.
        if raw_kind(name) != "raw.ball" or bool(np.all(np.isnan(heights))):
            heights = np.where(np.isnan(heights), 0.0, heights)
        tracks.append(Track(name, np.rint(times_us[rows]).astype(np.int64), x_m[rows], y_m[rows], heights))
    return tuple(sorted(tracks, key=lambda t: track_order(t.transmitter)))


def _flag(table: pa.Table, times_us: Floats, usable: Codes, path: Path) -> tuple[Track, ...]:
    """Return the track of the alive flag, if the table has one; a column of another type is one of the others."""
    if FLAG not in table.column_names or not pa.types.is_string(table[FLAG].type):
        return ()
    values, codes = _texts(table, FLAG, path)
    meaning = np.array([*(FLAG_VALUES.get(value.strip().lower(), -1) for value in values), -1], np.int64)[codes[usable]]
    known = usable[meaning >= 0]
    frames_us, first = np.unique(np.rint(times_us[known]).astype(np.int64), return_index=True)
    track = flag_track(frames_us, meaning[meaning >= 0][first] == 1)
    return () if track is None else (track,)


def _sheet_from_rows(
    path: Path, pitch: tuple[float, float], objects: list[str], codes: Codes, teams: list[str], team_codes: Codes
) -> tuple[MatchSheet, dict[str, Team], tuple[InputFinding, ...]]:
    """A sheet with the objects of either team; an object that changes team belongs to its more frequent one.

    Of a team with more objects than any squad has, these are no players, but apart, with the team of each; so are
    people without a team who are as many.
    """
    of_objects: dict[str, str] = {}
    for name, own in zip(objects, rows_by_team(objects, codes, teams, team_codes), strict=True):
        if _is_id(name) and raw_kind(name) != "raw.ball":  # rows of other names are rejected
            of_objects[name] = teams[int(own.argmax())] if own.any() else ""
    sides, findings = sides_of(list(of_objects.values()))
    sided: dict[str, Team] = {name: sides.get(team, "") for name, team in of_objects.items()}
    squads = Counter(sided.values())
    unknown = {name: side for name, side in sided.items() if squads[side] > SQUAD_MAX}
    players = [Player(name, side, shirt=shirt_in(name)) for name, side in sided.items() if side and name not in unknown]
    players.sort(key=lambda p: (p.team == "away", p.shirt or 0, p.object_id))
    called = sides.items() if findings else ()
    names: dict[str, str] = {side: team for team, side in called if is_text(team) and any(map(str.isalpha, team))}
    match_id = path.name.partition(".")[0] or path.stem
    with within_limits(path):
        sheet = MatchSheet(match_id, length_m=pitch[0], width_m=pitch[1], players=tuple(players), **names)
    return sheet, unknown, findings


def _is_id(name: str) -> bool:
    return bool(name) and is_text(name, ID_CHARACTERS_MAX)


def _with_quality(sheet: MatchSheet, tracks: tuple[Track, ...], smoothing_s: float) -> MatchSheet:
    """Return the sheet with measured quality: rates by the median step, height if any is not 0, noise if there is."""
    balls = [t for t in tracks if raw_kind(t.transmitter) == "raw.ball"]
    bodies = [t for t in tracks if raw_kind(t.transmitter) not in ("raw.ball", "raw.flag")]
    height = any(bool(np.any(np.nan_to_num(t.z_m) != 0.0)) for t in balls)
    quality = Quality(rate_hz(balls), rate_hz(bodies), (), height, 0.05, "optical", ball_smoothing_s=smoothing_s)
    return msgspec.structs.replace(sheet, quality=with_jitter(quality, measured_jitter_m(balls)))
