"""What a record of an updates topic is, and the fold that makes it right for whoever reads along.

The topic of updates holds, per match (the key), what the fast lane said, in its order. An update that a dead stage had
said and its successor does not say is followed by its *undoing*: the same update with the opposite ``diff``, and
``undo`` set. So the sum of all ``diff`` is what is held to be true, whoever died in between; ``seq`` grows by one
with each update and falls by one with each undoing.

| header ``kind`` | value (JSON) |
|---|---|
| ``update`` | :class:`Told` |
| ``end`` | ``{"match": ...}``: the match is over |

Beside it stand ``<topic>.positions`` (``kind`` ``view``: newest known positions, at most 50 a second) and
``<topic>.rejected`` (``kind`` ``rejected``: records that were kept out, with batch, number and reason).
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from detectors.lane import EventRecord, UpdateRecord

VERSION = 1
UPDATE, END, VIEW, REJECTED = "update", "end", "view", "rejected"
POSITIONS_SUFFIX, REJECTED_SUFFIX = ".positions", ".rejected"


class Told(msgspec.Struct, frozen=True):
    """An update in a topic; see :class:`detectors.lane.UpdateRecord`. ``undo``: takes back what is void, see above."""

    match: str
    seq: int
    diff: int
    emitted_us: int
    event: EventRecord
    undo: bool = False


class GapError(Exception):
    """Updates are missing in what was read: the topic has forgotten them, or somebody else writes to it."""


_told = msgspec.json.Decoder(Told)


def decode(value: bytes | None) -> Told:
    """An update from a record's value.

    Raises:
        ValueError: it is none.
    """
    try:
        return _told.decode(value or b"")
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"not an update: {error}") from error


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
