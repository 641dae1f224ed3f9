"""State and payloads of 5.10: what is known of play, and the details of a stoppage and of the kick that ends it."""

from __future__ import annotations

import msgspec

from detectors.play.dead_ball_kicks import NO_REST, Rest
from detectors.play.evidence import Case
from detectors.play.stalls import NO_STALL, NOT_HANDLED, Handled, Stall
from football.match_sheet import Team
from middleware.events import Event

#: Causes of a stoppage.
STOPPAGE_CAUSES = ("touch", "goal line", "goal", "stop")
#: Causes that geometry shows even if the referee had stopped play before the ball ran out.
LINE_CAUSES = ("touch", "goal line")
#: Contacts that are remembered: a ball that is picked up shakes.
CONTACTS = 12

#: Detail of a stoppage, and of the kick that ends it.
DEAD = ("line", "sign", "since_us")
LIVE = (
    "line", "fallback", "kick_us", "rest_s", "kick_off_shape", "penalty_shape", "shoot_out", "dropped",
    "vx_m_s", "vy_m_s", "height_m", "taker_x_m", "taker_y_m", "attacks_x", "evidence",
)  # fmt: skip


class PhaseState(msgspec.Struct, frozen=True, gc=False):
    """State of play.

    Attributes:
        mode: ``unknown`` at first, then ``live`` or ``dead``.
        cause: cause of the last stoppage: ``touch``, ``goal line``, ``goal``, ``stop``; ``start`` before the first.
        line: variant of the crossing that ended play, if one did.
        exit: a crossing that has not settled yet.
        attacks_x: team that attacks towards +x.
        rest: the newest rest of the ball.
        stall: signs that the ball has stalled.
        case: the case that a dead ball is in play again; None if nothing speaks for it.
        stopped: True if officials have stopped play.
        peak: a change of the ball's velocity, until the next frame shows who was there.
        played: times of the newest contacts since the ball is in play, oldest first.
        turned_us: the event time of the newest transition.
        lost_us: time since which the ball is not seen; -1 if it is seen.
        seen_us: the newest frame with the ball; -1 before it.
        mouth: a ball that went into a goal by the post, until it has settled in the net or beside it.
        left_rest: of a dead ball, the rest that it had left when it was found elsewhere.
        handled: the newest time since then that a field player had the ball at hand height.
    """

    mode: str = "unknown"
    cause: str = "start"
    line: str = ""
    exit: Event | None = None
    attacks_x: Team = ""
    rest: Rest = NO_REST
    stall: Stall = NO_STALL
    case: Case | None = None
    stopped: bool = False
    peak: Event | None = None
    played: tuple[int, ...] = ()
    turned_us: int = -(2**62)
    lost_us: int = -1
    seen_us: int = -1
    mouth: Event | None = None
    handled: Handled = NOT_HANDLED
    left_rest: Rest | None = None
