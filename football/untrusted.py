"""The one decoder of bytes from outside: JSON, MessagePack, TOML, XML, Parquet tables and names, each within limits.

Theory of operation
-------------------
Everything that another program or person wrote is *untrusted*: records of topics, files, sheets, stores. A decoder of a
library bounds neither depth nor size. Here each call states a largest size, which is checked before anything is
decoded, and all share these limits: values nest at most ``DEPTH_MAX`` deep, numbers fit 64 bits, texts and names have a
largest length and no control characters. Fields that a kind does not know are ignored; fields that it knows have their
type. Whatever is wrong becomes an :class:`UntrustedError` with the reason; the caller names file or topic and record.

:mod:`football.parquet_pages` and :mod:`football.untrusted_files` belong to it. ``tests/test_decoders.py`` lists every
other module that decodes bytes, each with its reason.
"""

from __future__ import annotations

import re
import tomllib
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from stat import S_ISREG
from typing import Annotated, Any, TypeVar, cast
from urllib.parse import quote
from xml.etree import ElementTree

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from football.errors import UserError
from football.parquet_pages import page_sizes

T = TypeVar("T")

#: Values nest at most so deep. Our own documents need 10; the interpreter fails at 1,000.
DEPTH_MAX = 64

#: Bytes of a record of a topic, of a document (settings, sheets, manifests), and of one that lists rejected records.
RECORD_BYTES_MAX, DOCUMENT_BYTES_MAX, LISTING_BYTES_MAX = 1_000_000, 1 << 20, 64 << 20

#: Values in a document of settings.
VALUES_MAX = 100_000

#: Rows of a table: two hours of 23 objects at 100 Hz have 16 million. Columns of a table.
ROWS_MAX, COLUMNS_MAX = 20_000_000, 1_000

#: Bytes of a table in memory: so many in any case, and so many a byte of its file; never more than the last.
TABLE_BYTES, TABLE_BYTES_PER_BYTE, TABLE_BYTES_MAX = 256 << 20, 100, 2 << 30

#: Bytes that Arrow takes for a value of a list column besides its content: two levels, an offset, an index.
LIST_VALUE_BYTES = 16

#: Bytes of a segment of a capture: five seconds of the fastest system take 10 MB.
ARROW_FILE_BYTES_MAX = 256 << 20

#: Event times and numbers of packets are whole numbers below this; what is stored and computed of them fits 64 bits.
NUMBER_MAX = 2**53

#: Names of transmitters, and of officials, that a match may have: paper 000 has 144, and tags are replaced.
SOURCES_MAX = 1_000

#: Rejected records that a file lists; further ones are counted.
REJECTED_MAX = 20_000

#: Bytes of a name as that of a file or folder; characters of an id of the source, and of any other text of a sheet.
NAME_BYTES_MAX, ID_CHARACTERS_MAX, TEXT_CHARACTERS_MAX = 200, 100, 200

#: A whole number that a column of 64 bits holds; one that is a time or a count.
Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
Whole = Annotated[int, msgspec.Meta(ge=-NUMBER_MAX, le=NUMBER_MAX)]
Count = Annotated[int, msgspec.Meta(ge=0, le=NUMBER_MAX)]

_STRINGS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_NO_BRACKETS = bytes(sorted(set(range(256)) - set(b"[]{}")))
_STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}

#: Control characters, halves of pairs, and marks that turn the direction of what follows.
_HIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

#: What is wrong with a text in another encoding, and the mend.
NOT_UTF8 = "its text is not in UTF-8; save a file in that encoding"

_ROWS_AT_ONCE = 1 << 16
_XML_BYTES_AT_ONCE = 1 << 12

#: What decoders raise over bytes.
_DAMAGED = (
    OSError, ValueError, SyntaxError, RecursionError, LookupError, TypeError, AttributeError, MemoryError,
    pa.ArrowException,
)  # fmt: skip
_ARROW, _ARROW_END, _DICTIONARY_BATCH = b"ARROW1\0\0", b"ARROW1", 2


#: An element of decoded XML.
XmlElement = ElementTree.Element


class UntrustedError(UserError, ValueError):
    """Bytes from outside that are refused; the message has the reason. The caller names file or topic and record."""


def decode_json(data: bytes | str, kind: type[T], bytes_max: int = DOCUMENT_BYTES_MAX) -> T:
    """Decode JSON into a kind.

    Raises:
        UntrustedError: too large, nested too deep, not JSON, or not of that kind.

    >>> decode_json(b'{"a": 1}', dict[str, int])
    {'a': 1}
    >>> decode_json(b"[" * 65 + b"]" * 65, object)
    Traceback (most recent call last):
    football.untrusted.UntrustedError: nested more than 64 deep
    """
    try:
        raw = data.encode() if isinstance(data, str) else data
        _check_size(len(raw), bytes_max)
        if raw.count(b"[") + raw.count(b"{") > DEPTH_MAX:
            brackets = _STRINGS.sub(b"", raw).translate(None, _NO_BRACKETS)
            if max(accumulate(map(_STEPS.__getitem__, brackets)), default=0) > DEPTH_MAX:
                raise UntrustedError(f"nested more than {DEPTH_MAX} deep")
        decoded: T = _json_decoder(kind).decode(raw)  # type: ignore[arg-type]
        return decoded
    except UntrustedError:
        raise
    except (ValueError, RecursionError) as error:
        raise UntrustedError(_reason(error, "not JSON")) from error


def msgpack_decoder(kind: type[T], bytes_max: int = RECORD_BYTES_MAX) -> Callable[[bytes | memoryview], T]:
    """Return a decoder of MessagePack into a kind, all of whose fields have types, so that nothing nests below it.

    The decoder raises :class:`UntrustedError`: too large, not MessagePack, or not of that kind.

    >>> msgpack_decoder(list[int])(bytes([0x92, 1, 2]))
    [1, 2]
    """
    decode = msgspec.msgpack.Decoder(kind).decode

    def decoded(data: bytes | memoryview) -> T:
        if len(data) > bytes_max:
            _check_size(len(data), bytes_max)
        try:
            return decode(data)
        except (ValueError, RecursionError) as error:
            raise UntrustedError(_reason(error, "not MessagePack")) from error

    return decoded


def decode_toml(text: str) -> dict[str, Any]:
    """Decode TOML; numbers, depth and count of the values are within the limits.

    Raises:
        UntrustedError: too large, nested too deep, or not TOML.
    """
    with _refusing("not TOML"):
        _check_size(len(text), DOCUMENT_BYTES_MAX)
        values = tomllib.loads(text)
        _check_values(values)
        return values


def decode_xml(data: bytes, bytes_max: int = DOCUMENT_BYTES_MAX) -> XmlElement:
    """Decode XML; a document with declarations of its own (entities) is refused.

    Raises:
        UntrustedError: too large, nested too deep, with a document type, or not XML.

    >>> decode_xml(b"<a><b>1</b></a>").findtext("b")
    '1'
    """
    with _refusing("not XML"):
        _check_size(len(data), bytes_max)
        if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
            raise UntrustedError("XML with a document type")
        parser: ElementTree.XMLPullParser[Any] = ElementTree.XMLPullParser(("start", "end"))
        elements: list[XmlElement] = []
        depth = 0
        for begin in range(0, len(data), _XML_BYTES_AT_ONCE):
            parser.feed(data[begin : begin + _XML_BYTES_AT_ONCE])
            for event, element in cast(Iterator[tuple[str, XmlElement]], parser.read_events()):
                depth += 1 if event == "start" else -1
                if event == "start":
                    elements.append(element)
                if depth > DEPTH_MAX or len(elements) > VALUES_MAX:
                    raise UntrustedError(f"nested more than {DEPTH_MAX} deep, or more than {VALUES_MAX} elements")
        parser.close()
        return elements[0]


def read_json(path: Path, kind: type[T], bytes_max: int = DOCUMENT_BYTES_MAX) -> T:
    """Read a file of JSON.

    Raises:
        OSError: it cannot be read.
        UntrustedError: as :func:`decode_json`, or no regular file.
    """
    return decode_json(read_bytes(path, bytes_max), kind, bytes_max)


def read_toml(path: Path) -> dict[str, Any]:
    """Read a file of TOML. Errors as in :func:`read_json`."""
    return decode_toml(read_text(path))


def read_text(path: Path, bytes_max: int = DOCUMENT_BYTES_MAX) -> str:
    """Read a file of text in UTF-8. Errors as in :func:`read_json`."""
    content = read_bytes(path, bytes_max)
    with _refusing("not text"):
        return content.decode()


def read_bytes(path: Path, bytes_max: int) -> bytes:
    """Read a file that is not larger than a limit, less the byte order mark that editors of Windows put before UTF-8.

    Errors as in :func:`read_json`.
    """
    check_regular(path)
    with path.open("rb") as file:
        content = file.read(bytes_max + 1)
    _check_size(len(content), bytes_max)
    return content.removeprefix(BOM_UTF8)


def read_parquet(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """Read a Parquet file, or those of some columns that it has, with texts as plain texts.

    The footer is checked before anything is read, and so are the headers of the pages of a list column, since its rows
    do not bound its values. Texts are read as dictionaries and their size is added up before they are expanded, because
    a page of a few bytes may repeat a long text a million times.

    Raises:
        FileNotFoundError: there is none.
        UntrustedError: not Parquet, damaged, or too large in memory.
    """
    import pyarrow.parquet as pq  # not where positions are decoded: it takes 30 ms

    check_regular(path)
    with _refusing("truncated, or not Parquet"), pq.ParquetFile(path) as plain:
        chosen = [name for name in plain.schema_arrow.names if columns is None or name in columns]
        budget = _Budget(path.stat().st_size)
        _check_footer(plain, chosen, budget)
        lists = [name for name in chosen if pa.types.is_nested(plain.schema_arrow.field(name).type)]
        if lists:
            pages = page_sizes(path, lists)
            budget.check(sum(page.expanded_bytes + page.values * LIST_VALUE_BYTES for page in pages))
        texts = [column.path for column in map(plain.schema.column, range(len(plain.schema)))
                 if column.physical_type == "BYTE_ARRAY"]  # fmt: skip
        with pq.ParquetFile(path, read_dictionary=texts) as file:
            batches = []
            for group in range(file.num_row_groups):  # Arrow does not join the dictionaries of lists of two groups
                for batch in file.iter_batches(_ROWS_AT_ONCE, [group], chosen):
                    batch.validate(full=True)
                    arrays = [_expanded(array, budget) for array in batch.columns]
                    batches.append(pa.record_batch(arrays, names=batch.schema.names))
            schema = file.schema_arrow
        if batches:
            return pa.Table.from_batches(batches)
        return pa.table({name: pa.array([], _plain(schema.field(name).type)) for name in chosen})


def parquet_bounds(path: Path, column: str) -> tuple[int, int] | None:
    """Return least and greatest value of a column of whole numbers, by the footer of a Parquet file; None without rows.

    Raises:
        FileNotFoundError: there is none.
        UntrustedError: not Parquet, damaged, or without such bounds.
    """
    import pyarrow.parquet as pq

    check_regular(path)
    with _refusing("truncated, or not Parquet"), pq.ParquetFile(path) as file:
        groups = [file.metadata.row_group(at) for at in range(file.num_row_groups)]
        at = file.schema_arrow.names.index(column)
        bounds = [group.column(at).statistics for group in groups if group.num_rows]
        if not bounds:
            return None
        if not all(one is not None and isinstance(one.min, int) and isinstance(one.max, int) for one in bounds):
            raise UntrustedError(f"column {column} has no bounds")
        return min(one.min for one in bounds), max(one.max for one in bounds)


def read_arrow(path: Path) -> pa.RecordBatch:
    """Read an Arrow IPC file of one batch; what its compressed buffers will take is checked before they are expanded.

    Raises:
        FileNotFoundError: there is none.
        UntrustedError: not Arrow, damaged, or too large in memory.
    """
    content = pa.py_buffer(read_bytes(path, ARROW_FILE_BYTES_MAX))
    with _refusing("not Arrow"):
        begin, end = content[: len(_ARROW)].to_pybytes(), content[-len(_ARROW_END) :].to_pybytes()
        if (begin, end) != (_ARROW, _ARROW_END):
            raise UntrustedError("truncated, or not Arrow")
        stream = content[len(_ARROW) :]
        budget = _Budget(len(content))
        for message in pa.ipc.MessageReader.open_stream(stream):
            if message.type != "schema" and message.body is not None:
                for size in _buffer_sizes(message.metadata.to_pybytes(), message.body):
                    budget.take(size)
        batch = next(iter(pa.ipc.open_stream(stream)), None)
        if batch is None:
            raise UntrustedError("not Arrow: it has a schema and no batch")
        batch.validate(full=True)
        return batch


def _buffer_sizes(metadata: bytes, body: pa.Buffer) -> Iterator[int]:
    """Yield the uncompressed sizes of a message's buffers; a compressed buffer begins with its size, -1 if it is plain.

    A message is a flatbuffer: https://github.com/apache/arrow/blob/main/format/Message.fbs
    """

    def number(at: int, size: int = 4) -> int:
        return int.from_bytes(metadata[at : at + size], "little", signed=size > 2)

    def field(table: int, index: int) -> int:
        """Return where a field of a table stands; 0 if it is absent."""
        names = table - number(table)
        offset = number(names + 4 + 2 * index, 2) if 4 + 2 * index < number(names, 2) else 0
        return table + offset if offset else 0

    def follow(at: int) -> int:
        return at + number(at) if at else 0

    message = number(0)
    header = follow(field(message, 2))
    if number(field(message, 1), 1) & 0xFF == _DICTIONARY_BATCH:
        header = follow(field(header, 1))
    compressed, buffers = field(header, 3), follow(field(header, 2))
    for index in range(max(0, min(number(buffers), len(metadata) // 16)) if buffers else 0):
        at, length = (number(buffers + 4 + 16 * index + part, 8) for part in (0, 8))
        if not 0 <= at <= at + length <= len(body):
            raise UntrustedError("not Arrow: a buffer lies outside its message")
        prefix = int.from_bytes(body[at : at + 8].to_pybytes(), "little", signed=True) if compressed and length else -1
        yield length if prefix == -1 else prefix


class _Budget:
    """Bytes that a table may still take in memory."""

    def __init__(self, file_bytes: int) -> None:
        self.limit = self._left = min(expanded_bytes_max(file_bytes), TABLE_BYTES_MAX)

    def check(self, size: int) -> None:
        """Refuse what does not fit."""
        if not 0 <= size <= self._left:
            raise UntrustedError(f"a table of more than {self.limit} bytes: too many for the size of its file")

    def take(self, size: int) -> None:
        """Spend bytes."""
        self.check(size)
        self._left -= size


def _check_footer(file: Any, chosen: Sequence[str], budget: _Budget) -> None:
    """Check the rows and uncompressed sizes that the footer of a Parquet file states.

    The metadata of a single column is not asked for: over a damaged one Arrow ends the process.
    """
    metadata = file.metadata
    if not 0 <= metadata.num_rows <= ROWS_MAX:
        raise UntrustedError(f"{metadata.num_rows} rows; at most {ROWS_MAX}")
    if metadata.num_columns > COLUMNS_MAX:
        raise UntrustedError(f"{metadata.num_columns} columns; at most {COLUMNS_MAX}")
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    rows = [group.num_rows for group in groups]
    if min(rows, default=0) < 0 or sum(rows) != metadata.num_rows:
        raise UntrustedError(f"{metadata.num_rows} rows, and {sum(rows)} in its row groups")
    lengths = (column.length for column in map(file.schema.column, range(metadata.num_columns)))
    width = max((8, *lengths)) * len(chosen)
    budget.check(max(sum(group.total_byte_size for group in groups), metadata.num_rows * width))


def _expanded(array: pa.Array, budget: _Budget) -> pa.Array:
    """Return a column of a batch with its texts expanded, within the budget."""
    budget.take(array.nbytes)
    values = array.flatten() if pa.types.is_list(array.type) else array
    if pa.types.is_dictionary(values.type):
        lengths = pc.binary_length(values.dictionary).cast(pa.int64())
        budget.take(pc.sum(lengths.take(values.indices)).as_py() or 0)
    return array.cast(_plain(array.type))


def _plain(kind: pa.DataType) -> pa.DataType:
    """Return a type with plain values instead of a dictionary's."""
    if pa.types.is_dictionary(kind):
        return kind.value_type
    if pa.types.is_list(kind) and not pa.types.is_nested(kind.value_type):
        return pa.list_(_plain(kind.value_type))
    if pa.types.is_nested(kind):
        raise UntrustedError(f"a column of type {kind}")
    return kind


def expanded_bytes_max(file_bytes: int) -> int:
    """Return how many bytes a file may expand to, if it is read as a stream."""
    return TABLE_BYTES + TABLE_BYTES_PER_BYTE * file_bytes


def is_name(text: str) -> bool:
    """True if a text can be the id of a match, and, with its separators quoted, the name of a file or folder.

    >>> [is_name(text) for text in ("final", "cup/final", "..", "", "a\\n", "a" * 201)]
    [True, True, False, False, False, False]
    """
    return text not in ("", ".", "..") and text.isprintable() and len(quote(text, safe="")) <= NAME_BYTES_MAX


def is_folder(text: str) -> bool:
    """True if a text can be the name of a folder as it stands.

    >>> [is_folder(text) for text in ("final", "cup/final", "..", ".playing")]
    [True, False, False, False]
    """
    return is_name(text) and "/" not in text and not text.startswith(".")


@lru_cache(maxsize=4096)
def is_text(text: str, characters_max: int = TEXT_CHARACTERS_MAX) -> bool:
    """True if a text is short enough and has no control characters.

    >>> is_text("Zoé O'Neil"), is_text("\\x1b[2J"), is_text("x" * 201)
    (True, False, False)
    """
    return len(text) <= characters_max and not _HIDDEN.search(text)


def file_inside(folder: Path, name: str) -> Path:
    """Return a file of a folder from elsewhere.

    Raises:
        UntrustedError: the name leads out of the folder, also by a link.
    """
    file = folder / name
    try:
        if file.resolve().is_relative_to(folder.resolve()):
            return file
    except (OSError, ValueError, RuntimeError) as error:  # too long, a null byte, a ring of links
        raise UntrustedError(f"{name[:40]!r} is no name of a file: {error}") from error
    raise UntrustedError(f"{name!r} leads out of the folder")


@lru_cache(maxsize=64)
def _json_decoder(kind: Any) -> Any:
    return msgspec.json.Decoder(kind)


@contextmanager
def _refusing(form: str) -> Iterator[None]:
    """Turn what decoders raise over bytes into an :class:`UntrustedError`."""
    try:
        yield
    except UntrustedError:
        raise
    except _DAMAGED as error:
        raise UntrustedError(_reason(error, form)) from error


def _reason(error: BaseException, form: str) -> str:
    if isinstance(error, RecursionError):
        return f"nested more than {DEPTH_MAX} deep"
    if isinstance(error, UnicodeDecodeError):
        return f"{form}: {NOT_UTF8}"
    return str(error) if isinstance(error, msgspec.ValidationError) else f"{form}: {error}"


def _check_size(size: int, bytes_max: int) -> None:
    if size > bytes_max:
        raise UntrustedError(f"larger than {bytes_max} bytes")


def check_regular(path: Path) -> None:
    """Refuse pipes and devices, which have no end."""
    if not S_ISREG(path.stat().st_mode):
        raise UntrustedError("not a regular file")


def _check_values(document: dict[str, Any]) -> None:
    """Check depth, count and numbers of a decoded document, without recursion."""
    level: list[Any] = [document]
    count = 0
    for _ in range(DEPTH_MAX):
        count += len(level)
        if count > VALUES_MAX:
            raise UntrustedError(f"more than {VALUES_MAX} values")
        for value in level:
            if isinstance(value, int) and not -(2**63) <= value < 2**63:
                raise UntrustedError("a number of more than 64 bits")
        level = [inner for value in level if isinstance(value, dict | list)
                 for inner in (value.values() if isinstance(value, dict) else value)]  # fmt: skip
        if not level:
            return
    raise UntrustedError(f"nested more than {DEPTH_MAX} deep")
