"""The simulator's game: who has the ball, what he does with it, and how play stops and starts again.

Theory of operation
-------------------
Time goes in ticks of 20 ms. In a tick the one who has the ball may touch it (a contact: the ball gets another
velocity at once), everybody runs, and the ball moves in finer steps. While play is live the ball is either
*loose* (whoever gets near it takes it) or has a *holder* who pushes it along, passes, shoots or loses it. When
it has wholly crossed a line, or after a foul, play is dead: the ball runs out, is carried to where play
restarts, lies still, and is put in play by its taker. Nothing jumps: a ball in hands moves without a jerk.

Nobody scripts outcomes. A pass is complete because a mate was the first to reach it, a shot is saved because
the goalkeeper got to it; what happened is noted when it happens, and that is the truth list.
"""

from __future__ import annotations

import math

import numpy as np

from detectors.facts import Scalar
from replay.recording import Floats
from replay.sim_ball import RADIUS_M, Carry, Vector, lob, rolling_speed
from replay.sim_plan import plan, stance
from replay.sim_state import KEEPERS, TICK_S, Log, Restart, Row, State, object_id

#: Plans (where to run without the ball) are made anew every so many ticks.
PLAN_TICKS = 5

POST_Y_M = 3.66
BAR_Z_M = 2.44


class Game(State):
    """A match from its kick-off on, by the rules at the top of this module."""

    def play(self, duration_s: float) -> Log:
        """Plays until ``duration_s`` and returns the log."""
        while self.t_s < duration_s:
            if self.restart is not None:
                self._await_restart(self.restart)
            elif self.holder is not None:
                self._hold(self.holder)
            if self.tick % PLAN_TICKS == 0:
                plan(self)
            self.log.ticks_s.append(self.t_s)
            self.log.bodies.append(self.bodies.p.copy())
            self.bodies.run(self.targets, self.paces, TICK_S)
            self._move_ball()
            self.tick += 1
            if self.restart is None and (self.holder is None or not self.in_hands):
                self._contest()
        return self.log

    # -- the holder ----------------------------------------------------------------------------------------

    def _hold(self, holder: int) -> None:
        """One tick of the player who has the ball: act if it is time, push it on if it is near, run after it."""
        if self.in_hands:
            if self.t_s >= self.decide_s:
                self._release(holder)
            return
        x, y = self.bodies.p[holder]
        distance = math.hypot(self.ball.x - x, self.ball.y - y)
        if distance > 3.0:
            self.holder = None
            return
        since = self.t_s - self.touched_s[holder]
        if self.t_s >= self.decide_s and distance < 0.65 and self.ball.z < 0.4 and since > 0.3:
            self._act(holder)
            return
        if distance < 0.55 and since > 0.45:
            self._push(holder)
        self.targets[holder] = self.ball.x + 0.6 * self.ball.vx, self.ball.y + 0.6 * self.ball.vy
        self.paces[holder] = 7.5
        self._tackle(holder)

    def _push(self, holder: int) -> None:
        """A dribbled touch: towards the goal, away from the nearest opponent, and not off the pitch."""
        here = self.bodies.p[holder]
        goal = np.array([self.sign[holder] * self.half_x, 0.0]) - here
        opponents = self.team(1 - holder // 11)
        nearest = self.bodies.p[opponents[np.argmin(self.distances()[opponents])]]
        flee = here - nearest
        gap = max(float(np.hypot(*flee)), 0.5)
        inwards = -here / (self.half_x, self.half_y)
        way = goal / np.hypot(*goal) + 2.0 * flee / gap**2 + 1.5 * np.abs(inwards) ** 6 * inwards
        way /= np.hypot(*way)
        speed = min(6.5, 1.15 * float(np.hypot(*self.bodies.v[holder])) + 1.6)
        self.touch(holder, (way[0] * speed, way[1] * speed, 0.0), "dribble", swing_m_s=3.0)

    def _tackle(self, holder: int) -> None:
        """An opponent at the ball may win it, or foul; one try in 1.2 s."""
        if self.t_s - self.tackle_s < 1.2 or self.t_s - self.touched_s[holder] < 0.2:
            return
        opponents = self.team(1 - holder // 11)
        distances = self.distances()[opponents]
        tackler = int(opponents[np.argmin(distances)])
        if distances.min() > 0.7 or self.ball.z > 0.4:
            return
        self.tackle_s = self.t_s
        chance = self.rng.random()
        if chance < 0.18 and abs(self.ball.x) < self.half_x - 20.0:
            self.note("foul", tackler, (self.ball.x, self.ball.y, self.ball.z))
            self._stop("free_kick", holder // 11, (self.ball.x, self.ball.y))
        elif chance < 0.75:
            angle = self.rng.uniform(-1.0, 1.0) + (0.0 if tackler < 11 else math.pi)
            velocity = (4.0 * math.cos(angle), 4.0 * math.sin(angle), 0.0)
            self.touch(tackler, velocity, "tackle", swing_m_s=4.0)
            self._take(tackler)

    def _act(self, holder: int) -> None:
        goal_x = self.sign[holder] * self.half_x
        distance = math.hypot(goal_x - self.ball.x, self.ball.y)
        depth = self.half_x - self.ball.x * self.sign[holder]
        pressed = float(self.distances()[self.team(1 - holder // 11)].min()) < 3.0
        if distance < 30.0 and self.rng.random() < (0.95 if distance < 18.0 else 0.7):
            self._shoot(holder)
        elif depth < 25.0 and abs(self.ball.y) > 12.0 and self.rng.random() < 0.6:
            self._cross(holder)
        elif depth > 80.0 and pressed and self.rng.random() < 0.5:
            self._clear(holder)
        else:
            self._pass(holder)

    def _shoot(self, player: int, **detail: Scalar) -> None:
        """A shot at a place in or around the mouth; where it then goes is up to flight and keeper."""
        goal_x = float(self.sign[player] * self.half_x)
        y = float(self.rng.uniform(-1.35, 1.35)) * POST_Y_M
        z = float(self.rng.uniform(0.2, 3.0))
        dx, dy = goal_x - self.ball.x, y - self.ball.y
        flight_s = math.hypot(dx, dy) / float(self.rng.uniform(20.0, 27.0))
        velocity = lob(dx, dy, flight_s, z - self.ball.z)
        row = self.note("shot.attempt", player, (self.ball.x, self.ball.y, self.ball.z))
        row.detail.update(outcome="", aim_y_m=y, aim_z_m=z, **detail)
        self._strike(player, velocity, row, None)

    def _pass(self, player: int, *, thrown: bool = False, reach_m: float = 38.0, **detail: Scalar) -> None:
        """A pass to the mate with the best mixture of open lane, gain of ground and distance, not exactly."""
        mate, place, is_open = self._choose_mate(player, reach_m)
        dx, dy = float(place[0] - self.ball.x), float(place[1] - self.ball.y)
        distance = max(math.hypot(dx, dy), 1.0)
        turn = float(self.rng.normal(0.0, 0.06))
        dx, dy = dx * math.cos(turn) - dy * math.sin(turn), dx * math.sin(turn) + dy * math.cos(turn)
        if thrown:
            velocity = lob(0.85 * dx, 0.85 * dy, 0.35 + distance / 22.0, RADIUS_M - self.ball.z)
        elif is_open or distance < 12.0:
            speed = rolling_speed(distance, 5.5) * float(self.rng.normal(1.0, 0.05))
            speed = min(max(speed, 8.0), 24.0)
            velocity = (dx / distance * speed, dy / distance * speed, 0.0)
        else:
            velocity = lob(0.8 * dx, 0.8 * dy, 0.7 + distance / 28.0, RADIUS_M - self.ball.z)
        row = self.note("pass.attempt", player, (self.ball.x, self.ball.y, self.ball.z))
        row.detail.update(outcome="", intended=object_id(mate), receiver="", received_us=None, **detail)
        self._strike(player, velocity, row, mate, hands=thrown)

    def _clear(self, player: int) -> None:
        """A long ball away from the own goal and towards the nearer touch line, meant for the furthest mate."""
        mates = self.team(player // 11)
        mate = int(mates[np.argmax(self.bodies.p[mates, 0] * self.sign[player])])
        dx = float(self.sign[player] * self.rng.uniform(15.0, 35.0))
        dy = math.copysign(1.0, self.ball.y) * float(self.rng.uniform(0.5, 1.1)) * self.half_y - self.ball.y
        row = self.note("pass.attempt", player, (self.ball.x, self.ball.y, self.ball.z))
        row.detail.update(outcome="", intended=object_id(mate), receiver="", received_us=None)
        self._strike(player, lob(dx, dy, 2.2), row, mate)

    def _cross(self, player: int, **detail: Scalar) -> None:
        """A high ball to a mate in front of the goal."""
        mates = self.team(player // 11)[5:]
        goal = np.array([self.sign[player] * self.half_x, 0.0])
        mates = mates[mates != player]
        mate = int(mates[np.argmin(np.hypot(*(self.bodies.p[mates] - goal).T) + self.rng.uniform(0, 6, len(mates)))])
        way = self.bodies.p[mate] - (self.ball.x, self.ball.y)
        velocity = lob(float(way[0]), float(way[1]), 0.8 + float(np.hypot(*way)) / 35.0)
        row = self.note("pass.attempt", player, (self.ball.x, self.ball.y, self.ball.z))
        row.detail.update(outcome="", intended=object_id(mate), receiver="", received_us=None, **detail)
        self._strike(player, velocity, row, mate)

    def _choose_mate(self, player: int, reach_m: float) -> tuple[int, Floats, bool]:
        """The mate, where the ball should meet him, and whether no opponent is near the lane to him."""
        mates = self.team(player // 11)
        mates = mates[mates != player]
        here = np.array([self.ball.x, self.ball.y])
        away = np.hypot(*(self.bodies.p[mates] - here).T)
        places = self.bodies.p[mates] + self.bodies.v[mates] * np.minimum(away / 15.0, 1.5)[:, None]
        limits = (self.half_x - 1.0, self.half_y - 1.0)
        places = np.clip(places, np.negative(limits), limits)
        way = places - here
        distance = np.maximum(np.hypot(*way.T), 1.0)
        unit = way / distance[:, None]
        gaps = self.bodies.p[self.team(1 - player // 11)][None] - here
        along = np.clip((gaps * unit[:, None]).sum(axis=2), 0.0, distance[:, None])
        lane = np.hypot(*(gaps - along[:, :, None] * unit[:, None]).transpose(2, 0, 1)).min(axis=1)
        gain = way[:, 0] * self.sign[player]
        score = 1.2 * np.minimum(lane, 4.0) + 0.17 * gain - 0.08 * np.abs(distance - 16.0)
        score -= 4.0 * (distance > reach_m) + 3.0 * (distance < 5.0) + 2.5 * np.isin(mates, KEEPERS)
        best = int(np.argmax(score + self.rng.gumbel(0.0, 0.7, len(mates))))
        return int(mates[best]), places[best], bool(lane[best] > 1.3)

    # -- contacts ------------------------------------------------------------------------------------------

    def _contest(self) -> None:
        """Whoever is near a loose ball, or a ball that its holder has pushed too far, touches it."""
        if self.carry is not None:
            return
        distances = self.distances()
        near = np.flatnonzero(distances < 1.3)
        for player in near[np.argsort(distances[near])].tolist():
            if player == self.holder or self.t_s - self.touched_s[player] < 0.6 or player == self.taker:
                continue
            if self.holder is not None and player // 11 == self.holder // 11:
                continue
            if self._is_keeper_at_home(player):
                if distances[player] < 1.3 and self.ball.z < 2.3 and self.holder is None:
                    self._keep(player)
                    return
            elif distances[player] < 0.6 and self.ball.z < 0.6 and self.holder is None:
                self._receive(player)
                return

    def _is_keeper_at_home(self, player: int) -> bool:
        line = -self.sign[player] * self.half_x
        in_box = abs(self.ball.x - line) < 16.0 and abs(self.ball.y) < 20.0
        return player in KEEPERS and in_box and (self.last // 11 != player // 11 or self.last == player)

    def _receive(self, player: int) -> None:
        """Stops the ball, or is hit by it if it is too fast."""
        meant = player == self.receiver
        body = self.bodies.v[player]
        if self.ball.speed > (22.0 if meant else 15.0):
            angle = float(self.rng.uniform(0, 2 * math.pi))
            size = 0.35 * self.ball.speed
            velocity = (size * math.cos(angle), size * math.sin(angle), float(self.rng.uniform(0.0, 3.0)))
            if self.flight is not None and self.flight.kind == "shot.attempt" and self.flight.team != player // 11:
                self.resolve("blocked", player)
            self.touch(player, velocity, "deflection", swing_m_s=2.0)
            return
        self.resolve("received", player)
        self.touch(player, (0.6 * body[0] + 0.3, 0.6 * body[1], 0.0), "control", swing_m_s=2.0)
        self._take(player)

    def _keep(self, keeper: int) -> None:
        """The keeper catches, or parries a fast ball to the side."""
        is_shot = self.flight is not None and self.flight.kind == "shot.attempt"
        parries = is_shot and self.rng.random() < 0.45
        self.resolve("parried" if parries else "caught", keeper)
        if parries:
            side = math.copysign(1.0, self.ball.y)
            line = -float(self.sign[keeper])
            velocity = (line * float(self.rng.uniform(-2.0, 5.0)), side * float(self.rng.uniform(5.0, 9.0)), 2.0)
            self.touch(keeper, velocity, "parry", hands=True)
            return
        self.touch(keeper, (0.0, 0.0, 0.0), "catch", hands=True, swing_m_s=0.5)
        self._take(keeper)
        self.in_hands = True
        x, y = self.bodies.p[keeper]
        self.grip = (self.ball.x - float(x), self.ball.y - float(y), self.ball.z)
        self.decide_s = self.t_s + float(self.rng.uniform(2.0, 4.0))

    def _release(self, keeper: int) -> None:
        self.in_hands = False
        self._pass(keeper, thrown=True, reach_m=30.0)

    def _take(self, player: int) -> None:
        self.holder = player
        self.receiver = None
        self.decide_s = self.t_s + float(self.rng.uniform(0.3, 2.0))

    def _strike(self, player: int, velocity: Vector, row: Row, receiver: int | None, *, hands: bool = False) -> None:
        self.resolve("lost", player)
        self.touch(player, velocity, row.kind, hands=hands)
        self.holder, self.flight, self.receiver = None, row, receiver

    # -- the ball and the lines ----------------------------------------------------------------------------

    def _move_ball(self) -> None:
        ball, dt_s = self.ball, TICK_S / self.steps
        for step in range(self.steps):
            self.log.ball.append((ball.x, ball.y, ball.z))
            now_s = self.t_s + (step + 1) * dt_s
            if self.carry is not None:
                ball.x, ball.y, ball.z = self.carry.at(now_s)
            elif self.in_hands and self.holder is not None:
                self._in_hands(self.holder, step + 1)
            else:
                x, y, z = ball.x, ball.y, ball.z
                ball.move(dt_s)
                if self.restart is None:
                    self._watch_lines((x, y, z))
                else:
                    self._run_out(dt_s)

    def _in_hands(self, keeper: int, step: int) -> None:
        """The ball in a keeper's hands goes with him, drawn from where it was caught to before his chest."""
        share = math.exp(-(self.t_s - self.touched_s[keeper] + step * TICK_S / self.steps) / 0.1)
        before = (0.3 * float(self.sign[keeper]), 0.0, 1.1)
        late_s = TICK_S * (1.0 - step / self.steps)
        x, y = self.bodies.p[keeper] - self.bodies.v[keeper] * late_s
        dx, dy, z = (a * share + b * (1.0 - share) for a, b in zip(self.grip, before, strict=True))
        self.ball.x, self.ball.y, self.ball.z = float(x) + dx, float(y) + dy, z

    def _watch_lines(self, before: Vector) -> None:
        """The whole ball over a line stops play (Laws 9 and 10); a post or the bar sends it back."""
        ball = self.ball
        if abs(before[0]) < self.half_x <= abs(ball.x) and self._is_woodwork():
            ball.x, ball.y, ball.z = before
            ball.kick((-0.45 * ball.vx, 0.7 * ball.vy, 0.7 * ball.vz))
            self.note("woodwork", self.last, before)
            return
        place = (ball.x, ball.y, ball.z)
        end = 0 if ball.x > 0 else 1
        if abs(ball.x) > self.half_x + RADIUS_M:
            if abs(ball.y) < POST_Y_M - RADIUS_M and ball.z < BAR_Z_M - RADIUS_M:
                self.score[end] += 1
                self.resolve("goal", self.last)
                row = self.note("goal.scored", self.last, place)
                row.team = end
                row.detail.update(home=self.score[0], away=self.score[1])
                self._stop("kick_off", 1 - end, (0.0, 0.0))
                return
            attacker_last = self.last // 11 == end
            self._out("right goal line" if end == 0 else "left goal line", place)
            x = math.copysign(self.half_x, ball.x)
            y = math.copysign(1.0, ball.y)
            if attacker_last:
                self._stop("goal_kick", 1 - end, (x - math.copysign(5.0, x), 5.0 * y))
            else:
                self._stop("corner", end, (x - math.copysign(0.4, x), y * (self.half_y - 0.4)))
        elif abs(ball.y) > self.half_y + RADIUS_M:
            self._out("left touch" if ball.y > 0 else "right touch", place)
            x = float(np.clip(ball.x, 1.0 - self.half_x, self.half_x - 1.0))
            self._stop("throw_in", 1 - self.last // 11, (x, math.copysign(self.half_y, ball.y)))

    def _is_woodwork(self) -> bool:
        beside = abs(abs(self.ball.y) - POST_Y_M - 0.06) < 0.17 and self.ball.z < BAR_Z_M + 0.2
        return beside or (abs(self.ball.y) < POST_Y_M and abs(self.ball.z - BAR_Z_M - 0.06) < 0.17)

    def _run_out(self, dt_s: float) -> None:
        """A dead ball is slowed by the net behind a goal, by boards further out, and by whoever stops it."""
        beyond = max(abs(self.ball.x) - self.half_x - 1.0, abs(self.ball.y) - self.half_y - 3.0)
        self.ball.brake(dt_s, 12.0 if beyond > 0 else 1.0)

    def _out(self, variant: str, place: Vector) -> None:
        self.resolve("off" if self.flight is not None and self.flight.kind == "shot.attempt" else "out", self.last)
        self.note("out", self.last, place, variant)

    # -- restarts ------------------------------------------------------------------------------------------

    def _stop(self, kind: str, team: int, spot: tuple[float, float]) -> None:
        """Play is dead and will go on with ``kind`` for ``team`` from ``spot``."""
        if self.flight is not None:
            self.resolve("lost", self.last)
        self.holder, self.in_hands, self.receiver = None, False, None
        outfield = self.team(team)[1:]
        away = np.hypot(*(self.bodies.p[outfield] - spot).T)
        taker = int(outfield[np.argmin(away)])
        if kind == "goal_kick":
            taker = KEEPERS[team]
        elif kind == "kick_off":
            taker = team * 11 + 9
        self.restart = Restart(kind, team, spot, taker, self.t_s)
        side = math.copysign(1.0, spot[0])
        self.box[:, 0] = side * (self.half_x - self.rng.uniform(4.0, 14.0, 22))
        self.box[:, 1] = self.rng.uniform(-9.0, 9.0, 22)

    def _await_restart(self, restart: Restart) -> None:
        """One tick of dead time: let it run out, carry it, lay it down, wait for everybody, take it."""
        waited = self.t_s - restart.since_s
        if self.carry is None:
            if waited > 1.5 and (self.ball.speed < 0.5 or waited > 8.0):
                self._pick_up(restart)
            return
        still = self.t_s - self.carry.end_s
        taker_there = float(np.hypot(*(self.bodies.p[restart.taker] - stance(self, restart)))) < 0.5
        if restart.kind == "throw_in":
            self._await_throw(restart, still, taker_there)
        elif still > 2.6 and taker_there and (self._is_ready(restart) or waited > 30.0):
            self._restart(restart)

    def _pick_up(self, restart: Restart) -> None:
        here = (self.ball.x, self.ball.y, self.ball.z)
        there = (restart.spot[0], restart.spot[1], RADIUS_M)
        takes_s = max(1.2, math.dist(here, there) / 6.0)
        self.carry = Carry(here, there, self.t_s, self.t_s + takes_s)
        self.ball.kick((0.0, 0.0, 0.0))

    def _await_throw(self, restart: Restart, still: float, taker_there: bool) -> None:
        assert self.carry is not None
        is_up = self.carry.end[2] > 1.0
        if not is_up and still > 0.0 and taker_there:
            end = (self.carry.end[0], self.carry.end[1], 2.1)
            self.carry = Carry(self.carry.end, end, self.t_s, self.t_s + 0.7)
        elif is_up and still > 0.6:
            self._restart(restart)

    def _is_ready(self, restart: Restart) -> bool:
        """The opponents have gone to their distance, and at a kick-off everybody to his half."""
        if restart.kind == "kick_off":
            others = np.arange(22) != restart.taker
            if bool(np.any((self.bodies.p[:, 0] * self.sign)[others] > -0.5)):
                return False
        away = np.hypot(*(self.bodies.p[self.team(1 - restart.team)] - restart.spot).T)
        return bool(away.min() > 9.15)

    def _restart(self, restart: Restart) -> None:
        self.restart, self.carry = None, None
        kind, taker = restart.kind, restart.taker
        self.note(f"restart.{kind}", taker, (self.ball.x, self.ball.y, self.ball.z))
        goal_x = self.sign[taker] * self.half_x
        distance = math.hypot(goal_x - self.ball.x, self.ball.y)
        if kind == "throw_in":
            self._pass(taker, thrown=True, reach_m=20.0, restart=kind)
        elif kind == "corner" or (kind == "free_kick" and 28.0 <= distance < 40.0):
            self._cross(taker, restart=kind)
        elif kind == "free_kick" and distance < 28.0:
            self._shoot(taker, restart=kind)
        else:
            self._pass(taker, reach_m=20.0 if kind == "kick_off" else 45.0, restart=kind)
        self.taker = taker
