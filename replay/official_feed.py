"""Place the lines of match officials among a match's blocks, each exactly once.

Theory of operation
-------------------
People write lines at any moment. When the stream has reached a block at arrival time a, the feed checks which lines
are due: their ``at_s`` and ``said_s`` have passed, or they name no time. Each due line gets the arrival time
a + 1 us, and the feed writes that to the *journal* before anybody uses the line. A line therefore has one place in
the stream. A replay of the match, after a crash or for ``touchline trace``, finds it in that same place.

A reader of a recording may ask for the event time before which no later line is dated (:meth:`OfficialFeed.settled`).
That is a promise. A line that gets its place later, but is about an earlier time, is dated by its place instead.

A range of arrival times that was read to its end is *sealed*, because its results may be committed. Lines written
later get a place after the seal, also when the range is read again. One process reads at a time; the lock of the
store ensures it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from football.untrusted import LISTING_BYTES_MAX, UntrustedError, decode_json, read_bytes
from middleware.events import BEGINNING_US, END_US
from replay.formats.officials import FILE, OfficialError, OfficialLine, encode, parse

#: The journal, in the folder of a match store.
JOURNAL = "official.journal"

#: Files are looked at so often (arrival time).
LOOK_EVERY_US = 20_000

Blocks = Iterator[tuple[int, bytes]]


class Entry(msgspec.Struct, frozen=True):
    """An entry of the journal: a line's place in the stream, or the time up to which the stream is sealed."""

    arrival_us: int
    line: OfficialLine | None = None


class OfficialFeed:
    """Reads the lines of officials for one match.

    Args:
        folder: of the match store.
        files: further files of lines; they may not exist yet, and may grow.
    """

    def __init__(self, folder: Path, files: tuple[Path, ...] = ()) -> None:
        self._journal = folder / JOURNAL
        self._files = [_Follower(folder / FILE, FILE), *(_Follower(path, str(path)) for path in files)]
        #: Lines that are not due yet: when they will be, and what they are about.
        self._waiting: list[tuple[int, int, OfficialLine]] = []
        #: Lines that have their place: that, and how they are dated; those that may still be to come.
        self._ahead: list[tuple[int, int]] = []
        self._settled_us = BEGINNING_US
        self._known: set[tuple[str, int, str]] = set()
        self._looked_us = BEGINNING_US
        self._sealed_us = BEGINNING_US

    def interleaved(self, blocks: Blocks, start_us: int, end_us: int, has_more: Callable[[], bool]) -> Blocks:
        """Yield the blocks of a range, and between them the lines of officials at their places.

        Args:
            blocks: (arrival time, payload) of ``start_us <= arrival < end_us``.
            has_more: returns whether the match continues after the range; called at its end. At the end of the match
                all lines that are not due yet are given, so that none is lost silently.
        """
        entries = _read(self._journal)
        self._ahead = []
        for entry in entries:
            self._apply(entry)
        placed = _placed(entries, start_us, end_us)
        last_us = start_us
        for arrival_us, payload in blocks:
            while placed and placed[0].arrival_us <= arrival_us:
                yield _as_block(placed.pop(0))
            yield arrival_us, payload
            last_us = arrival_us
            # A 1 us later, so that who stops between the two goes on with the line and not with the block.
            while placed and placed[0].arrival_us <= arrival_us + 1:
                yield _as_block(placed.pop(0))
            if arrival_us + 1 < end_us and arrival_us + 1 >= self._sealed_us:
                for entry in self._assign_places(self._due(arrival_us), arrival_us + 1):
                    yield _as_block(entry)
        for entry in placed:
            yield _as_block(entry)
        if self._sealed_us >= end_us:
            return
        if not has_more():
            for entry in self._assign_places(self._due(None), max(last_us, end_us - 1)):
                yield _as_block(entry)
        self._write([Entry(end_us)])

    def _due(self, arrival_us: int | None) -> list[OfficialLine]:
        """Return lines that are due; with None all lines."""
        if arrival_us is not None:
            if arrival_us < self._looked_us + LOOK_EVERY_US:
                return []
            self._looked_us = arrival_us
        for follower in self._files:
            for line in follower.new_lines(to_the_end=arrival_us is None):
                if (line.file, line.number, line.text) not in self._known:
                    self._known.add((line.file, line.number, line.text))
                    at_us, due_us = _times_us(line)
                    self._waiting.append((due_us, at_us, line))
        due = [line for due_us, _, line in self._waiting if arrival_us is None or due_us <= arrival_us]
        if due:
            self._waiting = [] if arrival_us is None else [w for w in self._waiting if w[0] > arrival_us]
        return due

    def _assign_places(self, lines: list[OfficialLine], arrival_us: int) -> list[Entry]:
        """Write the places of lines to the journal before the lines are used."""
        entries = [Entry(arrival_us, msgspec.structs.replace(line, settled_us=self._settled_us)) for line in lines]
        if entries:
            self._write(entries)
        return entries

    def _apply(self, entry: Entry) -> None:
        if entry.line is None:
            self._sealed_us = max(self._sealed_us, entry.arrival_us)
        else:
            self._known.add((entry.line.file, entry.line.number, entry.line.text))
            at_us, _ = _times_us(entry.line)
            dated_us = at_us if at_us >= entry.line.settled_us else entry.arrival_us
            self._ahead.append((entry.arrival_us, dated_us))

    def settled(self, arrival_us: int, complete_us: int) -> int:
        """Return the event time before which no line that comes after ``arrival_us`` is dated; at most ``complete_us``.

        Known lines hold it back. Lines that are written later do not: see the theory of operation.
        """
        self._ahead = [line for line in self._ahead if line[0] > arrival_us]
        waiting_us = (at_us for _, at_us, _ in self._waiting if at_us >= self._settled_us)
        self._settled_us = max(self._settled_us, min((complete_us, *(us for _, us in self._ahead), *waiting_us)))
        return self._settled_us

    def _write(self, entries: list[Entry]) -> None:
        for entry in entries:
            self._apply(entry)
        with self._journal.open("ab+") as journal:
            # After a crash the last line may be torn; nobody has used it.
            size = journal.seek(0, os.SEEK_END)
            if size and (journal.seek(size - 1), journal.read(1))[1] != b"\n":
                journal.write(b"\n")
            journal.write(b"".join(msgspec.json.encode(entry) + b"\n" for entry in entries))
            journal.flush()
            os.fsync(journal.fileno())


def replayed(folder: Path, blocks: Blocks, start_us: int, end_us: int) -> Blocks:
    """Yield the blocks of a range with the lines that the match was played with; changes nothing.

    Args:
        folder: of the match store; any other folder adds nothing.
    """
    placed = _placed(_read(folder / JOURNAL), start_us, end_us)
    for arrival_us, payload in blocks:
        while placed and placed[0].arrival_us <= arrival_us:
            yield _as_block(placed.pop(0))
        yield arrival_us, payload
    for entry in placed:
        yield _as_block(entry)


class _Follower:
    """Reads a file that grows, line by line. It waits for the end of an unfinished last line."""

    def __init__(self, path: Path, name: str) -> None:
        self._path, self._name = path, name
        self._offset = self._count = 0

    def new_lines(self, *, to_the_end: bool) -> Iterator[OfficialLine]:
        """Yield the lines since the last call; with ``to_the_end`` an unfinished last line, too."""
        try:
            size = self._path.stat().st_size
        except FileNotFoundError:
            return
        if size < self._offset:  # it was replaced by a shorter one: read anew, what is known is left out
            self._offset = self._count = 0
        if size == self._offset:
            return
        with self._path.open("rb") as stream:
            stream.seek(self._offset)
            data = stream.read(size - self._offset)
        whole = len(data) if to_the_end else data.rfind(b"\n") + 1
        self._offset += whole
        for raw in data[:whole].splitlines():
            self._count += 1
            text = raw.decode("utf-8", errors="replace").strip()
            if text:
                yield OfficialLine(self._name, self._count, text)


def _times_us(line: OfficialLine) -> tuple[int, int]:
    """Return the event time that a line is about, and the arrival time before which it is not due.

    A line that names no time is about the time of its place, and due at once.
    """
    try:
        fields = parse(line.text)
        at_us = END_US if fields.at_s is None else round(fields.at_s * 1e6)
        return at_us, round(max(fields.at_s or -1e9, fields.announced_s or -1e9) * 1e6)
    except (OfficialError, ValueError, OverflowError):  # the pipeline says what is wrong with it
        return END_US, BEGINNING_US


def _read(journal: Path) -> list[Entry]:
    """Read the entries of a journal, without an unfinished last one: it was never used."""
    entries: list[Entry] = []
    if journal.is_file():
        for raw in read_bytes(journal, LISTING_BYTES_MAX).splitlines():
            with suppress(UntrustedError):
                entries.append(decode_json(raw, Entry))
    return entries


def _placed(entries: list[Entry], start_us: int, end_us: int) -> list[Entry]:
    """Return the lines of a range, in order of their places."""
    mine = [e for e in entries if e.line is not None and start_us <= e.arrival_us < end_us]
    return sorted(mine, key=lambda e: e.arrival_us)


def _as_block(entry: Entry) -> tuple[int, bytes]:
    if entry.line is None:
        raise OfficialError("an entry of the journal that seals a range holds no line")
    return entry.arrival_us, encode(entry.line)
