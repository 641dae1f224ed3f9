"""Scripted scenarios: the match begins as an opening says, and persons try what instructions tell them.

An instruction is *waiting*, then *in force*, then *done*. Who is told to play the ball runs to where he can meet it
first, and does what he is told at the first touch that his body allows; whether that succeeds is up to the ball and
the others. In a ``still`` script everybody who is not told anything stands, and the ball only bounces off him.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from simulator.physics.ball import MovingBall, launch, rolling
from simulator.play import (
    ball_actions,
    contests,
    goalkeeping,
    referee,
    substitutions,
)
from simulator.play.decisions import air_time
from simulator.play.match_state import Action, State
from simulator.play.perception import meetings
from simulator.play.script import CONTACTS, Instruction, Opening, Script
from simulator.records import REFEREES, Row, Vector

_STILL: Vector = (0.0, 0.0, 0.0)
_GRAVITY_M_S2 = 9.81
#: Who is told to run there is there when he is this near.
THERE_M = 0.4
#: A tackler, a fouler must come this near to a man.
MAN_M = 0.9


@dataclass
class _Told:
    """An instruction and how far it has got."""

    what: Instruction
    since_s: float = math.inf
    is_done: bool = False
    heard: bool = False


class Prompter:
    """Makes a match obey a script.

    Args:
        state: of the match, lined up already.
        script: what shall happen.
    """

    def __init__(self, state: State, script: Script) -> None:
        self._state = state
        self._told = [_Told(instruction) for instruction in script.instructions]
        self._still = script.still
        state.notes.listeners.append(self._hear)

    def _hear(self, row: Row) -> None:
        """A truth row has been noted: whoever waits for one like it is called."""
        for number, told in enumerate(self._told):
            what = told.what
            if told.heard or not what.after or what.after != row.kind:
                continue
            if number and not self._told[number - 1].is_done and not self._is_contact_of(number - 1, row):
                continue
            if what.after_person is not None and what.after_person != row.person:
                continue
            told.heard = True
            told.since_s = row.t_s + what.delay_s

    def _is_contact_of(self, number: int, row: Row) -> bool:
        """Rows of the very contact by which the instruction before is done count as coming after it."""
        before = self._told[number]
        return before.since_s <= self._state.now_s and before.what.person == row.person

    def direct(self) -> None:
        """Each tick, after all plans: those under instruction get their targets; others of a still script stand."""
        state = self._state
        for told in self._told:
            if not told.what.after and not told.heard:
                told.since_s, told.heard = told.what.at_s + told.what.delay_s, True
        state.told = {t.what.person for t in self._told if self._in_force(t) and t.what.do in CONTACTS}
        if self._still:
            self._stand_still()
        for number, told in enumerate(self._told):
            if self._in_force(told) and self._is_newest(number, told):
                self._lead(told)

    def _in_force(self, told: _Told) -> bool:
        return not told.is_done and told.since_s <= self._state.now_s

    def _is_newest(self, number: int, told: _Told) -> bool:
        """A later instruction of the same person that is in force ends a run or a stand."""
        later = (t for t in self._told[number + 1 :] if t.what.person == told.what.person and self._in_force(t))
        if told.what.do in ("run", "stand") and any(True for _ in later):
            told.is_done = True
            return False
        return True

    def _stand_still(self) -> None:
        state = self._state
        rows = np.array([row for row in range(len(state.team)) if row not in state.told])
        state.targets[rows] = state.columns[rows, :2]
        state.paces[rows] = 0.3
        state.facing[rows] = state.columns[rows, 4]

    def _lead(self, told: _Told) -> None:
        """Moves somebody as told; instructions without the ball are done here."""
        state, what = self._state, told.what
        row, elapsed_s = what.person, state.now_s - told.since_s
        if what.for_s is not None and elapsed_s >= what.for_s and what.do in ("run", "stand"):
            told.is_done = True
        elif what.do == "run":
            self._run(told)
        elif what.do == "stand":
            state.targets[row], state.paces[row] = state.xy(row), 0.3
        elif what.do == "jump":
            state.bodies.jump(row, what.height_m or 0.4)
            told.is_done = True
        elif what.do == "fall":
            substitutions.go_down(state, row, what.for_s or 2.5)
            told.is_done = True
        elif what.do == "foul":
            self._foul(told)
        elif what.do == "dribble" and state.holder == row:
            self._dribble(told)
        elif state.live:
            self._meet(told)

    def _meet(self, told: _Told) -> None:
        """Goes where he can play the ball; a goalkeeper dives for a shot."""
        state, row = self._state, told.what.person
        if state.is_keeper(row) and state.flight is not None and state.flight.kind == "shot":
            goalkeeping.guard(state)
            return
        _to_the_ball(state, row, with_head=told.what.do == "header")
        if told.what.do == "header":
            contests.leap(state)

    def _run(self, told: _Told) -> None:
        state, what = self._state, told.what
        row = what.person
        x, y = state.xy(what.mate) if what.mate is not None else state.xy(row)
        if what.target is not None:
            x, y = what.target[0], what.target[1]
        state.targets[row], state.paces[row] = (x, y), what.speed_m_s or 6.0
        state.facing[row] = math.nan
        if state.gap(row, x, y) < THERE_M and what.for_s is None:
            told.is_done = True

    def _foul(self, told: _Told) -> None:
        """He runs into his man: whom he is told, or the nearest opponent."""
        state, what = self._state, told.what
        row = what.person
        victim = what.mate if what.mate is not None else state.nearest(state.opponents(row), *state.xy(row))[0]
        x, y = state.xy(victim)
        state.targets[row], state.paces[row] = (x, y), what.speed_m_s or 8.0
        state.facing[row] = math.nan
        if state.gap(row, x, y) < MAN_M and state.live:
            referee.foul(state, row, victim, "careless", is_certain=True)
            told.is_done = True

    def _dribble(self, told: _Told) -> None:
        """The holder takes the ball where he is told to."""
        state, what = self._state, told.what
        target = what.target or (float(state.sign[state.team[what.person]]) * state.half_x, state.ball.place[1], 0.11)
        state.action = Action("carry", "dribble", -1, target, what.speed_m_s or 5.0)
        state.decide_s = state.now_s + 0.1
        bx, by, _ = state.ball.place
        if math.hypot(bx - target[0], by - target[1]) < 1.2:
            told.is_done = True
            state.decide_s = state.now_s

    def waits_for(self, row: int) -> bool:
        """Whether somebody will still be told to play the ball: a restart of his waits for it."""
        return any(t.what.person == row and t.what.do in CONTACTS and not t.is_done for t in self._told)

    def play(self, row: int, after_s: float, part: str, restart: str = "") -> bool:
        """Somebody who is under instruction has the ball within reach in the coming tick.

        Returns:
            whether he did what he was told; if not, he plays on as he likes.
        """
        told = next(
            (t for t in self._told if t.what.person == row and self._in_force(t) and t.what.do in CONTACTS), None
        )
        if told is None:
            return False
        if not _suits(told.what, part):
            return True
        told.is_done = told.what.do != "dribble"
        _perform(self._state, told.what, after_s, part, restart)
        return True


def _suits(what: Instruction, part: str) -> bool:
    """Whether the ball is where the told body part is."""
    if what.do == "header" or what.limb == "head":
        return part == "head"
    return not (what.limb.endswith("foot") and part != "foot")


def _to_the_ball(state: State, row: int, *, with_head: bool = False) -> None:
    """Runs to where he can meet the ball first, or meet it with his head."""
    if state.holder == row:
        return
    if state.path_s != state.now_s:
        state.look()
    rows = np.array([row])
    high = np.array([state.height_m[row] + (0.2 if with_head else 0.5)])
    when, where = meetings(
        state.path, state.columns, rows, state.bodies.speed_max, state.bodies.acceleration_max, np.array([0.05]),
        0.5, 9.0 if with_head else 0.7, high,
    )  # fmt: skip
    point = state.path[where[0]] if when[0] < 90.0 else state.path[-1]
    state.targets[row], state.paces[row] = (float(point[1]), float(point[2])), 9.0
    far = state.gap(row, float(point[1]), float(point[2])) > 1.5
    bx, by, _ = state.ball.place
    x, y = state.xy(row)
    state.facing[row] = math.nan if far else math.atan2(by - y, bx - x)


def _perform(state: State, what: Instruction, after_s: float, part: str, restart: str) -> None:
    """The told contact."""
    row = what.person
    if what.do in ("trap", "dribble"):
        contests.control(state, row, after_s, part, state.pressure(row))
    elif what.do == "block":
        contests.deflect(state, row, after_s, contests.BLOCK_M)
    elif what.do == "tackle":
        contests.win(state, row, after_s)
    elif what.do == "handle":
        _handle(state, what, after_s)
    elif what.do in ("save", "catch", "parry", "punch") and state.is_keeper(row):
        goalkeeping.handle(state, row, after_s, "" if what.do == "save" else what.do)
        if what.for_s is not None and state.in_hands and state.holder == row:
            state.decide_s = state.now_s + what.for_s
    else:
        _strike(state, what, after_s, part, restart)


def _handle(state: State, what: Instruction, after_s: float) -> None:
    """The ball hits an arm, and the referee sees it."""
    vx, vy, vz = state.ball.velocity
    out = (-0.2 * vx, -0.2 * vy, 0.3 * abs(vz))
    ball_actions.contact(state, what.person, what.limb or "right_hand", out, "handle", after_s=after_s)
    state.kicked()
    referee.foul(state, what.person, -1, "handball", is_certain=True)


def _strike(state: State, what: Instruction, after_s: float, part: str, restart: str) -> None:
    """A kick, header or throw with the told aim, without human error."""
    row = what.person
    place = ball_actions.place_at(state, after_s)
    x, y, _ = place
    kind = "shot" if what.do == "shot" or (what.do == "header" and _at_goal(state, what)) else "pass"
    name = {"shot": "foot", "clear": "clearance", "header": "header"}.get(what.do, what.do)
    usual = "head" if "head" in (part, what.do[:4]) else "right_hand" if what.do == "throw" else "foot"
    limb = what.limb or usual
    target = what.target
    if target is None and what.mate is not None:
        mx, my = state.xy(what.mate)
        t = math.hypot(mx - x, my - y) / 14.0
        target = (mx + t * float(state.columns[what.mate, 2]), my + t * float(state.columns[what.mate, 3]), 0.11)
    if target is None:
        far = state.half_x if kind == "shot" else min(x * float(state.sign[state.team[row]]) + 25.0, state.half_x - 3.0)
        target = (far * float(state.sign[state.team[row]]), 0.5 * y, 0.8 if kind == "shot" else 0.11)
    velocity = told_velocity(what, place, target, kind)
    mate = what.mate if what.mate is not None else -1
    action = Action(kind, name, mate, target, 1.0)
    ball_actions.kick(state, row, action, limb, after_s=after_s, restart=restart, told=(velocity, what.spin or _STILL))


def _at_goal(state: State, what: Instruction) -> bool:
    goal_x = float(state.sign[state.team[what.person]]) * state.half_x
    return what.target is not None and abs(what.target[0] - goal_x) < 1.0 and abs(what.target[1]) < 5.0


def told_velocity(what: Instruction, place: Vector, target: Vector, kind: str) -> Vector:
    """Velocity of a told kick from ``place``: by its greatest height, or its speed, or as such balls are played."""
    x, y, z = place
    dx, dy = target[0] - x, target[1] - y
    away = max(math.hypot(dx, dy), 0.3)
    spin = what.spin or _STILL
    if what.height_m is not None:
        top = max(what.height_m, z + 0.05, target[2] + 0.05)
        up_s = math.sqrt(2.0 * (top - z) / _GRAVITY_M_S2)
        down_s = math.sqrt(2.0 * (top - target[2]) / _GRAVITY_M_S2)
        return launch(place, target, flight_s=up_s + down_s, spin=spin)
    if kind == "shot" or what.do == "header":
        return launch(place, target, speed_m_s=what.speed_m_s or (25.0 if kind == "shot" else 12.0), spin=spin)
    if what.do in ("cross", "clear", "throw") or z > 0.6:
        if what.speed_m_s is not None:
            return launch(place, target, speed_m_s=what.speed_m_s, spin=spin)
        return launch(place, target, flight_s=air_time(away) if what.do != "throw" else 0.4 + away / 20.0, spin=spin)
    speed = what.speed_m_s or rolling(away, 5.0)
    return dx / away * speed, dy / away * speed, 0.0


# -- openings -------------------------------------------------------------------------------------------------


def set_clock(state: State, opening: Opening) -> None:
    """Ball, ends, period, time and score of an opening, before anybody is lined up."""
    state.balls[0] = MovingBall(opening.ball, state.settings.length_m, state.settings.width_m)
    state.sign = np.array([1.0, -1.0]) if opening.home_attacks_positive_x else np.array([-1.0, 1.0])
    state.period, state.period_since_s = opening.period, -opening.clock_s
    state.score = list(opening.score)
    state.is_break = opening.restart == "kick_off" and opening.clock_s == 0.0


def first_told(state: State, script: Script, team: int) -> int:
    """Who of a team is the first to be told to play the ball at the outset, and so takes its restart; -1 if nobody."""
    told = (i.person for i in script.instructions if i.do in CONTACTS and not i.after)
    return next((row for row in told if state.team[row] == team), -1)


def open_at(state: State, script: Script) -> None:
    """Puts persons and ball where the script begins, and makes the match obey it; all have been lined up before."""
    opening = script.opening
    for row in opening.absent:
        team = int(state.team[row])
        if row in state.slots[team]:
            state.slots[team][state.slots[team].index(row)] = -1
            state.sent_off.append(row)
    state.regroup()
    for row, start in opening.persons.items():
        bx, by, _ = opening.ball
        running = math.hypot(start.vx_m_s, start.vy_m_s) > 0.3
        ahead = math.atan2(start.vy_m_s, start.vx_m_s) if running else math.atan2(by - start.y_m, bx - start.x_m)
        state.bodies.place(row, start.x_m, start.y_m, ahead if start.heading is None else start.heading)
        state.columns[row, 2], state.columns[row, 3] = start.vx_m_s, start.vy_m_s
        if row not in REFEREES and not state.is_playing[row] and row not in opening.absent:
            _bring_on(state, row, set(opening.persons))
    state.targets[:] = state.columns[:, :2]
    state.prompter, state.is_mute = Prompter(state, script), script.still
    if any(opening.ball_velocity):
        state.ball.strike(opening.ball_velocity)
    if opening.restart:
        return
    state.live = True
    if opening.holder is not None:
        ball_actions.gains(state, opening.holder, 1.0)
        state.last = opening.holder
    else:
        x, y, _ = opening.ball
        state.last = state.nearest(state.players, x, y)[0]
        state.takes(int(state.team[state.last]))
    state.turnover_s = -9.0


def _bring_on(state: State, row: int, named: set[int]) -> None:
    """A substitute who is named plays: for the first of his team who is missing, or who is not named himself."""
    team = int(state.team[row])
    slots = state.slots[team]
    free = [n for n, r in enumerate(slots) if r < 0] or [n for n, r in enumerate(slots) if n and r not in named]
    slots[free[0]] = row
    state.regroup()
