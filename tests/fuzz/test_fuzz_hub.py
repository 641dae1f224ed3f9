"""Frames of the fast lane, the feed behind them, and what a browser may ask the page for."""

from __future__ import annotations

import io
from contextlib import suppress

import msgspec
from hypothesis import strategies as st
from starlette.testclient import TestClient

from app.hub.client import HubConnectionError, frame, read_length
from app.hub.feed import MatchFeed
from app.hub.server import Hub, HubError
from dashboard.families import FAMILY_NAMES
from dashboard.live import LiveState
from dashboard.page import build_app
from dashboard.routes import KINDS_MAX, _families, _kinds, _Page, _version, page_routes
from dashboard.server import build_application
from football.match_sheet import MatchSheet
from football.update_stream import BallView, EventRecord, UpdateMessage, UpdateRecord, View
from tests.fuzz.cases import both, hold, json_like, mangled, refusal

EVENT = EventRecord("hit#1", "hit", "", 5, 7, "home", "home_7", 1.0, 2.0, None, 1.0, ("x",), {"limb": "head"})
MESSAGES = [
    UpdateMessage("final", 0, 5, 0, (UpdateRecord(0, 1, 5, EVENT), UpdateRecord(1, -1, 6, EVENT)), 0),
    UpdateMessage("final", 1, 9, 0, (), 1, View(5, BallView(5, 0.0, 0.0, 0.11, 1.0, 0.0, 0.0), ())),
    UpdateMessage("final", 1, 9, 2**62, ended=True),
]
BODIES = [msgspec.msgpack.encode(message) for message in MESSAGES]
FIELDS = [*UpdateMessage.__struct_fields__, *UpdateRecord.__struct_fields__, *EventRecord.__struct_fields__]


def packed(value: object) -> bytes:
    with suppress(OverflowError, ValueError):
        return msgspec.msgpack.encode(value)
    return b""


bodies = mangled(BODIES) | json_like(FIELDS).map(packed)


class Sent:
    """The hub's side of a connection on which these bytes have arrived, and then its end."""

    def __init__(self, content: bytes) -> None:
        self._stream = io.BytesIO(content)

    def settimeout(self, timeout_s: float | None) -> None:
        assert timeout_s is None or timeout_s > 0

    def recv(self, size: int) -> bytes:
        return self._stream.read(size)


@both
def test_any_bytes_on_a_lane_are_frames_or_a_lane_error(cases: int):
    def body(content: bytes) -> None:
        stream = io.BytesIO(content)
        with suppress(HubConnectionError):
            while (size := read_length(stream)) is not None:
                assert len(stream.read(size)) <= len(content)

    hold(cases, mangled([frame(body) for body in BODIES] + [b"".join(map(frame, BODIES))]), body)


@both
def test_whoever_speaks_into_the_lane_is_heard_or_shut_out(cases: int):
    hub = Hub([MatchSheet("final")])
    try:

        def body(frames: list[bytes]) -> None:
            stream = b"".join(map(frame, frames))
            with suppress(HubConnectionError, HubError, ValueError):  # what the hub's thread closes a lane for
                hub._read(io.BytesIO(stream))
            events = hub.feed("final").events()
            assert all(name == event.id for name, event in events.items())

        hold(cases, st.lists(bodies, max_size=3), body)
    finally:
        hub.close()


@both
def test_without_the_token_nothing_is_heard(cases: int):
    hub = Hub([MatchSheet("final")])
    try:

        def body(token: bytes) -> None:
            message = refusal(HubConnectionError, lambda: hub._admit(Sent(frame(token) + frame(BODIES[0]))))
            assert message is not None, "it was let in"
            assert hub.address.token not in message

        hold(cases, st.binary(max_size=40) | mangled([hub.address.token.encode()]).filter(
            lambda token: token != hub.address.token.encode()), body)  # fmt: skip
        assert hub.feed("final").messages == 0
    finally:
        hub.close()


@both
def test_nothing_that_a_page_says_breaks_its_stream(cases: int):
    hold(cases, st.text(max_size=30) | st.integers().map(str), lambda text: _Page(*[None] * 3).acknowledge(text))

    def body(query: dict[str, str]) -> None:
        assert -1 <= _version(query) < 10**20
        assert len(_kinds(query)) <= KINDS_MAX
        assert (_families(query) is None) == ("families" in query and not _families_known(query["families"]))

    names = st.sampled_from(["families", "kinds", "version", "run"])
    values = st.text(max_size=60) | st.lists(st.sampled_from([*FAMILY_NAMES, "", "hit"])).map(",".join)
    hold(cases, st.dictionaries(names, values), body)


def _families_known(text: str) -> bool:
    return all(name in FAMILY_NAMES for name in text.split(",") if name)


@both
def test_no_question_breaks_the_page(cases: int):
    feed = MatchFeed(MatchSheet("final"))
    feed.apply(MESSAGES[0], 0)
    rules = {rule.rule for rule in build_app(feed).server.url_map.iter_rules() if "GET" in (rule.methods or ())}
    paths = sorted(rule for rule in rules if "<" not in rule and "reload" not in rule)
    routes = page_routes(LiveState(feed))
    guarded, opened = (
        TestClient(build_application(routes, token), "http://localhost:8050", raise_server_exceptions=False)
        for token in ("right-token-right-token", "")
    )

    def body(request: tuple[str, dict[str, str], str]) -> None:
        path, query, host = request
        asked = {**query}
        refused = guarded.get(path, params={**asked, "token": asked.get("families", "x")})
        assert refused.status_code == 401, f"{path} was answered without the token"
        answer = opened.get(path, params=asked, headers={"Host": host})
        assert answer.status_code < 500, f"{path} {asked}"
        if host != "localhost":
            assert answer.status_code in (400, 403), f"{path} for {host}"

    texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
    names = st.sampled_from(["families", "events", "strip", "x"])
    values = st.sampled_from(["-1", "0", "9" * 30, "nan", "hit,pass", "%00"]) | texts
    hosts = st.sampled_from(["localhost", "evil.example", "10.0.0.1", "127.0.0.1.evil.example"])
    with guarded, opened:
        hold(cases, st.tuples(st.sampled_from(paths), st.dictionaries(names, values, max_size=3), hosts), body)
