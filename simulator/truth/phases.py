"""Truth of 13.1 and 13.2: the phase of the team with the ball, and of the other one.

Conditions are those of ``docs/detectors.md`` (13.1), over the noiseless looks of :mod:`simulator.truth.pressing` and
the true chains, counter-attacks, presses and long passes. A phase must last for ``HOLD_S``, and is dated at its begin.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from football.pitch import Pitch
from simulator.records import AWAY, HOME, KEEPERS
from simulator.truth.pressing import Look
from simulator.truth.truth_table import NOWHERE, Line, Lines

HOLD_S = 2.0
SET_PIECE_S, TRANSITION_S, LONG_S = 10.0, 5.0, 3.0
OPPOSED_M = 8.0
#: Players ahead of the ball in a recovery; bands of the mean height of the rearmost four.
BEATEN, LAST_LINE, LOW_M, HIGH_M = 5, 4, 25.0, 40.0
_SET_PIECES = ("restart.corner", "restart.free_kick", "restart.penalty")
_SIDES = {"home": HOME, "away": AWAY}
_OTHER = {"home": "away", "away": "home"}
_KINDS = (
    "chain.start", "counter.start", "counterpress.start", "press.team.start", "press.team.end", "pass.len",
    "play.dead", "play.live", "period.start", *_SET_PIECES,
)  # fmt: skip


@dataclass
class Lasting:
    """A phase of a team: the one that was shown, the one now, and since when."""

    kind: str
    shown: str = ""
    now: str = ""
    since_s: float = 0.0

    def follow(self, phase: str, team: str, t_s: float, lines: Lines) -> None:
        """Take the phase of an instant; add a line once it has lasted."""
        if phase != self.now:
            self.now, self.since_s = phase, t_s
        if phase and phase != self.shown and t_s - self.since_s >= HOLD_S - 1e-6:
            self.shown = phase
            lines.add(self.kind, self.since_s, -1, NOWHERE, phase, team=team)


class PhaseTruth:
    """Follows lines and looks in order of time.

    Args:
        pitch: of the match.
        attacks: period -> (home's, away's) direction of attack, +1 towards +x.
    """

    def __init__(self, pitch: Pitch, attacks: Mapping[int, tuple[float, float]]) -> None:
        self._pitch, self._attacks = pitch, attacks
        self._period, self._live, self._live_s = 1, False, -math.inf
        self._restart: Line | None = None
        self._begin("", -math.inf, "")

    def _begin(self, team: str, t_s: float, began: str) -> None:
        self._team, self._since_s, self._began = team, t_s, began
        self._counter = self._pressing = False
        self._long_s = self._pressed_s = -math.inf
        self._phases = Lasting("phase.in"), Lasting("phase.out")

    def follow(self, looks: Sequence[Look], lines: Lines) -> None:
        """Add the phases of a match whose other lines are all there."""
        moments: list[tuple[float, int, int, Line | Look]] = [
            (line.t_s, 0, n, line) for n, line in enumerate(lines.of(*_KINDS))
        ]
        moments += [(look.t_s, 1, n, look) for n, look in enumerate(looks)]
        for _, _, _, moment in sorted(moments, key=lambda m: m[:3]):
            if isinstance(moment, Look):
                self._look(moment, lines)
            else:
                self._line(moment)

    def _line(self, line: Line) -> None:
        own = line.team == self._team
        if line.kind == "period.start":
            self._period = int(line.variant) if line.variant.isdecimal() else self._period
        elif line.kind in ("play.live", "play.dead"):
            self._live, self._live_s = line.kind == "play.live", line.t_s
            if not self._live:
                self._begin("", -math.inf, "")
        elif line.kind == "chain.start":
            restart = self._restart
            piece = restart.kind if restart is not None and restart.t_s == line.t_s else ""
            self._begin(line.team, line.t_s, piece or ("gain" if line.t_s > self._live_s else ""))
        elif line.kind in _SET_PIECES:
            self._restart = line
        elif line.kind == "counter.start":
            self._counter = own
        elif line.kind == "counterpress.start" and not own:
            self._pressed_s = line.t_s
        elif line.kind == "pass.len" and own and line.variant == "long":
            self._long_s = line.t_s
        elif line.kind.startswith("press.team.") and not own:
            self._pressing = line.kind == "press.team.start"

    def _look(self, look: Look, lines: Lines) -> None:
        if not self._live or not self._team:
            return
        inside, outside = self._phases
        inside.follow(self._with_ball(look), self._team, look.t_s, lines)
        outside.follow(self._without(look), _OTHER[self._team], look.t_s, lines)

    def _sign(self, team: str) -> float:
        return self._attacks.get(self._period, (1.0, -1.0))[0 if team == "home" else 1]

    def _with_ball(self, look: Look) -> str:
        since_s = look.t_s - self._since_s
        if self._began in _SET_PIECES and since_s <= SET_PIECE_S:
            return "set piece"
        if self._counter:
            return "counter"
        if self._began == "gain" and since_s <= TRANSITION_S:
            return "transition"
        if look.t_s - self._long_s <= LONG_S:
            return "long ball"
        third_m = 2.0 * self._pitch.half_length_m / 3.0
        from_own_m = self._sign(self._team) * look.ball[0] + self._pitch.half_length_m
        if from_own_m > 2.0 * third_m:
            return "final third"
        if from_own_m >= third_m:
            return "progression"
        away_m = look.towards_m_s()[0][_SIDES[_OTHER[self._team]]]
        return "build-up opposed" if np.nanmin(away_m, initial=math.inf) <= OPPOSED_M else "build-up unopposed"

    def _without(self, look: Look) -> str:
        if look.t_s - self._pressed_s <= TRANSITION_S:
            return "counter-press"
        if self._began == "gain" and look.t_s - self._since_s <= TRANSITION_S:
            return "transition"
        team = _OTHER[self._team]
        side, sign = _SIDES[team], self._sign(team)
        heights = sorted(
            sign * look.persons[n, 0] + self._pitch.half_length_m
            for n in range(side.start, side.stop)
            if n not in KEEPERS and not math.isnan(look.persons[n, 0])
        )
        ball_m = sign * look.ball[0] + self._pitch.half_length_m
        if ball_m < self._pitch.half_length_m and sum(height > ball_m for height in heights) >= BEATEN:
            return "recovery"
        if not heights:
            return ""
        line_m = float(np.mean(heights[:LAST_LINE]))
        band = "low" if line_m < LOW_M else "mid" if line_m < HIGH_M else "high"
        return f"{band} {'press' if self._pressing else 'block'}"
