"""Keeps the analyst's tables of a match store as Parquet, so that many matches are asked without building them again.

The files lie in ``tables/<key>/`` of the store. The key is a digest of what the tables are made of: the code of this
package, the commits with the sizes of their parts, the match sheet. So a file that exists is right for the store as it
is now; a further commit or another version has another key, and the folder of the old one is deleted. A store that
cannot be written to is read all the same.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from app.base.files import write_atomically
from app.tables.ball import BALL, CHAINS, STINTS, ball_table, chain_table, stint_table
from app.tables.build import flat_tables
from app.tables.columns import TABLES
from app.tables.periods import FORMATIONS, PERIODS, formation_table, period_table
from app.tables.tracks import TRACKS, track_table
from app.tables.transitions import TRANSITIONS, transition_table
from app.tables.win_chance import WIN_CHANCES, win_chance_table
from football.untrusted import UntrustedError, read_parquet
from replay.match_store import part_file, read_commits

FOLDER = "tables"

#: Names of positions among the files.
_TRACKS, _BALL = "tracks", "ball"

#: Further tables that are made of events: schema and maker.
_FURTHER: Mapping[str, tuple[pa.Schema, Callable[[Path], pa.Table]]] = {
    "periods": (PERIODS, period_table),
    "formations": (FORMATIONS, formation_table),
    "stints": (STINTS, stint_table),
    "chains": (CHAINS, chain_table),
    "win_chances": (WIN_CHANCES, win_chance_table),
    "transitions": (TRANSITIONS, transition_table),
}


def stored_tables(folder: Path | str, names: Sequence[str] = tuple(TABLES)) -> dict[str, pa.Table]:
    """Return the analyst's tables of a match store as :func:`app.tables.build.flat_tables` does, from files if it can.

    Raises:
        TableError: there is no such table.
        StoreError, UntrustedError: not a match store, or damaged.
    """
    schemas = {name: TABLES[name].schema for name in names if name in TABLES}
    return _stored(Path(folder), names, schemas, lambda missing: flat_tables(folder, missing))


def stored_tracks(folder: Path | str) -> pa.Table:
    """Return where each player was, five times a second (``TRACKS``); without rows if the store has no positions.

    Raises:
        StoreError: not a match store, or damaged.
    """
    return _stored(Path(folder), [_TRACKS], {_TRACKS: TRACKS}, lambda _: {_TRACKS: track_table(Path(folder))})[_TRACKS]


def stored_ball(folder: Path | str) -> pa.Table:
    """Return where the ball was (``app.tables.ball.BALL``), as :func:`stored_tracks` does for players."""
    return _stored(Path(folder), [_BALL], {_BALL: BALL}, lambda _: {_BALL: ball_table(Path(folder))})[_BALL]


def stored_further(folder: Path | str) -> dict[str, pa.Table]:
    """Return the tables that only the analyst's room has: ``periods``, ``formations``, ``stints``, ``chains``,
    ``win_chances``, ``transitions``.

    Errors as in :func:`stored_tables`.
    """
    schemas = {name: schema for name, (schema, _) in _FURTHER.items()}

    def build(missing: list[str]) -> dict[str, pa.Table]:
        return {name: _FURTHER[name][1](Path(folder)) for name in missing}

    return _stored(Path(folder), tuple(schemas), schemas, build)


def tables_key(folder: Path) -> str:
    """Return the digest of what the tables of a store are made of.

    Raises:
        StoreError: not a match store, or damaged.
    """
    digest = hashlib.blake2b(_code(), digest_size=12)
    for commit in read_commits(folder):
        if commit.series:
            continue
        files = [part_file(folder, commit, name) for name in ("updates", "positions") if name in commit.parts]
        sizes = [file.stat().st_size if file.is_file() else -1 for file in files]
        digest.update(msgspec.json.encode([commit.batch, commit.parts, commit.meta, sizes], order="deterministic"))
    sheet = folder / "sheet.json"
    digest.update(sheet.read_bytes() if sheet.is_file() else b"")
    return digest.hexdigest()


def _stored(
    folder: Path,
    names: Sequence[str],
    schemas: Mapping[str, pa.Schema],
    build: Callable[[list[str]], dict[str, pa.Table]],
) -> dict[str, pa.Table]:
    inside = folder / FOLDER / tables_key(folder)
    found: dict[str, pa.Table] = {}
    for name in names:
        file = inside / f"{name}.parquet"
        if name in schemas and file.is_file():
            with suppress(OSError, KeyError, UntrustedError, pa.ArrowException):
                found[name] = read_parquet(file).select(schemas[name].names).cast(schemas[name])
    if missing := [name for name in names if name not in found]:
        made = build(missing)
        with suppress(OSError):
            _keep(inside, made)
        found.update(made)
    return {name: found[name] for name in names}


def _keep(inside: Path, tables: Mapping[str, pa.Table]) -> None:
    inside.mkdir(parents=True, exist_ok=True)
    for other in inside.parent.iterdir():
        if other != inside and other.is_dir():
            shutil.rmtree(other, ignore_errors=True)
    for name, table in tables.items():
        sink = pa.BufferOutputStream()
        pq.write_table(table, sink, compression="zstd")
        write_atomically(inside / f"{name}.parquet", sink.getvalue().to_pybytes())


@cache
def _code() -> bytes:
    """Return a digest of the code that makes the tables."""
    digest = hashlib.blake2b(digest_size=16)
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.read_bytes())
    return digest.digest()
