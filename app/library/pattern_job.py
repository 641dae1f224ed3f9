"""A pattern over many stored matches as a job of Spark: one task a match."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from app.base.java import find_java
from app.batch.run import run_job
from app.library.patterns import StoreResult, search_store
from app.spark.session import start_session, stop_session
from detectors.patterns.matcher import MOST_MATCHES
from detectors.patterns.syntax import Query
from football.errors import UserError
from replay.match_store import is_store


def search_stores(
    query: Query,
    stores: Sequence[Path],
    most: int = MOST_MATCHES,
    *,
    jobs: int = 0,
    master: str = "",
) -> list[StoreResult]:
    """Run a query over many stores, in their order; what is wrong with one stays in its result.

    Args:
        query: with its strategy.
        stores: folders of match stores, which the workers reach under the same names.
        most: bound on the matches of one event.
        jobs: matches at a time on this machine; 0 for as many as it has cores.
        master: of a Spark cluster, see ``docs/cluster.md``; empty for this machine.

    Raises:
        BatchError: Spark gave up.
        JavaNotFoundError, SparkStartError: Spark does not start.
    """
    slots = min(jobs or os.cpu_count() or 1, len(stores))
    with tempfile.TemporaryDirectory(prefix="touchline-patterns-") as folder:
        session = start_session(find_java(os.environ), Path(folder) / "spark.log", slots, master=master, streaming=True)
        try:
            return run_job(session, _task, [(query, str(store), most) for store in stores], lambda: None)
        finally:
            stop_session(session)


def _task(work: tuple[Query, str, int]) -> StoreResult:
    query, store, most = work
    if not is_store(Path(store)):
        return StoreResult(store, broken="not a match store, or this worker does not reach it")
    try:
        return search_store(query, Path(store), most)
    except (UserError, OSError) as error:
        return StoreResult(store, broken=str(error))
