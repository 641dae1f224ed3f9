"""4.9: the lines that a team stands in: defence, midfield, attack.

Theory of operation
-------------------
Places along the pitch of all but the goalkeeper are cut into three groups, so that the places within a group are as
near to each other as they can be (least squares; over sorted places that is a choice of two cuts, at most 36 of them),
or into four where that leaves less than half of the squares; the two inner ones are then the midfield. Twice a
second is enough: a line moves at running speed. A line is told when it has stood elsewhere, or of others, for a second.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt
from numba import njit

from detectors.emission import make_event
from football.match_sheet import MatchSheet, Team
from football.payloads import EventPayload, Frame, Scalar, frame_of, published
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

LINES = ("defence", "midfield", "attack")
TEAMS: tuple[Team, Team] = ("home", "away")


class UnitLineParameters(msgspec.Struct, frozen=True):
    """``hold_us``: hierarchy 4.9. Ours: ``look_us``; ``step_m``: a line has moved by so much (a player's stride or two,
    and less than lines are apart); ``four_share``: four lines instead of three if they leave this share of the
    squares."""

    hold_us: int = 1_000_000
    look_us: int = 500_000
    step_m: float = 3.0
    four_share: float = 0.5


class UnitLine(msgspec.Struct, frozen=True, gc=False):
    """A line as told: its x, how many stand in it; since when it is elsewhere (-1: it is not)."""

    x_m: float
    players: int
    away_us: int = -1


class UnitState(msgspec.Struct, frozen=True, gc=False):
    """State: who attacks +x; time of the next look; lines told by ``team line``."""

    attacks: Team = ""
    due_us: int = -(2**62)
    told: dict[str, UnitLine] = {}


class UnitLines:
    """4.9: ``lines.changed`` x {defence, midfield, attack} x team.

    ``detail``: ``x_m`` of the line (mean of its players), ``players`` in it, ``lines`` (3 or 4). Nothing is told before
    it is known who attacks which goal, nor of a team of whose players less than four are seen.
    """

    def __init__(self, sheet: MatchSheet, parameters: UnitLineParameters | None = None) -> None:
        self.parameters = parameters or UnitLineParameters()
        self._keepers = frozenset(p.object_id for p in sheet.players if p.goalkeeper)
        unit_lines((0.0,) * 4, 1.0)  # once, so that the kernel is loaded now and not at the first look
        self.spec = Spec(
            name="unit_lines",
            number="4.9",
            level=4,
            inputs=("frame", "direction"),
            outputs=("lines.changed",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="EFPI; FIFA EFI (units)",
            team_variants={"lines.changed": LINES},
        )

    def initial(self) -> UnitState:
        """Nothing known."""
        return UnitState()

    def step(self, state: UnitState, event: Event) -> Step[UnitState]:
        """Looks at both teams if a look is due."""
        if event.kind == "direction":
            payload = published(event)
            # Changed ends turn defence into attack: what was told is void.
            return UnitState(payload.team, state.due_us), NOTHING
        if event.ts_us < state.due_us or not state.attacks:
            return state, NOTHING
        frame = frame_of(event)
        told = dict(state.told)
        out: list[Event] = []
        for team in TEAMS:
            self._look(frame, event, team, 1.0 if team == state.attacks else -1.0, told, out)
        return UnitState(state.attacks, event.ts_us + self.parameters.look_us, told), out or NOTHING

    def _look(
        self, frame: Frame, event: Event, team: Team, sign: float, told: dict[str, UnitLine], out: list[Event]
    ) -> None:
        places = [sign * b.x_m for b in frame.players if b.team == team and b.object_id not in self._keepers]
        if len(places) < 4:
            return
        groups, count = unit_lines(places, self.parameters.four_share)
        for name, group in zip(LINES, groups, strict=True):
            x_m = sign * sum(group) / len(group)
            before = told.get(f"{team} {name}")
            moved = before is None or abs(x_m - before.x_m) >= self.parameters.step_m or len(group) != before.players
            if before is not None and not moved:
                if before.away_us >= 0:
                    told[f"{team} {name}"] = UnitLine(before.x_m, before.players)
                continue
            since_us = before.away_us if before is not None and before.away_us >= 0 else event.ts_us
            if before is not None and event.ts_us - since_us < self.parameters.hold_us:
                told[f"{team} {name}"] = UnitLine(before.x_m, before.players, since_us)
                continue
            told[f"{team} {name}"] = UnitLine(x_m, len(group))
            detail: dict[str, Scalar] = {"x_m": round(x_m, 2), "players": len(group), "lines": count}
            payload = EventPayload(name, team, "", round(x_m, 2), detail=detail)
            out.append(make_event("lines.changed", event.ts_us, f"{team} {name}:{event.ts_us}", payload))


def unit_lines(places_m: Sequence[float], four_share: float) -> tuple[tuple[list[float], ...], int]:
    """Defence, midfield and attack as groups of places along a team's attack, and how many lines that are (3 or 4).

    Args:
        places_m: of at least four players, the own goal's side negative.
        four_share: see :class:`UnitLineParameters`.

    >>> unit_lines([-20, -21, 0, 1, -1, 15], 0.5)
    (([-21, -20], [-1, 0, 1], [15]), 3)
    """
    order = sorted(places_m)
    three, first, second, four, one, third = _cut(np.array(order))
    if four < four_share * three and len(order) > 4:
        return (order[:one], order[one:third], order[third:]), 4
    return (order[:first], order[first:second], order[second:]), 3


@njit(cache=True)
def _cut(order: npt.NDArray[np.float64]) -> tuple[float, int, int, float, int, int]:
    """The least squares that are left by three groups, and where the second and the third begin; the same of four
    groups, and where the second and the fourth begin. Of equal ways the first."""
    count = len(order)
    # Sums of places and of their squares up to each, so that a group's squares are a difference.
    sums, squares = np.zeros(count + 1), np.zeros(count + 1)
    for i in range(count):
        sums[i + 1] = sums[i] + order[i]
        squares[i + 1] = squares[i] + order[i] * order[i]
    # Of each group that there may be, once: it is part of many ways to cut.
    spread = np.zeros((count, count + 1))
    for i in range(count):
        for j in range(i + 1, count + 1):
            total = sums[j] - sums[i]
            spread[i, j] = squares[j] - squares[i] - total * total / (j - i)
    three = four = np.inf
    first = second = one = third = 0
    for a in range(1, count):
        for b in range(a + 1, count):
            inner = spread[0, a] + spread[a, b]
            if inner + spread[b, count] < three:
                three, first, second = inner + spread[b, count], a, b
            for c in range(b + 1, count):
                left = inner + spread[b, c] + spread[c, count]
                if left < four:
                    four, one, third = left, a, c
    return three, first, second, four, one, third
