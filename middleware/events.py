"""Events and updates: the records that all other modules exchange, and the one order over them.

Theory of operation
-------------------
An *event* happened at one instant of event time and never changes. What the engine knows of it may change, and that
has only one form: an *update* ``(event, diff)``. A diff of +1 asserts the event, -1 withdraws it. An amendment is -1 of
the old event and +1 of a new one with the same ``id``. A retraction (paper 000, section 4.3) is a -1 and nothing else.
The sum of the diffs of a log is what stands (:func:`middleware.consolidation.consolidate`).

One function decides every order: :func:`canonical_key`. Two events at one instant are never swapped and never merged,
whichever arrived first.

All times are integer microseconds. Event time (``ts_us``) and arrival time are never mixed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

import msgspec

#: Event times before and after all others.
BEGINNING_US, END_US = -(2**62), 2**62

#: Sort key of an event: (ts_us, kind rank, source, seq, id).
Key = tuple[int, int, str, int, str]


@runtime_checkable
class Correction(Protocol):
    """Payload of an annulment after which a corrected version stands, instead of nothing."""

    def corrected(self, version: Event) -> Event:
        """Return a version of the annulled event as it should be. Pure; must not raise."""
        ...


class Event(msgspec.Struct, frozen=True, gc=False):
    """One thing that happened at one instant. Immutable.

    Attributes:
        kind: dotted name, e.g. ``ball.accel_peak`` or ``raw.player``.
        ts_us: event time in microseconds from the source's own zero.
        source: what it is about, or what sent it (a player, a transmitter); part of the canonical order.
        seq: running number within ``source``; part of the canonical order.
        payload: the data of the kind. Immutable by convention and comparable with ``==`` (no numpy arrays), because
            a repair compares events.
        id: stable name of the event: a function of its kind and of the cause that names it (its anchor),
            never of a process's counter, and never of what may be amended later. Empty for dense kinds, which are
            named by (kind, source, seq).
        causes: ids of the events that it was concluded from.
        annuls: id of an event that this one declares void in what is published (a disallowed goal). If the payload is a
            :class:`Correction`, the corrected version of that event is published.
        dated_us: of a newer version of an event, the event time under which it is published: that of the first version.
            ``ts_us`` is then the time at which it became known. See ``middleware.publisher``.
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


#: The event time at which an event became known, and the event, which may be dated back.
KnownEvent = tuple[int, Event]


class Update(msgspec.Struct, frozen=True, gc=False):
    """An event asserted (``diff`` = +1) or withdrawn (``diff`` = -1).

    ``k_plus_us`` is K+ of paper 000 (section 4.1): how much sooner than pure buffering the event was
    emitted, so that a unit above does not mistake a premature event for a small delay.
    """

    event: Event
    diff: int
    k_plus_us: int = 0


class Arrival(msgspec.Struct, frozen=True, gc=False):
    """An event as it reaches the engine from outside, with the progress that its source reports.

    Attributes:
        event: the raw event; ``event.source`` names the transmitter and ``event.seq`` counts its packets without gaps,
            so that duplicates and gaps show. The counter may wrap or restart; the engine adds the epoch.
        until_us: event time up to which (inclusive) this packet reports: the time of its last position. The next packet
            of that transmitter holds later times only.
    """

    event: Event
    until_us: int


class Loss(msgspec.Struct, frozen=True, gc=False):
    """A lost arrival: it was not taken in.

    Attributes:
        event, until_us: of the arrival.
        reason: ``memory`` (beyond the allowed lateness), ``promise`` (below what the host promised to be complete),
            ``reported`` (below what the sources had reported, which final follows), ``held`` (final had advanced early,
            because too many inputs were held), ``clock`` (its source is a clock outlier), ``sources`` (one source too
            many), ``differs`` (a copy with another content counts) or ``number`` (its number cannot be told from
            others). See ``middleware.sources.progress.Verdict``.
    """

    event: Event
    until_us: int
    reason: str


def canonical_key(event: Event, rank: Mapping[str, int]) -> Key:
    """Return the sort key that decides every order: (ts_us, kind rank, source, seq, id).

    Args:
        event: any event whose kind is in ``rank``.
        rank: position of each kind in the hierarchy, lower levels first (see ``Hierarchy.rank``).

    >>> a = Event("a", 5, "x"); b = Event("b", 5, "x")
    >>> canonical_key(a, {"a": 0, "b": 1}) < canonical_key(b, {"a": 0, "b": 1})
    True
    """
    return (event.ts_us, rank[event.kind], event.source, event.seq, event.id)
