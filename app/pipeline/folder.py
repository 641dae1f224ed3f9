"""Folder of a live match: the match store, and the files that a later run needs to resume the match; its commits.

Besides the store's own files it holds the input that the match's source has prepared (``capture/``: the packets as they
arrived; ``topic.json``: the location of the match in a topic), ``states/`` (engine states at offsets) and ``spark/``
(Spark's working files and log). ``run.json`` records the settings that determine the match, so that a later run uses
the same ones.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa
from rich.console import Console

from app.base.private import check_store
from app.pipeline.commits import CommitError, HostError
from app.pipeline.recovery import recover
from app.settings.model import LiveSettings
from app.sources.interface import MatchInput, SourceRequest
from app.sources.registry import source_of
from football.house_time import HouseTime
from football.packets import RejectedRecord
from football.update_stream import UpdateRecord
from replay.house_times import write_house_time
from replay.match_store import (
    CommitMeta,
    MatchStore,
    StoreError,
    committed_updates,
    is_store,
    newest_commit,
    quarantine_table,
    read_commits,
    read_run,
    read_sheet_of,
)

CAMERA_SERIES = "camera"


class Match:
    """An opened folder: the input to play, and the store to commit to."""

    def __init__(self, store: MatchStore, match_input: MatchInput) -> None:
        self.folder, self.input = store.path, match_input
        self._store = store
        commits = read_commits(store.path)
        self._camera_batch = 1 + max((c.batch for c in commits if c.series == CAMERA_SERIES), default=-1)
        self._last = newest_commit(commits)
        #: Called after the commit of a window, with the number of the first update that is not committed.
        self.on_commit: Callable[[int], None] = lambda seq: None

    def commit(self, start: int, tables: Mapping[str, pa.Table], meta: Mapping[str, Any]) -> None:
        """Commits a window; see :class:`app.pipeline.commits.CommitLog`. Then notifies the sink and the input.

        This is where a window that is committed already is ignored, and one that does not follow the last is refused.
        """
        offset, end = self.offset(), meta["end_offset"]
        is_committed = self._last is not None and (self._last.meta.ended or start < end == offset)
        if start != offset and not is_committed:
            raise CommitError(f"{self.folder}: a window of {start}..{end} where {offset} comes next")
        if not is_committed:
            tables, batch = dict(tables), self._last.batch + 1 if self._last else 0
            if batch == 0:
                tables["quarantine"] = self._with_unreadable(tables.get("quarantine"))
            self._last = self._store.commit(batch, tables, meta)
        self.on_commit(int(meta.get("next_seq", 0)))
        self.input.committed(self.offset())

    def append_camera(self, table: pa.Table) -> None:
        """Commits rows of the camera, in a series of their own."""
        self._store.commit(self._camera_batch, {"camera": table}, {}, series=CAMERA_SERIES)
        self._camera_batch += 1

    def offset(self) -> int:
        """Offset up to which everything is committed."""
        return self._last.meta.end_offset if self._last else self.input.begin

    def played_us(self) -> int:
        """Arrival time up to which everything is committed."""
        now_us = self._last.notes.get("now_us", 0) if self._last else 0
        return self.input.played_us(self.offset(), int(str(now_us)))

    def has_ended(self) -> bool:
        """True if the match is over and all of it is committed."""
        return self.input.has_ended(self.offset(), ended=self._last is not None and self._last.meta.ended)

    def committed_epoch(self) -> int:
        """Epoch of the last commit, 0 without one."""
        return self._last.meta.epoch if self._last else 0

    def committed_frontier_us(self) -> int:
        """Watermark of the last commit: event time below which committed rows cannot change."""
        return self._last.meta.frontier_us if self._last else -(2**62)

    def committed_updates(self) -> Iterator[tuple[list[UpdateRecord], CommitMeta]]:
        """Yields all committed updates as they were sent, one batch at a time."""
        return committed_updates(self.folder)

    def quarantined(self) -> dict[str, int]:
        """Number of refused records by reason: of rows that could not be read, and of blocks and packets."""
        counts = Counter(rejected.reason for rejected in self._unreadable())
        noted = self._last.notes.get("quarantined", {}) if self._last else {}
        if not isinstance(noted, dict):
            raise StoreError(f"{self.folder}: the last commit is damaged: quarantined = {noted}")
        counts.update(noted)
        return dict(counts)

    def _unreadable(self) -> list[RejectedRecord]:
        """Rows of the source that no packet could hold; known when the input is prepared."""
        return list(self.input.rejected)

    def _with_unreadable(self, table: pa.Table | None) -> pa.Table:
        first = quarantine_table(self._unreadable())
        return first if table is None else pa.concat_tables([first, table])


class MatchCommits:
    """The commit log of one match, see :class:`app.pipeline.commits.CommitLog`.

    Args:
        match: opened for writing.
        positions: True to store fused positions.
    """

    def __init__(self, match: Match, *, positions: bool = True) -> None:
        self._match, self._positions = match, positions

    def offset(self, match: str) -> int:
        """See :class:`app.pipeline.commits.CommitLog`."""
        return self._match.offset()

    def has_ended(self, match: str) -> bool:
        """See :class:`app.pipeline.commits.CommitLog`."""
        return self._match.has_ended()

    def commit(self, match: str, start: int, tables: Mapping[str, pa.Table], meta: Mapping[str, Any]) -> None:
        """See :class:`app.pipeline.commits.CommitLog`."""
        stored = {key: table for key, table in tables.items() if self._positions or key != "positions"}
        self._match.commit(start, stored, meta)

    def failed(self, match: str, reason: str) -> None:
        """Ends the run of the match.

        Raises:
            HostError: always.
        """
        raise HostError(reason)


@contextmanager
def open_match(settings: LiveSettings, console: Console, location: Any = None, key: str = "") -> Iterator[Match]:
    """Creates the folder, or opens it to resume the match; locks it against other runs while the context lasts.

    Args:
        settings: of the run.
        console: shows progress and notes.
        location: of a new match in its source, if it was discovered there; None lets the source find it.
        key: of the match in the run; default its id.

    Raises:
        StoreError: the folder holds something else, is damaged, or another run is using it (InUseError).
        StateError: the match cannot resume from any stored state.
        TrackingError, ChannelError, SimulatorError, CaptureError, KafkaError: the source cannot be used.
    """
    folder, source = settings.store, source_of(settings.source, settings.rate)
    request = request_of(settings, location)
    with ExitStack() as background:
        if folder is not None and is_store(folder):
            store = MatchStore.open(folder)
            background.enter_context(locked(store.path))
            if message := recover(store, source.restart_source(settings.source, folder), key):
                console.print(message)
            source.resume(request, folder, background)
        else:
            store = _make(settings, request, console, background)
            background.enter_context(locked(store.path))
        yield Match(store, source.load(settings.source, store.path))


def read_match(settings: LiveSettings) -> Match:
    """Reads the match in a store without its lock, since another run may use it."""
    if settings.store is None:
        raise StoreError("a match to read needs the folder of its store")
    store = MatchStore(settings.store, read_sheet_of(settings.store), read_run(settings.store))
    return Match(store, source_of(settings.source, settings.rate).load(settings.source, settings.store))


def request_of(settings: LiveSettings, location: Any = None) -> SourceRequest:
    """The request to a source that the settings amount to."""
    return SourceRequest(
        settings.source, settings.channel, settings.seed, settings.duration_s, settings.pitch_m,
        str(settings.sheet) if settings.sheet else None, settings.rate, settings.endless, settings.pace, location,
    )  # fmt: skip


def _make(settings: LiveSettings, request: SourceRequest, console: Console, background: ExitStack) -> MatchStore:
    """Creates a store with its input prepared; enters processes that produce the input into ``background``."""
    folder, source = settings.store, source_of(settings.source, settings.rate)
    if folder is not None and folder.exists() and (folder.is_file() or any(folder.iterdir())):
        raise StoreError(f"{folder}: is neither empty nor a match store; choose another --store")
    parent = folder.parent if folder is not None else Path("matches").resolve()
    parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=".input-", dir=parent))
    try:
        source.prepare(request, draft, console, background)
        match_input = source.load(settings.source, draft)
        if match_input.length_us() == 0:
            raise StoreError(f"{settings.source}: holds no position that could be played")
        folder = folder or parent / _folder_name(match_input.sheet.match_id)
        store = MatchStore.create(folder, match_input.sheet, _run(settings, match_input.fingerprint))
        if (house := _house_time(match_input)) is not None:
            write_house_time(folder, house)
        if draft.exists():
            for prepared in draft.iterdir():
                prepared.replace(folder / prepared.name)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return store


def _house_time(match_input: MatchInput) -> HouseTime | None:
    """Return UTC of event time 0 with its error, of a match that a gateway has dated; else None."""
    recording = match_input.recording
    if recording is None or recording.live_zero_us is None:
        return None
    return HouseTime(recording.live_zero_us, recording.utc_error_us)


def _run(settings: LiveSettings, fingerprint: str) -> dict[str, object]:
    """Content of ``run.json``: the settings that determine the match, versions, and the input's fingerprint."""
    packages = ("touchline", "pyspark", "numpy", "pyarrow", "msgspec")
    return {
        "settings": settings.stored_options(),
        "versions": {name: _version(name) for name in packages},
        "fingerprint": fingerprint,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _folder_name(match: str) -> str:
    return f"{quote(match, safe=' ')}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}".replace(" ", "_")


class InUseError(StoreError):
    """Another run is using the folder."""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Locks the folder of a run while the context lasts. The system releases the lock if the process dies.

    Raises:
        InUseError: another process holds the lock.
        NotPrivateError: another user could change what the run does.
    """
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        check_store(folder)
        yield
    except BlockingIOError:
        raise InUseError(f"{folder}: another run is using this folder; wait for it or choose another") from None
    finally:
        os.close(handle)
