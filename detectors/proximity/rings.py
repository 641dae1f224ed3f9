"""4.6: nearness of the ball to a goal, in rings around the middle of the goal."""

from __future__ import annotations

import math
from typing import Annotated, cast

import msgspec

from detectors.decisions import note
from detectors.emission import make_event
from detectors.reasons import reason
from football.match_sheet import MatchSheet
from football.payloads import BallState, EventPayload
from football.pitch import ENDS, end_sign, pitch_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class RingParameters(msgspec.Struct, frozen=True):
    """Radii of the rings.

    Attributes:
        mark_m: radius of the innermost ring.
        area_m: radius of the second one.
        far_m: radius of the third one.
        widest_m: radius of the outermost one.
        leave_m: distance outside a ring at which it is left.
    """

    mark_m: Annotated[float, reason("hierarchy 4.6: the penalty mark")] = 11.0
    area_m: Annotated[float, reason("hierarchy 4.6: depth of the penalty area")] = 16.5
    far_m: Annotated[float, reason("hierarchy 4.6: shots from far")] = 25.0
    widest_m: Annotated[float, reason("hierarchy 4.6: set pieces")] = 35.0
    leave_m: Annotated[float, reason("hierarchy 4.6")] = 0.5


#: State: number of rings that the ball is in, of either goal, the widest first.
Depth = tuple[int, int]


class GoalRing:
    """4.6: ``goal_ring`` x {11, 16.5, 25, 35 m} x side: the ball comes nearer to the middle of a goal than that.

    ``variant`` is goal and radius (``left 16.5 m``). Leaving a ring, half a metre farther out, is not reported.
    ``detail.distance_m``.
    """

    def __init__(self, sheet: MatchSheet, parameters: RingParameters | None = None) -> None:
        self.parameters = p = parameters or RingParameters()
        half_m = pitch_of(sheet).half_length_m
        self._goals_x_m = tuple(end_sign(end) * half_m for end in ENDS)
        radii = (p.widest_m, p.far_m, p.area_m, p.mark_m)
        # By number of rings: squared distance below which the ball enters one more, beyond which it leaves one.
        self._nearer2 = tuple(r * r for r in (*radii, 0.0))
        self._left2 = tuple(r * r for r in (math.inf, *(r + p.leave_m for r in radii)))
        self._names = tuple(tuple(f"{end} {r:g} m" for r in (35, 25, 16.5, 11)) for end in ENDS)
        self.spec = Spec(
            name="goal_ring",
            number="4.6",
            level=4,
            inputs=("ball.state",),
            outputs=("goal_ring",),
            parameters=msgspec.structs.asdict(p),
            source="ours (zones of shots)",
            variants={"goal_ring": tuple(name for names in self._names for name in reversed(names))},
            details={"goal_ring": ("distance_m",)},
        )

    def initial(self) -> Depth:
        """Far from both goals."""
        return 0, 0

    def step(self, state: Depth, event: Event) -> Step[Depth]:
        """Measure to either goal; nearly always no ring is crossed."""
        ball = cast(BallState, event.payload)
        x_m, y2 = ball.x_m, ball.y_m * ball.y_m
        dx, ex = x_m - self._goals_x_m[0], x_m - self._goals_x_m[1]
        d2, e2 = dx * dx + y2, ex * ex + y2
        left, right = state
        if self._nearer2[left] <= d2 <= self._left2[left] and self._nearer2[right] <= e2 <= self._left2[right]:
            return state, NOTHING
        out: list[Event] = []
        return (self._cross(left, 0, d2, event, ball, out), self._cross(right, 1, e2, event, ball, out)), out or NOTHING

    def _cross(self, depth: int, goal: int, d2: float, event: Event, ball: BallState, out: list[Event]) -> int:
        while d2 < self._nearer2[depth]:
            name = self._names[goal][depth]
            payload = EventPayload(
                name, "", "", ball.x_m, ball.y_m, ball.z_m, detail={"distance_m": round(math.sqrt(d2), 2)}
            )
            out.append(make_event("goal_ring", event.ts_us, f"{event.source}:{event.ts_us}/{name}", payload))
            path = f"goal_ring.{('widest', 'far', 'area', 'mark')[depth]}_m"
            note(
                "the ball from the goal's middle", math.sqrt(d2), "at most", math.sqrt(self._nearer2[depth]), path, name
            )
            depth += 1
        while d2 > self._left2[depth]:
            depth -= 1
        return depth
