"""Settings of ordering units: how long one waits, how much of that it skips, how it takes back.

Slack policies (``middleware.slack``) answer "how late may an event be" (K). Speculation answers "what share of K
do we really wait" (alpha). Retraction says how a mistake is repaired.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from middleware.ordering.retraction import Retraction
from middleware.ordering.slack.settings import SlackSettings
from middleware.ordering.speculation import AT_ONCE, FixedAlpha, Speculation
from middleware.sources.progress import ProgressSettings

__all__ = ["EngineSettings", "FixedAlpha", "Retraction", "Speculation", "UnitSettings"]


@dataclass(frozen=True)
class UnitSettings:
    """How one ordering unit works."""

    speculation: Speculation = AT_ONCE
    retraction: Retraction = "on-demand"
    slack: SlackSettings = field(default_factory=SlackSettings)


@dataclass(frozen=True)
class EngineSettings:
    """Settings of an engine: defaults for all units, and exceptions by detector name.

    ``allowed_lateness_us`` bounds how late an input may come and still be repaired, ``progress`` says how long
    sources are
    waited for (both: ``middleware.sources.progress``). ``max_held``
    bounds how many inputs all units together hold and let wait: where it is reached, final moves on early, and what
    then comes below it is lost for that reason.
    """

    unit: UnitSettings = UnitSettings()
    by_detector: dict[str, UnitSettings] = field(default_factory=dict)
    allowed_lateness_us: int = 3_000_000
    max_held: int = 500_000
    progress: ProgressSettings = field(default_factory=ProgressSettings)

    def of(self, name: str) -> UnitSettings:
        """Settings of the detector called ``name``."""
        return self.by_detector.get(name, self.unit)
