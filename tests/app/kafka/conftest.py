"""One real broker for all tests of this folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.kafka.broker import start_broker, stop_broker
from app.spark.java import find_java


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """``host:port`` of a broker that is stopped at the end."""
    home: Path = tmp_path_factory.mktemp("kafka") / "broker"
    status = start_broker(home, 0, find_java(os.environ))
    try:
        yield status.address
    finally:
        stop_broker(home)
