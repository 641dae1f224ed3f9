"""Figures of the quality of steering, from recorded rows.

A device reports its angles in steps (0.02 degrees on the BRC-X400); three differences over 20 ms turn such a step
into a jerk of thousands. Speeds, accelerations and jerks are therefore those of a cubic fitted over ``WINDOW_S``, for
planned and achieved movement alike. Exact movements (benchmarks) may use ``exact_jerk``.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from camera.record import Row

Floats = npt.NDArray[np.float64]

TICK_S = 0.02
WINDOW_S = 0.5
#: A gap in the record longer than this ends a piece of movement.
GAP_S = 0.2
#: A slower camera counts as still. A reversal counts if both directions exceed the second speed.
STILL_DEG_S = 0.05
REVERSAL_DEG_S = 0.3
#: A ball that pans faster than this, over ``WINDOW_S``, moves on: the picture should have lead room.
MOVES_ON_DEG_S = 2.0

#: Rows that are held until they are added to the sums: two minutes. At each such cut, the derivatives lack a window.
FOLD_ROWS = 6_000
#: Quantiles come from a histogram whose bins are this much wider than the ones before them, from ``BINS_BEGIN`` up.
BIN_RATIO, BINS_BEGIN, BINS = 1.002, 1e-3, 9_000

#: Columns of a row that the figures are made of.
_COLUMNS = (
    "wall_us",
    "planned_pan_deg",
    "achieved_pan_deg",
    "achieved_tilt_deg",
    "achieved_width_deg",
    "ball_pan_deg",
    "ball_tilt_deg",
    "ball_distance_m",
    "framed",
)

#: Sums over a record, by name; those of two records add up.
Sums = dict[str, Any]


class CameraFigures:
    """Figures of one camera's record of any length, in bounded memory."""

    def __init__(self) -> None:
        self._columns = {name: array("d") for name in _COLUMNS}
        self._sums: Sums = {}

    def add(self, row: Row) -> None:
        """Adds the next row."""
        for name, values in self._columns.items():
            value = getattr(row, name)
            values.append(math.nan if value is None else value)
        if len(self._columns["framed"]) == FOLD_ROWS:
            self._sums = self._all()
            for values in self._columns.values():
                del values[:]

    def figures(self) -> dict[str, float]:
        """Returns the figures of the rows so far; empty if no row has a ball and a pose.

        ``framed_share``; ``aim_rms_deg``, ``aim_p95_deg``, ``aim_p95_m`` (achieved against the ball; quantiles to
        0.1 %); ``quantisation_rms_deg`` (achieved against planned pan: what speed steps and link leave);
        ``lead_room`` (mean distance of the picture's middle ahead of a ball that moves on, as a share of its
        width; negative if it trails); ``pan_accel_rms_deg_s2``, ``pan_jerk_rms_deg_s3`` and the same with
        ``planned_``; ``jerk_ratio``; ``reversals_per_min``; ``still_share``; ``rows``.
        """
        sums = self._all()
        aimed, count = sums["aimed"], sums["samples"]
        if not aimed:
            return {}
        figures = {
            "rows": float(sums["rows"]),
            "framed_share": sums["framed"] / aimed,
            "aim_rms_deg": math.sqrt(sums["error_deg2"] / aimed),
            "aim_p95_deg": _quantile(sums["error_deg"], 0.95),
            "aim_p95_m": _quantile(sums["error_m"], 0.95),
        }
        figures["quantisation_rms_deg"] = math.sqrt(sums["fit_deg2"] / sums["posed"])
        if sums["moving"]:
            figures["lead_room"] = sums["room"] / sums["moving"]
        if count:
            accel, jerk = np.sqrt(sums["achieved2"] / count)[1:]
            planned_accel, planned_jerk = np.sqrt(sums["planned2"] / count)[1:]
            figures |= {
                "pan_accel_rms_deg_s2": float(accel),
                "pan_jerk_rms_deg_s3": float(jerk),
                "planned_pan_accel_rms_deg_s2": float(planned_accel),
                "planned_pan_jerk_rms_deg_s3": float(planned_jerk),
                "jerk_ratio": float(jerk / max(planned_jerk, 1e-9)),
                "reversals_per_min": sums["reversals"] / (count * TICK_S / 60),
                "still_share": sums["still"] / count,
            }
        return figures

    def _all(self) -> Sums:
        held = _sums({name: np.array(values) for name, values in self._columns.items()})
        return {name: value + self._sums.get(name, 0) for name, value in held.items()}


def _sums(columns: Mapping[str, Floats]) -> Sums:
    posed = np.isfinite(columns["achieved_pan_deg"])
    aimed = posed & np.isfinite(columns["ball_pan_deg"])
    directions = ("achieved_pan_deg", "achieved_tilt_deg", "ball_pan_deg", "ball_tilt_deg")
    error_deg = aim_error_deg(*(columns[name][aimed] for name in directions))
    error_m = np.tan(np.radians(np.minimum(error_deg, 89.0))) * columns["ball_distance_m"][aimed]
    wall_s = columns["wall_us"][posed] / 1e6
    achieved = derivatives(wall_s, columns["achieved_pan_deg"][posed])
    planned = derivatives(wall_s, columns["planned_pan_deg"][posed])
    fit_deg = columns["achieved_pan_deg"][posed] - columns["planned_pan_deg"][posed]
    room = _lead_room({name: values[aimed] for name, values in columns.items()})
    return {
        "posed": int(posed.sum()),
        "fit_deg2": float(np.square(fit_deg).sum()),
        "moving": len(room),
        "room": float(room.sum()),
        "rows": len(aimed),
        "aimed": int(aimed.sum()),
        "framed": float(columns["framed"][aimed].sum()),
        "error_deg2": float(np.square(error_deg).sum()),
        "error_deg": _histogram(error_deg),
        "error_m": _histogram(error_m),
        "samples": achieved.shape[1],
        "achieved2": np.square(achieved).sum(axis=1),
        "planned2": np.square(planned).sum(axis=1),
        "reversals": reversals(achieved[0]),
        "still": int((np.abs(achieved[0]) < STILL_DEG_S).sum()),
    }


def _lead_room(aimed: Mapping[str, Floats]) -> Floats:
    """Return how far the picture's middle is ahead of a ball that moves on, as shares of the picture's width."""
    window = round(WINDOW_S / TICK_S)
    pan, time_s = aimed["ball_pan_deg"], aimed["wall_us"] / 1e6
    if len(pan) <= window:
        return np.zeros(0)
    elapsed_s = time_s[window:] - time_s[:-window]
    speed = (pan[window:] - pan[:-window]) / np.maximum(elapsed_s, 1e-9)
    moving = (np.abs(speed) > MOVES_ON_DEG_S) & (elapsed_s < WINDOW_S + GAP_S)
    ahead = (aimed["achieved_pan_deg"] - pan)[window:] / aimed["achieved_width_deg"][window:]
    room: Floats = (np.sign(speed) * ahead)[moving]
    return room


def _histogram(values: Floats) -> npt.NDArray[np.int64]:
    bins = np.log(np.maximum(values, BINS_BEGIN) / BINS_BEGIN) / math.log(BIN_RATIO)
    return np.bincount(np.minimum(bins, BINS - 1).astype(np.int64), minlength=BINS)


def _quantile(histogram: npt.NDArray[np.int64], share: float) -> float:
    """Returns the middle of the bin that holds the quantile."""
    rank = int(np.searchsorted(histogram.cumsum(), share * histogram.sum()))
    return BINS_BEGIN * math.pow(BIN_RATIO, rank + 0.5)


def rms(values: Floats) -> float:
    """Return the root of the mean square; 0 for nothing."""
    return float(np.sqrt(np.mean(np.square(values)))) if len(values) else 0.0


def aim_error_deg(pan: Floats, tilt: Floats, ball_pan: Floats, ball_tilt: Floats) -> Floats:
    """Return the angle between the camera's direction and the ball's."""
    t, bt = np.radians(tilt), np.radians(ball_tilt)
    cosine = np.sin(t) * np.sin(bt) + np.cos(t) * np.cos(bt) * np.cos(np.radians(pan - ball_pan))
    error: Floats = np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0)))
    return error


def derivatives(time_s: Floats, angle_deg: Floats) -> Floats:
    """Return rows speed, acceleration, jerk on an even grid of ``TICK_S``; pieces between gaps are joined."""
    count = 2 * round(WINDOW_S / TICK_S / 2) + 1
    grid = (np.arange(count) - count // 2) * TICK_S
    fit = np.linalg.pinv(np.vander(grid, 4, increasing=True))
    pieces: list[Floats] = []
    for part in np.split(np.arange(len(time_s)), np.flatnonzero(np.diff(time_s) > GAP_S) + 1):
        if len(part) < 2 or time_s[part[-1]] - time_s[part[0]] < WINDOW_S + TICK_S:
            continue
        even_s = np.arange(time_s[part[0]], time_s[part[-1]], TICK_S)
        even = np.interp(even_s, time_s[part], angle_deg[part])
        if len(even) >= count:
            orders = ((1, 1), (2, 2), (3, 6))  # power of the cubic's term, and its factorial
            pieces.append(np.array([f * np.convolve(even, fit[k][::-1], "valid") for k, f in orders]))
    return np.concatenate(pieces, axis=1) if pieces else np.zeros((3, 0))


def exact_jerk(angle_deg: Floats, dt_s: float = TICK_S) -> Floats:
    """Return the third difference of an exact, evenly sampled movement."""
    return np.diff(angle_deg, 3) / dt_s**3


def reversals(speed: Floats) -> int:
    """Count turns of the movement from beyond +``REVERSAL_DEG_S`` to beyond its negative, or back."""
    directions = np.sign(speed[np.abs(speed) > REVERSAL_DEG_S])
    return int(np.count_nonzero(np.diff(directions)))
