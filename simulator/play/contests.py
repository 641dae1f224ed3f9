"""Contests for the ball: who reaches it first, and the reception, interception, block, header or tackle that follows.

No rule assigns the ball. In every tick the bodies near its path are checked: the first player within reach who is
able to play touches it. A player without time to react can only be hit by it.
"""

from __future__ import annotations

import math

import numpy as np

from football.constants import BALL_RADIUS_M
from simulator.play import (
    ball_actions,
    derived_truth,
    goalkeeping,
    provider_truth,
    referee,
    take_ons,
)
from simulator.play.decisions import carry, choose, clearance, goal_chance, shot
from simulator.play.match_state import Action, State
from simulator.play.perception import meetings, nearest_pass
from simulator.records import TICK_S, Vector

#: Nobody reacts to a kick sooner; who is meant is not surprised.
REACT_S = 0.17
#: How fast who has reacted stretches a leg to a ball that was not meant for him.
STRETCH_M_S = 3.5
#: Touches by the same foot take so long at least.
AGAIN_S = 0.28
#: A ball nearer than this to a body's axis hits it.
BODY_M = 0.27
#: A ball further away is only poked at.
STRETCHED_M = 0.8
#: Radius that a player covers who is set in the path of a shot.
BLOCK_M = 1.1
#: Where a ball that comes straight at somebody is taken, before his body's axis.
COMFORT_M = 0.42


def chase(state: State) -> None:
    """Send players to a loose ball: the first to reach it of each team, its intended receiver, goalkeepers if near."""
    state.look()
    rows = state.players
    react = np.full(len(rows), 0.08)
    if state.flight is not None and state.now_s - state.flight.born_s < REACT_S:
        react[rows != state.flight.mate] = REACT_S
    react += np.maximum(state.idle_s[rows] - state.now_s, 0.0)
    high = state.height_m[rows] + np.where(np.isin(rows, (state.keeper(0), state.keeper(1))), 0.85, 0.55)
    when, where = meetings(
        state.path, state.columns, rows, state.bodies.speed_max, state.bodies.acceleration_max, react, 0.55, 0.6, high
    )
    for team in (0, 1):
        mine = state.team[rows] == team
        best, soonest_s = -1, 90.0
        for k in np.flatnonzero(mine).tolist():
            row = int(rows[k])
            point = state.path[where[k]]
            if row == state.taker or (row == state.last and state.now_s - state.touched_s[row] < 0.5):
                continue
            if state.is_keeper(row) and not goalkeeping.may_leave(state, row, point):
                continue
            if when[k] < soonest_s:
                best, soonest_s = k, float(when[k])
        goers = [best] if best >= 0 else []
        if state.flight is not None and state.flight.mate >= 0 and state.team[state.flight.mate] == team:
            meant = np.flatnonzero(rows == state.flight.mate)
            goers += [int(k) for k in meant if k != best]
        for k in goers:
            row = int(rows[k])
            point = state.path[where[k]] if when[k] < 90.0 else state.path[-1]
            state.targets[row] = _through(state, row, float(point[1]), float(point[2]))
            state.paces[row] = 9.9
            state.facing[row] = np.nan


def _through(state: State, row: int, x: float, y: float) -> tuple[float, float]:
    """Return a point a little beyond another, so that a runner does not brake before the ball."""
    px, py = state.xy(row)
    dx, dy = x - px, y - py
    d = math.hypot(dx, dy)
    more = min(d * 0.25, 1.2)
    return (x + dx / d * more, y + dy / d * more) if d > 0.5 else (x, y)


def contest(state: State) -> None:
    """Find the player who touches the ball in the coming tick, and play that touch."""
    if state.in_hands or state.contact_end_s > state.now_s:
        return
    (x, y, z), (vx, vy, vz) = state.ball.position, state.ball.velocity
    if z > 3.3 and vz > -6.0:
        return
    rows = state.players
    gaps, when = nearest_pass(x, y, vx, vy, state.columns, rows, TICK_S)
    near = np.flatnonzero(gaps < 2.9)
    holder = state.holder
    best: tuple[float, float, int, str] | None = None
    for k in near[np.argsort(gaps[near])].tolist():
        row = int(rows[k])
        if row == holder:
            continue
        at_s = float(when[k])
        if state.is_mute and row not in state.instructed and gaps[k] > BODY_M:
            continue
        height = z + vz * at_s - 4.9 * at_s * at_s
        if goalkeeping.may_handle(state, row) and holder < 0 and not (state.is_mute and row not in state.instructed):
            found = goalkeeping.reaches(state, row, float(gaps[k]), at_s, height)
        elif gaps[k] < 1.35:
            found = _reaches(state, row, float(gaps[k]), at_s, height)
        else:
            continue
        if found is not None and (best is None or found[0] < best[0]):
            best = found[0], found[1], row, found[2]
    if best is None:
        return
    after_s, height, row, part = best
    if state.script_runner is not None and part != "body hit" and row in state.instructed:
        state.script_runner.play(row, after_s, part)
        return
    if part == "hands":
        goalkeeping.handle(state, row, after_s)
    elif part == "body hit":
        shot = state.flight is not None and state.flight.kind == "shot"
        deflect(state, row, after_s, BLOCK_M if shot else BODY_M)
    elif holder >= 0:
        _challenge(state, row, after_s)
    else:
        play(state, row, after_s, height, part)


def _reaches(state: State, row: int, gap: float, at_s: float, height: float) -> tuple[float, float, str] | None:
    """Return (time into the tick, height, part) if a player touches the ball in this tick."""
    now = state.now_s
    again = now - state.touched_s[row] < AGAIN_S
    rise = float(state.columns[row, 6])
    top = state.height_m[row] + rise + 0.08
    if height > top or height < 0.0:
        return None
    if again or row == state.taker:
        return None
    asleep = state.idle_s[row] > now or (state.bodies.is_busy(row) and rise <= 0.0)
    flight = state.flight
    if flight is not None and now - flight.born_s < REACT_S and row != flight.mate:
        asleep = True
    part = "foot" if height < 0.75 else "chest" if height < state.height_m[row] - 0.36 + rise else "head"
    if row in state.instructed:
        asleep = False
    elif state.is_mute:
        asleep = True
    if asleep:
        broad = _covers(state, row, height)
        if gap < broad and at_s > 0.0 and state.moving() > 4.0:
            early_s = math.sqrt(max(broad * broad - gap * gap, 0.0)) / state.moving()
            return max(at_s - early_s, 0.0), height, "body hit"
        return None
    reach = float(state.reach_m[row]) if part == "foot" else 0.45 if part == "chest" else 0.55
    # Who faces a shot or a cross is set for it.
    if flight is not None and flight.kind != "shot" and flight.what != "cross" and row != flight.mate:
        reach = min(reach, COMFORT_M + STRETCH_M_S * (now - flight.born_s - REACT_S))
    if gap > reach:
        return None
    if state.holder >= 0:
        return (at_s, height, part) if part == "foot" else None
    position, velocity = state.ball.position, state.ball.velocity
    rx, ry = position[0] - state.columns[row, 0], position[1] - state.columns[row, 1]
    start = math.hypot(rx, ry)
    if start <= COMFORT_M:
        return 0.0, height, part
    if gap <= COMFORT_M and at_s > 0.0:
        share = (start - COMFORT_M) / (start - gap)
        return at_s * share, height, part
    speed = math.hypot(velocity[0] - state.columns[row, 2], velocity[1] - state.columns[row, 3])
    if at_s < TICK_S - 1e-9 or speed < 0.4:
        return at_s, height, part
    return None


def _covers(state: State, row: int, height: float) -> float:
    """Return how far from a body's axis a ball still hits a player who had no time to react.

    The distance is larger for a player who is set before a shot or a cross.
    """
    flight = state.flight
    if flight is None or flight.team == state.team[row] or height > 1.4 or state.reach_m[row] < 0.8:
        return BODY_M
    return BLOCK_M if flight.kind == "shot" or flight.what in ("cross", "clearance", "long") else BODY_M


def play(state: State, row: int, after_s: float, height: float, part: str) -> None:
    """Play a free ball within reach: control it, or pass, shoot or clear with the first touch."""
    if part == "head":
        _header(state, row, after_s)
        return
    speed = state.moving()
    flight = state.flight
    mine = flight is not None and flight.team == state.team[row]
    # A hard ball that was not meant for him is hardly ever taken cleanly.
    stretched = state.gap(row, *ball_actions.ball_position_at(state, after_s)[:2]) > STRETCHED_M
    if not mine and speed > 5.0 and (stretched or state.chance(min(0.8, 0.12 + 0.045 * (speed - 5.0)))):
        deflect(state, row, after_s, float(state.reach_m[row]))
        return
    provider_truth.loose_duel(state, row)
    near = state.pressure(row)
    x, y, _ = ball_actions.ball_position_at(state, after_s)
    team = int(state.team[row])
    deep = state.depth(team, x)
    if deep > 84.0 and near < 4.0 and not mine and abs(y) < 22.0 and state.chance(0.55):
        ball_actions.kick(state, row, clearance(state, row), after_s=after_s)
        return
    if deep < 22.0 and goal_chance(deep, y) > 0.09 and part == "foot" and state.chance(0.5):
        action = shot(state, row)
        action.what = "volley" if height > 0.4 else "foot"
        if action.worth > 0.07:
            ball_actions.kick(state, row, action, after_s=after_s)
            return
    eager = 0.1 + 0.12 * (near < 2.5) + 0.25 * float(state.squads.teams[team].tempo - 1.0)
    if part == "foot" and height < 0.5 and speed < 17.0 and state.chance(max(eager, 0.02)):
        action = choose(state, row, first_time=True)
        if action.kind != "carry":
            ball_actions.kick(state, row, action, after_s=after_s)
            return
    control(state, row, after_s, part, near)


def control(state: State, row: int, after_s: float, part: str, near: float) -> None:
    """Control the ball as well as ability allows: fast, high and contested balls bounce away."""
    going = carry(state, row)
    bx, by, bz = ball_actions.ball_position_at(state, after_s)
    body = state.columns[row]
    dx, dy = going.target[0] - bx, going.target[1] - by
    d = max(math.hypot(dx, dy), 0.1)
    push = float(np.clip(0.45 * state.speed(row) + 0.9, 0.8, 3.6))
    relative = math.hypot(state.ball.velocity[0] - body[2], state.ball.velocity[1] - body[3])
    rough = 0.055 * relative * (1.0 - 0.2 * state.ability["control"][row]) * (1.25 if near < 1.5 else 1.0)
    rough += 0.5 * (part == "chest") + 0.25 * (bz > 0.4)
    vx = dx / d * push + 0.25 * float(body[2]) + state.draw(0.0, rough)
    vy = dy / d * push + 0.25 * float(body[3]) + state.draw(0.0, rough)
    limb = "foot" if part == "foot" else "chest"
    vz = -0.6 if bz > 0.5 else abs(state.draw(0.0, 0.1 * rough))
    index = ball_actions.contact(state, row, limb, (vx, vy, vz), "trap", after_s=after_s, duration_s=0.016)
    derived_truth.controlled(state, row, index)
    tempo = state.squads.teams[int(state.team[row])].tempo
    ball_actions.gains(state, row, float(state.rng.gamma(2.2, 0.22 + 0.065 * min(near, 8.0))) / tempo + 0.12)


def deflect(state: State, row: int, after_s: float, radius_m: float = BODY_M) -> None:
    """Deflect the ball off a body, as off a soft round wall of the radius that the player covers."""
    bx, by, _ = ball_actions.ball_position_at(state, after_s)
    vx, vy, vz = state.ball.velocity
    body = state.columns[row]
    wx, wy = vx - float(body[2]), vy - float(body[3])
    speed = max(math.hypot(wx, wy), 1e-6)
    ux, uy = wx / speed, wy / speed
    # How far beside his axis the ball passes decides how it comes off him.
    offset = ux * (by - float(body[1])) - uy * (bx - float(body[0]))
    offset = float(np.clip(offset / radius_m + state.draw(0.0, 0.25), -0.97, 0.97))
    square = math.sqrt(1.0 - offset * offset)
    nx, ny = -square * ux - offset * uy, -square * uy + offset * ux
    along = wx * nx + wy * ny
    give = 1.0 + float(state.rng.uniform(0.1, 0.45))
    out = (
        0.85 * (vx - give * along * nx), 0.85 * (vy - give * along * ny),
        0.6 * vz + abs(state.draw(0.0, 0.08)) * abs(along),
    )  # fmt: skip
    before = math.hypot(vx, vy)
    after = math.hypot(out[0], out[1])
    turned = (vx * out[0] + vy * out[1]) / max(before * after, 1e-9)
    continues = turned > 0.5 and 0.5 < after / max(before, 1e-9) < 1.1
    _, _, z = ball_actions.ball_position_at(state, after_s)
    limb = "foot" if z < 0.6 else "body"
    if limb == "body" and z > 0.7 and state.live and row != state.keeper(int(state.team[row])) and state.chance(0.05):
        ball_actions.contact(state, row, "left_hand" if offset > 0 else "right_hand", out, "handle", after_s=after_s)
        state.redirect_ball()
        if state.chance(0.5 * state.settings.interruptions):
            referee.foul(state, row, -1, "handball")
        return
    is_block = state.flight is not None and state.flight.kind == "shot" and state.flight.team != state.team[row]
    ball_actions.contact(
        state, row, limb, out, "block" if is_block else "deflection", after_s=after_s, deflection=continues
    )
    state.redirect_ball()


def _header(state: State, row: int, after_s: float) -> None:
    """Head the ball: at the goal, away from the own goal, or to a team mate."""
    x, y, _ = ball_actions.ball_position_at(state, after_s)
    team = int(state.team[row])
    sign = float(state.sign[team])
    deep = state.depth(team, x)
    if deep < 14.0 and abs(y) < 11.0 and state.chance(0.75):
        ball_actions.kick(state, row, shot(state, row, header=True), "head", after_s=after_s)
        return
    if deep > 75.0:
        far = float(state.rng.uniform(10.0, 22.0))
        side = math.copysign(float(state.rng.uniform(0.0, 15.0)), y)
        target = (x + sign * far, y + side, BALL_RADIUS_M)
        action = Action("pass", "clearance", -1, target, 12.0, 0.55 + far / 20.0)
    else:
        mates = state.mates(row)
        away = state.gaps(mates, x, y)
        good = mates[(away > 3.0) & (away < 18.0)]
        if len(good):
            score = state.columns[good, 0] * sign * 0.1 - 0.1 * np.abs(state.gaps(good, x, y) - 9.0)
            mate = int(good[np.argmax(score + state.rng.gumbel(0.0, 0.4, len(good)))])
            mx, my = state.xy(mate)
            target = (mx + 0.6 * state.columns[mate, 2], my + 0.6 * state.columns[mate, 3], 0.3)
        else:
            mate, target = -1, (x + 9.0 * sign, y, BALL_RADIUS_M)
        d = math.hypot(target[0] - x, target[1] - y)
        action = Action("pass", "header", mate, (float(target[0]), float(target[1]), target[2]), 10.0, 0.35 + d / 16.0)
    ball_actions.kick(state, row, action, "head", after_s=after_s)


def leap(state: State) -> None:
    """Let players under a high ball jump in time to meet it at the top of the jump."""
    if len(state.path) < 12:
        return
    rise_s = 0.34
    k = round((state.now_s - state.path_s + rise_s) / 0.05)
    if not 0 <= k < len(state.path):
        return
    _, x, y, z = state.path[k]
    if not 1.9 < z < 2.75:
        return
    for row in state.players.tolist():
        if (
            state.bodies.is_busy(row)
            or state.idle_s[row] > state.now_s
            or (state.is_mute and row not in state.instructed)
        ):
            continue
        c = state.columns[row]
        if math.hypot(x - c[0] - rise_s * c[2], y - c[1] - rise_s * c[3]) < 0.75:
            need = z - state.height_m[row] + (-0.45 if goalkeeping.may_handle(state, row) else 0.12)
            if need < 0.75:
                state.bodies.jump(row, float(np.clip(need + state.draw(0.0, 0.04), 0.08, 0.58)))
                _aerial(state, row, (float(x), float(y), float(z)))


def _aerial(state: State, row: int, position: Vector) -> None:
    """Follow a jump for the ball: with an opponent's it is an aerial duel (6.9), and sometimes a foul."""
    rival, gap = state.nearest(state.opponents(row), position[0], position[1])
    provider_truth.jumped(state, row, rival, gap)
    if gap > provider_truth.AERIAL_M:
        return
    if state.gap(row, *state.xy(rival)) < 0.9 and state.chance(
        (0.01 if referee.in_own_box(state, row) else 0.05) * state.settings.interruptions
    ):
        referee.foul(state, row, rival, "aerial")


def _challenge(state: State, row: int, after_s: float) -> None:
    """Let an opponent who can reach the holder's ball try for it; team mates leave it alone."""
    holder = state.holder
    if state.team[row] == state.team[holder] or state.now_s < state.tackle_s:
        return
    if state.now_s - state.touched_s[holder] < 0.1:
        return
    bx, by, _ = state.ball.position
    mine, his = state.gap(row, bx, by), state.gap(holder, bx, by)
    state.tackle_s = state.now_s + 0.3
    # He who waits for his moment does not dive in; the ball must be loose enough.
    threat = state.depth(int(state.team[holder]), bx) < 28.0
    daring = state.action is not None and state.action.what == take_ons.TAKE_ON
    if not state.chance(0.03 + 0.16 * (his > 0.75) + 0.08 * threat + take_ons.TRIES * daring):
        return
    edge = 0.56 + 0.5 * (his - mine) + 0.08 * (state.ability["tackling"][row] - state.ability["dribbling"][holder])
    if not state.chance(float(np.clip(edge - take_ons.HARDER * daring, 0.12, 0.85))):
        _beaten(state, row, holder)
        return
    win(state, row, after_s)


def win(state: State, row: int, after_s: float) -> None:
    """Win the ball from an opponent by poking it away."""
    holder = state.holder if state.holder >= 0 else state.last
    bx, by, _ = state.ball.position
    vx, vy = state.columns[row, 2], state.columns[row, 3]
    team = int(state.team[row])
    angle = math.atan2(by - state.columns[row, 1], bx - state.columns[row, 0]) + state.draw(0.0, 0.6)
    poke = float(state.rng.uniform(1.5, 6.0))
    if state.action is not None and state.action.what == take_ons.TAKE_ON:
        # Past who comes on, not against him.
        angle += math.copysign(float(state.rng.uniform(0.7, 1.7)), state.draw(0.0, 1.0))
    if abs(by) > state.half_y - 10.0 and state.chance(0.3):
        # Into touch is safe.
        angle, poke = math.copysign(math.pi / 2, by) + state.draw(0.0, 0.5), poke + 3.0
    out = (float(0.3 * vx + poke * math.cos(angle)), float(0.3 * vy + poke * math.sin(angle)), 0.0)
    state.disputed, had = True, provider_truth.has_ball(state, holder)
    index = ball_actions.contact(state, row, "foot", out, "tackle", after_s=after_s)
    state.disputed = False
    if had:
        provider_truth.tackle(state, row, holder, index)
    state.idle_s[holder] = max(state.idle_s[holder], state.now_s + 0.45)
    state.give_control(team)
    state.holder, state.action = -1, None
    state.redirect_ball()


def _beaten(state: State, row: int, holder: int) -> None:
    """Handle a try that missed the ball: the player is out of play for a moment, and may have fouled."""
    position: Vector = state.ball.position
    state.idle_s[row] = state.now_s + float(state.rng.uniform(0.4, 0.9))
    if state.settings.occasions.take_on_share > 0.0:
        state.stopping[row] = float(state.idle_s[row])
    state.tackle_s = state.now_s + 0.6
    if state.chance(
        (0.06 if state.in_box(int(state.team[row]), position[0], position[1]) else 0.38) * state.settings.interruptions
    ):
        referee.foul(state, row, holder, "careless")
    provider_truth.missed(state, row, holder)
