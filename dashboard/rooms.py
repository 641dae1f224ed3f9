"""The rooms: pages next to the live one, each a folder of static files in ``dashboard/pages``.

A room is a document at its own path, whose body is its ``page.html``. Its other files lie below ``/pages/NAME``.
``dashboard/pages/shared`` has what all rooms share: ``shell.js`` (navigation, theme, keys, requests, states of loading)
and ``room.css``. Tokens, fonts, shapes and models are those of the live page. No text of a match is part of a document:
the scripts read the API.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from dashboard.page import ASSETS

_PAGES: Final = Path(__file__).parent / "pages"
_KINDS: Final = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".woff2": "font/woff2",
}
_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; "
    "img-src 'self' data: blob:; media-src 'self' blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
}


_DOCUMENT: Final = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Touchline {title}</title>
<link rel="icon" href="data:,">
<script src="/pages/shared/theme.js"></script>
<script src="/pages/shared/shapes.js"></script>
{styles}
</head>
<body>
<header id="bar"></header>
{body}<script type="module" src="/pages/{name}/page.js"></script>
</body>
</html>
"""


class Room(msgspec.Struct, frozen=True):
    """A page: the name of its folder, which is its path, and its title. ``of_all``: of all matches, not of one."""

    name: str
    title: str
    of_all: bool = False

    @property
    def path(self) -> str:
        """Path of the page."""
        return f"/{self.name}"


#: In the order of the navigation.
ROOMS: Final = (
    Room("matches", "Matches", of_all=True),
    Room("replay", "Replay"),
    Room("analyst", "Analyst"),
    Room("accuracy", "Accuracy", of_all=True),
)


def shared_routes() -> list[BaseRoute]:
    """Return the routes of what all pages share: the live page, too."""
    served = {
        "/pages/shared/tokens.css": ASSETS / "00_tokens.css",
        "/pages/shared/shapes.js": ASSETS / "05_shapes.js",
        "/pages/shared/models.js": ASSETS / "26_models.js",
    }
    served |= {f"/pages/shared/fonts/{font.name}": font for font in (ASSETS / "fonts").glob("*.woff2")}
    return _routes(served | _files("shared"))


def room_routes() -> list[BaseRoute]:
    """Return the routes of all rooms, and of what they share."""
    documents = [Route(room.path, _answer(_document(room), ".html")) for room in ROOMS]
    files = [route for room in ROOMS for route in _routes(_files(room.name))]
    return [*shared_routes(), *documents, *files]


def _document(room: Room) -> bytes:
    folder = _PAGES / room.name
    sheets = [f"/pages/shared/{name}.css" for name in ("tokens", "room", "reason")]
    if (folder / "page.css").exists():
        sheets.append(f"/pages/{room.name}/page.css")
    styles = "\n".join(f'<link rel="stylesheet" href="{sheet}">' for sheet in sheets)
    body = (folder / "page.html").read_text(encoding="utf-8")
    return _DOCUMENT.format(title=room.title.lower(), styles=styles, body=body, name=room.name).encode()


def _files(folder: str) -> dict[str, Path]:
    return {
        f"/pages/{folder}/{file.name}": file
        for file in (_PAGES / folder).iterdir()
        if file.suffix in _KINDS and file.name != "page.html"
    }


def _routes(served: Mapping[str, Path]) -> list[BaseRoute]:
    return [Route(path, _file(file)) for path, file in sorted(served.items())]


def _file(path: Path) -> Callable[[Request], Response]:
    return _answer(path.read_bytes(), path.suffix)


def _answer(content: bytes, suffix: str) -> Callable[[Request], Response]:
    kind = _KINDS[suffix]

    def answer(request: Request) -> Response:
        return Response(content, 200, _HEADERS, kind)

    return answer
