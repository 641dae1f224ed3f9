"""Measures the input of a match without playing it: its blocks go through the meter of a live run, and no further."""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console

from app.base.pace import NEVER_US
from app.base.private import private_files, temporary_folder
from app.pipeline.folder import request_of
from app.pipeline.input_gate import sizes_of
from app.settings.model import LiveSettings
from app.sources.interface import Entry, MatchInput, OpenBatch, TimedBlock
from app.sources.registry import load_source, source_of
from football.errors import UserError
from football.input_quality import InputFinding, InputQuality
from football.match_sheet import MatchSheet
from replay.block_validation import decode_block, validator_of
from replay.formats.officials import is_official
from replay.quality.findings import Circumstances, findings_of, is_wrong
from replay.quality.meter import END_US, InputMeter

#: A live source that gives nothing for so long has no more for now, in seconds.
IDLE_S = 3.0

#: Length of the windows that the source closes meanwhile, in microseconds of arrival time and in seconds of a topic.
_WINDOW_US, _WINDOW_S = 60_000_000, 10.0


class InspectionError(UserError):
    """The source failed while it was read; the message has the reason."""


class Inspection(msgspec.Struct, frozen=True):
    """Figures of a source, and the verdict.

    Attributes:
        sheet: match sheet of the source.
        quality: figures; records that the reader of a file has refused are among the refused.
        findings: the gravest first.
    """

    sheet: MatchSheet
    quality: InputQuality
    findings: tuple[InputFinding, ...]

    @property
    def is_wrong(self) -> bool:
        """True if events that are detected in this input cannot be relied on."""
        return is_wrong(self.findings)


def inspect_source(settings: LiveSettings, console: Console) -> Inspection:
    """Measure the source of a run, whose input is prepared in a folder that is deleted afterwards.

    Raises:
        InspectionError, and the errors of the source.
    """
    with ExitStack() as background:
        background.enter_context(private_files())
        folder = Path(background.enter_context(tempfile.TemporaryDirectory(prefix="inspect-", dir=temporary_folder())))
        source, draft = source_of(settings.source, settings.rate), folder / "input"
        request = msgspec.structs.replace(request_of(settings), pace=0.0)
        source.prepare(request, draft, console, background)
        match = source.load(settings.source, draft)
        quality = _measure(match, folder, settings.duration_s)
        unreadable = Counter(record.reason for record in match.rejected)
        findings = findings_of(quality, match.sheet, Circumstances(tuple(match.findings), unreadable))
        reasons = Counter(quality.refused_reasons) + unreadable
        refused = quality.refused + unreadable.total()
        quality = msgspec.structs.replace(quality, refused=refused, refused_reasons=dict(reasons.most_common(5)))
        return Inspection(match.sheet, quality, findings)


def _measure(match: MatchInput, folder: Path, duration_s: float | None) -> InputQuality:
    """Put the blocks through validation and meter, as a pipeline does."""
    meter, validator = InputMeter(match.sheet), validator_of(match.sheet)
    reasons: Counter[str] = Counter()
    packets = 0
    begin_us: int | None = None
    for arrival_us, _, payload in _blocks(match, folder):
        begin_us = arrival_us if begin_us is None else begin_us
        if duration_s is not None and arrival_us > begin_us + duration_s * 1e6:
            break
        if is_official(payload):
            continue
        block, bad = decode_block(payload, "")
        if block is not None:
            meter.add_block(block, arrival_us)
            block, bad = validator.check_decoded(block, "")
            meter.refuse(bad)
            packets += sizes_of(block)[0]
        reasons.update(record.reason for record in bad)
    return meter.summary(END_US, packets, 0, reasons)


def _blocks(match: MatchInput, folder: Path) -> Iterator[TimedBlock]:
    """Blocks of a match as fast as its source gives them, to its end, or until it gives no more for now."""
    batch = OpenBatch(
        _WINDOW_US, 2**31, NEVER_US, anchor=lambda _: folder / "anchor", stopped=lambda: False,
        has_another=lambda _: True,
    )  # fmt: skip
    reader = load_source(match.kind).reader(batch)
    spec: dict[str, Any] = match.spec(_WINDOW_S, one_match=True)
    reader.add(Entry(match.sheet.match_id, match.kind, spec, match.begin, 0.0, NEVER_US), 1.0)
    heard_s = time.monotonic()
    while reader.is_open and (not match.is_live or time.monotonic() < heard_s + IDLE_S):
        for row in reader.read(200_000):
            if row.failed:
                raise InspectionError(row.failed)
            if row.blocks:
                heard_s = time.monotonic()
            yield from row.blocks
