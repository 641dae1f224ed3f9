"""Route of the accuracy of detected events, by what officials have corrected (``app/officials/accuracy.py``)."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from app.api.schemas import answer, as_json, refusals
from app.api.served import ServedMatch
from app.officials.accuracy import Accuracy, Judged, accuracies, judged_events

STRUCTS: Final = (list[Accuracy],)

_EXAMPLE: Final = Accuracy(
    "venue", "Harbour Park", "pass.complete", "Pass complete", 3, 1_204, 13, 4, 0.9892, 0.9816, 0.9937
)


class _Judgements:
    """Judged events by match; a store that has grown is read again. Thread safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._read: dict[str, tuple[int, list[Judged]]] = {}

    def of(self, name: str, served: ServedMatch) -> list[Judged]:
        """Return the judged events of a match."""
        with self._lock:
            seq = served.feed.settled_seq()
            if (known := self._read.get(name)) is None or known[0] != seq:
                self._read[name] = seq, judged_events(served.folder)
            return self._read[name][1]


def accuracy_routes(matches: Mapping[str, ServedMatch]) -> APIRouter:
    """Create the route.

    Args:
        matches: by id; may grow.
    """
    router, judgements = APIRouter(tags=["accuracy"]), _Judgements()

    @router.get("/accuracy", responses=answer(list[Accuracy], [_EXAMPLE]) | refusals())
    def accuracy() -> Response:
        """Return the share of right events by kind: over all matches, by match, by venue, each with an interval."""
        served = dict(matches)
        judged = [(name, one.feed.sheet().venue, judgements.of(name, one)) for name, one in served.items()]
        return as_json(accuracies(judged))

    return router
