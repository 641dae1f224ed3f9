"""Runs a node of a live match behind real connections: messages out, messages in, commits, figures.

Theory of operation
-------------------
Node 0 has the gate and the sink. Its host is driven by the match's pipeline (:mod:`app.nodes.engine`): it looks for
records at each push, and waits for them only at a commit, at the end, and while back-pressure holds the gate. The other
nodes do nothing but wait for records and work on them (:func:`serve`).

Node 0 sends ``BEGIN`` with the node's share of the commit from which the match goes on, if there is one. Until then a
node reads from node 0 only, so nothing of the others overtakes its state. ``END`` ends it. All else are frames of
:mod:`middleware.nodes.links`, each behind the arrival time that its sender has got to, and what the others report to
node 0: their shares of commits, and their figures twice a second. TCP neither loses nor disorders, so a link repeats
nothing here.

A node that fails ends its connections, and every other node ends for that. So all of them begin again from the last
commit, as tasks of one barrier stage do.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable

import msgspec

from app.base.pace import wall_us
from app.nodes.mesh import RECORD_BYTES_MAX, Mesh
from app.nodes.status import NodeStatus, status_of
from football.untrusted import msgpack_decoder
from middleware.events import BEGINNING_US
from middleware.nodes.commits import CommitShare
from middleware.nodes.links import Frame, Link, LinkSettings
from middleware.nodes.node import Node
from middleware.nodes.part import Part
from middleware.purity_check import PurityCheck

#: Kinds of records.
BEGIN, END, FRAME, SHARE, STATUS = range(1, 6)

#: How links send: at once, since a node sends once for each push, and never again.
LINKS = LinkSettings(batch_us=0, batch_messages=256, resend_us=2**62, congested=4_000)

#: Least arrival time between two statements of the gate: every part answers one.
STATE_EVERY_US = 50_000

#: Interval of the figures, and the age from which the backlog that a node has reported counts no more.
STATUS_S, _FRESH_US = 0.5, 200_000

#: Steps that each detector repeats at a commit, as a purity check.
_REPEATED_STEPS = 4

_TIME_BYTES = 8


class NodeHost:
    """A node with its links.

    Args:
        node: of :mod:`middleware.nodes`.
        mesh: its connections.

    Attributes:
        now_us: newest arrival time that this node knows.
        busy_us: wall time for which it worked.
    """

    def __init__(self, node: Node, mesh: Mesh) -> None:
        self.node, self.mesh = node, mesh
        self.now_us = BEGINNING_US
        self.busy_us = 0
        self._links = {other: Link(0, LINKS) for other in mesh.others}
        self._encode = msgspec.msgpack.Encoder().encode
        self._decode = msgpack_decoder(Frame, RECORD_BYTES_MAX)
        self._backlogs: dict[int, tuple[int, int]] = {}

    def send(self) -> None:
        """Send what the node has for others; does not wait.

        Raises:
            NodeConnectionError: a node is gone.
        """
        now_us = wall_us()
        for other, messages in self.node.outbox.items():
            if messages:
                self._links[other].put(messages, now_us)
                self.node.outbox[other] = []
        backlog = self._waiting()
        head = self.now_us.to_bytes(_TIME_BYTES, "big", signed=True)
        for other, link in self._links.items():
            for frame in link.poll(now_us, backlog):
                self.mesh.put(other, FRAME, head + self._encode(frame))

    def take(self, limit_s: float) -> list[tuple[int, int, bytes]]:
        """Wait for records, work on the frames, send what follows from them; return the other records.

        Args:
            limit_s: limit of the wait; 0 does not wait.

        Raises:
            NodeConnectionError: a node is gone.
        """
        return self.work(records) if (records := self.mesh.wait(limit_s)) else []

    def work(self, records: list[tuple[int, int, bytes]]) -> list[tuple[int, int, bytes]]:
        """Work on the frames among the records, and send what follows from them; return the other records."""
        rest, node = [], self.node
        began_ns = time.perf_counter_ns()
        for sender, kind, body in records:
            if kind != FRAME:
                rest.append((sender, kind, body))
                continue
            self.now_us = max(self.now_us, int.from_bytes(body[:_TIME_BYTES], "big", signed=True))
            frame = self._decode(memoryview(body)[_TIME_BYTES:])
            now_us = wall_us()
            self._backlogs[sender] = now_us, frame.backlog
            for messages in self._links[sender].receive(frame, now_us):
                node.receive(sender, messages, self.now_us)
        node.walk(self.now_us)
        self.busy_us += (time.perf_counter_ns() - began_ns) // 1_000
        self.send()
        return rest

    def is_congested(self) -> bool:
        """True if too many messages wait at a node: the gate then admits nothing."""
        fresh_us = wall_us() - _FRESH_US
        reports = [backlog for at_us, backlog in self._backlogs.values() if at_us > fresh_us]
        return max(self._waiting(), *reports, 0) >= LINKS.congested

    def check_purity(self, name: str = "") -> None:
        """Let the detectors that run here, or one of them, repeat some steps; note a fault if one is not pure."""
        for part in self.node.parts.values():
            if isinstance(part, Part) and name in ("", part.name[0]):
                check = PurityCheck(part.units.values(), _REPEATED_STEPS, lambda at=part.name[0]: self._impure(at))
                check.step()
                check.compare()

    def status(self) -> NodeStatus:
        """Figures of the node and its links."""
        counts = {other: link.counts for other, link in self._links.items()}
        return status_of(self.node, counts, self.busy_us)

    def _impure(self, name: str) -> None:
        self.node.faults.note(name, "impure", "the same input on the same state led to something else")

    def _waiting(self) -> int:
        return sum(link.backlog for link in self._links.values())


def share_bytes(share: CommitShare) -> bytes:
    """Encode a share of a commit for the state store."""
    return pickle.dumps(share, protocol=pickle.HIGHEST_PROTOCOL)


def share_of(content: bytes) -> CommitShare:
    """Decode a share; a seal over the content must be checked before: of the state store, and of the connection."""
    share: CommitShare = pickle.loads(content)
    return share


def serve(mesh: Mesh, make_node: Callable[[], Node]) -> None:
    """Run a node that is not node 0, until node 0 ends it.

    Args:
        mesh: connections of the node.
        make_node: makes the node.

    Raises:
        NodeConnectionError: another node is gone.
    """
    records: list[tuple[int, int, bytes]] = []
    while not records:
        records = mesh.wait(1.0, (0,))
    _, kind, content = records.pop(0)
    if kind == END:
        return
    host = NodeHost(make_node(), mesh)
    if content:
        host.node.restore(share_of(content), host.now_us)
        host.send()
    status_s = 0.0
    while True:
        if any(kind == END for _, kind, _ in host.work(records)):
            return
        for share in host.node.take_shares():
            mesh.put(0, SHARE, share_bytes(share))
            host.check_purity()
        if time.monotonic() >= status_s:
            status_s = time.monotonic() + STATUS_S
            mesh.put(0, STATUS, msgspec.msgpack.encode(host.status()))
        records = mesh.wait(STATUS_S)
