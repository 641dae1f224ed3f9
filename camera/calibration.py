"""Finds how a camera is mounted from marks of the pitch that an operator has centred, and how wide its lens is.

Theory of operation
-------------------
A centred mark gives a direction: the head's pan and tilt at which the mark is in the middle of the picture. Position,
heading, tilt offset and roll of the mount are those at which all marks lie in their directions: least squares over the
chords between both unit vectors, which are angles for small errors and have no poles (unlike pan near the zenith). Six
unknowns need three marks; ``MARKS_MIN`` are asked for, so that an error shows.

An *outlier* is a mark that the others contradict: without it the fit is ``OUTLIER_GAIN`` times better, and it lies
``OUTLIER_DEG`` or more off. It is named and left out. With ``MARKS_MIN`` marks none can be told from the others.

A lens is measured by its edge: a mark at the left or right edge of the picture, at a zoom position, gives the width of
the picture there. The profile's curve is corrected by the logarithm of the ratio, linear in between.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import msgspec
import numpy as np
from scipy.optimize import least_squares

from camera.mount import Mount
from camera.pitch_marks import Point
from camera.profile import ZoomProfile
from football.errors import UserError

MARKS_MIN = 4
OUTLIER_GAIN, OUTLIER_DEG = 3.0, 0.3
#: Greatest plausible error of an operator; a fit that is worse, without one mark to blame, is refused.
ERROR_DEG_MAX = 0.5
#: Assumed error of a mark at least, for the uncertainty of the position; and the limit of that uncertainty.
NOISE_DEG, UNCERTAIN_M_MAX = 0.05, 3.0
#: Headings from which the fit is tried; one beginning may end in a wrong valley.
HEADINGS_DEG = (0.0, 45.0, -45.0, 90.0, -90.0, 135.0, -135.0, 180.0)
_FIELDS = ("x_m", "y_m", "z_m", "heading_deg", "tilt_offset_deg", "roll_deg")
#: Weight of a metre against a degree, for the steps of the solver.
_SCALE = np.array([5.0, 5.0, 2.0, 5.0, 1.0, 1.0])


class CalibrationError(UserError, ValueError):
    """Marks that give no mount or lens; the message says what is missing or contradicts what."""


class CentredMark(msgspec.Struct, frozen=True):
    """A point of the pitch and the direction of the head in which it is in the middle of the picture."""

    name: str
    point: Point
    pan_deg: float
    tilt_deg: float


class EdgeMark(msgspec.Struct, frozen=True):
    """A point of the pitch that is at the left or right edge of the picture, half way up, at a zoom position."""

    name: str
    point: Point
    pan_deg: float
    tilt_deg: float
    zoom_units: int


class Residual(msgspec.Struct, frozen=True):
    """The distance of a mark from where the mount has it: an angle, and metres at the mark."""

    name: str
    off_deg: float
    off_m: float


class Calibration(msgspec.Struct, frozen=True):
    """A mount, the residuals of all marks, and how far the position is determined.

    Attributes:
        mount: fitted.
        residuals: of all marks, the outlier included, in their order.
        rms_deg: of the marks that count.
        uncertain_m: standard deviation of the position.
        outlier: name of the mark that was left out; empty if there was none.
    """

    mount: Mount
    residuals: tuple[Residual, ...]
    rms_deg: float
    uncertain_m: float
    outlier: str = ""


def calibrated(marks: Sequence[CentredMark], start: Mount) -> Calibration:
    """Return the mount at which the marks lie in their directions.

    Args:
        marks: ``MARKS_MIN`` or more.
        start: a rough mount; only its position must be right within some tens of metres.

    Raises:
        CalibrationError: too few marks, marks that contradict each other, or that leave the position open.
    """
    if len(marks) < MARKS_MIN:
        raise CalibrationError(f"{len(marks)} marks, {MARKS_MIN} are needed")
    mount, spread = _fitted(marks, start, HEADINGS_DEG)
    counted, outlier = list(marks), ""
    if len(marks) > MARKS_MIN:
        suspect, without, spread_without = _best_without(marks, mount)
        off_deg = residual(without, suspect).off_deg
        if off_deg > OUTLIER_DEG and spread > OUTLIER_GAIN * max(spread_without, NOISE_DEG):
            mount, spread, outlier = without, spread_without, suspect.name
            counted = [mark for mark in marks if mark is not suspect]
    if spread > ERROR_DEG_MAX:
        offs = ", ".join(f"{mark.name} {residual(mount, mark).off_deg:.2f}" for mark in marks)
        raise CalibrationError(
            f"the marks contradict each other by {spread:.2f} degrees ({offs}): centre them again, or add marks, so "
            "that the wrong one can be named"
        )
    uncertain_m = _uncertain_m(counted, mount, spread)
    if uncertain_m > UNCERTAIN_M_MAX:
        raise CalibrationError(
            f"the marks leave the position open by {min(uncertain_m, 99):.0f} m or more: add marks at other depths and "
            "at both ends"
        )
    residuals = tuple(residual(mount, mark) for mark in marks)
    rms_deg = math.sqrt(sum(r.off_deg**2 for r in residuals if r.name != outlier) / len(counted))
    return Calibration(mount, residuals, rms_deg, uncertain_m, outlier)


def residual(mount: Mount, mark: CentredMark) -> Residual:
    """Return how far a mark lies from where a mount has it."""
    across_m, above_m, ahead_m = mount.in_camera(mark.pan_deg, mark.tilt_deg, mark.point)
    off_deg = math.degrees(math.atan2(math.hypot(across_m, above_m), ahead_m))
    return Residual(mark.name, off_deg, math.radians(off_deg) * mount.distance_m(*mark.point))


def lens(zoom: ZoomProfile, mount: Mount, edges: Sequence[EdgeMark]) -> ZoomProfile:
    """Return the zoom profile with the widths that the edges show.

    Args:
        zoom: of the profile.
        mount: calibrated.
        edges: one or more; several at one zoom position are averaged.

    Raises:
        CalibrationError: an edge behind the camera, or widths that grow with the zoom.
    """
    ratios: dict[int, list[float]] = {}
    for edge in edges:
        across_m, _, ahead_m = mount.in_camera(edge.pan_deg, edge.tilt_deg, edge.point)
        if ahead_m <= 0 or not 0 < abs(across_m) < 10 * ahead_m or not 0 <= edge.zoom_units <= zoom.max_units:
            raise CalibrationError(f"{edge.name} is not at the edge of a picture")
        expected = math.tan(math.radians(zoom.width_deg(edge.zoom_units) / 2))
        ratios.setdefault(edge.zoom_units, []).append(math.log(abs(across_m) / ahead_m / expected))
    units = sorted(ratios)
    logs = [float(np.mean(ratios[unit])) for unit in units]
    nodes = sorted({node[0] for node in zoom.curve} | set(units))
    wide = math.tan(math.radians(zoom.wide_width_deg / 2)) * math.exp(float(np.interp(0, units, logs)))
    curve = []
    for unit in nodes:
        half = math.tan(math.radians(zoom.width_deg(unit) / 2)) * math.exp(float(np.interp(unit, units, logs)))
        curve.append((unit, round(wide / half, 4) if unit else 1.0))
    if any(a[1] >= b[1] for a, b in itertools.pairwise(curve)):
        raise CalibrationError("the edges make a picture that grows wider with the zoom: measure them again")
    wide_deg = round(2 * math.degrees(math.atan(wide)), 3)
    return msgspec.structs.replace(zoom, wide_width_deg=wide_deg, curve=tuple(curve))


def _fitted(marks: Sequence[CentredMark], start: Mount, headings_deg: Sequence[float]) -> tuple[Mount, float]:
    """Return the best mount, and the standard deviation of a mark's direction in degrees."""
    best: tuple[float, Mount] | None = None
    for turn_deg in headings_deg:
        begin = _values(start)
        begin[3] += turn_deg
        found = least_squares(_chords, begin, x_scale=_SCALE, args=(marks,), max_nfev=200)
        mount = _mount(found.x)
        above = mount.z_m > 0
        if best is None or (above and found.cost < best[0] * 0.999):
            best = (found.cost, mount)
        if above and _spread_deg(found.cost, len(marks)) < NOISE_DEG:
            break
    assert best is not None
    return best[1], _spread_deg(best[0], len(marks))


def _spread_deg(cost: float, marks: int) -> float:
    freedom = 2 * marks - len(_FIELDS)
    return math.degrees(math.sqrt(2 * cost / freedom))


def _best_without(marks: Sequence[CentredMark], start: Mount) -> tuple[CentredMark, Mount, float]:
    """Return the mark without which the others agree best, and their mount and standard deviation."""
    fits = []
    for suspect in marks:
        others = [mark for mark in marks if mark is not suspect]
        mount, spread = _fitted(others, start, HEADINGS_DEG[:1])
        fits.append((spread, suspect, mount))
    spread, suspect, mount = min(fits, key=lambda fit: fit[0])
    return suspect, mount, spread


def _chords(values: np.ndarray, marks: Sequence[CentredMark]) -> np.ndarray:
    mount = _mount(values)
    out: list[float] = []
    for mark in marks:
        looking = mount.looking(mark.pan_deg, mark.tilt_deg)
        distance_m = max(1e-6, mount.distance_m(*mark.point))
        place = (mount.x_m, mount.y_m, mount.z_m)
        out += [(p - c) / distance_m - d for p, c, d in zip(mark.point, place, looking, strict=True)]
    return np.array(out)


def _uncertain_m(marks: Sequence[CentredMark], mount: Mount, spread_deg: float) -> float:
    """Return the standard deviation of the position, in metres."""
    values = _values(mount)
    base = _chords(values, marks)
    steps = 1e-4 * _SCALE
    columns = [(_chords(values + step * np.eye(6)[index], marks) - base) / step for index, step in enumerate(steps)]
    jacobian = np.stack(columns, axis=1)
    noise = math.radians(max(spread_deg, NOISE_DEG))
    scaled = jacobian * _SCALE  # columns of about the same size, so that the inverse is exact
    try:
        inverse = np.linalg.inv(scaled.T @ scaled) * np.outer(_SCALE, _SCALE)
    except np.linalg.LinAlgError:
        return math.inf
    return noise * math.sqrt(max(0.0, float(np.trace(inverse[:3, :3]))))


def _values(mount: Mount) -> np.ndarray:
    return np.array([getattr(mount, field) for field in _FIELDS])


def _mount(values: np.ndarray) -> Mount:
    x_m, y_m, z_m, heading_deg, tilt_deg, roll_deg = (float(value) for value in values)
    return Mount(x_m, y_m, z_m, math.remainder(heading_deg, 360.0), tilt_deg, roll_deg)
