"""``touchline trace``: plays a match once more, and prints the path of one event through the ordering units.

The match is played from its capture with the ordering that it had. Where alpha or retraction adapted to the load, the
adaptation may differ. A capture that still grows is traced up to its end so far.

Only a stretch around the event is played: the match store, or the capture itself, has the arrival times at which the
event or packet was mentioned. The stretch begins some seconds before, in which units learn their slack, and begins
earlier if the event does not come out. It ends when each unit that the event reached has worked on it. Only the
detectors play that the event depends on, or that depend on it. Slack and alpha then may differ from those of the run,
and costs are those of an average machine; ``--whole`` plays from the beginning of the match, with costs as measured. An
inner event, which no store has, is looked for from the beginning, too.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TextIO

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import typer
from rich.progress import BarColumn, TimeRemainingColumn

from app.base.terminal import make_console, make_progress
from app.cli.options import Given
from app.cli.output import print_json
from app.pipeline.options import with_costs
from app.pipeline.pipeline import MatchPipeline, PipelineOptions
from app.settings.resolve import make_settings, read_stored_settings
from app.settings.slack import parse_slack
from detectors.catalogue import build_detectors
from detectors.parameters import Parameters
from football.errors import UserError
from football.packets import RAW_KINDS
from middleware.engine import Engine
from middleware.trace import Arrived, Concluded, HistoryLine, Released, Trace, event_history
from replay.capture import Capture
from replay.event_choice import format_time
from replay.match_store import is_store, updates_log
from replay.official_feed import replayed

app = typer.Typer(add_completion=False)

#: Names that the line of a repair lists; the number of the others follows.
_NAMES_MAX = 4

#: Time before the event from which the match is played: units learn their slack in it. If the event does not come out,
#: the next one is tried.
_LEADS_US = (5_000_000, 40_000_000, 300_000_000)


class TraceError(UserError, ValueError):
    """An event that cannot be traced; the message has the reason."""


@app.command()
def trace(
    folder: Annotated[Path, typer.Argument(help="Folder of a match store, or of a capture.")],
    event: Annotated[
        str,
        typer.Argument(
            help="Id of an event as `touchline events` lists it; of a packet kind:transmitter:number, "
            "such as raw.player:home_7:123."
        ),
    ],
    alpha: Annotated[str | None, Given(help="Play with another alpha than the match had: 0 to 1, or auto.")] = None,
    retraction: Annotated[
        str | None, Given(help="Play with another retraction than the match had: full, on-demand or auto.")
    ] = None,
    whole: Annotated[
        bool,
        Given("--whole", help="Play from the beginning of the match, so that slack and alpha are those of the run."),
    ] = False,
    as_json: Annotated[bool, Given("--json", help="Print an array of records.")] = False,
) -> None:
    """Traces an event through the ordering units: arrival, release and its reason, causes, and what it displaced.

    A stretch of the match around the event is played again from its capture.

    Examples:
        touchline trace matches/demo pass.complete#ball:61128725
        touchline trace matches/demo raw.player:home_7:123 --alpha 1
    """
    replay = _Replay(folder, Capture.open(folder), alpha, retraction, "" if whole else _kind(event))
    mentioned_us = [] if whole else list(_mentions(folder, replay.capture, event))
    lines = _trace_part(replay, event, mentioned_us) if mentioned_us else _trace_all(replay, event)
    if as_json:
        print_json([_plain(line) for line in lines])
    else:
        write_story(lines, event, sys.stdout)


def write_story(lines: list[HistoryLine], event: str, out: TextIO) -> None:
    """Write a story as text: the causes, the event, and what it displaced, each level further to the right."""
    rows: list[tuple[int, int, str, list[str]]] = []
    for line in lines:
        row = line.depth, line.record.now_us, _sentence(line.record)
        if rows and rows[-1][:3] == row:
            rows[-1][3].append(line.record.unit)
        else:
            rows.append((*row, [line.record.unit]))
    below = False
    for depth, now_us, text, units in rows:
        if depth < 0 and not below:
            out.write("Causes:\n")
        elif depth >= 0 and (below or (depth, now_us, text, units) == rows[0]):
            out.write(f"{event}, and what it displaced (further to the right):\n")
        below = depth < 0
        out.write(f"{now_us / 1e6:11.3f} s  {'  ' * max(0, depth)}{', '.join(units)}: {text}\n")


class _Replay:
    """A match that is played again, with the ordering that it had unless another one is chosen.

    It plays all detectors with costs as measured, or those that matter to the events of a kind.
    """

    def __init__(
        self, folder: Path, capture: Capture, alpha: str | None, retraction: str | None, about: str = ""
    ) -> None:
        self.folder, self.capture, self.until_us = folder, capture, capture.readable_us
        self._console = make_console(stderr=True)
        stored = read_stored_settings(folder) or {}
        chosen = {"alpha": alpha, "retraction": retraction, "allowed_lateness_s": None}
        settings = make_settings({name: stored.get(name) if value is None else value for name, value in chosen.items()})
        self.margin_us = round(settings.allowed_lateness_s * 1e6)
        options = PipelineOptions(
            alpha=settings.alpha,
            retraction=settings.retraction,
            slack=parse_slack(stored.get("slack", "")),
            allowed_lateness_ms=self.margin_us // 1_000,
            parameters=stored.get("parameters", Parameters()),
            extra=tuple(stored.get("detectors", ())),
            patterns=stored.get("patterns", {}),
            about=about,
        )
        self._options = options if about else with_costs(options, capture.sheet, capture)
        detectors = build_detectors(capture.sheet, options.parameters, options.extra, patterns=options.patterns)
        kinds = {*RAW_KINDS, *(kind for detector in detectors for kind in detector.spec.outputs)}
        if about and about not in kinds:
            raise TraceError(f"no event of kind {about!r} in {folder}; `touchline events` lists all")

    def windows(self, mentioned_us: Iterable[int]) -> list[tuple[int, int]]:
        """Stretches of arrival time around instants, as long as the lateness of an input may be."""
        return [(seen_us - self.margin_us, seen_us + self.margin_us) for seen_us in sorted(set(mentioned_us))]

    def play(self, trace: Trace, title: str, begin_us: int, end_us: int, enough_us: int | None = None) -> Trace:
        """Play a stretch with traced units; of a capture that still grows, the part that can be read.

        Args:
            trace: records the stretch.
            title: of the progress bar.
            begin_us: arrival time at which it begins.
            end_us: arrival time at which it ends.
            enough_us: arrival time after which it ends as soon as no unit has the watched event before it.
        """
        capture = self.capture
        begin_us, end_us = max(begin_us, capture.begin_us), min(end_us, self.until_us)
        pipeline = MatchPipeline(capture.sheet, self._options, make_engine=partial(Engine, make_unit=trace.unit))
        blocks = replayed(self.folder, capture.payloads(begin_us, end_us), begin_us, end_us)
        span = f"{title}: {format_time(begin_us)} to {format_time(end_us)}"
        with make_progress(self._console, BarColumn(), TimeRemainingColumn()) as bar:
            task = bar.add_task(span, total=end_us - begin_us)
            for arrival_us, payload in blocks:
                trace.at(arrival_us)
                pipeline.push(payload, arrival_us)
                bar.update(task, completed=arrival_us - begin_us)
                if enough_us is not None and arrival_us > enough_us and trace.mentioned_us and not trace.awaiting:
                    return trace
        if capture.is_finished and end_us == capture.end_us:
            pipeline.finish()
        return trace


def _kind(event: str) -> str:
    """The kind of an event by its name: its id, or kind, source and sequence."""
    return event.partition("#")[0] if "#" in event else event.partition(":")[0]


def _mentions(folder: Path, capture: Capture, event: str) -> Iterator[int]:
    """Arrival times of the updates of an event in the store's log, or of a packet in the capture.

    Raises:
        TraceError: the log has other events of that kind, but not this one.
    """
    if is_store(folder):
        log = updates_log(folder)
        emitted_us = log.filter(pc.equal(log["id"], event))["emitted_us"].to_pylist()
        published = pc.is_in(pa.scalar(_kind(event)), log["kind"].combine_chunks()).as_py()
        if published and not emitted_us:
            raise TraceError(f"{event}: no event of that id in {folder}; `touchline events` lists all")
        yield from emitted_us
    kind, _, packet = event.partition(":")
    transmitter, _, number = packet.rpartition(":")
    if kind in RAW_KINDS and number.isdecimal():
        for batch in capture.packets(capture.begin_us, capture.readable_us):
            if transmitter in batch.names:
                is_it = (batch.tag == batch.names.index(transmitter)) & (batch.sequence == int(number))
                yield from batch.arrival_us[is_it].tolist()


def _trace_part(replay: _Replay, event: str, mentioned_us: list[int]) -> list[HistoryLine]:
    """The history of an event whose arrival times are known, from as short a stretch as it comes out in."""
    windows = replay.windows(mentioned_us)
    for lead_us in _LEADS_US:
        begin_us, end_us = windows[0][0] - lead_us, windows[-1][1]
        trace = replay.play(Trace(event, windows), "Playing", begin_us, end_us, max(mentioned_us))
        if trace.mentioned_us:
            return event_history(trace.records, event)
    return _trace_all(replay, event)


def _trace_all(replay: _Replay, event: str) -> list[HistoryLine]:
    """The history of an event from the beginning of the match: one pass finds it, a second one traces it.

    Raises:
        TraceError: there is no such event.
    """
    capture = replay.capture
    first = replay.play(Trace(event), "Looking for it", capture.begin_us, replay.until_us)
    if not first.mentioned_us:
        so_far = "" if capture.is_finished else f" up to {replay.until_us / 1e6:.0f} s, where its capture ends so far"
        raise TraceError(f"{event}: no event of that id in {replay.folder}{so_far}; `touchline events` lists all")
    windows = replay.windows(first.mentioned_us)
    return event_history(
        replay.play(Trace(event, windows), "Tracing it", capture.begin_us, windows[-1][1]).records, event
    )


def _plain(line: HistoryLine) -> dict[str, Any]:
    return {"depth": line.depth, **msgspec.to_builtins(line.record)}


def _sentence(record: Any) -> str:
    """A record as a sentence."""
    if isinstance(record, Arrived):
        what = "arrived" if record.diff > 0 else "was withdrawn"
        late = ", before what had been emitted" if record.late else ""
        early = f", {record.k_plus_us / 1e3:.1f} ms sooner than by pure buffering" if record.k_plus_us else ""
        since_ms = (record.now_us - record.ts_us) / 1e3
        return f"{record.event} {what} {since_ms:.1f} ms after it happened{late}{early}"
    if isinstance(record, Released):
        k_ms = f"K {record.k_us / 1e3:.1f} ms"
        if record.by == "progress":
            reason = f"the sources had reported everything up to it (alpha {record.alpha:.2f}, {k_ms})"
        elif record.alpha:
            reason = f"alpha {record.alpha:.2f} of {k_ms} had passed"
        else:
            reason = f"alpha 0 waits for nothing ({k_ms})"
        return f"{record.event} released: {reason}"
    if isinstance(record, Concluded):
        return f"concluded {record.event} from {record.cause}"
    because = [f"{len(names)} {what} ({_some(names)})" for names, what in
               ((record.late, "late"), (record.withdrawn, "withdrawn")) if names]  # fmt: skip
    effects = [f"{what} {_some(names)}" for names, what in
            ((record.withdrew, "withdrew"), (record.asserted, "asserted")) if names]  # fmt: skip
    redid = f"redid {record.redone} inputs for" if record.redone else "put in or took out"
    return f"{redid} {' and '.join(because)}; {', '.join(effects) or 'nothing changed'}"


def _some(names: tuple[str, ...]) -> str:
    more = len(names) - _NAMES_MAX
    return ", ".join(names[:_NAMES_MAX]) + (f" and {more} more" if more > 0 else "")
