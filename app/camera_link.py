"""Runs the camera beside a live match: a simulated head behind real VISCA, and the controller that steers it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from app.feed import MatchFeed
from camera.controller import CameraController
from camera.head import Pose
from camera.head_server import HeadServer
from camera.mount import Mount
from camera.profile import Profile, load_profile
from camera.record import Row, camera_table
from dashboard.feed import Aim, CameraPose


class CameraRun:
    """A camera while it runs; ``figures`` stays readable afterwards."""

    def __init__(self, controller: CameraController) -> None:
        self._controller = controller

    def figures(self) -> Mapping[str, Any]:
        """How well it steered."""
        return self._controller.figures()


@contextmanager
def camera_on(feed: MatchFeed, store_rows: Callable[[pa.Table], None]) -> Iterator[CameraRun]:
    """A camera on the halfway line that follows ``feed`` while the context lasts.

    Args:
        feed: the match; it is also told where the camera's pose is to be had.
        store_rows: takes the camera's rows, in lots, in the camera's thread.
    """
    sheet = feed.sheet()
    profile, mount = load_profile(), Mount(y_m=-(sheet.width_m / 2 + 40.0))
    head = HeadServer(profile).start()

    def record(rows: Sequence[Row]) -> None:
        store_rows(camera_table(rows))

    controller = CameraController(
        feed, mount, profile, head.address, record, size_m=(sheet.length_m, sheet.width_m)
    )
    feed.show_camera(lambda: CameraPose(profile.name, _aim(head.pose(), mount, profile)))
    controller.start()
    try:
        yield CameraRun(controller)
    finally:
        controller.stop()
        head.stop()


def _aim(pose: Pose, mount: Mount, profile: Profile) -> Aim:
    footprint = mount.footprint(pose, profile.zoom.aspect)
    return Aim(pose.pan_deg, pose.tilt_deg, pose.width_deg, tuple(footprint))
