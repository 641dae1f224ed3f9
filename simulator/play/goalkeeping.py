"""Goalkeepers: use of the hands, leaving the goal, saves, catches, and distribution."""

from __future__ import annotations

import math

import numpy as np

from football.packet_table import Floats
from simulator.play import ball_actions, ball_retrieval
from simulator.play.decisions import best_pass
from simulator.play.match_state import POST_Y_M, Action, State
from simulator.records import Vector

#: Reaction to a shot, in seconds.
REACT_S = 0.2
#: Hands reach this far without a dive, and so high without a jump.
STAND_M, HIGH_M = 0.95, 2.45


def may_handle(state: State, row: int) -> bool:
    """True for a goalkeeper in the own penalty area, unless a team mate has kicked the ball back (Law 12)."""
    if not state.is_keeper(row):
        return False
    x, y, _ = state.ball.position
    team = int(state.team[row])
    if not state.in_box(team, x, y) or not state.in_box(team, *state.xy(row)):
        return False
    flight = state.flight
    kicked_back = flight is not None and flight.team == team and flight.what not in ("header", "clearance")
    return not (kicked_back and flight is not None and flight.kicker != row)


def may_leave(state: State, row: int, point: Floats) -> bool:
    """True if a goalkeeper goes for a loose ball at this point of its path."""
    team = int(state.team[row])
    u = float(point[1] * state.sign[team])
    deep = u + state.half_x
    if deep > 30.0 or abs(point[2]) > 24.0:
        return False
    if state.flight is not None and state.flight.kind == "shot" and state.flight.team != team:
        return deep < 12.0 and abs(point[2]) < 7.0
    if point[3] > 1.5:
        return deep < 9.0 and abs(point[2]) < 10.0
    return deep < 22.0 and abs(point[2]) < 20.0


def reaches(state: State, row: int, gap: float, at_s: float, height: float) -> tuple[float, float, str] | None:
    """Return (time into the tick, height, ``hands``) if the goalkeeper's hands reach the ball in this tick."""
    now = state.now_s
    if now - state.touched_s[row] < 0.35 or row == state.taker:
        return None
    flight = state.flight
    if flight is not None and now - flight.born_s < REACT_S and gap > 0.6:
        return None
    diving = float(state.columns[row, 7]) > 0.05
    if diving and now > state.dive_s[row]:
        return None
    reach = STAND_M + 0.6 * min(float(state.columns[row, 7]) / 0.6, 1.0) if diving else STAND_M
    top = HIGH_M + float(state.columns[row, 6]) - 0.5 * max(gap - 0.5, 0.0)
    if gap > reach or height > top:
        return None
    position, velocity = state.ball.position, state.ball.velocity
    start = state.gap(row, position[0], position[1])
    slow = math.hypot(velocity[0] - state.columns[row, 2], velocity[1] - state.columns[row, 3]) < 0.5
    if start <= 0.45:
        return 0.0, height, "hands"
    if at_s < 0.0199 or slow:
        return at_s, height, "hands"
    if gap <= 0.45:
        return at_s * (start - 0.45) / max(start - gap, 1e-6), height, "hands"
    return None


def guard(state: State) -> None:
    """Move the goalkeeper to the line of a shot under way, and dive if necessary; called each tick."""
    flight = state.flight
    if flight is None or flight.kind != "shot" or flight.save is not None:
        return
    row = state.keeper(1 - flight.team)
    now = state.now_s
    if now - flight.born_s < REACT_S or state.bodies.is_busy(row):
        return
    x, y, z = state.ball.position
    vx, vy, vz = state.ball.velocity
    kx, ky = state.xy(row)
    away = (kx - x) * float(state.sign[flight.team])
    closing = vx * float(state.sign[flight.team])
    if closing < 2.0 or away < -0.3:
        return
    t = max(away, 0.0) / closing
    meet_y = y + vy * t
    meet_z = max(z + vz * t - 4.9 * t * t, 0.1)
    if abs(meet_y) > POST_Y_M + 0.6 or meet_z > 3.0:
        return
    state.targets[row] = kx, float(np.clip(meet_y, -POST_Y_M, POST_Y_M))
    state.paces[row] = 6.5
    state.facing[row] = math.atan2(y - ky, x - kx)
    off = abs(meet_y - ky)
    if t < 0.5 and (off > STAND_M * 0.9 or (meet_z < 0.4 and off > 0.55)):
        state.bodies.dive(
            row, math.copysign(math.pi / 2, meet_y - ky), float(np.clip(off * 0.5 / max(t, 0.3), 0.8, 2.7))
        )
        state.dive_s[row] = now + 0.75


def handle(state: State, row: int, after_s: float, how: str = "") -> None:
    """Handle a ball at the goalkeeper's hands: catch it if it is slow and near enough, else parry or punch it.

    Args:
        how: ``catch``, ``parry`` or ``punch`` if a script instructs it; empty: as the ball allows.
    """
    x, y, z = ball_actions.ball_position_at(state, after_s)
    speed = state.moving()
    gap = state.gap(row, x, y)
    flight = state.flight
    is_shot = flight is not None and flight.kind == "shot"
    hold = 1.25 - 0.033 * speed - 0.3 * gap + 0.08 * state.ability["keeping"][row]
    if is_shot:
        hold -= 0.1
    hand = (
        "left_hand" if ball_actions.foot_at(state, row, (x, y, z), _ahead(state, row)) == "left_foot" else "right_hand"
    )
    vx, vy, _ = state.ball.velocity
    if speed < 3.0 and z < 0.4 and state.pressure(row) > 12.0 and not is_shot:
        return
    holds = state.chance(float(np.clip(hold, 0.02, 0.995)))
    if how == "catch" or (not how and holds):
        index = ball_actions.contact(
            state, row, hand, (0.12 * vx, 0.12 * vy, 0.0), "catch", after_s=after_s, duration_s=0.03, is_hold=True
        )
        t_s = state.truth.rows[index].t_s
        state.truth.add("gk.catch", t_s, row, None, "", (index,))
        claim = "claim" if z > 1.5 else "smother" if state.pressure(row) < 1.5 else "pickup"
        if not is_shot:
            state.truth.add(f"gk.{claim}", t_s, row, None, "", (index,))
        ball_actions.gains(state, row, float(state.rng.uniform(3.0, 6.5)))
        state.in_hands = True
        return
    sign = float(state.sign[int(state.team[row])])
    side = math.copysign(1.0, y if abs(y) > 0.5 else vy)
    if how == "punch" or (not how and z > 1.6 and not is_shot):
        out = (sign * float(state.rng.uniform(6.0, 12.0)), side * float(state.rng.uniform(1.0, 7.0)), 5.0)
        what = "punch"
    elif gap > 0.8 * STAND_M or speed > 15.0:
        out = _wide(state, row, (x, y, z), side)
        what = "parry"
    else:
        out = (sign * float(state.rng.uniform(1.0, 5.0)), side * float(state.rng.uniform(0.5, 4.0)), 0.5)
        what = "parry"
    index = ball_actions.contact(state, row, hand, out, what, after_s=after_s)
    state.truth.add(f"gk.{what}", state.truth.rows[index].t_s, row, None, "", (index,))
    state.redirect_ball()


def _wide(state: State, row: int, position: Vector, side: float) -> Vector:
    """Return the velocity of a ball that the goalkeeper just reaches: past the post, or down to the side."""
    vx, _, vz = state.ball.velocity
    sideways_m_s = side * float(state.rng.uniform(5.0, 10.0))
    left_m = state.half_x - abs(position[0])
    need_s = max(POST_Y_M + 0.6 - abs(position[1]), 0.1) / abs(sideways_m_s)
    onward = float(state.rng.uniform(-0.2, 1.0)) * min(max(left_m, 0.0) / need_s, 0.5 * abs(vx))
    return math.copysign(onward, vx) if onward > 0 else -math.copysign(-onward, vx), sideways_m_s, 0.3 * abs(vz) + 0.8


def _ahead(state: State, row: int) -> tuple[float, float]:
    heading = float(state.columns[row, 4])
    return math.cos(heading), math.sin(heading)


def hold(state: State) -> None:
    """Play a tick with the ball in hands: step forward a little, then throw or kick it."""
    row = state.holder
    team = int(state.team[row])
    sign = float(state.sign[team])
    state.ball.hold(ball_retrieval.hands(state, row))
    _, y = state.xy(row)
    state.facing[row] = 0.0 if sign > 0 else math.pi
    edge = sign * (12.0 - state.half_x)
    state.targets[row] = edge, y
    state.paces[row] = 2.5
    if state.now_s < state.decide_s or state.bodies.is_busy(row):
        return
    action = best_pass(state, row, thrown=True, reach_m=38.0)
    long = action.worth < 0.0 or state.chance(0.25 * state.squads.teams[team].directness)
    if long:
        action = punt(state, row)
    ball_retrieval.let_go(state)
    ball_actions.kick(state, row, action, "foot" if long else "right_hand")


def punt(state: State, row: int) -> Action:
    """Return a long ball towards the foremost team mates."""
    team = int(state.team[row])
    sign = float(state.sign[team])
    x, y, _ = state.ball.position
    mates = state.mates(row)
    u = state.columns[mates, 0] * sign
    mate = int(mates[np.argmax(u + state.rng.gumbel(0.0, 6.0, len(mates)))])
    mx, my = state.xy(mate)
    d = math.hypot(mx - x, my - y)
    far = min(d, 58.0)
    target = (x + (mx - x) / d * far, y + (my - y) / d * far, 1.6)
    return Action("pass", "long", mate, target, 25.0, 0.9 + far / 26.0)
