"""Where the simulator's players want to be: in their team's shape, at the ball, or at their distance from it."""

from __future__ import annotations

import math

import numpy as np

from replay.recording import Floats
from replay.sim_ball import Ball
from replay.sim_state import KEEPERS, Restart, State


def plan(game: State) -> None:
    """Targets and paces of all; the holder, chasers and the taker get theirs on top of the team's shape."""
    spot = game.restart.spot if game.restart else (game.ball.x, game.ball.y)
    attacking = game.restart.team if game.restart else game.last // 11
    push = np.where(np.arange(22) // 11 == attacking, 12.0, -4.0)
    game.targets = game.shape.copy()
    game.targets[:, 0] = 0.9 * game.shape[:, 0] + 0.65 * spot[0] + push * game.sign
    game.targets[:, 1] += 0.3 * spot[1]
    game.targets += 3.0 * np.sin(game.wobble + game.t_s * 0.7)
    for keeper in KEEPERS:
        goal_x = -game.sign[keeper] * game.half_x
        game.targets[keeper] = goal_x + game.sign[keeper] * 1.8, np.clip(0.12 * spot[1], -3.0, 3.0)
    np.clip(game.targets[:, 0], 1.5 - game.half_x, game.half_x - 1.5, out=game.targets[:, 0])
    np.clip(game.targets[:, 1], 1.5 - game.half_y, game.half_y - 1.5, out=game.targets[:, 1])
    game.paces[:] = 5.0
    if game.restart is not None:
        _plan_restart(game, game.restart)
    elif game.holder is None:
        _plan_chase(game)
    elif not game.in_hands:
        _plan_press(game, game.holder)


def _plan_press(game: State, holder: int) -> None:
    """The nearest opponent goes for the ball, the next one between it and the goal."""
    opponents = game.team(1 - holder // 11)[1:]
    nearest = opponents[np.argsort(game.distances()[opponents])]
    game.targets[nearest[0]] = game.ball.x, game.ball.y
    game.paces[nearest[0]] = 5.5
    goal = np.array([game.sign[holder] * game.half_x, 0.0])
    way = goal - (game.ball.x, game.ball.y)
    game.targets[nearest[1]] = (game.ball.x, game.ball.y) + way * min(1.0, 5.0 / np.hypot(*way))


def _plan_chase(game: State) -> None:
    """The ball is loose: of each team the one who gets to it first goes, and the receiver it is meant for."""
    ahead = Ball(game.ball.x, game.ball.y, game.ball.z, game.ball.vx, game.ball.vy, game.ball.vz)
    path: list[tuple[float, float, float]] = []
    for step in range(30):
        if ahead.z < 0.6:
            path.append((step * 0.1, ahead.x, ahead.y))
        for _ in range(4):
            ahead.move(0.025)
    path.append((3.0, ahead.x, ahead.y))
    points = np.array(path)
    way = np.hypot(*(points[:, 1:, None] - game.bodies.p.T[None]).transpose(1, 0, 2))
    spare = points[:, :1] - (0.15 + np.maximum(way - 0.5, 0.0) / 6.5)
    meet = np.where((spare >= 0).any(axis=0), (spare >= 0).argmax(axis=0), len(points) - 1)
    when = points[meet, 0] - np.where((spare >= 0).any(axis=0), 0.0, spare[-1])
    for team in (0, 1):
        chasers = [int(i) for i in game.team(team) if _may_chase(game, int(i), points[meet[i]])]
        best = min(chasers, key=lambda i: float(when[i]))
        for player in {best} | ({game.receiver} if game.receiver in chasers else set()):
            game.targets[player] = points[meet[player], 1:]
            game.paces[player] = 8.5
    if game.flight is not None and game.flight.kind.startswith("shot"):
        _plan_save(game, KEEPERS[1 - game.flight.team])


def _may_chase(game: State, player: int, point: Floats) -> bool:
    if player == game.last and game.t_s - game.touched_s[player] < 0.6:
        return False
    home_line = -game.sign[player] * game.half_x
    return player not in KEEPERS or (abs(point[1] - home_line) < 14.0 and abs(point[2]) < 16.0)


def _plan_save(game: State, keeper: int) -> None:
    """The keeper goes to where the shot will pass him, after a reaction time of 0.2 s."""
    assert game.flight is not None
    away = game.bodies.p[keeper, 0] - game.ball.x
    if game.t_s - game.flight.t_s < 0.2 or away * game.ball.vx <= 0:
        return
    y = game.ball.y + game.ball.vy * away / game.ball.vx
    game.targets[keeper] = game.bodies.p[keeper, 0], np.clip(y, -4.5, 4.5)
    game.paces[keeper] = 8.0


def _plan_restart(game: State, restart: Restart) -> None:
    spot = np.array(restart.spot)
    game.paces[:] = 6.0
    if restart.kind == "kick_off":
        own = np.minimum(game.shape * game.sign[:, None], (-3.0, 99.0)) * game.sign[:, None]
        game.targets = own
        mate = restart.team * 11 + 10
        game.targets[mate] = -3.0 * game.sign[mate], 4.0
        game.paces[:] = 7.5
    if restart.kind == "corner":
        game.targets[5:11] = game.box[5:11]
        game.targets[16:22] = game.box[16:22]
    away = 3.0 if restart.kind == "throw_in" else 9.8
    opponents = game.team(1 - restart.team)
    way = game.targets[opponents] - spot
    distance = np.maximum(np.hypot(way[:, 0], way[:, 1]), 1e-6)
    near = distance < away
    game.targets[opponents[near]] = spot + way[near] * (away / distance[near])[:, None]
    if restart.kind == "goal_kick":
        edge = game.half_x - 18.0
        xs = game.targets[opponents, 0] * np.sign(spot[0])
        game.targets[opponents, 0] = np.minimum(xs, edge) * np.sign(spot[0])
    game.targets[restart.taker] = stance(game, restart)
    game.paces[restart.taker] = 8.0


def stance(game: State, restart: Restart) -> tuple[float, float]:
    """Where the taker of a restart stands."""
    x, y = restart.spot
    if restart.kind == "throw_in":
        return x, y + math.copysign(0.3, y)
    return x - 0.35 * float(game.sign[restart.taker]), y
