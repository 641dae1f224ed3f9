"""The framing table: contents and width of the picture by situation. ``camera/framing.toml`` is the one in use.

A *situation* is a group of event kinds: a corner, a shot, a duel. While an event of it is recent, it pulls the point of
interest to its subject, says what else must be in the picture, and how wide the picture is. The first table that
names the kind of an event (and its variant, if the table has variants) applies to it; a table with a later beginning
(``after_s``) applies besides.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from camera.toml_tables import TableError, convert_table
from football.errors import UserError
from football.untrusted import UntrustedError, read_toml

Subject = Literal["place", "goal", "target", "player", "ball"]
Included = Literal["goal", "ball", "player"]

Seconds = Annotated[float, Meta(ge=0.0, le=60.0)]
Metres = Annotated[float, Meta(ge=4.0, le=120.0)]
Weight = Annotated[float, Meta(ge=0.0, le=10.0)]

SITUATIONS_MAX = 100
PACKAGED = Path(__file__).parent / "framing.toml"


class FramingError(UserError, ValueError):
    """A framing table is wrong; the message names file, table, key and reason."""


class Play(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Framing of open play.

    Attributes:
        width_m: width of the picture at the distance of the ball.
        widest_m: limit up to which the picture widens for what must be in it.
        players: number of likely next players that must be in the picture.
        lead_room: share of the picture's width by which the aim runs ahead of a ball that moves on.
        goal_within_m: distance in front of a goal from which the goal must be in the picture.
        goalmouth_m: width of the picture at a goal where a camera waits.
        player_m: width of the picture of one player.
    """

    width_m: Metres = 30.0
    widest_m: Metres = 60.0
    players: Annotated[int, Meta(ge=0, le=10)] = 2
    lead_room: Annotated[float, Meta(ge=0.0, le=0.3)] = 0.15
    goal_within_m: Annotated[float, Meta(ge=0.0, le=60.0)] = 20.0
    goalmouth_m: Metres = 36.0
    player_m: Metres = 10.0


class Situation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The framing while events of some kinds are recent.

    Attributes:
        name: for the user.
        kinds: of events; a first word stands for all kinds that begin with it.
        subject: what is pulled into the picture: the event's own ``place``, the ``goal`` that a shot aims at, the
            ``target`` of a pass, the event's ``player`` where he is now, or the ``ball``, which does not pull.
        weight: of the pull, against the ball's, which is 1.
        width_m: width of the picture.
        hold_s: time after which the pull begins to fade.
        decay_s: time in which it fades.
        after_s: time after the event at which it begins.
        include: what else must be in the picture.
        variants: of the kinds; empty stands for all.
        until: kinds of events that end it.
    """

    name: str
    kinds: tuple[str, ...]
    subject: Subject
    weight: Weight
    width_m: Metres
    hold_s: Seconds
    decay_s: Annotated[float, Meta(gt=0.0, le=60.0)]
    after_s: Seconds = 0.0
    include: tuple[Included, ...] = ()
    variants: tuple[str, ...] = ()
    until: tuple[str, ...] = ()

    def fits(self, kind: str, variant: str) -> bool:
        """True if events of this kind and variant belong to it."""
        return is_among(kind, self.kinds) and (not self.variants or variant in self.variants)

    def strength(self, age_s: float) -> float:
        """Return the weight of the pull at an age of its event."""
        since_s = age_s - self.after_s
        if since_s < 0:
            return 0.0
        return self.weight * max(0.0, min(1.0, 1.0 - (since_s - self.hold_s) / self.decay_s))

    @property
    def lasts_s(self) -> float:
        """Age of the event from which it pulls no more."""
        return self.after_s + self.hold_s + self.decay_s


class FramingTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The framing of open play and of all situations."""

    play: Play = Play()
    situation: tuple[Situation, ...] = ()

    def of(self, kind: str, variant: str = "") -> tuple[Situation, ...]:
        """Return the situations of an event: at most one that begins at once, and those that begin later."""
        found = [one for one in self.situation if one.fits(kind, variant)]
        at_once = [one for one in found if one.after_s == 0.0][:1]
        return (*at_once, *(one for one in found if one.after_s > 0.0))


def is_among(kind: str, kinds: tuple[str, ...]) -> bool:
    """True if a kind, or its first word, is one of ``kinds``.

    >>> is_among("restart.corner", ("restart",)), is_among("out", ("out.x",))
    (True, False)
    """
    return kind in kinds or kind.partition(".")[0] in kinds


def load_framing(path: Path = PACKAGED) -> FramingTable:
    """Load a framing table.

    Raises:
        FramingError: the file cannot be read, a key is unknown, missing or wrong, or two tables have one name.
    """
    try:
        table = convert_table(read_toml(path), FramingTable)
    except OSError as error:
        raise FramingError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (UntrustedError, TableError) as error:
        raise FramingError(f"{path}: {error}") from error
    if len(table.situation) > SITUATIONS_MAX:
        raise FramingError(f"{path}: situation: {len(table.situation)} tables, more than {SITUATIONS_MAX}")
    for key, fault in _faults(table):
        raise FramingError(f"{path}: {key}: {fault}")
    return table


def _faults(table: FramingTable) -> list[tuple[str, str]]:
    faults: list[tuple[str, str]] = []
    if table.play.widest_m < table.play.width_m:
        faults.append(("play: widest_m", f"{table.play.widest_m} is less than width_m, {table.play.width_m}"))
    names = [one.name for one in table.situation]
    for one in table.situation:
        where = f"situation {one.name!r}"
        if names.count(one.name) > 1:
            faults.append((f"{where}: name", "stands twice"))
        if not one.kinds:
            faults.append((f"{where}: kinds", "is empty: no event would belong to it"))
        for key, kinds in (("kinds", one.kinds), ("until", one.until)):
            faults += [(f"{where}: {key}", f"{kind!r} is no kind of event") for kind in kinds if not _is_kind(kind)]
    return faults


def _is_kind(kind: str) -> bool:
    """True if a text looks like a kind. Which kinds there are, a camera does not know: detectors may be added."""
    return bool(kind) and all(word.replace("_", "").isalnum() and word.islower() for word in kind.split("."))
