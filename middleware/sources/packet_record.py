"""The packets of one source that were taken in, and from them the identity of each: the epoch and its counter.

Theory of operation
-------------------
A source numbers its packets with a counter that rises with event time, until the source restarts or its counter wraps.
A packet is known by its counter and event time. Two arrivals with both in common are *copies*; they are *proven* copies
if their content is equal, too.

An *epoch* is a stretch of event time in which the counter rises. So the epoch of a packet is the number of times that
the counter falls, or stays, among the packets before it in event time. That is a function of the set of packets, and
not of their order of arrival. A packet that arrives late may show that the counter fell before packets that have their
identity already. They are withdrawn then and asserted under the right one, as any late input is repaired. Nothing final
changes, because what arrives is not final.

    event time    0   10   20   30   40   50           10^10 is written E
    counter       0    1    2    0    1    2
    identity      0    1    2    E  E+1  E+2

The content is retained until it is final. A copy that arrives later cannot be proven any more, and is lost. Of packets
that were lost a digest is retained for some minutes, so that their copies are proven, too.

Of copies that differ, which are a fault of the source, the one with the greatest representation counts, as of events
under one canonical key (:func:`middleware.isolation.deciding_event`). The other one is lost. Entries of people follow
the same rule.
"""

from __future__ import annotations

from bisect import bisect_left
from hashlib import blake2b
from operator import attrgetter

import msgspec

from middleware.events import BEGINNING_US, Event, Update
from middleware.isolation import deciding_event

#: An identity is ``epoch * EPOCH + counter``; counters lie within half of it, 32 bits included.
EPOCH = 10**10
COUNTER_END = EPOCH // 2

#: Limit of epochs; ten times the greatest identity, as of a position in a packet, fits 64 bits.
EPOCHS_MAX = 10**7

#: Limits of one source: packets whose content is retained, and packets not taken in whose digests are.
RETAINED_MAX, REFUSED_MAX = 32_768, 1_024

#: How far behind final a packet may be dated whose digest is retained. A copy that comes later is lost once more.
REFUSED_RETAINED_US = 600_000_000

_TIME_OF = attrgetter("ts_us")


def digest(event: Event) -> bytes:
    """Return a digest of what copies of a packet have in common."""
    return blake2b(repr((event.payload, event.id)).encode(errors="backslashreplace"), digest_size=16).digest()


def same_content(one: Event, other: Event) -> bool:
    """True if two arrivals of one packet have the same content."""
    try:
        if one.payload is other.payload or one.payload == other.payload:
            return one.id == other.id
    except Exception:  # a payload that cannot be compared
        return digest(one) == digest(other)
    return digest(one) == digest(other)  # the same bits, such as a NaN, need not be equal


def counter_of(event: Event) -> int:
    """Return the counter that an identity was made from."""
    return (event.seq + COUNTER_END) % EPOCH - COUNTER_END


class PacketRecord:
    """Packets of one source that are not final, in order of event time.

    Args:
        first_base: identity of counter 0 in the first epoch: a multiple of ``EPOCH``.

    Attributes:
        newest_us, newest_counter: of the packet with the greatest event time.
        base: identity of counter 0 in its epoch.
        refused: digests of packets that were not taken in, by counter and event time.
    """

    __slots__ = ("_before", "_closed_us", "_events", "base", "newest_counter", "newest_us", "refused")

    def __init__(self, first_base: int = 0) -> None:
        self.newest_us = BEGINNING_US
        self.newest_counter = -COUNTER_END
        self.base = first_base
        self.refused: dict[tuple[int, int], tuple[bytes, ...]] = {}
        self._events: list[Event] = []
        #: Identity of the last packet that was forgotten; before the first one that of a counter below all others.
        self._before = first_base - COUNTER_END
        #: Packets dated before this cannot be told from those that were forgotten before they were final.
        self._closed_us = BEGINNING_US

    def __len__(self) -> int:
        return len(self._events)

    def find(self, counter: int, ts_us: int) -> Event | None:
        """Return the packet of that counter and event time, if it was taken in and its content is retained."""
        if ts_us > self.newest_us:
            return None
        at = self._index(counter, ts_us)
        if at < len(self._events):
            event = self._events[at]
            if event.ts_us == ts_us and counter_of(event) == counter:
                return event
        return None

    def take(self, event: Event, changes: list[Update]) -> Event | None:
        """Take in a new packet, and return it under its identity; None if it can have none.

        Args:
            event: as it arrived; neither final nor a copy.
            changes: receives the changes of identity of other packets.
        """
        counter, ts_us = event.seq, event.ts_us
        if ts_us > self.newest_us and self.newest_counter < counter < COUNTER_END:
            self.newest_us, self.newest_counter = ts_us, counter
            if self.base:
                event = msgspec.structs.replace(event, seq=counter + self.base)
            self._events.append(event)
            return event
        return self._insert(event, changes)

    def replace(self, old: Event, event: Event, changes: list[Update]) -> bool:
        """Let the canonical one of two copies that differ stand; True if that is the new one.

        Args:
            old: that stands, under its identity.
            event: as it arrived.
            changes: receives the change.
        """
        new = msgspec.structs.replace(event, seq=old.seq)
        if deciding_event((old, new)) is old:
            return False
        self._events[self._index(event.seq, old.ts_us)] = new
        changes += (Update(old, -1), Update(new, 1))
        return True

    def was_refused(self, event: Event) -> bool:
        """True if a packet that was not taken in arrives again."""
        digests = self.refused.get((event.seq, event.ts_us))
        return digests is not None and digest(event) in digests

    def note_refused(self, event: Event) -> None:
        """Note a packet that is not taken in, as it arrived or under its identity."""
        packet = counter_of(event), event.ts_us
        self.refused[packet] = (*self.refused.pop(packet, ())[-7:], digest(event))
        if len(self.refused) > REFUSED_MAX:
            del self.refused[next(iter(self.refused))]

    def forget(self, final_us: int) -> None:
        """Forget the content of what is final, the oldest if there is too much of it, and digests long after that."""
        while self.refused and next(iter(self.refused))[1] < final_us - REFUSED_RETAINED_US:
            del self.refused[next(iter(self.refused))]
        events = self._events
        done = bisect_left(events, final_us, key=_TIME_OF)
        if len(events) - done > RETAINED_MAX:
            done = len(events) - RETAINED_MAX // 2
            self._closed_us = events[done - 1].ts_us + 1
        if done:
            self._before = events[done - 1].seq
            del events[:done]

    def _index(self, counter: int, ts_us: int) -> int:
        return bisect_left(self._events, (ts_us, counter), key=_place_of)

    def _insert(self, event: Event, changes: list[Update]) -> Event | None:
        """Insert a packet that is not the newest, or begins an epoch; name those after it anew where that changes."""
        counter, ts_us, events = event.seq, event.ts_us, self._events
        full = self.base >= EPOCHS_MAX * EPOCH
        if full or ts_us < self._closed_us or not -COUNTER_END < counter < COUNTER_END:
            return None
        at = self._index(counter, ts_us)
        seq = _following(events[at - 1].seq if at else self._before, counter)
        if seq != counter:
            event = msgspec.structs.replace(event, seq=seq)
        events.insert(at, event)
        for index in range(at + 1, len(events)):
            old = events[index]
            seq = _following(seq, counter_of(old))
            if seq == old.seq:
                break
            events[index] = new = msgspec.structs.replace(old, seq=seq)
            changes += (Update(old, -1), Update(new, 1))
        newest = events[-1]
        self.newest_us, self.newest_counter = newest.ts_us, counter_of(newest)
        self.base = newest.seq - self.newest_counter
        return event


class EntryRecord:
    """Entries of one unpaced source, such as a person: known by their number alone, since a copy may be dated anew.

    The numbers of the greatest ``REFUSED_MAX`` entries are remembered. One that is not above a forgotten number cannot
    be told from a copy, and is lost.
    """

    __slots__ = ("_closed", "_entries", "_refused")

    def __init__(self) -> None:
        self._closed = -(2**62)
        self._entries: dict[int, Event] = {}
        self._refused: dict[int, tuple[bytes, ...]] = {}

    def find(self, number: int) -> Event | None:
        """Return the entry of a number that was taken in."""
        return self._entries.get(number)

    def is_closed(self, number: int) -> bool:
        """True if an entry of that number may have been forgotten."""
        return number <= self._closed

    def was_refused(self, event: Event) -> bool:
        """True if an entry that was not taken in arrives again."""
        return digest(event) in self._refused.get(event.seq, ())

    def note_refused(self, event: Event) -> None:
        """Note an entry that is not taken in."""
        self._refused[event.seq] = (*self._refused.get(event.seq, ())[-7:], digest(event))
        self._forget()

    def take(self, event: Event) -> None:
        """Take in a new entry."""
        self._entries[event.seq] = event
        self._forget()

    def replace(self, old: Event, event: Event, changes: list[Update]) -> bool:
        """Let the canonical one of two entries that differ stand; True if that is the new one."""
        if deciding_event((old, event)) is old:
            return False
        self._entries[event.seq] = event
        changes += (Update(old, -1), Update(event, 1))
        return True

    def _forget(self) -> None:
        for remembered in (self._entries, self._refused):
            if len(remembered) > REFUSED_MAX:
                first = min(remembered)
                del remembered[first]
                self._closed = max(self._closed, first)


def _following(seq: int, counter: int) -> int:
    """Return the identity of the packet with ``counter`` that follows identity ``seq`` in event time."""
    base = (seq + COUNTER_END) // EPOCH * EPOCH
    return base + counter if base + counter > seq else base + EPOCH + counter


def _place_of(event: Event) -> tuple[int, int]:
    return event.ts_us, counter_of(event)
