"""Run a script: the match begins as its opening says, and persons try what instructions say.

An instruction is *waiting*, then *in force*, then *done*. A person with an instruction to play the ball runs to where
they can meet it first, and acts at the first touch that is possible; success is up to the ball and the others. In a
``still`` script persons without instruction stand, and the ball only bounces off them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from football.constants import BALL_RADIUS_M, GRAVITY_M_S2
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
#: Who is told to run there is there when he is this near.
THERE_M = 0.4
#: A tackler, a fouler must come this near to a man.
MAN_M = 0.9


@dataclass
class _Task:
    """An instruction and its progress."""

    what: Instruction
    since_s: float = math.inf
    is_done: bool = False
    is_triggered: bool = False


class ScriptRunner:
    """Makes a match follow a script.

    Args:
        state: of the match, lined up already.
        script: opening and instructions.
    """

    def __init__(self, state: State, script: Script) -> None:
        self._state = state
        self._tasks = [_Task(instruction) for instruction in script.instructions]
        self._still = script.still
        state.truth.listeners.append(self._hear)

    def _hear(self, row: Row) -> None:
        """Trigger the instructions that wait for a row of truth like this one."""
        for number, task in enumerate(self._tasks):
            what = task.what
            if task.is_triggered or not what.after or what.after != row.kind:
                continue
            if number and not self._tasks[number - 1].is_done and not self._is_contact_of(number - 1, row):
                continue
            if what.after_person is not None and what.after_person != row.person:
                continue
            task.is_triggered = True
            task.since_s = row.t_s + what.delay_s

    def _is_contact_of(self, number: int, row: Row) -> bool:
        """True for rows of the very contact that completed the instruction before: they count as later than it."""
        before = self._tasks[number]
        return before.since_s <= self._state.now_s and before.what.person == row.person

    def direct(self) -> None:
        """Set the targets of persons under instruction, each tick after all plans.

        In a still script the others stand.
        """
        state = self._state
        for task in self._tasks:
            if not task.what.after and not task.is_triggered:
                task.since_s, task.is_triggered = task.what.at_s + task.what.delay_s, True
        state.instructed = {t.what.person for t in self._tasks if self._in_force(t) and t.what.do in CONTACTS}
        if self._still:
            self._stand_still()
        for number, task in enumerate(self._tasks):
            if self._in_force(task) and self._is_newest(number, task):
                self._lead(task)

    def _in_force(self, task: _Task) -> bool:
        return not task.is_done and task.since_s <= self._state.now_s

    def _is_newest(self, number: int, task: _Task) -> bool:
        """False if a later instruction of the same person ends this run or stand."""
        later = (t for t in self._tasks[number + 1 :] if t.what.person == task.what.person and self._in_force(t))
        if task.what.do in ("run", "stand") and any(True for _ in later):
            task.is_done = True
            return False
        return True

    def _stand_still(self) -> None:
        state = self._state
        rows = np.array([row for row in range(len(state.team)) if row not in state.instructed])
        state.targets[rows] = state.columns[rows, :2]
        state.paces[rows] = 0.3
        state.facing[rows] = state.columns[rows, 4]

    def _lead(self, task: _Task) -> None:
        """Move a person as instructed; instructions without the ball are completed here."""
        state, what = self._state, task.what
        row, elapsed_s = what.person, state.now_s - task.since_s
        if what.for_s is not None and elapsed_s >= what.for_s and what.do in ("run", "stand"):
            task.is_done = True
        elif what.do == "run":
            self._run(task)
        elif what.do == "stand":
            state.targets[row], state.paces[row] = state.xy(row), 0.3
        elif what.do == "jump":
            state.bodies.jump(row, what.height_m or 0.4)
            task.is_done = True
        elif what.do == "fall":
            substitutions.go_down(state, row, what.for_s or 2.5)
            task.is_done = True
        elif what.do == "foul":
            self._foul(task)
        elif what.do == "dribble" and state.holder == row:
            self._dribble(task)
        elif state.live:
            self._meet(task)

    def _meet(self, task: _Task) -> None:
        """Send a person to where the ball can be played; a goalkeeper dives for a shot."""
        state, row = self._state, task.what.person
        if state.is_keeper(row) and state.flight is not None and state.flight.kind == "shot":
            goalkeeping.guard(state)
            return
        _to_the_ball(state, row, with_head=task.what.do == "header")
        if task.what.do == "header":
            contests.leap(state)

    def _run(self, task: _Task) -> None:
        state, what = self._state, task.what
        row = what.person
        x, y = state.xy(what.mate) if what.mate is not None else state.xy(row)
        if what.target is not None:
            x, y = what.target[0], what.target[1]
        state.targets[row], state.paces[row] = (x, y), what.speed_m_s or 6.0
        state.facing[row] = math.nan
        if state.gap(row, x, y) < THERE_M and what.for_s is None:
            task.is_done = True

    def _foul(self, task: _Task) -> None:
        """Let a person run into the named victim, or the nearest opponent."""
        state, what = self._state, task.what
        row = what.person
        victim = what.mate if what.mate is not None else state.nearest(state.opponents(row), *state.xy(row))[0]
        x, y = state.xy(victim)
        state.targets[row], state.paces[row] = (x, y), what.speed_m_s or 8.0
        state.facing[row] = math.nan
        if state.gap(row, x, y) < MAN_M and state.live:
            referee.foul(state, row, victim, "careless", is_certain=True)
            task.is_done = True

    def _dribble(self, task: _Task) -> None:
        """Let the holder take the ball to the target."""
        state, what = self._state, task.what
        target = what.target or (
            float(state.sign[state.team[what.person]]) * state.half_x,
            state.ball.position[1],
            BALL_RADIUS_M,
        )
        state.action = Action("carry", "dribble", -1, target, what.speed_m_s or 5.0)
        state.decide_s = state.now_s + 0.1
        bx, by, _ = state.ball.position
        if math.hypot(bx - target[0], by - target[1]) < 1.2:
            task.is_done = True
            state.decide_s = state.now_s

    def waits_for(self, row: int) -> bool:
        """True if a person will still be instructed to play the ball, so that their restart waits."""
        return any(t.what.person == row and t.what.do in CONTACTS and not t.is_done for t in self._tasks)

    def play(self, row: int, after_s: float, part: str, restart: str = "") -> bool:
        """Play the instruction of a person who has the ball within reach in the coming tick.

        Returns:
            whether an instruction was played; if not, the person plays freely.
        """
        task = next(
            (t for t in self._tasks if t.what.person == row and self._in_force(t) and t.what.do in CONTACTS), None
        )
        if task is None:
            return False
        if not _suits(task.what, part):
            return True
        task.is_done = task.what.do != "dribble"
        _perform(self._state, task.what, after_s, part, restart)
        return True


def _suits(what: Instruction, part: str) -> bool:
    """True if the ball is where the instructed body part is."""
    if what.do == "header" or what.limb == "head":
        return part == "head"
    return not (what.limb.endswith("foot") and part != "foot")


def _to_the_ball(state: State, row: int, *, with_head: bool = False) -> None:
    """Run to where the person can meet the ball first, or meet it with the head."""
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
    bx, by, _ = state.ball.position
    x, y = state.xy(row)
    state.facing[row] = math.nan if far else math.atan2(by - y, bx - x)


def _perform(state: State, what: Instruction, after_s: float, part: str, restart: str) -> None:
    """Perform the instructed contact."""
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
    """Let the ball hit an arm, and the referee see it."""
    vx, vy, vz = state.ball.velocity
    out = (-0.2 * vx, -0.2 * vy, 0.3 * abs(vz))
    ball_actions.contact(state, what.person, what.limb or "right_hand", out, "handle", after_s=after_s)
    state.redirect_ball()
    referee.foul(state, what.person, -1, "handball", is_certain=True)


def _strike(state: State, what: Instruction, after_s: float, part: str, restart: str) -> None:
    """Kick, head or throw with the instructed aim, without human error."""
    row = what.person
    position = ball_actions.ball_position_at(state, after_s)
    x, y, _ = position
    kind = "shot" if what.do == "shot" or (what.do == "header" and _at_goal(state, what)) else "pass"
    name = {"shot": "foot", "clear": "clearance", "header": "header"}.get(what.do, what.do)
    usual = "head" if "head" in (part, what.do[:4]) else "right_hand" if what.do == "throw" else "foot"
    limb = what.limb or usual
    target = what.target
    if target is None and what.mate is not None:
        mx, my = state.xy(what.mate)
        t = math.hypot(mx - x, my - y) / 14.0
        target = (
            mx + t * float(state.columns[what.mate, 2]),
            my + t * float(state.columns[what.mate, 3]),
            BALL_RADIUS_M,
        )
    if target is None:
        far = state.half_x if kind == "shot" else min(x * float(state.sign[state.team[row]]) + 25.0, state.half_x - 3.0)
        target = (far * float(state.sign[state.team[row]]), 0.5 * y, 0.8 if kind == "shot" else BALL_RADIUS_M)
    velocity = instructed_velocity(what, position, target, kind)
    mate = what.mate if what.mate is not None else -1
    action = Action(kind, name, mate, target, 1.0)
    ball_actions.kick(
        state, row, action, limb, after_s=after_s, restart=restart, instructed=(velocity, what.spin or _STILL)
    )


def _at_goal(state: State, what: Instruction) -> bool:
    goal_x = float(state.sign[state.team[what.person]]) * state.half_x
    return what.target is not None and abs(what.target[0] - goal_x) < 1.0 and abs(what.target[1]) < 5.0


def instructed_velocity(what: Instruction, position: Vector, target: Vector, kind: str) -> Vector:
    """Return the velocity of an instructed kick: by its greatest height, or its speed, or as such balls are played."""
    x, y, z = position
    dx, dy = target[0] - x, target[1] - y
    away = max(math.hypot(dx, dy), 0.3)
    spin = what.spin or _STILL
    if what.height_m is not None:
        top = max(what.height_m, z + 0.05, target[2] + 0.05)
        up_s = math.sqrt(2.0 * (top - z) / GRAVITY_M_S2)
        down_s = math.sqrt(2.0 * (top - target[2]) / GRAVITY_M_S2)
        return launch(position, target, flight_s=up_s + down_s, spin=spin)
    if kind == "shot" or what.do == "header":
        return launch(position, target, speed_m_s=what.speed_m_s or (25.0 if kind == "shot" else 12.0), spin=spin)
    if what.do in ("cross", "clear", "throw") or z > 0.6:
        if what.speed_m_s is not None:
            return launch(position, target, speed_m_s=what.speed_m_s, spin=spin)
        return launch(position, target, flight_s=air_time(away) if what.do != "throw" else 0.4 + away / 20.0, spin=spin)
    speed = what.speed_m_s or rolling(away, 5.0)
    return dx / away * speed, dy / away * speed, 0.0


# -- openings -------------------------------------------------------------------------------------------------


def set_clock(state: State, opening: Opening) -> None:
    """Set ball, ends, period, time and score of an opening, before anybody is lined up."""
    state.balls[0] = MovingBall(opening.ball, state.settings.length_m, state.settings.width_m)
    state.sign = np.array([1.0, -1.0]) if opening.home_attacks_positive_x else np.array([-1.0, 1.0])
    state.period, state.period_since_s = opening.period, -opening.clock_s
    state.score = list(opening.score)
    state.is_break = opening.restart == "kick_off" and opening.clock_s == 0.0


def first_instructed(state: State, script: Script, team: int) -> int:
    """Return the player of a team who is first instructed to play the ball, and so takes its restart; -1 if none."""
    task = (i.person for i in script.instructions if i.do in CONTACTS and not i.after)
    return next((row for row in task if state.team[row] == team), -1)


def open_at(state: State, script: Script) -> None:
    """Place persons and ball as the script begins, and attach its runner; everybody has been lined up before."""
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
        state.bodies.put(row, start.x_m, start.y_m, ahead if start.heading is None else start.heading)
        state.columns[row, 2], state.columns[row, 3] = start.vx_m_s, start.vy_m_s
        if row not in REFEREES and not state.is_playing[row] and row not in opening.absent:
            _bring_on(state, row, set(opening.persons))
    state.targets[:] = state.columns[:, :2]
    state.script_runner, state.is_mute = ScriptRunner(state, script), script.still
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
        state.give_control(int(state.team[state.last]))
    state.turnover_s = -9.0


def _bring_on(state: State, row: int, named: set[int]) -> None:
    """Put a substitute who is named on the pitch, for the first missing or unnamed player of the team."""
    team = int(state.team[row])
    slots = state.slots[team]
    free = [n for n, r in enumerate(slots) if r < 0] or [n for n, r in enumerate(slots) if n and r not in named]
    slots[free[0]] = row
    state.regroup()
