"""From a source's ids to transmitters of the match: by tables, by the match sheet, and by a table that may change.

The table of ``--tags`` is a CSV file with the columns ``tag``, ``object`` and, if wanted, ``limb`` and ``since`` (UTC,
from which the row holds). It is read again when it changes: a swapped tag, a substitute's tag or a new ball is a new
row. The newest row of a tag that has begun counts; an empty object means that nobody wears the tag.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from app.base.pace import wall_us
from app.gateway.profile import GatewayProfileError, Identities
from football.errors import TrackingError
from football.match_sheet import MatchSheet
from football.untrusted import ID_CHARACTERS_MAX, SOURCES_MAX, is_text
from replay.formats.csv_rows import read_rows

#: Interval at which a table of tags is looked at.
LOOK_EVERY_US = 1_000_000

#: Name of a tag that is left out on purpose.
IGNORED = ""


class TagRow(msgspec.Struct, frozen=True):
    """A row of a table of tags: ``object`` wears ``tag``, at a limb or not, from ``since`` (UTC; empty: always)."""

    tag: str
    object: str
    limb: str = ""
    since: str = ""


class TagTable:
    """A table of tags in a file, read again when it changes.

    A changed file that cannot be read leaves the table as it was; ``trouble`` has the reason.

    Raises:
        GatewayProfileError: the file cannot be read at the beginning.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[int, int] = (-1, -1)
        self._looked_us = 0
        self._rows: dict[str, tuple[list[int], list[str]]] = {}
        self.trouble = ""
        self.generation = 0
        self.refresh(wall_us())
        if self.trouble:
            raise GatewayProfileError(self.trouble)

    def refresh(self, now_us: int) -> None:
        """Read the file again if it has changed; looks at most once a second."""
        if now_us < self._looked_us + LOOK_EVERY_US:
            return
        self._looked_us = now_us
        try:
            status = self._path.stat()
            if (seen := (status.st_mtime_ns, status.st_size)) == self._seen:
                return
            self._rows = _table(self._path)
            self._seen, self.trouble = seen, ""
            self.generation += 1
        except (OSError, TrackingError) as error:
            self.trouble = f"table of tags {self._path}: {getattr(error, 'strerror', None) or error}"

    def object_of(self, tag: str, now_us: int) -> str | None:
        """Return the transmitter that a tag is at a wall time; ``IGNORED`` for nobody's, None without a row."""
        found = self._rows.get(tag)
        if found is None:
            return None
        index = bisect_right(found[0], now_us) - 1
        return found[1][index] if index >= 0 else None

    def next_change_us(self, now_us: int) -> int:
        """Return the wall time of the next row that begins; a far one without any."""
        begins = (at_us for times, _ in self._rows.values() for at_us in times if at_us > now_us)
        return min(begins, default=2**62)


def _table(path: Path) -> dict[str, tuple[list[int], list[str]]]:
    rows: dict[str, list[tuple[int, str]]] = {}
    for number, row in enumerate(read_rows(path, TagRow), 2):
        tag, name, limb, since = (text.strip() for text in msgspec.structs.astuple(row))
        if not tag or not is_text(tag, ID_CHARACTERS_MAX) or not is_text(name, ID_CHARACTERS_MAX):
            raise TrackingError(f"line {number}: no tag, or a name that is too long or has control characters")
        rows.setdefault(tag, []).append((_moment_us(since, number), f"{name}/{limb}" if name and limb else name))
    if len(rows) > SOURCES_MAX:
        raise TrackingError(f"more than {SOURCES_MAX} tags")
    table = {}
    for tag, entries in rows.items():
        entries.sort(key=lambda entry: entry[0])  # stable: of two rows of one moment the later one counts
        table[tag] = [at for at, _ in entries], [name for _, name in entries]
    return table


def _moment_us(text: str, number: int) -> int:
    if not text:
        return -(2**62)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise TrackingError(f"line {number}: since {text[:40]!r} is no time such as 2026-11-23T14:30:00Z") from None
    return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1e6)


class Identifier:
    """Names the transmitter of an id, or the reason why there is none.

    Args:
        identities: of the profile.
        sheet: of the match.
        table: of tags that may change, or None.
    """

    def __init__(self, identities: Identities, sheet: MatchSheet, table: TagTable | None = None) -> None:
        self._identities, self._table = identities, table
        self._players = {player.object_id for player in sheet.players}
        self._by_shirt = {(player.team, str(player.shirt)): player.object_id for player in sheet.players}
        self._ball, self._ignored = frozenset(identities.ball), frozenset(identities.ignored)
        self._known: dict[str, tuple[str, str]] = {}
        self._generation = self._until_us = -1
        self.unknown: set[str] = set()

    def refresh(self, now_us: int) -> None:
        """Take in changes of the table of tags up to a wall time."""
        if self._table is None:
            return
        self._table.refresh(now_us)
        if self._table.generation != self._generation or now_us >= self._until_us:
            self._known.clear()
            self._generation, self._until_us = self._table.generation, self._table.next_change_us(now_us)

    def by_tag(self, tag: str, now_us: int) -> tuple[str, str]:
        """Return transmitter and reason for a tag; the transmitter is empty if there is a reason or nobody wears it."""
        found = self._known.get(tag)
        if found is None:
            found = self._tag(tag, now_us)
            if len(self._known) < SOURCES_MAX:
                self._known[tag] = found
        return found

    def by_shirt(self, team: str, shirt: str) -> tuple[str, str]:
        """Return transmitter and reason for the source's team and a number on a shirt."""
        side = self._identities.teams.get(team)
        if side is None:
            return "", ""
        if side == "ball":
            return "ball", ""
        if side == "referee":
            return f"referee_{shirt or 1}"[:ID_CHARACTERS_MAX], ""
        name = self._by_shirt.get((side, shirt))
        if name is not None:
            return name, ""
        self._note(f"{side} {shirt}")
        return "", "number on a shirt that the match sheet does not have"

    def tags_of(self) -> dict[str, str]:
        """Return transmitter -> tag of the profile's own table, for a source that is played."""
        tags = {name: tag for tag, name in self._identities.tags.items()}
        return {"ball": self._identities.ball[0], **tags} if self._identities.ball else tags

    def _tag(self, tag: str, now_us: int) -> tuple[str, str]:
        if not tag or not is_text(tag, ID_CHARACTERS_MAX):
            return "", "an id that is empty, too long, or has control characters"
        name = self._table.object_of(tag, now_us) if self._table is not None else None
        if name is None:
            name = self._identities.tags.get(tag)
        if name is not None:
            return name, ""
        if tag in self._ball:
            return "ball", ""
        if tag in self._ignored:
            return IGNORED, ""
        if not self._players or tag.partition("/")[0] in self._players or tag.startswith(("referee", "ball")):
            return tag, ""
        self._note(tag)
        return "", "unknown tag: in no table, and not on the match sheet"

    def _note(self, name: str) -> None:
        if len(self.unknown) < SOURCES_MAX:
            self.unknown.add(name)


def nobodys(identities: Iterable[str], worn: Iterable[str]) -> list[str]:
    """Return the players of a sheet that no transmitter has been heard of, in order.

    >>> nobodys(["home_1", "home_2"], ["home_2/left_foot"])
    ['home_1']
    """
    present = {name.partition("/")[0] for name in worn}
    return sorted(set(identities) - present)
