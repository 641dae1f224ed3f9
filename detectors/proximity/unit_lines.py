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
from itertools import combinations

import msgspec

from detectors.facts import Fact, Scalar, fact_event
from detectors.inputs import MatchSheet, Team
from detectors.states import Frame
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
            fact = event.payload
            assert isinstance(fact, Fact)
            # Changed ends turn defence into attack: what was told is void.
            return UnitState(fact.team, state.due_us), NOTHING
        if event.ts_us < state.due_us or not state.attacks:
            return state, NOTHING
        frame = event.payload
        assert isinstance(frame, Frame)
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
            fact = Fact(name, team, "", round(x_m, 2), detail=detail)
            out.append(fact_event("lines.changed", event.ts_us, f"{team} {name}:{event.ts_us}", fact))


def unit_lines(places_m: Sequence[float], four_share: float) -> tuple[tuple[list[float], ...], int]:
    """Defence, midfield and attack as groups of places along a team's attack, and how many lines that are (3 or 4).

    Args:
        places_m: of at least four players, the own goal's side negative.
        four_share: see :class:`UnitLineParameters`.

    >>> unit_lines([-20, -21, 0, 1, -1, 15], 0.5)
    (([-21, -20], [-1, 0, 1], [15]), 3)
    """
    order = sorted(places_m)
    # Sums of places and of their squares up to each, so that a group's squares are a difference.
    sums, squares = [0.0], [0.0]
    for place_m in order:
        sums.append(sums[-1] + place_m)
        squares.append(squares[-1] + place_m * place_m)

    def spread(first: int, stop: int) -> float:
        total = sums[stop] - sums[first]
        return squares[stop] - squares[first] - total * total / (stop - first)

    count = len(order)
    # Of each group that there may be, once: it is part of many ways to cut.
    spreads = [[spread(first, stop) if first < stop else 0.0 for stop in range(count + 1)] for first in range(count)]
    whole, inner = spreads[0], range(1, count)
    three = min([(whole[a] + spreads[a][b] + spreads[b][count], a, b) for a, b in combinations(inner, 2)])
    four = min(
        [(whole[a] + spreads[a][b] + spreads[b][c] + spreads[c][count], a, b, c) for a, b, c in combinations(inner, 3)]
    )
    if four[0] < four_share * three[0] and len(order) > 4:
        _, first, _, third = four
        return (order[:first], order[first:third], order[third:]), 4
    _, first, second = three
    return (order[:first], order[first:second], order[second:]), 3
