"""Decisions of the officials and tokens over HTTP: who may do it, what is refused, and what the log says."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from app.base.tokens import TokenStore
from app.cameras.group import CameraGroup
from app.hub.feed import MatchFeed
from app.operations.monitoring import Monitoring
from app.run.servers import RunServers
from app.settings.model import LiveSettings
from app.settings.resolve import make_settings
from dashboard.roles import Role
from football.match_sheet import MatchSheet, Player
from replay.formats.officials import FILE
from replay.match_store import MatchStore
from tests.app.run.test_servers import ask

SHEET = MatchSheet("m", players=(Player("home_7", "home", "Gale"),))
CARD = {"kind": "card", "variant": "yellow", "team": "home", "player": "home_7"}


def servers_of(settings: LiveSettings, monitoring: Monitoring) -> RunServers:
    return RunServers(settings, monitoring, Console(file=io.StringIO()), CameraGroup())


@pytest.fixture
def tokens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return {role.name.lower(): TokenStore().create(role.name.lower(), role, 1) for role in Role}


@pytest.fixture
def page(tmp_path: Path, tokens: dict[str, str]) -> Iterator[str]:
    MatchStore.create(tmp_path / "store", SHEET, {})
    settings = make_settings({"store": tmp_path / "new", "port": 0, "metrics_port": 0})
    with Monitoring(tmp_path) as monitoring, servers_of(settings, monitoring) as servers:
        yield servers.open_page(MatchFeed(SHEET), tmp_path / "store")


def send(page: str, method: str, path: str, token: str = "", body: object = None) -> tuple[int, str]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    content = body if isinstance(body, bytes) else json.dumps(body).encode() if body is not None else b""
    return ask(page, path, method, content, **headers)


def test_an_operator_reports_a_decision_and_the_log_says_who(page, tokens, tmp_path: Path, caplog):
    caplog.set_level(logging.INFO)
    assert send(page, "POST", "/officials", body=CARD)[0] == 401
    assert send(page, "POST", "/officials", tokens["viewer"], CARD)[0] == 403
    assert not (tmp_path / "store" / FILE).exists()
    assert send(page, "POST", "/officials", tokens["operator"], CARD)[0] == 201
    assert json.loads((tmp_path / "store" / FILE).read_text()) == CARD
    (line,) = [record.figures for record in caplog.records if record.getMessage() == "decision reported"]
    assert (line["token"], line["role"], line["client"]) == ("operator", "operator", "127.0.0.1")
    assert json.loads(line["line"]) == CARD


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400), (b"[" * 5_000, 400), (b"\xff", 400), (b'{"kind": "dance"}', 400), (b"x" * 20_000, 413),
        ({**CARD, "player": "home_8"}, 400), ({**CARD, "more": 1}, 400),
    ],
)  # fmt: skip
def test_what_is_no_decision_is_refused_and_not_written(page, tokens, tmp_path: Path, body: object, status: int):
    assert send(page, "POST", "/officials", tokens["operator"], body)[0] == status
    assert not (tmp_path / "store" / FILE).exists()


def test_an_administrator_lists_and_revokes_tokens(page, tokens):
    for name in ("viewer", "operator"):
        assert send(page, "GET", "/tokens", tokens[name])[0] == 403
        assert send(page, "DELETE", "/tokens/viewer", tokens[name])[0] == 403
    assert send(page, "GET", "/tokens")[0] == 403
    status, body = send(page, "GET", "/tokens", tokens["admin"])
    assert status == 200
    assert {row["name"] for row in json.loads(body)} == set(tokens)
    assert "digest" not in body
    assert send(page, "DELETE", "/tokens/operator", tokens["admin"])[0] == 204
    assert send(page, "DELETE", "/tokens/operator", tokens["admin"])[0] == 404
    assert send(page, "POST", "/officials", tokens["operator"], CARD)[0] == 401


def test_a_match_that_takes_no_decisions_says_so(tmp_path: Path, tokens):
    settings = make_settings({"store": tmp_path / "new", "port": 0, "metrics_port": 0})
    with Monitoring(tmp_path) as monitoring, servers_of(settings, monitoring) as servers:
        page = servers.open_page(MatchFeed(SHEET))
        assert send(page, "POST", "/officials", tokens["operator"], CARD)[0] == 409


def test_valid_tokens_suffice_to_listen_beyond_loopback(tmp_path: Path, tokens, monkeypatch: pytest.MonkeyPatch):
    assert make_settings({"host": "0.0.0.0"}).host == "0.0.0.0"
    settings = make_settings({"store": tmp_path / "new", "port": 0, "metrics_port": 0, "host": "0.0.0.0"})
    with Monitoring(tmp_path) as monitoring, servers_of(settings, monitoring) as servers:
        page = servers.open_page(MatchFeed(SHEET))
        assert send(page, "GET", "/pages/shared/shell.js")[0] == 401
        assert send(page, "GET", "/pages/shared/shell.js", tokens["viewer"])[0] == 200
