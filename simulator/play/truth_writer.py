"""Write the rows of truth while a match is played, and follow possession by touches alone.

:mod:`football.truth_kinds` defines each kind. ``t_s`` of a row is the first touch of its contact, or the instant at
which the whole ball had crossed the line, or the whistle. A pass ends with a row of its own: its time and position are
those of the ending, its person is the passer.

Details that the definitions do not list:

=======================  ==================================================================================
kind                     detail
=======================  ==================================================================================
hit, touch               ``what`` the player meant: pass, shot, cross, clearance, dribble, trap, header, throw,
                         catch, parry, punch, save, block, tackle, deflection, handle
pass.attempt             ``what``: pass, cross, cutback, through, switch, chip, back, header, throw, goal_kick,
                         clearance ...; ``intended`` receiver, may be empty; ``outcome``: complete, intercepted,
                         out, offside, stopped (whistle), lost (the passer plays the ball again)
pass.complete,           ``receiver``: the player who touched the ball next
pass.intercepted
shot.attempt             ``what``: foot, header, volley, free_kick, penalty; ``xg``; ``outcome``: goal, saved,
                         blocked, off, post, short
foul                     ``fall`` if the fouled player went down; ``advantage`` if play went on
=======================  ==================================================================================

Play's variant of ``play.live`` is the kind of the restart, and of ``play.dead`` ``whistle`` for a stop;
:meth:`simulator.truth.truth_table.Lines.add_rows` gives both the detectors' variants.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from football.payloads import Scalar
from simulator.records import Row, Vector, object_id, team_of_row

#: 6.3: control is disputed while both teams touched the ball so lately.
CONTEST_S = 0.8
#: 5.1: peak of a hit.
HIT_M_S2 = 55.0

#: Place of a row whose contact has been begun but not been played yet.
_UNKNOWN_POSITION: Vector = (float("nan"), float("nan"), float("nan"))


@dataclass
class TruthWriter:
    """Writes rows of truth in the order in which things happen, and follows possession by touches.

    Attributes:
        rows: rows of truth; ``causes`` refer to them by index.
        owner: the player who touched the ball in play last (a person's row), -1 for nobody; ``gain``: index in
            ``rows`` of the row of that gain.
        control: the newest value of ``team.possession``.
    """

    rows: list[Row] = field(default_factory=list)
    owner: int = -1
    gain: int = -1
    control: str = "dead"
    _touched_s: list[float] = field(default_factory=lambda: [-9.0, -9.0])
    _last: tuple[int, int] = (-1, -1)
    _unplaced: list[int] = field(default_factory=list)
    listeners: list[Callable[[Row], None]] = field(default_factory=list)

    def add(
        self,
        kind: str,
        t_s: float,
        person: int = -1,
        position: Vector | None = None,
        variant: str = "",
        causes: tuple[int, ...] = (),
        **detail: Scalar,
    ) -> int:
        """Add a row and return its index; :meth:`set_positions` fills in a position that is None."""
        row = Row(kind, t_s, person, team_of_row(person), position or _UNKNOWN_POSITION, variant, dict(detail))
        row.causes = tuple(c for c in causes if c >= 0)
        self.rows.append(row)
        if position is None:
            self._unplaced.append(len(self.rows) - 1)
        for listener in self.listeners:
            listener(row)
        return len(self.rows) - 1

    def set_positions(self, position: Vector) -> None:
        """Fill in the position of this tick's contact."""
        for index in self._unplaced:
            self.rows[index].position = position
        self._unplaced.clear()

    def set_peak(self, index: int, peak_m_s2: float) -> None:
        """Classify a contact by its peak: a hit from ``HIT_M_S2`` on, else a touch."""
        row = self.rows[index]
        row.kind = "hit" if peak_m_s2 >= HIT_M_S2 else "touch"
        row.detail["peak_m_s2"] = round(peak_m_s2, 1)

    def touched(self, person: int, t_s: float, cause: int, variant: str, position: Vector | None) -> None:
        """Update possession by a contact with the ball in play (6.2, 6.3)."""
        team = 0 if team_of_row(person) == "home" else 1
        if person != self.owner:
            self._lose(t_s, cause, variant, position)
            how = variant if self.owner >= 0 else "restart"
            self.owner = person
            self.gain = self.add("possession.gain", t_s, person, position, how, (cause,))
        self._touched_s[team] = t_s
        self._last = (person, cause)
        contested = t_s - self._touched_s[1 - team] < CONTEST_S
        self._show("in contest" if contested else ("home", "away")[team], t_s, person, position, cause)

    def end_play(self, t_s: float, cause: int, position: Vector) -> None:
        """End possession because play is dead."""
        self._lose(t_s, cause, "dead", position)
        self.owner = -1
        self._touched_s = [-9.0, -9.0]
        self._show("dead", t_s, -1, position, cause)

    def watch(self, t_s: float) -> None:
        """End a contest once one team has had the ball alone for long enough; call each tick of live play."""
        if self.control != "in contest":
            return
        home_s, away_s = self._touched_s
        if t_s - min(home_s, away_s) >= CONTEST_S:
            person, cause = self._last
            team = "home" if home_s >= away_s else "away"
            self._show(team, t_s, person, self.rows[cause].position, cause)

    def _lose(self, t_s: float, cause: int, variant: str, position: Vector | None) -> None:
        if self.owner >= 0:
            held_s = t_s - self.rows[self.gain].t_s
            causes = (self.gain, cause)
            self.add("possession.loss", t_s, self.owner, position, variant, causes, held_s=round(held_s, 4))

    def _show(self, value: str, t_s: float, person: int, position: Vector | None, cause: int) -> None:
        if value == self.control:
            return
        self.control = value
        controlled = value in ("home", "away")
        self.add("team.possession", t_s, person if controlled else -1, position, value, (cause,))


@dataclass(frozen=True)
class TakeOn:
    """A failed try for the ball: who has it, who tried, when, where the first one heads; when and where he passed."""

    holder: int
    rival: int
    since_s: float
    heading: tuple[float, float]
    passed_s: float = -1.0
    position: Vector = (0.0, 0.0, 0.0)


@dataclass
class Watching:
    """Situations under observation, each until it is decided.

    They are a kick until the ball is away, a carry, a loose ball, a tackle, a take-on, a bad touch, jumps for a high
    ball by person, the time of the last duel, a ball that was won but is not secured yet, and a shot that was blocked
    (rows of the block and of the attempt, whether it was on target) and may go in all the same.
    """

    kick: int = -1
    carry: tuple[int, float, Vector, float, Vector] | None = None
    alone_s: float = 0.0
    loose: int = -1
    loose_team: int = -1
    tackle: int = -1
    takeon: TakeOn | None = None
    touch: tuple[int, float, Vector, int] | None = None
    aerial: tuple[int, int, int] | None = None
    jumps: dict[int, float] = field(default_factory=dict)
    disputed_s: float = -9.0
    recovering: tuple[int, float, int, int] | None = None
    block: tuple[int, int, bool] | None = None


def id_of(person: int) -> str:
    """Return the object id of a row, empty for nobody."""
    return object_id(person) if person >= 0 else ""
