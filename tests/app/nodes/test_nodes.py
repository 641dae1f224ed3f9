"""``touchline nodes simulate``: the events of one node, over several; traffic, moves, and choices that are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.cli.nodes import lines, simulate
from app.nodes.playback import NodesError
from app.sources.production import write_simulation
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
