"""Routes of "what if": a stretch of a match played again with a change."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final

import msgspec
from fastapi import APIRouter, HTTPException, Query, Request
from fastapi import Path as PathValue
from starlette.responses import Response

from app.api.limits import one_of
from app.api.schemas import answer, as_json, refusals
from app.api.served import ServedMatch
from app.what_if.change import Change, Delay, Move
from dashboard.access import audit, grant_of, is_loopback, permits
from dashboard.roles import Role
from football.untrusted import decode_json

#: Characters of a change, and outcomes that stay in memory.
_CHANGE_CHARACTERS_MAX: Final = 4_000
_KNOWN_MAX: Final = 16


class Threshold(msgspec.Struct, frozen=True):
    """A threshold that may be changed, with its value in this match, its unit and range."""

    path: str
    value: float
    unit: str
    least: float
    most: float


class Choices(msgspec.Struct, frozen=True):
    """Thresholds and detectors that may be changed in a match, and whether this client may change them."""

    thresholds: list[Threshold]
    detectors: list[str]
    framed: bool
    permitted: bool


class WhatIfAnswer(msgspec.Struct, frozen=True):
    """Outcome of a change; :class:`app.what_if.run.Outcome` explains the fields."""

    before: dict[str, float | None]
    now: dict[str, float | None]
    kept: int
    differences: list[dict[str, str | int | list[str] | None]]
    as_stored: float
    lead_us: int
    took_s: float


STRUCTS: Final = (Change, Choices, WhatIfAnswer)

_Name = Annotated[str, PathValue(description="Id of the match.", max_length=200)]
_FIGURES: Final[dict[str, float | None]] = {"events": 120, "updates": 131, "withdrawn": 4, "delay_ms": None}
_ANSWER: Final = WhatIfAnswer(_FIGURES, _FIGURES, 120, [], 1.0, 30_000_000, 2.1)
_CHANGE: Final = Change(0, 60_000_000, delays=(Delay("home_7", 500),), moves=(Move("home_9", 1.0, 0.0),))


def may_play(request: Request) -> bool:
    """True if the client may have a match played: an operator, or a client on this machine with no proxy between."""
    local = request.client is not None and is_loopback(request.client.host) and not _PROXIED & set(request.headers)
    return local or permits(request, Role.OPERATOR)


_PROXIED: Final = {"forwarded", "x-forwarded-for", "x-real-ip"}


def what_if_routes(matches: Mapping[str, ServedMatch]) -> APIRouter:
    """Create the routes of changes below ``/matches``. They write nothing; all matches together play one at a time.

    Args:
        matches: by id; may grow.
    """
    router, playing = APIRouter(prefix="/matches", tags=["what if"]), threading.BoundedSemaphore(1)
    newest: list[tuple[Path, object]] = []
    known: OrderedDict[tuple[Path, int, str], Response] = OrderedDict()

    def served(name: str) -> ServedMatch:
        if name not in matches:
            raise HTTPException(404, f"no match {name}; there are {', '.join(matches) or 'none'}")
        return matches[name]

    @router.get("/{match}/what-if/choices", responses=answer(Choices, Choices([], [], True, True)) | refusals(404))
    def choices(match: _Name, request: Request) -> Response:
        """Return thresholds and opt-in detectors."""
        from app.settings.resolve import read_stored_settings
        from detectors.catalogue import OPT_IN  # brings the detectors, which no other route needs
        from detectors.parameters import Parameters, all_parameters

        one = served(match)
        parameters = (read_stored_settings(one.folder) or {}).get("parameters", Parameters())
        rows = [
            Threshold(each.path, each.value, each.unit.text, each.unit.least, each.unit.most)
            for each in all_parameters(parameters)
            if not isinstance(each.value, bool | str | tuple)
        ]
        return as_json(Choices(rows, list(OPT_IN), one.feed.sheet().quality.framed, may_play(request)))

    @router.get(
        "/{match}/what-if",
        responses=answer(WhatIfAnswer, _ANSWER) | refusals(404, 503),
        description=f"Play a stretch again with a change, such as `{msgspec.json.encode(_CHANGE).decode()}`. For "
        "operators, and for clients on this machine; one at a time. It may take seconds.",
    )
    def play(
        match: _Name,
        request: Request,
        change: Annotated[str, Query(description="Change as JSON.", max_length=_CHANGE_CHARACTERS_MAX)],
    ) -> Response:
        one = served(match)
        if not may_play(request):
            raise HTTPException(403, "this needs the token of an operator, or a client on the server's machine")
        wanted = decode_json(change.encode(), Change)
        key = one.folder, one.feed.next_seq(), change
        if key in known:
            return known[key]
        with one_of(playing, "another change is being played; ask again"):
            from app.what_if.run import WhatIf  # brings the engine

            audit("what if played", grant_of(request), request, match=match)
            if not newest or newest[0][0] != one.folder:
                newest[:] = [(one.folder, WhatIf(one.folder))]
            what_if = newest[0][1]
            assert isinstance(what_if, WhatIf), "only such are kept"
            found = as_json(what_if.play(wanted))
        known[key] = found
        if len(known) > _KNOWN_MAX:
            known.popitem(last=False)
        return found

    return router
