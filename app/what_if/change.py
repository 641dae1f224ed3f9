"""A change to a match: settings, thresholds, packets; and the packets of a capture with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Final

import msgspec

from app.settings.parameters import parameters_from
from detectors.catalogue import OPT_IN
from detectors.parameters import Parameters, all_parameters
from football.errors import UserError
from football.match_sheet import MatchSheet
from football.packets import Block, Packet

#: Longest stretch that is played, what is played before it so that the detectors know their past, and longest delay.
STRETCH_MAX_US: Final = 120_000_000
LEAD_US: Final = 30_000_000
DELAY_MAX_MS: Final = 30_000
#: Changes of one kind in one request.
_CHANGES_MAX: Final = 20

_Ms = Annotated[int, msgspec.Meta(ge=1, le=DELAY_MAX_MS)]
_Metres = Annotated[float, msgspec.Meta(ge=-150.0, le=150.0)]


class WhatIfError(UserError, ValueError):
    """A change that cannot be made, or a match that cannot be played again; the message has the reason."""


class Delay(msgspec.Struct, frozen=True):
    """Packets that arrive later by ``by_ms``: those of an object, or of all with an empty id."""

    object_id: str
    by_ms: _Ms


class Move(msgspec.Struct, frozen=True):
    """An object that is elsewhere: all its positions are moved by some metres."""

    object_id: str
    dx_m: _Metres
    dy_m: _Metres


class Change(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A stretch of a match, and what is otherwise in it. What is not given is as it was recorded.

    Attributes:
        begin_us, end_us: stretch of event time. Changes to packets hold in the stretch only.
        alpha: share of the slack that units wait.
        slack_ms: fixed slack of all units.
        thresholds: values by path, such as ``near.enter_m``.
        detectors: opt-in detectors in addition.
        delays, moves: of packets and positions.
        removed: object ids without packets.
    """

    begin_us: int
    end_us: int
    alpha: Annotated[float, msgspec.Meta(ge=0.0, le=1.0)] | None = None
    slack_ms: Annotated[int, msgspec.Meta(ge=0, le=DELAY_MAX_MS)] | None = None
    thresholds: dict[str, float] = {}
    detectors: tuple[str, ...] = ()
    delays: tuple[Delay, ...] = ()
    moves: tuple[Move, ...] = ()
    removed: tuple[str, ...] = ()

    @property
    def in_time(self) -> bool:
        """True if it is about when packets arrive and results leave, and not only about what they say."""
        return self.alpha is not None or self.slack_ms is not None or bool(self.delays)

    @property
    def alters_packets(self) -> bool:
        """True if packets differ from the recorded ones."""
        return bool(self.delays or self.moves or self.removed)

    @property
    def is_empty(self) -> bool:
        """True if everything is as recorded."""
        return not (self.in_time or self.alters_packets or self.thresholds or self.detectors)


def check_stretch(begin_us: int, end_us: int) -> None:
    """Check the length of a stretch. Raises WhatIfError if it is empty or too long."""
    if not 0 < end_us - begin_us <= STRETCH_MAX_US:
        raise WhatIfError(f"a stretch ends after it begins, by {STRETCH_MAX_US // 1_000_000} s at most")


def check(change: Change, sheet: MatchSheet) -> None:
    """Check what a change names against the match.

    Raises:
        WhatIfError: it names an object or a detector that there is none of, or too long a stretch.
    """
    check_stretch(change.begin_us, change.end_us)
    if change.is_empty:
        raise WhatIfError("nothing is changed")
    if len(change.thresholds) + len(change.delays) + len(change.moves) + len(change.removed) > _CHANGES_MAX:
        raise WhatIfError(f"at most {_CHANGES_MAX} changes at once")
    objects = {"ball", *(player.object_id for player in sheet.players)}
    named = [*change.removed, *(one.object_id for one in (*change.moves, *change.delays) if one.object_id)]
    if unknown := sorted(set(named) - objects):
        raise WhatIfError(f"no object {', '.join(unknown)} in this match")
    if unknown := sorted(set(change.detectors) - set(OPT_IN)):
        raise WhatIfError(f"no detector {', '.join(unknown)} can be asked for; there are {', '.join(OPT_IN)}")
    if sheet.quality.framed and any(one.object_id for one in change.delays):
        raise WhatIfError("this input has all objects of an instant in one packet: a delay is of all of them")


def with_thresholds(parameters: Parameters, thresholds: Mapping[str, float]) -> Parameters:
    """Return parameters with other values.

    Raises:
        ParametersError: no such parameter, or a value out of range.
    """
    types = {one.path: type(one.value) for one in all_parameters(parameters)}
    given: dict[str, Any] = msgspec.to_builtins(parameters)
    for path, value in thresholds.items():
        *groups, name = path.split(".")
        group = given
        for part in groups:
            inner = group.setdefault(part, {})
            group = inner if isinstance(inner, dict) else {}
        group[name] = int(value) if types.get(path) is int and value == int(value) else value
    return parameters_from(given, "what if")


def altered(blocks: Iterable[Block], change: Change, *, framed: bool) -> Iterator[Block]:
    """Yield blocks with the packets of the stretch changed, in order of arrival.

    A packet belongs to the stretch by its first event time. Delayed packets are a block of their own, or join one that
    arrives at the same time. Of a framed input, which comes over one line, all that follows a delayed block waits.
    """
    if framed:
        last_us = -(2**62)
        for block in blocks:
            found = [_changed(packet, change) for packet in block.packets]
            arrival_us = max([last_us + 1, *(block.arrival_us + by_us for _, by_us in found)])
            if kept := tuple(packet for packet, _ in found if packet is not None):
                last_us = arrival_us
                yield Block(arrival_us, kept)
        return
    yield from _regrouped(blocks, change)


def _regrouped(blocks: Iterable[Block], change: Change) -> Iterator[Block]:
    waiting: dict[int, list[Packet]] = {}
    for block in blocks:
        for due_us in sorted(us for us in waiting if us < block.arrival_us):
            yield Block(due_us, tuple(waiting.pop(due_us)))
        kept = []
        for packet in block.packets:
            found, by_us = _changed(packet, change)
            if found is not None and by_us:
                waiting.setdefault(block.arrival_us + by_us, []).append(found)
            elif found is not None:
                kept.append(found)
        kept += waiting.pop(block.arrival_us, [])
        if kept:
            yield Block(block.arrival_us, tuple(kept))
    for due_us in sorted(waiting):
        yield Block(due_us, tuple(waiting[due_us]))


def _changed(packet: Packet, change: Change) -> tuple[Packet | None, int]:
    """The packet with the change, None without it; and by how much it arrives later."""
    if not packet.ts_us or not change.begin_us <= packet.ts_us[0] < change.end_us:
        return packet, 0
    name = packet.transmitter.partition("/")[0]
    if name in change.removed:
        return None, 0
    for move in change.moves:
        if move.object_id == name:
            x_m = tuple(round(x + move.dx_m, 3) for x in packet.x_m)
            y_m = tuple(round(y + move.dy_m, 3) for y in packet.y_m)
            packet = msgspec.structs.replace(packet, x_m=x_m, y_m=y_m)
    return packet, 1_000 * sum(one.by_ms for one in change.delays if one.object_id in ("", name))
