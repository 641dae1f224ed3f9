"""Decisions of the player on the ball: passes, a shot, a cross, a clearance, or carrying on.

All options are rated in one currency: the chance that they lead to a goal soon, less the chance that the opponents
gain as much. The player takes one of the best, as ability and haste allow. The numbers are design numbers, chosen so
that rates of passes, their lengths and success, shots and crosses are as in matches.
"""

from __future__ import annotations

import math

import numpy as np

from football.constants import BALL_RADIUS_M
from football.packet_table import Floats
from simulator.play.match_state import Action, State
from simulator.play.perception import open_space, rate_passes
from simulator.play.team_shape import last_line
from simulator.records import Vector

#: How much of a loss's value for the opponents counts, and what giving the ball away costs in itself.
_LOSS_SHARE, _LOSS_M = 0.9, 0.009
#: Differences of value that people do not see.
_BLUR = 0.0035
#: An opponent so near before the ball, and so near to its way, is in the way: distance, then all of and none of it.
_SHUT_M, _SHUT_ALL_M, _SHUT_NONE_M = 2.2, 0.45, 1.0
#: What is left of the chance of a pass or shot straight at him.
_SHUT_SHARE = 0.1
#: By so much a clearance is turned away from him, as little as possible.
_TURNS_DEG = (0.0, 20.0, -20.0, 40.0, -40.0, 60.0, -60.0)


def worth(u: Floats, w: Floats, half_x: float) -> Floats:
    """Return the value of the ball at upfield positions: a slow rise over the pitch, steep before the goal.

    >>> bool(worth(np.array([40.0]), np.array([0.0]), 52.5)[0] > worth(np.array([0.0]), np.array([0.0]), 52.5)[0])
    True
    """
    deep = half_x - u
    away = np.hypot(deep, w)
    near = 0.14 * np.exp(-away / 9.0)
    final = 0.022 / (1.0 + np.exp((away - 27.0) / 5.0))
    share = (u + half_x) / (2.0 * half_x)
    # From the wings of the last third crosses come.
    wing = 0.009 * np.exp(-(((deep - 14.0) / 13.0) ** 2)) * np.clip((np.abs(w) - 12.0) / 10.0, 0.0, 1.0)
    return 0.004 + 0.010 * share + 0.050 * share * share + near + final + wing


def goal_chance(deep_m: float, across_m: float, *, header: bool = False) -> float:
    """Return the xG of a shot by distance and visible angle (logistic, coefficients as in published models)."""
    away = math.hypot(deep_m, across_m)
    angle = math.atan2(7.32 * deep_m, deep_m * deep_m + across_m * across_m - 3.66**2) % math.pi
    logit = -0.55 - 0.125 * away + 1.3 * angle - (1.0 if header else 0.0)
    return 1.0 / (1.0 + math.exp(-logit))


def loss(u: Floats, w: Floats, half_x: float) -> Floats:
    """Return the cost of a loss of the ball at upfield positions."""
    return _LOSS_M + _LOSS_SHARE * (worth(-u, w, half_x) - 0.004)


def best_pass(state: State, row: int, *, hurried: float = 0.0, thrown: bool = False, reach_m: float = 65.0) -> Action:
    """Return the pass that the player rates highest.

    Args:
        hurried: 0..1, share of judgement that haste takes away.
        thrown: by hand, from a touch line or a goalkeeper.
        reach_m: greatest length.
    """
    team = int(state.team[row])
    sign = float(state.sign[team])
    x, y, _ = state.ball.position
    options, mates, whats = _pass_targets(state, row, x, y, thrown, reach_m)
    if not len(options):
        ahead = (float(np.clip(x + 15.0 * sign, 2 - state.half_x, state.half_x - 2)), y * 0.8, BALL_RADIUS_M)
        return Action("pass", "clearance", -1, ahead, 15.0, 1.2)
    rated = rate_passes(
        x, y, options, mates, state.columns, state.opponents(row),
        state.bodies.speed_max, state.bodies.acceleration_max, 0.17,
    )  # fmt: skip
    xs, ys = options[:, :2].T.copy()
    u, w = xs * sign, ys * sign
    space = open_space(xs, ys, state.columns, state.opponents(row), 0.6)
    arrives = rated[:, 0] / (1.0 + np.exp(-(rated[:, 2] + 0.45) / 0.18))
    air = options[:, 3] > 0.5
    length = np.hypot(options[:, 0] - x, options[:, 1] - y)
    skill = 0.03 * state.ability["passing"][row]
    arrives *= np.where(air, 0.91 - 0.0035 * length, 0.985 - 0.0022 * length) + skill
    arrives *= 1.0 - (1.0 - _SHUT_SHARE) * _in_the_way(state, row, x, y, options)
    is_keeper = np.isin(mates, (state.keeper(0), state.keeper(1)))
    gain = worth(u, w, state.half_x) * (0.55 + 0.45 * np.minimum(space, 6.0) / 6.0)
    line = last_line(state, team)
    gain += 0.008 * ((u > line + 2.0) & (u > 5.0))
    # Sometimes he looks for the way forward more than at other times.
    eager = float(state.rng.exponential(1.0)) * state.squads.teams[team].directness
    gain += eager * 0.00014 * (u - x * sign)
    value = arrives * gain - (1.0 - arrives) * loss(u, w, state.half_x)
    value -= 0.006 * is_keeper * (np.abs(x * sign + state.half_x) > 40.0) + 0.002 * is_keeper
    value -= 0.004 * (length < 5.0) + 0.008 * np.clip((12.0 - length) / 6.0, 0.0, 1.0)
    value += state.rng.gumbel(0.0, _BLUR * (1.0 + hurried), len(value))
    k = int(np.argmax(value))
    flight_s = rated[k, 1] if air[k] else 0.0
    target = (float(options[k, 0]), float(options[k, 1]), BALL_RADIUS_M)
    return Action("pass", whats[k], int(mates[k]), target, float(options[k, 2]), float(flight_s), float(value[k]))


def _in_the_way(state: State, row: int, x: float, y: float, targets: Floats) -> Floats:
    """Return how much (0..1) an opponent right before the ball stands in the way to each of (n, 2 or more) targets.

    Nobody plays the ball into the legs of the opponent before him; he turns away, carries on or passes elsewhere.
    """
    away = state.columns[state.opponents(row)][:, :2] - (x, y)
    near = away[np.hypot(away[:, 0], away[:, 1]) < _SHUT_M]
    if not len(near):
        return np.zeros(len(targets))
    way = targets[:, :2] - (x, y)
    way /= np.maximum(np.hypot(way[:, 0], way[:, 1]), 0.1)[:, None]
    aside = np.abs(np.outer(way[:, 0], near[:, 1]) - np.outer(way[:, 1], near[:, 0]))
    aside = np.where(way @ near.T > 0.0, aside, np.inf)
    return np.clip((_SHUT_NONE_M - aside.min(axis=1)) / (_SHUT_NONE_M - _SHUT_ALL_M), 0.0, 1.0)


def _way_left(state: State, row: int, x: float, y: float, target: Vector, *, factor: float = 1.0) -> float:
    """Return what an opponent right before the ball leaves of the worth of a kick to a target."""
    shut = min(1.0, factor * float(_in_the_way(state, row, x, y, np.array([target]))[0]))
    return 1.0 - (1.0 - _SHUT_SHARE) * shut


def _pass_targets(
    state: State, row: int, x: float, y: float, thrown: bool, reach_m: float
) -> tuple[Floats, np.ndarray, list[str]]:
    """Return (n, 4) targets with speed and air flag, and the (n,) team mates and names of the passes."""
    team = int(state.team[row])
    sign = float(state.sign[team])
    rows = state.mates(row)
    c = state.columns
    # He sees the line as well as one does who has to look at the ball.
    line = last_line(state, team) + state.draw(0.35, 0.5)
    out: list[tuple[float, float, float, float]] = []
    mates: list[int] = []
    whats: list[str] = []
    limit_x, limit_y = state.half_x - 1.0, state.half_y - 1.0
    for mate in rows.tolist():
        mx, my, mvx, mvy = c[mate, 0], c[mate, 1], c[mate, 2], c[mate, 3]
        d = math.hypot(mx - x, my - y)
        if d > reach_m or d < 2.5:
            continue
        u = mx * sign
        offside = u > line and u > x * sign and not thrown
        if offside:
            continue
        if thrown:
            lead = 0.4
            out.append((_clip(mx + lead * mvx, limit_x), _clip(my + lead * mvy, limit_y), d / (0.45 + d / 22.0), 1.0))
            mates.append(mate)
            whats.append("throw")
            continue
        t = d / 12.0
        back = "back" if state.is_keeper(mate) else "pass"
        if d < 42.0:
            px, py = _clip(mx + 0.7 * mvx * t, limit_x), _clip(my + 0.7 * mvy * t, limit_y)
            out.append((px, py, _ground_speed(math.hypot(px - x, py - y)), 0.0))
            mates.append(mate)
            whats.append(back)
            ahead = 4.0 * sign
            px, py = _clip(mx + 0.7 * mvx * t + ahead, limit_x), _clip(my + 0.7 * mvy * t, limit_y)
            out.append((px, py, _ground_speed(math.hypot(px - x, py - y)), 0.0))
            mates.append(mate)
            whats.append(back)
        if d > 13.0:
            flight = air_time(d)
            px, py = _clip(mx + 0.8 * mvx * flight, limit_x), _clip(my + 0.8 * mvy * flight, limit_y)
            out.append((px, py, d / flight, 1.0))
            mates.append(mate)
            whats.append("switch" if abs(py - y) > 30.0 else "long" if d > 30.0 else "chip")
        if line - u < 9.0 and u > -5.0 and u > x * sign - 3.0 and state.half_x - line > 12.0:
            px = sign * min(line + 8.0, state.half_x - 7.0)
            py = _clip(my + 0.3 * (np.clip(my, -8.0, 8.0) - my), limit_y)
            away = math.hypot(px - x, py - y)
            if away < 45.0:
                high = float(away > 24.0)
                speed = away / air_time(away) if high else _ground_speed(away) * 0.92
                out.append((px, py, speed, high))
                mates.append(mate)
                whats.append("through")
    return np.array(out).reshape(-1, 4), np.array(mates, dtype=np.int64), whats


def _clip(value: float, limit: float) -> float:
    return min(max(float(value), -limit), limit)


def _ground_speed(length_m: float) -> float:
    """Return the usual speed of a pass of a length along the ground."""
    return min(max(8.2 + 0.37 * length_m, 8.6), 21.0)


def air_time(length_m: float) -> float:
    """Return the usual time of flight of a lofted ball."""
    return 0.75 + length_m / 34.0


def shot(state: State, row: int, *, header: bool = False) -> Action:
    """Return a shot at a point of the goal mouth; its worth is its xG, less for bodies on its path."""
    team = int(state.team[row])
    sign = float(state.sign[team])
    x, y, _ = state.ball.position
    deep = max(state.half_x - x * sign, 0.5)
    chance = goal_chance(deep, y, header=header)
    others = state.opponents(row)
    others = others[others != state.keeper(1 - team)]
    goal_x = state.half_x * sign
    bodies = 0
    for other in others.tolist():
        ox, oy = state.xy(other)
        along = (ox - x) / (goal_x - x) if abs(goal_x - x) > 1e-6 else -1.0
        if 0.0 < along < 1.0 and abs(oy - y * (1.0 - along)) < 0.7 + 1.6 * along:
            bodies += 1
    keeper_y = state.columns[state.keeper(1 - team), 1]
    side = -1.0 if keeper_y > 0.15 * y else 1.0
    if state.chance(0.3):
        side = -side
    aim_y = side * float(state.rng.uniform(0.6, 3.2))
    aim_z = float(abs(state.rng.normal(0.5, 0.6))) + 0.15
    target = (goal_x, aim_y, min(aim_z, 2.1))
    value = _lure(deep, y) * chance * 0.98**bodies
    if not header:
        # Who blocks a shot stretches farther than for a pass.
        value *= _way_left(state, row, x, y, target, factor=2.0)
    return Action("shot", "header" if header else "foot", -1, target, 25.0, 0.0, value)


def _lure(deep_m: float, across_m: float) -> float:
    """Return the factor by which players overrate long shots; without it hardly anybody would try one."""
    return float(np.interp(math.hypot(deep_m, across_m), [11.0, 17.0, 24.0, 30.0], [0.19, 0.57, 1.25, 1.05]))


def cross(state: State, row: int) -> Action | None:
    """Return a cross if somebody can meet it; from the goal line it is low and backwards."""
    team = int(state.team[row])
    sign = float(state.sign[team])
    x, y, _ = state.ball.position
    deep = state.half_x - x * sign
    if deep > 28.0 or abs(y) < 11.0:
        return None
    best: Action | None = None
    for mate in state.mates(row).tolist():
        mx, my = state.xy(mate)
        far = state.half_x - mx * sign
        if far > 19.0 or abs(my) > 14.0 or state.is_keeper(mate):
            continue
        c = state.columns[mate]
        d = math.hypot(mx - x, my - y)
        if deep < 9.0 and far > deep + 2.0 and d < 22.0:
            speed = _ground_speed(d) + 2.0
            t = d / speed
            target = (float(mx + c[2] * t), float(my + c[3] * t), BALL_RADIUS_M)
            value, what, flight = 0.036, "cutback", 0.0
        else:
            flight = 0.65 + d / 36.0
            target = (float(mx + 0.8 * c[2] * flight), float(my + 0.8 * c[3] * flight), 1.75)
            speed, value, what = d / flight, 0.028, "cross"
        _, free = state.nearest(state.opponents(row), target[0], target[1])
        value *= 0.7 + 0.25 * min(free, 3.0)
        value *= 1.0 + 0.3 * (abs(my) < 6.0)
        value *= _way_left(state, row, x, y, target, factor=0.5)
        value += float(state.rng.gumbel(0.0, 0.006))
        if best is None or value > best.worth:
            best = Action("pass", what, mate, target, speed, flight, value)
    return best


def clearance(state: State, row: int) -> Action:
    """Return a clearance to the nearer side, meant for the foremost team mate if there is one."""
    team = int(state.team[row])
    sign = float(state.sign[team])
    x, y, _ = state.ball.position
    mates = state.mates(row)
    mate = int(mates[np.argmax(state.columns[mates, 0] * sign)])
    far = float(state.rng.uniform(22.0, 45.0))
    side = math.copysign(1.0, y) if abs(y) > 2.0 else math.copysign(1.0, float(state.rng.uniform(-1, 1)))
    tx, ty = x + sign * far, y + side * float(state.rng.uniform(-4.0, 16.0))
    near, own = state.pressure(row), state.half_x + x * sign
    if near < 2.6 and own < 14.0 and abs(y) > 5.0 and state.chance(0.7):
        # Better a corner than worse.
        tx, ty = x - sign * (own + 4.0), y + side * 5.0
    elif near < 2.5 and abs(y) > state.half_y - 14.0 and state.chance(0.35):
        tx, ty = x + sign * 8.0, side * (state.half_y + 5.0)
    ways = np.array([(x + dx, y + dy) for dx, dy in _turned(tx - x, ty - y)])
    shut = _in_the_way(state, row, x, y, ways)
    tx, ty = ways[int(np.argmin(shut))].tolist()
    far = math.hypot(tx - x, ty - y)
    flight = 0.45 + far / 30.0
    return Action("pass", "clearance", mate, (tx, ty, BALL_RADIUS_M), far / flight, flight)


def _turned(dx: float, dy: float) -> list[tuple[float, float]]:
    """Return a direction, and the same turned to either side, little first."""
    turns = map(math.radians, _TURNS_DEG)
    return [(dx * math.cos(a) - dy * math.sin(a), dx * math.sin(a) + dy * math.cos(a)) for a in turns]


def carry(state: State, row: int) -> Action:
    """Return where to carry the ball: into open space, and forward."""
    team = int(state.team[row])
    sign = float(state.sign[team])
    x, y, _ = state.ball.position
    angles = np.arange(12) * (math.pi / 6.0)
    step = 7.0
    xs, ys = x + step * np.cos(angles), y + step * np.sin(angles)
    space = open_space(xs, ys, state.columns, state.opponents(row), 0.7)
    half = open_space(0.5 * (x + xs), 0.5 * (y + ys), state.columns, state.opponents(row), 0.35)
    mates = open_space(xs, ys, state.columns, state.mates(row), 0.0)
    inside = (np.abs(xs) < state.half_x - 1.0) & (np.abs(ys) < state.half_y - 1.0)
    keeps = 1.0 / (1.0 + np.exp(-(np.minimum(space, 1.5 * half) - 2.2) / 0.9))
    keeps *= 0.97 + 0.02 * state.ability["dribbling"][row]
    u, w = xs * sign, ys * sign
    value = keeps * worth(u, w, state.half_x) - (1.0 - keeps) * loss(u, w, state.half_x)
    value -= 0.003 * (mates < 5.0) + 1.0 * ~inside
    heading = math.atan2(state.columns[row, 3], state.columns[row, 2])
    turn = np.abs((angles - heading + math.pi) % (2 * math.pi) - math.pi)
    value -= 0.0006 * turn * state.speed(row)
    k = int(np.argmax(value))
    pace = float(np.clip(1.2 * min(space[k], 2.0 * half[k]), 2.2, 6.8))
    return Action("carry", "dribble", -1, (float(xs[k]), float(ys[k]), BALL_RADIUS_M), pace, 0.0, float(value[k]))


def choose(state: State, row: int, *, first_time: bool = False) -> Action:
    """Choose the player's next action.

    Args:
        first_time: with the first touch; carrying on is then no choice.
    """
    team = int(state.team[row])
    x, y, _ = state.ball.position
    sign = float(state.sign[team])
    deep = state.half_x - x * sign
    near = state.pressure(row)
    hurried = float(np.clip(1.2 - near / 4.0, 0.0, 1.0)) + 0.4 * first_time
    options: list[Action] = []
    passing = best_pass(state, row, hurried=hurried)
    options.append(passing)
    if deep < 34.0 and abs(y) < 24.0:
        shooting = shot(state, row)
        options.append(shooting)
    crossing = cross(state, row)
    if crossing is not None:
        options.append(crossing)
    if not first_time:
        going = carry(state, row)
        held_s = state.now_s - state.held_since_s
        # Nobody is let go on for long, least of all with somebody beside him.
        stay = math.exp(-held_s * (0.10 + 0.12 * max(0.0, 2.2 - near)) * state.squads.teams[team].tempo)
        going.worth = going.worth * stay + 0.0030 - 0.0020 * held_s
        options.append(going)
    if deep > 78.0 and near < 3.5:
        clearing = clearance(state, row)
        clearing.worth = 0.002 if near < 2.0 else -0.002
        options.append(clearing)
    return max(options, key=lambda o: o.worth)
