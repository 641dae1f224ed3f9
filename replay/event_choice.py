"""A choice among events, as people state it: kinds, team, players by name or shirt number, a stretch of the match."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from difflib import get_close_matches
from functools import cache

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from football.errors import UserError
from football.match_sheet import MatchSheet, Player
from football.update_stream import EventRecord

#: Limit of the names that an error lists.
_LISTED_MAX = 8

_CLOCK = re.compile(r"(?:(\d+):)?(?:(\d+):)?(\d+(?:\.\d+)?)")


class ChoiceError(UserError, ValueError):
    """A choice that no event can meet; the message has the reason."""


class Choice(msgspec.Struct, frozen=True):
    """Conditions on events, all of which must hold; an empty one holds for every event.

    Attributes:
        kinds: kinds, or their first words: ``pass`` stands for ``pass.attempt``, ``pass.complete`` and so on.
        team: ``home`` or ``away``.
        players: object ids.
        from_us, to_us: event times, the second one excluded.
    """

    kinds: tuple[str, ...] = ()
    team: str = ""
    players: tuple[str, ...] = ()
    from_us: int | None = None
    to_us: int | None = None

    def takes(self, event: EventRecord) -> bool:
        """True if an event meets all conditions."""
        return (
            (not self.kinds or any(_is_of(event.kind, chosen) for chosen in self.kinds))
            and self.team in ("", event.team)
            and (not self.players or event.player in self.players)
            and (self.from_us is None or event.ts_us >= self.from_us)
            and (self.to_us is None or event.ts_us < self.to_us)
        )

    def rows(self, table: pa.Table) -> pa.Table:
        """The rows of a table of events or updates that meet all conditions.

        Raises:
            ChoiceError: see :func:`check_kinds`, for kinds that the table does not have.
        """
        mask = pc.is_valid(table["kind"])
        if self.kinds:
            known = pc.unique(table["kind"]).to_pylist()
            chosen = [kind for kind in known if any(_is_of(kind, wanted) for wanted in self.kinds)]
            check_kinds(wanted for wanted in self.kinds if not any(_is_of(kind, wanted) for kind in known))
            mask = pc.and_(mask, pc.is_in(table["kind"], pa.array(chosen, pa.string())))
        if self.team:
            mask = pc.and_(mask, pc.equal(table["team"], self.team))
        if self.players:
            mask = pc.and_(mask, pc.is_in(table["player"], pa.array(self.players, pa.string())))
        if self.from_us is not None:
            mask = pc.and_(mask, pc.greater_equal(table["ts_us"], self.from_us))
        if self.to_us is not None:
            mask = pc.and_(mask, pc.less(table["ts_us"], self.to_us))
        return table.filter(mask)


def make_choice(
    sheet: MatchSheet,
    kind: str | Iterable[str] = (),
    team: str = "",
    player: str | int = "",
    begin: str | float | None = None,
    end: str | float | None = None,
) -> Choice:
    """A choice in the words of a person.

    Args:
        sheet: of the match; it has the names of teams and players.
        kind: a kind or its first word; several, or one text with commas.
        team: ``home``, ``away``, or the team's name.
        player: object id, number of the shirt, or a part of the name.
        begin, end: time of the match as ``4:01``, ``1:07:30`` or seconds.

    Raises:
        ChoiceError: the sheet has no such team or player, or a time is none.
    """
    kinds = tuple(kind.replace(",", " ").split() if isinstance(kind, str) else kind)
    side = _team(team, sheet) if team else ""
    players = _players(str(player), side, sheet) if player != "" else ()
    from_us, to_us = (None if time is None else parse_time_us(time) for time in (begin, end))
    if from_us is not None and to_us is not None and from_us >= to_us:
        raise ChoiceError(f"no event lies from {begin} to {end}: the end must be later")
    return Choice(kinds, side, players, from_us, to_us)


def parse_time_us(text: str | float) -> int:
    """A time of the match in microseconds: seconds, ``m:ss`` or ``h:mm:ss``.

    >>> [parse_time_us(text) for text in (1.5, "241", "4:01.25", "1:00:00")]
    [1500000, 241000000, 241250000, 3600000000]

    Raises:
        ChoiceError: it is none of these.
    """
    if isinstance(text, int | float) and math.isfinite(text):
        return round(text * 1e6)
    found = _CLOCK.fullmatch(str(text))
    if found is None:
        raise ChoiceError(f"{text} is no time of a match: give seconds, or minutes and seconds such as 4:01")
    first, second, seconds = found.groups()
    hours, minutes = (first or 0, second) if second is not None else (0, first or 0)
    return round((int(hours) * 3600 + int(minutes) * 60 + float(seconds)) * 1e6)


def format_time(ts_us: int) -> str:
    """A time of the match as minutes, seconds and milliseconds.

    >>> format_time(241_240_400), format_time(-500_000)
    ('4:01.240', '-0:00.500')
    """
    minutes, ms = divmod(abs(ts_us) // 1_000, 60_000)
    return f"{'-' if ts_us < 0 else ''}{minutes}:{ms // 1_000:02d}.{ms % 1_000:03d}"


@cache
def _known_words() -> frozenset[str]:
    """The published kinds of all detectors, and their first words."""
    from detectors.catalogue import catalogue

    kinds = [types.kind for entry in catalogue() for types in entry.types if not types.internal]
    return frozenset(kinds) | {kind.partition(".")[0] for kind in kinds}


def kinds_with(word: str) -> list[str]:
    """The kinds of detectors that contain a word, for a hint where nothing was found.

    >>> kinds_with("corner")
    ['restart.corner']
    """
    return [kind for kind in sorted(_known_words()) if word in kind.split(".")[1:]]


def check_kinds(kinds: Iterable[str]) -> None:
    """Refuse kinds that look mistyped; others may be those of a user's own detectors, which no catalogue has.

    Raises:
        ChoiceError: names similar kinds.
    """
    for kind in kinds:
        words = _known_words()
        if not any(_is_of(word, kind) for word in words) and (near := get_close_matches(kind, sorted(words), 3, 0.7)):
            raise ChoiceError(f"no detector emits {kind}; near it: {', '.join([*kinds_with(kind), *near])}")


def _team(text: str, sheet: MatchSheet) -> str:
    for side, name in (("home", sheet.home), ("away", sheet.away)):
        if text.casefold() in (side, name.casefold()):
            return side
    raise ChoiceError(f"there is no team {text}: give home ({sheet.home}) or away ({sheet.away})")


def _players(text: str, side: str, sheet: MatchSheet) -> tuple[str, ...]:
    squad = [player for player in sheet.players if side in ("", player.team)]
    for fits in (_has_id, _has_shirt, _has_name):
        if found := tuple(player.object_id for player in squad if fits(player, text)):
            return found
    if not sheet.players:  # a match sheet need not list them
        return (text,)
    some = ", ".join(player.name or player.object_id for player in squad[:_LISTED_MAX])
    more = f" and {len(squad) - _LISTED_MAX} more" if len(squad) > _LISTED_MAX else ""
    raise ChoiceError(f"there is no player {text}: the match sheet has {some}{more}")


def _has_id(player: Player, text: str) -> bool:
    return player.object_id == text


def _has_shirt(player: Player, text: str) -> bool:
    return player.shirt is not None and str(player.shirt) == text


def _has_name(player: Player, text: str) -> bool:
    return text.casefold() in player.name.casefold()


def _is_of(kind: str, chosen: str) -> bool:
    return kind == chosen or kind.startswith(f"{chosen}.")
