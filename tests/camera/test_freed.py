"""FreeD D1: bytes by an independent decoder, and poses of a running camera."""

from __future__ import annotations

import socket
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from camera.controller import CameraController
from camera.freed import FreedError, FreedSender, TrackedPose, checksum, decode, encode, tracked
from camera.head import Pose
from camera.mount import Mount
from camera.profile import load_profile
from camera.protocols.registry import Address
from camera.simulated.server import HeadServer
from tests.camera.test_controller import CirclingBall


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
