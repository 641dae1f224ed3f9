"""Ctrl-C ends a run whatever its main thread does at that moment."""

from __future__ import annotations

import subprocess
import sys

#: A signal in the middle of ``Event.wait()``, which holds the event's lock for a moment; then another one.
SCRIPT = """
import signal, sys, threading, time
from rich.console import Console
from app.run.signals import stopped_by_signals
stop = threading.Event()
with stopped_by_signals(stop, Console(stderr=True), "Stopping"):
    with stop._cond:
        signal.raise_signal(signal.SIGINT)
    print(stop.wait(10))
    signal.raise_signal(signal.SIGTERM)
    print("one with the first")
    time.sleep(0.6)
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        print("at once")
"""


def test_a_signal_while_the_main_thread_holds_the_lock_of_what_it_waits_for_stops_it() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines() == ["True", "one with the first", "at once"]
    assert done.stderr.count("Stopping") == 1
