"""Events and updates: the vocabulary that every other module speaks.

Theory of operation
-------------------
An *event* is something that happened at one instant of event time. It never changes. What we say about
it may change, and there is only one form for that: an *update* ``(event, diff)``. A diff of +1 asserts the
event, -1 withdraws it. A correction is -1 of the old event and +1 of a new one with the same ``id``; a
retraction (paper 000, section 4.3) is nothing but a -1. Adding up the diffs of a log gives what is held to
be true (see :func:`middleware.consolidation.consolidate`).

Every ordering decision in the house is taken by one function, :func:`canonical_key`. Two events at one
instant are never swapped and never merged, whichever of them arrived first.

All times are integer microseconds. Event time (``ts_us``) and arrival time are never mixed.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

#: Before any event time, and after any event time.
BEGINNING_US, END_US = -(2**62), 2**62

#: Sort key of an event: (ts_us, kind rank, source, seq, id).
Key = tuple[int, int, str, int, str]


class Event(msgspec.Struct, frozen=True, gc=False):
    """One thing that happened at one instant. Immutable.

    Attributes:
        kind: dotted name, e.g. ``ball.accel_peak`` or ``raw.player``.
        ts_us: event time in microseconds from the source's own zero.
        source: what it is about or who sent it (a transmitter, a player); part of the canonical order.
        seq: running number within ``source``; part of the canonical order.
        payload: whatever the kind carries. Must be immutable by convention and comparable with ``==``
            (no numpy arrays), because redoing a step is checked by comparing events.
        id: stable name of the event: a function of its kind and of the cause that names it (its anchor),
            never of a process's counter and never of something that may be corrected later. Empty for dense
            kinds, which are named by (kind, source, seq).
        causes: ids of the events it was concluded from.
        annuls: id of an event which this one declares void in what is published (a disallowed goal).
        dated_us: of a newer version of an event, the event time under which it is published: that of what it is a
            version of. ``ts_us`` is then when it became known. See ``middleware.publisher``.
    """

    kind: str
    ts_us: int
    source: str
    seq: int = 0
    payload: object = None
    id: str = ""
    causes: tuple[str, ...] = ()
    annuls: str = ""
    dated_us: int | None = None


class Update(msgspec.Struct, frozen=True, gc=False):
    """An event asserted (``diff`` = +1) or withdrawn (``diff`` = -1).

    ``k_plus_us`` is K+ of paper 000 (section 4.1): how much sooner than pure buffering the event was
    emitted, so that a unit further up does not mistake an early event for a small delay.
    """

    event: Event
    diff: int
    k_plus_us: int = 0


class Arrival(msgspec.Struct, frozen=True, gc=False):
    """An event as it reaches the engine from outside, with what its source states about its progress.

    Attributes:
        event: the raw event; ``event.source`` names the transmitter and ``event.seq`` counts its packets from
            zero without gaps, so that duplicates and losses can be told.
        until_us: event time up to which (inclusive) this packet speaks for its transmitter: the time of its
            last position. The next packet of that transmitter holds later times only.
    """

    event: Event
    until_us: int


class Loss(msgspec.Struct, frozen=True, gc=False):
    """An arrival that was not taken in, and why.

    ``reason``: ``memory`` (it came later than the memory of the engine reaches), ``promise`` (it had been promised that
    nothing so old would come any more), ``held`` (final had moved on early, because as many inputs were held as may
    be), ``clock`` (its source's clock is ahead of all others') or ``crowd`` (there are as many sources as may be).
    """

    event: Event
    until_us: int
    reason: str


def canonical_key(event: Event, rank: Mapping[str, int]) -> Key:
    """The one place where order is decided: (ts_us, kind rank, source, seq, id).

    Args:
        event: any event whose kind is in ``rank``.
        rank: place of each kind in the hierarchy, lower levels first (see ``Hierarchy.rank``).

    >>> a = Event("a", 5, "x"); b = Event("b", 5, "x")
    >>> canonical_key(a, {"a": 0, "b": 1}) < canonical_key(b, {"a": 0, "b": 1})
    True
    """
    return (event.ts_us, rank[event.kind], event.source, event.seq, event.id)
