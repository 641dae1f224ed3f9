"""Bands of a moving value: a band settles when it has lasted for a while, with a margin against flicker (pure)."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from detectors.decisions import About, note


class Band(msgspec.Struct, frozen=True, gc=False):
    """The settled band and the one now, counted from 0, the lowest (-1: none yet); and the begin of the one now."""

    settled: int = -1
    now: int = -1
    since_us: int = 0


NO_BAND = Band()


def follow(band: Band, value: float, bounds: Sequence[float], margin: float, hold_us: int, ts_us: int) -> Band:
    """The band after one more value; ``settled`` changes when a new band has lasted for ``hold_us``.

    Args:
        band: the band so far.
        value: the new value.
        bounds: ascending; a value at a bound is above it.
        margin: a band is left this far beyond its bound.
        hold_us: time after which a band settles.
        ts_us: event time of the value.

    >>> band = follow(NO_BAND, 12.0, (10.0, 20.0), 1.0, 0, 5)
    >>> band.settled, follow(band, 9.5, (10.0, 20.0), 1.0, 0, 6).settled, follow(band, 8.9, (10.0, 20.0), 1.0, 0,
    6).settled (1, 1, 0)
    """
    now = 0
    for i, bound in enumerate(bounds):
        shift = 0.0 if band.now < 0 else -margin if band.now > i else margin
        now += value >= bound + shift
    since_us = band.since_us if now == band.now else ts_us
    settled = now if ts_us - since_us >= hold_us else band.settled
    return Band(settled, now, since_us)


def note_band(
    band: Band,
    what: str,
    value: float,
    bounds: Sequence[float],
    paths: Sequence[str],
    margin: float = 0.0,
    about: About = (),
) -> None:
    """Note the bounds between which a settled value lies; ``paths``: their parameters."""
    for i, (bound, path) in enumerate(zip(bounds, paths, strict=True)):
        if i == band.settled - 1:
            note(what, value, "at least", bound - margin, path, about)
        if i == band.settled:
            note(what, value, "at most", bound + margin, path, about)


def note_hold(band: Band, ts_us: int, hold_us: int, path: str, about: About = ()) -> None:
    """Note the time that a settled band has lasted; ``path``: its parameter."""
    note("time that it held", ts_us - band.since_us, "at least", hold_us, path, about)
