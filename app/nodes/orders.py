"""Orders to the nodes of a running match: a file in its store, which commands append to and node 0 reads.

A line is one order: to move a detector, or one key of it, to a node; to cordon a node off, so that no detector moves
there; to drain it, so that all its detectors move away, too; or to open it again. How many lines were taken is part of
the state, so a restart takes the others again. Node 0 writes the figures of all nodes beside the orders.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from app.base.files import write_atomically
from app.nodes.status import NodesStatus
from football.untrusted import UntrustedError, decode_json, read_json

#: Folder in a match store, and the files in it.
FOLDER = "nodes"
_ORDERS, _STATUS = "orders.jsonl", "status.json"

#: Limits of the files.
_ORDERS_BYTES_MAX, _STATUS_BYTES_MAX = 4 * 1024 * 1024, 16 * 1024 * 1024

#: Refusals that are kept for the figures.
_REFUSALS = 20


class Order(msgspec.Struct, frozen=True, omit_defaults=True):
    """An order.

    Attributes:
        what: see the module.
        node: to move to; or to drain, to cordon off, to open again.
        part: to move: ``DETECTOR`` or ``DETECTOR:KEY``.
    """

    what: Literal["move", "drain", "cordon", "uncordon"]
    node: int
    part: str = ""


class OrderBook(msgspec.Struct):
    """Orders as far as node 0 has taken them; a part of the state.

    Attributes:
        taken: lines of the file that were taken.
        cordoned: nodes that no detector moves to.
        refused: the newest refusals.
    """

    taken: int = 0
    cordoned: tuple[int, ...] = ()
    refused: tuple[str, ...] = ()

    def take(self, lines: Sequence[bytes], where: Mapping[tuple[str, str | None], int], count: int) -> list[Order]:
        """Take the lines that are new; return the moves that follow from them.

        Args:
            lines: of the file, all of them.
            where: node of each part.
            count: number of nodes.
        """
        moves: list[Order] = []
        for number, line in enumerate(lines[self.taken :], self.taken + 1):
            self.taken = number
            try:
                order = _read(line)
                moves += self._moves_of(order, where, count)
            except ValueError as error:
                self.refused = (*self.refused, f"line {number}: {error}")[-_REFUSALS:]
        return moves

    def _moves_of(self, order: Order, where: Mapping[tuple[str, str | None], int], count: int) -> list[Order]:
        if not 0 <= order.node < count:
            raise ValueError(f"there is no node {order.node}; they are 0 to {count - 1}")
        if order.what == "move":
            name = order.part.partition(":")[0]
            if (name, None) not in where or name.startswith("@"):
                raise ValueError(f"there is no detector {name}")
            if order.node in self.cordoned:
                raise ValueError(f"node {order.node} is cordoned off")
            return [order]
        if order.what == "uncordon":
            self.cordoned = tuple(node for node in self.cordoned if node != order.node)
            return []
        others = [node for node in range(count) if node != order.node and node not in self.cordoned]
        if order.what == "drain" and order.node == 0:
            raise ValueError("node 0 cannot be drained: it has the match's input and its output")
        if order.what == "drain" and not others:
            raise ValueError(f"node {order.node} cannot be drained: all others are cordoned off")
        self.cordoned = tuple(sorted({*self.cordoned, order.node}))
        return _spread(order.node, others, where) if order.what == "drain" else []


def _spread(node: int, others: Sequence[int], where: Mapping[tuple[str, str | None], int]) -> list[Order]:
    """Moves of all parts of a node, each to the one of the others that has the fewest then."""
    loads = {other: sum(at == other for at in where.values()) for other in others}
    moves = []
    for name, key in sorted(name for name, at in where.items() if at == node and not name[0].startswith("@")):
        to = min(others, key=lambda other: loads[other])
        loads[to] += 1
        moves.append(Order("move", to, name if key is None else f"{name}:{key}"))
    return moves


def give_order(store: Path, order: Order) -> int:
    """Append an order to the file of a store; return the number of its line.

    Raises:
        OSError: the file cannot be written.
    """
    folder = store / FOLDER
    handle = os.open(folder / _ORDERS, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    with os.fdopen(handle, "ab") as stream:
        stream.write(msgspec.json.encode(order) + b"\n")
    return len(read_orders(folder))


def read_orders(folder: Path) -> list[bytes]:
    """Lines of the file of orders that are complete; none if there is no file.

    Args:
        folder: of the nodes, in a match store.
    """
    try:
        with (folder / _ORDERS).open("rb") as stream:
            return stream.read(_ORDERS_BYTES_MAX).split(b"\n")[:-1]
    except FileNotFoundError:
        return []


def write_status(folder: Path, status: NodesStatus) -> None:
    """Replace the figures.

    Raises:
        OSError: they cannot be written.
    """
    folder.mkdir(0o700, parents=True, exist_ok=True)
    write_atomically(folder / _STATUS, msgspec.json.encode(status))


def read_status(store: Path) -> NodesStatus | None:
    """Read the figures of a store; None if the match never ran over several nodes.

    Raises:
        UntrustedError: the file holds something else.
    """
    path = store / FOLDER / _STATUS
    return read_json(path, NodesStatus, _STATUS_BYTES_MAX) if path.exists() else None


def _read(line: bytes) -> Order:
    try:
        return decode_json(line, Order)
    except UntrustedError as error:
        raise ValueError(f"no order: {error}") from error
