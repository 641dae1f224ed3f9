"""4.5: marking: how near the nearest opponent of each player stays.

Theory of operation
-------------------
Five times a second the distance of each outfield player from the nearest outfield opponent is put into one of three
bands. A band counts once it has held for ``hold_us``. It is a detector on request: teams change their marking several
times a second.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec
import numpy as np

from detectors.decisions import at_least
from detectors.emission import make_event
from detectors.reasons import reason
from football.match_sheet import MatchSheet, Team
from football.payloads import BodyState, EventPayload, Scalar, frame_of, payload_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

KINDS = ("mark.tight", "mark.loose", "mark.free")


class MarkingParameters(msgspec.Struct, frozen=True):
    """Bands of marking.

    Attributes:
        tight_m: an opponent up to this distance marks tightly.
        loose_m: one up to this distance marks loosely.
        hold_us: a band is published when it has held for this long.
        look_us: time between two looks.
    """

    tight_m: Annotated[float, reason("Hierarchy 4.5, ours.")] = 2.0
    loose_m: Annotated[float, reason("Hierarchy 4.5, ours.")] = 5.0
    hold_us: Annotated[int, reason("Hierarchy 4.5, ours.")] = 1_000_000
    look_us: Annotated[int, reason("As the scene (9.13).")] = 200_000


class MarkedPlayer(msgspec.Struct, frozen=True, gc=False):
    """Bands of a player: the published one (-1: none yet), the one now, and since when that is."""

    shown: int
    now: int
    since_us: int


class MarkingState(msgspec.Struct, frozen=True, gc=False):
    """State: the team that attacks +x; players by object id; the time from which on the next look is due."""

    attacks: Team = ""
    players: Mapping[str, MarkedPlayer] = {}
    due_us: int = -(2**62)


class Marking:
    """4.5: ``mark.tight``, ``mark.loose``, ``mark.free`` x team: how near the nearest opponent of a player stays.

    ``player`` is the one who is marked, the position his. Published when it has held for a second. ``detail``:
    ``since_us`` (begin), ``other`` (the nearest opponent), ``distance_m``, ``goal_side`` (true if that opponent is
    nearer to his own goal line than the player; missing while the attacking direction is unknown).
    """

    def __init__(self, sheet: MatchSheet, parameters: MarkingParameters | None = None) -> None:
        self.parameters = parameters or MarkingParameters()
        self._keepers = frozenset(p.object_id for p in sheet.players if p.goalkeeper)
        self.spec = Spec(
            name="marking",
            number="4.5",
            level=4,
            inputs=("frame", "direction"),
            outputs=KINDS,
            parameters=msgspec.structs.asdict(self.parameters),
            source="ours",
            team_variants=dict.fromkeys(KINDS, ("",)),
            details=dict.fromkeys(KINDS, ("since_us", "other", "distance_m", "goal_side")),
        )

    def initial(self) -> MarkingState:
        """Nobody seen."""
        return MarkingState()

    def step(self, state: MarkingState, event: Event) -> Step[MarkingState]:
        """Measure everybody if it is time."""
        if event.kind == "direction":
            return msgspec.structs.replace(state, attacks=payload_of(event).team), NOTHING
        if event.ts_us < state.due_us:
            return state, NOTHING
        due_us = event.ts_us // self.parameters.look_us * self.parameters.look_us + self.parameters.look_us
        bodies = [b for b in frame_of(event).players if b.object_id not in self._keepers]
        sides = [[b for b in bodies if b.team == team] for team in ("home", "away")]
        if not all(sides):
            return msgspec.structs.replace(state, due_us=due_us), NOTHING
        home, away = (np.array([(b.x_m, b.y_m) for b in side]) for side in sides)
        apart_m = np.hypot(*(home[:, None] - away[None]).transpose(2, 0, 1))
        players: dict[str, MarkedPlayer] = {}
        out: list[Event] = []
        for own, others, table in ((*sides, apart_m), (*sides[::-1], apart_m.T)):
            columns = own, table.argmin(axis=1).tolist(), table.min(axis=1).tolist()
            for body, nearest, away_m in zip(*columns, strict=True):
                before = state.players.get(body.object_id)
                players[body.object_id], found = self._player(state, before, body, others[nearest], away_m, event)
                out += found
        return MarkingState(state.attacks, players, due_us), out or NOTHING

    def _player(
        self,
        state: MarkingState,
        before: MarkedPlayer | None,
        body: BodyState,
        other: BodyState,
        away_m: float,
        event: Event,
    ) -> tuple[MarkedPlayer, tuple[Event, ...]]:
        p = self.parameters
        band = int(away_m > p.tight_m) + int(away_m > p.loose_m)
        if before is None or band != before.now:
            return MarkedPlayer(-1 if before is None else before.shown, band, event.ts_us), NOTHING
        lasted_us, path = event.ts_us - before.since_us, "marking.hold_us"
        if band == before.shown or not at_least("time that it held", lasted_us, p.hold_us, path, body.object_id):
            return before, NOTHING
        detail: dict[str, Scalar] = {
            "since_us": before.since_us,
            "other": other.object_id,
            "distance_m": round(away_m, 2),
        }
        if state.attacks:
            sign = 1.0 if state.attacks == body.team else -1.0
            detail["goal_side"] = sign * (other.x_m - body.x_m) > 0.0
        payload = EventPayload("", body.team, body.object_id, body.x_m, body.y_m, detail=detail)
        shown = make_event(KINDS[band], event.ts_us, f"{body.object_id}:{before.since_us}", payload)
        return MarkedPlayer(band, band, before.since_us), (shown,)
