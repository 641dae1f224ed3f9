"""How much a source has smoothed the ball's positions, measured from how its hardest turns look.

A foot changes the ball's velocity within 10 ms, so the second difference of measured positions is one peak, between two
frames at most. A filter spreads it: the mean shape of the hardest turns is the filter's own shape. A Gaussian of the
same width stands for it, whatever the filter was.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from football.input_quality import InputFinding
from football.match_sheet import SMOOTHING_MAX_S
from football.packets import raw_kind
from football.recording import Track

Floats = npt.NDArray[np.float64]

#: Turns are looked at that lie between these quantiles of all: harder ones are jumps of a wrong position.
_HARD = (0.9, 0.99)
#: So many frames around a turn, and so many turns at least.
_REACH, _TURNS_MIN = 12, 12
#: A width of less, in frames, is that of a turn between two frames.
_FRAMES_MIN = 0.8
#: The widest that is told from how a ball bends by itself, in frames.
_FRAMES_MAX = 8.0
#: Widths that are tried, in frames.
_TRIED = np.arange(0.1, _FRAMES_MAX + 0.05, 0.05)


def ball_smoothing(tracks: Iterable[Track]) -> tuple[float, tuple[InputFinding, ...]]:
    """Return the smoothing of the longest track of a ball in seconds, as :func:`smoothing_s`, with a finding if any."""
    track = max((track for track in tracks if raw_kind(track.transmitter) == "raw.ball"), key=len, default=None)
    measured_s = 0.0 if track is None else smoothing_s(track)
    if not measured_s:
        return 0.0, ()
    found = f"The ball is smoothed, as by a Gaussian of {measured_s:.2f} s, and its contacts are sought accordingly"
    return measured_s, (
        InputFinding("smoothed", "note", found, "a filter", "Positions as they were measured say more"),
    )


def smoothing_s(track: Track) -> float:
    """Return the standard deviation in seconds of the filter that a ball's positions have gone through.

    0 if there is none, or if the track has too few hard turns to tell.
    """
    line = track.line
    if len(line) <= 4 * _REACH:
        return 0.0
    ts_us = track.ts_us[line]
    steps_us = np.diff(ts_us)
    period_us = float(np.median(steps_us))
    bends_m = np.diff(np.column_stack([track.x_m[line], track.y_m[line]]), n=2, axis=0)
    sizes_m = np.hypot(bends_m[:, 0], bends_m[:, 1])
    uneven = (np.abs(steps_us - period_us) > 0.3 * period_us).astype(np.float64)
    known = np.isfinite(sizes_m) & (np.convolve(uneven, np.ones(2 * _REACH + 3), "same")[1:] == 0.0)
    sizes_m[~known] = -1.0
    turns = _turns(sizes_m)
    if not len(turns):
        return 0.0
    least_m, most_m = np.quantile(sizes_m[turns], _HARD)
    hard = turns[(sizes_m[turns] >= least_m) & (sizes_m[turns] <= most_m)]
    if len(hard) < _TURNS_MIN:
        return 0.0
    around = hard[:, None] + np.arange(-_REACH, _REACH + 1)
    along = np.einsum("tka,ta->tk", bends_m[around], bends_m[hard]) / sizes_m[hard, None] ** 2
    shape = np.median(along, axis=0)
    frames = _width(0.5 * (shape[_REACH:] + shape[_REACH::-1]))
    return min(round(frames * period_us * 1e-6, 4), SMOOTHING_MAX_S) if frames >= _FRAMES_MIN else 0.0


def _turns(sizes_m: Floats) -> npt.NDArray[np.int64]:
    """Indexes of second differences that are the greatest of those around them, of which all are known."""
    around = np.lib.stride_tricks.sliding_window_view(sizes_m, 2 * _REACH + 1)
    is_greatest = (around[:, _REACH] > 0.0) & (around[:, _REACH] == around.max(axis=1))
    return np.flatnonzero(is_greatest & (around.min(axis=1) >= 0.0)) + _REACH


def _width(shape: Floats) -> float:
    """Standard deviation, in frames, of the Gaussian that is nearest to a shape from its peak on."""
    lags = np.arange(len(shape))
    tried = np.exp(-0.5 * (lags[None, :] / _TRIED[:, None]) ** 2)
    return float(_TRIED[np.argmin(((tried - shape[None, :]) ** 2).sum(axis=1))])
