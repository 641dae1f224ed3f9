"""Outcomes of passes and shots: the first thing that happens to the ball decides, and its row is written then.

A goalkeeper's touch of a shot waits for its verdict until the next thing happens to the ball, because the ball may
still go in. Where the ball continues decides between a block and a deflection (hierarchy 7.1).
"""

from __future__ import annotations

import math

from football.constants import BALL_RADIUS_M
from simulator.physics.ball import forecast
from simulator.play import provider_truth
from simulator.play.match_state import BAR_Z_M, POST_Y_M, Flight, State, Whistle
from simulator.play.offside import EXEMPT, KNOWN_S, metres_beyond
from simulator.play.truth_writer import id_of
from simulator.records import REFEREES, Vector

#: 7.8: an intercepted ball may run out so long afterwards (ours).
TO_OUT_S = 1.5


def would_score(state: State, team: int, position: Vector, velocity: Vector, spin: Vector) -> tuple[bool, bool, Vector]:
    """Forecast a ball that nobody touches: would it score for ``team`` within 1.5 s?

    Returns:
        whether it would score; whether it passes within a metre of the mouth; where it meets the goal line.
    """
    sign = float(state.sign[team])
    line = state.half_x + BALL_RADIUS_M
    if velocity[0] * sign <= 0.5:
        return False, False, position
    path = forecast(position, velocity, spin, 1.5, 0.02)
    u = path[:, 1] * sign
    beyond = (u >= line).nonzero()[0]
    if not len(beyond) or beyond[0] == 0:
        return False, False, position
    k = int(beyond[0])
    share = (line - u[k - 1]) / (u[k] - u[k - 1])
    y = float(path[k - 1, 2] + share * (path[k, 2] - path[k - 1, 2]))
    z = float(path[k - 1, 3] + share * (path[k, 3] - path[k - 1, 3]))
    inside = abs(y) < POST_Y_M - BALL_RADIUS_M and z < BAR_Z_M - BALL_RADIUS_M
    close = abs(y) < POST_Y_M + 1.0 and z < BAR_Z_M + 1.0
    return inside, close, (line * sign, y, z)


def touched(state: State, row: int, t_s: float, index: int, what: str, velocity: Vector, is_deflection: bool) -> None:
    """Update the flight under way by a contact with the ball in play, before that contact's own attempt is written."""
    settle_interception(state, t_s)
    settle_positions(state, now=True)
    settle_block(state)
    provider_truth.touched(state, row)
    provider_truth.swept(state, row, t_s, index)
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
    inside, _, _ = would_score(state, flight.team, state.ball.position, velocity, (0.0, 0.0, 0.0))
    if state.is_keeper(row):
        how = {"catch": "caught", "parry": "parried", "punch": "punched"}.get(what, "body")
        flight.save = (row, t_s, index, how)
        return
    if t_s - flight.born_s > 1.5:
        _close_shot(state, "short")
        return
    kind = "shot.deflected" if inside else "shot.blocked"
    block = state.truth.add(kind, t_s, flight.kicker, None, "", (flight.row, index), by=id_of(row))
    if inside:
        state.truth.rows[flight.row].detail["deflected"] = True
        flight.on_target = True
    else:
        state.watching.block = block, flight.row, flight.on_target
        _close_shot(state, "blocked")
        state.truth.rows[block].open = state.truth.rows[flight.row].open = True


def settle_block(state: State, *, goal: bool = False) -> int:
    """Settle what became of a blocked shot: it is only deflected if the ball is in the goal now.

    Returns:
        the row of the attempt if it scored, as it was on target (Opta: otherwise it is an own goal); else -1.
    """
    block, state.watching.block = state.watching.block, None
    if block is None:
        return -1
    index, attempt, on_target = block
    row, shot = state.truth.rows[index], state.truth.rows[attempt]
    row.open = shot.open = False
    if not goal:
        return -1
    row.kind, shot.detail["deflected"] = "shot.deflected", True
    shot.detail["outcome"] = "goal" if on_target else "off"
    return attempt if on_target else -1


def verdict(state: State, *, goal: bool = False) -> None:
    """Decide a goalkeeper's touch of the shot under way: a save, unless the ball is in the goal now."""
    settle_positions(state, now=True)
    flight = state.flight
    if flight is None or flight.save is None:
        return
    keeper, t_s, index, how = flight.save
    flight.save = None
    if goal:
        return
    if flight.on_target:
        position = state.truth.rows[index].position
        state.truth.add("shot.saved", t_s, keeper, position, how, (flight.row, index), shooter=id_of(flight.kicker))
    _close_shot(state, "saved" if flight.on_target else "kept")


def _close_shot(state: State, outcome: str) -> None:
    flight = state.flight
    assert flight is not None
    row = state.truth.rows[flight.row]
    row.detail["outcome"] = "post" if outcome == "short" and row.detail.get("post") else outcome
    row.open = False
    state.flight = None


def _end_pass(state: State, row: int, t_s: float, index: int) -> None:
    """End a pass by the first touch of another player."""
    flight = state.flight
    assert flight is not None
    truth = state.truth
    attempt = truth.rows[flight.row]
    state.flight = None
    attempt.open = False
    if row == flight.kicker:
        attempt.detail["outcome"] = "lost"
        return
    complete = int(state.team[row]) == flight.team
    if complete and _offside(state, flight, row, t_s):
        attempt.detail.update(outcome="offside", receiver=id_of(row), received_us=round(t_s * 1e6))
        return
    if not complete:
        _interfere(state, flight, t_s)
    attempt.detail.update(
        outcome="complete" if complete else "intercepted", receiver=id_of(row), received_us=round(t_s * 1e6)
    )
    x, y, _ = state.ball.position
    length = math.hypot(x - attempt.position[0], y - attempt.position[1])
    attempt.detail["length_m"] = round(length, 2)
    kind = "pass.complete" if complete else "pass.intercepted"
    ended = truth.add(
        kind, t_s, flight.kicker, None, "", (flight.row, index), receiver=id_of(row), length_m=round(length, 2),
        what=flight.what, start_x_m=attempt.position[0], start_y_m=attempt.position[1],
        kick_us=round(attempt.t_s * 1e6),
    )  # fmt: skip
    if complete:
        state.last_pass = ended
    elif provider_truth.is_interception(state, flight, row, str(truth.rows[index].detail["what"])):
        interception = truth.add(
            "interception", t_s, row, None, "won", (flight.row, index), passer=id_of(flight.kicker)
        )
        truth.rows[interception].open = True
        state.interception = interception
    elif not state.disputed:
        provider_truth.won(state, row, t_s, index, ended)


def settle_positions(state: State, *, now: bool = False) -> None:
    """Write who was in an offside position as the ball under way was kicked (7.15), once everybody's feet are known.

    Args:
        now: do not wait for that, as something happens to the ball.
    """
    flight = state.flight
    if flight is None or flight.offside is not None or not (now or state.now_s - flight.born_s >= KNOWN_S):
        return
    flight.offside = {}
    if not flight.ahead or flight.places is None:
        return
    ball_u = state.truth.rows[flight.row].position[0] * float(state.sign[flight.team])
    for row, by_m in metres_beyond(state, flight.ahead, flight.team, flight.born_s, ball_u).items():
        x, y = flight.places[row].tolist()
        flight.offside[row] = state.truth.add(
            "offside.position", flight.born_s, row, (x, y, 0.9), "", (flight.row,), beyond_m=round(by_m, 3)
        )


def _offside_position(state: State, flight: Flight, row: int) -> int:
    """Return the row of the offside position of a player that may be an offence (Law 11.3), -1 for none."""
    may_be = state.whistle is None and flight.restart not in EXEMPT
    return (flight.offside or {}).get(row, -1) if may_be else -1


def _offside(state: State, flight: Flight, row: int, t_s: float) -> bool:
    """Write an offside (Law 11): a player in an offside position at the kick is involved now.

    The flag and the whistle follow.
    """
    position = _offside_position(state, flight, row)
    if position < 0:
        return False
    truth = state.truth
    x, y = state.xy(row)
    pass_us, beyond_m = round(flight.born_s * 1e6), truth.rows[position].detail["beyond_m"]
    offence = truth.add(
        "offside.offence", t_s, row, (x, y, 0.9), "play", (flight.row, position), pass_us=pass_us, beyond_m=beyond_m
    )
    up_s = t_s + float(state.rng.uniform(0.2, 0.6))
    assistant = REFEREES[1 if x > 0 else 2]
    at = (float(state.columns[assistant, 0]), float(state.columns[assistant, 1]), 1.9)
    truth.add("flag", up_s, assistant, at, "offside", (offence,))
    at_s = up_s + float(state.rng.uniform(0.2, 0.6))
    state.whistle = Whistle(at_s, "offside", 1 - flight.team, (x, y), offence)
    return True


def _interfere(state: State, flight: Flight, t_s: float) -> None:
    """Write the advantage of opponents who won the ball while a player in an offside position went for it.

    The referee stops nothing for it (Law 5), so it is no offence that anybody sees given.
    """
    x, y, _ = state.ball.position
    for row in flight.ahead:
        position = _offside_position(state, flight, row)
        if position >= 0 and row == flight.mate and state.gap(row, x, y) < 1.2:
            state.truth.add("advantage", t_s, REFEREES[0], (*state.xy(row), 0.9), "offside", (flight.row, position))


def settle_interception(state: State, t_s: float, *, out: int = -1) -> None:
    """Settle an interception: ``to out`` if the ball left the pitch soon after, without another touch (7.8)."""
    if state.interception < 0:
        return
    row = state.truth.rows[state.interception]
    if out >= 0 and t_s - row.t_s <= TO_OUT_S:
        row.variant = "to out"
        row.causes = (*row.causes, out)
    row.open = False
    state.interception = -1


def stopped(state: State, outcome: str, t_s: float, cause: int, position: Vector, variant: str = "") -> None:
    """End the flight under way because the ball is dead: ``out``, ``offside``, ``stopped``, or of a shot ``off``."""
    flight = state.flight
    settle_interception(state, t_s, out=cause if outcome == "out" else -1)
    settle_positions(state, now=True)
    provider_truth.settle_tackle(state)
    settle_block(state)
    if flight is None:
        return
    attempt = state.truth.rows[flight.row]
    if flight.kind == "shot":
        verdict(state)
        if state.flight is None:
            return
        if outcome == "out" and variant:
            state.truth.add("shot.off", t_s, flight.kicker, position, variant, (flight.row, cause))
        hit_post = bool(attempt.detail.get("post"))
        _close_shot(state, "post" if hit_post else "off" if outcome == "out" and variant else "short")
        return
    attempt.detail["outcome"] = outcome
    attempt.open = False
    state.flight = None
    if outcome == "out":
        length = math.hypot(position[0] - attempt.position[0], position[1] - attempt.position[1])
        state.truth.add(
            "pass.out", t_s, flight.kicker, position, variant, (flight.row, cause), what=flight.what,
            length_m=round(length, 2), start_x_m=attempt.position[0], start_y_m=attempt.position[1],
            kick_us=round(attempt.t_s * 1e6),
        )  # fmt: skip


def close_faded_shot(state: State) -> None:
    """Close a shot after 3 s if nobody met it and it led to nothing (it bounced back or stopped)."""
    flight = state.flight
    if flight is not None and flight.kind == "shot" and state.now_s - flight.born_s > 3.0:
        if flight.save is not None:
            verdict(state)
        else:
            _close_shot(state, "short")
