"""Frames: what moves on the page, taken once for all open pages, and how each differs from the frame before.

A message to a page that has the frame before holds differences only: whole centimetres, most of them one or two digits.
Decision 057 says why they are JSON.
"""

from __future__ import annotations

from typing import Final

import msgspec

from dashboard.feed import Aim, CameraPose, Feed
from football.update_stream import View

#: A position that is older than this, in event time, is marked as old.
OLD_US: Final = 1_000_000


class Frame(msgspec.Struct, frozen=True, gc=False):
    """The clocks, positions and cameras of one moment.

    Attributes:
        number: of the frame; each that differs from the one before has the next.
        version: of the timeline at that moment.
        ids: objects with a position, the ball not included; None before the first positions.
        cm: x and y of each of ``ids`` in centimetres, then x, y and z of the ball if its position is known.
        old: indices in ``ids`` of the positions that are older than ``OLD_US``.
        moved: ``cm`` less that of the frame before; None if the frames have different objects.
        is_seen: True if the positions are those of the frame before, and as old.
        are_cameras_seen: True if the cameras are those of the frame before.
    """

    number: int
    now_us: int
    version: int
    ended: bool
    clock_us: int | None
    ids: tuple[str, ...] | None
    cm: tuple[int, ...]
    old: tuple[int, ...]
    cameras: tuple[CameraPose, ...]
    moved: tuple[int, ...] | None = None
    is_seen: bool = False
    are_cameras_seen: bool = False


def frame_of(feed: Feed, version: int, before: Frame | None) -> Frame:
    """Return the frame of this moment: ``before`` itself if nothing has changed."""
    view, cameras = feed.latest_view(), tuple(_rounded(pose) for pose in feed.cameras())
    clock_us = view.ts_us if view is not None else None
    clocks = feed.now_us(), version, feed.ended()
    if before is None:
        return Frame(1, *clocks, clock_us, *_positions(view), cameras)
    are_cameras_seen = cameras == before.cameras
    if clock_us == before.clock_us:
        if clocks == (before.now_us, before.version, before.ended) and are_cameras_seen:
            return before
        positions = before.ids, before.cm, before.old
        return Frame(before.number + 1, *clocks, clock_us, *positions, cameras, None, True, are_cameras_seen)
    ids, cm, old = _positions(view)
    same = ids == before.ids and len(cm) == len(before.cm)
    moved = tuple(now - then for now, then in zip(cm, before.cm, strict=True)) if same else None
    return Frame(before.number + 1, *clocks, clock_us, ids, cm, old, cameras, moved, False, are_cameras_seen)


def _positions(view: View | None) -> tuple[tuple[str, ...] | None, tuple[int, ...], tuple[int, ...]]:
    if view is None:
        return None, (), ()
    players, ball = view.players, view.ball
    cm = [round(100 * value) for body in players for value in (body.x_m, body.y_m)]
    if ball is not None:
        cm += round(100 * ball.x_m), round(100 * ball.y_m), round(100 * ball.z_m)
    old = tuple(number for number, body in enumerate(players) if view.ts_us - body.ts_us > OLD_US)
    return tuple(body.object_id for body in players), tuple(cm), old


def _rounded(pose: CameraPose) -> CameraPose:
    """The pose to the hundredth of a degree and to the centimetre: a page draws nothing finer."""
    return msgspec.structs.replace(pose, achieved=_rounded_aim(pose.achieved), planned=_rounded_aim(pose.planned))


def _rounded_aim(aim: Aim | None) -> Aim | None:
    if aim is None:
        return None
    corners = tuple((round(x_m, 2), round(y_m, 2)) for x_m, y_m in aim.footprint)
    return Aim(round(aim.pan_deg, 2), round(aim.tilt_deg, 2), round(aim.width_deg, 2), corners)
