"""Our ONVIF driver at a camera that somebody else wrote: ``ipycam`` (PyPI), where it is installed."""

from __future__ import annotations

import http.server
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from camera.head_connection import HeadConnection, connect
from camera.profile import load_profile
from camera.protocols.messages import Drive
from camera.protocols.registry import Address

ipycam = pytest.importorskip("ipycam", reason="ipycam is not installed")

PROFILE = load_profile("onvif-generic")


class Rig:
    """The foreign camera behind a socket, and a connection of ours with it."""

    def __init__(self, user: str = "", password: str = "", known: str = "") -> None:
        config = ipycam.CameraConfig()
        config.username, config.password = user, password
        self.ptz = ipycam.PTZController()
        camera = SimpleNamespace(config=config, ptz=self.ptz, onvif=ipycam.ONVIFService(config, self.ptz))
        handler: Any = type("Handler", (ipycam.IPCameraHTTPHandler,), {"camera": camera})
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        config.onvif_port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        address = Address("127.0.0.1", config.onvif_port, user, known)
        self.head: HeadConnection = connect(PROFILE, address, "onvif", time.monotonic_ns() // 1000)

    def until(self, holds: Callable[[], bool], within_s: float = 20.0) -> bool:
        end_s = time.monotonic() + within_s
        while time.monotonic() < end_s:
            now_us = time.monotonic_ns() // 1000
            self.head.listen(now_us)
            self.head.send(now_us)
            if holds():
                return True
            time.sleep(0.005)
        return False

    def close(self) -> None:
        self.head.close()
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Rig]:
    monkeypatch.chdir(tmp_path)  # it keeps its presets there
    rig = Rig()
    yield rig
    rig.close()


def test_the_foreign_camera_is_driven_followed_stopped_and_zoomed(rig: Rig) -> None:
    assert rig.until(lambda: rig.head.online), rig.head.problem
    rig.head.drive(Drive(60, 0), time.monotonic_ns() // 1000)
    assert rig.until(lambda: rig.ptz.state.pan > 0.05)
    assert rig.until(lambda: rig.head.observer.at(time.monotonic_ns() // 1000).pan_deg > 5.0)
    rig.head.drive(Drive(0, 0), time.monotonic_ns() // 1000)
    assert rig.until(lambda: rig.head.is_still)
    pan_deg = PROFILE.pan.max_deg * rig.ptz.state.pan
    assert rig.head.report is not None
    assert PROFILE.pan.deg(rig.head.report[2][0]) == pytest.approx(pan_deg, abs=0.05)
    rig.head.zoom(PROFILE.zoom.max_units // 2)
    assert rig.until(lambda: abs(rig.ptz.state.zoom - 0.5) < 0.01)
    assert rig.ptz.state.pan == pytest.approx(pan_deg / PROFILE.pan.max_deg, abs=0.02), "a zoom turns nothing"
    assert rig.head.counts["commands_refused"] == 0


@pytest.mark.parametrize(("known", "enters"), [("secret", True), ("guess", False)])
def test_its_login_lets_the_right_password_in_only(
    known: str, enters: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rig = Rig("cam", "secret", known)
    try:
        assert rig.until(lambda: rig.head.online, 20.0 if enters else 3.0) == enters
    finally:
        rig.close()
