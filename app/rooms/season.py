"""The season of the matches that are served: ``/api/v1/season/NAME`` has figures by team, by player, by match."""

from __future__ import annotations

import threading
from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import Response

from app.api.schemas import as_json, refused
from app.api.served import ServedMatch
from app.history.engines import Ask, ask_duckdb
from app.history.layout import open_archive
from app.history.season import SEASON, season
from football.errors import UserError
from replay.match_store import commits_state


class SeasonRoutes:
    """Asks DuckDB over all open matches; an archive that has changed is opened again. Thread safe."""

    def __init__(self, matches: Mapping[str, ServedMatch]) -> None:
        self._matches = matches
        self._lock = threading.Lock()
        self._ask: tuple[tuple[tuple[int, str], ...], Ask] | None = None

    def answer(self, request: Request) -> Response:
        """Answer with the columns of a table; Starlette calls it in a thread."""
        name = request.path_params["name"]
        if name not in SEASON:
            return refused(f"no figures {name}; there are {', '.join(SEASON)}", 404)
        try:
            with self._lock:
                table = season(self._opened(), name)
        except UserError as error:
            return refused(str(error), 500)
        return as_json({"columns": table.to_pydict()})

    def _opened(self) -> Ask:
        folders = [one.folder for one in self._matches.values()]
        state = tuple(map(commits_state, folders))
        if self._ask is None or self._ask[0] != state:
            self._ask = state, ask_duckdb(open_archive(folders))
        return self._ask[1]
