"""What there is in the simulator's game at an instant, and the notes that are taken of it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from detectors.facts import Scalar
from replay.recording import Floats
from replay.sim_ball import RADIUS_M, Ball, Carry, Vector
from replay.sim_players import FORMATION, Bodies, Contact

TICK_S = 0.02
KEEPERS = (0, 11)


@dataclass
class Row:
    """A line of the truth list while the game still writes it."""

    kind: str
    t_s: float
    player: int
    team: int
    place: Vector
    variant: str = ""
    detail: dict[str, Scalar] = field(default_factory=dict)


@dataclass(frozen=True)
class Restart:
    """How play will go on: what, for which team (0 home, 1 away), where, by whom; since when it is awaited."""

    kind: str
    team: int
    spot: tuple[float, float]
    taker: int
    since_s: float


@dataclass
class Log:
    """What a game leaves behind."""

    ticks_s: list[float] = field(default_factory=list)
    bodies: list[Floats] = field(default_factory=list)
    ball: list[Vector] = field(default_factory=list)
    contacts: list[Contact] = field(default_factory=list)
    truth: list[Row] = field(default_factory=list)


class State:
    """Players, ball, who has it, and what is awaited; home attacks towards +x throughout.

    Args:
        seed: decides everything that is left to chance.
        length_m, width_m: the pitch.
        steps: ball steps a tick; the ball's log has that many places for each tick.

    Attributes:
        holder: row of the player who has the ball, in his hands if ``in_hands``.
        decide_s, tackle_s: when the holder will act; when a tackle was last tried.
        touched_s: when each player last touched the ball; ``last`` is the one who did so last of all.
        taker: who took the last restart, until another has touched the ball.
        flight: the pass or shot that is under way; ``receiver`` is whom it is meant for.
        carry: the ball's way while it is carried to a restart.
        restart: what is awaited while play is dead.
        targets, paces: where everybody runs to, and how fast.
    """

    def __init__(self, seed: int, length_m: float, width_m: float, steps: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.half_x, self.half_y = length_m / 2, width_m / 2
        self.steps = steps
        shape = FORMATION * (length_m / 105.0, width_m / 68.0)
        self.shape = np.concatenate([shape, -shape])
        self.sign = np.repeat([1.0, -1.0], 11)
        self.bodies = Bodies(self.shape)
        self.ball = Ball()
        self.log = Log()
        self.tick = 0
        self.score = [0, 0]
        self.holder: int | None = None
        self.in_hands = False
        self.decide_s = 0.0
        self.tackle_s = 0.0
        self.touched_s = np.full(22, -10.0)
        self.last = 0
        self.taker: int | None = None
        self.flight: Row | None = None
        self.receiver: int | None = None
        self.grip: Vector = (0.0, 0.0, 0.0)
        self.wobble = self.rng.uniform(0, 2 * np.pi, (22, 2))
        self.box = np.zeros((22, 2))
        self.targets = self.shape.copy()
        self.paces = np.full(22, 4.5)
        self.restart: Restart | None = Restart("kick_off", 0, (0.0, 0.0), 9, 0.0)
        self.carry: Carry | None = Carry((0.0, 0.0, RADIUS_M), (0.0, 0.0, RADIUS_M), -1.0, 0.0)

    @property
    def t_s(self) -> float:
        """Now, in seconds from the start."""
        return self.tick * TICK_S

    def team(self, team: int) -> npt.NDArray[np.int64]:
        """Rows of a team's players, the goalkeeper first."""
        return np.arange(11) + 11 * team

    def distances(self) -> Floats:
        """Of each player to the ball, over ground, in metres."""
        return np.hypot(self.bodies.p[:, 0] - self.ball.x, self.bodies.p[:, 1] - self.ball.y)

    def note(self, kind: str, player: int, place: Vector, variant: str = "") -> Row:
        """Adds a line to the truth list, dated now."""
        row = Row(kind, self.t_s, player, player // 11, place, variant)
        self.log.truth.append(row)
        return row

    def touch(self, player: int, velocity: Vector, what: str, *, hands: bool = False, swing_m_s: float = 9.0) -> None:
        """A contact: the ball has another velocity from now on, and a limb was there."""
        place = (self.ball.x, self.ball.y, self.ball.z)
        x, y = self.bodies.p[player]
        way = np.array(velocity[:2]) if np.hypot(velocity[0], velocity[1]) > 0.1 else np.array(place[:2]) - (x, y)
        unit = way / max(float(np.hypot(*way)), 1e-9)
        is_left = float(unit[0] * (place[1] - y) - unit[1] * (place[0] - x)) > 0
        limb = ("left_" if is_left else "right_") + ("hand" if hands else "foot")
        behind = (place[0] - 0.12 * unit[0], place[1] - 0.12 * unit[1], place[2] if hands else min(place[2], 0.7))
        swing = (float(unit[0]) * swing_m_s, float(unit[1]) * swing_m_s)
        self.log.contacts.append(Contact(self.t_s, player, limb, behind, swing))
        self.note("touch", player, place, limb).detail["what"] = what
        self.ball.kick((float(velocity[0]), float(velocity[1]), float(velocity[2])))
        self.touched_s[player] = self.t_s
        self.last = player
        if player != self.taker:
            self.taker = None

    def resolve(self, outcome: str, player: int) -> None:
        """Notes how the pass or shot that is under way ended, if one is."""
        row, self.flight = self.flight, None
        if row is None:
            return
        if row.kind == "shot.attempt":
            names = {"caught": "saved", "parried": "saved", "received": "short", "lost": "short"}
            row.detail["outcome"] = names.get(outcome, outcome)
        elif outcome == "out":
            row.detail["outcome"] = "out"
        else:
            row.detail["outcome"] = "complete" if player // 11 == row.team else "intercepted"
            row.detail["receiver"] = object_id(player)
        row.detail["received_us"] = round(self.t_s * 1e6)


def object_id(player: int) -> str:
    """Object id of a player's row.

    >>> object_id(0), object_id(21)
    ('home_1', 'away_11')
    """
    return f"{'home' if player < 11 else 'away'}_{player % 11 + 1}"
