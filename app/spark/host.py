"""Runs the streaming query: source, engine stage and committer, from the checkpoint to the end of the capture.

Theory of operation
-------------------
A run's folder holds all that a later run needs to go on: Spark's checkpoint (which batches were planned and
which are done), the engine states, the capture. A batch is several windows long, each a partition. The driver runs them
one after the other in ``foreachBatch`` and commits each when it closes, while the next is open already: between two
windows nothing is planned and nothing is logged, so the fast lane hardly stands still (decision 019). Whatever dies,
the next query begins where the store ends, from the state of there, over the same blocks.

States older than a window's start are deleted when that window is committed: no redo can start from them.

If the query fails, it is started again on the spot, as long as it gets further than the time before. While the disk
is full it waits. A checkpoint that is damaged is replaced by one that begins where the store ends.

A run that begins warms up first. One that goes on in a topic is late already; what its processes must import and
compile is done while Spark plans the query (they are *woken*), and over when its first batch begins.
"""

from __future__ import annotations

import logging
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import msgspec
import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.streaming import StreamingQuery

from app.base.errors import one_line
from app.base.pace import NEVER_US
from app.kafka.topic_location import TopicOptions
from app.pipeline.commits import Committer, HostError
from app.pipeline.disk_full import Room, is_full
from app.pipeline.options import load_pipeline
from app.pipeline.state_child import wait_for
from app.pipeline.state_store import StateStore
from app.spark import source as spark_source
from app.spark import stage as spark_stage
from app.spark.checkpoint import CHECKPOINT, Base, mend
from replay.capture import Capture

#: File in a run's folder whose existence asks the source to end.
STOP = "stop"

_POLL_S = 0.1
_WARM_UP_WINDOWS = 8
_WARM_UP_WINDOW_US = 200_000
_MAX_FAILURES_WITHOUT_PROGRESS = 3
#: Spark gives a Python process ten seconds to start, which on a machine that is busy with something else are too few.
_SLOW_START, _MAX_SLOW_STARTS = "worker failed to connect back", 20
_log = logging.getLogger(__name__)


class HostConfig(msgspec.Struct, frozen=True):
    """A query, in data.

    Attributes:
        source: name of the Spark source, ``tracking`` or ``sim``.
        capture: folder to read; with a topic, what to warm up on.
        topic: what to read instead of the capture, if anything.
        folder: where checkpoint and states are.
        stage: the engine stage's configuration.
        speed: 0 is as fast as it goes.
        window_us: of arrival time, between two commits.
        stop_us: offset at which the run ends at the latest; by itself it ends where the capture does.
        officials: folder of the match store and further files, where officials write; empty for nowhere.
    """

    source: str
    capture: Path
    folder: Path
    stage: spark_stage.StageConfig
    speed: float
    window_us: int
    stop_us: int = NEVER_US
    topic: TopicOptions | None = None
    officials: tuple[Path, ...] = ()

    @property
    def stop_flag(self) -> Path:
        """File whose existence asks the source to end."""
        return self.folder / STOP

    @property
    def anchor(self) -> Path:
        """File that keeps when the run's clock began."""
        return self.folder / "anchor"

    def options(self, begin: int | None = None) -> dict[str, str]:
        """Options of the Spark source; ``begin`` is where a checkpoint begins that does not begin with the match."""
        if self.topic is not None:
            topic = self.topic if begin is None else msgspec.structs.replace(self.topic, begin=begin)
            return topic.options()
        return {
            **({} if begin is None else {"begin_us": str(begin)}),
            "capture": str(self.capture), "speed": str(self.speed), "window_us": str(self.window_us),
            "stop_us": str(self.stop_us), "stop_flag": str(self.stop_flag), "anchor": str(self.anchor),
            "officials": "\n".join(map(str, self.officials)),
        }  # fmt: skip


class SparkHost:
    """One query over one capture.

    Args:
        session: that runs it.
        config: of the match.
        committer: takes what its windows give.
        cold: it goes on in a topic, and the session has not been warmed up for it.
    """

    def __init__(self, session: SparkSession, config: HostConfig, committer: Committer, *, cold: bool = False) -> None:
        self._session, self._config, self._committer, self._cold = session, config, committer, cold
        self._waking: list[threading.Thread] = []
        self._progress = 0
        self._base = Base()
        config.folder.mkdir(parents=True, exist_ok=True)
        _register(session, config)

    def run(self, stop: threading.Event) -> None:
        """Returns when the capture's end is reached and committed, or ``stop`` was set and the batch is closed.

        Raises:
            HostError: the query keeps failing, or Spark is gone.
        """
        self._config.stop_flag.unlink(missing_ok=True)
        self._config.anchor.unlink(missing_ok=True)
        if self._cold:
            self._waking = _wake(self._session, self._config)
        keep_running(self._config.folder, self._begin, lambda: self._progress, stop)

    def _begin(self) -> StreamingQuery:
        """The query, from where the last one ended."""
        self._base, said = mend(self._config.folder, self._committer.committed())
        if said:
            _log.warning("%s", said)
        stage = spark_stage.engine_stage(self._config.stage)
        return _start(self._session, self._config, self._base, stage, self._commit)

    def _commit(self, frame: DataFrame, batch_id: int) -> None:
        """``foreachBatch``: runs the batch's windows one by one (Spark is lazy), and commits each that has closed."""
        for waking in self._waking:  # with two engine processes, a window could come to the one that has no pipeline
            waking.join()
        tables: dict[str, pa.Table] = {}
        over = threading.Event()
        with ThreadPoolExecutor(1, "commit") as beside:
            committed: Future[None] | None = None
            try:
                # Spark begins the next window when it is asked for it: at once, while the last one is being committed.
                for row in frame.toLocalIterator():
                    if row["name"]:
                        tables[row["name"]] = table_of(row["body"])
                        continue
                    if committed is not None:
                        committed.result()
                    committed, tables = beside.submit(self._commit_window, row, tables, over), {}
                if committed is not None:
                    committed.result()
            finally:
                over.set()

    def _commit_window(self, closing: Row, tables: Mapping[str, pa.Table], over: threading.Event) -> None:
        """Commits what a window gave, unless it is there: windows follow each other without a gap."""
        last, stage = self._committer.committed(), self._config.stage
        states = StateStore(Path(stage.states), closing["match"])
        begin = last.offset if last else stage.begin
        if closing["end"] > begin:
            assert closing["start"] == begin, f"a window of {closing['start']} where {begin} comes next"
            meta = msgspec.json.decode(closing["meta"])
            wait_for(states, closing["end"], meta["epoch"], over, meta.pop(spark_stage.KEEPERS))
            self._committer.commit(last.batch + 1 if last else 0, closing["match"], tables, meta)
            if meta["last"]:  # a topic may go on without this match
                self._config.stop_flag.touch()
        states.forget_before(closing["start"])
        self._progress += 1


def warm_up(session: SparkSession, config: HostConfig, work: Callable[[], None]) -> None:
    """Plays a few tiny windows for nothing, before the clock runs; the engine's worker does ``work`` in the first.

    Workers are started, modules imported, and the paths through Spark that lie between two batches compiled:
    cold, a turn-around takes twice as long and more.

    Args:
        session: that will run the match.
        config: of the match; nothing in its folder but a folder of the warming's own is touched.
        work: see above.
    """
    _register(session, config)
    begin_us = Capture.open(config.capture).begin_us
    folder = config.folder / "warm-up"
    shutil.rmtree(folder, ignore_errors=True)
    stop_us = min(begin_us + _WARM_UP_WINDOWS * _WARM_UP_WINDOW_US, config.stop_us)
    tiny = msgspec.structs.replace(
        config, folder=folder, speed=0.0, window_us=_WARM_UP_WINDOW_US, stop_us=stop_us, topic=None, officials=()
    )

    def stage(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        starts = [start for batch in batches for start in batch.column("start").to_pylist()]
        if begin_us in starts:
            work()
        yield from ()

    def ignore(frame: DataFrame, batch_id: int) -> None:
        for _ in frame.toLocalIterator():
            pass

    try:
        _start(session, tiny, Base(), stage, ignore).awaitTermination()
    except PySparkException as error:  # a busy machine may let a worker wait for too long: it was for nothing
        _log.warning("the warming up failed, and the match begins cold: %s", _first_line(error))
    shutil.rmtree(folder, ignore_errors=True)


def _wake(session: SparkSession, config: HostConfig) -> list[threading.Thread]:
    """Has the processes of a topic's source and of the engine begin and import, each by a job of its own."""
    from app.spark import record_reader as taking

    environment, waking = session.sparkContext.environment, list[threading.Thread]()
    stages = {"source": taking.waking_stage, "engine": spark_stage.waking_stage(config.stage, config.capture)}
    for role, stage in stages.items():
        environment["TOUCHLINE_ROLE"] = role
        job = session.range(0, 1, numPartitions=1).mapInArrow(stage, "id long")

        def work(job: DataFrame = job) -> None:
            try:
                job.collect()
            except (Py4JError, PySparkException) as error:  # it was for nothing, then
                _log.warning("the match begins cold: %s", one_line(error))

        waking.append(threading.Thread(target=work, name=f"waking {role}", daemon=True))
        waking[-1].start()
    return waking


def _register(session: SparkSession, config: HostConfig) -> None:
    """Tells a session of the sources, and of which process does what."""
    environment = session.sparkContext.environment
    # Workers are pooled by their environment. With a role in it, the engine's worker is the engine's again in
    # the next batch, still holding the pipeline, and never the source's.
    environment["TOUCHLINE_ROLE"] = "source"
    session.dataSource.register(spark_source.TrackingSource)
    session.dataSource.register(spark_source.SimSource)
    if config.topic is not None:
        from app.spark.topic import KafkaSource

        session.dataSource.register(KafkaSource)
    environment["TOUCHLINE_ROLE"] = "engine"


def _start(
    session: SparkSession,
    config: HostConfig,
    base: Base,
    stage: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]],
    sink: Callable[[DataFrame, int], None],
) -> StreamingQuery:
    reader = session.readStream.format(config.source if config.topic is None else "touchline_kafka")
    rows = reader.options(**config.options(base.offset)).load()
    results = rows.mapInArrow(stage, spark_stage.SCHEMA)
    return (
        results.writeStream.foreachBatch(sink)
        .option("checkpointLocation", str(config.folder / CHECKPOINT))
        .trigger(availableNow=True)
        .start()
    )


def check_state(stage: spark_stage.StageConfig, committer: Committer) -> None:
    """Sees before anything is started whether the match can be gone on with.

    Raises:
        StateError: see :meth:`app.pipeline.state_store.StateStore.read`.
    """
    last = committer.committed()
    if last is not None and last.offset > stage.begin and not committer.has_ended():
        maker = load_pipeline(stage.pipeline)(stage.sheet, stage.settings, 0).maker
        StateStore(Path(stage.states), stage.sheet.match_id).read(last.offset, maker)


def keep_running(
    folder: Path, begin: Callable[[], StreamingQuery], progress: Callable[[], int], stop: threading.Event
) -> None:
    """Starts a query, and starts it again when it fails, as long as it gets further; while the disk is full it waits.

    Args:
        folder: of the run; a file ``stop`` in it asks the source to end.
        begin: starts the query.
        progress: how many batches are committed.
        stop: asks for the end.

    Raises:
        HostError: the query keeps failing, or Spark is gone.
    """
    failures, room = 0, Room(folder, stop)
    while True:
        before = progress()
        try:
            query = begin()
            while not query.awaitTermination(_POLL_S):
                if stop.is_set():
                    (folder / STOP).touch()
            return
        except (Py4JError, PySparkException, OSError) as error:
            if is_full(error):  # the first: where a query begins, Spark says it by an error of Java's
                room.wait(error)
                continue
            if isinstance(error, Py4JError | ConnectionError):
                raise HostError(
                    f"Spark's process is gone; its log is in {folder}. Start again with the same --store to go on"
                ) from error
            if isinstance(error, OSError):
                raise
            failures = 1 if progress() > before else failures + 1
            _log.warning("the query failed and is started again: %s", _first_line(error))
            most = _MAX_SLOW_STARTS if _SLOW_START in str(error) else _MAX_FAILURES_WITHOUT_PROGRESS
            if failures >= most:
                raise HostError(f"the query failed {failures} times in a row: {_first_line(error)}") from error


def table_of(body: bytes) -> pa.Table:
    """A table out of the bytes of a stage's row."""
    return pa.ipc.open_stream(body).read_all()


def _first_line(error: PySparkException) -> str:
    """Spark's reason without its traceback: the last line that says something of Python's, else the first."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    raised = [line for line in lines if "Error: " in line and not line.startswith(("at ", "org.", "Caused"))]
    return (raised or lines or [type(error).__name__])[-1 if raised else 0]
