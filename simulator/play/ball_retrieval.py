"""How a dead ball gets to where play goes on: it rolls out, is fetched or a ball boy gives one, is put down.

Ball boys and girls carry no transmitter: a ball that they bring moves without anybody near it. With spare balls
allowed, a ball that has gone far is not waited for: the nearest spare one comes, and the other stays as a spare.
"""

from __future__ import annotations

import math
from dataclasses import replace

from simulator.play import ball_actions
from simulator.play.match_state import Restart, State
from simulator.records import REFEREES, Vector

_RADIUS_M = 0.11
#: Who fetches a ball goes so far for it; further away a ball boy helps.
FETCH_M = 22.0
#: A ball so far beyond a line is gone.
GONE_M = 2.5
#: A ball boy throws or rolls a ball over so fast.
BOY_M_S = 7.0
#: Time in which a ball is put down, or lifted over the head for a throw.
PUT_S, LIFT_S = 0.8, 0.7


def step(state: State, restart: Restart) -> None:
    """A tick of getting the ball; ends with stage ``placed`` (on the ground) or ``held`` (a thrower's hands)."""
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
    """The ball has run out: who gets it?"""
    waited_s = state.now_s - restart.since_s
    if waited_s < 1.0 or (state.moving() > 3.0 and waited_s < 4.5):
        return
    x, y, _ = state.ball.place
    beyond = max(abs(x) - state.half_x, abs(y) - state.half_y)
    restart.fetcher = _fetcher(state, restart)
    gone = beyond > GONE_M and not state.ball.in_net
    if gone or state.gap(restart.fetcher, x, y) > FETCH_M:
        spare = _spare(state, restart) if gone and state.settings.spare_balls else -1
        if spare >= 0:
            state.swap_ball(spare)
        restart.stage, restart.fetcher = "brought", restart.taker
        if restart.kind == "dropped":
            restart.fetcher = REFEREES[0]
        return
    restart.stage = "fetching"
    restart.fetch_until_s = state.now_s + 14.0


def _fetcher(state: State, restart: Restart) -> int:
    """The taker, unless the ball lies in the net (a mate of his brings it) or the referee drops it."""
    if restart.kind == "dropped":
        return REFEREES[0]
    if restart.kind == "kick_off":
        x, y, _ = state.ball.place
        rows = state.of_team[restart.team]
        return state.nearest(rows[[not state.bodies.is_busy(int(r)) for r in rows]], x, y)[0]
    return restart.taker


def _spare(state: State, restart: Restart) -> int:
    """The spare ball that is nearest to the spot, if it is nearer than the one that was in play."""
    best, least = -1, math.dist(state.ball.place[:2], restart.spot)
    for number, ball in enumerate(state.balls):
        gap = math.dist(ball.place[:2], restart.spot)
        if number != state.active and gap < least:
            best, least = number, gap
    return best


def _fetch(state: State, restart: Restart) -> None:
    """Somebody runs to the ball and picks it up."""
    row = restart.fetcher
    x, y, z = state.ball.place
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
    """The ball comes by a ball boy once its taker is about where he needs it."""
    row = restart.fetcher
    sx, sy = restart.stand if restart.stand is not None else restart.spot
    if restart.brought_s < 0.0:
        state.targets[row], state.paces[row] = (sx, sy), 3.0
        near = state.gap(row, sx, sy) < 1.5 and state.speed(row) < 0.8
        if near and not state.bodies.is_busy(row):
            x, y, z = hands(state, row)
            takes_s = 0.8 + math.dist(state.ball.place, (x, y, z)) / BOY_M_S
            state.ball.carry((x, y, z), takes_s)
            restart.brought_s = state.now_s + takes_s
        return
    state.targets[row] = state.xy(row)
    if state.now_s >= restart.brought_s:
        pick_up(state, row)
        restart.stage = "carrying"


def _carry(state: State, restart: Restart) -> None:
    """Who has the ball in his hands takes it to the spot."""
    row = restart.fetcher
    spot = restart.spot
    place = throw_stance(state, restart) if restart.kind == "throw_in" else _beside(state, row, spot)
    state.targets[row] = place
    left_s = max(restart.earliest_s - state.now_s - 2.0, 1.0)
    state.paces[row] = min(max(state.gap(row, *place) / left_s, 1.6), 3.6)
    state.ball.hold(hands(state, row))
    if state.gap(row, *place) > 0.3 or state.speed(row) > 0.5:
        return
    state.targets[row] = state.xy(row)
    if restart.kind == "throw_in":
        restart.stage, restart.placed_s = "held", state.now_s + LIFT_S
    elif restart.kind == "dropped":
        restart.stage, restart.placed_s = "held", state.now_s
    else:
        state.ball.carry((spot[0], spot[1], _RADIUS_M), PUT_S)
        restart.stage, restart.placed_s = "putting", state.now_s + PUT_S


def _beside(state: State, row: int, spot: tuple[float, float]) -> tuple[float, float]:
    """An arm's length from the spot, on the side where he comes from."""
    x, y = state.xy(row)
    dx, dy = x - spot[0], y - spot[1]
    d = math.hypot(dx, dy)
    if d < 0.05:
        return spot[0] - 0.4, spot[1]
    return spot[0] + 0.4 * dx / d, spot[1] + 0.4 * dy / d


def throw_stance(state: State, restart: Restart) -> tuple[float, float]:
    """Where a thrower stands: both feet outside or on the touch line (Law 15)."""
    x, y = restart.spot
    return x, y + math.copysign(0.35, y)


def hands(state: State, row: int) -> Vector:
    """Where somebody holds a ball before his belly; at the ground while he lies."""
    x, y = state.xy(row)
    heading, tilt = float(state.columns[row, 4]), float(state.columns[row, 7])
    up = 1.12 + float(state.columns[row, 6]) - 0.85 * tilt
    return x + 0.34 * math.cos(heading), y + 0.34 * math.sin(heading), up


def hold_over_head(state: State, row: int) -> None:
    """A thrower lifts the ball over his head, and keeps it there."""
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
    """The ball is in somebody's hands from the coming tick on."""
    ball_actions.seize(state, row, "pickup")
    state.ball.hold(hands(state, row))


def put_down(state: State) -> None:
    """The ball lies where it is and is let go."""
    state.ball.release((0.0, 0.0, 0.0))
    let_go(state)


def tidy(state: State) -> None:
    """Balls that are not in play any more run out and are laid beside the pitch again."""
    for number in sorted(state.rolling):
        ball = state.balls[number]
        x, y, z = ball.place
        if ball.in_hands:
            if math.dist(ball.velocity, (0.0, 0.0, 0.0)) < 1e-6:
                ball.release((0.0, 0.0, 0.0))
                state.rolling.discard(number)
            continue
        if math.dist(ball.velocity, (0.0, 0.0, 0.0)) > 0.3 or z > 0.3:
            continue
        home = min(_homes(state), key=lambda h: math.hypot(h[0] - x, h[1] - y) + 50.0 * _is_taken(state, number, h))
        ball.carry((home[0], home[1], _RADIUS_M), 1.0 + math.hypot(home[0] - x, home[1] - y) / 2.5)


def _homes(state: State) -> list[tuple[float, float]]:
    """Places of spare balls: behind both goals and beside the touch line that is not the benches'."""
    beyond_x, beyond_y = state.half_x + 3.6, state.half_y + 2.8
    ends = [(s * beyond_x, y) for s in (-1.0, 1.0) for y in (-24.0, -9.0, 9.0, 24.0)]
    sides = [(x, s * beyond_y) for x in (-42.0, -24.0, 24.0, 42.0) for s in (-1.0, 1.0)]
    return [*ends, *sides, (4.0, beyond_y)]


def _is_taken(state: State, number: int, home: tuple[float, float]) -> bool:
    return any(math.dist(b.place[:2], home) < 0.5 for n, b in enumerate(state.balls) if n != number)


def let_go(state: State) -> None:
    """Whoever held the ball does so no longer: his contact is told its length."""
    if state.hold is None:
        return
    hold, state.hold = state.hold, None
    for number, contact in enumerate(state.contacts):
        if contact is hold:
            state.contacts[number] = replace(contact, hold_s=state.now_s - contact.t_s)
            return
