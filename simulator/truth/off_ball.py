"""Truth of 12.1, 12.3, 12.5 and 12.6: runs off the ball, answers to cues, offside traps, overloads.

The looks of :mod:`simulator.truth.pressing` give everybody's noiseless position every fifth of a second, the rows of
play give gains, passes and stoppages. Definitions are those of ``football.truth_kinds``.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from football.packet_table import Floats
from football.pitch import GOAL_AREA_HALF_WIDTH_M, PENALTY_AREA_DEPTH_M, PENALTY_AREA_HALF_WIDTH_M, Pitch
from simulator.records import AWAY, HOME, KEEPERS, Row, object_id
from simulator.truth.pressing import Look
from simulator.truth.truth_table import Lines

#: A ball so near to the player who gained it is at his feet.
FEET_M = 3.0
#: 12.1: speed, duration; a mate so near across is overlapped.
RUN_M_S, RUN_S, NEAR_MATE_M = 4.0, 0.7, 15.0
#: 12.3: metres back, off the touch line, of a slow pass and its speed; ball from the player within a time; the answer.
BACK_M, EDGE_M, SLOW_FROM_M, SLOW_M_S = 5.0, 6.0, 10.0, 7.5
TOUCH_M, TOUCH_S = 2.0, 0.6
ANSWER_S, ANSWER_M_S2 = (0.6, 1.0), 2.0
#: 12.5: the line's mean speed over the time before the kick.
STEP_UP_M_S, STEP_UP_S = 1.5, 1.0
#: 12.6: players more, distance, duration.
MORE, REACH_M, OVERLOAD_S = 2, 15.0, 1.0

LANES = ("left wing", "left half-space", "centre lane", "right half-space", "right wing")
_SIDES = {"home": HOME, "away": AWAY}
_OTHER = {"home": "away", "away": "home"}
_KEEPER_IDS = frozenset(object_id(row) for row in KEEPERS)
_NOWHERE = (math.nan, math.nan)


def strip_of(across_m: Floats | float) -> np.ndarray:
    """Return the number of the lane (0 to 4, from the left) of places across, as their team sees the pitch."""
    bounds = (PENALTY_AREA_HALF_WIDTH_M, GOAL_AREA_HALF_WIDTH_M, -GOAL_AREA_HALF_WIDTH_M, -PENALTY_AREA_HALF_WIDTH_M)
    return np.asarray(sum(np.asarray(across_m) < bound for bound in bounds))


@dataclass(frozen=True)
class Moment:
    """A runner at a look: he, the ball, and the mate with the ball as (along, across); the other side's last line."""

    t_s: float
    runner: tuple[float, float]
    ball: tuple[float, float]
    mate: tuple[float, float]
    line_m: float


@dataclass
class OffBallTruth:
    """State while looks and rows are followed in order of time; ``rows`` are those of the whole match."""

    pitch: Pitch
    rows: Sequence[Row]
    attacks: Mapping[int, tuple[float, float]]
    lines: Lines
    _period: int = 1
    _live: bool = False
    _restarts_s: set[float] = field(default_factory=set)
    _team: str = ""
    _gain: Row | None = None
    _mate: tuple[float, float] = _NOWHERE
    _runs: dict[int, list[Moment]] = field(default_factory=dict)
    _overload: tuple[str, int, float] = ("", -1, 0.0)
    _overload_shown: bool = False
    _cue: tuple[str, Row] | None = None
    _answer: tuple[int, float, float] | None = None
    _touch: Row | None = None
    _seen: list[Look] = field(default_factory=list)
    _times_s: list[float] = field(default_factory=list)
    _last_lines: list[tuple[float, float]] = field(default_factory=list)
    _trapped_s: float = -math.inf

    def follow(self, looks: Sequence[Look], until_s: float) -> None:
        """Add the lines of a match: of its looks, and of its rows before ``until_s``."""
        kinds = ("possession.gain", "play.dead", "play.live", "period.start", "pass.attempt", "shot.attempt",
                 "pass.complete", "offside.offence")  # fmt: skip
        moments: list[tuple[float, int, int, Row | Look]] = [
            (row.t_s, 0, n, row) for n, row in enumerate(self.rows) if row.kind in kinds and row.t_s < until_s
        ]
        moments += [(look.t_s, 1, n, look) for n, look in enumerate(looks)]
        self._restarts_s = {row.t_s for row in self.rows if row.kind == "play.live"}
        for _, _, _, moment in sorted(moments, key=lambda m: m[:3]):
            if isinstance(moment, Look):
                self._look(moment)
            else:
                self._row(moment)

    def _sign(self, team: str) -> float:
        return self.attacks.get(self._period, (1.0, -1.0))[0 if team == "home" else 1]

    def _row(self, row: Row) -> None:
        if row.kind == "period.start":
            self._period = int(row.variant) if row.variant.isdecimal() else self._period
        elif row.kind == "play.live":
            self._live = True
        elif row.kind == "play.dead":
            self._change_team("")
            self._live, self._gain, self._cue, self._touch = False, None, None, None
            self._overload, self._overload_shown = ("", -1, 0.0), False
        elif row.kind == "possession.gain":
            self._change_team(row.team)
            self._gain = row
            self._touch = None if row.t_s in self._restarts_s else row
            if self._cue is not None and self._cue[1].team != row.team:
                self._cue = None
        elif row.kind == "pass.complete":
            variant = self._pass_cue(row)
            self._cue, self._answer = ((variant, row) if variant else None), None
            self._judge_trap(row, "beaten")
        elif row.kind == "offside.offence":
            position = next((self.rows[c] for c in row.causes if self.rows[c].kind == "offside.position"), None)
            if position is not None:
                self._judge_trap(position, "sprung")
        else:
            self._touch = None

    def _change_team(self, team: str) -> None:
        if team != self._team:
            self._end_runs(list(self._runs))
            self._team, self._mate, self._runs = team, _NOWHERE, {}

    def _look(self, look: Look) -> None:
        self._keep_lines(look)
        if not self._live or not self._team:
            return
        side, sign = _SIDES[self._team], self._sign(self._team)
        ball = (sign * look.ball[0], sign * look.ball[1])
        holder = self._holder(look)
        if holder is not None:
            self._mate = ball
        line_m = self._last_line(look, _OTHER[self._team], sign)
        if line_m is not None:
            self._run(look, side, sign, holder, ball, line_m)
        self._count(look, holder, ball, sign)
        self._judge_touch(look)
        self._judge_answer(look)

    def _holder(self, look: Look) -> int | None:
        """Return who has the ball at his feet."""
        if self._gain is None:
            return None
        x_m, y_m = look.persons[self._gain.person, :2]
        return self._gain.person if math.hypot(x_m - look.ball[0], y_m - look.ball[1]) <= FEET_M else None

    def _last_line(self, look: Look, team: str, sign: float) -> float | None:
        """Return the place along the pitch of the rearmost outfield player of a team, as the side of ``sign`` sees."""
        side = _SIDES[team]
        along = [sign * look.persons[n, 0] for n in range(side.start, side.stop) if n not in KEEPERS]
        there = [u for u in along if not math.isnan(u)]
        return max(there) if there else None

    # -- 12.1

    def _run(
        self, look: Look, side: slice, sign: float, holder: int | None, ball: tuple[float, float], line_m: float
    ) -> None:
        speeds = np.hypot(look.persons[side, 2], look.persons[side, 3])
        fast = [n + side.start for n in np.flatnonzero(speeds >= RUN_M_S).tolist()]
        running = {n for n in fast if n != holder and n not in KEEPERS}
        self._end_runs([n for n in self._runs if n not in running])
        for n in running:
            runner = (sign * look.persons[n, 0], sign * look.persons[n, 1])
            self._runs.setdefault(n, []).append(Moment(look.t_s, runner, ball, self._mate, line_m))

    def _end_runs(self, persons: Sequence[int]) -> None:
        for person in persons:
            run = self._runs.pop(person)
            if run[-1].t_s - run[0].t_s < RUN_S - 1e-6:
                continue
            sign = self._sign(self._team)
            along, across = run[-1].runner
            place = (sign * along, sign * across, math.nan)
            self.lines.add("run", run[0].t_s, person, place, run_class(run[0], run[-1], self.pitch))

    # -- 12.6

    def _count(self, look: Look, holder: int | None, ball: tuple[float, float], sign: float) -> None:
        if holder is None:
            return
        here = int(strip_of(ball[1]))
        away_m = np.hypot(look.persons[:, 0] - look.ball[0], look.persons[:, 1] - look.ball[1])
        near = (away_m <= REACH_M) & (strip_of(sign * look.persons[:, 1]) == here)
        more = int(near[_SIDES[self._team]].sum() - near[_SIDES[_OTHER[self._team]]].sum())
        if more < MORE:
            self._overload, self._overload_shown = ("", -1, 0.0), False
            return
        if self._overload[:2] != (self._team, here):
            self._overload, self._overload_shown = (self._team, here, look.t_s), False
        since_s = self._overload[2]
        if not self._overload_shown and look.t_s - since_s >= OVERLOAD_S - 1e-6:
            self._overload_shown = True
            place = (*look.ball.tolist(), math.nan)
            self.lines.add("overload", since_s, -1, place, LANES[here], team=self._team)

    # -- 12.3

    def _pass_cue(self, row: Row) -> str:
        """Return the kind of cue that a completed pass is; empty if it is none."""
        kick = next((self.rows[c] for c in row.causes if self.rows[c].kind == "pass.attempt"), None)
        if kick is None:
            return ""
        sign = self._sign(row.team)
        length_m = math.dist(kick.position[:2], row.position[:2])
        if row.detail.get("receiver") in _KEEPER_IDS:
            return "GK pass"
        if sign * (kick.position[0] - row.position[0]) >= BACK_M:
            return "back pass"
        if self.pitch.half_width_m - abs(row.position[1]) <= EDGE_M:
            return "wide trap"
        slow = length_m > SLOW_FROM_M and length_m < SLOW_M_S * (row.t_s - kick.t_s)
        return "slow pass" if slow else ""

    def _judge_touch(self, look: Look) -> None:
        touch = self._touch
        if touch is None:
            return
        if look.t_s - touch.t_s > TOUCH_S:
            self._touch = None
        elif self._cue is None or self._answer is None:
            x_m, y_m = look.persons[touch.person, :2]
            if math.hypot(x_m - look.ball[0], y_m - look.ball[1]) >= TOUCH_M:
                self._touch, self._cue, self._answer = None, ("bad touch", touch), None

    def _judge_answer(self, look: Look) -> None:
        if self._cue is None:
            return
        away_m, towards_m_s = look.towards_m_s()
        variant, cue = self._cue
        if self._answer is None:
            side = _SIDES[_OTHER[cue.team]]
            if np.all(np.isnan(away_m[side])):
                return
            nearest = int(np.nanargmin(away_m[side])) + side.start
            self._answer = nearest, look.t_s, float(towards_m_s[nearest])
            return
        person, begin_s, begin_m_s = self._answer
        took_s = look.t_s - begin_s
        if took_s > ANSWER_S[1] + 1e-6:
            self._cue, self._answer = None, None
        elif took_s >= ANSWER_S[0] - 1e-6 and (towards_m_s[person] - begin_m_s) / took_s >= ANSWER_M_S2:
            place = (*look.persons[person, :2].tolist(), math.nan)
            self.lines.add("trigger", cue.t_s, person, place, variant)
            self._cue, self._answer = None, None

    # -- 12.5

    def _keep_lines(self, look: Look) -> None:
        """Remember how far up each team's last line stands, as it sees the pitch itself."""
        depths = []
        for team in ("home", "away"):
            line_m = self._last_line(look, team, -self._sign(team))
            depths.append(math.nan if line_m is None else -line_m)
        self._times_s.append(look.t_s)
        self._seen.append(look)
        self._last_lines.append((depths[0], depths[1]))

    def _judge_trap(self, row: Row, how: str) -> None:
        kick = next((self.rows[c] for c in row.causes if self.rows[c].kind == "pass.attempt"), None)
        if kick is None or kick.t_s == self._trapped_s:
            return
        if how == "sprung":
            self._trapped_s = kick.t_s
        defends = _OTHER[row.team]
        number = ("home", "away").index(defends)
        now_at, before_at = (bisect_right(self._times_s, t_s) for t_s in (kick.t_s, kick.t_s - STEP_UP_S))
        now, before = (self._last_lines[n - 1][number] if n else math.nan for n in (now_at, before_at))
        depth = self._sign(defends) * row.position[0]
        if how == "sprung" and now_at:
            depth = self._sign(defends) * self._seen[now_at - 1].persons[row.person, 0]
        # Who was beyond the line before was not caught by its step.
        right = before <= depth if how == "sprung" else depth < now
        if now - before >= STEP_UP_M_S * STEP_UP_S and right:
            self.lines.add("trap", row.t_s, -1, row.position, how, team=defends)


def run_class(first: Moment, last: Moment, pitch: Pitch) -> str:
    """Return the class of a run (12.1) by its first and its last moment."""
    (along_0, across_0), (along_1, across_1) = first.runner, last.runner
    forward_m, sideways_m = along_1 - along_0, abs(across_1 - across_0)
    ball_wide = abs(last.ball[1]) > PENALTY_AREA_HALF_WIDTH_M and last.ball[0] > pitch.half_length_m / 3
    from_goal_line_m = pitch.half_length_m - along_1
    if ball_wide and 0 <= from_goal_line_m <= PENALTY_AREA_DEPTH_M and abs(across_1) <= PENALTY_AREA_HALF_WIDTH_M:
        return "cross receiver"
    if along_0 <= first.line_m < along_1:
        return "behind"
    near_mate = max(abs(across_0 - first.mate[1]), abs(across_1 - last.mate[1])) <= NEAR_MATE_M
    if along_0 < first.mate[0] and along_1 > last.mate[0] and near_mate:
        return "overlap" if abs(across_1) > abs(last.mate[1]) and across_1 * last.mate[1] > 0.0 else "underlap"
    if -forward_m > sideways_m:
        nearer = math.dist(last.runner, last.ball) < math.dist(first.runner, first.ball)
        return "coming short" if nearer else "dropping off"
    strips = int(strip_of(across_0)), int(strip_of(across_1))
    if sideways_m > forward_m and strips[1] in (0, 4) and strips[0] not in (0, 4):
        return "pulling wide"
    if sideways_m > forward_m and strips[1] in (1, 3) and strips[0] == 2:
        return "pulling half-space"
    return "ahead" if along_1 > last.ball[0] else "support"
