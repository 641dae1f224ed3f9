"""The referee: fouls and advantage, the whistle, cards, injuries (Laws 5 and 12).

A foul's row is written when it happens. The whistle follows a moment later, and sometimes play goes on for an
advantage; if that comes to nothing, the referee returns to the foul. Cards are shown while play is dead.
"""

from __future__ import annotations

import math

import numpy as np

from simulator.play import flights, stoppages, substitutions
from simulator.play.match_state import BOX_X_M, BOX_Y_M, GOAL_AREA_X_M, MARK_M, State, Whistle
from simulator.play.stoppages import ADDED_S
from simulator.play.truth_writer import id_of
from simulator.records import REFEREES, Vector

#: Chances at a foul: that the fouled one goes down, that play may go on, of a yellow and of a red card, of an injury.
_FALLS, _ADVANTAGE, _YELLOW, _RED, _INJURY = 0.6, 0.22, 0.14, 0.002, 0.07
#: An advantage must have shown itself within this time.
ADVANTAGE_S = 2.5


def foul(state: State, row: int, victim: int, variant: str, *, is_certain: bool = False) -> None:
    """Commit an offence of ``row`` against ``victim`` (-1: a handball); with ``is_certain`` the whistle is sure."""
    if state.whistle is not None or state.advantage is not None or not state.live:
        return
    t_s = state.now_s
    x, y = state.xy(victim if victim >= 0 else row)
    position: Vector = (x, y, 0.9) if victim >= 0 else state.ball.position
    falls = victim >= 0 and variant != "holding" and state.chance(_FALLS)
    team = 1 - int(state.team[row])
    card = _card(state, row, team, x, variant)
    kind = "handball" if variant == "handball" else "foul"
    if kind == "handball":
        state.truth.add("handball", t_s, row, position, "", (state.last_contact,))
    index = state.truth.add(
        "foul", t_s, row, position, variant, (state.last_contact if variant == "handball" else -1,),
        on=id_of(victim), fall=falls, advantage=False,
    )  # fmt: skip
    if falls:
        substitutions.go_down(state, victim, float(state.rng.uniform(2.0, 5.0)), index)
    in_box = state.in_box(1 - team, x, y)
    whistle = Whistle(t_s + float(state.rng.uniform(0.25, 0.9)), "foul", team, (x, y), index, card, row)
    keeps = state.holder >= 0 and state.team[state.holder] == team and not falls
    keeps |= state.flight is not None and state.flight.team == team
    if keeps and not in_box and not is_certain and card != "red" and state.chance(_ADVANTAGE / 0.4):
        state.truth.rows[index].detail["advantage"] = True
        state.truth.add("advantage", t_s + 0.3, REFEREES[0], position, "", (index,))
        state.advantage = whistle
        whistle.at_s = t_s + ADVANTAGE_S
        return
    state.whistle = whistle


def _card(state: State, row: int, team: int, x: float, variant: str) -> str:
    """Draw yellow, red or no card; goalkeepers are not sent off, because nobody could replace them."""
    worse = 1.6 if state.depth(team, x) < 35.0 else 1.0
    worse *= 1.5 if state.cautions[row] == 0 else 0.2
    roll = state.rng.random()
    if state.is_keeper(row):
        return "yellow" if roll < 0.1 and state.cautions[row] == 0 else ""
    if roll < _RED * worse:
        return "red"
    if roll < _YELLOW * worse * (1.3 if variant == "holding" else 1.0) * 0.8:
        return "second yellow" if state.cautions[row] else "yellow"
    return ""


def watch(state: State) -> None:
    """Check each tick of live play whether a whistle is due, and whether an advantage came to something."""
    if state.advantage is not None:
        _weigh(state, state.advantage)
    whistle = state.whistle
    if whistle is not None and state.now_s >= whistle.at_s:
        _blow(state, whistle)


def _weigh(state: State, given: Whistle) -> None:
    """Return to the foul if the fouled team lost the ball again; drop the foul once the advantage has lasted."""
    last = state.last
    if state.team[last] != given.team and state.touched_s[last] > given.at_s - ADVANTAGE_S + 0.05:
        state.truth.rows[given.cause].detail["advantage"] = False
        given.at_s = state.now_s + 0.3
        state.whistle, state.advantage = given, None
    elif state.now_s >= given.at_s:
        if given.card:
            state.cards.append((given.card, given.offender, given.cause))
        state.advantage = None


def _blow(state: State, whistle: Whistle) -> None:
    """Stop play and award the restart."""
    state.whistle = None
    position = state.ball.position
    blown = state.truth.add("whistle", state.now_s, REFEREES[0], position, whistle.why, (whistle.cause,))
    state.indirect = False
    outcome = "offside" if whistle.why == "offside" else "stopped"
    flights.stopped(state, outcome, state.now_s, blown, position)
    dead = stoppages.end_play(state, state.now_s, position, "whistle", blown)
    if whistle.card:
        state.cards.append((whistle.card, whistle.offender, whistle.cause))
    team, (x, y) = whistle.team, whistle.spot
    kind = "free_kick"
    if whistle.why == "foul" and state.in_box(1 - team, x, y):
        kind, x, y = "penalty", float(state.sign[team]) * (state.half_x - MARK_M), 0.0
        state.lost_s += ADDED_S["penalty"]
    elif whistle.why == "injury":
        kind = "dropped"
    x = float(np.clip(x, 0.5 - state.half_x, state.half_x - 0.5))
    y = float(np.clip(y, 0.5 - state.half_y, state.half_y - 0.5))
    deep = state.depth(team, x)
    if kind == "free_kick" and deep < GOAL_AREA_X_M and abs(y) < 9.16:
        # Law 13.2: an indirect one inside the goal area is taken from its line.
        x = float(state.sign[team]) * (state.half_x - GOAL_AREA_X_M)
    stoppages.award_restart(state, kind, team, (x, y), dead, state.now_s, indirect=whistle.why == "offside")
    if whistle.why == "foul":
        substitutions.perhaps_injured(state, whistle.cause, _INJURY * state.settings.interruptions)


def show_cards(state: State) -> None:
    """Show the cards that are due, while play is dead."""
    restart = state.restart
    if not state.cards or restart is None or state.now_s - restart.since_s < 4.0:
        return
    card, row, cause = state.cards.pop(0)
    x, y = state.xy(row)
    if not state.is_playing[row]:
        return
    if card == "yellow" and state.cautions[row]:
        card = "second yellow"
    state.cautions[row] += 1
    shown = state.truth.add("card", state.now_s, row, (x, y, 0.9), card, (cause,))
    state.lost_s += ADDED_S["card"]
    restart.earliest_s = max(restart.earliest_s, state.now_s + 8.0)
    if card != "yellow":
        substitutions.send_off(state, row, shown)


def in_own_box(state: State, row: int) -> bool:
    """True if a person stands in the penalty area that the own team defends."""
    x, y = state.xy(row)
    u = x * float(state.sign[int(state.team[row])])
    return state.half_x + u < BOX_X_M and abs(y) < BOX_Y_M


def pulled(state: State, row: int, holder: int) -> None:
    """Let a player who runs behind the holder without reach of the ball sometimes hold; called ten times a second."""
    hx, hy = state.columns[holder, 2], state.columns[holder, 3]
    pace = math.hypot(hx, hy)
    gap = state.gap(row, *state.xy(holder))
    if gap > 1.1 or pace < 3.0:
        return
    dx, dy = state.columns[row, 0] - state.columns[holder, 0], state.columns[row, 1] - state.columns[holder, 1]
    behind = (dx * hx + dy * hy) < 0.0
    rate = 0.0004 if in_own_box(state, row) else 0.005
    if behind and state.chance(rate * state.settings.interruptions):
        foul(state, row, holder, "holding")
