"""What a record of an updates topic is, and the fold that makes it right for whoever reads along.

The topic of updates holds, per match (the key), what the fast lane said, in its order. An update that a dead stage had
said and its successor does not say is followed by its *undoing*: the same update with the opposite ``diff``, and
``undo`` set. So the sum of all ``diff`` is what is held to be true, whoever died in between; ``seq`` grows by one
with each update and falls by one with each undoing.

| header ``kind`` | value (JSON) |
|---|---|
| ``begin`` | :class:`Begin`: a relay takes the floor |
| ``update`` | :class:`Told` |
| ``end`` | ``{"match": ...}``: the match is over |

Who speaks. What a dead relay had sent may still be under way when its successor has looked at what stands, and would
arrive among what that one says. So each relay speaks in a session of its own, which the header ``session`` of its
records names, and only what is of the session that has the floor counts (:class:`Floor`). A relay takes the floor with
a record that names whom it takes it from: if that one does not have it any more, because another came first or because
the record itself is late, it says nothing. The order of the partition decides, so all who read it decide alike.

Beside it stand ``<topic>.positions`` (``kind`` ``view``: newest known positions, at most 50 a second) and
``<topic>.rejected`` (``kind`` ``rejected``: records that were kept out, with batch, number and reason).
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

import msgspec

from football.errors import UserError
from football.update_stream import EventRecord, UpdateRecord

VERSION = 1
BEGIN, UPDATE, END, VIEW, REJECTED = "begin", "update", "end", "view", "rejected"
SESSION = "session"
POSITIONS_SUFFIX, REJECTED_SUFFIX = ".positions", ".rejected"


class Told(msgspec.Struct, frozen=True):
    """An update in a topic; see :class:`football.update_stream.UpdateRecord`. ``undo``: takes back what is void, see
    above."""

    match: str
    seq: int
    diff: int
    emitted_us: int
    event: EventRecord
    undo: bool = False


class Begin(msgspec.Struct, frozen=True):
    """Session ``session`` takes the floor, if ``after`` has it; empty stands for nobody."""

    match: str
    session: str
    after: str


class GapError(UserError):
    """Updates are missing in what was read: the topic has forgotten them, or somebody else writes to it."""


_told, _begin = msgspec.json.Decoder(Told), msgspec.json.Decoder(Begin)


def decode(value: bytes | None) -> Told:
    """An update from a record's value.

    Raises:
        ValueError: it is none.
    """
    try:
        return _told.decode(value or b"")
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"not an update: {error}") from error


class Floor:
    """Which session of a match counts: the fold over its records, from where ``session`` had the floor. Pure.

    >>> a, b = (msgspec.json.encode(Begin("m", session, "")) for session in "ab")
    >>> floor = Floor(); floor.heard(BEGIN, "a", a), floor.heard(UPDATE, "a", b""), floor.heard(UPDATE, "", b"")
    (False, True, False)
    >>> floor.heard(BEGIN, "b", b), floor.session  # late: nobody had the floor when it was sent
    (False, 'a')
    """

    def __init__(self, session: str = "") -> None:
        self.session = session

    def heard(self, kind: str, session: str, value: bytes | None) -> bool:
        """Whether a record counts; one that begins a session says nothing more, and may hand on the floor."""
        if kind != BEGIN:
            return session == self.session
        with suppress(msgspec.DecodeError, UnicodeDecodeError):  # what cannot be read takes nothing
            begin = _begin.decode(value or b"")
            if begin.after == self.session:
                self.session = begin.session
        return False


class Line:
    """The updates of a match that stand, in their order: the fold over a topic's records, from ``begin`` on.

    >>> line = Line(); e = EventRecord("a#1", "a", "", 1, 0, "", "", None, None, None, 1.0)
    >>> one = Told("m", 0, 1, 5, e); line.take(one), line.take(one), line.next_seq
    (True, False, 1)
    >>> line.take(Told("m", 0, -1, 9, e, undo=True)), line.next_seq
    (True, 0)
    """

    def __init__(self, begin: int = 0) -> None:
        self.begin = begin
        self._stack: list[Told] = []

    @property
    def next_seq(self) -> int:
        """Number of the next update."""
        return self.begin + len(self._stack)

    def take(self, told: Told) -> bool:
        """Whether a record changes anything; one that was written twice does not.

        Raises:
            GapError: updates before it are missing.
        """
        if told.undo:
            if told.seq != self.next_seq - 1:
                return self._known(told)
            if self._stack:
                self._stack.pop()
            else:
                self.begin -= 1
            return True
        if told.seq != self.next_seq:
            return self._known(told)
        self._stack.append(told)
        return True

    def at(self, seq: int) -> Told:
        """The update of that number, which stands."""
        return self._stack[seq - self.begin]

    def since(self, seq: int) -> list[Told]:
        """What stands from ``seq`` on."""
        assert seq >= self.begin, f"update {seq} is from before what was read"
        return self._stack[seq - self.begin :]

    def _known(self, told: Told) -> bool:
        if told.seq > self.next_seq:
            raise GapError(f"update {self.next_seq} of {told.match} is missing: {told.seq} came instead")
        return False


def told_of(match: str, next_seq: int, applied: Iterable[UpdateRecord]) -> list[Told]:
    """What a follower of the lane applied, as records: withdrawals of what is void are undoings."""
    out = []
    for update in applied:
        undo = update.seq < next_seq
        out.append(Told(match, update.seq, update.diff, update.emitted_us, update.event, undo))
        next_seq += -1 if undo else 1
    return out
