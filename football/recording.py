"""A recording: the measurements of every transmitter, before anything was sent.

A :class:`Track` has all of one transmitter's positions in the order in which its source recorded them, bad ones
included: reading does not judge, :mod:`replay.block_validation` does. A track only decides which rows lie on the
transmitter's *time line*, the longest strictly increasing run of event times. Rows off it (time went backwards,
jumped ahead and came back, or was repeated) are sent in the packet of the row before them, where the validation can
see that time does not advance.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from football.input_quality import InputFinding
from football.match_sheet import MatchSheet
from football.packet_table import Floats, Ints
from football.packets import ALIVE_FLAG, RAW_KINDS, Packet, RejectedRecord, raw_kind

#: The alive flag is sent at each change and so often, for a packet may be lost.
FLAG_EVERY_US = 1_000_000


@dataclass(frozen=True, eq=False)
class Track:
    """Positions of one transmitter in recorded order; times in microseconds, positions in metres."""

    transmitter: str
    ts_us: Ints
    x_m: Floats
    y_m: Floats
    z_m: Floats

    def __post_init__(self) -> None:
        sizes = {len(self.ts_us), len(self.x_m), len(self.y_m), len(self.z_m)}
        assert len(sizes) == 1, f"{self.transmitter}: columns of different lengths"
        assert len(self.ts_us), f"{self.transmitter}: a track has at least one position"

    def __len__(self) -> int:
        """Number of positions."""
        return len(self.ts_us)

    @cached_property
    def line(self) -> Ints:
        """Indexes of the rows on the time line, ascending."""
        return time_line(self.ts_us)

    def part(self, rows: slice | npt.NDArray[np.bool_]) -> Track:
        """Some of the rows, in their order; at least one."""
        return Track(self.transmitter, self.ts_us[rows], self.x_m[rows], self.y_m[rows], self.z_m[rows])

    def packet(self, sequence: int, start: int, stop: int) -> Packet:
        """Rows ``start`` to ``stop`` (exclusive) as a packet."""
        return Packet(
            self.transmitter,
            sequence,
            tuple(self.ts_us[start:stop].tolist()),
            tuple(self.x_m[start:stop].tolist()),
            tuple(self.y_m[start:stop].tolist()),
            tuple(self.z_m[start:stop].tolist()),
        )


@dataclass(frozen=True, eq=False)
class Recording:
    """A match as its source recorded it.

    Attributes:
        sheet: match sheet with the input's quality.
        tracks: one per transmitter, in the canonical rank of their raw kinds, then by name.
        rejected: records of the source that no packet can hold.
        findings: what its reader has found, such as a missing match sheet.
    """

    sheet: MatchSheet
    tracks: tuple[Track, ...]
    rejected: tuple[RejectedRecord, ...] = ()
    findings: tuple[InputFinding, ...] = ()

    def __post_init__(self) -> None:
        names = [t.transmitter for t in self.tracks]
        assert names == sorted(set(names), key=track_order), "tracks in order, one per transmitter"

    @property
    def positions(self) -> int:
        """Number of positions."""
        return sum(len(track) for track in self.tracks if track.transmitter != ALIVE_FLAG)

    @property
    def begin_us(self) -> int:
        """Event time of the earliest position on a time line; 0 if there is none."""
        return min((int(t.ts_us[t.line[0]]) for t in self.tracks), default=0)

    @property
    def end_us(self) -> int:
        """Event time of the latest position on a time line; 0 if there is none."""
        return max((int(t.ts_us[t.line[-1]]) for t in self.tracks), default=0)


def flag_track(ts_us: Ints, alive: npt.NDArray[np.bool_]) -> Track | None:
    """The track of the alive flag: its changes, and once a second what it says; None without any.

    Args:
        ts_us: event times of the frames that have the flag, in any order.
        alive: the flag at each of them.
    """
    order = np.argsort(ts_us, kind="stable")
    ts_us, alive = ts_us[order], alive[order]
    kept: list[int] = []
    for index, (at_us, is_alive) in enumerate(zip(ts_us.tolist(), alive.tolist(), strict=True)):
        if not kept or at_us - ts_us[kept[-1]] >= FLAG_EVERY_US or is_alive != alive[kept[-1]]:
            kept.append(index)
    if not kept:
        return None
    nowhere_m = np.zeros(len(kept))
    return Track(ALIVE_FLAG, ts_us[kept], alive[kept].astype(np.float64), nowhere_m, nowhere_m)


def track_order(transmitter: str) -> tuple[int, str]:
    """Sort key of transmitters: bodies before the ball, as everywhere (see ``RAW_KINDS``)."""
    return RAW_KINDS.index(raw_kind(transmitter)), transmitter


def time_line(ts_us: Ints) -> Ints:
    """Indexes of a longest strictly increasing subsequence (patience sorting; O(n) if nothing is wrong).

    >>> time_line(np.array([1, 2, 9, 3, 3, 4])).tolist()
    [0, 1, 3, 5]
    """
    if len(ts_us) < 2 or bool(np.all(np.diff(ts_us) > 0)):
        return np.arange(len(ts_us))
    tails: list[int] = []
    last_of: list[int] = []
    before: list[int] = []
    for index, ts in enumerate(ts_us.tolist()):
        tail = bisect_left(tails, ts)
        before.append(last_of[tail - 1] if tail else -1)
        # Of equal times the first recorded stays on the line; the others are the repetitions.
        if tail == len(tails):
            tails.append(ts)
            last_of.append(index)
        elif tails[tail] != ts:
            tails[tail] = ts
            last_of[tail] = index
    line = [last_of[-1]]
    while before[line[-1]] >= 0:
        line.append(before[line[-1]])
    return np.array(line[::-1])


def rate_hz(tracks: list[Track]) -> float:
    """Return the nominal rate of the longest of some tracks; 25 if it is unknown."""
    steps: Ints = max((np.diff(t.ts_us[t.line]) for t in tracks), key=len, default=np.empty(0, np.int64))
    median_us = float(np.median(steps)) if len(steps) else math.nan
    return max(round(1e6 / median_us, 3), 0.001) if median_us > 0 else 25.0


#: Noise is measured of positions that follow each other at least so fast: else the ball's own bends are most of it.
_JITTER_PERIOD_MAX_US = 60_000
#: Fewer second differences say nothing.
_JITTER_MIN = 250
#: Median second difference of positions, in standard deviations of one: it has six times its variance.
BEND_SIGMAS = 0.6745 * math.sqrt(6.0)


def measured_jitter_m(tracks: list[Track]) -> float:
    """Return the noise of a coordinate against its neighbours, of the longest of some tracks; 0 if it is unknown.

    It follows from the median second difference, which touches and bounces hardly move. Positions that repeat the one
    before are no measurement.
    """
    track = max(tracks, key=len, default=None)
    if track is None:
        return 0.0
    line = track.line
    steps_us = np.diff(track.ts_us[line])
    x_m, y_m = track.x_m[line], track.y_m[line]
    moved = (np.diff(x_m) != 0.0) | (np.diff(y_m) != 0.0)
    even = (np.abs(np.diff(steps_us)) * 10 <= steps_us[1:]) & (steps_us[1:] <= _JITTER_PERIOD_MAX_US)
    wanted = even & moved[1:] & moved[:-1]
    bends_m = np.abs(np.concatenate([np.diff(x_m, 2)[wanted], np.diff(y_m, 2)[wanted]]))
    bends_m = bends_m[np.isfinite(bends_m)]
    return float(np.median(bends_m)) / BEND_SIGMAS if len(bends_m) >= 2 * _JITTER_MIN else 0.0
