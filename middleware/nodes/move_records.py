"""Records of moves: settings, what both nodes know of a part that moves, and what moves need of a node."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from middleware.events import BEGINNING_US
from middleware.nodes.inbox import Inbox, Received
from middleware.nodes.messages import Announce, Channel, Data, Message, PartName, Split
from middleware.nodes.part import Part, PartBase


@dataclass(frozen=True)
class MoveSettings:
    """How detectors move.

    Attributes:
        lead_us: how far ahead (event time) the moment lies when the two nodes agree on it.
        settle_us: event time after a takeover until channels without any event are settled.
        prepares: True to subscribe before the old node stops.
        adapts: True to derive K from the delays of both paths; False to keep it.
        selective: True to stop forwarding channel by channel; False when all are direct.
    """

    lead_us: int = 50_000
    settle_us: int = 60_000_000
    prepares: bool = True
    adapts: bool = True
    selective: bool = True


class MovingHost(Protocol):
    """The node, as far as moves need it. See :class:`middleware.nodes.node.Node`."""

    me: int
    clk_us: int
    is_ended: bool
    parts: dict[PartName, PartBase]
    where: dict[PartName, int]

    def send(self, node: int, message: Message) -> None:
        """Send a message to a node."""

    def broadcast(self, message: Message) -> None:
        """Send a message to all other nodes."""

    def subscribe(self, channel: Channel, reader: PartName) -> None:
        """Ask for a channel."""

    def unsubscribe(self, channel: Channel, reader: PartName) -> None:
        """Ask for a channel no more."""

    def readers_changed(self) -> None:
        """Note that a part begins or ends to read."""

    def retry_postponed(self) -> None:
        """Handle again what waited for a part to arrive."""

    def make_part(self, name: PartName) -> Part:
        """Make a part, which is not active yet."""

    def announce(self, part: PartBase) -> None:
        """Announce the delay of a part's outputs."""

    def emit(self, part: PartBase, items: list[Data] | list[Split]) -> None:
        """Send items of a part's channels to all that read them."""


class Forwarder(PartBase):
    """The place of a part that has left: it still reads its channels, in order, to forward them."""

    def __init__(self, name: PartName, inboxes: dict[Channel, Inbox]) -> None:
        super().__init__(name, ())
        self.active, self.inboxes = False, inboxes
        self.passing: list[Received] = []
        self.closed: set[Channel] = set()

    def reads(self, channel: Channel) -> bool:
        """True if the channel is still open."""
        return channel not in self.closed and super().reads(channel)

    def accept(self, received: Received) -> None:
        """Keep an item to forward it."""
        self.passing.append(received)


@dataclass
class Outgoing:
    """A part that leaves this node.

    Attributes:
        node: where to.
        moment_us: agreed event time of the takeover; None before.
        forwarder: reads what is to be forwarded; None before the state was sent.
        stops: by channel, the number from which on it arrives directly there, and True if its delay is asked for.
        delays_us: by channel and number, how late items arrived here.
        answered: channels of which the delay was sent, or is not known.
    """

    node: int
    moment_us: int | None = None
    forwarder: Forwarder | None = None
    stops: dict[Channel, tuple[int, bool]] = field(default_factory=dict)
    delays_us: dict[Channel, dict[int, int]] = field(default_factory=dict)
    answered: set[Channel] = field(default_factory=set)


@dataclass
class Incoming:
    """A part that comes to this node.

    Attributes:
        node: where from.
        since_us: clock at the takeover; None before.
        shift_us: by channel, how much later than on the old node its events arrive.
        unsettled: channels that do not arrive directly yet, or of which the old node has not answered.
        begins: by channel, the number from which on it arrives directly.
        first: by channel, number and delay of the first direct event; None for a channel that was settled without one.
        stopped: channels whose forwarding was stopped.
        announced: announcements that arrived before the part.
    """

    node: int
    since_us: int | None = None
    shift_us: dict[Channel, int] = field(default_factory=dict)
    unsettled: set[Channel] = field(default_factory=set)
    begins: dict[Channel, int] = field(default_factory=dict)
    first: dict[Channel, tuple[int, int | None]] = field(default_factory=dict)
    stopped: set[Channel] = field(default_factory=set)
    announced: dict[PartName, Announce] = field(default_factory=dict)


def delay_of(received: Received) -> int | None:
    """Return how late an item arrived, by the clock of its node; None of an item that is no assertion."""
    item = received.item
    if isinstance(item, Split) or item.update.diff < 0 or received.clk_us == BEGINNING_US:
        return None
    return received.clk_us - item.update.event.ts_us + item.update.k_plus_us
