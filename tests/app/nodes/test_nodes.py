"""``touchline nodes simulate``: the events of one node, over several; traffic, moves, and choices that are refused."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from app.cli.nodes import lines, simulate
from app.cli.place import place
from app.nodes.placement import placement_of
from app.nodes.playback import NodesError, hierarchy_of
from app.sources.production import write_simulation
from middleware.placement.graph import read_graph
from replay.capture import Capture
from simulator.radio.channels import channel_named
from simulator.simulate import MeasuredMatch, Simulation


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("nodes") / "capture"
    match = MeasuredMatch(Simulation(seed=3, duration_s=1.2))
    write_simulation(match, folder, channel_named("rtls"), 3)
    return folder


def test_a_match_over_two_nodes_gives_the_events_of_one(capture: Path):
    one = simulate(capture, count=1, seconds=1.2)
    two = simulate(capture, count=2, edge=5, seconds=1.2, latency=20.0, loss=0.05, advised=3)
    assert (two.packets, two.admitted, two.events) == (one.packets, one.admitted, one.events)
    assert one.events > 2
    assert not one.traffic
    sent = {(t.sender, t.receiver): t for t in two.traffic}
    assert sent[0, 1].events_s > sent[1, 0].events_s
    assert sent[0, 1].bytes_s > 0
    assert sent[0, 1].latency_ms == 20.0
    assert sent[0, 1].resent > 0
    assert two.latency_ms[0] > one.latency_ms[0] + 15
    assert two.advice is not None
    assert two.advice.moves
    before, after = two.advice.crossing_s
    assert after < before
    assert before > sent[0, 1].events_s, "a kind crosses once, whatever number of detectors reads it there"


def test_a_detector_moves_and_a_crash_goes_back_to_the_last_commit(capture: Path):
    one = simulate(capture, count=1, seconds=1.2)
    report = simulate(capture, count=3, edge=5, seconds=1.2, moves=["near_ball=2@0.5"], crashes=[1.1])
    assert report.events == one.events
    assert report.restarts == 1
    (move,) = report.moves
    assert (move.detector, move.node) == ("near_ball", 2)
    assert any("near_ball to node 2: pause" in line for line in lines(report))


def test_a_measured_graph_is_placed_and_the_placement_is_one_for_a_live_match(capture: Path, tmp_path: Path):
    report = simulate(capture, count=2, edge=5, seconds=1.2, latency=20.0, graph=tmp_path / "graph.json", critical=2.0)
    read = read_graph(json.loads((tmp_path / "graph.json").read_text()))
    assert read.weights.critical == 2.0
    assert set(read.awaited) <= {one.name for one in read.detectors}
    assert sum(read.awaited.values()) > 0
    assert read.pinned["@gate"] == "0"
    assert {node for name, node in read.pinned.items() if name.startswith("@sink")} == {"1"}
    placed = place(tmp_path / "graph.json", seconds=0.1, seed=1)
    assert all(placed.load[node.name] <= node.capacity * (1 + 1e-9) for node in read.nodes)
    (tmp_path / "placement.json").write_bytes(msgspec.json.encode(placed))
    where = placement_of(hierarchy_of(Capture.open(capture).sheet), 2, tmp_path / "placement.json")
    assert {name: str(node) for name, node in where.items()} == {
        name: node for name, node in placed.allocation.items() if not name.startswith("@")
    }
    assert report.advice is None


def test_advice_weighs_what_cameras_wait_for(capture: Path):
    report = simulate(capture, count=2, edge=5, seconds=1.2, latency=80.0, advised=3, critical=1_000.0)
    assert report.advice is not None
    before, after = report.advice.awaited_ms
    assert after <= before
    assert before >= 80.0
    assert any("what cameras wait for" in line for line in lines(report))


def test_without_speculation_events_leave_later(capture: Path):
    at_once, waits = (simulate(capture, count=2, edge=5, seconds=1.2, alpha=alpha) for alpha in (0.0, 1.0))
    assert waits.events == at_once.events
    assert waits.retractions <= at_once.retractions
    assert waits.latency_ms[0] >= at_once.latency_ms[0]


@pytest.mark.parametrize(
    ("moves", "message"),
    [
        (["nobody=1@1"], "no detector nobody"),
        (["near_ball=5@1"], "no node 5"),
        (["near_ball"], "DETECTOR=NODE@SECOND"),
    ],
)
def test_a_move_that_cannot_be_made_is_refused_by_name(capture: Path, moves: list[str], message: str):
    with pytest.raises(NodesError, match=message):
        simulate(capture, count=2, seconds=0.2, moves=moves)
