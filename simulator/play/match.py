"""A match, tick by tick: plans, bodies, contests for the ball, ball, lines; cut into intervals.

Theory of operation
-------------------
A tick is 20 ms. In it (1) the holder of the ball, the referee and the taker of a restart may act; (2) every fifth
tick every person plans anew where to run; (3) the contest for the ball decides who touches it; (4) bodies run and the
ball moves in its 40 steps; (5) the boundary lines are checked. Play is *live* or *dead*. While it is live the ball is
loose, or has a *holder* who pushes it along, or is in a goalkeeper's hands. Outcomes are not scripted: a pass is
complete because a team mate reached it first, a shot is saved because the hands were there. Play writes each row of
truth at the moment when it happens.

All chance comes from one stream of random numbers that ticks consume in order, so a match does not depend on how it
is cut into intervals.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from simulator.physics.ball import BallTick
from simulator.play import (
    ball_retrieval,
    boundary_lines,
    contests,
    derived_truth,
    dribbling,
    flights,
    goalkeeping,
    match_officials,
    occasions,
    periods,
    pressing,
    referee,
    restarts,
    script_runner,
    set_pieces,
    stoppages,
    substitutions,
    take_ons,
    team_shape,
)
from simulator.play.match_state import State
from simulator.play.script import Script
from simulator.play.squads import MatchSettings, draw_squads
from simulator.records import (
    BALLS,
    MARGIN_S,
    PERSONS,
    STEP_S,
    STEPS,
    TICK_S,
    Contact,
    PlayedInterval,
    Row,
)

__all__ = ["Match", "MatchSettings"]

#: Everybody plans anew every so many ticks.
PLAN_TICKS = 5
_INTERVAL_S = 4.0


class Match:
    """A match that is played as far as its caller asks.

    Args:
        settings: two matches with equal settings are equal, whatever intervals are asked for.

    Attributes:
        rows: rows of truth so far; the list grows. Rows that are ``open`` may still change.
        squads: who takes part.
    """

    def __init__(self, settings: MatchSettings) -> None:
        self.settings = settings
        self.squads = draw_squads(settings)
        self.state = State(settings, self.squads)
        self.rows: list[Row] = self.state.truth.rows
        self._balls: list[np.ndarray] = []
        self._velocities: list[np.ndarray] = []
        self._active: list[int] = []
        self._first = 0
        self._line_up(settings.scenario)

    # -- what others ask ---------------------------------------------------------------------------------------

    @property
    def score(self) -> tuple[int, int]:
        """Goals of home and away."""
        return self.state.score[0], self.state.score[1]

    @property
    def on_pitch(self) -> tuple[int, ...]:
        """Rows of the players on the pitch."""
        return tuple(self.state.players.tolist())

    @property
    def shapes(self) -> tuple[tuple[float, str, str], ...]:
        """Shapes of the teams so far: since when (s), team, shape."""
        return tuple(self.state.shape_changes)

    @property
    def is_over(self) -> bool:
        """True once the final whistle has gone and the last interval is complete."""
        return self.state.is_over

    def intervals(self, until_s: float, every_s: float = _INTERVAL_S) -> Iterator[PlayedInterval]:
        """Play on to ``until_s`` (the match runs a margin further) and yield it in intervals, in order.

        The first interval begins at the end of the last one that was asked for. The iterator ends early with the match.
        """
        margin = round(MARGIN_S / TICK_S)
        size = max(round(every_s / TICK_S), 1)
        end = round(until_s / TICK_S)
        begin = self._first
        while begin < end and not (self.state.is_over and begin >= self.state.tick):
            stop = min(begin + size, end)
            while self.state.tick < stop + margin and not self.state.is_over:
                self.tick()
            stop = min(stop, self.state.tick)
            yield self._cut(begin, stop, margin)
            begin = self._first = stop
            self._forget(begin - margin)

    def _cut(self, begin: int, stop: int, margin: int) -> PlayedInterval:
        first, last = max(begin - margin, 0), min(stop + margin, self.state.tick)
        offset = self._offset
        persons = np.array(self.state.ticks[first - offset : last - offset])
        parts = slice(begin - offset, stop - offset)
        balls = np.concatenate(self._balls[parts], axis=1)
        velocity = np.concatenate(self._velocities[parts])
        active = np.repeat(np.array(self._active[parts], dtype=np.int8), STEPS)
        low, high = first * TICK_S, last * TICK_S
        # A ball that is still held will be so beyond all that is asked about here.
        longest_s = high + MARGIN_S
        contacts = tuple(
            c if c.hold_s < math.inf else replace(c, hold_s=longest_s - c.t_s)
            for c in self.state.contacts
            if low <= c.t_s + c.hold_s and c.t_s < high
        )
        ticks_s = np.arange(first, last) * TICK_S
        return PlayedInterval(begin * TICK_S, stop * TICK_S, ticks_s, persons, contacts, balls, velocity, active)

    @property
    def _offset(self) -> int:
        return self.state.tick - len(self.state.ticks)

    def _forget(self, before: int) -> None:
        drop = max(before - self._offset, 0)
        del self.state.ticks[:drop], self._balls[:drop], self._velocities[:drop], self._active[:drop]
        cutoff = before * TICK_S
        self.state.contacts = [c for c in self.state.contacts if c.t_s + c.hold_s >= cutoff]

    # -- a tick ------------------------------------------------------------------------------------------------

    def tick(self) -> None:
        """Play the coming tick."""
        state = self.state
        now_s = state.now_s
        planning = state.tick % PLAN_TICKS == 0
        state.pending = None
        if state.live:
            self._play(planning)
        elif state.restart is not None:
            self._wait(planning)
        if planning:
            match_officials.plan(state)
            match_officials.seat_substitutes(state)
        if state.changes or state.walking:
            substitutions.step(state)
        if state.script_runner is not None:
            state.script_runner.direct()
        if state.live:
            contests.contest(state)
        state.ticks.append(state.columns.copy())
        state.bodies.run(state.targets, state.paces, state.facing)
        played = self._move_balls()
        self._settle(played, now_s)
        state.tick += 1
        if state.live:
            state.truth.watch(state.now_s)
            boundary_lines.woodwork(state, played, now_s)
            boundary_lines.lines(state, played, now_s)
        if state.live:
            flights.settle_positions(state)
            flights.close_faded_shot(state)
            derived_truth.watch(state)
            referee.watch(state)
        if state.down:
            substitutions.get_up(state)
        periods.step(state)

    def _play(self, planning: bool) -> None:
        state = self.state
        if planning:
            team_shape.plan(state)
            if state.tick % 50 == 0:
                substitutions.collapse(state)
        if state.holder >= 0:
            if state.in_hands:
                goalkeeping.hold(state)
            else:
                dribbling.hold(state)
        if state.holder >= 0 and not state.in_hands and planning:
            pressing.press(state)
        if planning and state.stopping:
            take_ons.stop(state)
        if state.holder < 0:
            if planning or state.path_s < 0.0:
                contests.chase(state)
            contests.leap(state)
            goalkeeping.guard(state)

    def _wait(self, planning: bool) -> None:
        """Play a tick of dead time: the ball is fetched, players take positions, cards and substitutions happen."""
        state = self.state
        if planning:
            restarts.plan(state)
            referee.show_cards(state)
            occasions.take_shapes(state)
            occasions.swap_roles(state)
            substitutions.consider(state)
        restarts.step(state)

    def _move_balls(self) -> BallTick:
        """Move all balls by a tick; return the tick of the ball in play."""
        state = self.state
        positions = np.empty((len(BALLS), STEPS, 3))
        for number, ball in enumerate(state.balls):
            if number == state.active:
                played = ball.advance()
                positions[number] = played.positions
            elif number in state.rolling:
                positions[number] = ball.advance().positions
            else:
                positions[number] = ball.position
        if state.rolling:
            ball_retrieval.tidy(state)
        self._balls.append(positions)
        self._velocities.append(played.velocities)
        self._active.append(state.active)
        return played

    def _settle(self, played: BallTick, begin_s: float) -> None:
        """Set the position of this tick's contact, and make it known to the limbs."""
        state = self.state
        pending = state.pending
        if pending is None:
            return
        k = min(round((pending.t_s - begin_s) / STEP_S), STEPS - 1)
        x, y, z = played.positions[k].tolist()
        vx, vy, vz = played.velocities[k].tolist()
        state.truth.set_positions((x, y, z))
        if pending.truth_row >= 0:
            pushes_m_s = np.linalg.norm(np.diff(played.velocities[k:], axis=0), axis=1)
            state.truth.set_peak(pending.truth_row, float(pushes_m_s.max(initial=0.0)) / STEP_S)
        hold_s = math.inf if pending.is_hold else 0.0
        contact = Contact(
            pending.t_s, pending.row, pending.limb, (x, y, z), (vx, vy, vz), pending.after, pending.what,
            pending.duration_s, hold_s,
        )  # fmt: skip
        state.contacts.append(contact)
        if pending.is_hold:
            state.hold = contact

    # -- beginnings --------------------------------------------------------------------------------------------

    def _line_up(self, script: Script | None) -> None:
        """Place everybody for the first kick-off, or as a script says."""
        state = self.state
        state.first_kick = int(state.rng.integers(2))
        substitutions.draw_times(state)
        opening = script.opening if script is not None else None
        if opening is not None:
            script_runner.set_clock(state, opening)
        if opening is None or opening.restart:
            kind, team = (opening.restart, opening.restart_team) if opening else ("kick_off", state.first_kick)
            spot = opening.ball[:2] if opening else (0.0, 0.0)
            restart = stoppages.award_restart(state, kind, team, spot, -1, 0.0)
            restart.earliest_s = 4.0
            if script is not None and (taker := script_runner.first_instructed(state, script, team)) >= 0:
                restart.taker = restart.fetcher = taker
                set_pieces.draw_positions(state, restart)
            if kind != "throw_in":
                restart.stage = "placed"
            restarts.plan(state)
        else:
            team_shape.plan(state)
        match_officials.plan(state)
        match_officials.seat_substitutes(state)
        spread_m = 0.0 if opening else 0.5
        for row in range(PERSONS):
            x, y = state.targets[row]
            heading = 0.0 if state.team[row] == 2 or state.sign[state.team[row]] > 0 else math.pi
            x, y = float(x) + state.draw(0.0, spread_m), float(y) + state.draw(0.0, spread_m)
            state.bodies.put(row, x, y, heading)
        if script is not None:
            script_runner.open_at(state, script)
