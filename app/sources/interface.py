"""What a source must give, so that a match can be played live from it.

Theory of operation
-------------------
A *source* is a kind of input: the simulator, a tracking file, a capture, a topic. Each kind is one class that meets
:class:`Source`, and one line of :mod:`app.sources.registry`. The run knows nothing else of it.

*Offsets.* A source counts by integers that rise: arrival times in microseconds, or numbers of records. They need not be
dense. The store commits offsets, and an engine state belongs to one. Reading on from a committed offset gives what
follows it, always the same (*replay*): a crash therefore costs nothing but time.

*Windows.* What is committed at once. The source closes a window where it wants and states the offset of its end in the
closing :class:`Portion`; nothing is promised before it is read. Arrival times let a source promise its ends: then two
readings are cut alike, which makes runs comparable, but nothing depends on it.

*In the driver* a source prepares a match in the folder of its store (:meth:`Source.prepare`) and opens it
(:meth:`Source.load`): :class:`MatchInput` has the match sheet, the first offset, progress, lag. *In workers*
:meth:`Source.reader` gives what reads the matches of a seat while a micro-batch is open.

A source whose offsets are arrival times derives from :class:`app.sources.recorded.RecordedSource` and states only how a
:class:`Recording` is opened; the in-process engine plays it, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

# Spark asks for offsets in processes that start the sooner for knowing little.
if TYPE_CHECKING:
    import threading

    from rich.console import Console

    from football.match_sheet import MatchSheet
    from football.packets import RejectedRecord

#: A block: arrival time (stream's clock), when it reached the source (wall clock; 0: unknown), payload.
Framed = tuple[int, int, bytes]

#: A portion is handed on at this size at the latest: the most that a late reader catches up with at once.
PORTION_BYTES = 256 * 1024


class SourceRequest(msgspec.Struct, frozen=True):
    """What a match is made of, as the settings of a run say.

    Attributes:
        source: as on the command line.
        channel, seed, duration_s, pitch, sheet, rate, endless: see :func:`app.sources.captures.prepare_capture`.
        location: where the match was discovered in a source of several; None if the source must look for it.
    """

    source: str
    channel: str = ""
    seed: int = 0
    duration_s: float | None = None
    pitch: tuple[float, float] = (105.0, 68.0)
    sheet: str | None = None
    rate: str = ""
    endless: bool = False
    location: Any = None


class Entry(msgspec.Struct, frozen=True):
    """A match to read, in data: how the driver tells a seat's processes of it.

    Attributes:
        match: key of the match in this run.
        source: the kind, as ``module:class``.
        spec: what that kind needs to read it.
        begin: offset from which it is read.
        speed: stream seconds in a wall second; 0 is as fast as it goes.
        stop: offset at which it ends at the latest.
        officials: folder of the match store and further files, where officials write; empty for nowhere.
    """

    match: str
    source: str
    spec: dict[str, Any]
    begin: int
    speed: float
    stop: int
    officials: tuple[str, ...] = ()


class Portion(msgspec.Struct, frozen=True):
    """What a reader hands on of one match: blocks of its open window, or that the window is closed.

    Attributes:
        match: key of the match.
        start: offset at which the window begins.
        end: offset at its end; before it is closed, as far as that is known.
        blocks: in order of arrival.
        closing: whether the window ends with this portion; then it has no blocks.
        last: whether the match ends with the window.
        failed: why the match cannot be read on; empty if it can.
    """

    match: str
    start: int
    end: int
    blocks: Sequence[Framed] = ()
    closing: bool = False
    last: bool = False
    failed: str = ""


@dataclass(frozen=True)
class OpenBatch:
    """The micro-batch for which a reader reads.

    Attributes:
        window_us: length of a window, in wall time; of an unpaced match in arrival time.
        windows: how many windows a match gets in the batch.
        until_us: wall time at which the batch should be over.
        anchor: file that keeps when a match's clock began, by match.
        stopped: whether a stop was asked for: windows are then closed without waiting.
        has_another: whether a match, by key, gets another window; asked when one is closed.
    """

    window_us: int
    windows: int
    until_us: int
    anchor: Callable[[str], Path]
    stopped: Callable[[], bool]
    has_another: Callable[[str], bool]


class Reader(Protocol):
    """Reads the matches of one kind of source in one seat, while a micro-batch is open."""

    def add(self, entry: Entry, share: float) -> None:
        """Reads a match, too. Its first window has this share of the usual length."""
        ...

    @property
    def is_open(self) -> bool:
        """Whether a match has an open window."""
        ...

    def due_us(self) -> int | None:
        """Wall time at which the next record is due; 0 for now; None if only reading shows it."""
        ...

    def read(self, wait_us: int) -> Iterator[Portion]:
        """Hands on what is due. If nothing is, waits for it, at most about so long."""
        ...


class Recording(Protocol):
    """Blocks of one match by arrival time; those of a range are the same whenever they are read.

    :class:`replay.capture.Capture` is one. A recording may still grow while it is read.
    """

    @property
    def sheet(self) -> MatchSheet:
        """Match sheet, with the input's quality."""
        ...

    @property
    def begin_us(self) -> int:
        """Arrival time of the first block."""
        ...

    @property
    def is_finished(self) -> bool:
        """Whether its end is known."""
        ...

    @property
    def end_us(self) -> int:
        """One past the arrival time of the last block. Only of a finished one."""
        ...

    @property
    def readable_us(self) -> int:
        """Blocks before this arrival time can be read without waiting."""
        ...

    @property
    def late_most_us(self) -> int | None:
        """How long before its arrival a position was measured at most; None while that is not known."""
        ...

    def is_growing(self) -> bool:
        """Whether somebody still writes it."""
        ...

    def has_blocks_from(self, at_us: int) -> bool:
        """Whether a block arrives at ``at_us`` or later; waits until that is certain."""
        ...

    def payloads(self, start_us: int, end_us: int) -> Iterator[tuple[int, bytes]]:
        """(arrival time, payload) of ``start_us <= arrival < end_us``; waits for those that are not there yet."""
        ...


class LagMonitor(Protocol):
    """Whoever shows how far a match is behind its source."""

    records_behind: int | None
    source_trouble: str

    def newest_due_wall_us(self) -> int:
        """When the newest block that was worked on was due; 0 before the first."""
        ...


class MatchInput(Protocol):
    """A match of a source, opened in the driver.

    Attributes:
        kind: ``module:class`` of the source whose reader reads it.
        sheet: match sheet.
        begin: offset of the first record.
        fingerprint: of the input's content; empty if it has none.
        rejected: records of the source that no packet could hold; known from the beginning.
        sample: a recording like the match, to warm processes up on and to measure costs on.
        recording: the match itself, if it is a recording; else the in-process engine cannot play it.
        takes_officials: whether lines of officials can be woven into it.
        is_live: whether records arrive at their own time, whatever ``--speed`` says.
    """

    kind: str
    sheet: MatchSheet
    begin: int
    fingerprint: str
    rejected: Sequence[RejectedRecord]
    sample: Recording
    recording: Recording | None
    takes_officials: bool
    is_live: bool

    def spec(self, window_s: float, *, alone: bool) -> dict[str, Any]:
        """What a reader needs to read it, as :attr:`Entry.spec`.

        Args:
            window_s: wall time that a window should take.
            alone: whether the run plays no other match.
        """
        ...

    def has_ended(self, offset: int, *, ended: bool) -> bool:
        """Whether the match is over where all up to ``offset`` is committed; ``ended`` as the last commit says."""
        ...

    def played_us(self, offset: int, now_us: int) -> int:
        """Arrival time at an offset; ``now_us`` is the newest arrival time that was committed."""
        ...

    def length_us(self) -> int | None:
        """Arrival time from beginning to end; None while it is not known."""
        ...

    def committed(self, offset: int) -> None:
        """Takes note that all up to ``offset`` is committed: whoever produces the match may go on."""
        ...

    def lag(self, offset: int, monitor: LagMonitor) -> AbstractContextManager[Any]:
        """Keeps ``monitor`` informed of how many records wait after ``offset``, while the context lasts."""
        ...


class Discovered(msgspec.Struct, frozen=True):
    """A match that was found in a source of several.

    Attributes:
        match: its id there.
        source: names that match alone.
        location: where it is, see :attr:`SourceRequest.location`.
    """

    match: str
    source: str
    location: Any


class Discovery(Protocol):
    """Looks for the matches of a source that has several, while its context lasts.

    Attributes:
        trouble: why it cannot look now; empty while it can.
    """

    trouble: str

    def matches(self) -> Sequence[Discovered]:
        """The matches found so far, in the order in which they were found."""
        ...

    def wait_first(self, stop: threading.Event) -> None:
        """Returns when a match was found, none is for too long, or ``stop`` is set."""
        ...


class Source(Protocol):
    """A kind of input. Objects have no state; the registry makes one when it is asked for.

    Errors that people can mend derive from ``football.errors.UserError``.
    """

    def recognises(self, source: str, rate: str) -> bool:
        """Whether a ``--source`` (with this ``--rate``) names an input of this kind. No I/O beyond a look at files."""
        ...

    def located(self, source: str, folder: Path) -> str:
        """The name with paths in full, where it was given relative to ``folder``."""
        ...

    def settled(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Options of a run as this kind settles them: what it leaves no choice of, and its defaults.

        Raises:
            ValueError: an option contradicts the source; the message is for people.
        """
        ...

    def prepare(self, request: SourceRequest, folder: Path, console: Console, background: ExitStack) -> None:
        """Prepares a new match in ``folder``, which is moved into the match store.

        Args:
            folder: empty, or not there yet.
            console: for progress.
            background: takes what must run while the match is played.
        """
        ...

    def resume(self, request: SourceRequest, folder: Path, background: ExitStack) -> None:
        """Goes on with what :meth:`prepare` has left in the match store ``folder``."""
        ...

    def load(self, source: str, folder: Path) -> MatchInput:
        """The match that was prepared in the match store ``folder``."""
        ...

    def way_back(self, source: str, folder: Path) -> str:
        """The ``--source`` from which a match in ``folder`` could be played once more from its beginning."""
        ...

    def selection(self, source: str) -> tuple[str, str] | None:
        """Of a source that may hold several matches its name without a choice, and the match chosen (empty: all).

        None if it holds exactly one match.
        """
        ...

    def discovery(self, source: str) -> AbstractContextManager[Discovery]:
        """What looks for matches in a source that may hold several."""
        ...

    def sample(self, spec: Mapping[str, Any]) -> Recording:
        """:attr:`MatchInput.sample`, in a worker."""
        ...

    def reader(self, batch: OpenBatch) -> Reader:
        """A reader for one micro-batch of a seat."""
        ...
