"""Players whom a tracking system takes for each other.

Theory of operation
-------------------
Where two players meet, a tracking system may exchange them: from one instant to the next each is where the other one
was to be. Nobody runs like that, least of all two players into each other's places, so an exchange is seen as it
happens. From then on each is given the positions that come under the other one's name, until the system takes the
exchange back, wherever the two are by then.

An exchange of two players who are far apart, and had not been exchanged, is left as it is: somebody has corrected one
that was not seen, as the two ran through each other. One that began where two met, and is not taken back in time, may
have been such a correction. So then the names count again.

Several exchanges at once make a permutation of names: who is whose is kept by transmitter, and each further exchange is
seen between players who are right already.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Annotated, NamedTuple

import msgspec

from detectors.reasons import reason
from football.packets import PackedInstant, Packet
from football.payloads import BodyState
from middleware.events import Event


class ExchangeParameters(msgspec.Struct, frozen=True):
    """When two players are exchanged.

    Attributes:
        apart_m: each of them is at least so far from where he was to be.
        fit_m: each of them is at most so far from where the other one was to be, and at most half as far as from where
            he was to be himself.
        meet_m: they are at most so far apart.
        lasts_us: an exchange that is not taken back for this long was none.
        gap_us: a player was last tracked at most so long ago.
    """

    apart_m: Annotated[
        float, reason("Ours: at 25 Hz ten times what an acceleration of 8 m/s2 adds, and six times the noise.")
    ] = 0.4
    fit_m: Annotated[
        float,
        reason("Ours. Generated matches, `optical_swaps` and `ragged`, 671, 684, 690 and 692: at most 0.25 m of 356."),
    ] = 0.4
    meet_m: Annotated[float, reason("Ours: two who run for one ball, and a frame or two.")] = 2.5
    lasts_us: Annotated[int, reason("Ours: an operator has seen it by then.")] = 30_000_000
    gap_us: Annotated[int, reason("As frame_fusion.hold_us.")] = 200_000


class Exchanged(msgspec.Struct, frozen=True, gc=False):
    """A transmitter that gives another player's positions.

    Attributes:
        transmitter: its name.
        player: the name of the one whose positions they are.
        since_us: event time since when.
    """

    transmitter: str
    player: str
    since_us: int


#: All transmitters that give others' positions, in the order of their names: they are each other's.
Exchanges = tuple[Exchanged, ...]


class Stray(NamedTuple):
    """A player who is not where he was to be: his name; where he is; where he was to be; how far from there, metres."""

    name: str
    at_m: tuple[float, float]
    due_m: tuple[float, float]
    off_m: float


def put_right(instant: PackedInstant, exchanges: Exchanges) -> PackedInstant | None:
    """Return an instant in which each player has his own positions; None if one who is exchanged is not in it."""
    column = {name: index for index, name in enumerate(instant.names)}
    order = list(range(len(column)))
    for one in exchanges:
        if one.transmitter not in column or one.player not in column:
            return None
        order[column[one.player]] = column[one.transmitter]
    columns = instant.table[:, order].tobytes()
    return PackedInstant(instant.ts_us, instant.names, instant.sequences, columns)


def put_packets_right(packets: Sequence[Packet], exchanges: Exchanges) -> Sequence[Packet]:
    """Return packets in which each player has his own positions; none of those who are exchanged with one without."""
    if not exchanges:
        return packets
    comes_from = {one.player: one.transmitter for one in exchanges}
    given = {packet.transmitter: packet for packet in packets}
    out: list[Packet] = []
    for packet in packets:
        name = packet.transmitter
        if name not in comes_from:
            out.append(packet)
        elif all(member in given for member in _cycle(comes_from, name)):
            his = given[comes_from[name]]
            right = Packet(name, packet.sequence, his.ts_us, his.x_m, his.y_m, his.z_m, his.quality)
            out.append(right)
    return out


def still_exchanged(exchanges: Exchanges, now_us: int, p: ExchangeParameters) -> Exchanges:
    """Return those that are not too old, with all who are exchanged with them."""
    if all(now_us - one.since_us <= p.lasts_us for one in exchanges):
        return exchanges
    comes_from = {one.player: one.transmitter for one in exchanges}
    old = [one.player for one in exchanges if now_us - one.since_us > p.lasts_us]
    ended = {member for name in old for member in _cycle(comes_from, name)}
    return tuple([one for one in exchanges if one.player not in ended])


def stray_of(packet: Packet, newest: Event | None, p: ExchangeParameters) -> Stray | None:
    """Return the player of a packet as one who strays; None if he does not, or was not tracked lately.

    Args:
        packet: of any transmitter.
        newest: its newest sample; a player's is a :class:`BodyState`.
        p: limits.
    """
    body = newest.payload if newest is not None else None
    if newest is None or not isinstance(body, BodyState) or not 0 < packet.ts_us[0] - newest.ts_us <= p.gap_us:
        return None
    ahead_s = (packet.ts_us[0] - newest.ts_us) * 1e-6
    at_m, due_m = (packet.x_m[0], packet.y_m[0]), (body.x_m + body.vx_m_s * ahead_s, body.y_m + body.vy_m_s * ahead_s)
    off_m = math.dist(at_m, due_m)
    return Stray(packet.transmitter, at_m, due_m, off_m) if off_m >= p.apart_m else None


def exchange(exchanges: Exchanges, strays: Sequence[Stray], ts_us: int, p: ExchangeParameters) -> Exchanges:
    """Return who is exchanged after an instant at which some players stray.

    Args:
        exchanges: before it.
        strays: players as they are with these put right.
        ts_us: its event time.
        p: limits.
    """
    given_by = {one.player: one.transmitter for one in exchanges}
    after: dict[str, Exchanged] = {one.transmitter: one for one in exchanges}
    free = {stray.name for stray in strays}
    for _, one, other in sorted(_fits(strays, p)):
        if one.name not in free or other.name not in free:
            continue
        first, second = given_by.get(one.name, one.name), given_by.get(other.name, other.name)
        taken_back = first == other.name or second == one.name
        if not taken_back and math.dist(one.due_m, other.due_m) > p.meet_m:
            continue
        free -= {one.name, other.name}
        given_by |= {other.name: first, one.name: second}
        after |= {first: Exchanged(first, other.name, ts_us), second: Exchanged(second, one.name, ts_us)}
    return tuple([its for name, its in sorted(after.items()) if its.player != name])


def _fits(strays: Sequence[Stray], p: ExchangeParameters) -> list[tuple[float, Stray, Stray]]:
    """Return pairs in each other's places, with the larger of the two distances from there."""
    pairs = [
        (max(math.dist(one.at_m, other.due_m), math.dist(other.at_m, one.due_m)), one, other)
        for one, other in combinations(strays, 2)
    ]
    return [pair for pair in pairs if pair[0] <= min(p.fit_m, 0.5 * pair[1].off_m, 0.5 * pair[2].off_m)]


def _cycle(comes_from: Mapping[str, str], name: str) -> list[str]:
    """Return the names that are exchanged among themselves, ``name`` one of them."""
    members = [name]
    while (after := comes_from[members[-1]]) != name:
        members.append(after)
    return members
