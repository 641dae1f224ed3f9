"""Arrivals of the engine: packets, frames, decisions of officials and the end, with event and arrival time."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from football.officials import Official
from football.packets import ALIVE_FLAG, TRACKING_SYSTEM, PackedInstant, Packet, pack_instant, raw_kind
from middleware.events import Arrival, Event


def arrival(packet: Packet) -> Arrival:
    """A packet as an arrival: dated by its first position, complete up to its last."""
    event = Event(raw_kind(packet.transmitter), packet.ts_us[0], packet.transmitter, packet.sequence, packet)
    return Arrival(event, packet.ts_us[-1])


def official_arrival(decision: Official, arrival_us: int, oldest_us: int) -> Arrival:
    """A decision as an arrival: dated when it was made, if it arrives soon enough to be put in order.

    A decision made before ``oldest_us``, where the engine is final, is dated at its arrival. What it concludes is shown
    at the time that the decision is about.
    """
    ts_us = decision.at_us if decision.at_us >= oldest_us else arrival_us
    return Arrival(Event("raw.official", ts_us, decision.source, decision.number, decision), ts_us)


def end_arrival(newest_us: int) -> Arrival:
    """The end of the stream as an arrival, just after the newest input; a host gives it as the last one."""
    return Arrival(Event("raw.end", newest_us + 1, "stream"), newest_us + 1)


def instant_arrivals(packets: Sequence[Packet] | PackedInstant, sequence: int) -> list[Arrival]:
    """The packets of one instant of a framed input as arrivals: those of its objects as one, the flag as its own."""
    names = packets.names if isinstance(packets, PackedInstant) else [packet.transmitter for packet in packets]
    if ALIVE_FLAG not in names:
        return [frame_arrival(packets, sequence)]
    every = packets.packets if isinstance(packets, PackedInstant) else packets
    objects = [packet for packet in every if packet.transmitter != ALIVE_FLAG]
    flags = [arrival(packet) for packet in every if packet.transmitter == ALIVE_FLAG]
    return [frame_arrival(objects, sequence), *flags] if objects else flags


def frame_arrival(packets: Sequence[Packet] | PackedInstant, sequence: int) -> Arrival:
    """The packets of one instant of a framed input as one arrival; ``sequence`` counts the input's instants.

    The canonical order holds within: bodies by transmitter, then the ball. The payload is in columns if it can be.
    """
    instant = packets if isinstance(packets, PackedInstant) else pack_instant(packets)
    if instant is not None:
        ts_us = instant.ts_us
        return Arrival(Event("raw.frame", ts_us, TRACKING_SYSTEM, sequence, _ordered(instant)), ts_us)
    assert not isinstance(packets, PackedInstant)
    order, _ = _order_in_frame(tuple([packet.transmitter for packet in packets]))
    ordered = tuple([packets[index] for index in order])
    first_us = min([packet.ts_us[0] for packet in ordered])
    event = Event("raw.frame", first_us, TRACKING_SYSTEM, sequence, ordered)
    return Arrival(event, max([packet.ts_us[-1] for packet in ordered]))


def _ordered(instant: PackedInstant) -> PackedInstant:
    order, names = _order_in_frame(instant.names)
    if names is instant.names:
        return instant
    sequences = instant.sequences
    columns = instant.table[:, order].tobytes()
    return PackedInstant(instant.ts_us, names, tuple([sequences[index] for index in order]), columns)


@lru_cache(maxsize=256)
def _order_in_frame(transmitters: tuple[str, ...]) -> tuple[list[int], tuple[str, ...]]:
    """Indices of the packets of an instant in canonical order, and their names in it, which are one tuple for all."""
    names = [(name.startswith("ball"), name) for name in transmitters]
    order = sorted(range(len(names)), key=names.__getitem__)
    ordered = tuple([transmitters[index] for index in order])
    return order, transmitters if ordered == transmitters else ordered
