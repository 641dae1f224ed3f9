"""Bands of a value that moves: told when one has been kept for a while, with a margin against flicker (pure)."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec


class Band(msgspec.Struct, frozen=True, gc=False):
    """The band told and the one now (-1: none yet), counted from 0, the lowest; and since when it is the one now."""

    told: int = -1
    now: int = -1
    since_us: int = 0


NO_BAND = Band()


def follow(band: Band, value: float, bounds: Sequence[float], margin: float, hold_us: int, ts_us: int) -> Band:
    """The band after one more value; ``told`` changes when a new one has been kept for ``hold_us``.

    Args:
        bounds: ascending; a value at a bound is above it.
        margin: a band is left this far beyond its bound.

    >>> band = follow(NO_BAND, 12.0, (10.0, 20.0), 1.0, 0, 5)
    >>> band.told, follow(band, 9.5, (10.0, 20.0), 1.0, 0, 6).told, follow(band, 8.9, (10.0, 20.0), 1.0, 0, 6).told
    (1, 1, 0)
    """
    now = 0
    for i, bound in enumerate(bounds):
        shift = 0.0 if band.now < 0 else -margin if band.now > i else margin
        now += value >= bound + shift
    since_us = band.since_us if now == band.now else ts_us
    told = now if ts_us - since_us >= hold_us else band.told
    return Band(told, now, since_us)
