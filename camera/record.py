"""The record of a camera, 50 rows a second, and its columns in the match store."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pyarrow as pa


class Row(msgspec.Struct, frozen=True, gc=False):
    """One tick of a camera. ``camera.mount`` has the conventions of its angles.

    Attributes:
        wall_us: wall time of the tick.
        ts_us: the stream's clock at the tick.
        mode: ``follow``, ``hold`` (dead zone) or ``stop`` (no new view); ``offline`` while the head does not answer or
            is brought to a standstill.
        target_*: direction of the interest before smoothing.
        planned_*: the smooth movement.
        commanded_*: speed of the drive command in force.
        achieved_*: pose that the head reported, extrapolated by its model between two reports; None while offline.
        ball_*: direction and distance of the ball, extrapolated to this tick; None without a ball.
        framed: the ball is inside the achieved picture.
    """

    wall_us: int
    ts_us: int
    mode: str
    target_pan_deg: float
    target_tilt_deg: float
    planned_pan_deg: float
    planned_tilt_deg: float
    planned_width_deg: float
    commanded_pan_deg_s: float
    commanded_tilt_deg_s: float
    achieved_pan_deg: float | None
    achieved_tilt_deg: float | None
    achieved_width_deg: float | None
    ball_pan_deg: float | None
    ball_tilt_deg: float | None
    ball_distance_m: float | None
    framed: bool


_TYPES = {"wall_us": pa.int64(), "ts_us": pa.int64(), "mode": pa.string(), "framed": pa.bool_()}

#: Columns of the match store's camera table.
CAMERA_SCHEMA = pa.schema([(name, _TYPES.get(name, pa.float64())) for name in Row.__struct_fields__])


def camera_table(rows: Sequence[Row]) -> pa.Table:
    """Return rows as an Arrow table with ``CAMERA_SCHEMA``."""
    columns = [[getattr(row, name) for row in rows] for name in CAMERA_SCHEMA.names]
    return pa.table(dict(zip(CAMERA_SCHEMA.names, columns, strict=True)), schema=CAMERA_SCHEMA)
