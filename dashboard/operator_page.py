"""Routes of the operator's page, ``/cameras``: what each camera sees, its state, and orders by keyboard and gamepad.

The page reads the API of the run (``app/api/cameras.py``) and gives orders to it. It is static: no text of a sheet or
of a file of cameras is part of the document.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from dashboard.pitch import Path as Line
from dashboard.pitch import lines_of
from football.match_sheet import MatchSheet
from football.pitch import pitch_of

_FILES: Final = {
    "/cameras": ("page.html", "text/html; charset=utf-8"),
    "/cameras/page.css": ("page.css", "text/css; charset=utf-8"),
    "/cameras/view.js": ("view.js", "text/javascript; charset=utf-8"),
    "/cameras/control.js": ("control.js", "text/javascript; charset=utf-8"),
    "/cameras/page.js": ("page.js", "text/javascript; charset=utf-8"),
}
_FOLDER: Final = Path(__file__).parent / "operator"
_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
}


class PitchLines(msgspec.Struct, frozen=True):
    """The lines of a pitch in metres, and the match that is played on it."""

    match: str
    half_length_m: float
    half_width_m: float
    lines: list[Line]


def operator_routes(sheet: Callable[[], MatchSheet]) -> list[BaseRoute]:
    """Return the routes of the page.

    Args:
        sheet: returns the match sheet.
    """

    def pitch(request: Request) -> Response:
        return Response(msgspec.json.encode(pitch_lines(sheet())), 200, _HEADERS, "application/json")

    files = [Route(path, _file(_FOLDER / name, kind)) for path, (name, kind) in _FILES.items()]
    return [*files, Route("/cameras/pitch", pitch)]


def pitch_lines(sheet: MatchSheet) -> PitchLines:
    """Return the lines of a match's pitch."""
    pitch = pitch_of(sheet)
    return PitchLines(sheet.match_id, pitch.half_length_m, pitch.half_width_m, lines_of(pitch))


def _file(path: Path, kind: str) -> Callable[[Request], Response]:
    content = path.read_bytes()

    def answer(request: Request) -> Response:
        return Response(content, 200, _HEADERS, kind)

    return answer
