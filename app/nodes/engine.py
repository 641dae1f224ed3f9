"""The engine of a match over several nodes, as its pipeline uses it: node 0, with the gate and the sink.

It stands in for :class:`middleware.engine.Engine`: the same pipeline, commits and update stream serve one node and
several. A push admits the input at the gate and returns what the sink has published since the push before, so an event
that another node has found leaves with the next push, ten milliseconds later at live rates. A commit cuts through all
nodes (:mod:`middleware.nodes.commits`) and waits until node 0 has all shares; they are the engine's state.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from app.base.pace import wall_us
from app.nodes.host import BEGIN, SHARE, STATE_EVERY_US, STATUS, STATUS_S, NodeHost, share_bytes, share_of
from app.nodes.mesh import Mesh
from app.nodes.orders import OrderBook, read_orders, write_status
from app.nodes.status import NodesStatus, NodeStatus, health_of_all
from football.untrusted import msgpack_decoder
from middleware.engine import SnapshotError
from middleware.events import END_US, Arrival, Loss
from middleware.hierarchy import Hierarchy
from middleware.load_accounting import Costs
from middleware.metrics import EngineHealth
from middleware.nodes.node import Node
from middleware.ordering.policy import EngineSettings
from middleware.push_result import PushResult

#: Limit of one wait for other nodes; nothing depends on it.
_WAIT_S = 0.05

#: Interval at which orders are read.
_ORDERS_S = 0.2

_STATUS_BYTES_MAX = 4 * 1024 * 1024


class NodesEngine:
    """One match's engine over several nodes.

    Args:
        hierarchy: the detectors and their wiring.
        settings: of all units.
        watch: internal kinds whose updates are returned too.
        mesh: connections to the other nodes.
        placement: node of each detector by name; others run on node 0.
        folder: for orders and figures.
    """

    def __init__(
        self,
        hierarchy: Hierarchy,
        settings: EngineSettings,
        watch: Iterable[str],
        mesh: Mesh,
        placement: Mapping[str, int],
        folder: Path,
    ) -> None:
        self._hierarchy, self._mesh, self._folder = hierarchy, mesh, folder
        node = Node(
            0, hierarchy, settings, placement, tuple(range(mesh.count)), state_every_us=STATE_EVERY_US, watched=watch
        )
        self._node, self._host = node, NodeHost(node, mesh)
        self._orders = OrderBook()
        self._decode_status = msgpack_decoder(NodeStatus, _STATUS_BYTES_MAX)
        self._statuses: dict[int, NodeStatus] = {}
        self._shares: dict[int, bytes] = {}
        self._snapshot = b""
        self._commit = 0
        self._has_begun = False
        self._status_s = self._orders_s = 0.0

    def push(self, arrivals: Iterable[Arrival], now_us: int, complete_us: int | None = None) -> PushResult:
        """Admit what arrived at ``now_us`` and return what was published since the push before.

        Args:
            arrivals: in any order, with duplicates and late ones.
            now_us: arrival time, carried by the input. Does not go backwards.
            complete_us: is not observed: over nodes, units always speculate.

        Raises:
            NodeConnectionError: a node is gone.
        """
        self._begin()
        self._take(0.0)
        while self._host.is_congested():
            self._take(_WAIT_S)
        host = self._host
        host.now_us = max(host.now_us, now_us)
        began_ns = time.perf_counter_ns()
        self._node.push(arrivals, now_us)
        self._follow_orders()
        self._node.walk(now_us)
        host.busy_us += (time.perf_counter_ns() - began_ns) // 1_000
        host.send()
        self._write_status()
        return self._published()

    def finish(self, last: Iterable[Arrival] = ()) -> PushResult:
        """End the stream with the ``last`` arrivals at all nodes; return the rest.

        Raises:
            NodeConnectionError: a node is gone.
        """
        self._begin()
        self._node.push(last, self._host.now_us)
        self._node.gate.end()
        self._node.walk(self._host.now_us)
        self._host.send()
        while self._node.sink.final_us != END_US:
            self._take(_WAIT_S)
        self._status_s = 0.0
        self._write_status()
        return self._published()

    def cut(self) -> None:
        """Commit all nodes; :meth:`snapshot` then has their states. Take what was published before.

        Raises:
            NodeConnectionError: a node is gone.
        """
        self._begin()
        node, sink = self._node, self._node.sink
        self._commit += 1
        self._shares.clear()
        node.begin_commit(self._commit, self._host.now_us)
        rest = list(sink.published), list(sink.watched)
        self._host.send()
        while len(self._shares) < self._mesh.count:
            for share in node.take_shares():
                self._shares[0] = share_bytes(share)
            if len(self._shares) < self._mesh.count:
                self._take(_WAIT_S)
        shares = [self._shares[number] for number in range(self._mesh.count)]
        layout = f"--nodes {self._mesh.count}"
        state = (layout, self._commit, self._host.now_us, shares, rest, self._orders)
        self._snapshot = pickle.dumps(state, protocol=pickle.HIGHEST_PROTOCOL)

    def snapshot(self) -> bytes:
        """Return the state of all nodes at the last :meth:`cut`."""
        return self._snapshot

    def restore(self, snapshot: bytes) -> None:
        """Let all nodes continue from a snapshot; the first call.

        Raises:
            SnapshotError: it was made by another number of nodes.
        """
        layout, *rest = pickle.loads(snapshot)
        if layout != f"--nodes {self._mesh.count}":
            made = layout if isinstance(layout, str) else "one node"
            raise SnapshotError(f"the match was played with {made}, and goes on in no other way")
        self._commit, self._host.now_us, shares, (published, watched), self._orders = rest
        self._begin(shares)
        self._node.restore(share_of(shares[0]), self._host.now_us)
        self._node.sink.published[:0] = published
        self._node.sink.watched[:0] = watched
        self._host.send()

    def take_lost(self) -> list[Loss]:
        """Return the lost arrivals since the last call, each with the reason."""
        gate = self._node.gate
        lost, gate.lost = gate.lost, []
        return lost

    def watermark_us(self, kind: str) -> int:
        """Return the watermark of a kind: event time below which none of its events can change any more."""
        return END_US if self.final_us == END_US else self.final_us - self._hierarchy.lag_us[kind]

    @property
    def final_us(self) -> int:
        """Watermark of the raw inputs, as far as all nodes have reached it."""
        return self._node.sink.final_us

    def health(self) -> EngineHealth:
        """Return the health of all nodes; of the others as they reported it last."""
        gate, own = self._node.gate, self._host.status().health
        own = replace(
            own,
            final_us=self._node.sink.final_us,
            duplicates=gate.duplicates,
            lost=gate.losses,
            differing=gate.differing,
            hold=gate.progress.final_hold(self._host.now_us),
        )
        return health_of_all(own, (status.health for status in self._statuses.values()))

    def set_costs(self, costs: Costs) -> None:
        """Do nothing: over nodes, nothing adapts to load."""

    def check_purity(self, name: str, steps: int) -> int:
        """Repeat some of a detector's last steps, if it runs here; the other nodes do so at each commit.

        Return 0, so that no step is timed: the costs of a detector on another machine are not known here.
        """
        self._host.check_purity(name)
        return 0

    def _begin(self, shares: list[bytes] | None = None) -> None:
        """Let the other nodes begin, if they have not begun."""
        if not self._has_begun:
            self._has_begun = True
            for other in self._mesh.others:
                self._mesh.put(other, BEGIN, shares[other] if shares else b"")

    def _take(self, limit_s: float) -> None:
        for sender, kind, body in self._host.take(limit_s):
            if kind == SHARE:
                self._shares[sender] = body
            elif kind == STATUS:
                self._statuses[sender] = self._decode_status(body)

    def _published(self) -> PushResult:
        sink = self._node.sink
        result = PushResult(sink.published, [self._host.now_us] * len(sink.published), sink.watched)
        sink.published, sink.watched = [], []
        return result

    def _follow_orders(self) -> None:
        if time.monotonic() < self._orders_s:
            return
        self._orders_s = time.monotonic() + _ORDERS_S
        for order in self._orders.take(read_orders(self._folder), self._node.where, self._mesh.count):
            name, _, key = order.part.partition(":")
            self._node.moves.order((name, key or None), order.node)

    def _write_status(self) -> None:
        if time.monotonic() < self._status_s:
            return
        self._status_s = time.monotonic() + STATUS_S
        statuses = {0: self._host.status(), **self._statuses}
        detectors = tuple(detector.spec.name for detector in self._hierarchy.detectors)
        status = NodesStatus(
            wall_us(), self._host.now_us, self._mesh.count, self._orders.cordoned, detectors, self._orders.taken,
            self._orders.refused, tuple(statuses[node] for node in sorted(statuses)),
        )  # fmt: skip
        write_status(self._folder, status)
