"""Records of an updates topic, and the folds that make them exact.

The topic of updates holds, per match (the key), the update stream in its order. An update of a replaced epoch that the
next epoch does not repeat is followed by its *undoing*: the same update with the opposite ``diff``, and ``undo`` set.
So the sum of all ``diff`` is what stands, whichever process died in between; ``seq`` grows by one with each update and
falls by one with each undoing.

| header ``kind`` | value (JSON) |
|---|---|
| ``begin`` | :class:`Begin`: a relay begins a session |
| ``update`` | :class:`TopicUpdate` |
| ``end`` | ``{"match": ...}``: the match is over |

An ``update`` has the headers ``utc`` and ``timecode`` of its event where the match's house time is known
(:mod:`football.house_time`); what is stated later is in later records only.

Writer fence. Records of a dead relay may still be in the network when its successor has read what stands, and would
arrive among the successor's. So each relay writes in a session of its own, which the header ``session`` of its records
names, and readers count records of the current session only (:class:`WriterFence`). A relay becomes current with a
``begin`` record that names its predecessor. If that session is no longer current, because another relay began first or
because the record itself is late, the record has no effect. The order of the partition decides, so all readers decide
alike.

Two more topics accompany it: ``<topic>.positions`` (``kind`` ``view``: newest known positions, at most 50 a second) and
``<topic>.rejected`` (``kind`` ``rejected``: quarantined records, with batch, number and reason).
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

import msgspec

from football.errors import UserError
from football.untrusted import RECORD_BYTES_MAX, UntrustedError, decode_json
from football.update_stream import EventRecord, UpdateRecord

VERSION = 1
BEGIN, UPDATE, END, VIEW, REJECTED = "begin", "update", "end", "view", "rejected"
SESSION, UTC, TIMECODE = "session", "utc", "timecode"
POSITIONS_SUFFIX, REJECTED_SUFFIX = ".positions", ".rejected"


class TopicUpdate(msgspec.Struct, frozen=True):
    """An update in a topic; see :class:`football.update_stream.UpdateRecord`. ``undo``: withdraws a void update."""

    match: str
    seq: int
    diff: int
    emitted_us: int
    event: EventRecord
    undo: bool = False


class Begin(msgspec.Struct, frozen=True):
    """Session ``session`` becomes current if ``after`` is; empty stands for no session."""

    match: str
    session: str
    after: str


class GapError(UserError):
    """Updates are missing among those read: the topic has deleted them, or another program writes to it."""


def decode(value: bytes | None) -> TopicUpdate:
    """Decode an update from a record's value.

    Raises:
        UntrustedError: it is none.
    """
    try:
        return decode_json(value or b"", TopicUpdate, RECORD_BYTES_MAX)
    except UntrustedError as error:
        raise UntrustedError(f"not an update: {error}") from error


def decode_of(match: str, value: bytes | None) -> TopicUpdate:
    """Decode an update of a match, which the key of its record names.

    Raises:
        UntrustedError: it is none, or one of another match.
    """
    update = decode(value)
    if update.match != match:
        raise UntrustedError(f"an update of {update.match[:40]!r} under another key")
    return update


class WriterFence:
    """The current session of a match: a pure fold over its records, from where ``session`` was current.

    >>> a, b = (msgspec.json.encode(Begin("m", session, "")) for session in "ab")
    >>> fence = WriterFence()
    >>> fence.admits(BEGIN, "a", a), fence.admits(UPDATE, "a", b""), fence.admits(UPDATE, "", b"")
    (False, True, False)
    >>> fence.admits(BEGIN, "b", b), fence.session  # late: no session was current when it was sent
    (False, 'a')
    """

    def __init__(self, session: str = "") -> None:
        self.session = session

    def admits(self, kind: str, session: str, value: bytes | None) -> bool:
        """True if a record counts. A ``begin`` record never does, but may make its session the current one."""
        if kind != BEGIN:
            return session == self.session
        with suppress(UntrustedError):  # an unreadable record changes nothing
            begin = decode_json(value or b"", Begin, RECORD_BYTES_MAX)
            if begin.after == self.session:
                self.session = begin.session
        return False


class StandingUpdates:
    """The updates of a match that stand, in their order: the fold over a topic's records, from ``begin`` on.

    >>> standing = StandingUpdates(); e = EventRecord("a#1", "a", "", 1, 0, "", "", None, None, None, 1.0)
    >>> one = TopicUpdate("m", 0, 1, 5, e); standing.take(one), standing.take(one), standing.next_seq
    (True, False, 1)
    >>> standing.take(TopicUpdate("m", 0, -1, 9, e, undo=True)), standing.next_seq
    (True, 0)
    """

    def __init__(self, begin: int = 0) -> None:
        self.begin = begin
        self._stack: list[TopicUpdate] = []

    @property
    def next_seq(self) -> int:
        """Number of the next update."""
        return self.begin + len(self._stack)

    def take(self, update: TopicUpdate) -> bool:
        """Apply a record; False if it changes nothing because it was written twice.

        Raises:
            GapError: updates before it are missing.
        """
        if update.undo:
            if update.seq != self.next_seq - 1:
                return self._known(update)
            if self._stack:
                self._stack.pop()
            else:
                self.begin -= 1
            return True
        if update.seq != self.next_seq:
            return self._known(update)
        self._stack.append(update)
        return True

    def at(self, seq: int) -> TopicUpdate:
        """The update of that number, which stands."""
        return self._stack[seq - self.begin]

    def since(self, seq: int) -> list[TopicUpdate]:
        """The standing updates from ``seq`` on.

        Raises:
            GapError: ``seq`` lies before what was read.
        """
        if seq < self.begin:
            raise GapError(f"update {seq} lies before {self.begin}, the first that was read")
        return self._stack[seq - self.begin :]

    def _known(self, update: TopicUpdate) -> bool:
        if update.seq > self.next_seq:
            raise GapError(f"update {self.next_seq} of {update.match} is missing: {update.seq} came instead")
        return False


def topic_updates(match: str, next_seq: int, applied: Iterable[UpdateRecord]) -> list[TopicUpdate]:
    """Records of the updates that a follower of the update stream applied; withdrawals of void updates are undoings."""
    updates = []
    for update in applied:
        undo = update.seq < next_seq
        updates.append(TopicUpdate(match, update.seq, update.diff, update.emitted_us, update.event, undo))
        next_seq += -1 if undo else 1
    return updates
