"""Decodes a message into a tree of objects and lists, by the format of a profile; see :mod:`app.gateway.profile`."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from app.gateway.profile import Profile
from football.untrusted import UntrustedError, XmlElement, decode_json, decode_xml
from replay.formats.value_path import RECORDS_MAX

#: Bytes of a message: a frame of two squads with all limbs in JSON takes a tenth of it.
MESSAGE_BYTES_MAX = 256 * 1024

_TYPES = {"u8": "B", "i8": "b", "u16": "H", "i16": "h", "u32": "I", "i32": "i", "u64": "Q", "i64": "q", "f32": "f",
          "f64": "d", "pad": "x"}  # fmt: skip

Parse = Callable[[bytes], Any]


class MessageError(ValueError):
    """A message that cannot be decoded at all; the text has the reason."""


def parser_of(profile: Profile) -> Parse:
    """Return the decoder of a profile's messages; None as a result is a message without content, such as a comment.

    The decoder raises :class:`MessageError`.

    Raises:
        ValueError: the profile's table of numbers has an unknown type.
    """
    if profile.format == "json":
        return _json
    if profile.format == "xml":
        return _xml
    return TextParser(profile) if profile.format == "text" else BinaryParser(profile)


def check_size(message: bytes) -> None:
    """Refuse a message that is larger than any feed's.

    Raises:
        MessageError: it is.
    """
    if len(message) > MESSAGE_BYTES_MAX:
        raise MessageError(f"a message of {len(message)} bytes; at most {MESSAGE_BYTES_MAX}")


def _json(message: bytes) -> Any:
    check_size(message)
    if not message or message.isspace():
        return None
    try:
        return decode_json(message, object, MESSAGE_BYTES_MAX)
    except UntrustedError as error:
        raise MessageError(str(error)) from error


def _xml(message: bytes) -> Any:
    check_size(message)
    if not message or message.isspace():
        return None
    try:
        root = decode_xml(message, MESSAGE_BYTES_MAX)
    except UntrustedError as error:
        raise MessageError(str(error)) from error
    return {root.tag: [_element(root)]}


def _element(element: XmlElement) -> dict[str, Any]:
    """An element's attributes as texts, and its children as lists by their names."""
    tree: dict[str, Any] = dict(element.attrib)
    for child in element:
        below = tree.setdefault(child.tag, [])
        if isinstance(below, list):  # a child with the name of an attribute is left out
            below.append(_element(child))
    return tree


class TextParser:
    """Decodes lines of text. A header is the first line that it gets."""

    def __init__(self, profile: Profile) -> None:
        self._text = profile.text
        self._columns: tuple[str, ...] = profile.text.columns
        self._waits_for_header = profile.text.header

    def __call__(self, message: bytes) -> Any:
        """Return nested lists, an object with named columns, or None for an empty line, a comment, the header.

        Raises:
            MessageError: too large, no text, or of another number of columns.
        """
        check_size(message)
        try:
            line = message.decode("utf-8-sig").strip("\r\n")
        except UnicodeDecodeError as error:
            raise MessageError(f"not text: {error.reason}") from error
        if not line or (self._text.comment and line.startswith(self._text.comment)):
            return None
        separators = self._text.separators
        if sum(line.count(separator) for separator in separators) > RECORDS_MAX:
            raise MessageError(f"more than {RECORDS_MAX} cells")
        cells = _split(line, separators)
        if self._waits_for_header:
            self._waits_for_header = False
            self._columns = tuple(str(cell).strip() for cell in cells)
            return None
        if self._columns:
            if len(cells) < len(self._columns):
                raise MessageError(f"{len(cells)} columns; the profile has {len(self._columns)}")
            return dict(zip(self._columns, cells, strict=False))
        return cells


def _split(text: str, separators: tuple[str, ...]) -> list[Any]:
    parts = text.split(separators[0])
    return [_split(part, separators[1:]) for part in parts] if len(separators) > 1 else parts


class BinaryParser:
    """Decodes messages of bytes into ``{"head": {...}, "records": [{...}]}``.

    Raises:
        ValueError: an unknown type, or records without numbers.
    """

    def __init__(self, profile: Profile) -> None:
        binary = profile.binary
        self._head, self._head_names = layout(binary.order, binary.head)
        self._record, self._record_names = layout(binary.order, binary.record)
        self._count, self._magic = binary.count, binary.magic
        if not self._record_names:
            raise ValueError("binary.record: at least one number")
        if (unknown := {*binary.magic, *([binary.count] if binary.count else [])} - set(self._head_names)) != set():
            raise ValueError(f"binary: the head has no {', '.join(sorted(unknown))}")

    def __call__(self, message: bytes) -> Any:
        """Return the tree.

        Raises:
            MessageError: too large, too short, other magic numbers, or of another length than its head declares.
        """
        check_size(message)
        size = self._head.size
        if len(message) < size:
            raise MessageError(f"{len(message)} bytes; the head alone has {size}")
        head = dict(zip(self._head_names, self._head.unpack_from(message), strict=True))
        for name, value in self._magic.items():
            if head[name] != value:
                raise MessageError(f"{name} is {head[name]}, not {value}")
        body = memoryview(message)[size:]
        count, rest = divmod(len(body), self._record.size)
        if rest or (self._count and head[self._count] != count):
            raise MessageError(
                f"{len(body)} bytes of records of {self._record.size} bytes, other than the head declares"
            )
        if count > RECORDS_MAX:
            raise MessageError(f"more than {RECORDS_MAX} records")
        names = self._record_names
        return {"head": head, "records": [dict(zip(names, row, strict=True)) for row in self._record.iter_unpack(body)]}


def layout(order: str, numbers: tuple[tuple[str, str], ...]) -> tuple[struct.Struct, tuple[str, ...]]:
    """Return the layout of a row of numbers, and their names without those of padding.

    Raises:
        ValueError: an unknown type.
    """
    if unknown := sorted({kind for _, kind in numbers} - set(_TYPES)):
        raise ValueError(f"binary: no type is named {', '.join(unknown)}: {', '.join(_TYPES)} are")
    codes = "".join(_TYPES[kind] for _, kind in numbers)
    return struct.Struct(("<" if order == "little" else ">") + codes), tuple(n for n, kind in numbers if kind != "pad")
