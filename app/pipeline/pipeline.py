"""The pipeline of one match, from payload to update message: check, quarantine, engine, records.

Theory of operation
-------------------
A host (the Spark stage, the in-process runner) pushes blocks in arrival order and publishes the messages that the
pipeline returns. At intervals it commits: it takes the tables of all updates since the last commit, and a snapshot. A
pipeline that is restored from the snapshot and receives the same blocks emits the same updates again; only the wall
times and the epoch differ.

Committed positions are the engine's fused frames once they are final: each instant is written exactly once. The live
view holds the newest known position of each object, which a late packet may still improve.
"""

from __future__ import annotations

import pickle
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Literal

import pyarrow as pa

from app.base.collection import no_collection
from app.pipeline.costs import CostMeter
from app.pipeline.input_gate import InputGate, sizes_of
from app.pipeline.quarantine_buffer import QuarantineBuffer, lost_record
from app.pipeline.seal import Maker, code_fingerprint, fingerprint
from app.settings.slack import SlackChoice
from app.sources.interface import Recording, TimedBlock
from detectors.arrivals import arrival, end_arrival, instant_arrivals, official_arrival
from detectors.catalogue import build_detectors, detectors_about
from detectors.parameters import Parameters
from detectors.records import RecordMaker
from football.match_sheet import MatchSheet
from football.officials import Official
from football.packets import RAW_KINDS, UNPACED_KINDS, InstantBlock, RejectedRecord
from football.payloads import BodyState, Frame, ball_of, frame_of, payload_as
from football.untrusted import SOURCES_MAX
from football.update_stream import BallView, BodyView, Health, UpdateMessage, UpdateRecord, View, WatermarkHold
from middleware.detector import Detector
from middleware.engine import Engine
from middleware.events import END_US, Arrival, Event, Update
from middleware.hierarchy import Hierarchy
from middleware.load_accounting import Costs
from middleware.ordering.policy import EngineSettings, UnitSettings
from middleware.ordering.retraction import Retraction
from middleware.ordering.speculation import AdaptiveAlpha, FixedAlpha
from middleware.push_result import PushResult
from middleware.sources.progress import ProgressSettings
from replay.formats.officials import OfficialError, OfficialLine, decode, is_official, read, rejected
from replay.match_store import positions_table, updates_table
from replay.quality.meter import InputMeter

#: Minimal intervals in arrival time: views are published 50 times a second at most, health twice.
VIEW_PERIOD_US = 20_000
HEALTH_PERIOD_US = 500_000

#: The same of health where all is final on arrival, as at full speed: 5 s pass in a thirtieth of a second there.
FINAL_HEALTH_PERIOD_US = 5_000_000

#: Blocks of a warm-up, two seconds of a stream at live rates. They are taken from the beginning of a recording only,
#: since it may still grow.
WARM_UP_BLOCKS, _WARM_UP_US = 200, 10_000_000

#: Interval at which the steps of one detector are timed, each detector in turn.
_TIMING_PERIOD_US = 200_000

#: Share of packets that may be lost because a gap was given up: final follows the sources, and nothing repairs a loss.
LOST_SHARE = 0.00001

#: A position older than this is no longer shown.
VIEW_STALE_US = 2_000_000


@dataclass(frozen=True)
class PipelineOptions:
    """Options of ordering and detectors.

    Attributes:
        alpha: share of the slack that units wait; 0 emits at once, 1 is pure buffering, ``auto`` follows the load.
        retraction: see ``middleware.ordering.unit``.
        slack: policies of the units; by default a target.
        allowed_lateness_ms: largest lateness of a packet that is still repaired.
        max_held: limit of the inputs that all units together retain for repairs.
        available: wall seconds available per second of the stream; 0.25 at four times its speed.
        costs: initial costs of the work, for options that adapt to load; later costs are measured between windows.
        parameters: of the detectors.
        extra, own, patterns: optional detectors, the caller's, and texts of patterns by name; see
            ``detectors.catalogue.build_detectors``.
        about: a kind: only the detectors that matter to its events are built; empty for all.
    """

    alpha: float | Literal["auto"] = 0.0
    retraction: Retraction = "on-demand"
    slack: SlackChoice = field(default_factory=SlackChoice)
    allowed_lateness_ms: int = 3_000
    max_held: int = 500_000
    available: float = 1.0
    costs: Costs | None = None
    parameters: Parameters = field(default_factory=Parameters)
    extra: tuple[str, ...] = ()
    own: tuple[Detector[Any], ...] = ()
    patterns: Mapping[str, str] = field(default_factory=dict)
    about: str = ""

    @property
    def adapts(self) -> bool:
        """True if an option follows the load, so that costs matter."""
        return "auto" in (self.alpha, self.retraction)

    def hierarchy(self, sheet: MatchSheet) -> Hierarchy:
        """The detectors of a match."""
        detectors = build_detectors(sheet, self.parameters, self.extra, self.own, self.patterns)
        self.slack.check(detector.spec.name for detector in detectors)
        return Hierarchy(RAW_KINDS, detectors_about(self.about, detectors) if self.about else detectors)

    def engine(self, sheet: MatchSheet) -> EngineSettings:
        """The settings of the middleware's engine for a match; final follows the sources if the sheet names them."""
        speculation = AdaptiveAlpha() if self.alpha == "auto" else FixedAlpha(self.alpha)
        unit = UnitSettings(speculation, self.retraction, self.slack.unit)
        lateness_us = self.allowed_lateness_ms * 1_000
        progress = ProgressSettings(unpaced_kinds=UNPACED_KINDS, max_sources=SOURCES_MAX, late_share=LOST_SHARE)
        progress = replace(progress, final_follows_sources=sheet.names_sources)
        by_detector = {name: replace(unit, slack=own) for name, own in self.slack.by_detector.items()}
        return EngineSettings(unit, by_detector, lateness_us, self.max_held, progress)


@dataclass
class _PipelineState:
    """State of the pipeline besides the engine, part of each snapshot."""

    meter: InputMeter
    next_seq: int = 0
    now_us: int = -(2**62)
    frames: dict[int, Frame] = field(default_factory=dict)
    retractions: int = 0
    positions: int = 0
    packets: int = 0
    instants: int = 0
    quarantined: Counter[str] = field(default_factory=Counter)
    ended: bool = False
    #: By source and number.
    decisions: dict[tuple[str, int], Official] = field(default_factory=dict)


class PipelineError(RuntimeError):
    """The pipeline was used in a way that would lose or duplicate committed rows."""


class MatchPipeline:
    """Turns the blocks of one match into updates: decodes, checks, runs the engine, collects rows to commit.

    Args:
        sheet: the match sheet of the input.
        options: of ordering and detectors.
        epoch: of the stage that runs the pipeline; see ``football.update_stream``.
        make_engine: another maker of the engine, from hierarchy, settings and watched kinds.

    Attributes:
        levels: level of each kind.
        far_behind_us: lateness from which a host pushes with ``complete_us``, so that the match catches up sooner.
    """

    def __init__(
        self,
        sheet: MatchSheet,
        options: PipelineOptions | None = None,
        epoch: int = 0,
        make_engine: Callable[[Hierarchy, EngineSettings, tuple[str, ...]], Any] = Engine,
    ) -> None:
        self.sheet, self.epoch = sheet, epoch
        self._options = options = options or PipelineOptions()
        self.adapts = options.adapts
        self.far_behind_us = 2_000 * options.allowed_lateness_ms if options.adapts else END_US
        hierarchy = options.hierarchy(sheet)
        self.records = RecordMaker(hierarchy.detectors, sheet, hierarchy.lag_us)
        self._detectors = [detector.spec.name for detector in hierarchy.detectors]
        self._engine = make_engine(hierarchy, options.engine(sheet), watched_kinds(sheet))
        self._meter = CostMeter(options.available)
        self._engine.set_costs(options.costs or Costs(available=options.available))
        self._is_framed = sheet.quality.framed
        self._gate = InputGate(sheet)
        self._state = _PipelineState(InputMeter(sheet))
        self._bodies: dict[str, Event] = {}
        self._newest_frame: Event | None = None
        self._ball: Event | None = None
        self._updates: list[UpdateRecord] = []
        self._refused = QuarantineBuffer()
        self._positions: list[pa.Table] = []
        self._view_due_us = self._health_at_us = self._timing_due_us = -(2**62)
        self._health_period_us = HEALTH_PERIOD_US
        self._first_message = True

    def push(self, payload: bytes, arrival_us: int, due_wall_us: int = 0) -> UpdateMessage | None:
        """Processes one block; returns the message to publish, or None.

        Args:
            payload: an encoded block, see ``replay.wire``, or an official line, see ``replay.formats.officials``.
                Its invalid records go to quarantine.
            arrival_us: arrival time, on the stream's clock.
            due_wall_us: wall time at which it reached the source; passed on for latency figures.
        """
        return self.push_together([(arrival_us, due_wall_us, payload)])

    def push_together(self, blocks: Sequence[TimedBlock], complete_us: int | None = None) -> UpdateMessage | None:
        """Processes a portion: blocks in order of arrival, as if all had arrived with the last one; see :meth:`push`.

        Args:
            blocks: at least one.
            complete_us: event time before which no more inputs arrive; see ``middleware.engine.Engine.push``.
        """
        stage_wall_us, began_ns = _wall_us(), time.perf_counter_ns()
        state = self._state
        arrivals: list[Arrival] = []
        for arrival_us, _, payload in blocks:
            state.now_us = max(state.now_us, arrival_us)
            official = is_official(payload)
            arrivals += self._official_arrivals(payload) if official else self._block_arrivals(payload, arrival_us)
        checked_ns = time.perf_counter_ns()
        self._health_period_us = HEALTH_PERIOD_US if complete_us is None else FINAL_HEALTH_PERIOD_US
        outcome = self._engine.push(arrivals, state.now_us, complete_us)
        pushed_ns = time.perf_counter_ns()
        self._quarantine(map(lost_record, self._engine.take_lost()))
        message = self._message(outcome, blocks[-1][1], stage_wall_us)
        outside_ns = checked_ns - began_ns + time.perf_counter_ns() - pushed_ns
        self._meter.add(outside_ns, pushed_ns - checked_ns)
        return message

    def measure_in_pause(self) -> None:
        """Times some steps of one detector between two blocks, which would delay the end of the window otherwise."""
        if self._options.adapts and self._state.now_us >= self._timing_due_us:
            self._timing_due_us = self._state.now_us + _TIMING_PERIOD_US
            self._meter.time_next(self._engine, self._detectors)

    def finish(self) -> UpdateMessage:
        """Ends the stream, which is its last input: releases all waiting inputs and makes everything final."""
        stage_wall_us = _wall_us()
        outcome = self._engine.finish([end_arrival(self._engine.health().clk_us)] if self._state.packets else [])
        self._state.ended = True
        self._view_due_us = self._health_at_us = -(2**62)
        message = self._message(outcome, 0, stage_wall_us)
        if message is None:
            raise PipelineError("the match ended without a last message")
        return message

    def take_tables(self) -> dict[str, pa.Table]:
        """Returns and clears the rows to commit: tables ``updates``, ``positions``, ``quarantine``."""
        self._settle_positions()
        tables = {
            "updates": updates_table(self._updates, self.epoch),
            "positions": pa.concat_tables(self._positions),
            "quarantine": self._refused.take(),
        }
        self._updates, self._positions = [], []
        return tables

    def _settle_positions(self) -> None:
        """Turns final frames into rows. Takes place during a window, too, so that its end is short."""
        final_us = self._engine.watermark_us("frame")
        frames = self._state.frames
        done = sorted(ts_us for ts_us in frames if ts_us < final_us)
        self._positions.append(positions_table((ts_us, frames.pop(ts_us)) for ts_us in done))

    def commit_meta(self) -> dict[str, object]:
        """Metadata that a commit records besides its tables."""
        state, health = self._state, self._engine.health()
        return {
            "epoch": self.epoch,
            "now_us": state.now_us,
            "frontier_us": self._engine.final_us,
            "next_seq": state.next_seq,
            "ended": state.ended,
            "positions": state.positions,
            "retractions": state.retractions,
            "quarantined": dict(state.quarantined),
            "late": health.late,
            "lost": health.lost,
            "duplicates": health.duplicates,
            "differing_copies": health.differing,
            "slack_us": health.slack_us if state.ended else {},
            "backset_us": health.backset_us if state.ended else {},
        }

    def inspect_detectors(self) -> None:
        """Lets detectors repeat their last steps between two windows; call it before a snapshot.

        Their times are the costs, which are part of the state, so they change only between two windows: a repeated
        window uses the same ones. A pipeline that adapts to load measures all costs; any other one checks purity.
        """
        adapts, check = self._options.adapts, self._meter.check
        self._engine.set_costs(self.measure_costs() if adapts else check(self._engine, self._detectors))

    @classmethod
    def warm_up(
        cls, sheet: MatchSheet, options: PipelineOptions, sample: Recording, blocks: int = WARM_UP_BLOCKS
    ) -> PipelineOptions:
        """Pushes blocks through a throw-away pipeline, so that this process imports and compiles what a match needs.

        Args:
            sheet: of the match.
            options: of its pipeline.
            sample: the match's own beginning, or a recording like it.
            blocks: number of blocks. The costs of the second half are measured.

        Returns:
            The options, with initial costs if they adapt to load and have none.
        """
        pipeline = cls(sheet, options)
        payloads = sample.payloads(sample.begin_us, sample.begin_us + _WARM_UP_US)
        costs = options.costs
        for _ in range(2):
            half = list(islice(payloads, blocks // 2))
            for arrival_us, payload in half:
                pipeline.push(payload, arrival_us)
            if half and options.adapts and options.costs is None:
                costs = pipeline.measure_costs()
        pipeline.take_tables()
        pipeline.inspect_detectors()
        pipeline.snapshot()
        return replace(options, costs=costs)

    def snapshot(self) -> bytes:
        """State after the last pushed block, as bytes. Take the tables first: they are not part of it."""
        if self._updates or self._positions or self._refused:
            raise PipelineError("take_tables() before snapshot(): untaken rows would be lost")
        with no_collection():
            return pickle.dumps((self._engine.snapshot(), self._state), protocol=pickle.HIGHEST_PROTOCOL)

    def measure_costs(self) -> Costs:
        """Costs of the work since the last measurement."""
        return self._meter.measure(self._engine, self._detectors)

    @property
    def maker(self) -> Maker:
        """Maker of this pipeline's snapshots; :meth:`restore` requires an equal one."""
        rules = (self._options.parameters, self._options.patterns)
        return Maker(code_fingerprint(), tuple(self._detectors), fingerprint(rules))

    def restore(self, snapshot: bytes) -> None:
        """Continues from a snapshot of a pipeline with the same sheet and options.

        A snapshot is a pickle, so its seal must be checked before: see :mod:`app.pipeline.state_store`.
        """
        engine, self._state = pickle.loads(snapshot)
        self._engine.restore(engine)

    def _block_arrivals(self, payload: bytes, arrival_us: int) -> list[Arrival]:
        """Arrivals of the valid packets of a block, one for all of a framed input; puts the others into quarantine."""
        state = self._state
        block, bad = self._gate.admit(payload, arrival_us, state.meter)
        self._quarantine(bad)
        if block is None or not (size := sizes_of(block))[0]:
            return []
        state.packets, state.positions = state.packets + size[0], state.positions + size[1]
        if not self._is_framed:
            return [arrival(packet) for packet in block.packets]
        state.instants += 1
        return instant_arrivals(block.instant if isinstance(block, InstantBlock) else block.packets, state.instants)

    def _official_arrivals(self, payload: bytes) -> list[Arrival]:
        """Arrival of the decision in an official line; empty, and the line in quarantine, if it holds none."""
        line, state = OfficialLine("a record", 0, payload.hex()), self._state
        try:
            line = decode(payload)
            decision = read(line, self.sheet, state.now_us)
            if decision.right_kind and decision.right_kind not in self.records.levels:
                raise OfficialError(f"no detector of this match reports a {decision.right_kind}")
        except OfficialError as error:
            self._quarantine([rejected(line, str(error))])
            return []
        before = state.decisions.setdefault((decision.source, decision.number), decision)
        if before != decision:
            reason = f"number {decision.number} of {decision.source} was another decision before: a {before.kind}"
            self._quarantine([rejected(line, reason)])
            return []
        margin_us = 0 if self.sheet.names_sources else self._options.allowed_lateness_ms * 1_000 * 2 // 3
        oldest_us = max(line.settled_us, state.now_us - margin_us)
        return [official_arrival(decision, state.now_us, oldest_us)]

    def _quarantine(self, rejected: Iterable[RejectedRecord]) -> None:
        self._refused.add(rejected, self._state.quarantined)

    def _message(self, outcome: PushResult, due_wall_us: int, stage_wall_us: int) -> UpdateMessage | None:
        state = self._state
        self._watch(outcome.watched)
        records = tuple(map(self._record, outcome.updates, outcome.emitted_us))
        now_us = state.now_us
        view = health = None
        if now_us >= self._view_due_us and (self._ball or self._bodies or self._newest_frame):
            view, self._view_due_us = self._view(), now_us + VIEW_PERIOD_US
        if now_us >= self._health_at_us + self._health_period_us:
            health, self._health_at_us = self._health(), now_us
            self._settle_positions()
        if not (records or view or health or self._first_message or state.ended):
            return None
        continues_from = state.next_seq - len(records) if self._first_message else None
        self._first_message = False
        return UpdateMessage(
            match=self.sheet.match_id,
            epoch=self.epoch,
            now_us=now_us,
            frontier_us=self._engine.final_us,
            updates=records,
            continues_from=continues_from,
            view=view,
            health=health,
            due_wall_us=due_wall_us,
            stage_wall_us=stage_wall_us,
            sent_wall_us=_wall_us(),
            ended=state.ended,
        )

    def _record(self, update: Update, emitted_us: int) -> UpdateRecord:
        state = self._state
        record = UpdateRecord(state.next_seq, update.diff, emitted_us, self.records.record(update.event))
        state.next_seq += 1
        state.retractions += update.diff < 0
        self._updates.append(record)
        return record

    def _watch(self, updates: Iterable[Update]) -> None:
        for update in updates:
            event = update.event
            if event.kind == "frame":
                self._keep_frame(update)
            elif update.diff > 0:
                if event.kind == "ball.state":
                    if self._ball is None or event.ts_us >= self._ball.ts_us:
                        self._ball = event
                elif (known := self._bodies.get(event.source)) is None or event.ts_us >= known.ts_us:
                    self._bodies[event.source] = event

    def _keep_frame(self, update: Update) -> None:
        frames, event = self._state.frames, update.event
        if update.diff > 0:
            frames[event.ts_us] = frame_of(event)
            if self._newest_frame is None or event.ts_us >= self._newest_frame.ts_us:
                self._newest_frame = event
        elif frames.get(event.ts_us) == event.payload:
            del frames[event.ts_us]

    def _view(self) -> View:
        """Newest known positions: per player where players are measured separately, else of the newest frame."""
        newest_us = max((e.ts_us for e in (self._ball, self._newest_frame, *self._bodies.values()) if e), default=0)
        oldest_us = newest_us - VIEW_STALE_US
        ball = self._ball if self._ball and self._ball.ts_us >= oldest_us else None
        bodies = [_body_view(payload_as(e, BodyState), e.ts_us) for e in self._bodies.values() if e.ts_us >= oldest_us]
        frame = self._newest_frame
        if not bodies and frame and isinstance(frame.payload, Frame):
            bodies = [_body_view(body, frame.ts_us) for body in frame.payload.everybody()]
        return View(newest_us, _ball_view(ball) if ball else None, tuple(bodies))

    def _health(self) -> Health:
        health, state = self._engine.health(), self._state
        end_us = END_US if state.ended else state.now_us
        return Health(
            clk_us=health.clk_us,
            frontier_us=self._engine.final_us,
            slack_us=health.slack_us,
            alpha=health.alpha,
            buffered=health.waiting,
            held=health.held,
            late=health.late,
            retractions=state.retractions,
            lost=health.lost,
            duplicates=health.duplicates,
            quarantined=sum(state.quarantined.values()),
            positions=state.positions,
            packets=state.packets,
            busy=health.busy,
            failed=health.failed,
            faults=health.fault_counts(),
            fault_texts=health.fault_texts(),
            differing_copies=health.differing,
            quality=state.meter.summary(end_us, state.packets, health.lost, state.quarantined),
            lag_us=health.lag_us,
            work_shares=health.work_shares,
            hold=WatermarkHold(*health.hold),
        )


def watched_kinds(sheet: MatchSheet) -> tuple[str, ...]:
    """Internal kinds from which views and stored positions of a match are built."""
    return ("ball.state", "frame") if sheet.quality.framed else ("ball.state", "frame", "player.state")


def _ball_view(event: Event) -> BallView:
    s = ball_of(event)
    return BallView(event.ts_us, s.x_m, s.y_m, s.z_m, s.vx_m_s, s.vy_m_s, s.vz_m_s)


def _body_view(body: BodyState, ts_us: int) -> BodyView:
    return BodyView(body.object_id, body.team, ts_us, body.x_m, body.y_m, body.vx_m_s, body.vy_m_s)


def _wall_us() -> int:
    return time.time_ns() // 1_000
