"""Bringing a dead ball to the place of the restart: it rolls out, a player or a ball boy fetches it, it is put down.

Ball boys and girls carry no transmitter: a ball that they bring moves without anybody near it. With spare balls
allowed, play does not wait for a ball that has rolled far: the nearest spare ball replaces it.
"""

from __future__ import annotations

import math
from dataclasses import replace

from football.constants import BALL_RADIUS_M
from simulator.play import ball_actions
from simulator.play.match_state import Restart, State
from simulator.records import REFEREES, Vector

#: Who fetches a ball goes so far for it; further away a ball boy helps.
FETCH_M = 22.0
#: A ball so far beyond a line is gone.
FAR_M = 2.5
#: A ball boy throws or rolls a ball over so fast.
BOY_M_S = 7.0
#: Time in which a ball is put down, or lifted over the head for a throw.
PUT_S, LIFT_S = 0.8, 0.7


def step(state: State, restart: Restart) -> None:
    """Play a tick of the retrieval; it ends with stage ``placed`` (on the ground) or ``held`` (a thrower's hands)."""
    if restart.stage == "rolling":
        _choose(state, restart)
    elif restart.stage == "fetching":
        _fetch(state, restart)
    elif restart.stage == "brought":
        _wait_for_boy(state, restart)
    elif restart.stage == "carrying":
        _carry(state, restart)
    elif restart.stage == "putting":
        if state.now_s >= restart.placed_s:
            put_down(state)
            restart.stage = "placed"
    elif restart.stage == "held":
        hold_over_head(state, restart.taker)


def _choose(state: State, restart: Restart) -> None:
    """Choose how the ball is fetched, once it has rolled out."""
    waited_s = state.now_s - restart.since_s
    if waited_s < 1.0 or (state.moving() > 3.0 and waited_s < 4.5):
        return
    x, y, _ = state.ball.position
    beyond = max(abs(x) - state.half_x, abs(y) - state.half_y)
    restart.fetcher = _fetcher(state, restart)
    is_far = beyond > FAR_M and not state.ball.in_net
    if is_far or state.gap(restart.fetcher, x, y) > FETCH_M:
        spare = _spare(state, restart) if is_far and state.settings.spare_balls else -1
        if spare >= 0:
            state.swap_ball(spare)
        restart.stage, restart.fetcher = "brought", restart.taker
        if restart.kind == "dropped":
            restart.fetcher = REFEREES[0]
        return
    restart.stage = "fetching"
    restart.fetch_until_s = state.now_s + 14.0


def _fetcher(state: State, restart: Restart) -> int:
    """Return the fetcher: the taker, unless the ball lies in the net (a team mate) or the referee drops it."""
    if restart.kind == "dropped":
        return REFEREES[0]
    if restart.kind == "kick_off":
        x, y, _ = state.ball.position
        rows = state.of_team[restart.team]
        return state.nearest(rows[[not state.bodies.is_busy(int(r)) for r in rows]], x, y)[0]
    return restart.taker


def _spare(state: State, restart: Restart) -> int:
    """Return the spare ball nearest to the spot, if it is nearer than the one that was in play."""
    best, nearest_m = -1, math.dist(state.ball.position[:2], restart.spot)
    for number, ball in enumerate(state.balls):
        gap = math.dist(ball.position[:2], restart.spot)
        if number != state.active and gap < nearest_m:
            best, nearest_m = number, gap
    return best


def _fetch(state: State, restart: Restart) -> None:
    """Send the fetcher to the ball, and let the player pick it up there."""
    row = restart.fetcher
    x, y, z = state.ball.position
    vx, vy, _ = state.ball.velocity
    state.targets[row] = x + 0.3 * vx, y + 0.3 * vy
    state.paces[row] = 3.4
    state.facing[row] = math.nan
    able = not state.bodies.is_busy(row) and state.contact_end_s < state.now_s
    if able and state.gap(row, x, y) < 0.75 and z < 1.2 and state.moving() < 5.0:
        pick_up(state, row)
        restart.stage = "carrying"
    elif state.now_s > restart.fetch_until_s:
        restart.stage = "brought"


def _wait_for_boy(state: State, restart: Restart) -> None:
    """Let a ball boy bring the ball once its taker is near the place where it is needed."""
    row = restart.fetcher
    sx, sy = restart.stand if restart.stand is not None else restart.spot
    if restart.brought_s < 0.0:
        state.targets[row], state.paces[row] = (sx, sy), 3.0
        near = state.gap(row, sx, sy) < 1.5 and state.speed(row) < 0.8
        if near and not state.bodies.is_busy(row):
            x, y, z = hands(state, row)
            takes_s = 0.8 + math.dist(state.ball.position, (x, y, z)) / BOY_M_S
            state.ball.carry((x, y, z), takes_s)
            restart.brought_s = state.now_s + takes_s
        return
    state.targets[row] = state.xy(row)
    if state.now_s >= restart.brought_s:
        pick_up(state, row)
        restart.stage = "carrying"


def _carry(state: State, restart: Restart) -> None:
    """Carry the ball in the hands to the spot."""
    row = restart.fetcher
    spot = restart.spot
    position = throw_stance(state, restart) if restart.kind == "throw_in" else _setting_down_position(state, row, spot)
    state.targets[row] = position
    left_s = max(restart.earliest_s - state.now_s - 2.0, 1.0)
    state.paces[row] = min(max(state.gap(row, *position) / left_s, 1.6), 3.6)
    state.ball.hold(hands(state, row))
    if state.gap(row, *position) > 0.3 or state.speed(row) > 0.5:
        return
    state.targets[row] = state.xy(row)
    if restart.kind == "throw_in":
        restart.stage, restart.placed_s = "held", state.now_s + LIFT_S
    elif restart.kind == "dropped":
        restart.stage, restart.placed_s = "held", state.now_s
    else:
        state.ball.carry((spot[0], spot[1], BALL_RADIUS_M), PUT_S)
        restart.stage, restart.placed_s = "putting", state.now_s + PUT_S


def _setting_down_position(state: State, row: int, spot: tuple[float, float]) -> tuple[float, float]:
    """Return the position an arm's length from the spot, on the side from which the player comes."""
    x, y = state.xy(row)
    dx, dy = x - spot[0], y - spot[1]
    d = math.hypot(dx, dy)
    if d < 0.05:
        return spot[0] - 0.4, spot[1]
    return spot[0] + 0.4 * dx / d, spot[1] + 0.4 * dy / d


def throw_stance(state: State, restart: Restart) -> tuple[float, float]:
    """Return where a thrower stands: both feet outside or on the touch line (Law 15)."""
    x, y = restart.spot
    return x, y + math.copysign(0.35, y)


def hands(state: State, row: int) -> Vector:
    """Return where a person holds a ball: before the belly, or at the ground while lying."""
    x, y = state.xy(row)
    heading, tilt = float(state.columns[row, 4]), float(state.columns[row, 7])
    up = 1.12 + float(state.columns[row, 6]) - 0.85 * tilt
    return x + 0.34 * math.cos(heading), y + 0.34 * math.sin(heading), up


def hold_over_head(state: State, row: int) -> None:
    """Lift the ball over the thrower's head, and keep it there."""
    x, y = state.xy(row)
    inwards = -math.copysign(1.0, y)
    restart = state.restart
    assert restart is not None
    share = 1.0 - max(restart.placed_s - state.now_s, 0.0) / LIFT_S
    low = hands(state, row)
    high = (x, y + 0.05 * inwards, state.height_m[row] + 0.28)
    lift = share * share * (3.0 - 2.0 * share)
    a, b, c = (p + (q - p) * lift for p, q in zip(low, high, strict=True))
    state.ball.hold((float(a), float(b), float(c)))
    state.facing[row] = math.copysign(math.pi / 2, inwards)


def pick_up(state: State, row: int) -> None:
    """Put the ball into a person's hands from the coming tick on."""
    ball_actions.seize(state, row, "pickup")
    state.ball.hold(hands(state, row))


def put_down(state: State) -> None:
    """Let the ball go where it is, at rest."""
    state.ball.release((0.0, 0.0, 0.0))
    let_go(state)


def tidy(state: State) -> None:
    """Lay balls that are no longer in play beside the pitch, once they have run out."""
    for number in sorted(state.rolling):
        ball = state.balls[number]
        x, y, z = ball.position
        if ball.in_hands:
            if math.dist(ball.velocity, (0.0, 0.0, 0.0)) < 1e-6:
                ball.release((0.0, 0.0, 0.0))
                state.rolling.discard(number)
            continue
        if math.dist(ball.velocity, (0.0, 0.0, 0.0)) > 0.3 or z > 0.3:
            continue
        home = min(_homes(state), key=lambda h: math.hypot(h[0] - x, h[1] - y) + 50.0 * _is_taken(state, number, h))
        ball.carry((home[0], home[1], BALL_RADIUS_M), 1.0 + math.hypot(home[0] - x, home[1] - y) / 2.5)


def _homes(state: State) -> list[tuple[float, float]]:
    """Return the positions of spare balls: behind both goals and at the touch line opposite the benches."""
    beyond_x, beyond_y = state.half_x + 3.6, state.half_y + 2.8
    ends = [(s * beyond_x, y) for s in (-1.0, 1.0) for y in (-24.0, -9.0, 9.0, 24.0)]
    sides = [(x, s * beyond_y) for x in (-42.0, -24.0, 24.0, 42.0) for s in (-1.0, 1.0)]
    return [*ends, *sides, (4.0, beyond_y)]


def _is_taken(state: State, number: int, home: tuple[float, float]) -> bool:
    return any(math.dist(b.position[:2], home) < 0.5 for n, b in enumerate(state.balls) if n != number)


def let_go(state: State) -> None:
    """End the hold of whoever held the ball, and set the duration of that contact."""
    if state.hold is None:
        return
    hold, state.hold = state.hold, None
    for number, contact in enumerate(state.contacts):
        if contact is hold:
            state.contacts[number] = replace(contact, hold_s=state.now_s - contact.t_s)
            return
