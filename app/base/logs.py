"""Logs as JSON, one object a line: time, level, process, match, what happened, and figures.

    {"time": "2026-11-21T16:00:00.123456Z", "level": "info", "process": "engine", "pid": 4711, "match": "sim-32",
     "what": "batch closed", "figures": {"blocks": 600, "state_bytes": 1048576}, "logger": "app.spark.stage"}

Each process has its own file in ``DIR/logs`` (nobody can write into another's line), ``<process>-<pid>.jsonl``. A file
that has grown goes on in a new one, and the oldest are deleted, so a run of any length takes a bounded place. A log
never disturbs a match: what can't be written is dropped.

No line holds a secret: no module logs one, and every text given to :func:`hide_secrets` is replaced in every line, also
in errors of libraries.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Literal

import msgspec

Logs = Literal["files", "stderr", "off"]

#: Tells workers of Spark where to and from which level; set by the driver, see :func:`worker_variable`.
VARIABLE = "TOUCHLINE_WORKER_LOGS"

#: A process's files: the one it writes, and those before it.
FILE_BYTES, FILES_BEFORE = 4 << 20, 2

#: Files in a folder at most, of processes that were there before included.
FILES_MOST = 24

#: Whose lines are taken from the level that was asked for; those of libraries from warnings on.
_OURS = ("app", "camera", "dashboard", "replay")

_HIDDEN = "***"
_LEAST_SECRET = 4

_secrets: set[str] = set()
_log = logging.getLogger(__name__)


def log_event(logger: logging.Logger, level: int, what: str, match: str = "", **figures: object) -> None:
    """Logs what happened, with figures.

    Args:
        logger: of the module.
        level: as ``logging`` has them.
        what: in a few words, always the same for the same thing.
        match: that it happened to; empty for none.
        figures: by name, with units in the names.
    """
    logger.log(level, what, extra={"match": match, "figures": figures})


def hide_secrets(secrets: Iterable[str]) -> None:
    """From now on these stand in no line of this process's logs."""
    for secret in secrets:
        if len(secret) >= _LEAST_SECRET:
            _secrets.add(secret)


class JsonLines(logging.Formatter):
    """Makes a line of a record. ``process``: what this process is, as people call it."""

    def __init__(self, process: str) -> None:
        super().__init__()
        self._process = process

    def format(self, record: logging.LogRecord) -> str:
        """One JSON object, without a line break."""
        figures = getattr(record, "figures", {})
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="microseconds")[:-6] + "Z",
            "level": record.levelname.lower(),
            "process": self._process,
            "pid": record.process,
            "match": getattr(record, "match", ""),
            "what": record.getMessage(),
            "figures": figures,
            "logger": record.name,
        }
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return msgspec.json.encode(_clean(line)).decode()


class _ForPeople(logging.Formatter):
    """Warnings as one line on a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        figures = getattr(record, "figures", {})
        told = ", ".join(f"{name} {value}" for name, value in figures.items())
        return str(_clean(f"touchline: {record.getMessage()}" + (f": {told}" if told else "")))


class _Bounded(RotatingFileHandler):
    """A file of lines, and those before it: ``x.jsonl``, ``x.1.jsonl`` ..."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, maxBytes=FILE_BYTES, backupCount=FILES_BEFORE, encoding="utf-8", delay=True)
        self.namer = _numbered

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  the library's name
        """A full disk is the store's to tell."""


@contextmanager
def logging_to(folder: Path, logs: Logs, level: str, process: str = "driver") -> Iterator[None]:
    """This process logs while the context lasts; people still get warnings on stderr.

    Args:
        folder: of the files.
        logs: to ``files`` in the folder, to ``stderr``, or ``off``.
        level: least level of our own lines.
        process: what this process is.
    """
    if logs == "off":
        yield
        return
    handlers = _handlers(folder, logs, process)
    if logs == "files":
        people = logging.StreamHandler()
        people.setLevel(logging.WARNING)
        people.setFormatter(_ForPeople())
        people.addFilter(lambda record: record.name != __name__)  # that a run failed is told to people by its error
        handlers.append(people)
    root, before = logging.getLogger(), {name: logging.getLogger(name).level for name in _OURS}
    for handler in handlers:
        root.addHandler(handler)
    _set_levels(dict.fromkeys(_OURS, level.upper()))
    try:
        yield
    except Exception as error:
        log_event(_log, logging.ERROR, "run failed", error=f"{type(error).__name__}: {error}")
        raise
    finally:
        _set_levels(before)
        for handler in handlers:
            root.removeHandler(handler)
            handler.close()


def worker_variable(folder: Path, logs: Logs, level: str) -> str:
    """What :data:`VARIABLE` says to workers."""
    return "" if logs == "off" else f"{level} {folder if logs == 'files' else '-'}"


@cache
def log_in_worker() -> None:
    """This worker of Spark logs from now on, as its environment says; does nothing when called again.

    Lines for stderr get into ``spark/spark.log``, where Spark's own go.
    """
    level, _, place = os.environ.get(VARIABLE, "").partition(" ")
    if not place:
        return
    for handler in _handlers(Path(place), "stderr" if place == "-" else "files", os.environ.get("TOUCHLINE_ROLE", "")):
        logging.getLogger().addHandler(handler)
    _set_levels(dict.fromkeys(_OURS, level.upper()))


def _handlers(folder: Path, logs: Logs, process: str) -> list[logging.Handler]:
    handler: logging.Handler
    if logs == "stderr":
        handler = logging.StreamHandler(sys.stderr)
    else:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            return []
        _forget_old(folder)
        handler = _Bounded(folder / f"{process}-{os.getpid()}.jsonl")
    handler.setFormatter(JsonLines(process))
    return [handler]


def _set_levels(levels: Mapping[str, int | str]) -> None:
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)


def _forget_old(folder: Path) -> None:
    """Leaves room for this process's files."""
    told: list[tuple[float, Path]] = []
    for path in folder.glob("*.jsonl"):
        try:
            told.append((path.stat().st_mtime, path))
        except FileNotFoundError:  # another process forgets, too
            continue
    for _, path in sorted(told)[: max(0, len(told) - (FILES_MOST - 1 - FILES_BEFORE))]:
        path.unlink(missing_ok=True)


def _numbered(name: str) -> str:
    """``x.jsonl.1`` as ``x.1.jsonl``."""
    stem, _, number = name.rpartition(".")
    return f"{stem.removesuffix('.jsonl')}.{number}.jsonl" if number.isdigit() else name


def _clean(value: object) -> object:
    """The value as JSON has them, without secrets: before it is encoded, since in JSON a text may look otherwise."""
    if isinstance(value, Mapping):
        return {str(_clean(str(name))): _clean(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(inner) for inner in value]
    if isinstance(value, int | float | None):
        return value
    text = str(value)
    for secret in sorted(_secrets, key=len, reverse=True):
        text = text.replace(secret, _HIDDEN)
    return text
