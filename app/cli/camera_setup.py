"""``touchline cameras calibrate`` and ``measure``: how a camera is mounted, and how its head moves."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from app.cameras.calibrating import MarkRow, centre_marks, read_marks, split_marks, write_marks
from app.cameras.calibrations import USUAL_MARKS
from app.cameras.keys import operator_keys
from app.cli.output import print_json
from camera.calibration import Calibration, calibrated, lens
from camera.head_connection import HeadConnection, connect
from camera.installation import Camera, load_installation
from camera.installation_file import write_camera, write_camera_profile
from camera.measuring import measured_axis, measured_profile, scaled, with_steps
from camera.pitch_marks import pitch_marks
from camera.profile import AxisProfile, Profile
from football.errors import UserError

#: Time that a head gets to answer.
ANSWER_US = 8_000_000
#: Time that a head gets to say how many speed steps it has.
MAX_STEPS_US = 1_500_000

_File = Annotated[Path, typer.Argument(help="TOML file of the cameras.")]
_Name = Annotated[str, typer.Option("--camera", help="Name of the camera in the file.")]
_Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
_Dry = Annotated[bool, typer.Option("--dry-run", help="Write nothing.")]


class SetupError(UserError):
    """No such camera, or its head does not answer; the message says which."""


def calibrate(
    file: _File,
    camera: _Name,
    marks: Annotated[
        Path | None, typer.Option(help="File of centred marks; without it the operator centres them now.")
    ] = None,
    mark: Annotated[list[str], typer.Option(help="A mark to centre, repeatable; without it eight usual ones.")] = [],  # noqa: B006
    length: Annotated[float, typer.Option(help="Length of the pitch in metres.", min=40.4, max=130)] = 105.0,
    width: Annotated[float, typer.Option(help="Width of the pitch in metres.", min=40.4, max=130)] = 68.0,
    dry_run: _Dry = False,
    as_json: _Json = False,
) -> None:
    """Finds position, heading, tilt offset and roll of a camera, and its lens, from marks of the pitch.

    The operator centres each mark and presses enter. Arrows turn the head (1, 2, 3: slowly to fast), + and - zoom, s
    skips a mark, u takes the last back, q ends. With the mark at the left or right edge of the picture, [ and ] measure
    the lens. The mount is written into the file, the lens into a profile beside it, the marks into NAME-marks.toml.
    The command steers the head and stops it: not while the camera is on air, or a run steers it.

    Examples:
        touchline cameras calibrate venue.toml --camera main
        touchline cameras calibrate venue.toml --camera main --marks main-marks.toml --dry-run
    """
    one, known = _camera(file, camera), pitch_marks(length, width)
    for name in mark:
        if name not in known:
            raise SetupError(f"no mark {name}; there are {', '.join(known)}")
    rows = list(read_marks(marks)) if marks else _centred(file, one, mark or list(USUAL_MARKS), dry_run)
    centred, edges = split_marks(rows, known)
    found = calibrated(centred, one.setup.mount)
    zoom = lens(one.profile.zoom, found.mount, edges) if edges else None
    if not dry_run:
        write_camera(file, camera, mount=found.mount)
        if zoom is not None:
            profile = msgspec.structs.replace(one.profile, zoom=zoom)
            write_camera_profile(
                file, camera, profile, f"{one.profile.name}, with the lens of camera {camera} as measured."
            )
    if as_json:
        print_json({**msgspec.to_builtins(found), "lens": msgspec.to_builtins(zoom)})
    else:
        _show(found)


def measure(
    file: _File,
    camera: _Name,
    every: Annotated[int, typer.Option(help="Measure each n-th step only; those between are interpolated.", min=1)] = 1,
    dry_run: _Dry = False,
    as_json: _Json = False,
) -> None:
    """Turns a head at each speed step, and writes a profile with what it really does: speeds, dead time, acceleration.

    The head stays within the camera's limits and out of its forbidden zones. VISCA heads are asked how many steps they
    have. The profile is written beside the file, and the file names it. The command steers the head for about 3.5 s a
    step and axis: not while the camera is on air, or a run steers it.

    Examples:
        touchline cameras measure venue.toml --camera main
        touchline cameras measure venue.toml --camera main --every 4 --dry-run
    """
    one = _camera(file, camera)
    known = _with_its_steps(one)
    with connected(msgspec.structs.replace(one, profile=known)) as head:
        found = [
            measured_axis(head, name, _steps(axis, every), one.bounds(), monotonic_us, pause, _say(as_json))
            for name, axis in (("pan", known.pan), ("tilt", known.tilt))
        ]
    is_scaled = one.setup.protocol == "onvif"
    profile = (scaled if is_scaled else measured_profile)(known, found[0], found[1])
    if not dry_run:
        comment = f"{known.name}, as measured on the head of camera {camera}."
        name = write_camera_profile(file, camera, profile, comment)
    if as_json:
        print_json({"pan": msgspec.to_builtins(found[0]), "tilt": msgspec.to_builtins(found[1])})
        return
    motion = profile.motion
    print(f"dead time {motion.dead_time_ms:.0f} ms, acceleration {motion.accel_deg_s2:.0f} deg/s2")
    print("nothing is written" if dry_run else f"{file.parent / name} is written; the lead grows by the dead time")


def _with_its_steps(one: Camera) -> Profile:
    """Return the profile with as many steps as the head says that it has; as it is where the protocol cannot ask."""
    if not one.setup.protocol.startswith("visca"):
        return one.profile
    with connected(one) as head:
        head.ask_max_steps()
        end_us = monotonic_us() + MAX_STEPS_US
        while head.max_steps is None and monotonic_us() < end_us:
            head.listen(monotonic_us())
            head.send(monotonic_us())
            pause(0.01)
        steps = head.max_steps
    return with_steps(one.profile, steps.pan_step, steps.tilt_step) if steps is not None else one.profile


def _steps(axis: AxisProfile, every: int) -> list[int]:
    top = len(axis.speeds_deg_s)
    return sorted({1, *range(1, top + 1, every), top})


def _say(as_json: bool) -> Callable[[str], None]:
    return (lambda _: None) if as_json else (lambda text: print(text, flush=True))


def _show(found: Calibration) -> None:
    for one in found.residuals:
        note = "  outlier, left out" if one.name == found.outlier else ""
        print(f"{one.name:24} {one.off_deg:7.3f} deg {one.off_m:7.2f} m{note}")
    mount = found.mount
    print(f"position  {mount.x_m:.2f}, {mount.y_m:.2f}, {mount.z_m:.2f} m, known within {found.uncertain_m:.2f} m")
    angles = f"heading {mount.heading_deg:.2f}, tilt offset {mount.tilt_offset_deg:.2f}, roll {mount.roll_deg:.2f} deg"
    print(f"{angles}; residuals {found.rms_deg:.3f} deg RMS")


def _centred(file: Path, one: Camera, names: list[str], dry_run: bool) -> list[MarkRow]:
    with connected(one) as head, operator_keys() as keys:
        rows = centre_marks(head, names, keys, lambda text: print(text, flush=True), monotonic_us)
    if not dry_run:
        write_marks(file.parent / f"{one.setup.name}-marks.toml", rows)
    return rows


def _camera(file: Path, name: str) -> Camera:
    cameras = {one.setup.name: one for one in load_installation(file)}
    if name not in cameras:
        raise SetupError(f"{file}: no camera {name}; there are {', '.join(cameras)}")
    return cameras[name]


@contextmanager
def connected(one: Camera) -> Iterator[HeadConnection]:
    """Connect with the head of a camera until it is steered; it is stopped at the end.

    Raises:
        SetupError: the camera has no address, or its head does not answer.
    """
    if one.address is None:
        raise SetupError(f"camera {one.setup.name} has no address: its head is simulated")
    head = connect(one.profile, one.address, one.setup.protocol, monotonic_us())
    try:
        end_us = monotonic_us() + ANSWER_US
        while not head.online and monotonic_us() < end_us:
            head.listen(monotonic_us())
            head.send(monotonic_us())
            pause(0.01)
        if not head.online:
            raise SetupError(f"camera {one.setup.name}: {head.problem}")
        yield head
    finally:
        try:
            head.rest(1_500_000, monotonic_us)
        finally:
            head.close()


def pause(seconds: float) -> None:
    """Wait."""
    time.sleep(seconds)


def monotonic_us() -> int:
    """Return a time in microseconds that never goes back."""
    return time.monotonic_ns() // 1000
