"""The cameras of a venue, as one TOML file: address, protocol, profile, mount, role, style, limits, presets.

``docs/cameras.md`` shows a file with every field. A password never stands in it: the file names the environment
variables that hold user and password.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from camera.bounds import Bounds, Range, Zone, bounds_of
from camera.framing import FramingError, FramingTable, load_framing
from camera.freed import PORT as FREED_PORT
from camera.freed import FreedReceiver
from camera.head import Pose
from camera.head_connection import PoseSource
from camera.mount import Mount
from camera.planner import STYLES, Style
from camera.profile import Profile, ProfileError, load_profile
from camera.protocols.registry import Address, ProtocolError, protocol
from camera.roles import Role, role_of
from football.errors import UserError
from football.untrusted import UntrustedError, is_name, read_toml

#: Limit of the cameras of one file.
CAMERAS_MAX = 16


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
        freed: ``host`` or ``host:port`` that gets the pose as FreeD D1, 50 times a second; empty sends none.
        freed_id: camera id in those messages.
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


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    camera: tuple[CameraSetup, ...]


def load_installation(path: Path, environment: Mapping[str, str] = os.environ) -> tuple[Camera, ...]:
    """Load the cameras of a file.

    Args:
        path: of the TOML file.
        environment: where users and passwords are.

    Raises:
        InstallationError: the file cannot be read, a field is unknown or wrong, or two values contradict each other.
    """
    try:
        cameras = msgspec.convert(read_toml(path), _File).camera
    except OSError as error:
        raise InstallationError(f"{path}: cannot be read: {error}") from error
    except (UntrustedError, msgspec.ValidationError) as error:
        raise InstallationError(f"{path}: {error}") from error
    if not 1 <= len(cameras) <= CAMERAS_MAX:
        raise InstallationError(f"{path}: camera: {len(cameras)} cameras, not 1 to {CAMERAS_MAX}")
    ports = [camera.freed_in.port for camera in cameras if camera.freed_in]
    if len(ports) != len(set(ports)):
        raise InstallationError(f"{path}: camera: freed_in: two cameras listen at one port")
    names = [camera.name for camera in cameras]
    for name in names:
        if names.count(name) > 1:
            raise InstallationError(f"{path}: camera {name}: name: stands twice")
    return tuple(_camera(setup, path, environment) for setup in cameras)


def _camera(setup: CameraSetup, path: Path, environment: Mapping[str, str]) -> Camera:
    where = f"{path}: camera {setup.name!r}"
    if not is_name(setup.name):
        raise InstallationError(f"{where}: name: may not be a name of a camera")
    named = setup.profile if not setup.profile.endswith(".toml") else path.parent / setup.profile
    try:
        row = protocol(setup.protocol)
        profile = load_profile(named)
        framing = load_framing(path.parent / setup.framing) if setup.framing else None
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


def _faults(setup: CameraSetup, profile: Profile, environment: Mapping[str, str]) -> list[tuple[str, str]]:
    faults: list[tuple[str, str]] = []
    for field, address in (("address", setup.address), ("freed", setup.freed)):
        try:
            host_port(address or "localhost", 1)
        except ValueError as error:
            faults.append((field, str(error)))
    for field, limits, axis in (
        ("pan_limits_deg", setup.pan_limits_deg, profile.pan),
        ("tilt_limits_deg", setup.tilt_limits_deg, profile.tilt),
    ):
        if limits and not axis.min_deg <= limits[0] < limits[1] <= axis.max_deg:
            faults.append((field, f"{list(limits)} is not inside the travel {axis.min_deg:.1f} to {axis.max_deg:.1f}"))
    for zone in setup.forbidden:
        if not (zone.pan_deg[0] < zone.pan_deg[1] and zone.tilt_deg[0] < zone.tilt_deg[1]):
            faults.append(("forbidden", "each range needs its lower end first"))
    for name, preset in setup.presets.items():
        within = profile.pan.min_deg <= preset.pan_deg <= profile.pan.max_deg
        within = within and profile.tilt.min_deg <= preset.tilt_deg <= profile.tilt.max_deg
        if not within:
            faults.append((f"presets.{name}", "lies outside the travel of the head"))
        elif any(zone.holds(preset.pan_deg, preset.tilt_deg) for zone in setup.forbidden):
            faults.append((f"presets.{name}", "lies inside a forbidden zone"))
    if setup.lead_ms is not None and not 0 <= setup.lead_ms <= 1_000:
        faults.append(("lead_ms", f"{setup.lead_ms} is not 0 to 1000"))
    for field, name in (("user_env", setup.user_env), ("password_env", setup.password_env)):
        if name and name not in environment:
            faults.append((field, f"the environment has no variable {name}"))
    return faults
