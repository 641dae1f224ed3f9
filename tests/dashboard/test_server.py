"""Routes, tokens and ports."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import socket
import threading
import time
from typing import Any
from urllib.parse import quote, urlsplit

import msgspec
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect
from websockets.exceptions import InvalidStatus

from dashboard import connections, routes
from dashboard.connections import CONNECTIONS_MAX
from dashboard.demo import ScriptedFeed, demo_event, demo_sheet, view_at
from dashboard.families import FAMILY_NAMES
from dashboard.feed import CameraPose
from dashboard.live import LiveState, Reader
from dashboard.page import build_app
from dashboard.routes import STREAMS_MAX, page_routes
from dashboard.server import PortInUseError, ServerError, TokenNeededError, WebServer, build_application
from football.lifecycle import ENTRIES_PER_GROUP
from football.match_sheet import MatchSheet
from football.pitch import PitchError
from football.update_stream import Health
from tests.live_stream import LiveStream, live_state, live_stream
from tests.waiting import eventually

SHOT = demo_event("shot.attempt", 1_000_000, "ball:1", team="home", player="home_9", x_m=30.0, y_m=0.0)

HEALTH = Health(0, 0, {}, {}, 0, 0, 0, 0, 0, 0, 0, 0, 0)

HALF_A_POST = (
    b"POST /_dash-update-component HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Content-Length: 1000\r\n\r\n{"
)


@pytest.fixture
def feed() -> ScriptedFeed:
    return ScriptedFeed(demo_sheet())


class Advancing:
    """Moves the clock of a feed while the context lasts, so that each message has news."""

    def __init__(self, feed: ScriptedFeed) -> None:
        self._feed, self._over = feed, threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        now_us = 0
        while not self._over.wait(0.01):
            now_us += 10_000
            self._feed.advance(now_us, 0)


def client_of(feed: ScriptedFeed, token: str = "") -> TestClient:
    application = build_application(page_routes(LiveState(feed)), token)
    return TestClient(application, "http://localhost:8050", follow_redirects=False)


def state(client: TestClient, query: str = "") -> dict[str, Any]:
    """The first message of a page."""
    with client.websocket_connect(f"ws://localhost:8050/live/stream{query}") as page:
        return page.receive_json()


def later(client: TestClient, before: dict[str, Any]) -> dict[str, Any]:
    """The first message of a page that comes back."""
    return {"run": before["run"], **state(client, f"?run={before['run']}&version={before['version']}")}


def test_before_any_data_the_state_is_empty_but_complete(feed: ScriptedFeed):
    message = state(client_of(feed))
    assert "clock_us" not in message
    assert message["rows"] == []
    assert message["ended"] is False
    assert message["sheet"]["home"] == "Harbour United"


def test_positions_are_told_in_centimetres_with_their_event_time(feed: ScriptedFeed):
    feed.advance(4_000_000, 0, view_at(4_000_000))
    message = state(client_of(feed))
    assert message["clock_us"] == 4_000_000
    assert (len(message["ids"]), message["ids"][0]) == (22, "home_1")
    *players, x_cm, y_cm, z_cm = message["cm"]
    assert len(players) == 44
    assert all(abs(value) <= 5_250 for value in players)
    ball = view_at(4_000_000).ball
    assert ball is not None
    assert (x_cm, y_cm, z_cm) == tuple(round(100 * value) for value in (ball.x_m, ball.y_m, ball.z_m))
    assert "old" not in message


def test_an_event_is_told_in_each_of_its_states_by_version(feed: ScriptedFeed):
    client = client_of(feed)
    feed.advance(1_200_000, 0)
    feed.publish(SHOT)
    first = state(client)
    (row,) = first["rows"]
    assert (row["id"], row["state"], row["latency_ms"]) == (SHOT.id, "tentative", 200.0)
    feed.advance(1_400_000, 1_000_001)
    second = later(client, first)
    assert [row["state"] for row in second["rows"]] == ["confirmed"]
    feed.publish(SHOT, -1)
    third = later(client, second)
    assert [row["state"] for row in third["rows"]] == ["withdrawn"]
    assert not {"rows", "sheet"} & set(later(client, third))


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
    with (
        client.websocket_connect("ws://localhost:8050/live/stream?families=dribbles") as page,
        pytest.raises(WebSocketDisconnect) as refused,
    ):
        page.receive_json()
    assert (refused.value.code, "passes" in refused.value.reason) == (1008, True)


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
    assert client.get("/pages/shared/shell.js").status_code == 401
    assert client.get("/pages/shared/shell.js?token=wrong").status_code == 401
    opened = client.get("/?token=pitch%20side")
    assert (opened.status_code, opened.headers["location"]) == (302, "/")
    assert client.get("/pages/shared/shell.js").status_code == 200
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
        assert client.get("/", headers={"Host": name}).status_code == 200
    for name in ("evil.example", "evil.example:8050", "192.168.1.5:8050"):
        assert client.get("/", headers={"Host": name}).status_code == 403


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
    stream = LiveStream(server.url)
    assert next(stream)["sheet"]["away"] == "Northgate Rovers"
    server.stop()
    server.stop()
    assert all(isinstance(message, dict) for message in stream), "the stream ends instead of hanging"
    port = urlsplit(server.url).port
    socket.create_server(("127.0.0.1", port)).close()


def test_the_stream_begins_complete_and_goes_on_with_what_changes(feed: ScriptedFeed):
    feed.publish(SHOT)
    with WebServer(page_routes(LiveState(feed))) as server, live_stream(server.url) as stream:
        first = next(stream)
        assert [row["id"] for row in first["rows"]] == [SHOT.id]
        feed.publish(SHOT, -1)
        second = next(message for message in stream if "rows" in message)
        assert [row["state"] for row in second["rows"]] == ["withdrawn"]
        assert "sheet" not in second


def test_a_page_that_comes_back_continues_and_with_another_server_begins_anew(feed: ScriptedFeed):
    feed.publish(SHOT)
    live, other = LiveState(feed), LiveState(feed)
    before = state(TestClient(build_application(page_routes(live)), "http://localhost:8050"))
    feed.publish(SHOT, -1)
    with WebServer(page_routes(live)) as same, WebServer(page_routes(other)) as another:
        query = f"?run={before['run']}&version={before['version']}"
        continued, anew = live_state(same.url, query), live_state(another.url, query)
    assert [row["state"] for row in continued["rows"]] == ["withdrawn"]
    assert ("sheet" in continued, "sheet" in anew) == (False, True)


def test_a_page_that_has_missed_more_than_a_family_holds_begins_anew(feed: ScriptedFeed):
    client = client_of(feed)
    before = state(client)
    for number in range(ENTRIES_PER_GROUP):
        feed.publish(demo_event("shot.attempt", number, f"ball:{number}"))
    after = later(client, before)
    assert (len(after["rows"]), "sheet" in after) == (ENTRIES_PER_GROUP, False)
    feed.publish(demo_event("shot.off", 1, "ball:1"))
    assert "sheet" in later(client, before)


def test_a_page_that_acknowledges_nothing_gets_no_more_than_a_second_of_messages(
    feed: ScriptedFeed, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(routes, "ACKNOWLEDGED_S", 0.3)
    monkeypatch.setattr(routes, "UNACKNOWLEDGED_MAX", 5)
    with WebServer(page_routes(LiveState(feed))) as server, Advancing(feed):
        silent = LiveStream(server.url, silent=True)
        assert silent.refusal() == (1008, "the page acknowledges nothing")
        assert silent.received == 5
        page = LiveStream(server.url)
        assert all(next(page) for _ in range(12))
        page.say("1000000")
        assert page.refusal()[0] == 1008


def test_what_a_page_adds_up_is_what_the_feed_has(feed: ScriptedFeed):
    live = LiveState(feed)
    often, seldom = (Reader(live, FAMILY_NAMES) for _ in range(2))
    pages: list[tuple[Reader, dict[str, Any]]] = [(often, {}), (seldom, {})]
    cameras = [CameraPose("main", None), CameraPose("main", None, mode="offline")]
    for tick in range(60):
        view = view_at(40_000 * tick)
        objects = view.players if tick % 20 < 15 else view.players[:-1]
        shown = msgspec.structs.replace(view, players=objects, ball=view.ball if tick % 7 else None)
        feed.advance(40_000 * tick, 0, shown)
        feed.report(HEALTH, {}, cameras[tick // 8 % 2])
        live.step()
        for page, has in pages[: 1 if tick % 3 else 2]:
            _add_up(has, json.loads(page.next(strip=False) or "{}"))
            bodies = [round(100 * value) for body in objects for value in (body.x_m, body.y_m)]
            ball = [round(100 * value) for value in (view.ball.x_m, view.ball.y_m, view.ball.z_m)] if shown.ball else []
            assert has["ids"] == [body.object_id for body in objects]
            assert has["cm"] == bodies + ball
            assert has["cameras"][0]["mode"] == cameras[tick // 8 % 2].mode


def _add_up(has: dict[str, Any], message: dict[str, Any]) -> None:
    """Take in a message as a page does."""
    if "cm" in message and "ids" not in message:
        message["cm"] = [old + new for old, new in zip(has["cm"], message["cm"], strict=True)]
    has.update(message)


def test_pages_that_need_the_same_get_one_message_that_is_made_once(
    feed: ScriptedFeed, monkeypatch: pytest.MonkeyPatch
):
    live = LiveState(feed)
    made = []
    whole = live.message
    monkeypatch.setattr(live, "message", lambda *had, **how: made.append(1) or whole(*had, **how))
    same = [Reader(live, {"shots"}) for _ in range(5)]
    for tick in range(3):
        feed.advance(40_000 * tick, 0, view_at(40_000 * tick))
        live.step()
        assert len({page.next(strip=False) for page in same}) == 1
    assert len(made) == 3


def test_the_number_of_open_pages_is_bounded_and_closed_ones_make_room(feed: ScriptedFeed):
    with WebServer(page_routes(LiveState(feed))) as server:
        streams = [LiveStream(server.url) for _ in range(STREAMS_MAX)]
        for stream in streams:
            next(stream)
        assert LiveStream(server.url).refusal() == (1013, f"{STREAMS_MAX} pages are open already; close one")
        streams.pop().close()

        def is_admitted() -> bool:
            with live_stream(server.url) as page:
                return next(page, None) is not None

        eventually(is_admitted)


@pytest.mark.parametrize("origin", ["http://evil.example", "null"])
def test_a_page_of_another_origin_reads_nothing(feed: ScriptedFeed, origin: str):
    with WebServer(page_routes(LiveState(feed))) as server:
        with pytest.raises(InvalidStatus, match="403"):
            LiveStream(server.url, headers={"Origin": origin})
        assert live_state(server.url, headers={"Origin": server.url})


def test_without_the_token_or_its_session_the_stream_stays_closed(feed: ScriptedFeed):
    with WebServer(page_routes(LiveState(feed)), token="pitch") as server:
        with pytest.raises(InvalidStatus, match="401"):
            LiveStream(server.url)
        with contextlib.closing(_connection(server.url)) as connection:
            connection.request("GET", "/?token=pitch")
            cookie = connection.getresponse().headers["set-cookie"].partition(";")[0]
        assert live_state(server.url, headers={"Cookie": cookie})


def test_a_link_with_a_token_works_as_it_is_printed(feed: ScriptedFeed):
    server_token = "a&b=c/d"
    with WebServer(page_routes(LiveState(feed)), token=server_token) as server:
        assert _status_of(server.url, f"/?token={quote(server_token, safe='')}") == 302


def _status_of(url: str, path: str) -> int:
    with contextlib.closing(_connection(url)) as connection:
        connection.request("GET", path)
        return connection.getresponse().status


def _connection(url: str) -> http.client.HTTPConnection:
    address = urlsplit(url)
    return http.client.HTTPConnection(address.hostname or "", address.port, timeout=10)


def test_stopping_with_many_viewers_is_quick_and_logs_nothing(feed: ScriptedFeed, caplog: pytest.LogCaptureFixture):
    server = WebServer(page_routes(LiveState(feed)))
    streams = [LiveStream(server.url) for _ in range(STREAMS_MAX)]
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
        viewer = LiveStream(server.url)
        next(viewer)
        before = _open_files()
        for _ in range(3 * CONNECTIONS_MAX):
            idle.enter_context(_connected(server.url))
        assert _status_of(server.url, "/pages/shared/shell.js") == 200
        # Both ends are in this process: all of the clients', and of the server's no more than its limit.
        assert _open_files() - before <= 3 * CONNECTIONS_MAX + CONNECTIONS_MAX + 1
        assert next(viewer), "a stream is no idle connection"


def test_connections_to_all_servers_of_a_process_are_bounded(feed: ScriptedFeed, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(connections, "PROCESS_CONNECTIONS_MAX", 20)
    with contextlib.ExitStack() as opened:
        servers = [opened.enter_context(WebServer(page_routes(LiveState(feed)))) for _ in range(3)]
        viewer = LiveStream(servers[0].url)
        next(viewer)
        clients = []
        for server in servers:
            clients += [opened.enter_context(_connected(server.url)) for _ in range(15)]
            # A server takes connections in their order: with this answer it has taken those above.
            assert _status_of(server.url, "/pages/shared/shell.js") == 200
        eventually(lambda: len(connections._open) <= 20)  # each port's own thread closes what gives way
        assert next(viewer)
        assert any(_ended(client) for client in clients[:15]), "the oldest of another port gave way"


def test_connections_that_are_all_at_work_leave_a_clear_refusal(feed: ScriptedFeed, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(connections, "CONNECTIONS_MAX", 2)
    with WebServer(page_routes(LiveState(feed))) as server:
        viewers = [LiveStream(server.url) for _ in range(2)]
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
