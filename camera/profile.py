"""Device profiles: the differences between pan-tilt-zoom heads, as data in ``camera/profiles/*.toml``.

A head's speed table is ``speeds_deg_s`` under ``[pan]`` and ``[tilt]`` of its file, for example
``camera/profiles/brc-x400.toml``: degrees a second of drive steps 1, 2, 3 and so on. ``camera.drive`` chooses a step
from it. ``docs/steering.md`` shows every field and how to add a head.

Inside the product a pose is in degrees: pan grows to the RIGHT (clockwise seen from above), tilt grows UP, and zoom
is the width of the picture in degrees. Only this module and the codecs know a device's units and signs.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_right
from pathlib import Path
from typing import Literal

import msgspec

from camera.toml_tables import TableError, convert_table
from football.errors import UserError
from football.untrusted import UntrustedError, read_toml

#: Limit of speed steps of an axis: one byte of VISCA without its highest bit.
STEPS_MAX = 0x7F

_PROFILES = Path(__file__).parent / "profiles"


class ProfileError(UserError, ValueError):
    """A device profile is missing or wrong; the message names the file, the field and the reason."""


class AxisProfile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One turning axis of a device.

    Attributes:
        nibbles: half bytes of a position on the wire of VISCA (two's complement over all of them).
        units_per_deg: device units to one degree.
        min_units, max_units: ends of travel in device units.
        positive: where the device's own units grow: ``right`` or ``left`` for pan, ``up`` or ``down`` for tilt.
        speeds_deg_s: speeds of steps 1, 2, 3 ... of a drive command, strictly rising.
        first_step: number of step 1 on the wire of VISCA: a slow mode may count its steps from another one on.
    """

    nibbles: int
    units_per_deg: float
    min_units: int
    max_units: int
    positive: Literal["right", "left", "up", "down"]
    speeds_deg_s: tuple[float, ...]
    first_step: int = 1

    @property
    def sign(self) -> int:
        """+1 if the device's units grow as ours do (right, up), else -1."""
        return 1 if self.positive in ("right", "up") else -1

    @property
    def min_deg(self) -> float:
        """Lower end of travel in our degrees."""
        return min(self.sign * self.min_units, self.sign * self.max_units) / self.units_per_deg

    @property
    def max_deg(self) -> float:
        """Upper end of travel in our degrees."""
        return max(self.sign * self.min_units, self.sign * self.max_units) / self.units_per_deg

    def units(self, angle_deg: float) -> int:
        """Return the nearest device units of an angle; angles beyond the travel give its end."""
        exact = self.sign * angle_deg * self.units_per_deg
        return max(self.min_units, min(self.max_units, round(exact)))

    def deg(self, units: int) -> float:
        """Return the angle of a position in device units."""
        return self.sign * units / self.units_per_deg

    def speed_deg_s(self, step: int) -> float:
        """Return the signed speed of a signed step (0 is standing still)."""
        assert abs(step) <= len(self.speeds_deg_s), f"step {step} is not in the speed table"
        return math.copysign(self.speeds_deg_s[abs(step) - 1], step) if step else 0.0


class ZoomProfile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The zoom lens: a curve of (units, magnification), linear in the logarithm of magnification between nodes.

    Attributes:
        nibbles: half bytes of a position on the wire.
        max_units: position at full tele, in device units; full wide is 0.
        wide_width_deg: horizontal angle of view at magnification 1.
        aspect: width of the picture divided by its height.
        curve: nodes (units, magnification), rising in both.
        speeds_units_s: speeds of zoom steps 0 to 7, in device units a second.
    """

    nibbles: int
    max_units: int
    wide_width_deg: float
    aspect: float
    curve: tuple[tuple[int, float], ...]
    speeds_units_s: tuple[float, ...]

    def width_deg(self, units: float) -> float:
        """Return the horizontal angle of view at a zoom position."""
        return magnified_deg(self.wide_width_deg, self._magnification(units))

    def units(self, width_deg: float) -> int:
        """Return the nearest zoom position for a horizontal angle of view; an end of the lens for one beyond it."""
        ratio = math.tan(math.radians(self.wide_width_deg / 2)) / math.tan(math.radians(width_deg / 2))
        if ratio <= self.curve[0][1]:
            return self.curve[0][0]
        if ratio >= self.curve[-1][1]:
            return self.curve[-1][0]
        node = bisect_right([node[1] for node in self.curve], ratio)
        (u0, m0), (u1, m1) = self.curve[node - 1], self.curve[node]
        return round(u0 + (u1 - u0) * math.log(ratio / m0) / math.log(m1 / m0))

    @property
    def tele_width_deg(self) -> float:
        """Narrowest horizontal angle of view."""
        return magnified_deg(self.wide_width_deg, self.curve[-1][1])

    def height_deg(self, width_deg: float) -> float:
        """Return the vertical angle of view of a picture with this horizontal one."""
        return 2 * math.degrees(math.atan(math.tan(math.radians(width_deg / 2)) / self.aspect))

    def _magnification(self, units: float) -> float:
        clipped = max(self.curve[0][0], min(self.curve[-1][0], units))
        node = min(bisect_right([node[0] for node in self.curve], clipped), len(self.curve) - 1)
        (u0, m0), (u1, m1) = self.curve[node - 1], self.curve[node]
        return m0 * math.exp(math.log(m1 / m0) * (clipped - u0) / (u1 - u0))


def magnified_deg(width_deg: float, magnification: float) -> float:
    """Return the horizontal angle of view of a lens of ``width_deg`` at a magnification.

    >>> round(magnified_deg(70.0, 20.0), 2)
    4.01
    """
    return 2 * math.degrees(math.atan(math.tan(math.radians(width_deg / 2)) / magnification))


class LinkProfile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The device's network interface.

    Attributes:
        port: UDP port for VISCA over IP. The program that makes the controller passes it on.
        command_interval_us: shortest time between two drive commands.
        sockets: VISCA sockets: commands that the device executes at the same time.
        absolute_speeds: ``each`` if an absolute move carries two speeds, ``shared`` if one.
        speed_mode: to which of the tables that the head has the speeds belong; it is set on each connection. Sony's
            heads have a slow mode for pan and tilt, ILME-FR7 and BRC-AM7 normal or extended steps. Empty sets none.
            VISCA only.
    """

    port: int
    command_interval_us: int
    sockets: int
    absolute_speeds: Literal["each", "shared"]
    speed_mode: Literal["", "slow-off", "slow-on", "steps-normal", "steps-extended"] = ""


class MotionProfile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the head follows a drive command, as ``touchline cameras measure`` finds it.

    Attributes:
        dead_time_ms: time from sending a command until the head begins to obey.
        accel_deg_s2: its acceleration.
        lag_ms: mean delay with which its speed follows a commanded one, see ``camera.drive.Response``.
    """

    dead_time_ms: float = 0.0
    accel_deg_s2: float = 200.0
    lag_ms: float = 100.0


class Profile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All data of one model of a head. ``name`` is shown on the page and stored with its rows."""

    name: str
    pan: AxisProfile
    tilt: AxisProfile
    zoom: ZoomProfile
    link: LinkProfile
    motion: MotionProfile = MotionProfile()

    @property
    def aspect(self) -> float:
        """Width by height of the picture."""
        return self.zoom.aspect


def profile_names() -> list[str]:
    """Return the names of the profiles in ``camera/profiles``."""
    return sorted(file.stem for file in _PROFILES.glob("*.toml"))


def load_profile(name_or_path: str | Path = "brc-x400") -> Profile:
    """Load a profile by its file name in ``camera/profiles`` (without ``.toml``), or from a TOML file anywhere.

    Raises:
        ProfileError: no such profile, not TOML, a field missing or unknown, or values that contradict each other.
    """
    path = Path(name_or_path)
    packaged = _PROFILES / f"{name_or_path}.toml"
    where, file = (str(path), path) if path.suffix == ".toml" else (f"profile {name_or_path}", packaged)
    try:
        profile = convert_table(read_toml(file), Profile)
    except FileNotFoundError as error:
        raise ProfileError(f"{where}: there is none; there are {', '.join(profile_names())}") from error
    except OSError as error:
        raise ProfileError(f"{where}: cannot be read: {error.strerror or error}") from error
    except (UntrustedError, TableError) as error:
        raise ProfileError(f"{where}: {error}") from error
    for field, fault in _faults(profile):
        raise ProfileError(f"{where}: {field}: {fault}")
    return profile


def _faults(profile: Profile) -> list[tuple[str, str]]:
    faults: list[tuple[str, str]] = []
    for field, axis, directions in (
        ("pan", profile.pan, ("right", "left")),
        ("tilt", profile.tilt, ("up", "down")),
    ):
        bound = 1 << (4 * axis.nibbles - 1)
        if axis.positive not in directions:
            faults.append((f"{field}.positive", f"{axis.positive} is not one of {directions}"))
        if not -bound <= axis.min_units < axis.max_units < bound:
            faults.append((f"{field}.min_units", f"travel does not fit into {axis.nibbles} nibbles"))
        if axis.units_per_deg <= 0:
            faults.append((f"{field}.units_per_deg", "must be positive"))
        if not axis.speeds_deg_s or not _rises((0.0, *axis.speeds_deg_s)) or len(axis.speeds_deg_s) > STEPS_MAX:
            faults.append((f"{field}.speeds_deg_s", f"must be 1 to {STEPS_MAX} rising positive speeds"))
        if not 1 <= axis.first_step <= STEPS_MAX + 1 - len(axis.speeds_deg_s):
            faults.append((f"{field}.first_step", f"with it, the steps are not within 1 to {STEPS_MAX}"))
    zoom = profile.zoom
    if len(zoom.curve) < 2 or not (_rises([n[0] for n in zoom.curve]) and _rises([n[1] for n in zoom.curve])):
        faults.append(("zoom.curve", "needs two nodes or more, rising in units and magnification"))
    elif zoom.curve[0] != (0, 1.0) or zoom.curve[-1][0] != zoom.max_units:
        faults.append(("zoom.curve", "must start at [0, 1.0] and end at max_units"))
    if len(zoom.speeds_units_s) != 8:
        faults.append(("zoom.speeds_units_s", "needs the eight zoom speeds 0..7"))
    if not 0 < zoom.wide_width_deg < 180:
        faults.append(("zoom.wide_width_deg", "must lie between 0 and 180"))
    if not 0 <= profile.motion.lag_ms <= 1_000:
        faults.append(("motion.lag_ms", "must be 0 to 1000"))
    if not 0 <= profile.motion.dead_time_ms <= 1_000 or not 1 <= profile.motion.accel_deg_s2 <= 10_000:
        faults.append(("motion", "dead_time_ms must be 0 to 1000, accel_deg_s2 1 to 10000"))
    if profile.link.command_interval_us <= 0 or not 1 <= profile.link.sockets <= 15:
        faults.append(("link", "interval and number of sockets must be positive"))
    return faults


def _rises(values: list[float] | list[int] | tuple[float, ...]) -> bool:
    return all(a < b for a, b in itertools.pairwise(values))
