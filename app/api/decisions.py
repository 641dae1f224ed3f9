"""Routes of the decisions of a match: those that were entered, a new one, and what undoes one.

A decision is a line in the file of officials of the match store, as ``touchline official`` writes it. The engine takes
it from there like any other input (``docs/officials.md``). Of a match that has ended, the store gets a new window.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Final

import anyio.to_thread
import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from fastapi import APIRouter, HTTPException, Request
from fastapi import Path as PathValue
from starlette.responses import Response

from app.api.limits import one_of
from app.api.orders import OperatorRequest
from app.api.schemas import answer, as_json, refusals
from app.api.served import ServedFeed, ServedMatch
from app.officials.ended import decide_after_the_end
from app.officials.undoing import ABOUT_ONE, decisions_undoing
from app.pipeline.folder import InUseError
from app.sources.registry import source_of_store
from dashboard.access import audit, grant_of
from detectors.signals.official import OVERRULED
from football.officials import DECISIONS
from football.untrusted import decode_json
from football.update_stream import UpdateRecord
from middleware.publisher import AMENDABLE_US
from replay.decision_log import EnteredDecision, enter_decisions, entered_decisions
from replay.formats.officials import CORRECT, DecisionFields, OfficialError, check
from replay.match_store import update_records, updates_log, updates_table

#: Decisions that one match takes; a person enters some hundreds.
DECISIONS_MAX: Final = 5_000
#: Undoing reads the updates of a whole match.
_UNDOING_MAX: Final = 1

_EXAMPLE: Final = EnteredDecision(
    3,
    "anna",
    "official.card#official:anna:3",
    DecisionFields("card", "yellow", "home", "home_7", at_s=1834.2, source="anna", entered="2026-05-16T15:31:02+00:00"),
)


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A decision as an operator enters it: the fields of a line of officials, without author and number."""

    kind: str
    variant: str = ""
    team: str = ""
    player: str = ""
    other: str = ""
    minutes: int | None = None
    event: str = ""
    note: str = ""
    at_s: float | None = None
    right_kind: str = ""
    right_variant: str = ""
    right_s: float | None = None


class DecisionKinds(msgspec.Struct, frozen=True):
    """The kinds of decisions with variants and required fields, and the kinds of events that can be corrected."""

    kinds: dict[str, KindOfDecision]
    correctable: tuple[str, ...]
    right_kinds: tuple[str, ...]


class KindOfDecision(msgspec.Struct, frozen=True):
    """A kind of decision: its variants, the fields that it needs."""

    variants: tuple[str, ...]
    needs: tuple[str, ...]


KINDS: Final = DecisionKinds(
    {name: KindOfDecision(one.variants, one.needs) for name, one in DECISIONS.items()}, OVERRULED, CORRECT
)
STRUCTS: Final = (list[EnteredDecision], Entry, DecisionKinds)

_Name = Annotated[str, PathValue(description="Id of the match.", max_length=200)]
_Number = Annotated[int, PathValue(ge=1, le=2**53, description="Number of the decision.")]
_BODY: Final = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {"$ref": "#/components/schemas/Entry"},
                "example": {"kind": "card", "variant": "yellow", "team": "home", "player": "home_7"},
            }
        },
    }
}


def decision_routes(matches: Mapping[str, ServedMatch]) -> APIRouter:
    """Create the routes of decisions below ``/matches``.

    Args:
        matches: by id; may grow.
    """
    router, undoing = APIRouter(prefix="/matches", tags=["decisions"]), threading.BoundedSemaphore(_UNDOING_MAX)

    def found(name: str) -> ServedMatch:
        if name not in matches:
            raise HTTPException(404, f"no match {name}; there are {', '.join(matches) or 'none'}")
        return matches[name]

    @router.get("/{match}/decisions", responses=answer(list[EnteredDecision], [_EXAMPLE]) | refusals(404))
    def entered(match: _Name) -> Response:
        """Return the decisions that were entered, oldest first."""
        return as_json(entered_decisions(found(match).folder))

    @router.get("/{match}/decisions/kinds", responses=answer(DecisionKinds, KINDS) | refusals(404))
    def kinds(match: _Name) -> Response:
        """Return what can be decided, and which kinds of events can be corrected."""
        found(match)
        return as_json(KINDS)

    @router.post(
        "/{match}/decisions",
        responses=answer(list[EnteredDecision], [_EXAMPLE]) | refusals(404, 409, 413),
        openapi_extra=_BODY,
    )
    async def enter(match: _Name, request: OperatorRequest) -> Response:
        """Enter a decision: an official input under the name of the token, dated now if it names no time."""
        entry = decode_json(await request.body(), Entry)
        served = found(match)
        fields = msgspec.convert(msgspec.structs.asdict(entry), DecisionFields)
        if fields.kind in ABOUT_ONE:  # they count from their arrival
            fields = msgspec.structs.replace(fields, at_s=None)
            _check_open(served, [fields])
            await anyio.to_thread.run_sync(_check_known, served, fields)
        return _written(request, match, served, [fields])

    @router.post(
        "/{match}/decisions/{number}/undo",
        responses=answer(list[EnteredDecision], [_EXAMPLE]) | refusals(404, 409, 503),
    )
    def undo(match: _Name, number: _Number, request: OperatorRequest) -> Response:
        """Undo a decision, with what it led to. The answer has the decisions that do it."""
        served = found(match)
        decisions = entered_decisions(served.folder)
        decision = next((one for one in decisions if one.number == number and one.decision.undoes is None), None)
        if decision is None:
            raise HTTPException(404, f"no decision {number}")
        if decision.undone:
            raise HTTPException(409, f"decision {number} is undone")
        with one_of(undoing, "another decision is being undone; ask again"):
            updates = _updates(served)
            lines = decisions_undoing(decision, decisions, updates)
            _check_events(lines, updates, served.feed, known=False)
            return _written(request, match, served, lines)

    return router


def _written(request: Request, match: str, served: ServedMatch, lines: list[DecisionFields]) -> Response:
    grant = grant_of(request)
    _check_open(served, lines)
    entered_at = datetime.now(UTC).isoformat(timespec="seconds")
    signed = [msgspec.structs.replace(one, source=grant.name or "operator", entered=entered_at) for one in lines]
    entered = _decided_after_the_end(served, signed) if served.feed.ended() else enter_decisions(served.folder, signed)
    for one in entered:
        line = msgspec.json.encode(one.decision).decode()
        audit("decision entered", grant, request, match=match, number=one.number, line=line)
    return as_json(entered)


def _decided_after_the_end(served: ServedMatch, lines: list[DecisionFields]) -> list[EnteredDecision]:
    try:
        entered, message = decide_after_the_end(served.folder, lines)
    except InUseError as error:
        raise HTTPException(409, "its run still holds the match: end it, and open the match anew") from error
    for follower in served.followers:
        follower(message)
    return entered


def _check_open(served: ServedMatch, lines: list[DecisionFields]) -> None:
    """Refuse decisions that the match cannot take."""
    feed = served.feed
    for line in lines:
        check(line, feed.sheet())
    if not feed.ended() and not source_of_store(served.folder).has_recording:
        raise HTTPException(409, "a match out of a topic takes no decisions of officials while it runs")
    if len(entered_decisions(served.folder)) + len(lines) > DECISIONS_MAX:
        raise HTTPException(409, f"the match has {DECISIONS_MAX} decisions already")


def _check_known(served: ServedMatch, fields: DecisionFields) -> None:
    _check_events([fields], _updates(served), served.feed, known=True)


def _check_events(lines: list[DecisionFields], updates: list[UpdateRecord], feed: ServedFeed, *, known: bool) -> None:
    """Refuse decisions about events that can change no more, and with ``known`` about events that there are not."""
    newest = {one.event.id: one for one in updates}
    for event_id in dict.fromkeys(line.event for line in lines if line.kind in ABOUT_ONE):
        if event_id not in newest:
            if known:
                raise OfficialError(f"there is no event {event_id}")
        elif newest[event_id].emitted_us < feed.now_us() - AMENDABLE_US and not feed.ended():
            raise HTTPException(409, f"{event_id} is older than ten minutes: correct it when the match has ended")


def _updates(served: ServedMatch) -> list[UpdateRecord]:
    """Return the updates of the kinds that a decision may change, in order: those of the store, then newer ones."""
    feed = served.feed
    settled = feed.settled_seq()
    log = updates_log(served.folder)
    newer = updates_table(feed.standing_updates(settled, feed.next_seq()), feed.epoch())
    rows = pa.concat_tables([log.filter(pc.less(log["seq"], settled)), newer])
    kinds = pa.array([*OVERRULED, "official.void", "official.correction"], pa.string())
    return update_records(rows.filter(pc.is_in(rows["kind"], kinds)).sort_by("seq"))
