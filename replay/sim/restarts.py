"""From the whistle or the line until the ball is in play again: who takes it, who stands where, and how long it takes.

The ball runs out, is brought to the spot, lies still, and is kicked by its taker when he and the others are ready.
Nobody is put anywhere: everybody walks, and the ball is carried.
"""

from __future__ import annotations

import math

import numpy as np

from replay.sim import acts
from replay.sim.choices import air_time, best_pass, shot
from replay.sim.shape import keep_goal, paces, spread_out
from replay.sim.state import BOX_X_M, BOX_Y_M, CIRCLE_M, Action, Restart, State

_RADIUS_M = 0.11

#: Median and spread (log-normal) of the seconds from the end of play to the restart, and the least it takes.
_DEAD_S = {
    "throw_in": (9.0, 0.35, 4.0),
    "goal_kick": (22.0, 0.3, 9.0),
    "corner": (26.0, 0.25, 14.0),
    "free_kick": (17.0, 0.45, 5.0),
    "kick_off": (50.0, 0.2, 30.0),
    "penalty": (65.0, 0.2, 40.0),
    "dropped": (20.0, 0.3, 8.0),
}
#: The ball lies still for so long before it is kicked.
STILL_S = 1.9


def await_restart(
    state: State, kind: str, team: int, spot: tuple[float, float], cause: int, t_s: float, *, at_once: bool = False
) -> None:
    """Play will go on with ``kind`` for ``team`` from ``spot``; ``at_once``: everything is ready."""
    median, spread, least = _DEAD_S[kind]
    dead_s = 0.0 if at_once else max(least, median * math.exp(state.draw(0.0, spread)))
    restart = Restart(kind, team, spot, -1, t_s, t_s + dead_s, cause)
    restart.taker = _taker(state, restart)
    if kind == "goal_kick":
        direct = state.squads.teams[team].directness
        restart.style = "long" if state.chance(0.45 * direct) else "short"
    elif kind == "free_kick":
        restart.style = _free_kick_style(state, restart)
    elif kind == "corner":
        restart.style = "short" if state.chance(0.08) else "crossed"
    state.restart = restart
    state.attack = team
    state.taker = -1
    _draw_places(state, restart)


def _taker(state: State, restart: Restart) -> int:
    rows = state.outfield[restart.team]
    kind = restart.kind
    if kind == "goal_kick":
        return state.keeper(restart.team)
    if kind == "kick_off":
        return int(rows[np.argmax(state.depth_of[rows])])
    if kind == "penalty":
        return int(rows[np.argmax(state.ability["shooting"][rows])])
    if kind == "corner":
        wide = rows[state.depth_of[rows] > 0.2]
        return int(wide[np.argmax(state.ability["passing"][wide] - 0.02 * state.gaps(wide, *restart.spot))])
    if kind == "free_kick" and state.goal_gap(restart.team, *restart.spot) < 40.0:
        return int(rows[np.argmax(state.ability["passing"][rows] - 0.02 * state.gaps(rows, *restart.spot))])
    if kind == "throw_in":
        side = np.abs(state.side_of[rows] * state.half_y * state.sign[restart.team] - restart.spot[1])
        cost = state.gaps(rows, *restart.spot) + 0.25 * side
        return int(rows[np.argmin(cost)])
    if kind == "free_kick" and state.depth(restart.team, restart.spot[0]) > 85.0:
        return state.keeper(restart.team)
    return state.nearest(rows, *restart.spot)[0]


def _free_kick_style(state: State, restart: Restart) -> str:
    away = state.goal_gap(restart.team, *restart.spot)
    deep = state.depth(restart.team, restart.spot[0])
    if away < 29.0 and abs(restart.spot[1]) < 16.0 and state.chance(0.8):
        return "direct shot"
    if deep < 45.0 and state.chance(0.7):
        return "crossed"
    return "short"


def _draw_places(state: State, restart: Restart) -> None:
    """Places of those who go into the box, or into a wall, drawn once a restart."""
    team, sign = restart.team, float(state.sign[restart.team])
    if restart.kind == "corner" or restart.style in ("crossed", "direct shot"):
        rows = state.outfield[team]
        rows = rows[rows != restart.taker]
        order = rows[np.argsort(-(state.ability["heading"][rows] + 0.4 * state.depth_of[rows]))]
        for row in order[:6].tolist():
            deep = float(state.rng.uniform(4.0, 13.0))
            restart.places[row] = sign * (state.half_x - deep), float(state.rng.uniform(-8.0, 8.0))
        others = state.outfield[1 - team]
        near = others[np.argsort(state.columns[others, 0] * -sign)]
        marks = list(restart.places.items())
        for number, row in enumerate(near[:9].tolist()):
            if number < len(marks):
                x, y = marks[number][1]
                restart.places[row] = x + sign * 1.0, y * 0.9
            else:
                deep = float(state.rng.uniform(3.0, 14.0))
                restart.places[row] = sign * (state.half_x - deep), float(state.rng.uniform(-7.0, 7.0))
    if restart.style == "direct shot":
        _build_wall(state, restart)


def _build_wall(state: State, restart: Restart) -> None:
    """Three to five defenders shoulder to shoulder 9.15 m from the ball, before the nearer half of the goal."""
    team, sign = restart.team, float(state.sign[restart.team])
    x, y = restart.spot
    away = state.goal_gap(team, x, y)
    size = 5 if away < 21.0 else 4 if away < 25.0 else 3
    goal_x = sign * state.half_x
    dx, dy = goal_x - x, math.copysign(2.0, y) - y
    d = math.hypot(dx, dy)
    ux, uy = dx / d, dy / d
    rows = state.outfield[1 - team]
    rows = rows[np.argsort(state.gaps(rows, x, y))][:size]
    for number, row in enumerate(rows.tolist()):
        off = (number - (size - 1) / 2) * 0.55
        restart.places[row] = x + ux * (CIRCLE_M + 0.3) - uy * off, y + uy * (CIRCLE_M + 0.3) + ux * off


def plan(state: State) -> None:
    """Targets and paces of all players while a restart is awaited."""
    restart = state.restart
    assert restart is not None
    team = restart.team
    x, y = restart.spot
    if restart.kind == "kick_off":
        places = _kick_off_places(state)
    else:
        us = (float(x * state.sign[0]), float(x * state.sign[1]))
        ws = (float(y * state.sign[0]), float(y * state.sign[1]))
        places = spread_out(state, us, ws, team)
    keep_goal(state, places, x, y)
    for row, place in restart.places.items():
        places[row] = place
    if restart.kind == "penalty":
        _penalty_places(state, restart, places)
    if restart.kind == "goal_kick":
        rows = state.of_team[1 - team]
        edge = state.half_x - BOX_X_M - 1.0
        inside = (np.abs(places[rows, 0]) > edge) & (np.abs(places[rows, 1]) < BOX_Y_M + 1.0)
        side = math.copysign(1.0, x)
        places[rows[inside & (places[rows, 0] * side > 0)], 0] = side * edge
    _keep_distance(state, restart, places)
    places[restart.taker] = stance(state, restart)
    rows = state.players
    state.targets[rows] = places[rows]
    state.paces[rows] = paces(state, rows, places, 1.0)
    left = max(restart.earliest_s - state.now_s, 1.5)
    for row in rows.tolist():
        need = float(np.hypot(*(places[row] - state.columns[row, :2]))) / left
        state.paces[row] = min(max(state.paces[row], min(need * 1.4, 5.0)), 7.0)
    state.paces[restart.taker] = max(state.paces[restart.taker], 3.0)
    bx, by, _ = state.ball.place
    state.facing[:] = np.arctan2(by - state.columns[:, 1], bx - state.columns[:, 0])
    state.facing[state.paces > 3.0] = np.nan


def _kick_off_places(state: State) -> np.ndarray:
    """Everybody in his own half, the opponents out of the circle."""
    places = np.full((len(state.team), 2), np.nan)
    for team in (0, 1):
        rows = state.outfield[team]
        sign = state.sign[team]
        u = -38.0 + 36.5 * state.depth_of[rows]
        places[rows, 0] = sign * np.minimum(u * state.half_x / 52.5, -0.8)
        places[rows, 1] = sign * state.side_of[rows] * state.half_y * 0.75
    restart = state.restart
    if restart is not None:
        near = state.outfield[restart.team]
        near = near[near != restart.taker]
        mate = int(near[np.argmax(state.depth_of[near])])
        places[mate] = -2.0 * state.sign[restart.team], 5.0
    return places


def _penalty_places(state: State, restart: Restart, places: np.ndarray) -> None:
    team, sign = restart.team, float(state.sign[restart.team])
    keeper = state.keeper(1 - team)
    for number, row in enumerate(state.players.tolist()):
        if row in (restart.taker, keeper, state.keeper(team)):
            continue
        u = places[row, 0] * sign
        most = state.half_x - BOX_X_M - 1.5
        if u > most or math.hypot(places[row, 0] - restart.spot[0], places[row, 1]) < CIRCLE_M + 1:
            places[row] = sign * (most - 0.8 * (number % 3)), -12.0 + 24.0 * (number % 11) / 10.0
    places[keeper] = sign * (state.half_x - 0.1), 0.0


def _keep_distance(state: State, restart: Restart, places: np.ndarray) -> None:
    """Opponents keep their distance from the ball (Laws 8, 13, 15, 17)."""
    least = 2.5 if restart.kind == "throw_in" else CIRCLE_M + 0.4
    rows = state.of_team[1 - restart.team]
    if restart.kind in ("goal_kick", "penalty"):
        return
    sx, sy = restart.spot
    dx, dy = places[rows, 0] - sx, places[rows, 1] - sy
    d = np.hypot(dx, dy)
    # Who would be too near goes back towards his own goal.
    home = -float(state.sign[1 - restart.team])
    dx = np.where(d < 0.5, home, dx)
    near = d < least
    d = np.maximum(np.hypot(dx, dy), 1e-6)
    places[rows[near], 0] = sx + dx[near] / d[near] * least
    places[rows[near], 1] = sy + dy[near] / d[near] * least
    np.clip(places[:, 0], -state.half_x - 0.2, state.half_x + 0.2, out=places[:, 0])
    np.clip(places[:, 1], -state.half_y - 0.6, state.half_y + 0.6, out=places[:, 1])


def stance(state: State, restart: Restart) -> tuple[float, float]:
    """Where the taker stands before he takes it."""
    x, y = restart.spot
    sign = float(state.sign[restart.team])
    if restart.kind == "throw_in":
        return x, y + math.copysign(0.35, y)
    if restart.kind == "corner":
        return x + math.copysign(0.3, x), y + math.copysign(0.4, y)
    return x - 0.45 * sign, y + 0.1


def step(state: State) -> None:
    """A tick of dead time."""
    restart = state.restart
    assert restart is not None
    waited = state.now_s - restart.since_s
    if restart.stage == "rolling":
        if waited > 1.5 and (state.moving() < 1.0 or waited > 4.0):
            here = state.ball.place
            there = (restart.spot[0], restart.spot[1], _RADIUS_M)
            takes_s = max(1.2, math.dist(here, there) / 6.0)
            state.ball.carry(there, takes_s)
            restart.stage, restart.placed_s = "coming", state.now_s + takes_s
        return
    still_s = state.now_s - restart.placed_s
    if still_s < 0.0:
        return
    is_there = state.gap(restart.taker, *stance(state, restart)) < 0.4 and not state.bodies.is_busy(restart.taker)
    if restart.kind == "throw_in":
        _throw(state, restart, still_s, is_there)
        return
    if restart.stage == "coming":
        restart.stage = "placed"
        state.ball.release((0.0, 0.0, 0.0))
    late = waited > 2.0 * (restart.earliest_s - restart.since_s) + 25.0
    if still_s > STILL_S and is_there and state.now_s >= restart.earliest_s and (_is_ready(state, restart) or late):
        take(state, restart)


def _throw(state: State, restart: Restart, still_s: float, is_there: bool) -> None:
    if restart.stage == "coming":
        if is_there and state.now_s >= restart.earliest_s - 1.6:
            x, y = state.xy(restart.taker)
            up = (x, y - math.copysign(0.1, y), 2.1)
            state.ball.carry(up, 0.8)
            restart.stage, restart.placed_s = "held", state.now_s + 0.8
        return
    if still_s > 0.5 and state.now_s >= restart.earliest_s:
        take(state, restart)


def _is_ready(state: State, restart: Restart) -> bool:
    """Opponents have gone to their distance; at a kick-off everybody to his half."""
    if restart.kind == "kick_off":
        rows = state.players[state.players != restart.taker]
        if bool(np.any(state.columns[rows, 0] * state.sign[state.team[rows]] > 0.3)):
            return False
    rows = state.of_team[1 - restart.team]
    if restart.kind == "goal_kick":
        u = state.columns[rows, 0] * state.sign[restart.team]
        outside = (u > BOX_X_M - state.half_x) | (np.abs(state.columns[rows, 1]) > BOX_Y_M)
        return bool(outside.all())
    if restart.kind == "penalty":
        rows = rows[rows != state.keeper(1 - restart.team)]
    return bool(state.gaps(rows, *restart.spot).min() >= CIRCLE_M - 0.3)


def take(state: State, restart: Restart) -> None:
    """The contact that brings the ball into play."""
    kind, taker = restart.kind, restart.taker
    action = _action(state, restart)
    state.restart = None
    state.live = True
    place = state.ball.place
    after = kind if not restart.style else f"{kind} {restart.style}"
    live = state.notes.note("play.live", state.now_s, taker, place, kind, (restart.cause,))
    limb = "right_hand" if kind == "throw_in" else "foot"
    attempt = acts.kick(state, taker, action, limb, restart=kind)
    variant = restart.style
    if kind == "corner":
        variant = "left" if restart.spot[1] * float(state.sign[restart.team]) > 0 else "right"
    contact = state.notes.rows[attempt].causes[0]
    state.notes.note(
        f"restart.{kind}", state.notes.rows[contact].t_s, taker, place, variant, (live, contact, restart.cause),
        dead_s=round(state.now_s - restart.since_s, 2), style=after,
    )  # fmt: skip
    state.taker = taker


def _action(state: State, restart: Restart) -> Action:
    taker, kind, style = restart.taker, restart.kind, restart.style
    if kind == "throw_in":
        return best_pass(state, taker, thrown=True, reach_m=24.0)
    if kind == "penalty" or style == "direct shot":
        action = shot(state, taker)
        action.what = "penalty" if kind == "penalty" else "free_kick"
        return action
    if (kind == "corner" and style == "crossed") or style == "crossed":
        return _into_box(state, taker)
    if style == "long":
        return _long(state, taker)
    return best_pass(state, taker, reach_m=22.0 if kind == "kick_off" else 60.0)


def _into_box(state: State, taker: int) -> Action:
    x, y, _ = state.ball.place
    team = int(state.team[taker])
    mates = state.mates(taker)
    u = state.columns[mates, 0] * state.sign[team]
    inside = mates[(u > state.half_x - BOX_X_M - 2.0) & (np.abs(state.columns[mates, 1]) < 13.0)]
    if not len(inside):
        return best_pass(state, taker)
    mate = int(inside[int(state.rng.integers(len(inside)))])
    mx, my = state.xy(mate)
    d = math.hypot(mx - x, my - y)
    flight = 0.7 + d / 34.0
    return Action("pass", "cross", mate, (mx, my, 1.8), d / flight, flight)


def _long(state: State, taker: int) -> Action:
    x, y, _ = state.ball.place
    mates = state.mates(taker)
    u = state.columns[mates, 0] * state.sign[state.team[taker]]
    mate = int(mates[np.argmax(u + state.rng.gumbel(0.0, 5.0, len(mates)))])
    mx, my = state.xy(mate)
    d = math.hypot(mx - x, my - y)
    far = min(d, 58.0)
    target = (x + (mx - x) / d * far, y + (my - y) / d * far, 1.7)
    return Action("pass", "long", mate, target, far / air_time(far), air_time(far) + 0.4)
