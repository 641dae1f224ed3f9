"""A match, tick by tick: plans, bodies, contests for the ball, ball, lines; and its stretches.

Theory of operation
-------------------
A tick is 20 ms. In it (1) the one who has the ball, the referee, and who awaits a restart may act; (2) every fifth
tick everybody plans anew where to run; (3) it is looked who touches the ball; (4) bodies run and the ball moves in
its 40 steps; (5) lines are watched. Play is *live* or *dead*. While it is live the ball is loose, or has a *holder*
who pushes it along, or is in a goalkeeper's hands. Nobody scripts outcomes: a pass is complete because a mate got to
it first, a shot is saved because the hands were there; the truth list notes what happened when it happens.

Chance comes from one stream of numbers that ticks consume in order, so a match does not depend on how it is cut into
stretches.
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
    periods,
    pressing,
    referee,
    restarts,
    script_runner,
    set_pieces,
    stoppages,
    substitutions,
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
_STRETCH_S = 4.0


class Match:
    """A match that is played as far as it is asked for.

    Args:
        settings: two matches with equal settings are equal, whatever stretches are asked for.

    Attributes:
        rows: the truth list so far; grows. Rows that are ``open`` may still change.
        squads: who takes part.
    """

    def __init__(self, settings: MatchSettings) -> None:
        self.settings = settings
        self.squads = draw_squads(settings)
        self.state = State(settings, self.squads)
        self.rows: list[Row] = self.state.notes.rows
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
    def is_over(self) -> bool:
        """Whether the final whistle has gone and the last stretch is complete."""
        return self.state.is_over

    def intervals(self, until_s: float, every_s: float = _STRETCH_S) -> Iterator[PlayedInterval]:
        """Plays on to ``until_s`` (the match goes a margin further) and gives it in stretches, in order.

        The first one begins where the last one asked for ended. Ends early when the match is over.
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
        """Plays the coming tick."""
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
            match_officials.seat(state)
        if state.changes or state.walking:
            substitutions.step(state)
        if state.prompter is not None:
            state.prompter.direct()
        if state.live:
            contests.contest(state)
        state.ticks.append(state.columns.copy())
        state.bodies.run(state.targets, state.paces, state.facing)
        played = self._move_balls()
        self._settle(played, now_s)
        state.tick += 1
        if state.live:
            state.notes.watch(state.now_s)
            boundary_lines.woodwork(state, played, now_s)
            boundary_lines.lines(state, played, now_s)
        if state.live:
            flights.faded(state)
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
        if state.holder < 0:
            if planning or state.path_s < 0.0:
                contests.chase(state)
            contests.leap(state)
            goalkeeping.guard(state)

    def _wait(self, planning: bool) -> None:
        """Dead time: the ball is fetched, everybody goes to his place, cards are shown, players come and go."""
        state = self.state
        if planning:
            restarts.plan(state)
            referee.show_cards(state)
            substitutions.consider(state)
        restarts.step(state)

    def _move_balls(self) -> BallTick:
        """All balls go on for a tick; returns that of the ball in play."""
        state = self.state
        places = np.empty((len(BALLS), STEPS, 3))
        for number, ball in enumerate(state.balls):
            if number == state.active:
                played = ball.advance()
                places[number] = played.places
            elif number in state.rolling:
                places[number] = ball.advance().places
            else:
                places[number] = ball.place
        if state.rolling:
            ball_retrieval.tidy(state)
        self._balls.append(places)
        self._velocities.append(played.velocities)
        self._active.append(state.active)
        return played

    def _settle(self, played: BallTick, begin_s: float) -> None:
        """The contact of this tick gets its place and becomes known to those who draw limbs."""
        state = self.state
        pending = state.pending
        if pending is None:
            return
        k = min(round((pending.t_s - begin_s) / STEP_S), STEPS - 1)
        x, y, z = played.places[k].tolist()
        vx, vy, vz = played.velocities[k].tolist()
        state.notes.settle((x, y, z))
        if pending.noted >= 0:
            pushes_m_s = np.linalg.norm(np.diff(played.velocities[k:], axis=0), axis=1)
            state.notes.measured(pending.noted, float(pushes_m_s.max(initial=0.0)) / STEP_S)
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
        """Everybody near his place for the first kick-off, or where a script has him."""
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
            if script is not None and (taker := script_runner.first_told(state, script, team)) >= 0:
                restart.taker = restart.fetcher = taker
                set_pieces.draw_places(state, restart)
            if kind != "throw_in":
                restart.stage = "placed"
            restarts.plan(state)
        else:
            team_shape.plan(state)
        match_officials.plan(state)
        match_officials.seat(state)
        spread_m = 0.0 if opening else 0.5
        for row in range(PERSONS):
            x, y = state.targets[row]
            heading = 0.0 if state.team[row] == 2 or state.sign[state.team[row]] > 0 else math.pi
            x, y = float(x) + state.draw(0.0, spread_m), float(y) + state.draw(0.0, spread_m)
            state.bodies.place(row, x, y, heading)
        if script is not None:
            script_runner.open_at(state, script)
