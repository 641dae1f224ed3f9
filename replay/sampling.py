"""The nominal rate of transmitters, read off what they measured."""

from __future__ import annotations

import math

import numpy as np

from replay.recording import Ints, Track


def rate_hz(tracks: list[Track]) -> float:
    """Nominal rate of the longest of some tracks; 25 where nothing can be told."""
    steps: Ints = max((np.diff(t.ts_us[t.line]) for t in tracks), key=len, default=np.empty(0, np.int64))
    median_us = float(np.median(steps)) if len(steps) else math.nan
    return round(1e6 / median_us, 3) if median_us > 0 else 25.0
