"""12.7, 12.8: how a team defends a set piece: marking of men or of zones, and the wall."""

from __future__ import annotations

import math
from typing import Annotated

import msgspec

from detectors.contacts.recent_contacts import opponents_of
from detectors.control.scene import Bodies, Scene, attacked_end, keepers_of
from detectors.decisions import above, at_least, at_most
from detectors.emission import make_event
from detectors.play.walls import WallParameters, wall_before
from detectors.reasons import reason
from football.match_sheet import MatchSheet, Team
from football.payloads import EventPayload, Scalar, location_m, payload_as, payload_of
from football.pitch import pitch_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

SIZES = ("1", "2", "3", "4", "5+")
SHAPES = ("zonal", "mixed", "man")


class WallState(msgspec.Struct, frozen=True, gc=False):
    """State: the newest scene."""

    scene: Scene | None = None


class Wall:
    """12.8: ``wall`` x size x team: players of the defending team stand side by side before a free kick is taken.

    Named by the kick. The position is the middle of the wall. ``detail``: ``players``, ``distance_m`` (of the middle
    from the ball).
    """

    def __init__(self, sheet: MatchSheet, parameters: WallParameters | None = None) -> None:
        self.parameters = parameters or WallParameters()
        self.pitch = pitch_of(sheet)
        self.spec = Spec(
            name="wall",
            number="12.8",
            level=12,
            inputs=("scene", "restart.free_kick"),
            outputs=("wall",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="IFAB Law 13",
            team_variants={"wall": SIZES},
            details={"wall": ("players", "distance_m")},
        )

    def initial(self) -> WallState:
        """Nobody seen."""
        return WallState()

    def step(self, state: WallState, event: Event) -> Step[WallState]:
        """Keep the newest scene; at a free kick, look who stood in its way."""
        if event.kind == "scene":
            return WallState(payload_as(event, Scene)), NOTHING
        kick, p = payload_of(event), self.parameters
        scene = state.scene
        sign = scene.sign(kick.team) if scene is not None else 0.0
        if scene is None or not sign or event.annuls:
            return state, NOTHING
        (x_m, y_m), end = location_m(kick), attacked_end(sign)
        wall = wall_before(self.pitch, p, scene.opponents(kick.team), end, x_m, y_m)
        if not wall:
            return state, NOTHING
        middle_x, middle_y = (sum(getattr(b, name) for b in wall) / len(wall) for name in ("x_m", "y_m"))
        away_m = math.hypot(middle_x - x_m, middle_y - y_m)
        at_most("distance of the wall", away_m, p.to_m, "wall.to_m")
        detail: dict[str, Scalar] = {"players": len(wall), "distance_m": round(away_m, 2)}
        size = SIZES[min(len(wall), len(SIZES)) - 1]
        payload = EventPayload(size, opponents_of(kick.team), "", middle_x, middle_y, detail=detail)
        return state, (make_event("wall", event.ts_us, event.source, payload, causes=(event.id,)),)


class SetPieceShapeParameters(msgspec.Struct, frozen=True):
    """Limits of marking at a set piece.

    Attributes:
        before_us: the movement that is compared begins this long before the kick.
        after_us: it ends this long after the kick.
        deep_m: defenders and attackers count up to this distance from the goal line.
        near_m: a marker stands at most this far from his man at the begin, and at the end.
        moved_m: a man who moves less marks nobody out: he says nothing of his marker.
        least: least number of defenders who are near a man that moves, or in the area without one.
        man_share: from this share of markers on it is man marking.
        zonal_share: up to this share of markers it is zonal marking.
    """

    before_us: Annotated[int, reason("Ours: runs into the area begin about a second before the kick.")] = 1_000_000
    after_us: Annotated[int, reason("Ours: until the ball is down, markers stay with their men.")] = 1_200_000
    deep_m: Annotated[float, reason("Ours: the penalty area and its edge.")] = 20.0
    near_m: Annotated[float, reason("Ours: within reach of a shove.")] = 2.5
    moved_m: Annotated[float, reason("Ours: more than sway.")] = 2.0
    least: Annotated[int, reason("Ours: fewer are no scheme.")] = 4
    man_share: Annotated[float, reason("Ours.")] = 0.6
    zonal_share: Annotated[float, reason("Ours.")] = 0.25


class Deep(msgspec.Struct, frozen=True, gc=False):
    """Players near a goal line in a scene: object id and place of each."""

    ts_us: int
    home: tuple[tuple[str, float, float], ...]
    away: tuple[tuple[str, float, float], ...]

    def team(self, team: Team) -> tuple[tuple[str, float, float], ...]:
        """Players of a team."""
        return self.home if team == "home" else self.away


class SetPieceShapeState(msgspec.Struct, frozen=True, gc=False):
    """State: the newest scenes, oldest first; the kick whose marking is looked at, and the scene before it."""

    scenes: tuple[Deep, ...] = ()
    kick: Event | None = None
    begin: Deep | None = None


class SetPieceShape:
    """12.7: ``setpiece.shape`` x {zonal, mixed, man} x team: how the other team defends a corner or crossed free kick.

    A defender marks a man if that man, the nearest attacker, moves, and he with him. Published a second after the kick,
    which names it. The position is that of the kick. ``detail``: ``kick_us``, ``defenders`` (in front of the goal),
    ``markers`` (of them).
    """

    def __init__(self, sheet: MatchSheet, parameters: SetPieceShapeParameters | None = None) -> None:
        self.parameters = parameters or SetPieceShapeParameters()
        self.pitch = pitch_of(sheet)
        self._keepers = keepers_of(sheet)
        self.spec = Spec(
            name="set_piece_shape",
            number="12.7",
            level=12,
            inputs=("scene", "restart.corner", "restart.free_kick"),
            outputs=("setpiece.shape",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="ours",
            team_variants={"setpiece.shape": SHAPES},
            details={"setpiece.shape": ("kick_us", "defenders", "markers")},
        )

    def initial(self) -> SetPieceShapeState:
        """No set piece."""
        return SetPieceShapeState()

    def step(self, state: SetPieceShapeState, event: Event) -> Step[SetPieceShapeState]:
        """Wait until the ball is in the area, then compare who moved with whom."""
        p = self.parameters
        if event.kind == "scene":
            scene = payload_as(event, Scene)
            newest = Deep(event.ts_us, self._deep(scene.home), self._deep(scene.away))
            # A scene more than the time before a kick, so that one is as old as that.
            oldest_us = event.ts_us - p.before_us - 200_000
            scenes = (*(one for one in state.scenes if one.ts_us >= oldest_us), newest)
            if state.kick is None or state.begin is None or event.ts_us < state.kick.ts_us + p.after_us:
                return SetPieceShapeState(scenes, state.kick, state.begin), NOTHING
            return SetPieceShapeState(scenes), self._judged(state.kick, state.begin, event.ts_us, scene)
        crossed = event.kind == "restart.corner" or payload_of(event).variant == "crossed"
        begin_us = event.ts_us - p.before_us
        begin = next((one for one in reversed(state.scenes) if one.ts_us <= begin_us), None)
        if not crossed or event.annuls or begin is None:
            return SetPieceShapeState(state.scenes), NOTHING
        return SetPieceShapeState(state.scenes, event, begin), NOTHING

    def _deep(self, team: Bodies) -> tuple[tuple[str, float, float], ...]:
        line_m = self.pitch.half_length_m - self.parameters.deep_m
        return tuple((b.object_id, b.x_m, b.y_m) for b in team if abs(b.x_m) >= line_m)

    def _judged(self, kicked: Event, begin: Deep, ts_us: int, end: Scene) -> tuple[Event, ...]:
        p, kick = self.parameters, payload_of(kicked)
        sign, defends = end.sign(kick.team), opponents_of(kick.team)
        if not sign:
            return NOTHING
        men = [one for one in begin.team(kick.team) if sign * one[1] > 0.0 and one[0] != kick.player]
        defenders = [one for one in begin.team(defends) if sign * one[1] > 0.0 and one[0] not in self._keepers]
        if not men or not at_least("defenders", len(defenders), p.least, "set_piece_shape.least"):
            return NOTHING
        places = {b.object_id: (b.x_m, b.y_m) for b in (*end.home, *end.away)}
        markers = sum(self._marks(one, men, places) for one in defenders)
        share, what = markers / len(defenders), "share of markers"
        if at_least(what, share, p.man_share, "set_piece_shape.man_share"):
            shape = "man"
        else:
            shape = "mixed" if above(what, share, p.zonal_share, "set_piece_shape.zonal_share") else "zonal"
        detail: dict[str, Scalar] = {"kick_us": kicked.ts_us, "defenders": len(defenders), "markers": markers}
        payload = EventPayload(shape, defends, "", kick.x_m, kick.y_m, detail=detail)
        return (make_event("setpiece.shape", ts_us, kicked.source, payload, causes=(kicked.id,)),)

    def _marks(
        self,
        defender: tuple[str, float, float],
        men: list[tuple[str, float, float]],
        places: dict[str, tuple[float, float]],
    ) -> bool:
        """True if the attacker nearest to a defender has moved, and the defender with him."""
        name, *here = defender
        man, *his = min(men, key=lambda one: math.dist(one[1:], here))
        p = self.parameters
        return (
            name in places
            and man in places
            and math.dist(here, his) <= p.near_m
            and math.dist(places[name], places[man]) <= p.near_m
            and math.dist(his, places[man]) >= p.moved_m
        )
