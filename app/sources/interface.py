"""Interface between a run and its sources: requests, entries, rows, and the protocols that a source meets.

Theory of operation
-------------------
A *source* is a kind of input: the simulator, a tracking file, a capture, a topic. Each kind is one class that meets
:class:`Source`, and one line of :mod:`app.sources.registry`. A run uses a source through this interface only.

*Offsets.* A source counts by integers that rise: arrival times in microseconds, or record numbers. They need not be
dense. The store commits offsets, and each engine state belongs to one. A source must be replayable: every reading from
the same offset gives the same records in the same order. A crash therefore costs time but no data.

*Windows.* A window is the range of offsets that is committed at once. The source decides where a window closes. It
states the offset of the end in the closing :class:`SourceRow`; the end need not be known earlier. A source whose
offsets are arrival times can fix the ends beforehand. Two readings then have the same windows, which makes runs
comparable; correctness does not depend on it.

*In the driver* a source prepares a match in the folder of its store (:meth:`Source.prepare`) and opens it
(:meth:`Source.load`): :class:`MatchInput` has the match sheet, the first offset, progress, lag. *In workers*
:meth:`Source.reader` returns the reader of a seat's matches for one micro-batch.

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

from app.base.pace import NEVER_US

# Spark asks for offsets in processes of their own, which start faster with few imports.
if TYPE_CHECKING:
    import threading

    from rich.console import Console

    from football.input_quality import InputFinding
    from football.match_sheet import MatchSheet
    from football.packets import RejectedRecord

#: A block with its times: arrival time (stream's clock), when it reached the source (wall clock; 0: unknown), payload.
TimedBlock = tuple[int, int, bytes]

#: Limit of a row's size: a late reader catches up in rows of at most this size.
MAX_ROW_BYTES = 256 * 1024


class SourceRequest(msgspec.Struct, frozen=True):
    """Request for a match: the settings of a run that determine its input.

    Attributes:
        source: as on the command line.
        channel, seed, duration_s, pitch, sheet, rate, endless: see :func:`app.sources.captures.prepare_capture`.
        pace: stream seconds per wall second at which it is played; 0 is as fast as possible.
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
    pace: float = 0.0
    location: Any = None


class Entry(msgspec.Struct, frozen=True):
    """Serialisable description of a match to read, which the driver sends to a seat's processes.

    Attributes:
        match: key of the match in this run.
        kind: class of the source, as ``module:class``.
        spec: arguments of that class's reader; see :meth:`MatchInput.spec`.
        begin: offset from which it is read.
        speed: stream seconds per wall second; 0 is as fast as possible.
        stop: offset at which it ends at the latest.
        officials: folder of the match store and further files to which officials write; empty if there are none.
    """

    match: str
    kind: str
    spec: dict[str, Any]
    begin: int
    speed: float
    stop: int
    officials: tuple[str, ...] = ()


class SourceRow(msgspec.Struct, frozen=True):
    """Output of a reader for one match, a row of Spark: blocks of its open window, or the mark that closes the window.

    Attributes:
        match: key of the match.
        start: offset at which the window begins.
        end: offset at the window's end; an estimate until the window is closed.
        blocks: in order of arrival.
        closing: whether the window ends with this row; then it has no blocks.
        last: whether the match ends with the window.
        failed: why the match cannot be read any further; empty if it can.
    """

    match: str
    start: int
    end: int
    blocks: Sequence[TimedBlock] = ()
    closing: bool = False
    last: bool = False
    failed: str = ""


@dataclass(frozen=True)
class OpenBatch:
    """An open micro-batch, as a reader sees it.

    Attributes:
        window_us: length of a window, in wall time; of an unpaced match in arrival time.
        windows: how many windows a match gets in the micro-batch.
        until_us: wall time at which the micro-batch should be over.
        anchor: file that stores the wall time at which a match's clock started, by match.
        stopped: returns whether a stop was requested; the reader then closes windows without waiting.
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
        """Adds a match. Its first window has this share of the usual length."""
        ...

    @property
    def is_open(self) -> bool:
        """True if a match has an open window."""
        ...

    def due_us(self) -> int | None:
        """Wall time at which the next record is due; 0 for now; None if the reader must be polled."""
        ...

    def read(self, wait_us: int) -> Iterator[SourceRow]:
        """Yields the rows that are due. If none is, waits for one, for about ``wait_us`` at most."""
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
        """True if the end of the recording is known."""
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
        """Longest time from the measurement of a position to its arrival; None while it is not known."""
        ...

    @property
    def live_zero_us(self) -> int | None:
        """UTC of arrival time 0, of a :class:`LiveRecording`; else None."""
        ...

    @property
    def utc_error_us(self) -> int | None:
        """Greatest error of that; None if nobody knows it."""
        ...

    def is_growing(self) -> bool:
        """True if a process still appends to it."""
        ...

    def has_blocks_from(self, at_us: int) -> bool:
        """True if a block arrives at ``at_us`` or later; waits until that is certain."""
        ...

    def payloads(self, start_us: int, end_us: int) -> Iterator[tuple[int, bytes]]:
        """(arrival time, payload) of ``start_us <= arrival < end_us``; waits for those that are not there yet."""
        ...


def end_past_silence_us(recording: Recording, at_us: int, window_us: int) -> int:
    """End of the first window from an arrival time on that has a block, ``NEVER_US`` while a recording has none yet.

    An unpaced run commits a silence as one window with it: a clock that leaps by days would make thousands of windows.
    """
    last_us = recording.end_us if recording.is_finished else recording.readable_us
    first_us = next((arrival_us for arrival_us, _ in recording.payloads(at_us, last_us)), None)
    if first_us is None:
        return at_us + window_us if recording.is_finished else NEVER_US
    return at_us + ((first_us - at_us) // window_us + 1) * window_us


class LiveRecording(Recording, Protocol):
    """A recording that grows at the pace at which its packets arrive, and can be read the moment they do."""

    def live_payloads(self, start_us: int, end_us: int) -> Iterator[tuple[int, bytes]]:
        """As ``payloads``, but yields an empty payload where it would wait, and looks again when asked."""
        ...


class InputMonitor(Protocol):
    """Receives and reports how the source of a match does.

    Attributes:
        records_behind: records that wait in a topic; None where that is not known.
        source_trouble: why the source cannot be read now; empty while it can.
        feed_figures: figures by name, by feed of a gateway.
        feed_problems: what is wrong with the feeds, a line each.
    """

    records_behind: int | None
    source_trouble: str
    feed_figures: Mapping[str, Mapping[str, float]]
    feed_problems: Sequence[str]

    def newest_due_wall_us(self) -> int:
        """Wall time at which the newest processed block was due; 0 before the first."""
        ...


class MatchInput(Protocol):
    """A match of a source, opened in the driver.

    Attributes:
        kind: ``module:class`` of the source whose reader reads it.
        sheet: match sheet.
        begin: offset of the first record.
        fingerprint: of the input's content; empty if it has none.
        rejected: records of the source that no packet could hold; known when the match is opened.
        findings: what the reader of a file has found, such as a missing match sheet.
        sample: a recording like the match, for the warm-up of processes and the measurement of costs.
        recording: the match itself, if it is a recording. The in-process engine plays recordings only.
        takes_officials: whether official lines can be merged into it.
        is_live: whether records arrive at their own pace, independent of ``--speed``.
    """

    kind: str
    sheet: MatchSheet
    begin: int
    fingerprint: str
    rejected: Sequence[RejectedRecord]
    findings: Sequence[InputFinding]
    sample: Recording
    recording: Recording | None
    takes_officials: bool
    is_live: bool

    def spec(self, window_s: float, *, one_match: bool) -> dict[str, Any]:
        """Arguments for the reader of the match, as :attr:`Entry.spec`.

        Args:
            window_s: length of a window in wall time.
            one_match: whether this is the run's only match.
        """
        ...

    def has_ended(self, offset: int, *, ended: bool) -> bool:
        """True if a match that is committed up to ``offset`` is over.

        Args:
            offset: of the last commit.
            ended: whether the last commit records the end of the match.
        """
        ...

    def played_us(self, offset: int, now_us: int) -> int:
        """Arrival time at an offset; ``now_us`` is the newest arrival time that was committed."""
        ...

    def length_us(self) -> int | None:
        """Arrival time from beginning to end; None while it is not known."""
        ...

    def committed(self, offset: int) -> None:
        """Records that everything up to ``offset`` is committed, so that a producer that waits may continue."""
        ...

    def watch(self, offset: int, monitor: InputMonitor) -> AbstractContextManager[Any]:
        """Reports to ``monitor`` how many records wait after ``offset``, while the context lasts."""
        ...


class Discovered(msgspec.Struct, frozen=True):
    """A match that was discovered in a source of several.

    Attributes:
        match: its id there.
        source: ``--source`` that names this match only.
        location: where it is, see :attr:`SourceRequest.location`.
    """

    match: str
    source: str
    location: Any


class Discovery(Protocol):
    """Looks for the matches of a source that has several, while its context lasts.

    Attributes:
        trouble: why the source cannot be read at the moment; empty while it can.
    """

    trouble: str

    def matches(self) -> Sequence[Discovered]:
        """The matches found so far, in the order in which they were found."""
        ...

    def wait_first(self, stop: threading.Event) -> None:
        """Waits for the first match. Returns when one is found, when none appears for too long, or on ``stop``."""
        ...


class Source(Protocol):
    """A kind of input. Objects have no state; the registry creates one on each request.

    Errors that people can mend derive from ``football.errors.UserError``.

    Attributes:
        has_recording: whether a match can be played again from its store. Only into such a match lines of officials
            can be merged.
    """

    has_recording: bool

    def recognises(self, source: str, rate: str) -> bool:
        """True if a ``--source`` (with this ``--rate``) names an input of this kind. Looks at files at most."""
        ...

    def with_absolute_paths(self, source: str, folder: Path) -> str:
        """``source`` with absolute paths; relative ones start at ``folder``."""
        ...

    def complete_options(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Completes the options of a run with the values that this kind prescribes, and with its defaults.

        Raises:
            ValueError: an option contradicts the source; the message is for the user.
        """
        ...

    def prepare(self, request: SourceRequest, folder: Path, console: Console, background: ExitStack) -> None:
        """Prepares a new match in ``folder``, which the caller then moves into the match store.

        Args:
            request: the match.
            folder: an empty or missing folder.
            console: shows progress.
            background: receives the contexts that must stay open while the match is played.
        """
        ...

    def resume(self, request: SourceRequest, folder: Path, background: ExitStack) -> None:
        """Resumes an input that :meth:`prepare` has prepared in the match store ``folder``."""
        ...

    def load(self, source: str, folder: Path) -> MatchInput:
        """Opens the match that was prepared in the match store ``folder``."""
        ...

    def restart_source(self, source: str, folder: Path) -> str:
        """The ``--source`` from which a match in ``folder`` could be played again from its beginning."""
        ...

    def selection(self, source: str) -> tuple[str, str] | None:
        """Splits a ``--source`` that may hold several matches: its name without a match, and the match (empty: all).

        None if the source holds exactly one match.
        """
        ...

    def discovery(self, source: str) -> AbstractContextManager[Discovery]:
        """Discovery of matches in a source that may hold several."""
        ...

    def sample(self, spec: Mapping[str, Any]) -> Recording:
        """Opens :attr:`MatchInput.sample` in a worker."""
        ...

    def reader(self, batch: OpenBatch) -> Reader:
        """Creates the reader for one micro-batch of a seat."""
        ...
