"""The delay from a drive to the motion: against heads whose dead time is known, in virtual time."""

from __future__ import annotations

import pytest

from camera.profile import load_profile
from camera.protocols.messages import Drive
from camera.simulated.server import Quirks
from camera.start_delay import AxisStart
from tests.camera.test_protocols import PROFILES
from tests.camera.virtual_head import VirtualHead


@pytest.mark.parametrize(
    ("name", "step", "error_ms"), [("visca", 6, 10), ("visca-tcp", 13, 30), ("onvif", 61, 30), ("aw", 31, 50)]
)
@pytest.mark.parametrize("dead_ms", [0, 200])
def test_the_delay_is_the_networks_and_the_heads(name: str, step: int, error_ms: int, dead_ms: int) -> None:
    head = VirtualHead(load_profile(PROFILES[name]), name, quirks=Quirks(dead_ms=dead_ms), delay_us=15_000)
    head.run(4.0)
    for sign in (1, -1) * 4:
        head.connection.drive(Drive(sign * step, 0), head.now_us)
        head.run(1.5)
        head.connection.drive(Drive(0, 0), head.now_us)
        head.run(3.0)
    delays_ms = [delay_us / 1000 for delay_us in head.connection.starts.pan.delays_us]
    assert len(delays_ms) == 8
    assert not head.connection.starts.tilt.delays_us
    figures = head.connection.starts.figures()
    assert figures["motion_p50_ms"] == pytest.approx(dead_ms + 15, abs=error_ms), delays_ms
    assert figures["motion_p95_ms"] >= figures["motion_p50_ms"]


def test_only_a_start_from_rest_counts_and_a_way_to_the_other_side_does_not() -> None:
    axis = AxisStart()
    axis.commanded(5.0, 0)
    for at_us in (0, 40_000, 80_000):
        axis.reported(1.0, at_us)
    axis.commanded(7.0, 90_000)
    axis.reported(1.5, 120_000)
    assert not axis.delays_us, "it was turning as far as anybody knew"
    axis.commanded(0.0, 130_000)
    for at_us in (160_000, 200_000):
        axis.reported(2.0, at_us)
    axis.commanded(5.0, 210_000)
    axis.reported(1.5, 240_000)
    assert not axis.delays_us
    axis.commanded(0.0, 250_000)
    for at_us in (280_000, 320_000):
        axis.reported(1.5, at_us)
    axis.commanded(5.0, 330_000)
    axis.reported(1.6, 360_000)
    assert list(axis.delays_us) == [10_000]
