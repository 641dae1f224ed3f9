"""Messages between the nodes that share the detectors of one match.

A *part* is what one node runs: a detector, or one key of a keyed detector that is placed by itself. A *channel* is what
one part emits of one kind. Its updates are numbered from 1 on, whichever node the part runs on, so that a reader puts
them into order though they come over several links, and drops what it has had (an *echo*). All other messages
are about channels and parts; a link delivers them in the order in which they were sent.
"""

from __future__ import annotations

import msgspec

from middleware.events import Update

#: Name of a detector, and the key that is placed by itself; None for the detector with all its other keys.
PartName = tuple[str, str | None]

#: A kind, and the key of the part that emits it.
Channel = tuple[str, str | None]

#: The part that admits raw events, and the part that publishes.
GATE: PartName = ("@gate", None)
SINK: PartName = ("@sink", None)


class Data(msgspec.Struct, frozen=True, gc=False):
    """Update number ``seq`` of a channel."""

    channel: Channel
    seq: int
    update: Update


class Split(msgspec.Struct, frozen=True, gc=False):
    """Number ``seq`` of a channel is no update: from here on what ``key`` emits has a channel of its own.

    What statement ``reached`` covers of that key has gone over the old channel.
    """

    channel: Channel
    seq: int
    key: str
    reached: int


class Statement(msgspec.Struct, frozen=True, gc=False):
    """Statement ``number`` of the gate: its clock, source progress by raw kind, and final."""

    number: int
    clk_us: int
    progress_us: tuple[tuple[str, int], ...]
    final_us: int


class Clock(msgspec.Struct, frozen=True, gc=False):
    """The gate's clock, between two statements."""

    clk_us: int


class Reached(msgspec.Struct, frozen=True, gc=False):
    """A part has worked on all that statement ``number`` covers.

    ``seqs`` has the last number of each of its channels, in the order of the kinds that it emits: the frontier of a
    channel is that of the statement once a reader has so many updates.
    """

    part: PartName
    number: int
    seqs: tuple[int, ...]


class Announce(msgspec.Struct, frozen=True, gc=False):
    """The outputs of a part may arrive ``delay_us`` late (004, II-E2: the pseudo event); more or less than before."""

    part: PartName
    delay_us: int


class Subscribe(msgspec.Struct, frozen=True, gc=False):
    """Part ``reader`` on node ``node`` is to receive a channel."""

    channel: Channel
    reader: PartName
    node: int


class Subscribed(msgspec.Struct, frozen=True, gc=False):
    """Answer to :class:`Subscribe`: all numbers of the channel from ``seq`` on come over this link."""

    channel: Channel
    reader: PartName
    seq: int


class Unsubscribe(msgspec.Struct, frozen=True, gc=False):
    """Part ``reader`` does not read a channel on node ``node`` any more."""

    channel: Channel
    reader: PartName
    node: int


class Move(msgspec.Struct, frozen=True, gc=False):
    """Order to move a part to node ``node``; a key that is not yet a part of its own is split off first."""

    part: PartName
    node: int


class Prepare(msgspec.Struct, frozen=True, gc=False):
    """The old node asks the new one to subscribe to the channels of a part."""

    part: PartName
    channels: tuple[Channel, ...]


class Ready(msgspec.Struct, frozen=True, gc=False):
    """The new node has sent its subscriptions."""

    part: PartName


class Moment(msgspec.Struct, frozen=True, gc=False):
    """The old node stops when its clock reaches ``moment_us`` (event time); then the new one takes over."""

    part: PartName
    moment_us: int


class Takeover(msgspec.Struct, frozen=True, gc=False):
    """State of a part: units with held events, positions in its channels, delays.

    Attributes:
        state: the pickled state.
        clk_us: clock of the old node when it was sent.
    """

    part: PartName
    state: bytes
    clk_us: int


class Forward(msgspec.Struct, frozen=True, gc=False):
    """An input of a part that has moved, which had arrived at the old node ``delay_us`` late."""

    part: PartName
    item: Data | Split
    delay_us: int


class Stop(msgspec.Struct, frozen=True, gc=False):
    """The new node receives a channel directly from number ``seq`` on: the old one forwards no more from there on.

    ``sampled``: True if the delay of that number is asked for.
    """

    part: PartName
    channel: Channel
    seq: int
    sampled: bool


class PathDelay(msgspec.Struct, frozen=True, gc=False):
    """Answer to :class:`Stop`: number ``seq`` arrived at the old node ``delay_us`` late; None if that is not known."""

    part: PartName
    channel: Channel
    seq: int
    delay_us: int | None


class Located(msgspec.Struct, frozen=True, gc=False):
    """A part runs on node ``node`` now."""

    part: PartName
    node: int


class Marker(msgspec.Struct, frozen=True, gc=False):
    """Boundary of commit ``number`` in a link (Chandy and Lamport 1985): what follows is not part of it."""

    number: int


Message = (
    Data | Split | Statement | Clock | Reached | Announce | Subscribe | Subscribed | Unsubscribe | Move | Prepare
    | Ready | Moment | Takeover | Forward | Stop | PathDelay | Located | Marker
)  # fmt: skip
