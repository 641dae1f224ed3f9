"""Centring marks with a head, by keys; and the file of centred marks."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, Protocol

import msgspec
import tomlkit

from camera.calibration import CalibrationError, CentredMark, EdgeMark
from camera.head_connection import HeadConnection
from camera.pitch_marks import Point
from camera.protocols.messages import Drive
from football.untrusted import UntrustedError, read_toml

#: A head that an arrow key drives stops this long after the last key. Terminals repeat a key that is held after 0.5 s
#: at first, so a short press is a short step.
PRESS_US = 250_000
#: Share of the zoom's travel of one key.
ZOOM_STEP = 0.05
_PACES = {"1": 0.3, "2": 1.5, "3": 8.0}
_ARROWS = {"left": (-1, 0), "right": (1, 0), "up": (0, 1), "down": (0, -1)}


class PressedKeys(Protocol):
    """Keys of an operator: see ``app.cameras.keys.Keys``."""

    ended: bool

    def pressed(self) -> list[str]:
        """Return the keys since the last call."""
        ...


class MarkRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A mark of the file.

    Attributes:
        name: of ``camera.pitch_marks``, or any other with a point.
        pan_deg, tilt_deg: direction of the head.
        edge: ``left`` or ``right`` if the mark is at that edge of the picture; else it is in its middle.
        zoom_units: zoom position, for an edge.
        point: x, y and z in metres of a mark that is none of the pitch.
    """

    name: str
    pan_deg: float
    tilt_deg: float
    edge: Literal["", "left", "right"] = ""
    zoom_units: int = 0
    point: Point | None = None


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    mark: tuple[MarkRow, ...] = ()


def read_marks(path: Path) -> tuple[MarkRow, ...]:
    """Read a file of marks.

    Raises:
        CalibrationError: the file cannot be read, or a field is wrong; the message names file and field.
    """
    try:
        return msgspec.convert(read_toml(path), _File).mark
    except (OSError, UntrustedError, msgspec.ValidationError) as error:
        raise CalibrationError(f"{path}: {error}") from error


def write_marks(path: Path, rows: Sequence[MarkRow]) -> None:
    """Write a file of marks, so that a calibration can be repeated without the operator."""
    path.write_text(tomlkit.dumps({"mark": [msgspec.to_builtins(row) for row in rows]}), encoding="utf-8")


def split_marks(rows: Sequence[MarkRow], known: dict[str, Point]) -> tuple[list[CentredMark], list[EdgeMark]]:
    """Return the centred marks, and those at an edge.

    Raises:
        CalibrationError: a mark that is none of the pitch has no point.
    """
    centred, edges = [], []
    for row in rows:
        point = row.point or known.get(row.name)
        if point is None:
            raise CalibrationError(f"mark {row.name}: none of the pitch, and no point; there are {', '.join(known)}")
        if row.edge:
            edges.append(EdgeMark(row.name, point, row.pan_deg, row.tilt_deg, row.zoom_units))
        else:
            centred.append(CentredMark(row.name, point, row.pan_deg, row.tilt_deg))
    return centred, edges


def centre_marks(
    head: HeadConnection,
    names: Sequence[str],
    keys: PressedKeys,
    say: Callable[[str], None],
    clock: Callable[[], int],
    pause: Callable[[float], None] = time.sleep,
) -> list[MarkRow]:
    """Let an operator centre marks one after another; return the recorded ones.

    Keys: arrows turn the head (``1``, ``2``, ``3``: slowly to fast), ``+`` and ``-`` zoom, enter records the mark and
    goes on, ``[`` and ``]`` record it at the left or right edge of the picture and stay, ``s`` skips it, ``u`` takes
    the last one back, ``q`` ends. Another controller may steer the head meanwhile: nothing is sent to it without a key.

    Args:
        head: to steer.
        names: of the marks, in order.
        keys: of the operator.
        say: shows a line to the operator.
        clock: monotonic time in microseconds.
        pause: waits for some seconds.
    """
    rows: list[MarkRow] = []
    at, pace, until_us, shown = 0, _PACES["2"], 0, -1
    while at < len(names) and not keys.ended:
        now_us = clock()
        head.listen(now_us)
        if head.online:
            if shown != at:
                say(f"centre {names[at]}")
                shown = at
            for key in keys.pressed():
                if key in _ARROWS:
                    head.drive(_drive(head, *_ARROWS[key], pace), now_us)
                    until_us = now_us + PRESS_US
                elif key in _PACES:
                    pace = _PACES[key]
                elif key in ("+", "-"):
                    units = head.observer.at(now_us).width_deg
                    step = round(ZOOM_STEP * head.profile.zoom.max_units) * (1 if key == "+" else -1)
                    head.zoom(min(head.profile.zoom.max_units, max(0, head.profile.zoom.units(units) + step)))
                elif key in ("enter", "[", "]"):
                    rows.append(_row(head, names[at], {"[": "left", "]": "right"}.get(key, ""), clock, pause))
                    say(f"{names[at]}: pan {rows[-1].pan_deg:.2f}, tilt {rows[-1].tilt_deg:.2f}")
                    at += key == "enter"
                    break
                elif key == "s":
                    at += 1
                    break
                elif key == "u" and rows:
                    say(f"{rows.pop().name} is taken back")
                elif key == "q":
                    at = len(names)
            if until_us and now_us >= until_us:
                until_us = 0
                head.drive(Drive(0, 0), now_us)
        head.send(now_us)
        pause(0.01)
    return rows


def _drive(head: HeadConnection, pan: int, tilt: int, pace_deg_s: float) -> Drive:
    steps = [
        sign * (min(range(len(axis.speeds_deg_s)), key=lambda n: abs(axis.speeds_deg_s[n] - pace_deg_s)) + 1)
        for sign, axis in ((pan, head.profile.pan), (tilt, head.profile.tilt))
    ]
    return Drive(steps[0], steps[1])


def _row(
    head: HeadConnection, name: str, edge: str, clock: Callable[[], int], pause: Callable[[float], None]
) -> MarkRow:
    """Return where the head stands, after it has reported so."""
    head.rest(1_500_000, clock, pause)
    if head.report is None:
        raise CalibrationError(f"{name}: the head does not answer")
    pan_units, tilt_units = head.report[2]
    profile, width_deg = head.profile, head.observer.at(clock()).width_deg
    return MarkRow(
        name,
        round(profile.pan.deg(pan_units), 4),
        round(profile.tilt.deg(tilt_units), 4),
        edge,  # type: ignore[arg-type]
        profile.zoom.units(width_deg),
    )
