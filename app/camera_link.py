"""Runs the camera beside a live match: a simulated head behind real VISCA, and the controller that steers it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec
import pyarrow as pa

from app.feed import MatchFeed
from camera.controller import CameraController
from camera.head import Pose
from camera.head_server import HeadServer
from camera.mount import Mount
from camera.profile import Profile, load_profile
from camera.record import Row
from dashboard.feed import Aim, CameraPose
from replay.store import CAMERA

#: Where the camera stands: this far behind the touchline, on the halfway line.
BEHIND_TOUCHLINE_M = 40.0

_LOT_ROWS = 500


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
        store_rows: takes rows of the match store's camera table, some seconds of them at a time.
    """
    sheet = feed.sheet()
    profile, mount = load_profile(), Mount(y_m=-(sheet.width_m / 2 + BEHIND_TOUCHLINE_M))
    head = HeadServer(profile).start()
    lots = _Lots(profile.name, store_rows)
    size_m = (sheet.length_m, sheet.width_m)
    controller = CameraController(feed, mount, profile, head.address, lots.add, size_m=size_m)
    feed.show_camera(lambda: CameraPose(profile.name, _aim(head.pose(), mount, profile, size_m)))
    controller.start()
    try:
        yield CameraRun(controller)
    finally:
        controller.stop()
        lots.flush()
        head.stop()


class _Lots:
    """Gathers rows, so that the store gets a file in ten seconds and not one in every half."""

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
            self._store_rows(pa.Table.from_pylist([_stored(self._head, row) for row in rows], schema=CAMERA))


def _stored(head: str, row: Row) -> dict[str, Any]:
    """A tick as the match store keeps it: wanted is the plan, the rest what the head achieved."""
    return {
        "at_us": row.ts_us,
        "head": head,
        "command": row.mode,
        "wanted_pan_deg": row.planned_pan_deg,
        "wanted_tilt_deg": row.planned_tilt_deg,
        "wanted_view_deg": row.planned_width_deg,
        "pan_deg": row.achieved_pan_deg,
        "tilt_deg": row.achieved_tilt_deg,
        "view_deg": row.achieved_width_deg,
        "detail": msgspec.json.encode(row).decode(),
    }


def _aim(pose: Pose, mount: Mount, profile: Profile, size_m: tuple[float, float]) -> Aim:
    footprint = mount.footprint(pose, profile.zoom.aspect, *size_m)
    return Aim(pose.pan_deg, pose.tilt_deg, pose.width_deg, tuple(footprint))
