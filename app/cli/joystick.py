"""``touchline cameras joystick``: a joystick of this machine gives orders to the cameras of a run, over its API."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Final, Protocol

import typer

from app.base.terminal import make_console
from app.cameras.joystick import Device, Joystick, JoystickError, Speeds, axis, joysticks
from app.library.client import ClientError, connect
from app.run.signals import stopped_by_signals

#: Interval of drives while a stick is held: the camera stops half a second after the last one.
DRIVE_S: Final = 0.1
#: Limit of the wait for an answer. A drive that is later than this is not worth waiting for.
ANSWER_S: Final = 1.0

_Axis = typer.Option(help="Its axis: x, y, z, rx, ry, rz, throttle, rudder, wheel; with - before it reversed.")


class Cameras(Protocol):
    """The orders that a joystick gives; ``touchline.connect`` returns such a client."""

    def drive(self, camera: str, pan: float, tilt: float, zoom: float) -> object:
        """Turn and zoom."""
        ...

    def hold(self, camera: str) -> object:
        """Stand still."""
        ...

    def release(self, camera: str) -> object:
        """Hand back."""
        ...

    def preset(self, camera: str, preset: str) -> object:
        """Go to a preset."""
        ...


class JoystickOperator:
    """Makes orders of a joystick, by the rules of the operator's page.

    A stick that is held drives neither a camera that is chosen meanwhile, nor one that got another order: the camera
    is stopped, and nothing is driven before the sticks have been let go.

    Args:
        cameras: get the orders.
        presets: of each camera, by name; the order is that of the cross.
        chosen: name of the camera that gets the orders at first.
        say: is told the chosen camera, and why an order was refused.
    """

    def __init__(
        self, cameras: Cameras, presets: dict[str, Sequence[str]], chosen: str, say: Callable[[str], None]
    ) -> None:
        self._cameras, self._presets, self._say = cameras, presets, say
        self.chosen = chosen
        self._driven = ""  # the camera that the last drive has set in motion
        self._waits = False  # the sticks count again once they have been let go
        self._sent_s = -DRIVE_S
        self._refusal = ""

    def step(self, speeds: Speeds, pressed: Sequence[str], now_s: float) -> None:
        """Give the orders that are due.

        Args:
            speeds: what the sticks ask for now.
            pressed: buttons since the last step.
            now_s: on a clock that does not go back.
        """
        for button in pressed:
            self._press(button)
        if self._driven and self._driven != self.chosen:
            self._waits = True
        if speeds.is_zero():
            self._waits = False
        if not speeds.is_zero() and not self._waits:
            if now_s - self._sent_s >= DRIVE_S:
                self._sent_s, self._driven = now_s, self.chosen
                self._order(lambda: self._cameras.drive(self._driven, speeds.pan, speeds.tilt, speeds.zoom))
        else:
            self.stop()

    def stop(self) -> None:
        """Stop the camera that the last drive has set in motion."""
        if driven := self._driven:
            self._driven, self._sent_s = "", -DRIVE_S
            self._order(lambda: self._cameras.drive(driven, 0.0, 0.0, 0.0))

    def _press(self, button: str) -> None:
        name, _, number = button.partition(" ")
        if name in ("next", "before"):
            names = list(self._presets)
            self.chosen = names[(names.index(self.chosen) + (1 if name == "next" else -1)) % len(names)]
            self._say(f"camera {self.chosen}")
            return
        presets = self._presets[self.chosen]
        if number and int(number) >= len(presets):
            return
        if self._driven == self.chosen:
            self._driven = ""  # no drive of speed zero may follow, and take the camera back
        self._waits = True
        if number:
            self._order(lambda: self._cameras.preset(self.chosen, presets[int(number)]))
        else:
            order = self._cameras.hold if name == "hold" else self._cameras.release
            self._order(lambda: order(self.chosen))

    def _order(self, give: Callable[[], object]) -> None:
        try:
            give()
            refusal = ""
        except ClientError as error:
            refusal = str(error)
        if refusal and refusal != self._refusal:
            self._say(refusal)
        self._refusal = refusal


def joystick(
    url: Annotated[str, typer.Option(help="Address of any page of the run.")] = "http://127.0.0.1:8050",
    device: Annotated[
        Path | None, typer.Option(help="Device, such as /dev/input/event7; without it the only joystick there is.")
    ] = None,
    camera: Annotated[str, typer.Option(help="Camera that gets the orders at first; without it the first.")] = "",
    pan: Annotated[str, _Axis] = "x",
    tilt: Annotated[str, _Axis] = "-y",
    zoom: Annotated[str, _Axis] = "",
    token_env: Annotated[
        str, typer.Option(help="Environment variable with the token of an operator.", metavar="NAME")
    ] = "TOUCHLINE_TOKEN",
) -> None:
    """Steers the cameras of a run with a joystick or gamepad of this machine (Linux, evdev). Ctrl-C ends it.

    The stick turns, the second stick or the twist zooms. The first button holds, the second releases, the fifth and
    sixth choose the camera, the cross goes to presets 1 to 4. If the joystick or this program is lost, the camera stops
    half a second later, and stands until it is released.

    Examples:
        touchline cameras joystick
        touchline cameras joystick --device /dev/input/event7 --camera tight --zoom=-throttle
    """
    path = device or _only()
    zoom_axis = axis(zoom) if zoom else None
    axes = axis(pan), axis(tilt), zoom_axis
    run = connect(url, os.environ.get(token_env, ""), ANSWER_S)
    presets = {one.name: one.presets for one in run.cameras()}
    chosen = camera or next(iter(presets), "")
    if chosen not in presets:
        raise JoystickError(f"--camera {chosen}: the run has {', '.join(presets) or 'no cameras'}")
    opened = Device(path)
    try:
        stick = Joystick(opened.has, *axes)
        operator = JoystickOperator(run, presets, chosen, _say)
        _say(f"{opened.has.name} steers camera {chosen}; Ctrl-C ends it")
        stop = threading.Event()
        with stopped_by_signals(stop, make_console(stderr=True), "Stopping the camera"):
            try:
                while not stop.is_set():
                    stick.take(opened.read(DRIVE_S))
                    operator.step(stick.speeds(), stick.pressed(), time.monotonic())
            finally:
                operator.stop()
    finally:
        opened.close()


def _only() -> Path:
    """Return the only joystick of this machine. Raises JoystickError if there is none, or more than one."""
    found = dict(joysticks())
    if len(found) != 1:
        shown = ", ".join(f"{path} ({name})" for path, name in found.items()) or "none that can be read"
        raise JoystickError(f"--device: needed, as there is not one joystick here but: {shown}")
    return next(iter(found))


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
