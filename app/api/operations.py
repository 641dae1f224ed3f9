"""Routes for operation: ``/metrics`` for Prometheus, ``/health`` and ``/ready`` as JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from app.operations.health import Verdict, health_of, readiness_of
from app.operations.match_monitor import MatchMonitor

_NO_STORE = {"Cache-Control": "no-store"}


def operations_routes(registry: CollectorRegistry, monitors: Sequence[MatchMonitor]) -> list[BaseRoute]:
    """Create the routes. Their functions read the disk, so they are no coroutines: Starlette runs them in threads.

    Args:
        registry: the metrics for ``/metrics``.
        monitors: one a match, for the other two routes; may grow.
    """

    def metrics(request: Request) -> Response:
        encode, media_type = choose_encoder(request.headers.get("accept", ""))
        return Response(encode(registry), headers={**_NO_STORE, "Content-Type": media_type})

    def verdict_of(judge: Callable[[Sequence[MatchMonitor]], Verdict]) -> Callable[[Request], Response]:
        def answer(request: Request) -> Response:
            status, body = judge(monitors)
            return Response(msgspec.json.encode(body) + b"\n", status, _NO_STORE, "application/json")

        return answer

    return [
        Route("/metrics", metrics),
        Route("/health", verdict_of(health_of)),
        Route("/ready", verdict_of(readiness_of)),
    ]
