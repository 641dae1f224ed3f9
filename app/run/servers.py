"""The web servers of a run: one application, at the port of metrics and at the port of each match's page.

All ports serve the API of the run, ``/api/v1``; a page's port serves the rooms over the stores of the run, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from rich.console import Console
from starlette.routing import BaseRoute, Mount

from app.api.administration import administration_routes
from app.api.on_demand import ApiOnDemand
from app.api.operations import operations_routes
from app.api.served import ServedMatch
from app.base.tokens import TokenStore
from app.cameras.group import CameraGroup
from app.hub.feed import MatchFeed
from app.operations.monitoring import Monitoring
from app.settings.model import LiveSettings
from dashboard.server import PortInUseError, WebServer

#: Default port of metrics: the one below the first page's, because further pages take the ports above.
METRICS_PORT = 8049


class RunServers:
    """Serves metrics and health while the context lasts, and each page once ``open_page`` is called.

    Args:
        settings: of the run.
        monitoring: of its matches, which may be added meanwhile.
        console: shows the addresses.
        cameras: of the run; the API shows and steers them.

    Raises:
        dashboard.server.ServerError: a port is taken.
    """

    def __init__(self, settings: LiveSettings, monitoring: Monitoring, console: Console, cameras: CameraGroup) -> None:
        self._settings, self._console = settings, console
        self._routes = operations_routes(monitoring.registry, monitoring.monitors)
        self._token, self._tokens = settings.token.get_secret_value(), TokenStore()
        self._pages: dict[str, str] = {}
        self._served: dict[str, ServedMatch] = {}
        self._api = ApiOnDemand(self._served, cameras)
        self._open = ExitStack()

    def __enter__(self) -> RunServers:
        if self._settings.metrics_port != 0:
            server = self._open.enter_context(self._metrics_server(self._settings.metrics_port))
            self._console.print(f"Metrics: {server.url}/metrics and /health")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def serve(self, key: str, served: ServedMatch) -> None:
        """Let the API answer for a match of the run."""
        self._served[key] = served

    def open_page(self, feed: MatchFeed, officials: Path | None = None) -> str:
        """Serve the page of a match at the next port; return its address.

        Args:
            feed: of the match.
            officials: folder of its store if it takes decisions of the officials.
        """
        from app.rooms.routes import match_rooms, room_links
        from dashboard.live import LiveState
        from dashboard.operator_page import operator_routes
        from dashboard.routes import page_routes  # imports Dash

        live = LiveState(feed, self._settings.patterns, self._settings.steady)
        feed.subscribe(lambda message, applied: live.catch_up())  # the feed does not retain its log for the page
        port = self._settings.port + len(self._pages) if self._settings.port else 0
        administration = administration_routes(self._tokens, officials, feed.ended)
        links = room_links(feed.sheet().match_id)
        pages = [*operator_routes(feed.sheet), *page_routes(live, self._pages.items, lambda: links)]
        server = self._server([*self._routes, *administration, *match_rooms(self._served, self._api), *pages], port)
        url = self._pages[feed.sheet().match_id] = self._open.enter_context(server).url + "/"
        return url

    def _mounted(self) -> BaseRoute:
        return Mount("/api/v1", self._api)

    def _metrics_server(self, port: int | None) -> WebServer:
        """Start the server at ``port``; None is the default port, or a free one if another program has that."""
        try:
            return self._server([*self._routes, self._mounted()], port or METRICS_PORT, "--metrics-port, or 0 for none")
        except PortInUseError:
            if port is not None:
                raise
            return self._server([*self._routes, self._mounted()], 0)

    def _server(self, routes: Sequence[BaseRoute], port: int, option: str = "--port") -> WebServer:
        host, verify = self._settings.host, self._tokens.grant
        return WebServer(routes, host=host, port=port, token=self._token, verify=verify, option=option)
