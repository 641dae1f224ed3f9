"""A session for protocols whose replies carry no number: one message at a time, each with its reply.

Theory of operation
-------------------
Raw VISCA over TCP, ONVIF and Panasonic's AW pair a reply with its request by order only. So one message flies at a
time. The next goes out when its reply has arrived and ``interval_us`` has passed since the last. Waiting messages have
a slot each, and the latest wins. A command goes before an inquiry, but an inquiry that waits longer than
``STARVED_US`` goes first.

A message without a reply for ``answer_us`` ends the connection: later replies could be taken for those of the next
message. The session then wants a new connection (``wants_new_connection``), sends a stop, and once that is
answered it is ready again. The first connection goes the same way, so that a head which an earlier controller left
turning stops. Some heads never answer one kind of message: a kind that has ended ``MUTE_MAX`` connections while others
were answered is refused from then on, without being sent.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Protocol

import msgspec

from camera.protocols.messages import (
    Action,
    Connected,
    Drive,
    Inquiry,
    Message,
    Outcome,
    PositionInquiry,
    Report,
    SessionEvent,
    Signal,
    slot_of,
)

#: An inquiry that waits longer goes before a command; the same in messages, where these have a shortest interval.
STARVED_US, STARVED_MESSAGES = 200_000, 4
#: Connections that a kind of message may end before it is not sent any more.
MUTE_MAX = 2


#: Without these no head can be steered: they are sent whatever happens.
_ESSENTIAL = (Drive, PositionInquiry)


_STOP = Drive(0, 0)


class Done(msgspec.Struct, frozen=True):
    """The reply to the message in flight: it was executed, or answered with a report."""

    report: Report | None = None


class Refused(msgspec.Struct, frozen=True):
    """The reply to the message in flight: the head refuses it. ``login``: because of user or password."""

    code: int = 0
    login: bool = False


class More(msgspec.Struct, frozen=True):
    """The message in flight is not done yet: ``Dialect.encode`` has a further request for it."""


Reply = Done | Refused | More


class GarbledError(ValueError):
    """Bytes that are no reply; the message has the fault."""


class Dialect(Protocol):
    """Bytes of one protocol. ``messages.ZoomDirect``, ``Drive``, and the inquiries for position and zoom must work.

    Attributes:
        interval_us: shortest time between two messages.
        answer_us: time without a reply after which the connection is lost.
        drive_repeat_us: see ``HeadSession.drive_repeat_us``.
        closes_idle: a head that closes the connection between two messages is no fault (HTTP). Otherwise it is: the
            head may have been switched off.
        shows_tally: see ``HeadSession.shows_tally``.
    """

    interval_us: int
    answer_us: int
    drive_repeat_us: int
    closes_idle: bool
    shows_tally: bool

    def encode(self, message: Message, continued: bool = False) -> bytes:
        """Return the bytes of a message; ``continued``, of its next request after a reply ``More``."""
        ...

    def replies(self, data: bytes, message: Message | None) -> Sequence[Reply]:
        """Take a piece of the stream; return the replies that it completes. ``message`` is the one in flight.

        Raises:
            GarbledError: bytes that are no reply of this protocol. The caller ends the connection.
        """
        ...

    def forget(self) -> None:
        """Forget a partial reply: a new connection begins."""
        ...

    @property
    def closes(self) -> bool:
        """True if the head ends the connection after its last reply, as it announced."""
        ...


class TurnSession:
    """See the module's theory of operation.

    Args:
        dialect: bytes of the protocol.
        retry_us: wait between two attempts to reach the head.
        opening: the first message of each connection: a stop, or an inquiry of a session that only asks.
    """

    def __init__(self, dialect: Dialect, retry_us: int = 500_000, opening: Action | Inquiry = _STOP) -> None:
        self._dialect, self._retry_us, self._opening = dialect, retry_us, opening
        self._starved_us = max(STARVED_US, STARVED_MESSAGES * dialect.interval_us)
        self.ready = False
        self.refusal = ""
        self.resets = self.resent = self.garbled = 0
        self._again = self._hang_up = False
        self._ticket = 0
        self._waiting: dict[str, tuple[int, Message, int]] = {}  # slot: ticket, message, since when it waits
        self._flying: tuple[int, Message, int] | None = None  # ticket, message, when it was sent
        self._due_us = self._clock_us = 0
        self._more = False
        self._mute: dict[type, int] = {}  # kind of message: connections in a row that it has ended
        self._answered = False  # a message was answered since the head is ready
        self._session_events: deque[SessionEvent] = deque()

    @property
    def interval_us(self) -> int:
        """Shortest time between two messages."""
        return self._dialect.interval_us

    def is_free(self, now_us: int) -> bool:
        """True if a drive that is submitted now goes out now: nothing flies, and no inquiry has waited too long."""
        if self._flying or not self.ready or now_us < self._due_us:
            return False
        return all(now_us - since_us <= self._starved_us for _, _, since_us in self._waiting.values())

    def submit(self, message: Action | Inquiry) -> int:
        """Submit a message; it replaces one of its slot that has not been sent yet. Returns its ticket."""
        self._ticket += 1
        if self._mute.get(type(message), 0) >= MUTE_MAX:
            self._emit(self._ticket, message, Signal.REFUSED)
            return self._ticket
        slot = slot_of(message)
        older = self._waiting.get(slot)
        if older:
            self._emit(older[0], older[1], Signal.REPLACED)
        self._waiting[slot] = (self._ticket, message, older[2] if older else self._clock_us)
        return self._ticket

    def next_event(self) -> SessionEvent | None:
        """Return the oldest event of the session that has not been read; None if there is none."""
        return self._session_events.popleft() if self._session_events else None

    @property
    def shows_tally(self) -> bool:
        """True if the protocol has a command for the tally lamp."""
        return self._dialect.shows_tally

    @property
    def drive_repeat_us(self) -> int:
        """Time after which a drive that is to go on must be repeated; 0: it goes on until the next command."""
        return self._dialect.drive_repeat_us

    @property
    def wants_new_connection(self) -> bool:
        """True once after a fault that later bytes of this connection cannot mend. Reading it resets it."""
        wants, self._hang_up = self._hang_up, False
        return wants

    def to_send(self, now_us: int) -> list[bytes]:
        """Return what to send now: at most one message."""
        self._clock_us = now_us
        if self._flying and now_us - self._flying[2] > self._dialect.answer_us:
            self._lose(now_us)
        if now_us < self._due_us:
            return []
        if self._flying:
            return [self._encode(self._flying[1], now_us, continued=True)] if self._more else []
        if not self.ready:
            self.resets += 1
            return [self._send(0, self._opening, now_us)]
        if not self._waiting:
            return []
        ticket, message, _ = self._waiting.pop(self._next_slot(now_us))
        return [self._send(ticket, message, now_us)]

    def receive(self, data: bytes, now_us: int) -> None:
        """Take a piece of the stream; an empty one says that the connection is gone."""
        awaits_reply = self._flying is not None and not self._more
        if not data and not (awaits_reply and self._dialect.closes_idle):
            if self._dialect.closes_idle:
                self._hang_up = True
                self._dialect.forget()
            else:
                self._lose(now_us)
            return
        try:
            replies = self._dialect.replies(data, self._flying[1] if self._flying else None)
        except GarbledError:
            self.garbled += 1
            self._lose(now_us)
            return
        for reply in replies:
            self._take(reply)
        if not data and self._flying:
            self._lose(now_us)

    # -- inside

    def _next_slot(self, now_us: int) -> str:
        commands = [slot for slot in ("pan_tilt", "zoom") if slot in self._waiting]
        oldest = min(self._waiting, key=lambda slot: self._waiting[slot][2])
        return oldest if not commands or now_us - self._waiting[oldest][2] > self._starved_us else commands[0]

    def _send(self, ticket: int, message: Message, now_us: int) -> bytes:
        self._flying = (ticket, message, now_us)
        return self._encode(message, now_us)

    def _encode(self, message: Message, now_us: int, continued: bool = False) -> bytes:
        self._due_us, self._more = now_us + self._dialect.interval_us, False
        return self._dialect.encode(message, continued)

    def _take(self, reply: Reply) -> None:
        if self._flying is None:
            return  # nobody asked
        if self._dialect.closes:
            self._hang_up = True
            self._dialect.forget()
        if isinstance(reply, More):
            self._more = True
            return
        ticket, message, sent_us = self._flying
        self._flying = None
        self._mute.pop(type(message), None)
        self._answered = self.ready
        if not self.ready:
            if isinstance(reply, Done):
                self.ready, self.refusal = True, ""
                self._session_events.append(Connected(self._again))
            else:
                self._due_us = self._clock_us + self._retry_us
                if isinstance(reply, Refused):
                    self.refusal = "the login" if reply.login else f"to be steered (code {reply.code})"
            return
        if isinstance(reply, Refused):
            self._emit(ticket, message, Signal.REFUSED, sent_us, code=reply.code)
        elif isinstance(message, Inquiry):
            self._emit(ticket, message, Signal.ANSWERED, sent_us, reply.report)
        else:
            self._emit(ticket, message, Signal.ACKED, sent_us)
            self._emit(ticket, message, Signal.COMPLETED, sent_us)

    def _lose(self, now_us: int) -> None:
        if self._flying and self.ready:
            kind = type(self._flying[1])
            if kind not in _ESSENTIAL and self._answered:
                self._mute[kind] = self._mute.get(kind, 0) + 1
            self._emit(self._flying[0], self._flying[1], Signal.LOST, self._flying[2])
        for ticket, message, _ in self._waiting.values():
            self._emit(ticket, message, Signal.LOST)
        self._waiting.clear()
        self._again = self._again or self.ready
        self.ready, self._flying, self._hang_up, self._more = False, None, True, False
        self._answered = False
        self._due_us = now_us + self._retry_us
        self._dialect.forget()

    def _emit(
        self,
        ticket: int,
        message: Message,
        signal: Signal,
        sent_us: int = 0,
        report: Report | None = None,
        code: int = 0,
    ) -> None:
        self._session_events.append(Outcome(ticket, message, signal, sent_us, report, code))
