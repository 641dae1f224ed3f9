"""The controller's side of a VISCA-over-IP session, without a socket and without a clock.

Theory of operation
-------------------
The caller feeds it the network's datagrams (``receive``), asks for datagrams to send (``to_send``), submits messages
(``submit``), and reads their outcomes (``next_event``). Every call is given the time.

A session is RESETTING until the device has answered a sequence reset, then READY. A message goes through

    WAITING -> FLYING -> RUNNING -> CLOSED

and every step is in the table ``STEPS``; a signal without a row there (a doubled ACK, a completion of something long
forgotten) changes nothing. Rules, each against a fault of UDP or of a device:

* Latest wins. One message waits and one flies for pan-tilt, for zoom and for each kind of inquiry. A newer message
  replaces the waiting one; when the flying one is overdue and a newer one waits, the newer goes.
* An overdue message is sent again under the SAME number, so that a device that had only lost its answer can tell.
* Replies are paired by sequence number, so ACKs and completions may come in any order, or twice, or never.
* Numbers never go back while a session lives: a datagram that strays in the network is older than the newest that the
  device has seen, is refused with 0F01, and is never executed late. A device that insists on counting from 1 after a
  reset shows so by its first refusal; the session then counts from 1.
* 0F01 for a message that was overtaken: it goes again under a new number. 0F01 for the newest: reset.
* Silence of ``lost_us`` while a message is out: the link is lost; reset until answered, then a STOP first.
* Cancel: at least 200 ms after a pan-tilt command, and 200 ms of rest after it (Sony command list, "Command
  execution cancel").

One gap is in the protocol itself: a datagram from before a reset that arrives after it, and before the next command,
is executed. A controller that must end at a pose therefore checks again when it is there.
"""

from __future__ import annotations

from collections import deque
from enum import Enum, auto

import msgspec

from camera import codec
from camera.codec import Action, Cancel, Drive, Inquiry, Message
from camera.profile import Profile


class Rules(msgspec.Struct, frozen=True):
    """Times of a session, in microseconds, and tries of one message."""

    answer_us: int = 100_000
    answer_us_max: int = 400_000
    tries_max: int = 6
    lost_us: int = 1_000_000
    reset_us: int = 200_000
    reset_us_max: int = 1_000_000
    full_us: int = 20_000
    cancel_us: int = 200_000
    running_us_max: int = 30_000_000


class State(Enum):
    """The state of a message."""

    WAITING = auto()
    FLYING = auto()
    RUNNING = auto()
    CLOSED = auto()


class Signal(Enum):
    """A signal that may change the state of a message."""

    SENT = auto()
    ACKED = auto()
    COMPLETED = auto()
    ANSWERED = auto()
    REFUSED = auto()
    FULL = auto()
    OVERTAKEN = auto()
    CANCELLED = auto()
    REPLACED = auto()
    GIVEN_UP = auto()
    LOST = auto()


#: The whole life of a message. What is not listed is ignored.
STEPS: dict[tuple[State, Signal], State] = {
    (State.WAITING, Signal.SENT): State.FLYING,
    (State.WAITING, Signal.REPLACED): State.CLOSED,
    (State.WAITING, Signal.CANCELLED): State.CLOSED,
    (State.WAITING, Signal.LOST): State.CLOSED,
    (State.FLYING, Signal.ACKED): State.RUNNING,
    (State.FLYING, Signal.COMPLETED): State.CLOSED,  # the ACK was lost or overtaken
    (State.FLYING, Signal.ANSWERED): State.CLOSED,
    (State.FLYING, Signal.REFUSED): State.CLOSED,
    (State.FLYING, Signal.FULL): State.WAITING,
    (State.FLYING, Signal.OVERTAKEN): State.WAITING,
    (State.FLYING, Signal.REPLACED): State.CLOSED,
    (State.FLYING, Signal.GIVEN_UP): State.CLOSED,
    (State.FLYING, Signal.CANCELLED): State.CLOSED,
    (State.FLYING, Signal.LOST): State.CLOSED,
    (State.RUNNING, Signal.COMPLETED): State.CLOSED,
    (State.RUNNING, Signal.REFUSED): State.CLOSED,
    (State.RUNNING, Signal.CANCELLED): State.CLOSED,
    (State.RUNNING, Signal.REPLACED): State.CLOSED,  # its socket was given to another: the completion was lost
    (State.RUNNING, Signal.GIVEN_UP): State.CLOSED,
    (State.RUNNING, Signal.LOST): State.CLOSED,
}


class Connected(msgspec.Struct, frozen=True):
    """The device answered a reset. ``again``: the link had been lost, and a stop goes first."""

    again: bool


class Outcome(msgspec.Struct, frozen=True):
    """A message took a step.

    Attributes:
        ticket: as ``submit`` returned it.
        message: as submitted.
        signal: the step; ACKED is the only one after which another follows.
        sent_us: when it was first sent (0 if never).
        data: of an inquiry, the answer's data.
        code: of a refusal, the device's error code.
    """

    ticket: int
    message: Message
    signal: Signal
    sent_us: int = 0
    data: bytes = b""
    code: int = 0


SessionEvent = Connected | Outcome


class _Entry:
    """A message on its way."""

    def __init__(self, ticket: int, message: Message) -> None:
        self.ticket, self.message = ticket, message
        self.state = State.WAITING
        self.slot = slot_of(message)
        self.sequence = self.tries = self.socket = 0
        self.datagram = b""
        self.sent_us = self.due_us = self.acked_us = 0
        self.unwanted = False


def slot_of(message: Message) -> str:
    """Return a message's slot: messages with one slot replace each other."""
    if isinstance(message, codec.ZoomDrive | codec.ZoomDirect):
        return "zoom"
    if isinstance(message, Inquiry | Cancel | codec.InterfaceClear):
        return type(message).__name__
    return "pan_tilt"


class Session:
    """One controller's session with one device. See the module's theory of operation."""

    def __init__(self, profile: Profile, rules: Rules | None = None) -> None:
        self.profile, self.rules = profile, rules or Rules()
        self.ready = False
        self.resets = self.garbled = self.resent = 0
        self._again = False
        self._rewind = self._fresh = False
        self._ticket = self._sequence = self._newest_heard = 0
        self._reset_due_us: int | None = None
        self._reset_wait_us = self.rules.reset_us
        self._quiet_since_us: int | None = None
        self._stop_first: _Entry | None = None
        self._waiting: dict[str, _Entry] = {}
        self._flying: dict[str, _Entry] = {}
        self._running: dict[int, _Entry] = {}
        self._hold_until_us: dict[str, int] = {}
        self._session_events: deque[SessionEvent] = deque()

    def submit(self, message: Action | Inquiry) -> int:
        """Submit a message; it replaces one of its slot that has not been sent yet. Returns its ticket."""
        assert not isinstance(message, Cancel), "a cancel is asked for with cancel(ticket)"
        return self._put(message).ticket

    def cancel(self, ticket: int) -> bool:
        """Cancel a submitted command; False if it is already closed."""
        for entry in (*self._waiting.values(), *self._flying.values(), *self._running.values()):
            if entry.ticket == ticket:
                if entry.state is State.WAITING:
                    self._step(entry, Signal.CANCELLED)
                entry.unwanted = True
                return True
        return False

    def next_event(self) -> SessionEvent | None:
        """Return the oldest event of the session that has not been read; None if there is none."""
        return self._session_events.popleft() if self._session_events else None

    def to_send(self, now_us: int) -> list[bytes]:
        """Return datagrams to send now, in order; to be called after every other call and every few milliseconds."""
        if self._silent(now_us):
            self._lose(now_us)
        if not self.ready:
            return self._resets(now_us)
        out = self._overdue(now_us)
        self._plan_cancels(now_us)
        if self._stop_first and self._stop_first.slot not in self._flying:
            out.append(self._send(self._stop_first, now_us))
            self._stop_first = None
        for slot, entry in list(self._waiting.items()):
            if slot not in self._flying and now_us >= self._hold_until_us.get(slot, now_us):
                del self._waiting[slot]
                out.append(self._send(entry, now_us))
        return out

    def receive(self, data: bytes, now_us: int) -> None:
        """Take a datagram. An unreadable one is counted in ``garbled`` and otherwise ignored."""
        try:
            datagram = codec.unpack(data)
            if datagram.kind == codec.CONTROL_REPLY:
                self._control(datagram, now_us)
            elif datagram.kind == codec.REPLY:
                self._reply(datagram.sequence, codec.decode_reply(datagram.payload), now_us)
            else:
                raise codec.ViscaError(f"payload type {datagram.kind:04x} does not come from a device")
        except codec.ViscaError:
            self.garbled += 1
            return
        self._quiet_since_us = now_us if self._flying else None

    @property
    def idle(self) -> bool:
        """True if nothing waits, flies or runs."""
        return self.ready and not (self._waiting or self._flying or self._running or self._stop_first)

    # -- sending

    def _put(self, message: Message) -> _Entry:
        self._ticket += 1
        entry = _Entry(self._ticket, message)
        older = self._waiting.get(entry.slot)
        if older:
            self._step(older, Signal.REPLACED)
        self._waiting[entry.slot] = entry
        return entry

    def _send(self, entry: _Entry, now_us: int) -> bytes:
        self._sequence += 1
        kind = codec.INQUIRY if isinstance(entry.message, Inquiry) else codec.COMMAND
        entry.sequence = self._sequence
        entry.datagram = codec.pack(kind, self._sequence, codec.encode(entry.message, self.profile))
        entry.sent_us = entry.sent_us or now_us
        entry.tries = 0
        entry.due_us = now_us + self.rules.answer_us
        self._step(entry, Signal.SENT)
        if self._quiet_since_us is None:
            self._quiet_since_us = now_us
        return entry.datagram

    def _overdue(self, now_us: int) -> list[bytes]:
        again: list[bytes] = []
        for entry in list(self._flying.values()):
            if now_us < entry.due_us:
                continue
            entry.tries += 1
            if entry.slot in self._waiting:
                self._step(entry, Signal.REPLACED)
            elif entry.tries > self.rules.tries_max:
                self._step(entry, Signal.GIVEN_UP)
            else:
                wait_us = min(self.rules.answer_us << entry.tries, self.rules.answer_us_max)
                entry.due_us = now_us + wait_us
                self.resent += 1
                again.append(entry.datagram)
        for entry in list(self._running.values()):
            if now_us - entry.acked_us > self.rules.running_us_max:
                self._step(entry, Signal.GIVEN_UP)
        return again

    def _plan_cancels(self, now_us: int) -> None:
        for entry in self._running.values():
            rest_us = self.rules.cancel_us if entry.slot == "pan_tilt" else 0
            free = "Cancel" not in self._waiting and "Cancel" not in self._flying
            if entry.unwanted and free and now_us >= entry.acked_us + rest_us:
                self._put(Cancel(entry.socket))

    # -- resetting

    def _resets(self, now_us: int) -> list[bytes]:
        if self._reset_due_us is not None and now_us < self._reset_due_us:
            return []
        self.resets += 1
        self._reset_due_us = now_us + self._reset_wait_us
        self._reset_wait_us = min(2 * self._reset_wait_us, self.rules.reset_us_max)
        self._sequence = 0 if self._rewind else self._sequence + 1
        return [codec.pack(codec.CONTROL, self._sequence, codec.RESET)]

    def _start_reset(self) -> None:
        self.ready = False
        self._reset_due_us = None
        self._reset_wait_us = self.rules.reset_us
        self._quiet_since_us = None

    def _silent(self, now_us: int) -> bool:
        quiet = self._quiet_since_us
        return self.ready and bool(self._flying) and quiet is not None and now_us - quiet > self.rules.lost_us

    def _lose(self, now_us: int) -> None:
        for entry in (*self._flying.values(), *self._running.values(), *self._waiting.values()):
            self._step(entry, Signal.LOST)
        self._again = True
        self._ticket += 1
        self._stop_first = _Entry(self._ticket, Drive(0, 0))
        self._start_reset()

    # -- receiving

    def _control(self, datagram: codec.Datagram, now_us: int) -> None:
        entry = self._find(datagram.sequence)
        if datagram.payload == codec.RESET_DONE:
            if not self.ready:
                self.ready = self._fresh = True
                self._newest_heard = 0 if self._rewind else self._newest_heard
                self._session_events.append(Connected(self._again))
                self._again = False
        elif datagram.payload == codec.WRONG_SEQUENCE:
            if entry and entry.state is State.FLYING:
                self._out_of_step(entry)
        elif datagram.payload == codec.WRONG_MESSAGE:
            if entry:
                self._step(entry, Signal.REFUSED, code=codec.SYNTAX)
        else:
            raise codec.ViscaError(f"unknown control reply {datagram.payload.hex(' ')}")

    def _out_of_step(self, entry: _Entry) -> None:
        overtaken = entry.sequence < self._newest_heard
        self._step(entry, Signal.OVERTAKEN)
        if overtaken:
            return
        # The very first message after a reset was refused: this device counts from 1 after a reset.
        self._rewind = self._rewind or self._fresh
        for other in list(self._flying.values()):
            self._step(other, Signal.OVERTAKEN)
        self._start_reset()

    def _reply(self, sequence: int, reply: codec.Reply, now_us: int) -> None:
        entry = self._find(sequence)
        if entry is None:
            return
        self._newest_heard = max(self._newest_heard, sequence)
        self._fresh = False
        match reply:
            case codec.Ack(socket):
                if entry.state is State.FLYING:
                    entry.socket, entry.acked_us = socket, now_us
                    self._step(entry, Signal.ACKED)
            case codec.Completion():
                self._step(entry, Signal.COMPLETED)
            case codec.Answer(data):
                self._step(entry, Signal.ANSWERED, data=data)
            case codec.Refusal(_, codec.BUFFER_FULL):
                self._hold_until_us[entry.slot] = now_us + self.rules.full_us
                self._step(entry, Signal.FULL)
            case codec.Refusal(socket, code):
                self._refused(entry, socket, code, now_us)

    def _refused(self, entry: _Entry, socket: int, code: int, now_us: int) -> None:
        """Handle the error that answers a cancel: the end of the cancelled command, or that there is none."""
        if not isinstance(entry.message, Cancel):
            self._step(entry, Signal.CANCELLED if code == codec.CANCELLED else Signal.REFUSED, code=code)
            return
        self._step(entry, Signal.COMPLETED, code=code)
        target = self._running.get(entry.message.socket)
        if target and target.unwanted:
            self._hold_until_us[target.slot] = now_us + self.rules.cancel_us
            self._step(target, Signal.CANCELLED if code == codec.CANCELLED else Signal.COMPLETED)

    def _find(self, sequence: int) -> _Entry | None:
        for entry in (*self._flying.values(), *self._running.values()):
            if entry.sequence == sequence:
                return entry
        return None

    # -- the one place where a message changes state

    def _step(self, entry: _Entry, signal: Signal, *, data: bytes = b"", code: int = 0) -> None:
        after = STEPS.get((entry.state, signal))
        if after is None:
            return
        self._remove(entry)
        entry.state = after
        if after is State.FLYING:
            self._flying[entry.slot] = entry
        elif after is State.RUNNING:
            older = self._running.get(entry.socket)
            if older:
                self._step(older, Signal.REPLACED)
            self._running[entry.socket] = entry
        elif after is State.WAITING:
            if entry.slot in self._waiting:  # a newer one is there: this one is not needed any more
                entry.state, signal = State.CLOSED, Signal.REPLACED
            else:
                self._waiting[entry.slot] = entry
                return
        if signal is not Signal.SENT:
            outcome = Outcome(entry.ticket, entry.message, signal, entry.sent_us, data, code)
            self._session_events.append(outcome)

    def _remove(self, entry: _Entry) -> None:
        for queue in (self._waiting, self._flying):
            if queue.get(entry.slot) is entry:
                del queue[entry.slot]
        if self._running.get(entry.socket) is entry:
            del self._running[entry.socket]
