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
from app.base.private import is_private, private_files, private_folder, temporary_folder
from app.base.program import IMPORT_ROOT
from app.spark import worker_daemon
from app.spark.class_archive import archive_option
from football.errors import UserError

#: Settings that make rows flow through an open micro-batch, found by measurement (decision 004).
_FLOW = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "1",  # hand every row on at once
    "spark.buffer.size": "512",  # Python workers flush only full buffers
    "spark.python.unix.domain.socket.enabled": "true",  # small writes over TCP stall
}

#: Settings that shorten the time between two micro-batches: fewer files, fewer forks, no reports that are not read.
_TURN_AROUND = {
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
    "spark.sql.streaming.checkpoint.fileChecksum.enabled": "false",
    "spark.hadoop.fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem",  # no second file with checksums
    # A micro-batch has few rows: interpreting its plan is cheaper than generating and compiling code.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.streaming.metricsEnabled": "false",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}

#: Options for a Java that only passes rows on, and for the one that composes Spark's command line. Quick instead of
#: optimised compilation, and garbage collection without extra threads, halve the work of its start. The heap begins
#: small and grows by need; by itself, Java takes a share of the machine's memory.
_QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xms48m -Xmn24m"

#: Set by ``spark-submit`` in the process that it starts; the master then comes from ``spark-submit``.
_SUBMITTED = frozenset(("PYSPARK_GATEWAY_PORT",))

#: Only this machine can reach the driver. A cluster's workers must reach it, too; Spark then determines the address.
_ALONE = {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}

#: Prefixes of the jars of PySpark that are not needed here: Kubernetes, YARN, Hive, machine learning, graphs, servers.
#: Java opens every jar on its path.
_NEEDLESS = (
    "kubernetes-", "spark-kubernetes", "volcano-", "vertx-", "zjsonpatch", "spark-yarn",
    "hive-", "spark-hive", "datanucleus-", "derby",
    "spark-mllib", "breeze", "spire", "algebra", "cats-kernel", "arpack", "blas", "lapack", "JTransforms", "JLarge",
    "spark-graphx", "spark-connect",
)  # fmt: skip
_NEEDED = ("hive-storage-api",)

#: Limit of the attempts at a task within its micro-batch, after which the query fails.
_TASK_ATTEMPTS = 4


def is_here(master: str) -> bool:
    """True if a master is on this machine: none at all, ``local``, or one that listens on loopback.

    >>> is_here(""), is_here("spark://127.0.0.1:7077"), is_here("spark://ten:7077")
    (True, True, False)
    """
    host = master.partition("://")[2].rpartition(":")[0]
    return not master or master.startswith("local") or host in ("127.0.0.1", "localhost", "[::1]")


class SparkStartError(UserError):
    """Spark cannot be started, or its cluster cannot be reached; the message has the reason."""


def start_session(
    java: Java,
    log: Path,
    slots: int,
    extra: Mapping[str, str] | None = None,
    master: str = "",
    *,
    streaming: bool = False,
    python: Path | None = None,
) -> SparkSession:
    """Starts Spark in this process, or a driver of a cluster.

    Args:
        java: runtime that runs Spark.
        log: file for the output of Spark and its workers.
        slots: tasks at a time; at least the number of partitions, because a task holds its slot while the
            micro-batch is open.
        extra: further Spark settings, which override all others.
        master: of a cluster, ``spark://host:port``; empty for this machine, or for the master of ``spark-submit``.
        streaming: whether Spark's Java only passes rows on; it then starts sooner and computes slower.
        python: program that Spark runs as its Python processes; default this interpreter.

    Raises:
        SparkStartError: the session cannot be created; the message has Spark's reason.
    """
    temporary = str(temporary_folder())
    with private_files():
        log.parent.mkdir(parents=True, exist_ok=True)
        properties = log.with_name("log4j2.properties")
        properties.write_text(_LOG4J)
        home = _home()
    quick = ""
    if streaming:
        # Java expands the class path in the order of the folder.
        quick = (
            f"{_QUICK} {archive_option(java, (home / 'jars').iterdir(), cache_folder(os.environ) / 'spark-classes')}"
        )
    os.environ["JAVA_HOME"] = str(java.home)
    os.environ["PYSPARK_PYTHON"], os.environ["PYSPARK_DRIVER_PYTHON"] = str(python or sys.executable), sys.executable
    settings = {
        **_FLOW,
        **_TURN_AROUND,
        "spark.driver.extraJavaOptions": (
            f"-Xss16m {quick} -Dlog4j2.configurationFile={properties.as_uri()} -Djava.io.tmpdir={temporary}"
        ),
        "spark.hadoop.fs.permissions.umask-mode": "077",  # Hadoop sets the modes of folders itself
        **(_ALONE if is_here(master) and not _SUBMITTED.intersection(os.environ) else {}),
        **(_shut(temporary) if not master and not _SUBMITTED.intersection(os.environ) else {}),
        "spark.executorEnv.PYTHONPATH": str(IMPORT_ROOT),
        "spark.python.daemon.module": worker_daemon.__name__,
        **(extra or {}),
    }
    builder = SparkSession.builder.appName("touchline")
    if master or not _SUBMITTED.intersection(os.environ):
        builder = builder.master(master or f"local[{slots},{_TASK_ATTEMPTS}]")
    for key, value in settings.items():
        builder = builder.config(key, value)
    try:
        _launch(settings, log, home)
        return builder.getOrCreate()
    except (Py4JError, PySparkException, RuntimeError, OSError) as error:
        at = f" at {master}" if master else ""
        raise SparkStartError(f"Spark does not start{at}: {_reason(error)}; its log is {log}") from error


def _shut(temporary: str) -> dict[str, str]:
    """Settings against other users of this machine, who can reach loopback and the folder for temporary files, too.

    A client of Spark can run code in it, and so can a client of its Python processes, which unpickle what they get.
    Spark therefore requires a secret that is generated for each run, and has its sockets and blocks in a folder of its
    own. A cluster has its own secret and folders (docs/cluster.md).
    """
    return {
        "spark.authenticate": "true",
        "spark.local.dir": temporary,
        "spark.python.unix.domain.socket.dir": temporary,
    }


def _reason(error: Exception) -> str:
    """Java's error message, without its stack trace."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    causes = [line for line in lines if "Exception" in line or "Error" in line]
    return (causes or lines or [type(error).__name__])[0].removeprefix(": ")


def stop_session(session: SparkSession) -> None:
    """Ends Spark; does nothing if its process has ended already."""
    with suppress(Py4JError, ConnectionError):
        session.stop()


def _launch(settings: Mapping[str, str], log: Path, home: Path) -> None:
    """Starts Spark's Java, unless it runs already; its output and that of its workers goes to ``log``."""
    if SparkContext._gateway is not None or _SUBMITTED.intersection(os.environ):
        return
    conf = SparkConf().setAll(list(settings.items()))
    with log.open("ab") as output, _at(home), private_files():
        # Java and its Python processes get a session of their own, since only this process answers signals to its
        # group. Java ends when the pipe from this process is closed, in whatever way this process ends.
        gateway = launch_gateway(conf, {"stdout": output, "stderr": output, "start_new_session": True})
    SparkContext._ensure_initialized(gateway=gateway)


@contextmanager
def _at(home: Path) -> Iterator[None]:
    """Sets the Spark home and the variables for its start while the context lasts.

    One of Spark's Python processes would search all installed packages for data sources that are not used here, while
    the query waits. Spark skips the search if the driver's Python is no program; its Java uses that setting for nothing
    else.
    """
    variables = {
        "SPARK_HOME": str(home),
        "PYSPARK_DRIVER_PYTHON": "no-python-looks-for-sources",
        "SPARK_LAUNCHER_OPTS": _QUICK,
        "TMPDIR": str(temporary_folder()),
        "PYTHONSAFEPATH": "1",  # Spark starts its Python processes in the working folder, which may hold any module
    }
    given = {name: os.environ.get(name) for name in variables}
    os.environ |= variables
    try:
        yield
    finally:
        for name, value in given.items():
            del os.environ[name]
            if value is not None:
                os.environ[name] = value


def _home() -> Path:
    """Home of Spark in the user's cache, created if missing: links to what is installed.

    It lacks the archive of Spark's Python part. Spark puts that archive first on the path of its Python processes, and
    a query starts a dozen of them. Modules from an archive are compiled at each import: a start takes three times the
    processor time, and on a busy machine longer than the ten seconds that Spark waits for it. Without the archive, the
    processes import the installed package. The home of an installed PySpark also lacks the jars that are not used.
    """
    is_ours = not os.environ.get("SPARK_HOME")
    spark = Path(os.environ.get("SPARK_HOME") or Path(pyspark.__file__).parent).resolve()
    jars = sorted(
        jar for jar in (spark / "jars").iterdir()
        if not is_ours or not jar.name.startswith(_NEEDLESS) or jar.name.startswith(_NEEDED)
    )  # fmt: skip
    parts = [spark / part for part in ("bin", "conf") if (spark / part).exists()]
    digest = hashlib.sha256("\n".join(map(str, [*parts, *jars])).encode()).hexdigest()[:16]
    home = private_folder(cache_folder(os.environ)) / "spark-home" / digest
    if not all(is_private(folder) for folder in (home.parent, home, home / "jars")):
        shutil.rmtree(home, ignore_errors=True)
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
