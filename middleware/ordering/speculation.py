"""Speculation: which share alpha of the slack a unit really waits, fixed or moved by the load (paper 000, 4.1, 4.4).

Theory of operation
-------------------
A fixed share is a choice of the user. The adaptive one is algorithm 3 of 000, which treats alpha as TCP treats its
congestion window: while the busy factor is below its target, halve alpha at the end of each span; above the target
remember alpha, go back to 1 at once, and halve again, but only down to the bisection line
``(1 - last minimum) / 2``: from there on alpha falls by small steps. Within the target it stays.

000 begins at 1, pure buffering, and takes seconds to come down. We begin at 0 (``AdaptiveAlpha.first``): at most one
span passes before an overload is seen, alpha is 1 then as in 000, and since the last minimum is 0, the next descent is
halved once and then slow. What begins while the load is in the target zone or above it begins at 1.

Where the text leaves it open: the formula for the busy factor is printed as ``1 - busy/span`` and used as
``busy/span`` (its own example, 0.41 s of 0.5 s = 0.82), which is what we take. Before the first overload there is no
bisection line: ``last minimum`` begins at 1. A small step never goes below 0.

The busy factor comes from the engine's account (``middleware.load_accounting``), never from a clock: so a redone batch
takes the same decisions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class AlphaPolicy(Protocol):
    """What a unit asks while it runs. ``alpha`` lies, in [0, 1]."""

    @property
    def alpha(self) -> float:
        """Share of K to wait before an input is released."""
        ...

    def turn(self, busy: float) -> None:
        """A span has ended in which this share of the available time was used."""
        ...


class Speculation(Protocol):
    """A choice of speculation: plain data, part of a unit's settings."""

    def begin(self, busy: float = 0.0) -> AlphaPolicy:
        """What a new unit starts with, if this share of the time was used in the last span."""
        ...


@dataclass(frozen=True)
class FixedAlpha:
    """A given share: 1 is pure buffering, 0 emits at once (000, inequation 1)."""

    value: float

    def __post_init__(self) -> None:
        if not 0.0 <= self.value <= 1.0:
            raise ValueError(f"alpha must lie in [0, 1], not {self.value}")

    @property
    def alpha(self) -> float:
        """The given share."""
        return self.value

    def begin(self, busy: float = 0.0) -> FixedAlpha:
        """A fixed share has no state."""
        return self

    def turn(self, busy: float) -> None:
        """Whatever the load."""


@dataclass(frozen=True)
class AdaptiveAlpha:
    """As much speculation as the time that is left allows (000, section 4.4).

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

    def begin(self, busy: float = 0.0) -> Controller:
        """A controller at ``first``, or at 1 where there is no time left."""
        return Controller(self, self.first if busy < self.low else 1.0)


class Controller:
    """Algorithm 3 of 000: alpha of one unit. Plain state, pickled with the unit."""

    __slots__ = ("alpha", "last_minimum", "settings", "slow")

    def __init__(self, settings: AdaptiveAlpha, alpha: float) -> None:
        self.settings = settings
        self.alpha = alpha
        self.last_minimum = 1.0
        self.slow = False

    @property
    def bisection_line(self) -> float:
        """Halving stops before alpha would fall below it."""
        return (1.0 - self.last_minimum) / 2

    def turn(self, busy: float) -> None:
        """Moves alpha by what the last span was like."""
        settings = self.settings
        if busy > settings.high:
            self.last_minimum, self.alpha, self.slow = self.alpha, 1.0, False
        elif busy < settings.low:
            self.slow = self.slow or self.alpha / 2 < self.bisection_line
            self.alpha = max(0.0, self.alpha - settings.step) if self.slow else self.alpha / 2


#: Full speculation: nothing waits (000, section 4.1).
AT_ONCE = FixedAlpha(0.0)
