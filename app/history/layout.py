"""The match stores of an archive: their committed parts and match sheets.

The layout is that of every match store (``replay.match_store``), one folder a match. A name for each match is its
folder's; of two with one name the later one gets a number.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pyarrow as pa

from app.batch.inputs import BatchError, RecordedMatch, find_recorded, name_matches
from app.batch.play import CHANGES_FILE
from app.tables.columns import TABLES
from app.tables.stored import stored_tables
from football.errors import UserError
from replay.match_store import Commit, part_file, read_commits, read_sheet_of

MATCHES = pa.schema(
    [
        ("match", pa.string()),
        ("folder", pa.string()),
        ("match_id", pa.string()),
        ("home", pa.string()),
        ("away", pa.string()),
        ("length_m", pa.float64()),
        ("width_m", pa.float64()),
        ("input", pa.string()),
        ("end_us", pa.int64()),
        ("frontier_us", pa.int64()),
        ("ended", pa.bool_()),
    ]
)

PLAYERS = pa.schema(
    [
        ("match", pa.string()),
        ("player", pa.string()),
        ("team", pa.string()),
        ("shirt", pa.int64()),
        ("name", pa.string()),
    ]
)

#: The match of each file.
FILES = pa.schema([("path", pa.string()), ("match", pa.string())])

#: Tables that are read from parts, and those of a batch's results.
PARTS = ("updates", "positions", "changes")


class HistoryError(UserError, ValueError):
    """An archive or a query that cannot be used; the message has the reason."""


class Archive(msgspec.Struct, frozen=True):
    """An archive, in data: small tables as they are, large ones as the files that hold them.

    Attributes:
        matches, players, files: see the schemas.
        parts: files of each of ``PARTS``; only those that a commit names.
    """

    matches: pa.Table
    players: pa.Table
    files: pa.Table
    parts: dict[str, list[str]]


def open_archive(folders: Sequence[str | Path]) -> Archive:
    """The stores in folders: each a match store, or a folder of match stores.

    Raises:
        HistoryError: there is none.
        StoreError: one is damaged; the message names the file.
    """
    try:
        stores = [one for one in find_recorded(map(str, folders)) if one.store]
    except BatchError as error:
        raise HistoryError(str(error)) from error
    if not stores:
        raise HistoryError(f"{', '.join(map(str, folders))}: no match store")
    matches, players, files = [], [], []
    parts: dict[str, list[str]] = {name: [] for name in PARTS}
    for name, one in name_matches(stores, {}).items():
        commits = [commit for commit in read_commits(one.store) if not commit.series]
        matches.append(_match(name, one, commits))
        players += _players(name, one)
        for table, file in _files(Path(one.store), commits):
            parts[table].append(str(file))
            files.append({"path": str(file), "match": name})
    return Archive(
        pa.Table.from_pylist(matches, schema=MATCHES),
        pa.Table.from_pylist(players, schema=PLAYERS),
        pa.Table.from_pylist(files, schema=FILES),
        parts,
    )


def analyst_tables(archive: Archive, query: str, built: set[str]) -> dict[str, pa.Table]:
    """The analyst's tables that a query names, over all matches, with a column ``match`` in front.

    Args:
        archive: the matches.
        query: text in SQL.
        built: tables that exist already; new ones are added.

    Raises:
        StoreError: a match is damaged.
    """
    names = [name for name in TABLES if name not in built and _reads(query, name)]
    built.update(names)
    if not names:
        return {}
    parts: dict[str, list[pa.Table]] = {name: [] for name in names}
    for row in archive.matches.to_pylist():
        for name, table in stored_tables(row["folder"], names).items():
            match = pa.array([row["match"]] * len(table), pa.string())
            parts[name].append(table.add_column(0, "match", match))
    return {name: pa.concat_tables(tables) for name, tables in parts.items()}


def _reads(query: str, table: str) -> bool:
    """True if a query seems to read a table; not if it defines one of that name itself."""
    read, defined = rf"(?:\bfrom|\bjoin|,)\s+{table}\b", rf"\b{table}\s+as\s*\("
    return bool(re.search(read, query, flags=re.I)) and not re.search(defined, query, flags=re.I)


def _match(name: str, store: RecordedMatch, commits: Sequence[Commit]) -> dict[str, object]:
    sheet = read_sheet_of(store.store)
    return {
        "match": name, "folder": store.store, "match_id": sheet.match_id, "home": sheet.home, "away": sheet.away,
        "length_m": sheet.length_m, "width_m": sheet.width_m, "input": sheet.quality.kind,
        "end_us": max((commit.meta.end_offset for commit in commits), default=0),
        "frontier_us": max((commit.meta.frontier_us for commit in commits), default=-(2**62)),
        "ended": any(commit.meta.ended for commit in commits),
    }  # fmt: skip


def _players(name: str, store: RecordedMatch) -> list[dict[str, object]]:
    sheet = read_sheet_of(store.store)
    return [
        {"match": name, "player": p.object_id, "team": p.team, "shirt": p.shirt, "name": p.name} for p in sheet.players
    ]


def _files(store: Path, commits: Sequence[Commit]) -> list[tuple[str, Path]]:
    listed = [(name, part_file(store, commit, name)) for commit in commits for name in commit.parts if name in PARTS]
    changes = store / CHANGES_FILE
    return [*listed, ("changes", changes)] if changes.is_file() else listed
