"""Chooses the feed that gives a transmitter, where several do: one identity has one source at a time."""

from __future__ import annotations

import math
from collections import Counter

import msgspec

from app.gateway.agreement import Agreement
from football.packets import Packet

#: Silence of a feed about a transmitter after which another one takes over, and time for which a better feed must have
#: been heard before it takes over again; event time.
SILENT_US, RETURN_US = 500_000, 2_000_000

#: Time after a change within which the new feed's places go over from those of the old one to its own.
RAMP_US = 2_000_000

#: Quality by which a feed of the same priority must be better, and time over which quality is averaged.
_BETTER, _AVERAGED_US = 0.15, 2_000_000


class _Heard:
    """One feed's word about one transmitter: without a gap since ``since_us``, up to ``newest_us``."""

    __slots__ = ("newest_us", "priority", "quality", "since_us")

    def __init__(self, priority: int, at_us: int) -> None:
        self.priority, self.since_us, self.newest_us = priority, at_us, at_us
        self.quality = math.nan

    def hear(self, packet: Packet) -> None:
        last_us = packet.ts_us[-1]
        if not math.isnan(packet.quality):
            share = min(1.0, max(0, last_us - self.newest_us) / _AVERAGED_US)
            known = packet.quality if math.isnan(self.quality) else self.quality
            self.quality = known + share * (packet.quality - known)
        self.newest_us = max(self.newest_us, last_us)

    def is_better_than(self, other: _Heard) -> bool:
        if self.priority != other.priority:
            return self.priority < other.priority
        return self.quality > other.quality + _BETTER


class _Ramp:
    """Difference that the places of a transmitter still have after a change of its feed."""

    __slots__ = ("begin_us", "x_m", "y_m")

    def __init__(self, begin_us: int, x_m: float, y_m: float) -> None:
        self.begin_us, self.x_m, self.y_m = begin_us, x_m, y_m

    def moved(self, packet: Packet) -> Packet:
        shares = [max(0.0, 1.0 - max(0, ts_us - self.begin_us) / RAMP_US) for ts_us in packet.ts_us]
        return msgspec.structs.replace(
            packet,
            x_m=tuple(x_m + share * self.x_m for x_m, share in zip(packet.x_m, shares, strict=True)),
            y_m=tuple(y_m + share * self.y_m for y_m, share in zip(packet.y_m, shares, strict=True)),
        )


class SourceChoice:
    """Chooses among the feeds of a match, for each transmitter by itself.

    The feed with the lowest priority gives a transmitter, of equal ones the first, until another one has a quality
    that is better by ``_BETTER``. Another one takes over when that feed is silent for ``SILENT_US`` or left out
    (:mod:`app.gateway.agreement`), and a better one when it has been heard for ``RETURN_US``. Packets that overlap in
    time with those before a change are left out, so time never goes back. Places do not jump at a change: the
    difference of both feeds fades within ``RAMP_US``.

    Args:
        agreement: of the same feeds.

    Attributes:
        left_out: packets left out, by feed.
        hand_overs: changes of a transmitter's feed.
    """

    def __init__(self, agreement: Agreement) -> None:
        self._agreement = agreement
        self._heard: dict[str, dict[str, _Heard]] = {}
        self._giving: dict[str, str] = {}
        self._given_us: dict[str, int] = {}
        self._ramps: dict[str, _Ramp] = {}
        self.left_out: Counter[str] = Counter()
        self.hand_overs = 0

    def chosen(self, feed: str, priority: int, packets: tuple[Packet, ...]) -> tuple[Packet, ...]:
        """Return those packets of a feed whose transmitters it gives at present."""
        kept = []
        for packet in packets:
            if self._is_given_by(feed, priority, packet):
                kept.append(self._without_jump(packet))
            else:
                self.left_out[feed] += 1
        return tuple(kept)

    def _is_given_by(self, feed: str, priority: int, packet: Packet) -> bool:
        name, first_us, last_us = packet.transmitter, packet.ts_us[0], packet.ts_us[-1]
        heard = self._heard.setdefault(name, {})
        if self._agreement.leaves_out(feed, name):
            heard.pop(feed, None)
            return False
        own = heard.get(feed)
        if own is None or first_us > own.newest_us + SILENT_US:
            own = heard[feed] = _Heard(priority, first_us)
        own.hear(packet)
        giving = self._giving.get(name)
        if giving != feed:
            if giving is not None:
                other = heard.get(giving)
                is_silent = other is None or first_us > other.newest_us + SILENT_US
                is_better = other is not None and own.is_better_than(other) and last_us >= own.since_us + RETURN_US
                if not (is_silent or is_better) or first_us <= self._given_us[name]:
                    return False
                self.hand_overs += 1
                difference = self._agreement.between(feed, giving, name)
                if difference is not None:
                    self._ramps[name] = _Ramp(first_us, *difference)
            self._giving[name] = feed
        self._given_us[name] = max(self._given_us.get(name, last_us), last_us)
        return True

    def _without_jump(self, packet: Packet) -> Packet:
        ramp = self._ramps.get(packet.transmitter)
        if ramp is None:
            return packet
        if packet.ts_us[0] > ramp.begin_us + RAMP_US:
            del self._ramps[packet.transmitter]
            return packet
        return ramp.moved(packet)
