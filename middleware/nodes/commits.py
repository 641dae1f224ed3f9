"""Commits over several nodes: one consistent cut through all states and all links, without stopping the stream.

Source: Chandy and Lamport, "Distributed snapshots", ACM TOCS 3(1), 1985. A node that begins a commit, or meets its
first marker, takes its state and sends a marker over every link. Then it records of each link what arrives before that
link's marker: those messages were under way at the cut. When all markers have arrived, its share of the commit is
complete.
A crash takes all nodes back to the newest commit of which every share is complete.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from middleware.nodes.messages import Marker, Message


class CommitShare(NamedTuple):
    """One node's share of a commit: its state, and the messages that were under way to it, each behind its sender."""

    number: int
    state: bytes
    under_way: tuple[tuple[int, Message], ...]


class Commits:
    """The commits of one node.

    Args:
        others: all other nodes.
        snapshot: returns the node's state.
        send: sends a message to a node.

    Attributes:
        complete: shares that are complete, since the host took them.
    """

    def __init__(
        self, others: tuple[int, ...], snapshot: Callable[[], bytes], send: Callable[[int, Message], None]
    ) -> None:
        self._others, self._snapshot, self._send = others, snapshot, send
        self._number = 0
        self._state = b""
        self._open: set[int] = set()
        self._under_way: list[tuple[int, Message]] = []
        self.complete: list[CommitShare] = []

    def begin(self, number: int) -> None:
        """Begin commit ``number``; a node that has its share of it open already does nothing."""
        if self._number == number:
            return
        self._number, self._state, self._under_way = number, self._snapshot(), []
        self._open = set(self._others)
        for other in self._others:
            self._send(other, Marker(number))
        self._close()

    def receive_marker(self, sender: int, number: int) -> None:
        """Meet the marker of a link."""
        self.begin(number)
        self._open.discard(sender)
        self._close()

    def record(self, sender: int, message: Message) -> None:
        """Record a message that was under way at the cut."""
        if sender in self._open:
            self._under_way.append((sender, message))

    def _close(self) -> None:
        if not self._open and self._state:
            self.complete.append(CommitShare(self._number, self._state, tuple(self._under_way)))
            self._state, self._under_way = b"", []
