"""Scripts: how a match begins where a scenario wants it to, and what named persons are told to do.

A script is parsed elsewhere (:mod:`simulator.scenario`); here are the plain values that the match obeys. An
instruction says what a person *tries*: the ball still goes where physics takes it, a told pass is complete only
if somebody gets it. The person runs to the ball by himself, and acts at the first touch that is possible.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from simulator.records import PERSONS, Vector

Do = Literal[
    "pass", "shot", "cross", "clear", "dribble", "header", "trap", "run", "stand", "jump",
    "foul", "tackle", "block", "save", "catch", "parry", "punch", "handle", "throw", "fall",
]  # fmt: skip

#: Everything that an instruction may tell.
DOINGS: tuple[str, ...] = get_args(Do)

#: Instructions that end in a contact with the ball; the others move the person only.
CONTACTS = frozenset(DOINGS) - {"run", "stand", "jump", "fall", "foul"}


@dataclass(frozen=True)
class Start:
    """Where a person is when the match begins: place over ground (m), velocity (m/s), heading (rad, None: as he
    runs, or towards the ball)."""

    x_m: float
    y_m: float
    vx_m_s: float = 0.0
    vy_m_s: float = 0.0
    heading: float | None = None


@dataclass(frozen=True)
class Opening:
    """The situation at time 0.

    Attributes:
        persons: by row of ``world.PERSONS``; who is not named stands where his role puts him.
        ball, ball_velocity: centre (m) and velocity (m/s) of the ball in play.
        holder: who controls the ball, None if it is loose.
        period, clock_s: half that is being played (1, 2, ...) and its time so far.
        score: home, away.
        home_attacks_positive_x: in this half.
        restart: kind of the restart that is awaited (``kick_off``, ``throw_in``, ``corner``, ``goal_kick``,
            ``free_kick``, ``penalty``), empty if the ball is in play; ``restart_team`` takes it, 0 home, 1 away, at
            ``ball``.
        absent: rows of players who are not on the pitch (sent off before).
    """

    persons: Mapping[int, Start] = field(default_factory=dict)
    ball: Vector = (0.0, 0.0, 0.11)
    ball_velocity: Vector = (0.0, 0.0, 0.0)
    holder: int | None = None
    period: int = 1
    clock_s: float = 0.0
    score: tuple[int, int] = (0, 0)
    home_attacks_positive_x: bool = True
    restart: str = ""
    restart_team: int = 0
    absent: tuple[int, ...] = ()


@dataclass(frozen=True)
class Instruction:
    """Somebody is told to do something, at a time or after an event; it is in force until it is done.

    Attributes:
        do: what; see ``DOINGS``. ``run`` and ``stand`` last until his next instruction or ``for_s``.
        person: row.
        at_s: since when; or ``after``: since the first truth row of that kind that comes after the instruction
            before this one in the list is done (``after_person``: of that person only), and ``delay_s`` more.
        mate: row of whom the pass is meant for.
        target: where the ball (of a dribble, run or jump: the person) shall go; z counts for the ball only.
        speed_m_s: of the ball as it leaves, or of the runner; None: as he would.
        height_m: greatest height of the ball's flight over ground, or of a jump; None: as he would.
        spin: of the ball (rad/s), None: as he would.
        limb: which body part; empty: the one that is there.
        for_s: how long a run, stand, hold in the hands or fall lasts; None: until it is done.
    """

    do: str
    person: int
    at_s: float = 0.0
    after: str = ""
    after_person: int | None = None
    delay_s: float = 0.0
    mate: int | None = None
    target: Vector | None = None
    speed_m_s: float | None = None
    height_m: float | None = None
    spin: Vector | None = None
    limb: str = ""
    for_s: float | None = None

    def __post_init__(self) -> None:
        if self.do not in DOINGS:
            raise ValueError(f"do {self.do!r} is not one of {', '.join(DOINGS)}")
        if not 0 <= self.person < PERSONS:
            raise ValueError(f"person {self.person} is not a row of 0..{PERSONS - 1}")
        if self.speed_m_s is not None and self.speed_m_s <= 0:
            raise ValueError(f"speed_m_s {self.speed_m_s} is not positive")


@dataclass(frozen=True)
class Script:
    """An opening and what happens then; with ``still`` who is told nothing stands still, else he plays."""

    opening: Opening = Opening()
    instructions: tuple[Instruction, ...] = ()
    still: bool = False
