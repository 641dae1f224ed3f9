"""The wire format of a block: what a capture stores, a Kafka record carries and a Spark row holds.

A payload is one *version byte* (now 1) followed by MessagePack:

    [arrival_us, [[transmitter, sequence, [ts_us ...], [x_m ...], [y_m ...], [z_m ...], quality] ...]]

Arrays, not maps: a match has millions of packets and the field names would be a third of the bytes. Integers
are microseconds, floats are 64 bit metres, so that what is read equals what was written to the last bit, NaN
included. The order of fields is that of :class:`detectors.inputs.Block` and :class:`detectors.inputs.Packet`;
whoever changes them raises the version.
"""

from __future__ import annotations

import msgspec

from detectors.inputs import Block

#: First byte of every payload.
VERSION = 1

_PREFIX = bytes([VERSION])
_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Block)


class WireError(ValueError):
    """Bytes that are no block of this version; the message says why."""


def encode(block: Block) -> bytes:
    """A block as bytes.

    >>> decode(encode(Block(40_000, ()))) == Block(40_000, ())
    True
    """
    return _PREFIX + _encoder.encode(block)


def decode(payload: bytes) -> Block:
    """The block that :func:`encode` turned into ``payload``.

    Raises:
        WireError: empty, of another version, cut off, or not of a block's shape.
    """
    if not payload:
        raise WireError("empty payload: a block begins with its version byte")
    if payload[0] != VERSION:
        raise WireError(f"wire version {payload[0]} cannot be read, this program reads version {VERSION}")
    try:
        return _decoder.decode(memoryview(payload)[1:])
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise WireError(f"not a block: {error}") from error
