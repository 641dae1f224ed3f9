"""Contacts with the ball on purpose: kicks, throws, headers, with human error; and their rows of truth.

Every change of the ball's velocity by a body goes through :func:`contact`. It begins a contact in the coming tick,
writes its row, and updates possession and the flight under way. The row gets its position when the tick is played.
"""

from __future__ import annotations

import math

from football.payloads import Scalar
from simulator.physics.ball import launch
from simulator.play import flights
from simulator.play.decisions import goal_chance
from simulator.play.match_state import Action, Flight, Pending, State
from simulator.play.offside import may_be_ahead
from simulator.play.truth_writer import HIT_M_S2, id_of
from simulator.records import STEP_S, Vector

#: Fastest kicks and headers, m/s.
KICK_MAX_M_S, HEAD_MAX_M_S = 34.0, 17.0
_STILL: Vector = (0.0, 0.0, 0.0)


def foot_at(state: State, row: int, position: Vector, direction: tuple[float, float]) -> str:
    """Return the foot on whose side the ball is, for a player who looks along ``direction``."""
    x, y = state.xy(row)
    return "left_foot" if direction[0] * (position[1] - y) - direction[1] * (position[0] - x) > 0 else "right_foot"


def ball_position_at(state: State, after_s: float) -> Vector:
    """Return the position of the ball after a short time if nobody touches it."""
    (x, y, z), (vx, vy, vz) = state.ball.position, state.ball.velocity
    return x + vx * after_s, y + vy * after_s, z + vz * after_s


def contact(
    state: State, row: int, limb: str, velocity: Vector, what: str, *, after_s: float = 0.0, spin: Vector = _STILL,
    duration_s: float = 0.009, is_hold: bool = False, deflection: bool = False, **detail: Scalar,
) -> int:  # fmt: skip
    """Begin a contact in the coming tick; return the index of its row."""
    before = state.ball.velocity
    if limb == "foot":
        limb = foot_at(state, row, ball_position_at(state, after_s), (velocity[0], velocity[1]))
    t_s = state.touch(row, limb, velocity, what, spin=spin, after_s=after_s, duration_s=duration_s, is_hold=is_hold)
    delta = math.dist(before, velocity)
    peak = 0.5 * math.pi * delta / duration_s
    kind = "hit" if peak >= HIT_M_S2 else "touch"
    index = state.truth.add(
        kind, t_s, row, None, limb, what=what, delta_v_m_s=round(delta, 3), peak_m_s2=round(peak, 1),
        speed_before_m_s=round(math.dist(_STILL, before), 3), speed_after_m_s=round(math.dist(_STILL, velocity), 3),
        **detail,
    )  # fmt: skip
    if limb == "head":
        rise = round(float(state.columns[row, 6]), 3)
        state.truth.add("header", t_s, row, None, "jumping" if rise > 0.05 else "standing", (index,), rise_m=rise)
    aerial = state.watching.aerial
    if aerial is not None:
        if row in aerial[:2]:
            state.truth.add("aerial.won", t_s, row, None, "", (aerial[2], index))
        state.watching.aerial = None
    if deflection:
        state.truth.add("deflection", t_s, row, None, limb, (index,))
    if state.live:
        flights.touched(state, row, t_s, index, what, velocity, deflection)
        if state.team[row] < 2:
            state.truth.touched(row, t_s, index, kind, None)
    if state.team[row] < 2 and state.live:
        state.last = row
    state.touched_s[row] = t_s
    state.last_contact = index
    return index


def seize(state: State, row: int, what: str) -> int:
    """Close the hands around a dead ball, which then moves with them until it is let go. Returns the row.

    The peak of its acceleration is measured as the tick is played; it decides between a hit and a touch.
    """
    index = state.truth.add("touch", state.now_s, row, None, "right_hand", what=what)
    state.expect(Pending(row, "right_hand", what, state.now_s, STEP_S, _STILL, is_hold=True, truth_row=index))
    return index


def kick(
    state: State,
    row: int,
    action: Action,
    limb: str = "foot",
    *,
    after_s: float = 0.0,
    restart: str = "",
    instructed: tuple[Vector, Vector] | None = None,
) -> int:
    """Play the ball as ``action`` says and write the attempt.

    Args:
        restart: kind of the restart that it is, or empty.
        instructed: velocity and spin of a script's instruction; None: those of the action, with human error.

    Returns:
        the attempt's row.
    """
    position = ball_position_at(state, after_s)
    x, y, _ = position
    near = state.pressure(row)
    velocity, spin, detail = (
        aimed(state, row, action, position, near, limb) if instructed is None else (*instructed, {})
    )
    team = int(state.team[row])
    ahead = may_be_ahead(state, row)
    # Hands push a ball for longer than a foot does.
    length_s = max(0.009, math.dist(velocity, state.ball.velocity) / 150.0) if limb.endswith("hand") else 0.009
    what = touch_name(action)
    index = contact(state, row, limb, velocity, what, after_s=after_s, spin=spin, duration_s=length_s)
    t_s = state.truth.rows[index].t_s
    attempt = attempted(state, row, action, index, ahead, restart, near, detail)
    if action.kind == "shot":
        assert state.flight is not None
        inside, close, meets = flights.would_score(state, team, position, velocity, spin)
        state.flight.on_target = inside
        row_of = state.truth.rows[attempt]
        row_of.detail["on_target"] = inside
        deep = state.depth(team, x)
        xg = 0.76 if restart == "penalty" else goal_chance(deep, y, header=limb == "head")
        row_of.detail["xg"] = round(xg, 3)
        if close:
            kind = "shot.on_target_pred" if inside else "shot.off_target_pred"
            goal_y, goal_z = round(meets[1], 2), round(meets[2], 2)
            state.truth.add(kind, t_s, row, None, "", (attempt,), goal_y_m=goal_y, goal_z_m=goal_z)
        credit(state, "keypass", t_s, attempt)
    elif action.what == "clearance" and state.depth(team, x) > state.half_x * 4 / 3:
        state.truth.add("clearance", t_s, row, None, "", (attempt,))
    state.give_control(team)
    state.watching.kick = index
    if runs_on(state, row, action):
        state.run_until_s[row] = t_s + 2.2
    state.redirect_ball()
    return attempt


def attempted(
    state: State, row: int, action: Action, index: int, ahead: tuple[int, ...], restart: str, near: float,
    detail: dict[str, Scalar],
) -> int:  # fmt: skip
    """Write the pass or shot that the contact ``index`` begins, and make it the flight under way."""
    t_s = state.truth.rows[index].t_s
    kind = "shot" if action.kind == "shot" else "pass"
    given: dict[str, Scalar] = {"what": action.what, "outcome": "", "pressure_m": round(near, 2)}
    if kind == "pass":
        length = math.hypot(action.target[0] - state.ball.position[0], action.target[1] - state.ball.position[1])
        given |= {"intended": id_of(action.mate), "receiver": "", "received_us": None, "meant_m": round(length, 2)}
    if restart:
        given["restart"] = restart
    attempt = state.truth.add(f"{kind}.attempt", t_s, row, None, "", (index,), **given, **detail)
    state.truth.rows[attempt].open = True
    target = (action.target[0], action.target[1])
    team = int(state.team[row])
    state.flight = Flight(
        attempt, kind, action.what, row, team, action.mate, target, t_s, restart, ahead,
        places=state.columns[:, :2].copy(),
    )  # fmt: skip
    state.holder, state.in_hands, state.action = -1, False, None
    return attempt


def runs_on(state: State, row: int, action: Action) -> bool:
    """True if the passer runs on for a return pass."""
    short = action.kind == "pass" and action.flight_s == 0.0 and action.what in ("pass", "through")
    return (
        short
        and state.depth_of[row] > 0.3
        and state.depth(int(state.team[row]), state.xy(row)[0]) > 14.0
        and state.chance(0.25)
    )


def credit(state: State, kind: str, t_s: float, cause: int) -> None:
    """Credit the completed pass before a shot or goal (8.12), within 10 s, to its passer."""
    if state.last_pass < 0:
        return
    row = state.truth.rows[state.last_pass]
    if t_s - row.t_s <= 10.0 and row.detail["receiver"] == id_of(state.truth.rows[cause].person):
        kicked = state.truth.rows[row.causes[0]]
        state.truth.add(kind, t_s, row.person, kicked.position, "", (state.last_pass, cause))


def touch_name(action: Action) -> str:
    """Return the name of the contact that carries out an action."""
    if action.what in ("cross", "cutback"):
        return "cross"
    return action.what if action.what in ("clearance", "throw") else action.kind


def aimed(
    state: State, row: int, action: Action, position: Vector, near: float, limb: str
) -> tuple[Vector, Vector, dict[str, Scalar]]:
    """Return velocity and spin of a kick with its error, and the details for its row of truth."""
    x, y, z = position
    ability = state.ability["shooting" if action.kind == "shot" else "passing"][row]
    # Haste, a moving ball and one that is off the ground make kicks worse.
    worse = 1.0 + 0.6 * max(0.0, 1.0 - near / 3.0) + 0.02 * state.moving() + 0.3 * (z > 0.5) - 0.12 * ability
    worse *= 1.5 if limb == "head" else 1.0
    if action.kind == "shot":
        return _shot(state, action, position, worse, limb)
    dx, dy = action.target[0] - x, action.target[1] - y
    away = max(math.hypot(dx, dy), 0.5)
    turn = state.draw(0.0, 0.045 * worse)
    dx, dy = dx * math.cos(turn) - dy * math.sin(turn), dx * math.sin(turn) + dy * math.cos(turn)
    if action.flight_s > 0.0 or z > 0.6:
        flight = max(action.flight_s or 0.35 + away / 20.0, 0.3)
        length = 1.0 + state.draw(0.0, 0.07 * worse)
        target = (x + dx * length, y + dy * length, action.target[2])
        back = 0.0 if limb == "head" else min(12.0 + away, 40.0)
        spin = (back * dy / away, -back * dx / away, 0.0)
        velocity = launch(position, target, flight_s=flight, spin=spin)
        return _capped(velocity, HEAD_MAX_M_S if limb == "head" else KICK_MAX_M_S), spin, {}
    speed = action.speed_m_s * (1.0 + state.draw(0.0, 0.085 * worse))
    # Many passes leave the ground a little, some are driven at the height of knees.
    rise = abs(state.draw(0.0, 0.04)) * speed
    if away > 9.0 and state.chance(0.55):
        rise = float(state.rng.uniform(1.2, 3.6))
    return (dx / away * speed, dy / away * speed, rise), _STILL, {}


def _shot(
    state: State, action: Action, position: Vector, worse: float, limb: str
) -> tuple[Vector, Vector, dict[str, Scalar]]:
    away = max(math.hypot(action.target[0] - position[0], action.target[1] - position[1]), 1.0)
    wide = (0.15 if limb == "head" else 0.125) * worse
    miss_y, miss_z = state.draw(0.0, wide) * away, state.draw(0.25 * wide, 0.7 * wide) * away
    target = (action.target[0], action.target[1] + miss_y, max(action.target[2] + miss_z, 0.12))
    # Who shoots from afar hits the ball hard: a slow one would have to be lobbed there.
    far = max(away - 11.0, 0.0)
    fast = (11.0, 16.0) if limb == "head" else (17.0 + 0.4 * far, 28.0 + 0.2 * far)
    speed = float(state.rng.uniform(*fast))
    spin = (0.0, 0.0, state.draw(0.0, 15.0))
    velocity = launch(position, target, speed_m_s=speed, spin=spin)
    return _capped(velocity, KICK_MAX_M_S), spin, {"aim_y_m": action.target[1], "aim_z_m": action.target[2]}


def _capped(velocity: Vector, limit_m_s: float) -> Vector:
    size = math.dist(_STILL, velocity)
    if size <= limit_m_s:
        return velocity
    return velocity[0] / size * limit_m_s, velocity[1] / size * limit_m_s, velocity[2] / size * limit_m_s


def gains(state: State, row: int, decide_s: float) -> None:
    """Give ``row`` control of the ball; the player decides what to do after ``decide_s``."""
    state.holder, state.in_hands, state.action = row, False, None
    state.held_since_s = state.now_s
    state.decide_s = state.now_s + decide_s
    state.give_control(int(state.team[row]))
    state.flight = None if state.flight is None or state.flight.save is None else state.flight
