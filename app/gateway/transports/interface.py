"""Interface of transports: a connection that comes back by itself, and hands on messages as they arrive.

All transports of a gateway run in one event loop and one thread: at 100,000 datagrams a second a thread for each would
spend its time waiting for the interpreter's lock. A transport never decodes; it cuts, bounds and hands on.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

#: Receives a message and the topic of MQTT (else empty), in the event loop's thread.
Deliver = Callable[[bytes, str], None]

#: Shortest and longest pause before the next attempt to connect, in seconds.
BACKOFF_S = (0.1, 5.0)


@dataclass
class LinkFigures:
    """Figures of a connection.

    Attributes:
        connected: open connections, or open sockets.
        connects: connections so far.
        failures: attempts that failed, and connections that broke.
        overlong: messages that were longer than any feed's.
        dropped: datagrams that the kernel threw away because nobody took them in time.
        trouble: why there is no connection; empty while there is one.
    """

    connected: int = 0
    connects: int = 0
    failures: int = 0
    overlong: int = 0
    dropped: int = 0
    trouble: str = ""

    def opened(self) -> None:
        """Count a connection."""
        self.connected += 1
        self.connects += 1
        self.trouble = ""

    def closed(self, reason: str) -> None:
        """Count the end of a connection."""
        self.connected = max(0, self.connected - 1)
        self.failures += 1
        if not self.connected:
            self.trouble = reason


class Transport(Protocol):
    """Receives a feed's messages until it is cancelled.

    Attributes:
        figures: of its connection.
        port: the port on which it listens, 0 before it does and for one that connects.
    """

    figures: LinkFigures
    port: int

    async def run(self, deliver: Deliver) -> None:
        """Receive, and connect again whenever the connection breaks.

        Raises:
            FeedError: it can never work, such as a port that is taken.
        """
        ...


class Sender(Protocol):
    """Sends messages as a vendor's server would; an asynchronous context manager.

    Attributes:
        port: the port on which it listens, else 0.
    """

    port: int

    async def __aenter__(self) -> Sender:
        """Connect, or listen."""
        ...

    async def __aexit__(self, *error: object) -> None:
        """Send what waits, and close."""
        ...

    async def send(self, message: bytes, topic: str) -> None:
        """Send a message; waits while the other side takes none."""
        ...

    async def ready(self) -> None:
        """Wait until somebody receives, as far as that can be known."""
        ...


class Backoff:
    """Pauses between attempts: twice as long each time, up to a limit, with a random part so that clients spread."""

    def __init__(self) -> None:
        self._next_s = BACKOFF_S[0]

    def reset(self) -> None:
        """Begin with the shortest pause again."""
        self._next_s = BACKOFF_S[0]

    async def wait(self) -> None:
        """Wait before the next attempt."""
        pause_s, self._next_s = self._next_s, min(2 * self._next_s, BACKOFF_S[1])
        await asyncio.sleep(pause_s * random.uniform(0.7, 1.0))
