"""A node: runs parts of one hierarchy, exchanges messages with the other nodes, and does no I/O of its own.

Theory of operation
-------------------
The host hands over what arrived (:meth:`Node.push` at the gate, :meth:`Node.receive` from other nodes) and calls
:meth:`Node.walk`. The walk lets the parts work, upwards once, as an engine does; then the host sends what lies in
:attr:`Node.outbox`. There is no thread, no clock and no socket here: a simulation in virtual time and a process behind
sockets run the same code.

*Frontier.* The gate numbers its statements (clock, source progress, final) and sends them to all nodes. A part that
has received everything which statement n covers works on it and tells its readers that it has *reached* n. So
the frontier of a channel is final of statement n less the horizons below it, as in one engine, and a part
forgets only what no path can change any more.

The law of :mod:`middleware.engine` holds for the nodes together: what the sink publishes consolidates to the sorted
replay of what the gate admitted.
"""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Iterable, Mapping
from functools import partial

from middleware.events import BEGINNING_US, END_US, Arrival, Update
from middleware.hierarchy import Hierarchy
from middleware.isolation import Faults
from middleware.nodes.commits import Commits, CommitShare
from middleware.nodes.ends import Gate, Sink
from middleware.nodes.inbox import Inbox, Received
from middleware.nodes.messages import (
    GATE,
    SINK,
    Announce,
    Channel,
    Clock,
    Data,
    Located,
    Marker,
    Message,
    PartName,
    Reached,
    Split,
    Statement,
    Subscribe,
    Subscribed,
    Unsubscribe,
)  # fmt: skip
from middleware.nodes.move_records import MoveSettings
from middleware.nodes.moves import Moves
from middleware.nodes.part import Part, PartBase
from middleware.ordering.policy import EngineSettings

#: How many statements arrive between two times at which those that no part needs are forgotten.
_FORGET_EVERY = 64

#: Attributes that a snapshot holds, besides parts and moves.
_SNAPSHOT_FIELDS = (
    "where", "clk_us", "is_ended", "faults", "_statements", "_newest_statement", "_unconfirmed", "_deferred",
    "_postponed",
)  # fmt: skip


class Node:
    """One node of several.

    Args:
        me: its number.
        hierarchy: all detectors of the match.
        settings: of all units. ``max_held`` is not observed: what is held is bounded by the allowed lateness.
        placement: node of each detector by name, and of the sink as ``@sink``; others run where the gate is.
        nodes: numbers of all nodes. The gate is on the first one.
        moves: how detectors move.
        state_every_us: least arrival time between two statements of the gate.
        watched: internal kinds that the sink hands over, too; those that no detector emits are left out.

    Attributes:
        parts: those that run here, or are on their way here.
        where: node of each part, as far as this node knows.
        outbox: messages for other nodes, in order, until the host takes them.
        clk_us: newest event time that the gate has stated.
        is_ended: True if the gate has stated the end of the stream.
        faults: of detectors and inputs.
    """

    def __init__(
        self,
        me: int,
        hierarchy: Hierarchy,
        settings: EngineSettings,
        placement: Mapping[str, int],
        nodes: tuple[int, ...],
        moves: MoveSettings | None = None,
        state_every_us: int = 0,
        watched: Iterable[str] = (),
    ) -> None:
        self.me, self.hierarchy, self.settings, self.nodes = me, hierarchy, settings, nodes
        self.clk_us = BEGINNING_US
        self.is_ended = False
        self.faults = Faults()
        self.parts: dict[PartName, PartBase] = {}
        self.where: dict[PartName, int] = {GATE: nodes[0], SINK: placement.get(SINK[0], nodes[0])}
        for detector in hierarchy.detectors:
            self.where[detector.spec.name, None] = placement.get(detector.spec.name, nodes[0])
        self.outbox: dict[int, list[Message]] = {node: [] for node in nodes if node != me}
        self._local: deque[Message] = deque()
        self._state_every_us = state_every_us
        self._watched = tuple(kind for kind in watched if kind in hierarchy.producer)
        self._statements: dict[int, Statement] = {}
        self._newest_statement = 0
        self._readers: dict[Channel, list[PartBase]] = {}
        #: The active parts, lower ones first; None if it must be found again.
        self._order: list[PartBase] | None = None
        self._position = {d.spec.name: i for i, d in enumerate(hierarchy.detectors)} | {"@gate": -1}
        self._unconfirmed: set[tuple[Channel, PartName]] = set()
        self._deferred: list[Unsubscribe] = []
        self._postponed: list[Subscribe | Unsubscribe] = []
        self.moves = Moves(self, moves or MoveSettings())
        self.commits = Commits(tuple(self.outbox), self._snapshot, self.send)
        self._wire()

    # Input: from outside, and from other nodes.

    def push(self, arrivals: Iterable[Arrival], now_us: int, offset: int = 0) -> list[Update]:
        """Admit what arrived at ``now_us``; only on the node of the gate. Return the updates of raw events.

        Args:
            arrivals: in any order, with duplicates and late ones.
            now_us: arrival time.
            offset: how far the input has been read with them, for a restart.
        """
        gate = self.gate
        gate.offset = offset
        return gate.push(arrivals, now_us)

    def receive(self, sender: int, messages: Iterable[Message], now_us: int) -> None:
        """Take messages of another node, in order; :meth:`walk` follows."""
        for message in messages:
            if isinstance(message, Marker):
                self.walk(now_us)  # the cut lies after all that came before the marker
                self.commits.receive_marker(sender, message.number)
            else:
                self.commits.record(sender, message)
                self._handle(sender, message)

    def walk(self, now_us: int) -> None:
        """Let the parts work, upwards once; again where that led to messages to this node itself."""
        while True:
            while self._local:
                self._handle(self.me, self._local.popleft())
            for part in self._upwards():
                self._work(part, now_us)
            self.moves.after_walk()
            if not self._local:
                return

    def begin_commit(self, number: int, now_us: int) -> None:
        """Begin a commit of all nodes; the host begins the next one when this one is complete."""
        self.walk(now_us)
        self.commits.begin(number)

    def take_shares(self) -> list[CommitShare]:
        """Return the shares of commits that are complete since the last call."""
        shares, self.commits.complete = self.commits.complete, []
        return shares

    @property
    def gate(self) -> Gate:
        """The gate; only on its node."""
        gate = self.parts[GATE]
        assert isinstance(gate, Gate)
        return gate

    @property
    def sink(self) -> Sink:
        """The sink; only on its node."""
        sink = self.parts[SINK]
        assert isinstance(sink, Sink)
        return sink

    @property
    def echoes(self) -> int:
        """Items that were dropped because they had arrived before."""
        return sum(inbox.echoes for part in self.parts.values() for inbox in part.inboxes.values())

    def is_at_end(self) -> bool:
        """True if every part here has worked on the last statement of the stream."""
        return all(part.final_us == END_US for part in self.parts.values())

    # For moves.

    def send(self, node: int, message: Message) -> None:
        """Send a message to a node; one to this node is handled in the same walk."""
        if node == self.me:
            self._local.append(message)
        else:
            self.outbox[node].append(message)

    def broadcast(self, message: Message) -> None:
        """Send a message to all other nodes."""
        for messages in self.outbox.values():
            messages.append(message)

    def subscribe(self, channel: Channel, reader: PartName) -> None:
        """Ask the part that emits a channel to send it here."""
        self._unconfirmed.add((channel, reader))
        self.send(self._node_of(channel), Subscribe(channel, reader, self.me))

    def unsubscribe(self, channel: Channel, reader: PartName) -> None:
        """End a subscription of a reader here, after those that are on their way: they might be overtaken."""
        message = Unsubscribe(channel, reader, self.me)
        if any(channel == other for other, _ in self._unconfirmed):
            self._deferred.append(message)
        else:
            self.send(self._node_of(channel), message)

    def readers_changed(self) -> None:
        """Note that a part begins or ends to read, or to run here."""
        self._readers.clear()
        self._order = None

    def make_part(self, name: PartName) -> Part:
        """Make a part, which is not active yet."""
        part = Part(name, self.hierarchy, self.settings, self._note_fault)
        part.active, part.arriving = False, True
        return part

    def announce(self, part: PartBase) -> None:
        """Announce the delay of a part's outputs to the parts above, more or less than before."""
        part.announced_us = part.output_delay_us
        message = Announce(part.name, part.announced_us)
        for node in self._nodes_above(part):
            self.send(node, message)

    def deliver(self, item: Data | Split, *, direct: bool = True) -> None:
        """Give an item of a channel to all that read it here."""
        received = Received(item, self.clk_us, direct)
        take = PartBase.take if self.moves.is_idle else self.moves.take
        for part in self._readers_of(item.channel):
            take(part, received)

    def _readers_of(self, channel: Channel) -> list[PartBase]:
        readers = self._readers.get(channel)
        if readers is None:
            everyone = [*self.parts.values(), *self.moves.forwarders()]
            readers = self._readers[channel] = [part for part in everyone if part.reads(channel)]
        return readers

    # The walk.

    def _work(self, part: PartBase, now_us: int) -> None:
        if isinstance(part, Gate):
            statement = part.statement()
            if statement is None and not part.admitted:
                return
            message = statement or Clock(part.progress.clk_us)
            self._handle(self.me, message)
            self.broadcast(message)
        else:
            statement = None
            if part.reached < self._newest_statement:
                number = min(part.covered(), self._newest_statement)
                statement = self._statements.get(number) if number > part.reached else None
            if not part.is_due(statement, self.clk_us):
                return
        updates = part.process(statement, self.clk_us, now_us)
        if part.output_delay_us > part.announced_us:
            self.announce(part)
            while self._local and isinstance(self._local[0], Announce):
                self._handle(self.me, self._local.popleft())
        self.emit(part, part.number(updates))
        if statement is not None:
            self._send_reached(part)

    def _reached_by(self, part: PartBase) -> Reached:
        return Reached(part.name, part.reached, tuple(output.seq for output in part.outputs.values()))

    def _send_reached(self, part: PartBase) -> None:
        message = self._reached_by(part)
        for node in self._nodes_above(part):
            if node == self.me:
                self._handle(node, message)
            else:
                self.outbox[node].append(message)

    def _nodes_above(self, part: PartBase) -> list[int]:
        return sorted({node for output in part.outputs.values() for node in output.nodes})

    def _upwards(self) -> list[PartBase]:
        if self._order is None:
            last = len(self._position)
            active = [part for part in self.parts.values() if part.active]
            self._order = sorted(active, key=lambda p: (self._position.get(p.name[0], last), p.name[1] or ""))
        return self._order

    # Messages.

    def _handle(self, sender: int, message: Message) -> None:
        if isinstance(message, Data | Split):
            self.deliver(message)
        elif isinstance(message, Reached):
            self._note_reached(message)
        elif isinstance(message, Statement):
            self.clk_us = max(self.clk_us, message.clk_us)
            self.is_ended = message.final_us == END_US
            self._statements[message.number] = message
            self._newest_statement = message.number
            if message.number % _FORGET_EVERY == 0:
                self._forget_statements()
        elif isinstance(message, Clock):
            self.clk_us = max(self.clk_us, message.clk_us)
        elif isinstance(message, Announce):
            self._shift_delays(message)
        elif isinstance(message, Subscribe | Unsubscribe):
            self._change_readers(message)
        elif isinstance(message, Located):
            self.where[message.part] = message.node
            self.retry_postponed()
        else:
            if isinstance(message, Subscribed):
                self._confirm(message)
            self.moves.handle(sender, message)

    def _note_reached(self, message: Reached) -> None:
        kinds = self._kinds_of(message.part)
        for kind, seq in zip(kinds, message.seqs, strict=True):
            channel = kind, message.part[1]
            for part in self._readers_of(channel):
                part.inboxes[channel].reach(message.number, seq)

    def _kinds_of(self, part: PartName) -> tuple[str, ...]:
        if part == GATE:
            return self.hierarchy.raw_kinds
        return self.hierarchy.detectors[self._position[part[0]]].spec.outputs

    def _shift_delays(self, message: Announce) -> None:
        kinds = self._kinds_of(message.part)
        channels = {(kind, message.part[1]) for kind in kinds}
        for part in self.parts.values():
            if channels.isdisjoint(part.inboxes):
                continue
            if not part.active:
                self.moves.note_announcement(part, message)
                continue
            part.shift_delay(message.part, frozenset(kinds), message.delay_us)
            if part.output_delay_us != part.announced_us:
                self.announce(part)

    def retry_postponed(self) -> None:
        """Handle again what waited for a part to arrive, or to be heard of."""
        self._local.extend(self._postponed)
        self._postponed.clear()

    def emit(self, part: PartBase, items: list[Data] | list[Split]) -> None:
        """Send items of a part's channels to all that read them."""
        outputs, me = part.outputs, self.me
        for item in items:
            for node in outputs[item.channel[0]].nodes:
                if node == me:
                    self.deliver(item)
                else:
                    self.outbox[node].append(item)

    def _change_readers(self, message: Subscribe | Unsubscribe) -> None:
        """Change who reads a channel; if its part has moved on, its new node does."""
        name = self._producer(message.channel)
        part = self.parts.get(name)
        if part is None or not part.active:
            node = self._node_of(message.channel)
            if node != self.me:
                self.send(node, message)
            else:
                self._postponed.append(message)
            return
        output = part.outputs[message.channel[0]]
        if isinstance(message, Unsubscribe):
            output.unsubscribe(message.reader, message.node)
            return
        output.subscribe(message.reader, message.node)
        self.send(message.node, Subscribed(message.channel, message.reader, output.seq + 1))
        self.send(message.node, self._reached_by(part))

    def _confirm(self, message: Subscribed) -> None:
        self._unconfirmed.discard((message.channel, message.reader))
        if not any(message.channel == channel for channel, _ in self._unconfirmed):
            due = [one for one in self._deferred if one.channel == message.channel]
            self._deferred = [one for one in self._deferred if one.channel != message.channel]
            for one in due:
                self.send(self._node_of(one.channel), one)

    def _producer(self, channel: Channel) -> PartName:
        kind, key = channel
        index = self.hierarchy.producer.get(kind)
        return GATE if index is None else (self.hierarchy.detectors[index].spec.name, key)

    def _node_of(self, channel: Channel) -> int:
        """Node of the part that emits a channel; of a key's part that this node has not heard of, where the rest is."""
        name = self._producer(channel)
        return self.where.get(name, self.where[name[0], None])

    # State.

    def _wire(self) -> None:
        """Make the parts that begin here, with the subscriptions that follow from where all parts begin."""
        hierarchy = self.hierarchy
        published = tuple(kind for kind in hierarchy.producer if kind not in hierarchy.internal)
        inputs: dict[PartName, tuple[str, ...]] = {(d.spec.name, None): d.spec.inputs for d in hierarchy.detectors}
        inputs |= {SINK: (*published, *self._watched), GATE: ()}
        for name, kinds in inputs.items():
            node = self.where[name]
            if node == self.me:
                part = self.parts[name] = self._made(name)
                part.inboxes = {(kind, None): Inbox() for kind in kinds}
        for name, kinds in inputs.items():
            for kind in kinds:
                producer = self.parts.get(self._producer((kind, None)))
                if producer is not None:
                    producer.outputs[kind].subscribe(name, self.where[name])

    def _made(self, name: PartName) -> PartBase:
        if name == GATE:
            return Gate(self.hierarchy, self.settings, self._state_every_us)
        if name == SINK:
            return Sink(self.hierarchy, partial(self._note_fault, ""))
        return Part(name, self.hierarchy, self.settings, self._note_fault)

    def _note_fault(self, name: str, what: str, text: str) -> None:
        self.faults.note(name, what, text)

    def _forget_statements(self) -> None:
        if any(not part.active for part in self.parts.values()):
            return
        oldest = min((part.reached for part in self.parts.values()), default=0)
        self._statements = {n: statement for n, statement in self._statements.items() if n > oldest}

    def _snapshot(self) -> bytes:
        parts = [(name, part.active, part.inboxes, part.state()) for name, part in self.parts.items()]
        own = {name: getattr(self, name) for name in _SNAPSHOT_FIELDS}
        return pickle.dumps((parts, own, self.moves.state()), protocol=pickle.HIGHEST_PROTOCOL)

    def restore(self, share: CommitShare, now_us: int) -> None:
        """Continue from this node's share of a commit: its state, then what was under way to it."""
        parts, own, moves = pickle.loads(share.state)
        for name, value in own.items():
            setattr(self, name, value)
        faults, self.faults = self.faults, Faults()
        self.parts.clear()
        for name, active, inboxes, state in parts:
            part = self.parts[name] = self._made(name)
            part.active, part.arriving, part.inboxes = active, not active, inboxes
            part.resume(state)
        self.faults = faults
        self.moves.resume(moves)
        self.readers_changed()
        for sender, message in share.under_way:
            self._handle(sender, message)
        self.walk(now_us)
