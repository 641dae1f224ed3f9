"""Figures of the quality of steering, from recorded columns. Pure numpy.

A device reports its angles in steps (0.02 degrees on the BRC-X400); three differences over 20 ms turn such a step
into a jerk of thousands. Speeds, accelerations and jerks are therefore those of a cubic fitted over ``WINDOW_S``, for
planned and achieved movement alike. Exact movements (benchmarks) may use ``exact_jerk``.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

TICK_S = 0.02
WINDOW_S = 0.5
#: A hole in the record longer than this ends a piece of movement.
HOLE_S = 0.2
#: Slower than this is still; a reversal must exceed it both ways.
STILL_DEG_S = 0.05
REVERSAL_DEG_S = 0.3


def camera_figures(columns: Mapping[str, Floats]) -> dict[str, float]:
    """Return the figures of one camera's record; empty if there are no rows with a ball and a pose.

    Args:
        columns: of ``camera.record.Row``: ``wall_us``, ``achieved_pan_deg``, ``achieved_tilt_deg``,
            ``planned_pan_deg``, ``ball_*`` and ``framed`` as float arrays of one length, NaN where unknown.

    Returns:
        ``framed_share``; ``aim_rms_deg``, ``aim_p95_deg``, ``aim_p95_m`` (achieved against the ball);
        ``pan_accel_rms_deg_s2``, ``pan_jerk_rms_deg_s3`` and the same with ``planned_``; ``jerk_ratio``;
        ``reversals_per_min``; ``still_share``; ``rows``.
    """
    aimed = np.isfinite(columns["achieved_pan_deg"]) & np.isfinite(columns["ball_pan_deg"])
    if not aimed.any():
        return {}
    directions = ("achieved_pan_deg", "achieved_tilt_deg", "ball_pan_deg", "ball_tilt_deg")
    error_deg = aim_error_deg(*(columns[name][aimed] for name in directions))
    error_m = np.tan(np.radians(np.minimum(error_deg, 89.0))) * columns["ball_distance_m"][aimed]
    figures = {
        "rows": float(len(aimed)),
        "framed_share": float(columns["framed"][aimed].mean()),
        "aim_rms_deg": rms(error_deg),
        "aim_p95_deg": float(np.quantile(error_deg, 0.95)),
        "aim_p95_m": float(np.quantile(error_m, 0.95)),
    }
    posed = np.isfinite(columns["achieved_pan_deg"])
    wall_s = columns["wall_us"][posed] / 1e6
    achieved = derivatives(wall_s, columns["achieved_pan_deg"][posed])
    planned = derivatives(wall_s, columns["planned_pan_deg"][posed])
    if achieved.shape[1] == 0:
        return figures
    minutes = achieved.shape[1] * TICK_S / 60
    figures |= {
        "pan_accel_rms_deg_s2": rms(achieved[1]),
        "pan_jerk_rms_deg_s3": rms(achieved[2]),
        "planned_pan_accel_rms_deg_s2": rms(planned[1]),
        "planned_pan_jerk_rms_deg_s3": rms(planned[2]),
        "jerk_ratio": rms(achieved[2]) / max(rms(planned[2]), 1e-9),
        "reversals_per_min": reversals(achieved[0]) / minutes,
        "still_share": float((np.abs(achieved[0]) < STILL_DEG_S).mean()),
    }
    return figures


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
    """Return rows speed, acceleration, jerk on an even grid of ``TICK_S``; pieces between holes follow each other."""
    count = 2 * round(WINDOW_S / TICK_S / 2) + 1
    grid = (np.arange(count) - count // 2) * TICK_S
    fit = np.linalg.pinv(np.vander(grid, 4, increasing=True))
    pieces: list[Floats] = []
    for part in np.split(np.arange(len(time_s)), np.flatnonzero(np.diff(time_s) > HOLE_S) + 1):
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
