"""Files from outside that are read as streams: text by lines, and what is compressed, within the limits.

A compressed file may expand to :func:`football.untrusted.expanded_bytes_max`. A line has at most ``LINE_BYTES_MAX``,
because a reader of lines holds a whole one.
"""

from __future__ import annotations

import bz2
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from football.untrusted import TABLE_BYTES_MAX, UntrustedError, check_regular, expanded_bytes_max

#: Bytes of a line of text.
LINE_BYTES_MAX = 1 << 16

_GZIP, _BZIP2, _XZ = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0"
_STEP_BYTES = 1 << 20


@contextmanager
def open_expanded(path: Path, bytes_max: int | None = None) -> Iterator[IO[bytes]]:
    """Open a file, plain or compressed by gzip or bzip2, as a stream of its content.

    Args:
        path: the file.
        bytes_max: further limit of its content; None if the reader retains nothing of it.

    Raises:
        OSError: it cannot be read.
        UntrustedError: when it is opened, or while it is read: no regular file, too large, or damaged.
    """
    check_regular(path)
    size = path.stat().st_size
    with path.open("rb") as file:
        begin = file.read(len(_XZ))
        file.seek(0)
        if begin.startswith(_XZ):
            raise UntrustedError("compressed by xz, which may take any memory; use gzip")
        if begin.startswith((_GZIP, _BZIP2)):
            limit = expanded_bytes_max(size)
            limit = limit if bytes_max is None else min(limit, bytes_max)
            opened = gzip.open if begin.startswith(_GZIP) else bz2.open
            with opened(file) as expanded:
                yield io.BufferedReader(_Counted(expanded, limit), _STEP_BYTES)
        elif bytes_max is not None and size > bytes_max:
            raise UntrustedError(f"larger than {bytes_max} bytes")
        else:
            yield file


def read_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a text in UTF-8, plain or compressed, with their ends. Errors as :func:`open_expanded`."""
    with open_expanded(path) as file:
        while line := file.readline(LINE_BYTES_MAX + 1):
            if len(line) > LINE_BYTES_MAX:
                raise UntrustedError(f"a line of more than {LINE_BYTES_MAX} bytes")
            try:
                yield line.decode()
            except UnicodeDecodeError as error:
                raise UntrustedError(f"not text: {error}") from error


def check_expanded(path: Path) -> None:
    """Check a file that a library will expand in memory. Errors as :func:`open_expanded`."""
    with open_expanded(path, TABLE_BYTES_MAX) as file:
        while file.read(_STEP_BYTES):
            pass


class _Counted(io.RawIOBase):
    """Bytes of a source, up to a limit."""

    def __init__(self, source: gzip.GzipFile | bz2.BZ2File, limit: int) -> None:
        self._source, self._limit, self._left = source, limit, limit

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        try:
            content = self._source.read(len(buffer))
        except (OSError, EOFError, zlib.error, ValueError) as error:
            raise UntrustedError(f"damaged: {error}") from error
        self._left -= len(content)
        if self._left < 0:
            raise UntrustedError(f"expands to more than {self._limit} bytes")
        buffer[: len(content)] = content
        return len(content)
