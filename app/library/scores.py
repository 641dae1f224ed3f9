"""The events of a match store compared with a truth."""

from __future__ import annotations

from pathlib import Path

import pyarrow.compute as pc

from app.settings.resolve import read_stored_settings
from football.match_sheet import MatchSheet
from football.update_stream import EventRecord
from replay.event_list import consolidated_events, event_records
from replay.match_store import StoreError, read_sheet_of, read_table
from replay.scoring.readers import TRUTH, read_truth
from replay.scoring.truth import ScoreError, Truth


def find_truth(folder: Path) -> Path:
    """The truth in the folder of a match's input, as ``touchline simulate`` writes it.

    Raises:
        StoreError: not a match store.
        ScoreError: there is none.
    """
    source = str((read_stored_settings(folder) or {}).get("source", ""))
    path = Path(source).parent if Path(source).is_file() else Path(source)
    if source and (path / TRUTH).is_file():
        return path / TRUTH
    raise ScoreError(
        f"{folder} was played from {source or 'nothing'}, which has no truth beside it. Name one by --truth, or "
        "simulate a match that has one: `touchline simulate --out DIR`, then `touchline live --source DIR`"
    )


def truth_and_events(folder: Path, truth_path: Path) -> tuple[Truth, list[EventRecord]]:
    """The truth of the part of a match that a store has played, and the store's events.

    Raises:
        StoreError, ScoreError, TrackingError: store or truth cannot be read, or are of different matches.
    """
    sheet = read_sheet_of(folder)
    truth = read_truth(truth_path, sheet)
    _belongs(truth, sheet, truth_path)
    return _played(truth, folder, truth_path), list(event_records(consolidated_events(folder)))


def _belongs(truth: Truth, sheet: MatchSheet, path: Path) -> None:
    players = {player.object_id for player in sheet.players}
    named = {mark.player for mark in truth.marks} - {""}
    if players and named and not players & named:
        raise ScoreError(f"--truth {path}: none of its {len(named)} players is on the sheet of this match")


def _played(truth: Truth, folder: Path, path: Path) -> Truth:
    """The truth of the part of the match that was played."""
    first_us, last_us = span_us(folder)
    part = truth.between(first_us, last_us)
    if truth.marks and not part.marks:
        raise ScoreError(f"--truth {path}: all of it lies outside the time that {folder} covers")
    return part


def span_us(folder: Path) -> tuple[int, int]:
    """Event times of the first and the last position of a store.

    Raises:
        StoreError: it holds none.
    """
    times = read_table(folder, "positions", ("ts_us",))["ts_us"]
    if not len(times):
        raise StoreError(f"{folder}: holds no positions: nothing was played")
    bounds = pc.min_max(times).as_py()
    return bounds["min"], bounds["max"]
