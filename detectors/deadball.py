"""Whether a contact happens in play, from what lies below level 6: line crossings and the place of the contact.

Theory of operation
-------------------
``play.live`` and ``play.dead`` are of level 6 themselves, so possession, passes and shots cannot hear them. They
need less: after the ball has left the field it is carried, rolled or thrown about, and none of that is football until
it is put back where the Laws want it (15: at the touch line near where it left; 16: in the goal area; 17: at a corner;
8: at the centre). A contact there is the restart. In case a restart is missed (a provider's ball may jump),
two players in a row who play the ball inside the field, a while after it left, bring play back as well.
"""

from __future__ import annotations

import math

import msgspec

from detectors.facts import Fact
from detectors.lines import OUT_LINES
from detectors.pitch import Pitch, end_of
from middleware.events import Event


class RestartParameters(msgspec.Struct, frozen=True):
    """Places of restarts, all ours but the Laws they serve.

    ``touch_line_m``: a thrower stands at the line and the ball is in his hands; ``along_m``: referees allow that
    much along it. ``corner_m``: Law 17's arc and a step. ``goal_area_m``: around the goal area. ``centre_m``:
    StreamTeam's kick-off. ``missed_us``: time after which two players in a row mean that play goes on.
    """

    touch_line_m: float = 2.5
    along_m: float = 20.0
    corner_m: float = 3.0
    goal_area_m: float = 1.0
    centre_m: float = 3.0
    missed_us: int = 4_000_000


class Play(msgspec.Struct, frozen=True, gc=False):
    """Line that the ball left by, empty in play; when and where; who played it last since then."""

    line: str = ""
    out_us: int = 0
    x_m: float = 0.0
    y_m: float = 0.0
    stray: str = ""

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
    if play.dead:
        # Carried back in and out again: still the first exit, but nobody has begun to play.
        return msgspec.structs.replace(play, stray="")
    return Play(line, event.ts_us, fact.x_m or 0.0, fact.y_m or 0.0)


def contact(
    play: Play, pitch: Pitch, ts_us: int, player: str, x_m: float, y_m: float, p: RestartParameters
) -> Play:
    """Play after a contact at a place: in play if it was a restart, else who strayed."""
    if not play.dead or ts_us <= play.out_us:
        return play
    if _at_restart(play, pitch, x_m, y_m, p):
        return IN_PLAY
    if not pitch.inside(x_m, y_m, -1.0):
        return msgspec.structs.replace(play, stray="")
    if play.stray not in ("", player) and ts_us - play.out_us >= p.missed_us:
        return IN_PLAY
    return msgspec.structs.replace(play, stray=player)


def _at_restart(play: Play, pitch: Pitch, x_m: float, y_m: float, p: RestartParameters) -> bool:
    if math.hypot(x_m, y_m) <= p.centre_m:
        return True
    if play.line.endswith("touch"):
        beside = pitch.half_width_m - abs(y_m) <= p.touch_line_m
        return beside and y_m * play.y_m > 0 and abs(x_m - play.x_m) <= p.along_m
    end = end_of(play.x_m)
    at_corner = pitch.corner_distance_m(x_m, y_m) <= p.corner_m
    return end_of(x_m) == end and (at_corner or pitch.in_goal_area(x_m, y_m, end, p.goal_area_m))
