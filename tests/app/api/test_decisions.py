"""Decisions over the API: who may enter one, its author and number, what is refused, and undoing."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from app.api.served import ServedMatch
from app.base.tokens import TokenStore
from app.cameras.group import CameraGroup
from app.officials.ended import decide_after_the_end
from app.operations.monitoring import Monitoring
from app.run.servers import RunServers
from app.settings.resolve import make_settings
from dashboard.roles import Role
from replay.formats.officials import FILE, DecisionFields
from tests.app.api.test_administration import CARD
from tests.app.api.test_matches import Game, event
from tests.app.recorded.conftest import serving
from tests.app.recorded.derby import DONE, derby_store
from tests.app.run.test_servers import ask
from tests.live_stream import live_state
from tests.waiting import eventually

PASS = event(1, ts_us=1_000_000)


@pytest.fixture
def tokens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return {name: TokenStore().create(name, role, 1) for name, role in (("anna", Role.OPERATOR), ("ben", Role.VIEWER))}


@pytest.fixture
def game(tmp_path: Path) -> Game:
    return Game(tmp_path)


@pytest.fixture
def url(game: Game, tmp_path: Path, tokens: dict[str, str]) -> Iterator[str]:
    settings = make_settings({"store": tmp_path / "new", "port": 0, "metrics_port": 0})
    with (
        Monitoring(tmp_path) as monitoring,
        RunServers(settings, monitoring, Console(quiet=True), CameraGroup()) as servers,
    ):
        game.publish(event(1, id="pass.complete#ball:1"), continues_from=0)
        servers.serve("m", ServedMatch(game.feed, game.folder))
        yield servers.open_page(game.feed)


def send(url: str, path: str = "", token: str = "", body: object = None, method: str = "POST") -> tuple[int, Any]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    content = json.dumps(body).encode() if body is not None else b""
    status, answer = ask(url, f"/api/v1/matches/m/decisions{path}", method, content, **headers)
    return status, json.loads(answer) if answer.startswith(("[", "{")) else answer


def test_a_decision_has_author_number_and_time_and_the_log_says_who(url, tokens, game: Game, caplog):
    caplog.set_level(logging.INFO)
    assert send(url, body=CARD)[0] == 401
    assert send(url, token=tokens["ben"], body=CARD)[0] == 403
    assert not (game.folder / FILE).exists()
    status, (entered,) = send(url, token=tokens["anna"], body=CARD)
    assert (status, entered["number"], entered["by"]) == (200, 1, "anna")
    assert entered["id"] == "official.card#official:anna:1"
    line = json.loads((game.folder / FILE).read_text())
    assert line.pop("entered").startswith("20")
    assert line == {**CARD, "source": "anna"}
    (record,) = [one.figures for one in caplog.records if one.getMessage() == "decision entered"]
    assert (record["token"], record["number"]) == ("anna", 1)
    assert send(url, method="GET")[1][0]["decision"]["player"] == "home_7"


@pytest.mark.parametrize(
    ("body", "status", "why"),
    [
        ({"kind": "dance"}, 400, "none of"), ({**CARD, "player": "home_8"}, 400, "match sheet"),
        ({**CARD, "source": "referee"}, 400, "source"), ({**CARD, "note": "x" * 20_000}, 413, "long"),
        ({"kind": "void", "event": "pass.complete#ball:2"}, 400, "no event"),
        ({"kind": "void", "event": "hit#ball:2"}, 400, "cannot be taken back"),
        ({"kind": "correction", "event": "pass.complete#ball:1", "right_kind": "hit"}, 400, "right_kind"),
        ({**CARD, "right_kind": "goal.scored"}, 400, "corrects nothing"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_and_not_written(url, tokens, game: Game, body: object, status: int, why: str):
    found, answer = send(url, token=tokens["anna"], body=body)
    assert found == status
    assert why in answer["detail"]
    assert not (game.folder / FILE).exists()


def test_undoing_is_entered_too_and_once_only(url, tokens, game: Game):
    anna = tokens["anna"]
    about = {"event": "pass.complete#ball:1"}
    send(url, token=anna, body={"kind": "correction", "player": "home_7", **about})
    send(url, token=anna, body=CARD)
    assert send(url, "/1/undo", tokens["ben"])[0] == 403
    status, (back,) = send(url, "/1/undo", anna)
    assert (status, back["decision"]["kind"], back["decision"]["undoes"]) == (200, "correction", 1)
    assert {name: back["decision"].get(name) for name in ("event", "player")} == {**about, "player": None}
    assert send(url, "/1/undo", anna)[0] == 409
    assert send(url, "/3/undo", anna)[0] == 404, "what undoes is not undone"
    assert send(url, "/2/undo", anna)[1][0]["decision"]["event"] == "official.card#official:anna:2"
    assert [one.get("undone", False) for one in send(url, method="GET")[1]] == [True, True, False, False]


def test_an_event_that_can_change_no_more_is_refused(url, tokens, game: Game):
    game.publish(event(2, "shot.off", id="shot.off#ball:2"), now_us=800_000_000)
    status, answer = send(url, token=tokens["anna"], body={"kind": "void", "event": "pass.complete#ball:1"})
    assert (status, "ten minutes" in answer["detail"]) == (409, True)


def test_lines_that_are_written_by_hand_keep_their_numbers(game: Game, url, tokens):
    (game.folder / FILE).write_text('nonsense\n{"kind": "stop"}')
    assert send(url, token=tokens["anna"], body=CARD)[1][0]["number"] == 3
    assert [one["number"] for one in send(url, method="GET")[1]] == [2, 3]


def test_a_match_that_has_ended_is_corrected_by_a_window_and_open_pages_see_it(tmp_path: Path, tokens):
    store = derby_store(tmp_path / "derby")
    decide_after_the_end(derby_store(tmp_path / "first"), [DecisionFields("stop")])  # imports the detectors
    with serving(store) as server:
        about = {"event": DONE.id, "player": "home_1", "team": "home"}
        path = "/api/v1/matches/derby"

        def player() -> str:
            rows = json.loads(ask(server.url, f"{path}/events?kind=pass.complete")[1])["events"]
            return str(rows[0]["event"]["player"])

        def shown() -> set[str]:
            return {row["player"] for row in live_state(server.url)["rows"] if row["id"] == DONE.id}

        eventually(lambda: shown() == {"home_9"})
        body = json.dumps({"kind": "correction", **about}).encode()
        token = {"Authorization": f"Bearer {tokens['anna']}"}
        assert ask(server.url, f"{path}/decisions", "POST", body, **token)[0] == 200
        assert (player(), shown()) == ("home_1", {"home_1"})
        assert ask(server.url, f"{path}/decisions/1/undo", "POST", b"", **token)[0] == 200
        assert (player(), shown()) == ("home_9", {"home_9"})
