"""The engine stage of a seat: a pipeline a match, and a match that fails ends alone.

Each match is worked on as by itself (``app.spark.stage.MatchStage``): its own states, epochs and kept pipeline. Its
windows follow each other within a batch, each match's at times of its own: what one gives is put down when it closes
(:mod:`app.many.results`), and Spark gets no rows. What a match's pipeline raises puts that match out with the reason,
and the rest of the seat goes on. Only what is nobody's own ends the batch, which is then redone: the lane to the hub is
broken, the disk is full, or the input stopped in the middle.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from app.base.errors import reason_of
from app.base.garbage import collect_rarely
from app.base.logs import log_event, log_in_worker
from app.hub.client import HubConnectionError
from app.many.results import Closed, Results
from app.many.roster import Seat
from app.pipeline.disk_full import is_full
from app.pipeline.seal import StateError
from app.pipeline.state_child import StateChild
from app.spark.stage import MatchStage, StageError, warm_up

_log = logging.getLogger(__name__)

Stage = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def seat_stage(folder: str, results: str) -> Stage:
    """The function for ``mapInArrow``, for the seat in ``folder``; what its windows give goes to ``results``."""

    def stage(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return run_seat(Seat(folder), Path(results), batches)

    return stage


def warming_stage(folder: str, capture: str) -> Stage:
    """A stage that does nothing with its rows but warm this process up, once."""

    def stage(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = [row for batch in batches for row in batch.to_pylist() if row["frames"]]
        for entry in Seat(folder).entries():
            if any(row["start"] == entry.begin for row in rows):
                warm_up(Seat(folder).stage(entry.match), Path(capture))
        yield from ()

    return stage


def run_seat(seat: Seat, results: Path, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Feeds rows to the pipelines of their matches, and puts down what their windows give, or why one failed.

    Args:
        seat: of the matches.
        results: a folder in which each turn has one.
        batches: rows of the source.

    Raises:
        StageError: the input ended before a window was closed.
        HubConnectionError: the hub is gone.
        OSError: the disk is full, or this turn is over.
    """
    log_in_worker()
    collect_rarely()
    places: dict[str, _Place] = {}
    mine: Results | None = None
    for batch in batches:
        for row in batch.to_pylist():
            if not row["frames"]:  # only there to push the row before it out
                continue
            if row["match"] not in places:
                places[row["match"]] = _Place(seat, row["match"])
            # Of the turn that its first row came in: should the task be begun again, nobody looks at it any more.
            mine = mine or Results(results / seat.turn())
            if closed := places[row["match"]].take(row):
                mine.put(closed)
    for place in places.values():
        if closed := place.end():
            assert mine is not None, "a place comes of a row"
            mine.put(closed)
    yield from ()


class _Place:
    """A match during one batch, playing or failed."""

    def __init__(self, seat: Seat, match: str) -> None:
        self._seat, self._match = seat, match
        self._stage: MatchStage | None = None
        self._storing: StateChild | None = None
        self._failed = False
        self._at = 0

    def take(self, row: dict[str, Any]) -> Closed | None:
        """Works on a row, unless the match has failed; what its window gives if it closes it, or why it fails now."""
        if self._failed:
            return None
        self._at = row["start"]
        if row["closing"] and (reason := row["frames"].rstrip(b"\0").decode()):
            return self._fail(reason)
        try:
            if self._stage is None:
                self._stage = MatchStage(self._seat.stage(self._match), self._match, row["start"], row["end"])
            self._stage.take(row)
            if not row["closing"]:
                return None
            window = self._stage.close()
            self._stage, self._storing = None, window.storing
            return Closed(self._match, window.start, window.end, window.meta["epoch"], window.tables, window.meta)
        except Exception as error:
            return self._alone(error)

    def end(self) -> Closed | None:
        """Returns when its last state is stored; why it fails if it cannot be.

        Raises:
            StageError: its window is open.
        """
        if self._stage is not None and not self._failed:
            raise StageError(f"match {self._match}: the input ended before its window did, which began at {self._at}")
        try:
            if self._storing is not None:
                self._storing.wait()
        except Exception as error:
            return self._alone(error)
        return None

    def _alone(self, error: Exception) -> Closed:
        """Fails the match for an error that is its own; raises what is nobody's own."""
        if isinstance(error, HubConnectionError | StageError) or is_full(error):
            raise error
        return self._fail(reason_of(error))

    def _fail(self, reason: str) -> Closed:
        """The match goes on no more. Once this is told, the state of its last window is there or will never be."""
        self._failed = True
        with contextlib.suppress(OSError, StateError):
            if self._storing is not None:
                self._storing.wait()
        log_event(_log, logging.ERROR, "match failed", self._match, error=reason)
        return Closed(self._match, self._at, self._at, 0, failed=reason)
