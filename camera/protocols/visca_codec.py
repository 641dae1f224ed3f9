"""VISCA over IP on the wire: datagrams, commands and replies as frozen values. No state, no I/O.

A datagram is an 8-byte header (payload type u16, payload length u16, sequence number u32; big endian) and a
payload of 1 to 17 bytes: 16 by Sony's older lists, while an absolute move of 20 bits an axis has 17. Payloads are
classic VISCA with the address fixed: ``81 .. FF`` towards the device, ``90 .. FF`` back (Sony command lists, section
VISCA over IP). Numbers travel as half bytes, one per byte.

Positions here are DEVICE units and device signs; ``camera.profile`` turns them into degrees. The direction bytes
of a drive are absolute (01 is left, whatever the sign of the position units), so a drive has our signs: a positive
pan step turns right, a positive tilt step up.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

import msgspec

from camera.profile import AxisProfile, Profile
from camera.protocols.messages import (
    Absolute,
    Cancel,
    Drive,
    Home,
    InterfaceClear,
    MaxSpeedInquiry,
    MaxSteps,
    Message,
    Position,
    PositionInquiry,
    Recalibrate,
    Relative,
    Report,
    SpeedMode,
    Status,
    StatusInquiry,
    Tally,
    ZoomDirect,
    ZoomDrive,
    ZoomInquiry,
    ZoomPosition,
)

COMMAND, INQUIRY, REPLY = 0x0100, 0x0110, 0x0111
CONTROL, CONTROL_REPLY = 0x0200, 0x0201
KINDS = frozenset({COMMAND, INQUIRY, REPLY, CONTROL, CONTROL_REPLY})

RESET, RESET_DONE = b"\x01", b"\x01"
WRONG_SEQUENCE, WRONG_MESSAGE = b"\x0f\x01", b"\x0f\x02"

#: Error codes of ``90 6z ee FF``.
LENGTH, SYNTAX, BUFFER_FULL, CANCELLED, NO_SOCKET, NOT_EXECUTABLE = 0x01, 0x02, 0x03, 0x04, 0x05, 0x41
MAX_PAYLOAD = 17


class ViscaError(ValueError):
    """Bytes that are not VISCA; the message has the fault and the bytes."""


class Datagram(msgspec.Struct, frozen=True):
    """The parts of one UDP datagram. ``kind`` is the payload type."""

    kind: int
    sequence: int
    payload: bytes


class Ack(msgspec.Struct, frozen=True):
    """The device accepted the command into ``socket``."""

    socket: int


class Completion(msgspec.Struct, frozen=True):
    """The command in ``socket`` is done."""

    socket: int


class Answer(msgspec.Struct, frozen=True):
    """The answer to an inquiry, not decoded: its meaning depends on the inquiry."""

    data: bytes


class Refusal(msgspec.Struct, frozen=True):
    """An error: one of the codes above, for the command in ``socket`` (0 if it got none)."""

    socket: int
    code: int


Reply = Ack | Completion | Answer | Refusal


def pack(kind: int, sequence: int, payload: bytes) -> bytes:
    """Return a datagram's bytes."""
    assert kind in KINDS, f"{kind:04x} is not a payload type"
    assert 1 <= len(payload) <= MAX_PAYLOAD, f"a payload of {len(payload)} bytes"
    return struct.pack(">HHI", kind, len(payload), sequence & 0xFFFFFFFF) + payload


def unpack(data: bytes) -> Datagram:
    """Return the parts of a datagram.

    Raises:
        ViscaError: too short, a length that does not fit, or an unknown payload type.
    """
    if len(data) < 9:
        raise ViscaError(f"datagram of {len(data)} bytes is shorter than header and payload: {data.hex(' ')}")
    kind, length, sequence = struct.unpack_from(">HHI", data)
    if length != len(data) - 8 or length > MAX_PAYLOAD:
        raise ViscaError(f"header announces {length} bytes of payload, not {len(data) - 8}: {data.hex(' ')}")
    if kind not in KINDS:
        raise ViscaError(f"payload type {kind:04x} is unknown: {data.hex(' ')}")
    return Datagram(kind, sequence, data[8:])


def to_nibbles(value: int, nibbles: int) -> bytes:
    """Return a signed number as half bytes, highest first.

    >>> to_nibbles(-1500, 4).hex(" ")
    '0f 0a 02 04'
    """
    assert -(1 << 4 * nibbles - 1) <= value < 1 << 4 * nibbles, f"{value} does not fit into {nibbles} nibbles"
    return bytes((value >> 4 * index) & 0xF for index in reversed(range(nibbles)))


def from_nibbles(data: bytes, *, signed: bool = True) -> int:
    """Return the number in half bytes, highest first.

    Raises:
        ViscaError: a byte above 0F.
    """
    value = 0
    for byte in data:
        if byte > 0xF:
            raise ViscaError(f"{data.hex(' ')} are not half bytes")
        value = value << 4 | byte
    return value - (1 << 4 * len(data)) if signed and data and data[0] & 8 else value


def encode(message: Message, profile: Profile) -> bytes:
    """Encode a command or inquiry for a device."""
    return b"\x81" + _ENCODERS[type(message)](message, profile) + b"\xff"


def decode(payload: bytes, profile: Profile) -> Message:
    """Decode the command or inquiry in a payload, as the device reads it.

    Raises:
        ViscaError: not a VISCA message, not one of those above, or a value out of its range.
    """
    if len(payload) < 3 or payload[0] != 0x81 or payload[-1] != 0xFF or 0xFF in payload[:-1]:
        raise ViscaError(f"not a message to device 1: {payload.hex(' ')}")
    body = payload[1:-1]
    if len(body) == 1 and body[0] >> 4 == 2:
        return Cancel(body[0] & 0xF)
    for prefix, length, read in _decoders(profile):
        if body.startswith(prefix) and len(body) == len(prefix) + length:
            return read(body[len(prefix) :])
    raise ViscaError(f"unknown message: {payload.hex(' ')}")


def encode_reply(reply: Reply) -> bytes:
    """Return the payload of a reply."""
    match reply:
        case Ack(socket):
            body = bytes((0x40 | socket,))
        case Completion(socket):
            body = bytes((0x50 | socket,))
        case Answer(data):
            body = b"\x50" + data
        case Refusal(socket, code):
            body = bytes((0x60 | socket, code))
    return b"\x90" + body + b"\xff"


def decode_reply(payload: bytes) -> Reply:
    """Return the reply in a payload.

    Raises:
        ViscaError: anything that is no ACK, completion, answer or error.
    """
    if len(payload) < 3 or payload[0] != 0x90 or payload[-1] != 0xFF or 0xFF in payload[:-1]:
        raise ViscaError(f"not a reply of device 1: {payload.hex(' ')}")
    kind, socket, arguments = payload[1] >> 4, payload[1] & 0xF, payload[2:-1]
    if kind == 4 and not arguments:
        return Ack(socket)
    if kind == 5:
        return Answer(arguments) if arguments else Completion(socket)
    if kind == 6 and len(arguments) == 1:
        return Refusal(socket, arguments[0])
    raise ViscaError(f"unknown reply: {payload.hex(' ')}")


def encode_position(pan_units: int, tilt_units: int, profile: Profile) -> bytes:
    """Return the data of the answer to a position inquiry."""
    return to_nibbles(pan_units, profile.pan.nibbles) + to_nibbles(tilt_units, profile.tilt.nibbles)


def decode_position(data: bytes, profile: Profile) -> tuple[int, int]:
    """Return pan and tilt units in the answer to a position inquiry.

    Raises:
        ViscaError: the wrong number of half bytes for this device.
    """
    split = profile.pan.nibbles
    if len(data) != split + profile.tilt.nibbles:
        raise ViscaError(f"{len(data)} half bytes, {profile.name} has {split}+{profile.tilt.nibbles}: {data.hex(' ')}")
    return from_nibbles(data[:split]), from_nibbles(data[split:])


def decode_zoom(data: bytes, profile: Profile) -> int:
    """Return the zoom units in the answer to a zoom inquiry.

    Raises:
        ViscaError: the wrong number of half bytes, or beyond the lens.
    """
    if len(data) != profile.zoom.nibbles:
        raise ViscaError(f"{len(data)} half bytes for the zoom of {profile.name}: {data.hex(' ')}")
    units = from_nibbles(data, signed=False)
    if units > profile.zoom.max_units:
        raise ViscaError(f"zoom position {units} is beyond the lens of {profile.name}")
    return units


def encode_report(report: Report, profile: Profile) -> bytes:
    """Return the data of the answer that carries a report."""
    match report:
        case Position(pan_units, tilt_units):
            return encode_position(pan_units, tilt_units, profile)
        case ZoomPosition(units):
            return to_nibbles(units, profile.zoom.nibbles)
        case MaxSteps(pan_step, tilt_step):
            return bytes((_number(pan_step, profile.pan), _number(tilt_step, profile.tilt)))
        case Status(moving):  # of Sony's status word the product uses one bit: 0x40, pan and tilt stand still
            return bytes((0, 0 if moving else 0x40))


def decode_report(inquiry: Message, data: bytes, profile: Profile) -> Report:
    """Return the report in the data of an answer to ``inquiry``.

    Raises:
        ViscaError: data that do not fit the inquiry.
    """
    match inquiry:
        case PositionInquiry():
            return Position(*decode_position(data, profile))
        case ZoomInquiry():
            return ZoomPosition(decode_zoom(data, profile))
        case MaxSpeedInquiry() if len(data) >= 2:
            return MaxSteps(data[0] - profile.pan.first_step + 1, data[1] - profile.tilt.first_step + 1)
        case StatusInquiry() if len(data) == 2:
            return Status(not data[1] & 0x40)
    raise ViscaError(f"{data.hex(' ')} does not answer {type(inquiry).__name__}")


def _direction(step: int, positive: int, negative: int) -> int:
    return 3 if step == 0 else positive if step > 0 else negative


def _encode_drive(m: Drive, profile: Profile) -> bytes:
    # A stop still carries speeds: some devices refuse a zero there.
    speeds = (_number(max(1, abs(m.pan_step)), profile.pan), _number(max(1, abs(m.tilt_step)), profile.tilt))
    return bytes((0x01, 0x06, 0x01, *speeds, _direction(m.pan_step, 2, 1), _direction(m.tilt_step, 1, 2)))


def _encode_move(verb: int) -> Callable[[Absolute | Relative, Profile], bytes]:
    def encoder(m: Absolute | Relative, profile: Profile) -> bytes:
        pan_speed, tilt_speed = _number(m.pan_step, profile.pan), _number(m.tilt_step, profile.tilt)
        shared = profile.link.absolute_speeds == "shared"
        speeds = (max(pan_speed, tilt_speed), 0) if shared else (pan_speed, tilt_speed)
        return bytes((0x01, 0x06, verb, *speeds)) + encode_position(m.pan_units, m.tilt_units, profile)

    return encoder


def _encode_zoom_drive(m: ZoomDrive, profile: Profile) -> bytes:
    assert abs(m.step) <= 8, f"zoom step {m.step}"
    speed = 0 if m.step == 0 else (0x20 if m.step > 0 else 0x30) | abs(m.step) - 1
    return bytes((0x01, 0x04, 0x07, speed))


def _fixed(body: str) -> Callable[[object, Profile], bytes]:
    data = bytes.fromhex(body)
    return lambda _message, _profile: data


_SPEED_MODES = {
    "slow-on": b"\x01\x06\x44\x02",  # BRC-X400 command list, PAN_TILT SLOW
    "slow-off": b"\x01\x06\x44\x03",
    "steps-normal": b"\x01\x06\x45\x08",  # ILME-FR7 and BRC-AM7 command lists, Speed Step
    "steps-extended": b"\x01\x06\x45\x18",
}

_ENCODERS: dict[type, Callable[..., bytes]] = {
    Drive: _encode_drive,
    Absolute: _encode_move(0x02),
    Relative: _encode_move(0x03),
    Home: _fixed("01 06 04"),
    Recalibrate: _fixed("01 06 05"),
    ZoomDrive: _encode_zoom_drive,
    ZoomDirect: lambda m, p: b"\x01\x04\x47" + to_nibbles(m.units, p.zoom.nibbles),
    Tally: lambda m, _p: bytes((0x01, 0x7E, 0x01, 0x0A, 0x00, 2 if m.on else 3)),
    SpeedMode: lambda m, _p: _SPEED_MODES[m.name],
    Cancel: lambda m, _p: bytes((0x20 | m.socket,)),
    InterfaceClear: _fixed("01 00 01"),
    PositionInquiry: _fixed("09 06 12"),
    ZoomInquiry: _fixed("09 04 47"),
    MaxSpeedInquiry: _fixed("09 06 11"),
    StatusInquiry: _fixed("09 06 10"),
}


def _decoders(profile: Profile) -> tuple[tuple[bytes, int, Callable[[bytes], Message]], ...]:
    """Return (prefix, number of argument bytes, reader), tried in order."""
    pose = profile.pan.nibbles + profile.tilt.nibbles
    return (
        (b"\x01\x06\x01", 4, lambda arguments: _decode_drive(arguments, profile)),
        (b"\x01\x06\x02", 2 + pose, lambda arguments: _decode_move(Absolute, arguments, profile)),
        (b"\x01\x06\x03", 2 + pose, lambda arguments: _decode_move(Relative, arguments, profile)),
        (b"\x01\x06\x04", 0, lambda _arguments: Home()),
        (b"\x01\x06\x05", 0, lambda _arguments: Recalibrate()),
        (b"\x01\x04\x07", 1, _decode_zoom_drive),
        (b"\x01\x04\x47", profile.zoom.nibbles, lambda arguments: ZoomDirect(decode_zoom(arguments, profile))),
        (b"\x01\x7e\x01\x0a\x00", 1, _decode_tally),
        *((body, 0, lambda _arguments, name=name: SpeedMode(name)) for name, body in _SPEED_MODES.items()),
        (b"\x01\x00\x01", 0, lambda _arguments: InterfaceClear()),
        (b"\x09\x06\x12", 0, lambda _arguments: PositionInquiry()),
        (b"\x09\x04\x47", 0, lambda _arguments: ZoomInquiry()),
        (b"\x09\x06\x11", 0, lambda _arguments: MaxSpeedInquiry()),
        (b"\x09\x06\x10", 0, lambda _arguments: StatusInquiry()),
    )


def _decode_drive(arguments: bytes, profile: Profile) -> Drive:
    signs = {1: -1, 2: 1, 3: 0}
    if arguments[2] not in signs or arguments[3] not in signs:
        raise ViscaError(f"drive directions {arguments[2]:02x} {arguments[3]:02x} are not 01, 02 or 03")
    pan, tilt = signs[arguments[2]], -signs[arguments[3]]
    # The speed of an axis that is to stand still is ignored: clients send 00 there.
    return Drive(
        pan * (_step(arguments[0], profile.pan, profile) if pan else 0),
        tilt * (_step(arguments[1], profile.tilt, profile) if tilt else 0),
    )


def _decode_move(make: type[Absolute] | type[Relative], arguments: bytes, profile: Profile) -> Absolute | Relative:
    pan_units, tilt_units = decode_position(arguments[2:], profile)
    shared = profile.link.absolute_speeds == "shared"
    tilt_speed = min(arguments[0], _number(len(profile.tilt.speeds_deg_s), profile.tilt)) if shared else arguments[1]
    return make(
        pan_units,
        tilt_units,
        _step(arguments[0], profile.pan, profile),
        _step(tilt_speed, profile.tilt, profile),
    )


def _decode_zoom_drive(arguments: bytes) -> ZoomDrive:
    direction, speed = arguments[0] >> 4, arguments[0] & 0xF
    if arguments[0] == 0:
        return ZoomDrive(0)
    if direction == 0 and speed in (2, 3):
        return ZoomDrive(4 if speed == 2 else -4)  # "standard" speed: the middle of the table
    if direction not in (2, 3) or speed > 7:
        raise ViscaError(f"zoom speed {arguments[0]:02x}")
    return ZoomDrive(speed + 1 if direction == 2 else -speed - 1)


def _decode_tally(arguments: bytes) -> Tally:
    if arguments[0] not in (2, 3):
        raise ViscaError(f"tally {arguments[0]:02x} is not 02 or 03")
    return Tally(arguments[0] == 2)


def _number(step: int, axis: AxisProfile) -> int:
    """Return the number of a step on the wire."""
    return axis.first_step - 1 + step


def _step(value: int, axis: AxisProfile, profile: Profile) -> int:
    # One axis may have fewer steps than the other (X400: 18h and 17h): a higher step means its fastest.
    top = max(_number(len(one.speeds_deg_s), one) for one in (profile.pan, profile.tilt))
    if not axis.first_step <= value <= top:
        raise ViscaError(f"speed step {value:02x} is not in {axis.first_step:02x}..{top:02x}")
    return min(value - axis.first_step + 1, len(axis.speeds_deg_s))
