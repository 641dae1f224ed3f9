"""Open matches behind a server, and one browser for all pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.recorded.matches import RecordedMatches
from app.recorded.serve import serve_matches
from app.settings.resolve import make_settings
from dashboard.server import WebServer
from tests.app.tables.small_match import small_store
from tests.dashboard.chromium import Browser, browser_or_skip

TOKEN = "token-of-the-run"


@pytest.fixture(scope="session")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser_or_skip(tmp_path_factory.mktemp("profile"), 1280, 720) as window:
        yield window


@pytest.fixture(scope="module")
def browser(window: Browser) -> Iterator[Browser]:
    """The window; afterwards it shows nothing, since a page that draws costs the other tests their time."""
    yield window
    window.driver.get("about:blank")


@pytest.fixture(scope="session")
def season(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of two matches, ``one`` and ``two``."""
    folder = tmp_path_factory.mktemp("season")
    for name in ("one", "two"):
        small_store(folder / name)
    return folder


def serving(*folders: Path, **given: object) -> WebServer:
    """A server of the matches in some folders."""
    return serve_matches(RecordedMatches(folders), make_settings({"port": 0, **given}))


@pytest.fixture(scope="session")
def url(season: Path) -> Iterator[str]:
    """Address of the server of both matches."""
    with serving(season) as server:
        yield server.url
