"""The point of interest: the ball a little ahead of now, pulled softly by events. Pure.

Theory of operation
-------------------
The interest is a weighted mean of points: the ball, extrapolated (level at constant speed, in height as in free
flight), with weight 1, and for each live event the point that its kind names (the goal for a shot, the receiver
for a pass, the spot for a restart) with the weight of its rule x confidence, halved while the event is tentative,
fading to nothing over its duration. A withdrawn event is removed at once: the point may jump, the movement may not
(``camera.motion`` ensures that).
"""

from __future__ import annotations

import math
from typing import Literal

import msgspec

from football.constants import GRAVITY_M_S2
from football.update_stream import BallView, EventRecord, UpdateRecord, View

Where = Literal["place", "goal", "receiver"]
Framing = Literal["play", "goalmouth", "restart"]

#: A tentative event pulls with this share of its weight.
TENTATIVE = 0.5
#: Events that pull at one time; older ones make room.
PULLS_MAX = 8
#: Extrapolation of the ball never reaches further than this.
AHEAD_US_MAX = 1_000_000
#: Nor further outside the lines than this.
BEYOND_M = 3.0
#: A shot pulls to a point of the goal line at most this far from its middle.
GOAL_M = 4.0


class Rule(msgspec.Struct, frozen=True):
    """How events of a kind pull: target, weight (the ball is 1), duration, and the framing they ask for."""

    where: Where
    weight: float
    lasts_us: int
    framing: Framing


#: Kind, or its first word -> rule; the longer name counts. ``hierarchy.md`` names the kinds.
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
    """Return the rule for an event kind; None if it does not concern the camera."""
    return RULES.get(kind) or RULES.get(kind.split(".", 1)[0])


def pull_of(update: UpdateRecord, view: View | None, length_m: float) -> Pull | None:
    """Return the pull of an asserted event; None if its kind has no rule or its point is not known."""
    event = update.event
    rule = rule_of(event.kind)
    if rule is None:
        return None
    point = _point(rule.where, event, view, length_m)
    return Pull(rule, event, event.ts_us + rule.lasts_us, *point) if point else None


def interest(
    view: View, pulls: tuple[Pull, ...], now_us: int, ahead_us: int, frontier_us: int, size_m: tuple[float, float]
) -> Interest | None:
    """Return the point of interest at stream time ``now_us``, ``ahead_us`` ahead; None if there is no ball.

    Args:
        view: newest positions.
        pulls: events that pull.
        now_us: the stream's clock now.
        ahead_us: how much ahead of now to look.
        frontier_us: events before it are confirmed and pull fully.
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
        firmness = 1.0 if pull.event.ts_us < frontier_us else TENTATIVE
        weight = pull.rule.weight * pull.event.confidence * firmness * min(1.0, left)
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
    there = position + velocity * ahead_s
    if abs(there) <= bound or abs(there) <= abs(position):
        return there, velocity
    return math.copysign(max(bound, abs(position)), there), 0.0


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
    """Return x of the goal a shot flies at: in the ball's direction, else the nearer one."""
    if ball and abs(ball.vx_m_s) > 1.0:
        return math.copysign(length_m / 2, ball.vx_m_s)
    return math.copysign(length_m / 2, event.x_m if event.x_m is not None else ball.x_m if ball else 1.0)


def _receiver(event: EventRecord, view: View | None) -> tuple[float, float] | None:
    """Return where the pass will be met if the event says so, else where the receiver is."""
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
