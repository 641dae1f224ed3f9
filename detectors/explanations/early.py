"""Levels 1 to 4: what is believed, the ball alone, bodies, nearness."""

from __future__ import annotations

import math
from collections.abc import Sequence

from detectors.ball.bands import HEIGHTS, SPEEDS, Banded
from detectors.ball.motion import MotionState
from detectors.ball.predictor import Flight
from detectors.ball.trajectory_breaks import Trail
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
    all_of,
    ball_in_frame,
    between,
    in_frame,
    lasted,
    number,
    told_value,
)
from detectors.proximity.near import Nearest, NearState
from detectors.proximity.unit_lines import UnitState
from detectors.signals.conditioning import Track
from detectors.signals.frame_fast_path import Instant, PackedFrameState, unpack
from detectors.signals.fusion import Balls, Limbs
from detectors.signals.kernels.filter_kernel import last_of
from detectors.signals.sampling import NOISE_SIGMAS, ball_sampling, body_sampling
from detectors.signals.smoothed_speed import PlayerSpeeds
from football.areas import ball_areas, player_areas
from football.packets import Packet, raw_kind
from football.payloads import BallState, BodyState, LimbRun, Tick
from football.pitch import pitch_of

Place = tuple[float, float, float]


def _rejected(e: Evidence) -> Found:
    """1.3: outside the volume, or farther from the last place than anybody moves in that time."""
    name, at = e.payload.detail.get("transmitter"), number(e.payload, "index")
    packets = e.by.payload if isinstance(e.by.payload, tuple) else (e.by.payload,)
    packet = next((p for p in packets if isinstance(p, Packet) and p.transmitter == name), None)
    if packet is None or at is None:
        return
    place = packet.x_m[int(at)], packet.y_m[int(at)], packet.z_m[int(at)]
    if e.payload.variant.startswith("outside"):
        yield from _outside(e, place)
    instant = _instant(e)
    before = instant.tracks.get(packet.transmitter) if instant else e.before
    if not e.payload.variant.startswith("speed") or not isinstance(before, Track):
        return
    last = last_of(before.memory)
    if at:
        i = int(at) - 1
        last = packet.ts_us[i], packet.x_m[i], packet.y_m[i], packet.z_m[i]
    if last is None:
        return
    kind = raw_kind(packet.transmitter)
    ball = kind == "raw.ball"
    sampling = (ball_sampling if ball else body_sampling)(e.sheet.quality)
    spared_m = e.parameters.conditioning.noise_sigmas * sampling.jitter_m
    way_m, took_s = math.dist(place, last[1:]), (packet.ts_us[int(at)] - last[0]) * 1e-6
    parameter = f"conditioning.{'ball' if ball else 'limb' if kind == 'raw.limb' else 'body'}_speed_max_m_s"
    if took_s > 0.0:
        yield against(e, "speed from the last place, noise spared", (way_m - spared_m) / took_s, "at least", parameter)


def _instant(e: Evidence) -> Instant | None:
    """The state of level 1 before, on a framed input."""
    before = unpack(e.before) if isinstance(e.before, PackedFrameState) else e.before
    return before if isinstance(before, Instant) else None


def _outside(e: Evidence, place: Place) -> Found:
    pitch, p = pitch_of(e.sheet), e.parameters.conditioning
    far_m = max(abs(place[0]) - pitch.half_length_m, abs(place[1]) - pitch.half_width_m)
    if far_m > p.margin_m or not abs(place[2]) > p.height_max_m:
        yield against(e, "distance outside the lines", far_m, "at least", "conditioning.margin_m")
    else:
        yield against(e, "height", abs(place[2]), "at least", "conditioning.height_max_m")


def _switched(e: Evidence) -> Found:
    """1.5, 1.7: radio that was silent for long, or is good again."""
    if not isinstance(e.before, Limbs):
        return
    if e.payload.variant == "optical":
        silent_us = e.by.ts_us - e.before.given_us
        yield against(e, "time since radio gave him", silent_us, "at least", "player_fusion.hold_us")
    runs = [*e.before.limbs, *([e.by.payload] if isinstance(e.by.payload, LimbRun) else [])]
    if e.payload.variant == "rtls" and runs:
        best = max(run.quality for run in runs)
        yield against(e, "quality of his limbs", best, "at least", "player_fusion.quality_floor")


def _another_ball(e: Evidence) -> Found:
    """1.6: the new ball was struck; the old one has left the pitch, or is silent."""
    instant = _instant(e)
    balls = instant.balls if instant else e.before
    if not isinstance(balls, Balls) or balls.newest is None:
        return
    new, old = e.by.payload, balls.newest.payload
    if isinstance(new, BallState):
        speed_m_s = math.hypot(new.vx_m_s, new.vy_m_s)
        yield against(e, "speed of the new ball", speed_m_s, "at least", "active_ball.moving_m_s")
    silent_us = e.told.ts_us - balls.newest.ts_us
    if silent_us > e.parameters.active_ball.silent_us:
        yield against(e, "time since the old ball was heard", silent_us, "at least", "active_ball.silent_us")
    elif isinstance(old, BallState):
        far_m = _beyond_m(e, old.x_m, old.y_m)
        yield against(e, "the old ball outside the lines", far_m, "at least", "active_ball.margin_m")


def _beyond_m(e: Evidence, x_m: float, y_m: float) -> float:
    pitch = pitch_of(e.sheet)
    return max(abs(x_m) - pitch.half_length_m, abs(y_m) - pitch.half_width_m)


def _spare(e: Evidence) -> Found:
    """1.6: a second ball is on the pitch."""
    if e.payload.x_m is not None and e.payload.y_m is not None:
        far_m = _beyond_m(e, e.payload.x_m, e.payload.y_m)
        yield against(e, "the ball outside the lines", far_m, "at most", "active_ball.margin_m")


def _heard(e: Evidence) -> Found:
    """1.2: how long a transmitter was silent, or how good it was."""
    ball = e.payload.variant == "ball"
    if e.told.kind == "tx.low_quality":
        tick, name = e.by.payload, "ball" if ball else e.payload.player
        seen = [s.quality for s in tick.seen if s.object_id == name] if isinstance(tick, Tick) else []
        yield against(e, "quality", min(seen, default=None), "at most", "transmitter_health.quality_floor")
        return
    last_us, p = number(e.payload, "last_seen_us"), e.parameters.transmitter_health
    if last_us is None:
        return
    limit_us = max(p.ball_silent_us, 3 * ball_sampling(e.sheet.quality).period_us) if ball else p.body_silent_us
    name = f"transmitter_health.{'ball' if ball else 'body'}_silent_us"
    silent_us = e.told.ts_us - last_us
    yield against(
        e, "time of silence", silent_us, "at least" if e.told.kind == "tx.lost" else "at most", name, limit_us
    )


def _rests(e: Evidence) -> Found:
    """2.4: slow enough."""
    ball = e.by.payload
    if isinstance(ball, BallState):
        noise_m_s = NOISE_SIGMAS * ball_sampling(e.sheet.quality).velocity_noise_m_s
        slow_m_s = e.parameters.ball_motion.static_speed_m_s + noise_m_s
        yield against(e, "speed of the ball", _speed(ball), "at most", "ball_motion.static_speed_m_s", slow_m_s)


def _speed(ball: BallState) -> float:
    return math.hypot(ball.vx_m_s, ball.vy_m_s, ball.vz_m_s)


def _moves(e: Evidence) -> Found:
    """2.4: fast, or away from where it lay."""
    ball = e.by.payload
    if not isinstance(ball, BallState) or not isinstance(e.before, MotionState):
        return
    if _speed(ball) >= e.parameters.ball_motion.moving_speed_m_s:
        yield against(e, "speed of the ball", _speed(ball), "at least", "ball_motion.moving_speed_m_s")
    else:
        away_m = math.hypot(ball.x_m - e.before.x_m, ball.y_m - e.before.y_m)
        yield against(e, "the ball from where it lay", away_m, "at least", "ball_motion.leave_m")


def _band(group: str, value: str, names: Sequence[str], bounds: Sequence[str]) -> Rule:
    """2.5, 2.7: in which band, and for how long."""

    def rule(e: Evidence) -> Found:
        index = names.index(e.payload.variant)
        yield from between(e, value.replace("_m_s", "").replace("_m", ""), number(e.payload, value), bounds, index)
        if isinstance(e.before, Banded) and e.before.since is not None:
            yield against(e, "time that it held", e.by.ts_us - e.told.ts_us, "at least", f"{group}.hold_us")

    return rule


def _bounce(e: Evidence) -> Found:
    """2.6: falls, rises, and is low."""
    fall, p = number(e.payload, "fall_m_s"), e.parameters.ball_bounce
    yield against(e, "speed of its fall", fall, "at least", "ball_bounce.fall_m_s")
    yield against(e, "speed of its rise", number(e.payload, "rise_m_s"), "at least", "ball_bounce.rise_m_s")
    if fall is not None:
        low_m = p.height_m + fall * ball_sampling(e.sheet.quality).period_us * 0.5e-6
        yield against(e, "height of the ball", e.payload.z_m, "at most", "ball_bounce.height_m", low_m)


def _crossed(e: Evidence) -> Found:
    """2.8: how far beyond an outer line the ball's centre is; whether it can have gone so fast."""
    ball, name, pitch = e.by.payload, e.payload.variant, pitch_of(e.sheet)
    sideways = " touch " in name
    if isinstance(ball, BallState) and (sideways or " goal line " in name or " goal mouth " in name):
        beyond_m = abs(ball.y_m) - pitch.half_width_m if sideways else abs(ball.x_m) - pitch.half_length_m
        if name.endswith(" out"):
            yield against(e, "the ball's centre beyond the line", beyond_m, "at least", "lines.radius_m")
        else:
            yield Margin("the ball's centre within the line", -beyond_m, "at least", 0.0, "m")
    jumped = e.payload.detail.get("jump") is True
    speed = number(e.payload, "speed_m_s")
    yield against(e, "speed over the line", speed, "at least" if jumped else "at most", "lines.jump_speed_m_s")


def _predicted(e: Evidence) -> Found:
    """2.10: how soon, how fast, how far it has flown since its last corner."""
    at_us, ball = number(e.payload, "at_us"), e.by.payload
    if at_us is not None:
        ahead_s = (at_us - e.told.ts_us) * 1e-6
        yield against(e, "time until then", round(ahead_s, 3), "at most", "predictor.horizon_s")
    if isinstance(ball, BallState):
        yield against(e, "speed", math.hypot(ball.vx_m_s, ball.vy_m_s), "at least", "predictor.speed_m_s")
        if isinstance(e.before, Flight):
            corner = e.before.from_x_m, e.before.from_y_m, e.before.from_z_m
            flown_m = math.dist((ball.x_m, ball.y_m, ball.z_m), corner)
            yield against(e, "way since its last corner", flown_m, "at least", "predictor.flight_m")


def _woodwork(e: Evidence) -> Found:
    """2.11: how fast the ball came."""
    samples = e.before.samples if isinstance(e.before, Trail) else ()
    earlier = [s.payload for s in samples if s.ts_us < e.told.ts_us]
    if earlier and isinstance(earlier[-1], BallState):
        yield against(e, "speed of the ball before", _speed(earlier[-1]), "at least", "woodwork.speed_m_s")


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
    "sample.rejected": _rejected,
    "source.switched": _switched,
    "ball.active_changed": _another_ball,
    "ball.spare_on_pitch": _spare,
    **dict.fromkeys(("tx.lost", "tx.recovered", "tx.low_quality"), _heard),
    "ball.static": all_of(lasted("ball_motion.static_us", "time that it rests"), _rests),
    "ball.moving": _moves,
    "ball.height": _band(
        "ball_height", "height_m", HEIGHTS, ("ball_height.low_m", "ball_height.head_m", "ball_height.high_m")
    ),
    "ball.speed": _band(
        "ball_speed", "speed_m_s", SPEEDS, ("ball_speed.pass_m_s", "ball_speed.drive_m_s", "ball_speed.rocket_m_s")
    ),
    "ball.bounce": _bounce,
    "ball.crossed": _crossed,
    "ball.predicted": _predicted,
    "ball.woodwork": _woodwork,
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
