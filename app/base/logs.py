"""Logs as JSON, one object a line: time, level, process, match, message and figures.

    {"time": "2026-11-21T16:00:00.123456Z", "level": "info", "process": "engine", "pid": 4711, "match": "sim-32",
     "what": "batch closed", "figures": {"blocks": 600, "state_bytes": 1048576}, "logger": "app.spark.stage"}

Each process has its own file in ``DIR/logs``, ``<process>-<pid>.jsonl``, so that lines never mix. Files rotate and the
oldest are deleted, so the logs of a run of any length are bounded. A log never disturbs a match: a line that cannot be
written is dropped.

No line holds a secret: no module logs one, and every text given to :func:`hide_secrets` is replaced in every line, also
in errors of libraries, and also where an address has it with percent signs.
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
from urllib.parse import unquote_plus

import msgspec

from app.base.program import module_name

Logs = Literal["files", "stderr", "off"]

#: Folder and level for the workers of Spark; set by the driver, see :func:`worker_variable`.
VARIABLE = "TOUCHLINE_WORKER_LOGS"

#: Size of a process's file, and number of its older files.
FILE_BYTES, FILES_BEFORE = 4 << 20, 2

#: Limit of files in a folder, those of earlier processes included.
FILES_MAX = 24

#: Packages whose lines are logged from the chosen level on; libraries from warnings on.
_OURS = tuple(module_name(name) for name in ("app", "camera", "dashboard", "replay"))

_MASK = "***"
_SECRET_CHARACTERS_MIN = 4

_secrets: set[str] = set()
_log = logging.getLogger(__name__)


def log_event(logger: logging.Logger, level: int, what: str, match: str = "", **figures: object) -> None:
    """Log a message with figures.

    Args:
        logger: of the module.
        level: as ``logging`` has them.
        what: a few words, always the same for the same occasion.
        match: its id; empty for none.
        figures: by name, with units in the names.
    """
    logger.log(level, what, extra={"match": match, "figures": figures})


def hide_secrets(secrets: Iterable[str]) -> None:
    """Replace these texts in all later lines of this process."""
    for secret in secrets:
        if len(secret) >= _SECRET_CHARACTERS_MIN:
            _secrets.add(secret)


class JsonLines(logging.Formatter):
    """Formats a record as a line. ``process``: name of this process."""

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


class _TerminalLine(logging.Formatter):
    """Warnings as one line on a terminal: the figures, or the sentences that a line has as its ``text``."""

    def format(self, record: logging.LogRecord) -> str:
        figures = getattr(record, "figures", {})
        text = figures.get("text") or ", ".join(f"{name} {value}" for name, value in figures.items())
        return str(_clean(f"touchline: {record.getMessage()}" + (f": {text}" if text else "")))


class _Bounded(RotatingFileHandler):
    """A file of lines with its older ones: ``x.jsonl``, ``x.1.jsonl`` ..."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, maxBytes=FILE_BYTES, backupCount=FILES_BEFORE, encoding="utf-8", delay=True)
        self.namer = _numbered

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  the library's name
        """Ignore errors: the match store reports a full disk."""


@contextmanager
def logging_to(folder: Path, logs: Logs, level: str, process: str = "driver") -> Iterator[None]:
    """Log from this process while the context lasts; warnings also go to stderr.

    Args:
        folder: of the files.
        logs: to ``files`` in the folder, to ``stderr``, or ``off``.
        level: lowest level of the project's own lines.
        process: name of this process.
    """
    if logs == "off":
        yield
        return
    handlers = _handlers(folder, logs, process)
    if logs == "files":
        people = logging.StreamHandler()
        people.setLevel(logging.WARNING)
        people.setFormatter(_TerminalLine())
        people.addFilter(lambda record: record.name != __name__)  # the error of a failed run is printed by itself
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
    """The value of :data:`VARIABLE` for workers."""
    return "" if logs == "off" else f"{level} {folder if logs == 'files' else '-'}"


@cache
def log_in_worker() -> None:
    """Start the logs of a worker of Spark as its environment says; do nothing when called again.

    Lines for stderr get into ``spark/spark.log``, with Spark's own.
    """
    level, _, folder = os.environ.get(VARIABLE, "").partition(" ")
    if not folder:
        return
    for handler in _handlers(
        Path(folder), "stderr" if folder == "-" else "files", os.environ.get("TOUCHLINE_ROLE", "")
    ):
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
        _delete_old(folder)
        handler = _Bounded(folder / f"{process}-{os.getpid()}.jsonl")
    handler.setFormatter(JsonLines(process))
    return [handler]


def _set_levels(levels: Mapping[str, int | str]) -> None:
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)


def _delete_old(folder: Path) -> None:
    """Delete the oldest files, so that this process's fit in the limit."""
    files: list[tuple[float, Path]] = []
    for path in folder.glob("*.jsonl"):
        try:
            files.append((path.stat().st_mtime, path))
        except FileNotFoundError:  # another process deletes, too
            continue
    for _, path in sorted(files)[: max(0, len(files) - (FILES_MAX - 1 - FILES_BEFORE))]:
        path.unlink(missing_ok=True)


def _numbered(name: str) -> str:
    """``x.jsonl.1`` as ``x.1.jsonl``."""
    stem, _, number = name.rpartition(".")
    return f"{stem.removesuffix('.jsonl')}.{number}.jsonl" if number.isdigit() else name


def _clean(value: object) -> object:
    """The value for JSON, without secrets: before it is encoded, since encoding may change a text."""
    if isinstance(value, Mapping):
        return {str(_clean(str(name))): _clean(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(inner) for inner in value]
    if isinstance(value, int | float | None):
        return value
    text = _masked(str(value))
    decoded = unquote_plus(text)
    masked = _masked(decoded)
    return text if masked == decoded else masked


def _masked(text: str) -> str:
    for secret in sorted(_secrets, key=len, reverse=True):
        text = text.replace(secret, _MASK)
    return text
