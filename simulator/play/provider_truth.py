"""Duels, interceptions and recoveries as Opta defines them, with the intention that only play knows.

Source: Opta (Stats Perform), published event definitions. In short:

* *Duel*: a 50-50 contest of two opponents. It consists of tackles and take-ons, fouls on the player in possession,
  aerial duels, and loose balls that both go for. Being near an opponent with the ball is none.
* *Aerial duel*: both jump and challenge each other in the air.
* *Interception*: a player reads an opponent's pass, and moves into the line of the intended pass.
* *Recovery*: a player wins a ball that nobody has, or that an opponent played directly to him, and secures it for his
  team: its next touch is his or a team mate's.
* *Tackle*, *take-on*, *clearance*: as ``contests``, ``derived_truth`` and ``ball_actions`` write them, by what the
  player tried.
"""

from __future__ import annotations

import math

from simulator.play.match_state import Flight, State
from simulator.play.truth_writer import id_of
from simulator.records import Vector

#: An intercepted ball moves; it is met so near the line of the pass; who stood nearer to the line did not move into it.
MOVING_M_S, IN_LINE_M, STOOD_M = 4.0, 1.0, 1.5
#: Who ends a cross or a header blocks or clears it.
_NO_PASSES = ("cross", "cutback", "header", "clearance")
#: 6.9: opponents this near to each other's jump, and their jumps so close in time.
AERIAL_M, TOGETHER_S = 1.5, 0.6
#: A loose ball: so slow and so low; both are so near, and run for it.
LOOSE_M_S, LOOSE_M, RUNS_M_S = 8.0, 1.0, 9.0
#: A scramble is one duel: touches within this time belong together.
ONE_S = 3.0


def challenge(
    state: State, holder: int, rival: int, winner: int, t_s: float, position: Vector | None, cause: int = -1,
    variant: str = "ground",
) -> None:  # fmt: skip
    """Write a duel: begun and decided by one challenge."""
    loser = rival if winner == holder else holder
    start = state.truth.add("duel.start", t_s, holder, position, variant, (), against=id_of(rival))
    state.truth.add("duel.end", t_s, winner, position, variant, (start, cause), against=id_of(loser))


def loose_duel(state: State, row: int) -> None:
    """Write a duel for a loose ball that ``row`` is about to touch, if an opponent beside it runs for it, too.

    A pass on its way to a team mate is not loose.
    """
    x, y, z = state.ball.position
    if state.flight is not None and state.flight.mate >= 0:
        return
    if state.now_s - state.watching.disputed_s < ONE_S:
        return
    if state.moving() > LOOSE_M_S or z > 1.0 or state.paces[row] < RUNS_M_S:
        return
    rival, gap_m = state.nearest(state.opponents(row), x, y)
    if gap_m < LOOSE_M and state.paces[rival] >= RUNS_M_S:
        state.watching.disputed_s = state.now_s
        challenge(state, row, rival, row, state.now_s, (x, y, z), variant="loose")


def jumped(state: State, row: int, rival: int, gap_m: float) -> None:
    """Write an aerial duel once both have jumped for the ball."""
    jumps = state.watching.jumps
    jumps[row] = state.now_s
    both = gap_m <= AERIAL_M and state.now_s - jumps.get(rival, -9.0) <= TOGETHER_S
    if both and state.watching.aerial is None:
        x, y = state.xy(row)
        index = state.truth.add("aerial.start", state.now_s, row, (x, y, 1.8), "", (), against=id_of(rival))
        state.watching.aerial = (row, rival, index)


def is_interception(state: State, flight: Flight, row: int) -> bool:
    """True if an opponent moved into the line of an intended pass and meets the ball there."""
    if flight.mate < 0 or flight.what in _NO_PASSES or flight.places is None:
        return False
    if state.disputed or state.moving() < MOVING_M_S:
        return False
    start = state.truth.rows[flight.row].position
    stood_m = _off_line(start, flight.target, *flight.places[row].tolist())
    return _off_line(start, flight.target, *state.ball.position[:2]) <= IN_LINE_M and stood_m > STOOD_M


def _off_line(start: Vector, end: tuple[float, float], x: float, y: float) -> float:
    """Return the distance of a point from the line between two others."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    share = ((x - start[0]) * dx + (y - start[1]) * dy) / max(dx * dx + dy * dy, 1e-9)
    share = min(max(share, 0.0), 1.0)
    return math.hypot(x - start[0] - share * dx, y - start[1] - share * dy)


def won(state: State, row: int, t_s: float, index: int, cause: int) -> None:
    """Begin to watch a ball won whether it is secured; ``index`` is the row of the contact."""
    if not state.is_keeper(row):
        state.watching.recovering = (row, t_s, index, cause)


def touched(state: State, row: int) -> None:
    """Settle by the next touch whether a ball that was won is a recovery."""
    if state.watching.recovering is None:
        return
    winner, t_s, index, cause = state.watching.recovering
    state.watching.recovering = None
    if state.team[row] == state.team[winner]:
        state.truth.add("recovery", t_s, winner, state.truth.rows[index].position, "", (cause, index))
