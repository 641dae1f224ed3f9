"""``touchline nodes``: the nodes of a running match, and a match over several nodes in virtual time."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from app.base.files import write_atomically
from app.base.terminal import make_console, waiting
from app.cli.options import Folder, Given
from app.cli.output import print_json
from app.nodes.advice import Advice, advise
from app.nodes.control import carry_out, measured_live, nodes_lines, two_readings
from app.nodes.measured import SINK
from app.nodes.orders import Order
from app.nodes.placement import by_level
from app.nodes.playback import NodesError, NodesReport, hierarchy_of, measured_of, play, pushes_of
from app.nodes.status import NodesStatus
from middleware.nodes.simulation import Ordered, Scenario
from middleware.nodes.simulation import Path as Way
from middleware.placement.graph import Weights
from middleware.placement.incremental import Incremental, IncrementalSettings
from replay.capture import Capture

app = typer.Typer(add_completion=False, no_args_is_help=True)

Detector = Annotated[str, typer.Argument(help="Name of a detector, or DETECTOR:KEY of a keyed one.")]
NodeNumber = Annotated[int, typer.Argument(help="Number of a node; node 0 has the input.", min=0)]


@app.callback()
def nodes() -> None:
    """Shows the nodes of a running match and moves its detectors; plays a match over nodes in virtual time."""


@app.command()
def show(
    folder: Folder,
    as_json: Annotated[bool, Given("--json", help="Print the figures as one JSON object.")] = False,
) -> NodesStatus:
    """Shows the nodes of a match that runs with `touchline live --nodes`: detectors, work, links.

    Rates are those of about a second. Of a match that does not run, the last figures are shown.

    Examples:
        touchline nodes show matches/demo
    """
    first, second = two_readings(folder)
    if as_json:
        print_json(msgspec.to_builtins(second))
    else:
        print("\n".join(nodes_lines(first, second)))
    return second


@app.command()
def move(folder: Folder, detector: Detector, node: NodeNumber) -> None:
    """Moves a detector of a running match to another node, without a gap in its events.

    Examples:
        touchline nodes move matches/demo near_ball 1
        touchline nodes move matches/demo body_filter:home_7 1
    """
    carry_out(folder, Order("move", node, detector), lambda status: status.where().get(detector) == node)
    print(f"{detector} runs on node {node}")


@app.command()
def drain(folder: Folder, node: NodeNumber) -> None:
    """Moves all detectors of a node away, and cordons it off; node 0, which has input and output, cannot be drained.

    Examples:
        touchline nodes drain matches/demo 1
    """
    carry_out(folder, Order("drain", node), lambda status: node not in status.where().values())
    print(f"node {node} has no detectors")


@app.command()
def cordon(
    folder: Folder,
    node: NodeNumber,
    undo: Annotated[bool, Given("--undo", help="Let detectors move there again.")] = False,
) -> None:
    """Cordons a node off: no detector moves there any more.

    Examples:
        touchline nodes cordon matches/demo 1
        touchline nodes cordon matches/demo 1 --undo
    """
    what = "uncordon" if undo else "cordon"
    carry_out(folder, Order(what, node), lambda status: (node in status.cordoned) is not undo)
    print(f"node {node} is {'open' if undo else 'cordoned off'}")


@app.command("advise")
def advise_live(
    folder: Folder,
    moves: Annotated[int, Given(help="About so many moves at a time.", min=1)] = 2,
    seconds: Annotated[float, Given(help="Length of a measurement.", min=1.0)] = 5.0,
    critical: Annotated[
        float, Given(help="Events/s between nodes that a millisecond to what cameras wait for is worth.", min=0)
    ] = 0.0,
    carries_out: Annotated[bool, Given("--carry-out", help="Make the moves, and take back what was no gain.")] = False,
    cycles: Annotated[int, Given(help="Measurements, with moves after each; with --carry-out.", min=1)] = 1,
    as_json: Annotated[bool, Given("--json", help="Print one JSON object a cycle.")] = False,
) -> list[Advice]:
    """Measures a running match, and shows the moves of detectors that save events between its nodes.

    With --carry-out the moves are made, measured, and taken back if they were no gain. Input and output stay on node 0,
    and a node that is cordoned off gets nothing.

    Examples:
        touchline nodes advise matches/demo
        touchline nodes advise matches/demo --carry-out --cycles 10 --critical 1
    """
    optimiser = Incremental(IncrementalSettings(at_once=moves))
    found = []
    for cycle in range(cycles + 1 if carries_out else 1):
        taken_back = optimiser.taken_back
        advice = advise(measured_live(folder, seconds), optimiser, critical)
        is_undone = optimiser.taken_back > taken_back
        found.append(advice)
        if as_json:
            print_json(msgspec.to_builtins(advice) | {"takes_back": is_undone})
        else:
            print("\n".join((["the last moves were no gain"] if is_undone else []) + advice_lines(advice)))
        if carries_out and (cycle < cycles or is_undone):
            for detector, node in advice.moves:
                move(folder, detector, node)
    return found


@app.command()
def simulate(
    capture: Annotated[Path, typer.Argument(help="A capture's folder, or one with the subfolder capture.")],
    count: Annotated[int, Given("--nodes", help="Number of nodes; the gateway is at node 0.", min=1, max=16)] = 2,
    edge: Annotated[int, Given(help="Detectors up to this level run on node 0; the others elsewhere.", min=0)] = 5,
    seconds: Annotated[float, Given(help="Length of the stretch from the capture's beginning.", min=0.1)] = 10.0,
    latency: Annotated[float, Given(help="Latency of each link in milliseconds, one way.", min=0.0)] = 1.0,
    jitter: Annotated[float, Given(help="Further delay of a frame at most, in milliseconds.", min=0.0)] = 0.0,
    loss: Annotated[float, Given(help="Probability that a frame is lost.", min=0.0, max=0.9)] = 0.0,
    moves: Annotated[
        list[str] | None, Given("--move", help="DETECTOR=NODE@SECOND, or DETECTOR:KEY=NODE@SECOND. Repeatable.")
    ] = None,
    crashes: Annotated[list[float] | None, Given("--crash", help="Second at which a node fails. Repeatable.")] = None,
    advised: Annotated[
        int, Given("--advise", help="Print about so many moves that save traffic between nodes.", min=0)
    ] = 0,
    critical: Annotated[
        float,
        Given(help="For --advise and --graph: events/s that a ms to what cameras wait for is worth.", min=0),
    ] = 0.0,
    graph: Annotated[Path | None, Given(help="Write the measured graph there, for `touchline place`.")] = None,
    alpha: Annotated[float, Given(help="Share of K that units wait; 1 does not speculate.", min=0, max=1)] = 0.0,
    seed: Annotated[int, Given(help="Seed of jitter and loss.", min=0)] = 1,
    as_json: Annotated[bool, Given("--json", help="Print one JSON object.")] = False,
) -> NodesReport:
    """Plays the beginning of a capture over several nodes, and prints the traffic between them and the latency.

    The detectors and ordering units are those of a live match; time and network are simulated. The events that stand in
    the end are those of one node, whatever the network does.

    Examples:
        touchline nodes simulate demo/capture --edge 5 --latency 20
        touchline nodes simulate demo/capture --edge 3 --advise 5
        touchline nodes simulate demo/capture --latency 20 --graph stadium.json --critical 1
        touchline nodes simulate demo/capture --nodes 3 --move near_ball=2@4 --crash 6 --loss 0.01 --json
    """
    opened = Capture.open(capture)
    with waiting(make_console(stderr=True), "Playing the match"):
        pushes = pushes_of(opened, seconds)
        begin_us = pushes[0][0] if pushes else 0
        scenario = Scenario(
            pushes,
            path=Way(round(latency * 1e3), round(jitter * 1e3), loss),
            moves=[_move(text, begin_us) for text in moves or ()],
            crashes_us=[begin_us + round(second * 1e6) for second in crashes or ()],
            commit_every_us=1_000_000 if crashes else 0,
            state_every_us=50_000,
        )
        hierarchy = hierarchy_of(opened.sheet)
        placement = by_level(hierarchy, edge, count) | {SINK: min(1, count - 1)}
        report, outcome = play(opened, placement, count, scenario, seed, alpha)
        placement |= {move.part[0]: move.node for move in scenario.moves if move.part[1] is None}
        measured = measured_of(hierarchy, outcome, placement, count, report.seconds, latency)
        if advised:
            optimiser = Incremental(IncrementalSettings(at_once=advised, hysteresis=0.01))
            report = msgspec.structs.replace(report, advice=advise(measured, optimiser, critical))
        if graph is not None:
            write_atomically(graph, msgspec.json.encode(measured.graph(Weights(1.0, 0.0, critical=critical))))
    if as_json:
        print_json(msgspec.to_builtins(report))
    else:
        print("\n".join(lines(report)))
    return report


def _move(text: str, begin_us: int) -> Ordered:
    """Read ``DETECTOR[:KEY]=NODE@SECOND``."""
    name, _, rest = text.partition("=")
    detector, _, key = name.partition(":")
    node, _, second = rest.partition("@")
    try:
        return Ordered(begin_us + round(float(second) * 1e6), (detector, key or None), int(node))
    except ValueError:
        raise NodesError(f"--move {text}: must be DETECTOR=NODE@SECOND") from None


def lines(report: NodesReport) -> list[str]:
    """Return a report as text."""
    text = [
        f"{report.seconds:g} s, {report.packets} packets; {report.events} events stand, "
        f"{report.retractions} updates took one back",
        f"latency at the sink: median {report.latency_ms[0]:g} ms, 95 % within {report.latency_ms[1]:g} ms",
    ]
    for one in report.traffic:
        link = "" if one.latency_ms is None else f", {one.latency_ms:.1f} ms and up to {one.jitter_ms:.1f} more"
        resent = f", {one.resent} frames sent again" if one.resent else ""
        rates = f"{one.events_s:g} events/s, {one.bytes_s / 1e3:.1f} kB/s"
        text.append(f"node {one.sender} to {one.receiver}: {rates}{link}{resent}")
    for move in report.moves:
        direct = (
            "not all inputs direct yet" if move.direct_s is None else f"all inputs direct after {move.direct_s:g} s"
        )
        text.append(f"{move.detector} to node {move.node}: pause {move.pause_ms:g} ms, {direct}")
    if report.moves:
        text.append(f"{report.forwarded} inputs forwarded, {report.echoes} copies dropped")
    if report.restarts:
        text.append(f"{report.restarts} crashes: all nodes went back to the last commit")
    return text if report.advice is None else text + advice_lines(report.advice)


def advice_lines(advice: Advice) -> list[str]:
    """Return advice as text."""
    before, after = advice.crossing_s
    text = [f"advice: {name} to node {node}" for name, node in advice.moves]
    text.append(f"subscriptions between nodes carry {before:g} events/s, after the advice {after:g}")
    before, after = advice.awaited_ms
    return [*text, f"links delay what cameras wait for by {before:g} ms, after the advice {after:g}"]
