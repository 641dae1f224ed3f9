"""Duels, tackles, take-ons, interceptions and recoveries as providers define them, with what only play knows.

Sources: Opta (Stats Perform), published event definitions; of the duel StatsBomb's open-data specification. In short:

* *Duel* (StatsBomb): two opponents contest the ball in play, and one of them wins it: a tackle, a dribble past an
  opponent, a 50/50 for a loose ball. Being near an opponent with the ball is none. A foul is an event of its own (Opta
  counts those on the player in possession, too).
* *Tackle*: a player takes the ball from an opponent who is clearly in possession, by playing it. It is won if the
  tackler's team plays the ball next, or the ball goes out; it is lost if the other team plays it next. A try that
  misses the ball is none.
* *Take-on*: a player with the ball tries to get past an opponent. It is won if an opponent who goes for the ball can
  reach it, is passed, and is left behind; it is lost if he takes it. Who runs along has not been beaten.
* *Aerial duel*: both jump and challenge each other in the air.
* *Interception*: a player reads an opponent's pass, and moves into its line. Of the pass an analyst sees where it went.
* *Recovery*: a player wins a ball that nobody has, or that an opponent played directly to him, and secures it for his
  team: its next touch is his or a team mate's.
* *Clearance*: a player plays the ball away from the own goal, for nobody (``ball_actions`` writes it).
"""

from __future__ import annotations

import math
from dataclasses import replace

from simulator.play.match_state import Flight, State
from simulator.play.truth_writer import TakeOn, id_of
from simulator.records import Vector

#: An intercepted ball moves; who stood nearer to its line did not move into it.
MOVING_M_S, STOOD_M = 4.0, 2.0
#: Who ends a cross or a header blocks or clears it.
_NO_PASSES = ("cross", "cutback", "header", "clearance")
#: Contacts of who is hit by the ball, and does not play it.
_STRUCK = ("deflection", "block", "handle")
#: 6.9: opponents this near to each other's jump, and their jumps so close in time.
AERIAL_M, TOGETHER_S = 1.5, 0.6
#: A loose ball: so slow and so low; both are so near, and run for it.
LOOSE_M_S, LOOSE_M, RUNS_M_S = 8.0, 0.7, 9.0
#: It has been nobody's for as long as a loose ball (6.11) has.
FREE_S = 0.5
#: A scramble is one duel: touches within this time belong together.
ONE_S = 3.0
#: 7.12: least speed of who takes an opponent on; so far behind and so soon he is passed; so long the ball is kept.
TAKES_ON_M_S, BEHIND_M, PASSED_S, KEPT_S = 2.5, 0.3, 1.5, 0.5
#: The opponent is so near when he is passed, and so far when the ball has been kept.
FACED_M, LEFT_M = 1.5, 1.0
#: 7.13: who is tackled has had the ball for so long: the same foot needs 0.28 s to touch it again.
HAS_S = 0.3


def challenge(
    state: State, holder: int, rival: int, winner: int, t_s: float, position: Vector | None, cause: int = -1,
    variant: str = "ground",
) -> None:  # fmt: skip
    """Write a duel: begun and decided by one challenge."""
    loser = rival if winner == holder else holder
    state.watching.disputed_s = state.now_s
    start = state.truth.add("duel.start", t_s, holder, position, variant, (), against=id_of(rival))
    state.truth.add("duel.end", t_s, winner, position, variant, (start, cause), against=id_of(loser))


def loose_duel(state: State, row: int) -> None:
    """Write a duel for a loose ball that ``row`` is about to play, if an opponent beside it runs for it, too.

    A pass on its way to a team mate is not loose, nor is a ball that somebody has touched just now.
    """
    x, y, z = state.ball.position
    if state.flight is not None and state.flight.mate >= 0:
        return
    if state.now_s - state.watching.disputed_s < ONE_S or state.now_s - float(state.touched_s.max()) < FREE_S:
        return
    if state.moving() > LOOSE_M_S or z > 1.0 or state.paces[row] < RUNS_M_S:
        return
    rival, gap_m = state.nearest(state.opponents(row), x, y)
    if gap_m < LOOSE_M and state.paces[rival] >= RUNS_M_S:
        challenge(state, row, rival, row, state.now_s, (x, y, z), variant="loose")


def tackle(state: State, row: int, holder: int, index: int) -> None:
    """Write a tackle with its duel, and the take-on that it ends; ``index`` is the row of the contact.

    Who plays the ball next decides whether it is won. The take-on is of a player who runs at the tackler: an analyst
    sees where he runs, and no plan.
    """
    t_s = state.truth.rows[index].t_s
    won = state.truth.add("tackle.won", t_s, row, None, "", (index,), on=id_of(holder))
    state.truth.rows[won].open = True
    state.watching.tackle = won
    state.watching.takeon = None
    challenge(state, holder, row, row, t_s, None, won)
    if state.speed(holder) > TAKES_ON_M_S and _ahead_m(state, row, holder, _movement(state, holder)) > 0.0:
        state.truth.add("takeon.lost", t_s, holder, None, "", (won,), to=id_of(row))


def has_ball(state: State, row: int) -> bool:
    """True if a player is clearly in possession: nobody touched the ball after him, and he could have twice.

    Who is given the ball by a script has it.
    """
    truth = state.truth
    return truth.owner < 0 or (truth.owner == row and state.now_s - truth.rows[truth.gain].t_s >= HAS_S)


def settle_tackle(state: State, team: int = -1) -> None:
    """Decide the newest tackle by the team that plays the ball next; -1: nobody, the ball is out or play is stopped."""
    index, state.watching.tackle = state.watching.tackle, -1
    if index < 0:
        return
    row = state.truth.rows[index]
    row.open = False
    if team >= 0 and team != state.team[row.person]:
        row.kind = "tackle.lost"


def missed(state: State, row: int, holder: int) -> None:
    """Begin to watch whether an opponent whose try for the ball failed is passed."""
    watched = state.watching.takeon
    if watched is not None and (watched.holder, watched.rival) == (holder, row):
        return
    if state.whistle is None and state.advantage is None:
        tried(state, holder, row, _movement(state, holder))


def attacked(state: State, row: int) -> None:
    """Begin to watch whether the opponent who attacks the holder of the ball is passed, once he can reach the ball."""
    holder = state.holder
    if state.watching.takeon is not None or state.whistle is not None or state.speed(holder) <= TAKES_ON_M_S:
        return
    if state.gap(row, *state.ball.position[:2]) <= float(state.reach_m[row]):
        tried(state, holder, row, _movement(state, holder))


def tried(state: State, holder: int, rival: int, way: tuple[float, float]) -> None:
    """Begin to watch whether an opponent in the way of a player with the ball is passed."""
    if _ahead_m(state, rival, holder, way) > 0.0:
        state.watching.takeon = TakeOn(holder, rival, state.now_s, way)


def watch_take_on(state: State) -> None:
    """Write a take-on once its opponent is passed, and the ball has been kept for a moment."""
    tried = state.watching.takeon
    if tried is None:
        return
    if state.last != tried.holder or state.whistle is not None:
        state.watching.takeon = None
    elif tried.passed_s < 0.0:
        if state.holder != tried.holder or state.now_s - tried.since_s > PASSED_S:
            state.watching.takeon = None
        elif _ahead_m(state, tried.rival, tried.holder, tried.heading) < -BEHIND_M:
            near = state.gap(tried.rival, *state.xy(tried.holder)) <= FACED_M
            passed = replace(tried, passed_s=state.now_s, position=state.ball.position)
            state.watching.takeon = passed if near else None
    elif state.now_s - tried.passed_s >= KEPT_S:
        state.watching.takeon = None
        if state.gap(tried.rival, *state.xy(tried.holder)) < LEFT_M:
            return
        won = state.truth.add(
            "takeon.won", tried.passed_s, tried.holder, tried.position, "", (), past=id_of(tried.rival)
        )
        challenge(state, tried.holder, tried.rival, tried.holder, tried.passed_s, tried.position, won)


def _movement(state: State, row: int) -> tuple[float, float]:
    """Return the direction in which a player moves, as a unit vector."""
    dx, dy = float(state.columns[row, 2]), float(state.columns[row, 3])
    size = max(math.hypot(dx, dy), 1e-9)
    return dx / size, dy / size


def _ahead_m(state: State, row: int, of: int, way: tuple[float, float]) -> float:
    """Return how far a player is ahead of another along a direction."""
    (x, y), (own_x, own_y) = state.xy(row), state.xy(of)
    return (x - own_x) * way[0] + (y - own_y) * way[1]


def jumped(state: State, row: int, rival: int, gap_m: float) -> None:
    """Write an aerial duel once both have jumped for the ball; it begins when the first one does."""
    jumps = state.watching.jumps
    jumps[row] = state.now_s
    first_s = jumps.get(rival, -9.0)
    if gap_m <= AERIAL_M and state.now_s - first_s <= TOGETHER_S and state.watching.aerial is None:
        x, y = state.xy(rival)
        index = state.truth.add("aerial.start", first_s, rival, (x, y, 1.8), "", (), against=id_of(row))
        state.watching.aerial = (row, rival, index)


def is_interception(state: State, flight: Flight, row: int, what: str) -> bool:
    """True if an opponent plays a pass that was meant for somebody, and did not stand in its line at the kick.

    ``what`` is the contact. A goalkeeper claims.
    """
    if flight.mate < 0 or flight.what in _NO_PASSES or flight.places is None:
        return False
    if state.disputed or state.is_keeper(row) or what in _STRUCK or state.moving() < MOVING_M_S:
        return False
    start = state.truth.rows[flight.row].position
    return _off_line(start, state.ball.position, *flight.places[row].tolist()) > STOOD_M


def _off_line(start: Vector, end: Vector, x: float, y: float) -> float:
    """Return the distance of a point over ground from the ray that leads from one point through another."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    share = max(((x - start[0]) * dx + (y - start[1]) * dy) / max(dx * dx + dy * dy, 1e-9), 0.0)
    return math.hypot(x - start[0] - share * dx, y - start[1] - share * dy)


def won(state: State, row: int, t_s: float, index: int, cause: int) -> None:
    """Begin to watch a ball won whether it is secured; ``index`` is the row of the contact."""
    if not state.is_keeper(row) and state.truth.rows[index].detail.get("what") not in _STRUCK:
        state.watching.recovering = (row, t_s, index, cause)


def touched(state: State, row: int) -> None:
    """Settle by the next touch whether a tackle is won, and whether a ball that was won is a recovery."""
    settle_tackle(state, int(state.team[row]))
    if state.watching.recovering is None:
        return
    winner, t_s, index, cause = state.watching.recovering
    state.watching.recovering = None
    if state.team[row] == state.team[winner]:
        state.truth.add("recovery", t_s, winner, state.truth.rows[index].position, "", (cause, index))


def swept(state: State, row: int, t_s: float, index: int) -> None:
    """Write a sweep if a goalkeeper outside the own penalty area takes a ball that an opponent touched last.

    ``index`` is the row of his contact.
    """
    owner, team = state.truth.owner, int(state.team[row])
    x, y, _ = state.ball.position
    if state.is_keeper(row) and owner >= 0 and state.team[owner] != team and not state.in_box(team, x, y):
        state.truth.add("gk.sweep", t_s, row, None, "", (index,))
