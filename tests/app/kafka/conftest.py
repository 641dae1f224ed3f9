"""One real broker for all tests of this folder, and a way to it through a network that can stall."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.base.java import find_java
from app.kafka.broker import Listener, listener_port, start_broker, stop_broker
from tests.app.kafka.proxy import Proxy, proxy
from tests.quick_java import quick_java


@pytest.fixture(scope="session")
def between() -> Iterator[Proxy]:
    """Stands between the broker and whoever speaks to its port."""
    with proxy() as made:
        yield made


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory, between: Proxy) -> Iterator[str]:
    """``host:port`` of a broker that is stopped at the end."""
    home: Path = tmp_path_factory.mktemp("kafka") / "broker"
    away = Listener("AWAY", "PLAINTEXT", advertised_port=between.port)
    java = find_java(os.environ)
    with quick_java():
        status = start_broker(home, 0, java, listeners=[away])
    behind = listener_port(home, "AWAY")
    assert behind is not None
    between.forward_to(behind)
    try:
        yield status.address
    finally:
        stop_broker(home)


@pytest.fixture
def far(broker: str, between: Proxy) -> Iterator[str]:
    """``host:port`` of the same broker, through ``between``."""
    yield f"127.0.0.1:{between.port}"
    between.flowing.set()
