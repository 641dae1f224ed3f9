"""Keys of an operator at a terminal, without waiting for the return key; or names of keys, a line each, from a pipe."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_ESCAPES = {b"\x1b[A": "up", b"\x1b[B": "down", b"\x1b[C": "right", b"\x1b[D": "left"}
_NAMES = {b"\n": "enter", b"\r": "enter", b" ": "space"}


class Keys:
    """Reads keys that were pressed since the last call.

    Args:
        descriptor: of standard input.
        raw: a terminal that gives keys at once; else lines with a key's name each, an empty one being ``enter``.
    """

    def __init__(self, descriptor: int, raw: bool) -> None:
        self._descriptor, self._raw = descriptor, raw
        self._buffer = b""
        self.ended = False

    def pressed(self) -> list[str]:
        """Return names of keys: ``enter``, ``up``, ``down``, ``left``, ``right``, or the character."""
        while not self.ended and select.select([self._descriptor], [], [], 0)[0]:
            data = os.read(self._descriptor, 1024)
            self._buffer += data
            self.ended = not data
        return self._raw_keys() if self._raw else self._lines()

    def _lines(self) -> list[str]:
        *lines, self._buffer = self._buffer.split(b"\n")
        return [line.decode("utf-8", "replace").strip().lower() or "enter" for line in lines]

    def _raw_keys(self) -> list[str]:
        out: list[str] = []
        while self._buffer:
            escape = next((text for text in _ESCAPES if self._buffer.startswith(text)), None)
            text = escape or self._buffer[:1]
            self._buffer = self._buffer[len(text) :]
            out.append(_ESCAPES.get(text) or _NAMES.get(text) or text.decode("latin-1").lower())
        return out


@contextmanager
def operator_keys() -> Iterator[Keys]:
    """Give the keys of standard input; a terminal is set back at the end."""
    descriptor = sys.stdin.fileno()
    if not sys.stdin.isatty():
        yield Keys(descriptor, raw=False)
        return
    import termios
    import tty

    before = termios.tcgetattr(descriptor)
    try:
        tty.setcbreak(descriptor)
        yield Keys(descriptor, raw=True)
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
