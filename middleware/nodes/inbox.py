"""Inbox of one channel at one reader: puts numbered items into order, drops echoes, and knows what is complete."""

from __future__ import annotations

from typing import NamedTuple

from middleware.nodes.messages import Data, Split


class Received(NamedTuple):
    """An item as it arrived: the node's clock then, and False if another node had forwarded it."""

    item: Data | Split
    clk_us: int
    direct: bool


class Inbox:
    """Items of one channel in the order of their numbers.

    Attributes:
        next_seq: number of the next item to hand over; None while the reader does not know it (a part that has not
            arrived yet): all items wait.
        reached: newest statement that covers nothing beyond what was handed over.
        echoes: items that were dropped because they had arrived before.
    """

    __slots__ = ("_early", "_pending", "echoes", "next_seq", "reached")

    def __init__(self, next_seq: int | None = 1, reached: int = 0) -> None:
        self.next_seq, self.reached, self.echoes = next_seq, reached, 0
        self._early: dict[int, Received] = {}
        self._pending: list[tuple[int, int]] = []

    def copy(self) -> Inbox:
        """Return an inbox at the same position, with the same items waiting."""
        other = Inbox(self.next_seq, self.reached)
        other._early, other._pending = dict(self._early), list(self._pending)
        return other

    def offer(self, received: Received) -> list[Received]:
        """Take an item; return those whose turn it is now."""
        seq = received.item.seq
        if self.next_seq is not None and seq == self.next_seq and not self._early:
            self.next_seq = seq + 1
            if self._pending:
                self._settle()
            return [received]
        if (self.next_seq is not None and seq < self.next_seq) or seq in self._early:
            self.echoes += 1
            return []
        self._early[seq] = received
        return self._in_turn()

    def begin(self, next_seq: int, reached: int) -> list[Received]:
        """Set the position that the part had on its old node; return the items whose turn it is now."""
        self.next_seq, self.reached = next_seq, max(self.reached, reached)
        early = [seq for seq in self._early if seq < next_seq]
        self.echoes += len(early)
        for seq in early:
            del self._early[seq]
        self._settle()
        return self._in_turn()

    def reach(self, number: int, seq: int) -> None:
        """Note that statement ``number`` covers the items up to ``seq``."""
        if self.next_seq is not None and seq < self.next_seq and not self._pending:
            if number > self.reached:
                self.reached = number
        elif number > self.reached:
            self._pending.append((seq, number))
            self._settle()

    def _in_turn(self) -> list[Received]:
        items: list[Received] = []
        while self.next_seq is not None and (item := self._early.pop(self.next_seq, None)) is not None:
            items.append(item)
            self.next_seq += 1
        if items:
            self._settle()
        return items

    def _settle(self) -> None:
        if self.next_seq is None or not self._pending:
            return
        covered = [number for seq, number in self._pending if seq < self.next_seq]
        self._pending = [pair for pair in self._pending if pair[0] >= self.next_seq]
        self.reached = max([self.reached, *covered])
