"""The engine stage of a seat: a pipeline a match, and a match that fails ends alone.

Each match is worked on as by itself (``app.spark.stage.MatchStage``): its own states, epochs and kept pipeline. What a
match's pipeline raises puts that match out with the reason, and the rest of the seat goes on. Only what is nobody's
own ends the batch, which is then redone: the lane to the hub is broken, the disk is full, or the input stopped in the
middle.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

from app.base.logs import log_in_worker, say
from app.base.problems import is_problem, one_line
from app.hub.client import LaneError
from app.many.roster import Seat
from app.match.room import is_full
from app.spark.stage import MatchStage, StageError, result_row, warm_up

_log = logging.getLogger(__name__)

Stage = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def seat_stage(folder: str) -> Stage:
    """The function for ``mapInArrow``, for the seat in ``folder``."""

    def stage(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return run_seat(Seat(folder), batches)

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


def run_seat(seat: Seat, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Feeds rows to the pipelines of their matches; yields what is to be committed, and who failed and why.

    Raises:
        StageError: the input ended before a range was closed.
        LaneError: the hub is gone.
        OSError: the disk is full.
    """
    log_in_worker()
    places: dict[str, _Place] = {}
    for batch in batches:
        for row in batch.to_pylist():
            if row["frames"]:  # an empty one is only there to push the row before it out
                if row["match"] not in places:
                    places[row["match"]] = _Place(seat, row)
                places[row["match"]].take(row)
    for place in places.values():
        yield from place.close()


class _Place:
    """A match during one batch, playing or failed."""

    def __init__(self, seat: Seat, row: dict[str, Any]) -> None:
        self._match, self._start, self._end = row["match"], row["start"], row["end"]
        self._failed = ""
        self._stage: MatchStage | None = None
        with _Alone(self):
            self._stage = MatchStage(seat.stage(self._match), self._match, self._start, self._end)

    def fail(self, reason: str) -> None:
        """The match goes on no more."""
        self._failed = self._failed or reason
        say(_log, logging.ERROR, "match failed", self._match, error=reason)

    def take(self, row: dict[str, Any]) -> None:
        """Works on a row, unless the match has failed."""
        if row["closing"] and (reason := row["frames"].rstrip(b"\0").decode()):
            self.fail(reason)
        if self._failed or self._stage is None:
            return
        with _Alone(self):
            self._stage.take(row)

    def close(self) -> Iterator[pa.RecordBatch]:
        """What is to be committed, or why there is nothing."""
        rows: list[pa.RecordBatch] = []
        if not self._failed and self._stage is not None:
            with _Alone(self):
                rows = list(self._stage.close(beside=False))
        if self._failed:
            told = msgspec.json.encode({"failed": self._failed}).decode()
            rows = [result_row(self._match, self._start, self._end, "", b"", told)]
        yield from rows


class _Alone:
    """What is raised within is the match's own, but for what is nobody's own."""

    def __init__(self, place: _Place) -> None:
        self._place = place

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> bool:
        if not isinstance(error, Exception) or isinstance(error, LaneError | StageError) or is_full(error):
            return False
        self._place.fail(one_line(error) if is_problem(error) else f"{type(error).__name__}: {one_line(error)}")
        return True
