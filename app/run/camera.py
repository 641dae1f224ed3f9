"""Runs the camera of a live match: a simulated head behind real VISCA, and the controller that steers it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import pyarrow as pa

from app.hub.feed import MatchFeed
from camera.controller import CameraController
from camera.head import Pose
from camera.mount import Mount
from camera.profile import Profile, load_profile
from camera.protocols.registry import Address
from camera.record import Row, camera_table
from camera.simulated.server import HeadServer
from dashboard.feed import Aim, CameraPose

#: Distance of the camera behind the touchline, on the halfway line.
BEHIND_TOUCHLINE_M = 40.0


@contextmanager
def camera_on(feed: MatchFeed, append: Callable[[pa.Table], None]) -> Iterator[CameraController]:
    """Run a camera on the halfway line that follows ``feed`` while the context lasts; yield its controller.

    Its head is simulated. A real head differs in its profile, its mount, and its address in place of ``head.address``.

    Args:
        feed: of the match; the page reads the camera's pose from it.
        append: receives rows of the match store's camera table, ten seconds of them at a time.
    """
    sheet = feed.sheet()
    profile, mount = load_profile(), Mount(y_m=-(sheet.width_m / 2 + BEHIND_TOUCHLINE_M))
    head = HeadServer(profile).start()
    size_m = (sheet.length_m, sheet.width_m)

    def record(rows: Sequence[Row]) -> None:
        append(camera_table(rows).add_column(0, "head", pa.array([profile.name] * len(rows), pa.string())))

    controller = CameraController(feed, mount, profile, Address(*head.address), record=record, size_m=size_m)
    feed.provide_camera(lambda: CameraPose(profile.name, _aim(head.pose(), mount, profile, size_m)))
    controller.start()
    try:
        yield controller
    finally:
        controller.stop()
        head.stop()


def _aim(pose: Pose, mount: Mount, profile: Profile, size_m: tuple[float, float]) -> Aim:
    footprint = mount.footprint(pose, profile.zoom.aspect, *size_m)
    return Aim(pose.pan_deg, pose.tilt_deg, pose.width_deg, tuple(footprint))
