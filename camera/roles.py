"""Roles of cameras: the whole play, a tight picture, one goal, the tactical view, one player."""

from __future__ import annotations

from typing import Literal

import msgspec

from camera.framing import Play
from camera.interest import Interest
from football.errors import UserError
from football.update_stream import View

#: Distance from a goal line within which the camera of that goal follows the ball.
GOAL_ZONE_M = 35.0
#: Height of the middle of a player in the picture.
BODY_M = 1.0


class RoleError(UserError, ValueError):
    """No such role, or one that lacks its player; the message says which."""


class Role(msgspec.Struct, frozen=True):
    """The subject of a camera, and how wide its pictures are.

    Attributes:
        picture: factor on the width of the style's pictures.
        goal: 0, or -1 or 1 for the camera of the goal at that end of the x axis: elsewhere than near its goal it
            ignores the ball, and waits at the goal.
        player: object id of the one player that it follows; empty follows the play.
        only_ball: True if nothing but the ball must be in its picture.
    """

    picture: float = 1.0
    goal: Literal[-1, 0, 1] = 0
    player: str = ""
    only_ball: bool = False


ROLES: dict[str, Role] = {
    "main": Role(),
    "tight": Role(picture=0.5, only_ball=True),
    "high-behind": Role(picture=2.0),
    "goal-left": Role(goal=-1),
    "goal-right": Role(goal=1),
    "follow": Role(),
    "auto": Role(),  # one of the others, which ``camera.pictures.assigned`` chooses
}


def role_of(name: str, player: str = "") -> Role:
    """Return the role of a name.

    Raises:
        RoleError: there is none, or ``follow`` has no player.
    """
    if name not in ROLES:
        raise RoleError(f"no role {name}; there are {', '.join(ROLES)}")
    if (name == "follow") != bool(player):
        raise RoleError("the role follow, and no other, needs a player")
    return msgspec.structs.replace(ROLES[name], player=player) if player else ROLES[name]


def shown(
    role: Role, focus: Interest | None, view: View, play: Play, length_m: float, ahead_s: float
) -> Interest | None:
    """Return the point that a camera of a role looks at; None if it has none now.

    Args:
        role: of the camera.
        focus: point of interest of the play; None without a ball.
        view: newest positions.
        play: widths of pictures.
        length_m: length of the pitch.
        ahead_s: time from the view to the instant that is aimed at.
    """
    if role.player:
        body = next((body for body in view.players if body.object_id == role.player), None)
        if body is None:
            return None
        x_m, y_m = body.x_m + body.vx_m_s * ahead_s, body.y_m + body.vy_m_s * ahead_s
        return Interest(x_m, y_m, BODY_M, body.vx_m_s, body.vy_m_s, play.player_m, play.player_m)
    if role.goal and (focus is None or role.goal * focus.x_m < length_m / 2 - GOAL_ZONE_M):
        width_m = play.goalmouth_m * role.picture
        return Interest(role.goal * length_m / 2, 0.0, 0.0, 0.0, 0.0, width_m, width_m)
    if focus is None:
        return None
    width_m, widest_m = focus.width_m * role.picture, focus.widest_m * role.picture
    subjects = focus.subjects[:1] if role.only_ball else focus.subjects
    return msgspec.structs.replace(focus, width_m=width_m, widest_m=widest_m, subjects=subjects)
