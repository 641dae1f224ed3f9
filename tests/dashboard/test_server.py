"""Routes, tokens and ports."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from flask.testing import FlaskClient

from dashboard.access import guard
from dashboard.demo import ScriptedFeed, demo_event, demo_sheet, view_at
from dashboard.live import LiveState
from dashboard.page import build_app
from dashboard.server import DashboardError, PortInUseError, TokenNeededError, serve
from dashboard.web import STREAMS_MAX, add_live_routes
from football.match_sheet import MatchSheet
from football.pitch import PitchError

SHOT = demo_event("shot.attempt", 1_000_000, "ball:1", team="home", player="home_9", x_m=30.0, y_m=0.0)


@pytest.fixture
def feed() -> ScriptedFeed:
    return ScriptedFeed(demo_sheet())


def client_of(feed: ScriptedFeed, token: str | None = None) -> FlaskClient:
    app = build_app(feed)
    guard(app.server, token, 8050)
    add_live_routes(app.server, LiveState(feed), threading.Event())
    return app.server.test_client()


def state(client: FlaskClient, query: str = "") -> dict[str, Any]:
    answer = client.get(f"/live/state{query}")
    assert answer.status_code == 200, answer.text
    return answer.get_json()


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
    assert message["totals"] == {"held": 1, "withdrawn": 1, "amended": 0, "by_kind": [["Shot", 1]]}


def test_the_page_names_no_other_host(feed: ScriptedFeed):
    client = client_of(feed)
    for path in ("/", "/_dash-layout", "/_dash-dependencies"):
        text = client.get(path).text
        assert "http://" not in text.replace("http://www.w3.org", "")
        assert "https://" not in text


def test_a_token_opens_the_page_once_and_the_cookie_from_then_on(feed: ScriptedFeed):
    client = client_of(feed, token="pitch side")
    assert client.get("/").status_code == 401
    assert client.get("/live/state").status_code == 401
    assert client.get("/live/state?token=wrong").status_code == 401
    assert client.get("/?token=pitch%20side").status_code == 302
    assert client.get("/live/state").status_code == 200
    cookie = client.get_cookie("touchline_8050")
    assert cookie is not None
    assert cookie.http_only
    assert "pitch" not in cookie.value


def test_a_cookie_of_another_token_opens_nothing(feed: ScriptedFeed):
    visitor = client_of(feed, token="one")
    visitor.get("/?token=one")
    cookie = visitor.get_cookie("touchline_8050")
    assert cookie is not None
    other = client_of(feed, token="two")
    other.set_cookie("touchline_8050", cookie.value)
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
        serve(feed, host=host, port=0)


def test_an_occupied_port_is_told_in_words(feed: ScriptedFeed):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(PortInUseError, match=f"port {port} .* in use"):
            serve(feed, port=port)


def test_an_address_that_is_not_ours_is_told_in_words(feed: ScriptedFeed):
    with pytest.raises(DashboardError, match=r"203\.0\.113\.7"):
        serve(feed, host="203.0.113.7", port=0, token="x")


def test_a_pitch_that_cannot_be_played_on_is_refused_and_the_port_is_free_again():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with pytest.raises(PitchError):
        serve(ScriptedFeed(MatchSheet(length_m=5.0)), port=port)
    socket.create_server(("127.0.0.1", port)).close()


def test_stopping_frees_the_port_and_ends_open_streams(feed: ScriptedFeed):
    server = serve(feed, port=0)
    stream = _open_stream(server.url)
    assert next(stream)["sheet"]["away"] == "Northgate Rovers"
    server.stop()
    server.stop()
    assert all(isinstance(message, dict) for message in stream), "the stream ends instead of hanging"
    port = urlsplit(server.url).port
    socket.create_server(("127.0.0.1", port)).close()


def test_the_stream_begins_complete_and_goes_on_with_what_changes(feed: ScriptedFeed):
    feed.publish(SHOT)
    with serve(feed, port=0) as server:
        stream = _open_stream(server.url)
        first = next(stream)
        assert [row["id"] for row in first["rows"]] == [SHOT.id]
        feed.publish(SHOT, -1)
        second = next(message for message in stream if "rows" in message)
        assert [row["state"] for row in second["rows"]] == ["withdrawn"]
        assert "sheet" not in second


def test_the_number_of_open_pages_is_bounded_and_closed_ones_make_room(feed: ScriptedFeed):
    with serve(feed, port=0) as server:
        streams = [_open_stream(server.url) for _ in range(STREAMS_MAX)]
        for stream in streams:
            next(stream)
        assert _status_of(server.url, "/live/stream") == 503
        streams.pop().close()
        # The server notices at its next sign of life that nobody listens.
        assert any(_status_of(server.url, "/live/stream") == 200 or time.sleep(0.1) for _ in range(100))


def test_a_link_with_a_token_works_as_it_is_printed(feed: ScriptedFeed):
    with serve(feed, port=0, token="a&b=c/d") as server:
        assert _status_of(server.url, f"/?{urlsplit(server.url).query}") == 302


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
