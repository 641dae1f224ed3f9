"""What there is in a match at an instant: bodies, balls, who has what, what is awaited; and small questions about it.

Rows of persons are those of ``world.PERSONS``; teams are 0 (home) and 1 (away), officials have team 2. *Upfield*
coordinates of a team are metres along and across as its players see them: u grows towards the goal that it attacks,
w towards its left. ``Match.sign`` turns one into the other and changes with the ends.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from football.packet_table import Floats
from simulator.physics.ball import MovingBall, forecast
from simulator.physics.ball_motion import RADIUS_M
from simulator.physics.bodies import Bodies
from simulator.play.squads import SHAPES, MatchSettings, Squads
from simulator.play.truth_writer import Notes, Watching
from simulator.records import (
    PERSONS,
    REFEREES,
    SQUAD,
    STARTERS,
    STEP_S,
    STEPS,
    TICK_S,
    Contact,
    Vector,
)

Rows = npt.NDArray[np.int64]

POST_Y_M = 3.66
BAR_Z_M = 2.44
BOX_X_M, BOX_Y_M = 16.5, 20.16
GOAL_AREA_X_M, GOAL_AREA_Y_M = 5.5, 9.16
MARK_M = 11.0
CIRCLE_M = 9.15
#: Benches stand this far beyond the touch line at -y, beside the halfway line.
BENCH_Y_M = 4.0

#: Mean depth of the ten in their block.
MEAN_DEPTH = 0.45

#: How far ahead the way of a loose ball is looked at, and in which steps.
LOOK_S, LOOK_EVERY_S = 4.0, 0.05


@dataclass
class Action:
    """What the one who has the ball, or is about to get it, means to do with it.

    Attributes:
        kind: ``pass``, ``shot``, ``carry`` or ``clear``; ``what`` names it in the truth list.
        mate: whom it is for, -1 nobody.
        target: where the ball shall be (m); of a carry where he wants to go.
        speed_m_s: over ground as it leaves; ``flight_s``: of a lofted ball its time in the air, 0 along the ground.
        worth: what he expects of it.
    """

    kind: str
    what: str
    mate: int
    target: Vector
    speed_m_s: float
    flight_s: float = 0.0
    worth: float = 0.0


@dataclass
class Flight:
    """A ball that somebody sent on its way: a pass, a shot or a clearance.

    Attributes:
        row: of the attempt in the truth list.
        kind: ``pass`` or ``shot``; ``what`` is the row's.
        kicker, team; mate: whom it is meant for, -1 nobody.
        target: where it is meant to be taken, over ground.
        born_s: first touch of the kick.
        restart: kind of the restart that it was, or empty.
        ahead: rows of mates in an offside position at the kick.
        on_target: a shot that would go in as it left.
        save: goalkeeper, time, row and kind of his touch of a shot whose verdict is still out.
    """

    row: int
    kind: str
    what: str
    kicker: int
    team: int
    mate: int
    target: tuple[float, float]
    born_s: float
    restart: str = ""
    ahead: tuple[int, ...] = ()
    on_target: bool = False
    save: tuple[int, float, int, str] | None = None


@dataclass
class Restart:
    """How play will go on.

    Attributes:
        kind, team, spot, taker: what, for which team, where, by whom.
        since_s: when play died; ``earliest_s``: not before.
        cause: row of ``play.dead``.
        stage: ``rolling`` (nobody has the ball), ``fetching``, ``brought`` (by a ball boy), ``carrying``, ``putting``
            (down), ``placed`` or ``held`` (over a thrower's head), ``run_up``.
        placed_s: since when it lies at the spot, or is over the head.
        style: of a free kick ``direct shot``, ``crossed``, ``short``, ``long``; of a corner ``crossed``, ``short``; of
            a goal kick ``short``, ``long``.
        is_indirect: no goal can be scored from it directly (Law 13).
        places: where persons are to stand, by row; ``stand`` where the taker waits.
        fetcher: who gets the ball, until ``fetch_until_s``; ``brought_s`` when the ball boy's ball is there.
    """

    kind: str
    team: int
    spot: tuple[float, float]
    taker: int
    since_s: float
    earliest_s: float
    cause: int
    stage: str = "rolling"
    placed_s: float = 0.0
    style: str = ""
    is_indirect: bool = False
    places: dict[int, tuple[float, float]] = field(default_factory=dict)
    stand: tuple[float, float] | None = None
    fetcher: int = -1
    fetch_until_s: float = 0.0
    brought_s: float = -1.0


@dataclass
class Whistle:
    """What the referee is about to stop play for: when he blows, why, for whom, where, the row that caused it, and
    the card that somebody will see for it."""

    at_s: float
    why: str
    team: int
    spot: tuple[float, float]
    cause: int
    card: str = ""
    offender: int = -1


@dataclass
class Change:
    """A substitution under way: who goes off and who comes on (-1 when it is done), and whether the first is off."""

    off: int
    on: int
    is_off: bool = False
    cause: int = -1


@dataclass
class Pending:
    """The contact of the coming tick, until its place is known.

    ``noted``: its row in the notes where only the ball's way tells how hard it was, else -1.
    """

    row: int
    limb: str
    what: str
    t_s: float
    duration_s: float
    after: Vector
    is_hold: bool
    noted: int = -1


class State:
    """A match between two ticks. Modules of play change it in place; see there who changes what.

    Attributes:
        tick, now_s: count and beginning of the coming tick.
        sign: (2,) +1 where the team attacks towards +x.
        slots: per team the rows in its eleven slots, -1 where a player is missing.
        of_team, players: rows on the pitch, as arrays.
        live: the ball is in play.
        holder, in_hands: who controls the ball, -1 nobody; whether a goalkeeper does so with his hands.
        attack: team that had control last.
        last: who touched the ball last; ``touched_s`` when each person did so.
        flight: pass or shot under way.
        restart: what is awaited while the ball is dead.
        path: (k, 4) where the loose ball will be from ``path_s`` on.
        whistle, advantage: what the referee is about to stop play for; what he lets go for the moment.
        taker: who took the last restart, while nobody else has touched the ball; ``indirect``: it cannot score;
            ``is_entering``: it is thrown in and not yet over the line.
        turnover_s: when the ball went to the other team.
        pending: the contact of the coming tick; ``hold``: the one by which hands hold the ball.
        last_contact, last_pass, interception: rows of the newest contact, completed pass, and interception that may
            still turn out to be one to the outside.
        targets, paces, facing: where persons run, how fast, which way they look (NaN: where they run).
        idle_s: until when a person can do nothing (beaten, getting up).
        down: who lies on the ground, until when, and his row; ``hold_until_s``: somebody is treated.
        changes, vacant, walking, seats: substitutions under way, slots they leave open, who walks off and where he
            then sits; ``windows``, ``used``, ``came_on``: what teams plan and have done.
        reach_m: how far from his body each can touch the ball, drawn anew for every flight.
    """

    def __init__(self, settings: MatchSettings, squads: Squads) -> None:
        self.settings, self.squads = settings, squads
        self.rng = np.random.default_rng([settings.seed, 12])
        self.half_x, self.half_y = settings.length_m / 2, settings.width_m / 2
        self.notes, self.watching = Notes(), Watching()
        self.team = np.repeat([0, 1, 2], [SQUAD, SQUAD, len(REFEREES)])
        self.sign = np.array([1.0, -1.0])
        self.slots = [list(range(STARTERS)), list(range(SQUAD, SQUAD + STARTERS))]
        self.bodies = Bodies(np.zeros((PERSONS, 2)))
        self.columns = self.bodies.columns
        self.balls = [MovingBall((x, y, RADIUS_M), settings.length_m, settings.width_m) for x, y in self._ball_homes()]
        self.active = 0
        self.rolling: set[int] = set()
        self.tick = 0
        self.ticks: list[Floats] = []
        self.contacts: list[Contact] = []
        self._clock()
        self._play()
        self._people()
        self.ability = squads.ability
        self._set_abilities()
        self.regroup()

    def _clock(self) -> None:
        self.period, self.period_since_s, self.score = 1, 0.0, [0, 0]
        self.is_break, self.is_final, self.is_over = True, False, False
        self.break_until_s, self.lost_s, self.added_s = 0.0, 0.0, -1.0
        self.first_kick = 0

    def _play(self) -> None:
        self.live = False
        self.holder, self.in_hands, self.attack, self.last = -1, False, 0, -1
        self.held_since_s, self.decide_s = 0.0, 0.0
        self.action: Action | None = None
        self.flight: Flight | None = None
        self.restart: Restart | None = None
        self.whistle: Whistle | None = None
        self.advantage: Whistle | None = None
        self.taker, self.indirect, self.is_entering = -1, False, False
        self.path: Floats = np.zeros((1, 4))
        self.path_s = -9.0
        self.tackle_s, self.turnover_s = -9.0, -9.0
        self.pending: Pending | None = None
        self.hold: Contact | None = None
        self.contact_end_s = -9.0
        self.prompter: Any = None
        self.told: set[int] = set()
        self.is_mute = False
        self.last_contact, self.last_pass, self.interception, self.disputed = -1, -1, -1, False

    def _people(self) -> None:
        self.touched_s = np.full(PERSONS, -9.0)
        self.targets = np.zeros((PERSONS, 2))
        self.paces = np.full(PERSONS, 1.5)
        self.facing = np.full(PERSONS, np.nan)
        self.idle_s = np.full(PERSONS, -9.0)
        self.reach_m = np.full(PERSONS, 0.8)
        self.keen = self.rng.normal(-0.4, 0.35, PERSONS)
        self.run_until_s = np.full(PERSONS, -9.0)
        self.wander = self.rng.uniform(0.7, 1.7, (PERSONS, 2))
        self.wander[[0, SQUAD]] *= 2.3
        self.wander_rad_s = self.rng.uniform(0.5, 0.85, (PERSONS, 2))
        self.phase = self.rng.uniform(0.0, 2.0 * math.pi, (PERSONS, 2))
        self.urgent = np.zeros(PERSONS, dtype=bool)
        self.dive_s = np.full(PERSONS, -9.0)
        self.cautions = np.zeros(PERSONS, dtype=np.int64)
        self.cards: list[tuple[str, int, int]] = []
        self.sent_off: list[int] = []
        self.down: dict[int, tuple[float, int]] = {}
        self.unfit: set[int] = set()
        self.hold_until_s = -9.0
        self.windows: list[list[tuple[float, int]]] = [[], []]
        self.used = [0, 0]
        self.came_on: set[int] = set()
        self.changes: list[Change] = []
        self.vacant: dict[int, tuple[int, int]] = {}
        self.walking: dict[int, tuple[float, float]] = {}
        self.seats: dict[int, tuple[float, float]] = {}

    def _ball_homes(self) -> tuple[tuple[float, float], ...]:
        """Where the balls lie at first: on the centre spot, behind both goals, beside the halfway line."""
        return (0.0, 0.0), (self.half_x + 3.6, 9.0), (-self.half_x - 3.6, -9.0), (4.0, self.half_y + 2.8)

    def _set_abilities(self) -> None:
        rng = np.random.default_rng([self.settings.seed, 13])
        pace = 8.6 + 0.6 * self.ability["pace"] + 0.1 * rng.standard_normal(PERSONS)
        pace[list(REFEREES)] = 7.4
        self.bodies.speed_max[:] = np.clip(pace, 7.2, 9.8)
        self.bodies.acceleration_max[:] = np.clip(5.2 + 0.3 * self.ability["pace"], 4.2, 6.2)
        self.height_m = np.clip(1.81 + 0.05 * self.ability["heading"] + 0.04 * rng.standard_normal(PERSONS), 1.66, 2.02)

    # -- who and where -----------------------------------------------------------------------------------------

    @property
    def now_s(self) -> float:
        """Beginning of the coming tick."""
        return self.tick * TICK_S

    @property
    def ball(self) -> MovingBall:
        """The ball in play."""
        return self.balls[self.active]

    def regroup(self) -> None:
        """Call after ``slots`` has changed."""
        self.of_team = [np.array([r for r in slots if r >= 0], dtype=np.int64) for slots in self.slots]
        self.players = np.concatenate(self.of_team)
        self.outfield = [rows[1:] for rows in self.of_team]
        depth, side = np.full(PERSONS, np.nan), np.full(PERSONS, np.nan)
        for team, slots in enumerate(self.slots):
            shape = SHAPES[self.squads.teams[team].shape]
            for row, (_, deep, beside) in zip(slots[1:], shape, strict=True):
                if row >= 0:
                    depth[row], side[row] = deep, beside
        self.depth_of, self.side_of = depth, side
        self.bow = [_bow(depth[rows[1:]]) for rows in self.of_team]
        self.is_playing = np.zeros(PERSONS, dtype=bool)
        self.is_playing[self.players] = True

    def keeper(self, team: int) -> int:
        """Row of a team's goalkeeper."""
        return self.slots[team][0]

    def is_keeper(self, row: int) -> bool:
        """Whether a row is a goalkeeper's."""
        return row == self.slots[0][0] or row == self.slots[1][0]

    @property
    def is_held_up(self) -> bool:
        """Whether a restart must wait: somebody is treated, comes on, or has still to leave the pitch."""
        if self.now_s < self.hold_until_s or self.changes:
            return True
        return any(abs(self.columns[row, 1]) < self.half_y for row in self.walking)

    def mates(self, row: int) -> Rows:
        """The others of his team on the pitch."""
        rows = self.of_team[self.team[row]]
        return rows[rows != row]

    def opponents(self, row: int) -> Rows:
        """The other team on the pitch."""
        return self.of_team[1 - self.team[row]]

    def xy(self, row: int) -> tuple[float, float]:
        """Place of a person over ground."""
        return float(self.columns[row, 0]), float(self.columns[row, 1])

    def speed(self, row: int) -> float:
        """Speed of a person over ground."""
        return math.hypot(self.columns[row, 2], self.columns[row, 3])

    def gap(self, row: int, x: float, y: float) -> float:
        """Distance of a person to a point."""
        return math.hypot(self.columns[row, 0] - x, self.columns[row, 1] - y)

    def gaps(self, rows: Rows, x: float, y: float) -> Floats:
        """Distances of persons to a point."""
        return np.hypot(self.columns[rows, 0] - x, self.columns[rows, 1] - y)

    def nearest(self, rows: Rows, x: float, y: float) -> tuple[int, float]:
        """The nearest of some rows to a point, and how near; (-1, 99) if there is none."""
        if not len(rows):
            return -1, 99.0
        gaps = self.gaps(rows, x, y)
        k = int(np.argmin(gaps))
        return int(rows[k]), float(gaps[k])

    def pressure(self, row: int) -> float:
        """Distance of the nearest opponent, in metres."""
        return self.nearest(self.opponents(row), *self.xy(row))[1]

    def depth(self, team: int, x: float) -> float:
        """Metres from a point to the goal line that a team attacks."""
        return self.half_x - x * self.sign[team]

    def goal_gap(self, team: int, x: float, y: float) -> float:
        """Metres from a point to the middle of the goal that a team attacks."""
        return math.hypot(self.half_x - x * self.sign[team], y)

    def in_box(self, team: int, x: float, y: float) -> bool:
        """Whether a point lies in the penalty area that a team defends."""
        return self.half_x + x * self.sign[team] <= BOX_X_M and abs(y) <= BOX_Y_M

    def draw(self, mean: float, spread: float) -> float:
        """A normal deviate."""
        return float(self.rng.normal(mean, spread))

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return bool(self.rng.random() < probability)

    # -- the ball ----------------------------------------------------------------------------------------------

    def look(self) -> None:
        """Forecasts the way of the loose ball anew."""
        ball = self.ball
        self.path = forecast(ball.place, ball.velocity, ball.spin, LOOK_S, LOOK_EVERY_S)
        self.path_s = self.now_s

    def touch(
        self, row: int, limb: str, velocity: Vector, what: str, *, spin: Vector, after_s: float, duration_s: float,
        is_hold: bool = False,
    ) -> float:  # fmt: skip
        """A contact in the coming tick: the ball will leave it with ``velocity``, or stay in the hands.

        Returns:
            time of the first touch, on the grid of the ball's steps.
        """
        steps = min(max(round(after_s / STEP_S), 0), STEPS - 1)
        t_s = self.now_s + steps * STEP_S
        vx, vy, vz = (float(v) for v in velocity)
        after = (vx, vy, vz)
        self.ball.strike(after, spin, after_s=steps * STEP_S, contact_s=duration_s)
        self.expect(Pending(row, limb, what, t_s, duration_s, after, is_hold))
        return t_s

    def expect(self, pending: Pending) -> None:
        """A contact will have happened when the tick has been played."""
        self.pending = pending
        self.contact_end_s = pending.t_s + pending.duration_s
        if pending.row != self.taker:
            self.taker = -1

    def swap_ball(self, number: int) -> None:
        """Another ball is the ball in play from now on; the old one runs out."""
        self.rolling.add(self.active)
        self.rolling.discard(number)
        self.active = number

    def takes(self, team: int) -> None:
        """A team has control of the ball from now on."""
        if team != self.attack:
            self.turnover_s = self.now_s
        self.attack = team

    def sway(self) -> Floats:
        """(PERSONS, 2) how far everybody is from where he wants to be, as nobody stands still."""
        return self.wander * np.sin(self.now_s * self.wander_rad_s + self.phase)

    def kicked(self) -> None:
        """The ball goes another way: who is near sees it anew, and reaches as far as luck has it."""
        self.reach_m = np.clip(self.rng.normal(0.95, 0.12, PERSONS), 0.6, 1.25)
        self.path_s = -9.0

    def moving(self) -> float:
        """Speed of the ball."""
        return math.dist((0.0, 0.0, 0.0), self.ball.velocity)


def _bow(depths: Floats) -> float:
    """Exponent on the depths of a shape with which their mean is that of an even one: a back five stands no deeper."""
    bows = np.linspace(0.5, 1.6, 56)
    return float(bows[np.argmin([abs(float(np.mean(depths**bow)) - MEAN_DEPTH) for bow in bows])])
