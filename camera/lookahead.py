"""Where the ball will be, and who plays it next: look-ahead over a second, from one view. Pure, O(players).

Theory of operation
-------------------
A free ball flies with gravity and drag, bounces, and rolls out. It does so only until somebody plays it: the first
player who can be at its path as soon as it is, while it is low enough, is the *next player*. From that contact on the
free flight is a bad guess, as the ball stops at his feet or goes elsewhere. So the look-ahead goes on with the
player's own movement instead. A camera that extrapolated further would run past every reception.

Each player has a *chance* to be the next one. On a free ball it falls with the distance by which he would miss the
path. A ball at somebody's feet goes on with him, and may be passed to mates within reach. If he swings a leg, he is
about to kick it, and his mates are the likelier ones. A swing shows that a kick comes, and not where to: before the
contact the foot still moves with the run.
"""

from __future__ import annotations

import math
from collections.abc import Container
from typing import NamedTuple

import msgspec

from football.constants import GRAVITY_M_S2
from football.update_stream import BallView, BodyView, View

#: Steps of the look-ahead, and their length.
STEP_S, STEPS = 0.1, 12
#: Deceleration by the air per metre (a football of 0.43 kg, drag coefficient 0.25), and of a ball that rolls on grass.
DRAG_PER_M, ROLLING_M_S2 = 0.0133, 1.2
#: Share of its speed that a ball keeps in a bounce: upwards, and along the ground.
BOUNCE, SKID = 0.6, 0.7
#: A ball above this height, or slower than this speed, is not met in flight.
PLAYABLE_M, FREE_M_S = 2.2, 4.0
#: Distance from the ball within which a player has it, and from which he controls a ball that he has run to.
AT_FEET_M, REACH_M = 1.5, 0.8
#: Speed with which a player runs to a ball, and the time before he begins to.
RUN_M_S, REACTION_S = 6.0, 0.25
#: A player who misses the path by this much has a chance smaller by the factor e.
MISS_M = 2.0
#: Length of passes: mates at this distance are the likeliest, and the width of that preference.
PASS_M, PASS_SPREAD_M = 14.0, 10.0
#: Players of each team that show the direction of attack, and the distance of their means from which on they do.
PLAYERS_LEAST, APART_M = 5, 1.0
#: Share of the chances of a carried ball that stay with its carrier, and with one who swings a leg: of 171 swings
#: within 1 m of the ball in simulated matches (seeds 11 and 12, 300 s each), 143 were followed by a kick within 0.3 s.
CARRIED, CARRIED_SWINGING = 0.5, 0.16

Path = tuple[tuple[float, float, float], ...]


class NextPlayer(msgspec.Struct, frozen=True):
    """A player who may play the ball next.

    Attributes:
        body: the player.
        chance: 0 to 1; those of all players add up to at most 1.
        after_s: when he would, from the view on; 0 if he has the ball.
    """

    body: BodyView
    chance: float
    after_s: float


class Outlook(msgspec.Struct, frozen=True):
    """The near future of one view.

    Attributes:
        path: the free ball, ``STEP_S`` apart, from the view on.
        players: likely next players, the likeliest first.
        contact_s: when somebody can first play the ball; infinite if nobody can within the look-ahead.
        contact: that player, or the one who has the ball.
        attack: direction along x in which his team attacks, -1 or 1; 0 if that is unknown.
    """

    ball: BallView
    path: Path
    players: tuple[NextPlayer, ...]
    contact_s: float = math.inf
    contact: BodyView | None = None
    attack: float = 0.0

    def at(self, ahead_s: float) -> tuple[float, float, float]:
        """Return the expected place of the ball ``ahead_s`` after the view: free until the contact, then with him."""
        free_s = min(ahead_s, self.contact_s)
        x_m, y_m, z_m = _along(self.path, free_s)
        body, carried_s = self.contact, ahead_s - free_s
        if body is None or carried_s <= 0:
            return x_m, y_m, z_m
        return x_m + body.vx_m_s * carried_s, y_m + body.vy_m_s * carried_s, 0.0


def outlook(view: View, most: int = 4, swinging: Container[str] = ()) -> Outlook | None:
    """Return the near future of a view; None without a ball.

    Args:
        view: newest positions.
        most: limit of the next players.
        swinging: object ids of players who have just swung a leg.
    """
    ball = view.ball
    if ball is None:
        return None
    path = free_path(ball)
    bodies = [body for body in view.players if body.team in ("home", "away")]
    carrier = min(bodies, key=lambda body: math.hypot(body.x_m - ball.x_m, body.y_m - ball.y_m), default=None)
    if carrier is not None and _has(carrier, ball):
        carried = CARRIED_SWINGING if carrier.object_id in swinging else CARRIED
        players = _options(carrier, bodies, most, carried)
        return Outlook(ball, path, players, 0.0, carrier, attack_of(carrier.team, bodies))
    reaches = _reaches(ball, path, bodies)
    total = sum(reach.score for reach in reaches) or 1.0
    players = tuple(NextPlayer(reach.body, reach.score / total, reach.after_s) for reach in reaches[:most])
    first = min((reach for reach in reaches if reach.miss_m == 0.0), key=lambda reach: reach.after_s, default=None)
    if first is None:
        return Outlook(ball, path, players)
    return Outlook(ball, path, players, first.after_s, first.body, attack_of(first.body.team, bodies))


def attack_of(team: str, bodies: list[BodyView]) -> float:
    """Return the direction along x in which a team attacks: its players are nearer to its own goal than the others.

    0 if less than ``PLAYERS_LEAST`` of a team are seen, or the two are less than ``APART_M`` apart in the mean.
    """
    own = [body.x_m for body in bodies if body.team == team]
    others = [body.x_m for body in bodies if body.team != team]
    if min(len(own), len(others)) < PLAYERS_LEAST:
        return 0.0
    apart_m = sum(others) / len(others) - sum(own) / len(own)
    return math.copysign(1.0, apart_m) if abs(apart_m) > APART_M else 0.0


def free_path(ball: BallView) -> Path:
    """Return the places of a ball that nobody plays, ``STEP_S`` apart, beginning with the present one."""
    x, y, z = ball.x_m, ball.y_m, max(0.0, ball.z_m)
    vx, vy, vz = ball.vx_m_s, ball.vy_m_s, ball.vz_m_s
    path = [(x, y, z)]
    for _ in range(STEPS):
        speed = math.sqrt(vx * vx + vy * vy + vz * vz)
        in_air = z > 0.05 or vz > 0.5
        slowing = DRAG_PER_M * speed + (0.0 if in_air else ROLLING_M_S2 / max(speed, 1e-6))
        remains = max(0.0, 1.0 - slowing * STEP_S)
        ax, ay = vx * remains, vy * remains
        x, y = x + (vx + ax) * STEP_S / 2, y + (vy + ay) * STEP_S / 2
        vx, vy = ax, ay
        if in_air:
            az = vz * remains - GRAVITY_M_S2 * STEP_S
            z, vz = z + (vz + az) * STEP_S / 2, az
            if z <= 0.0:
                z, vz, vx, vy = 0.0, -BOUNCE * vz, SKID * vx, SKID * vy
        else:
            z = vz = 0.0
        path.append((x, y, z))
    return tuple(path)


def _has(body: BodyView, ball: BallView) -> bool:
    """True if a player has the ball: near him, low, and hardly faster than he."""
    near = math.hypot(body.x_m - ball.x_m, body.y_m - ball.y_m) < AT_FEET_M and ball.z_m < PLAYABLE_M
    return near and math.hypot(ball.vx_m_s - body.vx_m_s, ball.vy_m_s - body.vy_m_s) < FREE_M_S


class _Reach(NamedTuple):
    """How near a player comes to the path of a free ball, and when."""

    score: float
    miss_m: float
    after_s: float
    body: BodyView


def _reaches(ball: BallView, path: Path, bodies: list[BodyView]) -> list[_Reach]:
    """Return who may be at the path of a free ball as soon as it is, the likeliest first."""
    kicked = math.hypot(ball.vx_m_s, ball.vy_m_s) >= FREE_M_S
    found = []
    for body in bodies:
        behind = (body.x_m - ball.x_m) * ball.vx_m_s + (body.y_m - ball.y_m) * ball.vy_m_s < 0
        if kicked and behind and math.hypot(body.x_m - ball.x_m, body.y_m - ball.y_m) < 3 * AT_FEET_M:
            continue  # he has just kicked it
        miss_m, after_s = _miss(body, path)
        found.append(_Reach(math.exp(-miss_m / MISS_M - after_s), miss_m, after_s, body))
    return sorted(found, key=lambda reach: -reach.score)


def _miss(body: BodyView, path: Path) -> tuple[float, float]:
    """Return by how much a player misses a path at best, and when; the first time at which he does not miss it."""
    best_m, best_s = math.inf, 0.0
    for step, (x_m, y_m, z_m) in enumerate(path):
        if z_m > PLAYABLE_M:
            continue
        at_s = step * STEP_S
        drift_s = min(at_s, REACTION_S)
        off_m = math.hypot(x_m - body.x_m - body.vx_m_s * drift_s, y_m - body.y_m - body.vy_m_s * drift_s)
        miss_m = max(0.0, off_m - REACH_M - RUN_M_S * max(0.0, at_s - REACTION_S))
        if miss_m < best_m:
            best_m, best_s = miss_m, at_s
        if best_m == 0.0:
            break
    return best_m, best_s


def _options(carrier: BodyView, bodies: list[BodyView], most: int, carried: float) -> tuple[NextPlayer, ...]:
    """Return the carrier of the ball, who keeps it with the chance ``carried``, and the mates to whom he may pass."""
    scored = []
    for body in bodies:
        if body.team == carrier.team and body is not carrier:
            length_m = math.hypot(body.x_m - carrier.x_m, body.y_m - carrier.y_m)
            off = (length_m - PASS_M) / PASS_SPREAD_M
            scored.append((math.exp(-off * off), body))
    scored.sort(key=lambda one: -one[0])
    total = sum(score for score, _ in scored) or 1.0
    mates = [NextPlayer(body, (1 - carried) * score / total, STEP_S * STEPS) for score, body in scored[: most - 1]]
    return tuple(sorted((NextPlayer(carrier, carried, 0.0), *mates), key=lambda one: -one.chance))


def _along(path: Path, after_s: float) -> tuple[float, float, float]:
    """Return the place on a path, in straight lines between its points; its end afterwards."""
    exact = max(0.0, min(after_s / STEP_S, len(path) - 1.0))
    step = min(int(exact), len(path) - 2)
    share = exact - step
    (x0, y0, z0), (x1, y1, z1) = path[step], path[step + 1]
    return x0 + share * (x1 - x0), y0 + share * (y1 - y0), z0 + share * (z1 - z0)
