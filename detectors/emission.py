"""Makes the sparse events that detectors emit: named by their kind and their anchor."""

from __future__ import annotations

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
) -> Event:
    """A sparse event, named by its kind and its anchor: ``pass.attempt#ball:1234``.

    ``anchor`` is the cause that makes the event this one (of a pass the kick, of a kick the ball sample) and
    never something that may be corrected later. The event's ``source`` is its anchor, so that two events of
    one kind at one instant have a fixed order. ``dated_us``: the time under which it is shown, if that is not
    ``ts_us``, when it became known (kinds that are amended only).
    """
    return Event(kind, ts_us, anchor, 0, payload, f"{kind}#{anchor}", causes, annuls, dated_us)
