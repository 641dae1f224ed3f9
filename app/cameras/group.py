"""The cameras of a run by name: what each does, and orders to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from football.errors import UserError

if TYPE_CHECKING:
    from camera.controller import CameraController, CameraState
    from camera.installation import Camera, CameraSetup, Preset
    from camera.operator import Order


class UnknownCameraError(UserError, LookupError):
    """No camera of this name, or no preset; the message names those that exist."""


class CameraGroup:
    """The cameras of one match, by name; empty until ``cameras_on`` starts them. Thread safe."""

    def __init__(self) -> None:
        self._cameras: Mapping[str, tuple[Camera, CameraController]] = {}

    def started(self, cameras: Mapping[str, tuple[Camera, CameraController]]) -> None:
        """Take the cameras that run now."""
        self._cameras = cameras

    def names(self) -> list[str]:
        """Return the names in the order of the file."""
        return list(self._cameras)

    def setup(self, name: str) -> CameraSetup:
        """Return the setup of a camera. Raises UnknownCameraError."""
        return self._one(name)[0].setup

    def state(self, name: str) -> CameraState:
        """Return what a camera does now. Raises UnknownCameraError."""
        return self._one(name)[1].state()

    def order(self, name: str, order: Order | None) -> None:
        """Give a camera an operator's order; None hands it back to the planner. Raises UnknownCameraError."""
        self._one(name)[1].order(order)

    def preset(self, name: str, preset: str) -> Preset:
        """Return a preset. Raises UnknownCameraError."""
        presets = self._one(name)[0].setup.presets
        if preset not in presets:
            raise UnknownCameraError(f"camera {name} has no preset {preset}; it has {', '.join(presets) or 'none'}")
        return presets[preset]

    def figures(self) -> dict[str, dict[str, float | str]]:
        """Return the figures of each camera."""
        return {name: controller.figures() for name, (_, controller) in self._cameras.items()}

    def problems(self) -> dict[str, str]:
        """Return by camera what is wrong with its head; empty where it answers."""
        states = {name: self.state(name) for name in self._cameras}
        return {name: state.problem if state.mode == "offline" else "" for name, state in states.items()}

    def _one(self, name: str) -> tuple[Camera, CameraController]:
        if name not in self._cameras:
            raise UnknownCameraError(f"no camera {name}; there are {', '.join(self._cameras)}")
        return self._cameras[name]


def described(group: CameraGroup, name: str) -> dict[str, object]:
    """Return a camera's setup (without its login) and state as plain values. Raises UnknownCameraError."""
    setup, state = group.setup(name), group.state(name)
    return {
        "name": name,
        "role": setup.role,
        "player": setup.player,
        "style": setup.style,
        "protocol": setup.protocol,
        "simulated": setup.is_simulated,
        "presets": sorted(setup.presets),
        **msgspec.to_builtins(state),
    }
