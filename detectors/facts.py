"""Payload of the sparse football events: what a user sees of an event besides kind and time."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from detectors.inputs import Team
from middleware.events import Event

Scalar = str | int | float | bool | None


class Fact(msgspec.Struct, frozen=True, gc=False):
    """Who, where and how sure.

    Attributes:
        variant: value of the kind's own enumeration (``left``, ``wide right``, ``hit`` ...), empty if none.
        team: ``home``, ``away`` or empty.
        player: the source's object id, or empty.
        x_m, y_m, z_m: place, None where the event has none.
        confidence: 0..1.
        detail: further named values, units in their names. Never changed after it was made.
    """

    variant: str = ""
    team: Team = ""
    player: str = ""
    x_m: float | None = None
    y_m: float | None = None
    z_m: float | None = None
    confidence: float = 1.0
    detail: Mapping[str, Scalar] = {}


def fact_event(
    kind: str,
    ts_us: int,
    anchor: str,
    fact: Fact,
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
    return Event(kind, ts_us, anchor, 0, fact, f"{kind}#{anchor}", causes, annuls, dated_us)


def number(fact: Fact, name: str) -> float:
    """A number of a fact's details."""
    value = fact.detail[name]
    assert isinstance(value, float | int), f"{name} is not a number"
    return float(value)
