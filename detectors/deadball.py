"""Whether a contact happens in play, from what lies below level 6: line crossings and the place of the contact.

Theory of operation
-------------------
``play.live`` and ``play.dead`` are of level 6 themselves, so possession, passes and shots cannot hear them. They
need less: after the ball has left the field it is carried, rolled or thrown about, and none of that is football until
it is put back where the Laws want it (15: at the touch line near where it left; 16: in the goal area; 17: at a corner;
8: at the centre). A contact there is the restart.

A stoppage inside the field (a foul) shows no line, and no tracking hears the whistle. But outside the penalty areas
only dead balls are carried in the hands: a ball that stays at the height of the hands, beside one player, is dead from
then on, until it is played after having lain still, or from the touch line. What was played between the whistle and
the hands cannot be known here.

In case a restart is missed (a provider's ball may jump),
two players in a row who play the ball inside the field, a while after it left, bring play back as well.
"""

from __future__ import annotations

import math

import msgspec

from detectors.facts import Fact
from detectors.lines import OUT_LINES
from detectors.pitch import Pitch, end_of
from detectors.states import BallState, Frame
from middleware.events import Event


class RestartParameters(msgspec.Struct, frozen=True):
    """Places of restarts, all ours but the Laws they serve.

    ``touch_line_m``: a thrower stands at the line and the ball is in his hands; ``along_m``: referees allow that
    much along it. ``corner_m``: Law 17's arc and a step. ``goal_area_m``: around the goal area. ``centre_m``:
    StreamTeam's kick-off. ``missed_us``: time after which two players in a row mean that play goes on;
    ``hand_missed_us`` after a foul. ``hand_low_m``, ``hand_high_m``, ``hand_reach_m``, ``hand_us``: what is
    carried in the hands, and for how long until it counts: no ball in play stays so for a second. ``still_m_s``,
    ``still_us``: a ball laid down (2.4's 1.8 s is for prepared set plays; a quick free kick lies shorter).
    """

    touch_line_m: float = 2.5
    along_m: float = 20.0
    corner_m: float = 3.0
    goal_area_m: float = 1.0
    centre_m: float = 3.0
    missed_us: int = 4_000_000
    hand_low_m: float = 0.6
    hand_high_m: float = 2.0
    hand_reach_m: float = 0.6
    hand_us: int = 1_000_000
    hand_missed_us: int = 20_000_000
    still_m_s: float = 0.5
    still_us: int = 1_000_000


class Play(msgspec.Struct, frozen=True, gc=False):
    """How play died: the line that the ball left by, or ``hand``; empty in play. When and where; who played it last
    since then. ``holder`` has it in his hands since ``held_us``; it lies still since ``still_us`` (0: not)."""

    line: str = ""
    out_us: int = 0
    x_m: float = 0.0
    y_m: float = 0.0
    stray: str = ""
    holder: str = ""
    held_us: int = 0
    still_us: int = 0

    @property
    def dead(self) -> bool:
        """Whether the ball is out and not yet back."""
        return bool(self.line)


IN_PLAY = Play()


def crossed(play: Play, event: Event) -> Play:
    """Play after a ``ball.crossed``. The first line counts; coming back in changes nothing."""
    fact = event.payload
    assert isinstance(fact, Fact)
    line = OUT_LINES.get(fact.variant)
    if line is None:
        return play
    if play.dead and play.line != "hand":
        # Carried back in and out again: still the first exit, but nobody has begun to play.
        return msgspec.structs.replace(play, stray="")
    return Play(line, event.ts_us, fact.x_m or 0.0, fact.y_m or 0.0)


def watched(play: Play, pitch: Pitch, ts_us: int, frame: Frame, p: RestartParameters) -> Play:
    """Play after a frame: is the ball in somebody's hands, does it lie still? The usual ball, rolling, costs little."""
    ball = frame.ball
    if ball is None:
        return play
    slow = ball.vx_m_s * ball.vx_m_s + ball.vy_m_s * ball.vy_m_s < p.still_m_s * p.still_m_s
    still_us = (play.still_us or ts_us) if slow and ball.z_m < p.hand_low_m else 0
    holder = ""
    if p.hand_low_m <= ball.z_m <= p.hand_high_m:
        holder = _in_hands(play.holder, pitch, ball, frame, p.hand_reach_m)
    held_us = (play.held_us if holder == play.holder else ts_us) if holder else 0
    same = still_us == play.still_us and held_us == play.held_us and holder == play.holder
    if same and (not holder or ts_us - held_us < p.hand_us):
        return play
    if holder and ts_us - held_us >= p.hand_us and (not play.dead or play.line == "hand"):
        return Play("hand", ts_us, ball.x_m, ball.y_m, "", holder, held_us, 0)
    return Play(play.line, play.out_us, play.x_m, play.y_m, play.stray, holder, held_us, still_us)


def _in_hands(holder: str, pitch: Pitch, ball: BallState, frame: Frame, reach_m: float) -> str:
    """Who stands by the ball, outside the penalty areas where a goalkeeper may hold it; the holder goes first."""
    end = end_of(ball.x_m)
    if pitch.in_penalty_area(ball.x_m, ball.y_m, end, 1.0):
        return ""
    found = ""
    for body in frame.players:
        dx, dy = body.x_m - ball.x_m, body.y_m - ball.y_m
        if dx * dx + dy * dy <= reach_m * reach_m:
            if body.object_id == holder:
                return holder
            found = found or body.object_id
    return found


def contact(
    play: Play, pitch: Pitch, ts_us: int, player: str, x_m: float, y_m: float, p: RestartParameters
) -> Play:
    """Play after a contact at a place: in play if it was a restart, else who strayed."""
    if not play.dead or ts_us <= play.out_us:
        return play
    if _at_restart(play, pitch, ts_us, x_m, y_m, p):
        return IN_PLAY
    if not pitch.inside(x_m, y_m, -1.0):
        return msgspec.structs.replace(play, stray="")
    missed_us = p.hand_missed_us if play.line == "hand" else p.missed_us
    if play.stray not in ("", player) and ts_us - play.out_us >= missed_us:
        return IN_PLAY
    return msgspec.structs.replace(play, stray=player)


def _at_restart(
    play: Play, pitch: Pitch, ts_us: int, x_m: float, y_m: float, p: RestartParameters
) -> bool:
    if math.hypot(x_m, y_m) <= p.centre_m and play.line != "hand":
        return True
    if play.line == "hand":
        lay = play.still_us > 0 and ts_us - play.still_us >= p.still_us
        return lay or pitch.half_width_m - abs(y_m) <= p.touch_line_m
    if play.line.endswith("touch"):
        beside = pitch.half_width_m - abs(y_m) <= p.touch_line_m
        return beside and y_m * play.y_m > 0 and abs(x_m - play.x_m) <= p.along_m
    end = end_of(play.x_m)
    at_corner = pitch.corner_distance_m(x_m, y_m) <= p.corner_m
    return end_of(x_m) == end and (at_corner or pitch.in_goal_area(x_m, y_m, end, p.goal_area_m))
