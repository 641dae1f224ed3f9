"""How Ctrl-C and SIGTERM end a run: cleanly the first time."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console


@contextmanager
def stopped_by_signals(stop: threading.Event, console: Console) -> Iterator[None]:
    """The first Ctrl-C (or SIGTERM) sets ``stop``, a second one insists."""
    if threading.current_thread() is not threading.main_thread():  # signals are the main thread's
        yield
        return

    def ask(number: int, frame: object) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()
        console.print("Stopping: closing the open windows (Ctrl-C again to stop at once)")

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
