"""The server of open matches: the live page over a finished match, the other rooms, the API.

One match: ``/`` is its live page, as it stood at the end. Several: ``/`` lists them. All other rooms take the name of
the match from their address.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from app.api.on_demand import ApiOnDemand
from app.api.served import ServedMatch
from app.base.tokens import TokenStore
from app.cameras.group import CameraGroup
from app.hub.feed import MatchFeed
from app.recorded.matches import RecordedMatches
from app.rooms.routes import match_rooms, room_links
from app.settings.model import LiveSettings
from app.tables.stored import stored_tables, stored_tracks
from dashboard.live import LiveState
from dashboard.rooms import ROOMS
from dashboard.routes import page_routes
from dashboard.server import WebServer
from football.errors import UserError
from replay.match_store import committed_updates


def serve_matches(matches: RecordedMatches, settings: LiveSettings) -> WebServer:
    """Start the server of some matches.

    Args:
        matches: that are open.
        settings: port, network address and token.

    Raises:
        dashboard.server.ServerError: the port is taken, or others could reach the server without a token.
    """
    api = ApiOnDemand(matches, CameraGroup())
    threading.Thread(target=api.warm_up, name="warm-up", daemon=True).start()
    routes = recorded_routes(matches, api)
    token, verify = settings.token.get_secret_value(), TokenStore().grant
    _prepare(matches, api)
    return WebServer(routes, host=settings.host, port=settings.port, token=token, verify=verify)


def recorded_routes(matches: RecordedMatches, api: ApiOnDemand) -> list[BaseRoute]:
    """Return all routes of the server."""
    routes = match_rooms(matches, api, matches.damaged)
    if len(matches) > 1:
        return [*routes, Route("/", _season)]
    (match,) = matches.values()
    links = room_links(match.feed.sheet().match_id)
    return [*routes, *page_routes(_live_state(match), rooms=lambda: links)]


def _season(request: Request) -> Response:
    return RedirectResponse("/matches")


def _live_state(match: ServedMatch) -> LiveState:
    """The state of the live page; a thread fills it, so the page opens at once."""
    feed = MatchFeed(match.feed.sheet())
    live = LiveState(feed)
    feed.subscribe(lambda message, applied: live.catch_up())  # the feed does not retain its log for the page

    def fill() -> None:
        feed.seed(committed_updates(match.folder), ended=match.feed.ended(), view=match.feed.latest_view())
        match.followers.append(lambda message: feed.apply(message, 0))

    threading.Thread(target=fill, name="live page", daemon=True).start()
    return live


def _prepare(matches: RecordedMatches, api: ApiOnDemand) -> None:
    """Build in a thread what the analyst's room shows first, so that its first viewer need not wait for it.

    Of all matches these are the tables, of those that stay in memory the first charts, too.
    """

    def build(name: str, folder: Path, *, charts: bool) -> None:
        with suppress(UserError, OSError):  # a damaged match is refused when somebody opens it
            stored_tables(folder)
            stored_tracks(folder)
            if charts:
                api.prepare(name)

    def build_all() -> None:
        from app.api.analyst import MATCHES_MAX  # imports FastAPI

        for number, (name, match) in enumerate(list(matches.items())):
            build(name, match.folder, charts=number < MATCHES_MAX)

    threading.Thread(target=build_all, name="analyst's tables", daemon=True).start()


def addresses(url: str, matches: Sequence[str]) -> list[str]:
    """Lines that say where the pages are."""
    return [f"{'Match' if len(matches) == 1 else f'{len(matches)} matches'}: {url}/"] + [
        f"{room.title}: {url}{room.path}" for room in ROOMS
    ]
