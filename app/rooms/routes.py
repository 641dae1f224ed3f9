"""All routes of the rooms and of the API that they read: the same for finished matches and for those of a run.

A room reads the stores only, so it shows a running match as far as it is committed, and follows the commits.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route

from app.api.on_demand import ApiOnDemand
from app.api.served import ServedMatch
from app.rooms.report import report_route
from app.rooms.season import SeasonRoutes
from app.rooms.tiles import TileRoutes
from dashboard.rooms import ROOMS, room_routes


def match_rooms(
    matches: Mapping[str, ServedMatch], api: ApiOnDemand, damaged: Mapping[str, str] | None = None
) -> list[BaseRoute]:
    """Return the routes of the rooms.

    Args:
        matches: by name; may grow.
        api: over the same matches.
        damaged: reasons by name of stores that cannot be read; the list of matches shows them.
    """
    return [
        Route("/api/v1/tiles", TileRoutes(matches, damaged or {}).answer),
        Route("/api/v1/season/{name}", SeasonRoutes(matches).answer),
        Mount("/api/v1", api),
        Route("/openapi.json", _document),
        Route("/report", report_route(matches)),
        *room_routes(),
    ]


def room_links(match: str) -> list[tuple[str, str]]:
    """Return title and address of each room, for a match."""
    of_match = "?" + urlencode({"match": match})
    return [(room.title, room.path + ("" if room.of_all else of_match)) for room in ROOMS]


def _document(request: Request) -> Response:
    return RedirectResponse("/api/v1/openapi.json")
