"""Several nodes and the network between them in virtual time: deterministic, with everything that can go wrong.

The nodes and links are those of :mod:`middleware.nodes`; simulated are time, the way of a frame (latency, jitter, loss,
copies, bandwidth, partitions), the speed of nodes, and crashes. A crash of any node takes all of them back to the
newest complete commit, as a barrier stage of Spark does, and the input is read again from there. What was
published and not committed is withdrawn from the log, as consumers of an update stream do at a new epoch.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from middleware.events import END_US, Arrival, Loss, Update
from middleware.hierarchy import Hierarchy
from middleware.nodes.commits import CommitShare
from middleware.nodes.ends import Sink
from middleware.nodes.links import Frame, Link, LinkCounts, LinkSettings
from middleware.nodes.messages import SINK, PartName
from middleware.nodes.move_records import MoveSettings
from middleware.nodes.node import Node
from middleware.nodes.part import Part
from middleware.ordering.policy import EngineSettings


class SimulationError(RuntimeError):
    """The nodes did not come to the end of the stream; the message says which parts wait."""


class Chance(Protocol):
    """A source of chance, such as ``random.Random``."""

    def random(self) -> float:
        """Return a number in [0, 1)."""
        ...


@dataclass(frozen=True)
class Path:
    """Way of a frame from one node to another.

    Attributes:
        latency_us: least delay.
        jitter_us: greatest delay beyond it, evenly distributed.
        loss: probability that a frame is lost.
        doubles: probability that a frame arrives twice.
        bytes_s: bandwidth; 0 for no limit.
    """

    latency_us: int = 1_000
    jitter_us: int = 0
    loss: float = 0.0
    doubles: float = 0.0
    bytes_s: float = 0.0


class Ordered(NamedTuple):
    """A move to order at a time."""

    at_us: int
    part: PartName
    node: int


class Partition(NamedTuple):
    """A time during which no frame gets from or to a node."""

    begin_us: int
    end_us: int
    node: int


@dataclass(frozen=True)
class Scenario:
    """Course of a simulation.

    Attributes:
        pushes: arrivals by arrival time.
        paths: by (from, to); all others are the default ``path``.
        message_us: time that a node works on a message, by node; 0 for all others.
        moves, partitions, crashes_us: see their classes; a crash is a time.
        commit_every_us: a commit begins so often; 0 for none.
        restart_us: time from a crash to the restart.
        links: how links send.
        moving: how detectors move.
        state_every_us: least arrival time between two statements of the gate.
        stop_after_us: virtual time after the last push within which all must have come to the end.
    """

    pushes: Sequence[tuple[int, Sequence[Arrival]]]
    paths: Mapping[tuple[int, int], Path] = field(default_factory=dict)
    path: Path = Path()
    message_us: Mapping[int, float] = field(default_factory=dict)
    moves: Sequence[Ordered] = ()
    partitions: Sequence[Partition] = ()
    crashes_us: Sequence[int] = ()
    commit_every_us: int = 0
    restart_us: int = 10_000
    links: LinkSettings = field(default_factory=LinkSettings)
    moving: MoveSettings = field(default_factory=MoveSettings)
    state_every_us: int = 0
    stop_after_us: int = 600_000_000


class Note(NamedTuple):
    """An occurrence of a move, or of the whole: time, node, what, which part, and the channel or ""."""

    at_us: int
    node: int
    what: str
    part: PartName
    text: str


@dataclass
class Outcome:
    """Result of a simulation.

    Attributes:
        log: what was published, without what a crash withdrew; each update behind the time at which it left.
        admitted: updates of raw events that the gate admitted.
        lost: what it recorded as lost.
        notes: occurrences, in order.
        links: counts of each link since the last restart, by (from, to).
        carried: updates, messages and bytes over each link, over all epochs, by (from, to).
        edges: updates that a detector has sent to another, by name; the gate and the sink are ``@gate`` and ``@sink``.
        steps: of each detector, repeated ones included.
        forwarded, echoes: items that old nodes forwarded, and copies that were dropped, since the last restart.
        commits, restarts: their numbers.
        paused_us: time for which back-pressure held the gate.
        busy_us: time for which each node worked.
        ended_us: time of the end.
    """

    log: list[tuple[int, Update]] = field(default_factory=list)
    admitted: list[Update] = field(default_factory=list)
    lost: list[Loss] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    links: dict[tuple[int, int], LinkCounts] = field(default_factory=dict)
    carried: dict[tuple[int, int], list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0, 0]))
    edges: dict[tuple[str, str], int] = field(default_factory=lambda: defaultdict(int))
    steps: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    forwarded: int = 0
    echoes: int = 0
    commits: int = 0
    restarts: int = 0
    paused_us: int = 0
    busy_us: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    ended_us: int = 0


#: Looks at the nodes after each of their walks: virtual time, and the node that has walked.
Look = Callable[[int, Node], None]


class Simulation:
    """Nodes, links and the events between them, in virtual time.

    Args:
        make_hierarchy: makes the detectors; called for each node at each start.
        settings: of all units.
        placement: node of each detector by name; of the sink as ``@sink``.
        count: number of nodes.
        scenario: course of events.
        chance: of jitter and loss.
        look: looks at the nodes, for figures.
    """

    def __init__(
        self,
        make_hierarchy: Callable[[], Hierarchy],
        settings: EngineSettings,
        placement: Mapping[str, int],
        count: int,
        scenario: Scenario,
        chance: Chance,
        look: Look | None = None,
    ) -> None:
        self._make_hierarchy, self._settings, self._placement = make_hierarchy, settings, dict(placement)
        self._numbers, self._scenario, self._chance, self._look = tuple(range(count)), scenario, chance, look
        self._sink_node = self._placement.get(SINK[0], 0)
        self.outcome = Outcome()
        self.nodes: list[Node] = []
        self.now_us = scenario.pushes[0][0] if scenario.pushes else 0
        self._links: dict[tuple[int, int], Link] = {}
        self._agenda: list[tuple[int, int, Callable[..., None], tuple[object, ...]]] = []
        self._order = self._epoch = 0
        self._free_us: dict[tuple[int, int], float] = {}
        self._busy_until_us: dict[int, float] = {}
        self._inbound: dict[int, list[tuple[int, Frame]]] = {}
        self._polls_us: dict[tuple[int, int], int] = {}
        #: When each node last reported to the gate, and how many messages waited there.
        self._backlog: dict[int, tuple[int, int]] = {}
        self._next_push = 0
        self._held_since_us: int | None = None
        self._commit = 0
        self._is_committing = False
        self._shares: dict[int, CommitShare] = {}
        self._committed: list[CommitShare] | None = None

    def run(self) -> Outcome:
        """Play the scenario to its end.

        Raises:
            SimulationError: the nodes did not come to the end of the stream.
        """
        scenario = self._scenario
        begin_us = self.now_us
        last_us = max([begin_us, *(now_us for now_us, _ in scenario.pushes)])
        for at_us in scenario.crashes_us:
            self._at(at_us, self._crash)
        for move in scenario.moves:
            self._at(move.at_us, self._order_move, move)
        if scenario.commit_every_us:
            for at_us in range(begin_us + scenario.commit_every_us, last_us, scenario.commit_every_us):
                self._at(at_us, self._begin_commit)
        self._start()
        while not self.nodes or self._sink.final_us != END_US:
            if not self._agenda or self._agenda[0][0] > last_us + scenario.stop_after_us:
                raise SimulationError(self._stuck())
            self.now_us, _, action, arguments = heapq.heappop(self._agenda)
            action(*arguments)
        self._finish()
        return self.outcome

    @property
    def _sink(self) -> Sink:
        return self.nodes[self._sink_node].sink

    def _at(self, at_us: int, action: Callable[..., None], *arguments: object) -> None:
        self._order += 1
        heapq.heappush(self._agenda, (max(at_us, self.now_us), self._order, action, arguments))

    # Start, crash, restart.

    def _start(self) -> None:
        """Start all nodes, from the newest complete commit if there is one."""
        self._epoch += 1
        scenario = self._scenario
        self.nodes = [
            Node(
                me,
                self._make_hierarchy(),
                self._settings,
                self._placement,
                self._numbers,
                scenario.moving,
                scenario.state_every_us,
            )
            for me in self._numbers
        ]
        pairs = [(one, other) for one in self._numbers for other in self._numbers if one != other]
        self._links = {pair: Link(self._epoch, scenario.links) for pair in pairs}
        self._free_us.clear()
        self._busy_until_us.clear()
        self._polls_us.clear()
        self._backlog.clear()
        self._inbound = {me: [] for me in self._numbers}
        self._shares, self._is_committing, self._held_since_us = {}, False, None
        if self._committed is not None:
            for node, share in zip(self.nodes, self._committed, strict=True):
                node.restore(share, self.now_us)
        gate = self.nodes[0].gate
        self._next_push = gate.offset
        del self.outcome.log[self._sink.count - len(self._sink.published) :]
        del self.outcome.admitted[gate.count :]
        for node in self.nodes:
            self._walked(node)
        self._at(self.now_us, self._push, self._epoch)

    def _crash(self) -> None:
        """Lose all nodes, as when one of them fails; restart them later."""
        if not self.nodes:
            return
        self._count_links()
        self.nodes = []
        self.outcome.restarts += 1
        self._note(0, "crash", ("", None), "")
        self._at(self.now_us + self._scenario.restart_us, self._start)

    def _count_links(self) -> None:
        for pair, link in self._links.items():
            carried = self.outcome.carried[pair]
            for at, number in enumerate((link.counts.updates, link.counts.messages, link.counts.bytes)):
                carried[at] += number

    # Input, commits and moves.

    def _push(self, epoch: int) -> None:
        """Push what is due, unless back-pressure holds the gate."""
        if epoch != self._epoch or not self.nodes:
            return
        pushes, congested = self._scenario.pushes, self._scenario.links.congested
        fresh_us = self.now_us - self._scenario.links.resend_us
        reports = [backlog for at_us, backlog in self._backlog.values() if at_us > fresh_us]
        if max([self._waiting(0), *reports]) >= congested:
            if self._held_since_us is None:
                self._held_since_us = self.now_us
            links = self._scenario.links
            self._at(self.now_us + max(1, links.batch_us, links.resend_us // 50), self._push, epoch)
            return
        if self._held_since_us is not None:
            self.outcome.paused_us += self.now_us - self._held_since_us
            self._held_since_us = None
        node = self.nodes[0]
        if self._next_push >= len(pushes):
            node.gate.end()
            node.walk(self.now_us)
            self._walked(node)
            return
        due_us, arrivals = pushes[self._next_push]
        if due_us <= self.now_us:
            self._next_push += 1
            self.outcome.admitted += node.push(arrivals, self.now_us, self._next_push)
            node.walk(self.now_us)
            self._walked(node)
        if self._next_push < len(pushes):
            due_us = pushes[self._next_push][0]
        self._at(due_us, self._push, epoch)

    def _begin_commit(self) -> None:
        """Begin a commit, unless the one before is still open."""
        if self.nodes and not self._is_committing:
            self._commit += 1
            self._is_committing = True
            self.nodes[0].begin_commit(self._commit, self.now_us)
            self._walked(self.nodes[0])

    def _collect_shares(self, node: Node) -> None:
        for share in node.take_shares():
            self._shares[node.me] = share
        if len(self._shares) == len(self._numbers):
            self._committed = [self._shares[me] for me in self._numbers]
            self._shares, self._is_committing = {}, False
            self.outcome.commits += 1

    def _order_move(self, move: Ordered) -> None:
        if self.nodes:
            self.nodes[0].moves.order(move.part, move.node)
            self.nodes[0].walk(self.now_us)
            self._walked(self.nodes[0])

    # Nodes and links.

    def _walked(self, node: Node) -> None:
        """Take what a node has for others and for the host."""
        me = node.me
        outcome = self.outcome
        if me == self._sink_node:
            sink = node.sink
            outcome.log += [(self.now_us, update) for update in sink.published]
            sink.published.clear()
        for what, part, text in node.moves.notes:
            self._note(me, what, part, text)
        node.moves.notes.clear()
        self._collect_shares(node)
        if self._look is not None:
            self._look(self.now_us, node)
        leaves_us = max(self.now_us, int(self._busy_until_us.get(me, self.now_us)))
        for other, messages in node.outbox.items():
            if messages:
                self._links[me, other].put(messages, leaves_us)
                node.outbox[other] = []
            self._plan_poll((me, other))

    def _plan_poll(self, pair: tuple[int, int]) -> None:
        due_us = self._links[pair].due_us
        if due_us < END_US and (pair not in self._polls_us or self._polls_us[pair] > due_us):
            self._polls_us[pair] = due_us
            self._at(due_us, self._poll, self._epoch, pair)

    def _poll(self, epoch: int, pair: tuple[int, int]) -> None:
        if epoch != self._epoch or not self.nodes:
            return
        if self._polls_us.get(pair, END_US) <= self.now_us:
            self._polls_us.pop(pair)
        one, other = pair
        for frame in self._links[pair].poll(self.now_us, self._waiting(one)):
            self._travel(one, other, frame)
        self._plan_poll(pair)

    def _waiting(self, node: int) -> int:
        """Messages that wait at a node: to be sent, and to be worked on."""
        to_send = sum(self._links[node, other].backlog for other in self._numbers if other != node)
        return to_send + len(self._inbound[node]) * self._scenario.links.batch_messages

    def _travel(self, one: int, other: int, frame: Frame) -> None:
        """Send a frame on its way."""
        path = self._scenario.paths.get((one, other), self._scenario.path)
        chance = self._chance
        leaves_us = float(self.now_us)
        if path.bytes_s:
            leaves_us = max(leaves_us, self._free_us.get((one, other), leaves_us)) + frame.size / path.bytes_s * 1e6
            self._free_us[one, other] = leaves_us
        if self._is_cut(one) or self._is_cut(other) or (path.loss and chance.random() < path.loss):
            return
        copies = 2 if path.doubles and chance.random() < path.doubles else 1
        for _ in range(copies):
            delay_us = path.latency_us + (chance.random() * path.jitter_us if path.jitter_us else 0.0)
            self._at(round(leaves_us + delay_us), self._arrive, frame.epoch, one, other, frame)

    def _is_cut(self, node: int) -> bool:
        return any(cut.node == node and cut.begin_us <= self.now_us < cut.end_us for cut in self._scenario.partitions)

    def _arrive(self, epoch: int, one: int, other: int, frame: Frame) -> None:
        if epoch == self._epoch and self.nodes:
            self._inbound[other].append((one, frame))
            self._work(epoch, other)

    def _work(self, epoch: int, me: int) -> None:
        """Let a node take the frames that have arrived, if it has finished with those before."""
        if epoch != self._epoch or not self.nodes or not self._inbound[me]:
            return
        free_us = self._busy_until_us.get(me, self.now_us)
        if free_us > self.now_us:
            self._at(int(free_us) + 1, self._work, epoch, me)
            return
        node = self.nodes[me]
        sender, frame = self._inbound[me].pop(0)
        if me == 0:
            self._backlog[sender] = self.now_us, frame.backlog
        link = self._links[me, sender]
        batches = link.receive(frame, self.now_us)
        count = sum(map(len, batches))
        cost_us = count * self._scenario.message_us.get(me, 0.0)
        if cost_us:
            self._busy_until_us[me] = self.now_us + cost_us
            self.outcome.busy_us[me] += cost_us
        for messages in batches:
            node.receive(sender, messages, self.now_us)
        if batches:
            node.walk(self.now_us)
        self._walked(node)
        if self._inbound[me]:
            self._at(max(self.now_us, int(self._busy_until_us.get(me, self.now_us)) + 1), self._work, epoch, me)

    # The end.

    def _note(self, node: int, what: str, part: PartName, text: str) -> None:
        self.outcome.notes.append(Note(self.now_us, node, what, part, text))

    def _stuck(self) -> str:
        waits = [
            f"{part.name} on node {node.me} at statement {part.reached}{'' if part.active else ', not arrived'}"
            for node in self.nodes
            for part in node.parts.values()
            if part.final_us != END_US
        ]
        return f"epoch {self._epoch}, {self.now_us} us: {'; '.join(waits[:12]) or 'no node runs'}"

    def _finish(self) -> None:
        outcome = self.outcome
        self._count_links()
        outcome.links = {pair: link.counts for pair, link in self._links.items()}
        for part in (part for node in self.nodes for part in node.parts.values()):
            for output in part.outputs.values():
                for reader in output.readers:
                    outcome.edges[part.name[0], reader[0]] += output.seq
            if isinstance(part, Part):
                counters = [unit.counters for unit in part.units.values()]
                outcome.steps[part.name[0]] += sum(counter.stepped + counter.redone for counter in counters)
        outcome.lost = list(self.nodes[0].gate.lost)
        outcome.forwarded = sum(node.moves.forwarded for node in self.nodes)
        outcome.echoes = sum(node.echoes for node in self.nodes)
        outcome.ended_us = self.now_us
