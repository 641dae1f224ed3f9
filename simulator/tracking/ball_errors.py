"""Errors of a tracked ball: keyframes, noise, heights, freezing, teleports, smoothing, loss, players in the way."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import gaussian_filter1d

from football.constants import BALL_RADIUS_M, GRAVITY_M_S2
from football.packet_table import Floats
from simulator.runs import runs_of
from simulator.tracking.chance import Chance, covered, each, spans, wander
from simulator.tracking.profile import Ball, Hidden, Keys
from simulator.tracking.true_frames import TrueFrames

#: A flight: the ball is so far off the ground.
_FLYING_M = 0.35
#: Time constant of the height that is measured of a ball on the ground.
_GROUND_S = 0.5


def spoil_ball(true: TrueFrames, ball: Ball, rate_hz: int, chance: Chance) -> Floats:
    """Return (n, 3) the ball as it is tracked; NaN throughout where it is lost, NaN height where it has none."""
    count = len(true)
    path = true.ball.copy() if ball.keys is None else _keyed(true, ball.keys, rate_hz, chance)
    path = _with_noise(path, ball, rate_hz, chance)
    _set_heights(path, ball, rate_hz, chance)
    everywhere = np.ones(count, bool)
    for span in spans(ball.teleports, everywhere, rate_hz, chance, "ball.teleports"):
        assert ball.teleports is not None
        rng = chance.stream(f"ball.teleports at {span.start}")
        angle, metres = rng.uniform(0.0, 2.0 * np.pi), each(ball.teleports.metres, rng)
        path[span, :2] += metres * np.array([np.cos(angle), np.sin(angle)])
    for name, error, where in (("frozen", ball.frozen, true.in_play), ("frozen_dead", ball.frozen_dead, ~true.in_play)):
        for span in spans(error, where, rate_hz, chance, f"ball.{name}"):
            path[span] = path[span.start]
    if (smoothing_s := chance.value(ball.smoothing_s, "ball.smoothing_s")) > 0.0:
        path = gaussian_filter1d(path, smoothing_s * rate_hz, axis=0, mode="nearest")
    return _without_lost(path, true, ball, rate_hz, chance)


def _with_noise(path: Floats, ball: Ball, rate_hz: int, chance: Chance) -> Floats:
    jitter_m = chance.value(ball.jitter_m, "ball.jitter_m")
    error_m = chance.value(ball.error_m, "ball.error_m")
    error_s = chance.value(ball.error_s, "ball.error_s")
    path = path.copy()
    path[:, :2] += jitter_m * chance.stream("ball.jitter").standard_normal((len(path), 2))
    path[:, :2] += wander((len(path), 2), error_m, error_s, rate_hz, chance.stream("ball.error"))
    return path


def _set_heights(path: Floats, ball: Ball, rate_hz: int, chance: Chance) -> None:
    """Bring the heights of a path to what the profile measures of them: above the ground, not of the centre."""
    height = np.maximum(path[:, 2] - BALL_RADIUS_M, 0.0)
    if ball.height != "measured":
        path[:, 2] = 0.0 if ball.height == "zero" else np.nan
        return
    rng = chance.stream("ball.height")
    height *= chance.value(ball.height_factor, "ball.height_factor")
    flying = height > _FLYING_M
    height[flying] += chance.value(ball.height_error_m, "ball.height_error_m") * rng.standard_normal(int(flying.sum()))
    flat_share = chance.value(ball.flat_share, "ball.flat_share")
    for begin, end in runs_of(flying):
        if rng.random() < flat_share:
            height[begin:end] = 0.0
    ground_m = chance.value(ball.ground_height_m, "ball.ground_height_m")
    rolling = wander((len(height),), ground_m, _GROUND_S, rate_hz, chance.stream("ball.ground_height"))
    height = np.where(height > _FLYING_M, height, height + rolling)
    path[:, 2] = np.maximum(height, 0.0)


def _without_lost(path: Floats, true: TrueFrames, ball: Ball, rate_hz: int, chance: Chance) -> Floats:
    lost = spans(ball.lost, true.in_play, rate_hz, chance, "ball.lost")
    lost += spans(ball.lost_dead, ~true.in_play, rate_hz, chance, "ball.lost_dead")
    lost += _hidden(true, ball.hidden, chance)
    if ball.lost_as == "held":
        for span in sorted(lost, key=lambda span: span.start):
            path[span] = path[max(span.start - 1, 0)]
    else:
        path[covered(lost, len(path))] = np.nan if ball.lost_as == "absent" else 0.0
    if ball.dead != "tracked":
        path[~true.in_play] = np.nan if ball.dead == "absent" else 0.0
    return path


def _hidden(true: TrueFrames, hidden: Hidden | None, chance: Chance) -> list[slice]:
    """Return the frames of each time that the ball is hidden behind the player next to it."""
    if hidden is None:
        return []
    near_m = chance.value(hidden.within_m, "ball.hidden.within_m")
    away_m = np.hypot(*np.moveaxis(true.bodies[:, :, :2] - true.ball[:, None, :2], 2, 0))
    times = runs_of((away_m < near_m).any(axis=1))
    share = chance.value(hidden.share, "ball.hidden.share")
    drawn = chance.stream("ball.hidden").random(len(times)) < share
    return [slice(*time) for time, is_hidden in zip(times, drawn, strict=True) if is_hidden]


# -- keyframes ----------------------------------------------------------------------------------------------------


def _keyed(true: TrueFrames, keys: Keys, rate_hz: int, chance: Chance) -> Floats:
    """Return the ball on straight lines at constant speed between keys; heights are parabolas between bounces."""
    rng = chance.stream("ball.keys")
    touched = true.touches
    missed_share = chance.value(keys.missed_share, "ball.keys.missed_share")
    touched = touched[rng.random(len(touched)) >= missed_share]
    times_s = true.ts_us / 1e6
    tolerance_m = chance.value(keys.tolerance_m, "ball.keys.tolerance_m")
    at = np.unique(np.clip(np.searchsorted(times_s, touched[:, 0]), 0, len(times_s) - 1))
    at = np.unique(np.concatenate([[0], at, [len(times_s) - 1]]))
    keyed = _with_keys_where_needed(true.ball[:, :2], at, tolerance_m)
    error_m = chance.value(keys.error_m, "ball.keys.error_m")
    error_s = chance.value(keys.error_s, "ball.keys.error_s")
    key_s = times_s[keyed] + error_s * rng.standard_normal(len(keyed))
    key_s = np.maximum.accumulate(np.clip(key_s, times_s[0], times_s[-1]))
    key_s += np.arange(len(key_s)) * 1e-6
    error = error_m * rng.standard_normal((len(keyed), 2))
    resting = np.flatnonzero(np.hypot(*np.diff(true.ball[keyed, :2], axis=0).T) < 0.3) + 1
    for key in resting.tolist():
        error[key] = error[key - 1]
    places = true.ball[keyed, :2] + error
    flat = [np.interp(times_s, key_s, places[:, axis]) for axis in (0, 1)]
    return np.stack([*flat, _parabolas(true.ball[:, 2], keyed, times_s)], axis=1)


def _with_keys_where_needed(path: Floats, at: np.ndarray, tolerance_m: float) -> np.ndarray:
    """Return frames with keys: the given ones, and others until straight lines are nowhere further off."""
    keys = [int(at[0])]
    stack = [(int(a), int(b)) for a, b in zip(at[-2::-1], at[:0:-1], strict=True)]
    while stack:
        begin, end = stack.pop()
        share = np.linspace(0.0, 1.0, end - begin + 1)[:, None]
        line = path[begin] * (1.0 - share) + path[end] * share
        off_m = np.hypot(*(path[begin : end + 1] - line).T)
        worst = int(off_m.argmax())
        if off_m[worst] > tolerance_m and 0 < worst < end - begin:
            stack += [(begin + worst, end), (begin, begin + worst)]
        else:
            keys.append(end)
    return np.array(keys)


def _parabolas(height: Floats, keyed: np.ndarray, times_s: Floats) -> Floats:
    """Return heights as a computer draws them from key to key: free flight where the ball left the ground."""
    drawn = np.full(len(height), BALL_RADIUS_M)
    for begin, end in zip(keyed[:-1].tolist(), keyed[1:].tolist(), strict=True):
        part = slice(begin, end + 1)
        if height[part].max() < 2 * BALL_RADIUS_M + _FLYING_M:
            continue
        since_s = times_s[part] - times_s[begin]
        whole_s = max(float(since_s[-1]), 1e-6)
        ends = height[begin] + (height[end] - height[begin]) * since_s / whole_s
        bow = 0.5 * GRAVITY_M_S2 * since_s * (whole_s - since_s)
        top = float(height[part].max())
        drawn[part] = np.minimum(ends + bow, np.maximum(top, ends))
    return drawn
