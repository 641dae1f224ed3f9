"""Arrow schemas of the tables that a match leaves: updates, events, positions, quarantine, camera."""

from __future__ import annotations

import pyarrow as pa

_STRINGS = pa.list_(pa.string())

UPDATES = pa.schema(
    [
        ("seq", pa.int64()),
        ("diff", pa.int8()),
        ("emitted_us", pa.int64()),
        ("epoch", pa.int64()),
        ("id", pa.string()),
        ("kind", pa.string()),
        ("variant", pa.string()),
        ("level", pa.int16()),
        ("ts_us", pa.int64()),
        ("team", pa.string()),
        ("player", pa.string()),
        ("x_m", pa.float64()),
        ("y_m", pa.float64()),
        ("z_m", pa.float64()),
        ("confidence", pa.float64()),
        ("lag_us", pa.int64()),
        ("causes", _STRINGS),
        ("detail", pa.string()),
    ]
)

POSITIONS = pa.schema(
    [
        ("ts_us", pa.int64()),
        ("object_id", pa.string()),
        ("team", pa.string()),
        ("x_m", pa.float32()),
        ("y_m", pa.float32()),
        ("z_m", pa.float32()),
        ("vx_m_s", pa.float32()),
        ("vy_m_s", pa.float32()),
        ("vz_m_s", pa.float32()),
    ]
)

QUARANTINE = pa.schema(
    [
        ("record", pa.string()),
        ("transmitter", pa.string()),
        ("sequence", pa.int64()),
        ("ts_us", pa.int64()),
        ("reason", pa.string()),
        ("raw", pa.string()),
    ]
)

#: Rows of a camera, as ``camera.record.Row`` says; ``head`` tells whose.
CAMERA = pa.schema(
    [
        ("head", pa.string()),
        ("wall_us", pa.int64()),
        ("ts_us", pa.int64()),
        ("mode", pa.string()),
        ("target_pan_deg", pa.float64()),
        ("target_tilt_deg", pa.float64()),
        ("planned_pan_deg", pa.float64()),
        ("planned_tilt_deg", pa.float64()),
        ("planned_width_deg", pa.float64()),
        ("commanded_pan_deg_s", pa.float64()),
        ("commanded_tilt_deg_s", pa.float64()),
        ("achieved_pan_deg", pa.float64()),
        ("achieved_tilt_deg", pa.float64()),
        ("achieved_width_deg", pa.float64()),
        ("ball_pan_deg", pa.float64()),
        ("ball_tilt_deg", pa.float64()),
        ("ball_distance_m", pa.float64()),
        ("framed", pa.bool_()),
    ]
)

#: Columns that come first in every export, in this order; the payload follows.
HEAD = (
    "id",
    "kind",
    "variant",
    "level",
    "ts_us",
    "team",
    "player",
    "x_m",
    "y_m",
    "state",
    "confidence",
    "detected_us",
)

PAYLOAD = ("z_m", "lag_us", "causes", "detail")

_OWN = {"state": pa.string(), "detected_us": pa.int64()}

EVENTS = pa.schema([(n, _OWN[n] if n in _OWN else UPDATES.field(n).type) for n in (*HEAD, *PAYLOAD)])
