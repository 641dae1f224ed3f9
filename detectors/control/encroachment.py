"""10.12: who stood too near at a restart (IFAB Laws 8 and 13 to 17, season 2025/26).

Theory of operation
-------------------
At the kick of a restart everybody keeps a distance until the ball is in play:

| variant | restart | who | must be |
|---|---|---|---|
| ``9.15 m`` | kick-off, free kick, corner kick (there from the arc) | opponents | 9.15 m from the ball |
| ``2 m throw`` | throw-in | opponents | 2 m from where it is taken |
| ``penalty area`` | goal kick | opponents | outside the penalty area |
| ``penalty area`` | penalty kick | all but taker and goalkeeper | outside the area and 9.15 m away, behind the mark |
| ``1 m wall`` | free kick | the taker's mates | 1 m from a wall of three or more opponents |

Opponents on their own goal line between the posts may be nearer at a free kick (Law 13.2). A free kick that is taken
quickly gives up the distance (Law 13.3). Positions are those of the newest scene, some tenths of a second before the
kick at most, so ``tolerance_m`` is taken off each distance.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Annotated, NamedTuple

import msgspec

from detectors.control.scene import Scene, keepers_of
from detectors.decisions import note
from detectors.emission import make_event
from detectors.reasons import reason
from football.match_sheet import MatchSheet, Team
from football.payloads import BodyState, EventPayload, Scalar, location_m, number, payload_as, payload_of
from football.pitch import CORNER_ARC_RADIUS_M, GOAL_HALF_WIDTH_M, OPPONENT_DISTANCE_M, end_of, end_sign, pitch_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

Bodies = Sequence[BodyState]

#: Law 15.
THROW_DISTANCE_M = 2.0
#: Law 13: attackers keep this far from a wall of so many defenders.
WALL_DISTANCE_M, WALL_PLAYERS = 1.0, 3
VARIANTS = ("9.15 m", "1 m wall", "penalty area", "2 m throw")
_RESTARTS = ("kick_off", "throw_in", "corner", "goal_kick", "free_kick", "penalty")


class EncroachmentParameters(msgspec.Struct, frozen=True):
    """Limits of a distance offence.

    Attributes:
        tolerance_m: a player is too near if so much of the distance is missing.
        quick_s: a free kick after less rest is taken quickly.
        fresh_us: positions are known this long before the kick at most.
        wall_m: opponents this near to each other stand in one wall.
        wall_far_m: a wall is this far from the ball at most.
    """

    tolerance_m: Annotated[float, reason("Ours: positions are up to 0.2 s old, and referees measure by steps.")] = 1.0
    quick_s: Annotated[float, reason("Ours: the referee needs as long to set a wall.")] = 5.0
    fresh_us: Annotated[int, reason("Ours: two scenes.")] = 500_000
    wall_m: Annotated[float, reason("Hierarchy 12.8: gaps below 1 m.")] = 1.0
    wall_far_m: Annotated[float, reason("Hierarchy 12.8: 8 to 11 m.")] = 12.0


class TooNear(NamedTuple):
    """A player who is too near: the variant, the distance that he keeps and the one that he must."""

    body: BodyState
    variant: str
    distance_m: float
    least_m: float


class Encroachment:
    """10.12: ``encroach`` x {9.15 m, 1 m wall, penalty area, 2 m throw} x team: a player was too near at a restart.

    One event for a restart, team and variant: of the player who lacks the most. ``detail``: ``restart`` (its kind),
    ``distance_m`` (from what he must keep away from), ``least_m`` (that he must keep), ``players`` (of the team who
    were too near).
    """

    def __init__(self, sheet: MatchSheet, parameters: EncroachmentParameters | None = None) -> None:
        self.parameters = parameters or EncroachmentParameters()
        self.pitch = pitch_of(sheet)
        self._keepers = keepers_of(sheet)
        self.spec = Spec(
            name="encroachment",
            number="10.12",
            level=10,
            inputs=("scene", *(f"restart.{kind}" for kind in _RESTARTS)),
            outputs=("encroach",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="IFAB Laws 8, 13-17 (2025/26); tolerances ours",
            team_variants={"encroach": VARIANTS},
            details={"encroach": ("restart", "distance_m", "least_m", "players")},
        )

    def initial(self) -> Event | None:
        """No scene. The state is the newest one."""
        return None

    def step(self, state: Event | None, event: Event) -> Step[Event | None]:
        """Remember the newest scene; measure it at a restart."""
        if event.kind == "scene":
            return event, NOTHING
        restart, kind = payload_of(event), event.kind.partition(".")[2]
        if state is None or not restart.team or event.ts_us - state.ts_us > self.parameters.fresh_us:
            return state, NOTHING
        scene = payload_as(state, Scene)
        offenders: dict[tuple[Team, str], list[TooNear]] = {}
        for near in self._too_near(kind, restart, scene):
            offenders.setdefault((near.body.team, near.variant), []).append(near)
        return state, [self._offence(event, some) for some in offenders.values()] or NOTHING

    def _too_near(self, kind: str, restart: EventPayload, scene: Scene) -> Iterator[TooNear]:
        """Everybody who is too near, by the table above."""
        x_m, y_m = location_m(restart)
        opponents = scene.opponents(restart.team)
        if kind == "throw_in":
            yield from self._within(opponents, x_m, y_m, THROW_DISTANCE_M, "2 m throw")
        elif kind == "goal_kick":
            yield from self._in_area(opponents, x_m)
        elif kind == "penalty":
            goalkeeper = self._goalkeeper(opponents, x_m)
            others = [b for b in (*scene.home, *scene.away) if b.object_id not in (restart.player, goalkeeper)]
            yield from self._in_area(others, x_m)
            yield from self._within(others, x_m, y_m, OPPONENT_DISTANCE_M, "penalty area")
        elif kind == "corner":
            yield from self._within(opponents, x_m, y_m, OPPONENT_DISTANCE_M + CORNER_ARC_RADIUS_M, "9.15 m")
        elif kind == "kick_off" or number(restart, "rest_s") >= self.parameters.quick_s:
            far = [b for b in opponents if kind == "kick_off" or not self._on_goal_line(b)]
            yield from self._within(far, x_m, y_m, OPPONENT_DISTANCE_M, "9.15 m")
            if kind == "free_kick":
                yield from self._at_wall(restart, scene, x_m, y_m)

    def _within(self, bodies: Bodies, x_m: float, y_m: float, least_m: float, variant: str) -> Iterator[TooNear]:
        for body in bodies:
            distance_m = math.hypot(body.x_m - x_m, body.y_m - y_m)
            if distance_m < least_m - self.parameters.tolerance_m:
                yield TooNear(body, variant, distance_m, least_m)

    def _in_area(self, bodies: Bodies, x_m: float) -> Iterator[TooNear]:
        """Those inside the penalty area of the restart; the distance is that to its edge, negative inside."""
        end, tolerance_m = end_of(x_m), self.parameters.tolerance_m
        for body in bodies:
            if self.pitch.in_penalty_area(body.x_m, body.y_m, end, -tolerance_m):
                yield TooNear(body, "penalty area", -tolerance_m, 0.0)

    def _on_goal_line(self, body: BodyState) -> bool:
        """True if a player stands on a goal line between the posts."""
        depth_m = self.pitch.depth_m(body.x_m, end_of(body.x_m))
        return depth_m <= self.parameters.tolerance_m and abs(body.y_m) <= GOAL_HALF_WIDTH_M

    def _goalkeeper(self, opponents: Bodies, x_m: float) -> str:
        """The goalkeeper at a penalty kick: by the sheet, else the one nearest to the goal line."""
        goal_x_m = end_sign(end_of(x_m)) * self.pitch.half_length_m
        named = [b for b in opponents if b.object_id in self._keepers] or list(opponents)
        return min(named, key=lambda b: math.hypot(b.x_m - goal_x_m, b.y_m)).object_id if named else ""

    def _at_wall(self, restart: EventPayload, scene: Scene, x_m: float, y_m: float) -> Iterator[TooNear]:
        """Mates of the taker who are too near to a wall."""
        p = self.parameters
        around = [b for b in scene.opponents(restart.team) if math.hypot(b.x_m - x_m, b.y_m - y_m) <= p.wall_far_m]
        wall = [b for b in around if sum(_apart_m(b, other) <= p.wall_m for other in around) >= 2]
        if len(wall) < WALL_PLAYERS:
            return
        for body in scene.team(restart.team):
            distance_m = min(_apart_m(body, other) for other in wall)
            if body.object_id != restart.player and distance_m < WALL_DISTANCE_M:
                yield TooNear(body, "1 m wall", distance_m, WALL_DISTANCE_M)

    def _offence(self, event: Event, some: list[TooNear]) -> Event:
        worst = min(some, key=lambda near: (near.distance_m, near.body.object_id))
        body, players = worst.body, len({near.body.object_id for near in some})
        what, limit_m = "distance", worst.least_m - self.parameters.tolerance_m
        note(what, worst.distance_m, "at most", limit_m, "encroachment.tolerance_m", (body.team, worst.variant))
        detail: dict[str, Scalar] = {
            "restart": event.kind,
            "distance_m": round(worst.distance_m, 2),
            "least_m": worst.least_m,
            "players": players,
        }
        payload = EventPayload(worst.variant, body.team, body.object_id, body.x_m, body.y_m, detail=detail)
        anchor = f"{event.source}/{body.team} {worst.variant}"
        return make_event("encroach", event.ts_us, anchor, payload, causes=(event.id,))


def _apart_m(one: BodyState, other: BodyState) -> float:
    return math.hypot(one.x_m - other.x_m, one.y_m - other.y_m)
