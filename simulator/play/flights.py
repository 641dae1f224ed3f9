"""What becomes of passes and shots: the first that happens to the ball decides, and is noted then.

A goalkeeper's touch of a shot waits for its verdict until the next thing happens to the ball, as it may still go
in; a block is told at once from a deflection by where the ball goes on to (hierarchy 7.1).
"""

from __future__ import annotations

import math

from simulator.physics.ball import forecast
from simulator.play.match_state import BAR_Z_M, POST_Y_M, Flight, State, Whistle
from simulator.play.offside import is_ahead
from simulator.play.truth_writer import who
from simulator.records import REFEREES, Vector

_RADIUS_M = 0.11
#: 7.8: a pass must still move so fast to be intercepted; the ball may run out so long afterwards (ours).
MOVING_M_S, TO_OUT_S = 4.0, 1.5


def goes_in(state: State, team: int, place: Vector, velocity: Vector, spin: Vector) -> tuple[bool, bool, Vector]:
    """Whether a ball that nobody touches would score for ``team`` within 1.5 s, whether it passes within a metre of
    the mouth, and where it meets the goal line."""
    sign = float(state.sign[team])
    line = state.half_x + _RADIUS_M
    if velocity[0] * sign <= 0.5:
        return False, False, place
    path = forecast(place, velocity, spin, 1.5, 0.02)
    u = path[:, 1] * sign
    beyond = (u >= line).nonzero()[0]
    if not len(beyond) or beyond[0] == 0:
        return False, False, place
    k = int(beyond[0])
    share = (line - u[k - 1]) / (u[k] - u[k - 1])
    y = float(path[k - 1, 2] + share * (path[k, 2] - path[k - 1, 2]))
    z = float(path[k - 1, 3] + share * (path[k, 3] - path[k - 1, 3]))
    inside = abs(y) < POST_Y_M - _RADIUS_M and z < BAR_Z_M - _RADIUS_M
    close = abs(y) < POST_Y_M + 1.0 and z < BAR_Z_M + 1.0
    return inside, close, (line * sign, y, z)


def touched(state: State, row: int, t_s: float, index: int, what: str, velocity: Vector, is_deflection: bool) -> None:
    """A contact with the ball in play, before its own attempt (if it is one) is noted."""
    settle_interception(state, t_s)
    flight = state.flight
    if flight is None:
        return
    team = int(state.team[row])
    if flight.kind == "pass":
        if is_deflection and team != flight.team:
            return
        _end_pass(state, row, t_s, index)
        return
    if flight.save is not None:
        verdict(state)
        return
    if row == flight.kicker or team == 2:
        return
    if team == flight.team:
        _close_shot(state, "short")
        return
    inside, _, _ = goes_in(state, flight.team, state.ball.place, velocity, (0.0, 0.0, 0.0))
    if state.is_keeper(row):
        how = {"catch": "caught", "parry": "parried", "punch": "punched"}.get(what, "body")
        flight.save = (row, t_s, index, how)
        return
    if t_s - flight.born_s > 1.5:
        _close_shot(state, "short")
        return
    kind = "shot.deflected" if inside else "shot.blocked"
    state.notes.note(kind, t_s, flight.kicker, None, "", (flight.row, index), by=who(row))
    if inside:
        state.notes.rows[flight.row].detail["deflected"] = True
        flight.on_target = True
    else:
        _close_shot(state, "blocked")


def verdict(state: State, *, goal: bool = False) -> None:
    """A goalkeeper had touched the shot under way: it was a save unless the ball is in the goal now."""
    flight = state.flight
    if flight is None or flight.save is None:
        return
    keeper, t_s, index, how = flight.save
    flight.save = None
    if goal:
        return
    if flight.on_target:
        place = state.notes.rows[index].place
        state.notes.note("shot.saved", t_s, keeper, place, how, (flight.row, index), shooter=who(flight.kicker))
    _close_shot(state, "saved" if flight.on_target else "kept")


def _close_shot(state: State, outcome: str) -> None:
    flight = state.flight
    assert flight is not None
    row = state.notes.rows[flight.row]
    row.detail["outcome"] = "post" if outcome == "short" and row.detail.get("post") else outcome
    row.open = False
    state.flight = None


def _end_pass(state: State, row: int, t_s: float, index: int) -> None:
    """The first touch of another player ends a pass."""
    flight = state.flight
    assert flight is not None
    notes = state.notes
    attempt = notes.rows[flight.row]
    state.flight = None
    attempt.open = False
    if row == flight.kicker:
        attempt.detail["outcome"] = "lost"
        return
    complete = int(state.team[row]) == flight.team
    if complete and row in flight.ahead and _offside(state, flight, row, t_s):
        attempt.detail.update(outcome="offside", receiver=who(row), received_us=round(t_s * 1e6))
        return
    if not complete:
        _interfere(state, flight, t_s)
    attempt.detail.update(
        outcome="complete" if complete else "intercepted", receiver=who(row), received_us=round(t_s * 1e6)
    )
    x, y, _ = state.ball.place
    length = math.hypot(x - attempt.place[0], y - attempt.place[1])
    attempt.detail["length_m"] = round(length, 2)
    kind = "pass.complete" if complete else "pass.intercepted"
    ended = notes.note(
        kind, t_s, flight.kicker, None, "", (flight.row, index), receiver=who(row), length_m=round(length, 2),
        what=flight.what, start_x_m=attempt.place[0], start_y_m=attempt.place[1], kick_us=round(attempt.t_s * 1e6),
    )  # fmt: skip
    if complete:
        state.last_pass = ended
    elif state.moving() >= MOVING_M_S and not state.disputed:
        found = notes.note("interception", t_s, row, None, "won", (flight.row, index), passer=who(flight.kicker))
        notes.rows[found].open = True
        state.interception = found


def _offside(state: State, flight: Flight, row: int, t_s: float, variant: str = "play") -> bool:
    """Law 11: a mate who was in an offside position at the kick is involved now; the flag goes up, the whistle
    follows."""
    if state.whistle is not None:
        return False
    notes = state.notes
    kick = notes.rows[flight.row]
    ball_u = kick.place[0] * float(state.sign[flight.team])
    ahead, by_m = is_ahead(state, row, flight.team, flight.born_s, ball_u)
    if not ahead:
        return False
    x, y = state.xy(row)
    pass_us, by_m = round(flight.born_s * 1e6), round(by_m, 3)
    position = notes.note("offside.position", flight.born_s, row, kick.place, "", (flight.row,), beyond_m=by_m)
    offence = notes.note(
        "offside.offence", t_s, row, (x, y, 0.9), variant, (flight.row, position), pass_us=pass_us, beyond_m=by_m
    )
    if variant == "advantage":
        return True
    up_s = t_s + float(state.rng.uniform(0.2, 0.6))
    assistant = REFEREES[1 if x > 0 else 2]
    place = (float(state.columns[assistant, 0]), float(state.columns[assistant, 1]), 1.9)
    notes.note("flag", up_s, assistant, place, "offside", (offence,))
    at_s = up_s + float(state.rng.uniform(0.2, 0.6))
    state.whistle = Whistle(at_s, "offside", 1 - flight.team, (x, y), offence)
    return True


def _interfere(state: State, flight: Flight, t_s: float) -> None:
    """An opponent got the ball while a mate in an offside position went for it: no whistle, he has the advantage."""
    x, y, _ = state.ball.place
    for row in flight.ahead:
        if row == flight.mate and state.gap(row, x, y) < 1.2:
            _offside(state, flight, row, t_s, "advantage")


def settle_interception(state: State, t_s: float, *, out: int = -1) -> None:
    """7.8: an interception was ``to out`` if the ball left the pitch soon after it, without another touch."""
    if state.interception < 0:
        return
    row = state.notes.rows[state.interception]
    if out >= 0 and t_s - row.t_s <= TO_OUT_S:
        row.variant = "to out"
        row.causes = (*row.causes, out)
    row.open = False
    state.interception = -1


def stopped(state: State, outcome: str, t_s: float, cause: int, place: Vector, variant: str = "") -> None:
    """Play died with a pass or shot under way: ``out``, ``offside``, ``stopped``, or of a shot ``off``."""
    flight = state.flight
    settle_interception(state, t_s, out=cause if outcome == "out" else -1)
    if flight is None:
        return
    attempt = state.notes.rows[flight.row]
    if flight.kind == "shot":
        verdict(state)
        if state.flight is None:
            return
        if outcome == "out" and variant:
            state.notes.note("shot.off", t_s, flight.kicker, place, variant, (flight.row, cause))
        hit_post = bool(attempt.detail.get("post"))
        _close_shot(state, "post" if hit_post else "off" if outcome == "out" and variant else "short")
        return
    attempt.detail["outcome"] = outcome
    attempt.open = False
    state.flight = None
    if outcome == "out":
        length = math.hypot(place[0] - attempt.place[0], place[1] - attempt.place[1])
        state.notes.note(
            "pass.out", t_s, flight.kicker, place, variant, (flight.row, cause), what=flight.what,
            length_m=round(length, 2), start_x_m=attempt.place[0], start_y_m=attempt.place[1],
            kick_us=round(attempt.t_s * 1e6),
        )  # fmt: skip


def faded(state: State) -> None:
    """A shot that nobody met and that went nowhere (it bounced back or stopped) is over after 3 s."""
    flight = state.flight
    if flight is not None and flight.kind == "shot" and state.now_s - flight.born_s > 3.0:
        if flight.save is not None:
            verdict(state)
        else:
            _close_shot(state, "short")
