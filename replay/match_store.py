"""The match store: a folder per match that only grows while the match is live.

    run.json                           settings, versions, input fingerprint; marks the folder as a match store
    sheet.json                         the match sheet
    updates/part-00000007.parquet      updates of window 7: (event, diff), in order of ``seq``
    positions/part-00000007.parquet    fused positions
    quarantine/part-00000007.parquet   rejected records, with their reasons
    camera/part-head-00000003.parquet  camera commands and poses (a series of its own, see below)
    commits/00000007.json              written last: window 7 is whole, with its frontier and end offset

Theory of operation
-------------------
A *commit* writes every table of a window to a file of another name, flushes it to the disk and renames it; then the
manifest, in the same way. Manifests call the number of the window ``batch``. Readers use only files that a manifest
names, so a crash in between leaves the view of before. A redone window replaces the same files: committing twice is
committing once. A reader of the Parquet files themselves (``read_parquet('DIR/updates/*.parquet')``) may see parts of
an unfinished window after a crash, until the window is redone or the store is opened for writing, which removes them.

The engine's windows are the main *series*. Other writers, like a camera head, have their own series with their own
numbers, so that no writer waits for another.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from football.errors import UserError
from football.match_sheet import MatchSheet
from football.packets import RejectedRecord
from football.payloads import Frame, Scalar
from football.tables import CAMERA, POSITIONS, QUARANTINE, UPDATES
from football.untrusted import Count, Int64, UntrustedError, decode_json, file_inside, read_json, read_parquet
from football.update_stream import EventRecord, UpdateRecord
from replay.block_validation import bounded

#: Version of the layout, in ``run.json`` under ``store``.
VERSION = 2

_RUN = "run.json"
#: A position lies at most so far from the watermarks of its window.
_BEYOND_US = 30_000_000


#: Columns without which a row says nothing.
_ALWAYS_THERE = {"updates": ("seq", "diff", "emitted_us", "epoch", "id", "kind", "level", "ts_us", "causes", "detail")}


#: Tables of a store and what their columns are; angles in degrees, the rest by its name.
SCHEMAS: Mapping[str, pa.Schema] = {
    "updates": UPDATES,
    "positions": POSITIONS,
    "quarantine": QUARANTINE,
    "camera": CAMERA,
}

T = TypeVar("T")

_SERIES = re.compile(r"[a-z][a-z0-9_]*|")


class StoreError(UserError, ValueError):
    """A folder that is no match store, or is damaged; the message names the file."""


def is_store(path: Path) -> bool:
    """True if a folder is a match store."""
    return (path / _RUN).is_file()


class CommitMeta(msgspec.Struct, frozen=True):
    """Metadata of a window of the engine.

    Attributes:
        frontier_us: watermark of the inputs; see ``football.update_stream.UpdateMessage``.
        end_offset: where the window ends (exclusive), as its source counts: arrival time of a capture in us, or number
            of a record of a topic.
        epoch: epoch of the stage that made it.
        ended: True if the match is over.
    """

    frontier_us: Int64 = -(2**62)
    end_offset: Int64 = 0
    epoch: Count = 0
    ended: bool = False


class Commit(msgspec.Struct, frozen=True):
    """A manifest: a window by its number, its series (empty for the engine's), its files by table, and its metadata."""

    batch: Count
    series: str
    parts: Mapping[str, str]
    meta: CommitMeta
    notes: Mapping[str, object] = {}


class MatchStore:
    """Writer of a match store. One writer per series at a time.

    Attributes:
        path: the folder.
        sheet: the match sheet.
        run: content of ``run.json``.
    """

    def __init__(self, path: Path, sheet: MatchSheet, run: Mapping[str, object]) -> None:
        self.path = path
        self.sheet = sheet
        self.run = run

    @classmethod
    def create(cls, path: Path | str, sheet: MatchSheet, run: Mapping[str, object]) -> MatchStore:
        """Create a store in a folder that is empty or missing.

        Args:
            path: the folder.
            sheet: the match sheet.
            run: settings, versions and input fingerprint; anything JSON can hold.

        Raises:
            StoreError: the folder is not empty.
        """
        path = Path(path)
        if path.is_file() or (path.is_dir() and any(path.iterdir())):
            raise StoreError(f"{path}: cannot make a match store here: the folder is not empty")
        path.mkdir(parents=True, exist_ok=True)
        with suppress(PermissionError):  # the folder of another user
            path.chmod(0o700)
        for name in (*SCHEMAS, "commits"):
            (path / name).mkdir()
        _put(path / "sheet.json", _json(sheet))
        # Last, because it is what makes the folder a store.
        _put(path / _RUN, _json({"store": VERSION, **run}))
        return cls(path, sheet, {"store": VERSION, **run})

    @classmethod
    def open(cls, path: Path | str, *, series: str = "") -> MatchStore:
        """Open a store to continue a series, and remove unfinished parts of it that a crash has left.

        Raises:
            StoreError: not a match store, or damaged.
        """
        path = Path(path)
        store = cls(path, read_sheet_of(path), read_run(path))
        committed = {part for commit in read_commits(path) for part in commit.parts.values()}
        for name in SCHEMAS:
            for part in (path / name).glob(f"part-{_prefix(series)}[0-9]*.parquet"):
                if f"{name}/{part.name}" not in committed:
                    part.unlink()
        return store

    @property
    def last_window(self) -> int:
        """Number of the newest committed window of the engine's series, -1 if there is none."""
        return max((commit.batch for commit in read_commits(self.path) if not commit.series), default=-1)

    def commit(
        self,
        window: int,
        tables: Mapping[str, pa.Table],
        meta: Mapping[str, object],
        *,
        series: str = "",
    ) -> Commit:
        """Add a window, or replace it by its redo; atomic and idempotent. Returns its manifest.

        Args:
            window: its number, from 0.
            tables: by name (see ``SCHEMAS``); columns in any order, missing names not allowed. Empty tables
                leave no file.
            meta: fields of :class:`CommitMeta`; further fields are stored as notes.
            series: name of the series; empty for the engine's.

        Raises:
            StoreError: unknown table or series name, a table that does not fit its schema, or wrong meta.
        """
        if window < 0 or not _SERIES.fullmatch(series):
            raise StoreError(f"{self.path}: window {window} of series {series!r} cannot be named")
        fitting = {name: self._fit(name, table) for name, table in tables.items() if table.num_rows}
        manifest = self._manifest(window, series, sorted(fitting), meta)
        for name, table in sorted(fitting.items()):
            _write_part(self.path / manifest.parts[name], table)
        _put(self.path / "commits" / f"{_prefix(series)}{window:08d}.json", _json(manifest))
        for name in SCHEMAS.keys() - fitting.keys():
            (self.path / _part(name, series, window)).unlink(missing_ok=True)
        return manifest

    def drop_newest_window(self, window: int) -> None:
        """Remove the newest window of the engine's series, so that it can be done again otherwise.

        Raises:
            StoreError: ``window`` is not the newest.
        """
        if window != self.last_window:
            raise StoreError(f"{self.path}: window {window} cannot be dropped: the newest is {self.last_window}")
        (self.path / "commits" / f"{window:08d}.json").unlink()
        _sync(self.path / "commits")
        for name in SCHEMAS:
            (self.path / _part(name, "", window)).unlink(missing_ok=True)

    def _fit(self, name: str, table: pa.Table) -> pa.Table:
        schema = SCHEMAS.get(name)
        if schema is None:
            raise StoreError(f"{self.path}: no table {name!r} in a match store; there are {', '.join(SCHEMAS)}")
        try:
            return table.select(schema.names).cast(schema)
        except (KeyError, pa.ArrowException) as error:
            raise StoreError(f"{self.path}: table {name} does not fit its schema: {error}") from error

    def _manifest(self, window: int, series: str, names: list[str], meta: Mapping[str, object]) -> Commit:
        fields = CommitMeta.__struct_fields__
        try:
            checked = msgspec.convert({k: v for k, v in meta.items() if k in fields}, CommitMeta)
        except msgspec.ValidationError as error:
            raise StoreError(f"{self.path}: window {window}: {error}") from error
        notes = {k: v for k, v in meta.items() if k not in fields}
        return Commit(window, series, {name: _part(name, series, window) for name in names}, checked, notes)


def updates_table(updates: Iterable[UpdateRecord], epoch: int) -> pa.Table:
    """Return published updates as rows of the ``updates`` table."""
    columns: dict[str, list[object]] = {name: [] for name in UPDATES.names}
    for update in updates:
        event = update.event
        for name in ("seq", "diff", "emitted_us"):
            columns[name].append(getattr(update, name))
        columns["epoch"].append(epoch)
        for name in UPDATES.names[4:-2]:
            columns[name].append(getattr(event, name))
        columns["causes"].append(list(event.causes))
        columns["detail"].append(msgspec.json.encode(event.detail, order="sorted").decode())
    return pa.table(columns, schema=UPDATES)


def positions_table(frames: Iterable[tuple[int, Frame]]) -> pa.Table:
    """Return fused frames, each with its event time, as rows of ``positions``: the ball first, then players."""
    rows: list[tuple[object, ...]] = []
    for ts_us, frame in frames:
        ball = frame.ball
        if ball is not None:
            velocity = (ball.vx_m_s, ball.vy_m_s, ball.vz_m_s)
            rows.append((ts_us, "ball", "", ball.x_m, ball.y_m, ball.z_m, *velocity))
        rows += [(ts_us, b.object_id, b.team, b.x_m, b.y_m, b.z_m, b.vx_m_s, b.vy_m_s, None) for b in frame.everybody()]
    columns = zip(*rows, strict=True) if rows else ((),) * len(POSITIONS.names)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, POSITIONS, strict=True)]
    return pa.Table.from_arrays(arrays, schema=POSITIONS)


def quarantine_table(rejected: Iterable[RejectedRecord]) -> pa.Table:
    """Return rejected records as rows of the ``quarantine`` table."""
    columns: dict[str, list[object]] = {name: [] for name in QUARANTINE.names}
    for record in rejected:
        for name in QUARANTINE.names:
            columns[name].append(getattr(record, name))
        columns["sequence"][-1] = bounded(record.sequence, -1)
        columns["ts_us"][-1] = bounded(record.ts_us, None)
    return pa.table(columns, schema=QUARANTINE)


def read_run(path: Path | str) -> dict[str, object]:
    """Read ``run.json``.

    Raises:
        StoreError: not a match store, or of another version.
    """
    file = Path(path) / _RUN
    try:
        run = read_json(file_inside(file.parent, file.name), dict[str, object])
    except FileNotFoundError as error:
        what = (
            f"it has no {_RUN}; `touchline live --source` plays an input" if file.parent.is_dir() else "no such folder"
        )
        raise StoreError(f"{path}: not a match store: {what}") from error
    except (OSError, UntrustedError) as error:
        raise StoreError(f"{path}: not a match store: {file.name}: {error}") from error
    if run.get("store") != VERSION:
        raise StoreError(f"{path}: not a match store of version {VERSION} (version found: {run.get('store')})")
    return run


def read_sheet_of(path: Path | str) -> MatchSheet:
    """Read the match sheet of a store.

    Raises:
        StoreError: not a match store, or the sheet is damaged.
    """
    read_run(path)
    return _read_json(Path(path), "sheet.json", MatchSheet)


def read_commits(path: Path | str) -> list[Commit]:
    """Read all commits of a store, by series and window.

    Raises:
        StoreError: not a match store, or a manifest is damaged.
    """
    read_run(path)
    commits = [_read_commit(Path(path), file.name) for file in (Path(path) / "commits").glob("*.json")]
    return sorted(commits, key=lambda commit: (commit.series, commit.batch))


def commits_state(path: Path | str) -> tuple[int, str]:
    """Return what changes with each commit: how many manifests there are, and the last one's name."""
    names = [file.name for file in (Path(path) / "commits").glob("*.json")]
    return len(names), max(names, default="")


def read_table(path: Path | str, name: str, columns: Sequence[str] | None = None) -> pa.Table:
    """Read all committed rows of a table, or some columns of them, by series and batch.

    Raises:
        StoreError: not a match store, no such table, or a part is missing or damaged; the file is named.
    """
    if name not in SCHEMAS:
        raise StoreError(f"{path}: no table {name!r} in a match store; there are {', '.join(SCHEMAS)}")
    parts = [read_part(Path(path), commit, name, columns) for commit in read_commits(path) if name in commit.parts]
    return pa.concat_tables(parts) if parts else SCHEMAS[name].empty_table().select(columns or SCHEMAS[name].names)


def read_window(path: Path | str, name: str, window: int) -> pa.Table | None:
    """Read the rows of a table of one window of the engine's series; None if it is not committed.

    Raises:
        StoreError: its manifest or part is damaged; the file is named.
    """
    file = Path(path) / "commits" / f"{window:08d}.json"
    return read_part(Path(path), _read_commit(Path(path), file.name), name) if file.exists() else None


def positions_between(path: Path | str, begin_us: int, end_us: int, every_us: int = 0) -> pa.Table:
    """Read the committed positions from an event time to another (excluded), in order of time; few windows are read.

    ``every_us`` keeps the first instant of each so many microseconds only; 0 keeps all.

    Raises:
        StoreError: not a match store, or a part is damaged; the file is named.
    """
    parts, before_us = [POSITIONS.empty_table()], -(2**62)
    for commit in read_commits(path):
        if commit.series:
            continue
        # A window has no position far beyond its watermark, and none far before that of the window before it.
        if commit.meta.frontier_us + _BEYOND_US >= begin_us and before_us - _BEYOND_US < end_us:
            rows = read_part(Path(path), commit, "positions")
            within = pc.and_(pc.greater_equal(rows["ts_us"], begin_us), pc.less(rows["ts_us"], end_us))
            parts.append(_thinned(rows.filter(within), every_us))  # each window, so that a whole match needs no memory
        before_us = commit.meta.frontier_us
    return _thinned(pa.concat_tables(parts), every_us).sort_by("ts_us")


def _thinned(rows: pa.Table, every_us: int) -> pa.Table:
    """Return the rows of the first instant of each ``every_us`` of event time; all of them if it is 0."""
    if not every_us:
        return rows
    slots = rows.append_column("slot", pc.divide(rows["ts_us"], every_us))
    first = slots.group_by("slot").aggregate([("ts_us", "min")])["ts_us_min"]
    return rows.filter(pc.is_in(rows["ts_us"], value_set=first.combine_chunks()))


def part_file(path: Path | str, commit: Commit, name: str) -> Path:
    """Return the file of a table's part that a manifest names.

    Raises:
        StoreError: it is a link that leads out of the store.
    """
    try:
        return file_inside(Path(path), commit.parts[name])
    except UntrustedError as error:
        raise StoreError(f"{path}: {error}") from error


def read_part(path: Path, commit: Commit, name: str, columns: Sequence[str] | None = None) -> pa.Table:
    """Read the rows of a table of one window, or some columns of them; none if it has no such part.

    Raises:
        StoreError: the part is missing or damaged; the file is named.
    """
    schema = SCHEMAS[name] if columns is None else pa.schema([SCHEMAS[name].field(column) for column in columns])
    if name not in commit.parts:
        return schema.empty_table()
    file, always_there = part_file(path, commit, name), _ALWAYS_THERE.get(name, ())
    try:
        rows = read_parquet(file, schema.names)
        if "lag_us" in schema.names and "lag_us" not in rows.column_names:  # older stores have the watermark of all
            rows = rows.append_column("lag_us", pa.repeat(pa.scalar(0, pa.int64()), len(rows)))
        rows = rows.select(schema.names).cast(schema)
        if missing := [column for column in schema.names if column in always_there and rows[column].null_count]:
            raise StoreError(f"{file}: damaged part of window {commit.batch}: no value in {', '.join(missing)}")
        return rows
    except (OSError, KeyError, UntrustedError, pa.ArrowException) as error:
        raise StoreError(f"{file}: damaged part of window {commit.batch}: {error}") from error


def read_newest_commit(path: Path | str) -> Commit | None:
    """Read the last commit of the engine's series; None if there is none. Errors as in :func:`read_commits`."""
    read_run(path)
    names = (file.name for file in (Path(path) / "commits").glob("[0-9]*.json"))
    newest = max(names, default=None)
    return None if newest is None else _read_commit(Path(path), newest)


def newest_commit(commits: Iterable[Commit]) -> Commit | None:
    """Return the last commit of the engine's series; None if there is none."""
    return max((commit for commit in commits if not commit.series), key=lambda commit: commit.batch, default=None)


def updates_log(path: Path | str) -> pa.Table:
    """Return the committed updates in the order of ``seq``. Errors as in :func:`read_table`."""
    return read_table(path, "updates").sort_by("seq")


def committed_updates(path: Path | str, *, begin_seq: int = 0) -> Iterator[tuple[list[UpdateRecord], CommitMeta]]:
    """The committed updates from ``begin_seq`` on, a window at a time, each with its commit's data. Errors as above."""
    windows = sorted((commit for commit in read_commits(path) if not commit.series), key=lambda commit: commit.batch)
    for commit in windows:
        if isinstance(end := commit.notes.get("next_seq"), int) and end <= begin_seq:
            continue
        rows = read_part(Path(path), commit, "updates").sort_by("seq")
        yield update_records(rows.filter(pc.greater_equal(rows["seq"], begin_seq))), commit.meta


def update_records(rows: pa.Table) -> list[UpdateRecord]:
    """Return rows of the ``updates`` table as records."""
    return [_update(row) for row in rows.to_pylist()]


def _update(row: dict[str, Any]) -> UpdateRecord:
    fields = {name: row[name] for name in EventRecord.__struct_fields__}
    fields["causes"], fields["detail"] = tuple(row["causes"]), decode_json(row["detail"], dict[str, Scalar])
    return UpdateRecord(row["seq"], row["diff"], row["emitted_us"], EventRecord(**fields))


def _part(name: str, series: str, window: int) -> str:
    return f"{name}/part-{_prefix(series)}{window:08d}.parquet"


def _prefix(series: str) -> str:
    return f"{series}-" if series else ""


def _json(value: object) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value, order="deterministic"), indent=1)


def _read_json(path: Path, name: str, kind: type[T]) -> T:
    try:
        return read_json(file_inside(path, name), kind)
    except (OSError, UntrustedError) as error:
        raise StoreError(f"{path / name}: damaged: {error}") from error


def _read_commit(path: Path, name: str) -> Commit:
    """Read a manifest. Its names are those that its batch has; any other could lead out of the store."""
    commit = _read_json(path, f"commits/{name}", Commit)
    series, batch = commit.series, commit.batch
    stem = f"{_prefix(series)}{batch:08d}" if batch >= 0 and _SERIES.fullmatch(series) else ""
    parts = {table: _part(table, series, batch) for table in commit.parts if table in SCHEMAS}
    if name != f"{stem}.json" or parts != commit.parts:
        raise StoreError(f"{path / 'commits' / name}: damaged: it names another window, or other parts than its own")
    return commit


def _write_part(file: Path, table: pa.Table) -> None:
    _replace(file, lambda partial: pq.write_table(table, partial, compression="zstd"))


def _put(file: Path, content: bytes) -> None:
    _replace(file, lambda partial: partial.write_bytes(content))


def _replace(file: Path, write: Callable[[Path], object]) -> None:
    """Write a file under another name, make it durable, and only then rename it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_name(f".{file.name}.{os.getpid()}.partial")
    try:
        write(partial)
        _sync(partial)
        os.replace(partial, file)
    finally:
        partial.unlink(missing_ok=True)
    _sync(file.parent)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
