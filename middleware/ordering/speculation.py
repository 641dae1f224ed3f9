"""Speculation: which share alpha of the slack a unit waits, fixed or controlled by the load (paper 000, 4.1, 4.4).

Theory of operation
-------------------
A fixed alpha is the user's choice. The adaptive one is algorithm 3 of 000, which treats alpha as TCP treats its
congestion window. At the end of each span it looks at the busy factor. Below the target zone it halves alpha. Above the
zone it remembers alpha and returns to 1 at once; after that it halves only down to the bisection line
``(1 - last minimum) / 2`` and then falls by small steps. Within the zone alpha stays.

000 begins at 1, pure buffering, and takes seconds to come down. We begin at 0 (``AdaptiveAlpha.first``). At most one
span passes before an overload shows; then alpha is 1 as in 000, and since the last minimum is 0, the next descent is
halved once and then slow. A unit that begins while the load is in the target zone or above it begins at 1.

The paper leaves two things open. It prints the busy factor as ``1 - busy/span`` and calculates ``busy/span`` (its own
example: 0.41 s of 0.5 s = 0.82); we take the latter. Before the first overload there is no bisection line: ``last
minimum`` begins at 1. A small step never goes below 0. As printed, an overload at alpha 1 would overwrite the last
minimum by 1, and so forget the line; we keep the minimum while an overload goes on.

All units of 000 return to 1 together. Here only those do whose speculation buys the least latency for its cost, as many
as the overload needs (``dear``, by :meth:`middleware.load_accounting.LoadAccounting.dearest`).

The busy factor comes from load accounting (:mod:`middleware.load_accounting`), never from a clock. So a window
that is redone takes the same decisions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

#: Busy factor that an overload is brought down to: the middle of the target zone.
TARGET = 0.85


class AlphaPolicy(Protocol):
    """Policy that a unit asks while it runs. ``alpha`` lies in [0, 1]."""

    @property
    def alpha(self) -> float:
        """Share of K that an input waits before its release."""
        ...

    def end_span(self, busy: float, *, dear: bool = True) -> None:
        """React to the busy factor of the span that has ended.

        Args:
            busy: the busy factor.
            dear: False if an overload is to be ended by others, whose speculation buys less for its cost.
        """
        ...


class Speculation(Protocol):
    """A choice of speculation: plain data, part of a unit's settings."""

    def begin(self, busy: float = 0.0) -> AlphaPolicy:
        """Return the policy of a new unit, given the busy factor of the last span."""
        ...


@dataclass(frozen=True)
class FixedAlpha:
    """A given alpha: 1 is pure buffering, 0 releases at once (000, inequation 1).

    ``alpha`` is an attribute and no property, because each unit reads it in each push.
    """

    value: float
    alpha: float = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not 0.0 <= self.value <= 1.0:
            raise ValueError(f"alpha must lie in [0, 1], not {self.value}")
        object.__setattr__(self, "alpha", self.value)

    def begin(self, busy: float = 0.0) -> FixedAlpha:
        """Return itself: a fixed alpha has no state."""
        return self

    def end_span(self, busy: float, *, dear: bool = True) -> None:
        """Ignore the load."""


@dataclass(frozen=True)
class AdaptiveAlpha:
    """As much speculation as the load allows (000, section 4.4).

    Attributes:
        low, high: the target zone of the busy factor.
        step: by how much alpha falls in slow mode.
        first: alpha to begin with on an idle machine; 1 in 000.
    """

    low: float = 0.8
    high: float = 0.9
    step: float = 0.05
    first: float = 0.0

    def __post_init__(self) -> None:
        if not 0.0 <= self.low <= self.high or not 0.0 < self.step <= 1.0 or not 0.0 <= self.first <= 1.0:
            raise ValueError(f"no target zone, step or share: {self}")

    def begin(self, busy: float = 0.0) -> AlphaController:
        """Return a controller that begins at ``first``, or at 1 under load."""
        return AlphaController(self, self.first if busy < self.low else 1.0)


class AlphaController:
    """Controls alpha of one unit by algorithm 3 of 000. Plain state, pickled with the unit."""

    __slots__ = ("alpha", "last_minimum", "settings", "slow")

    def __init__(self, settings: AdaptiveAlpha, alpha: float) -> None:
        self.settings = settings
        self.alpha = alpha
        self.last_minimum = 1.0
        self.slow = False

    @property
    def bisection_line(self) -> float:
        """Alpha below which halving ends."""
        return (1.0 - self.last_minimum) / 2

    def end_span(self, busy: float, *, dear: bool = True) -> None:
        """Move alpha by the busy factor of the last span; see :class:`AlphaPolicy`."""
        settings = self.settings
        if busy > settings.high:
            if not dear:
                return
            if self.alpha < 1.0:  # an overload that goes on says nothing about speculation
                self.last_minimum = self.alpha
            self.alpha, self.slow = 1.0, False
        elif busy < settings.low:
            self.slow = self.slow or self.alpha / 2 < self.bisection_line
            self.alpha = max(0.0, self.alpha - settings.step) if self.slow else self.alpha / 2


#: Full speculation: nothing waits (000, section 4.1).
AT_ONCE = FixedAlpha(0.0)
