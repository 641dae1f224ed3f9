"""Waiting for what another thread or process does, with bounds so generous that a busy machine does not matter."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")


def eventually(found: Callable[[], Found], within_s: float = 60.0, pause_s: float = 0.02) -> Found:
    """Ask again and again until the answer is true, and return it.

    Raises:
        AssertionError: the answer is still not true after ``within_s``.
    """
    end_s = time.monotonic() + within_s
    while not (value := found()):
        assert time.monotonic() < end_s, f"did not happen within {within_s:g} s"
        time.sleep(pause_s)
    return value
