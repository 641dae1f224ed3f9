"""Writes a simulated match into a capture, interval by interval, while it is simulated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from football.packet_table import WIDTH_WITH_MOTION, Packets
from replay.capture import CaptureWriter
from simulator.radio.transmission import Channel, Radio, Rows
from simulator.records import PlayedInterval
from simulator.simulate import MeasuredMatch


@dataclass
class Written:
    """Figures of a written capture."""

    positions: int = 0
    packets: int = 0
    seconds: float = 0.0
    sent: int = 0
    lost: int = 0
    duplicates: int = 0
    overtaken: int = 0
    newest_us: int = -(2**62)

    @property
    def out_of_order_share(self) -> float:
        """Share of positions that arrived after one of a greater event time (004, II-A)."""
        return self.overtaken / self.positions if self.positions else 0.0

    def count(self, packets: Packets) -> None:
        """Adds the next packets, in order of arrival."""
        if not len(packets):
            return
        newest = np.maximum.accumulate(np.append(self.newest_us, packets.ts_us))
        self.overtaken += int((packets.ts_us < newest[:-1]).sum())
        self.newest_us = int(newest[-1])
        self.positions += len(packets.ts_us)
        self.packets += len(packets)


def write_simulation(
    production: MeasuredMatch,
    out: Path,
    channel: Channel,
    seed: int,
    *,
    fingerprint: str = "",
    notes: dict[str, str] | None = None,
    watch: Callable[[PlayedInterval], None] | None = None,
    after: Callable[[float, CaptureWriter], None] | None = None,
) -> Written:
    """Simulates, measures, sends and writes the whole match.

    Args:
        out: the capture's folder.
        channel, seed: radio channel.
        fingerprint, notes: see :class:`replay.capture.Head`.
        watch: called with every interval after its simulation.
        after: called with the end of every interval (seconds) when all packets that arrived by then are written.
    """
    radio = Radio(production.names, channel, seed, WIDTH_WITH_MOTION)
    written = Written()
    until_us = 0
    with CaptureWriter(
        out, production.sheet, fingerprint=fingerprint, channel=channel.name, seed=seed, slot_us=channel.slot_us,
        notes=notes,
    ) as writer:  # fmt: skip
        for interval, rows, until_us in production.measured(watch):
            packets = radio.send(rows, until_us)
            written.count(packets)
            writer.write(packets)
            written.seconds = interval.end_s
            if after is not None:
                after(interval.end_s, writer)
        empty = Rows(np.empty(0, np.int64), np.empty((0, WIDTH_WITH_MOTION), np.int32))
        packets = radio.send([empty] * len(production.names), until_us, final=True)
        written.count(packets)
        writer.write(packets)
        written.sent, written.lost, written.duplicates = radio.sent, radio.lost, radio.duplicates
        noted = ("positions", "sent", "lost", "duplicates", "overtaken")
        writer.closing_notes = {name: str(getattr(written, name)) for name in noted}
    return written
