"""The seam between the controller and a protocol: a session without I/O, and a link that carries its bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from camera.protocols.messages import Action, Inquiry, SessionEvent


class HeadSession(Protocol):
    """The controller's side of one protocol with one head. It has no socket and no clock.

    The caller submits messages, passes bytes both ways and reads the outcomes. A newer message of a slot
    (``messages.slot_of``) replaces an older one that has not been sent. After a lost link the session sends a stop
    before all else.

    Attributes:
        ready: the head answers.
        resets: how often the session tried to reach the head.
        resent: messages that were sent more than once.
        refusal: what a head refuses that answers and is not ready, such as ``the login``; empty for nothing.
    """

    ready: bool
    resets: int
    resent: int
    refusal: str

    @property
    def shows_tally(self) -> bool:
        """True if the protocol has a command for the tally lamp."""
        ...

    @property
    def drive_repeat_us(self) -> int:
        """Time after which a drive that is to go on must be repeated, because the head would end it by itself.

        0: a drive goes on until the next command.
        """
        ...

    @property
    def interval_us(self) -> int:
        """Shortest time between two messages; 0: any."""
        ...

    def is_free(self, now_us: int) -> bool:
        """True if a drive that is submitted now goes out now, and does not wait for another message."""
        ...

    def submit(self, message: Action | Inquiry) -> int:
        """Submit a message; return its ticket."""
        ...

    def receive(self, data: bytes, now_us: int) -> None:
        """Take a datagram, or a piece of the stream."""
        ...

    def to_send(self, now_us: int) -> Sequence[bytes]:
        """Return what to send now, in order. Call it after every other call, and every few milliseconds."""
        ...

    @property
    def wants_new_connection(self) -> bool:
        """True once if the caller has to close the link, which then connects anew. Reading it resets it."""
        ...

    def next_event(self) -> SessionEvent | None:
        """Return the oldest event that has not been read; None if there is none."""
        ...


class HeadLink(Protocol):
    """Carries bytes between a session and a head. No method blocks, and none raises for a fault of the network."""

    def send(self, pieces: Sequence[bytes]) -> None:
        """Send datagrams, or pieces of the stream."""
        ...

    def receive(self) -> Sequence[bytes]:
        """Return what has arrived since the last call. An empty piece says that the connection is gone."""
        ...

    def close(self) -> None:
        """Close the sockets."""
        ...
