"""FreeD, message D1: the pose of a camera for virtual sets, and from heads that report theirs.

A message has 29 bytes: D1, camera id, pan, tilt, roll (24 bits each, 1/32768 degree), x, y, z (24 bits, 1/64 mm), zoom
and focus (24 bits), two spare bytes, and a checksum: 40h less the sum of the bytes before it, modulo 256 (Vinten, FreeD
protocol, A.3.2). Pan grows clockwise and is 0 along +y of the pitch; tilt grows up.
"""

from __future__ import annotations

import socket
import threading
import time
from bisect import bisect_right
from typing import Literal

import msgspec

from camera.head import Pose
from camera.head_connection import MeasuredPose
from camera.mount import Mount
from camera.protocols.link import BURST_MAX, resolve
from football.errors import UserError

LENGTH, MESSAGE_D1 = 29, 0xD1
#: Usual UDP port.
PORT = 40_000
#: Rate at which a controller knows the pose, how far it is carried on from there, and how long it is remembered.
TICK_HZ = 50.0
AHEAD_US, BEHIND_US = 100_000, 1_000_000


class FreedError(ValueError):
    """Bytes that are no D1 message; the message has the fault."""


class FreedPortError(UserError, OSError):
    """A port for FreeD cannot be listened at; the message has port and reason."""


class TrackedPose(msgspec.Struct, frozen=True):
    """The content of a D1 message: degrees, metres, and the lens in units of its own."""

    camera: int
    pan_deg: float
    tilt_deg: float
    roll_deg: float
    x_m: float
    y_m: float
    z_m: float
    zoom: int = 0
    focus: int = 0


def checksum(data: bytes) -> int:
    """Return the checksum of a message's first 28 bytes.

    >>> checksum(bytes([0xD1]) + bytes(27))
    111
    """
    return (0x40 - sum(data)) % 256


def encode(pose: TrackedPose) -> bytes:
    """Return the 29 bytes of a message."""
    angles = [round(_wrapped_deg(angle) * 32_768) for angle in (pose.pan_deg, pose.tilt_deg, pose.roll_deg)]
    places = [round(metres * 64_000) for metres in (pose.x_m, pose.y_m, pose.z_m)]
    numbers = b"".join(_bounded(value).to_bytes(3, "big", signed=True) for value in (*angles, *places))
    lens = b"".join((value & 0xFFFFFF).to_bytes(3, "big") for value in (pose.zoom, pose.focus))
    data = bytes((MESSAGE_D1, pose.camera & 0xFF)) + numbers + lens + b"\0\0"
    return data + bytes((checksum(data),))


def decode(data: bytes) -> TrackedPose:
    """Return the content of a message.

    Raises:
        FreedError: another length or message, or a checksum that does not fit.
    """
    if len(data) != LENGTH or data[0] != MESSAGE_D1:
        raise FreedError(f"no D1 message: {data[:4].hex(' ')}, {len(data)} bytes")
    if checksum(data[:28]) != data[28]:
        raise FreedError(f"checksum {data[28]:02x}, computed {checksum(data[:28]):02x}")
    values = [int.from_bytes(data[at : at + 3], "big", signed=True) for at in range(2, 20, 3)]
    zoom, focus = (int.from_bytes(data[at : at + 3], "big") for at in (20, 23))
    angles, places = [value / 32_768 for value in values[:3]], [value / 64_000 for value in values[3:]]
    return TrackedPose(data[1], *angles, *places, zoom, focus)


def tracked(camera: int, mount: Mount, pose: Pose, zoom_units: int) -> TrackedPose:
    """Return the pose of a mounted head in pitch coordinates."""
    pan_deg = _wrapped_deg(90.0 - mount.heading_deg + pose.pan_deg)
    tilt_deg = pose.tilt_deg + mount.tilt_offset_deg
    return TrackedPose(camera, pan_deg, tilt_deg, mount.roll_deg, mount.x_m, mount.y_m, mount.z_m, zoom_units)


class PoseTrack:
    """Poses of a head at any instant, from those of the ticks of the last ``BEHIND_US``.

    Between two ticks the head turns evenly; after the last one it goes on so, for ``AHEAD_US`` at most. ``take`` and
    ``at`` may be called from different threads.
    """

    def __init__(self) -> None:
        self._known: tuple[tuple[int, Pose, int], ...] = ()

    def take(self, pose: Pose, zoom_units: int, at_us: int) -> None:
        """Take the pose of an instant."""
        kept = (one for one in self._known if at_us - one[0] <= BEHIND_US + AHEAD_US)
        self._known = (*kept, (at_us, pose, zoom_units))

    def at(self, instant_us: int) -> tuple[Pose, int] | None:
        """Return pose and zoom at an instant; None if no pose is known from at most ``AHEAD_US`` before it."""
        known = self._known
        after = bisect_right(known, instant_us, key=lambda one: one[0])
        if after == 0 or instant_us - known[after - 1][0] > AHEAD_US:
            return None
        from_us, pose, zoom_units = known[after - 1]
        second = min(after, len(known) - 1)  # of the two ticks around the instant, or of the last two
        if second == 0:
            return pose, zoom_units
        (first_us, a, _), (second_us, b, _) = known[second - 1], known[second]
        if not 0 < second_us - first_us <= AHEAD_US:
            return pose, zoom_units
        share = (instant_us - from_us) / (second_us - first_us)
        return Pose(
            pose.pan_deg + share * (b.pan_deg - a.pan_deg),
            pose.tilt_deg + share * (b.tilt_deg - a.tilt_deg),
            pose.width_deg + share * (b.width_deg - a.width_deg),
        ), zoom_units


class FreedSender:
    """Sends poses to one address by UDP. It never blocks; what the network refuses is lost.

    Args:
        address: host and port of the receiver.
        camera: id in the messages, 0 to 255.
        mount: of the camera.
        hz: messages a second. At ``TICK_HZ`` each pose is sent as it comes; at another rate a thread sends what the
            head's pose is at its own instants, so that a picture of 59.94 Hz does not get the same pose twice.
        offset_us: each message has the pose of so long after its sending: negative for a picture that reaches the
            virtual set later than the message would, positive for a receiver that takes time. From ``-BEHIND_US`` to
            ``AHEAD_US``.

    Attributes:
        mount: of the camera; another one may be set at any time.

    Raises:
        AddressError: the host is unknown.
    """

    def __init__(
        self, address: tuple[str, int], camera: int, mount: Mount, hz: float = TICK_HZ, offset_us: int = 0
    ) -> None:
        self._address, self._camera, self.mount, self._offset_us = resolve(*address), camera, mount, offset_us
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        self._track, self._interval_s, self._closing = PoseTrack(), 1 / hz, threading.Event()
        self._thread: threading.Thread | None = None
        if hz != TICK_HZ:
            self._thread = threading.Thread(target=self._run, name="FreeD", daemon=True)
            self._thread.start()

    def send(self, pose: Pose, zoom_units: int, now_us: int) -> None:
        """Send the pose of this instant, or let the thread send those after it."""
        self._track.take(pose, zoom_units, now_us)
        if self._thread is None:
            self._put(now_us)

    def close(self) -> None:
        """End the thread and close the socket."""
        self._closing.set()
        if self._thread is not None:
            self._thread.join()
        self._socket.close()

    def _run(self) -> None:
        due_s = time.monotonic()
        while not self._closing.wait(max(0.0, due_s - time.monotonic())):
            self._put(time.monotonic_ns() // 1000)
            due_s = max(due_s + self._interval_s, time.monotonic())  # missed messages are dropped

    def _put(self, now_us: int) -> None:
        found = self._track.at(now_us + self._offset_us)
        if found is None:
            return
        try:
            self._socket.sendto(encode(tracked(self._camera, self.mount, *found)), self._address)
        except OSError:
            return


class FreedReceiver:
    """Receives the poses of one head by UDP: a ``camera.head_connection.PoseSource``.

    A head sends where it points by its own zeros (``frame`` is ``head``). One that was set up for a virtual set sends
    pitch coordinates (``pitch``), as ``FreedSender`` does; the mount turns them into angles of the head.

    Args:
        port: UDP port to listen at; 0 takes a free one (see ``port``).
        camera: id in the messages; those of other cameras are passed over.
        mount: of the camera.
        frame: of the angles.
        delay_ms: age of a pose when it arrives.

    Attributes:
        port: that it listens at.
        rejected: messages that could not be read.

    Raises:
        FreedPortError: the port is taken.
    """

    def __init__(
        self,
        port: int,
        camera: int,
        mount: Mount,
        frame: Literal["head", "pitch"] = "head",
        delay_ms: float = 0.0,
    ) -> None:
        self._camera, self._mount, self._frame, self._delay_us = camera, mount, frame, round(delay_ms * 1000)
        self.rejected = 0
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            self._socket.bind(("", port))
        except OSError as error:
            self._socket.close()
            raise FreedPortError(f"FreeD cannot be received at port {port}: {error}") from error
        self._socket.setblocking(False)
        self.port: int = self._socket.getsockname()[1]

    def poses(self, now_us: int) -> list[MeasuredPose]:
        """Return the newest pose that has arrived since the last call, if there is one."""
        newest: list[MeasuredPose] = []
        for _ in range(BURST_MAX):
            try:
                data = self._socket.recv(2048)
            except OSError:
                break
            try:
                pose = decode(data)
            except FreedError:
                self.rejected += 1
                continue
            if pose.camera == self._camera:
                newest = [MeasuredPose(*self._angles(pose), now_us - self._delay_us)]
        return newest

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()

    def _angles(self, pose: TrackedPose) -> tuple[float, float]:
        if self._frame == "head":
            return pose.pan_deg, pose.tilt_deg
        pan_deg = _wrapped_deg(pose.pan_deg - 90.0 + self._mount.heading_deg)
        return pan_deg, pose.tilt_deg - self._mount.tilt_offset_deg


def _wrapped_deg(angle_deg: float) -> float:
    return (angle_deg + 180.0) % 360.0 - 180.0


def _bounded(value: int) -> int:
    return max(-(1 << 23), min((1 << 23) - 1, value))
