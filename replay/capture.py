"""A capture: a match as it reached the gateway, block by block, in one Arrow IPC file.

Theory of operation
-------------------
The file has two columns, ``arrival_us`` (int64, strictly increasing) and ``payload`` (binary, see
:mod:`replay.wire`), and says in its schema's metadata who plays, of what quality the input is, from what it
was made and through which channel it came. It is written as a stream of record batches, so that a writer
never holds more than one of them, and is read through a memory map: opening costs the arrival column only, and
a range of arrival times is found by bisection. Hence the same range gives the same bytes, whenever and however
often it is asked for: that is what an exact offset of a streaming source (an arrival time) refers to.

A file under construction has another name and gets its own by a rename at the end: a capture that exists is
whole.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType

import msgspec
import numpy as np
import pyarrow as pa

from detectors.inputs import Block, MatchSheet
from replay import wire
from replay.checks import Rejected

#: Version of the file layout, in the metadata under ``touchline.capture``.
VERSION = "1"

#: A record batch is closed when its payloads hold this much: the bound of a writer's memory.
BATCH_BYTES = 4 << 20

_COLUMNS = (
    pa.field("arrival_us", pa.int64(), nullable=False),
    pa.field("payload", pa.binary(), nullable=False),
)


class CaptureError(ValueError):
    """A file that is no readable capture, or blocks that cannot make one; the message names the file."""


class CaptureWriter:
    """Writes a capture; a context manager. Leaving it without an exception puts the file in place.

    Args:
        path: the file to write, replaced if it is there.
        sheet: match sheet; its quality is stored too.
        fingerprint: what the content was made from, so that an identical capture need not be made again.
        channel, seed: radio channel that the blocks came through.
        notes: further metadata, e.g. counts of what was lost.
    """

    def __init__(
        self,
        path: Path,
        sheet: MatchSheet,
        *,
        fingerprint: str = "",
        channel: str = "none",
        seed: int = 0,
        notes: Mapping[str, str] | None = None,
    ) -> None:
        self.path = Path(path)
        self._partial = self.path.with_name(f".{self.path.name}.{os.getpid()}.partial")
        metadata = {
            "touchline.capture": VERSION,
            "sheet": msgspec.json.encode(sheet).decode(),
            "quality": msgspec.json.encode(sheet.quality).decode(),
            "fingerprint": fingerprint,
            "channel": channel,
            "seed": str(seed),
            **(notes or {}),
        }
        self._schema = pa.schema(_COLUMNS, metadata=metadata)
        self._arrivals: list[int] = []
        self._payloads: list[bytes] = []
        self._bytes = 0
        self._last_us: int | None = None

    def __enter__(self) -> CaptureWriter:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._sink = pa.OSFile(str(self._partial), "wb")
        self._writer = pa.ipc.new_file(self._sink, self._schema)
        return self

    def append(self, block: Block) -> None:
        """Adds a block that arrived later than the one before.

        Raises:
            CaptureError: ``arrival_us`` does not grow.
        """
        if self._last_us is not None and block.arrival_us <= self._last_us:
            raise CaptureError(
                f"{self.path}: a block of arrival {block.arrival_us} us after one of {self._last_us} us"
            )
        self._last_us = block.arrival_us
        payload = wire.encode(block)
        self._arrivals.append(block.arrival_us)
        self._payloads.append(payload)
        self._bytes += len(payload)
        if self._bytes >= BATCH_BYTES:
            self._flush()

    def extend(self, blocks: Iterable[Block]) -> None:
        """Adds blocks in arrival order."""
        for block in blocks:
            self.append(block)

    def _flush(self) -> None:
        if self._arrivals:
            columns = [pa.array(self._arrivals, pa.int64()), pa.array(self._payloads, pa.binary())]
            self._writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=self._schema))
        self._arrivals, self._payloads, self._bytes = [], [], 0

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._flush()
            self._writer.close()
        finally:
            self._sink.close()
            if kind is not None:
                self._partial.unlink(missing_ok=True)
        if kind is None:
            os.replace(self._partial, self.path)


class Capture:
    """A capture opened for reading. Immutable; reading a range has no effect on another.

    Attributes:
        path: the file.
        sheet: match sheet, with the input's quality.
        begin_us, end_us: arrival of the first block, and one past the arrival of the last; 0, 0 if empty.
        fingerprint, channel, seed: as the writer was told.
        metadata: everything the writer was told, as text.
    """

    def __init__(self, path: Path, reader: pa.ipc.RecordBatchFileReader) -> None:
        self.path = path
        self.metadata = {k.decode(): v.decode() for k, v in (reader.schema.metadata or {}).items()}
        if self.metadata.get("touchline.capture") != VERSION:
            found = self.metadata.get("touchline.capture", "none")
            raise CaptureError(f"{path}: not a capture of version {VERSION} (version found: {found})")
        self.sheet = msgspec.json.decode(self.metadata["sheet"], type=MatchSheet)
        self.fingerprint: str = self.metadata["fingerprint"]
        self.channel = self.metadata["channel"]
        self.seed = int(self.metadata["seed"])
        batches = [reader.get_batch(i) for i in range(reader.num_record_batches)]
        self._payloads = [batch.column(1) for batch in batches]
        self._firsts = np.cumsum([0] + [batch.num_rows for batch in batches])
        arrivals = [batch.column(0).to_numpy() for batch in batches]
        self.arrivals_us = np.concatenate(arrivals) if arrivals else np.empty(0, np.int64)
        self.begin_us = int(self.arrivals_us[0]) if len(self) else 0
        self.end_us = int(self.arrivals_us[-1]) + 1 if len(self) else 0

    @classmethod
    def open(cls, path: Path | str) -> Capture:
        """Opens a capture through a memory map.

        Raises:
            CaptureError: no such file, cut off, not Arrow, or not a capture.
        """
        path = Path(path)
        try:
            return cls(path, pa.ipc.open_file(pa.memory_map(str(path))))
        except CaptureError:
            raise
        except (OSError, pa.ArrowException, KeyError, ValueError) as error:
            raise CaptureError(f"{path}: not a readable capture: {error}") from error

    @property
    def rejected(self) -> tuple[Rejected, ...]:
        """Records of the source that no packet could hold: they belong to the match's quarantine."""
        return msgspec.json.decode(self.metadata.get("rejected", "[]"), type=tuple[Rejected, ...])

    def __len__(self) -> int:
        """Number of blocks."""
        return len(self.arrivals_us)

    def payloads(self, start_us: int, end_us: int) -> Iterator[tuple[int, bytes]]:
        """(arrival, payload) of every block with ``start_us <= arrival < end_us``, in arrival order."""
        first, stop = (int(i) for i in np.searchsorted(self.arrivals_us, [start_us, end_us]))
        batch = int(np.searchsorted(self._firsts, first, side="right")) - 1
        while first < stop:
            begin = int(self._firsts[batch])
            here = min(stop, int(self._firsts[batch + 1]))
            payloads = self._payloads[batch]
            for row in range(first, here):
                yield int(self.arrivals_us[row]), payloads[row - begin].as_py()
            first, batch = here, batch + 1

    def blocks(self, start_us: int, end_us: int) -> Iterator[Block]:
        """The blocks of :meth:`payloads`, decoded.

        Raises:
            CaptureError: a payload is damaged; the message names file and arrival time.
        """
        for arrival_us, payload in self.payloads(start_us, end_us):
            try:
                yield wire.decode(payload)
            except wire.WireError as error:
                raise CaptureError(f"{self.path}: block of arrival {arrival_us} us: {error}") from error
