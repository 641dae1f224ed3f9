"""The state of a match between two ticks: bodies, balls, control, the restart; and questions about it.

Persons are numbered by row (``simulator.records``). Teams are 0 (home) and 1 (away), officials have team 2. *Upfield*
coordinates of a team are metres along and across as its players see them: u grows towards the goal that it attacks,
w towards its left. ``State.sign`` turns one into the other and changes with the ends.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from football.constants import BALL_RADIUS_M
from football.packet_table import Floats
from simulator.physics.ball import MovingBall, forecast
from simulator.physics.bodies import Bodies
from simulator.play.squads import SHAPES, MatchSettings, Squads
from simulator.play.truth_writer import TruthWriter, Watching
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

#: How far ahead the path of a loose ball is forecast, and in which steps.
LOOK_S, LOOK_EVERY_S = 4.0, 0.05


@dataclass
class Action:
    """An intended action of the player on the ball, or about to get it.

    Attributes:
        kind: ``pass``, ``shot``, ``carry`` or ``clear``; ``what`` names it in the truth.
        mate: row of the intended receiver, -1 for nobody.
        target: intended position of the ball (m); of a carry, of the player.
        speed_m_s: speed over ground as the ball leaves; ``flight_s``: time in the air, 0 along the ground.
        worth: expected value.
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
    """A ball on its way after a pass, a shot or a clearance.

    Attributes:
        row: index of the attempt's row of truth.
        kind: ``pass`` or ``shot``; ``what`` is the row's.
        kicker, team: row of the kicker and team; ``mate``: row of the intended receiver, -1 for nobody.
        target: where the receiver is expected to take it, over ground.
        born_s: first touch of the kick.
        restart: kind of the restart that it was, or empty.
        ahead: rows of team mates who may be in an offside position at the kick.
        offside: of those who are, the row of truth; None until that is known.
        places: (PERSONS, 2) where everybody was at the kick.
        on_target: the shot would go in as it left.
        save: goalkeeper, time, row and kind of a touch of the shot whose verdict is still open.
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
    offside: dict[int, int] | None = None
    places: Floats | None = None
    on_target: bool = False
    save: tuple[int, float, int, str] | None = None


@dataclass
class Restart:
    """A restart that is awaited.

    Attributes:
        kind, team, spot, taker: the kind, which team, where, and the row of the taker.
        since_s: when the ball became dead; ``earliest_s``: not taken before.
        cause: index of the row of ``play.dead``.
        stage: ``rolling`` (nobody has the ball), ``fetching``, ``brought`` (by a ball boy), ``carrying``, ``putting``
            (down), ``placed`` or ``held`` (over a thrower's head), ``run_up``.
        placed_s: since when the ball lies at the spot, or is held over the head.
        style: of a free kick ``direct shot``, ``crossed``, ``short``, ``long``; of a corner ``crossed``, ``short``; of
            a goal kick ``short``, ``long``.
        is_indirect: no goal can be scored from it directly (Law 13).
        positions: where persons are to stand, by row; ``stand`` where the taker waits.
        fetcher: row of the player who fetches the ball, until ``fetch_until_s``; ``brought_s`` when a ball boy's ball
            is there.
        is_quick: taken as soon as the ball lies there, wherever the others are.
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
    positions: dict[int, tuple[float, float]] = field(default_factory=dict)
    stand: tuple[float, float] | None = None
    fetcher: int = -1
    fetch_until_s: float = 0.0
    brought_s: float = -1.0
    is_quick: bool = False


@dataclass
class Whistle:
    """A whistle that is due: its time, reason, team and spot, the row that caused it, and the card that follows."""

    at_s: float
    why: str
    team: int
    spot: tuple[float, float]
    cause: int
    card: str = ""
    offender: int = -1


@dataclass
class Change:
    """A substitution under way: rows of the player off and on (-1 when done), and whether the first one is off."""

    off: int
    on: int
    is_off: bool = False
    cause: int = -1


@dataclass
class Pending:
    """The contact of the coming tick, until its position is known.

    ``truth_row``: index of its row if only the ball's path decides how hard it was, else -1.
    """

    row: int
    limb: str
    what: str
    t_s: float
    duration_s: float
    after: Vector
    is_hold: bool
    truth_row: int = -1


class State:
    """A match between two ticks. Modules of ``simulator.play`` change it in place.

    Attributes:
        tick, now_s: count and beginning of the coming tick.
        sign: (2,) +1 where the team attacks towards +x.
        slots: per team the rows in its eleven slots, -1 where a player is missing.
        of_team, players: rows on the pitch, as arrays.
        live: the ball is in play.
        holder, in_hands: row of the player in control, -1 for nobody; whether a goalkeeper holds it in the hands.
        attack: team that had control last.
        last: row of the player who touched the ball last; ``touched_s`` when each person did so.
        flight: pass or shot under way.
        restart: the restart that is awaited while the ball is dead.
        path: (k, 4) forecast t, x, y, z of the loose ball from ``path_s`` on.
        whistle, advantage: the whistle that is due; the foul for which play may go on.
        taker: row of the taker of the last restart while nobody else has touched the ball; ``indirect``: it cannot
            score; ``is_entering``: it is thrown in and not yet over the line.
        turnover_s: when the ball went to the other team.
        pending: the contact of the coming tick; ``hold``: the one by which hands hold the ball.
        last_contact, last_pass, interception: rows of the newest contact, completed pass, and interception that may
            still prove to be one to the outside.
        targets, paces, facing: where persons run, how fast, where they look (NaN: where they run).
        idle_s: until when a person can do nothing (beaten, getting up).
        stopping: rows of persons who stop because their try for the ball missed, and until when.
        down: persons on the ground, until when, and their rows; ``hold_until_s``: treatment lasts until then.
        changes, vacant, walking, seats: substitutions under way, slots they leave open, persons who walk off and their
            seats; ``windows``, ``used``, ``used_substitutes``: what teams plan and have used.
        reach_m: how far from the body each can touch the ball, drawn anew for every flight.
        instructed: rows of persons who have an instruction of a script to play the ball.
        shapes: of both teams now; ``shape_changes``: (time, team, shape) of the first and all later ones;
            ``coming_shapes``: (time, team number, shape) of those that teams plan.
        coming_swaps: (time, team number) at which players exchange their places; ``swaps_drawn``: newest period that
            they are drawn for.
    """

    def __init__(self, settings: MatchSettings, squads: Squads) -> None:
        self.settings, self.squads = settings, squads
        self.rng = np.random.default_rng([settings.seed, 12])
        self.half_x, self.half_y = settings.length_m / 2, settings.width_m / 2
        self.truth, self.watching = TruthWriter(), Watching()
        self.team = np.repeat([0, 1, 2], [SQUAD, SQUAD, len(REFEREES)])
        self.sign = np.array([1.0, -1.0])
        self.shapes = [team.shape for team in squads.teams]
        self.shape_changes = [(0.0, name, shape) for name, shape in zip(("home", "away"), self.shapes, strict=True)]
        self.coming_shapes: list[tuple[float, int, str]] = []
        self.coming_swaps: list[tuple[float, int]] = []
        self.swaps_drawn = 0
        self.slots = [list(range(STARTERS)), list(range(SQUAD, SQUAD + STARTERS))]
        self.bodies = Bodies(np.zeros((PERSONS, 2)))
        self.columns = self.bodies.columns
        self.balls = [
            MovingBall((x, y, BALL_RADIUS_M), settings.length_m, settings.width_m) for x, y in self._ball_homes()
        ]
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
        self.break_s = self.settings.break_s
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
        self.script_runner: Any = None
        self.instructed: set[int] = set()
        self.is_mute = False
        self.last_contact, self.last_pass, self.interception, self.disputed = -1, -1, -1, False

    def _people(self) -> None:
        self.touched_s = np.full(PERSONS, -9.0)
        self.targets = np.zeros((PERSONS, 2))
        self.paces = np.full(PERSONS, 1.5)
        self.facing = np.full(PERSONS, np.nan)
        self.idle_s = np.full(PERSONS, -9.0)
        self.stopping: dict[int, float] = {}
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
        self.used_substitutes: set[int] = set()
        self.changes: list[Change] = []
        self.vacant: dict[int, tuple[int, int]] = {}
        self.walking: dict[int, tuple[float, float]] = {}
        self.seats: dict[int, tuple[float, float]] = {}

    def _ball_homes(self) -> tuple[tuple[float, float], ...]:
        """Return where the balls lie at first: on the centre spot, behind both goals, beside the halfway line."""
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
        """Recompute what follows from ``slots``; to be called after each change of them."""
        self.of_team = [np.array([r for r in slots if r >= 0], dtype=np.int64) for slots in self.slots]
        self.players = np.concatenate(self.of_team)
        self.outfield = [rows[1:] for rows in self.of_team]
        depth, side = np.full(PERSONS, np.nan), np.full(PERSONS, np.nan)
        for team, slots in enumerate(self.slots):
            shape = SHAPES[self.shapes[team]]
            for row, (_, deep, across) in zip(slots[1:], shape, strict=True):
                if row >= 0:
                    depth[row], side[row] = deep, across
        self.depth_of, self.side_of = depth, side
        self.bow = [_bow(depth[rows[1:]]) for rows in self.of_team]
        self.is_playing = np.zeros(PERSONS, dtype=bool)
        self.is_playing[self.players] = True

    def keeper(self, team: int) -> int:
        """Row of a team's goalkeeper."""
        return self.slots[team][0]

    def is_keeper(self, row: int) -> bool:
        """True if a row is a goalkeeper's."""
        return row == self.slots[0][0] or row == self.slots[1][0]

    @property
    def is_held_up(self) -> bool:
        """True if a restart must wait: a person is treated, comes on, or has still to leave the pitch."""
        if self.now_s < self.hold_until_s or self.changes:
            return True
        return any(abs(self.columns[row, 1]) < self.half_y for row in self.walking)

    def mates(self, row: int) -> Rows:
        """Rows of the team mates on the pitch."""
        rows = self.of_team[self.team[row]]
        return rows[rows != row]

    def opponents(self, row: int) -> Rows:
        """Rows of the opponents on the pitch."""
        return self.of_team[1 - self.team[row]]

    def xy(self, row: int) -> tuple[float, float]:
        """Position of a person over ground."""
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
        """Return the nearest of some rows to a point, and its distance; (-1, 99) if there is none."""
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
        """True if a point lies in the penalty area that a team defends."""
        return self.half_x + x * self.sign[team] <= BOX_X_M and abs(y) <= BOX_Y_M

    def draw(self, mean: float, spread: float) -> float:
        """Draw a normal deviate."""
        return float(self.rng.normal(mean, spread))

    def chance(self, probability: float) -> bool:
        """Draw: true with this probability."""
        return bool(self.rng.random() < probability)

    # -- the ball ----------------------------------------------------------------------------------------------

    def look(self) -> None:
        """Forecast the path of the loose ball anew."""
        ball = self.ball
        self.path = forecast(ball.position, ball.velocity, ball.spin, LOOK_S, LOOK_EVERY_S)
        self.path_s = self.now_s

    def touch(
        self, row: int, limb: str, velocity: Vector, what: str, *, spin: Vector, after_s: float, duration_s: float,
        is_hold: bool = False,
    ) -> float:  # fmt: skip
        """Begin a contact in the coming tick: the ball leaves it with ``velocity``, or stays in the hands.

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
        """Register the contact that will have happened when the tick is played."""
        self.pending = pending
        self.contact_end_s = pending.t_s + pending.duration_s
        if pending.row != self.taker:
            self.taker = -1

    def swap_ball(self, number: int) -> None:
        """Make another ball the ball in play; the old one runs out."""
        self.rolling.add(self.active)
        self.rolling.discard(number)
        self.active = number

    def give_control(self, team: int) -> None:
        """Give a team control of the ball."""
        if team != self.attack:
            self.turnover_s = self.now_s
        self.attack = team

    def sway(self) -> Floats:
        """Return (PERSONS, 2) offsets from the intended positions, because nobody stands still."""
        return self.wander * np.sin(self.now_s * self.wander_rad_s + self.phase)

    def redirect_ball(self) -> None:
        """React to a new direction of the ball: players see it anew, and their reach is drawn anew."""
        self.reach_m = np.clip(self.rng.normal(0.95, 0.12, PERSONS), 0.6, 1.25)
        self.path_s = -9.0

    def moving(self) -> float:
        """Speed of the ball."""
        return math.dist((0.0, 0.0, 0.0), self.ball.velocity)


def _bow(depths: Floats) -> float:
    """Return the exponent on a shape's depths that gives them an even shape's mean: a back five stands no deeper."""
    bows = np.linspace(0.5, 1.6, 56)
    return float(bows[np.argmin([abs(float(np.mean(depths**bow)) - MEAN_DEPTH) for bow in bows])])
