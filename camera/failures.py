"""The care of a camera for failures: one state machine, pure.

Theory of operation
-------------------
At each tick the controller observes some *signs* (``Signs``), and ``fault_of`` names the gravest fault among them. A
fault is shown at once, and the tally lamp calls after ``CALL_AFTER_US``, so that nobody waits a second to know. If
it lasts for its ``patience_us``, the camera eases out to a wide picture of where play was, holds
it, and asks for the operator: a frozen tight picture on air is the worst picture. Once no fault has been seen for
``STEADY_US`` the camera returns to the play, for ``RETURN_US`` in the calm style. While its head is silent nothing can
be done; when it answers again, the camera returns in the same way.

``TRANSITIONS`` is the whole table; a pair that it does not have changes nothing.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from camera.roles import Role
from football.update_stream import View

State = Literal["following", "noticed", "easing", "wide", "returning", "silent"]
Trigger = Literal["fault", "clear", "waited", "arrived", "head silent", "head answers"]
Fault = Literal["", "steering", "head", "feed", "clock", "late", "player", "ball", "confidence"]

TRANSITIONS: Final[dict[tuple[State, Trigger], State]] = {
    ("following", "fault"): "noticed",
    ("noticed", "clear"): "following",
    ("noticed", "waited"): "easing",
    ("easing", "clear"): "returning",
    ("easing", "arrived"): "wide",
    ("wide", "clear"): "returning",
    ("returning", "fault"): "easing",
    ("returning", "waited"): "following",
    ("following", "head silent"): "silent",
    ("noticed", "head silent"): "silent",
    ("easing", "head silent"): "silent",
    ("wide", "head silent"): "silent",
    ("returning", "head silent"): "silent",
    ("silent", "head answers"): "returning",
}

#: Time from a fault to the first movement because of it: shorter ones are no concern. A ball or player that is hidden
#: for a moment is no reason to move a camera: they are called sooner than the camera eases out.
NOTICE_US: Final = 400_000
BALL_NOTICE_US: Final = 800_000
PLAYER_NOTICE_US: Final = 1_300_000
#: Time from a fault to the first flash of the tally lamp.
CALL_AFTER_US: Final = 200_000
#: Time without a fault after which a camera that shows the wide picture returns.
STEADY_US: Final = 500_000
#: Time in which a returning camera moves in the calm style.
RETURN_US: Final = 2_000_000
#: Limit of the time to the wide picture; a camera that a zone stops on its way holds what it has.
EASE_US: Final = 8_000_000

#: While the operator is needed, the tally lamp is changed for ``CALL_FLASH_US`` of each ``CALL_US``: it flashes, as it
#: does for a call from a control panel.
CALL_US: Final = 2_000_000
CALL_FLASH_US: Final = 400_000

#: Limit of the wait for the first answer of a head; one that has answered before counts as silent sooner.
FIRST_ANSWER_US: Final = 1_000_000
#: Ages from which on positions count as lost: of a view on its arrival, of the ball and of a player within a view.
VIEW_US: Final = 300_000
BALL_US: Final = 600_000
PLAYER_US: Final = 600_000
#: Positions that come from the future by so much, or are older, are not steered by: the lead would be wrong.
AHEAD_US: Final = 500_000
LATE_US: Final = 3_000_000

PROBLEMS: Final[dict[Fault, str]] = {
    "": "",
    "steering": "it is not steered any more",
    "head": "its head does not answer",
    "feed": "no new positions arrive",
    "clock": "the clocks of the source and of this machine differ",
    "late": "positions arrive too late to steer by",
    "player": "its player is not seen",
    "ball": "the ball is not seen",
    "confidence": "the input is not reliable",
}


class Signs(msgspec.Struct, frozen=True):
    """The observations of a tick. Ages are None while unknown.

    Attributes:
        head_answers: the head answers.
        view_us: time since the newest view arrived; None before the first.
        ball_us: how much older the ball's position is than the view; None if the view has no ball.
        player_us: the same of the player that the camera follows.
        wall_us: age of the newest view's positions on their arrival, by the wall clock.
        distrust: why the input is not reliable; empty if it is.
    """

    head_answers: bool = True
    view_us: int | None = None
    ball_us: int | None = 0
    player_us: int | None = 0
    wall_us: int | None = None
    distrust: str = ""


def signs_of(
    view: View | None, view_us: int, wall_us: int | None, player: str, *, head_answers: bool, distrust: str
) -> Signs:
    """Return the signs at a tick.

    Args:
        view: the newest one; None before the first.
        view_us: time since it arrived.
        wall_us: age of its positions on their arrival, by the wall clock; None if unknown.
        player: object id of the player that the camera follows; empty for none.
        head_answers: the head answers, or its first answer is not due yet.
        distrust: why the input is not reliable; empty if it is.
    """
    if view is None:
        return Signs(head_answers, distrust=distrust)
    ball_us = view.ts_us - view.ball.ts_us if view.ball is not None else None
    player_us = next((view.ts_us - body.ts_us for body in view.players if body.object_id == player), None)
    return Signs(head_answers, view_us, ball_us, player_us, wall_us, distrust)


def fault_of(signs: Signs, role: Role) -> Fault:
    """Return the gravest fault; empty if there is none, or if there was no view yet."""
    if not signs.head_answers:
        return "head"
    if signs.view_us is None:
        return ""
    if signs.view_us > VIEW_US:
        return "feed"
    if signs.wall_us is not None and signs.wall_us < -AHEAD_US:
        return "clock"
    if signs.wall_us is not None and signs.wall_us > LATE_US:
        return "late"
    if role.player:
        is_seen = signs.player_us is not None and signs.player_us <= PLAYER_US
        return "" if is_seen else "player"
    if not role.goal and (signs.ball_us is None or signs.ball_us > BALL_US):
        return "ball"
    return "confidence" if signs.distrust else ""


def patience_us(fault: Fault) -> int:
    """Return how long a fault lasts before the camera moves because of it."""
    return {"ball": BALL_NOTICE_US, "player": PLAYER_NOTICE_US}.get(fault, NOTICE_US)


class Care(msgspec.Struct, frozen=True):
    """The state of the machine.

    Attributes:
        state: see ``TRANSITIONS``.
        fault: the one that is present, or the last one while the wide picture is held.
        since_us: time at which the state began.
        clear_us: time since which no fault was seen; None while there is one.
    """

    state: State = "following"
    fault: Fault = ""
    since_us: int = 0
    clear_us: int | None = 0

    @property
    def shows_wide(self) -> bool:
        """True if the camera shows the wide picture, or moves there."""
        return self.state in ("easing", "wide")

    @property
    def is_calm(self) -> bool:
        """True if the camera moves in the calm style."""
        return self.state in ("easing", "wide", "returning")

    @property
    def needs_operator(self) -> bool:
        """True if the operator should take over."""
        return self.state in ("easing", "wide", "silent")

    def lamp(self, now_us: int, *, on_air: bool) -> bool:
        """Return True if the tally lamp is lit: on air, and changed for moments while a fault lasts."""
        since_us = self.since_us + (CALL_AFTER_US if self.state == "noticed" else 0)
        calls = self.needs_operator or (self.state == "noticed" and now_us >= since_us)
        return on_air != (calls and (now_us - since_us) % CALL_US < CALL_FLASH_US)

    @property
    def problem(self) -> str:
        """The fault in a sentence; empty if there is none."""
        return PROBLEMS[self.fault]


def watched(care: Care, fault: Fault, now_us: int, *, has_arrived: bool) -> Care:
    """Return the state after a tick.

    Args:
        care: the state before it.
        fault: the one that is seen now.
        now_us: any monotonic time.
        has_arrived: the camera stands at the wide picture.
    """
    clear_us = None if fault else (now_us if care.clear_us is None else care.clear_us)
    trigger = _trigger(care, fault, clear_us, now_us, has_arrived=has_arrived)
    state = TRANSITIONS.get((care.state, trigger)) if trigger is not None else None
    kept = care.fault if (state or care.state) in ("easing", "wide") else ""
    return Care(state or care.state, fault or kept, care.since_us if state is None else now_us, clear_us)


def _trigger(care: Care, fault: Fault, clear_us: int | None, now_us: int, *, has_arrived: bool) -> Trigger | None:
    """Return what happens to the machine at a tick; None for nothing."""
    passed_us = now_us - care.since_us
    if fault == "head":
        return "head silent"
    if care.state == "silent":
        return "head answers"
    if care.state in ("easing", "wide"):
        if clear_us is not None and now_us - clear_us >= STEADY_US:
            return "clear"
        return "arrived" if care.state == "easing" and (has_arrived or passed_us >= EASE_US) else None
    if fault:
        return "waited" if care.state == "noticed" and passed_us >= patience_us(fault) else "fault"
    if care.state == "noticed":
        return "clear"
    return "waited" if care.state == "returning" and passed_us >= RETURN_US else None
