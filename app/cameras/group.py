"""Runs the cameras of a live match: for each a head, simulated if it has no address, and its controller."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec
import pyarrow as pa

from app.cameras.watchdog import watched
from app.hub.feed import MatchFeed
from camera.controller import CameraController, CameraState
from camera.freed import FreedSender
from camera.head import Pose
from camera.installation import Camera, CameraSetup, load_installation
from camera.mount import Mount
from camera.operator import Order
from camera.profile import Profile, load_profile
from camera.protocols.registry import Address
from camera.record import Row, camera_table
from camera.simulated.server import HeadServer
from dashboard.feed import Aim, CameraPose
from football.errors import UserError
from football.match_sheet import MatchSheet

#: Distance of the camera behind the touchline, on the halfway line, where no file sets one up.
BEHIND_TOUCHLINE_M = 40.0


class UnknownCameraError(UserError, KeyError):
    """No camera of this name, or no preset; the message names those that exist."""

    def __str__(self) -> str:
        """Return the message itself; a KeyError would quote it."""
        return str(self.args[0])


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

    def preset(self, name: str, preset: str) -> Pose:
        """Return the pose of a preset. Raises UnknownCameraError."""
        presets = self._one(name)[0].setup.presets
        if preset not in presets:
            raise UnknownCameraError(f"camera {name} has no preset {preset}; it has {', '.join(presets) or 'none'}")
        one = presets[preset]
        return Pose(one.pan_deg, one.tilt_deg, one.width_deg)

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


def cameras_of(path: Path | None, sheet: MatchSheet) -> tuple[Camera, ...]:
    """Return the cameras of a file; without one, a simulated head on the halfway line.

    Raises:
        InstallationError: the file is wrong.
    """
    if path is not None:
        return load_installation(path)
    mount = Mount(y_m=-(sheet.width_m / 2 + BEHIND_TOUCHLINE_M))
    return (Camera(CameraSetup("main", mount=mount), load_profile(), None),)


@contextmanager
def cameras_on(
    feed: MatchFeed, append: Callable[[pa.Table], None], cameras: Sequence[Camera], group: CameraGroup
) -> Iterator[CameraGroup]:
    """Run cameras that follow ``feed`` while the context lasts; yield the group.

    Args:
        feed: of the match; the page reads the poses from it.
        append: receives rows of the match store's camera table, ten seconds of them at a time.
        cameras: to run.
        group: receives them.

    Raises:
        AddressError: the host of a head is unknown.
    """
    sheet = feed.sheet()
    size_m, turn = (sheet.length_m, sheet.width_m), threading.Lock()

    def append_in_turn(table: pa.Table) -> None:
        with turn:  # each camera has a thread of its own, the store takes one batch after another
            append(table)

    with watched(cameras), ExitStack() as running:
        started = {one.setup.name: (one, _controller(feed, append_in_turn, one, size_m, running)) for one in cameras}
        feed.provide_cameras(lambda: tuple(_pose(camera, one, size_m) for camera, one in started.values()))
        group.started(started)
        yield group


def _controller(
    feed: MatchFeed,
    append: Callable[[pa.Table], None],
    camera: Camera,
    size_m: tuple[float, float],
    running: ExitStack,
) -> CameraController:
    setup, name = camera.setup, camera.setup.name
    address = camera.address
    if address is None:
        head = running.enter_context(HeadServer(camera.profile, protocol=setup.protocol))
        address = Address(*head.address)

    def record(rows: Sequence[Row]) -> None:
        append(camera_table(rows).add_column(0, "head", pa.array([name] * len(rows), pa.string())))

    controller = CameraController(
        feed,
        setup.mount,
        camera.profile,
        address,
        setup.protocol,
        record=record,
        style=setup.steering_style(),
        size_m=size_m,
        role=setup.steering_role(),
        bounds=camera.bounds(),
        tracking=FreedSender(to, setup.freed_id, setup.mount) if (to := camera.freed_address()) else None,
    )
    running.callback(controller.stop)
    return controller.start()


def _pose(camera: Camera, controller: CameraController, size_m: tuple[float, float]) -> CameraPose:
    state, setup = controller.state(), camera.setup
    aim = _aim(state.pose, setup.mount, camera.profile, size_m) if state.pose else None
    return CameraPose(setup.name, aim, mode=state.mode, problem=state.problem)


def _aim(pose: Pose, mount: Mount, profile: Profile, size_m: tuple[float, float]) -> Aim:
    footprint = mount.footprint(pose, profile.zoom.aspect, *size_m)
    return Aim(pose.pan_deg, pose.tilt_deg, pose.width_deg, tuple(footprint))


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
