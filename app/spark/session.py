"""The Spark session of a run: local, quiet, and set up so that rows flow through an open micro-batch."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import pyspark
from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from app.base.java import Java, cache_folder
from football.errors import UserError

#: What makes rows flow, found by measurement (docs/architecture.md, Spark).
_FLOW = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "1",  # hand every row on at once
    "spark.buffer.size": "512",  # Python workers flush only full buffers
    "spark.python.unix.domain.socket.enabled": "true",  # small writes over TCP stall
}

#: What shortens the time between two batches: fewer files, fewer forks, nothing that nobody looks at.
_TURN_AROUND = {
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
    "spark.sql.streaming.checkpoint.fileChecksum.enabled": "false",
    "spark.hadoop.fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem",  # no second file with checksums
    # A batch has a handful of rows: to interpret its plan is cheaper than to generate and compile code for it.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.streaming.metricsEnabled": "false",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}

#: For Java that only hands rows on, which takes half of its start's work from it: code is compiled quickly instead of
#: well, and garbage collected without threads of its own.
STREAMING = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"

#: Set by ``spark-submit`` in the process that it starts: the master is its to say.
_SUBMITTED = frozenset(("PYSPARK_GATEWAY_PORT",))

#: Nobody but this machine reaches the driver; a cluster's workers must, and Spark finds out by itself how.
_ALONE = {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}

#: Other users of this machine reach loopback, too, and who may speak to Spark may run code in it: it asks for a secret
#: that it makes for each run and tells nobody. A cluster has one of its own (docs/cluster.md).
_SHUT = {"spark.authenticate": "true"}

#: Beginnings of names of jars that come with PySpark and are for what we do not do: to run on Kubernetes or YARN, Hive,
#: machine learning, graphs, to serve others. Java looks into all that it is given.
_NEEDLESS = (
    "kubernetes-", "spark-kubernetes", "volcano-", "vertx-", "zjsonpatch", "spark-yarn",
    "hive-", "spark-hive", "datanucleus-", "derby",
    "spark-mllib", "breeze", "spire", "algebra", "cats-kernel", "arpack", "blas", "lapack", "JTransforms", "JLarge",
    "spark-graphx", "spark-connect",
)  # fmt: skip
_NEEDED = ("hive-storage-api",)

#: A failed task is done again on the spot, within its batch, before the query gives up.
_TASK_ATTEMPTS = 4


def is_here(master: str) -> bool:
    """Whether a master is this machine's own: none at all, ``local``, or one that listens on loopback.

    >>> is_here(""), is_here("spark://127.0.0.1:7077"), is_here("spark://ten:7077")
    (True, True, False)
    """
    host = master.partition("://")[2].rpartition(":")[0]
    return not master or master.startswith("local") or host in ("127.0.0.1", "localhost", "[::1]")


class SparkStartError(UserError):
    """Spark cannot be started, or its cluster not be reached; the message says why."""


def start_session(
    java: Java, log: Path, slots: int, extra: Mapping[str, str] | None = None, master: str = "", options: str = ""
) -> SparkSession:
    """Starts Spark in this process, or a driver of a cluster.

    Args:
        java: runtime to start it with.
        log: file for all that Spark and its workers write.
        slots: tasks at a time; at least the number of partitions, because a task holds its slot while the batch
            is open.
        extra: further Spark settings, last word.
        master: of a cluster, ``spark://host:port``; empty for this machine, or what ``spark-submit`` was told.
        options: further ones for Spark's Java in this process.

    Raises:
        SparkStartError: no session came about; the message has Spark's reason.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    properties = log.with_name("log4j2.properties")
    properties.write_text(_LOG4J)
    os.environ["JAVA_HOME"] = str(java.home)
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    settings = {
        **_FLOW,
        **_TURN_AROUND,
        "spark.driver.extraJavaOptions": f"-Xss16m {options} -Dlog4j2.configurationFile={properties.as_uri()}",
        **(_ALONE if is_here(master) and not _SUBMITTED.intersection(os.environ) else {}),
        **(_SHUT if not master and not _SUBMITTED.intersection(os.environ) else {}),
        "spark.executorEnv.PYTHONPATH": str(Path(__file__).resolve().parents[2]),
        **(extra or {}),
    }
    builder = SparkSession.builder.appName("touchline")
    if master or not _SUBMITTED.intersection(os.environ):
        builder = builder.master(master or f"local[{slots},{_TASK_ATTEMPTS}]")
    for key, value in settings.items():
        builder = builder.config(key, value)
    try:
        _launch(settings, log)
        return builder.getOrCreate()
    except (Py4JError, PySparkException, RuntimeError, OSError) as error:
        at = f" at {master}" if master else ""
        raise SparkStartError(f"Spark does not start{at}: {_reason(error)}; its log is {log}") from error


def _reason(error: Exception) -> str:
    """What Java says, without its stack."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    causes = [line for line in lines if "Exception" in line or "Error" in line]
    return (causes or lines or [type(error).__name__])[0].removeprefix(": ")


def stop_session(session: SparkSession) -> None:
    """Ends Spark; if its process is gone already, there is nothing left to end."""
    with suppress(Py4JError, ConnectionError):
        session.stop()


def _launch(settings: Mapping[str, str], log: Path) -> None:
    """Starts Spark's Java, unless it runs already; what it and its workers print goes to ``log``."""
    if SparkContext._gateway is not None or _SUBMITTED.intersection(os.environ):
        return
    conf = SparkConf().setAll(list(settings.items()))
    with log.open("ab") as output, _at_home():
        # In a session of its own, with its Python processes: signals to our group are ours to answer. It ends when the
        # pipe from us is closed, however we end.
        gateway = launch_gateway(conf, {"stdout": output, "stderr": output, "start_new_session": True})
    SparkContext._ensure_initialized(gateway=gateway)


@contextmanager
def _at_home() -> Iterator[None]:
    """Has Spark started from a home that lacks the archive of its Python part, and a third of its jars.

    Spark puts that archive before all else on the path of its Python processes, and a query starts a dozen. What is
    imported out of it is compiled each time: a start takes three times the processor time, and on a busy machine longer
    than the ten seconds that Spark waits for it. Without it they import the package that is installed.

    One of those processes would look through all that is installed for sources that we do not use, while the query
    waits for it. Spark leaves that out where the driver's Python is no program; nothing else of its Java asks for that.
    """
    given = {name: os.environ.get(name) for name in ("SPARK_HOME", "PYSPARK_DRIVER_PYTHON")}
    spark = Path(given["SPARK_HOME"] or Path(pyspark.__file__).parent).resolve()
    home = _home_of(spark, is_ours=not given["SPARK_HOME"])
    os.environ |= {"SPARK_HOME": str(home), "PYSPARK_DRIVER_PYTHON": "no-python-looks-for-sources"}
    try:
        yield
    finally:
        for name, value in given.items():
            del os.environ[name]
            if value is not None:
                os.environ[name] = value


def _home_of(spark: Path, *, is_ours: bool) -> Path:
    """A home of links to an installed Spark, in the user's cache; one that is not ours keeps all of its jars."""
    jars = sorted(
        jar for jar in (spark / "jars").iterdir()
        if not is_ours or not jar.name.startswith(_NEEDLESS) or jar.name.startswith(_NEEDED)
    )  # fmt: skip
    parts = [spark / part for part in ("bin", "conf") if (spark / part).exists()]
    digest = hashlib.sha256("\n".join(map(str, [*parts, *jars])).encode()).hexdigest()[:16]
    home = cache_folder(os.environ).resolve() / "spark-home" / digest
    if not home.exists():
        draft = home.with_name(f"{digest}.{os.getpid()}")
        shutil.rmtree(draft, ignore_errors=True)
        (draft / "jars").mkdir(parents=True)
        for part in parts:
            (draft / part.name).symlink_to(part, target_is_directory=True)
        for jar in jars:
            (draft / "jars" / jar.name).symlink_to(jar)
        with suppress(OSError):  # another process was faster
            draft.rename(home)
        shutil.rmtree(draft, ignore_errors=True)
    return home


_LOG4J = """\
rootLogger.level = warn
rootLogger.appenderRef.stderr.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{yyyy-MM-dd HH:mm:ss.SSS} %p %c{1}: %m%n%ex
"""
