"""Outputs of a gateway: a live capture on disk, which is also the spool of a topic."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Protocol

import msgspec

from app.base.logs import log_event
from app.base.machine_clock import clock_error_us
from football.match_sheet import MatchSheet
from football.packets import Block, RejectedRecord
from football.untrusted import LISTING_BYTES_MAX, REJECTED_MAX, read_bytes
from replay.capture import CaptureWriter
from replay.capture_documents import HEAD
from replay.formats.officials import FILE, DecisionFields
from replay.refused_records import append_refused

_log = logging.getLogger(__name__)


class Output(Protocol):
    """Takes the blocks of a gateway, in order of arrival; a context manager."""

    @property
    def zero_us(self) -> int:
        """UTC of time 0."""
        ...

    @property
    def last_us(self) -> int:
        """Arrival time of the newest block; a far past one before the first."""
        ...

    def write(self, block: Block) -> None:
        """Take a block; returns at once."""
        ...

    def pass_time(self, at_us: int) -> None:
        """Take note that no block has come up to a time."""
        ...

    def refuse(self, records: Sequence[RejectedRecord]) -> None:
        """Take refused records."""
        ...

    def decide(self, decisions: Sequence[DecisionFields]) -> None:
        """Take decisions of officials."""
        ...

    def decided(self) -> list[str]:
        """Return the lines of decisions that an earlier gateway wrote."""
        ...


class CaptureOutput:
    """Writes a live capture, and goes on with one of the same feeds that was left open.

    Args:
        folder: of the capture.
        sheet: of the match.
        fingerprint: of the feeds.
        zero_us: UTC of time 0 of a new capture.
        keep_us: arrival time that stays on disk; older segments are deleted and counted. None keeps everything.

    Attributes:
        ends: whether leaving the context ends the match; else another gateway may go on.
        deleted: segments deleted because of ``keep_us``.
    """

    def __init__(
        self, folder: Path, sheet: MatchSheet, fingerprint: str, zero_us: int, keep_us: int | None = None
    ) -> None:
        self._writer = CaptureWriter(
            folder, sheet, fingerprint=fingerprint, live_zero_us=zero_us, utc_error_us=clock_error_us()
        )
        self._keep_us = keep_us
        self._decisions: list[DecisionFields] = []
        self._refused: list[RejectedRecord] = []
        self._refused_count = self._refused_further = 0
        self.ends = True
        self.folder = folder

    @property
    def zero_us(self) -> int:
        """See :class:`Output`."""
        assert self._writer.live_zero_us is not None
        return self._writer.live_zero_us

    @property
    def last_us(self) -> int:
        """See :class:`Output`."""
        return self._writer.last_us

    def __enter__(self) -> CaptureOutput:
        self._writer.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.decide(())
        if self._refused_further:
            reason = f"{self._refused_further} more were refused by the gateway"
            self._refused.append(RejectedRecord("further records", "", -1, None, reason, ""))
        if self._refused:
            self.pass_time(self._writer.last_us + 1)
        if kind is None and not self.ends:
            stopped = InterruptedError("left open for another gateway")
            self._writer.__exit__(InterruptedError, stopped, None)
        else:
            self._writer.__exit__(kind, error, trace)

    def write(self, block: Block) -> None:
        """See :class:`Output`."""
        before_us = self._writer.written_us
        self._write_refused(block.arrival_us)
        self._writer.append(block)
        if self._decisions:
            self.decide(())
        if self._keep_us is not None and self._writer.written_us != before_us:
            self._writer.forget_before(block.arrival_us - self._keep_us)

    def pass_time(self, at_us: int) -> None:
        """See :class:`Output`."""
        if at_us > self._writer.last_us:
            self._write_refused(at_us)
            self._writer.pass_time(at_us)

    def _write_refused(self, at_us: int) -> None:
        """Write refused records, so that a reader gets them before what it gets at a time."""
        if self._refused and (self.folder / HEAD).exists():
            append_refused(self.folder, at_us, self._refused)
            self._refused = []

    def decide(self, decisions: Sequence[DecisionFields]) -> None:
        """See :class:`Output`. Until the capture has begun they wait, since its folder may hold nothing else."""
        self._decisions += decisions
        if self._decisions and (self.folder / HEAD).exists():
            with (self.folder / FILE).open("ab") as lines:
                lines.write(b"".join(msgspec.json.encode(one) + b"\n" for one in self._decisions))
            self._decisions = []

    def decided(self) -> list[str]:
        """See :class:`Output`."""
        path = self.folder / FILE
        if not path.exists():
            return []
        return read_bytes(path, LISTING_BYTES_MAX).decode(errors="replace").splitlines()

    def refuse(self, records: Sequence[RejectedRecord]) -> None:
        """See :class:`Output`."""
        for record in records:
            if self._refused_count < REJECTED_MAX:
                self._refused.append(record)
                self._refused_count += 1
            else:
                self._refused_further += 1
            log_event(_log, logging.DEBUG, "record refused", reason=record.reason, raw=record.raw)
