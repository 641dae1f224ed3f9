"""Matches as a camera receives them: the views and updates of the engine, each with the time at which it left.

A recording goes through a radio channel and the pipeline, with pure buffering as in paper 000 (K-slack that waits
K out) or with full speculation. No planner changes what the engine sends, so all planners are judged on the same
messages. A folder keeps them, because the engine takes far longer than a planner.

Simulated matches have one tag a person at 50 Hz and a ball at 100 Hz: a twelfth of the work of feet at the rate
``live``, with the same kinds of events.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from app.pipeline.pipeline import MatchPipeline, PipelineOptions
from app.sources.captures import first_seconds
from football.match_sheet import MatchSheet
from football.packets import raw_kind
from football.recording import Recording
from football.update_stream import UpdateMessage, UpdateRecord, View
from middleware.ordering.policy import EngineSettings
from middleware.ordering.slack.settings import SlackSettings
from replay import wire
from replay.formats.tracking import read_tracking
from simulator.radio.channels import channel_named, transmit
from simulator.simulate import Simulation, simulate

BUFFERED, SPECULATIVE = 1.0, 0.0

#: Kinds that are left out, because they are frequent and no framing could use them.
UNUSED = ("ball.accel_peak", "ball.turn", "ball.speed_step", "ball.height", "ball.speed", "ball.bounce")
UNUSED_WORDS = ("area", "run", "stat", "tx", "sample", "accel", "decel", "distance", "pressure", "options", "control")

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Arrived:
    """What left the engine at one instant, on the clock of the arrivals."""

    now_us: int
    frontier_us: int
    view: View | None
    updates: tuple[UpdateRecord, ...]


@dataclass(frozen=True)
class Trace:
    """A match as a camera receives it, and the true path of the ball.

    Attributes:
        size_m: length and width of the pitch.
        arrived: messages in order.
        ball: rows (event time in us, x, y, z in metres), in order of time: the ball as it was measured.
    """

    size_m: tuple[float, float]
    arrived: tuple[Arrived, ...]
    ball: Floats


@dataclass(frozen=True)
class _WholeSlack(PipelineOptions):
    """Pure K-slack: it waits K out, even when the sources have reported everything."""

    def engine(self, sheet: MatchSheet) -> EngineSettings:
        settings = super().engine(sheet)
        return replace(settings, unit=replace(settings.unit, slack=SlackSettings(ignores_progress=True)))


def simulated_trace(seed: int, minutes: float, alpha: float, folder: Path, channel: str = "wifi") -> Trace:
    """Return the trace of a simulated match; from ``folder`` if it is there already."""

    def make() -> Trace:
        recording, _ = simulate(_settings(seed, minutes))
        return _sent(recording, channel, seed, alpha)

    return _kept(folder / f"sim-{seed}-{minutes:g}-{channel}-{alpha:g}.pickle", make)


def recorded_trace(source: Path, minutes: float, alpha: float, folder: Path, channel: str = "wifi") -> Trace:
    """Return the trace of a tracked match, sent by radio; from ``folder`` if it is there already."""

    def make() -> Trace:
        return _sent(first_seconds(read_tracking(str(source)), minutes * 60), channel, 1, alpha)

    return _kept(folder / f"{source.stem}-{minutes:g}-{channel}-{alpha:g}.pickle", make)


def _sent(recording: Recording, channel: str, seed: int, alpha: float) -> Trace:
    """Return the trace of a recording that goes through a radio channel."""
    blocks = transmit(recording, channel_named(channel), seed).blocks()
    payloads = ((block.arrival_us, wire.encode(block)) for block in blocks)
    return _trace(recording.sheet, payloads, alpha, ball_path(recording))


def _settings(seed: int, minutes: float) -> Simulation:
    return Simulation(seed, minutes * 60, ball_hz=100, body_hz=50, limbs=())


def _kept(file: Path, make: Callable[[], Trace]) -> Trace:
    if not file.is_file():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(pickle.dumps(make()))
    found: Trace = pickle.loads(file.read_bytes())
    return found


def _trace(sheet: MatchSheet, payloads: Iterable[tuple[int, bytes]], alpha: float, ball: Floats) -> Trace:
    """Play blocks through the pipeline."""
    options = _WholeSlack(alpha=1.0) if alpha == BUFFERED else PipelineOptions(alpha=alpha)
    pipeline = MatchPipeline(sheet, options)
    arrived: list[Arrived] = []
    for arrival_us, payload in payloads:
        message = pipeline.push(payload, arrival_us)
        if message is not None:
            arrived.append(_arrived(message))
        if len(arrived) % 2_000 == 0:
            pipeline.take_tables()
    arrived.append(_arrived(pipeline.finish()))
    return Trace((sheet.length_m, sheet.width_m), tuple(arrived), ball)


def _arrived(message: UpdateMessage) -> Arrived:
    used = tuple(update for update in message.updates if _is_used(update.event.kind))
    return Arrived(message.now_us, message.frontier_us, message.view, used)


def _is_used(kind: str) -> bool:
    return kind not in UNUSED and kind.partition(".")[0] not in UNUSED_WORDS


def ball_path(recording: Recording) -> Floats:
    """Return the path of the first ball."""
    track = next(track for track in recording.tracks if raw_kind(track.transmitter) == "raw.ball")
    rows = track.line
    return np.column_stack([track.ts_us[rows], track.x_m[rows], track.y_m[rows], track.z_m[rows]]).astype(float)
