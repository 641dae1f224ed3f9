"""Somebody else's ONVIF client (onvif-zeep-async) on the simulated head, over real HTTP."""

from __future__ import annotations

import asyncio

import pytest

from camera.profile import load_profile
from camera.simulated.server import HeadServer

onvif = pytest.importorskip("onvif")
zeep = pytest.importorskip("zeep")


async def steer(port: int) -> tuple[str, float, float]:
    """Turn, stop, go to a position; return the profile's token, pan after the turn, and tilt at the end."""
    camera = onvif.ONVIFCamera("127.0.0.1", port, "cam", "secret")
    try:
        await camera.update_xaddrs()
        media, ptz = await camera.create_media_service(), await camera.create_ptz_service()
        token = (await media.GetProfiles())[0].token
        await ptz.ContinuousMove({"ProfileToken": token, "Velocity": {"PanTilt": {"x": 0.5, "y": 0.0}}})
        turned = 0.0
        while turned < 5.0:
            turned = (await ptz.GetStatus({"ProfileToken": token})).Position.PanTilt.x
        await ptz.Stop({"ProfileToken": token, "PanTilt": True, "Zoom": True})
        position = {"PanTilt": {"x": 0.1, "y": 0.2}, "Zoom": {"x": 0.5}}
        await ptz.AbsoluteMove({"ProfileToken": token, "Position": position})
        moving = "MOVING"
        while moving == "MOVING":
            status = await ptz.GetStatus({"ProfileToken": token})
            moving = status.MoveStatus.PanTilt
        return token, turned, status.Position.PanTilt.y
    finally:
        await camera.close()


def test_a_foreign_client_turns_stops_and_moves_to_a_position() -> None:
    profile = load_profile("onvif-generic")
    with HeadServer(profile, protocol="onvif", user="cam", password="secret") as head:
        token, turned, tilt_deg = asyncio.run(asyncio.wait_for(steer(head.address[1]), 60))
    assert token == "main"
    assert turned >= 5.0
    middle, half = (profile.tilt.max_deg + profile.tilt.min_deg) / 2, (profile.tilt.max_deg - profile.tilt.min_deg) / 2
    assert tilt_deg == pytest.approx(middle + 0.2 * half, abs=0.02)


def test_a_foreign_client_with_another_password_is_refused() -> None:
    async def knock(port: int) -> None:
        camera = onvif.ONVIFCamera("127.0.0.1", port, "cam", "guess")
        try:
            await camera.update_xaddrs()
        finally:
            await camera.close()

    with HeadServer(load_profile("onvif-generic"), protocol="onvif", user="cam", password="secret") as head:
        with pytest.raises(zeep.exceptions.Fault, match="NotAuthorized"):
            asyncio.run(asyncio.wait_for(knock(head.address[1]), 60))
        assert head.executed == 0
