"""The wire format of a block: payload of a capture's reader, a Kafka record and a Spark row.

A payload is one *version byte* followed by MessagePack. Three versions are read:

1, *plain*: any block, to the last bit, NaN included.

    [arrival_us, [[transmitter, sequence, [ts_us ...], [x_m ...], [y_m ...], [z_m ...], quality] ...]]

2, *compact*: blocks whose positions are whole millimetres and whose qualities are whole percents, as an RTLS gives
them (paper 000, section 5), in about a fifth of the bytes. Each row of numbers is stored as its first one and then
differences, times as differences of differences, because a transmitter's beat is even.

    [arrival_us, [[transmitter, sequence, percent, [ts_us ...], [x_mm ...], [y_mm ...], [z_mm ...]] ...]]

3, *instant*: blocks of one instant, one position a transmitter, as a tracking system gives them; to the last bit, too.
The names are one text, with line feeds between them. The columns are all x, all y, all z and all qualities, as 64 bit
floats of little-endian byte order.

    [arrival_us, [ts_us, names, [sequence ...], columns]]

Another one, 0, *refused*, carries the reason why bytes were no block at all, so that quarantine shows it like every
rejected record.

Arrays, not maps: a match has millions of packets and the field names would be a third of the bytes. Integers
are microseconds or millimetres, floats are 64 bit metres. The order of fields in version 1 is that of
:class:`football.packets.Block` and :class:`football.packets.Packet`; a change of them needs a new version.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, chain

import msgspec
import numpy as np

from football.packets import Block, InstantBlock, PackedInstant, Packet
from football.untrusted import Int64, UntrustedError, msgpack_decoder

#: First byte of a payload.
VERSION, COMPACT, INSTANT = 1, 2, 3
REFUSED = 0

#: Arrival times on the wire are below this: 285 years.
ARRIVAL_MAX_US = 2**53

#: Positions of a packet that are taken from the wire: an RTLS has ten, and differences could blow up without end.
POSITIONS_MAX = 100_000

#: Bytes of a payload; a record of a topic is smaller still.
PAYLOAD_BYTES_MAX = 16 << 20

#: MessagePack: an array of two, and the sizes of integers by their first byte.
_PAIR = 0x92
_INTEGERS = {
    0xCC: (1, False), 0xCD: (2, False), 0xCE: (4, False), 0xCF: (8, False),
    0xD0: (1, True), 0xD1: (2, True), 0xD2: (4, True), 0xD3: (8, True),
}  # fmt: skip

_PREFIX, _COMPACT_PREFIX, _INSTANT_PREFIX = bytes([VERSION]), bytes([COMPACT]), bytes([INSTANT])

#: Between the names of an instant; and bytes of the columns of one transmitter.
_BETWEEN, _COLUMNS_BYTES = "\n", 32


class _CompactPacket(msgspec.Struct, frozen=True, array_like=True, gc=False, forbid_unknown_fields=True):
    transmitter: str
    sequence: int
    percent: int
    ts_us: list[int]
    x_mm: list[int]
    y_mm: list[int]
    z_mm: list[int]


class _CompactBlock(msgspec.Struct, frozen=True, array_like=True, gc=False, forbid_unknown_fields=True):
    arrival_us: int
    packets: list[_CompactPacket]


class _WireInstant(msgspec.Struct, frozen=True, array_like=True, gc=False, forbid_unknown_fields=True):
    ts_us: Int64
    names: str
    sequences: tuple[int, ...]
    columns: bytes


class _WireInstantBlock(msgspec.Struct, frozen=True, array_like=True, gc=False, forbid_unknown_fields=True):
    arrival_us: int
    instant: _WireInstant


_encoder = msgspec.msgpack.Encoder()
_decode, _decode_compact, _decode_instant = (
    msgpack_decoder(kind, PAYLOAD_BYTES_MAX) for kind in (Block, _CompactBlock, _WireInstantBlock)
)


class WireError(ValueError):
    """Bytes that are no block of these versions; the message gives the reason."""


def encode(block: Block | InstantBlock) -> bytes:
    """Encode a block as plain bytes, or as an instant if it is one in columns.

    >>> decode(encode(Block(40_000, ()))) == Block(40_000, ())
    True
    """
    if isinstance(block, InstantBlock):
        instant, names = block.instant, _BETWEEN.join(block.instant.names)
        if names.count(_BETWEEN) == len(instant.names) - 1:
            packed = _WireInstant(instant.ts_us, names, instant.sequences, instant.columns)
            return _INSTANT_PREFIX + _encoder.encode(_WireInstantBlock(block.arrival_us, packed))
        block = Block(block.arrival_us, block.packets)
    return _PREFIX + _encoder.encode(block)


def encode_compact(block: Block) -> bytes:
    """Encode a block in the fewest bytes without loss: compact if its numbers are whole, else plain.

    >>> from football.packets import Packet
    >>> block = Block(9, (Packet("ball", 0, (5, 7), (1.25, 1.26), (0.0, 0.0), (0.11, 0.11), 0.9),))
    >>> encode_compact(block)[0], decode(encode_compact(block)) == block
    (2, True)
    """
    packets = _compacted(block.packets)
    if packets is None:
        return encode(block)
    return _COMPACT_PREFIX + _encoder.encode(_CompactBlock(block.arrival_us, packets))


def decode(payload: bytes) -> Block | InstantBlock:
    """Decode the block that :func:`encode` or :func:`encode_compact` turned into ``payload``.

    Raises:
        WireError: empty, of another version, cut off, or not of a block's shape.
    """
    if not payload:
        raise WireError("empty payload: a block begins with its version byte")
    if payload[0] == REFUSED:
        raise WireError(payload[1:].decode(errors="replace") or "refused without a reason")
    if payload[0] not in (VERSION, COMPACT, INSTANT):
        raise WireError(
            f"wire version {payload[0]} cannot be read, this program reads versions {VERSION}, {COMPACT} and {INSTANT}"
        )
    try:
        body = memoryview(payload)[1:]
        if payload[0] == INSTANT:
            return _instant(_decode_instant(body))
        if payload[0] == VERSION:
            return _decode(body)
        compact = _decode_compact(body)
    except UntrustedError as error:
        raise WireError(f"not a block: {error}") from error
    return Block(compact.arrival_us, tuple([_expanded(packet) for packet in compact.packets]))


def refusal(reason: str) -> bytes:
    """Return a payload that :func:`decode` refuses with this reason."""
    return bytes([REFUSED]) + reason.encode()


def arrival_of(payload: bytes) -> int:
    """Return the arrival time of an encoded block, without decoding the rest.

    Raises:
        WireError: it begins otherwise than a block of these versions.

    >>> [arrival_of(encode(Block(us, ()))) for us in (-40_000, -3, 0, 127, 128, 40_000, 2**40)]
    [-40000, -3, 0, 127, 128, 40000, 1099511627776]
    """
    if len(payload) < 3 or payload[0] not in (VERSION, COMPACT, INSTANT) or payload[1] != _PAIR:
        raise WireError("not a block: it does not begin like one")
    first = payload[2]
    if first < 0x80:
        return first
    if first >= 0xE0:
        return first - 0x100
    size, signed = _INTEGERS.get(first, (0, False))
    if not size or len(payload) < 3 + size:
        raise WireError("not a block: its arrival time is no number")
    return int.from_bytes(payload[3 : 3 + size], "big", signed=signed)


def _instant(block: _WireInstantBlock) -> InstantBlock:
    packed = block.instant
    names = _names(packed.names)
    if not len(packed.columns) == _COLUMNS_BYTES * len(names) == _COLUMNS_BYTES * len(packed.sequences):
        raise WireError(f"not a block: columns of different lengths for {len(names)} transmitters")
    return InstantBlock(block.arrival_us, PackedInstant(packed.ts_us, names, packed.sequences, packed.columns))


@lru_cache(maxsize=64)
def _names(text: str) -> tuple[str, ...]:
    """The names of a text; one tuple for all instants of the same transmitters."""
    return tuple(text.split(_BETWEEN))


def _compacted(packets: Sequence[Packet]) -> list[_CompactPacket] | None:
    """Return the packets in whole numbers; None if that would change one, or if its columns differ in length.

    All packets are worked out in one go: a spool of ten minutes at full rate has 60,000 blocks of 36 packets.
    """
    sizes = [len(packet.ts_us) for packet in packets]
    if any({len(one.x_m), len(one.y_m), len(one.z_m)} != {size} for one, size in zip(packets, sizes, strict=True)):
        return None
    count = sum(sizes)
    try:
        times = np.fromiter(chain.from_iterable([packet.ts_us for packet in packets]), np.int64, count)
    except OverflowError:
        return None
    metres = np.empty((3, count))
    for row, columns in zip(metres, zip(*[(one.x_m, one.y_m, one.z_m) for one in packets], strict=True), strict=False):
        row[:] = np.fromiter(chain.from_iterable(columns), np.float64, count)
    quality = np.array([packet.quality for packet in packets], np.float64)
    with np.errstate(invalid="ignore", over="ignore"):  # what is no number, or too great a one, is not whole
        millimetres, percents = np.rint(metres * 1000.0), np.rint(quality * 100.0)
        is_whole = (millimetres / 1000.0 == metres).all() and (percents / 100.0 == quality).all()
    for numbers, most in ((millimetres, 2.0**53), (percents, 1e11), (times, 2**60)):
        is_whole = is_whole and bool((numbers <= most).all() and (numbers >= -most).all())
    if not is_whole:
        return None
    bounds = [0, *accumulate(sizes)]
    place = np.arange(count) - np.repeat(bounds[:-1], sizes)
    steps = np.where(place > 0, np.diff(times, prepend=0), times)
    rows = np.empty((4, count), np.int64)
    rows[0] = np.where(place > 1, np.diff(steps, prepend=0), steps)
    rows[1:] = np.diff(millimetres.astype(np.int64), axis=1, prepend=0)
    rows[1:, place == 0] = millimetres[:, place == 0]
    ts_us, x_mm, y_mm, z_mm = rows.tolist()
    return [
        _CompactPacket(one.transmitter, one.sequence, percent, ts_us[a:b], x_mm[a:b], y_mm[a:b], z_mm[a:b])
        for one, percent, a, b in zip(packets, percents.astype(int).tolist(), bounds, bounds[1:], strict=False)
    ]


def _expanded(compact: _CompactPacket) -> Packet:
    if max(len(compact.ts_us), len(compact.x_mm), len(compact.y_mm), len(compact.z_mm)) > POSITIONS_MAX:
        raise WireError(
            f"not a block: a packet of {compact.transmitter[:40]!r} has more than {POSITIONS_MAX} positions"
        )
    ts_us: tuple[int, ...] = ()
    if compact.ts_us:
        ts_us = tuple(accumulate([compact.ts_us[0], *accumulate(compact.ts_us[1:])]))
        if min(ts_us) < -(2**63) or max(ts_us) >= 2**63:
            raise WireError(f"not a block: a packet of {compact.transmitter[:40]!r} has times beyond 64 bits")
    x, y, z = (tuple([mm / 1000.0 for mm in accumulate(row)]) for row in (compact.x_mm, compact.y_mm, compact.z_mm))
    return Packet(compact.transmitter, compact.sequence, ts_us, x, y, z, compact.percent / 100.0)
