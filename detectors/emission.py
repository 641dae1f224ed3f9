"""The published events that detectors emit: each is named by its kind and its anchor."""

from __future__ import annotations

import msgspec

from football.payloads import EventPayload
from middleware.events import Event


def make_event(
    kind: str,
    ts_us: int,
    anchor: str,
    payload: EventPayload,
    *,
    causes: tuple[str, ...] = (),
    annuls: str = "",
    dated_us: int | None = None,
    seq: int = 0,
) -> Event:
    """A published event with the id ``kind#anchor``, such as ``pass.attempt#ball:1234``.

    Args:
        kind: its kind.
        ts_us: event time at which it is known.
        anchor: name of the cause that makes it this event (of a pass the kick, of a kick the ball sample), so that the
            same event gets the same id after a correction. It must not contain a value that may be corrected later. It
            becomes the event's ``source``, so that two events of one kind at one instant have a fixed order.
        payload: what it carries.
        causes: ids of the events that it was concluded from.
        annuls: id of the event that it declares void; empty for none.
        dated_us: event time under which it is published, if that is not ``ts_us`` (kinds that are amended only).
        seq: its place among the versions of one instant (:func:`next_seq`).
    """
    return Event(kind, ts_us, anchor, seq, payload, f"{kind}#{anchor}", causes, annuls, dated_us)


def is_version(event: Event) -> bool:
    """True if an event is a newer version of one that was known before, or is shown at an earlier time."""
    return event.dated_us is not None


def shown_us(event: Event) -> int:
    """The event time under which an event is published, in any version."""
    return event.ts_us if event.dated_us is None else event.dated_us


def next_seq(newest: Event, ts_us: int) -> int:
    """The place of another version at an event time: after the newest one, if that is of the same instant."""
    return newest.seq + 1 if newest.ts_us == ts_us else 0


def withdrawal(published: Event, ts_us: int) -> Event:
    """The event that declares a published one of the same detector void, at an event time."""
    seq = max(next_seq(published, ts_us), 1)
    return msgspec.structs.replace(published, ts_us=ts_us, seq=seq, annuls=published.id, dated_us=shown_us(published))
