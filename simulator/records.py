"""Records that the simulator's packages exchange: persons, contacts, rows of truth, intervals of a played match.

Two things are called rows here. A *person's row* (``row`` or ``person``, an int) is the index of a player or referee in
every array of persons. A *row of truth* is a :class:`Row`, which play writes; ``index`` is its index in the list.

``play`` yields each :class:`PlayedInterval` in order. ``physics`` turns it into paths of limbs, ``radio`` into
packets. An interval has margins on both sides, so that what spans a border (a swinging leg) is computed alike in
both intervals.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np

from football.packet_table import Floats
from football.payloads import Scalar

Vector = tuple[float, float, float]

#: A tick of play. Persons have one row of columns a tick.
TICK_S = 0.02
#: A step of the ball; a tick has ``STEPS`` of them.
STEP_S = 0.0005
STEPS = 40

#: Rows of persons: 11 starters and 5 substitutes a team, the referee and two assistants. With four limbs each they
#: carry 140 transmitters; with four balls that makes the 144 of papers 000 and 004, and 36,000 positions a second.
SQUAD = 16
STARTERS = 11
HOME, AWAY = slice(0, 16), slice(16, 32)
REFEREES = (32, 33, 34)
PERSONS = 35
KEEPERS = (0, 16)
BALLS = ("ball", "ball_2", "ball_3", "ball_4")

FEET = ("left_foot", "right_foot")
HANDS = ("left_hand", "right_hand")
FOUR_LIMBS = (*FEET, *HANDS)

#: Margin of an interval on both sides.
MARGIN_S = 1.0


class Col(IntEnum):
    """Columns of a person in a tick.

    Position and velocity over ground, heading (rad, unwrapped), phase of the stride (rad, growing), height gained by a
    jump (m), tilt (0 upright to 1 lying on the ground, towards the heading).
    """

    X = 0
    Y = 1
    VX = 2
    VY = 3
    HEADING = 4
    GAIT = 5
    RISE = 6
    TILT = 7


COLUMNS = len(Col)


@dataclass(frozen=True)
class Contact:
    """A body part touches the ball.

    Attributes:
        t_s: first touch; the acceleration peaks half a ``duration_s`` later.
        person: row; ``limb`` one of the four, or ``head``, ``chest``, ``body``.
        position: ball centre at first touch.
        before, after: ball velocity into and out of the contact.
        what: pass, shot, cross, clearance, dribble, trap, header, throw, catch, parry, punch, block, tackle, ...
        hold_s: how long the ball then stays in the hands, 0 for a strike.
    """

    t_s: float
    person: int
    limb: str
    position: Vector
    before: Vector
    after: Vector
    what: str
    duration_s: float = 0.009
    hold_s: float = 0.0


@dataclass
class Row:
    """A row of truth, as play writes it: something that happens in the match, at ``t_s``.

    ``person`` is the person's row, -1 for nobody. ``causes`` are indices of other rows. An ``open`` row waits for its
    outcome and may still change.
    """

    kind: str
    t_s: float
    person: int
    team: str
    position: Vector
    variant: str = ""
    detail: dict[str, Scalar] = field(default_factory=dict)
    causes: tuple[int, ...] = ()
    open: bool = False


@dataclass(frozen=True, eq=False)
class PlayedInterval:
    """An interval ``[begin_s, end_s)`` of a played match.

    Attributes:
        ticks_s: (T,) times of the ticks, from ``begin_s - MARGIN_S`` to ``end_s + MARGIN_S`` as far as the match goes.
        persons: (T, PERSONS, COLUMNS); NaN throughout for persons not in the squad.
        contacts: those between the first and the last tick, and earlier ones whose ``hold_s`` lasts into that time, in
            order of time.
        balls: (BALLS, n, 3) centres of all balls at every step of ``STEP_S`` in ``[begin_s, end_s)``; NaN throughout
            for one that is not there.
        ball_velocity: (n, 3) velocity of the ball in play at the same steps, m/s; ``active`` which ball that is, by
            step (index into ``BALLS``).
    """

    begin_s: float
    end_s: float
    ticks_s: Floats
    persons: Floats
    contacts: tuple[Contact, ...]
    balls: Floats
    ball_velocity: Floats
    active: np.ndarray


def team_of_row(person: int) -> str:
    """``home``, ``away``, or empty for a referee or nobody.

    >>> team_of_row(0), team_of_row(31), team_of_row(32)
    ('home', 'away', '')
    """
    if 0 <= person < SQUAD:
        return "home"
    return "away" if SQUAD <= person < 2 * SQUAD else ""


def object_id(person: int) -> str:
    """Object id of a person's row.

    >>> object_id(0), object_id(31), object_id(32)
    ('home_1', 'away_16', 'referee_1')
    """
    if person >= 2 * SQUAD:
        return f"referee_{person - 2 * SQUAD + 1}"
    return f"{team_of_row(person)}_{person % SQUAD + 1}"


#: Object id of every row of a match that is played here. A match of another source keeps its own ids: it gives such a
#: table with its intervals, empty where a row is nobody's.
NAMES = tuple(object_id(person) for person in range(PERSONS))
