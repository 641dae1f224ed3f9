"""The controller's side of a VISCA-over-IP session, without a socket and without a clock.

Theory of operation
-------------------
The caller passes datagrams of the network in (``receive``), takes datagrams to send (``to_send``), submits messages
(``submit``), and reads their outcomes (``next_event``). Each call has the time as an argument.

A session is RESETTING until the device has answered a sequence reset, then READY. A message goes through

    WAITING -> FLYING -> RUNNING -> CLOSED

A FLYING message is sent and not answered, a RUNNING one is acknowledged (ACK). Every step is in the table ``STEPS``; a
signal without a row there (a doubled ACK, a completion of a closed command) changes nothing. Each rule is against a
fault of UDP or of a device:

* The latest wins. Pan-tilt, zoom and each kind of inquiry have a *slot* each: one message may wait there and one may
  fly. A newer message replaces the waiting one. If the flying one is overdue, the waiting one replaces it.
* An overdue message is sent again under the SAME number, so that a device whose answer was lost recognises it.
* Replies are paired by sequence number, so ACKs and completions may come in any order, or twice, or never.
* Numbers never go back during a session. The device refuses a delayed datagram with 0F01, because its number is below
  the newest, and never executes it late. A device that counts from 1 after a reset refuses the first message after it;
  the session then counts from 1, too.
* 0F01 for a message that was overtaken: it is sent again under a new number. 0F01 for the newest message: reset.
* No reply for ``lost_us`` while a message flies: the link is lost. The session sends resets until one is answered, then
  a STOP before all else. A stop follows each of those resets, too: the way to the head may be open though the way back
  is not.
* Cancel: at least 200 ms after a pan-tilt command, and 200 ms of rest after it (Sony command list, "Command
  execution cancel").

The protocol has one gap: a device executes a datagram from before a reset that arrives between the reset and the next
command. A controller that must end at a pose therefore checks the pose again.
"""

from __future__ import annotations

from collections import deque
from enum import Enum, auto

import msgspec

from camera.profile import Profile
from camera.protocols import visca_codec as codec
from camera.protocols.messages import (
    Action,
    Cancel,
    Connected,
    Drive,
    Inquiry,
    Message,
    Outcome,
    Report,
    SessionEvent,
    Signal,
    slot_of,
)


class Rules(msgspec.Struct, frozen=True):
    """Times of a session, in microseconds, and limits.

    Attributes:
        answer_us, answer_us_max: wait before a message is sent again; doubled each time, up to the second value.
        tries_max: how often a message is sent again before it is given up.
        lost_us: time without any reply after which the link is lost.
        reset_us, reset_us_max: wait between two resets; doubled each time, up to the second value.
        full_us: pause of a slot after the device refused a command because its buffer is full.
        cancel_us: pause of pan and tilt before and after a cancel.
        running_us_max: time after an ACK after which a missing completion is given up.
    """

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
    """The state of a message, see the module's theory of operation."""

    WAITING = auto()
    FLYING = auto()
    RUNNING = auto()
    CLOSED = auto()


#: State and signal -> next state of a message. A signal that is not listed is ignored.
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


class _Entry:
    """A submitted message. ``unwanted``: the caller cancelled it."""

    def __init__(self, ticket: int, message: Message) -> None:
        self.ticket, self.message = ticket, message
        self.state = State.WAITING
        self.slot = slot_of(message)
        self.sequence = self.tries = self.socket = 0
        self.datagram = b""
        self.sent_us = self.due_us = self.acked_us = 0
        self.unwanted = False


class Session:
    """One controller's session with one device. See the module's theory of operation."""

    wants_new_connection = False  # datagrams have none
    drive_repeat_us = interval_us = 0
    refusal = ""  # VISCA has no login, and no head refuses a reset
    shows_tally = True

    def __init__(self, profile: Profile, rules: Rules | None = None) -> None:
        self.profile, self.rules = profile, rules or Rules()
        self.ready = False
        self.resets = self.garbled = self.resent = 0
        self._again = False  # the link was lost before the present reset
        self._rewind = False  # the device counts from 1 after a reset
        self._fresh = False  # no message was answered since the reset
        self._ticket = self._sequence = self._newest_answered = 0
        self._reset_due_us: int | None = None
        self._reset_wait_us = self.rules.reset_us
        self._silent_since_us: int | None = None
        self._stop_first: _Entry | None = None
        self._waiting: dict[str, _Entry] = {}
        self._flying: dict[str, _Entry] = {}
        self._running: dict[int, _Entry] = {}
        self._hold_until_us: dict[str, int] = {}
        self._session_events: deque[SessionEvent] = deque()

    def is_free(self, now_us: int) -> bool:
        """True once it is ready: a drive replaces one that waits, and inquiries have a way of their own."""
        return self.ready

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
        """Return datagrams to send now, in order. Call it after every other call, and every few milliseconds."""
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
        self._silent_since_us = now_us if self._flying else None

    @property
    def idle(self) -> bool:
        """True if the session is ready and no message waits, flies or runs."""
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
        if self._silent_since_us is None:
            self._silent_since_us = now_us
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
            pause_us = self.rules.cancel_us if entry.slot == "pan_tilt" else 0
            free = "Cancel" not in self._waiting and "Cancel" not in self._flying
            if entry.unwanted and free and now_us >= entry.acked_us + pause_us:
                self._put(Cancel(entry.socket))

    # -- resetting

    def _resets(self, now_us: int) -> list[bytes]:
        if self._reset_due_us is not None and now_us < self._reset_due_us:
            return []
        self.resets += 1
        self._reset_due_us = now_us + self._reset_wait_us
        self._reset_wait_us = min(2 * self._reset_wait_us, self.rules.reset_us_max)
        self._sequence = 0 if self._rewind else self._sequence + 1
        out = [codec.pack(codec.CONTROL, self._sequence, codec.RESET)]
        if self._again:
            self._sequence += 1
            out.append(codec.pack(codec.COMMAND, self._sequence, codec.encode(Drive(0, 0), self.profile)))
        return out

    def _start_reset(self) -> None:
        self.ready = False
        self._reset_due_us = None
        self._reset_wait_us = self.rules.reset_us
        self._silent_since_us = None

    def _silent(self, now_us: int) -> bool:
        since_us = self._silent_since_us
        return self.ready and bool(self._flying) and since_us is not None and now_us - since_us > self.rules.lost_us

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
                self._newest_answered = 0 if self._rewind else self._newest_answered
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
        overtaken = entry.sequence < self._newest_answered
        self._step(entry, Signal.OVERTAKEN)
        if overtaken:
            return
        # The device refused the first message after a reset: it counts from 1 after a reset.
        self._rewind = self._rewind or self._fresh
        for other in list(self._flying.values()):
            self._step(other, Signal.OVERTAKEN)
        self._start_reset()

    def _reply(self, sequence: int, reply: codec.Reply, now_us: int) -> None:
        entry = self._find(sequence)
        if entry is None:
            return
        self._newest_answered = max(self._newest_answered, sequence)
        self._fresh = False
        match reply:
            case codec.Ack(socket):
                if entry.state is State.FLYING:
                    entry.socket, entry.acked_us = socket, now_us
                    self._step(entry, Signal.ACKED)
            case codec.Completion():
                self._step(entry, Signal.COMPLETED)
            case codec.Answer(data):
                self._answered(entry, data)
            case codec.Refusal(_, codec.BUFFER_FULL):
                self._hold_until_us[entry.slot] = now_us + self.rules.full_us
                self._step(entry, Signal.FULL)
            case codec.Refusal(socket, code):
                self._refused(entry, socket, code, now_us)

    def _answered(self, entry: _Entry, data: bytes) -> None:
        report = None
        try:
            report = codec.decode_report(entry.message, data, self.profile)
        except codec.ViscaError:
            self.garbled += 1
        self._step(entry, Signal.ANSWERED, report=report)

    def _refused(self, entry: _Entry, socket: int, code: int, now_us: int) -> None:
        """Handle an error: a refused command; or the answer to a cancel, which ends the cancelled command."""
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

    # -- states: only ``_step`` changes them

    def _step(self, entry: _Entry, signal: Signal, *, report: Report | None = None, code: int = 0) -> None:
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
            if entry.slot in self._waiting:  # a newer message waits: this one is not needed any more
                entry.state, signal = State.CLOSED, Signal.REPLACED
            else:
                self._waiting[entry.slot] = entry
                return
        if signal is not Signal.SENT:
            outcome = Outcome(entry.ticket, entry.message, signal, entry.sent_us, report, code)
            self._session_events.append(outcome)

    def _remove(self, entry: _Entry) -> None:
        for queue in (self._waiting, self._flying):
            if queue.get(entry.slot) is entry:
                del queue[entry.slot]
        if self._running.get(entry.socket) is entry:
            del self._running[entry.socket]
