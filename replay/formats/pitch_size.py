"""The size of the pitch as corner kicks show it, for files whose match sheet does not say it, or says it wrongly."""

from __future__ import annotations

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

#: Corner kicks are taken within this distance of each other, seen from the corners (Law 17: an arc of 1 m).
_SPREAD_M = 1.5

#: Least number of rests that show a corner, and of corners of the pitch that they are at.
_RESTS, _CORNERS = 4, 2

#: The ball lies so far inside the lines: 0.3 to 0.4 m in simulated matches 690, 693, 703 and 706.
_INSIDE_M = 0.35

#: A side of the pitch that differs by less is as it was taken to be: rests err by decimetres.
_DIFFERS_M = 1.5


def measured_pitch_m(tracks: tuple[Track, ...]) -> tuple[float, float] | None:
    """Length and width of the pitch in whole metres, by where the ball lies before corner kicks.

    None without enough of them.
    """
    rests = [rest for track in tracks if raw_kind(track.transmitter) == "raw.ball" for rest in _rests(track)]
    if not rests:
        return None
    at_m = np.array(rests)
    from_middle_m = np.abs(at_m)
    apart_m = np.linalg.norm(from_middle_m[:, None] - from_middle_m[None], axis=2)
    near = apart_m <= _SPREAD_M
    group = near[int(np.argmax(near.sum(axis=1)))]
    corners = np.unique(np.sign(at_m[group]), axis=0)
    if int(group.sum()) < _RESTS or len(corners) < _CORNERS:
        return None
    half_length_m, half_width_m = np.median(from_middle_m[group], axis=0) + _INSIDE_M
    return float(round(2.0 * half_length_m)), float(round(2.0 * half_width_m))


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
    measured_m = measured_pitch_m(tracks)
    given_m = sheet.length_m, sheet.width_m
    if measured_m is None or all(abs(m - g) < _DIFFERS_M for m, g in zip(measured_m, given_m, strict=True)):
        return sheet, ()
    found = f"Corner kicks are taken where a pitch of {measured_m[0]:g} x {measured_m[1]:g} m has its corners"
    if is_known:
        found += f"; that of the match is given as {given_m[0]:g} x {given_m[1]:g} m"
        cause = "positions that were scaled to another pitch, or the sheet of another match"
        size = f"{measured_m[0]:g}x{measured_m[1]:g}"
        mend = f"Give the size that the positions have in the match sheet; where no sheet has any, --pitch {size}"
        return sheet, (InputFinding("pitch size", "note", found, cause, mend),)
    sheet = msgspec.structs.replace(sheet, length_m=measured_m[0], width_m=measured_m[1])
    mend = "Name another one with --pitch, or in a sheet"
    return sheet, (InputFinding("pitch size", "note", f"{found}: it is taken for one", "", mend),)
