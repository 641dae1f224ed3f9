"""The folder of a live match: the match store, and what a later run needs to go on in it.

Beside the store's own files it holds ``capture/`` (what arrived, packet by packet), ``states/`` (engine states at
offsets) and ``spark/`` (Spark's checkpoint and log). All of it is made before the first block is played, so a run
that is interrupted at any time after that can be gone on with from the folder alone.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
import pyarrow as pa
from rich.console import Console
from rich.progress import Progress

from app.settings import LiveSettings
from detectors.lane import EventRecord, UpdateRecord
from replay.capture import Capture
from replay.checks import Rejected
from replay.sources import prepare_capture
from replay.store import Commit, MatchStore, StoreError, quarantine_table, read_commits, updates_log

CAPTURE = "capture"
CAMERA_SERIES = "camera"


class Match:
    """An opened folder: the capture to play, and the store to commit to."""

    def __init__(self, store: MatchStore, capture: Capture) -> None:
        self.folder, self.capture, self.stop_us = store.path, capture, capture.end_us
        self._store = store
        commits = read_commits(store.path)
        self._camera_batch = 1 + max((c.batch for c in commits if c.series == CAMERA_SERIES), default=-1)
        self._last = max((c for c in commits if not c.series), key=lambda c: c.batch, default=None)

    def commit(self, batch_id: int, match: str, tables: Mapping[str, pa.Table], meta: Mapping[str, Any]) -> None:
        """Commits a batch; its redo replaces it by the same."""
        assert match == self.capture.sheet.match_id
        tables = dict(tables)
        if batch_id == 0:
            tables["quarantine"] = self._with_unreadable(tables.get("quarantine"))
        self._store.commit(batch_id, tables, meta)
        self._last = _newest(self._store.path)

    def append_camera(self, table: pa.Table) -> None:
        """Commits rows of the camera, in a series of their own."""
        self._store.commit(self._camera_batch, {"camera": table}, {}, series=CAMERA_SERIES)
        self._camera_batch += 1

    def offset_us(self) -> int:
        """Arrival time up to which everything is committed."""
        return self._last.meta.end_offset_us if self._last else self.capture.begin_us

    def next_batch(self) -> int:
        """Number of the first batch that is not committed."""
        return self._last.batch + 1 if self._last else 0

    def committed_epoch(self) -> int:
        """Epoch of the last committed batch, 0 without one."""
        return self._last.meta.epoch if self._last else 0

    def committed_updates(self) -> list[UpdateRecord]:
        """All that was committed, as it was sent."""
        return [_update(row) for batch in updates_log(self.folder).to_batches() for row in batch.to_pylist()]

    def quarantined(self) -> dict[str, int]:
        """Number of refused records by reason: of rows that could not be read, and of blocks and packets."""
        counts = Counter(rejected.reason for rejected in self._unreadable())
        told = self._last.notes.get("quarantined", {}) if self._last else {}
        assert isinstance(told, dict)
        counts.update(told)
        return dict(counts)

    def _unreadable(self) -> list[Rejected]:
        """Rows of the source that no packet could hold; known since the capture was made."""
        return list(self.capture.rejected)

    def _with_unreadable(self, table: pa.Table | None) -> pa.Table:
        first = quarantine_table(self._unreadable())
        return first if table is None else pa.concat_tables([first, table])


@contextmanager
def open_match(settings: LiveSettings, console: Console) -> Iterator[Match]:
    """Makes the folder, or opens it to go on; nobody else may run in it meanwhile.

    Raises:
        StoreError: the folder holds something else, is damaged, or another run is using it.
        TrackingError, ChannelError, SimulatorError, CaptureError: the source cannot be used.
    """
    folder = settings.store
    if folder is not None and (folder / "run.json").is_file():
        store, capture = MatchStore.open(folder), Capture.open(folder / CAPTURE)
    else:
        store, capture = _make(settings, console)
    with _alone(store.path):
        yield Match(store, capture)


def _make(settings: LiveSettings, console: Console) -> tuple[MatchStore, Capture]:
    folder = settings.store
    if folder is not None and folder.exists() and (folder.is_file() or any(folder.iterdir())):
        raise StoreError(f"{folder}: is neither empty nor a match store; choose another --store")
    parent = folder.parent if folder is not None else Path("matches").resolve()
    draft = parent / f".capture-{os.getpid()}"
    try:
        capture = _captured(settings, draft, console)
        if len(capture) == 0:
            raise StoreError(f"{settings.source}: holds no position that could be played")
        folder = folder or parent / _folder_name(capture.sheet.match_id)
        store = MatchStore.create(folder, capture.sheet, _run(settings, capture))
        draft.replace(folder / CAPTURE)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return store, Capture.open(folder / CAPTURE)


def _captured(settings: LiveSettings, path: Path, console: Console) -> Capture:
    with Progress(console=console, transient=True) as bar:
        task = bar.add_task(f"Preparing {settings.source} through channel {settings.channel}", total=1.0)
        prepare_capture(
            settings.source,
            settings.channel,
            settings.seed,
            path,
            duration_s=settings.duration_s,
            pitch=settings.pitch_m,
            sheet_path=settings.sheet,
            progress=lambda share: bar.update(task, completed=share),
        )
    return Capture.open(path)


def _run(settings: LiveSettings, capture: Capture) -> dict[str, object]:
    """What ``run.json`` holds: the choices that the match is made of, versions, and the input's fingerprint."""
    packages = ("touchline", "pyspark", "numpy", "pyarrow", "msgspec")
    return {
        "settings": settings.kept(),
        "versions": {name: _version(name) for name in packages},
        "fingerprint": capture.fingerprint,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _folder_name(match: str) -> str:
    return f"{quote(match, safe=' ')}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}".replace(" ", "_")


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Locks the folder. The system takes the lock away when the process ends, however it does."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise StoreError(f"{folder}: another run is using this store; wait for it or choose another") from None
    finally:
        os.close(handle)


def _newest(folder: Path) -> Commit:
    return max((c for c in read_commits(folder) if not c.series), key=lambda c: c.batch)


def _update(row: dict[str, Any]) -> UpdateRecord:
    fields = {name: row[name] for name in EventRecord.__struct_fields__}
    fields["causes"], fields["detail"] = tuple(row["causes"]), msgspec.json.decode(row["detail"])
    return UpdateRecord(row["seq"], row["diff"], row["emitted_us"], EventRecord(**fields))
