"""Plays a stretch of a capture over several nodes in virtual time, and sums up what crosses between them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from random import Random

import msgspec
import numpy as np

from app.nodes.advice import Advice
from app.nodes.measured import GATE, SINK, Measured, awaited_of
from app.pipeline.input_gate import InputGate
from app.pipeline.pipeline import PipelineOptions
from detectors.arrivals import arrival, instant_arrivals
from football.errors import UserError
from football.match_sheet import MatchSheet
from middleware.consolidation import consolidate
from middleware.events import Arrival
from middleware.hierarchy import Hierarchy
from middleware.nodes.simulation import Ordered, Outcome, Scenario, Simulation
from replay.capture import Capture
from replay.quality.meter import InputMeter


class NodesError(UserError, ValueError):
    """A choice of nodes, moves or stretch that cannot be played; the message names it."""


class Traffic(msgspec.Struct, frozen=True):
    """Traffic between two nodes, in one direction, in a second of the match, and what the link measured of itself.

    Attributes:
        latency_ms: least latency, half of the way there and back; None before both directions carried a frame.
        jitter_ms: how much the delay of frames varies.
        resent: frames that were sent again.
    """

    sender: int
    receiver: int
    events_s: float
    bytes_s: float
    latency_ms: float | None
    jitter_ms: float
    resent: int


class MoveFigures(msgspec.Struct, frozen=True):
    """A move: pause of the detector's output, and time until all its inputs arrived directly; None if not reached."""

    detector: str
    node: int
    pause_ms: float
    direct_s: float | None


class NodesReport(msgspec.Struct, frozen=True):
    """Figures of a stretch over several nodes.

    Attributes:
        seconds: length of the stretch.
        packets: pushed; ``admitted``: taken in.
        events: that stand in the end; ``retractions``: updates that took one back.
        traffic: between the nodes.
        latency_ms: of published events, from event time to the sink: median and 95th percentile.
        moves: of detectors.
        forwarded, echoes: inputs that an old node forwarded, and copies that were dropped.
        advice: moves that save traffic, if asked for.
        restarts: crashes, each of which took all nodes back to the last commit.
    """

    seconds: float
    packets: int
    admitted: int
    events: int
    retractions: int
    traffic: tuple[Traffic, ...]
    latency_ms: tuple[float, float]
    moves: tuple[MoveFigures, ...]
    forwarded: int
    echoes: int
    restarts: int
    advice: Advice | None = None


def pushes_of(capture: Capture, seconds: float) -> list[tuple[int, list[Arrival]]]:
    """Return the valid packets of a capture's beginning as arrivals, by arrival time."""
    gate, meter = InputGate(capture.sheet), InputMeter(capture.sheet)
    pushes: list[tuple[int, list[Arrival]]] = []
    for at_us, payload in capture.payloads(capture.begin_us, capture.begin_us + round(seconds * 1e6)):
        block, _ = gate.admit(payload, at_us, meter)
        packets = block.packets if block else ()
        if packets and capture.sheet.quality.framed:
            pushes.append((at_us, instant_arrivals(packets, len(pushes) + 1)))
        elif packets:
            pushes.append((at_us, [arrival(packet) for packet in packets]))
    return pushes


def hierarchy_of(sheet: MatchSheet) -> Hierarchy:
    """Return the detectors of a match."""
    return PipelineOptions().hierarchy(sheet)


def play(
    capture: Capture, placement: dict[str, int], count: int, scenario: Scenario, seed: int = 1, alpha: float = 0.0
) -> tuple[NodesReport, Outcome]:
    """Play a scenario.

    Args:
        capture: has the match sheet.
        placement: node of each detector by name.
        count: number of nodes.
        scenario: with the pushes of :func:`pushes_of`.
        seed: of jitter and loss.
        alpha: share of K that the units wait.

    Raises:
        NodesError: nothing to play, or a move of a detector or to a node that there is not.
    """
    if not scenario.pushes:
        raise NodesError(f"{capture.path}: no packets in this stretch")
    known = {detector.spec.name for detector in hierarchy_of(capture.sheet).detectors}
    for move in scenario.moves:
        if move.part[0] not in known:
            raise NodesError(f"move: there is no detector {move.part[0]}")
        if not 0 <= move.node < count:
            raise NodesError(f"move of {move.part[0]}: there is no node {move.node}; they are 0 to {count - 1}")
    simulation = Simulation(
        lambda: hierarchy_of(capture.sheet),
        PipelineOptions(alpha=alpha).engine(capture.sheet),
        placement,
        count,
        scenario,
        Random(seed),
    )  # fmt: skip
    outcome = simulation.run()
    return report_of(scenario, outcome), outcome


def measured_of(
    hierarchy: Hierarchy, outcome: Outcome, placement: Mapping[str, int], count: int, seconds: float, latency_ms: float
) -> Measured:
    """Return what a stretch has shown of the match, for :mod:`middleware.placement`.

    Args:
        hierarchy: the detectors.
        outcome: has the events by subscription, and the steps by detector.
        placement: node of each detector by name, and of the sink.
        count: number of nodes.
        seconds: length of the stretch.
        latency_ms: of each link.
    """
    events_s = {pair: number / seconds for pair, number in outcome.edges.items()}
    steps_s = {name: steps / seconds for name, steps in outcome.steps.items()}
    where = {name: placement.get(name, 0) for name in steps_s} | {GATE: 0, SINK: placement.get(SINK, 0)}
    links = [[latency_ms if one != other else 0.0 for other in range(count)] for one in range(count)]
    return Measured(where, steps_s, events_s, links, awaited_of(hierarchy, events_s))


def report_of(scenario: Scenario, outcome: Outcome) -> NodesReport:
    """Sum up what came of a scenario."""
    pushes = scenario.pushes
    seconds = max(1e-6, (pushes[-1][0] - pushes[0][0]) / 1e6)
    updates = [update for _, update in outcome.log]
    latency_ms = [(left_us - update.event.ts_us) / 1e3 for left_us, update in outcome.log if update.diff > 0]
    traffic = tuple(_traffic(outcome, pair, seconds) for pair in sorted(outcome.carried))
    p50, p95 = np.percentile(latency_ms, (50, 95)).round(1).tolist() if latency_ms else (0.0, 0.0)
    return NodesReport(
        round(seconds, 3),
        sum(len(arrivals) for _, arrivals in pushes),
        len(outcome.admitted),
        len(consolidate(updates)),
        sum(update.diff < 0 for update in updates),
        traffic,
        (p50, p95),
        tuple(_moves(scenario.moves, outcome)),
        outcome.forwarded,
        outcome.echoes,
        outcome.restarts,
    )


def _traffic(outcome: Outcome, pair: tuple[int, int], seconds: float) -> Traffic:
    """Sum up one direction of a link; what arrives over it is measured at its other end."""
    events, _, size = outcome.carried[pair]
    sending, receiving = outcome.links[pair], outcome.links[pair[1], pair[0]]
    latency_ms = None if receiving.latency_us is None else receiving.latency_us / 1e3
    return Traffic(
        *pair,
        round(events / seconds, 1),
        round(size / seconds, 1),
        latency_ms,
        receiving.jitter_us / 1e3,
        sending.resent,
    )


def _moves(moves: Sequence[Ordered], outcome: Outcome) -> Iterable[MoveFigures]:
    for move in moves:
        notes = {note.what: note.at_us for note in outcome.notes if note.part == move.part}
        if "took over" not in notes:
            continue
        settled_us = notes.get("settled")
        direct_s = None if settled_us is None else round((settled_us - notes["took over"]) / 1e6, 3)
        name = move.part[0] if move.part[1] is None else ":".join(filter(None, move.part))
        yield MoveFigures(name, move.node, round((notes["took over"] - notes["left"]) / 1e3, 1), direct_s)
