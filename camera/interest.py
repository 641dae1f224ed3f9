"""The point of interest and what must be in the picture: the ball a little ahead of now, pulled softly by events. Pure.

Theory of operation
-------------------
The point of interest is a weighted mean of points. The ball has weight 1; ``camera.lookahead`` says where it will be.
Each recent event *pulls*: its situation in the framing table (``camera.framing``) names the subject, and how heavy the
pull is, how long it holds and how it fades. While the event is tentative, the pull weighs this times the chance that
the event stands (``camera.chances``). A withdrawn event pulls no more from the next tick on. The
point may then jump; the movement does not, because ``camera.motion`` limits it, and goes on from where it is.

Besides the point there are the *subjects*: what the picture must hold. They are the ball, its likely next players, the
goal that is near, and what the situations include. Each has a chance, so that an unlikely one does not widen the
picture. The width in metres is the mean of the situations' widths by the weights of their pulls, with that of play.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import msgspec

from camera.chances import Chance
from camera.framing import FramingTable, Situation, is_among
from camera.lookahead import Outlook
from football.update_stream import BallView, BodyView, EventRecord, View

#: Limit of events that pull at the same time; the newest remain.
PULLS_MAX = 12
#: Limit of the time by which the ball is extrapolated.
AHEAD_US_MAX = 1_000_000
#: Time over which the ball's direction is taken: a pass that is met sooner goes no further.
ONWARD_S = 0.8
#: Limit of the distance beyond the lines to which the aim follows the ball.
BEYOND_M = 3.0
#: A shot pulls to a point on the goal line, at most this far from the middle of the goal.
GOAL_M = 4.0
#: Half of the width of a goal that must be in the picture.
POST_M = 3.66
#: An event that arrives this late does not pull: play has gone on.
STALE_US = 8_000_000
#: Weight of open play's width among the widths of situations.
PLAY_WEIGHT = 0.3
#: A ball at a greater angle than this from the middle of a goal, across by along, does not bring it into the picture.
GOAL_ACROSS = 1.2

Point = tuple[float, float, float]


class Pull(msgspec.Struct, frozen=True):
    """An event that pulls by the rules of a situation.

    Attributes:
        situation: its row of the framing table.
        event: the event.
        begin_us: the stream's clock when the event was first asserted; its age counts from here.
        x_m, y_m: the subject, if it stands still.
        follows: object id of a player whom the subject is; empty for a place.
        ended_by: id of the event that ended the situation; empty while it goes on.
    """

    situation: Situation
    event: EventRecord
    begin_us: int
    x_m: float
    y_m: float
    follows: str = ""
    ended_by: str = ""


class Subject(msgspec.Struct, frozen=True):
    """A point that should be in the picture, and the chance that it is needed."""

    x_m: float
    y_m: float
    z_m: float
    chance: float


class Cause(msgspec.Struct, frozen=True):
    """An event that pulls now: why the camera moves.

    Attributes:
        event_id, kind, ts_us: of the event.
        situation: name of the situation that it began.
        weight: of its pull, against the ball's, which is 1.
        x_m, y_m: the subject now.
    """

    event_id: str
    kind: str
    ts_us: int
    situation: str
    weight: float
    x_m: float
    y_m: float


class Interest(msgspec.Struct, frozen=True):
    """The point to look at, how play goes on from there, and what the picture must hold.

    Attributes:
        x_m, y_m, z_m: the point.
        vx_m_s, vy_m_s: mean velocity of the ball, or of the player, over the next ``ONWARD_S``.
        width_m: width of the picture at its distance.
        widest_m: limit of the width that the subjects may ask for.
        subjects: the ball first, if there is one.
        lead_room: share of the picture's width by which the aim runs ahead.
        attack: direction along x in which the team on the ball attacks: -1, 1, or 0 if it is unknown.
        causes: the events that pull, the heaviest first.
    """

    x_m: float
    y_m: float
    z_m: float
    vx_m_s: float
    vy_m_s: float
    width_m: float
    widest_m: float
    subjects: tuple[Subject, ...] = ()
    lead_room: float = 0.0
    causes: tuple[Cause, ...] = ()
    attack: float = 0.0


class Circumstances(msgspec.Struct, frozen=True):
    """The circumstances that all points of a tick share.

    Attributes:
        now_us: the stream's clock.
        ahead_us: the lead, with the measured age of the views.
        frontier_us: the watermark of the inputs: confirmed events pull with their whole weight.
        size_m: length and width of the pitch.
    """

    now_us: int
    ahead_us: int
    frontier_us: int
    size_m: tuple[float, float]


def pulls_of(
    event: EventRecord, table: FramingTable, view: View | None, now_us: int, length_m: float
) -> tuple[Pull, ...]:
    """Return the pulls of an asserted event; none if its kind has no situation or its subject is unknown."""
    if now_us - event.ts_us > STALE_US:
        return ()
    pulls = []
    for situation in table.of(event.kind, event.variant):
        found = _subject(situation, event, view, length_m)
        if found is not None:
            pulls.append(Pull(situation, event, now_us, *found))
    return tuple(pulls)


def ends(pull: Pull, event: EventRecord) -> bool:
    """True if an event ends the situation of a pull."""
    return is_among(event.kind, pull.situation.until) and event.ts_us >= pull.event.ts_us and not pull.ended_by


def weight_of(pull: Pull, chance: Chance, now_us: int, frontier_us: int) -> float:
    """Return the weight of a pull now, against the ball's."""
    age_us = now_us - pull.begin_us
    strength = 0.0 if pull.ended_by else pull.situation.strength(age_us / 1e6)
    if strength == 0.0 or pull.event.is_confirmed(frontier_us):
        return strength
    return strength * chance(pull.event, age_us)


def interest(
    ahead: Outlook,
    bodies: Mapping[str, BodyView],
    pulls: tuple[Pull, ...],
    at: Circumstances,
    table: FramingTable,
    chance: Chance,
) -> Interest:
    """Return the point of interest ``ahead_us`` after now.

    Args:
        ahead: the near future of the newest view.
        bodies: its players by object id.
        pulls: of the recent events.
        at: time, lead, watermark, pitch.
        table: what is in the picture by situation.
        chance: that a tentative event stands.
    """
    ball_at = _on_pitch(ahead.at(seconds_ahead(ahead.ball.ts_us, at)), at.size_m)
    total, x_m, y_m = 1.0, ball_at[0], ball_at[1]
    width_total, width_log = PLAY_WEIGHT, PLAY_WEIGHT * math.log(table.play.width_m)
    subjects = [Subject(*ball_at, 1.0), *_next_players(ahead, at, table.play.players)]
    subjects += _near_goal(ball_at, at.size_m, table.play.goal_within_m)
    causes: list[Cause] = []
    for pull in pulls:
        weight = weight_of(pull, chance, at.now_us, at.frontier_us)
        if weight == 0.0:
            continue
        width_total, width_log = width_total + weight, width_log + weight * math.log(pull.situation.width_m)
        place = ball_at[:2] if pull.situation.subject == "ball" else _place(pull, bodies)
        event = pull.event
        causes.append(Cause(event.id, event.kind, event.ts_us, pull.situation.name, weight, *place))
        if pull.situation.subject != "ball":
            total, x_m, y_m = total + weight, x_m + weight * place[0], y_m + weight * place[1]
        subjects += _included(pull, place, bodies, at.size_m, weight / pull.situation.weight)
    causes.sort(key=lambda cause: -cause.weight)
    play = table.play
    vx_m_s, vy_m_s = _onward(ahead, at)
    width_m = math.exp(width_log / width_total)
    return Interest(
        x_m / total, y_m / total, ball_at[2] / total, vx_m_s, vy_m_s, width_m, play.widest_m, tuple(subjects),
        play.lead_room, tuple(causes), ahead.attack,
    )  # fmt: skip


def _onward(ahead: Outlook, at: Circumstances) -> tuple[float, float]:
    """Return the mean velocity of the ball over the next ``ONWARD_S``."""
    now_s = min(at.now_us - ahead.ball.ts_us, AHEAD_US_MAX) / 1e6
    here, there = ahead.at(now_s), ahead.at(now_s + ONWARD_S)
    return (there[0] - here[0]) / ONWARD_S, (there[1] - here[1]) / ONWARD_S


def seconds_ahead(view_us: int, at: Circumstances) -> float:
    """Return the time from a view to the instant that is aimed at."""
    return min(at.now_us - view_us + at.ahead_us, AHEAD_US_MAX) / 1e6


def _next_players(ahead: Outlook, at: Circumstances, most: int) -> list[Subject]:
    seconds = seconds_ahead(ahead.ball.ts_us, at)
    return [
        Subject(one.body.x_m + one.body.vx_m_s * seconds, one.body.y_m + one.body.vy_m_s * seconds, 1.0, one.chance)
        for one in ahead.players[:most]
    ]


def _near_goal(ball_at: Point, size_m: tuple[float, float], within_m: float) -> list[Subject]:
    """Return the posts of a goal that the ball is near, and in front of: a shot is likely."""
    goal_x_m = math.copysign(size_m[0] / 2, ball_at[0])
    along_m = abs(goal_x_m - ball_at[0])
    if along_m > within_m or abs(ball_at[1]) > POST_M + GOAL_ACROSS * along_m:
        return []
    return _posts(goal_x_m, 1.0)


def _posts(goal_x_m: float, chance: float) -> list[Subject]:
    return [Subject(goal_x_m, -POST_M, 1.0, chance), Subject(goal_x_m, POST_M, 1.0, chance)]


def _included(
    pull: Pull, place: tuple[float, float], bodies: Mapping[str, BodyView], size_m: tuple[float, float], chance: float
) -> list[Subject]:
    found: list[Subject] = []
    if "goal" in pull.situation.include:
        found += _posts(math.copysign(size_m[0] / 2, place[0]), chance)
    if "player" in pull.situation.include and (body := bodies.get(pull.event.player)):
        found.append(Subject(body.x_m, body.y_m, 1.0, chance))
    return found


def _place(pull: Pull, bodies: Mapping[str, BodyView]) -> tuple[float, float]:
    """Return where the subject of a pull is now."""
    body = bodies.get(pull.follows) if pull.follows else None
    return (body.x_m, body.y_m) if body is not None else (pull.x_m, pull.y_m)


def _on_pitch(place: Point, size_m: tuple[float, float]) -> Point:
    """Return a place, moved to at most ``BEYOND_M`` outside of the lines."""
    x_m, y_m = (
        max(-size / 2 - BEYOND_M, min(size / 2 + BEYOND_M, value)) for value, size in zip(place, size_m, strict=False)
    )
    return x_m, y_m, place[2]


def _subject(
    situation: Situation, event: EventRecord, view: View | None, length_m: float
) -> tuple[float, float, str] | None:
    """Return the place of a situation's subject, and the player whom it follows; None if it is unknown."""
    match situation.subject:
        case "goal":
            aimed_m = _number(event, "goal_y_m") or 0.0
            return _goal_x(view.ball if view else None, event, length_m), max(-GOAL_M, min(GOAL_M, aimed_m)), ""
        case "target":
            return _target(event, view)
        case "player":
            return _body(event.player, view) or _spot(event)
        case "ball":
            return 0.0, 0.0, ""
        case "place":
            return _spot(event)


def _goal_x(ball: BallView | None, event: EventRecord, length_m: float) -> float:
    """Return x of the goal that an event aims at: the one in the ball's direction, else the nearer one."""
    if event.kind.startswith("shot") and ball and abs(ball.vx_m_s) > 1.0:
        return math.copysign(length_m / 2, ball.vx_m_s)
    return math.copysign(length_m / 2, event.x_m if event.x_m is not None else ball.x_m if ball else 1.0)


def _target(event: EventRecord, view: View | None) -> tuple[float, float, str] | None:
    """Return the end of the pass if the event has it, else the receiver."""
    x_m, y_m = _number(event, "end_x_m"), _number(event, "end_y_m")
    if x_m is not None and y_m is not None:
        return x_m, y_m, ""
    receiver = event.detail.get("receiver")
    return _body(receiver, view) if isinstance(receiver, str) else None


def _body(player: str, view: View | None) -> tuple[float, float, str] | None:
    body = next((body for body in view.players if body.object_id == player), None) if view else None
    return (body.x_m, body.y_m, player) if body is not None else None


def _spot(event: EventRecord) -> tuple[float, float, str] | None:
    return None if event.x_m is None or event.y_m is None else (event.x_m, event.y_m, "")


def _number(event: EventRecord, name: str) -> float | None:
    value = event.detail.get(name)
    return float(value) if isinstance(value, int | float) else None
