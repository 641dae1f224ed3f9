"""A batch: its matches, the finished ones, the Spark job that plays the others, and the report.

One task plays one match, from its capture to its store, in one Python worker: tasks exchange nothing. An error of a
match stays in its result. Spark begins a match anew whose worker died (out of memory, for example), and gives it up
after ``_DEATHS`` times, so that it cannot end the job of the others. Long matches come first, so that the job ends with
a short one.
"""

from __future__ import annotations

import math
import os
import shutil
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark import TaskContext
from pyspark.sql import SparkSession

from app.base.java import find_java
from app.batch.inputs import BatchError, RecordedMatch, find_recorded, name_matches
from app.batch.play import CHANGES_FILE, DRAFTS, BatchOptions, Result, finished, play, share_done
from app.pipeline.folder import locked
from app.pipeline.seal import code_fingerprint
from app.sources.captures import is_capture
from app.spark.session import start_session, stop_session
from football.untrusted import LISTING_BYTES_MAX, UntrustedError, is_folder, read_json, read_parquet
from replay.capture import Capture
from replay.scoring.changes import CHANGES, KindChange, sum_changes

#: File in the folder of the results: their options, and the folder of each source.
BATCH = "batch.json"

#: Number of deaths of a match's worker after which the match counts as broken.
_DEATHS = 2

_POLL_S = 0.5

_Work, _Done = TypeVar("_Work"), TypeVar("_Done")


class Batch(msgspec.Struct, frozen=True):
    """The options of a folder of results; other options need another folder.

    Attributes:
        choices: of the batch; of ``parameters`` the contents.
        code: fingerprint of the engine and the detectors, see ``app.pipeline.seal``.
        names: folder of each source.
    """

    choices: BatchOptions
    code: str
    names: dict[str, str]


#: Gets the share done of matches that are being played, by name, and the number of finished ones.
Watch = Callable[[Mapping[str, float], int], None]


def run_batch(
    given: Sequence[str],
    options: BatchOptions,
    *,
    jobs: int = 0,
    master: str = "",
    anew: bool = False,
    watch: Watch | None = None,
) -> tuple[list[Result], int]:
    """Play matches that are not finished, and write ``changes.parquet`` over all.

    Args:
        given: see :func:`app.batch.inputs.find_recorded`.
        options: of all matches.
        jobs: matches at a time on this machine; 0 for as many as it has cores.
        master: of a Spark cluster, see ``docs/cluster.md``; empty for this machine.
        anew: plays finished matches again, too, and in a folder of other options.
        watch: called twice a second.

    Returns:
        the results of all matches, in order of their names; and the number of those that were finished before.

    Raises:
        BatchError: nothing to play, or the folder has other options or other detectors.
        StoreError: another batch is using the folder.
        JavaNotFoundError, SparkStartError: Spark does not start.
    """
    out = Path(options.out)
    recorded = find_recorded(given)
    matches = _begin(out, recorded, options, anew)
    with locked(out):
        return _played(out, matches, options, jobs=jobs, master=master, anew=anew, watch=watch)


def _played(
    out: Path,
    matches: Mapping[str, RecordedMatch],
    options: BatchOptions,
    *,
    jobs: int,
    master: str,
    anew: bool,
    watch: Watch | None,
) -> tuple[list[Result], int]:
    """Play matches that are not finished in a locked folder; see :func:`run_batch`."""
    done = {} if anew else {n: r for n, one in matches.items() if (r := finished(n, one, out)) is not None}
    rest = sorted((n for n in matches if n not in done), key=lambda name: -_size(matches[name]))
    shutil.rmtree(out / DRAFTS, ignore_errors=True)
    played: list[Result] = []
    if rest:
        slots = min(jobs or os.cpu_count() or 1, len(rest))
        session = start_session(find_java(os.environ), out / ".spark" / "spark.log", slots, master=master)
        try:
            work = [(name, matches[name], options) for name in rest]
            played = run_job(session, _task, work, lambda: _report_progress(watch, rest, out, len(done)))
        finally:
            stop_session(session)
            shutil.rmtree(out / DRAFTS, ignore_errors=True)
    results = sorted([*done.values(), *played], key=lambda result: result.name)
    _write_changes(out, results)
    return results, len(done)


def totals(results: Sequence[Result]) -> dict[str, KindChange]:
    """The changes in all matches that were compared with a recording, by kind."""
    kinds: dict[str, list[KindChange]] = {}
    for result in results:
        for kind, counts in (result.kinds or {}).items():
            kinds.setdefault(kind, []).append(counts)
    return {kind: sum_changes(counts) for kind, counts in sorted(kinds.items())}


def _begin(out: Path, recorded: Sequence[RecordedMatch], options: BatchOptions, anew: bool) -> dict[str, RecordedMatch]:
    """Prepare the folder; returns the matches by name."""
    chosen = msgspec.structs.replace(options, out="", parameters=_contents(options.parameters))
    for one in recorded:
        if out in (Path(one.source), *Path(one.source).parents):
            raise BatchError(f"--out {out}: {one.source} is in it, and would be played onto itself")
    before = _read(out)
    if before is not None and not anew:
        remedy = "choose another --out, or --anew to play all of them again"
        if before.code != code_fingerprint():
            raise BatchError(f"--out {out}: was made with other detectors than those of this program: {remedy}")
        if before.choices != chosen:
            raise BatchError(f"--out {out}: was made with other options: {remedy}")
    if before is None and out.exists() and (out.is_file() or any(out.iterdir())):
        raise BatchError(f"--out {out}: is neither empty nor the result of a batch; choose another")
    matches = name_matches(recorded, before.names if before is not None else {})
    names = (before.names if before is not None else {}) | {one.source: name for name, one in matches.items()}
    out.mkdir(0o700, parents=True, exist_ok=True)
    draft = out / f".{BATCH}.{os.getpid()}"
    draft.write_bytes(msgspec.json.format(msgspec.json.encode(Batch(chosen, code_fingerprint(), names)), indent=1))
    draft.replace(out / BATCH)
    return matches


def _read(out: Path) -> Batch | None:
    try:
        batch = read_json(out / BATCH, Batch, LISTING_BYTES_MAX)
        if unusable := [name for name in batch.names.values() if not is_folder(name)]:
            raise UntrustedError(f"{unusable[0][:40]!r} is no name of a folder")
        return batch
    except FileNotFoundError:
        return None
    except (OSError, UntrustedError) as error:
        raise BatchError(f"{out / BATCH}: cannot be read: {error}; choose another --out") from error


def _contents(parameters: str) -> str:
    return Path(parameters).read_text(encoding="utf-8") if parameters else ""


def _size(recorded: RecordedMatch) -> float:
    """Positions of a match, about; its task reports input that cannot be read."""
    try:
        if is_capture(recorded.source):
            end = Capture.open(recorded.source).end
            return math.inf if end is None else end.positions
        return Path(recorded.source).stat().st_size / 10
    except (OSError, ValueError):
        return 0.0


def run_job(
    session: SparkSession, task: Callable[[_Work], _Done], work: Sequence[_Work], poll: Callable[[], None]
) -> list[_Done]:
    """Run a task a match, and poll their progress twice a second meanwhile; the results are in the order of the work.

    Raises:
        BatchError: Spark gave up.
    """
    results: list[_Done] = []
    failed: list[Exception] = []

    def run() -> None:
        try:
            results.extend(session.sparkContext.parallelize(work, len(work)).map(task).collect())
        except Exception as error:  # handed to the caller's thread
            failed.append(error)

    running = threading.Thread(target=run, daemon=True)
    running.start()
    while running.is_alive():
        poll()
        running.join(_POLL_S)
    if failed:
        raise BatchError(f"Spark gave up: {str(failed[0]).strip().splitlines()[0]}; call again to go on") from failed[0]
    return results


def _task(work: tuple[str, RecordedMatch, BatchOptions]) -> Result:
    name, recorded, options = work
    context = TaskContext.get()
    deaths = context.attemptNumber() if context is not None else 0
    if deaths >= _DEATHS:
        reason = f"the process that played it died {deaths} times; was there too little memory?"
        return Result(name, recorded.source, recorded.store, broken=reason)
    return play(name, recorded, options)


def _report_progress(watch: Watch | None, names: Sequence[str], out: Path, done_before: int) -> None:
    """Tell ``watch`` the share of each match of this call that is being played, and how many are whole."""
    if watch is not None:
        playing = [name for name in names if (out / DRAFTS / name).is_dir()]
        whole = sum((out / name / BATCH).is_file() for name in names)
        watch({name: share_done(name, out) for name in playing}, done_before + whole)


def _write_changes(out: Path, results: Sequence[Result]) -> None:
    """Write all changes of all matches into one file."""
    parts = [read_parquet(out / r.name / CHANGES_FILE) for r in results if r.kinds is not None]
    draft = out / f".{CHANGES_FILE}.{os.getpid()}"
    pq.write_table(pa.concat_tables(parts) if parts else CHANGES.empty_table(), draft, compression="zstd")
    draft.replace(out / CHANGES_FILE)


def as_plain(results: Sequence[Result], skipped: int) -> dict[str, Any]:
    """The report as plain values."""
    return {
        "matches": len(results),
        "skipped": skipped,
        "broken": {result.name: result.broken for result in results if result.broken},
        "kinds": {kind: _figures(counts) for kind, counts in totals(results).items()},
        "results": [
            msgspec.to_builtins(result)
            | {"kinds": result.kinds and {kind: _figures(counts) for kind, counts in result.kinds.items()}}
            for result in results
        ],
    }


def _figures(counts: KindChange) -> dict[str, Any]:
    return msgspec.to_builtins(counts) | {"agreement": round(counts.agreement, 6)}
