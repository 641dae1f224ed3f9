"""Fixtures of all tests of the app."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def nothing_kept() -> Iterator[None]:
    """Pipelines that one test's stages have kept are nothing to the next, whichever files share a process."""
    yield
    if (stage := sys.modules.get("app.spark.stage")) is not None:
        stage._cached_pipelines.clear()
