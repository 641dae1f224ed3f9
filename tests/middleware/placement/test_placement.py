"""Placement against all allocations of small graphs, and what is refused."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.cli.place import place as place_command
from football.errors import UserError
from middleware.placement.cuckoo import search
from middleware.placement.descent import descend, greedy
from middleware.placement.exact import solve
from middleware.placement.graph import PlacementError, Problem, read_graph
from middleware.placement.place import place

#: Time of the exact solver, which no test waits for: the graphs are small.
SOLVER_S = 60.0


def iterations(count: int) -> Callable[[], bool]:
    """Ends a search after some iterations."""
    left = itertools.count(1)
    return lambda: next(left) >= count


def random_graph(seed: int, detectors: int, nodes: int) -> dict[str, Any]:
    """A graph whose loads fill its nodes by two thirds, with unequal latencies."""
    rng = random.Random(seed)
    cpu = [rng.randint(1, 5) for _ in range(detectors)]
    return {
        "detectors": [{"name": f"d{i}", "cpu": load} for i, load in enumerate(cpu)],
        "edges": [
            {"from": f"d{i}", "to": f"d{j}", "events_s": rng.choice((1, 5, 50, 200)), "bytes": rng.randint(20, 200)}
            for i, j in itertools.permutations(range(detectors), 2)
            if rng.random() < 0.35
        ],
        "nodes": [{"name": f"n{k}", "capacity": 1.5 * sum(cpu) / nodes + rng.randint(0, 3)} for k in range(nodes)],
        "latency_ms": [[0 if a == b else rng.choice((1, 20, 80)) for b in range(nodes)] for a in range(nodes)],
        "weights": {"traffic": rng.choice((0.1, 1.0)), "latency": rng.choice((0.0, 1.0, 3.0))},
        "pinned": {"d0": "n1"} if seed % 3 == 0 else {},
    }


def cost_of(graph: dict[str, Any], allocation: dict[str, str]) -> float:
    """The cost by its definition, edge by edge."""
    index = {node["name"]: i for i, node in enumerate(graph["nodes"])}
    cost = 0.0
    for edge in graph["edges"]:
        here, there = index[allocation[edge["from"]]], index[allocation[edge["to"]]]
        if here != there:
            cost += graph["weights"]["traffic"] * edge["events_s"]
            cost += graph["weights"]["latency"] * graph["latency_ms"][here][there]
    return cost


def with_critical(graph: dict[str, Any], seed: int) -> dict[str, Any]:
    """A graph without circles, in which somebody waits for the events of its last two detectors."""
    names = [one["name"] for one in graph["detectors"]]
    edges = [edge for edge in graph["edges"] if names.index(edge["from"]) < names.index(edge["to"])]
    weights = graph["weights"] | {"critical": random.Random(seed).choice((1.0, 20.0))}
    return graph | {"edges": edges, "weights": weights, "awaited": {names[-1]: 1.0, names[-2]: 3.0}}


def waiting_of(graph: dict[str, Any], allocation: dict[str, str]) -> float:
    """The cost of the critical path by its definition: every chain of subscriptions to an awaited detector."""
    index = {node["name"]: i for i, node in enumerate(graph["nodes"])}

    def slowest(name: str) -> float:
        chains = [0.0]
        for edge in graph["edges"]:
            if edge["to"] == name:
                here, there = index[allocation[edge["from"]]], index[allocation[name]]
                chains.append(slowest(edge["from"]) + (graph["latency_ms"][here][there] if here != there else 0.0))
        return max(chains)

    awaited = graph["awaited"]
    mean = sum(rate * slowest(name) for name, rate in awaited.items()) / sum(awaited.values())
    return graph["weights"]["critical"] * mean


def is_within(graph: dict[str, Any], allocation: dict[str, str]) -> bool:
    """True if no capacity is exceeded and the pins hold."""
    load = dict.fromkeys([node["name"] for node in graph["nodes"]], 0.0)
    for one in graph["detectors"]:
        load[allocation[one["name"]]] += one["cpu"]
    pins = all(allocation[name] == node for name, node in graph["pinned"].items())
    return pins and all(load[node["name"]] <= node["capacity"] + 1e-9 for node in graph["nodes"])


def least_cost(graph: dict[str, Any]) -> float:
    """The least cost of all allocations, one after the other."""
    names, nodes = [d["name"] for d in graph["detectors"]], [n["name"] for n in graph["nodes"]]
    every = (dict(zip(names, at, strict=True)) for at in itertools.product(nodes, repeat=len(names)))
    return min(cost_of(graph, allocation) for allocation in every if is_within(graph, allocation))


@pytest.mark.parametrize("seed", range(12))
def test_a_small_graph_is_placed_as_cheaply_as_any_allocation_allows(seed: int):
    graph = random_graph(seed, 6, 3)
    least = least_cost(graph)
    placement = place(read_graph(graph), iterations(20), SOLVER_S, seed)
    assert is_within(graph, placement.allocation), f"seed {seed}"
    assert placement.cost == pytest.approx(cost_of(graph, placement.allocation)), f"seed {seed}"
    assert placement.cost == pytest.approx(least), f"seed {seed}"
    assert placement.bound == pytest.approx(least), f"seed {seed}"


@pytest.mark.parametrize("seed", range(8))
def test_with_awaited_events_the_critical_path_counts_as_all_allocations_show(seed: int):
    graph = with_critical(random_graph(300 + seed, 6, 3), seed)
    names, nodes = [d["name"] for d in graph["detectors"]], [n["name"] for n in graph["nodes"]]
    every = [dict(zip(names, at, strict=True)) for at in itertools.product(nodes, repeat=len(names))]
    costs = [cost_of(graph, one) + waiting_of(graph, one) for one in every if is_within(graph, one)]
    placement = place(read_graph(graph), iterations(20), SOLVER_S, seed)
    own = cost_of(graph, placement.allocation) + waiting_of(graph, placement.allocation)
    assert is_within(graph, placement.allocation), f"seed {seed}"
    assert placement.cost == pytest.approx(own), f"seed {seed}"
    assert placement.cost == pytest.approx(min(costs)), f"seed {seed}"
    assert placement.bound == pytest.approx(min(costs)), f"seed {seed}"
    problem = Problem(read_graph(graph))
    found = search(problem, seed, iterations(60))
    assert found is not None
    assert problem.cost(found) == pytest.approx(min(costs)), f"seed {seed}"


def test_a_detector_off_the_path_goes_far_away_and_one_on_it_does_not():
    """Traffic alone would keep ``busy`` at the edge, and send the shot over the slow link."""
    graph = {
        "detectors": [{"name": name, "cpu": 1} for name in ("near", "hit", "shot", "busy")],
        "edges": [
            {"from": "near", "to": "hit", "events_s": 10}, {"from": "hit", "to": "shot", "events_s": 1},
            {"from": "near", "to": "busy", "events_s": 20}, {"from": "busy", "to": "shot", "events_s": 0},
        ],
        "nodes": [{"name": "edge", "capacity": 3}, {"name": "far", "capacity": 9}],
        "latency_ms": [[0, 80], [80, 0]],
        "weights": {"traffic": 1, "latency": 0, "critical": 1},
        "pinned": {"near": "edge"},
        "awaited": {"shot": 1},
    }  # fmt: skip
    placement = place(read_graph(graph), iterations(20), SOLVER_S)
    assert placement.allocation == {"near": "edge", "hit": "edge", "shot": "edge", "busy": "far"}
    assert placement.cost == 20.0
    alone = place(read_graph(graph | {"weights": {"traffic": 1, "latency": 0}}), iterations(20), SOLVER_S)
    assert alone.allocation["shot"] == "far"


@pytest.mark.parametrize("seed", range(8))
def test_the_cuckoo_search_alone_finds_the_optimum_of_a_small_graph(seed: int):
    graph = random_graph(100 + seed, 6, 3)
    problem = Problem(read_graph(graph))
    found = search(problem, seed, iterations(60))
    assert found is not None
    assert cost_of(graph, problem.named(found.tolist())) == pytest.approx(least_cost(graph)), f"seed {100 + seed}"


@pytest.mark.parametrize(
    "seed", [0, 1, pytest.param(2, marks=pytest.mark.slow), pytest.param(3, marks=pytest.mark.slow)]
)
def test_no_way_overloads_a_node_of_a_larger_graph_or_goes_below_the_bound(seed: int):
    graph = random_graph(200 + seed, 24, 4)
    problem = Problem(read_graph(graph))
    solved = solve(problem, 1.0)
    start = greedy(problem)
    for row in (search(problem, seed, iterations(30)), start, None if start is None else descend(problem, start)):
        assert row is not None
        allocation = problem.named(row.tolist())
        assert is_within(graph, allocation), f"seed {200 + seed}"
        assert cost_of(graph, allocation) >= solved.bound - 1e-6, f"seed {200 + seed}"


def test_a_search_with_the_same_seed_finds_the_same():
    problem = Problem(read_graph(random_graph(7, 12, 4)))
    one, two = (search(problem, 3, iterations(10)) for _ in range(2))
    assert np.array_equal(one, two)


def test_two_groups_that_talk_among_themselves_come_apart():
    """Paper 002, 5.3: eight detectors on two nodes; when the subscriptions change, so does the optimum."""
    for phase in (("a", "b", "c", "d"), ("a", "c", "e", "g")):
        other = tuple(name for name in "abcdefgh" if name not in phase)
        edges = [{"from": x, "to": y, "events_s": 40} for group in (phase, other) for x, y in itertools.pairwise(group)]
        graph = {
            "detectors": [{"name": name, "cpu": 1} for name in "abcdefgh"],
            "edges": [*edges, {"from": phase[-1], "to": other[0], "events_s": 2}],
            "nodes": [{"name": "n1", "capacity": 4}, {"name": "n2", "capacity": 4}],
            "latency_ms": [[0, 1], [1, 0]],
        }
        placement = place(read_graph(graph), iterations(20), SOLVER_S)
        assert len({placement.allocation[name] for name in phase}) == 1
        assert placement.cost == 3.0


GOOD = random_graph(1, 3, 2)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"nodes": []}, "nodes: there is none"),
        ({"detectors": [*GOOD["detectors"], {"name": "d1", "cpu": 1}]}, "detectors: d1 is there twice"),
        ({"edges": [{"from": "d0", "to": "x", "events_s": 1, "bytes": 1}]}, "edge d0 to x: there is no detector x"),
        ({"edges": [{"from": "d0", "to": "d1", "events_s": -1}]}, "events_s: -1 must be 0 or more"),
        ({"latency_ms": [[0, 1]]}, "latency_ms: must have 2 rows of 2 numbers"),
        ({"latency_ms": [[0, float("nan")], [1, 0]]}, "latency_ms: nan must be 0 or more, and finite"),
        ({"nodes": [{"name": "a", "capacity": 1}, {"name": "b", "capacity": 1}]}, "more than a node's capacity, 1"),
        ({"pinned": {"d0": "there"}}, "pinned: there is no node there"),
        ({"weights": {"trafic": 1}}, "unknown field `trafic`"),
        ({"edges": 3}, "Expected `array`"),
        ({"awaited": {"x": 1}}, "awaited: there is no detector x"),
        ({"awaited": {"d0": -1}}, "awaited: d0: -1 must be 0 or more"),
        ({"weights": {"critical": 1}}, "needs awaited detectors"),
        (
            {
                "weights": {"critical": 1},
                "awaited": {"d0": 1},
                "edges": [{"from": a, "to": b, "events_s": 1} for a, b in (["d0", "d1"], ["d1", "d0"])],
            },
            "go in a circle",
        ),
    ],
)
def test_a_graph_that_cannot_be_is_refused_with_its_field(change: dict[str, Any], reason: str):
    with pytest.raises(PlacementError, match=reason):
        read_graph({**GOOD, **change})


def test_loads_that_cannot_be_divided_are_an_error():
    graph = {
        "detectors": [{"name": name, "cpu": 2} for name in "abc"], "edges": [], "latency_ms": [[0, 1], [1, 0]],
        "nodes": [{"name": "n1", "capacity": 3}, {"name": "n2", "capacity": 3}],
    }  # fmt: skip
    with pytest.raises(PlacementError, match="no allocation fits"):
        place(read_graph(graph), iterations(3), SOLVER_S)


def test_the_command_prints_allocation_cost_and_bound_and_names_a_bad_file(tmp_path: Path, capsys):
    (tmp_path / "graph.json").write_text(json.dumps(GOOD))
    place_command(tmp_path / "graph.json", seconds=0.05, seed=1, as_json=True)
    printed = json.loads(capsys.readouterr().out)
    assert set(printed["allocation"]) == {"d0", "d1", "d2"}
    assert printed["bound"] <= printed["cost"]
    place_command(tmp_path / "graph.json", seconds=0.05, seed=1)
    assert "n1  " in capsys.readouterr().out
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(UserError, match=r"bad\.json"):
        place_command(tmp_path / "bad.json", seconds=0.05, seed=1)
