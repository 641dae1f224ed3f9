"""Heads of every protocol stay with the plan, however few messages a second they take; in virtual time."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from camera.controller import CameraController
from camera.metrics import rms
from camera.mount import Mount
from camera.profile import load_profile
from camera.protocols.messages import Drive, PositionInquiry
from camera.protocols.panasonic import PanasonicAw
from camera.protocols.registry import Address
from camera.protocols.turns import TurnSession
from camera.record import Row
from football.update_stream import BallView, UpdateRecord, View
from tests.camera.virtual_head import VirtualHead

SECONDS, BEGIN = 20, 250


class Swing:
    """A feed: the ball swings along the pitch, up to 15 m/s, in virtual time."""

    def __init__(self, head: VirtualHead) -> None:
        self._head, self._view = head, View(0, None, ())

    def latest_view(self) -> View:
        ts_us = self._head.now_us // 40_000 * 40_000
        if ts_us > self._view.ts_us:
            turn = 0.6 * ts_us / 1e6
            ball = BallView(ts_us, 25 * math.sin(turn), 0.0, 0.0, 15 * math.cos(turn), 0.0, 0.0)
            self._view = View(ts_us, ball, ())
        return self._view

    def view_wall_us(self) -> int:
        return 0

    def frontier_us(self) -> int:
        return 0

    def events_since(self, cursor: int) -> tuple[int, Sequence[UpdateRecord]]:
        return cursor, ()


@pytest.mark.parametrize(
    ("protocol", "profile_name"),
    [
        ("visca", "brc-x400"),
        pytest.param("visca-tcp", "ptzoptics-g2", marks=pytest.mark.slow),
        ("onvif", "onvif-generic"),
        pytest.param("aw", "aw-he40", marks=pytest.mark.slow),
    ],
)
def test_the_head_is_where_the_plan_and_the_model_have_it(
    protocol: str, profile_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    profile, rows = load_profile(profile_name), list[Row]()
    head = VirtualHead(profile, protocol)
    monkeypatch.setattr("camera.controller._now_us", head.clock)
    monkeypatch.setattr("camera.controller.connect", lambda *args: head.connection)
    steered = CameraController(Swing(head), Mount(), profile, Address("127.0.0.1", 1), protocol, record=rows.extend)
    turned = []
    for _ in range(SECONDS * 50):
        steered._tick(head.now_us)
        turned.append(head.pose.pan_deg)
        head.pause(0.02)
    steered._flush()
    found = np.array([(row.planned_pan_deg, row.achieved_pan_deg or 0.0, row.planned_width_deg) for row in rows])[
        BEGIN:
    ]
    head_deg = np.array(turned)[BEGIN:]
    off_deg, model_off_deg = rms(head_deg - found[:, 0]), rms(head_deg - found[:, 1])
    assert off_deg < 0.05 * found[:, 2].mean(), (off_deg, model_off_deg)
    assert model_off_deg < 0.2, (off_deg, model_off_deg)
    assert steered.figures()["commands_acked"] > 0.95 * float(steered.figures()["commands_sent"]), "none waited in vain"


def test_a_session_is_free_when_a_drive_would_go_out_at_once() -> None:
    session = TurnSession(PanasonicAw(load_profile("aw-he40"), "host"))
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
    assert not session.is_free(0), "it is not connected"
    assert session.to_send(0)
    session.receive(answer, 10_000)
    assert not session.is_free(20_000), "two messages are 130 ms apart"
    assert session.is_free(130_000)
    session.submit(PositionInquiry())
    assert session.is_free(130_000), "a drive goes first"
    session.submit(Drive(3, 0))
    (sent,) = session.to_send(130_000)
    assert b"PTS53" in sent
    assert not session.is_free(300_000), "no answer has arrived"
    session.receive(answer, 310_000)
    assert session.is_free(320_000)
    assert not session.is_free(700_000), "the inquiry has waited too long, and goes first"
