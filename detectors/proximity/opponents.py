"""4.4: two opponents come near each other, and part.

Theory of operation
-------------------
Of 22 players there are 121 pairs of opponents, and none changes much within a tenth of a second: nobody covers more
than a metre. So they are looked at ten times a second. One team is sorted along the pitch, and to a player of the
other only those within the leaving distance along it are measured, without a square root.
"""

from __future__ import annotations

import bisect
import math

import msgspec

from detectors.facts import Fact, Scalar, fact_event
from detectors.inputs import Team
from detectors.states import BodyState, Frame
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

#: Object ids of two opponents, the smaller one first.
Pair = tuple[str, str]


class OpponentsParameters(msgspec.Struct, frozen=True):
    """``enter_m``: StreamTeam's maxDuelDist. ``leave_m``: hierarchy 4.4. ``look_us``: ours, see above."""

    enter_m: float = 3.0
    leave_m: float = 3.5
    look_us: int = 100_000


class Pairs(msgspec.Struct, frozen=True, gc=False):
    """State: the pairs that are near, sorted; time of the next look."""

    near: tuple[Pair, ...] = ()
    due_us: int = -(2**62)


class OpponentProximity:
    """4.4: ``opponents.near`` and ``opponents.apart`` of two players of different teams, over the ground.

    ``player`` is the one with the smaller object id, ``detail.other`` his opponent; the place is the middle between
    them. Of a pair of which one is no longer seen the place and the distance are unknown.
    """

    def __init__(self, parameters: OpponentsParameters | None = None) -> None:
        self.parameters = parameters or OpponentsParameters()
        self.spec = Spec(
            name="opponent_proximity",
            number="4.4",
            level=4,
            inputs=("frame",),
            outputs=("opponents.apart", "opponents.near"),
            parameters=msgspec.structs.asdict(self.parameters),
            source="StreamTeam (duels within 3 m)",
        )

    def initial(self) -> Pairs:
        """Nobody near."""
        return Pairs()

    def step(self, state: Pairs, event: Event) -> Step[Pairs]:
        """Looks at everybody if a look is due."""
        if event.ts_us < state.due_us:
            return state, NOTHING
        frame = event.payload
        assert isinstance(frame, Frame)
        due_us = event.ts_us + self.parameters.look_us
        found = self._near(frame, state.near)
        near = tuple(sorted(found))
        if near == state.near:
            return Pairs(state.near, due_us), NOTHING
        bodies = {body.object_id: body for body in frame.players}
        out = [_told("opponents.apart", event.ts_us, pair, bodies) for pair in state.near if pair not in found]
        before = set(state.near)
        out.extend(_told("opponents.near", event.ts_us, pair, bodies) for pair in near if pair not in before)
        return Pairs(near, due_us), out

    def _near(self, frame: Frame, before: tuple[Pair, ...]) -> set[Pair]:
        enter2_m2, leave_m = self.parameters.enter_m**2, self.parameters.leave_m
        leave2_m2 = leave_m * leave_m
        home = [body for body in frame.players if body.team == "home"]
        away = sorted((body.x_m, body.y_m, body.object_id) for body in frame.players if body.team == "away")
        found: set[Pair] = set()
        for body in home:
            x_m, y_m, name = body.x_m, body.y_m, body.object_id
            for i in range(bisect.bisect_left(away, (x_m - leave_m,)), len(away)):
                dx = away[i][0] - x_m
                if dx > leave_m:
                    break
                dy = away[i][1] - y_m
                d2_m2 = dx * dx + dy * dy
                if d2_m2 <= leave2_m2:
                    other = away[i][2]
                    pair = (name, other) if name < other else (other, name)
                    if d2_m2 < enter2_m2 or pair in before:
                        found.add(pair)
        return found


def _told(kind: str, ts_us: int, pair: Pair, bodies: dict[str, BodyState]) -> Event:
    one, other = bodies.get(pair[0]), bodies.get(pair[1])
    team: Team = one.team if one else ""
    detail: dict[str, Scalar] = {"other": pair[1]}
    x_m = y_m = None
    if one and other:
        x_m, y_m = round((one.x_m + other.x_m) / 2.0, 2), round((one.y_m + other.y_m) / 2.0, 2)
        detail["distance_m"] = round(math.hypot(one.x_m - other.x_m, one.y_m - other.y_m), 2)
    fact = Fact("", team, pair[0], x_m, y_m, detail=detail)
    return fact_event(kind, ts_us, f"{pair[0]}:{pair[1]}:{ts_us}", fact)
