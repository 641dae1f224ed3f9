"""Rate limits of the API: a token bucket for each client, and a bound on the open streams.

Requests of one client come at a steady rate, so a bucket that fills at that rate and holds a short burst is enough.
The number of buckets is bounded: a client that has been quiet for long loses its bucket, which was full by then.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from fastapi import HTTPException
from starlette.requests import HTTPConnection

from dashboard.access import grant_of

#: Requests a second of one client, and the burst that it may send at once. A joystick sends about 20 orders a second.
RATE_HZ: Final = 50.0
BURST: Final = 100
#: Clients whose rate is known; a further one displaces the one that has been quiet longest.
CLIENTS_MAX: Final = 1_000
#: Open streams of the API of one run.
STREAMS_MAX: Final = 24


class RateLimiter:
    """Token buckets by client. Thread safe.

    Args:
        rate_hz: requests a second.
        burst: requests at once.
        clock_s: a monotonic clock.
    """

    def __init__(
        self, rate_hz: float = RATE_HZ, burst: int = BURST, clock_s: Callable[[], float] = time.monotonic
    ) -> None:
        self._rate_hz, self._burst, self._clock_s = rate_hz, burst, clock_s
        self._lock = threading.Lock()
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait_s(self, client: str) -> float:
        """Take a token of a client and return 0; where it has none, return the seconds until it has one."""
        with self._lock:
            now_s = self._clock_s()
            filled, at_s = self._buckets.pop(client, (float(self._burst), now_s))
            filled = min(float(self._burst), filled + (now_s - at_s) * self._rate_hz)
            is_allowed = filled >= 1.0
            self._buckets[client] = filled - is_allowed, now_s
            if len(self._buckets) > CLIENTS_MAX:
                self._buckets.popitem(last=False)
            return 0.0 if is_allowed else (1.0 - filled) / self._rate_hz

    def admit(self, connection: HTTPConnection) -> None:
        """Admit a request, as a dependency of all routes.

        Raises:
            HTTPException: 429 with ``Retry-After`` if its client sends too many.
        """
        address = connection.client.host if connection.client is not None else ""
        wait_s = self.wait_s(grant_of(connection).name or address)
        if wait_s > 0:
            raise HTTPException(429, "too many requests", {"Retry-After": str(max(1, round(wait_s)))})


class StreamLimit:
    """Counts the open streams."""

    def __init__(self, limit: int = STREAMS_MAX) -> None:
        self._limit, self._open = limit, 0

    @property
    def is_full(self) -> bool:
        """True if no further stream may open."""
        return self._open >= self._limit

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Count a stream while the context lasts."""
        self._open += 1
        try:
            yield
        finally:
            self._open -= 1


@contextmanager
def one_of(slots: threading.BoundedSemaphore, refusal: str) -> Iterator[None]:
    """Hold one of the answers that may be made at a time; refuse with 503 if all are held."""
    if not slots.acquire(blocking=False):
        raise HTTPException(503, refusal, {"Retry-After": "1"})
    try:
        yield
    finally:
        slots.release()
