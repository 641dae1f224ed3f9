"""Monitoring of a run: a monitor and a health log for each of its matches, and metrics of all of them."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from app.hub.feed import MatchFeed
from app.operations.health_log import HealthLogger
from app.operations.match_monitor import MatchMonitor, StageLink
from app.operations.metrics import registry_of
from app.sources.interface import MatchInput


class Monitoring:
    """Monitors matches while the context lasts; matches may be added meanwhile.

    Args:
        folder: of the run; the free space of its disk is a metric.

    Attributes:
        monitors: of the matches, in the order in which they were added.
        registry: metrics of all of them and of this process.
    """

    def __init__(self, folder: Path) -> None:
        self.monitors: list[MatchMonitor] = []
        self.registry = registry_of(self.monitors, folder)
        self._open = ExitStack()

    def __enter__(self) -> Monitoring:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def add(
        self, feed: MatchFeed, states: Path, *, paced: bool, link: StageLink | None, source: MatchInput | None = None
    ) -> MatchMonitor:
        """Monitor one more match; the arguments are those of :class:`app.operations.match_monitor.MatchMonitor`."""
        monitor = MatchMonitor(feed, states, paced=paced, source=source, link=link)
        self._open.enter_context(HealthLogger(monitor))
        self.monitors.append(monitor)
        return monitor
