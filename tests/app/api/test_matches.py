"""The API of matches: sheet, events, updates from a number on, streams, and the bounds that hold."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
import pytest
import wsproto
from rich.console import Console
from wsproto import events as frames

from app.api.limits import STREAMS_MAX, RateLimiter
from app.api.served import ServedMatch
from app.cameras.group import CameraGroup
from app.hub.feed import MatchFeed
from app.operations.monitoring import Monitoring
from app.run.servers import RunServers
from app.settings.resolve import make_settings
from football.match_sheet import MatchSheet, Player
from football.tables import POSITIONS
from football.update_stream import BallView, BodyView, EventRecord, UpdateMessage, UpdateRecord, View
from replay.match_store import MatchStore, updates_table
from tests.app.run.test_servers import ask
from tests.waiting import eventually

SHEET = MatchSheet("m", "Harbour", "Northgate", players=(Player("home_7", "home", "Gale", 7),))


def event(number: int, kind: str = "pass.complete", **values: Any) -> EventRecord:
    fields = {"variant": "", "level": 7, "team": "home", "player": "home_7", "confidence": 1.0, **values}
    ts_us = fields.pop("ts_us", number * 1_000_000)
    return EventRecord(fields.pop("id", f"e{number}"), kind, ts_us=ts_us, x_m=None, y_m=None, z_m=None, **fields)


class Game:
    """A match of which some updates are committed, and some are in the feed only."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.feed = folder / "store", MatchFeed(SHEET)
        self.store = MatchStore.create(self.folder, SHEET, {})
        self._windows = 0
        self._waiting: list[UpdateRecord] = []

    def publish(self, *records: EventRecord | tuple[int, EventRecord], epoch: int = 0, **more: Any) -> None:
        """Send updates; a pair has its diff."""
        begin = more.get("continues_from", self.feed.next_seq())
        self._waiting = [update for update in self._waiting if update.seq < begin]
        pairs = [record if isinstance(record, tuple) else (1, record) for record in records]
        now_us = more.pop("now_us", 9_000_000)
        updates = tuple(UpdateRecord(begin + i, diff, now_us, one) for i, (diff, one) in enumerate(pairs))
        self._waiting += updates
        message = UpdateMessage("m", epoch, now_us, more.pop("frontier_us", 0), updates, **more)
        self.feed.apply(message, 0)

    def commit(self, epoch: int = 0) -> None:
        """Commit what was sent."""
        frontier_us, end = self.feed.frontier_us(), self.feed.next_seq()
        meta = {"epoch": epoch, "frontier_us": frontier_us, "next_seq": end, "end_offset": self._windows + 1}
        self.store.commit(self._windows, {"updates": updates_table(self._waiting, epoch)}, meta)
        self._windows, self._waiting = self._windows + 1, []
        self.feed.settle(end, frontier_us)


@pytest.fixture
def game(tmp_path: Path) -> Game:
    return Game(tmp_path)


@pytest.fixture
def url(game: Game, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    settings = make_settings({"store": tmp_path / "new", "port": 0, "metrics_port": 0})
    with (
        Monitoring(tmp_path) as monitoring,
        RunServers(settings, monitoring, Console(quiet=True), CameraGroup()) as servers,
    ):
        monitor = monitoring.add(game.feed, game.folder / "states", paced=False, link=None)
        servers.serve("m", ServedMatch(game.feed, game.folder, monitor.problems))
        yield servers.open_page(game.feed)


def get(url: str, path: str) -> Any:
    status, body = ask(url, f"/api/v1/matches{path}")
    assert status == 200, body
    return json.loads(body)


def numbers(answer: dict[str, Any]) -> list[int]:
    return [update["seq"] for update in answer["updates"]]


def test_matches_sheet_frontier_health_and_positions(game: Game, url: str):
    assert get(url, "/m/positions") == {"ts_us": None, "ball": None, "players": []}
    ball = BallView(5, 1.0, 2.0, 0.5, 3.0, 0.0, 0.0)
    body = BodyView("home_7", "home", 5, 1.5, 2.0, 0.1, 0.0)
    game.publish(event(1), frontier_us=2_000_000, view=View(5, ball, (body,)), continues_from=0)
    (row,) = get(url, "")
    assert (row["match"], row["home"], row["next_seq"], row["ended"]) == ("m", "Harbour", 1, False)
    assert get(url, "/m")["players"][0]["name"] == "Gale"
    frontier = get(url, "/m/frontier")
    assert (frontier["frontier_us"], frontier["epoch"]) == (2_000_000, 0)
    assert get(url, "/m/health") == {"status": "live", "reasons": []}
    positions = get(url, "/m/positions")
    assert positions["ball"]["vx_m_s"] == 3.0
    assert positions["players"][0]["object_id"] == "home_7"
    assert ask(url, "/api/v1/matches/other")[0] == 404


def test_events_are_those_that_stand_committed_or_not(game: Game, url: str):
    game.publish(event(1), event(2), event(3, "shot.attempt"), continues_from=0)
    game.commit()
    game.publish((-1, event(2)), event(4, team="away", player=""), frontier_us=3_500_000)
    found = get(url, "/m/events")
    assert [(one["event"]["id"], one["state"]) for one in found["events"]] == [
        ("e1", "confirmed"), ("e3", "confirmed"), ("e4", "tentative"),
    ]  # fmt: skip
    assert [one["event"]["id"] for one in get(url, "/m/events?kind=shot&team=home&player=7")["events"]] == ["e3"]
    assert [one["event"]["id"] for one in get(url, "/m/events?from=0:02&to=0:04")["events"]] == ["e3"]
    first = get(url, "/m/events?limit=1")
    assert ([one["event"]["id"] for one in first["events"]], first["more"]) == (["e1"], True)
    assert ask(url, "/api/v1/matches/m/events?team=nobody")[0] == 400
    assert ask(url, "/api/v1/matches/m/events?from=noon")[0] == 400


def test_updates_are_read_from_any_number_in_store_and_feed(game: Game, url: str):
    game.publish(*(event(n) for n in range(6)), continues_from=0)
    game.commit()
    game.publish(*(event(n, "shot.attempt") for n in range(6, 9)))
    game.commit()
    game.publish(event(9), (-1, event(9)), ended=True)
    seen, since, epoch = [], 0, ""
    while True:
        answer = get(url, f"/m/updates?since={since}&limit=4{epoch}")
        seen += numbers(answer)
        assert answer["continues_from"] == since
        since, epoch = answer["next"], f"&epoch={answer['epoch']}"
        if answer["ended"]:
            break
    assert seen == list(range(11))
    filtered = get(url, "/m/updates?since=3&kind=shot")
    assert (numbers(filtered), filtered["next"]) == ([6, 7, 8], 9)
    assert get(url, "/m/updates?since=11") | {"now_us": 0} == {
        "continues_from": 11, "next": 11, "epoch": 0, "frontier_us": 0, "now_us": 0, "ended": True, "updates": [],
    }  # fmt: skip


def test_a_client_learns_which_of_its_updates_a_new_stage_has_replaced(game: Game, url: str):
    game.publish(*(event(n) for n in range(4)), continues_from=0)
    game.commit()
    game.publish(event(4), event(5), event(6))
    before = get(url, "/m/updates?since=4&limit=2")
    assert (before["next"], before["epoch"]) == (6, 0)
    game.publish(event(14), epoch=1, continues_from=4)
    after = get(url, f"/m/updates?since={before['next']}&epoch={before['epoch']}")
    assert (after["continues_from"], after["next"], after["epoch"]) == (4, 5, 1)
    assert [one["event"]["id"] for one in after["updates"]] == ["e14"]
    game.commit(epoch=1)
    game.publish(event(15), epoch=2, continues_from=5)
    again = get(url, "/m/updates?since=6&epoch=0")
    assert (again["continues_from"], numbers(again)) == (4, [4]), "the store first; its window ends there"
    assert get(url, "/m/updates?since=5&epoch=1")["continues_from"] == 5


@pytest.mark.parametrize(
    "query", ["since=-1", "since=x", "limit=0", "limit=100000", "epoch=1e9", "since=99999999999999999999999"]
)
def test_impossible_numbers_are_refused(url: str, query: str):
    assert ask(url, f"/api/v1/matches/m/updates?{query}")[0] == 422


def connected(url: str) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", urlsplit(url).port), timeout=10)
    connection.settimeout(10)
    return connection


def test_a_stream_of_events_continues_after_its_last_id(game: Game, url: str):
    game.publish(event(0), event(1), continues_from=0)
    with connected(url) as connection:
        connection.sendall(
            b"GET /api/v1/matches/m/updates/stream?kind=pass HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: 0:1\r\n\r\n"
        )
        text = b""
        while b"id: 0:2" not in text:
            text += connection.recv(65_536)
        game.publish(event(2), event(3, "shot.attempt"))
        while b"id: 0:4" not in text:
            text += connection.recv(65_536)
    messages = [json.loads(line[6:]) for line in text.decode().splitlines() if line.startswith("data: {")]
    assert [number for message in messages for number in numbers(message)] == [1, 2]
    assert messages[0]["continues_from"] == 1


class Socket:
    """A client of a WebSocket."""

    def __init__(self, url: str, path: str, **headers: str) -> None:
        self.connection, self.wire = connected(url), wsproto.WSConnection(wsproto.ConnectionType.CLIENT)
        more = [(name.encode(), value.encode()) for name, value in headers.items()]
        self.send(frames.Request(host="localhost", target=f"/api/v1/matches{path}", extra_headers=more))

    def send(self, frame: frames.Event) -> None:
        self.connection.sendall(self.wire.send(frame))

    def next(self) -> frames.Event:
        """The next frame."""
        until_s = time.monotonic() + 10
        while time.monotonic() < until_s:
            for frame in self.wire.events():
                return frame
            data = self.connection.recv(65_536)
            self.wire.receive_data(data or None)
        raise AssertionError("no frame")


def test_a_socket_sends_the_same_and_takes_no_orders(game: Game, url: str):
    game.publish(event(0), continues_from=0)
    client = Socket(url, "/m/updates/socket")
    assert isinstance(client.next(), frames.AcceptConnection)
    client.send(frames.TextMessage(data="anything"))
    assert numbers(json.loads(client.next().data)) == [0]
    game.publish(event(1))
    assert numbers(json.loads(client.next().data)) == [1]
    client.send(frames.TextMessage(data="x" * 10_000))
    assert isinstance(frame := client.next(), frames.CloseConnection)
    assert frame.code == 1009


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/m/positions/socket", {"Origin": "http://evil.example"}, 403),
        ("/other/updates/socket", {}, 404),
        ("/m/nothing", {}, 403),
    ],
)
def test_a_socket_is_refused_to_foreign_pages_and_unknown_matches(
    url: str, path: str, headers: dict[str, str], status: int
):
    assert Socket(url, path, **headers).next().status_code == status


def test_the_number_of_streams_is_bounded_and_closed_ones_make_room(game: Game, url: str):
    clients = [Socket(url, "/m/positions/socket") for _ in range(STREAMS_MAX)]
    assert {type(client.next()) for client in clients} == {frames.AcceptConnection}
    assert ask(url, "/api/v1/matches/m/positions/stream")[0] == 503
    assert Socket(url, "/m/positions/socket").next().status_code == 503
    clients.pop().connection.close()
    eventually(lambda: isinstance(Socket(url, "/m/positions/socket").next(), frames.AcceptConnection))


def test_a_client_that_asks_too_often_waits_and_others_do_not():
    now_s = [0.0]
    limiter = RateLimiter(10, 3, lambda: now_s[0])
    assert [limiter.wait_s("a") for _ in range(4)] == [0, 0, 0, pytest.approx(0.1)]
    assert limiter.wait_s("b") == 0
    now_s[0] = 0.1
    assert limiter.wait_s("a") == 0
    for number in range(2_000):
        limiter.wait_s(f"client {number}")
    assert len(limiter._buckets) == 1_000


def test_too_many_requests_are_refused_with_the_time_to_wait(url: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("app.api.v1.RateLimiter", lambda: RateLimiter(0.001, 3))
    assert [ask(url, "/api/v1/matches")[0] for _ in range(4)] == [200, 200, 200, 429]
    assert Socket(url, "/m/positions/socket").next().status_code == 429


def test_the_document_describes_what_the_structs_are(url: str):
    document = json.loads(ask(url, "/api/v1/openapi.json")[1])
    assert {"Portion", "UpdateRecord", "EventRecord", "Positions", "Refusal"} <= set(document["components"]["schemas"])
    answers = document["paths"]["/matches/{match}/updates"]["get"]["responses"]
    assert answers["200"]["content"]["application/json"]["example"]["updates"][0]["diff"] == 1
    assert set(answers) >= {"400", "404", "429"}


def _frame_rows(ts_us: int) -> list[dict[str, object]]:
    ball = {"object_id": "ball", "team": "", "z_m": 0.5, "vz_m_s": 0.0}
    player = {"object_id": "home_7", "team": "home", "z_m": None, "vz_m_s": None}
    shared = {"ts_us": ts_us, "x_m": ts_us / 1e6, "y_m": 1.0, "vx_m_s": 1.0, "vy_m_s": 0.0}
    return [shared | ball, shared | player]


def test_positions_of_a_stretch_come_from_the_store(game: Game, url: str) -> None:
    for window in range(5):
        times = range(window * 60_000_000, (window + 1) * 60_000_000, 1_000_000)
        rows = [row for ts_us in times for row in _frame_rows(ts_us)]
        meta = {"epoch": 0, "frontier_us": (window + 1) * 60_000_000, "end_offset": window + 1}
        game.store.commit(window, {"positions": pa.Table.from_pylist(rows, POSITIONS)}, meta)

    def asked(query: str) -> dict[str, Any]:
        return get(url, f"/m/positions/history?{query}")

    found = asked("from=1:58&seconds=4")
    assert [frame["ts_us"] for frame in found["frames"]] == [n * 1_000_000 for n in (118, 119, 120, 121)]
    assert found["frames"][0]["ball"]["x_m"] == 118.0
    assert [player["object_id"] for player in found["frames"][0]["players"]] == ["home_7"]
    assert not found["more"]
    assert asked("from=10:00&seconds=30")["frames"] == []
    assert asked("from=99999999999999&seconds=1")["frames"] == []
    thinned = asked("from=0:50&seconds=240&every_ms=20000")["frames"]
    assert [frame["ts_us"] // 1_000_000 for frame in thinned] == [50, 60, *range(80, 281, 20)]
    assert all(frame["ball"] and len(frame["players"]) == 1 for frame in thinned)
    wrong = [("from=soon", 400), ("from=0:00&seconds=31&every_ms=40", 400), ("from=1:00&seconds=31", 400)]
    for query, status in (*wrong, ("from=0:00&every_ms=-1", 422), ("seconds=1", 422)):
        assert ask(url, f"/api/v1/matches/m/positions/history?{query}")[0] == status
