"""The annotation of the DEBS 2013 match: intervals of possession, shots on goal, interruptions.

Three small tables in a folder, in seconds since the half began on the annotator's clock (see ``debs.Half`` for its
shift from the stream's). This module reads them, and writes them from detected events: a row of possession goes from
a player's first contact to the last one before another player's; a single contact is a row of no duration.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from football.errors import TrackingError
from football.match_sheet import MatchSheet, Player
from football.update_stream import EventRecord
from replay.formats.csv_rows import read_rows, write_rows
from replay.formats.debs import DEBS_TEAMS, HALVES, PS_IN_US, Half, read_halves
from replay.scoring.rules import OCCURRED

POSSESSION, SHOTS, INTERRUPTIONS = "possession.csv", "shots_on_goal.csv", "interruptions.csv"
#: Any of these names the folder of an annotation.
FILES = (POSSESSION, SHOTS, INTERRUPTIONS)

#: Kinds that are contacts of a player with the ball.
_CONTACTS = ("hit", "touch")


class Possession(msgspec.Struct, frozen=True):
    """A player has the ball; team A or B, player by name."""

    half: int
    team: str
    player: str
    begin_s: float
    end_s: float


class ShotOnGoal(msgspec.Struct, frozen=True):
    """A shot on goal."""

    half: int
    time_s: float
    team: str
    player: str


class Interruption(msgspec.Struct, frozen=True):
    """An interruption of the game; ``end_s`` None: until the half is over."""

    half: int
    begin_s: float
    end_s: float | None = None


class Annotation(msgspec.Struct, frozen=True):
    """All three tables, each in order of time."""

    possession: tuple[Possession, ...] = ()
    shots: tuple[ShotOnGoal, ...] = ()
    interruptions: tuple[Interruption, ...] = ()


class Clock:
    """Converts the annotator's seconds to our event time, which is zero where the first half begins, and back."""

    def __init__(self, halves: Sequence[Half]) -> None:
        self.halves = tuple(halves)
        zero_ps = halves[0].begin_ps
        self._begin_us = {
            h.half: (h.begin_ps - zero_ps) // PS_IN_US - round(h.annotation_shift_s * 1e6) for h in halves
        }
        self._spans_us = {
            h.half: ((h.begin_ps - zero_ps) // PS_IN_US, (h.end_ps - zero_ps) // PS_IN_US) for h in halves
        }

    def ts_us(self, half: int, at_s: float) -> int:
        """Event time of an annotated time.

        Raises:
            TrackingError: there is no such half.
        """
        if half not in self._begin_us:
            raise TrackingError(f"the annotation speaks of half {half}, the stream has {sorted(self._begin_us)}")
        return self._begin_us[half] + round(at_s * 1e6)

    def span_us(self, half: int) -> tuple[int, int]:
        """Return the event times from which to which (exclusive) a half goes."""
        return self._spans_us[half]

    def half_of(self, ts_us: int) -> int | None:
        """Return the half that an event time lies in, None in between."""
        return next((half for half, (begin, end) in self._spans_us.items() if begin <= ts_us < end), None)

    def seconds(self, half: int, ts_us: int) -> float:
        """Return an event time on the annotator's clock, in whole milliseconds."""
        return round((ts_us - self._begin_us[half]) / 1e6, 3)


def read_annotation(folder: Path) -> tuple[Annotation, Clock]:
    """Read the three tables; a missing one is empty, but one must exist.

    Raises:
        TrackingError: there is none, or one is damaged; the message names the file.
    """
    if not any((folder / name).is_file() for name in FILES):
        raise TrackingError(f"{folder}: no annotation of the DEBS 2013 form: none of {', '.join(FILES)}")
    tables = [
        read_rows(folder / name, kind) if (folder / name).is_file() else ()
        for name, kind in ((POSSESSION, Possession), (SHOTS, ShotOnGoal), (INTERRUPTIONS, Interruption))
    ]
    clock = Clock(read_halves(folder))
    there = {half.half for half in clock.halves}
    if other := {row.half for table in tables for row in table} - there:
        raise TrackingError(f"{folder}: speaks of half {min(other)}, and has times of {sorted(there)}")
    return Annotation(*tables), clock


def write_annotation(folder: Path, annotation: Annotation, halves: Sequence[Half]) -> None:
    """Write the three tables and the halves that their seconds count in; the folder is created if missing."""
    folder.mkdir(parents=True, exist_ok=True)
    write_rows(folder / POSSESSION, Possession, annotation.possession)
    write_rows(folder / SHOTS, ShotOnGoal, annotation.shots)
    write_rows(folder / INTERRUPTIONS, Interruption, annotation.interruptions)
    write_rows(folder / HALVES, Half, halves)


def annotate(found: Iterable[EventRecord], sheet: MatchSheet, clock: Clock) -> Annotation:
    """Return detected events in the annotation's form.

    Args:
        found: consolidated events; contacts, possession, shots and phases of play are used.
        sheet: names the players.
        clock: of the stream.
    """
    records = sorted(found, key=lambda r: (r.ts_us, r.level, r.id))
    players = {player.object_id: player for player in sheet.players}
    shots = [
        ShotOnGoal(half, clock.seconds(half, r.ts_us), *_named(players, r))
        for r in records
        if r.kind == "shot.attempt" and (half := clock.half_of(r.ts_us)) is not None
    ]
    held = tuple(_possession(records, players, clock))
    return Annotation(held, tuple(shots), tuple(_interruptions(records, clock)))


def _possession(records: Sequence[EventRecord], players: dict[str, Player], clock: Clock) -> Iterator[Possession]:
    """Return a gain, followed by the holder's contacts up to the loss."""
    gain: EventRecord | None = None
    last_us = 0
    for record in records:
        if gain is not None and record.kind in _CONTACTS and record.player == gain.player:
            last_us = record.ts_us
        elif gain is not None and record.kind == "possession.loss" and record.player == gain.player:
            yield from _row(gain, last_us, players, clock)
            gain = None
        elif record.kind == "possession.gain":
            if gain is not None:
                yield from _row(gain, last_us, players, clock)
            gain, last_us = record, record.ts_us
    if gain is not None:
        yield from _row(gain, last_us, players, clock)


def _row(gain: EventRecord, last_us: int, players: dict[str, Player], clock: Clock) -> Iterator[Possession]:
    half = clock.half_of(gain.ts_us)
    if half is not None:
        begin_s, end_s = (clock.seconds(half, ts_us) for ts_us in (gain.ts_us, last_us))
        yield Possession(half, *_named(players, gain), begin_s, end_s)


def _interruptions(records: Sequence[EventRecord], clock: Clock) -> Iterator[Interruption]:
    """Return interruptions from the begin of a stoppage to the kick that ended it, or to the end of the half."""
    dead: tuple[int, int] | None = None
    for record in records:
        occurred_us = record.detail.get(OCCURRED.get(record.kind, ""))
        ts_us = occurred_us if isinstance(occurred_us, int) else record.ts_us
        half = clock.half_of(ts_us)
        if record.kind == "play.dead" and dead is None and half is not None:
            dead = half, ts_us
        elif record.kind == "play.live" and dead is not None:
            begin_s = clock.seconds(*dead)
            yield Interruption(dead[0], begin_s, clock.seconds(half, ts_us) if half == dead[0] else None)
            dead = None
    if dead is not None:
        yield Interruption(dead[0], clock.seconds(*dead))


def _named(players: dict[str, Player], record: EventRecord) -> tuple[str, str]:
    player = players.get(record.player)
    team = DEBS_TEAMS.get(record.team, "")
    return team, player.name if player and player.name else record.player


def object_ids(sheet: MatchSheet) -> dict[tuple[str, str], str]:
    """Return object ids by the annotation's team and player."""
    return {(DEBS_TEAMS.get(p.team, ""), p.name or p.object_id): p.object_id for p in sheet.players}
