"""How far from the best allocation is the cuckoo search, and how soon is it near it (002, section 4.3 and 5.3)?

Graphs of 20 and 50 detectors in levels, and that of a match (``touchline nodes simulate CAPTURE --graph FILE``) on 2, 4
and 8 nodes: half of them in the stadium (1 ms apart), half elsewhere (20 ms). Each node may get three halves of an
equal share of the load. Two objectives: the paper's (events and milliseconds that cross count 1), and ours (events, and
a millisecond of the critical path to what cameras wait for counts as 10 events/s).

The exact solver gets a limit; where it proves the optimum, the gap is against that, else against its bound. The search
gets 0.05, 0.1, 0.2, 0.5, 1 and 2 s of processor time, so that other programs do not matter. "Near" is the first of
them within 5 % of the best allocation that was found.

    python -m bench.placement [--graph FILE] [--solver-s 60] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import random
import time
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from middleware.placement.cuckoo import search
from middleware.placement.descent import descend, greedy
from middleware.placement.exact import solve
from middleware.placement.graph import PlacedNode, PlacementGraph, Problem, Weights, read_graph

LIMITS_S = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
NODES, NEAR = (2, 4, 8), 1.05
OBJECTIVES = {"paper": Weights(1.0, 1.0), "critical path": Weights(1.0, 0.0, critical=10.0)}


def in_levels(detectors: int, seed: int) -> PlacementGraph:
    """A graph in levels, whose rates fall from level to level as those of a match do."""
    rng = random.Random(seed)
    level = sorted(rng.randint(1, 8) for _ in range(detectors))
    edges = [
        {"from": f"d{one}", "to": f"d{other}", "events_s": round(400.0 / 3 ** level[one] * rng.uniform(0.3, 3), 2)}
        for other in range(detectors)
        for one in rng.sample(range(other), min(other, 3))
        if level[one] < level[other]
    ]
    cpu = [round(100 / at * rng.uniform(0.5, 2), 1) for at in level]
    return read_graph({
        "detectors": [{"name": f"d{n}", "cpu": load} for n, load in enumerate(cpu)],
        "edges": edges,
        "nodes": [{"name": "0", "capacity": 1e9}],
        "latency_ms": [[0.0]],
        "awaited": {f"d{detectors - 1 - n}": rng.uniform(0.1, 2) for n in range(4)},
    })  # fmt: skip


def on_nodes(graph: PlacementGraph, count: int, weights: Weights) -> PlacementGraph:
    """The graph on as many nodes, with room for three halves of an equal share each."""
    loads = [one.cpu for one in graph.detectors]
    room = max(1.5 * sum(loads) / count, max(loads))
    here = [node < count // 2 for node in range(count)]
    latency_ms = tuple(
        tuple(0.0 if a == b else 1.0 if here[a] == here[b] else 20.0 for b in range(count)) for a in range(count)
    )
    nodes = tuple(PlacedNode(str(node), room) for node in range(count))
    pinned = {name: "0" if name == "@gate" else str(count - 1) for name in graph.pinned}
    return msgspec.structs.replace(graph, nodes=nodes, latency_ms=latency_ms, weights=weights, pinned=pinned)


def measured(graph: PlacementGraph, solver_s: float) -> dict[str, Any]:
    """Optimum or bound, and the search with each limit."""
    problem = Problem(graph)
    began_s = time.perf_counter()
    solved = solve(problem, solver_s)
    exact_s = time.perf_counter() - began_s
    start = greedy(problem)
    costs = {"greedy": np.inf if start is None else problem.cost(descend(problem, start))}
    exact = np.inf if solved.allocation is None else problem.cost(solved.allocation)
    for limit_s in LIMITS_S:
        end_s = time.process_time() + limit_s
        found = search(problem, 1, lambda end_s=end_s: time.process_time() >= end_s)  # type: ignore[misc]
        costs[f"{limit_s:g}"] = np.inf if found is None else problem.cost(found)
    best = min(exact, *costs.values())
    is_proven = solved.bound >= best * (1 - 1e-6)
    near = next((limit for limit in LIMITS_S if costs[f"{limit:g}"] <= NEAR * best), None)
    gap = (costs["0.5"] / (best if is_proven else max(solved.bound, 1e-9)) - 1) if best else 0.0
    return {
        "detectors": len(graph.detectors), "subscriptions": len(graph.edges), "nodes": len(graph.nodes),
        "best": round(best, 1), "bound": round(solved.bound, 1), "proven": is_proven, "exact_s": round(exact_s, 1),
        "greedy": round(float(costs["greedy"]), 1), "search_0.5_s": round(costs["0.5"], 1),
        "gap_to_best": round(costs["0.5"] / best - 1, 4) if best else 0.0,
        "gap_to_optimum_or_bound": round(gap, 4) if solved.bound or is_proven else None, "near_s": near,
    }  # fmt: skip


def main() -> None:
    """Print a line for each graph, number of nodes and objective."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graph", type=Path)
    parser.add_argument("--solver-s", type=float, default=60.0)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    graphs = {"20": in_levels(20, 1), "50": in_levels(50, 2)}
    if given.graph is not None:
        graphs["match"] = read_graph(json.loads(given.graph.read_text()))
    rows = []
    for name, graph in graphs.items():
        for objective, weights in OBJECTIVES.items():
            for count in NODES:
                row = {"graph": name, "objective": objective} | measured(
                    on_nodes(graph, count, weights), given.solver_s
                )
                rows.append(row)
                print(json.dumps(row), flush=True)
    if given.json:
        given.json.write_text(json.dumps(rows, indent=2))


if __name__ == "__main__":
    main()
