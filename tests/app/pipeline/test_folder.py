"""The folder of a live match: what a commit reads and remembers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from app.pipeline import folder
from app.pipeline.folder import Match
from football.match_sheet import MatchSheet
from replay.match_store import MatchStore


class Input:
    """A match's input that counts records."""

    begin, rejected = 0, ()

    def committed(self, offset: int) -> None:
        pass

    def played_us(self, offset: int, now_us: int) -> int:
        return now_us


def test_a_commit_reads_none_of_the_earlier_ones_and_gives_what_a_later_run_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, source = MatchStore.create(tmp_path / "store", MatchSheet("m"), {}), Input()
    match: Any = Match(store, source)
    with monkeypatch.context() as patched:
        patched.setattr(folder, "read_commits", None)
        for start in range(3):
            meta = {"end_offset": start + 1, "epoch": start, "now_us": 10 * start, "quarantined": {"odd": start}}
            match.commit(start, {}, {**meta, "frontier_us": start})
    for state in (match, Match(store, source)):
        assert (state.offset(), state.played_us(), state.committed_epoch()) == (3, 20, 2)
        assert (state.committed_frontier_us(), state.quarantined()) == (2, {"odd": 2})
