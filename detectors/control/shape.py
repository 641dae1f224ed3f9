"""10.4, 10.5, 10.6: how much room a team takes, how long and wide it stands, and how high its last line.

All are of the outfield players and told of both teams, in play and out of it. The hull is that of the plane; a team
of fewer than five outfield players has no shape.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from detectors.control.bands import NO_BAND, Band, follow
from detectors.control.scene import Scene, keepers_of, outfield
from detectors.emission import make_event
from football.match_sheet import MatchSheet, Team
from football.payloads import BodyState, EventPayload, Scalar, payload_as
from football.pitch import pitch_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

TEAMS: tuple[Team, Team] = ("home", "away")

#: Fewest outfield players who have a shape: a line of four and one before it.
SHAPE_PLAYERS = 5


class TeamAreaParameters(msgspec.Struct, frozen=True):
    """``change_share``: a measure is told again when it has changed by this share (hierarchy 10.4).

    ``every_us``: looked at so often (ours): in a second a team of eleven changes its area by 5 % at a run.
    """

    change_share: float = 0.05
    every_us: int = 1_000_000


class AreaState(msgspec.Struct, frozen=True, gc=False):
    """What was told last, three measures of home and three of away (0: nothing), and when to look again."""

    told: tuple[float, ...] = (0.0,) * 6
    due_us: int = -(2**62)


class TeamArea:
    """10.4: ``hull.step``, ``mbr.step`` (bounding rectangle) and ``stretch.step`` (mean distance from the middle).

    ``detail.area_m2``, or ``detail.stretch_m``; the place is the team's middle.
    """

    def __init__(self, sheet: MatchSheet, parameters: TeamAreaParameters | None = None) -> None:
        self.parameters = parameters or TeamAreaParameters()
        self._keepers = keepers_of(sheet)
        self.spec = Spec(
            name="team_area",
            number="10.4",
            level=10,
            inputs=("scene",),
            outputs=("hull.step", "mbr.step", "stretch.step"),
            parameters=msgspec.structs.asdict(self.parameters),
            source="StreamTeam TeamArea; floodlight (stretch index)",
            team_variants=dict.fromkeys(("hull.step", "mbr.step", "stretch.step"), ("",)),
        )

    def initial(self) -> AreaState:
        """Nothing told."""
        return AreaState()

    def step(self, state: AreaState, event: Event) -> Step[AreaState]:
        """Measures both teams when it is time."""
        scene, every_us = payload_as(event, Scene), self.parameters.every_us
        if event.ts_us < state.due_us:
            return state, NOTHING
        told, out = list(state.told), []
        for number, team in enumerate(TEAMS):
            sign = scene.sign(team)
            players = outfield(scene.team(team), sign, self._keepers)[1] if sign else []
            if len(players) < SHAPE_PLAYERS:
                continue
            x_m = sum(p.x_m for p in players) / len(players)
            y_m = sum(p.y_m for p in players) / len(players)
            for i, value in enumerate(_measures(players, x_m, y_m)):
                at = 3 * number + i
                if abs(value - told[at]) >= self.parameters.change_share * max(told[at], 1e-9):
                    told[at] = value
                    kind, name = self.spec.outputs[i], "stretch_m" if i == 2 else "area_m2"
                    payload = EventPayload("", team, "", x_m, y_m, detail={name: round(value, 2)})
                    out.append(make_event(kind, event.ts_us, f"{team}:{event.ts_us}", payload))
        return AreaState(tuple(told), event.ts_us // every_us * every_us + every_us), out or NOTHING


def _measures(players: Sequence[BodyState], x_m: float, y_m: float) -> tuple[float, float, float]:
    """Area of the hull, area of the bounding rectangle, mean distance from the middle."""
    points = [(p.x_m, p.y_m) for p in players]
    xs, ys = zip(*points, strict=True)
    box_m2 = (max(xs) - min(xs)) * (max(ys) - min(ys))
    stretch_m = sum(math.hypot(x - x_m, y - y_m) for x, y in points) / len(points)
    return hull_area_m2(points), box_m2, stretch_m


def hull_area_m2(points: Sequence[tuple[float, float]]) -> float:
    """Area of the convex hull (Andrew's monotone chain).

    >>> hull_area_m2([(0.0, 0.0), (2.0, 0.0), (1.0, 0.5), (2.0, 2.0), (0.0, 2.0)])
    4.0
    """
    ordered = sorted(points)
    hull: list[tuple[float, float]] = []
    for way in (ordered, ordered[::-1]):
        chain: list[tuple[float, float]] = []
        for p in way:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], p) <= 0.0:
                chain.pop()
            chain.append(p)
        hull += chain[:-1]
    return sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(hull, hull[1:] + hull[:1], strict=True)) / 2.0


def _turn(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


class ShapeParameters(msgspec.Struct, frozen=True):
    """Bands of length, width and height of the last line (hierarchy 10.5, 10.6: cuts ours).

    ``hold_us``: a band is told when it was kept for so long; ``margin_m``: it is left so far beyond its bound.
    """

    short_m: float = 25.0
    long_m: float = 35.0
    narrow_m: float = 30.0
    wide_m: float = 45.0
    low_m: float = 25.0
    high_m: float = 40.0
    hold_us: int = 1_000_000
    margin_m: float = 0.5


Bands = tuple[Band, ...]


class TeamShape:
    """10.5: ``shape.long``, ``shape.short``, ``shape.wide``, ``shape.narrow``: how the outfield players stand.

    Told when it has been so for a second, ``detail.since_us`` is its beginning, ``detail.extent_m`` how much now.
    """

    def __init__(self, sheet: MatchSheet, parameters: ShapeParameters | None = None) -> None:
        self.parameters = parameters or ShapeParameters()
        self._keepers = keepers_of(sheet)
        kinds = ("shape.long", "shape.short", "shape.wide", "shape.narrow")
        self.spec = Spec(
            name="team_shape",
            number="10.5",
            level=10,
            inputs=("scene",),
            outputs=kinds,
            parameters=msgspec.structs.asdict(self.parameters),
            source="FIFA EFI; bands ours",
            team_variants=dict.fromkeys(kinds, ("",)),
        )

    def initial(self) -> Bands:
        """Length and width of home and of away."""
        return (NO_BAND,) * 4

    def step(self, state: Bands, event: Event) -> Step[Bands]:
        """Follows the bands of both teams."""
        scene, p = payload_as(event, Scene), self.parameters
        after, out = list(state), []
        for number, team in enumerate(TEAMS):
            sign = scene.sign(team)
            players = outfield(scene.team(team), sign, self._keepers)[1] if sign else []
            if len(players) < SHAPE_PLAYERS:
                continue
            extents = (_extent([b.x_m for b in players]), _extent([b.y_m for b in players]))
            bounds = ((p.short_m, p.long_m), (p.narrow_m, p.wide_m))
            names = (("shape.short", "", "shape.long"), ("shape.narrow", "", "shape.wide"))
            for i in (0, 1):
                at = 2 * number + i
                after[at] = follow(state[at], extents[i], bounds[i], p.margin_m, p.hold_us, event.ts_us)
                if after[at].told != state[at].told and (kind := names[i][after[at].told]):
                    detail: dict[str, Scalar] = {"extent_m": round(extents[i], 2), "since_us": after[at].since_us}
                    payload = EventPayload("", team, detail=detail)
                    out.append(make_event(kind, event.ts_us, f"{team}:{after[at].since_us}", payload))
        return tuple(after), out or NOTHING


def _extent(values: Sequence[float]) -> float:
    return max(values) - min(values)


class LineHeight:
    """10.6: ``line.high``, ``line.mid``, ``line.low``: how far the last line stands from its own goal line.

    The line is the mean of the rearmost four outfield players, as nobody says who defends. Told when it has been so
    for a second; ``detail.since_us`` is its beginning, ``detail.height_m`` how high it is now.
    """

    #: Players of a last line.
    PLAYERS = 4

    def __init__(self, sheet: MatchSheet, parameters: ShapeParameters | None = None) -> None:
        self.parameters = parameters or ShapeParameters()
        self._keepers = keepers_of(sheet)
        self.pitch = pitch_of(sheet)
        self._kinds = ("line.low", "line.mid", "line.high")
        self.spec = Spec(
            name="defensive_line",
            number="10.6",
            level=10,
            inputs=("scene",),
            outputs=self._kinds,
            parameters=msgspec.structs.asdict(self.parameters),
            source="FIFA EFI; cuts ours",
            team_variants=dict.fromkeys(self._kinds, ("",)),
        )

    def initial(self) -> Bands:
        """Home's and away's."""
        return (NO_BAND,) * 2

    def step(self, state: Bands, event: Event) -> Step[Bands]:
        """Follows the bands of both teams."""
        scene, p = payload_as(event, Scene), self.parameters
        after, out = list(state), []
        for number, team in enumerate(TEAMS):
            sign = scene.sign(team)
            players = outfield(scene.team(team), sign, self._keepers)[1] if sign else []
            if len(players) < SHAPE_PLAYERS:
                continue
            mean_m = sum(b.x_m for b in players[: self.PLAYERS]) / self.PLAYERS
            height_m = self.pitch.half_length_m + sign * mean_m
            band = follow(state[number], height_m, (p.low_m, p.high_m), p.margin_m, p.hold_us, event.ts_us)
            after[number] = band
            if band.told != state[number].told:
                detail: dict[str, Scalar] = {"height_m": round(height_m, 2), "since_us": band.since_us}
                payload = EventPayload("", team, "", mean_m, None, detail=detail)
                out.append(make_event(self._kinds[band.told], event.ts_us, f"{team}:{band.since_us}", payload))
        return tuple(after), out or NOTHING
