"""Where a run is watched from: a watch and an observer for each of its matches, one server for all of them."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from rich.console import Console

from app.hub.feed import MatchFeed
from app.operations.health_log import HealthLogger
from app.operations.match_monitor import MatchMonitor, StageLink
from app.operations.metrics import registry_of
from app.operations.serve import MetricsServer
from app.settings.model import LiveSettings


class Monitoring:
    """Serves metrics and health while the context lasts; matches may come meanwhile.

    Args:
        settings: of the run.
        folder: of the run, whose disk is looked at.
        console: for people.

    Raises:
        OperationError: the port is taken.
    """

    def __init__(self, settings: LiveSettings, folder: Path, console: Console) -> None:
        self.watches: list[MatchMonitor] = []
        self._settings, self._folder, self._console = settings, folder, console
        self._open = ExitStack()

    def __enter__(self) -> Monitoring:
        settings = self._settings
        if settings.metrics_port != 0:
            server = MetricsServer(
                registry_of(self.watches, self._folder),
                self.watches,
                host=settings.host,
                port=settings.metrics_port,
                token=settings.token.get_secret_value(),
            )
            self._console.print(f"Metrics: {self._open.enter_context(server).url}/metrics and /health")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def watch(self, feed: MatchFeed, states: Path, *, paced: bool, link: StageLink | None) -> MatchMonitor:
        """Watches one more match, see :class:`app.operations.match_monitor.MatchMonitor`."""
        watch = MatchMonitor(feed, states, paced=paced, link=link)
        self._open.enter_context(HealthLogger(watch))
        self.watches.append(watch)
        return watch
