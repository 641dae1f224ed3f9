"""Tokens, roles, sessions, headers, and what a client sends that must reach neither page nor log."""

from __future__ import annotations

import asyncio
import logging
import re
import socket
from collections.abc import AsyncIterator
from contextlib import ExitStack
from itertools import islice

import httpx
import pytest
from sse_starlette import EventSourceResponse
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from dashboard.access import SESSION_S, AccessGuard, permits
from dashboard.demo import ScriptedFeed, demo_sheet
from dashboard.live import LiveState
from dashboard.roles import Grant, Role, digest_of
from dashboard.routes import page_routes
from dashboard.server import WebServer, build_application
from football.match_sheet import MatchSheet
from tests.live_stream import live_stream

RUN = "token-of-the-run"
TOKENS = {
    name: Grant(name, role) for name, role in (("eye", Role.VIEWER), ("hand", Role.OPERATOR), ("head", Role.ADMIN))
}
HOSTILE = "</title><script>window.hostile = 1</script>{%scripts%}<img src=x onerror='window.hostile = 1'>"


class Clock:
    """A clock that stands still until it is set."""

    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def whoami(request: Request) -> Response:
    return PlainTextResponse(" ".join(role.name for role in Role if permits(request, role)))


def broken(request: Request) -> Response:
    raise ValueError(f"cannot use {request.url}")


ROUTES = [Route("/", whoami, methods=["GET", "POST"]), Route("/broken", broken)]


def _connected(server: WebServer) -> socket.socket:
    return socket.create_connection(("127.0.0.1", int(server.url.rpartition(":")[2])), timeout=5)


def client_of(token: str = "", *, closed: bool = False, scheme: str = "http", clock: Clock | None = None) -> TestClient:
    verify = {digest_of(name): grant for name, grant in TOKENS.items()}.get
    application: object = build_application(ROUTES, token, verify, closed=closed)
    if clock is not None:
        inner = build_application(ROUTES)
        application = AccessGuard(inner.router, token, verify, closed=closed, clock_s=clock)
    return TestClient(application, f"{scheme}://localhost:8050", follow_redirects=False)


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_a_token_grants_its_role_and_those_before_it():
    client = client_of(RUN)
    assert client.get("/", headers=bearer("eye")).text == "VIEWER"
    assert client.get("/", headers=bearer("hand")).text == "VIEWER OPERATOR"
    assert client.get("/", headers=bearer("head")).text == client.get("/", headers=bearer(RUN)).text
    assert client.get("/", headers=bearer("nobody")).status_code == 401
    assert client.get("/", headers={"Authorization": "eye"}).status_code == 401


def test_only_an_operator_may_write_and_only_with_the_token_in_the_header():
    for client in (client_of(RUN), client_of()):
        assert client.post("/").status_code == 401
        assert client.post("/", headers=bearer("eye")).status_code == 403
        assert client.post("/", headers=bearer("hand")).status_code == 200
        assert client.get("/?token=head").status_code == 302
        assert client.post("/").status_code == 401, "a cookie would do for a foreign page, too"


def test_a_server_beyond_loopback_reads_only_with_a_token():
    assert client_of().get("/").text == "VIEWER"
    assert client_of(closed=True).get("/").status_code == 401
    assert client_of(closed=True).get("/", headers=bearer("eye")).status_code == 200


def test_a_session_is_a_new_number_each_time_and_ends():
    clock = Clock()
    client = client_of(RUN, clock=clock)
    numbers = set()
    for _ in range(3):
        answer = client.get("/?token=eye")
        numbers.add(answer.cookies["touchline_8050"])
        assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(answer.headers["set-cookie"].split("; "))
        assert "Secure" not in answer.headers["set-cookie"]
    assert len(numbers) == 3
    assert client.get("/").text == "VIEWER"
    clock.now_s = SESSION_S + 1
    assert client.get("/").status_code == 401
    client.get("/?token=eye")
    assert client.get("/").status_code == 200
    kept = client.cookies["touchline_8050"]
    assert client.get("/logout").status_code == 200
    client.cookies.set("touchline_8050", kept)
    assert client.get("/").status_code == 401


def test_a_session_ends_when_its_token_is_revoked():
    valid = {digest_of("eye"): TOKENS["eye"]}
    client = TestClient(build_application(ROUTES, RUN, lambda digest: valid.get(digest)), "http://localhost:8050")
    client.get("/?token=eye")
    assert client.get("/").status_code == 200
    valid.clear()
    assert client.get("/").status_code == 401


@pytest.mark.parametrize("opened_by", ["token", "session"])
def test_open_streams_end_when_their_token_is_revoked_and_those_of_others_go_on(opened_by: str):
    async def endless(request: Request) -> Response:
        async def parts() -> AsyncIterator[bytes]:
            while True:
                yield b"data: news\n\n"
                await asyncio.sleep(0.1)

        return EventSourceResponse(parts()) if "sse" in request.url.path else StreamingResponse(parts())

    valid = {digest_of(name): TOKENS[name] for name in ("eye", "hand")}
    feed = ScriptedFeed(demo_sheet())
    routes = [Route("/plain", endless), Route("/sse", endless), *page_routes(LiveState(feed))]
    with WebServer(routes, token=RUN, verify=valid.get) as server, ExitStack() as stack:
        headers = bearer("eye")
        if opened_by == "session":
            answer = httpx.get(f"{server.url}/?token=eye")
            headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in answer.cookies.items())}
        page = stack.enter_context(live_stream(server.url, headers=headers))
        other = stack.enter_context(live_stream(server.url, headers=bearer("hand")))
        bodies = [
            stack.enter_context(httpx.stream("GET", f"{server.url}/{path}", headers=headers, timeout=10)).iter_raw()
            for path in ("plain", "sse")
        ]
        assert all(next(body) for body in bodies)
        del valid[digest_of("eye")]
        for messages in (page, *bodies):
            assert len(list(islice(messages, 300))) < 300
        assert page.refusal() == (1008, "the token has ended")
        assert next(other)


def test_behind_tls_the_cookie_is_secure():
    assert "Secure" in client_of(RUN, scheme="https").get("/?token=eye").headers["set-cookie"]


def test_a_proxy_on_loopback_says_that_it_speaks_tls():
    with WebServer(ROUTES, token=RUN) as server, _connected(server) as client:
        lines = (f"GET /?token={RUN} HTTP/1.1", "Host: pitch.example", "X-Forwarded-Proto: https")
        client.sendall("\r\n".join((*lines, "", "")).encode())
        answer = client.recv(4096).decode()
    assert answer.startswith("HTTP/1.1 302 ")
    assert "Secure" in answer


@pytest.mark.parametrize("path", ["/", "/assets/style.css", "/nothing", "/metrics"])
@pytest.mark.parametrize("token", ["", RUN])
def test_every_response_has_the_headers_of_a_locked_page(path: str, token: str):
    feed = ScriptedFeed(demo_sheet())
    client = TestClient(build_application(page_routes(LiveState(feed)), token), "http://localhost:8050")
    headers = client.get(path).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "no-referrer"
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    scripts = policy.partition("script-src")[2].partition(";")[0]
    assert "unsafe" not in scripts
    assert bool(scripts) == (headers["content-type"].startswith("text/html"))


def test_nothing_of_a_sheet_is_part_of_the_document():
    feed = ScriptedFeed(MatchSheet(match_id=HOSTILE, home=HOSTILE, away=HOSTILE))
    pages = [(HOSTILE, "http://localhost:1/"), ("other", "http://localhost:2/")]
    client = TestClient(build_application(page_routes(LiveState(feed), lambda: pages)), "http://localhost:8050")
    document = client.get("/").text
    plain = TestClient(build_application(page_routes(LiveState(ScriptedFeed(demo_sheet())))), "http://localhost:8050")
    assert re.findall("<[^>]*>", document) == re.findall("<[^>]*>", plain.get("/").text)
    answer = client.get("/_dash-layout")
    assert "hostile" in answer.text
    assert answer.headers["content-type"] == "application/json"
    with client.websocket_connect("ws://localhost:8050/live/stream") as page:
        assert "hostile" in page.receive_text()


def test_the_page_takes_nothing():
    feed = ScriptedFeed(demo_sheet())
    client = TestClient(build_application(page_routes(LiveState(feed)), RUN), "http://localhost:8050")
    for path in ("/", "/_dash-update-component"):
        assert client.post(path, headers=bearer(RUN), content="{").status_code == 405


@pytest.mark.parametrize(
    "line",
    [
        b"GET /broken?token=%73ecret HTTP/1.1\r\nHost: localhost",
        b"GET /_dash-component-suites/%73ecret/x HTTP/1.1\r\nHost: localhost",
        b"GET /_dash-component-suites/dash/%73ecret HTTP/1.1\r\nHost: localhost",
        b"GET /?token=%73ecret HTTP/9\r\nHost: localhost",
        b"GET /\xff?token=%73ecret HTTP/1.1\r\nHost: localhost",
        b"GET  %73ecret",
        b"GET //[?token=%73ecret HTTP/1.1\r\nHost: localhost",
        b"GET /broken/?token=%73ecret HTTP/1.1\r\nHost: [",
        b"GET /?token=%73ecret HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: upgrade",
        b"CONNECT [%73ecret HTTP/1.1\r\nHost: localhost",
    ],
)
def test_no_request_reaches_a_log_or_a_terminal(line: bytes, caplog, capfd: pytest.CaptureFixture):
    caplog.set_level(logging.DEBUG)
    routes = [*ROUTES[1:], *page_routes(LiveState(ScriptedFeed(demo_sheet())))]
    with WebServer(routes) as server, _connected(server) as client:
        client.sendall(line + b"\r\n\r\n")
        status = client.recv(12)
    assert status.startswith(b"HTTP/1.1 ")
    shown = caplog.text + "".join(capfd.readouterr())
    assert "ecret" not in shown
    assert "Traceback" not in shown
    assert (b"/broken?" not in line) or "request failed" in shown


@pytest.mark.parametrize("host", ["[", "[::1", "a b", "x@y", "localhost:", "localhost:123456", "[1]"])
def test_a_host_that_is_none_is_refused(host: str):
    for token in ("", RUN):
        answer = client_of(token).get("/", headers={"Host": host, **bearer(RUN)})
        assert answer.status_code in (400, 403) or (token and host in ("[1]", "localhost:"))


def test_the_log_says_who_did_what_and_never_the_token(caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.INFO)
    client = client_of(RUN)
    client.get("/?token=eye")
    client.get("/logout")
    client.get("/", headers=bearer("hand"))
    client.get("/", headers=bearer("hand"))
    client.get("/", headers=bearer("wrong"))
    lines = [(r.getMessage(), r.figures.get("token")) for r in caplog.records if r.name == "dashboard.access"]
    assert lines == [
        ("session begins", "eye"), ("session ends", "eye"), ("token is used", "hand"), ("requests refused", None),
    ]  # fmt: skip
    assert caplog.records[0].figures["role"] == "viewer"
