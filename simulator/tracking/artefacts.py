"""Rates of artefacts in tracked frames, by one estimator for simulated and real files.

Nothing but positions is used, so a rate contains what play itself does: a ball at rest is frozen, too.
"""

from __future__ import annotations

import numpy as np

from football.packet_table import Floats
from football.recording import Recording
from simulator.runs import runs_of
from simulator.tracking.tracked_table import TrackedFrames

#: A ball or a player faster than this between two frames was moved by the system, m/s.
_BALL_M_S, _BODY_M_S = 42.0, 12.0
#: A ball stands still for at least so long.
_FROZEN_S = 0.2
#: On a straight line at constant speed: second difference per axis, with the rounding of centimetres.
_STRAIGHT_M, _MOVING_M_S = 0.021, 2.0


def artefacts_of(tracked: TrackedFrames) -> dict[str, float]:
    """Return the rates of artefacts of a tracked match; see :func:`_rates`."""
    return _rates(tracked.ts_us / 1e6, tracked.ball, tracked.bodies)


def artefacts_in(recording: Recording) -> dict[str, float]:
    """Return the rates of artefacts of a tracking file whose players are on its sheet."""
    times_us = np.unique(np.concatenate([track.ts_us for track in recording.tracks]))
    named = {player.object_id for player in recording.sheet.players}
    ball = np.full((len(times_us), 3), np.nan)
    bodies = np.full((len(times_us), len(named), 2), np.nan)
    column = 0
    for track in recording.tracks:
        at = np.searchsorted(times_us, track.ts_us)
        if track.transmitter == "ball":
            ball[at] = np.stack([track.x_m, track.y_m, track.z_m], axis=1)
        elif track.transmitter in named:
            bodies[at, column] = np.stack([track.x_m, track.y_m], axis=1)
            column += 1
    return _rates(times_us / 1e6, ball, bodies)


def _rates(times_s: Floats, ball: Floats, bodies: Floats) -> dict[str, float]:
    """Return rates by name; a share is of frames, ``_per_min`` of a minute (of a player, for players).

    Args:
        times_s: (n,) of the frames.
        ball: (n, 3), NaN where it has no row.
        bodies: (n, players, 2), NaN where a player has no row.
    """
    steps_s = np.diff(times_s)
    step_s = float(np.median(steps_s))
    minutes = max(float(times_s[-1] - times_s[0]) / 60.0, 1e-9)
    flat = np.round(ball[:, :2], 2)
    moved_m = np.hypot(*np.diff(flat, axis=0).T)
    frozen = np.isfinite(moved_m) & (moved_m < 0.001)
    lengths_s = np.array([end - begin for begin, end in runs_of(frozen)]) * step_s
    speed_m_s = moved_m / steps_s
    turn_m = np.abs(np.diff(flat, 2, axis=0)).max(axis=1)
    moving = np.isfinite(turn_m) & (np.nan_to_num(speed_m_s[1:]) > _MOVING_M_S)
    body_m_s = np.hypot(*np.moveaxis(np.diff(bodies, axis=0), 2, 0)) / steps_s[:, None]
    there = np.isfinite(bodies[:, :, 0])
    player_minutes = max(there.sum() * step_s / 60.0, 1e-9)
    return {
        "frames_missing_share": 1.0 - len(times_s) * step_s / (minutes * 60.0 + step_s),
        "ball_missing_share": float(np.mean(~np.isfinite(ball[:, 0]))),
        "ball_frozen_share": float(frozen.mean()),
        "ball_frozen_per_min": float((lengths_s >= _FROZEN_S).sum()) / minutes,
        "ball_jumps_per_min": float((np.nan_to_num(speed_m_s) > _BALL_M_S).sum()) / minutes,
        "ball_straight_share": float((turn_m[moving] <= _STRAIGHT_M).mean()) if moving.any() else 0.0,
        "ball_on_ground_share": float(np.mean(np.nan_to_num(ball[:, 2]) < 0.005)),
        "players_per_frame": float(there.sum(axis=1).mean()),
        "player_jumps_per_min": float((np.nan_to_num(body_m_s) > _BODY_M_S).sum() / player_minutes),
    }
