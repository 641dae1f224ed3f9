"""Background work of a match, in a thread of its own, while a context lasts."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Self


class BackgroundWorker:
    """Runs ``_work`` in a thread from the beginning of a ``with`` to its end.

    Args:
        name: of the thread.
        patience_s: how long the end waits for the thread; None for as long as it takes.

    Attributes:
        stopping: set at the end; ``_work`` returns soon after.
    """

    def __init__(self, name: str, patience_s: float | None = None) -> None:
        self.stopping = threading.Event()
        self._patience_s = patience_s
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stopping.set()
        self._thread.join(self._patience_s)
        self._closing()

    def _work(self) -> None:
        raise NotImplementedError

    def _closing(self) -> None:
        """Finishes the work after the thread has ended; does nothing by default."""
