"""The first player to reach a kicked ball: a coarse model, evaluated only at contacts and kicks.

The ball loses speed over ground by drag and grass together, ``v exp(-t/tau)``; its height is ballistic until it lands,
and then stays low. A player keeps his velocity for a reaction time and then runs straight at a common speed (the form
of Spearman's time to intercept). The numbers are means over players.
"""

from __future__ import annotations

import math
from typing import Annotated

import msgspec

from detectors.reasons import reason
from football.constants import GRAVITY_M_S2
from football.payloads import EventPayload, Frame, height_m, location_m, number


class FlightParameters(msgspec.Struct, frozen=True):
    """The model of ball and players after a kick: who would reach the ball first.

    Attributes:
        tau_s: time in which the ball's speed over ground falls to 1/e (37 %).
        reaction_s: reaction time of a player.
        run_m_s: speed of a running player.
        reach_m: a player reaches the ball at this distance.
        reach_height_m: a player reaches the ball up to this height.
        step_s: time step of the prediction.
        horizon_s: greatest time after the kick that the prediction covers.
    """

    tau_s: Annotated[float, reason("Ours: a 15 m/s pass covers 30 m before it has lost two thirds.")] = 3.0
    reaction_s: Annotated[float, reason("Half of Spearman's 0.7 s: a receiver sees the pass coming.")] = 0.35
    run_m_s: Annotated[float, reason("Spearman's mean is 5; 6.5 is the start of a sprint.")] = 6.5
    reach_m: Annotated[float, reason("A stretched leg.")] = 0.8
    reach_height_m: Annotated[float, reason("Chest and jump.")] = 2.5
    step_s: Annotated[float, reason("Ours.")] = 0.2
    horizon_s: Annotated[float, reason("Ours.")] = 4.0


class Reach(msgspec.Struct, frozen=True, gc=False):
    """When and where a player would reach the ball, in the model of ``first_to_reach``."""

    player: str
    after_s: float
    x_m: float
    y_m: float


def first_to_reach(
    release: EventPayload, frame: Frame, p: FlightParameters, within_s: float = math.inf
) -> tuple[Reach | None, dict[str, Reach]]:
    """Predict who reaches a kicked ball: the kicker's own ``Reach``, and the first other player of each team.

    Args:
        release: payload of a kick or another contact: ball, velocity, kicker. If it names no kicker, there is no own
            ``Reach``.
        frame: all players at that instant.
        p: numbers of the model.
        within_s: end of the search, if it is before the horizon.
    """
    (from_x_m, from_y_m), from_z_m = location_m(release), height_m(release)
    vx, vy, vz = number(release, "vx_m_s"), number(release, "vy_m_s"), number(release, "vz_m_s")
    own: Reach | None = None
    others: dict[str, Reach] = {}
    steps = int(min(p.horizon_s, within_s) / p.step_s)
    for i in range(1, steps + 1):
        t = i * p.step_s
        slowed_s = p.tau_s * (1.0 - math.exp(-t / p.tau_s))
        x, y = from_x_m + vx * slowed_s, from_y_m + vy * slowed_s
        if from_z_m + vz * t - 0.5 * GRAVITY_M_S2 * t * t > p.reach_height_m:
            continue
        for body in frame.players:
            # The kicker knows where the ball goes.
            waits_s = 0.0 if body.object_id == release.player else min(t, p.reaction_s)
            radius_m = p.reach_m + p.run_m_s * (t - waits_s)
            dx, dy = body.x_m + body.vx_m_s * waits_s - x, body.y_m + body.vy_m_s * waits_s - y
            if dx * dx + dy * dy > radius_m * radius_m:
                continue
            if body.object_id == release.player:
                own = own or Reach(body.object_id, t, x, y)
            elif body.team not in others:
                others[body.team] = Reach(body.object_id, t, x, y)
        if len(others) == 2 and (own or not release.player):
            break
    return own, others
