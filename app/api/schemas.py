"""Answers of the API as JSON, and their schemas in its OpenAPI document.

The structs that the answers are made of are the source of the schemas, so that both always agree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.responses import Response

_REFERENCE: Final = "#/components/schemas/{name}"
_NO_STORE: Final = {"Cache-Control": "no-store"}


class Refusal(msgspec.Struct, frozen=True):
    """The reason why a request was refused."""

    detail: str


def as_json(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a value as a response."""
    return Response(msgspec.json.encode(value), status, {**_NO_STORE, **(headers or {})}, "application/json")


def refused(reason: str, status: int) -> Response:
    """Return the response to a request that is refused."""
    return as_json(Refusal(reason), status)


def answer(kind: Any, example: object, text: str = "The answer.") -> dict[int | str, dict[str, Any]]:
    """Describe the response of a route, for its ``responses``.

    Args:
        kind: struct, or list of one, that the response is the JSON of.
        example: a value of that kind.
        text: of the description.
    """
    (schema,), _ = msgspec.json.schema_components([kind], ref_template=_REFERENCE)
    content = {"application/json": {"schema": schema, "example": msgspec.to_builtins(example)}}
    return {200: {"description": text, "content": content}}


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Describe the refusals of a route. The access check refuses in plain text (401, 403)."""
    described: dict[int | str, dict[str, Any]] = {}
    for status in (400, 401, 403, 429, *statuses):
        kind = "text/plain" if status in (401, 403) else "application/json"
        schema = {"type": "string"} if status in (401, 403) else {"$ref": _REFERENCE.format(name="Refusal")}
        described[status] = {"description": _REASONS[status], "content": {kind: {"schema": schema}}}
    return described


def streamed(kind: Any) -> dict[int | str, dict[str, Any]]:
    """Describe the response of a stream of server-sent events, each with a struct as JSON."""
    schema = {"type": "string", "description": f"Each `data` line has {kind.__name__} as JSON."}
    return {200: {"description": "A stream.", "content": {"text/event-stream": {"schema": schema}}}}


_REASONS: Final = {
    400: "A parameter cannot be used, or the request is none of HTTP.",
    401: "A token is needed.",
    403: "The token does not permit this.",
    404: "There is no such match, camera, preset, player, event, decision or rule.",
    409: "The camera cannot do this now, or the match cannot take this decision.",
    413: "The body is too long.",
    429: "The client sends too many requests.",
    503: "Too many streams are open, or too many clients ask for much.",
}


def describe(api: FastAPI, kinds: Sequence[Any]) -> None:
    """Let the OpenAPI document of an application have the schemas of structs."""

    def document() -> dict[str, Any]:
        if api.openapi_schema is None:
            made = get_openapi(title=api.title, version=api.version, description=api.description, routes=api.routes)
            _, components = msgspec.json.schema_components([*kinds, Refusal], ref_template=_REFERENCE)
            made.setdefault("components", {}).setdefault("schemas", {}).update(components)
            made["servers"] = [{"url": "/api/v1"}]
            bearer = {"type": "http", "scheme": "bearer", "description": "`touchline token create`"}
            made["components"]["securitySchemes"] = {"token": bearer}
            made["security"] = [{}, {"token": []}]
            api.openapi_schema = made
        return api.openapi_schema

    api.openapi = document  # type: ignore[method-assign]
