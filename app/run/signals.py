"""Handlers of Ctrl-C and SIGTERM: the first signal ends a run cleanly."""

from __future__ import annotations

import _thread
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

#: Signals within this interval count as one: some senders signal a process and its group.
_TOGETHER_S = 0.5


@contextmanager
def stopped_by_signals(
    stop: threading.Event,
    console: Console,
    notice: str = "Stopping: closing the open windows (Ctrl-C again to stop at once)",
) -> Iterator[None]:
    """Sets ``stop`` on the first Ctrl-C or SIGTERM, and prints ``notice``; the second one interrupts at once."""
    if threading.current_thread() is not threading.main_thread():  # only the main thread may install handlers
        yield
        return

    asked_s = 0.0

    def ask(number: int, frame: object) -> None:
        nonlocal asked_s
        if stop.is_set() or asked_s:
            if time.monotonic() > asked_s + _TOGETHER_S:
                raise KeyboardInterrupt
            return
        asked_s = time.monotonic()
        # Not here: this thread may be inside ``stop.wait()``, whose lock it would wait for in vain. And not as a
        # ``Thread``, whose start takes another lock.
        _thread.start_new_thread(stop.set, ())
        console.print(notice)

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
