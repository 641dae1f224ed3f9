"""A match behind the API, of which some updates are committed and some are in the feed only."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from app.api.served import ServedMatch
from app.cameras.group import CameraGroup
from app.cameras.running import cameras_on
from app.operations.monitoring import Monitoring
from app.run.servers import RunServers
from app.settings.resolve import make_settings
from camera.installation import load_installation
from tests.app.api.test_matches import Game, event

TOKEN = "token-of-the-run"
FILE = '[[camera]]\nname = "main"\n[camera.presets.left]\npan_deg = -20\ntilt_deg = -10\nwidth_deg = 20\n'


@pytest.fixture
def steered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Game, str]]:
    """A match with a camera, behind a token; its updates, and the address of its page."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    game, group, file = Game(tmp_path), CameraGroup(), tmp_path / "cameras.toml"
    file.write_text(FILE)
    settings = make_settings({"store": tmp_path / "new", "port": 0, "metrics_port": 0, "token": TOKEN})
    with (
        Monitoring(tmp_path) as monitoring,
        RunServers(settings, monitoring, Console(quiet=True), group) as servers,
        cameras_on(game.feed, lambda table: None, load_installation(file), group, folder=tmp_path),
    ):
        monitor = monitoring.add(game.feed, game.folder / "states", paced=False, link=None)
        game.publish(event(1), event(2, "shot.attempt"), continues_from=0)
        game.commit()
        servers.serve("m", ServedMatch(game.feed, game.folder, monitor.problems))
        yield game, servers.open_page(game.feed)
