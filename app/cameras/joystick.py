"""A joystick or gamepad of the Linux input system (evdev): its buttons, and its axes as shares of a camera's speeds.

The kernel describes a device by a few ``ioctl`` calls and sends records of 24 bytes (``linux/input.h``), which have
been the same for decades. So this module reads them itself: the library for it (``evdev``) has to be compiled on each
machine, and setting up would need a compiler and the kernel's headers.

The meaning of sticks and buttons is that of the operator's page (``dashboard/operator/control.js``).
"""

from __future__ import annotations

import errno
import fcntl
import os
import select
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import msgspec

from football.errors import UserError

#: Folder of the devices.
FOLDER: Final = Path("/dev/input")
#: Axes by their names, as ``linux/input-event-codes.h`` numbers them.
AXES: Final[Mapping[str, int]] = {
    "x": 0, "y": 1, "z": 2, "rx": 3, "ry": 4, "rz": 5, "throttle": 6, "rudder": 7, "wheel": 8,
}  # fmt: skip
HAT_X, HAT_Y = 16, 17
#: Deflection below which a stick counts as let go.
DEAD: Final = 0.12

_EVENT: Final = struct.Struct("@qqHHi")  # seconds and microseconds, type, code, value
_RANGE: Final = struct.Struct("@6i")  # value, least, greatest, fuzz, flat, resolution
_BUTTON, _AXIS, _SYNC, _SYNC_DROPPED = 1, 3, 0, 3
#: Codes of the first button of a joystick, and the end of those of a gamepad.
_BUTTONS: Final = range(0x120, 0x140)
_HOLD, _RELEASE, _BEFORE, _NEXT = 0, 1, 4, 5
#: The cross, as the page numbers its sides: up, down, left, right.
_CROSS: Final[Mapping[tuple[int, int], int]] = {(HAT_Y, -1): 0, (HAT_Y, 1): 1, (HAT_X, -1): 2, (HAT_X, 1): 3}


class JoystickError(UserError):
    """There is no joystick, it cannot be read, or it has no such axis; the message says which."""


class Capabilities(msgspec.Struct, frozen=True):
    """Abilities of a device: its name, least and greatest value of each axis, codes of its buttons in order."""

    name: str
    ranges: dict[int, tuple[int, int]]
    buttons: tuple[int, ...]


class Axis(msgspec.Struct, frozen=True):
    """An axis that turns or zooms; ``reversed`` if its greater values are left, down or wide."""

    code: int
    reversed: bool = False


class Speeds(msgspec.Struct, frozen=True):
    """Shares (-1 to 1) of a camera's greatest speeds; right, up and towards tele are positive."""

    pan: float = 0.0
    tilt: float = 0.0
    zoom: float = 0.0

    def is_zero(self) -> bool:
        """True if nothing moves."""
        return self == Speeds()


def axis(text: str) -> Axis:
    """Return the axis of a name such as ``rz``; ``-rz`` is the same reversed.

    Raises:
        JoystickError: there is no such axis.

    >>> axis("-y")
    Axis(code=1, reversed=True)
    """
    name = text.removeprefix("-").lower()
    if name not in AXES:
        raise JoystickError(f"axis {text}: there are {', '.join(AXES)}, each with - before it to reverse it")
    return Axis(AXES[name], text.startswith("-"))


#: Axes that turn, unless others are named.
PAN: Final = axis("x")
TILT: Final = axis("-y")


class Joystick:
    """State of the sticks and buttons of a device, by its records so far. No I/O.

    Args:
        device: what it has.
        pan, tilt, zoom: its axes; None for zoom takes the second stick (``-ry``), or the twist of the first (``rz``).

    Raises:
        JoystickError: the device does not have one of the axes.
    """

    def __init__(self, device: Capabilities, pan: Axis = PAN, tilt: Axis = TILT, zoom: Axis | None = None) -> None:
        if zoom is None:
            zoom = next((one for one in (axis("-ry"), axis("rz")) if one.code in device.ranges), None)
        self._axes = {"pan": pan, "tilt": tilt} | ({"zoom": zoom} if zoom is not None else {})
        for use, one in self._axes.items():
            least, greatest = device.ranges.get(one.code, (0, 0))
            if least >= greatest:
                raise JoystickError(f"{device.name}: it has no axis {one.code}, which is to {use}")
        self._device = device
        self._values: dict[int, int] = {}
        self._rest = b""
        self._pressed: list[str] = []

    def take(self, data: bytes) -> None:
        """Take bytes that were read from the device, in any pieces."""
        data = self._rest + data
        whole = len(data) - len(data) % _EVENT.size
        self._rest = data[whole:]
        for _, _, kind, code, value in _EVENT.iter_unpack(data[:whole]):
            if kind == _AXIS:
                if (side := _CROSS.get((code, value))) is not None:
                    self._pressed.append(f"preset {side}")
                self._values[code] = value
            elif kind == _BUTTON and value == 1 and code in self._device.buttons:
                self._press(self._device.buttons.index(code))
            elif (kind, code) == (_SYNC, _SYNC_DROPPED):
                self._values.clear()  # records were lost: a stick that seems held may have been let go

    def speeds(self) -> Speeds:
        """Return what the sticks ask for now; small deflections are none, and greater ones grow by their square."""
        return Speeds(**{use: self._share(one) for use, one in self._axes.items()})

    def pressed(self) -> list[str]:
        """Return the buttons pressed since the last call: ``hold``, ``release``, ``next``, ``before``, ``preset N``."""
        pressed, self._pressed = self._pressed, []
        return pressed

    def _press(self, number: int) -> None:
        meaning = {_HOLD: "hold", _RELEASE: "release", _BEFORE: "before", _NEXT: "next"}.get(number)
        if meaning is not None:
            self._pressed.append(meaning)

    def _share(self, one: Axis) -> float:
        least, greatest = self._device.ranges[one.code]
        middle = (least + greatest) / 2
        off = (self._values.get(one.code, middle) - middle) / (greatest - middle)
        off = max(-1.0, min(1.0, -off if one.reversed else off))
        return 0.0 if abs(off) < DEAD else off * abs(off)


class Device:
    """An open device.

    Args:
        path: such as ``/dev/input/event7``.

    Raises:
        JoystickError: it cannot be opened, or is no input device.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        except OSError as error:
            raise JoystickError(f"{path}: cannot be opened: {error.strerror}") from error
        try:
            self.has = _capabilities(self._file)
        except OSError as error:
            os.close(self._file)
            raise JoystickError(f"{path}: is no input device: {error.strerror}") from error

    def read(self, within_s: float) -> bytes:
        """Return what has arrived, after at most ``within_s``; empty if nothing has.

        Raises:
            JoystickError: the device is gone.
        """
        try:
            if not select.select([self._file], [], [], within_s)[0]:
                return b""
            data = os.read(self._file, 64 * _EVENT.size)
        except OSError as error:
            if error.errno == errno.EAGAIN:
                return b""
            raise JoystickError(f"{self.path}: is gone: {error.strerror}") from error
        if not data:
            raise JoystickError(f"{self.path}: is gone")
        return data

    def close(self) -> None:
        """Close the device."""
        os.close(self._file)


def joysticks(folder: Path = FOLDER) -> Iterator[tuple[Path, str]]:
    """Yield path and name of each device that has two axes and a button of a joystick or gamepad."""
    for path in sorted(folder.glob("event*"), key=lambda one: (len(one.name), one.name)):
        try:
            device = Device(path)
        except JoystickError:
            continue
        device.close()
        if {AXES["x"], AXES["y"]} <= set(device.has.ranges) and device.has.buttons:
            yield path, device.has.name


def _capabilities(file: int) -> Capabilities:
    """Ask the kernel what a device has. Raises OSError if it is no input device."""
    name = _asked(file, 0x06, 256).split(b"\0")[0].decode("utf-8", "replace")
    buttons = tuple(code for code in _bits(_asked(file, 0x20 + _BUTTON, 96)) if code in _BUTTONS)
    ranges = {}
    for code in _bits(_asked(file, 0x20 + _AXIS, 8)):
        _, least, greatest, *_ = _RANGE.unpack(_asked(file, 0x40 + code, _RANGE.size))
        ranges[code] = (least, greatest)
    return Capabilities(name, ranges, buttons)


def request_code(number: int, size: int) -> int:
    """Return the code of an ``ioctl`` that reads ``size`` bytes of an input device (``_IOR('E', number, size)``).

    >>> hex(request_code(0x40, 24))
    '0x80184540'
    """
    return 2 << 30 | size << 16 | ord("E") << 8 | number


def _asked(file: int, number: int, size: int) -> bytes:
    return fcntl.ioctl(file, request_code(number, size), bytes(size))


def _bits(mask: bytes) -> list[int]:
    return [8 * byte + bit for byte, value in enumerate(mask) for bit in range(8) if value >> bit & 1]
