"""Several cameras: how good each picture is now, which one is best, and which role each free camera takes. Pure.

Theory of operation
-------------------
A *framing score* is between 0 and 1: the share of what the picture should hold that it does hold, by the chances of
the subjects, times how near its width is to the one that the situation asks for.

*Advice* names the picture that is best now. It changes only to a picture that is clearly better, and not before the
present one has been seen for some seconds, unless that one has lost the play. It cuts nothing.

*Assignment* gives each free camera a role. A role is worth more to a camera that sees its subject from near and
square on; the same role again, or one that shows nearly the same, is worth little. The best sum of all is found by the
Hungarian algorithm over cameras and roles, so that no two cameras show the same. A camera keeps its role unless another
one is clearly better.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from camera.head import Pose
from camera.interest import Interest
from camera.mount import Mount
from camera.roles import ROLES, Role

#: Share of the half width, from the edge, in which a subject counts half.
EDGE = 0.15
#: A picture must be better by this much, and the present one this long on, before the advice changes.
BETTER_BY, SHOT_MIN_US = 0.15, 3_000_000
#: Below this score the present picture has lost the play.
LOST = 0.2
#: Advantage of the role that a camera has already.
KEEPS = 0.15
#: Distance from which a camera sees half as well as from nearby.
FAR_M = 80.0
#: Worth of the roles that a free camera may take, the most wanted first.
WORTH: Mapping[str, float] = {"main": 1.0, "tight": 0.8, "goal-left": 0.6, "goal-right": 0.6, "high-behind": 0.4}


class Advice(msgspec.Struct, frozen=True):
    """The picture that is best now, and since when; empty before the first."""

    camera: str = ""
    since_us: int = 0


def framing_score(focus: Interest, pose: Pose, mount: Mount, aspect: float) -> float:
    """Return how well a picture shows the play: 0 if it shows none of it, 1 if all of it at the right size."""
    total = shown = 0.0
    for rank, one in enumerate(focus.subjects):
        weight = one.chance * (2.0 if rank == 0 else 1.0)  # the ball counts twice
        place = (one.x_m, one.y_m, one.z_m)
        inside = mount.in_picture(pose, aspect, *place) + mount.in_picture(pose, aspect, *place, EDGE)
        total, shown = total + weight, shown + weight * inside / 2
    if total == 0.0:
        return 0.0
    distance_m = mount.distance_m(focus.x_m, focus.y_m, focus.z_m)
    width_m = 2 * distance_m * math.tan(math.radians(pose.width_deg / 2))
    size = math.exp(-abs(math.log(width_m / focus.width_m)))
    return shown / total * (0.4 + 0.6 * size)


def advised(scores: Mapping[str, float], now: Advice, now_us: int) -> Advice:
    """Return the advice after now: the best picture, with a shortest length of a shot.

    Args:
        scores: framing score by camera that could go on air.
        now: the advice so far.
        now_us: any monotonic time.
    """
    if not scores:
        return Advice()
    best = max(scores, key=lambda name: (scores[name], name))
    present = scores.get(now.camera)
    if present is not None:
        is_young = now_us - now.since_us < SHOT_MIN_US and present >= LOST
        if best == now.camera or is_young or scores[best] < present + BETTER_BY:
            return now
    return Advice(best, now_us)


def assigned(
    mounts: Mapping[str, Mount], taken: Sequence[str], now: Mapping[str, str], length_m: float = 105.0
) -> dict[str, str]:
    """Return a role for each free camera, no two the same while there are roles left.

    Args:
        mounts: of the free cameras, by name.
        taken: roles of the other cameras.
        now: roles that the free cameras have.
        length_m: length of the pitch.
    """
    cameras, roles = list(mounts), [role for role in WORTH if role not in taken]
    if not cameras:  # the solver's import takes a third of a second, at the start of a run
        return {}
    from scipy.optimize import linear_sum_assignment

    roles += ["main"] * max(0, len(cameras) - len(roles))  # more cameras than roles: the play again
    worth = np.array(
        [[_worth(mounts[name], role, length_m) + KEEPS * (now.get(name) == role) for role in roles] for name in cameras]
    )
    rows, columns = linear_sum_assignment(worth, maximize=True)
    return {cameras[row]: roles[column] for row, column in zip(rows, columns, strict=True)}


def _worth(mount: Mount, name: str, length_m: float) -> float:
    """Return what a role is worth to a camera, by the distance and the side from which it sees the subject."""
    role: Role = ROLES[name]
    at = (role.goal * length_m / 2, 0.0)
    nearness = 1 / (1 + math.dist(at, (mount.x_m, mount.y_m)) / FAR_M)
    side = abs(mount.y_m - at[1]) / max(math.dist(at, (mount.x_m, mount.y_m)), 1.0)
    from_behind = name == "high-behind"
    square = 1 - side if from_behind else side
    return WORTH[name] * nearness * (0.5 + 0.5 * square)
