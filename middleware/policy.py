"""Exchangeable parts of an ordering unit: how long it waits, how much of that it skips, how it takes back.

Slack policies answer "how late may an event be" (K). Speculation answers "what share of K do we really wait"
(alpha). Both are part of a unit's state: they are plain values, pickled with it, and move only by what the unit
has seen, so that redoing a batch takes the same decisions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Protocol

Retraction = Literal["full", "on-demand"]


class Slack(Protocol):
    """How late the inputs of a unit may be."""

    k_us: int

    def measure(self, delay_us: int) -> None:
        """Learns the delay of an input against the unit's clock (K+ of premature inputs added)."""
        ...


@dataclass
class FixedSlack:
    """K set beforehand (the K-slack of the literature, 000 section 3.2)."""

    k_us: int

    def measure(self, delay_us: int) -> None:
        """A fixed slack learns nothing."""


@dataclass
class DynamicSlack:
    """K = the greatest delay seen so far (000 section 3.2; 004 algorithm 1, without lambda)."""

    k_us: int = 0

    def measure(self, delay_us: int) -> None:
        """Grows K to ``delay_us`` if that is more."""
        if delay_us > self.k_us:
            self.k_us = delay_us


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


@dataclass(frozen=True)
class UnitSettings:
    """How one ordering unit works. ``fixed_k_us`` None means dynamic K-slack."""

    speculation: Speculation = FixedAlpha(0.0)
    retraction: Retraction = "on-demand"
    fixed_k_us: int | None = None

    def slack(self) -> Slack:
        """A fresh slack policy."""
        return DynamicSlack() if self.fixed_k_us is None else FixedSlack(self.fixed_k_us)


@dataclass(frozen=True)
class EngineSettings:
    """Settings of an engine: defaults for all units, and exceptions by detector name.

    ``memory_us`` bounds how late an input may come and still be repaired; see ``middleware.progress``.
    """

    unit: UnitSettings = UnitSettings()
    by_detector: dict[str, UnitSettings] = field(default_factory=dict)
    memory_us: int = 3_000_000

    def of(self, name: str) -> UnitSettings:
        """Settings of the detector called ``name``."""
        return self.by_detector.get(name, self.unit)
