"""Plays one recorded match again into a store of its own: the work of a task of the batch.

A match is played in a folder for drafts. When it is whole, compared with the recording and described by ``batch.json``,
the folder moves to the results. So every result is finished, and a match whose task died begins anew: new detectors
cannot resume from the states of old ones.
"""

from __future__ import annotations

import io
import shutil
import threading
import time
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from app.base.errors import reason_of
from app.base.pace import NEVER_US
from app.base.terminal import make_console
from app.batch.inputs import BatchError, RecordedMatch
from app.pipeline.folder import MatchCommits, open_match
from app.pipeline.inprocess import InProcessConfig, InProcessHost, NoFollower
from app.pipeline.options import PIPELINE, options_of, with_costs
from app.settings.patterns import check_patterns
from app.settings.resolve import make_settings
from app.sources.captures import is_capture
from app.sources.interface import Recording
from app.sources.registry import source_of_store
from detectors.catalogue import OPT_IN
from football.untrusted import LISTING_BYTES_MAX, read_json
from replay.capture import Capture
from replay.event_list import consolidated_events, progress
from replay.match_store import read_commits, read_run
from replay.official_feed import JOURNAL
from replay.scoring.changes import KindChange, compare

#: Files in a result's folder: the input and the result; the changes.
REPORT, CHANGES_FILE = "batch.json", "changes.parquet"

#: Folder in that of the results: matches that are being played.
DRAFTS = ".playing"

#: Arrival time from commit to commit: few files, but visible progress.
_WINDOW_US = 300_000_000


class BatchOptions(msgspec.Struct, frozen=True):
    """Options of all matches of a batch.

    Attributes:
        out: folder of the results.
        alpha: share of the slack to wait; the events are the same with any, see docs/history.md.
        parameters: settings file of the detectors; empty for the defaults.
        detectors: opt-in detectors in addition to those of each recording.
        positions: True to store fused positions.
        patterns: texts of patterns by name, in addition to those of each recording.
    """

    out: str
    alpha: str = "1"
    parameters: str = ""
    detectors: tuple[str, ...] = ()
    positions: bool = True
    patterns: dict[str, str] = {}


class Result(msgspec.Struct, frozen=True):
    """The result of one match.

    Attributes:
        name: of its folder.
        source, store: see :class:`app.batch.inputs.RecordedMatch`.
        input: the capture's fingerprint and the arrival time up to which it was played.
        broken: the reason why there is no result, else empty.
        stream_s, wall_s: length of the match, and the time that it took.
        events: number of events that stand at the end.
        kinds: changes by kind; None where nothing was recorded.
    """

    name: str
    source: str
    store: str = ""
    input: str = ""
    broken: str = ""
    stream_s: float = 0.0
    wall_s: float = 0.0
    events: int = 0
    kinds: dict[str, KindChange] | None = None


def play(name: str, recorded: RecordedMatch, batch: BatchOptions) -> Result:
    """Play a match again; an error is in the result and is not raised."""
    draft = Path(batch.out) / DRAFTS / name
    try:
        shutil.rmtree(draft, ignore_errors=True)
        draft.parent.mkdir(parents=True, exist_ok=True)
        return _played(name, recorded, batch, draft)
    except Exception as error:
        # Any error belongs to this match: a fault that one match shows must not end the others.
        reason = reason_of(error)
        return Result(name, recorded.source, recorded.store, broken=reason)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def finished(name: str, recorded: RecordedMatch, out: Path) -> Result | None:
    """The result of an earlier call; None if there is none, or its input was less or another than now."""
    try:
        result = read_json(out / name / REPORT, Result, LISTING_BYTES_MAX)
        same = result.source == recorded.source and result.input == _input(recorded)
    except (OSError, ValueError):
        return None
    return result if same else None


def share_done(name: str, out: Path) -> float:
    """The committed share of a match that is being played, 0..1."""
    draft = out / DRAFTS / name
    try:
        commits = read_commits(draft)
        capture = Capture.open(draft / "capture")
        length_us = (capture.end_us if capture.is_finished else capture.readable_us) - capture.begin_us
        reached_us = max((commit.meta.end_offset for commit in commits), default=capture.begin_us)
        return min(1.0, (reached_us - capture.begin_us) / max(1, length_us))
    except ValueError:  # it begins just now, or is already whole
        return 0.0


def _played(name: str, recorded: RecordedMatch, batch: BatchOptions, draft: Path) -> Result:
    began_s = time.monotonic()
    if recorded.store and not source_of_store(Path(recorded.store)).has_recording:
        raise BatchError(f"{recorded.store}: was read from a topic, so its store has no packets")
    settings = make_settings(_given(recorded, batch, draft))
    with open_match(settings, make_console(file=io.StringIO())) as match:
        recording = match.input.recording
        if recording is None:
            raise BatchError(f"{recorded.source}: is no recording, and cannot be played again")
        stop_us = _recorded_until_us(recorded, recording)
        if recorded.store and (Path(recorded.store) / JOURNAL).is_file():
            shutil.copy(Path(recorded.store) / JOURNAL, draft / JOURNAL)
        options = with_costs(options_of(settings), recording.sheet, recording)
        config = InProcessConfig(PIPELINE, options, draft / "states", 0.0, _WINDOW_US, stop_us, (draft,))
        commits = MatchCommits(match, positions=batch.positions)
        InProcessHost(recording, config, NoFollower(), commits).run(threading.Event())
        stream_s = (match.offset() - match.input.begin) / 1e6
    shutil.rmtree(draft / "states")  # no run resumes from them
    events = consolidated_events(draft)
    kinds = _compared(name, recorded, events, draft)
    wall_s = round(time.monotonic() - began_s, 3)
    result = Result(
        name, recorded.source, recorded.store, _input(recorded), "", round(stream_s, 3), wall_s, len(events), kinds
    )
    (draft / REPORT).write_bytes(msgspec.json.format(msgspec.json.encode(result), indent=1))
    final = Path(batch.out) / name
    shutil.rmtree(final, ignore_errors=True)
    draft.replace(final)
    return result


def _given(recorded: RecordedMatch, batch: BatchOptions, draft: Path) -> dict[str, Any]:
    given: dict[str, Any] = {
        "source": recorded.source, "store": draft, "engine": "inprocess", "speed": "max", "alpha": batch.alpha,
        "retraction": "auto" if batch.alpha == "auto" else "on-demand", "dashboard": False, "camera": False,
    }  # fmt: skip
    opt_in, patterns = set(batch.detectors), dict[str, str]()
    if recorded.store:
        stored = read_run(recorded.store).get("settings")  # without its parameters: some may no longer exist
        if isinstance(stored, dict):
            opt_in |= set(stored.get("detectors") or ()) & set(OPT_IN)
            given["allowed_lateness_s"] = stored.get("allowed_lateness_s")
            patterns |= check_patterns(stored.get("patterns") or {}, f"{recorded.store}/run.json")
    given["patterns"] = patterns | batch.patterns
    if opt_in:
        given["detectors"] = ",".join(sorted(opt_in))
    if batch.parameters:
        given["parameters"] = batch.parameters
    return given


def _recorded_until_us(recorded: RecordedMatch, capture: Recording) -> int:
    """The end of the recording: an interrupted run is compared up to where it had played."""
    if not recorded.store:
        return NEVER_US if capture.is_finished else capture.readable_us
    commits = [commit for commit in read_commits(recorded.store) if not commit.series]
    if any(commit.meta.ended for commit in commits):
        return NEVER_US
    return max((commit.meta.end_offset for commit in commits), default=capture.begin_us)


def _input(recorded: RecordedMatch) -> str:
    """A fingerprint of the input: another one after a recording has grown, or a file was written again."""
    source = recorded.source
    if is_capture(source):
        capture = Capture.open(source)
        return f"{capture.fingerprint} up to {_recorded_until_us(recorded, capture)}"
    if not Path(source).is_file():
        return source
    stat = Path(source).stat()
    return f"{stat.st_size} bytes of {stat.st_mtime_ns}"


def _compared(name: str, recorded: RecordedMatch, events: pa.Table, draft: Path) -> dict[str, KindChange] | None:
    if not recorded.store:
        return None
    frontier_us, ended = progress(recorded.store)
    before = consolidated_events(recorded.store)
    if not ended:  # here the match ends at the interruption: what was not final there may differ
        tables = before, events
        before, events = (t.filter(pc.less(pc.add(t["ts_us"], t["lag_us"]), frontier_us)) for t in tables)
    kinds, changes = compare(name, before, events)
    pq.write_table(changes, draft / CHANGES_FILE, compression="zstd")
    return kinds
