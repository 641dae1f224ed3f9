"""Spark's daemon of Python processes, which start without pandas, and silent when Spark's Java has ended.

When a run is stopped, Java ends while a Python process may be about to answer it. ``pyspark.daemon`` would then print a
traceback into Spark's log, as if something had failed. Any other error is printed.
"""

from __future__ import annotations

import os
import sys
import traceback
from types import SimpleNamespace

from pyspark import daemon

from app.base.arrow import without_pandas


def print_exc() -> None:
    """Prints the traceback of the exception that is being handled, unless Java has closed the connection."""
    if not isinstance(sys.exc_info()[1], ConnectionError):
        traceback.print_exc()


if __name__ == "__main__":
    without_pandas()  # the processes that it forks inherit this
    daemon.traceback = SimpleNamespace(print_exc=print_exc, format_exc=traceback.format_exc)  # type: ignore[assignment]
    try:
        daemon.manager()
    except ConnectionError:  # before the first process was started
        os._exit(1)
