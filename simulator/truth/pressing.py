"""Truth of 11.6, 11.7, 12.2 and 12.4: what teams do when they have lost the ball, and when they press together.

Noiseless positions are looked at every fifth of a second, the rows of play give gains and stoppages. Definitions are
those of ``football.truth_kinds``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from football.packet_table import Floats
from simulator.records import AWAY, HOME, KEEPERS, TICK_S, Col, PlayedInterval, Row
from simulator.truth.truth_table import Lines

#: Ticks between two looks.
EVERY = 10
#: 11.6: reach, speed towards the ball, time to close in, time to win.
COUNTER_M, CLOSING_M_S, COUNTER_S, WON_S = 3.0, 2.0, 2.0, 5.0
#: 12.2: speed towards the own goal, duration, time from the loss to the begin.
BACK_M_S, BACK_S, BACK_WITHIN_S = 5.0, 1.0, 10.0
#: 12.4: players, reach, duration until it counts, time without until it is over.
PRESSING, PRESS_M, PRESS_S, PRESS_OVER_S = 3, 20.0, 0.6, 1.0
#: 11.7: time and distance from the header.
SECOND_S, SECOND_M = 3.0, 10.0

_SIDES = {"home": HOME, "away": AWAY}
_OTHER = {"home": "away", "away": "home"}


@dataclass(frozen=True)
class Look:
    """Positions and velocities (persons x 4, NaN for those who do not play) and the ball's position at an instant."""

    t_s: float
    persons: Floats
    ball: Floats

    def towards_m_s(self) -> tuple[Floats, Floats]:
        """Return distance from the ball, and speed towards it, of each person."""
        way = self.ball - self.persons[:, :2]
        away_m = np.hypot(way[:, 0], way[:, 1])
        return away_m, (self.persons[:, 2:] * way).sum(axis=1) / np.maximum(away_m, 0.1)


@dataclass
class PressingTruth:
    """Truth of a match: ``looks`` interval by interval, events once it is over."""

    looks: list[Look] = field(default_factory=list)

    def take(self, interval: PlayedInterval, playing: np.ndarray) -> None:
        """Remember the looks of an interval; ``playing``: who is on the pitch."""
        numbers = np.rint(interval.ticks_s / TICK_S).astype(int)
        inside = (interval.ticks_s > interval.begin_s - 1e-9) & (interval.ticks_s < interval.end_s - 1e-9)
        steps = len(interval.active) / (interval.end_s - interval.begin_s)
        for tick in np.flatnonzero(inside & (numbers % EVERY == 0)).tolist():
            t_s = float(numbers[tick]) * TICK_S
            step = min(max(round((t_s - interval.begin_s) * steps), 0), len(interval.active) - 1)
            persons = interval.persons[tick][:, [Col.X, Col.Y, Col.VX, Col.VY]].copy()
            persons[~playing] = np.nan
            self.looks.append(Look(t_s, persons, interval.balls[interval.active[step], step, :2].copy()))

    def finish(
        self, rows: Sequence[Row], until_s: float, attacks: Mapping[int, tuple[float, float]], lines: Lines
    ) -> None:
        """Add the lines of a match.

        Args:
            rows: of the whole match; those before ``until_s`` count.
            attacks: period -> (home's, away's) direction of attack, +1 towards +x.
            lines: receives the lines.
        """
        kinds = ("possession.gain", "play.dead", "play.live", "period.start", "aerial.won")
        moments: list[tuple[float, int, int, Row | Look]] = [
            (row.t_s, 0, n, row) for n, row in enumerate(rows) if row.kind in kinds and row.t_s < until_s
        ]
        moments += [(look.t_s, 1, n, look) for n, look in enumerate(self.looks)]
        followed = _Followed(lines, attacks)
        for _, _, _, moment in sorted(moments, key=lambda m: m[:3]):
            if isinstance(moment, Look):
                followed.look(moment)
            else:
                followed.row(moment)


@dataclass
class _Followed:
    """State while looks and rows are followed in order of time."""

    lines: Lines
    attacks: Mapping[int, tuple[float, float]]
    period: int = 1
    live: bool = False
    team: str = ""
    lost_s: float | None = None
    pressed: bool = False
    back_since_s: dict[int, float] = field(default_factory=dict)
    ran_back: set[int] = field(default_factory=set)
    press_since_s: float | None = None
    press_last_s: float = 0.0
    press_begun: bool = False
    header: Row | None = None

    def row(self, row: Row) -> None:
        """Follow a row of play."""
        if row.kind == "period.start":
            self.period = int(row.variant) if row.variant.isdecimal() else self.period
        elif row.kind == "play.live":
            self.live = True
        elif row.kind == "play.dead":
            self._end_press(row.t_s)
            self.live, self.team, self.lost_s, self.header = False, "", None, None
        elif row.kind == "aerial.won":
            self.header = row
        else:
            self._gained(row)

    def _gained(self, row: Row) -> None:
        self._second_ball(row)
        if row.team == self.team:
            return
        lost = bool(self.team) and row.variant != "restart"
        if lost and self.pressed and self.lost_s is not None and row.t_s - self.lost_s <= WON_S:
            self.lines.add("counterpress.won", row.t_s, row.person, row.position)
        self._end_press(row.t_s)
        self.team, self.lost_s = row.team, row.t_s if lost else None
        self.pressed, self.back_since_s, self.ran_back = False, {}, set()

    def _second_ball(self, row: Row) -> None:
        header = self.header
        if header is None or row.t_s <= header.t_s or row.person == header.person:
            return
        self.header = None
        if row.t_s - header.t_s <= SECOND_S and math.dist(row.position[:2], header.position[:2]) <= SECOND_M:
            self.lines.add("secondball", row.t_s, row.person, row.position)

    def _end_press(self, t_s: float) -> None:
        if self.press_begun:
            self.lines.add("press.team.end", t_s, -1, team=_OTHER[self.team])
        self.press_since_s, self.press_begun = None, False

    def look(self, look: Look) -> None:
        """Follow the positions of an instant."""
        if not self.live or not self.team:
            return
        loser = _OTHER[self.team]
        side = _SIDES[loser]
        away_m, towards_m_s = (values[side] for values in look.towards_m_s())
        if self.lost_s is not None:
            self._counter_press(look, side, away_m, towards_m_s)
            self._run_back(look, side, loser)
        closing = int(np.sum((away_m <= PRESS_M) & (towards_m_s >= CLOSING_M_S)))
        self._press(look.t_s, closing, loser)

    def _counter_press(self, look: Look, side: slice, away_m: Floats, towards_m_s: Floats) -> None:
        assert self.lost_s is not None
        close = np.flatnonzero((away_m <= COUNTER_M) & (towards_m_s >= CLOSING_M_S))
        if self.pressed or look.t_s - self.lost_s > COUNTER_S or not len(close):
            return
        self.pressed = True
        person = int(close[0]) + side.start
        x_m, y_m = look.persons[person, :2].tolist()
        self.lines.add("counterpress.start", look.t_s, person, (x_m, y_m, math.nan))

    def _run_back(self, look: Look, side: slice, loser: str) -> None:
        assert self.lost_s is not None
        towards = self.attacks.get(self.period, (1.0, -1.0))[0 if loser == "home" else 1]
        persons = look.persons[side]
        back = np.flatnonzero(-towards * persons[:, 2] >= BACK_M_S)
        since_s: dict[int, float] = {}
        for row in back.tolist():
            person = row + side.start
            if person in self.ran_back or person in KEEPERS:
                continue
            ahead = towards * (persons[row, 0] - look.ball[0]) > 0.0
            if person in self.back_since_s:
                since_s[person] = self.back_since_s[person]
            elif ahead and look.t_s - self.lost_s <= BACK_WITHIN_S:
                since_s[person] = look.t_s
            if look.t_s - since_s.get(person, look.t_s) >= BACK_S - 1e-6:
                self.ran_back.add(person)
                self.lines.add("run.recovery", since_s[person], person, (*persons[row, :2].tolist(), math.nan))
        self.back_since_s = since_s

    def _press(self, t_s: float, closing: int, presses: str) -> None:
        if closing >= PRESSING:
            self.press_since_s = t_s if self.press_since_s is None else self.press_since_s
            self.press_last_s = t_s
            if not self.press_begun and t_s - self.press_since_s >= PRESS_S - 1e-6:
                self.press_begun = True
                self.lines.add("press.team.start", self.press_since_s, -1, team=presses)
        elif not self.press_begun:
            self.press_since_s = None
        elif t_s - self.press_last_s >= PRESS_OVER_S - 1e-6:
            self._end_press(self.press_last_s)
