"""Ends at a commanded pose whatever the network does: order, look, order again. Pure, on top of a session."""

from __future__ import annotations

from camera.protocols.messages import Absolute, Connected, Position, PositionInquiry, SessionEvent, Signal
from camera.protocols.visca_udp import Session


class PoseGoal:
    """Keeps a head at one absolute position: a check that VISCA lacks (see ``camera.protocols.visca_udp``).

    It orders the move, then asks for the position every ``look_us``. A head that stands still (two equal answers)
    away from the goal is ordered again.

    Args:
        session: the session to use; hand every happening of it to ``on_event``.
        target: where to be.
        look_us: time between two looks.
    """

    def __init__(self, session: Session, target: Absolute, look_us: int = 200_000) -> None:
        self._session, self._target, self._look_us = session, target, look_us
        self._look_due_us = 0
        self._views: tuple[int, int] | None = None
        self._moving = False
        self.reached = False
        self.orders = 0

    def tick(self, now_us: int) -> None:
        """Orders and looks as needed. Call it every few milliseconds, before ``Session.to_send``."""
        if not self._session.ready:
            return
        if not self._moving and not self.reached:
            self._session.submit(self._target)
            self.orders += 1
            self._moving = True
            self._views = None
            self._look_due_us = now_us + self._look_us
        if now_us >= self._look_due_us:
            self._session.submit(PositionInquiry())
            self._look_due_us = now_us + self._look_us

    def on_event(self, session_event: SessionEvent) -> None:
        """Takes what happened in the session."""
        if isinstance(session_event, Connected):
            self._moving = self.reached = False
        elif session_event.signal is Signal.ANSWERED and isinstance(session_event.message, PositionInquiry):
            assert isinstance(session_event.report, Position)
            self._look((session_event.report.pan_units, session_event.report.tilt_units))

    def _look(self, position: tuple[int, int]) -> None:
        still = position == self._views
        self._views = position
        off = max(abs(position[0] - self._target.pan_units), abs(position[1] - self._target.tilt_units))
        self.reached = still and off <= 1
        if still and not self.reached:
            self._moving = False
