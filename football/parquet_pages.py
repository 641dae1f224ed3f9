"""Sizes that the pages of a Parquet file state, read before any page is decoded.

Theory of operation
-------------------
Arrow decodes as many values of a list column as the headers of its pages state. Rows do not bound them: one row may
hold any number. A run of equal levels takes a few bytes, so neither the file nor the footer's sizes bound them. This
module reads the footer and the headers of the pages, and adds up what they state.

Both are structs of Thrift's compact protocol, with the fields of
https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift. Arrow stops at the number of values
that the footer states for a column; so pages that state another sum are refused, and Arrow decodes no page that was not
counted here. A field that occurs twice is refused, because decoders differ about it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

_MAGIC = b"PAR1"
_FOOTER_BYTES_MAX = 16 << 20
_DEPTH_MAX = 16

# Numbers of the fields that are read, by struct.
_ROW_GROUPS, _COLUMNS, _COLUMN = 4, 1, 3
_PATH, _VALUES, _COMPRESSED, _DATA_AT, _DICTIONARY_AT = 3, 5, 7, 9, 11
_PAGE_KIND, _PAGE_EXPANDED, _PAGE_BYTES, _PAGE_VALUES = 1, 2, 3, 1
_HEADERS = {0: 5, 2: 7, 3: 8}
_DICTIONARY_PAGE = 2

# Types of the compact protocol.
_TRUE, _FALSE, _BYTE, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = 1, 2, 3, 6, 7, 8, 9, 10, 11, 12


class PageSize(NamedTuple):
    """The size that the header of a page states: its values, and its bytes when expanded."""

    values: int
    expanded_bytes: int


def page_sizes(path: Path, columns: Collection[str]) -> Iterator[PageSize]:
    """Yield the sizes of the pages of some columns.

    Raises:
        OSError: the file cannot be read.
        ValueError: not Parquet, or its footer and pages contradict one another.
    """
    with path.open("rb") as file:
        end = file.seek(0, 2)
        file.seek(max(0, end - 8))
        tail = file.read(8)
        length = int.from_bytes(tail[:4], "little")
        if tail[4:] != _MAGIC or length > min(end - 8, _FOOTER_BYTES_MAX):
            raise ValueError("a footer that is encrypted, too large, or none")
        file.seek(end - 8 - length)
        for column in _chunks(_Compact(file.read(length)).struct(), columns):
            first = column[_DATA_AT]
            if 0 < column.get(_DICTIONARY_AT, 0) < first:
                first = column[_DICTIONARY_AT]
            size = column[_COMPRESSED]
            if not (0 <= first <= end and 0 <= size <= end - first):
                raise ValueError("a column that lies outside of the file")
            file.seek(first)
            yield from _pages(file.read(size), column[_VALUES])


def _chunks(footer: dict[int, Any], columns: Collection[str]) -> Iterator[dict[int, Any]]:
    """Yield the metadata of the chunks of some columns."""
    for group in footer[_ROW_GROUPS]:
        for chunk in group[_COLUMNS]:
            column = chunk[_COLUMN]
            if column[_PATH][0].decode() in columns:
                yield column


def _pages(chunk: bytes, values: int) -> Iterator[PageSize]:
    """Yield the sizes of the pages of a chunk."""
    at, seen = 0, 0
    while seen < values:
        reader = _Compact(chunk, at)
        header = reader.struct()
        kind = header[_PAGE_KIND]
        at = reader.at + header[_PAGE_BYTES]
        stated = header[_HEADERS[kind]][_PAGE_VALUES] if kind in _HEADERS else 0
        if min(header[_PAGE_BYTES], header[_PAGE_EXPANDED], stated) < 0 or at > len(chunk):
            raise ValueError("a page that lies outside of its column")
        seen += 0 if kind == _DICTIONARY_PAGE else stated
        yield PageSize(stated, header[_PAGE_EXPANDED])
    if seen != values:
        raise ValueError(f"pages of {seen} values; the footer states {values}")


class _Compact:
    """Reads structs of Thrift's compact protocol; binary values as bytes, lists as lists, structs by field number."""

    def __init__(self, data: bytes, at: int = 0) -> None:
        self._data, self.at = data, at

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """Read a struct."""
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._signed()
            kind = head & 15
            value = kind == _TRUE if kind in (_TRUE, _FALSE) else self._value(kind, depth)
            if number in fields:
                raise ValueError("a field that occurs twice")
            fields[number] = value
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if depth > _DEPTH_MAX:
            raise ValueError(f"nested more than {_DEPTH_MAX} deep")
        if kind in (_TRUE, _FALSE, _BYTE):
            return self._byte()
        if _BYTE < kind <= _I64:
            return self._signed()
        if kind == _DOUBLE:
            return self._bytes(8)
        if kind == _BINARY:
            return self._bytes(self._varint())
        if kind in (_LIST, _SET):
            head = self._byte()
            count = head >> 4 if head >> 4 < 15 else self._varint()
            return [self._value(head & 15, depth + 1) for _ in self._times(count)]
        if kind == _MAP:
            count = self._varint()
            keys, values = divmod(self._byte() if count else 0, 16)
            return [(self._value(keys, depth + 1), self._value(values, depth + 1)) for _ in self._times(count)]
        if kind == _STRUCT:
            return self.struct(depth + 1)
        raise ValueError(f"a value of unknown type {kind}")

    def _times(self, count: int) -> range:
        """Count elements, each of which takes a byte at least."""
        if count > len(self._data) - self.at:
            raise ValueError("a list that is cut off")
        return range(count)

    def _bytes(self, size: int) -> bytes:
        if size > len(self._data) - self.at:
            raise ValueError("a value that is cut off")
        self.at += size
        return self._data[self.at - size : self.at]

    def _byte(self) -> int:
        return self._bytes(1)[0]

    def _varint(self) -> int:
        value = 0
        for shift in range(0, 64, 7):
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise ValueError("a number of more than 64 bits")

    def _signed(self) -> int:
        value = self._varint()
        return value >> 1 ^ -(value & 1)
