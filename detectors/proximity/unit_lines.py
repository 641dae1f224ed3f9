"""4.9: the unit lines of a team: defence, midfield, attack.

Theory of operation
-------------------
The positions along the pitch of all but the goalkeeper are cut into three groups, so that the positions within a group
are as near to each other as they can be (least squares; over sorted positions that is a choice of two cuts, at most 36
of them), or into four where that leaves less than half of the squares; the two inner ones are then the midfield. Twice
a second is enough: a line moves at running speed. A line is reported when it has stood elsewhere, or of other numbers,
for a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec
import numpy as np

from detectors.decisions import at_least
from detectors.emission import make_event
from detectors.reasons import reason
from detectors.signals.kernels.grouping_kernel import best_groups
from football.match_sheet import TEAMS, MatchSheet, Team
from football.payloads import EventPayload, Frame, Scalar, frame_of, payload_of
from middleware.detector import NOTHING, Spec, Step
from middleware.events import Event

LINES = ("defence", "midfield", "attack")


class UnitLineParameters(msgspec.Struct, frozen=True):
    """Lines of a team.

    Attributes:
        hold_us: how long a change must hold.
        look_us: time between measurements.
        step_m: least movement of a line.
        four_share: four lines replace three if they leave less than this share of the squares.
    """

    hold_us: Annotated[int, reason("hierarchy 4.9")] = 1_000_000
    look_us: Annotated[int, reason("ours")] = 500_000
    step_m: Annotated[float, reason("ours: a player's stride or two, and less than lines are apart")] = 3.0
    four_share: Annotated[float, reason("ours")] = 0.5


class UnitLine(msgspec.Struct, frozen=True, gc=False):
    """A line as reported: its x and number of players; since when it has changed (-1: it has not)."""

    x_m: float
    players: int
    away_us: int = -1


class UnitState(msgspec.Struct, frozen=True, gc=False):
    """State: the team that attacks +x; time of the next measurement; reported lines by ``team line``."""

    attacks: Team = ""
    due_us: int = -(2**62)
    reported: dict[str, UnitLine] = {}


class UnitLines:
    """4.9: ``lines.changed`` x {defence, midfield, attack} x team.

    ``detail``: ``x_m`` of the line (mean of its players), ``players`` in it, ``lines`` (3 or 4). Nothing is
    reported before the directions of play are known, nor of a team with less than four players.
    """

    def __init__(self, sheet: MatchSheet, parameters: UnitLineParameters | None = None) -> None:
        self.parameters = parameters or UnitLineParameters()
        self._keepers = frozenset(p.object_id for p in sheet.players if p.goalkeeper)
        unit_lines((0.0,) * 4, 1.0)  # loads the kernel before the first frame
        self.spec = Spec(
            name="unit_lines",
            number="4.9",
            level=4,
            inputs=("frame", "direction"),
            outputs=("lines.changed",),
            parameters=msgspec.structs.asdict(self.parameters),
            source="EFPI; FIFA EFI (units)",
            team_variants={"lines.changed": LINES},
            details={"lines.changed": ("x_m", "players", "lines")},
        )

    def initial(self) -> UnitState:
        """No line yet."""
        return UnitState()

    def step(self, state: UnitState, event: Event) -> Step[UnitState]:
        """Measure both teams if it is time."""
        if event.kind == "direction":
            payload = payload_of(event)
            # Changed ends turn defence into attack: the reported lines are void.
            return UnitState(payload.team, state.due_us), NOTHING
        if event.ts_us < state.due_us or not state.attacks:
            return state, NOTHING
        frame = frame_of(event)
        reported = dict(state.reported)
        out: list[Event] = []
        for team in TEAMS:
            self._look(frame, event, team, 1.0 if team == state.attacks else -1.0, reported, out)
        return UnitState(state.attacks, event.ts_us + self.parameters.look_us, reported), out or NOTHING

    def _look(
        self, frame: Frame, event: Event, team: Team, sign: float, reported: dict[str, UnitLine], out: list[Event]
    ) -> None:
        places = [sign * b.x_m for b in frame.players if b.team == team and b.object_id not in self._keepers]
        if len(places) < 4:
            return
        groups, count = unit_lines(places, self.parameters.four_share)
        for name, group in zip(LINES, groups, strict=True):
            x_m = sign * sum(group) / len(group)
            before = reported.get(f"{team} {name}")
            moved = before is None or abs(x_m - before.x_m) >= self.parameters.step_m or len(group) != before.players
            if before is not None and not moved:
                if before.away_us >= 0:
                    reported[f"{team} {name}"] = UnitLine(before.x_m, before.players)
                continue
            since_us = before.away_us if before is not None and before.away_us >= 0 else event.ts_us
            p, held_us, about = self.parameters, event.ts_us - since_us, (team, name)
            if before is not None:
                if not at_least("time that it holds", held_us, p.hold_us, "unit_lines.hold_us", about):
                    reported[f"{team} {name}"] = UnitLine(before.x_m, before.players, since_us)
                    continue
                at_least("movement of the line", abs(x_m - before.x_m), p.step_m, "unit_lines.step_m", about)
            reported[f"{team} {name}"] = UnitLine(x_m, len(group))
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
    three, first, second, four, one, third = best_groups(np.array(order))
    if four < four_share * three and len(order) > 4:
        return (order[:one], order[one:third], order[third:]), 4
    return (order[:first], order[first:second], order[second:]), 3
