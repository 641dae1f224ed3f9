"""Order, zero, unit and periods of the times of a file's rows.

The order of the rows in a file means nothing, other than that of records on a line. So a file whose rows are out of
order throughout is sorted, with a finding that says so; single rows that go back in time stay where they are, and the
validation refuses them.
"""

from __future__ import annotations

import dataclasses
from itertools import pairwise

import numpy as np

from football.errors import TrackingError
from football.input_quality import InputFinding
from football.match_sheet import PERIODS_MAX
from football.packet_table import Ints
from football.packets import raw_kind
from football.recording import Track

#: Share of all rows, and number of them, that may go back in time before a file counts as unsorted.
MISPLACED_SHARE, MISPLACED_ROWS = 0.01, 20

#: Median step between two positions of an object that a tracking system can have, in microseconds: 2,000 Hz, and one
#: position in ten seconds.
STEP_MIN_US, STEP_MAX_US = 500, 10_000_000

#: A shorter file is not judged by shares: ``least_span_s`` of the limits of inputs.
SHORT_US = 5_000_000

#: Share of an object's rows that repeat a time from which its times count as rounded, and share of such objects.
_REPEATED_SHARE, _OBJECTS_SHARE = 0.5, 0.5


def check_unit(where: object, tracks: tuple[Track, ...]) -> None:
    """Refuse times of another unit than milliseconds.

    Raises:
        TrackingError: steps that no tracking system has; the message has the likely unit and the mend.
    """
    steps = [np.diff(np.unique(track.ts_us)) for track in tracks]
    known = [float(np.median(step)) for step in steps if len(step)]
    if not known:
        return
    step_us = float(np.median(known))
    if step_us < STEP_MIN_US:
        _refuse(
            where, f"{1e6 / max(step_us, 1e-3):,.0f} positions a second of one object", "seconds", "multiply it by 1000"
        )
    if step_us > STEP_MAX_US:
        is_nano = step_us > 1_000 * STEP_MAX_US
        unit, divisor = ("nanoseconds", "1000000") if is_nano else ("microseconds", "1000")
        _refuse(where, f"{step_us / 1e6:,.0f} s between positions of one object", unit, f"divide it by {divisor}")
    rounded = sum(repeats(track.ts_us) > _REPEATED_SHARE * len(track) for track in tracks)
    if rounded > _OBJECTS_SHARE * len(tracks):
        _refuse(where, "most positions repeat a time", "whole seconds, or numbers of frames", "give milliseconds")


def check_restarts(where: object, tracks: tuple[Track, ...]) -> None:
    """Refuse times of the ball that begin anew, as in a second half that counts from its own kick-off.

    Raises:
        TrackingError: some long stretches of increasing times lie over each other; the message has the mend.
    """
    for track in tracks:
        begins = np.flatnonzero(np.diff(track.ts_us) < -STEP_MAX_US) + 1
        if raw_kind(track.transmitter) != "raw.ball" or not 0 < len(begins) < PERIODS_MAX:
            continue
        stretches = np.split(track.ts_us, begins)
        for before, after in pairwise(stretches):
            begin_us, end_us = np.quantile(before, (0.01, 0.99), method="lower")  # single times may be nonsense
            both = np.sum((after >= begin_us) & (after <= end_us))
            if both > max(MISPLACED_SHARE * len(track), MISPLACED_ROWS):
                found = f"its column t_ms begins anew at {after[0] / 1000:,.0f} after {before[-1] / 1000:,.0f}"
                mend = (
                    "times likely count from the beginning of each period: add the time at which it began, or give the"
                    " number of the period in a column period"
                )
                raise TrackingError(f"{where}: {found}: {mend}")


def _refuse(where: object, found: str, unit: str, mend: str) -> None:
    raise TrackingError(f"{where}: by its column t_ms, {found}: t_ms is likely in {unit}: {mend}")


def repeats(ts_us: Ints) -> int:
    """Number of rows whose time is there already."""
    return len(ts_us) - len(np.unique(ts_us))


def in_order(tracks: tuple[Track, ...]) -> tuple[tuple[Track, ...], tuple[InputFinding, ...]]:
    """Return tracks sorted by time if the file is unsorted throughout, with a finding; else unchanged."""
    total = sum(map(len, tracks))
    misplaced = sum(_misplaced(track) for track in tracks)
    if misplaced <= max(MISPLACED_SHARE * total, MISPLACED_ROWS):
        return tracks, ()
    found = f"{misplaced} of {total} rows are not in order of time; the file was sorted"
    ordered = tuple(track.part(np.argsort(track.ts_us, kind="stable")) for track in tracks)
    return ordered, (InputFinding("sorted", "note", found),)


def _misplaced(track: Track) -> int:
    """Number of rows off a track's time line; one that repeats the time of the row before it is in its place."""
    off = np.ones(len(track), np.bool_)
    off[track.line] = False
    off[1:] &= track.ts_us[1:] != track.ts_us[:-1]
    return int(np.sum(off))


def too_short(tracks: tuple[Track, ...]) -> tuple[InputFinding, ...]:
    """Return a finding if the tracks together last too short a time for their quality to be judged."""
    times_us = np.concatenate([track.ts_us for track in tracks])
    if (span_us := int(times_us.max() - times_us.min())) >= SHORT_US:
        return ()
    found = f"The positions are of {span_us / 1e6:.2f} s: too short a time to judge the input by"
    return (InputFinding("short", "note", found, "a file that was cut off"),)


def from_zero(tracks: tuple[Track, ...]) -> tuple[tuple[Track, ...], tuple[InputFinding, ...]]:
    """Return tracks whose times begin at zero if a good part of them lies before it, with a finding; else unchanged.

    Event time counts from the source's own zero and is never negative. Single rows before zero are nonsense, and stay.
    """
    total = sum(map(len, tracks))
    if sum(int(np.sum(track.ts_us < 0)) for track in tracks) <= max(MISPLACED_SHARE * total, MISPLACED_ROWS):
        return tracks, ()
    begin_us = min(int(track.ts_us[track.line[0]]) for track in tracks)
    moved = tuple(dataclasses.replace(track, ts_us=track.ts_us - begin_us) for track in tracks)
    found = f"Times begin at {begin_us / 1e6:,.1f} s; they are counted from there, {-begin_us / 1e6:,.1f} s later"
    return moved, (InputFinding("zero", "note", found, "times that count from the kick-off"),)
