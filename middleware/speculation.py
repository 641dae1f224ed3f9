"""Speculation: which share alpha of the slack a unit really waits (paper 000, section 4.1).

A speculation is part of a unit's settings; what adapts lives in the engine's state.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class Speculation(Protocol):
    """Which share of K a unit waits before it emits."""

    def alpha(self, load: float) -> float:
        """Share in [0, 1] for the coming work; ``load`` is the busy factor in [0, 1] known to the engine."""
        ...


@dataclass(frozen=True)
class FixedAlpha:
    """A given share: 1 is pure buffering, 0 emits at once (000, inequation 1)."""

    value: float

    def __post_init__(self) -> None:
        if not 0.0 <= self.value <= 1.0:
            raise ValueError(f"alpha must lie in [0, 1], not {self.value}")

    def alpha(self, load: float) -> float:
        """The given share, whatever the load."""
        return self.value


#: Full speculation: nothing waits (000, section 4.1).
AT_ONCE = FixedAlpha(0.0)
