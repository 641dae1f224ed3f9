"""The point of interest: the ball a little ahead of now, pulled softly by events. Pure.

Theory of operation
-------------------
The point of interest is a weighted mean of points. The ball has weight 1; it is extrapolated, on the ground at
constant speed, in height in free flight. Each recent event *pulls*: it adds the point that the rule of its kind names
(the goal for a shot, the receiver for a pass, the position of a restart). A pull weighs the weight of the rule times
the confidence of the event, half of that while the event is tentative, and fades to nothing over the rule's duration.
The heaviest pull also chooses the framing. A withdrawn event stops to pull at once. The point may then jump; the
movement does not, because ``camera.motion`` limits it.
"""

from __future__ import annotations

import math
from typing import Literal

import msgspec

from football.constants import GRAVITY_M_S2
from football.update_stream import BallView, EventRecord, UpdateRecord, View

Where = Literal["place", "goal", "receiver"]
Framing = Literal["play", "goalmouth", "restart", "player"]

#: Share of its weight with which a tentative event pulls.
TENTATIVE = 0.5
#: Limit of events that pull at the same time; the newest remain.
PULLS_MAX = 8
#: Limit of the time by which the ball is extrapolated.
AHEAD_US_MAX = 1_000_000
#: Limit of the distance beyond the lines to which the ball is extrapolated.
BEYOND_M = 3.0
#: A shot pulls to a point on the goal line, at most this far from the middle of the goal.
GOAL_M = 4.0


class Rule(msgspec.Struct, frozen=True):
    """The pull of events of one kind.

    Attributes:
        where: the point: the event's own ``place``, the ``goal``, or the ``receiver`` of a pass.
        weight: against the ball's, which is 1.
        lasts_us: time from the event until it no longer pulls.
        framing: the framing while this pull is the heaviest; it chooses the width of the picture.
    """

    where: Where
    weight: float
    lasts_us: int
    framing: Framing


#: Rule by kind, or by the first word of a kind; a whole kind goes first. ``docs/detectors.md`` lists the kinds.
RULES: dict[str, Rule] = {
    "shot.attempt": Rule("goal", 1.5, 1_500_000, "goalmouth"),
    "shot.saved": Rule("place", 0.5, 1_500_000, "goalmouth"),
    "goal.candidate": Rule("place", 2.0, 3_000_000, "goalmouth"),
    "goal.scored": Rule("place", 2.0, 4_000_000, "goalmouth"),
    "pass.attempt": Rule("receiver", 0.7, 1_500_000, "play"),
    "restart": Rule("place", 0.8, 2_500_000, "restart"),
    "out": Rule("place", 0.5, 2_000_000, "restart"),
}


class Pull(msgspec.Struct, frozen=True):
    """An event that pulls until the stream's clock reaches ``until_us``."""

    rule: Rule
    event: EventRecord
    until_us: int
    x_m: float
    y_m: float


class Interest(msgspec.Struct, frozen=True):
    """The point to look at, its velocity, and the framing."""

    x_m: float
    y_m: float
    z_m: float
    vx_m_s: float
    vy_m_s: float
    framing: Framing


def rule_of(kind: str) -> Rule | None:
    """Return the rule for an event kind; None if events of this kind do not move the camera."""
    return RULES.get(kind) or RULES.get(kind.split(".", 1)[0])


def pull_of(update: UpdateRecord, view: View | None, length_m: float) -> Pull | None:
    """Return the pull of an asserted event; None if its kind has no rule or its point is unknown."""
    event = update.event
    rule = rule_of(event.kind)
    if rule is None:
        return None
    point = _point(rule.where, event, view, length_m)
    return Pull(rule, event, event.ts_us + rule.lasts_us, *point) if point else None


def interest(
    view: View, pulls: tuple[Pull, ...], now_us: int, ahead_us: int, frontier_us: int, size_m: tuple[float, float]
) -> Interest | None:
    """Return the point of interest ``ahead_us`` after the stream time ``now_us``; None if the view has no ball.

    Args:
        view: newest positions.
        pulls: of the recent events.
        now_us: the stream's clock now.
        ahead_us: the lead, with the measured age of the views.
        frontier_us: the watermark: events before it are confirmed and pull with their whole weight.
        size_m: length and width of the pitch.
    """
    ball = view.ball
    if ball is None:
        return None
    ahead_s = min(now_us - ball.ts_us + ahead_us, AHEAD_US_MAX) / 1e6
    x_m, vx_m_s = _ahead(ball.x_m, ball.vx_m_s, ahead_s, size_m[0] / 2 + BEYOND_M)
    y_m, vy_m_s = _ahead(ball.y_m, ball.vy_m_s, ahead_s, size_m[1] / 2 + BEYOND_M)
    total, heaviest = 1.0, 0.0
    framing: Framing = "play"
    for pull in pulls:
        left = (pull.until_us - now_us) / pull.rule.lasts_us
        if left <= 0:
            continue
        certainty = 1.0 if pull.event.ts_us < frontier_us else TENTATIVE
        weight = pull.rule.weight * pull.event.confidence * certainty * min(1.0, left)
        x_m, y_m = x_m + weight * pull.x_m, y_m + weight * pull.y_m
        total += weight
        if weight > heaviest:
            framing, heaviest = pull.rule.framing, weight
    z_m = _height(ball, ahead_s)
    return Interest(x_m / total, y_m / total, z_m / total, vx_m_s / total, vy_m_s / total, framing)


def _height(ball: BallView, ahead_s: float) -> float:
    """Return the height of the ball in free flight ``ahead_s`` later, 0 once it is down."""
    return max(0.0, ball.z_m + ball.vz_m_s * ahead_s - GRAVITY_M_S2 / 2 * ahead_s * ahead_s)


def _ahead(position: float, velocity: float, ahead_s: float, bound: float) -> tuple[float, float]:
    """Return position and velocity ``ahead_s`` later; a ball that would pass ``bound`` stops there."""
    ahead = position + velocity * ahead_s
    if abs(ahead) <= bound or abs(ahead) <= abs(position):
        return ahead, velocity
    return math.copysign(max(bound, abs(position)), ahead), 0.0


def _point(where: Where, event: EventRecord, view: View | None, length_m: float) -> tuple[float, float] | None:
    if where == "goal":
        aimed_m = _number(event, "goal_y_m") or 0.0
        return _goal_x(view.ball if view else None, event, length_m), max(-GOAL_M, min(GOAL_M, aimed_m))
    if where == "receiver":
        return _receiver(event, view)
    if event.x_m is None or event.y_m is None:
        return None
    return event.x_m, event.y_m


def _goal_x(ball: BallView | None, event: EventRecord, length_m: float) -> float:
    """Return x of the goal that a shot aims at: the one in the ball's direction, else the nearer one."""
    if ball and abs(ball.vx_m_s) > 1.0:
        return math.copysign(length_m / 2, ball.vx_m_s)
    return math.copysign(length_m / 2, event.x_m if event.x_m is not None else ball.x_m if ball else 1.0)


def _receiver(event: EventRecord, view: View | None) -> tuple[float, float] | None:
    """Return the end of the pass if the event has it, else the position of the receiver."""
    x_m, y_m = _number(event, "end_x_m"), _number(event, "end_y_m")
    if x_m is not None and y_m is not None:
        return x_m, y_m
    receiver = event.detail.get("receiver")
    for body in view.players if view else ():
        if body.object_id == receiver:
            return body.x_m, body.y_m
    return None


def _number(event: EventRecord, name: str) -> float | None:
    value = event.detail.get(name)
    return float(value) if isinstance(value, int | float) else None
