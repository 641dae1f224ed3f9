"""10.8: Voronoi dominance: how much of the pitch is nearer to a team's players than to the other's."""

from __future__ import annotations

from typing import Annotated

import msgspec
import numpy as np

from detectors.control.scene import Scene
from detectors.decisions import at_least
from detectors.emission import make_event
from detectors.reasons import reason
from football.match_sheet import MatchSheet, Team
from football.payloads import EventPayload, payload_as
from football.pitch import pitch_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event


class DominanceParameters(msgspec.Struct, frozen=True):
    """Limits of a changed share.

    Attributes:
        change_share: a share is published when it differs by so much from the published one.
        every_us: time between two looks.
        cell_m: side of the cells of the pitch that are counted.
    """

    change_share: Annotated[float, reason("Hierarchy 10.8.")] = 0.05
    every_us: Annotated[int, reason("Ours: the shares of teams change over seconds.")] = 1_000_000
    cell_m: Annotated[
        float, reason("Ours: databallpy has 1 m; of 200 draws of 22 random places the share differs by 0.006 at most.")
    ] = 2.0


class DominanceState(msgspec.Struct, frozen=True, gc=False):
    """State: the published share of home, -1 for none; the time from which on the next look is due."""

    home: float = -1.0
    due_us: int = -(2**62)


class VoronoiShare:
    """10.8: ``voronoi.share`` x team: the share of the pitch that is nearer to a player of a team than to any other.

    Published for both teams, in play, when it has changed by 5 % of the pitch. ``detail``: ``share``.
    """

    def __init__(self, sheet: MatchSheet, parameters: DominanceParameters | None = None) -> None:
        self.parameters = parameters or DominanceParameters()
        pitch, cell_m = pitch_of(sheet), self.parameters.cell_m
        along, across = (max(1, round(2.0 * half_m / cell_m)) for half_m in (pitch.half_length_m, pitch.half_width_m))
        self._x = ((np.arange(along) + 0.5) / along * 2.0 - 1.0) * pitch.half_length_m
        self._y = ((np.arange(across) + 0.5) / across * 2.0 - 1.0) * pitch.half_width_m
        self.spec = Spec(
            name="voronoi_share",
            number="10.8",
            level=10,
            inputs=("scene",),
            outputs=("voronoi.share",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="databallpy; floodlight",
            team_variants={"voronoi.share": ("",)},
            details={"voronoi.share": ("share",)},
        )

    def initial(self) -> DominanceState:
        """Nothing published."""
        return DominanceState()

    def step(self, state: DominanceState, event: Event) -> Step[DominanceState]:
        """Look once a second."""
        if event.ts_us < state.due_us:
            return state, NOTHING
        scene, p = payload_as(event, Scene), self.parameters
        due_us = event.ts_us // p.every_us * p.every_us + p.every_us
        if not scene.live or not scene.home or not scene.away:
            return DominanceState(state.home, due_us), NOTHING
        home = self._share(scene)
        change, path = abs(home - state.home), "voronoi_share.change_share"
        if state.home >= 0.0 and not at_least("change of the share", change, p.change_share, path):
            return DominanceState(state.home, due_us), NOTHING
        out = _published("home", home, event), _published("away", 1.0 - home, event)
        return DominanceState(home, due_us), out

    def _share(self, scene: Scene) -> float:
        """The share of home."""
        at = np.array([(b.x_m, b.y_m) for b in (*scene.home, *scene.away)])
        dx2, dy2 = (self._x - at[:, :1]) ** 2, (self._y - at[:, 1:]) ** 2
        nearest = (dx2[:, :, None] + dy2[:, None, :]).argmin(axis=0)
        return float(np.count_nonzero(nearest < len(scene.home)) / nearest.size)


def _published(team: Team, share: float, event: Event) -> Event:
    payload = EventPayload("", team, detail={"share": round(share, 3)})
    return make_event("voronoi.share", event.ts_us, f"{team}:{event.ts_us}", payload)
