"""The authority over a camera: the operator, a rule, the care for failures, or the planner, in this order. Pure.

The authority chooses, at each tick, the order that the planner obeys, and the style and role with which it moves. An
order of the operator or of a rule to drive, hold or go to a pose wins over the care; one to follow a player yields to
it, because a player who is not seen leaves a frozen tight picture. A camera that is on air moves in the calm style, and
takes no order that would move it to another picture, unless the operator insists; rules never do. A rule that ends
while its picture is on air keeps it there.
"""

from __future__ import annotations

import math
from typing import Final, Literal

import msgspec

from camera.bounds import Bounds
from camera.failures import Care, Signs, fault_of, watched
from camera.head import Pose
from camera.mount import Mount
from camera.operator import GoTo, Hold, ManualDrive, Order, Track
from camera.planner import Style
from camera.profile import Profile
from camera.roles import Role

#: Width of the wide picture in metres, at the distance of where play was.
WIDE_M: Final = 60.0
#: Distance from the wide picture at which a camera counts as there: degrees, and share of the width.
NEAR_DEG: Final = 1.0
NEAR_SHARE: Final = 0.06

_MOVES: Final = "this would move it to another picture"

Who = Literal["planner", "care", "rule", "operator"]


class Steering(msgspec.Struct, frozen=True):
    """The task of the planner at a tick: its order (None: follow the play), style and role; and who says so."""

    order: Order | None
    style: Style
    role: Role
    by: Who


class Authority:
    """Decides for one camera. Setters may be called from another thread than ``step``.

    Args:
        mount, profile, bounds: of the camera.
        role: its own.
        style: its own.
        calm: the style on air, and around failures.

    Attributes:
        operator: the operator's command in force; None for none.
        rule: that of a rule.
        rule_name: the name of that rule; empty for none.
        style, role: those of its own.
        on_air: its picture is on air.
        mount: may be replaced.
        care: the state of the care for failures.
    """

    def __init__(self, mount: Mount, profile: Profile, bounds: Bounds, role: Role, style: Style, calm: Style) -> None:
        self.mount, self._profile, self._bounds, self._calm = mount, profile, bounds, calm
        self.role, self.style = role, style
        self.operator: Order | Track | None = None
        self.rule: Order | Track | None = None
        self.rule_name = ""
        self.on_air = False
        self.care = Care()
        self._play: tuple[float, float] = (0.0, 0.0)

    def give_up(self) -> None:
        """Take note that the camera is not steered any more: nothing is in force, and the operator is asked for."""
        self.operator = self.rule = None
        self.rule_name, self.care = "", Care("silent", "steering", self.care.since_us, None)

    def see_play(self, x_m: float, y_m: float) -> None:
        """Remember where play is."""
        self._play = x_m, y_m

    def step(self, now_us: int, signs: Signs, pose: Pose) -> Steering:
        """Return who steers at a tick, and how.

        Args:
            now_us: any monotonic time.
            signs: what is observed.
            pose: of the camera, as planned.
        """
        given, by = (self.operator, "operator") if self.operator is not None else (self.rule, "rule")
        role = Role(player=given.player) if isinstance(given, Track) else self.role
        wide = self.pose_at(*self._play, WIDE_M)
        fault = fault_of(signs, role)
        self.care = watched(self.care, fault, now_us, has_arrived=_is_near(pose, wide))
        style = self._calm if self.on_air or self.care.is_calm else self.style
        if given is not None and not isinstance(given, Track):
            return Steering(given, self._calm if self.on_air else self.style, role, by)
        if self.care.shows_wide:
            return Steering(GoTo(wide), style, role, "care")
        return Steering(None, style, role, by if given is not None else "planner")

    def refusal(self, command: Order | Track | None) -> str:
        """Return why an operator's command may not be given now without insisting; empty if it may.

        None hands the camera back, to a rule or the planner, whose picture is another one.
        """
        moves = isinstance(command, GoTo | Track) or (command is None and self.operator is not None)
        return f"it is on air: {_MOVES}" if self.on_air and moves else ""

    def take_rule(self, command: Order | Track | None, name: str) -> str:
        """Take the command of a rule, or None at its end; return why it has to wait, empty if it is in force now."""
        if self.care.fault == "steering":
            return self.care.problem
        if self.on_air and self.operator is None and command != self.rule:
            return f"it is on air: {_MOVES}"
        self.rule, self.rule_name = command, name
        return ""

    def pose_at(self, x_m: float, y_m: float, width_m: float) -> Pose:
        """Return the pose that shows a point on the grass in a picture of a width, as nearly as the camera can."""
        zoom = self._profile.zoom
        width_deg = 2 * math.degrees(math.atan(width_m / 2 / self.mount.distance_m(x_m, y_m)))
        width_deg = max(zoom.tele_width_deg, min(zoom.wide_width_deg, width_deg))
        return Pose(*self._bounds.clipped(*self.mount.aim(x_m, y_m)), width_deg)


def _is_near(pose: Pose, goal: Pose) -> bool:
    off_deg = max(abs(pose.pan_deg - goal.pan_deg), abs(pose.tilt_deg - goal.tilt_deg))
    return off_deg < NEAR_DEG and abs(math.log(pose.width_deg / goal.width_deg)) < NEAR_SHARE


#: Names of the commands, as states and logs show them.
NAMES: Final[dict[type, str]] = {type(None): "", ManualDrive: "drive", Hold: "hold", GoTo: "preset", Track: "player"}
