"""VISCA over IP, on both sides, and the profiles of cameras."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import strategies as st

from camera.head import new_head
from camera.profile import ProfileError, load_profile
from camera.protocols import visca_codec as codec
from camera.protocols.visca_codec import ViscaError
from camera.protocols.visca_udp import Session
from camera.simulated.body import Body
from camera.simulated.visca_udp_device import ViscaUdpDevice
from tests.fuzz.cases import both, hold, mangled, refusal

PROFILE = load_profile()
MESSAGES = [
    codec.Drive(3, -2), codec.Absolute(100, -50, 3, 3), codec.Relative(1, 1, 1, 1), codec.Home(), codec.Recalibrate(),
    codec.ZoomDrive(-3), codec.ZoomDirect(100), codec.Cancel(1), codec.InterfaceClear(), codec.PositionInquiry(),
    codec.ZoomInquiry(), codec.MaxSpeedInquiry(), codec.StatusInquiry(),
]  # fmt: skip
REPLIES = [codec.Ack(1), codec.Completion(2), codec.Answer(bytes(8)), codec.Refusal(0, codec.BUFFER_FULL)]
PAYLOADS = [codec.encode(message, PROFILE) for message in MESSAGES] + [codec.encode_reply(one) for one in REPLIES]
DATAGRAMS = [
    codec.pack(kind, number, payload)
    for number, payload in enumerate([*PAYLOADS, codec.RESET, codec.WRONG_SEQUENCE])
    for kind in (codec.COMMAND, codec.INQUIRY, codec.REPLY, codec.CONTROL, codec.CONTROL_REPLY)
]


@both
def test_any_bytes_are_visca_or_a_visca_error(cases: int):
    def body(data: bytes) -> None:
        for read in (
            codec.unpack, codec.decode_reply, lambda raw: codec.decode(raw, PROFILE),
            lambda raw: codec.decode_position(raw, PROFILE), lambda raw: codec.decode_zoom(raw, PROFILE),
            codec.from_nibbles,
        ):  # fmt: skip
            with suppress(ViscaError):
                read(data)

    hold(cases, mangled([*PAYLOADS, *DATAGRAMS]), body)


@both
def test_no_datagram_stops_a_device_or_a_session(cases: int):
    def body(arrived: list[tuple[bytes, int]]) -> None:
        device, session, now_us = ViscaUdpDevice(Body(new_head(PROFILE))), Session(PROFILE), 0
        for data, step_us in arrived:
            now_us += step_us
            device.receive(data, "peer", now_us)
            device.poll(now_us)
            session.receive(data, now_us)
            session.submit(codec.Drive(1, 1))
            session.to_send(now_us)
            while session.next_event() is not None:
                pass

    datagrams = st.tuples(mangled(DATAGRAMS) | st.sampled_from(DATAGRAMS), st.integers(0, 500_000))
    hold(cases, st.lists(datagrams, max_size=12), body)


@both
def test_any_profile_is_taken_or_refused(cases: int, tmp_path: Path):
    folder = Path(__file__).resolve().parents[2] / "camera" / "profiles"
    good = [path.read_bytes() for path in sorted(folder.glob("*.toml"))]
    assert good
    file = tmp_path / "camera.toml"

    def body(content: bytes) -> None:
        file.write_bytes(content)
        message = refusal(ProfileError, lambda: load_profile(file))
        assert message is None or "camera.toml" in message

    hold(cases, mangled(good), body)


def test_the_good_ones_are_good():
    for data in DATAGRAMS:
        assert codec.unpack(data).payload
    with pytest.raises(ViscaError):
        codec.unpack(b"")
