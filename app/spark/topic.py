"""A topic as a source of Spark: offsets are the numbers of its records.

Theory of operation
-------------------
A match stands in one partition, and what a batch holds is named by the records of it: from one number to another. So a
batch that is done again reads the same records.

A batch is opened before its records exist: ``latestOffset`` promises as many as should come within its windows, each
window a partition, and ``read`` hands on each record as it comes. A window is closed when the last of its records has
come; or early, because the match is over, a stop is asked for, or records come so slowly that it has long been over.
Where one was closed early is written down (a *mark*) before anything is committed: from then on that range ends
there, also when it is done again, and the next one is read from there. Offsets that others hear of are promised ones.

While no broker answers the open batch waits; the client connects anew by itself. What came meanwhile is then read as
fast as it goes. How far behind the source is travels with each row's due times: a record's own time is when it was due.
"""

from __future__ import annotations

import logging
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, SupportsTriggerAvailableNow

from app.base.logs import log_event, log_in_worker
from app.kafka.address import KafkaError, parse
from app.kafka.topic_location import TopicOptions
from app.spark.source import ROW_BYTES, SCHEMA, WINDOWS, row

if TYPE_CHECKING:
    import pyarrow as pa

#: A range is closed at the latest after so many windows, however little has come.
PATIENCE_WINDOWS = 3.0

_log = logging.getLogger(__name__)


class TopicRange(InputPartition):
    """Records from ``start`` to ``end`` of a partition, as they were promised; ``first`` in its batch."""

    def __init__(self, start: int, end: int, *, first: bool) -> None:
        self.start, self.end, self.first = start, end, first


class Marks:
    """Where ranges were closed before the end that was promised, by that end; in a folder, durably."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def of(self, promised: int) -> int | None:
        """Where the range that was promised up to ``promised`` ends; None if that is not settled yet.

        Raises:
            KafkaError: what is written there is no such number.
        """
        path = self._folder / str(promised)
        try:
            told = path.read_bytes()
        except FileNotFoundError:
            return None
        if not re.fullmatch(rb"\d{1,19}", told) or int(told) > promised:
            raise KafkaError(f"{path}: damaged: is no number up to {promised}; play the match anew, into another store")
        return int(told)

    def settle(self, promised: int, end: int) -> None:
        """Ends the range there, now and whenever it is done again."""
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / str(promised)
        draft = path.with_suffix(".draft")
        with draft.open("w") as stream:
            stream.write(str(end))
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(path)


class TopicReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads one match of a topic; options are those of :class:`TopicOptions`."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._told = msgspec.convert(dict(options), TopicOptions, strict=False)
        self._key = str(self._told.partition)
        self._marks = Marks(Path(self._told.marks))

    def initialOffset(self) -> dict[str, int]:  # noqa: N802  Spark's name
        """The match's first record."""
        return {self._key: self._told.begin}

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:  # noqa: N802
        """A batch on from ``start``; ``start`` itself once a stop is asked for."""
        if Path(self._told.stop_flag).exists():
            return start
        return {self._key: start[self._key] + WINDOWS * self._told.window_records}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """The windows are the limit."""
        return ReadAllAvailable()

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """Nothing to fix: the query ends when the match has, or when a stop is asked for."""

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        """A range a window."""
        begin, stop, window = start[self._key], end[self._key], self._told.window_records
        return [TopicRange(at, min(at + window, stop), first=at == begin) for at in range(begin, stop, window)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Rows of what comes, as soon as it comes, and the closing row; none if the batch ended before."""
        # Spark asks the reader for its offsets in other processes, which start the sooner for not knowing of clients.
        from app.spark.record_reader import Taker, TopicRecords

        assert isinstance(partition, TopicRange)
        log_in_worker()
        told = self._told
        settled, stop_flag = self._marks.of(partition.end), Path(told.stop_flag)
        if not partition.first and settled is None and stop_flag.exists():
            return
        position = begin = self._reached(partition.start)
        # Where one before was closed early, what it lacks is not read on top.
        end = min(partition.end, begin + told.window_records) if settled is None else settled
        address = parse(told.url)
        topic = TopicRecords.of(address)
        topic.stand({told.partition: begin})
        taker = Taker(told.match, address, told.partition)
        until_s = time.monotonic() + PATIENCE_WINDOWS * told.window_s
        handed_on = False
        while position < end and not taker.ended:
            if settled is None and (stop_flag.exists() or time.monotonic() > until_s):
                break
            frames: list[bytes] = []
            size = 0
            for record in topic.read():
                if record.offset >= end or taker.ended:
                    break
                position = record.offset + 1
                if frame := taker.take(record):
                    frames.append(frame)
                    size += len(frame)
                    handed_on = True
                if size >= ROW_BYTES:
                    yield self._row(partition, b"".join(frames))
                    frames, size = [], 0
            if frames:
                yield self._row(partition, b"".join(frames))
        log_event(
            _log, logging.INFO, "range read", told.match, start=begin, end=position, promised=partition.end,
            last=taker.ended,
        )  # fmt: skip
        if not (partition.first or handed_on or settled is not None) and stop_flag.exists():
            return  # the batch ended before: with the match, or because it was stopped
        if settled is None and position < partition.end:
            self._marks.settle(partition.end, position)
        yield self._row(partition, b"", closing=True, last=taker.ended)

    def _row(self, part: TopicRange, frames: bytes, *, closing: bool = False, last: bool = False) -> pa.RecordBatch:
        return row(self._told.match, part.start, part.end, frames, closing=closing, last=last)

    def _reached(self, promised: int) -> int:
        """Where the range really ended that was promised up to there: the next one is read from it."""
        settled = self._marks.of(promised)
        return promised if settled is None else settled


class KafkaSource(DataSource):
    """``spark.readStream.format("touchline_kafka")``: one match of a topic."""

    @classmethod
    def name(cls) -> str:
        """The source's name."""
        return "touchline_kafka"

    def schema(self) -> str:
        """That of all sources."""
        return SCHEMA

    def streamReader(self, schema: object) -> TopicReader:  # noqa: N802  Spark's name
        """The reader of the match that the options name."""
        return TopicReader(self.options)
