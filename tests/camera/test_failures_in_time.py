"""Failures are shown within a second, whatever the protocol of the head; in virtual time."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from camera.controller import CameraController
from camera.failures import BALL_US, FIRST_ANSWER_US
from camera.mount import Mount
from camera.profile import load_profile
from camera.protocols.registry import PROTOCOLS, Address
from football.update_stream import BallView, UpdateRecord, View
from tests.camera.test_protocols import PROFILES
from tests.camera.virtual_head import VirtualHead

WITHIN_US = 1_000_000


class Feed:
    """The ball swings along the pitch, and each part of the feed can fail; in virtual time."""

    def __init__(self, head: VirtualHead) -> None:
        self._head, self._view = head, View(0, None, ())
        self.is_cut = self.has_no_ball = False
        self.ahead_us = 0

    def latest_view(self) -> View:
        ts_us = self._head.now_us // 40_000 * 40_000
        if ts_us > self._view.ts_us and not self.is_cut:
            turn = 0.6 * ts_us / 1e6
            ball = BallView(ts_us, 25 * math.sin(turn), 0.0, 0.0, 15 * math.cos(turn), 0.0, 0.0)
            self._view = View(ts_us, self._view.ball if self.has_no_ball else ball, ())
        return self._view

    def view_wall_us(self) -> int:
        return self._head.now_us + self.ahead_us

    def frontier_us(self) -> int:
        return 0

    def events_since(self, cursor: int) -> tuple[int, Sequence[UpdateRecord]]:
        return cursor, ()


class Rig:
    """A controller, its feed and its head, of which the test turns the time."""

    def __init__(self, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        profile = load_profile(PROFILES[name])
        self.head = VirtualHead(profile, name)
        self.feed = Feed(self.head)
        monkeypatch.setattr("camera.controller._now_us", self.head.clock)
        monkeypatch.setattr("camera.controller._wall_us", self.head.clock)
        monkeypatch.setattr("camera.controller.connect", lambda *args: self.head.connection)
        self.controller = CameraController(self.feed, Mount(), profile, Address("127.0.0.1", 1), name)

    def until(self, fault: str, within_us: int) -> int:
        """Turn the time on until a fault is shown; return how long it took."""
        began_us = self.head.now_us
        while self.controller.state().fault != fault:
            assert self.head.now_us - began_us <= within_us, self.controller.state()
            self.run(0.02)
        return self.head.now_us - began_us

    def run(self, seconds: float) -> None:
        end_us = self.head.now_us + round(seconds * 1e6)
        while self.head.now_us < end_us:
            self.controller._tick(self.head.now_us)
            self.head.pause(0.02)


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_head_that_dies_is_named_within_a_second_and_comes_back(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rig = Rig(name, monkeypatch)
    rig.run(4.0)
    assert rig.controller.state().pose is not None, rig.controller.state()
    rig.head.up = rig.head.down = False
    rig.until("head", WITHIN_US)
    state = rig.controller.state()
    assert (state.mode, state.needs_operator, state.pose) == ("offline", True, None)
    rig.head.reboot()
    rig.head.up = rig.head.down = True
    rig.until("", 10_000_000)
    rig.run(3.0)
    assert (rig.controller.state().care, rig.controller.state().mode) == ("following", "follow")


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_head_that_never_answers_is_named_too_and_one_that_does_is_no_failure(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = Rig(name, monkeypatch)
    rig.head.up = False
    assert rig.until("head", FIRST_ANSWER_US + 100_000) > FIRST_ANSWER_US
    assert rig.controller.state().needs_operator
    rig = Rig(name, monkeypatch)
    with pytest.raises(AssertionError):
        rig.until("head", 4_000_000)


@pytest.mark.parametrize(
    ("fault", "within_us"), [("feed", WITHIN_US), ("clock", WITHIN_US), ("confidence", WITHIN_US), ("ball", BALL_US)]
)
def test_what_fails_before_the_head_is_named_within_a_second(
    fault: str, within_us: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = Rig("visca", monkeypatch)
    rig.run(4.0)
    rig.feed.is_cut, rig.feed.has_no_ball = fault == "feed", fault == "ball"
    rig.feed.ahead_us = 600_000 * (fault == "clock")
    rig.controller.distrust = "the ball has no height" * (fault == "confidence")
    rig.until(fault, within_us + 100_000)
    rig.run(1.0)
    assert rig.controller.state().needs_operator
    rig.feed.is_cut = rig.feed.has_no_ball = False
    rig.feed.ahead_us, rig.controller.distrust = 0, ""
    rig.run(4.0)
    assert (rig.controller.state().care, rig.controller.state().problem) == ("following", "")
