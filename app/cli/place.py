"""``touchline place``: which node should run which detector."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from app.base.terminal import make_console, waiting
from app.cli.options import Given
from app.cli.output import print_json
from football.errors import UserError
from football.untrusted import UntrustedError, read_json
from middleware.placement.graph import PlacementError, read_graph
from middleware.placement.place import Placement
from middleware.placement.place import place as place_detectors

app = typer.Typer(add_completion=False)


class PlaceError(UserError, ValueError):
    """A graph that cannot be placed; the message names the file, the field and the reason."""


@app.command()
def place(
    graph: Annotated[
        Path, Given(help="JSON file: detectors (name, cpu), edges (from, to, events_s, bytes), nodes (name, capacity).")
    ],
    seconds: Annotated[float, Given(help="Time of the search; the exact solver gets as long again.", min=0.0)] = 0.5,
    seed: Annotated[int, Given(help="Seed of the search.", min=0)] = 1,
    as_json: Annotated[bool, Given("--json", help="Print one JSON object.")] = False,
) -> Placement:
    """Places detectors on nodes, so that few events cross the network and those that do take short ways.

    The file also has latency_ms, a row of milliseconds for each node, and may have weights (traffic, latency, bytes)
    and pinned (detector: node). An allocation costs, for each subscription between two nodes, its events a second times
    weights.traffic, and the latency times weights.latency; by default both weights are 1. With weights.critical, the
    latency of the slowest path to the events of awaited (detector: events_s) counts, too. No capacity is exceeded.

    Examples:
        touchline place --graph stadium.json
        touchline place --graph stadium.json --seconds 2 --seed 7 --json
    """
    try:
        read = read_graph(read_json(graph, Any))
        with waiting(make_console(stderr=True), "Searching"):
            end_s = time.monotonic() + seconds
            placement = place_detectors(read, lambda: time.monotonic() >= end_s, max(seconds, 0.01), seed)
    except (PlacementError, UntrustedError) as error:
        raise PlaceError(f"{graph}: {error}") from None
    if as_json:
        print_json(msgspec.to_builtins(placement))
    else:
        print("\n".join(lines(placement, {node.name: node.capacity for node in read.nodes})))
    return placement


def lines(placement: Placement, capacity: dict[str, float]) -> list[str]:
    """A placement as text: each node with its load and its detectors, then the cost."""
    text = []
    for node, room in capacity.items():
        names = sorted(name for name, at in placement.allocation.items() if at == node)
        text.append(f"{node}  {placement.load[node]:g} of {room:g}: {', '.join(names) or 'nothing'}")
    proven = "the least that is possible" if placement.cost <= placement.bound else f"at least {placement.bound:g}"
    return [*text, f"cost {placement.cost:g} ({proven}), found by {placement.method}"]
