"""Why no client could be made: what a broker did says more than that the time was over."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from app.kafka import clients
from app.kafka.address import KafkaError, parse


@contextmanager
def broken_broker(refused: int) -> Iterator[int]:
    """Port of a server that ends so many connections at their first request, and answers nothing to the others."""
    kept: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    caller, _ = server.accept()
                except OSError:
                    return
                kept.append(caller)
                if len(kept) <= refused:
                    caller.recv(1)
                    caller.close()

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield int(server.getsockname()[1])
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()
            for caller in kept:
                caller.close()


@pytest.mark.parametrize(("refused", "message"), [(1, "the broker ended the connection"), (0, "timed out")])
def test_an_attempt_that_ran_out_of_time_hides_no_earlier_reason(
    monkeypatch: pytest.MonkeyPatch, refused: int, message: str
):
    monkeypatch.setitem(clients.BOOTSTRAP, "bootstrap_timeout_ms", 700)
    with broken_broker(refused) as port, pytest.raises(KafkaError, match=f"no answer: .*{message}"):
        clients.make_topic(parse(f"kafka://127.0.0.1:{port}/t"))
