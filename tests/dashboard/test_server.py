"""Routes, tokens and ports."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import socket
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from dashboard import connections
from dashboard.connections import CONNECTIONS_MAX
from dashboard.demo import ScriptedFeed, demo_event, demo_sheet, view_at
from dashboard.feed import CameraPose
from dashboard.live import LiveState
from dashboard.page import build_app
from dashboard.routes import STREAMS_MAX, page_routes
from dashboard.server import PortInUseError, ServerError, TokenNeededError, WebServer, build_application
from football.match_sheet import MatchSheet
from football.pitch import PitchError
from tests.waiting import eventually

SHOT = demo_event("shot.attempt", 1_000_000, "ball:1", team="home", player="home_9", x_m=30.0, y_m=0.0)


HALF_A_POST = (
    b"POST /_dash-update-component HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Content-Length: 1000\r\n\r\n{"
)


@pytest.fixture
def feed() -> ScriptedFeed:
    return ScriptedFeed(demo_sheet())


def client_of(feed: ScriptedFeed, token: str = "") -> TestClient:
    application = build_application(page_routes(LiveState(feed)), token)
    return TestClient(application, "http://localhost:8050", follow_redirects=False)


def state(client: TestClient, query: str = "") -> dict[str, Any]:
    answer = client.get(f"/live/state{query}")
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_before_any_data_the_state_is_empty_but_complete(feed: ScriptedFeed):
    message = state(client_of(feed))
    assert "clock_us" not in message
    assert message["rows"] == []
    assert message["ended"] is False
    assert message["sheet"]["home"] == "Harbour United"


def test_positions_are_told_in_metres_with_their_event_time(feed: ScriptedFeed):
    feed.advance(4_000_000, 0, view_at(4_000_000))
    message = state(client_of(feed))
    assert message["clock_us"] == 4_000_000
    assert len(message["players"]) == 22
    identity, x_m, y_m, old = message["players"][0]
    assert (identity, old) == ("home_1", False)
    assert abs(x_m) <= 52.5
    assert abs(y_m) <= 34.0
    assert len(message["ball"]) == 3


def test_an_event_is_told_in_each_of_its_states_by_version(feed: ScriptedFeed):
    client = client_of(feed)
    feed.advance(1_200_000, 0)
    feed.publish(SHOT)
    first = state(client)
    (row,) = first["rows"]
    assert (row["id"], row["state"], row["latency_ms"]) == (SHOT.id, "tentative", 200.0)
    feed.advance(1_400_000, 1_000_001)
    second = state(client, f"?events={first['version']}")
    assert [row["state"] for row in second["rows"]] == ["confirmed"]
    feed.publish(SHOT, -1)
    third = state(client, f"?events={second['version']}")
    assert [row["state"] for row in third["rows"]] == ["withdrawn"]
    assert "rows" not in state(client, f"?events={third['version']}")


def test_the_score_comes_with_the_events(feed: ScriptedFeed):
    feed.publish(demo_event("goal.scored", 1_000_000, "ball:1", team="away"))
    assert state(client_of(feed))["score"] == {
        "home": 0, "away": 1, "home_provisional": 0, "away_provisional": 1
    }  # fmt: skip


def test_the_state_of_play_falls_back_when_its_newest_event_is_withdrawn(feed: ScriptedFeed):
    client = client_of(feed)
    live, dead = demo_event("play.live", 1, "ball:1"), demo_event("play.dead", 2, "ball:2")
    feed.publish(live)
    feed.publish(dead)
    assert state(client)["play"] == "dead"
    feed.publish(dead, -1)
    assert state(client)["play"] == "live"


def test_families_are_filtered_and_unknown_ones_refused(feed: ScriptedFeed):
    client = client_of(feed)
    feed.publish(SHOT)
    feed.publish(demo_event("hit", 1_000_000, "ball:1"))
    assert [row["kind"] for row in state(client)["rows"]] == ["shot.attempt"]
    assert [row["kind"] for row in state(client, "?families=ball")["rows"]] == ["hit"]
    assert state(client, "?families=")["rows"] == []
    answer = client.get("/live/state?families=dribbles")
    assert answer.status_code == 400
    assert "passes" in answer.text


def test_the_end_is_told_with_totals_that_no_filter_hides(feed: ScriptedFeed):
    feed.publish(SHOT)
    feed.publish(demo_event("hit", 1_000_000, "ball:1"))
    feed.publish(demo_event("hit", 1_000_000, "ball:1"), -1)
    feed.end()
    message = state(client_of(feed), "?families=areas")
    assert message["ended"] is True
    assert message["totals"] == {"by_kind": [["Shot", 1]]}


def test_the_page_names_no_other_host(feed: ScriptedFeed):
    client = client_of(feed)
    for path in ("/", "/_dash-layout", "/_dash-dependencies"):
        text = client.get(path).text
        assert "http://" not in text.replace("http://www.w3.org", "")
        assert "https://" not in text


def test_scripts_are_sent_whole_from_one_copy(feed: ScriptedFeed):
    client = client_of(feed)
    paths = re.findall(r'src="(/_dash-component-suites/[^"]+)"', client.get("/").text)
    assert len(paths) > 5
    for path in paths:
        first, second = client.get(path), client.get(path, headers={"If-None-Match": '"x"'})
        assert first.status_code == second.status_code == 200
        assert first.content == second.content
        assert len(first.content) == int(first.headers["content-length"]) > 100
        assert client.head(path).status_code == 200
        assert client.get(f"{path}.map").status_code == 404


def test_a_token_opens_the_page_once_and_the_cookie_from_then_on(feed: ScriptedFeed):
    client = client_of(feed, token="pitch side")
    assert client.get("/").status_code == 401
    assert client.get("/live/state").status_code == 401
    assert client.get("/live/state?token=wrong").status_code == 401
    opened = client.get("/?token=pitch%20side")
    assert (opened.status_code, opened.headers["location"]) == (302, "/")
    assert client.get("/live/state").status_code == 200
    assert "HttpOnly" in opened.headers["set-cookie"]
    assert "pitch" not in client.cookies["touchline_8050"]


def test_a_cookie_of_another_token_opens_nothing(feed: ScriptedFeed):
    visitor = client_of(feed, token="one")
    visitor.get("/?token=one")
    other = client_of(feed, token="two")
    other.cookies.set("touchline_8050", visitor.cookies["touchline_8050"])
    assert other.get("/").status_code == 401


def test_an_open_page_answers_to_local_names_only(feed: ScriptedFeed):
    client = client_of(feed)
    for name in ("localhost:8050", "127.0.0.1:8050", "[::1]:8050", "localhost"):
        assert client.get("/live/state", headers={"Host": name}).status_code == 200
    for name in ("evil.example", "evil.example:8050", "192.168.1.5:8050"):
        assert client.get("/live/state", headers={"Host": name}).status_code == 403


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "pitch.example"])
def test_a_page_that_others_can_reach_needs_a_token(feed: ScriptedFeed, host: str):
    with pytest.raises(TokenNeededError, match="token"):
        WebServer(page_routes(LiveState(feed)), host=host)


def test_an_occupied_port_is_told_in_words(feed: ScriptedFeed):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(PortInUseError, match=f"port {port} .* in use"):
            WebServer(page_routes(LiveState(feed)), port=port)


def test_an_address_that_is_not_ours_is_told_in_words(feed: ScriptedFeed):
    with pytest.raises(ServerError, match=r"203\.0\.113\.7"):
        WebServer(page_routes(LiveState(feed)), host="203.0.113.7", token="x")


def test_a_pitch_that_cannot_be_played_on_is_refused_and_the_port_is_free_again():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with pytest.raises(PitchError):
        WebServer(page_routes(LiveState(ScriptedFeed(MatchSheet(length_m=5.0)))), port=port)
    socket.create_server(("127.0.0.1", port)).close()


def test_stopping_frees_the_port_and_ends_open_streams(feed: ScriptedFeed):
    server = WebServer(page_routes(LiveState(feed)))
    stream = _open_stream(server.url)
    assert next(stream)["sheet"]["away"] == "Northgate Rovers"
    server.stop()
    server.stop()
    assert all(isinstance(message, dict) for message in stream), "the stream ends instead of hanging"
    port = urlsplit(server.url).port
    socket.create_server(("127.0.0.1", port)).close()


def test_the_stream_begins_complete_and_goes_on_with_what_changes(feed: ScriptedFeed):
    feed.publish(SHOT)
    with WebServer(page_routes(LiveState(feed))) as server:
        stream = _open_stream(server.url)
        first = next(stream)
        assert [row["id"] for row in first["rows"]] == [SHOT.id]
        feed.publish(SHOT, -1)
        second = next(message for message in stream if "rows" in message)
        assert [row["state"] for row in second["rows"]] == ["withdrawn"]
        assert "sheet" not in second


def test_the_number_of_open_pages_is_bounded_and_closed_ones_make_room(feed: ScriptedFeed):
    with WebServer(page_routes(LiveState(feed))) as server:
        streams = [_open_stream(server.url) for _ in range(STREAMS_MAX)]
        for stream in streams:
            next(stream)
        assert _status_of(server.url, "/live/stream") == 503
        streams.pop().close()
        # The server notices at its next sign of life that nobody listens.
        assert any(_status_of(server.url, "/live/stream") == 200 or time.sleep(0.1) for _ in range(100))


def test_a_link_with_a_token_works_as_it_is_printed(feed: ScriptedFeed):
    server_token = "a&b=c/d"
    with WebServer(page_routes(LiveState(feed)), token=server_token) as server:
        assert _status_of(server.url, f"/?token={quote(server_token, safe='')}") == 302


def _status_of(url: str, path: str) -> int:
    address = urlsplit(url)
    with contextlib.closing(http.client.HTTPConnection(address.hostname or "", address.port, timeout=10)) as connection:
        connection.request("GET", path)
        return connection.getresponse().status


def _open_stream(url: str) -> Iterator[dict[str, Any]]:
    address = urlsplit(url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=10)
    connection.request("GET", "/live/stream")
    answer = connection.getresponse()
    assert answer.status == 200
    with contextlib.closing(connection), answer:
        for line in answer:
            if line.startswith(b"data: "):
                yield json.loads(line[6:])


def test_stopping_with_many_viewers_is_quick_and_logs_nothing(feed: ScriptedFeed, caplog: pytest.LogCaptureFixture):
    server = WebServer(page_routes(LiveState(feed)))
    streams = [_open_stream(server.url) for _ in range(STREAMS_MAX)]
    for stream in streams:
        next(stream)
    began_s = time.monotonic()
    server.stop()
    assert time.monotonic() - began_s < 3
    for stream in streams:
        list(stream)
    assert not caplog.records


def test_idle_connections_take_no_place_from_a_viewer(feed: ScriptedFeed):
    with WebServer(page_routes(LiveState(feed))) as server, contextlib.ExitStack() as idle:
        viewer = _open_stream(server.url)
        next(viewer)
        before = _open_files()
        for _ in range(3 * CONNECTIONS_MAX):
            idle.enter_context(_connected(server.url))
        assert _status_of(server.url, "/live/state") == 200
        # Both ends are in this process: all of the clients', and of the server's no more than its limit.
        assert _open_files() - before <= 3 * CONNECTIONS_MAX + CONNECTIONS_MAX + 1
        assert next(viewer), "a stream is no idle connection"


def test_connections_to_all_servers_of_a_process_are_bounded(feed: ScriptedFeed, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(connections, "PROCESS_CONNECTIONS_MAX", 20)
    with contextlib.ExitStack() as opened:
        servers = [opened.enter_context(WebServer(page_routes(LiveState(feed)))) for _ in range(3)]
        viewer = _open_stream(servers[0].url)
        next(viewer)
        clients = [opened.enter_context(_connected(server.url)) for server in servers for _ in range(15)]
        for server in servers:
            assert _status_of(server.url, "/live/state") == 200
        eventually(lambda: len(connections._open) <= 20)  # each port's own thread closes what gives way
        assert next(viewer)
        assert any(_ended(client) for client in clients[:15]), "the oldest of another port gave way"


def test_connections_that_are_all_at_work_leave_a_clear_refusal(feed: ScriptedFeed, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(connections, "CONNECTIONS_MAX", 2)
    with WebServer(page_routes(LiveState(feed))) as server:
        viewers = [_open_stream(server.url) for _ in range(2)]
        for viewer in viewers:
            next(viewer)
        with _connected(server.url) as refused:
            assert refused.recv(10_000).startswith(b"HTTP/1.1 503 ")


@pytest.mark.parametrize(
    "sent",
    [b"", b"GET / HTTP/1.1\r\nHost: loc", HALF_A_POST],
)
def test_a_request_that_does_not_arrive_ends_its_connection(
    feed: ScriptedFeed, monkeypatch: pytest.MonkeyPatch, sent: bytes
):
    monkeypatch.setattr(connections, "REQUEST_S", 0.2)
    with WebServer(page_routes(LiveState(feed))) as server, _connected(server.url) as client:
        client.sendall(sent)
        assert _ended(client)


def much(request: Request) -> Response:
    return PlainTextResponse("x" * 30_000_000)


def test_a_client_that_reads_nothing_is_disconnected(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(connections, "WRITE_S", 0.2)
    with WebServer([Route("/", much)]) as server, _connected(server.url) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        time.sleep(0.8)
        assert _ended(client)


def test_a_stop_waits_for_no_client_that_is_silent_or_reads_nothing(
    feed: ScriptedFeed, caplog: pytest.LogCaptureFixture
):
    with contextlib.ExitStack() as clients:
        server = WebServer([Route("/much", much), *page_routes(LiveState(feed))])
        for sent in (b"", b"GET /much HTTP/1.1\r\nHost: localhost\r\n\r\n", HALF_A_POST):
            clients.enter_context(_connected(server.url)).sendall(sent)
        time.sleep(0.3)
        began_s = time.monotonic()
        server.stop()
        assert time.monotonic() - began_s < 3
    assert not caplog.records


def _connected(url: str) -> socket.socket:
    address = urlsplit(url)
    return socket.create_connection((address.hostname or "", address.port or 0), timeout=10)


def _ended(client: socket.socket) -> bool:
    """True once the server has closed the connection; a connection that stays open times out."""
    with contextlib.suppress(ConnectionResetError):
        while client.recv(65_536):
            pass
    return True


def _open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def test_the_live_page_links_to_the_cameras_where_there_are_some(monkeypatch: pytest.MonkeyPatch) -> None:
    feed = ScriptedFeed(demo_sheet())

    def links() -> list[str]:
        layout = build_app(feed).server.test_client().get("/_dash-layout").get_json()
        return re.findall(r'"href": "(/cameras)"', json.dumps(layout))

    assert links() == []
    monkeypatch.setattr(feed, "cameras", lambda: (CameraPose("main", None),))
    assert links() == ["/cameras"]
