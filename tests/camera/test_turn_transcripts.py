"""Scripted conversations of the protocols that send one message at a time: raw VISCA over TCP, and HTTP."""

from __future__ import annotations

import msgspec
import pytest

from camera.profile import load_profile
from camera.protocols.messages import (
    Absolute,
    Connected,
    Drive,
    Home,
    Outcome,
    Position,
    PositionInquiry,
    Report,
    Signal,
    ZoomDirect,
    ZoomInquiry,
)
from camera.protocols.onvif import Onvif
from camera.protocols.turns import TurnSession
from camera.protocols.visca_tcp import ViscaTcp

PTZOPTICS, H700 = load_profile("ptzoptics-g2"), load_profile("brc-h700")
STOP = "81 01 06 01 01 01 03 03 ff"
RIGHT, RIGHT_HEX = Drive(3, 0), "81 01 06 01 03 01 02 03 ff"
WHERE_HEX = "81 09 06 12 ff"
ACK, DONE, FULL = "90 41 ff", "90 51 ff", "90 60 03 ff"


class Conversation:
    """A session of raw VISCA at a head, with its clock."""

    def __init__(self, session: TurnSession) -> None:
        self.session, self.now_us = session, 0

    def sends(self, after_ms: int = 20) -> str:
        self.now_us += after_ms * 1000
        return " | ".join(data.hex(" ") for data in self.session.to_send(self.now_us))

    def hears(self, text: str) -> None:
        self.session.receive(bytes.fromhex(text), self.now_us)

    def became(self) -> list[tuple[str, Report | None]]:
        events = iter(self.session.next_event, None)
        return [("connected", None) if isinstance(one, Connected) else (one.signal.name, one.report) for one in events]


def connected(profile_name: str = "ptzoptics-g2") -> Conversation:
    talk = Conversation(TurnSession(ViscaTcp(load_profile(profile_name))))
    assert talk.sends() == STOP
    talk.hears(ACK)
    talk.hears(DONE)
    assert talk.became() == [("connected", None)]
    return talk


def test_a_split_acknowledgement_and_several_replies_in_one_piece() -> None:
    talk = connected()
    talk.session.submit(RIGHT)
    assert talk.sends() == RIGHT_HEX
    talk.hears("90")
    assert talk.became() == []
    talk.hears("41 ff 90 51 ff 90 52")
    assert [name for name, _ in talk.became()] == ["ACKED", "COMPLETED"]
    talk.session.submit(PositionInquiry())
    assert talk.sends() == WHERE_HEX
    talk.hears("ff 90 50 00 02 00 00 0f 0e 00")
    assert talk.became() == []
    talk.hears("00 ff")
    assert talk.became() == [("ANSWERED", Position(0x200, -0x200))]


def test_a_late_acknowledgement_is_no_answer_to_the_inquiry_after_it() -> None:
    talk = connected()
    talk.session.submit(PositionInquiry())
    assert talk.sends() == WHERE_HEX
    talk.hears(ACK)
    talk.hears("90 50 ff")  # a completion of an empty socket
    assert talk.became() == []
    talk.hears("90 50 00 01 00 00 00 00 00 00 ff")
    assert talk.became() == [("ANSWERED", Position(0x100, 0))]


def test_a_completion_of_an_empty_socket_is_no_acknowledgement() -> None:
    talk = connected()
    talk.session.submit(RIGHT)
    assert talk.sends() == RIGHT_HEX
    talk.hears(DONE)
    assert talk.became() == []
    talk.hears(ACK)
    assert [name for name, _ in talk.became()] == ["ACKED", "COMPLETED"]


def test_a_full_buffer_refuses_the_command_and_the_next_one_goes_out() -> None:
    talk = connected()
    talk.session.submit(RIGHT)
    assert talk.sends() == RIGHT_HEX
    talk.hears(FULL)
    assert [name for name, _ in talk.became()] == ["REFUSED"]
    talk.session.submit(RIGHT)
    assert talk.sends() == RIGHT_HEX


def test_a_reply_that_never_ends_and_one_that_is_lost_end_the_connection_and_a_stop_goes_first() -> None:
    for bad in ("90 41" + " 00" * 20, ""):
        talk = connected()
        talk.session.submit(RIGHT)
        assert talk.sends() == RIGHT_HEX
        if bad:
            talk.hears(bad)
        assert talk.sends(10 if bad else 1_100) == ""
        assert talk.session.wants_new_connection
        assert not talk.session.ready
        assert [name for name, _ in talk.became()] == ["LOST"]
        assert talk.sends(600) == STOP


@pytest.mark.parametrize("mute", [Home(), ZoomInquiry(), ZoomDirect(100)])
def test_a_head_that_never_answers_one_kind_of_message_is_not_asked_for_it_any_more(mute: object) -> None:
    talk = connected()
    for _ in range(2):
        talk.session.submit(PositionInquiry())
        talk.sends()
        talk.hears("90 50 00 01 00 00 00 00 00 00 ff")
        talk.session.submit(mute)  # type: ignore[arg-type]
        talk.sends()
        talk.sends(1_100)
        assert not talk.session.ready
        assert talk.sends(600) == STOP
        talk.hears(ACK)
    talk.became()
    talk.session.submit(mute)  # type: ignore[arg-type]
    assert talk.sends() == ""
    assert [name for name, _ in talk.became()] == ["REFUSED"]
    talk.session.submit(PositionInquiry())
    assert talk.sends() == WHERE_HEX


def test_five_half_bytes_of_pan_that_grow_to_the_left() -> None:
    talk = connected("brc-h700")
    talk.session.submit(PositionInquiry())
    assert talk.sends() == WHERE_HEX
    talk.hears("90 50 0f 0f 0a 02 04 00 01 02 0c ff")  # -1500 and 300, as visca_over_ip reads it
    ((name, report),) = talk.became()
    assert (name, report) == ("ANSWERED", Position(-1500, 300))
    assert isinstance(report, Position)
    assert H700.pan.deg(report.pan_units) == pytest.approx(7.2, abs=0.01), "right is positive inside"
    assert H700.tilt.deg(report.tilt_units) == pytest.approx(1.44, abs=0.01)
    talk.session.submit(PositionInquiry())
    talk.sends()
    talk.hears("90 50 00 02 00 00 0f 0e 00 00 ff")  # four and four: another model
    assert talk.became() == [("ANSWERED", None)]


@pytest.mark.parametrize("sign", ["right", "left"])
def test_a_drive_to_the_right_is_the_same_bytes_whatever_the_sign_of_the_positions(sign: str) -> None:
    pan = msgspec.structs.replace(PTZOPTICS.pan, positive=sign)  # type: ignore[arg-type]
    profile = msgspec.structs.replace(PTZOPTICS, pan=pan)
    assert ViscaTcp(profile).encode(RIGHT).hex(" ") == RIGHT_HEX
    units = profile.pan.units(10.0)
    assert units == (144 if sign == "right" else -144)
    assert ViscaTcp(profile).encode(Absolute(units, 0, 5, 5)).hex()[12:20] == (
        "00000900" if sign == "right" else "0f0f0700"
    )


def onvif_answer(body: str, status: int = 200) -> bytes:
    text = f'<s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope"><s:Body>{body}</s:Body></s:Envelope>'
    return f"HTTP/1.1 {status} x\r\nContent-Length: {len(text)}\r\n\r\n{text}".encode()


def test_an_onvif_drive_has_a_time_out_until_the_device_refuses_it() -> None:
    session = TurnSession(Onvif(load_profile("onvif-generic"), "head"))
    now_us = 0

    def sends() -> str:
        nonlocal now_us
        now_us += 10_000
        return b"".join(session.to_send(now_us)).decode()

    while "ContinuousMove" not in (sent := sends()):
        assert sent
        session.receive(onvif_answer("<ok/>"), now_us)
    assert "Timeout" not in sent, "a stop is no drive"
    session.receive(onvif_answer("<ok/>"), now_us)
    assert "Stop" in sends()
    session.receive(onvif_answer("<ok/>"), now_us)
    assert session.ready
    assert session.drive_repeat_us > 0
    session.submit(Drive(5, 0))
    assert "<tptz:Timeout>PT1S</tptz:Timeout>" in sends()
    session.receive(onvif_answer("<s:Fault/>", 500), now_us)
    again = sends()
    assert "ContinuousMove" in again
    assert "Timeout" not in again
    session.receive(onvif_answer("<ok/>"), now_us)
    assert session.drive_repeat_us == 0
    events = [one for one in iter(session.next_event, None) if isinstance(one, Outcome)]
    assert [one.signal for one in events] == [Signal.ACKED, Signal.COMPLETED]


def test_a_head_that_refuses_the_first_stop_is_not_flooded_with_stops() -> None:
    talk = Conversation(TurnSession(ViscaTcp(PTZOPTICS)))
    sent = 0
    for _ in range(100):
        if talk.sends(20):
            sent += 1
            talk.hears("90 60 41 ff")
    assert 3 <= sent <= 5


def test_an_onvif_answer_with_a_prefix_that_nobody_has_declared_is_read() -> None:
    onvif = Onvif(load_profile("onvif-generic"), "head")
    session, now_us = TurnSession(onvif), 0
    while not session.ready:
        now_us += 10_000
        assert session.to_send(now_us)
        session.receive(onvif_answer("<ptz:Response/>"), now_us)
    session.submit(PositionInquiry())
    session.to_send(now_us + 10_000)
    place = '<tt:Position><tt:PanTilt x="0.5" y="0"/></tt:Position>'
    session.receive(onvif_answer(f"<ptz:GetStatusResponse>{place}</ptz:GetStatusResponse>"), now_us + 20_000)
    reports = [one.report for one in iter(session.next_event, None) if isinstance(one, Outcome)]
    assert reports == [Position(8500, 3000)]


def test_an_onvif_head_that_closes_the_connection_after_each_answer_is_connected_without_a_loss() -> None:
    session, now_us = TurnSession(Onvif(load_profile("onvif-generic"), "head")), 0
    sent = b""
    for _ in range(20):
        now_us += 10_000
        pieces = session.to_send(now_us)
        assert session.wants_new_connection or len(pieces) == 1
        sent += b"".join(pieces)
        if pieces:
            session.receive(onvif_answer("<ok/>").replace(b"HTTP/1.1", b"HTTP/1.0"), now_us)
            session.receive(b"", now_us)
        if session.ready:
            break
    assert session.ready
    assert session.resets == 1
    assert sent.count(b"ContinuousMove>") == 2, "one element, opened and closed"
    assert sent.count(b"<tptz:Stop>") == 1
