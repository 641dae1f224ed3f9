"""Comparisons with thresholds, which can be recorded: by them ``explain`` shows how clearly a detector decided.

Theory of operation
-------------------
A detector compares a value with a threshold by :func:`at_least`, :func:`at_most`, :func:`above` or :func:`below`, which
return a plain bool::

    at_most("the ball from the nearest corner", distance_m, p.corner_m, "restart_kick.corner_m", "restart.corner")

The texts serve ``explain`` only: what was compared, the path of the threshold in a settings file, and the event that
the comparison belongs to. While a recorder is active (:func:`recording`), a comparison that holds is recorded, too.
:func:`is_over` and :func:`is_under` also record a comparison that does not hold, for rules in which either answer
decides. Steps are pure, so ``explain`` runs the step that emitted an event once more under a recorder.

Hot loops and kernels compare in their own way. The code that emits an event then notes the value that was compared, by
:func:`note`, if :func:`is_recording`.

A step may judge several candidates, and emit several events. ``about`` names the event that a comparison belongs to, by
one or more of its properties: kind, variant, player, team, anchor or id. A comparison without it belongs to all events
of the step.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal, NamedTuple

Sense = Literal["at least", "at most"]

#: Properties of an event: one, or several of which all must fit.
About = str | tuple[str, ...]


class Comparison(NamedTuple):
    """A comparison that held.

    Attributes:
        what: the compared quantity, in words.
        value: its value.
        sense: how it stands to the threshold.
        threshold: as it was in force: the parameter, or what the input's noise made of it.
        parameter: path of the threshold (``hit.share_min``); empty if it has none, as the Laws' measures.
        unit: of both; empty if it is the parameter's.
        about: properties of the event that it belongs to; empty for each event of the step.
    """

    what: str
    value: float
    sense: Sense
    threshold: float
    parameter: str
    unit: str
    about: tuple[str, ...]


#: Recorders that are active, in all threads: a comparison without any costs one read of a global.
_recorders = 0
#: Comparisons of the recorder of this thread.
_recorded: ContextVar[list[Comparison] | None] = ContextVar("recorded", default=None)


@contextmanager
def recording() -> Iterator[list[Comparison]]:
    """Record the comparisons that this thread makes; other threads' are not recorded."""
    global _recorders
    comparisons: list[Comparison] = []
    before = _recorded.set(comparisons)
    _recorders += 1
    try:
        yield comparisons
    finally:
        _recorders -= 1
        _recorded.reset(before)


def is_recording() -> bool:
    """True while a recorder is active: values that only :func:`note` needs are computed then."""
    return _recorders > 0


def at_least(what: str, value: float, threshold: float, parameter: str = "", about: About = (), unit: str = "") -> bool:
    """Return ``value >= threshold``; record the comparison if it holds."""
    holds = value >= threshold
    if _recorders and holds:
        note(what, value, "at least", threshold, parameter, about, unit)
    return holds


def at_most(what: str, value: float, threshold: float, parameter: str = "", about: About = (), unit: str = "") -> bool:
    """Return ``value <= threshold``; record the comparison if it holds."""
    holds = value <= threshold
    if _recorders and holds:
        note(what, value, "at most", threshold, parameter, about, unit)
    return holds


def above(what: str, value: float, threshold: float, parameter: str = "", about: About = (), unit: str = "") -> bool:
    """Return ``value > threshold``; record the comparison if it holds."""
    holds = value > threshold
    if _recorders and holds:
        note(what, value, "at least", threshold, parameter, about, unit)
    return holds


def below(what: str, value: float, threshold: float, parameter: str = "", about: About = (), unit: str = "") -> bool:
    """Return ``value < threshold``; record the comparison if it holds."""
    holds = value < threshold
    if _recorders and holds:
        note(what, value, "at most", threshold, parameter, about, unit)
    return holds


def is_over(what: str, value: float, threshold: float, parameter: str = "", about: About = (), unit: str = "") -> bool:
    """Return ``value > threshold`` where either answer decides; record it in the sense in which it holds."""
    over = value > threshold
    if _recorders:
        note(what, value, "at least" if over else "at most", threshold, parameter, about, unit)
    return over


def is_under(what: str, value: float, threshold: float, parameter: str = "", about: About = (), unit: str = "") -> bool:
    """Return ``value < threshold`` where either answer decides; record it in the sense in which it holds."""
    under = value < threshold
    if _recorders:
        note(what, value, "at most" if under else "at least", threshold, parameter, about, unit)
    return under


def note(
    what: str, value: float, sense: Sense, threshold: float, parameter: str = "", about: About = (), unit: str = ""
) -> None:
    """Record a comparison that held in a hot loop or a kernel; nothing without a recorder."""
    comparisons = _recorded.get() if _recorders else None
    if comparisons is None:
        return
    properties = (about,) if isinstance(about, str) else about
    comparisons.append(Comparison(what, float(value), sense, float(threshold), parameter, unit, properties))
