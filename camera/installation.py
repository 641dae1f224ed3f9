"""The cameras of a venue, as one TOML file: address, protocol, profile, mount, role, style, limits, presets.

``docs/cameras.md`` shows a file with every field. A password never stands in it: the file names the environment
variables that hold user and password.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec

from camera.bounds import Bounds, Range, Zone, bounds_of
from camera.framing import FramingError, FramingTable, load_framing
from camera.freed import AHEAD_US, BEHIND_US, FreedReceiver
from camera.freed import PORT as FREED_PORT
from camera.head import Pose
from camera.head_connection import PoseSource
from camera.mount import Mount
from camera.planner import STYLES, Style
from camera.profile import AxisProfile, Profile, ProfileError, load_profile
from camera.protocols.registry import Address, ProtocolError, protocol
from camera.roles import Role, role_of
from camera.toml_tables import TableError, convert_table
from football.errors import UserError
from football.untrusted import UntrustedError, is_name, read_toml

#: Limit of the cameras of one file.
CAMERAS_MAX = 16
#: A field, and what is wrong with it.
Fault = tuple[str, str]

#: Ranges of a mount: beyond them it is a slip, such as centimetres.
MOUNT_RANGES: Final[Mapping[str, tuple[float, float]]] = {
    "x_m": (-300.0, 300.0),
    "y_m": (-300.0, 300.0),
    "z_m": (0.0, 150.0),
    "heading_deg": (-360.0, 360.0),
    "tilt_offset_deg": (-90.0, 90.0),
    "roll_deg": (-180.0, 180.0),
}
#: A width of a picture may be so far beyond the lens, because files have rounded numbers.
WIDTH_SLACK_DEG: Final = 0.05
#: Speed steps of AW, either way.
AW_STEPS: Final = 49
_LOWER_FIRST: Final = "needs its lower end first"


class InstallationError(UserError, ValueError):
    """A file of cameras is wrong; the message names the file, the camera, the field and the reason."""


class Preset(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A pose to go to, in degrees; the controller holds it, not the head's own memory."""

    pan_deg: float
    tilt_deg: float
    width_deg: float

    def pose(self) -> Pose:
        """Return it as a pose."""
        return Pose(self.pan_deg, self.tilt_deg, self.width_deg)


class FreedIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Poses that a head, or a tracker on it, sends by FreeD D1.

    Attributes:
        port: UDP port at which they arrive.
        id: camera id in the messages.
        frame: ``head`` if the angles count from the head's own zeros, ``pitch`` if from the pitch's axes.
        delay_ms: age of a pose when it arrives.
    """

    port: Annotated[int, msgspec.Meta(ge=1, le=65_535)]
    id: Annotated[int, msgspec.Meta(ge=0, le=255)] = 1
    frame: Literal["head", "pitch"] = "head"
    delay_ms: Annotated[float, msgspec.Meta(ge=0, le=500)] = 0.0


class CameraSetup(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One camera.

    Attributes:
        name: of the camera, unique in the file.
        address: ``host`` or ``host:port`` of the head; empty runs a simulated head.
        protocol: a name of ``camera.protocols.registry.PROTOCOLS``.
        profile: a name of ``camera/profiles``, or the path of a TOML file (relative to this file).
        mount: position of the lens, heading, tilt offset and roll.
        role: what the camera shows, see ``camera.roles``.
        player: object id that a camera of the role ``follow`` shows.
        style: how it moves: ``calm``, ``normal`` or ``sport``.
        framing: path of a framing table (relative to this file); empty is the product's.
        lead_ms: how far ahead of now it aims; None takes the style's.
        pan_limits_deg, tilt_limits_deg: soft limits, inside the travel of the head; None is the whole travel.
        forbidden: zones at which it never looks.
        presets: poses by name.
        user_env, password_env: environment variables with the head's user and password.
        freed: ``host`` or ``host:port`` that gets the pose as FreeD D1; empty sends none.
        freed_id: camera id in those messages.
        freed_hz: messages a second, such as 59.94 for a virtual set of that rate.
        freed_offset_ms: each of them has the pose of so long after its sending, see ``camera.freed.FreedSender``.
        freed_in: where the head's own poses arrive by FreeD; None if it sends none.
    """

    name: str
    address: str = ""
    protocol: str = "visca"
    profile: str = "brc-x400"
    mount: Mount = Mount()
    role: str = "main"
    player: str = ""
    style: Literal["calm", "normal", "sport"] = "normal"
    framing: str = ""
    lead_ms: float | None = None
    pan_limits_deg: Range | None = None
    tilt_limits_deg: Range | None = None
    forbidden: tuple[Zone, ...] = ()
    presets: dict[str, Preset] = {}
    user_env: str = ""
    password_env: str = ""
    freed: str = ""
    freed_id: Annotated[int, msgspec.Meta(ge=0, le=255)] = 1
    freed_hz: Annotated[float, msgspec.Meta(ge=1, le=240)] = 50.0
    freed_offset_ms: Annotated[float, msgspec.Meta(ge=-BEHIND_US / 1000, le=AHEAD_US / 1000)] = 0.0
    freed_in: FreedIn | None = None

    @property
    def is_simulated(self) -> bool:
        """True if the camera has no address: its head is simulated."""
        return not self.address

    def steering_style(self, name: str = "") -> Style:
        """Return a style, or the camera's own, with this camera's own lead."""
        style = STYLES[name or self.style]
        return style if self.lead_ms is None else msgspec.structs.replace(style, lead_us=round(self.lead_ms * 1000))

    def steering_role(self) -> Role:
        """Return the role."""
        return role_of(self.role, self.player)


def host_port(text: str, usual_port: int) -> tuple[str, int]:
    """Return host and port of ``host`` or ``host:port``.

    Raises:
        ValueError: the text is neither.

    >>> host_port("10.0.0.7", 80), host_port("head:8080", 80)
    (('10.0.0.7', 80), ('head', 8080))
    """
    host, colon, port = text.partition(":")
    if not host or (colon and not (port.isascii() and port.isdecimal() and 0 < int(port) < 65_536)):
        raise ValueError(f"{text!r} is no host or host:port")
    return host, int(port or usual_port)


class Camera(msgspec.Struct, frozen=True):
    """A camera that is ready to be steered: its setup, its head's profile and address, and its framing table.

    The table is None for the product's.
    """

    setup: CameraSetup
    profile: Profile
    address: Address | None
    framing: FramingTable | None = None

    def freed_address(self) -> tuple[str, int] | None:
        """Return host and port for its FreeD messages; None if it sends none."""
        return host_port(self.setup.freed, FREED_PORT) if self.setup.freed else None

    def pose_source(self) -> PoseSource | None:
        """Listen for the head's own poses; None if it sends none. Raises FreedPortError."""
        to = self.setup.freed_in
        return FreedReceiver(to.port, to.id, self.setup.mount, to.frame, to.delay_ms) if to else None

    def bounds(self) -> Bounds:
        """Return its soft limits and forbidden zones."""
        setup = self.setup
        return bounds_of(self.profile, setup.pan_limits_deg, setup.tilt_limits_deg, setup.forbidden)


def load_installation(path: Path, environment: Mapping[str, str] = os.environ) -> tuple[Camera, ...]:
    """Load the cameras of a file.

    Args:
        path: of the TOML file.
        environment: where users and passwords are.

    Raises:
        InstallationError: the file cannot be read, a field is unknown or wrong, or two values contradict each other.
    """
    try:
        setups = _setups(read_toml(path))
        names = [one.name for one in setups]
        for name in names:
            if names.count(name) > 1:
                raise InstallationError(f"camera {name!r}: name: stands twice")
        cameras = tuple(_camera(setup, path.parent, environment) for setup in setups)
        for field, fault in _clashes(cameras):
            raise InstallationError(f"{field}: {fault}")
    except OSError as error:
        raise InstallationError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (UntrustedError, InstallationError) as error:
        raise InstallationError(f"{path}: {error}") from error
    return cameras


def _setups(document: dict[str, Any]) -> list[CameraSetup]:
    """Return the tables of a document. Raises InstallationError, which names the camera."""
    tables = document.get("camera", [])
    if isinstance(tables, dict):
        raise InstallationError("camera: [camera] is one table; each camera begins with [[camera]]")
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise InstallationError("camera: each camera is a table that begins with [[camera]]")
    for key in document:
        if key != "camera":
            raise InstallationError(f"{key}: there is no such table; each camera begins with [[camera]]")
    if not 1 <= len(tables) <= CAMERAS_MAX:
        raise InstallationError(f"camera: {len(tables)} cameras, not 1 to {CAMERAS_MAX}")
    setups = []
    for number, table in enumerate(tables, 1):
        named = table.get("name")
        where = f"camera {named!r}" if isinstance(named, str) else f"camera {number}"
        for field in ("user", "password"):
            if field in table:
                raise InstallationError(f"{where}: {field}: never stands here; use {field}_env")
        try:
            setups.append(convert_table(table, CameraSetup))
        except TableError as error:
            raise InstallationError(f"{where}: {error}") from error
    return setups


def _camera(setup: CameraSetup, folder: Path, environment: Mapping[str, str]) -> Camera:
    where = f"camera {setup.name!r}"
    if not is_name(setup.name):
        raise InstallationError(f"{where}: name: may not be a name of a camera")
    named = setup.profile if not setup.profile.endswith(".toml") else folder / setup.profile
    try:
        row = protocol(setup.protocol)
        profile = load_profile(named)
        framing = load_framing(folder / setup.framing) if setup.framing else None
        role_of(setup.role, setup.player)
    except FramingError as error:
        raise InstallationError(f"{where}: framing: {error}") from error
    except ProtocolError as error:
        raise InstallationError(f"{where}: protocol: {error}") from error
    except ProfileError as error:
        raise InstallationError(f"{where}: profile: {error}") from error
    except UserError as error:
        raise InstallationError(f"{where}: role: {error}") from error
    for field, fault in _faults(setup, profile, environment):
        raise InstallationError(f"{where}: {field}: {fault}")
    user, password = (environment[name] if name else "" for name in (setup.user_env, setup.password_env))
    address = Address(*host_port(setup.address, row.port), user, password) if setup.address else None
    return Camera(setup, profile, address, framing)


def _faults(setup: CameraSetup, profile: Profile, environment: Mapping[str, str]) -> Iterator[Fault]:
    """Yield what is wrong with a camera.

    Args:
        setup: of the camera; protocol, profile and role exist.
        profile: of its head.
        environment: where user and password are.
    """
    yield from _address_faults(setup)
    yield from _mount_faults(setup.mount)
    for field, limits, axis in (
        ("pan_limits_deg", setup.pan_limits_deg, profile.pan),
        ("tilt_limits_deg", setup.tilt_limits_deg, profile.tilt),
    ):
        if limits and not limits[0] < limits[1]:
            yield field, f"{list(limits)} {_LOWER_FIRST}"
        elif limits and not axis.min_deg <= limits[0] < limits[1] <= axis.max_deg:
            yield field, f"{list(limits)} is not inside the travel, {_travel(axis)}"
    for zone in setup.forbidden:
        if not (zone.pan_deg[0] < zone.pan_deg[1] and zone.tilt_deg[0] < zone.tilt_deg[1]):
            yield "forbidden", f"each range {_LOWER_FIRST}"
    yield from _preset_faults(setup, profile)
    if setup.lead_ms is not None and not 0 <= setup.lead_ms <= 1_000:
        yield "lead_ms", f"{setup.lead_ms} is not 0 to 1000"
    yield from _protocol_faults(setup, profile)
    yield from _login_faults(setup, environment)


def _clashes(cameras: Sequence[Camera]) -> Iterator[Fault]:
    """Yield what two cameras of a file may not have in common."""
    seen: dict[tuple[object, ...], str] = {}
    for one in cameras:
        setup, at = one.setup, one.address
        freed = one.freed_address()
        for field, key in (
            ("address", (at.host.lower(), at.port) if at else None),
            ("freed_id", ("freed", freed[0].lower(), freed[1], setup.freed_id) if freed else None),
            ("freed_in", ("port", setup.freed_in.port) if setup.freed_in else None),
        ):
            if key is not None and key in seen:
                yield f"camera {setup.name!r}: {field}", f"camera {seen[key]!r} has the same"
            elif key is not None:
                seen[key] = setup.name


def _address_faults(setup: CameraSetup) -> Iterator[Fault]:
    for field, address in (("address", setup.address), ("freed", setup.freed)):
        try:
            host_port(address or "localhost", 1)
        except ValueError as error:
            yield field, str(error)


def _mount_faults(mount: Mount) -> Iterator[Fault]:
    for name, (low, high) in MOUNT_RANGES.items():
        if not low <= getattr(mount, name) <= high:
            yield f"mount.{name}", f"{getattr(mount, name):g} is not {low:g} to {high:g}"


def _preset_faults(setup: CameraSetup, profile: Profile) -> Iterator[Fault]:
    zoom = profile.zoom
    for name, preset in setup.presets.items():
        where = f"presets.{name}"
        for field, value, axis, limits in (
            ("pan_deg", preset.pan_deg, profile.pan, setup.pan_limits_deg),
            ("tilt_deg", preset.tilt_deg, profile.tilt, setup.tilt_limits_deg),
        ):
            if not axis.min_deg <= value <= axis.max_deg:
                yield f"{where}.{field}", f"{value:g} is outside the travel of the head, {_travel(axis)}"
            elif limits and not limits[0] <= value <= limits[1]:
                yield f"{where}.{field}", f"{value:g} is outside the soft limits, {_range(limits)}"
        low, high = zoom.tele_width_deg, zoom.wide_width_deg
        if not low - WIDTH_SLACK_DEG <= preset.width_deg <= high + WIDTH_SLACK_DEG:
            yield f"{where}.width_deg", f"{preset.width_deg:g} is outside the lens, {low:.1f} to {high:.1f}"
        if any(zone.holds(preset.pan_deg, preset.tilt_deg) for zone in setup.forbidden):
            yield where, "lies inside a forbidden zone"


def _protocol_faults(setup: CameraSetup, profile: Profile) -> Iterator[Fault]:
    """Yield a profile that the protocol cannot speak: VISCA needs the units of a head, AW its number of steps."""
    if setup.protocol.startswith("visca") and profile.link.port == 80:
        yield "profile", f"{setup.profile} has no units of VISCA (its port is 80); protocol is {setup.protocol}"
    if not setup.protocol.startswith("visca") and profile.link.speed_mode:
        yield "profile", f"{setup.profile} has the speed mode {profile.link.speed_mode}, which only VISCA can set"
    steps = {len(axis.speeds_deg_s) for axis in (profile.pan, profile.tilt)}
    if setup.protocol == "aw" and steps != {AW_STEPS}:
        yield "profile", f"{setup.profile} has not the {AW_STEPS} speed steps of the protocol aw"


def _login_faults(setup: CameraSetup, environment: Mapping[str, str]) -> Iterator[Fault]:
    for field, name, other in (
        ("user_env", setup.user_env, setup.password_env),
        ("password_env", setup.password_env, setup.user_env),
    ):
        if name and not other:
            yield field, "user_env and password_env stand together"
        elif name and name not in environment:
            yield field, f"the environment has no variable {name}"
        elif name and not environment[name]:
            yield field, f"the variable {name} is empty"


def _travel(axis: AxisProfile) -> str:
    return _range((axis.min_deg, axis.max_deg))


def _range(ends: Range) -> str:
    return f"{ends[0]:.1f} to {ends[1]:.1f}"
