"""Runs the camera of a live match: a simulated head behind real VISCA, and the controller that steers it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from app.hub.feed import MatchFeed
from camera.controller import CameraController
from camera.head import Pose
from camera.head_server import HeadServer
from camera.mount import Mount
from camera.profile import Profile, load_profile
from camera.record import Row, camera_table
from dashboard.feed import Aim, CameraPose

#: Distance of the camera behind the touchline, on the halfway line.
BEHIND_TOUCHLINE_M = 40.0

_LOT_ROWS = 500


class CameraRun:
    """A running camera; ``figures`` remains readable after its end."""

    def __init__(self, controller: CameraController) -> None:
        self._controller = controller

    def figures(self) -> Mapping[str, Any]:
        """Figures of the controller."""
        return self._controller.figures()


@contextmanager
def camera_on(feed: MatchFeed, store_rows: Callable[[pa.Table], None]) -> Iterator[CameraRun]:
    """Runs a camera on the halfway line that follows ``feed`` while the context lasts.

    Args:
        feed: the match; it also receives the function that returns the camera's pose.
        store_rows: receives rows of the match store's camera table, some seconds of them at a time.
    """
    sheet = feed.sheet()
    profile, mount = load_profile(), Mount(y_m=-(sheet.width_m / 2 + BEHIND_TOUCHLINE_M))
    head = HeadServer(profile).start()
    lots = _Lots(profile.name, store_rows)
    size_m = (sheet.length_m, sheet.width_m)
    controller = CameraController(feed, mount, profile, head.address, lots.add, size_m=size_m)
    feed.provide_camera(lambda: CameraPose(profile.name, _aim(head.pose(), mount, profile, size_m)))
    controller.start()
    try:
        yield CameraRun(controller)
    finally:
        controller.stop()
        lots.flush()
        head.stop()


class _Lots:
    """Collects rows, so that the store gets one file in ten seconds instead of one in half a second."""

    def __init__(self, head: str, store_rows: Callable[[pa.Table], None]) -> None:
        self._head, self._store_rows = head, store_rows
        self._rows: list[Row] = []

    def add(self, rows: Sequence[Row]) -> None:
        self._rows.extend(rows)
        if len(self._rows) >= _LOT_ROWS:
            self.flush()

    def flush(self) -> None:
        if self._rows:
            rows, self._rows = self._rows, []
            head = pa.array([self._head] * len(rows), pa.string())
            self._store_rows(camera_table(rows).add_column(0, "head", head))


def _aim(pose: Pose, mount: Mount, profile: Profile, size_m: tuple[float, float]) -> Aim:
    footprint = mount.footprint(pose, profile.zoom.aspect, *size_m)
    return Aim(pose.pan_deg, pose.tilt_deg, pose.width_deg, tuple(footprint))
