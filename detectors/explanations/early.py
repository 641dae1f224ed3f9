"""Levels 1 to 4: what is believed, the ball alone, bodies, nearness."""

from __future__ import annotations

import math

from detectors.bodies.efforts import EffortState, gains_of, speed_gains
from detectors.bodies.running import CLASSES, Running
from detectors.bodies.sides import SidesState
from detectors.decisions import Sense
from detectors.explanations.evidence import (
    Evidence,
    Found,
    Margin,
    Rule,
    against,
    ball_in_frame,
    between,
    in_frame,
    lasted,
    number,
    told_value,
)
from detectors.proximity.near import Nearest, NearState
from detectors.proximity.unit_lines import UnitState
from detectors.signals.smoothed_speed import PlayerSpeeds
from football.areas import ball_areas, player_areas
from football.payloads import BallState, BodyState, LimbRun
from football.pitch import pitch_of

Place = tuple[float, float, float]


def _ran(e: Evidence) -> Found:
    """3.1: how fast over the last second, and for how long in another class than before."""
    yield from lasted("running.hold_us", "time since the class before was left")(e)
    body = in_frame(e, e.payload.player)
    before = e.before.runners.get(e.payload.player) if isinstance(e.before, Running) else None
    if body is None or before is None:
        return
    chords = [*before.chords, (math.hypot(body.x_m - before.x_m, body.y_m - before.y_m), e.by.ts_us - before.ts_us)]
    while len(chords) > 1 and sum(us for _, us in chords[1:]) >= e.parameters.running.mean_us:
        chords = chords[1:]
    speed_m_s = sum(m for m, _ in chords) / sum(us for _, us in chords) * 1e6
    bounds = [f"running.{name}_m_s" for name in ("standing", "trot", "low", "medium", "high")]
    yield from between(e, "mean speed", speed_m_s, bounds, CLASSES.index(e.payload.variant))


def _sprints(e: Evidence) -> Found:
    """3.2: fast, and for long enough."""
    paces = e.by.payload
    if not isinstance(paces, PlayerSpeeds):
        return
    yield against(e, "time that he has run so fast", paces.ts_us - e.told.ts_us, "at least", "sprint.hold_us")
    m_s = float(paces.m_s[paces.names.index(e.payload.player)])
    yield against(e, "speed", m_s, "at least", "sprint.speed_m_s")


def _effort(e: Evidence) -> Found:
    """3.3: how much he gains or loses, and for how long; where it is told at its end, what he gained before."""
    paces = e.by.payload
    if not isinstance(e.before, EffortState) or not isinstance(paces, PlayerSpeeds):
        return
    p, higher, slows = e.parameters.effort, e.payload.variant.startswith("4"), e.told.kind == "decel.effort"
    gain_us, gains = speed_gains(e.before.paces[0], paces)
    index, sign = paces.names.index(e.payload.player), -1.0 if slows else 1.0
    least_m_s2 = p.gain_share * (p.higher_m_s2 if higher else p.high_m_s2)
    value = max(sign * float(gains[index]), sign * float(gains_of(e.before, paces.names)[index]))
    what, parameter = "loss of speed" if slows else "gain of speed", f"effort.high{'er' if higher else ''}_m_s2"
    yield against(e, what, value, "at least", parameter, least_m_s2)
    yield against(e, "time that it held", gain_us - e.told.ts_us, "at least", "effort.hold_us")


def _by_the_end(parameter: str, what: str) -> Rule:
    """3.5, 3.6: from the event to the end of the run of positions that told it."""

    def rule(e: Evidence) -> Found:
        if isinstance(e.by.payload, LimbRun):
            yield against(e, what, e.by.payload.states[-1][0] - e.told.ts_us, "at least", parameter)

    return rule


def _up(e: Evidence) -> Found:
    """3.6: both hands have been up for a while."""
    raised_us = max(getattr(e.before, "left_us", 0), getattr(e.before, "right_us", 0))
    yield against(e, "time that both hands are up", e.told.ts_us - raised_us, "at least", "player_down.up_us")


def _area(e: Evidence) -> Found:
    """3.9: how deep inside, or how far outside."""
    pitch, payload = pitch_of(e.sheet), e.payload
    areas = player_areas(pitch) if payload.player else ball_areas(pitch)
    area = next((area for area in areas if area.name == payload.variant), None)
    ball = ball_in_frame(e)
    if area is None or payload.x_m is None or payload.y_m is None or (not payload.player and ball is None):
        return
    z_m = ball.z_m if ball is not None and not payload.player else 0.0
    outside_m = max(
        area.low_x_m - payload.x_m,
        payload.x_m - area.high_x_m,
        area.low_y_m - payload.y_m,
        payload.y_m - area.high_y_m,
        area.low_z_m - z_m,
        z_m - area.high_z_m,
        math.hypot(payload.x_m - area.x_m, payload.y_m - area.y_m) - area.radius_m,
    )
    if e.told.kind == "area.leave":
        yield against(e, "distance outside it", outside_m, "at least", "areas.leave_m")
    else:
        yield Margin("depth inside it", -outside_m, "at least", 0.0, "m")


def _sides(e: Evidence) -> Found:
    """3.12: votes of positions."""
    if isinstance(e.before, SidesState) and e.payload.detail.get("basis") == "positions":
        name = "change_votes" if e.before.team else "first_votes"
        yield against(e, "votes", abs(e.before.tally) + 1, "at least", f"direction.{name}")


def _away_m(ball: BallState, body: BodyState) -> float:
    return math.hypot(ball.x_m - body.x_m, ball.y_m - body.y_m)


def _zone(parameter: str) -> Rule:
    """4.1, 4.2: a player's distance from the ball."""

    def rule(e: Evidence) -> Found:
        ball, body = ball_in_frame(e), in_frame(e, e.payload.player)
        if isinstance(e.by.payload, BallState) and isinstance(e.before, NearState):
            yield from _limb_left(e, e.by.payload, e.before.limbs.get(f"{e.payload.player}/{e.payload.variant}"))
        if e.by.kind != "frame" or ball is None or body is None:
            return
        leg_m = e.parameters.near.leg_m if parameter.startswith("near.") and not e.sheet.quality.limbs else 0.0
        group, _, name = parameter.partition(".")
        limit_m = getattr(getattr(e.parameters, group), name) + leg_m
        away_m = _away_m(ball, body)
        # The ball may also have gone over him.
        if name != "leave_m" or away_m >= limit_m:
            sense: Sense = "at least" if name == "leave_m" else "at most"
            yield against(e, "distance to the ball", away_m, sense, parameter, limit_m)
        elif parameter == "near.leave_m":
            yield against(e, "height of the ball", ball.z_m, "at least", "near.height_max_m")

    return rule


def _limb_left(e: Evidence, ball: BallState, run: LimbRun | None) -> Found:
    """4.1: the limb's distance, unless it was lost."""
    if run is None:
        return
    away_m = math.dist((ball.x_m, ball.y_m, ball.z_m), run.interpolated(e.by.ts_us)[1:4])
    if away_m >= e.parameters.near.leave_m:
        yield against(e, "distance to the ball", away_m, "at least", "near.leave_m")


def _nearest(e: Evidence) -> Found:
    """4.3: nearer by a margin, or for long enough."""
    ball, now = ball_in_frame(e), in_frame(e, e.payload.player)
    states = e.before if isinstance(e.before, tuple) else ()
    before = dict(zip(("overall", "home", "away"), states, strict=False)).get(e.payload.variant)
    if not isinstance(before, Nearest) or not before.player or ball is None or now is None:
        return
    was = in_frame(e, before.player)
    lead_m = math.inf if was is None else _away_m(ball, was) - _away_m(ball, now)
    if was is not None and lead_m >= e.parameters.nearest.margin_m:
        yield against(e, "nearer than who was nearest", lead_m, "at least", "nearest.margin_m")
    elif was is not None:
        yield against(e, "time that he is nearest", e.by.ts_us - before.since_us, "at least", "nearest.hold_us")


def _ring(e: Evidence) -> Found:
    """4.6: the ball's distance from the goal."""
    names = {"35 m": "widest_m", "25 m": "far_m", "16.5 m": "area_m", "11 m": "mark_m"}
    name = names[e.payload.variant.partition(" ")[2]]
    yield against(e, "the ball from the goal's middle", number(e.payload, "distance_m"), "at most", f"goal_ring.{name}")


def _lines(e: Evidence) -> Found:
    """4.9: how far a line has moved, and for how long."""
    told = e.before.told if isinstance(e.before, UnitState) else {}
    before = told.get(f"{e.payload.team} {e.payload.variant}")
    if before is None:
        return
    if e.payload.x_m is not None and number(e.payload, "players") == before.players:
        yield against(e, "way of the line", abs(e.payload.x_m - before.x_m), "at least", "unit_lines.step_m")
    yield against(e, "time that it has", e.by.ts_us - before.away_us, "at least", "unit_lines.hold_us")


#: By kind.
RULES: dict[str, Rule] = {
    "run.intensity": _ran,
    "sprint.start": _sprints,
    "sprint.end": told_value("top_m_s", "greatest speed", "at least", "sprint.speed_m_s"),
    "accel.effort": _effort,
    "decel.effort": _effort,
    "jump.take_off": _by_the_end("jump.hold_us", "time that both feet are up"),
    "jump.land": told_value("air_us", "time in the air", "at least", "jump.hold_us"),
    "player.down": _by_the_end("player_down.hold_us", "time that both hands are low"),
    "player.up": _up,
    "leg.swing": told_value("speed_m_s", "speed of the foot against the body", "at least", "leg_swing.speed_m_s"),
    "area.enter": _area,
    "area.leave": _area,
    "direction": _sides,
    "not_near": _zone("near.leave_m"),
    "pz.enter": _zone("possession_zone.enter_m"),
    "pz.leave": _zone("possession_zone.leave_m"),
    "nearest.changed": _nearest,
    "opponents.near": told_value("distance_m", "distance between them", "at most", "opponents.enter_m"),
    "opponents.apart": told_value("distance_m", "distance between them", "at least", "opponents.leave_m"),
    "goal_ring": _ring,
    "lines.changed": _lines,
}
