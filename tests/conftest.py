"""Fixtures that all test folders share."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of real matches beside the checkout; tests that want it skip where it is absent."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"real data not found: {SHARED_DATA} does not exist")
    return SHARED_DATA
