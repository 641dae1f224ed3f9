"""Connections to the hub without its token: they take neither descriptors, nor memory, nor the place of a stage."""

from __future__ import annotations

import errno
import socket
import time

import pytest

from app.hub import server
from app.hub.client import HubAddress, HubClient, frame
from app.hub.server import Hub
from football.match_sheet import MatchSheet
from tests.app.hub.test_hub import message, update
from tests.hostile import HUB, Victim, connections
from tests.waiting import eventually

TOKEN = "0" * 32


@pytest.fixture
def hub():
    with Hub([MatchSheet(match_id="m")]) as running:
        yield running


def connected(path: str) -> socket.socket:
    """A connection to a hub that has sent nothing yet."""
    client = socket.socket(socket.AF_UNIX)
    client.connect(path)
    return client


def plays(hub: Hub) -> bool:
    """True if a stage can connect and be heard."""
    client = HubClient(hub.address)
    client.send(message(update(0), continues_from=0, ended=True))
    return hub.feed("m").wait_ended(10)


@pytest.mark.parametrize(
    "sent",
    [pytest.param(b"", marks=pytest.mark.slow), pytest.param(b"\0", marks=pytest.mark.slow), frame(b"guess" * 4)[:10]],
    ids=["idle", "slow", "half a token"],
)
def test_a_thousand_silent_connections_take_no_descriptor_that_the_match_needs(sent: bytes):
    with Victim(HUB) as victim:
        quiet = victim.open_files()
        with connections(victim.address, sent):
            most = max(victim.open_files() for _ in range(10) if time.sleep(0.02) is None)
            stage = HubClient(HubAddress(victim.address, TOKEN))
            stage.send(message(update(0), continues_from=0))
            assert most - quiet < 100
            time.sleep(0.3)
            stage.send(message())
        assert victim.failures() == 0


def test_a_connection_without_the_token_is_closed_in_time(hub: Hub, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(server, "TOKEN_S", 0.2)
    with connected(hub.address.path) as client:
        client.settimeout(5)
        for _ in range(3):  # a byte now and then prolongs nothing
            client.send(b"\0")
            time.sleep(0.05)
        assert client.recv(1) == b""


def test_frames_before_the_token_take_no_memory():
    with Victim(HUB) as victim:
        quiet = victim.memory_mb()
        head, part = (63 << 20).to_bytes(4, "big"), b"x" * (1 << 20)
        clients = [connected(victim.address) for _ in range(25)]
        for client in clients:
            try:
                client.settimeout(0.2)
                client.sendall(head)
                for _ in range(63):
                    client.sendall(part)
            except OSError:  # the hub has closed it
                pass
        assert victim.memory_mb() - quiet < 30
        for client in clients:
            client.close()
        assert victim.failures() == 0


def test_frames_of_stages_are_bounded_in_all(hub: Hub, monkeypatch: pytest.MonkeyPatch):
    hub._frames = server._ByteBudget(1_000)
    with connected(hub.address.path) as greedy:
        greedy.sendall(frame(hub.address.token.encode()) + (900).to_bytes(4, "big"))
        eventually(lambda: hub.connected_stages() == 1 and hub._frames._free == 100)
        client = HubClient(hub.address)
        client.send(message(update(0), continues_from=0, ended=True))
        assert not hub.feed("m").wait_ended(0.2), "its frame waits until there is space"
    assert hub.feed("m").wait_ended(10)


def test_an_accept_that_fails_is_tried_again(hub: Hub, monkeypatch: pytest.MonkeyPatch):
    class Failing:
        """A listening socket whose next accepts fail."""

        def __init__(self, listener: socket.socket) -> None:
            self._listener, self.left = listener, 3

        def accept(self):
            if self.left:
                self.left -= 1
                raise OSError(errno.EMFILE, "Too many open files")
            return self._listener.accept()

        def __getattr__(self, name: str):
            return getattr(self._listener, name)

    monkeypatch.setattr(server, "_RETRY_S", 0.01)
    hub._server = failing = Failing(hub._server)
    connected(hub.address.path).close()  # ends the accept that is under way
    assert plays(hub)
    assert failing.left == 0


def test_the_token_may_arrive_in_parts(hub: Hub):
    with connected(hub.address.path) as client:
        for byte in frame(hub.address.token.encode()):
            client.sendall(bytes([byte]))
        eventually(lambda: hub.connected_stages() == 1)
