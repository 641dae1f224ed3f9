"""The folder of a live match: the match store, and what a later run needs to go on in it.

Beside the store's own files it holds ``capture/`` (what arrived, packet by packet), ``states/`` (engine states at
offsets) and ``spark/`` (Spark's checkpoint and log). A tracking file's capture is made before the first block is
played. A simulated match is played while a process beside it makes the rest of its capture; ``run.json`` says of what,
so that a later run makes the same rest again. A capture that is a source itself is linked to, not copied. A match
out of a topic has ``topic.json``, which says where in it; its capture is a rehearsal of some seconds to warm up on.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
import pyarrow as pa
from rich.console import Console
from rich.progress import Progress

from app.kafka.address import is_kafka, parse
from app.kafka.topic_location import TopicLocation
from app.pipeline.commits import Committed
from app.pipeline.recovery import recover
from app.settings.model import LiveSettings
from app.sources.captures import is_capture, is_produced, prepare_capture
from app.sources.producer import Producer, tell_played
from football.packets import RejectedRecord
from football.update_stream import EventRecord, UpdateRecord
from replay.capture import Capture
from replay.match_store import (
    MatchStore,
    StoreError,
    is_store,
    newest_commit,
    quarantine_table,
    read_commits,
    updates_log,
)

CAPTURE = "capture"
TOPIC = "topic.json"
CAMERA_SERIES = "camera"


class Match:
    """An opened folder: the capture to play, and the store to commit to."""

    def __init__(self, store: MatchStore, capture: Capture) -> None:
        self.folder, self.capture = store.path, capture
        self._store = store
        commits = read_commits(store.path)
        self._camera_batch = 1 + max((c.batch for c in commits if c.series == CAMERA_SERIES), default=-1)
        self._last = newest_commit(commits)
        #: Called when a batch is committed, with the number of the next update.
        self.on_commit: Callable[[int], None] = lambda seq: None

    def commit(self, batch_id: int, match: str, tables: Mapping[str, pa.Table], meta: Mapping[str, Any]) -> None:
        """Commits a batch; its redo replaces it by the same."""
        assert match == self.capture.sheet.match_id
        tables = dict(tables)
        if batch_id == 0:
            tables["quarantine"] = self._with_unreadable(tables.get("quarantine"))
        self._store.commit(batch_id, tables, meta)
        self._last = newest_commit(read_commits(self._store.path))
        self.on_commit(int(meta.get("next_seq", 0)))
        if not self.capture.is_finished and not self.capture.path.is_symlink():
            tell_played(self.capture.path, self.offset())

    def committed(self) -> Committed | None:
        """The last batch that is durable, None before the first."""
        return Committed(self._last.batch, self._last.meta.end_offset) if self._last else None

    def append_camera(self, table: pa.Table) -> None:
        """Commits rows of the camera, in a series of their own."""
        self._store.commit(self._camera_batch, {"camera": table}, {}, series=CAMERA_SERIES)
        self._camera_batch += 1

    def begin(self) -> int:
        """Offset of the match's first block, as its source counts."""
        return self.capture.begin_us

    def offset(self) -> int:
        """Offset up to which everything is committed."""
        return self._last.meta.end_offset if self._last else self.begin()

    def played_us(self) -> int:
        """Arrival time up to which everything is committed."""
        return self.offset()

    def length_us(self) -> int | None:
        """How long the match takes on its arrival clock, None while that is not known."""
        return self.capture.end_us - self.capture.begin_us if self.capture.is_finished else None

    def has_ended(self) -> bool:
        """Whether everything of a finished capture is committed."""
        return self.capture.is_finished and self.offset() >= self.capture.end_us

    def next_batch(self) -> int:
        """Number of the first batch that is not committed."""
        return self._last.batch + 1 if self._last else 0

    def committed_epoch(self) -> int:
        """Epoch of the last committed batch, 0 without one."""
        return self._last.meta.epoch if self._last else 0

    def committed_frontier_us(self) -> int:
        """Event time below which nothing of what is committed can change any more."""
        return self._last.meta.frontier_us if self._last else -(2**62)

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

    def _unreadable(self) -> list[RejectedRecord]:
        """Rows of the source that no packet could hold; known since the capture was made."""
        return list(self.capture.rejected)

    def _with_unreadable(self, table: pa.Table | None) -> pa.Table:
        first = quarantine_table(self._unreadable())
        return first if table is None else pa.concat_tables([first, table])


class TopicMatch(Match):
    """A match that comes out of a topic. Offsets are numbers of records."""

    def __init__(self, store: MatchStore, capture: Capture, place: TopicLocation) -> None:
        super().__init__(store, capture)
        self.place = place

    def begin(self) -> int:
        """Number of the record that the match began with."""
        return self.place.offset

    def played_us(self) -> int:
        """Arrival time up to which everything is committed."""
        told = self._last.notes.get("now_us", 0) if self._last else 0
        return int(str(told))

    def length_us(self) -> int | None:
        """Not known before it is over."""
        return None

    def has_ended(self) -> bool:
        """Whether the record that ends the match is committed."""
        return self._last is not None and self._last.meta.ended


@contextmanager
def open_match(settings: LiveSettings, console: Console, place: TopicLocation | None = None) -> Iterator[Match]:
    """Makes the folder, or opens it to go on; nobody else may run in it meanwhile.

    Args:
        settings: of the run.
        console: for people.
        place: of a new match in its topic, if it is known already; else it is looked for.

    Raises:
        StoreError: the folder holds something else, is damaged, or another run is using it (InUseError).
        StateError: no state of the match can be gone on from.
        TrackingError, ChannelError, SimulatorError, CaptureError: the source cannot be used.
    """
    folder = settings.store
    with ExitStack() as beside:
        if folder is not None and is_store(folder):
            store = MatchStore.open(folder)
            beside.enter_context(alone(store.path))
            capture = Capture.open(folder / CAPTURE)
            again = settings.source if is_kafka(settings.source) else str(folder / CAPTURE)
            if said := recover(store, again):
                console.print(said)
            if is_produced(settings.source, settings.rate) and not capture.is_finished:
                request = {**_request(settings), "resume": True}
                capture = beside.enter_context(Producer(request, folder / CAPTURE)).first_look()
        else:
            store, capture = _make(settings, console, beside, place)
            beside.enter_context(alone(store.path))
        begun = _place(store.path)
        yield TopicMatch(store, capture, begun) if begun else Match(store, capture)


def _make(
    settings: LiveSettings, console: Console, beside: ExitStack, place: TopicLocation | None
) -> tuple[MatchStore, Capture]:
    """A new store; who goes on producing its capture is entered into ``beside``."""
    folder = settings.store
    if folder is not None and folder.exists() and (folder.is_file() or any(folder.iterdir())):
        raise StoreError(f"{folder}: is neither empty nor a match store; choose another --store")
    parent = folder.parent if folder is not None else Path("matches").resolve()
    draft = parent / f".capture-{os.getpid()}"
    try:
        capture = _captured(settings, draft, console, beside, place)
        if capture.is_finished and len(capture) == 0:
            raise StoreError(f"{settings.source}: holds no position that could be played")
        folder = folder or parent / _folder_name(capture.sheet.match_id)
        store = MatchStore.create(folder, capture.sheet, _run(settings, capture))
        if draft.exists():
            if (draft / TOPIC).exists():
                (draft / TOPIC).replace(folder / TOPIC)
            draft.replace(folder / CAPTURE)
        else:
            (folder / CAPTURE).symlink_to(capture.path.resolve(), target_is_directory=True)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return store, Capture.open(folder / CAPTURE)


def _place(folder: Path) -> TopicLocation | None:
    """Where in a topic the match of a store is; None if it came otherwise."""
    try:
        return msgspec.json.decode((folder / TOPIC).read_bytes(), type=TopicLocation)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise StoreError(f"{folder / TOPIC}: cannot be read: {error}") from error


def _captured(
    settings: LiveSettings, draft: Path, console: Console, beside: ExitStack, place: TopicLocation | None
) -> Capture:
    """The capture to play: the source itself, one that has begun to grow in ``draft``, or a whole one there."""
    if is_capture(settings.source):
        return Capture.open(settings.source)
    if is_kafka(settings.source):
        return _rehearsed(place or _found(settings, console), draft)
    if is_produced(settings.source, settings.rate):
        console.print(f"Simulating {settings.source} through channel {settings.channel}")
        return beside.enter_context(Producer(_request(settings), draft)).first_look()
    with Progress(console=console, transient=True) as bar:
        task = bar.add_task(f"Preparing {settings.source} through channel {settings.channel}", total=1.0)
        prepare_capture(
            settings.source,
            settings.channel,
            settings.seed,
            draft,
            duration_s=settings.duration_s,
            pitch=settings.pitch_m,
            sheet_path=settings.sheet,
            progress=lambda share: bar.update(task, completed=share),
        )
    return Capture.open(draft)


def _found(settings: LiveSettings, console: Console) -> TopicLocation:
    """Where in its topic the match is."""
    from app.kafka.matches import find_match

    console.print(f"Looking for the match in {settings.source}")
    return find_match(parse(settings.source))


def _rehearsed(place: TopicLocation, draft: Path) -> Capture:
    """What a match out of a topic is warmed up on; where it is, is told beside that."""
    from app.kafka.warm_up_capture import write_warm_up_capture

    capture = write_warm_up_capture(draft, place.sheet.sheet)
    (draft / TOPIC).write_bytes(msgspec.json.encode(place))
    return capture


def _request(settings: LiveSettings) -> dict[str, Any]:
    """What the process that makes the capture is asked for."""
    return {
        "source": settings.source,
        "channel": settings.channel,
        "seed": settings.seed,
        "duration_s": settings.duration_s,
        "pitch": list(settings.pitch_m),
        "sheet_path": str(settings.sheet) if settings.sheet else None,
        "rate": settings.rate,
        "endless": settings.endless,
    }


def _run(settings: LiveSettings, capture: Capture) -> dict[str, object]:
    """What ``run.json`` holds: the choices that the match is made of, versions, and the input's fingerprint."""
    packages = ("touchline", "pyspark", "numpy", "pyarrow", "msgspec")
    return {
        "settings": settings.stored_options(),
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


class InUseError(StoreError):
    """Another run is using the folder."""


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Locks the folder of a run. The system takes the lock away when the process ends, however it does.

    Raises:
        InUseError: somebody else has it.
    """
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise InUseError(f"{folder}: another run is using this folder; wait for it or choose another") from None
    finally:
        os.close(handle)


def _update(row: dict[str, Any]) -> UpdateRecord:
    fields = {name: row[name] for name in EventRecord.__struct_fields__}
    fields["causes"], fields["detail"] = tuple(row["causes"]), msgspec.json.decode(row["detail"])
    return UpdateRecord(row["seq"], row["diff"], row["emitted_us"], EventRecord(**fields))
