"""Somebody else's VISCA client (visca_over_ip 0.5.1) on the simulated head, over real UDP."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from camera.profile import load_profile
from camera.simulated.server import HeadServer, HeadServerError
from tests.waiting import eventually

visca_over_ip = pytest.importorskip("visca_over_ip")


@pytest.fixture
def h700() -> Iterator[HeadServer]:
    """A BRC-H700: the only layout (5 + 4 nibbles) that this client reads positions of."""
    with HeadServer(load_profile("brc-h700")) as server:
        yield server


def test_a_foreign_client_turns_stops_and_reads_the_position(h700: HeadServer) -> None:
    camera = visca_over_ip.Camera("127.0.0.1", h700.address[1])
    try:
        camera.pantilt(-20, -15)  # this client sends 02, which is down, for a positive tilt
        eventually(lambda: abs(h700.pose().pan_deg) > 5)
        camera.pantilt(0, 0)
        eventually(lambda: not h700.moving)
        pan_units, tilt_units = camera.get_pantilt_position()
        profile, pose = load_profile("brc-h700"), h700.pose()
        assert profile.pan.deg(pan_units) == pytest.approx(pose.pan_deg, abs=0.01)
        assert profile.tilt.deg(tilt_units) == pytest.approx(pose.tilt_deg, abs=0.01)
        assert pose.pan_deg < 0 < pose.tilt_deg
        assert pan_units > 0
        camera.pantilt_home()
        eventually(lambda: not h700.moving and abs(h700.pose().pan_deg) < 0.01)
        assert camera.get_pantilt_position() == (0, 0)
    finally:
        camera.close_connection()


def test_a_foreign_client_zooms_and_reads_the_zoom(h700: HeadServer) -> None:
    camera = visca_over_ip.Camera("127.0.0.1", h700.address[1])
    try:
        camera.zoom_to(0.25)
        eventually(lambda: camera.get_zoom_position() == 4096)
        camera.zoom(7)
        eventually(lambda: camera.get_zoom_position() > 5000)
        camera.zoom(0)
    finally:
        camera.close_connection()


def test_a_foreign_client_sends_the_x400_to_a_position_and_is_refused_what_it_lacks() -> None:
    with HeadServer(load_profile("brc-x400")) as server:
        camera = visca_over_ip.Camera("127.0.0.1", server.address[1])
        try:
            camera.pantilt(24, 23, -1500, 300)
            eventually(lambda: not server.moving and server.pose().tilt_deg > 5)
            assert server.pose().pan_deg == pytest.approx(-1500 / 51.2)
            assert server.pose().tilt_deg == pytest.approx(300 / 51.2)
            with pytest.raises(visca_over_ip.exceptions.ViscaException, match="Syntax"):
                camera.autoexposure_mode("auto")
        finally:
            camera.close_connection()


def test_a_taken_port_is_named() -> None:
    with (
        HeadServer(load_profile()) as server,
        pytest.raises(HeadServerError, match=str(server.address[1])),
    ):
        HeadServer(load_profile(), port=server.address[1])
