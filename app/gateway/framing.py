"""Cuts a stream of bytes into messages, however the network split or merged them, within bounds."""

from __future__ import annotations

from collections.abc import Iterator

from app.gateway.message_tree import MESSAGE_BYTES_MAX
from app.gateway.profile import Framing


class Cutter:
    """Cuts one connection's bytes into messages.

    Args:
        framing: how messages are told apart.

    Attributes:
        overlong: messages that were longer than any feed's, and left out. A stream of lines goes on at the next line;
            one with lengths cannot be cut any further, and :attr:`is_broken`.
        is_broken: True if the connection must be opened again.
    """

    def __init__(self, framing: Framing) -> None:
        self._framing = framing
        self._buffer = bytearray()
        self._skips = False
        self.overlong = 0
        self.is_broken = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Take in bytes; yield the messages that they complete."""
        if self.is_broken:
            return
        self._buffer += data
        if self._framing.cut == "lines":
            yield from self._lines()
        elif self._framing.cut == "fixed":
            size = self._framing.fixed_bytes
            while len(self._buffer) >= size:
                yield bytes(self._buffer[:size])
                del self._buffer[:size]
        else:
            yield from self._prefixed()

    def rest(self) -> bytes:
        """Return the bytes of a message that is not complete, and forget them."""
        rest = b"" if self._skips else bytes(self._buffer)
        self._buffer.clear()
        return rest

    def _lines(self) -> Iterator[bytes]:
        if b"\n" in self._buffer:
            *lines, rest = self._buffer.split(b"\n")
            self._buffer = bytearray(rest)
            if self._skips:
                lines, self._skips = lines[1:], False
            for line in lines:
                if len(line) > MESSAGE_BYTES_MAX:
                    self.overlong += 1
                elif line:
                    yield bytes(line)
        if len(self._buffer) > MESSAGE_BYTES_MAX:
            self._buffer.clear()
            if not self._skips:
                self._skips, self.overlong = True, self.overlong + 1

    def _prefixed(self) -> Iterator[bytes]:
        framing = self._framing
        head = framing.length_bytes
        at = 0
        while len(self._buffer) - at >= head:
            length = int.from_bytes(self._buffer[at : at + head], framing.length_order)
            size = length - head if framing.length_covers == "all" else length
            if not 0 <= size <= MESSAGE_BYTES_MAX:
                self.overlong += 1
                self.is_broken = True
                self._buffer.clear()
                return
            if len(self._buffer) - at < head + size:
                break
            yield bytes(self._buffer[at + head : at + head + size])
            at += head + size
        del self._buffer[:at]


def framed(message: bytes, framing: Framing) -> bytes:
    """Return a message as it goes onto a stream of bytes.

    >>> framed(b"ab", Framing(cut="length", length_bytes=2))
    b'\\x00\\x02ab'
    """
    if framing.cut == "lines":
        return message + b"\n"
    if framing.cut == "fixed":
        return message
    covered = len(message) + (framing.length_bytes if framing.length_covers == "all" else 0)
    return covered.to_bytes(framing.length_bytes, framing.length_order) + message
