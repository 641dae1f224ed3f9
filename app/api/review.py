"""Routes of the review of a close call: figures, drawing, sheet."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Annotated, Final, Literal

import msgspec
from fastapi import APIRouter, HTTPException, Query
from fastapi import Path as PathValue
from starlette.responses import Response

from app.api.limits import one_of
from app.api.schemas import answer, as_json, refusals
from app.api.served import ServedMatch
from app.review.review import Review, review
from app.review.text import figure_rows, verdict
from replay.review.calls import Call, ReviewPoint

_ID_CHARACTERS_MAX: Final = 300


class ReviewAnswer(msgspec.Struct, frozen=True):
    """A review, its verdict in words, and its figures as names and values."""

    review: Review
    verdict: str
    rows: list[tuple[str, str]]


STRUCTS: Final = (ReviewAnswer,)

_POINT: Final = ReviewPoint("home_9", "home", "", "subject", 31.2, -4.0, 0.9, 0.05, 11, 1.0)
_CALL: Final = Call(
    "offside", 61_132_000, 4_000, 0.18, 0.11, 0.948, -0.03, 0.4, ((31.0, -34.0), (31.0, 34.0)), (_POINT,)
)
_EXAMPLE: Final = ReviewAnswer(
    Review(
        "pass.attempt#ball:61128725", "pass.attempt", "Pass attempt", 61_128_725, "home", "home_9", _CALL,
        "ahead of the offside line", 25.0, 25.0, 0.05,
    ),
    "Too close to call: ahead of the offside line with a probability of 94.8 %",
    [("Margin", "+18.0 cm, standard deviation 11.0 cm")],
)  # fmt: skip

_Name = Annotated[str, PathValue(description="Id of the match.", max_length=200)]
_Event = Annotated[str, Query(description="Id of the event.", max_length=_ID_CHARACTERS_MAX)]
_Question = Annotated[
    Literal["", "offside", "line", "area", "distance"], Query(description="Default what the kind of the event asks.")
]
_Player = Annotated[str, Query(description="Object id of the player in question.", max_length=200)]


def review_routes(matches: Mapping[str, ServedMatch]) -> APIRouter:
    """Create the routes of reviews below ``/matches``.

    Args:
        matches: by id; may grow.
    """
    router, reviewing = APIRouter(prefix="/matches", tags=["review"]), threading.BoundedSemaphore(2)

    def served(name: str) -> ServedMatch:
        if name not in matches:
            raise HTTPException(404, f"no match {name}; there are {', '.join(matches) or 'none'}")
        return matches[name]

    @router.get("/{match}/review", responses=answer(ReviewAnswer, _EXAMPLE) | refusals(404, 503))
    def figures(match: _Name, event: _Event, question: _Question = "", player: _Player = "") -> Response:
        """Review a call: margin, probability, instant, positions with their uncertainty."""
        one = served(match)
        with one_of(reviewing, "other calls are being reviewed; ask again"):
            found = review(one.folder, event, question, player)
        return as_json(ReviewAnswer(found, verdict(found), list(figure_rows(found, one.feed.sheet()))))

    pictures = {200: {"description": "The drawing.", "content": {"image/svg+xml": {}}}}

    @router.get("/{match}/review.svg", responses=pictures | refusals(404, 503))
    def drawing(match: _Name, event: _Event, question: _Question = "", player: _Player = "") -> Response:
        """Draw a call from above: the line, who was near it, and the region of 95 % of each."""
        from app.review.drawing import draw  # imports matplotlib

        one = served(match)
        with one_of(reviewing, "other calls are being reviewed; ask again"):
            content = draw(review(one.folder, event, question, player), one.feed.sheet())
        return Response(content, 200, {"Cache-Control": "no-store"}, "image/svg+xml")

    sheets = {200: {"description": "The sheet.", "content": {"application/pdf": {}}}}

    @router.get("/{match}/review.pdf", responses=sheets | refusals(404, 503))
    def sheet(match: _Name, event: _Event, question: _Question = "", player: _Player = "") -> Response:
        """Return the sheet of a call, a page of A4."""
        from app.base.paper import make_pdf  # imports WeasyPrint
        from app.review.sheet import sheet_page  # imports matplotlib

        one = served(match)
        with one_of(reviewing, "other calls are being reviewed; ask again"):
            found = review(one.folder, event, question, player)
            content = make_pdf(sheet_page(found, one.feed.sheet()))
        headers = {"Content-Disposition": 'attachment; filename="review.pdf"', "Cache-Control": "no-store"}
        return Response(content, 200, headers, "application/pdf")

    return router
