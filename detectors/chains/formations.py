"""12.13: the formation of a team, by templates that its players' mean places are matched with (EFPI).

Theory of operation
-------------------
Once a second of live play every outfield player's place is taken from the middle of his team's outfield players, as
the team sees the pitch. Means over the newest blocks of ``block_us`` of such looks do not move with the ball any more.
Ten mean places and each template are moved to their middle and scaled to a spread of one, forward and across. A scale
by the outermost players instead would follow one of them: a lone striker moves every line. The assignment of players
to places with the least sum of squared distances (Hungarian method) is a template's cost, and the cheapest template is
the shape.

A shape is published when it was the cheapest at ``hold_blocks`` blocks in a row, and shown when the first of them
began. Another one must then fit far better than it (``change_share``). A team without ten outfield players keeps the
formation that it had.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from typing import Annotated, Any, cast

import msgspec
import numpy as np
import numpy.typing as npt

from detectors.control.scene import Scene, keepers_of, outfield
from detectors.decisions import at_least, at_most
from detectors.emission import make_event
from detectors.reasons import reason
from football.match_sheet import MatchSheet, Team
from football.payloads import EventPayload, Scalar, payload_as
from middleware.detector import NOTHING, Known, Spec, Step
from middleware.events import Event

SHAPES = (
    "4-4-2", "4-3-3", "4-2-3-1", "4-1-4-1", "4-4-1-1", "4-3-1-2", "4-2-2-2", "4-5-1", "3-5-2", "3-4-3", "3-4-1-2",
    "3-4-2-1", "3-1-4-2", "5-3-2", "5-4-1", "5-2-3",
)  # fmt: skip
OUTFIELD = 10

#: Places across of a line by its number of players, -1 to 1. Three are wide before or in the last line, else narrow.
_ACROSS: Mapping[int, tuple[float, ...]] = {
    1: (0.0,),
    2: (-0.25, 0.25),
    3: (-0.45, 0.0, 0.45),
    4: (-0.85, -0.27, 0.27, 0.85),
    5: (-0.92, -0.42, 0.0, 0.42, 0.92),
}
_WIDE_THREE = (-0.85, 0.0, 0.85)
#: A front three before wing-backs, who are wide themselves.
_NARROW_THREE = (-0.6, 0.0, 0.6)
#: How much farther forward the outer players of a line of four or five are, as a share of the length; the same of a
#: back five, whose wing-backs stand half a line ahead; how far back the outer players of a front three are. These and
#: the narrow three: ours, by the shapes of seeds 201 to 206.
_OUTER_FORWARD, _WING_BACKS_FORWARD, _WINGERS_BACK = 0.06, 0.24, 0.08
#: How far back the middle one of three or five midfielders stands: he holds. mplsoccer, from which EFPI has its
#: templates, has 0.24; ours, by 64 matches (seeds 201 to 240, balanced, and 901 to 924): frames right 0.94 without,
#: 0.96 with 0.1, 0.975 with 0.16, 0.95 with 0.24.
_HOLDING_BACK = 0.16

Floats = npt.NDArray[np.float64]
#: Of a player: looks, and sums of his places (forward, across).
Sums = tuple[int, float, float]


class FormationParameters(msgspec.Struct, frozen=True):
    """Looks and blocks of the formation.

    Attributes:
        look_us: time between two looks.
        block_us: live play of a block.
        blocks: newest blocks that means are taken over.
        hold_blocks: a shape must be the cheapest at so many blocks in a row.
        seen_share: a player counts who was there at this share of the looks.
        change_share: a shape replaces the published one if its cost is at most this share of that one's.
    """

    look_us: Annotated[int, reason("Ours: places nearer in time are not independent.")] = 1_000_000
    block_us: Annotated[int, reason("Ours.")] = 20_000_000
    blocks: Annotated[int, reason("Hierarchy 12.13: one to five minutes; three.")] = 9
    hold_blocks: Annotated[int, reason("Hierarchy 13.3: a shape holds for 60 s.")] = 3
    seen_share: Annotated[float, reason("Ours: a substitute counts after half of the time.")] = 0.5
    change_share: Annotated[
        float, reason("Ours: seeds 201 to 240, whose teams keep their shapes: no false change up to 0.9.")
    ] = 0.7


class Block(msgspec.Struct, frozen=True, gc=False):
    """Looks of a team: when they began, their number, and sums by player."""

    begin_us: int
    looks: int = 0
    sums: Mapping[str, Sums] = {}


class TeamShape(msgspec.Struct, frozen=True, gc=False):
    """A team: its blocks, the newest last and growing; the published shape; the cheapest one, since which block's
    begin, and at how many blocks in a row."""

    blocks: tuple[Block, ...] = ()
    shown: str = ""
    cheapest: str = ""
    since_us: int = 0
    held: int = 0


class FormationState(msgspec.Struct, frozen=True, gc=False):
    """State: both teams; the time from which on the next look is due."""

    home: TeamShape = TeamShape()
    away: TeamShape = TeamShape()
    due_us: int = -(2**62)


class Formation:
    """12.13: ``formation`` x 16 shapes x team: how a team's ten outfield players stand, over minutes of play.

    ``variant`` is the shape, lines from the back, such as ``4-2-3-1``. It is shown from when the shape began, and
    published after a minute of live play. ``detail``: ``since_us``, ``before`` (the team's shape so
    far, empty at first: with one, the formation has changed), ``cost`` (mean squared distance from the template, in
    variances of the places), ``next`` (the next cheapest shape), ``next_cost``.
    """

    def __init__(self, sheet: MatchSheet, parameters: FormationParameters | None = None) -> None:
        self.parameters = parameters or FormationParameters()
        self._keepers = keepers_of(sheet)
        self.spec = Spec(
            name="formation",
            number="12.13",
            level=12,
            inputs=("scene",),
            outputs=("formation",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="EFPI (templates, linear assignment); templates ours",
            needs="eleven players of a team; without, it has no formation",
            amends=("formation",),
            team_variants={"formation": SHAPES},
            covers=("13.3",),
            details={"formation": ("since_us", "before", "cost", "next", "next_cost")},
            known={"formation": Known("when it has held for a minute of play")},
        )

    def initial(self) -> FormationState:
        """No look."""
        _assignment()  # before the match begins
        return FormationState()

    def step(self, state: FormationState, event: Event) -> Step[FormationState]:
        """Look at both teams once a second of live play."""
        if event.ts_us < state.due_us:
            return state, NOTHING
        scene, p = payload_as(event, Scene), self.parameters
        due_us = event.ts_us // p.look_us * p.look_us + p.look_us
        if not scene.live or not scene.attacks_x:
            return msgspec.structs.replace(state, due_us=due_us), NOTHING
        home, first = self._look(state.home, scene, "home", event)
        away, second = self._look(state.away, scene, "away", event)
        return FormationState(home, away, due_us), (*first, *second)

    def _look(self, shape: TeamShape, scene: Scene, team: Team, event: Event) -> tuple[TeamShape, tuple[Event, ...]]:
        sign = scene.sign(team)
        players = outfield(scene.team(team), sign, self._keepers)[1]
        if len(players) != OUTFIELD:
            return shape, NOTHING
        blocks = shape.blocks or (Block(event.ts_us),)
        middle_x = sum(b.x_m for b in players) / OUTFIELD
        middle_y = sum(b.y_m for b in players) / OUTFIELD
        growing = blocks[-1]
        sums = dict(growing.sums)
        for body in players:
            looks, u, w = sums.get(body.object_id, (0, 0.0, 0.0))
            sums[body.object_id] = looks + 1, u + sign * (body.x_m - middle_x), w + sign * (body.y_m - middle_y)
        grown = Block(growing.begin_us, growing.looks + 1, sums)
        p = self.parameters
        if grown.looks < p.block_us // p.look_us:
            return msgspec.structs.replace(shape, blocks=(*blocks[:-1], grown)), NOTHING
        full = (*blocks[:-1], grown)[-p.blocks :]
        judged, out = self._judge(msgspec.structs.replace(shape, blocks=full), team, event)
        return msgspec.structs.replace(judged, blocks=(*full, Block(event.ts_us))[-p.blocks :]), out

    def _judge(self, shape: TeamShape, team: Team, event: Event) -> tuple[TeamShape, tuple[Event, ...]]:
        """Match the means with the templates."""
        means = self._means(shape.blocks)
        if means is None:
            return shape, NOTHING
        costs = sorted((cost(means, name), name) for name in SHAPES)
        (least, name), (after, follower) = costs[:2]
        if shape.shown and name != shape.shown:
            what, share = "cost as a share of the published shape's", least / cost(means, shape.shown)
            if not at_most(what, share, self.parameters.change_share, "formation.change_share", team):
                name = shape.shown
        same = name == shape.cheapest
        held, since_us = (shape.held + 1, shape.since_us) if same else (1, shape.blocks[-1].begin_us)
        now = TeamShape(shape.blocks, shape.shown, name, since_us, held)
        what, least_blocks = "blocks in a row of this shape", self.parameters.hold_blocks
        if name == shape.shown or not at_least(what, held, least_blocks, "formation.hold_blocks", team):
            return now, NOTHING
        first_us = shape.blocks[0].begin_us if not shape.shown else since_us
        detail: dict[str, Scalar] = {
            "since_us": first_us,
            "before": shape.shown,
            "cost": round(least, 4),
            "next": follower,
            "next_cost": round(after, 4),
        }
        payload = EventPayload(name, team, detail=detail)
        found = make_event("formation", event.ts_us, f"{team}:{event.ts_us}", payload, dated_us=first_us)
        return msgspec.structs.replace(now, shown=name), (found,)

    def _means(self, blocks: tuple[Block, ...]) -> Floats | None:
        """Mean places of the ten players who were there most; None if others were there as well, or fewer."""
        looks, u, w = Counter[str](), Counter[str](), Counter[str]()
        for block in blocks:
            for player, (seen, forward, across) in block.sums.items():
                looks[player] += seen
                u[player] += forward  # type: ignore[assignment]
                w[player] += across  # type: ignore[assignment]
        total = sum(block.looks for block in blocks)
        there = [p for p in sorted(looks) if looks[p] >= self.parameters.seen_share * total]
        if len(there) != OUTFIELD:
            return None
        return np.array([(u[p] / looks[p], w[p] / looks[p]) for p in there])


@cache
def _assignment() -> Callable[[Floats], tuple[Any, Any]]:
    """SciPy's solver. Its import takes half a second, which the process that only starts a match need not wait for."""
    from scipy.optimize import linear_sum_assignment

    return cast("Callable[[Floats], tuple[Any, Any]]", linear_sum_assignment)


def cost(means: Floats, shape: str) -> float:
    """Mean squared distance of ten places from a template, both scaled, under the best assignment."""
    places = scaled(means)
    squares = np.sum((places[:, None] - template(shape)[None]) ** 2, axis=2)
    return float(squares[np.arange(OUTFIELD), assigned(squares)].mean())


def assigned(squares: Floats) -> list[int]:
    """The place of each of ten players under the assignment with the least sum of costs, by a table of these."""
    cols: list[int] = _assignment()(squares)[1].tolist()
    return cols


def scaled(places: Floats) -> Floats:
    """Places about their mean, with a standard deviation of one, forward and across."""
    spread = places.std(axis=0)
    return np.asarray((places - places.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0))


@cache
def template(shape: str) -> Floats:
    """The ten places of a shape, forward and across, scaled."""
    counts = [int(part) for part in shape.split("-")]
    places = []
    for row, number in enumerate(counts):
        # The last line but one before a lone striker is as wide as a front three.
        front = row == len(counts) - 1 or (row == len(counts) - 2 and counts[-1] == 1 and row > 0)
        three = number == 3 and front and row > 0
        across = (_NARROW_THREE if counts[0] == 3 else _WIDE_THREE) if three else _ACROSS[number]
        for y in across:
            outer = 0.0
            if number >= 4 and abs(y) > 0.8:
                outer = _WING_BACKS_FORWARD if number == 5 and row == 0 else _OUTER_FORWARD
            elif three and row == len(counts) - 1 and y:
                outer = -_WINGERS_BACK
            holding = _HOLDING_BACK if row and number in (3, 5) and not three and not y else 0.0
            places.append((row / (len(counts) - 1) + outer - holding, y))
    return scaled(np.array(places))
