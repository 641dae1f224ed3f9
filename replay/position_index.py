"""Positions of a stretch of a match, found by an index of the windows of its store.

The index has the first and the last event time of each committed window, by the footers of the files. A window has half
a minute, so any instant needs one or two files. Windows stay in memory as grids of frames and objects: to read one from
its file costs ten times what a stretch of it costs.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec
import numpy as np
import pyarrow as pa

from football.untrusted import parquet_bounds
from replay.match_store import Commit, StoreError, part_file, read_commits, read_part

#: Windows that stay in memory: two hours. Each takes about 0.2 megabytes.
WINDOWS_MAX: Final = 240

BALL: Final = "ball"


class Span(msgspec.Struct, frozen=True):
    """A committed window with positions, from its first to its last event time."""

    commit: Commit
    first_us: int
    last_us: int


class Stretch(msgspec.Struct, frozen=True):
    """Positions of some objects at the frames of a stretch.

    Attributes:
        ts_us: event time of each frame, ascending.
        objects: their ids; the ball first, if there is one.
        teams: of the objects.
        x_m, y_m, z_m: a row for each frame, a column for each object; NaN where an object has no position.
    """

    ts_us: np.ndarray
    objects: tuple[str, ...]
    teams: tuple[str, ...]
    x_m: np.ndarray
    y_m: np.ndarray
    z_m: np.ndarray


class PositionIndex:
    """The positions of one store. Thread safe.

    Args:
        folder: of the store.

    Raises:
        StoreError: not a match store, or damaged; by :meth:`stretch`, too.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._spans: dict[int, Span] = {}
        self._windows: OrderedDict[int, Stretch] = OrderedDict()
        self.refresh()

    def refresh(self) -> None:
        """Take in the windows that were committed since."""
        for commit in read_commits(self._folder):
            is_new = not commit.series and "positions" in commit.parts and commit.batch not in self._spans
            if is_new and (bounds := self._bounds_us(commit)) is not None:
                self._spans[commit.batch] = Span(commit, *bounds)

    def _bounds_us(self, commit: Commit) -> tuple[int, int] | None:
        file = part_file(self._folder, commit, "positions")
        try:
            return parquet_bounds(file, "ts_us")
        except (OSError, ValueError, pa.ArrowException) as error:
            raise StoreError(f"{file}: damaged part of window {commit.batch}: {error}") from error

    def bounds_us(self) -> tuple[int, int] | None:
        """Event time of the first and of the last position; None without any."""
        spans = list(self._spans.values())
        return (min(one.first_us for one in spans), max(one.last_us for one in spans)) if spans else None

    def covered_us(self) -> int:
        """Return the event time that windows with positions cover, from their first to their last each."""
        return sum(one.last_us - one.first_us for one in list(self._spans.values()))

    def stretch(self, begin_us: int, end_us: int) -> Stretch:
        """Return the frames from one event time to another (excluded)."""
        found = [one.commit for one in list(self._spans.values()) if one.first_us < end_us and one.last_us >= begin_us]
        return _joined([_part(self._window(commit), begin_us, end_us) for commit in found])

    def read_all(self) -> None:
        """Read the windows into memory, as far as they fit, so that no later stretch waits for a file."""
        for span in list(self._spans.values())[:WINDOWS_MAX]:
            self._window(span.commit)

    def _window(self, commit: Commit) -> Stretch:
        with self._lock:
            if (frames := self._windows.get(commit.batch)) is not None:
                self._windows.move_to_end(commit.batch)
                return frames
        frames = _frames(read_part(self._folder, commit, "positions", _COLUMNS))
        with self._lock:
            self._windows[commit.batch] = frames
            while len(self._windows) > WINDOWS_MAX:
                self._windows.popitem(last=False)
        return frames


_COLUMNS: Final = ("ts_us", "object_id", "team", "x_m", "y_m", "z_m")
_NONE: Final = np.empty((0, 0), np.float32)
_NOTHING: Final = Stretch(np.empty(0, np.int64), (), (), _NONE, _NONE, _NONE)


def _part(frames: Stretch, begin_us: int, end_us: int) -> Stretch:
    """Frames from one event time to another (excluded)."""
    begin, end = np.searchsorted(frames.ts_us, (begin_us, end_us))
    grids = (frames.x_m[begin:end], frames.y_m[begin:end], frames.z_m[begin:end])
    return Stretch(frames.ts_us[begin:end], frames.objects, frames.teams, *grids)


def _joined(parts: Sequence[Stretch]) -> Stretch:
    """Frames of several windows; an instant of two windows is one frame."""
    parts = [part for part in parts if len(part.ts_us)]
    if len(parts) < 2:
        return parts[0] if parts else _NOTHING
    teams: dict[str, str] = {}
    for part in parts:
        for name, team in zip(part.objects, part.teams, strict=True):
            teams[name] = teams.get(name) or team
    objects = sorted(teams, key=lambda name: (name != BALL, name))
    times = np.unique(np.concatenate([part.ts_us for part in parts]))
    grids = [np.full((len(times), len(objects)), np.nan, np.float32) for _ in range(3)]
    for part in parts:
        at = np.ix_(np.searchsorted(times, part.ts_us), [objects.index(name) for name in part.objects])
        for grid, values in zip(grids, (part.x_m, part.y_m, part.z_m), strict=True):
            grid[at] = np.where(np.isnan(values), grid[at], values)
    return Stretch(times, tuple(objects), tuple(teams[name] for name in objects), *grids)


def _frames(rows: pa.Table) -> Stretch:
    """Arrange rows as frames."""
    if not rows.num_rows:
        return _NOTHING
    ids = rows["object_id"].combine_chunks().dictionary_encode()
    names: list[str] = ids.dictionary.to_pylist()
    order = sorted(range(len(names)), key=lambda at: (names[at] != BALL, names[at]))
    column_of = np.empty(len(names), np.int64)
    column_of[order] = np.arange(len(names))
    columns = column_of[ids.indices.to_numpy()]
    times, frames = np.unique(rows["ts_us"].to_numpy(), return_inverse=True)
    teams = [""] * len(names)
    firsts = np.unique(columns, return_index=True)[1]
    for column, team in enumerate(rows["team"].take(pa.array(firsts)).to_pylist()):
        teams[column] = team or ""

    def grid(name: str) -> np.ndarray:
        values = np.full((len(times), len(names)), np.nan, np.float32)
        values[frames, columns] = rows[name].to_numpy(zero_copy_only=False)
        return values

    return Stretch(times, tuple(names[at] for at in order), tuple(teams), grid("x_m"), grid("y_m"), grid("z_m"))
