"""The progress of a match by the manifests of its store, as the API reads it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

from football.match_sheet import MatchSheet
from football.update_stream import BallView, BodyView, UpdateRecord, View
from replay.match_store import Commit, commits_state, positions_between, read_newest_commit, read_sheet_of

#: Stretch before the watermark in which the last positions are looked for.
_LAST_US = 10_000_000
_NEVER_US = -(2**62)


class StoredFeed:
    """A store as a feed: all updates are committed. A store that grows is read anew. Thread safe.

    Args:
        folder: of the store.
        match: id under which the match is served.

    Raises:
        StoreError: it is no match store.
    """

    def __init__(self, folder: Path, match: str) -> None:
        import msgspec

        self._folder = folder
        self._sheet = msgspec.structs.replace(read_sheet_of(folder), match_id=match)
        self._lock = threading.Lock()
        self._state: tuple[int, str] | None = None
        self._commit: Commit | None = None

    def _newest(self) -> Commit | None:
        with self._lock:
            state = commits_state(self._folder)
            if state != self._state:
                self._commit, self._state = read_newest_commit(self._folder), state
            return self._commit

    def sheet(self) -> MatchSheet:
        """Teams, shirts and pitch."""
        return self._sheet

    def frontier_us(self) -> int:
        """The watermark of the last commit."""
        commit = self._newest()
        return _NEVER_US if commit is None else commit.meta.frontier_us

    def now_us(self) -> int:
        """Arrival time up to which everything is committed."""
        return self._note("now_us")

    def epoch(self) -> int:
        """Epoch of the last commit, -1 without one."""
        commit = self._newest()
        return -1 if commit is None else commit.meta.epoch

    def next_seq(self) -> int:
        """Number of the update after the last one."""
        return self._note("next_seq")

    def settled_seq(self) -> int:
        """The same number: everything is committed."""
        return self.next_seq()

    def ended(self) -> bool:
        """True if the match is over and all of it is committed."""
        commit = self._newest()
        return commit is not None and commit.meta.ended

    def standing_updates(self, since: int, limit: int) -> Sequence[UpdateRecord]:
        """None: everything is committed."""
        return ()

    def epoch_of(self, seq: int) -> int:
        """The epoch of the last commit, since no update of a store is replaced by a later epoch."""
        return self.epoch()

    def valid_until(self, epoch: int) -> int:
        """All updates stand for a reader of any epoch."""
        return self.next_seq()

    def latest_view(self) -> View | None:
        """The last positions. The watermark of a match that has ended lies beyond all time."""
        end_us = min(self.frontier_us(), self.now_us()) + _LAST_US
        rows = positions_between(self._folder, end_us - 2 * _LAST_US, end_us)
        return None if not rows.num_rows else _view(rows.to_pylist())

    def _note(self, name: str) -> int:
        commit = self._newest()
        value = commit.notes.get(name) if commit is not None else None
        return value if isinstance(value, int) else 0


def _view(rows: list[dict[str, object]]) -> View:
    """The newest position of each object, of rows in order of time."""
    newest = {row["object_id"]: row for row in rows}
    ball = newest.pop("ball", None)
    names = ("x_m", "y_m", "z_m", "vx_m_s", "vy_m_s", "vz_m_s")
    return View(
        rows[-1]["ts_us"],
        None if ball is None else BallView(ball["ts_us"], *(ball[name] or 0.0 for name in names)),
        tuple(
            BodyView(
                name, row["team"], row["ts_us"], row["x_m"], row["y_m"], row["vx_m_s"] or 0.0, row["vy_m_s"] or 0.0
            )
            for name, row in sorted(newest.items())
        ),
    )
