"""Fixtures that all test folders share."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest
from hypothesis import settings

#: The default suite tries the same cases on every machine, so that what passed here passes there. New ones are looked
#: for with `./touchline test --hypothesis-profile exploring`; what it finds becomes a case of its own.
settings.register_profile("repeatable", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("exploring", deadline=None, print_blob=True)
settings.load_profile("repeatable")

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


def pytest_collection_finish() -> None:
    """Leave what the thousands of collected tests have made out of garbage collection: it outlives all of them."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of real matches beside the checkout; tests that want it skip where it is absent."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"real data not found: {SHARED_DATA} does not exist")
    return SHARED_DATA
