"""Validation of blocks: which parts of a payload may enter the engine; the rest goes to quarantine with a reason.

Nothing is dropped silently: every part that is taken out is returned as a :class:`RejectedRecord` with its location
and the reason. A bad position is removed and the rest of its packet is used. A packet without a name, or with nothing
left in it, is removed. Bytes that are no block at all are rejected whole. The functions are pure: the same payload
gives the same result, so a redone batch quarantines the same records.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import dist
from operator import lt

import numpy as np

from football.match_sheet import MatchSheet
from football.packets import Block, InstantBlock, PackedInstant, Packet, RejectedRecord, raw_kind
from football.untrusted import ID_CHARACTERS_MAX, NUMBER_MAX, is_text
from replay import refused_records, wire
from replay.refused_records import is_refused

#: How far outside the pitch a position may lie, in metres: stands, benches and a ball kicked away are within.
MARGIN_M = 60.0

#: Lowest and highest credible height in metres (a player in a pit of noise; a ball kicked straight up).
HEIGHT_M = (-5.0, 60.0)

#: An arrival time may precede an event time by this much. Captures are exact, so nothing is allowed.
CLOCK_TOLERANCE_US = 0

#: A packet whose positions lie further from its first one, in metres, is looked at one by one.
REACH_M = 4.0

_LOW_M, _HIGH_M = HEIGHT_M[0] + REACH_M, HEIGHT_M[1] - REACH_M

_RAW_CHARACTERS = 120


class BlockValidator:
    """Validates blocks of one match sheet. ``check`` is pure.

    Unknown transmitters can only be recognised if the sheet lists players; ball and referees are always known.
    """

    def __init__(self, sheet: MatchSheet) -> None:
        self._players = frozenset(player.object_id for player in sheet.players)
        limbs = {f"{player}/{limb}" for player in self._players for limb in sheet.quality.limbs}
        self._expected = self._players | limbs | {"ball"}
        self._x_m = sheet.length_m / 2 + MARGIN_M
        self._y_m = sheet.width_m / 2 + MARGIN_M
        self._x_near_m, self._y_near_m = self._x_m - REACH_M, self._y_m - REACH_M
        #: Bounds of x, y, z and quality; and the transmitters of the newest instant that are all known.
        self._low = np.array([[-self._x_m], [-self._y_m], [HEIGHT_M[0]], [0.0]])
        self._high = np.array([[self._x_m], [self._y_m], [HEIGHT_M[1]], [1.0]])
        self._known: tuple[str, ...] = ()

    def check(self, payload: bytes, where: str) -> tuple[Block | InstantBlock | None, tuple[RejectedRecord, ...]]:
        """Return the valid part of a payload, and the rejected records. ``where`` names the payload in ``record``."""
        block, rejected = decode_block(payload, where)
        return (None, rejected) if block is None else self.check_decoded(block, where)

    def check_decoded(
        self, block: Block | InstantBlock, where: str
    ) -> tuple[Block | InstantBlock, tuple[RejectedRecord, ...]]:
        """Check a decoded block as :meth:`check` does; returns that very block if all is valid."""
        arrival_us = block.arrival_us
        if isinstance(block, InstantBlock):
            if self._is_valid(block.instant, arrival_us):
                return block, ()
            block = Block(arrival_us, block.packets)
        suspects = self._suspects(block.packets, arrival_us)
        if not suspects:
            return block, ()
        rejected: list[RejectedRecord] = []
        packets: list[Packet | None] = list(block.packets)
        for index in suspects:
            packets[index] = self._clean(block.packets[index], arrival_us, f"{where} packet {index}", rejected)
        if not rejected:
            return block, ()
        return Block(arrival_us, tuple(p for p in packets if p is not None)), tuple(rejected)

    def _suspects(self, packets: Sequence[Packet], arrival_us: int) -> list[int]:
        """Return the indices of the packets that need a closer look; all of any other one is valid.

        Positions of one packet lie close together, so their distance from the first one (in the sense of a
        vector of ten numbers) bounds them all in one call; a NaN makes every comparison False. One loop over a block,
        because a call for each packet would cost more than its comparisons.
        """
        expected, x_near_m, y_near_m = self._expected, self._x_near_m, self._y_near_m
        newest_us = arrival_us + CLOCK_TOLERANCE_US
        suspects = []
        for index, packet in enumerate(packets):
            ts, x, y, z = packet.ts_us, packet.x_m, packet.y_m, packet.z_m
            size = len(ts)
            if not (
                size
                and len(x) == len(y) == len(z) == size
                and -x_near_m <= (x0 := x[0]) <= x_near_m
                and -y_near_m <= (y0 := y[0]) <= y_near_m
                and _LOW_M <= (z0 := z[0]) <= _HIGH_M
                and ts[0] > -NUMBER_MAX
                and ts[-1] <= newest_us
                and 0 <= packet.sequence < NUMBER_MAX
                and 0.0 <= packet.quality <= 1.0
                and (packet.transmitter in expected or self._is_known(packet.transmitter))
                and (
                    size == 1
                    or (
                        dist(x, (x0,) * size) <= REACH_M
                        and dist(y, (y0,) * size) <= REACH_M
                        and dist(z, (z0,) * size) <= REACH_M
                        and all(map(lt, ts, ts[1:]))
                    )
                )
            ):
                suspects.append(index)
        return suspects

    def _is_valid(self, instant: PackedInstant, arrival_us: int) -> bool:
        """True if all of an instant is valid, by columns; a NaN makes its comparisons False."""
        if not -NUMBER_MAX < instant.ts_us <= arrival_us + CLOCK_TOLERANCE_US:
            return False
        if min(instant.sequences) < 0 or max(instant.sequences) >= NUMBER_MAX:
            return False
        if instant.names is not self._known:
            if not all(name in self._expected or self._is_known(name) for name in instant.names):
                return False
            self._known = instant.names
        table = instant.table
        return bool(((self._low <= table) & (table <= self._high)).all())

    def _is_known(self, transmitter: str) -> bool:
        if not is_text(transmitter, ID_CHARACTERS_MAX):
            return False
        if not self._players:
            return bool(transmitter)
        if raw_kind(transmitter) in ("raw.ball", "raw.referee", "raw.flag"):
            return True
        return transmitter.partition("/")[0] in self._players

    def _whole(self, packet: Packet) -> str:
        """Return the reason to reject the packet as a whole, or empty."""
        if not packet.transmitter:
            return "no transmitter"
        if not is_text(packet.transmitter, ID_CHARACTERS_MAX):
            return "name of a transmitter that is too long, or has control characters"
        if not self._is_known(packet.transmitter):
            return "unknown transmitter: not on the match sheet"
        if packet.sequence < 0:
            return "negative sequence number"
        if packet.sequence >= NUMBER_MAX:
            return "sequence number that cannot be"
        if not packet.ts_us:
            return "packet without positions"
        if not len(packet.ts_us) == len(packet.x_m) == len(packet.y_m) == len(packet.z_m):
            return "columns of different lengths"
        if not 0.0 <= packet.quality <= 1.0:
            return "quality of location outside 0..1"
        return ""

    def _clean(self, packet: Packet, arrival_us: int, where: str, out: list[RejectedRecord]) -> Packet | None:
        """Return the packet without its bad positions, or None; append the rejected ones to ``out``."""
        name, sequence = packet.transmitter[:ID_CHARACTERS_MAX], packet.sequence
        if reason := self._whole(packet):
            first_us = packet.ts_us[0] if packet.ts_us else None
            out.append(RejectedRecord(where, name, sequence, first_us, reason, _short(packet)))
            return None
        good: list[int] = []
        for index, reason in enumerate(self._reasons(packet, arrival_us)):
            if not reason:
                good.append(index)
                continue
            row = (packet.ts_us[index], packet.x_m[index], packet.y_m[index], packet.z_m[index])
            record = f"{where} position {index}"
            out.append(RejectedRecord(record, name, sequence, packet.ts_us[index], reason, _short(row)))
        if len(good) == len(packet.ts_us):
            return packet
        if not good:
            return None
        columns = (packet.ts_us, packet.x_m, packet.y_m, packet.z_m)
        ts, x, y, z = (tuple(column[i] for i in good) for column in columns)
        return Packet(name, sequence, ts, x, y, z, packet.quality)  # type: ignore[arg-type]

    def _reasons(self, packet: Packet, arrival_us: int) -> Iterator[str]:
        """Yield for each position the reason to reject it, or empty."""
        newest_us: int | None = None
        for ts, x, y, z in zip(packet.ts_us, packet.x_m, packet.y_m, packet.z_m, strict=True):
            if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
                yield "position is not a number"
            elif abs(x) > self._x_m or abs(y) > self._y_m or not HEIGHT_M[0] <= z <= HEIGHT_M[1]:
                yield f"outside the tracking volume (pitch + {MARGIN_M:g} m)"
            elif ts <= -NUMBER_MAX:
                yield "event time that cannot be"
            elif ts > arrival_us + CLOCK_TOLERANCE_US:
                yield "arrived before its event time"
            elif newest_us is not None and ts <= newest_us:
                yield "event time does not increase within the packet"
            else:
                newest_us = ts
                yield ""


def decode_block(payload: bytes, where: str) -> tuple[Block | InstantBlock | None, tuple[RejectedRecord, ...]]:
    """Decode a payload without checking it; None and the rejected records if it is no block at all."""
    if is_refused(payload):
        return None, refused_records.decode(payload, where)
    try:
        return wire.decode(payload), ()
    except wire.WireError as error:
        return None, (RejectedRecord(where, "", -1, None, str(error), _short(payload)),)


@lru_cache(maxsize=64)
def validator_of(sheet: MatchSheet) -> BlockValidator:
    """Return the validator of a sheet, from a cache."""
    return BlockValidator(sheet)


def check_block(
    payload: bytes, sheet: MatchSheet, where: str
) -> tuple[Block | InstantBlock | None, tuple[RejectedRecord, ...]]:
    """Return the valid part of a payload (None if it is no block at all) and the rejected records. Pure.

    Args:
        payload: bytes as in :mod:`replay.wire`.
        sheet: decides the tracking volume, and the known transmitters if it lists players.
        where: names the payload in the rejected records.
    """
    return validator_of(sheet).check(payload, where)


def bounded(number: int | None, otherwise: int | None) -> int | None:
    """Return a claimed number if it can be stored, else ``otherwise``."""
    return number if number is None or -NUMBER_MAX < number < NUMBER_MAX else otherwise


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _RAW_CHARACTERS else text[: _RAW_CHARACTERS - 3] + "..."
