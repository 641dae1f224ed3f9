"""The two ends of a link over a network that delays, disorders, doubles and loses frames.

Sending: messages are batched by size and by time into frames; a frame has an epoch and a number, and is sent again
until the other end has acknowledged it; at most a window of frames is under way. Receiving: frames are handed over in
order, each once; those of another epoch are dropped. Every frame carries an acknowledgement, the sender's clock, and
the least delay that it has measured of the other direction: from both directions follow latency and clock offset.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec

from middleware.events import END_US
from middleware.nodes.frames import HEADER_BYTES, FrameReader, FrameWriter
from middleware.nodes.messages import Data, Forward, Message


@dataclass(frozen=True)
class LinkSettings:
    """How a link sends.

    Attributes:
        batch_us: how long a message waits for others at most.
        batch_messages: a frame with so many does not wait.
        window: frames under way at most.
        resend_us: time after which a frame that was not acknowledged is sent again.
        congested: messages that wait for the window, from which on the gate admits no more (back-pressure).
    """

    batch_us: int = 2_000
    batch_messages: int = 64
    window: int = 32
    resend_us: int = 200_000
    congested: int = 2_000


class Frame(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A frame as it travels.

    Attributes:
        epoch: of the run since its last restart.
        number: from 1 on; 0 acknowledges only.
        acknowledged: number of the last frame that the sender has received in order.
        sent_us: clock of the sender.
        least_us: least difference of clocks that the sender has measured of frames to it; None before the first.
        backlog: messages that wait at the sender, over all its links.
        body: the messages.
    """

    epoch: int
    number: int
    acknowledged: int
    sent_us: int
    least_us: int | None
    backlog: int
    body: bytes = b""

    @property
    def size(self) -> int:
        """Bytes."""
        return HEADER_BYTES + len(self.body)


@dataclass
class LinkCounts:
    """Counts of one end since the beginning of the epoch.

    Attributes:
        frames, bytes: sent, repetitions included.
        messages, updates: sent; updates are events, also forwarded ones.
        resent: frames that were sent again.
        received: frames that were handed over.
        least_us, greatest_us: difference of the clocks of receiver and sender, over all frames received.
        offset_us: by how much the other end's clock is ahead; None before both directions are measured.
        latency_us: least latency of the link, half of the way there and back.
    """

    frames: int = 0
    bytes: int = 0
    messages: int = 0
    updates: int = 0
    resent: int = 0
    received: int = 0
    least_us: int | None = None
    greatest_us: int | None = None
    offset_us: int | None = None
    latency_us: int | None = None

    @property
    def jitter_us(self) -> int:
        """How much the delay of frames varies."""
        return 0 if self.least_us is None or self.greatest_us is None else self.greatest_us - self.least_us


@dataclass
class Link:
    """One end of a link, in both directions.

    Args:
        epoch: of the run.
        settings: how it sends.
    """

    epoch: int
    settings: LinkSettings = field(default_factory=LinkSettings)
    counts: LinkCounts = field(default_factory=LinkCounts)
    _waiting: deque[Message] = field(default_factory=deque)
    _since_us: int = END_US
    _under_way: dict[int, tuple[bytes, int]] = field(default_factory=dict)
    _next_number: int = 1
    _expected: int = 1
    _early: dict[int, bytes] = field(default_factory=dict)
    _owes_acknowledgement: bool = False
    _writer: FrameWriter = field(default_factory=FrameWriter)
    _reader: FrameReader = field(default_factory=FrameReader)

    @property
    def backlog(self) -> int:
        """Messages that wait."""
        return len(self._waiting)

    @property
    def due_us(self) -> int:
        """Time of the next :meth:`poll` that may send something; ``END_US`` if none is needed."""
        due_us = END_US
        if self._under_way:
            due_us = min(sent_us for _, sent_us in self._under_way.values()) + self.settings.resend_us
        if self._waiting and len(self._under_way) < self.settings.window:
            full = len(self._waiting) >= self.settings.batch_messages
            due_us = min(due_us, self._since_us if full else self._since_us + self.settings.batch_us)
        if self._owes_acknowledgement:
            due_us = min(due_us, self._since_ack_us + self.settings.batch_us)
        return due_us

    _since_ack_us: int = END_US

    def put(self, messages: Iterable[Message], now_us: int) -> None:
        """Queue messages."""
        if not self._waiting:
            self._since_us = now_us
        self._waiting.extend(messages)

    def poll(self, now_us: int, backlog: int = 0) -> list[Frame]:
        """Return the frames to send now.

        Args:
            now_us: clock of this node.
            backlog: messages that wait at this node, over all its links.
        """
        frames = []
        settings, counts = self.settings, self.counts
        for number, (body, sent_us) in self._under_way.items():
            if now_us - sent_us >= settings.resend_us:
                self._under_way[number] = body, now_us
                counts.resent += 1
                frames.append(self._frame(number, body, now_us, backlog))
        while self._waiting and len(self._under_way) < settings.window:
            full = len(self._waiting) >= settings.batch_messages
            if not full and now_us - self._since_us < settings.batch_us:
                break
            batch = [self._waiting.popleft() for _ in range(min(len(self._waiting), settings.batch_messages))]
            body, number = self._writer.write(batch), self._next_number
            self._next_number += 1
            self._under_way[number] = body, now_us
            counts.messages += len(batch)
            counts.updates += sum(isinstance(message, Data | Forward) for message in batch)
            frames.append(self._frame(number, body, now_us, backlog))
        if self._owes_acknowledgement and now_us - self._since_ack_us >= settings.batch_us:
            frames.append(self._frame(0, b"", now_us, backlog))
        return frames

    def receive(self, frame: Frame, now_us: int) -> list[list[Message]]:
        """Take a frame; return the messages of those whose turn it is, by frame."""
        if frame.epoch != self.epoch:
            return []
        self._measure(frame, now_us)
        for number in [number for number in self._under_way if number <= frame.acknowledged]:
            del self._under_way[number]
        if frame.number == 0:
            return []
        if not self._owes_acknowledgement:
            self._owes_acknowledgement, self._since_ack_us = True, now_us
        if frame.number < self._expected or frame.number in self._early:
            return []
        self._early[frame.number] = frame.body
        batches = []
        while (body := self._early.pop(self._expected, None)) is not None:
            self._expected += 1
            self.counts.received += 1
            batches.append(self._reader.read(body))
        return batches

    def _frame(self, number: int, body: bytes, now_us: int, backlog: int) -> Frame:
        frame = Frame(self.epoch, number, self._expected - 1, now_us, self.counts.least_us, backlog, body)
        self._owes_acknowledgement = False
        self.counts.frames += 1
        self.counts.bytes += frame.size
        return frame

    def _measure(self, frame: Frame, now_us: int) -> None:
        counts = self.counts
        delay_us = now_us - frame.sent_us
        counts.least_us = delay_us if counts.least_us is None else min(counts.least_us, delay_us)
        counts.greatest_us = delay_us if counts.greatest_us is None else max(counts.greatest_us, delay_us)
        if frame.least_us is not None:
            counts.latency_us = (counts.least_us + frame.least_us) // 2
            counts.offset_us = (frame.least_us - counts.least_us) // 2
