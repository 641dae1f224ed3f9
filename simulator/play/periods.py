"""Periods (Law 7): kick-offs, added time, the break and the change of ends, the final whistle.

The clock never stops. Unusual delays (goals, substitutions, injuries, cards) are added at the end of the half, and
the referee lets an attack end first.
"""

from __future__ import annotations

import math

from football.constants import BALL_RADIUS_M
from simulator.play import flights, occasions, stoppages
from simulator.play.match_state import State
from simulator.records import REFEREES, Vector

_CENTRE: Vector = (0.0, 0.0, BALL_RADIUS_M)

#: The referee lets an attack end, for so long at most.
PATIENCE_S = 20.0
#: After the final whistle the match is told on for so long.
AFTERMATH_S = 5.0
#: Length of a half of extra time (Law 7), and of the pause before each.
EXTRA_S, EXTRA_BREAK_S = 900.0, 60.0
#: So long a half is extended for a penalty kick at most, so that it ends if nobody takes it.
_PENALTY_S = 120.0
#: In a long break everybody leaves the surroundings of the pitch.
_LONG_BREAK_S, _AWAY_M = 300.0, 14.0


def step(state: State) -> None:
    """Check the clock each tick: added time, the end of a period, the break."""
    if state.is_break:
        _break(state)
        return
    played_s = state.now_s - state.period_since_s
    half_s = state.settings.half_s if state.period <= 2 else EXTRA_S
    if played_s < half_s - 1e-9:
        return
    if state.added_s < 0.0:
        _add(state)
    if played_s < half_s + state.added_s:
        return
    waited_s = played_s - half_s - state.added_s
    if _is_penalty(state) and waited_s < _PENALTY_S:
        return
    x = abs(state.ball.position[0])
    quiet = not state.live or (x < state.half_x - 30.0 and state.flight is None)
    if quiet or (waited_s > PATIENCE_S and state.flight is None) or waited_s > 2.0 * PATIENCE_S:
        _end(state)


def _is_penalty(state: State) -> bool:
    """True from the award of a penalty kick until its ball is played, out or in the goal: the half lasts so long."""
    kicked = state.flight is not None and state.flight.restart == "penalty"
    return kicked or (state.restart is not None and state.restart.kind == "penalty")


def _add(state: State) -> None:
    """Announce added time, as on the fourth official's board: whole minutes in a match of full length."""
    lost_s = state.lost_s
    if state.settings.half_s >= 2400.0:
        state.added_s = 60.0 * max(1, round(lost_s / 60.0))
    else:
        state.added_s = min(lost_s, 0.1 * state.settings.half_s)
    state.truth.add(
        "added_time", state.now_s, REFEREES[0], _CENTRE, str(state.period), (), added_s=round(state.added_s, 1)
    )


def _end(state: State) -> None:
    position = state.ball.position
    level = state.score[0] == state.score[1]
    to_come = state.settings.occasions.extra_time and (state.period == 3 or (state.period == 2 and level))
    is_final = state.period >= 2 and not state.settings.endless and not to_come
    why = "full time" if is_final else "half time" if state.period in (1, 3) else "end of normal time"
    blown = state.truth.add("whistle", state.now_s, REFEREES[0], position, why)
    if state.live:
        flights.stopped(state, "stopped", state.now_s, blown, position)
        stoppages.end_play(state, state.now_s, position, "whistle", blown)
    state.restart, state.whistle, state.advantage = None, None, None
    state.truth.add(
        "period.end", state.now_s, REFEREES[0], position, str(state.period), (blown,),
        home=state.score[0], away=state.score[1],
    )  # fmt: skip
    state.is_break = True
    break_s = state.settings.break_s if state.period == 1 or state.settings.endless else EXTRA_BREAK_S
    state.break_until_s = state.now_s + (AFTERMATH_S if is_final else break_s)
    state.break_s = break_s
    state.is_final = is_final
    if state.ball.in_hands:
        state.ball.release((0.0, 0.0, -1.0))


def _break(state: State) -> None:
    """Let everybody walk off, and return for the next half at the other end."""
    if state.is_final:
        if state.now_s >= state.break_until_s:
            state.is_over = True
        return
    left_s = state.break_until_s - state.now_s
    if state.restart is not None:
        return
    line_up_s = min(45.0, 0.5 * state.break_s)
    if left_s > line_up_s:
        _leave(state)
        return
    state.sign = -state.sign
    state.period += 1
    state.lost_s, state.added_s = 0.0, -1.0
    state.first_kick = 1 - state.first_kick
    if state.period == 2:
        occasions.new_shapes(state)
    stoppages.award_restart(state, "kick_off", state.first_kick, (0.0, 0.0), -1, state.now_s)
    assert state.restart is not None
    state.restart.earliest_s = state.break_until_s


def _leave(state: State) -> None:
    """Send everybody towards the benches' side."""
    for row in state.players.tolist():
        team = int(state.team[row])
        x, y = state.xy(row)
        tx = (-1.0 if team == 0 else 1.0) * (6.0 + 0.8 * (row % 16))
        away_m = _AWAY_M if state.break_s >= _LONG_BREAK_S else 2.0
        state.targets[row] = tx, -state.half_y - away_m
        state.paces[row] = 1.6 + 0.03 * (row % 8)
        state.facing[row] = math.nan if abs(x - tx) + abs(y + state.half_y + away_m - 2.0) > 3.0 else math.pi / 2


def begin_period(state: State) -> None:
    """Begin a period with its kick-off."""
    if not state.is_break:
        return
    state.is_break = False
    state.period_since_s = state.now_s
    state.truth.add("period.start", state.now_s, REFEREES[0], _CENTRE, str(state.period))
