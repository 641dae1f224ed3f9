"""What the engine takes in at level 1: packets, frames and decisions as arrivals with event and arrival time."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from football.officials import Official
from football.packets import TRACKING_SYSTEM, Packet, raw_kind
from middleware.events import Arrival, Event


def arrival(packet: Packet) -> Arrival:
    """A packet as the engine takes it: dated by its first position, speaking up to its last."""
    event = Event(raw_kind(packet.transmitter), packet.ts_us[0], packet.transmitter, packet.sequence, packet)
    return Arrival(event, packet.ts_us[-1])


def official_arrival(told: Official, arrival_us: int, oldest_us: int) -> Arrival:
    """A decision as the engine takes it: dated when it happened, if it was said soon enough to be put in order.

    What happened before ``oldest_us`` enters as known when it was said, and is shown under the time of what it is
    about: what is final for the engine lies before that.
    """
    ts_us = told.at_us if told.at_us >= oldest_us else arrival_us
    return Arrival(Event("raw.official", ts_us, told.source, told.number, told), ts_us)


def frame_arrival(packets: Sequence[Packet], sequence: int) -> Arrival:
    """The packets of one instant of a framed input as one arrival; ``sequence`` counts the input's instants.

    The canonical order holds within: bodies by transmitter, then the ball.
    """
    order = _order_in_frame(tuple([packet.transmitter for packet in packets]))
    ordered = tuple([packets[place] for place in order])
    first_us = min([packet.ts_us[0] for packet in ordered])
    event = Event("raw.frame", first_us, TRACKING_SYSTEM, sequence, ordered)
    return Arrival(event, max([packet.ts_us[-1] for packet in ordered]))


@lru_cache(maxsize=256)
def _order_in_frame(transmitters: tuple[str, ...]) -> tuple[int, ...]:
    """Places of packets in their order in an instant, which is the same as long as the same transmitters speak."""
    names = [(name.startswith("ball"), name) for name in transmitters]
    return tuple(sorted(range(len(names)), key=names.__getitem__))
