"""Settings of ordering units: how long they wait, which share of that, how they retract, and what the engine keeps.

Slack policies (:mod:`middleware.ordering.slack`) answer how late an input may be: K. Speculation answers which share
alpha of K a unit really waits. Retraction says how a premature output is taken back.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from middleware.ordering.retraction import Retraction
from middleware.ordering.slack.settings import SlackSettings
from middleware.ordering.speculation import AT_ONCE, FixedAlpha, Speculation
from middleware.sources.progress import ProgressSettings

__all__ = ["EngineSettings", "FixedAlpha", "ProgressSettings", "Retraction", "Speculation", "UnitSettings"]


@dataclass(frozen=True)
class UnitSettings:
    """How one ordering unit works."""

    speculation: Speculation = AT_ONCE
    retraction: Retraction = "on-demand"
    slack: SlackSettings = field(default_factory=SlackSettings)


@dataclass(frozen=True)
class EngineSettings:
    """Settings of an engine: those of all units, and exceptions by detector name.

    Attributes:
        unit: settings of every unit that is not named in ``by_detector``.
        by_detector: settings by detector name.
        allowed_lateness_us: how far behind the newest event an input may be dated and still be repaired; one beyond it
            is recorded as lost. Units keep inputs, states and outputs for as long.
        max_held: how many inputs all units together may hold and let wait. At the bound final advances early, and an
            input below it is recorded as lost, with the reason ``held``.
        progress: how long sources are waited for.
    """

    unit: UnitSettings = UnitSettings()
    by_detector: dict[str, UnitSettings] = field(default_factory=dict)
    allowed_lateness_us: int = 3_000_000
    max_held: int = 500_000
    progress: ProgressSettings = field(default_factory=ProgressSettings)

    def of(self, name: str) -> UnitSettings:
        """Settings of the detector called ``name``."""
        return self.by_detector.get(name, self.unit)
