"""A process that is killed leaves no head turning: another one stops it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.cameras.watchdog import WatchedHead, stop_heads
from camera.profile import load_profile
from camera.protocols.messages import Drive
from camera.protocols.registry import PROTOCOLS, Address
from camera.simulated.server import HeadServer
from tests.camera.test_protocols import PROFILES
from tests.test_house import ROOT
from tests.waiting import eventually

#: Steers the heads of a file to the right until it is killed.
_RUN = """
import sys, time
from pathlib import Path
from app.cameras.group import CameraGroup
from app.cameras.running import cameras_of, cameras_on
from app.hub.feed import MatchFeed
from camera.operator import ManualDrive
from football.match_sheet import MatchSheet
sheet, group = MatchSheet("m"), CameraGroup()
with cameras_on(MatchFeed(sheet), lambda table: None, cameras_of(Path(sys.argv[1]), sheet), group):
    while True:
        group.order("main", ManualDrive(0.3, 0.0, 0.0, time.monotonic_ns() // 1000))
        time.sleep(0.1)
"""


@pytest.fixture(params=["visca", "onvif"])
def head(request: pytest.FixtureRequest) -> Iterator[tuple[str, HeadServer]]:
    with HeadServer(load_profile(PROFILES[request.param]), protocol=request.param) as server:
        yield request.param, server


def test_a_head_stops_when_the_process_that_steers_it_is_killed(head: tuple[str, HeadServer], tmp_path: Path) -> None:
    protocol, server = head
    file = tmp_path / "cameras.toml"
    file.write_text(
        f'[[camera]]\nname = "main"\naddress = "127.0.0.1:{server.address[1]}"\nprotocol = "{protocol}"\n'
        f'profile = "{PROFILES[protocol]}"\n'
    )
    run = subprocess.Popen([sys.executable, "-c", _RUN, str(file)], cwd=ROOT)
    try:
        eventually(lambda: server.moving and server.pose().pan_deg > 2, 60)
    finally:
        run.kill()
        run.wait()
    eventually(lambda: not server.moving)
    assert server.pose().pan_deg < 150, "it was stopped, and did not reach its end of travel"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_stop_reaches_a_head_of_every_protocol(protocol: str) -> None:
    profile = load_profile(PROFILES[protocol])
    with HeadServer(profile, protocol=protocol) as server:
        server._body.order(Drive(5, 0))
        assert server.moving
        assert stop_heads([WatchedHead(protocol, profile, Address(*server.address))], 20) == [True]
        eventually(lambda: not server.moving)


def test_a_head_that_does_not_answer_is_given_up() -> None:
    with HeadServer(load_profile()) as server:
        address = Address(*server.address)
    assert stop_heads([WatchedHead("visca", load_profile(), address)], 0.3) == [False]
