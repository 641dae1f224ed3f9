"""Routes that change something or administer: decisions of the officials for operators, tokens for administrators."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from app.base.errors import one_line
from app.base.tokens import TokenStore
from dashboard.access import NO_ROLE, audit, grant_of, permits
from dashboard.roles import Role
from football.errors import UserError
from replay.decision_log import report_decision
from replay.formats.officials import LINE_CHARACTERS_MAX

#: A character of a decision has at most four bytes.
_BODY_BYTES_MAX: Final = 4 * LINE_CHARACTERS_MAX
_NO_STORE: Final = {"Cache-Control": "no-store"}


def administration_routes(tokens: TokenStore, folder: Path | None, has_ended: Callable[[], bool]) -> list[BaseRoute]:
    """Create the routes ``POST /officials``, ``GET /tokens`` and ``DELETE /tokens/NAME``.

    Args:
        tokens: of the user.
        folder: of the match store; None for a match that takes no decisions.
        has_ended: returns whether the match is over.
    """

    async def report(request: Request) -> Response:
        """Append the decision in the body, a JSON object as ``docs/officials.md`` describes it."""
        if not permits(request, Role.OPERATOR):
            return NO_ROLE
        if folder is None or has_ended():
            return PlainTextResponse("The match takes no decisions.\n", 409)
        body = b""
        async for part in request.stream():
            body += part
            if len(body) > _BODY_BYTES_MAX:
                return PlainTextResponse("The decision is too long.\n", 413)
        try:
            line = report_decision(folder, body.decode())
        except (UserError, UnicodeDecodeError) as error:
            return PlainTextResponse(f"{one_line(error)}\n", 400)
        audit("decision reported", grant_of(request), request, line=line.strip())
        return Response(line, 201, _NO_STORE, "application/json")

    def listed(request: Request) -> Response:
        if not permits(request, Role.ADMIN):
            return NO_ROLE
        rows = [msgspec.structs.asdict(one) for one in tokens.tokens()]
        for row in rows:
            del row["digest"]
        return Response(msgspec.json.encode(rows), 200, _NO_STORE, "application/json")

    def revoke(request: Request) -> Response:
        if not permits(request, Role.ADMIN):
            return NO_ROLE
        name = request.path_params["name"]
        try:
            tokens.revoke(name)
        except UserError as error:
            return PlainTextResponse(f"{one_line(error)}\n", 404)
        audit("token revoked", grant_of(request), request, revoked=name)
        return Response(status_code=204)

    return [
        Route("/officials", report, methods=["POST"]),
        Route("/tokens", listed),
        Route("/tokens/{name}", revoke, methods=["DELETE"]),
    ]
