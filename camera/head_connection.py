"""One head behind its protocol: commands, reports, a model of its movement, and whether it obeys.

Theory of operation
-------------------
A head that is driving goes on until a stop arrives. So a lost network is a moving camera that nobody steers, and the
connection never takes silence for a standstill. A head is in one of five states:

    ABSENT -> SETTLING -> OBEYING -> SILENT -> LOST -> SETTLING

* ABSENT: it has not answered yet. Nothing moves.
* SETTLING: it answers. An earlier command may still be in force, so a stop goes out, again every ``STOP_AGAIN_US``,
  until ``STILL_REPORTS`` equal reports in succession show a standstill. If its profile has a speed mode, the head gets
  it with each stop until it takes it. Only then is it steered, from where it stands.
* OBEYING: it is steered.
* SILENT: no answer for ``SILENT_US``. A stop goes out at once, because the way to the head may be open though the way
  back is not. The next answer leads to SETTLING.
* LOST: the session has given the link up. It tries to reach the head and sends a stop before all else
  (``camera.protocols``). The model goes on with the last command, as the head does.

A protocol whose drives end by themselves (``HeadSession.drive_repeat_us``) gets a drive in force repeated, so that a
head without network stops by itself.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Protocol

import msgspec

from camera.head import Pose
from camera.observer import Observer
from camera.profile import Profile
from camera.protocols.interface import HeadLink, HeadSession
from camera.protocols.messages import (
    Connected,
    Drive,
    MaxSpeedInquiry,
    MaxSteps,
    Outcome,
    Position,
    PositionInquiry,
    Signal,
    SpeedMode,
    Tally,
    ZoomDirect,
    ZoomInquiry,
    ZoomPosition,
)
from camera.protocols.registry import Address, protocol
from camera.start_delay import StartDelays

#: Intervals of position and zoom inquiries.
ASK_US = 40_000
ASK_ZOOM_US = 200_000
#: The same in messages, where a protocol has a shortest time between two: most of them are left for drives.
ASK_MESSAGES, ASK_ZOOM_MESSAGES = 3, 12
#: Time without an answer after which the head counts as silent. The slowest protocol answers every 0.4 s.
SILENT_US = 600_000
#: A pause between two calls counts as at most this much silence: a busy machine is no silent head.
LISTEN_US_MAX = 100_000
STOP_AGAIN_US = 400_000
#: Interval at which a lit tally lamp is lit again: Sony's heads put it out after 15 s.
TALLY_US = 5_000_000
STILL_REPORTS = 2
#: Two reports count as equal within this angle: encoders of fine heads flicker.
STILL_DEG = 0.01
_STOP = Drive(0, 0)


class State(Enum):
    """See the module's theory of operation. The value says what is wrong; empty if nothing is."""

    ABSENT = "its head has not answered yet"
    SETTLING = "its head answers again and is brought to a standstill first"
    OBEYING = ""
    SILENT = "its head does not answer"
    LOST = "its head does not answer, and its network is tried again"


class MeasuredPose(msgspec.Struct, frozen=True):
    """A direction of the head in our degrees, and when the head had it."""

    pan_deg: float
    tilt_deg: float
    at_us: int


class PoseSource(Protocol):
    """Poses that a head, or a device on it, sends by itself. No method blocks."""

    def poses(self, now_us: int) -> Sequence[MeasuredPose]:
        """Return the poses that have arrived since the last call."""
        ...

    def close(self) -> None:
        """Release the socket."""
        ...


class HeadConnection:
    """See the module's theory of operation. All methods are called from one thread, and none blocks but ``rest``.

    Args:
        profile: of the head.
        session: of its protocol.
        link: carries the bytes of the session.
        now_us: any monotonic time.
        source: of poses that the head sends by itself.

    Attributes:
        in_force: the drive that was sent last, unless the head refused it.
        counts: commands by what became of them, reconnects, answers that could not be read.
        report: the newest answer to a position inquiry: when the inquiry was sent, when the answer arrived, device
            units; None before the first.
        starts: delays from drives to the motion that the reports show.
        max_steps: the answer to ``ask_max_steps``; None without one.
    """

    def __init__(
        self, profile: Profile, session: HeadSession, link: HeadLink, now_us: int, source: PoseSource | None = None
    ) -> None:
        self.profile, self._session, self._link, self._source = profile, session, link, source
        self.observer = Observer(profile, now_us)
        self.starts = StartDelays()
        self.state = State.ABSENT
        self.in_force = _STOP
        self.counts: Counter[str] = Counter()
        self.report: tuple[int, int, tuple[int, int]] | None = None
        self.max_steps: MaxSteps | None = None
        self._driven_us = self._stop_due_us = 0
        self._silent_us, self._listened_us = 0, now_us
        self._ask_due_us = self._ask_zoom_due_us = 0
        self._still_reports = 0
        self._speed_mode = SpeedMode(profile.link.speed_mode) if profile.link.speed_mode else None
        self._has_mode = self._mode_is_refused = False
        self._tally, self._tally_due_us = False, 0

    @property
    def online(self) -> bool:
        """True if the head is steered: it answers, and it stood still before."""
        return self.state is State.OBEYING

    @property
    def is_still(self) -> bool:
        """True if the last reports show a standstill."""
        return self._still_reports >= STILL_REPORTS

    @property
    def silent_us(self) -> int:
        """Time since the last answer, or since the connection was made; long pauses between calls count in part."""
        return self._silent_us

    @property
    def problem(self) -> str:
        """A sentence that says what is wrong; empty if nothing is."""
        if not self._session.ready and self._session.refusal:
            return f"its head refuses {self._session.refusal}"
        if self.state is State.SETTLING and self._mode_is_refused and self._speed_mode is not None:
            return f"its head refuses the speed mode {self._speed_mode.name} of its profile"
        if self.state in (State.SILENT, State.LOST) and self.observer.may_turn:
            return f"{self.state.value}; it may be turning by its last command"
        return self.state.value

    def is_free(self, now_us: int) -> bool:
        """True if a drive goes out now. A choice that waits behind another message is a choice for a past instant."""
        return self._session.is_free(now_us)

    @property
    def interval_us(self) -> int:
        """Shortest time between two messages to the head."""
        return self._session.interval_us

    @property
    def resent(self) -> int:
        """Number of messages that were sent more than once."""
        return self._session.resent

    @property
    def resets(self) -> int:
        """Number of attempts to reach the head."""
        return self._session.resets

    def listen(self, now_us: int) -> None:
        """Read what has arrived."""
        self.observer.at(now_us)
        self._silent_us += min(now_us - self._listened_us, LISTEN_US_MAX)
        self._listened_us = now_us
        for data in self._link.receive():
            self._session.receive(data, now_us)
        self._take_session_events(now_us)
        for pose in self._source.poses(now_us) if self._source else ():
            if self.observer.known:
                self.observer.reported(pose.pan_deg, pose.tilt_deg, pose.at_us)
        is_ready = self._has_mode or self._speed_mode is None
        if self.state is State.SETTLING and self.is_still and self.observer.known and is_ready:
            self.state = State.OBEYING

    def drive(self, drive: Drive, now_us: int) -> None:
        """Turn the head until the next drive; (0, 0) stops it."""
        self.in_force, self._driven_us = drive, now_us
        self.starts.pan.commanded(self.profile.pan.speed_deg_s(drive.pan_step), now_us)
        self.starts.tilt.commanded(self.profile.tilt.speed_deg_s(drive.tilt_step), now_us)
        self._command(drive)

    def tally(self, on: bool, now_us: int) -> None:
        """Light the tally lamp or put it out, if the protocol has a command for it. Call it as often as ``send``."""
        if not (self._session.shows_tally and self._session.ready):
            return
        if on != self._tally or (on and now_us >= self._tally_due_us):
            self._tally, self._tally_due_us = on, now_us + TALLY_US
            self._session.submit(Tally(on))

    def ask_max_steps(self) -> None:
        """Ask for the highest speed steps; ``max_steps`` gets the answer. VISCA only."""
        self._session.submit(MaxSpeedInquiry())

    def zoom(self, units: int) -> None:
        """Zoom to a position."""
        self._command(ZoomDirect(units))

    def send(self, now_us: int) -> None:
        """Send what waits, with inquiries and stops that are due. Call it every few milliseconds."""
        self._judge(now_us)
        if self._session.ready:
            self._ask(now_us)
        repeat_us = self._session.drive_repeat_us
        if self.online and repeat_us and self.in_force != _STOP and now_us - self._driven_us >= repeat_us:
            self._driven_us = now_us
            self._submit(self.in_force)
        pieces = self._session.to_send(now_us)
        if self._session.wants_new_connection:
            self._link.close()
        self._link.send(pieces)
        self._take_session_events(now_us)
        self._judge(now_us)

    def rest(self, within_us: int, clock: Callable[[], int], pause: Callable[[float], None] = time.sleep) -> bool:
        """Stop the head and wait until it stands still; return False if it has not reported that in time."""
        end_us = clock() + within_us
        self._still_reports = 0
        self.report = None
        stop_due_us = 0
        while (now_us := clock()) < end_us and not self.is_still:
            self.listen(now_us)
            if now_us >= stop_due_us:  # again: an older drive may have overtaken the stop
                self.drive(_STOP, now_us)
                stop_due_us = now_us + STOP_AGAIN_US
            self.send(now_us)
            pause(0.01)
        return self.is_still

    def close(self) -> None:
        """Close the sockets."""
        try:
            self._link.close()
        finally:
            if self._source is not None:
                self._source.close()

    # -- states

    def _judge(self, now_us: int) -> None:
        state = self.state
        if state is State.SETTLING and now_us >= self._stop_due_us:
            self._halt(now_us)
            if self._speed_mode is not None and not self._has_mode:
                self._session.submit(self._speed_mode)
        if not self._session.ready:
            if state is not State.ABSENT and state is not State.LOST:
                self._leave(State.LOST)
        elif state is State.OBEYING and self._silent_us > SILENT_US:
            self._leave(State.SILENT)
            self._halt(now_us)

    def _leave(self, state: State) -> None:
        """The head is not steered any more; its model goes on with the last command."""
        self.state = state
        self.observer.lost()
        self.starts.forget()

    def _settle(self, now_us: int) -> None:
        self.state, self._still_reports, self.report = State.SETTLING, 0, None
        self._tally_due_us = now_us  # a head that was switched off has forgotten it
        self._has_mode = False  # and this
        self.observer.lost()
        self.observer.halted()
        self._halt(now_us)

    def _halt(self, now_us: int) -> None:
        """Send a stop. The model does not brake by it: nothing shows that the head gets it."""
        self._stop_due_us = now_us + STOP_AGAIN_US
        self.in_force = _STOP
        self._submit(_STOP)

    # -- messages

    def _command(self, action: Drive | ZoomDirect) -> None:
        self._submit(action)
        self.observer.commanded(action)

    def _submit(self, action: Drive | ZoomDirect) -> None:
        self._session.submit(action)
        self.counts["commands_sent"] += 1

    def _ask(self, now_us: int) -> None:
        if now_us >= self._ask_due_us:
            self._session.submit(PositionInquiry())
            self._ask_due_us = now_us + max(ASK_US, ASK_MESSAGES * self._session.interval_us)
        if now_us >= self._ask_zoom_due_us:
            self._session.submit(ZoomInquiry())
            self._ask_zoom_due_us = now_us + max(ASK_ZOOM_US, ASK_ZOOM_MESSAGES * self._session.interval_us)

    def _take_session_events(self, now_us: int) -> None:
        while (session_event := self._session.next_event()) is not None:
            if isinstance(session_event, Connected):
                self.counts["reconnects"] += session_event.again
                self._silent_us = 0
                self._settle(now_us)
            else:
                self._outcome(session_event, now_us)

    def _outcome(self, outcome: Outcome, now_us: int) -> None:
        if outcome.signal in (Signal.ACKED, Signal.COMPLETED, Signal.ANSWERED, Signal.REFUSED):
            self._silent_us = 0
            if self.state is State.SILENT:
                self.counts["reconnects"] += 1
                self._settle(now_us)
        if outcome.signal is Signal.ANSWERED:
            self._take_answer(outcome, now_us)
        elif isinstance(outcome.message, SpeedMode):
            self._has_mode |= outcome.signal in (Signal.ACKED, Signal.COMPLETED)
            self._mode_is_refused = outcome.signal is Signal.REFUSED
        elif isinstance(outcome.message, Drive | ZoomDirect):
            if outcome.signal in (Signal.ACKED, Signal.REFUSED, Signal.REPLACED):
                self.counts[f"commands_{outcome.signal.name.lower()}"] += 1
            elif outcome.signal in (Signal.GIVEN_UP, Signal.LOST):
                self.counts["commands_timeout"] += 1
            if outcome.signal in (Signal.REFUSED, Signal.GIVEN_UP) and isinstance(outcome.message, Drive):
                self.in_force = _STOP  # the command is not in force

    def _take_answer(self, outcome: Outcome, now_us: int) -> None:
        match outcome.report:
            case ZoomPosition(units):
                self.observer.reported_zoom(units)
            case Position(pan_units, tilt_units):
                self._reported(outcome.sent_us, (pan_units, tilt_units), now_us)
            case MaxSteps():
                self.max_steps = outcome.report
            case None:
                self.counts["garbled_answers"] += 1

    def _reported(self, sent_us: int, units: tuple[int, int], now_us: int) -> None:
        pan, tilt = self.profile.pan, self.profile.tilt
        equal = False
        if self.report is not None:
            off_deg = (abs(pan.deg(units[0] - self.report[2][0])), abs(tilt.deg(units[1] - self.report[2][1])))
            equal = units == self.report[2] or max(off_deg) <= STILL_DEG
        self._still_reports = self._still_reports + 1 if equal else 0
        self.report = (sent_us, now_us, units)
        self.observer.reported(pan.deg(units[0]), tilt.deg(units[1]), sent_us)
        self.starts.pan.reported(pan.deg(units[0]), sent_us)
        self.starts.tilt.reported(tilt.deg(units[1]), sent_us)


def ask(profile: Profile, address: Address, protocol_name: str, within_s: float) -> str:
    """Ask a head for its position; return what is wrong, empty if it answers. It moves and stops nothing.

    VISCA over IP cannot ask without resetting the numbers of the session, of another controller's, too.

    Raises:
        AddressError: the host of the head is unknown.
        ProtocolError: no such protocol.
    """
    row = protocol(protocol_name)
    session, link = row.asking(profile, address), row.link((address.host, address.port))
    try:
        return _asked(session, link, within_s)
    finally:
        link.close()


def _asked(session: HeadSession, link: HeadLink, within_s: float) -> str:
    end_s, was_ready = time.monotonic() + within_s, False
    while time.monotonic() < end_s:
        now_us = time.monotonic_ns() // 1000
        for data in link.receive():
            session.receive(data, now_us)
        while (found := session.next_event()) is not None:
            if isinstance(found, Connected):
                session.submit(PositionInquiry())
                was_ready = True
            elif found.signal is Signal.ANSWERED:
                return "" if found.report is not None else "its head answers, but not with a position"
        pieces = session.to_send(now_us)
        if was_ready and not session.ready:
            break  # a session that has lost its head would send a stop now
        if session.refusal:
            return f"its head refuses {session.refusal}"
        if session.wants_new_connection:
            link.close()
        link.send(pieces)
        time.sleep(0.005)
    return f"its head does not answer within {within_s:.0f} s"


def connect(
    profile: Profile, address: Address, protocol_name: str, now_us: int, source: PoseSource | None = None
) -> HeadConnection:
    """Return a connection with a head on the network, which nothing has been sent to yet.

    Raises:
        AddressError: the host of the head is unknown.
        ProtocolError: no such protocol.
    """
    row = protocol(protocol_name)
    session = row.session(profile, address)
    return HeadConnection(profile, session, row.link((address.host, address.port)), now_us, source)


def pose_of(connection: HeadConnection, now_us: int) -> Pose | None:
    """Return the pose of a head that is steered; None of any other."""
    return connection.observer.at(now_us) if connection.online else None
