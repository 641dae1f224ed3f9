"""A part: the ordering units of one detector, or of one of its keys, with inboxes, channels and measured delays.

Theory of operation
-------------------
The units are those of :mod:`middleware.ordering`; a part stands in for the engine around them. Its inputs come from
inboxes, its outputs go into numbered channels. The clock is that of the node: the newest event time that the gate has
stated. So K of a unit comes from what arrives on the links: an input over a slow path is late against a clock that
came over a fast one.

For a detector that is not keyed the part keeps the greatest delay by kind, of inputs that came directly, as on their
next advance of the clock (002, 4.1). A move (:mod:`middleware.nodes.moves`) and an announcement from below change these
delays, up or down, and K follows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from middleware.detector import Detector, KeyedDetector
from middleware.events import BEGINNING_US, END_US, Key, Update, canonical_key
from middleware.hierarchy import Hierarchy
from middleware.nodes.inbox import Inbox, Received
from middleware.nodes.messages import Channel, Data, PartName, Split, Statement
from middleware.ordering.policy import EngineSettings, UnitSettings
from middleware.ordering.unit import KeyedUpdate, OrderingUnit

#: Receives a fault: the detector, what, and a text for people.
NoteFault = Callable[[str, str, str], None]


class Output:
    """One channel of a part: number of its last update, and who reads it where.

    Attributes:
        seq: number of the last item.
        readers: nodes by reader; a reader has two while it moves.
        nodes: all of them.
    """

    __slots__ = ("nodes", "readers", "seq")

    def __init__(self, seq: int = 0, readers: Mapping[PartName, tuple[int, ...]] | None = None) -> None:
        self.seq = seq
        self.readers = dict(readers or {})
        self.nodes: tuple[int, ...] = ()
        self._count()

    def subscribe(self, reader: PartName, node: int) -> None:
        """Send to a reader on a node from now on."""
        self.readers[reader] = tuple(sorted({*self.readers.get(reader, ()), node}))
        self._count()

    def unsubscribe(self, reader: PartName, node: int) -> None:
        """Send to a reader on a node no more."""
        left = tuple(other for other in self.readers.pop(reader, ()) if other != node)
        if left:
            self.readers[reader] = left
        self._count()

    def _count(self) -> None:
        self.nodes = tuple(sorted({node for nodes in self.readers.values() for node in nodes}))


class PartBase:
    """Inboxes and channels, of whatever runs behind them.

    Args:
        name: of the part.
        outputs: the kinds that it emits.

    Attributes:
        active: False while the part has not arrived on its node, and after it has left.
        arriving: True while it has not arrived: it does not know its positions.
        inboxes: by channel that it reads.
        outputs: by kind.
        inputs: what is to be worked on, each with the node's clock at its arrival.
        reached: newest statement that was worked on.
        final_us: final of that statement.
        announced_us: delay of the outputs as announced to the parts above.
        announced_below_us: the same of the parts below, by part.
    """

    def __init__(self, name: PartName, outputs: tuple[str, ...]) -> None:
        self.name, self.active, self.arriving = name, True, False
        self.inboxes: dict[Channel, Inbox] = {}
        self.outputs = {kind: Output() for kind in outputs}
        self.inputs: list[tuple[Update, int]] = []
        self.reached = 0
        self.final_us = BEGINNING_US
        self.announced_us = 0
        self.announced_below_us: dict[PartName, int] = {}

    def reads(self, channel: Channel) -> bool:
        """True if the part reads a channel; one of a key that was split off is read where the others are."""
        if channel in self.inboxes:
            return True
        if channel[1] is None or (channel[0], None) not in self.inboxes:
            return False
        self.inboxes[channel] = Inbox(None if self.arriving else 1)
        return True

    def take(self, received: Received) -> list[Received]:
        """Put an arrived item into its inbox, and what is in turn into the inputs; return the latter."""
        items = self.inboxes[received.item.channel].offer(received)
        for item in items:
            self.accept(item)
        return items

    def accept(self, received: Received) -> None:
        """Accept an item in turn as an input; after a split there is one more channel to read."""
        item = received.item
        if isinstance(item, Data):
            self.inputs.append((item.update, received.clk_us))
            return
        kind = item.channel[0]
        inbox = self.inboxes.setdefault((kind, item.key), Inbox())
        inbox.reached = max(inbox.reached, item.reached)

    def covered(self) -> int:
        """Newest statement that covers nothing which the part has not received."""
        return min((inbox.reached for inbox in self.inboxes.values()), default=END_US)

    def is_due(self, statement: Statement | None, clk_us: int) -> bool:
        """True if there may be something to do: inputs, or a statement that it has not worked on."""
        return bool(self.inputs) or statement is not None

    def process(self, statement: Statement | None, clk_us: int, now_us: int) -> list[Update]:
        """Work on the inputs.

        Args:
            statement: a newer one than :attr:`reached`, which the inputs cover; None if there is none.
            clk_us: the node's clock.
            now_us: arrival time.

        Returns:
            Updates of the outputs.
        """
        raise NotImplementedError

    def shift_delay(self, below: PartName, kinds: frozenset[str], delay_us: int) -> None:
        """Note that the outputs of a part below may arrive as late as ``delay_us`` now."""
        self.announced_below_us[below] = delay_us

    @property
    def output_delay_us(self) -> int:
        """How late the outputs may arrive at the parts above."""
        return 0

    def state(self) -> dict[str, Any]:
        """Return everything but the inboxes; between two walks."""
        return {
            "outputs": {kind: (output.seq, output.readers) for kind, output in self.outputs.items()},
            "fields": (self.reached, self.final_us, self.announced_us, self.announced_below_us),
        }

    def resume(self, state: Mapping[str, Any]) -> None:
        """Continue from what :meth:`state` returned."""
        self.outputs = {kind: Output(*pair) for kind, pair in state["outputs"].items()}
        self.reached, self.final_us, self.announced_us, self.announced_below_us = state["fields"]

    def number(self, updates: list[Update]) -> list[Data]:
        """Number the updates of the outputs, each in its channel."""
        items = []
        key = self.name[1]
        for update in updates:
            kind = update.event.kind
            output = self.outputs[kind]
            output.seq += 1
            items.append(Data((kind, key), output.seq, update))
        return items


class Part(PartBase):
    """A detector, or one of its keys.

    Args:
        name: of the part.
        hierarchy: has the detector, and how far its inputs reach back.
        settings: of the units.
        note_fault: receives faults.

    Attributes:
        units: by key; "" for a detector that is not keyed.
        away: keys that are parts of their own.
        delays_us: greatest delay by kind, of a detector that is not keyed.
    """

    def __init__(self, name: PartName, hierarchy: Hierarchy, settings: EngineSettings, note_fault: NoteFault) -> None:
        index = next(i for i, detector in enumerate(hierarchy.detectors) if detector.spec.name == name[0])
        self.detector: Detector[object] = hierarchy.detectors[index]
        super().__init__(name, self.detector.spec.outputs)
        self.keyed: KeyedDetector[object] | None = self.detector if self.detector.spec.keyed else None  # type: ignore[assignment]
        self.index = index
        self._hierarchy, self._settings, self._note_fault = hierarchy, settings, note_fault
        self._reach, self._max_reach_us = hierarchy.reach[index], hierarchy.max_reach_us[index]
        self.units: dict[str, OrderingUnit] = {}
        self.away: set[str] = set()
        self.delays_us: dict[str, int] = {}
        #: The same of what arrived directly on this node.
        self._direct_us: dict[str, int] = {}
        self._oldest_us: dict[str, int] = {}
        self._clk_us = self._progress_us = BEGINNING_US
        self._is_waiting = False

    @property
    def unit_settings(self) -> UnitSettings:
        """Settings of its units."""
        return self._settings.of(self.name[0])

    @property
    def output_delay_us(self) -> int:
        """How late the outputs may arrive at the parts above."""
        return max((unit.output_delay_us for unit in self.units.values()), default=0)

    def is_due(self, statement: Statement | None, clk_us: int) -> bool:
        """True if there may be something to do, also because the clock has advanced."""
        return bool(self.inputs) or statement is not None or (self._is_waiting and clk_us > self._clk_us)

    def accept(self, received: Received) -> None:
        """Accept an item in turn as an input; measure what came directly."""
        super().accept(received)
        item = received.item
        if received.direct and self.keyed is None and isinstance(item, Data) and item.update.diff > 0:
            event = item.update.event
            due_us = event.ts_us - item.update.k_plus_us
            if due_us < self._oldest_us.get(event.kind, END_US):
                self._oldest_us[event.kind] = due_us

    def process(self, statement: Statement | None, clk_us: int, now_us: int) -> list[Update]:
        """Give the inputs to the units, and let these release, repair and forget.

        Inputs that waited for the part to arrive are worked on under the clock of their arrival: that they waited is no
        delay of their path.
        """
        updates: list[Update] = []
        if self.inputs and self.inputs[0][1] < self.inputs[-1][1]:
            waited, self.inputs = self.inputs, []
            at = 0
            while at < len(waited):
                end = at
                while end < len(waited) and waited[end][1] == waited[at][1]:
                    end += 1
                updates += self._process(waited[at:end], None, max(waited[at][1], self._clk_us), now_us)
                at = end
        inputs, self.inputs = self.inputs, []
        return updates + self._process(inputs, statement, clk_us, now_us)

    def _process(
        self, inputs: list[tuple[Update, int]], statement: Statement | None, clk_us: int, now_us: int
    ) -> list[Update]:
        final_advanced = statement is not None and statement.final_us > self.final_us
        if statement is not None:
            self.reached, self.final_us = statement.number, statement.final_us
        if clk_us > self._clk_us:
            self._clk_us = clk_us
            for kind, oldest_us in self._oldest_us.items():
                delay_us = clk_us - oldest_us
                self.delays_us[kind] = max(self.delays_us.get(kind, 0), delay_us)
                self._direct_us[kind] = max(self._direct_us.get(kind, 0), delay_us)
            self._oldest_us.clear()
        by_key = self._by_key(inputs)
        if statement is not None:
            self._progress_us = self._complete_us(statement)
        updates: list[Update] = []
        unit_clk_us = None if self.keyed is not None else clk_us
        for name in by_key if not (final_advanced or statement is not None) else list(self.units):
            unit = self.units[name]
            updates += unit.process(by_key.get(name, ()), unit_clk_us, self._progress_us, now_us, flush=final_advanced)
        if not by_key and statement is None and self.keyed is None and "" in self.units:
            updates += self.units[""].process((), clk_us, self._progress_us, now_us)
        if final_advanced:
            below_us = self.final_us if self.final_us == END_US else self.final_us - self._max_reach_us
            for unit in self.units.values():
                unit.purge(below_us)
        self._is_waiting = self.keyed is None and any(unit.has_waiting for unit in self.units.values())
        if len(self.units) > 1 and any(update.diff < 0 for update in updates):
            # A corrected input may have moved to another key: the old key must withdraw before the new one asserts.
            updates.sort(key=lambda update: update.diff)
        return updates

    def split(self, key: str) -> Part:
        """Make ``key`` a part of its own, with its unit, positions and readers."""
        part = Part((self.name[0], key), self._hierarchy, self._settings, self._note_fault)
        part.inboxes = {channel: inbox.copy() for channel, inbox in self.inboxes.items()}
        for kind, output in self.outputs.items():
            part.outputs[kind] = Output(0, output.readers)
        part.reached, part.final_us, part.announced_us = self.reached, self.final_us, self.announced_us
        part.announced_below_us = dict(self.announced_below_us)
        part._clk_us, part._progress_us = self._clk_us, self._progress_us
        self.away.add(key)
        if (unit := self.units.pop(key, None)) is not None:
            part.units[key] = unit
        return part

    def split_markers(self, key: str) -> list[Split]:
        """Number the marks that end what ``key`` emits in the channels of this part."""
        marks = []
        for kind, output in self.outputs.items():
            output.seq += 1
            marks.append(Split((kind, None), output.seq, key, self.reached))
        return marks

    def shift_delay(self, below: PartName, kinds: frozenset[str], delay_us: int) -> None:
        """Grow or shrink K by as much as the delay of a part below (004, II-E2; 002, 4.2)."""
        more_us = delay_us - self.announced_below_us.get(below, 0)
        self.announced_below_us[below] = delay_us
        if self.keyed is None:
            for kind in kinds.intersection(self.detector.spec.inputs):
                self.delays_us[kind] = max(0, self.delays_us.get(kind, 0) + more_us)
            k_us = max(self.delays_us.values(), default=0)
            if more_us > 0:
                self._unit("").slack.announce(k_us)
            else:
                self._unit("").slack.rebase(k_us)
            return
        for unit in self.units.values():
            if more_us > 0:
                unit.slack.announce(unit.slack.k_us + more_us)
            else:
                unit.slack.rebase(max(0, unit.slack.k_us + more_us))

    def change_path(self, kind: str, more_us: int, more_of_all_us: int) -> None:
        """Change K because inputs come over other paths since a move (002, 4.2).

        Args:
            kind: of the inputs whose path is measured now.
            more_us: how much later they may arrive, negative for sooner. What was measured here directly stays.
            more_of_all_us: the same of the latest kind; K of a keyed detector's units, which are late against their own
                inputs, changes by it.
        """
        if self.keyed is not None:
            for unit in self.units.values():
                unit.slack.rebase(max(0, unit.slack.k_us + more_of_all_us))
            return
        shifted_us = self.delays_us.get(kind, 0) + more_us
        self.delays_us[kind] = max(0, shifted_us, self._direct_us.get(kind, 0))
        self._unit("").slack.rebase(max(self.delays_us.values()))

    def state(self) -> dict[str, Any]:
        """Return everything but the inboxes; between two walks."""
        units = {key: unit.state() for key, unit in self.units.items()}
        own = (self.away, self.delays_us, self._oldest_us, self._clk_us, self._progress_us, self._is_waiting)
        return {**super().state(), "units": units, "own": own}

    def resume(self, state: Mapping[str, Any]) -> None:
        """Continue from what :meth:`state` returned."""
        super().resume(state)
        self.away, self.delays_us, self._oldest_us, self._clk_us, self._progress_us, self._is_waiting = state["own"]
        for key, unit_state in state["units"].items():
            self._unit(key).resume(unit_state)

    def _unit(self, key: str) -> OrderingUnit:
        unit = self.units.get(key)
        if unit is None:
            unit = OrderingUnit(self.detector, self.unit_settings, partial(self._note_fault, self.name[0]))
            unit.slack.announce(max(self.announced_below_us.values(), default=0))
            self.units[key] = unit
        return unit

    def _by_key(self, inputs: list[tuple[Update, int]]) -> dict[str, list[KeyedUpdate]]:
        """Return the inputs of each unit; those of keys that run elsewhere are left out."""
        by_key: dict[str, list[KeyedUpdate]] = {}
        rank = self._hierarchy.rank
        for update, _ in inputs:
            name = ""
            if self.keyed is not None:
                try:
                    name = self.keyed.key(update.event)
                except Exception as error:
                    text = f"key of {update.event.kind}: {type(error).__name__}: {error}"
                    self._note_fault(self.name[0], "raised", text)
                    continue
                if name in self.away or (self.name[1] is not None and name != self.name[1]):
                    continue
            key: Key = canonical_key(update.event, rank)
            if name not in by_key:
                self._unit(name)
                by_key[name] = []
            by_key[name].append((update, key))
        return by_key

    def _complete_us(self, statement: Statement) -> int:
        """Return the event time up to which the inputs are complete; a policy that ignores progress gets final."""
        below_final_us = statement.final_us - 1
        ignores = self.unit_settings.slack.ignores_progress
        if statement.final_us == END_US:
            return END_US
        if ignores:
            return below_final_us - self._max_reach_us
        known = dict(statement.progress_us)
        progress_us = (max(known[k], below_final_us) - lag_us for k, lag_us in self._reach.items() if k in known)
        return min(progress_us, default=END_US)
