"""4.4: two opponents come near each other, and part.

Theory of operation
-------------------
Of 22 players there are 121 pairs of opponents, and no distance changes by much more than a metre within a tenth of a
second. So a kernel measures all of them ten times a second, without square roots.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated

import msgspec

from detectors.decisions import is_recording, note
from detectors.emission import make_event
from detectors.reasons import reason
from detectors.signals.kernels.frame_kernels import opponents_within
from football.match_sheet import Team
from football.payloads import BodyState, EventPayload, Frame, Scalar, build_frame, frame_of, number, payload_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

#: Object ids of two opponents, the smaller one first.
Pair = tuple[str, str]


class OpponentsParameters(msgspec.Struct, frozen=True):
    """Nearness of opponents.

    Attributes:
        enter_m: distance below which two opponents are near.
        leave_m: distance beyond which they are apart.
        look_us: time between measurements.
    """

    enter_m: Annotated[float, reason("StreamTeam's maxDuelDist")] = 3.0
    leave_m: Annotated[float, reason("hierarchy 4.4")] = 3.5
    look_us: Annotated[int, reason("ours: a player covers at most a metre in that time")] = 100_000


class Pairs(msgspec.Struct, frozen=True, gc=False):
    """State: the pairs that are near, sorted; time of the next measurement."""

    near: tuple[Pair, ...] = ()
    due_us: int = -(2**62)


class OpponentProximity:
    """4.4: ``opponents.near`` and ``opponents.apart`` of two players of different teams, over the ground.

    ``player`` is the one with the smaller object id, ``detail.other`` the opponent; the location is the middle between
    them. Location and distance (``distance_m``) are unknown of a pair of which one is lost.
    """

    def __init__(self, parameters: OpponentsParameters | None = None) -> None:
        self.parameters = parameters or OpponentsParameters()
        opponents_within(build_frame(None, ()), 1.0, 1.0)  # loads the kernel before the first frame
        self.spec = Spec(
            name="opponent_proximity",
            number="4.4",
            level=4,
            inputs=("frame",),
            outputs=("opponents.apart", "opponents.near"),
            parameters=msgspec.structs.asdict(self.parameters),
            source="StreamTeam (duels within 3 m)",
            details=dict.fromkeys(("opponents.apart", "opponents.near"), ("other", "distance_m")),
        )

    def initial(self) -> Pairs:
        """No pair."""
        return Pairs()

    def step(self, state: Pairs, event: Event) -> Step[Pairs]:
        """Measure the pairs if it is time."""
        if event.ts_us < state.due_us:
            return state, NOTHING
        frame = frame_of(event)
        due_us = event.ts_us + self.parameters.look_us
        found = self._near(frame, state.near)
        near = tuple(sorted(found))
        if near == state.near:
            return Pairs(state.near, due_us), NOTHING
        bodies = {body.object_id: body for body in frame.players}
        out = [_pair_event("opponents.apart", event.ts_us, pair, bodies) for pair in state.near if pair not in found]
        before = set(state.near)
        out.extend(_pair_event("opponents.near", event.ts_us, pair, bodies) for pair in near if pair not in before)
        if is_recording():
            self._note(out)
        return Pairs(near, due_us), out

    def _note(self, out: Sequence[Event]) -> None:
        """Note the distances of pairs that came near or parted."""
        p, what = self.parameters, "distance between them"
        for event in out:
            if "distance_m" in payload_of(event).detail:
                away_m, about = number(payload_of(event), "distance_m"), event.source
                note(what, away_m, "at most", p.enter_m, "opponents.enter_m", ("opponents.near", about))
                note(what, away_m, "at least", p.leave_m, "opponents.leave_m", ("opponents.apart", about))

    def _near(self, frame: Frame, before: tuple[Pair, ...]) -> set[Pair]:
        found: set[Pair] = set()
        for i, j, near in opponents_within(frame, self.parameters.enter_m, self.parameters.leave_m):
            one, other = frame.names[i], frame.names[j]
            pair = (one, other) if one < other else (other, one)
            if near or pair in before:
                found.add(pair)
        return found


def _pair_event(kind: str, ts_us: int, pair: Pair, bodies: dict[str, BodyState]) -> Event:
    one, other = bodies.get(pair[0]), bodies.get(pair[1])
    team: Team = one.team if one else ""
    detail: dict[str, Scalar] = {"other": pair[1]}
    x_m = y_m = None
    if one and other:
        x_m, y_m = round((one.x_m + other.x_m) / 2.0, 2), round((one.y_m + other.y_m) / 2.0, 2)
        detail["distance_m"] = round(math.hypot(one.x_m - other.x_m, one.y_m - other.y_m), 2)
    payload = EventPayload("", team, pair[0], x_m, y_m, detail=detail)
    return make_event(kind, ts_us, f"{pair[0]}:{pair[1]}:{ts_us}", payload)
