"""Write the rows of truth while a match is played, and follow possession by touches alone.

``t_s`` of a row is the first touch of its contact, or the instant at which the whole ball had crossed the line, or
the whistle. Kinds and numbers are those of the detectors; kinds that no detector emits are named in the same style.

=====================  ====================================================================================
kind (variant)         definition
=====================  ====================================================================================
hit, touch (limb)      every contact, 5.1 and 5.2: a hit if the ball's acceleration peaks at 55 m/s2 or more.
                       ``what`` says what was meant: pass, shot, cross, clearance, dribble, trap, header, throw,
                       catch, parry, punch, save, block, tackle, deflection, handle
header (standing,      5.4: a contact of the head; jumping if 5 cm or more off the ground
jumping)
deflection             5.7: the ball went on, turned by less than 60 degrees, at 50 to 110 % of its speed, off
                       somebody who did not mean to play it there
gk.catch, gk.parry,    5.5: contacts of a goalkeeper's hands; a drop is a catch that failed
gk.punch, gk.drop
kick.released          5.8: the ball is 2.25 m from whoever kicked it last
contest.contact        5.9: opponents touched the ball within 100 ms
handball               12: an outfield hand touched the ball in play and the referee took it for an offence
possession.gain,       6.2: a player touches the ball in play who is not the one who touched it last; the other
possession.loss        loses it then, or when play dies. Variant of the gain: hit, touch or restart
team.possession        6.3: home, away, ``in contest`` while both touched it within 0.8 s, dead
play.live, play.dead   6.4: the ball is in play from a restart's contact to the line, the whistle or the goal.
                       Variants: after what (the restart's kind); of what (touch, goal line, goal, whistle)
out (line)             6.5: the whole ball over a line outside the goals; person: last touch
goal.candidate         6.6: the whole ball in a goal while in play
pass.attempt           6.7: a contact meant to take the ball to a mate, or away (``what``: pass, cross, cutback,
                       through, switch, chip, back, header, throw, goal_kick, clearance ...). ``intended`` may be
                       empty; ``outcome``: complete, intercepted, out, offside, stopped (whistle), lost (himself again)
pass.complete          7.6, 7.7: the first touch of another player that is not a deflection is a mate's or an
pass.intercepted       opponent's; or the ball left the pitch first. Time and place are the ending's; person is
pass.out               the passer, ``receiver`` who got it
interception (won,     7.8: an opponent ended a pass that moved at 4 m/s or more, not in a duel; to out if the
to out)                ball then left the pitch within 1.5 s without another touch
clearance              7.9: a contact meant to get the ball away, in the own third, with an opponent within 3 m
shot.attempt           6.1: a contact meant for the goal (``what``: foot, header, volley, free_kick, penalty);
                       ``xg``; ``outcome``: goal, saved, blocked, off, post, short
shot.on_target_pred,   6.1: the ball as it left would pass the goal line inside or outside the mouth (written where
shot.off_target_pred   it reaches the line within 1.5 s and 1 m beside)
shot.blocked,          7.1: the first opponent outfield contact after the shot; deflected if it still goes on to
shot.deflected         the goal
shot.saved (caught,    7.2: a goalkeeper's contact with a shot that would have gone in; person: goalkeeper
parried, punched, body)
shot.off (wide left,   7.3: a shot out over the goal line; sides as the shooter sees them
wide right, over)
shot.post              7.4: a shot on post or bar; ball.woodwork (near post, far post, bar) is 2.11's row
goal.scored, goal.own  7.5: team gets the goal; person scored it, or turned a ball in that was not on target
goal.confirmed,        10.14: the referee's decision, dated at his signal; the product infers it from the kick-off
goal.disallowed
keypass, assist        8.12: the completed pass before a shot, a goal, at most 10 s before
duel.start, duel.end   6.8: an opponent is within 1.5 m of a controlled ball and goes for it; loose: nobody's ball
(ground, loose)
aerial.start,          6.9: two opponents within 1.5 m of a ball higher than 1.5 m, one jumps; won: who touched it
aerial.won
tackle.won,            7.13: a try to take the ball off an opponent; won: his team has the next control
tackle.lost
takeon.won, .lost      7.12: a carrier goes past an opponent who tried for the ball, or loses it to him
carry.start, .end      6.10: a holder moves the ball 3 m or more between his gain and his next act
ball.loose             6.11: in play, slower than 8 m/s, nobody within 1.5 m for 0.5 s
recovery               7.10: the first gain after a loose ball by the other team
miscontrol             7.11: his own touch sends the ball 3 m away and it is lost within 2 s
gk.claim, gk.pickup,   7.14: a goalkeeper takes a cross, a rolling ball, a ball at somebody's feet; plays the ball
gk.smother, gk.sweep   outside his area
offside.position       7.15: a mate is in an offside position at a pass (only where it matters: he is involved)
offside.offence        9.9: he plays the ball or challenges for it; dated at the involvement, ``pass_us``
foul (careless,        12: an offence; advantage: play went on. ``fall`` if the fouled one went down
handball, holding)
advantage              12: the referee let play go on
card (yellow, second   12; shown while play is dead
yellow, red)
sendoff                3, 12: a player leaves for good
restart.<kind>         9.1 to 9.7: kick_off, throw_in, corner (left, right), goal_kick (short, long), free_kick
                       (direct shot, crossed, short), penalty, dropped; the contact that takes it
whistle                the referee stops play (variant why); ``flag`` an assistant's signal
sub.out, sub.in        9.12: a player crosses the line off the pitch, onto it
player.down, .up       3.6: somebody lies on the ground
period.start, .end     9.8: by the whistle; variant 1, 2, ...
added_time             7: what the referee adds, announced before the end of a half
=====================  ====================================================================================
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
        has: row of the player who touched the ball in play last, -1 for nobody; ``gain`` the row of that gain.
        control: the newest value of ``team.possession``.
    """

    rows: list[Row] = field(default_factory=list)
    has: int = -1
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
        if person != self.has:
            self._lose(t_s, cause, variant, position)
            self.has = person
            self.gain = self.add("possession.gain", t_s, person, position, variant, (cause,))
        self._touched_s[team] = t_s
        self._last = (person, cause)
        contested = t_s - self._touched_s[1 - team] < CONTEST_S
        self._show("in contest" if contested else ("home", "away")[team], t_s, person, position, cause)

    def end_play(self, t_s: float, cause: int, position: Vector) -> None:
        """End possession because play is dead."""
        self._lose(t_s, cause, "dead", position)
        self.has = -1
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
        if self.has >= 0:
            held_s = t_s - self.rows[self.gain].t_s
            causes = (self.gain, cause)
            self.add("possession.loss", t_s, self.has, position, variant, causes, held_s=round(held_s, 4))

    def _show(self, value: str, t_s: float, person: int, position: Vector | None, cause: int) -> None:
        if value == self.control:
            return
        self.control = value
        controlled = value in ("home", "away")
        self.add("team.possession", t_s, person if controlled else -1, position, value, (cause,))


@dataclass
class Watching:
    """Situations under observation, each until it is decided.

    They are a kick until the ball is away, a carry, a duel, a loose ball, a take-on, and a bad touch.
    """

    kick: int = -1
    carry: tuple[int, float, Vector, float, Vector] | None = None
    duel: tuple[int, int, int] | None = None
    alone_s: float = 0.0
    loose: int = -1
    loose_team: int = -1
    takeon: tuple[int, int, float, int] | None = None
    trap: tuple[int, float, Vector, int] | None = None
    aerial: tuple[int, int, int] | None = None


def id_of(person: int) -> str:
    """Return the object id of a row, empty for nobody."""
    return object_id(person) if person >= 0 else ""
