"""Truth of 13.7: a team brings the ball into the attacking third or into the opponents' penalty area, and keeps it.

The ball's noiseless path gives the instants at which it enters and leaves the four zones, looked at every 20 ms. The
rows of play give contacts and stoppages. An entry is an entrance between two contacts of the team that attacks that
zone, in play, the second one before the ball has left it again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from football.pitch import (
    GOAL_AREA_HALF_WIDTH_M,
    PENALTY_AREA_DEPTH_M,
    PENALTY_AREA_HALF_WIDTH_M,
    Pitch,
)
from simulator.records import STEP_S, STEPS, PlayedInterval, Row
from simulator.truth.truth_table import Lines

#: A zone is left at this distance outside it (3.9).
LEAVE_M = 0.2


@dataclass(frozen=True)
class Change:
    """The ball enters or leaves a zone: ``zone`` third or box, ``end`` +1 at +x or -1."""

    t_s: float
    zone: str
    end: int
    inside: bool
    x_m: float
    y_m: float


@dataclass
class EntryTruth:
    """Truth of 13.7 of a match: zones interval by interval, entries once it is over."""

    pitch: Pitch
    _changes: list[Change] = field(default_factory=list)
    _inside: dict[tuple[str, int], bool] = field(default_factory=dict)

    def take(self, interval: PlayedInterval) -> None:
        """Follow the ball in play through an interval."""
        steps = np.arange(0, len(interval.active), STEPS)
        x, y = interval.balls[interval.active[steps], steps, :2].T
        half_m = self.pitch.half_length_m
        for end in (1, -1):
            for zone, line_m, wide_m in (
                ("third", half_m / 3, self.pitch.half_width_m),
                ("box", half_m - PENALTY_AREA_DEPTH_M, PENALTY_AREA_HALF_WIDTH_M),
            ):
                depth_m = np.minimum(np.minimum(end * x - line_m, half_m - end * x), wide_m - np.abs(y))
                self._follow(zone, end, depth_m, interval.begin_s + steps * STEP_S, x, y)

    def _follow(self, zone: str, end: int, depth_m: np.ndarray, t_s: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
        """Note where a depth inside a zone changes its sign, with the margin to leave it."""
        now = self._inside.get((zone, end), bool(depth_m[0] >= 0.0) if len(depth_m) else False)
        for at in np.flatnonzero((depth_m >= 0.0) | (depth_m < -LEAVE_M)).tolist():
            inside = bool(depth_m[at] >= 0.0)
            if inside != now:
                now = inside
                self._changes.append(Change(float(t_s[at]), zone, end, inside, float(x[at]), float(y[at])))
        self._inside[zone, end] = now

    def finish(
        self, rows: Sequence[Row], until_s: float, attacks: Mapping[int, tuple[float, float]], lines: Lines
    ) -> None:
        """Add the entries of a match.

        Args:
            rows: of the whole match; those before ``until_s`` count.
            attacks: period -> (home's, away's) direction of attack, +1 towards +x.
            lines: receives the lines.
        """
        moments: list[tuple[float, int, Row | Change]] = [(c.t_s, 1, c) for c in self._changes]
        kinds = ("hit", "touch", "play.dead", "play.live", "period.start")
        moments += [(row.t_s, 0, row) for row in rows if row.kind in kinds and row.t_s < until_s]
        contact: Row | None = None
        live, period, entrances = False, 1, list[Change]()
        for _, _, moment in sorted(moments, key=lambda m: m[:2]):
            if isinstance(moment, Change):
                entrances = [e for e in entrances if (e.zone, e.end) != (moment.zone, moment.end)]
                if moment.inside and live:
                    entrances.append(moment)
            elif moment.kind == "period.start":
                period = int(moment.variant) if moment.variant.isdecimal() else period
            elif moment.kind == "play.dead":
                contact, live, entrances = None, False, []
            elif moment.kind == "play.live":
                live = True
            else:
                if live and contact is not None and contact.team == moment.team:
                    towards = attacks.get(period, (1.0, -1.0))[0 if moment.team == "home" else 1]
                    for entrance in entrances:
                        if entrance.end == towards:
                            _add(entrance, contact, moment, lines)
                contact, entrances = moment, []


def _add(entrance: Change, before: Row, after: Row, lines: Lines) -> None:
    across_m = entrance.y_m * entrance.end
    inner = PENALTY_AREA_HALF_WIDTH_M
    strip = "centre lane"
    if abs(across_m) > GOAL_AREA_HALF_WIDTH_M:
        side = "left" if across_m > 0 else "right"
        strip = f"{side} half-space" if abs(across_m) <= inner or entrance.zone == "box" else f"{side} wing"
    how = "carry" if before.person == after.person else "pass"
    lines.add(
        "entry",
        entrance.t_s,
        before.person,
        (entrance.x_m, entrance.y_m, float("nan")),
        f"{entrance.zone}, {strip}",
        detail={"how": how},
    )
