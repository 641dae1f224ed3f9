"""The stream of the DEBS 2013 Grand Challenge (a match in Nuremberg, radio tags): reader and writer.

One event a line, no header: ``sid,ts,x,y,z,|v|,|a|,vx,vy,vz,ax,ay,az``: picoseconds, millimetres, micrometres a second
(and a second squared), directions as unit vectors times 10,000. Beside the stream lie

* ``sensors.csv``: ``sid,kind,team,name,role,limb``: who carries which sensor (kind ball, player, referee; team A, B);
* ``halves.csv`` (ours): ``half,begin_ps,end_ps,annotation_shift_s``; without it the stream is of the match itself;
* ``metadata.json`` (ours, see :mod:`replay.formats.match_sheets`): pitch, players and sides; without it those of the
    match itself.

Its origin is the middle of one touchline and y runs from goal to goal; ours is the centre spot and x runs from goal to
goal, so their y is our x and their x our -y (a turn, no mirror image). Our event time is zero where the first half
begins. Team A is home. Only positions are read: our filters make their own velocities.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from football.errors import TrackingError
from football.match_sheet import MatchSheet, Player, Quality, Team
from football.packet_table import Floats, Ints
from football.packets import RejectedRecord, raw_kind
from football.recording import (
    Recording,
    Track,
    rate_hz,
    track_order,
)
from football.untrusted import REJECTED_MAX, SOURCES_MAX, UntrustedError
from football.untrusted_files import open_expanded
from replay.formats.csv_rows import read_rows, write_rows
from replay.formats.match_sheets import METADATA, read_sheet, within_limits

SENSORS, HALVES = "sensors.csv", "halves.csv"
COLUMNS = ("sid", "ts", "x", "y", "z", "v_abs", "a_abs", "vx", "vy", "vz", "ax", "ay", "az")

#: Centre spot and size of the match's own field, from its corners (x 0..52483, y -33960..33965 mm).
FIELD_CENTRE_MM = (26_241.5, 2.5)
FIELD_M = (67.925, 52.483)

#: Their names of limbs and ours.
LIMBS = {"left_leg": "left_foot", "right_leg": "right_foot", "left_arm": "left_hand", "right_arm": "right_hand"}
_THEIR_LIMBS = {ours: theirs for theirs, ours in LIMBS.items()}

_TEAMS: dict[str, Team] = {"A": "home", "B": "away", "": ""}
#: Their teams and ours.
DEBS_TEAMS = {"home": "A", "away": "B"}

#: Positions within the halves; the match itself has 45 million.
POSITIONS_MAX = 100_000_000

#: Picoseconds in a microsecond.
PS_IN_US = 1_000_000
#: A match has no more halves, with extra time and a shoot-out, and no longer ones: what is made of them is as large.
HALVES_MAX, HALF_MAX_PS = 8, 3 * 3_600 * 10**12
#: Rows are written chunk by chunk, so that a long match needs little memory.
_CHUNK_US = 5_000_000
#: A velocity is the difference of two means over so long each: the noise of one position is as great as a step.
_SMOOTH_US = 25_000


class Sensor(msgspec.Struct, frozen=True):
    """A row of the sensor map; ``limb`` by its DEBS name."""

    sid: int
    kind: str
    team: str
    name: str
    role: str
    limb: str


class Half(msgspec.Struct, frozen=True):
    """A half of the match on the stream's clock (picoseconds).

    ``annotation_shift_s``: seconds to add to the stream's seconds since the half's begin to get the annotator's.
    """

    half: int
    begin_ps: int
    end_ps: int
    annotation_shift_s: float = 0.0


#: The match itself. Shifts: what published solutions found; the annotation was timed by hand against video.
MATCH_HALVES = (
    Half(1, 10_753_295_594_424_116, 12_557_295_594_424_116, 4.08),
    Half(2, 13_086_639_146_403_495, 14_879_639_146_403_495, 0.46),
)


def read_debs(path: Path, *, sheet_path: Path | None = None) -> Recording:
    """Read a stream with its sensor map, halves and sheet; rows outside the halves are skipped.

    Args:
        path: the stream.
        sheet_path: match sheet to use instead of the one next to the stream.

    Returns:
        the recording; rows of unknown sensors or of another length are in ``rejected``.

    Raises:
        TrackingError: a file is missing or cannot be read; the message names it.
    """
    sensors = read_sensors(path.parent / SENSORS)
    halves = read_halves(path.parent)
    own_sheet = path.parent / METADATA
    chosen = sheet_path or (own_sheet if own_sheet.is_file() else None)
    sheet = read_sheet(chosen) if chosen else MatchSheet("debs2013", "A", "B", *FIELD_M)
    centre_mm = (sheet.width_m * 500.0, 0.0) if chosen else FIELD_CENTRE_MM
    with within_limits(path):
        sheet = with_carriers(sheet, sensors)
    names = transmitters(sensors, sheet)
    columns, rejected = _rows_by_sensor(path, halves)
    tracks: list[Track] = []
    for sid, (ts_ps, x_mm, y_mm, z_mm) in columns.items():
        if sid not in names:
            reason = f"sensor {sid} is not in {SENSORS}"
            if len(rejected) < REJECTED_MAX:
                rejected.append(RejectedRecord(path.name, str(sid), -1, None, reason, f"{len(ts_ps)} rows"))
            continue
        ts_us = (ts_ps - halves[0].begin_ps + PS_IN_US // 2) // PS_IN_US
        x_m, y_m = (y_mm - centre_mm[1]) / 1e3, (centre_mm[0] - x_mm) / 1e3
        tracks.append(Track(names[sid], ts_us, x_m, y_m, z_mm / 1e3))
    if not any(raw_kind(track.transmitter) == "raw.ball" for track in tracks):
        raise TrackingError(f"{path}: no ball: no row of a ball's sensor lies within the halves")
    tracks.sort(key=lambda track: track_order(track.transmitter))
    with within_limits(path):
        return Recording(_with_quality(sheet, tracks), tuple(tracks), tuple(rejected))


def debs_files(path: Path) -> list[Path]:
    """Return the files that decide the content of a stream."""
    return [path, *(path.parent / name for name in (SENSORS, HALVES, METADATA))]


def read_sensors(path: Path) -> tuple[Sensor, ...]:
    """Read the sensor map.

    Raises:
        TrackingError: it is missing, a column is, or a line is wrong.
    """
    sensors = read_rows(path, Sensor)
    if len(sensors) > SOURCES_MAX:
        raise TrackingError(f"{path}: {len(sensors)} sensors; at most {SOURCES_MAX}")
    for sensor in sensors:
        if sensor.kind not in ("ball", "player", "referee") or sensor.team not in _TEAMS:
            raise TrackingError(f"{path}: sensor {sensor.sid}: no such kind or team: {sensor.kind!r}, {sensor.team!r}")
    return sensors


def read_halves(folder: Path) -> tuple[Half, ...]:
    """Read the halves from the file next to a stream, else return those of the match itself.

    Raises:
        TrackingError: the file is damaged, has no half, or one that no match has.
    """
    path = folder / HALVES
    if not path.is_file():
        return MATCH_HALVES
    halves = read_rows(path, Half)
    if not halves:
        raise TrackingError(f"{path}: tells no half")
    if len(halves) > HALVES_MAX:
        raise TrackingError(f"{path}: tells {len(halves)} halves; at most {HALVES_MAX}")
    for half in halves:
        if not (abs(half.begin_ps) < 2**63 and 0 < half.end_ps - half.begin_ps <= HALF_MAX_PS):
            raise TrackingError(f"{path}: half {half.half} must begin before it ends, and last 3 hours at most")
    return halves


def transmitters(sensors: Sequence[Sensor], sheet: MatchSheet) -> dict[int, str]:
    """Return our transmitter names by sensor. Players are found in the sheet by team and name."""
    ids = {(player.team, player.name): player.object_id for player in sheet.players}
    referees = list(dict.fromkeys(s.name for s in sensors if s.kind == "referee"))
    names: dict[int, str] = {}
    for sensor in sensors:
        if sensor.kind == "ball":
            names[sensor.sid] = sensor.name.replace(" ", "_")
            continue
        if sensor.kind == "referee":
            body = f"referee_{referees.index(sensor.name) + 1}"
        else:
            body = ids[_TEAMS[sensor.team], sensor.name]
        names[sensor.sid] = f"{body}/{LIMBS.get(sensor.limb, sensor.limb)}" if sensor.limb else body
    return names


def write_debs(folder: Path, recording: Recording, halves: Sequence[Half] | None = None) -> Path:
    """Write a recording as a stream with its sensor map, halves and sheet.

    Args:
        folder: created if missing.
        recording: positions become whole millimetres; rows off a transmitter's time line are left out.
        halves: on the stream's clock; default: one half from event time 0 to the recording's end, begun when the
            match's own was.

    Returns:
        the stream, ``stream.csv`` in the folder.
    """
    end_ps = MATCH_HALVES[0].begin_ps + (recording.end_us + 1) * PS_IN_US
    halves = tuple(halves or (Half(1, MATCH_HALVES[0].begin_ps, end_ps),))
    folder.mkdir(parents=True, exist_ok=True)
    write_rows(folder / SENSORS, Sensor, sensor_map(recording))
    write_rows(folder / HALVES, Half, halves)
    (folder / METADATA).write_bytes(_metadata(recording.sheet))
    path = folder / "stream.csv"
    options = pacsv.WriteOptions(include_header=False)
    with pacsv.CSVWriter(path, pa.schema([(name, pa.int64()) for name in COLUMNS]), write_options=options) as writer:
        for rows in _chunks(recording, halves[0].begin_ps):
            writer.write_table(rows)
    return path


def _positioned(recording: Recording) -> list[Track]:
    """Return the tracks that have positions: the format has no place for an alive flag."""
    return [track for track in recording.tracks if raw_kind(track.transmitter) != "raw.flag"]


def sensor_map(recording: Recording) -> tuple[Sensor, ...]:
    """Return a sensor for each transmitter, numbered from 1."""
    players = {player.object_id: player for player in recording.sheet.players}
    sensors: list[Sensor] = []
    for sid, track in enumerate(_positioned(recording), 1):
        body, _, limb = track.transmitter.partition("/")
        limb = _THEIR_LIMBS.get(limb, limb)
        kind = raw_kind(track.transmitter)
        if kind == "raw.ball":
            sensors.append(Sensor(sid, "ball", "", body, "", ""))
        elif kind == "raw.referee":
            sensors.append(Sensor(sid, "referee", "", body, "referee", limb))
        else:
            player = players.get(body, Player(body, "home" if body.startswith("home_") else "away"))
            role = "goalkeeper" if player.goalkeeper else "player"
            sensors.append(Sensor(sid, "player", DEBS_TEAMS[player.team], player.name or body, role, limb))
    return tuple(sensors)


def with_carriers(sheet: MatchSheet, sensors: Sequence[Sensor]) -> MatchSheet:
    """Return the sheet with players for all sensors; unknown players are numbered, goalkeepers first."""
    players = list(sheet.players)
    known = {(p.team, p.name or p.object_id) for p in players}
    players = [p if p.name else msgspec.structs.replace(p, name=p.object_id) for p in players]
    carriers = [s for s in sensors if s.kind == "player"]
    for sensor in sorted(carriers, key=lambda s: s.role != "goalkeeper"):
        team = _TEAMS[sensor.team]
        if (team, sensor.name) in known:
            continue
        known.add((team, sensor.name))
        number = 1 + sum(p.team == team for p in players)
        players.append(Player(f"{team}_{number}", team, sensor.name, number, sensor.role == "goalkeeper"))
    return msgspec.structs.replace(sheet, players=tuple(players))


def _with_quality(sheet: MatchSheet, tracks: list[Track]) -> MatchSheet:
    balls = [t for t in tracks if raw_kind(t.transmitter) == "raw.ball"]
    bodies = [t for t in tracks if raw_kind(t.transmitter) in ("raw.limb", "raw.player")]
    limbs = {t.transmitter.partition("/")[2] for t in bodies} & {"left_foot", "right_foot"}
    height = any(bool(np.any(track.z_m != 0.0)) for track in balls)
    quality = Quality(rate_hz(balls), rate_hz(bodies), tuple(sorted(limbs)), height, 0.02, "rtls")
    return msgspec.structs.replace(sheet, quality=quality)


def _rows_by_sensor(
    path: Path, halves: Sequence[Half]
) -> tuple[dict[int, tuple[Ints, Floats, Floats, Floats]], list[RejectedRecord]]:
    """Return time (ps) and position (mm) of each sensor's rows within the halves, in recorded order; and bad rows."""
    rejected: list[RejectedRecord] = []

    def refuse(row: pacsv.InvalidRow) -> str:
        reason = f"{row.actual_columns} columns instead of {row.expected_columns}"
        if len(rejected) < REJECTED_MAX:
            rejected.append(RejectedRecord(f"{path.name} line {row.number}", "", -1, None, reason, row.text[:120]))
        return "skip"

    parts: dict[int, list[Floats]] = {}
    left = POSITIONS_MAX
    for table in _batches(path, refuse):
        sid, ts = (np.asarray(table[name]) for name in ("sid", "ts"))
        within = np.zeros(len(ts), np.bool_)
        for half in halves:
            within |= (ts >= half.begin_ps) & (ts < half.end_ps)
        rows = np.flatnonzero(within)
        rows = rows[np.argsort(sid[rows], kind="stable")]
        columns = np.stack([np.asarray(table[name])[rows] for name in ("ts", "x", "y", "z")])
        sids, starts = np.unique(sid[rows], return_index=True)
        for name, part in zip(sids.tolist(), np.split(columns, starts[1:], axis=1), strict=False):
            parts.setdefault(name, []).append(part)
        left -= len(rows)
        if left < 0:
            raise TrackingError(f"{path}: more than {POSITIONS_MAX} positions")
        if len(parts) > SOURCES_MAX:
            raise TrackingError(f"{path}: more than {SOURCES_MAX} sensors")
    joined = {sid: np.concatenate(columns, axis=1) for sid, columns in parts.items()}
    return {sid: (c[0], *c[1:].astype(np.float64)) for sid, c in joined.items()}, rejected  # type: ignore[misc]


def _batches(path: Path, refuse: pacsv.InvalidRowHandler) -> Iterator[pa.RecordBatch]:
    columns = ("sid", "ts", "x", "y", "z")
    try:
        with open_expanded(path) as file:
            yield from pacsv.open_csv(
                file,
                pacsv.ReadOptions(column_names=list(COLUMNS), use_threads=False),
                pacsv.ParseOptions(invalid_row_handler=refuse),
                pacsv.ConvertOptions(column_types=dict.fromkeys(columns, pa.int64()), include_columns=list(columns)),
            )
    except FileNotFoundError:
        raise TrackingError(f"{path}: no such file") from None
    except (OSError, UntrustedError, pa.ArrowException) as error:
        raise TrackingError(f"{path}: not a stream of the DEBS 2013 format: {error}") from error


def _chunks(recording: Recording, zero_ps: int) -> Iterator[pa.Table]:
    """Yield rows of all sensors in order of time, some seconds at a time."""
    measured = [_measured(sid, track, recording.sheet, zero_ps) for sid, track in enumerate(_positioned(recording), 1)]
    step_ps = _CHUNK_US * PS_IN_US
    begin_ps = min((int(rows[1, 0]) for rows in measured), default=0)
    end_ps = max((int(rows[1, -1]) for rows in measured), default=-1)
    for from_ps in range(begin_ps, end_ps + 1, step_ps):
        parts = []
        for rows in measured:
            low, high = np.searchsorted(rows[1], (from_ps, from_ps + step_ps))
            parts.append(rows[:, low:high])
        chunk = np.concatenate(parts, axis=1)
        chunk = chunk[:, np.lexsort((chunk[0], chunk[1]))]
        yield pa.table(dict(zip(COLUMNS, chunk, strict=True)))


def _measured(sid: int, track: Track, sheet: MatchSheet, zero_ps: int) -> Ints:
    """Return a track as rows of their columns: (13, n) whole numbers."""
    line = track.line
    ts_us = track.ts_us[line]
    position_mm = np.stack([
        sheet.width_m * 500.0 - track.y_m[line] * 1e3,
        track.x_m[line] * 1e3,
        track.z_m[line] * 1e3,
    ])  # fmt: skip
    velocity = _slope(position_mm / 1e3, ts_us)
    pushed = _slope(velocity, ts_us)
    out = [np.full(len(line), sid), ts_us * PS_IN_US + zero_ps, *np.rint(position_mm)]
    sizes = [np.linalg.norm(vector, axis=0) for vector in (velocity, pushed)]
    out += [np.rint(size * 1e6) for size in sizes]
    for vector, size in zip((velocity, pushed), sizes, strict=True):
        out += list(np.rint(vector / np.maximum(size, 1e-12) * 1e4))
    return np.stack([np.asarray(column, np.int64) for column in out])


def _slope(values: Floats, ts_us: Ints) -> Floats:
    """Return the change a second of each row of ``values``: means just after less means just before each sample."""
    count = len(ts_us)
    if count < 2:
        return np.zeros_like(values)
    period_us = max(float(np.median(np.diff(ts_us))), 1.0)
    reach = max(1, round(_SMOOTH_US / period_us))
    at = np.arange(count)
    low, high = np.maximum(at - reach, 0), np.minimum(at + reach + 1, count)
    sums = np.concatenate([np.zeros((len(values) + 1, 1)), np.cumsum(np.vstack([values, ts_us / 1e6]), axis=1)], axis=1)
    before = (sums[:, at + 1] - sums[:, low]) / (at + 1 - low)
    after = (sums[:, high] - sums[:, at]) / (high - at)
    return np.asarray((after - before)[:-1] / (after - before)[-1])


def _metadata(sheet: MatchSheet) -> bytes:
    """Return a sheet in the form that :mod:`replay.formats.match_sheets` reads."""
    players = [
        {"object_id": p.object_id, "name": p.name, "goalkeeper": p.goalkeeper, "team": p.team, "shirt": p.shirt}
        for p in sheet.players
    ]
    metadata = {
        "match": {"source_match_id": sheet.match_id},
        "pitch": {"length_m": sheet.length_m, "width_m": sheet.width_m},
        "period": {"attacks_positive_x": sheet.attacks_positive_x},
        "teams": {"home": sheet.home, "away": sheet.away},
        "players": players,
    }
    return msgspec.json.format(msgspec.json.encode(metadata), indent=1)
