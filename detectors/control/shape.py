"""10.4, 10.5, 10.6: area of a team, its length and width, and the height of its last line.

All measures are of the outfield players of both teams, in play and out of it. A team of fewer than five outfield
players has no shape.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated

import msgspec

from detectors.control.bands import NO_BAND, Band, follow, note_band, note_hold
from detectors.control.scene import Scene, keepers_of, outfield
from detectors.decisions import note
from detectors.emission import make_event
from detectors.reasons import reason
from football.match_sheet import TEAMS, MatchSheet
from football.payloads import BodyState, EventPayload, Scalar, payload_as
from football.pitch import pitch_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

#: Least number of outfield players with a shape: a line of four and one before it.
SHAPE_PLAYERS = 5


class TeamAreaParameters(msgspec.Struct, frozen=True):
    """Limits of the area of a team.

    Attributes:
        change_share: a measure is published again when it has changed by this share.
        every_us: time between two samples.
    """

    change_share: Annotated[float, reason("Hierarchy 10.4.")] = 0.05
    every_us: Annotated[int, reason("Ours: a team of eleven at a run changes its area by 5 % in a second.")] = 1_000_000


class AreaState(msgspec.Struct, frozen=True, gc=False):
    """State: the published measures, three of home and three of away (0: none); the time of the next sample."""

    published: tuple[float, ...] = (0.0,) * 6
    due_us: int = -(2**62)


class TeamArea:
    """10.4: ``hull.step``, ``mbr.step`` (bounding rectangle), ``stretch.step`` (mean distance from the centroid).

    The position is the team's centroid. ``detail``: ``area_m2``, of the stretch ``stretch_m``.
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
            details={**dict.fromkeys(("hull.step", "mbr.step"), ("area_m2",)), "stretch.step": ("stretch_m",)},
        )

    def initial(self) -> AreaState:
        """Nothing published."""
        return AreaState()

    def step(self, state: AreaState, event: Event) -> Step[AreaState]:
        """Measure both teams when a sample is due."""
        scene, every_us = payload_as(event, Scene), self.parameters.every_us
        if event.ts_us < state.due_us:
            return state, NOTHING
        values, out = list(state.published), []
        for number, team in enumerate(TEAMS):
            sign = scene.sign(team)
            players = outfield(scene.team(team), sign, self._keepers)[1] if sign else []
            if len(players) < SHAPE_PLAYERS:
                continue
            x_m = sum(p.x_m for p in players) / len(players)
            y_m = sum(p.y_m for p in players) / len(players)
            for i, value in enumerate(_measures(players, x_m, y_m)):
                at = 3 * number + i
                before, share = values[at], self.parameters.change_share
                if abs(value - before) >= share * max(before, 1e-9):
                    if before > 0.0:
                        what, path, about = "change", "team_area.change_share", (self.spec.outputs[i], team)
                        note(what, abs(value - before) / before, "at least", share, path, about)
                    values[at] = value
                    kind, name = self.spec.outputs[i], "stretch_m" if i == 2 else "area_m2"
                    payload = EventPayload("", team, "", x_m, y_m, detail={name: round(value, 2)})
                    out.append(make_event(kind, event.ts_us, f"{team}:{event.ts_us}", payload))
        return AreaState(tuple(values), event.ts_us // every_us * every_us + every_us), out or NOTHING


def _measures(players: Sequence[BodyState], x_m: float, y_m: float) -> tuple[float, float, float]:
    """Area of the hull, area of the bounding rectangle, mean distance from the centroid."""
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
    for pass_ in (ordered, ordered[::-1]):
        chain: list[tuple[float, float]] = []
        for p in pass_:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], p) <= 0.0:
                chain.pop()
            chain.append(p)
        hull += chain[:-1]
    return sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(hull, hull[1:] + hull[:1], strict=True)) / 2.0


def _turn(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


class ShapeParameters(msgspec.Struct, frozen=True):
    """Bands of the length and width of a team, and of the height of its last line.

    Attributes:
        short_m: a team of less length is short.
        long_m: a team of more length is long.
        narrow_m: a team of less width is narrow.
        wide_m: a team of more width is wide.
        low_m: a last line nearer to its goal line is low.
        high_m: a last line farther from its goal line is high.
        hold_us: a band is published when it has lasted for this long.
        margin_m: a band is left this far beyond its bound.
    """

    short_m: Annotated[float, reason("Hierarchy 10.5, ours.")] = 25.0
    long_m: Annotated[float, reason("Hierarchy 10.5, ours.")] = 35.0
    narrow_m: Annotated[float, reason("Hierarchy 10.5, ours.")] = 30.0
    wide_m: Annotated[float, reason("Hierarchy 10.5, ours.")] = 45.0
    low_m: Annotated[float, reason("Hierarchy 10.6, ours.")] = 25.0
    high_m: Annotated[float, reason("Hierarchy 10.6, ours.")] = 40.0
    hold_us: Annotated[int, reason("Ours.")] = 1_000_000
    margin_m: Annotated[float, reason("Ours: hysteresis.")] = 0.5


Bands = tuple[Band, ...]

#: Parameters of the bands of length and of width.
_EXTENTS = ("team_shape.short_m", "team_shape.long_m"), ("team_shape.narrow_m", "team_shape.wide_m")


class TeamShape:
    """10.5: ``shape.long``, ``shape.short``, ``shape.wide``, ``shape.narrow``: length and width of a team.

    Published when the band has lasted for a second. ``detail``: ``extent_m`` (the length or width now), ``since_us``
    (event time of the begin of the band).
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
            details=dict.fromkeys(
                ("shape.long", "shape.short", "shape.wide", "shape.narrow"), ("extent_m", "since_us")
            ),
        )

    def initial(self) -> Bands:
        """Length and width of home and of away."""
        return (NO_BAND,) * 4

    def step(self, state: Bands, event: Event) -> Step[Bands]:
        """Follow the bands of both teams."""
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
                if after[at].settled != state[at].settled and (kind := names[i][after[at].settled]):
                    note_band(after[at], "extent", extents[i], bounds[i], _EXTENTS[i], p.margin_m, (kind, team))
                    note_hold(after[at], event.ts_us, p.hold_us, "team_shape.hold_us", (kind, team))
                    detail: dict[str, Scalar] = {"extent_m": round(extents[i], 2), "since_us": after[at].since_us}
                    payload = EventPayload("", team, detail=detail)
                    out.append(make_event(kind, event.ts_us, f"{team}:{after[at].since_us}", payload))
        return tuple(after), out or NOTHING


def _extent(values: Sequence[float]) -> float:
    return max(values) - min(values)


class LineHeight:
    """10.6: ``line.high``, ``line.mid``, ``line.low``: distance of the last line from its own goal line.

    The line is the mean of the rearmost four outfield players, because the input does not name the defenders. Published
    when the band has lasted for a second; ``x_m`` is the line. ``detail``: ``height_m`` (its distance now),
    ``since_us`` (event time of the begin of the band).
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
            details=dict.fromkeys(("line.low", "line.mid", "line.high"), ("height_m", "since_us")),
        )

    def initial(self) -> Bands:
        """Home's and away's."""
        return (NO_BAND,) * 2

    def step(self, state: Bands, event: Event) -> Step[Bands]:
        """Follow the bands of both teams."""
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
            if band.settled != state[number].settled:
                paths, about = ("team_shape.low_m", "team_shape.high_m"), (self._kinds[band.settled], team)
                note_band(band, "height of the line", height_m, (p.low_m, p.high_m), paths, p.margin_m, about)
                note_hold(band, event.ts_us, p.hold_us, "team_shape.hold_us", about)
                detail: dict[str, Scalar] = {"height_m": round(height_m, 2), "since_us": band.since_us}
                payload = EventPayload("", team, "", mean_m, None, detail=detail)
                out.append(make_event(self._kinds[band.settled], event.ts_us, f"{team}:{band.since_us}", payload))
        return tuple(after), out or NOTHING
