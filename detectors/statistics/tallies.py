"""Counters of a statistic: by team and name, as an immutable value that a state can hold.

A statistic changes when its cause happens, and is published with it: what stands is the newest one of each kind,
variant, team and player (``docs/decisions/041``).
"""

from __future__ import annotations

from collections.abc import Mapping

from detectors.emission import make_event
from football.match_sheet import Team
from football.payloads import EventPayload, Scalar
from middleware.events import Event

#: Number by name; a name begins with its team. It is never changed after it was made.
Tally = Mapping[str, float]


def plus(tally: Tally, *names: str, by: float = 1.0) -> Tally:
    """The tally with some counters increased."""
    return {**tally, **{name: tally.get(name, 0.0) + by for name in names}}


def count(tally: Tally, name: str) -> int:
    """A counter; 0 if nothing was counted."""
    return round(tally.get(name, 0.0))


def percent(part: float, whole: float) -> float:
    """A share in percent, 0 of nothing."""
    return round(100.0 * part / whole, 1) if whole else 0.0


def statistic(
    kind: str, event: Event, team: Team, detail: dict[str, Scalar], variant: str = "", player: str = ""
) -> Event:
    """A statistic as its cause has changed it."""
    anchor = f"{event.kind}:{event.source}:{event.ts_us}/{variant}{player or team}"
    payload = EventPayload(variant, team, player, detail=detail)
    return make_event(kind, event.ts_us, anchor, payload, causes=(event.id,) if event.id else ())
