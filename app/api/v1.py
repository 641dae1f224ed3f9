"""The API of a run, ``/api/v1``: one FastAPI application over its matches and cameras (``docs/api.md``).

The access check of the server stands in front of it (``dashboard/access.py``): reading needs what the page needs, an
order the token of an operator.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from fastapi import Depends, FastAPI, HTTPException
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from app.api.accuracy import STRUCTS as ACCURACY_STRUCTS
from app.api.accuracy import accuracy_routes
from app.api.analyst import STRUCTS as ANALYST_STRUCTS
from app.api.analyst import AnalystRoom, analyst_routes
from app.api.calibration import STRUCTS as CALIBRATION_STRUCTS
from app.api.calibration import calibration_routes
from app.api.cameras import STRUCTS as CAMERA_STRUCTS
from app.api.cameras import camera_routes, rule_routes
from app.api.decisions import STRUCTS as DECISION_STRUCTS
from app.api.decisions import decision_routes
from app.api.limits import RateLimiter, StreamLimit
from app.api.matches import STRUCTS, match_routes
from app.api.notes import STRUCTS as NOTE_STRUCTS
from app.api.notes import notes_routes
from app.api.replay import STRUCTS as REPLAY_STRUCTS
from app.api.replay import replay_routes
from app.api.review import STRUCTS as REVIEW_STRUCTS
from app.api.review import review_routes
from app.api.schemas import Refusal, as_json, describe, refused
from app.api.served import ServedMatch
from app.api.what_if import STRUCTS as WHAT_IF_STRUCTS
from app.api.what_if import what_if_routes
from app.base.errors import one_line
from app.cameras.group import CameraGroup
from app.cameras.refusals import OrderRefusedError
from football.errors import UserError
from replay.match_store import StoreError

#: Longest body of a request; an order has a hundred bytes.
BODY_BYTES_MAX: Final = 16_000


def api_application(matches: Mapping[str, ServedMatch], cameras: CameraGroup) -> FastAPI:
    """Create the application.

    Args:
        matches: of the run, by id; may grow.
        cameras: of the run.
    """
    limiter, streams = RateLimiter(), StreamLimit()
    api = FastAPI(
        title="Touchline",
        version="1",
        description="Events, updates, positions and cameras of running matches.",
        docs_url=None,
        redoc_url=None,
        dependencies=[Depends(limiter.admit)],
    )
    api.include_router(match_routes(matches, streams))
    api.include_router(replay_routes(matches))
    api.include_router(review_routes(matches))
    api.include_router(what_if_routes(matches))
    api.include_router(notes_routes(matches))
    api.include_router(decision_routes(matches))
    api.state.analyst_room = AnalystRoom(matches)
    api.include_router(analyst_routes(api.state.analyst_room))
    api.include_router(accuracy_routes(matches))
    api.include_router(camera_routes(cameras, streams))
    api.include_router(calibration_routes(cameras))
    api.include_router(rule_routes(cameras))
    api.add_middleware(BodyLimit)
    for kind in (StarletteHTTPException, UserError):
        api.add_exception_handler(kind, _refuse)
    api.add_exception_handler(RequestValidationError, _refuse_values)
    replayed = [*REPLAY_STRUCTS, *REVIEW_STRUCTS, *WHAT_IF_STRUCTS, *NOTE_STRUCTS, *DECISION_STRUCTS, *ACCURACY_STRUCTS]
    describe(api, [*STRUCTS, *ANALYST_STRUCTS, *replayed, *CAMERA_STRUCTS, *CALIBRATION_STRUCTS])
    return api


async def _refuse(connection: HTTPConnection, error: Exception) -> Response | None:
    """Refuse a request or the opening of a WebSocket."""
    response = _refusal(error)
    if isinstance(connection, WebSocket):
        await connection.send_denial_response(response)
        return None
    return response


async def _refuse_values(_: HTTPConnection, error: Exception) -> Response:
    """Refuse values that are out of their range, as FastAPI does, but without them: JSON has no NaN to repeat."""
    assert isinstance(error, RequestValidationError), "the handler is for this kind only"
    detail = [{key: one[key] for key in ("type", "loc", "msg")} for one in error.errors()]
    return JSONResponse({"detail": detail}, 422)


def _refusal(error: Exception) -> Response:
    if isinstance(error, StarletteHTTPException):
        return as_json(Refusal(str(error.detail)), error.status_code, error.headers)
    if isinstance(error, StoreError):
        return refused(f"the store cannot be read: {error}", 500)
    status = 409 if isinstance(error, OrderRefusedError) else 404 if isinstance(error, LookupError) else 400
    return refused(one_line(error), status)


class BodyLimit:
    """ASGI middleware that refuses a request with a long body."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        received = 0

        async def limited() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > BODY_BYTES_MAX:
                raise HTTPException(413, "the body is too long")
            return message

        await self._app(scope, limited if scope["type"] == "http" else receive, send)
