"""Moves: a detector goes to another node while it runs (paper 002, section 4.2, Figs 4 and 5).

Theory of operation
-------------------
    old node                                new node
      Prepare (channels)          ------>   makes an empty part, subscribes to its channels
      chooses a moment            <------   Ready
      Moment                      ------>
      clock reaches it: stops
      Takeover (state)            ------>   goes on with what had arrived directly meanwhile
      Forward (event) ...         ------>   until each channel arrives directly
                                  <------   Stop (channel): the first direct event has arrived
      PathDelay (that event)      ------>   K melts

The state has units with held events, positions in the channels, and the greatest delay of each kind. Items are
numbered, so none is lost or doubled whichever way it takes, and the second copy of one (an echo) is dropped.

*K.* An event that the old node forwards is later than there by the forwarding delay: the difference of the two nodes'
clocks when it is sent and when it arrives. So the part begins with K = greatest over the kinds of (delay on the
old node + forwarding delay). Of the first event that arrives directly both nodes measure the delay, and its difference
replaces the forwarding delay of that channel. So K is never too small for a path whose delay does not vary, and melts
to what the direct paths need. Every change is announced to the parts above. Paper 002 takes the delay of the direct
event itself; the difference holds for all events of that path, also for those that are later than the first one.

*An end.* A channel on which nothing happens is settled after ``settle_us``: the new node knows from which number on it
receives the channel. Until a move is settled the part does not move again.

The classic ways, for comparison: ``prepares`` False stops, copies and starts; ``adapts`` False keeps K; ``selective``
False forwards everything until all channels are direct.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator

from middleware.nodes.inbox import Inbox, Received
from middleware.nodes.messages import (
    GATE,
    SINK,
    Announce,
    Channel,
    Forward,
    Located,
    Message,
    Moment,
    Move,
    PartName,
    PathDelay,
    Prepare,
    Ready,
    Split,
    Stop,
    Subscribed,
    Takeover,
)  # fmt: skip
from middleware.nodes.move_records import Forwarder, Incoming, MoveSettings, MovingHost, Outgoing, delay_of
from middleware.nodes.part import Part, PartBase


class Moves:
    """The moves from and to one node.

    Args:
        host: the node.
        settings: how detectors move.

    Attributes:
        forwarded: items that this node forwarded.
        notes: occurrences since the host took them: what, which part, and the channel or "".
    """

    def __init__(self, host: MovingHost, settings: MoveSettings) -> None:
        self._host, self._settings = host, settings
        self._outgoing: dict[PartName, Outgoing] = {}
        self._incoming: dict[PartName, Incoming] = {}
        self._orders: list[Move] = []
        self.forwarded = 0
        self.notes: list[tuple[str, PartName, str]] = []

    @property
    def is_idle(self) -> bool:
        """True if no part moves from or to this node."""
        return not (self._outgoing or self._incoming or self._orders)

    def forwarders(self) -> Iterator[Forwarder]:
        """Parts that have left and are still forwarded to."""
        return (out.forwarder for out in self._outgoing.values() if out.forwarder is not None)

    def order(self, part: PartName, node: int) -> None:
        """Order a move; it begins after the next walk."""
        self._orders.append(Move(part, node))

    def take(self, part: PartBase, received: Received) -> None:
        """Give an item to a part that reads it, and note what it shows of delays while the part moves."""
        item, name = received.item, part.name
        out = self._outgoing.get(name)
        if out is not None and (delay_us := delay_of(received)) is not None and received.direct:
            out.delays_us.setdefault(item.channel, {})[item.seq] = delay_us
        items = part.take(received)
        if isinstance(part, Forwarder):
            assert out is not None
            self._forward(name, out)
        elif out is not None:
            self._answer(name, out, item.channel)
        incoming = self._incoming.get(name)
        if incoming is not None:
            self._open_splits(name, incoming, items)
            if received.direct:
                self._note_direct(name, incoming, received)

    def note_announcement(self, part: PartBase, message: Announce) -> None:
        """Keep an announcement for a part that has not arrived yet."""
        if (incoming := self._incoming.get(part.name)) is not None:
            incoming.announced[message.part] = message

    def handle(self, sender: int, message: Message) -> None:
        """Handle a message about moves."""
        host = self._host
        if isinstance(message, Move):
            self._orders.append(message)
        elif isinstance(message, Prepare):
            self._prepare(sender, message)
        elif isinstance(message, Ready):
            out = self._outgoing[message.part]
            out.moment_us = host.clk_us + self._settings.lead_us
            host.send(out.node, Moment(message.part, out.moment_us))
        elif isinstance(message, Moment):
            self.notes.append(("moment agreed", message.part, str(message.moment_us)))
        elif isinstance(message, Takeover):
            self._take_over(sender, message)
        elif isinstance(message, Forward):
            self._take_forwarded(message)
        elif isinstance(message, Subscribed):
            incoming = self._incoming.get(message.reader)
            if incoming is not None and message.channel in incoming.unsettled:
                incoming.begins.setdefault(message.channel, message.seq)
        elif isinstance(message, Stop):
            self._stop(sender, message)
        elif isinstance(message, PathDelay):
            self._settle(message)

    def after_walk(self) -> None:
        """Begin what was ordered, send the states that are due, and settle channels on which nothing happens."""
        orders, self._orders = self._orders, []
        for order in orders:
            self._begin(order)
        clk_us = self._host.clk_us
        for name, out in list(self._outgoing.items()):
            is_due = out.moment_us is not None and (clk_us >= out.moment_us or self._host.is_ended)
            if out.forwarder is None and is_due:
                self._ship(name, out)
        for name, incoming in self._incoming.items():
            if incoming.since_us is not None and clk_us - incoming.since_us > self._settings.settle_us:
                for channel in sorted(incoming.unsettled - incoming.stopped, key=repr):
                    if channel in incoming.begins:
                        incoming.stopped.add(channel)
                        self._host.send(incoming.node, Stop(name, channel, incoming.begins[channel], sampled=False))

    def state(self) -> object:
        """Return what must survive a restart."""
        return self._outgoing, self._incoming, self._orders, self.forwarded

    def resume(self, state: object) -> None:
        """Continue from what :meth:`state` returned."""
        self._outgoing, self._incoming, self._orders, self.forwarded = state  # type: ignore[misc]

    # The old node.

    def _begin(self, order: Move) -> None:
        """Begin an ordered move, or pass the order on to where the part is."""
        host, name = self._host, order.part
        if name in (GATE, SINK):
            return
        if name in self._outgoing or name in self._incoming:
            self._orders.append(order)
            return
        part = host.parts.get(name)
        if part is None and name not in host.where and name[1] is not None:
            part = self._split(order)
            if part is None:
                return
        if part is None:
            host.send(host.where[name], order)
        elif order.node != host.me:
            out = self._outgoing[name] = Outgoing(order.node)
            if self._settings.prepares:
                host.send(order.node, Prepare(name, tuple(part.inboxes)))
            else:
                self._ship(name, out)

    def _split(self, order: Move) -> PartBase | None:
        """Make a key a part of its own where the rest of its detector runs; None if that is not now, or not here."""
        host, (detector, key) = self._host, order.part
        rest = host.parts.get((detector, None))
        if rest is None:
            host.send(host.where[detector, None], order)
            return None
        if (detector, None) in self._outgoing or (detector, None) in self._incoming or not rest.active:
            self._orders.append(order)
            return None
        if not isinstance(rest, Part) or rest.keyed is None or key is None:
            return None
        part = host.parts[order.part] = rest.split(key)
        host.where[order.part] = host.me
        host.broadcast(Located(order.part, host.me))
        host.readers_changed()
        for channel in part.inboxes:
            host.subscribe(channel, order.part)
        host.emit(rest, rest.split_markers(key))
        return part

    def _ship(self, name: PartName, out: Outgoing) -> None:
        """Send the state of a part, and forward from now on."""
        host = self._host
        part = host.parts.pop(name)
        positions = {channel: (inbox.next_seq, inbox.reached) for channel, inbox in part.inboxes.items()}
        state = pickle.dumps((part.state(), positions), protocol=pickle.HIGHEST_PROTOCOL)
        out.forwarder = Forwarder(name, part.inboxes)
        host.where[name] = out.node
        host.send(out.node, Takeover(name, state, host.clk_us))
        host.readers_changed()
        self.notes.append(("left", name, ""))
        for channel in list(out.forwarder.inboxes):
            self._close(name, out, channel)

    def _forward(self, name: PartName, out: Outgoing) -> None:
        """Forward the items in turn, but for those that arrive directly there."""
        forwarder = out.forwarder
        assert forwarder is not None
        passing, forwarder.passing = forwarder.passing, []
        for received in passing:
            item = received.item
            stop = out.stops.get(item.channel)
            if stop is None or item.seq < stop[0]:
                self.forwarded += 1
                delay_us = delay_of(received)
                self._host.send(out.node, Forward(name, item, 0 if delay_us is None else delay_us))
                if isinstance(item, Split):
                    channel: Channel = item.channel[0], item.key
                    if channel not in forwarder.closed:
                        forwarder.inboxes.setdefault(channel, Inbox())
                        self._host.readers_changed()
                    self._close(name, out, channel)
        for channel in {received.item.channel for received in passing}:
            self._close(name, out, channel)

    def _stop(self, sender: int, message: Stop) -> None:
        """Stop forwarding a channel; one that is not read here, of a key that was split off below, has no delay."""
        name, channel = message.part, message.channel
        out = self._outgoing.get(name)
        if out is None:
            self._host.send(sender, PathDelay(name, channel, message.seq, None))
            return
        out.stops[channel] = message.seq, message.sampled
        if out.forwarder is not None and channel not in out.forwarder.inboxes and channel not in out.answered:
            out.answered.add(channel)
            out.forwarder.closed.add(channel)
            self._host.send(sender, PathDelay(name, channel, message.seq, None))
        self._answer(name, out, channel)
        self._close(name, out, channel)

    def _answer(self, name: PartName, out: Outgoing, channel: Channel) -> None:
        """Send the delay that was asked for, once the item has arrived here, too."""
        if channel in out.answered or channel not in out.stops:
            return
        seq, sampled = out.stops[channel]
        heard = out.delays_us.get(channel, {})
        reader = out.forwarder or self._host.parts[name]
        inbox = reader.inboxes.get(channel)
        if inbox is None or inbox.next_seq is None or inbox.next_seq < seq:
            return  # what lies below the first direct item is not forwarded yet
        if not sampled or seq in heard or inbox.next_seq > seq:
            out.answered.add(channel)
            self._host.send(out.node, PathDelay(name, channel, seq, heard.get(seq)))

    def _close(self, name: PartName, out: Outgoing, channel: Channel) -> None:
        """End a channel of which everything below the first direct item was forwarded; at last end the move."""
        if out.forwarder is None:
            return
        self._answer(name, out, channel)
        inbox = out.forwarder.inboxes.get(channel)
        if inbox is not None and channel in out.answered:
            del out.forwarder.inboxes[channel]
            out.forwarder.closed.add(channel)
            self._host.unsubscribe(channel, name)
            self._host.readers_changed()
        if not out.forwarder.inboxes and name in self._outgoing:
            del self._outgoing[name]
            self.notes.append(("forwarding ended", name, ""))

    # The new node.

    def _prepare(self, sender: int, message: Prepare) -> None:
        host, name = self._host, message.part
        incoming = self._incoming[name] = Incoming(sender)
        part = host.parts[name] = host.make_part(name)
        self._open(name, part, incoming, message.channels)
        host.send(sender, Ready(name))

    def _open(
        self, name: PartName, part: PartBase, incoming: Incoming, channels: tuple[Channel, ...] | list[Channel]
    ) -> None:
        for channel in channels:
            part.inboxes.setdefault(channel, Inbox(None))
            incoming.unsettled.add(channel)
            self._host.subscribe(channel, name)
        self._host.readers_changed()

    def _open_splits(self, name: PartName, incoming: Incoming, items: list[Received]) -> None:
        """Subscribe to the channels of keys that were split off below."""
        for received in items:
            item = received.item
            if isinstance(item, Split) and (item.channel[0], item.key) not in incoming.unsettled:
                channel: Channel = item.channel[0], item.key
                incoming.shift_us.setdefault(channel, incoming.shift_us.get(item.channel, 0))
                self._open(name, self._host.parts[name], incoming, [channel])

    def _take_over(self, sender: int, message: Takeover) -> None:
        """Go on with the state of the old node, and with what has arrived directly since."""
        host, name = self._host, message.part
        state, positions = pickle.loads(message.state)
        incoming = self._incoming.setdefault(name, Incoming(sender))
        part = host.parts.get(name)
        if part is None:
            part = host.parts[name] = host.make_part(name)
        assert isinstance(part, Part)
        self._open(name, part, incoming, [channel for channel in positions if channel not in part.inboxes])
        part.resume(state)
        part.active, part.arriving, incoming.since_us = True, False, host.clk_us
        host.where[name] = host.me
        host.broadcast(Located(name, host.me))
        items: list[Received] = []
        for channel, (next_seq, reached) in positions.items():
            items += part.inboxes[channel].begin(next_seq, reached)
        for inbox in part.inboxes.values():
            if inbox.next_seq is None:  # of a key that was split off below, as the old node had not heard
                items += inbox.begin(1, 0)
        items.sort(key=lambda received: received.clk_us)
        for received in items:
            part.accept(received)
        self._open_splits(name, incoming, items)
        for announcement in incoming.announced.values():
            kinds = frozenset(channel[0] for channel in positions)
            part.shift_delay(announcement.part, kinds, announcement.delay_us)
        self.notes.append(("took over", name, ""))
        if self._settings.adapts:
            shift_us = host.clk_us - message.clk_us
            for channel in part.inboxes:
                self._shift(part, incoming, channel, incoming.shift_us.pop(channel, shift_us))
        host.readers_changed()
        host.retry_postponed()
        self._stop_when_direct(name, incoming)
        self._end(name, incoming)

    def _take_forwarded(self, message: Forward) -> None:
        host, name, item = self._host, message.part, message.item
        part, incoming = host.parts[name], self._incoming.get(name)
        received = Received(item, host.clk_us, direct=False)
        if incoming is not None and self._settings.adapts and isinstance(part, Part):
            delay_us, channel = delay_of(received), item.channel
            if delay_us is not None and channel in incoming.unsettled and channel not in incoming.first:
                shift_us = delay_us - message.delay_us
                if shift_us > incoming.shift_us.get(channel, 0):
                    self._shift(part, incoming, channel, shift_us)
        self.take(part, received)

    def _note_direct(self, name: PartName, incoming: Incoming, received: Received) -> None:
        """Note the first item that arrives directly, and stop the forwarding of its channel."""
        item = received.item
        channel = item.channel
        if channel not in incoming.unsettled or channel in incoming.first or channel in incoming.stopped:
            return
        if channel not in incoming.begins or item.seq < incoming.begins[channel]:
            return
        incoming.first[channel] = item.seq, delay_of(received)
        self.notes.append(("direct", name, channel[0]))
        self._stop_when_direct(name, incoming)

    def _stop_when_direct(self, name: PartName, incoming: Incoming) -> None:
        if not self._settings.selective and incoming.unsettled - set(incoming.first):
            return
        for channel in sorted(set(incoming.first) & incoming.unsettled - incoming.stopped, key=repr):
            seq, delay_us = incoming.first[channel]
            incoming.stopped.add(channel)
            self._host.send(incoming.node, Stop(name, channel, seq, sampled=delay_us is not None))

    def _settle(self, message: PathDelay) -> None:
        """Use the difference of the delays on both paths, and end the move when all channels are settled."""
        name, channel = message.part, message.channel
        incoming = self._incoming.get(name)
        if incoming is None:
            return
        part = self._host.parts[name]
        delay_us = incoming.first.get(channel, (0, None))[1]
        if delay_us is not None and message.delay_us is not None:
            incoming.shift_us.setdefault(channel, 0)
            if self._settings.adapts and isinstance(part, Part):
                self._shift(part, incoming, channel, delay_us - message.delay_us)
        incoming.unsettled.discard(channel)
        self._end(name, incoming)

    def _end(self, name: PartName, incoming: Incoming) -> None:
        """End a move of which all channels are settled."""
        if not incoming.unsettled and incoming.since_us is not None:
            del self._incoming[name]
            self.notes.append(("settled", name, ""))

    def _shift(self, part: Part, incoming: Incoming, channel: Channel, shift_us: int) -> None:
        """Change how much later than on the old node a channel arrives, and K with it; announce what came of it."""
        kind = channel[0]
        before = max((us for (other, _), us in incoming.shift_us.items() if other == kind), default=0)
        of_all = max(incoming.shift_us.values(), default=0)
        incoming.shift_us[channel] = shift_us
        if not part.active:
            return
        after = max(us for (other, _), us in incoming.shift_us.items() if other == kind)
        part.change_path(kind, after - before, max(0, *incoming.shift_us.values()) - max(0, of_all))
        if part.output_delay_us != part.announced_us:
            self._host.announce(part)
