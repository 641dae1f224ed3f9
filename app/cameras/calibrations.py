"""Calibration of cameras while a match runs, for the API: marks are centred one after another, then the mount is found.

An operator starts it, drives the head until a mark of the pitch is in the middle of the picture, lets go, and records
the mark. From four marks on the state has the mount that they give, with the residual of each, so that a wrong mark is
seen and recorded again. ``finish`` lets the camera steer with that mount, and writes it into the file of the cameras.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from app.cameras.refusals import OrderRefusedError
from football.errors import UserError

if TYPE_CHECKING:
    from camera.calibration import Calibration, CentredMark
    from camera.controller import CameraController
    from camera.installation import Camera

#: Marks that are asked for: well spread, so that position and roll are determined, and a wrong one shows.
USUAL_MARKS: Final = (
    "corner-left-up", "corner-right-up", "corner-right-down", "corner-left-down", "centre-spot", "halfway-up",
    "penalty-spot-left", "penalty-spot-right",
)  # fmt: skip


class CalibratingError(OrderRefusedError):
    """The camera cannot be calibrated now, or its marks give no mount; the message says why."""


class UnknownMarkError(UserError, LookupError):
    """No mark of this name; the message names those that exist."""


class CentredMarkRow(msgspec.Struct, frozen=True):
    """A recorded mark: direction of the head, and how far it lies from where the mount has it; None without a mount."""

    name: str
    pan_deg: float
    tilt_deg: float
    off_deg: float | None = None
    off_m: float | None = None


class CalibrationState(msgspec.Struct, frozen=True):
    """The calibration of a camera.

    Attributes:
        camera: its name.
        is_running: it was started, and neither finished nor cancelled.
        marks: recorded ones, in their order.
        next_mark: a mark that should be centred next; empty if all usual ones are recorded.
        mount: the mount that the marks give; None without one.
        rms_deg: of the residuals; None without a mount.
        uncertain_m: standard deviation of the position; None without a mount.
        outlier: name of a mark that the others contradict, and that does not count; empty for none.
        problem: why the marks give no mount yet; empty if they do.
    """

    camera: str
    is_running: bool
    marks: list[CentredMarkRow] = []
    next_mark: str = ""
    mount: dict[str, float] | None = None
    rms_deg: float | None = None
    uncertain_m: float | None = None
    outlier: str = ""
    problem: str = ""


class Calibrations:
    """The calibrations of the cameras of one match. Thread safe.

    Args:
        cameras: by name; a finished calibration replaces the mount of one.
        size_m: length and width of the pitch.
        file: of the cameras; None for none.
        folder: of the match store; None for none.
    """

    def __init__(
        self,
        cameras: dict[str, tuple[Camera, CameraController]],
        size_m: tuple[float, float],
        file: Path | None,
        folder: Path | None,
    ) -> None:
        self._cameras, self._size_m, self._file, self._folder = cameras, size_m, file, folder
        self._marks: dict[str, dict[str, CentredMark]] = {}
        self._lock = threading.Lock()

    def state(self, name: str) -> CalibrationState:
        """Return how far the calibration of a camera is."""
        with self._lock:
            return self._state(name)

    def start(self, name: str) -> CalibrationState:
        """Begin anew, without marks."""
        with self._lock:
            self._marks[name] = {}
            return self._state(name)

    def cancel(self, name: str) -> CalibrationState:
        """Forget the marks; the mount stays as it was."""
        with self._lock:
            self._marks.pop(name, None)
            return self._state(name)

    def mark(self, name: str, mark: str) -> CalibrationState:
        """Record that a mark is in the middle of the picture now; it replaces an earlier record of it.

        Raises:
            CalibratingError: no calibration was started, or the head does not stand still.
            UnknownMarkError: the pitch has no such mark.
        """
        from camera.calibration import CentredMark
        from camera.pitch_marks import pitch_marks

        with self._lock:
            marks, known = self._running(name), pitch_marks(*self._size_m)
            if mark not in known:
                raise UnknownMarkError(f"no mark {mark}; there are {', '.join(known)}")
            pose = self._cameras[name][1].standing()
            if pose is None:
                raise CalibratingError(f"camera {name} does not stand still: let go, and record {mark} again")
            marks[mark] = CentredMark(mark, known[mark], *(round(angle_deg, 4) for angle_deg in pose))
            return self._state(name)

    def finish(self, name: str) -> CalibrationState:
        """Let the camera steer with the mount that its marks give; write it into the file of the cameras.

        Raises:
            CalibratingError: no calibration was started, or the marks give no mount.
            InstallationError: the file of the cameras has changed so that it cannot be written.
        """
        from camera.installation_file import write_camera
        from camera.recorded import write_cameras

        with self._lock:
            found, problem = self._found(name, self._running(name).values())
            if found is None:
                raise CalibratingError(f"camera {name}: {problem}")
            if self._file is not None:
                write_camera(self._file, name, mount=found.mount)
            camera, controller = self._cameras[name]
            setup = msgspec.structs.replace(camera.setup, mount=found.mount)
            self._cameras[name] = msgspec.structs.replace(camera, setup=setup), controller
            controller.calibrate(found.mount)
            if self._folder is not None:
                write_cameras(self._folder, [one for one, _ in self._cameras.values()], time.time_ns() // 1000)
            state = msgspec.structs.replace(self._state(name), is_running=False, next_mark="")
            del self._marks[name]
            return state

    def _running(self, name: str) -> dict[str, CentredMark]:
        if name not in self._marks:
            raise CalibratingError(f"camera {name} is not being calibrated: start it first")
        return self._marks[name]

    def _state(self, name: str) -> CalibrationState:
        if name not in self._marks:
            return CalibrationState(name, False)
        marks = self._marks[name]
        found, problem = self._found(name, marks.values())
        residuals = {one.name: one for one in found.residuals} if found is not None else {}
        rows = []
        for one in marks.values():
            off = residuals.get(one.name)
            offs = (off.off_deg, off.off_m) if off is not None else (None, None)
            rows.append(CentredMarkRow(one.name, one.pan_deg, one.tilt_deg, *offs))
        following = next((mark for mark in USUAL_MARKS if mark not in marks), "")
        if found is None:
            return CalibrationState(name, True, rows, following, problem=problem)
        mount: dict[str, float] = msgspec.to_builtins(found.mount)
        return CalibrationState(name, True, rows, following, mount, found.rms_deg, found.uncertain_m, found.outlier)

    def _found(self, name: str, marks: Iterable[CentredMark]) -> tuple[Calibration | None, str]:
        """Return the mount that marks give, or None and why they give none."""
        from camera.calibration import CalibrationError, calibrated  # imports scipy

        try:
            return calibrated(list(marks), self._cameras[name][0].setup.mount), ""
        except CalibrationError as error:
            return None, str(error)
