"""Calls that positions can decide: offside, ball over the line, penalty area, distance at a restart.

Each call compares positions with a line, and gives the margin in metres: positive means yes. The margin is drawn many
times from the uncertainty of the positions and of the instant, and the probability is the share of draws above zero.
Extremes are those of the laws: of a player the tracked part nearest to the line counts, hands and arms excluded (Law
11); of the ball the whole of it (Law 9).
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

import msgspec
import numpy as np

from football.errors import UserError
from football.packets import raw_kind
from football.pitch import PENALTY_AREA_DEPTH_M, PENALTY_AREA_HALF_WIDTH_M, End, Pitch, end_sign
from replay.review.kick import Bend, Instant, bend_near, exactly
from replay.review.motion import Draws, Floats, Motion, Noise, Samples, motion_at, parts_of

Question = Literal["offside", "line", "area", "distance"]

#: Law 2: 68 to 70 cm around.
BALL_RADIUS_M = 0.11
#: Draws of a call: the probability is right to half a percent.
DRAWS = 10_000
#: Time around an event in which the ball may have been farthest over a line, and the step of the search.
OVER_S, OVER_STEP_S = 0.4, 0.01
#: A ball that was kicked back has no parabola: two lines must leave over less than this share of its squares. They meet
#: this near to where the parabolas were farthest (standard deviation).
BENT_SHARE, BENT_S = 0.5, 0.02
#: Players farther outside the lines are no opponents: they sit on the bench.
OUTSIDE_M = 2.0


class ReviewError(UserError, ValueError):
    """A call that cannot be reviewed; the message has the reason."""


class ReviewPoint(msgspec.Struct, frozen=True):
    """A position that a call compares, at its instant.

    Attributes:
        object_id, team, part: which point of whom.
        role: ``subject``, ``line`` (what the line goes through), ``ball``, or ``other``.
        x_m, y_m, z_m: position.
        deviation_m: standard deviation of x and of y.
        samples, quality: number of samples of the fit, and their mean quality of location.
    """

    object_id: str
    team: str
    part: str
    role: str
    x_m: float
    y_m: float
    z_m: float
    deviation_m: float
    samples: int
    quality: float


class Call(msgspec.Struct, frozen=True):
    """A reviewed call.

    Attributes:
        question: ``offside``, ``line``, ``area`` or ``distance``.
        instant_us, instant_deviation_us: event time at which positions are compared, with its standard deviation.
        margin_m, deviation_m: expected margin with its standard deviation; positive means yes.
        probability: that the margin is positive.
        low_m, high_m: margins between which nineteen of twenty draws lie.
        line: the line as points in metres.
        points: positions that were compared.
    """

    question: Question
    instant_us: int
    instant_deviation_us: int
    margin_m: float
    deviation_m: float
    probability: float
    low_m: float
    high_m: float
    line: tuple[tuple[float, float], ...]
    points: tuple[ReviewPoint, ...]


class _Body(NamedTuple):
    """Tracked points of a player or ball, with draws (n, parts, 3)."""

    object_id: str
    parts: tuple[str, ...]
    motions: tuple[Motion, ...]
    draws: Floats

    @property
    def place_m(self) -> tuple[float, float]:
        """Where its first point is."""
        x_m, y_m = self.motions[0].place_m[:2].tolist()
        return x_m, y_m

    def nearest(self, measure: Callable[[Floats], Floats]) -> Floats:
        """Of each draw the greatest value of a measure over the parts."""
        greatest: Floats = measure(self.draws).max(axis=1)
        return greatest


class Scene:
    """All that was measured around an instant.

    Args:
        samples: by transmitter.
        teams: of the players, by object id; others are left out.
        noise: of the input.
        instant: at which positions are compared.
    """

    def __init__(
        self, samples: Mapping[str, Samples], teams: Mapping[str, str], noise: Noise, instant: Instant
    ) -> None:
        self.instant, self.teams = instant, teams
        seed = zlib.crc32(str(round(instant.mean_us)).encode())
        self._drawn = np.random.default_rng(seed).choice(len(instant.times_us), DRAWS, p=instant.weights)
        self._draws = Draws((instant.times_us[self._drawn] - instant.mean_us) / 1e6, seed + 1)
        self._by_object: dict[str, list[Samples]] = {}
        for name in sorted(samples):
            one = samples[name]
            if one.object_id in teams or raw_kind(name) == "raw.ball":
                self._by_object.setdefault(one.object_id, []).append(one)
        self._noise = noise

    def body(self, object_id: str) -> _Body | None:
        """Return the tracked points of a player or ball; None if there is no position at the instant."""
        if self.instant.bend is not None and raw_kind(object_id) == "raw.ball":
            return self._kicked(object_id, self.instant.bend)
        found = [
            (one.part, motion)
            for one in self._by_object.get(object_id, ())
            if not one.part.endswith("hand")
            and (motion := motion_at(one, self.instant.mean_us, self._noise)) is not None
        ]
        if not found:
            return None
        drawn = np.stack([self._draws.places(motion) for _, motion in found], axis=1)
        return _Body(object_id, tuple(part for part, _ in found), tuple(motion for _, motion in found), drawn)

    def _kicked(self, ball: str, bend: Bend) -> _Body:
        """The ball at a kick, where a parabola does not fit."""
        white_m, slow_m = parts_of(self._noise.at(bend.quality), bend.squares, 2 * (bend.samples - 3))
        covariance = np.diag([bend.share, 0.0, 0.0])
        rows = np.stack([self.instant.weights @ bend.places_m, self.instant.weights @ bend.before_m_s, np.zeros(3)])
        motion = Motion(self.instant.mean_us, rows, covariance, white_m, slow_m, bend.samples, bend.quality)
        drawn = self._draws.around(bend.places_m[self._drawn], motion.deviation_m)
        return _Body(ball, ("",), (motion,), drawn[:, None])

    def need(self, object_id: str) -> _Body:
        """As :meth:`body`. Raises ReviewError if there is no position."""
        if (found := self.body(object_id)) is None:
            raise ReviewError(f"{object_id} has no positions on both sides of the instant")
        return found

    def opponents(self, team: str, pitch: Pitch) -> list[_Body]:
        """Return the players of the other team on the pitch or near its lines."""
        names = [name for name, other in self.teams.items() if other and other != team]
        bodies = [body for name in names if (body := self.body(name)) is not None]
        return [body for body in bodies if pitch.inside(*body.place_m, OUTSIDE_M)]


def offside(scene: Scene, player: str, attacks: float, ball: str, pitch: Pitch) -> Call:
    """Judge if a player was in an offside position (Law 11): beyond the second-last opponent, the ball and halfway.

    Args:
        scene: at the kick.
        player: object id.
        attacks: +1 if his team attacks towards +x, else -1.
        ball: its transmitter; empty if the ball was not measured.
        pitch: the pitch.

    Raises:
        ReviewError: the player, or all but one opponent, have no position.
    """
    subject = scene.need(player)

    def ahead(draws: Floats) -> Floats:
        return attacks * draws[..., 0]

    opponents = scene.opponents(scene.teams[player], pitch)
    if len(opponents) < 2:
        raise ReviewError("fewer than two opponents have positions at the instant")
    fronts = np.stack([body.nearest(ahead) for body in opponents], axis=1)
    candidates = [np.partition(fronts, -2, axis=1)[:, -2], np.zeros(DRAWS)]
    measured = scene.body(ball) if ball else None
    if measured is not None:
        candidates.append(measured.nearest(ahead))
    line_m = np.max(candidates, axis=0)
    second = int(np.argsort(np.median(fronts, axis=0))[-2])
    which = int(np.argmax([np.median(one) for one in candidates]))
    line_x_m = attacks * float(np.median(line_m))
    roles = {player: "subject", **({opponents[second].object_id: "line"} if which == 0 else {})}
    bodies = [subject, *opponents, *([measured] if measured is not None else [])]
    ends = ((line_x_m, -pitch.half_width_m), (line_x_m, pitch.half_width_m))
    return _call("offside", scene, subject.nearest(ahead) - line_m, ends, bodies, roles)


def penalty_area(scene: Scene, object_id: str, end: End, pitch: Pitch) -> Call:
    """Judge if a player, by any tracked part, or the ball was in a penalty area; its lines belong to it (Law 1).

    Raises:
        ReviewError: it has no position.
    """
    subject = scene.need(object_id)
    sign, depth_m = end_sign(end), PENALTY_AREA_DEPTH_M
    front_m = pitch.half_length_m - depth_m

    def inside(draws: Floats) -> Floats:
        return _depth_in(sign * draws[..., 0], np.abs(draws[..., 1]), front_m, pitch.half_length_m)

    half_m = PENALTY_AREA_HALF_WIDTH_M
    corners = ((pitch.half_length_m, -half_m), (front_m, -half_m), (front_m, half_m), (pitch.half_length_m, half_m))
    line = tuple((sign * x_m, y_m) for x_m, y_m in corners)
    return _call("area", scene, subject.nearest(inside), line, [subject], {object_id: "subject"})


def _depth_in(u_m: Floats, v_m: Floats, front_m: float, goal_line_m: float) -> Floats:
    """Distance into the area from its nearest line; negative outside, the distance to it."""
    gaps = np.stack([front_m - u_m, u_m - goal_line_m, v_m - PENALTY_AREA_HALF_WIDTH_M])
    outside = np.sqrt((np.maximum(gaps, 0.0) ** 2).sum(axis=0))
    depth: Floats = np.where(outside > 0.0, -outside, -gaps.max(axis=0))
    return depth


def too_near(scene: Scene, player: str, least_m: float, place: tuple[float, float] | Sequence[str]) -> Call:
    """Judge if a player was nearer than he must be to a place, or to the nearest of some objects.

    Args:
        scene: at the kick.
        player: object id.
        least_m: distance that he must keep.
        place: x and y in metres, or object ids, the ball included.

    Raises:
        ReviewError: the player, or all of the objects, have no position.
    """
    subject = scene.need(player)
    names = [one for one in place if isinstance(one, str)]
    others = [body for name in names if (body := scene.body(name)) is not None]
    if others:
        targets = np.concatenate([body.draws for body in others], axis=1)[..., :2]
    elif names:
        raise ReviewError(f"{', '.join(names)}: no positions on both sides of the instant")
    else:
        targets = np.broadcast_to(np.array(place, float), (DRAWS, 1, 2))
    gaps = np.linalg.norm(subject.draws[:, :, None, :2] - targets[:, None], axis=3).min(axis=(1, 2))
    x_m, y_m = np.median(targets, axis=(0, 1))
    angles = np.linspace(0.0, 2.0 * np.pi, 61)
    circle = tuple((float(x_m + least_m * np.cos(a)), float(y_m + least_m * np.sin(a))) for a in angles)
    return _call("distance", scene, least_m - gaps, circle, [subject, *others], {player: "subject"})


def over_line(
    samples: Mapping[str, Samples], noise: Noise, rate_hz: float, about_us: float, ball: str, line: Line
) -> Call:
    """Judge if the whole ball was over a line, at the instant at which it was farthest over it (Law 9).

    Args:
        samples: by transmitter.
        noise: of the input.
        rate_hz: of the ball.
        about_us: event time around which the ball was over the line, or nearly.
        ball: its transmitter.
        line: the line.

    Raises:
        ReviewError: the ball has no positions.
    """
    track = samples.get(ball)
    if track is None:
        raise ReviewError("the ball has no positions around the event")
    steps_us = 1e6 * np.arange(-OVER_S, OVER_S + OVER_STEP_S / 2, OVER_STEP_S)
    motions = [motion for step in steps_us if (motion := motion_at(track, about_us + step, noise)) is not None]
    if not motions:
        raise ReviewError("the ball has no positions around the event")
    farthest = max(motions, key=lambda motion: line.beyond_m(motion.place_m))
    bent = bend_near(track, farthest.at_us, BENT_S, rate_hz)
    is_bent = bent.bend is not None and bent.bend.squares < BENT_SHARE * bent.bend.parabola
    scene = Scene({ball: track}, {}, noise, bent if is_bent else exactly(farthest.at_us))
    subject = scene.need(ball)
    margins = line.beyond_m(subject.draws[:, 0]) - BALL_RADIUS_M
    return _call("line", scene, margins, line.ends, [subject], {ball: "subject"})


class Line(NamedTuple):
    """A line along an axis of the pitch: 0 for a goal line, 1 for a touchline.

    Attributes:
        axis: coordinate that is constant along it.
        sign: +1 or -1, the side of the pitch.
        at_m: its outer edge, from the centre spot.
        reach_m: half its length.
    """

    axis: int
    sign: float
    at_m: float
    reach_m: float

    def beyond_m(self, places: Floats) -> Floats:
        """Distance of the centre of a ball beyond the line."""
        beyond: Floats = self.sign * places[..., self.axis] - self.at_m
        return beyond

    @property
    def ends(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Both ends."""
        at_m, reach_m = self.sign * self.at_m, self.reach_m
        return ((at_m, -reach_m), (at_m, reach_m)) if self.axis == 0 else ((-reach_m, at_m), (reach_m, at_m))


def boundary_near(pitch: Pitch, x_m: float, y_m: float) -> Line:
    """Return the goal line or touchline that a place is nearest to, or farthest beyond."""
    if abs(x_m) - pitch.half_length_m >= abs(y_m) - pitch.half_width_m:
        return Line(0, 1.0 if x_m >= 0 else -1.0, pitch.half_length_m, pitch.half_width_m)
    return Line(1, 1.0 if y_m >= 0 else -1.0, pitch.half_width_m, pitch.half_length_m)


def _call(
    question: Question,
    scene: Scene,
    margins: Floats,
    line: tuple[tuple[float, float], ...],
    bodies: Iterable[_Body],
    roles: Mapping[str, str],
) -> Call:
    low_m, high_m = np.quantile(margins, (0.025, 0.975))
    points = []
    for body in bodies:
        other = "other" if scene.teams.get(body.object_id) else "ball"
        for part, motion in zip(body.parts, body.motions, strict=True):
            x_m, y_m, z_m = (round(float(value), 3) for value in motion.place_m)
            who = body.object_id, scene.teams.get(body.object_id, ""), part, roles.get(body.object_id, other)
            figures = round(motion.deviation_m, 4), motion.samples, round(motion.quality, 3)
            points.append(ReviewPoint(*who, x_m, y_m, z_m, *figures))
    return Call(
        question, round(scene.instant.mean_us), round(scene.instant.deviation_us), round(float(margins.mean()), 4),
        round(float(margins.std()), 4), round(float((margins > 0.0).mean()), 4), round(float(low_m), 4),
        round(float(high_m), 4), tuple((round(x, 3), round(y, 3)) for x, y in line), tuple(points),
    )  # fmt: skip
