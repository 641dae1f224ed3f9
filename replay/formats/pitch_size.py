"""The size of the pitch as corner kicks show it, for files whose match sheet does not say it, or says it wrongly."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import msgspec
import numpy as np

from football.input_quality import InputFinding
from football.match_sheet import MatchSheet
from football.packet_table import Floats
from football.packets import raw_kind
from football.recording import Track

#: Length and width in metres that are taken where nobody says any.
UNKNOWN_M = (105.0, 68.0)

#: No corner of a pitch is nearer to its middle lines (Law 1).
_LEAST_X_M, _LEAST_Y_M = 42.0, 27.0

#: A ball rests if it stays within this distance for so long; a position that comes later than the gap is of another.
_STILL_M, _REST_US, _GAP_US = 0.4, 1_000_000, 500_000

#: Corner kicks from one corner are taken within this distance of each other (Law 17: an arc of 1 m), and the lines
#: through two corners differ by less.
_SPREAD_M = 1.5

#: Least number of rests that show one corner, and all corners together, and of corners.
_RESTS_AT_ONE, _RESTS, _CORNERS = 2, 4, 2

#: The ball lies so far inside the lines: 0.3 to 0.4 m in simulated matches 690, 693, 703 and 706.
_INSIDE_M = 0.35

#: A side of the pitch that differs by less is as it was taken to be: rests err by decimetres.
_DIFFERS_M = 1.5

#: A centre spot that is as near to the origin costs nothing.
_ORIGIN_M = 1.0


class MeasuredPitch(NamedTuple):
    """A pitch as corner kicks show it: length and width in whole metres, and where its centre spot is."""

    length_m: float
    width_m: float
    x_m: float
    y_m: float


def measured_pitch(tracks: tuple[Track, ...]) -> MeasuredPitch | None:
    """The pitch, by where the ball lies before corner kicks; None without enough of them, or if they disagree."""
    rests = [rest for track in tracks if raw_kind(track.transmitter) == "raw.ball" for rest in _rests(track)]
    corners = [group for signs in product((-1.0, 1.0), repeat=2) if len(group := _corner(rests, signs))]
    if len(corners) < _CORNERS or sum(map(len, corners)) < _RESTS:
        return None
    medians = np.array([np.median(group, axis=0) for group in corners])
    lines = [_lines(medians[:, axis]) for axis in (0, 1)]
    if None in lines:
        return None
    (length_m, x_m), (width_m, y_m) = lines  # type: ignore[misc]
    return MeasuredPitch(float(round(length_m)), float(round(width_m)), x_m, y_m)


def _corner(rests: list[tuple[float, float]], signs: tuple[float, ...]) -> Floats:
    """The largest group of rests at one corner of the pitch; empty if it is too small."""
    there = np.array([rest for rest in rests if rest[0] * signs[0] > 0.0 and rest[1] * signs[1] > 0.0]).reshape(-1, 2)
    if not len(there):
        return there
    near = np.linalg.norm(there[:, None] - there[None], axis=2) <= _SPREAD_M
    group = there[near[int(np.argmax(near.sum(axis=1)))]]
    return group if len(group) >= _RESTS_AT_ONE else group[:0]


def _lines(at_m: Floats) -> tuple[float, float] | None:
    """The distance of two opposite lines, and their middle, by corners on one of them or on both.

    None if corners of one line disagree.
    """
    sides = [at_m[at_m < 0.0], at_m[at_m > 0.0]]
    if any(len(side) and np.ptp(side) > _SPREAD_M for side in sides):
        return None
    known = [float(np.mean(side)) for side in sides if len(side)]
    if len(known) == 1:
        return 2.0 * (abs(known[0]) + _INSIDE_M), 0.0
    return known[1] - known[0] + 2.0 * _INSIDE_M, (known[0] + known[1]) / 2.0


def _rests(track: Track) -> list[tuple[float, float]]:
    """Where the ball rests near a corner of any pitch."""
    rows = track.line
    rows = rows[(np.abs(track.x_m[rows]) > _LEAST_X_M) & (np.abs(track.y_m[rows]) > _LEAST_Y_M)]
    ts_us, x_m, y_m = track.ts_us[rows], track.x_m[rows], track.y_m[rows]
    found: list[tuple[float, float]] = []
    begin = 0
    for row in range(1, len(rows) + 1):
        if row < len(rows) and ts_us[row] - ts_us[row - 1] <= _GAP_US and _still(x_m, y_m, begin, row):
            continue
        if ts_us[row - 1] - ts_us[begin] >= _REST_US:
            found.append((float(np.median(x_m[begin:row])), float(np.median(y_m[begin:row]))))
        begin = row
    return found


def _still(x_m: Floats, y_m: Floats, one: int, other: int) -> bool:
    return bool(abs(x_m[one] - x_m[other]) <= _STILL_M and abs(y_m[one] - y_m[other]) <= _STILL_M)


def with_pitch(
    sheet: MatchSheet, tracks: tuple[Track, ...], *, is_known: bool
) -> tuple[MatchSheet, tuple[InputFinding, ...]]:
    """The sheet with the pitch that corner kicks show, if nobody said it; a finding if they show another one.

    Args:
        sheet: of the match.
        tracks: of its recording.
        is_known: True if a sheet or the user says the size of the pitch.
    """
    measured = measured_pitch(tracks)
    if measured is None:
        return sheet, ()
    length_m, width_m, x_m, y_m = measured
    moved: tuple[InputFinding, ...] = ()
    if max(abs(x_m), abs(y_m)) >= _ORIGIN_M:
        found = f"Corner kicks show the centre spot at x {x_m:.1f} m, y {y_m:.1f} m"
        moved = (InputFinding("origin", "note", found, "another origin", "Subtract these from all positions"),)
    if max(abs(length_m - sheet.length_m), abs(width_m - sheet.width_m)) < _DIFFERS_M:
        return sheet, moved
    size, found = f"{length_m:g} x {width_m:g} m", "Corner kicks are taken where a pitch of"
    if is_known:
        given = f"{sheet.length_m:g} x {sheet.width_m:g} m"
        found = f"{found} {size} has its corners; that of the match is given as {given}"
        cause = "positions that were scaled to another pitch, or the sheet of another match"
        option = f"--pitch {length_m:g}x{width_m:g}"
        mend = f"Give the size that the positions have in the match sheet; where no sheet has any, {option}"
        return sheet, (*moved, InputFinding("pitch size", "note", found, cause, mend))
    found = f"{found} {size} has its corners: it is taken for one"
    mend = "Name another one with --pitch, or in a sheet"
    sheet = msgspec.structs.replace(sheet, length_m=length_m, width_m=width_m)
    return sheet, (*moved, InputFinding("pitch size", "note", found, "", mend))
