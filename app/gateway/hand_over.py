"""Hand-over of a live capture from one gateway to its spare, without a position twice or lost.

Theory of operation
-------------------
A spare receives the feeds all the time, and keeps what it would have written for the last ten seconds. It takes over
when the lock of the capture is free. Then it looks up the newest packet of each transmitter in the capture, and writes
what follows. Where the source numbers its packets, that is what follows the packet with that number. Else it is what
is dated more than half an interval later, and since both gateways have counted packets by themselves, the spare's
numbers are shifted, so that the engine sees no gap. What the other gateway has written may reach the spare only after
it has taken over: so it goes on to look for ten seconds.

A feed that only one process can receive (UDP to one address, a port that waits for connections, a shared subscription)
begins when the spare takes over: what the vendor sends in between is lost.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, ExitStack
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Protocol

import msgspec

from app.gateway.outputs import CaptureOutput
from football.errors import CaptureInUseError
from football.packets import Block, Packet, RejectedRecord
from replay.capture import Capture
from replay.capture_documents import HEAD
from replay.capture_segments import segment_name
from replay.capture_tail import TailReader, tail_numbers
from replay.formats.officials import DecisionFields
from replay.segments import read_segment

#: What a spare keeps, and how far back it looks in the capture.
KEEP_US = 10_000_000

#: By how much two gateways, each of which estimates the source's clock, may date one packet apart.
_APART_US = 20_000


class OpensOutput(Protocol):
    """Opens the capture; raises :class:`football.errors.CaptureInUseError` while another process writes it."""

    def __call__(self) -> CaptureOutput:
        """Return the output, whose context is not entered yet."""
        ...


class Newest(NamedTuple):
    """The newest packet of a transmitter in a capture: its number, and the event time of its last position."""

    sequence: int
    ts_us: int


class SpareOutput:
    """An :class:`app.gateway.outputs.Output` that keeps what it gets until it can write.

    Args:
        opens: makes the output.
        zero_us: UTC of time 0 of the capture that another gateway writes.
        sends: what runs while the capture is written, such as the sender to a topic.
        numbered: whether the sources number their packets.

    Attributes:
        ends: whether leaving the context ends the match.
        filled: packets of those that it had kept that the other gateway had not written.
    """

    def __init__(
        self,
        opens: OpensOutput,
        zero_us: int,
        sends: Iterable[AbstractContextManager[object]] = (),
        *,
        numbered: bool = False,
    ) -> None:
        self._opens, self._sends, self._own_zero_us, self._numbered = opens, tuple(sends), zero_us, numbered
        self._output: CaptureOutput | None = None
        self._contexts = ExitStack()
        self._blocks: deque[Block] = deque()
        self._refused: list[RejectedRecord] = []
        self._seams: dict[str, Seam] = {}
        self._looks_until_us = -(2**62)
        self.ends, self.filled = True, 0

    @property
    def is_open(self) -> bool:
        """True once it writes."""
        return self._output is not None

    @property
    def zero_us(self) -> int:
        """See :class:`app.gateway.outputs.Output`."""
        return self._output.zero_us if self._output is not None else self._own_zero_us

    @property
    def last_us(self) -> int:
        """See :class:`app.gateway.outputs.Output`."""
        return self._output.last_us if self._output is not None else -(2**62)

    def open(self) -> None:
        """Open the capture, and write what was kept and is not there.

        Raises:
            CaptureInUseError: another gateway writes it.
            CaptureError: the folder cannot be written.
        """
        output = self._opens()
        output.__enter__()
        for sender in self._sends:
            self._contexts.enter_context(sender)
        self._contexts.push(output)  # leaves first, so that a topic gets the end
        self._output = output
        if self._blocks:
            newest = newest_packets(output.folder)
            self._looks_until_us = self._blocks[-1].arrival_us + KEEP_US
            following, self._seams = following_packets(self._blocks, newest, numbered=self._numbered)
            self._blocks.clear()
            for block in following:
                self.filled += len(block.packets)
                self._write(output, block)
        output.refuse(self._refused)
        self._refused = []

    def try_open(self) -> bool:
        """Open the capture if nobody else writes it; True if it is open."""
        try:
            self.open()
        except CaptureInUseError:
            return False
        return True

    def write(self, block: Block) -> None:
        """See :class:`app.gateway.outputs.Output`."""
        if self._output is not None:
            if block.arrival_us > self._looks_until_us:
                self._look_no_more()
            if following := followed(block, self._seams):
                self._write(self._output, following)
            return
        self._blocks.append(block)
        while self._blocks[0].arrival_us < block.arrival_us - KEEP_US:
            self._blocks.popleft()

    def pass_time(self, at_us: int) -> None:
        """See :class:`app.gateway.outputs.Output`. A spare keeps blocks only."""
        if self._output is not None:
            self._output.pass_time(at_us)

    def refuse(self, records: Iterable[RejectedRecord]) -> None:
        """See :class:`app.gateway.outputs.Output`. What a spare refuses, the other gateway refuses, too."""
        if self._output is not None:
            self._output.refuse(tuple(records))

    def decide(self, decisions: Iterable[DecisionFields]) -> None:
        """See :class:`app.gateway.outputs.Output`."""
        assert self._output is not None, "decisions wait in their feed"
        self._output.decide(tuple(decisions))

    def decided(self) -> list[str]:
        """See :class:`app.gateway.outputs.Output`."""
        assert self._output is not None, "decisions wait in their feed"
        return self._output.decided()

    def _look_no_more(self) -> None:
        """Take every packet from now on; those whose numbers are shifted stay so."""
        for name, seam in list(self._seams.items()):
            seam.edge_us = -(2**62)
            if not seam.shift:
                del self._seams[name]
        self._looks_until_us = 2**62

    def _write(self, output: CaptureOutput, block: Block) -> None:
        # The clock of the gateway before may have been ahead.
        output.write(block if block.arrival_us > output.last_us else Block(output.last_us + 1, block.packets))

    def __enter__(self) -> SpareOutput:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._output is not None:
            self._output.ends = self.ends
        self._contexts.__exit__(kind, error, trace)


def newest_packets(folder: Path) -> dict[str, Newest]:
    """Return the newest packet of each transmitter in the last ten seconds of a capture."""
    if not (folder / HEAD).exists():
        return {}
    capture = Capture.open(folder)
    tails = tail_numbers(folder)
    first = max([*tails, *capture.segment_numbers()], default=0) - 1 - KEEP_US // capture.head.segment_us
    blocks: list[Block] = []
    for number in sorted({*tails, *capture.segment_numbers()}):
        if number in tails:
            blocks += TailReader(folder).blocks(number)
        elif number >= first:
            blocks += read_segment(folder / segment_name(number)).blocks(0)
    newest: dict[str, Newest] = {}
    for block in blocks:
        for packet in block.packets:
            before = newest.get(packet.transmitter)
            if before is None or packet.ts_us[-1] > before.ts_us:
                newest[packet.transmitter] = Newest(packet.sequence, packet.ts_us[-1])
    return newest


class Seam:
    """Where the packets of a transmitter go on: behind the newest one of the capture, with its numbers.

    Args:
        last: the newest packet in the capture.
        edge_us: its event time, as the spare dates it.
        numbered: whether the sources number their packets, so that both gateways have the same numbers.

    Attributes:
        edge_us: positions up to this event time are in the capture.
        shift: what is added to the spare's numbers; None until the first packet follows.
    """

    def __init__(self, last: Newest, edge_us: int, *, numbered: bool) -> None:
        self._last, self.edge_us = last, edge_us
        self.shift: int | None = 0 if numbered else None

    def follow(self, packet: Packet) -> Packet | None:
        """Return what the capture does not have of a packet, with its number there; None for nothing."""
        after = _after(packet, self.edge_us)
        if after is None:
            return None
        if self.shift is None:
            self.shift = self._last.sequence + 1 - after.sequence
        return after if not self.shift else msgspec.structs.replace(after, sequence=after.sequence + self.shift)


def following_packets(
    kept: Iterable[Block], newest: Mapping[str, Newest], *, numbered: bool
) -> tuple[list[Block], dict[str, Seam]]:
    """Return what a capture does not have yet of a spare's blocks, and the seams for the packets that come later.

    Args:
        kept: by the spare, in order of arrival.
        newest: packets of the capture, by transmitter.
        numbered: whether the sources number their packets, so that both gateways have the same numbers.

    >>> one = Packet("ball", 7, (1000, 2000), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0))
    >>> blocks, seams = following_packets([Block(1, (one,))], {"ball": Newest(57, 1100)}, numbered=False)
    >>> [(packet.sequence, packet.ts_us) for block in blocks for packet in block.packets], seams["ball"].shift
    ([(58, (2000,))], 51)
    """
    own: dict[str, list[Packet]] = {}
    for block in (blocks := list(kept)):
        for packet in block.packets:
            own.setdefault(packet.transmitter, []).append(packet)
    seams = {
        name: Seam(last, _edge_us(own.get(name, []), last, numbered=numbered), numbered=numbered)
        for name, last in newest.items()
    }
    return [found for block in blocks if (found := followed(block, seams)) is not None], seams


def followed(block: Block, seams: Mapping[str, Seam]) -> Block | None:
    """Return a block with what follows the seams of its packets' transmitters; None if nothing does."""
    if not seams:
        return block
    packets = [
        packet if (seam := seams.get(packet.transmitter)) is None else seam.follow(packet) for packet in block.packets
    ]
    found = tuple([packet for packet in packets if packet is not None])
    return Block(block.arrival_us, found) if found else None


def _edge_us(packets: list[Packet], last: Newest, *, numbered: bool) -> int:
    """Return the event time, as the spare dates it, of the newest position of a transmitter in the capture."""
    if numbered:
        for packet in packets:
            if packet.sequence == last.sequence and abs(packet.ts_us[-1] - last.ts_us) <= _APART_US:
                return packet.ts_us[-1]
    times_us = sorted({ts_us for packet in packets for ts_us in packet.ts_us})
    interval_us = min((later - earlier for earlier, later in pairwise(times_us)), default=0)
    return last.ts_us + interval_us // 2


def _after(packet: Packet, edge_us: int) -> Packet | None:
    """Return a packet without its positions up to an event time; None if none is left."""
    if packet.ts_us[0] > edge_us:
        return packet
    first = bisect_right(packet.ts_us, edge_us)
    if first == len(packet.ts_us):
        return None
    columns = {name: getattr(packet, name)[first:] for name in ("ts_us", "x_m", "y_m", "z_m")}
    return msgspec.structs.replace(packet, **columns)
