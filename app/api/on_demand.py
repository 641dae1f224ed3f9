"""The API behind a mount that builds it when it is first needed."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING

import anyio.to_thread
from starlette.types import Receive, Scope, Send

from app.api.served import ServedMatch
from app.cameras.group import CameraGroup
from dashboard.server import STOPPING

if TYPE_CHECKING:
    from fastapi import FastAPI


class ApiOnDemand:
    """Builds the API when the first request arrives, in a thread: a match begins sooner without it."""

    def __init__(self, matches: Mapping[str, ServedMatch], cameras: CameraGroup) -> None:
        self._matches, self._cameras = matches, cameras
        self._lock = threading.Lock()
        self._app: FastAPI | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._app or await anyio.to_thread.run_sync(self._built)
        await app({**scope, STOPPING: scope["app"].state.stopping}, receive, send)

    def warm_up(self) -> None:
        """Build the API before the first request asks for it."""
        self._built()

    def prepare(self, match: str) -> None:
        """Read a match for the analyst's room before its first viewer does."""
        self._built().state.analyst_room.prepare(match)

    def _built(self) -> FastAPI:
        from app.api.v1 import api_application  # imports FastAPI

        with self._lock:
            if self._app is None:
                self._app = api_application(self._matches, self._cameras)
            return self._app
