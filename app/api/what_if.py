"""Routes of "what if": a stretch of a match played again with a change."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

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

if TYPE_CHECKING:
    from app.what_if.run import WhatIf

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


class Unchanged(msgspec.Struct, frozen=True):
    """The unchanged side of a stretch: whether it is played, and its number of events then."""

    is_done: bool
    events: int | None


STRUCTS: Final = (Change, Choices, WhatIfAnswer, Unchanged)

_Name = Annotated[str, PathValue(description="Id of the match.", max_length=200)]
_FIGURES: Final[dict[str, float | None]] = {"events": 120, "updates": 131, "withdrawn": 4, "delay_ms": None}
_ANSWER: Final = WhatIfAnswer(_FIGURES, _FIGURES, 120, [], 1.0, 30_000_000, 2.1)
_CHANGE: Final = Change(0, 60_000_000, delays=(Delay("home_7", 500),), moves=(Move("home_9", 1.0, 0.0),))


def may_play(request: Request) -> bool:
    """True if the client may have a match played: an operator, or a client on this machine with no proxy between."""
    local = request.client is not None and is_loopback(request.client.host) and not _PROXIED & set(request.headers)
    return local or permits(request, Role.OPERATOR)


_REFUSAL: Final = "this needs the token of an operator, or a client on the server's machine"
_PROXIED: Final = {"forwarded", "x-forwarded-for", "x-real-ip"}


class _Turns:
    """One stretch is played at a time. What is played ahead makes way for a change, and for a newer stretch."""

    def __init__(self) -> None:
        self._changes, self._engine = threading.BoundedSemaphore(1), threading.Lock()
        self._wanted: object = None
        self._newest: object = None

    @contextmanager
    def of_change(self, stretch: object) -> Iterator[None]:
        """Hold the engine for a change; what is played ahead is awaited if it is the unchanged side of this one.

        Raises:
            HTTPException: 503 while another change is played.
        """
        with one_of(self._changes, "another change is being played; ask again"):
            self._wanted = stretch
            try:
                with self._engine:
                    yield
            finally:
                self._wanted = None

    @contextmanager
    def ahead(self) -> Iterator[Callable[[object], bool]]:
        """Hold the engine for what is played ahead; yield what says of a stretch if it is needed still."""
        mine = self._newest = object()
        with self._engine:
            yield lambda stretch: self._wanted == stretch if self._wanted else self._newest is mine


def what_if_routes(matches: Mapping[str, ServedMatch]) -> APIRouter:
    """Create the routes of changes below ``/matches``. They write nothing; all matches together play one at a time.

    Args:
        matches: by id; may grow.
    """
    router, turns = APIRouter(prefix="/matches", tags=["what if"]), _Turns()
    newest: list[tuple[Path, WhatIf]] = []
    known: OrderedDict[tuple[Path, int, str], Response] = OrderedDict()

    def served(name: str) -> ServedMatch:
        if name not in matches:
            raise HTTPException(404, f"no match {name}; there are {', '.join(matches) or 'none'}")
        return matches[name]

    def engine_of(one: ServedMatch) -> WhatIf:
        from app.what_if.run import WhatIf  # brings the engine

        if not newest or newest[0][0] != one.folder:
            newest[:] = [(one.folder, WhatIf(one.folder))]
        return newest[0][1]

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
            raise HTTPException(403, _REFUSAL)
        wanted = decode_json(change.encode(), Change)
        key = one.folder, one.feed.next_seq(), change
        if key in known:
            return known[key]
        with turns.of_change((one.folder, wanted.begin_us, wanted.end_us, wanted.in_time)):
            audit("what if played", grant_of(request), request, match=match)
            found = as_json(engine_of(one).play(wanted))
        known[key] = found
        if len(known) > _KNOWN_MAX:
            known.popitem(last=False)
        return found

    @router.get(
        "/{match}/what-if/unchanged",
        responses=answer(Unchanged, Unchanged(True, 120)) | refusals(403, 404),
        description="Play a stretch as it was recorded, ahead of its first change, which then waits for its own side "
        "only. Makes way for a change and for a newer stretch: then `is_done` is false. Permitted as changes are.",
    )
    def play_ahead(match: _Name, request: Request, begin_us: int, end_us: int) -> Response:
        from app.what_if.run import SupersededError  # brings the engine

        one = served(match)
        if not may_play(request):
            raise HTTPException(403, _REFUSAL)
        with turns.ahead() as is_needed:
            try:
                side = engine_of(one).play_ahead(begin_us, end_us, lambda way: is_needed((one.folder, *way)))
            except SupersededError:
                return as_json(Unchanged(False, None))
        return as_json(Unchanged(True, side.events))

    return router
