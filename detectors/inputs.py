"""What enters level 1: packets of positions, the match sheet, and the quality that an input declares.

Coordinates: metres, origin at the centre spot, x along the pitch (goal lines at x = +-length/2), y across it,
+y to the left of a team that attacks towards +x, z up. Time: integer microseconds from the source's own zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Literal

import msgspec

from middleware.events import Arrival, Event

Team = Literal["home", "away", ""]

#: Raw kinds in canonical rank order. At one instant bodies come before the ball, so that whoever looks at a
#: ball position already knows where the players of that instant are.
RAW_KINDS = ("raw.referee", "raw.limb", "raw.player", "raw.ball", "raw.frame", "raw.official")

#: Raw kinds of people, who speak when they have something to say: nobody waits for their next word.
UNPACED_KINDS = ("raw.official",)

#: Name under which a tracking system speaks that gives all objects of an instant at once.
TRACKING_SYSTEM = "tracking system"


class Packet(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Up to ten positions of one transmitter (paper 004, IV-A), oldest first.

    Attributes:
        transmitter: ``ball``, a source's object id such as ``home_7``, or ``home_7/left_foot`` for a limb.
        sequence: counts this transmitter's packets from 0 without gaps.
        ts_us: event times, strictly increasing.
        x_m, y_m, z_m: positions; same length as ``ts_us``.
        quality: quality of location in [0, 1], one for the packet.
    """

    transmitter: str
    sequence: int
    ts_us: tuple[int, ...]
    x_m: tuple[float, ...]
    y_m: tuple[float, ...]
    z_m: tuple[float, ...]
    quality: float = 1.0


class Player(msgspec.Struct, frozen=True):
    """A line of the match sheet. ``object_id`` is the source's own id; ``starts`` on the pitch, not on the bench."""

    object_id: str
    team: Team
    name: str = ""
    shirt: int | None = None
    goalkeeper: bool = False
    starts: bool = True


#: Beyond it a position tells nothing of a player: GPS without correction has 5 m.
NOISE_MAX_M = 10.0


class Quality(msgspec.Struct, frozen=True):
    """What an input declares about itself; detectors adapt their thresholds to it.

    Attributes:
        ball_hz, body_hz: nominal rates of ball and of players (or of each limb).
        limbs: names of the limb transmitters a player carries, empty for one centroid per player.
        ball_height: whether the ball's z is measured.
        position_noise_m: standard deviation of one position.
        framed: whether all objects of an instant come together, undisturbed, as from a tracking file: then an
            instant is one input to the engine (``raw.frame``), not one a transmitter.
        kind: ``optical`` (camera tracking, one clock for all) or ``rtls`` (radio, each transmitter its own).

    Raises:
        ValueError: a noise that no position has; windows are as long as it asks.
    """

    ball_hz: float = 25.0
    body_hz: float = 25.0
    limbs: tuple[str, ...] = ()
    ball_height: bool = True
    position_noise_m: float = 0.05
    kind: Literal["optical", "rtls"] = "optical"
    framed: bool = False

    def __post_init__(self) -> None:
        if not 0.0 <= self.position_noise_m <= NOISE_MAX_M:
            raise ValueError(f"the noise of a position must be 0 to {NOISE_MAX_M:g} m, not {self.position_noise_m:g}")


class MatchSheet(msgspec.Struct, frozen=True):
    """Who plays, on what pitch, and which way, as far as it is known beforehand.

    ``attacks_positive_x`` names the team that attacks towards +x at the start of the stream; empty means
    unknown: it is then inferred from positions.
    """

    match_id: str = "match"
    home: str = "Home"
    away: str = "Away"
    length_m: float = 105.0
    width_m: float = 68.0
    attacks_positive_x: Team = ""
    players: tuple[Player, ...] = ()
    quality: Quality = Quality()


class Block(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """All packets that reached the gateway at one arrival time: the unit that is stored and sent."""

    arrival_us: int
    packets: tuple[Packet, ...]


class Official(msgspec.Struct, frozen=True, gc=False):
    """What an operator or a feed asserts: one decision. Kinds and what each needs: ``detectors.signals.official``.

    Attributes:
        source: who says it (``operator``, ``var`` ...).
        number: counts what this source says; one number is one decision, however often it comes.
        kind, variant: ``card`` and ``yellow``.
        at_us: event time of what it is about.
        team, player: whom it is about: who is booked, comes on, scores.
        other: who goes off (substitution).
        minutes: added time.
        event: id of one of our events that does not stand.
        note: for people.
    """

    source: str
    number: int
    kind: str
    at_us: int
    variant: str = ""
    team: Team = ""
    player: str = ""
    other: str = ""
    minutes: int | None = None
    event: str = ""
    note: str = ""


def team_of(object_id: str, sheet: MatchSheet) -> Team:
    """Team of an object id: by the sheet, else by the usual prefix (``home_7``), else empty."""
    for player in sheet.players:
        if player.object_id == object_id:
            return player.team
    if object_id.startswith("home_"):
        return "home"
    return "away" if object_id.startswith("away_") else ""


@cache
def raw_kind(transmitter: str) -> str:
    """Raw kind of a transmitter, by its name alone.

    >>> raw_kind("ball"), raw_kind("home_7/left_foot"), raw_kind("referee_1"), raw_kind("home_7")
    ('raw.ball', 'raw.limb', 'raw.referee', 'raw.player')
    """
    if transmitter == "ball" or transmitter.startswith("ball_"):
        return "raw.ball"
    if transmitter.startswith("referee"):
        return "raw.referee"
    return "raw.limb" if "/" in transmitter else "raw.player"


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
