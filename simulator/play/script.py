"""Scripts: the opening of a scenario's match, and instructions to named persons.

:mod:`simulator.scenario` parses scripts; these are their plain values. An instruction says what a person *tries*: the
ball still moves by physics, and an instructed pass is complete only if somebody gets it. The person runs to the ball
without further instruction, and acts at the first touch that is possible.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from football.constants import BALL_RADIUS_M
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
    """The start of a person: position over ground (m), velocity (m/s), heading (rad).

    A heading of None means: as the person runs, or towards the ball.
    """

    x_m: float
    y_m: float
    vx_m_s: float = 0.0
    vy_m_s: float = 0.0
    heading: float | None = None


@dataclass(frozen=True)
class Opening:
    """The situation at time 0.

    Attributes:
        persons: by row (``simulator.records``); a person who is not named stands where the role says.
        ball, ball_velocity: centre (m) and velocity (m/s) of the ball in play.
        holder: row of the player in control, None if the ball is loose.
        period, clock_s: half that is being played (1, 2, ...) and its time so far.
        score: home, away.
        home_attacks_positive_x: in this half.
        restart: kind of the restart that is awaited (``kick_off``, ``throw_in``, ``corner``, ``goal_kick``,
            ``free_kick``, ``penalty``), empty if the ball is in play; ``restart_team`` takes it, 0 home, 1 away, at
            ``ball``.
        absent: rows of players who are not on the pitch (sent off before).
    """

    persons: Mapping[int, Start] = field(default_factory=dict)
    ball: Vector = (0.0, 0.0, BALL_RADIUS_M)
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
    """An instruction to a person, from a time or an event on; in force until it is done.

    Attributes:
        do: the action; see ``DOINGS``. ``run`` and ``stand`` last until the person's next instruction or ``for_s``.
        person: row.
        at_s: since when; or ``after``: since the first row of truth of that kind after the instruction before this
            one in the list is done (``after_person``: of that person only), and ``delay_s`` more.
        mate: row of the intended receiver.
        target: target of the ball (of a dribble, run or jump: of the person); z counts for the ball only.
        speed_m_s: of the ball as it leaves, or of the runner; None: the player chooses.
        height_m: greatest height of the ball's flight over ground, or of a jump; None: the player chooses.
        spin: of the ball (rad/s), None: the player chooses.
        limb: the body part; empty: whichever reaches the ball.
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
    """An opening and instructions. With ``still``, persons without instruction stand still, else they play."""

    opening: Opening = Opening()
    instructions: tuple[Instruction, ...] = ()
    still: bool = False
