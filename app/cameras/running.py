"""Runs the cameras of a live match: for each a head, simulated if it has no address, and its controller."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyarrow as pa

from app.cameras.calibrations import Calibrations
from app.cameras.figures_file import FiguresFile
from app.cameras.group import CameraGroup
from app.cameras.journal import Journal
from app.cameras.supervisor import Supervisor
from app.cameras.watchdog import watched
from app.hub.feed import MatchFeed
from camera.chances import load_chances
from camera.controller import CameraController
from camera.freed import FreedSender
from camera.head import Pose
from camera.installation import Camera, CameraSetup, load_installation
from camera.mount import Mount
from camera.profile import Profile, load_profile
from camera.protocols.registry import Address
from camera.record import Row, camera_table
from camera.recorded import write_cameras
from camera.rules import Rule, RuleBook, load_rules, rules_file
from camera.simulated.server import HeadServer
from dashboard.feed import Aim, CameraPose
from football.match_sheet import MatchSheet

#: Distance of the camera behind the touchline, on the halfway line, where no file sets one up.
BEHIND_TOUCHLINE_M = 40.0


def cameras_of(path: Path | None, sheet: MatchSheet) -> tuple[Camera, ...]:
    """Return the cameras of a file; without one, a simulated head on the halfway line.

    Raises:
        InstallationError: the file is wrong.
    """
    if path is not None:
        return load_installation(path)
    mount = Mount(y_m=-(sheet.width_m / 2 + BEHIND_TOUCHLINE_M))
    return (Camera(CameraSetup("main", mount=mount), load_profile(), None),)


def rules_of(path: Path | None, cameras: Sequence[Camera]) -> tuple[Rule, ...]:
    """Return the rules next to a file of cameras; none without one.

    Raises:
        RuleError: the file of the rules is wrong.
    """
    presets = {one.setup.name: one.setup.presets for one in cameras}
    return load_rules(rules_file(path), presets) if path is not None else ()


@contextmanager
def cameras_on(
    feed: MatchFeed,
    append: Callable[[pa.Table], None],
    cameras: Sequence[Camera],
    group: CameraGroup,
    *,
    rules: Sequence[Rule] = (),
    folder: Path | None = None,
    file: Path | None = None,
) -> Iterator[CameraGroup]:
    """Run cameras that follow ``feed`` while the context lasts; yield the group.

    Args:
        feed: of the match; the page reads the poses from it.
        append: receives rows of the match store's camera table, ten seconds of them at a time.
        cameras: to run.
        group: receives them.
        rules: that move them.
        folder: of the match store, for journal, cameras and their orders; None for no file.
        file: of the cameras; a calibration is written to it. None for none.

    Raises:
        AddressError: the host of a head is unknown.
    """
    if folder is not None:
        write_cameras(folder, cameras, time.time_ns() // 1000)
    sheet = feed.sheet()
    size_m, turn = (sheet.length_m, sheet.width_m), threading.Lock()

    def append_in_turn(table: pa.Table) -> None:
        with turn:  # each camera has a thread of its own, the store takes one batch after another
            append(table)

    with watched(cameras), ExitStack() as running:
        started = {one.setup.name: (one, _controller(feed, append_in_turn, one, size_m, running)) for one in cameras}
        feed.provide_cameras(lambda: tuple(_pose(camera, one, size_m) for camera, one in started.values()))
        book, journal = RuleBook(rules, load_chances().of), Journal(folder)
        group.calibrations = Calibrations(started, size_m, file, folder)
        group.started(started, book, journal, lambda event_id: feed.events().get(event_id), _players(feed), folder)

        file_of_figures = FiguresFile(folder)

        def direct() -> None:
            group.direct(time.monotonic_ns() // 1000, size_m[0])
            group.keep()
            if file_of_figures.is_due():
                file_of_figures.write(group.figures())

        running.enter_context(Supervisor(feed, started, book, journal, lambda: group.distrust(), direct))
        try:
            yield group
        finally:
            running.close()  # the figures say whether the heads stand still
            file_of_figures.write(group.figures())


def _players(feed: MatchFeed) -> Callable[[str], bool]:
    """Return what says whether the match sheet or the newest positions have a player."""

    def has_player(player: str) -> bool:
        view = feed.latest_view()
        seen = (body.object_id for body in view.players) if view is not None else ()
        return player in {one.object_id for one in feed.sheet().players} or player in seen

    return has_player


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
        calm=setup.steering_style("calm"),
        tracking=_tracking(camera),
        source=camera.pose_source(),
        framing=camera.framing,
    )
    running.callback(controller.stop)
    return controller.start()


def _tracking(camera: Camera) -> FreedSender | None:
    """Return what sends the pose to a virtual set; None if none gets it."""
    to, setup = camera.freed_address(), camera.setup
    if to is None:
        return None
    return FreedSender(to, setup.freed_id, setup.mount, setup.freed_hz, round(setup.freed_offset_ms * 1000))


def _pose(camera: Camera, controller: CameraController, size_m: tuple[float, float]) -> CameraPose:
    state, setup = controller.state(), camera.setup
    aim = _aim(state.pose, setup.mount, camera.profile, size_m) if state.pose else None
    return CameraPose(setup.name, aim, mode=state.mode, problem=state.problem)


def _aim(pose: Pose, mount: Mount, profile: Profile, size_m: tuple[float, float]) -> Aim:
    footprint = mount.footprint(pose, profile.zoom.aspect, *size_m)
    return Aim(pose.pan_deg, pose.tilt_deg, pose.width_deg, tuple(footprint))
