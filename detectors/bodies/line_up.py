"""The line-up of a kick-off: each team in its own half, one team around the centre spot (IFAB Law 8)."""

from __future__ import annotations

import math

from football.match_sheet import Team
from football.payloads import Frame


def line_up(
    frame: Frame, x_m: float, y_m: float, centre_m: float, around_m: float, slack_m: float
) -> tuple[Team, int, int]:
    """The team in the left half if the teams stand as for a kick-off, and how many stand in either half.

    Args:
        frame: those who play.
        x_m, y_m: position of the ball.
        centre_m: greatest distance of the ball from the centre spot.
        around_m: within this distance of the centre spot stand players of one team only.
        slack_m: players this far beyond the halfway line are in the other half.

    Returns:
        The team and the numbers of its players and of its opponents beyond the slack; an empty team without a line-up.
    """
    if math.hypot(x_m, y_m) > centre_m:
        return "", 0, 0
    left: dict[Team, int] = {"home": 0, "away": 0, "": 0}
    right: dict[Team, int] = {"home": 0, "away": 0, "": 0}
    near: set[Team] = set()
    for body in frame.players:
        if body.x_m < -slack_m:
            left[body.team] += 1
        elif body.x_m > slack_m:
            right[body.team] += 1
        if math.hypot(body.x_m, body.y_m) <= around_m:
            near.add(body.team)
    team: Team = "home" if left["home"] > left["away"] else "away"
    others: Team = "away" if team == "home" else "home"
    mine, theirs = left[team], right[others]
    strangers = left[others] + left[""] + right[team] + right[""]
    if len(near) != 1 or not mine or not theirs or strangers:
        return "", 0, 0
    return team, mine, theirs
