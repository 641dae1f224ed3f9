"""FreeD D1: bytes by an independent decoder, and poses of a running camera."""

from __future__ import annotations

import contextlib
import socket
import struct
import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from camera.controller import CameraController
from camera.freed import (
    FreedError,
    FreedPortError,
    FreedReceiver,
    FreedSender,
    PoseTrack,
    TrackedPose,
    checksum,
    decode,
    encode,
    tracked,
)
from camera.head import Pose
from camera.head_connection import MeasuredPose, PoseSource
from camera.mount import Mount
from camera.profile import load_profile
from camera.protocols.messages import Drive
from camera.protocols.registry import Address
from camera.simulated.server import HeadServer, Quirks
from tests.camera.test_controller import CirclingBall
from tests.camera.virtual_head import VirtualHead


def independent(data: bytes) -> tuple[float, ...]:
    """Pan, tilt, roll in degrees and x, y, z in metres, by struct instead of slices."""
    assert struct.unpack(">BB27x", data)[0] == 0xD1
    assert (sum(data) - 0x40) % 256 == 0
    numbers = [struct.unpack(">i", data[at : at + 3] + b"\0")[0] >> 8 for at in range(2, 20, 3)]
    return (*[n / 32768 for n in numbers[:3]], *[n / 64 / 1000 for n in numbers[3:]])


poses = st.builds(
    TrackedPose,
    st.integers(0, 255),
    *[st.floats(-179, 179)] * 3,
    *[st.floats(-130, 130)] * 3,
    st.integers(0, 0xFFFFFF),
    st.integers(0, 0xFFFFFF),
)


@given(poses)
def test_every_pose_survives_and_an_independent_decoder_agrees(pose: TrackedPose) -> None:
    data = encode(pose)
    assert len(data) == 29
    back = decode(data)
    wanted = (pose.pan_deg, pose.tilt_deg, pose.roll_deg, pose.x_m, pose.y_m, pose.z_m)
    assert independent(data) == pytest.approx(wanted, abs=1 / 32768)
    assert (back.camera, back.zoom, back.focus) == (pose.camera, pose.zoom, pose.focus)
    assert back.pan_deg == pytest.approx(pose.pan_deg, abs=1 / 32768)


@given(st.binary(max_size=40))
def test_bytes_that_are_no_message_are_refused(data: bytes) -> None:
    if len(data) == 29 and data[0] == 0xD1 and checksum(data[:28]) == data[28]:
        return
    with pytest.raises(FreedError):
        decode(data)


def test_pan_is_zero_along_plus_y_and_grows_clockwise() -> None:
    facing_y = Mount(heading_deg=90.0)
    assert tracked(1, facing_y, Pose(0.0, -5.0, 30.0), 0).pan_deg == pytest.approx(0.0)
    assert tracked(1, facing_y, Pose(10.0, -5.0, 30.0), 0).pan_deg == pytest.approx(10.0)
    facing_x = Mount(heading_deg=0.0)
    assert tracked(1, facing_x, Pose(0.0, 0.0, 30.0), 0).pan_deg == pytest.approx(90.0)


def test_a_running_camera_sends_where_its_head_points() -> None:
    profile, mount = load_profile(), Mount()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver, HeadServer(profile) as head:
        receiver.bind(("127.0.0.1", 0))
        receiver.settimeout(20)
        sender = FreedSender(receiver.getsockname(), 7, mount)
        controller = CameraController(CirclingBall(), mount, profile, Address(*head.address), tracking=sender).start()
        try:
            while (pose := decode(receiver.recv(64))).tilt_deg > -5:
                pass
            assert pose.camera == 7
            assert (pose.x_m, pose.y_m, pose.z_m) == (mount.x_m, mount.y_m, mount.z_m)
        finally:
            controller.stop()


def test_a_virtual_set_of_another_rate_gets_the_pose_of_its_own_instants() -> None:
    track = PoseTrack()
    assert track.at(0) is None
    for tick in range(3):
        track.take(Pose(10.0 + 0.5 * tick, -8.0, 30.0 - 0.1 * tick), 400 + tick, 20_000 * tick)
    found = track.at(45_000)
    assert found is not None
    pose, zoom_units = found
    assert (pose.pan_deg, pose.tilt_deg, pose.width_deg, zoom_units) == pytest.approx((11.125, -8.0, 29.775, 402))
    assert track.at(145_000) is None, "a pose that is not known any more is not made up"
    track.take(Pose(50.0, -8.0, 30.0), 400, 900_000)
    assert track.at(950_000) == (Pose(50.0, -8.0, 30.0), 400), "no speed from before a gap"


def test_a_virtual_set_gets_the_pose_of_the_instant_that_its_picture_shows() -> None:
    sent: dict[int, list[TrackedPose]] = {}
    for offset_ms in (-80, 0, 40, -500):
        receiver = FreedReceiver(0, 1, Mount())
        sender = FreedSender(("127.0.0.1", receiver.port), 1, Mount(), offset_us=offset_ms * 1000)
        for tick in range(20):  # 10 degrees a second, later 20
            sender.send(Pose(0.2 * tick + 0.2 * max(0, tick - 17), -7.0, 30.0), tick, 20_000 * tick)
        sender.close()
        sent[offset_ms] = [decode(data) for data in _received(receiver)]
    assert [pose.pan_deg for pose in sent[0][-2:]] == pytest.approx([3.8, 4.2], abs=1e-4)
    assert [pose.pan_deg for pose in sent[-80][-2:]] == pytest.approx([2.8, 3.0], abs=1e-4)
    assert len(sent[-80]) == 16, "of the first 80 ms no pose is known yet"
    assert sent[40][-1].pan_deg == pytest.approx(4.2 + 0.8, abs=1e-4)
    assert sent[-500] == [], "a pose that is not known is not made up"


def _received(receiver: FreedReceiver) -> list[bytes]:
    """Return all messages that have arrived on loopback, and close the receiver."""
    found = []
    with contextlib.suppress(BlockingIOError):
        while True:
            found.append(receiver._socket.recv(64))
    receiver.close()
    return found


def test_the_messages_of_another_rate_come_between_the_ticks_and_from_another_mount_once_it_is_set() -> None:
    receiver = FreedReceiver(0, 1, Mount(heading_deg=90.0), "pitch")
    sender = FreedSender(("127.0.0.1", receiver.port), 1, Mount(heading_deg=90.0), hz=200.0)
    begin_us = time.monotonic_ns() // 1000

    def arrives(pan_deg: float) -> bool:
        end_s = time.monotonic() + 20
        while time.monotonic() < end_s:
            sender.send(Pose(12.0, -7.0, 30.0), 0, time.monotonic_ns() // 1000)
            if any(one.pan_deg == pytest.approx(pan_deg, abs=1e-3) for one in receiver.poses(begin_us)):
                return True
            time.sleep(0.001)
        return False

    assert arrives(12.0)
    sender.mount = Mount(heading_deg=80.0)
    assert arrives(22.0)
    sender.close()
    receiver.close()


def d1(camera: int, pan_deg: float, tilt_deg: float) -> bytes:
    """A message packed by struct, as a head sends it; independent of the codec."""
    numbers = b"".join(struct.pack(">i", round(v * 32768) << 8)[:3] for v in (pan_deg, tilt_deg, 0.0))
    data = bytes((0xD1, camera)) + numbers + bytes(9 + 6 + 2)
    return data + bytes(((0x40 - sum(data)) & 0xFF,))


def test_poses_of_a_head_are_received_and_others_passed_over() -> None:
    receiver = FreedReceiver(0, 5, Mount(heading_deg=90.0), delay_ms=40)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for data in (d1(5, 10.5, -3.25), d1(6, 99.0, 0.0), b"\xd1 nonsense", d1(5, 11.5, -3.25), d1(6, 99.0, 0.0)):
            sender.sendto(data, ("127.0.0.1", receiver.port))
    (pose,) = receiver.poses(1_000_000)
    assert (pose.pan_deg, pose.tilt_deg, pose.at_us) == (11.5, -3.25, 960_000)
    assert receiver.rejected == 1
    assert receiver.poses(2_000_000) == []
    with pytest.raises(FreedPortError, match=str(receiver.port)):
        FreedReceiver(receiver.port, 5, Mount())
    receiver.close()


def test_pitch_coordinates_become_angles_of_the_head() -> None:
    mount = Mount(heading_deg=37.0, tilt_offset_deg=-2.0)
    receiver = FreedReceiver(0, 1, mount, "pitch")
    sender = FreedSender(("127.0.0.1", receiver.port), 1, mount)
    sender.send(Pose(12.0, -7.0, 30.0), 0, 0)
    (pose,) = receiver.poses(0)
    assert (pose.pan_deg, pose.tilt_deg) == pytest.approx((12.0, -7.0), abs=1e-4)
    sender.close()
    receiver.close()


def test_the_observer_follows_freed_between_two_answers_of_the_head() -> None:
    profile = load_profile("ptzoptics-g2")  # 14.4 units a degree: its own answers are coarse

    class Encoder:
        """The head's encoder, exact and 20 ms old."""

        def __init__(self, head: VirtualHead) -> None:
            self.head = head
            self.before: list[tuple[int, float]] = []

        def poses(self, now_us: int) -> list[MeasuredPose]:
            self.before.append((now_us, self.head.pose.pan_deg))
            old = [one for one in self.before if one[0] <= now_us - 20_000]
            return [MeasuredPose(old[-1][1], self.head.pose.tilt_deg, old[-1][0])] if old else []

        def close(self) -> None: ...

    def worst(source: Callable[[VirtualHead], PoseSource] | None) -> float:
        # The model does not know of the dead time, so it is wrong whenever the speed changes.
        head = VirtualHead(profile, "visca-tcp", quirks=Quirks(dead_ms=150), source=source)
        head.run(2.0)
        errors = []
        for step in (12, -12, 16, -16):
            head.connection.drive(Drive(step, 0), head.now_us)
            for _ in range(60):
                head.run(0.01)
                errors.append(abs(head.connection.observer.at(head.now_us).pan_deg - head.pose.pan_deg))
        return max(errors)

    assert worst(Encoder) < 0.6 * worst(None)
