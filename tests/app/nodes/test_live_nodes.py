"""Nodes of a live match behind real connections: the events of one engine, also after a restart, a move and a drain."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from app.nodes.live import LiveNodes, serve_node
from app.nodes.mesh import Mesh, NodeConnectionError, connect, listen
from app.nodes.orders import FOLDER, Order, OrderBook, give_order, read_status
from app.nodes.placement import PlacementError, by_level, placement_of
from app.pipeline.pipeline import MatchPipeline, PipelineOptions
from app.sources.production import write_simulation
from detectors.laws.clock import ClockParameters
from detectors.parameters import Parameters
from football.match_sheet import MatchSheet
from football.update_stream import UpdateRecord
from middleware.engine import SnapshotError
from replay.capture import Capture
from simulator.radio.channels import channel_named
from simulator.settings import rates_named
from simulator.simulate import MeasuredMatch, Simulation

#: Halves without length: the first one ends with the stream, whose end reaches all nodes.
OPTIONS = PipelineOptions(parameters=msgspec.structs.replace(Parameters(), match_clock=ClockParameters(half_minutes=0)))


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Capture:
    folder = tmp_path_factory.mktemp("live nodes") / "capture"
    match = MeasuredMatch(Simulation(seed=201, duration_s=4.8, **rates_named("50/25")))
    write_simulation(match, folder, channel_named("rtls"), 201)
    return Capture.open(folder)


@contextmanager
def meshes(count: int, token: str = "a token") -> Iterator[list[Mesh]]:
    """The connections of nodes in this process."""
    listeners = [listen() for _ in range(count)]
    ports = {node: listener.getsockname()[1] for node, listener in enumerate(listeners)}
    found: dict[int, Mesh] = {}

    def join(me: int) -> None:
        found[me] = connect(me, ports, listeners[me], token)

    threads = [threading.Thread(target=join, args=(me,)) for me in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    yield [found[me] for me in range(count)]
    for mesh in found.values():
        mesh.__exit__(None, None, None)


@contextmanager
def pipeline_over(
    sheet: MatchSheet, count: int, store: Path, snapshot: bytes = b""
) -> Iterator[tuple[MatchPipeline, LiveNodes]]:
    """A pipeline over nodes, of which all but the first run in threads."""
    placement = by_level(OPTIONS.hierarchy(sheet), 5, count)
    errors: list[Exception] = []

    def run(mesh: Mesh) -> None:
        try:
            serve_node(mesh, sheet, OPTIONS, placement)
        except Exception as error:
            errors.append(error)
            mesh.__exit__(None, None, None)

    with meshes(count) as all_of_them:
        threads = [threading.Thread(target=run, args=(mesh,)) for mesh in all_of_them[1:]]
        for thread in threads:
            thread.start()
        nodes = LiveNodes(all_of_them[0])
        pipeline = MatchPipeline(sheet, OPTIONS, make_engine=nodes.maker(placement, store))
        if snapshot:
            pipeline.restore(snapshot)
        yield pipeline, nodes
        nodes.end()
        for thread in threads:
            thread.join()
    assert not errors


def standing(records: list[UpdateRecord]) -> dict[str, object]:
    """Events that stand in the end."""
    events: dict[str, object] = {}
    for record in records:
        if record.diff > 0:
            events[record.event.id] = record.event
        else:
            assert events.pop(record.event.id) == record.event
    return events


def pushed(pipeline: MatchPipeline, blocks) -> list[UpdateRecord]:
    messages = [pipeline.push(payload, arrival_us) for arrival_us, payload in blocks]
    return [record for message in messages if message for record in message.updates]


@pytest.fixture(scope="module")
def alone(capture: Capture) -> tuple[dict[str, object], int]:
    """Events of one engine, and the number of its stored positions."""
    pipeline = MatchPipeline(capture.sheet, OPTIONS)
    records = pushed(pipeline, capture.payloads(capture.begin_us, capture.end_us)) + list(pipeline.finish().updates)
    return standing(records), len(pipeline.take_tables()["positions"])


def test_nodes_give_the_events_of_one_engine_through_a_restart_and_moves(capture, alone, tmp_path):
    blocks = list(capture.payloads(capture.begin_us, capture.end_us))
    third = len(blocks) // 3
    sheet = capture.sheet
    (tmp_path / FOLDER).mkdir()
    with pipeline_over(sheet, 3, tmp_path) as (pipeline, nodes):
        records = pushed(pipeline, blocks[:third])
        give_order(tmp_path, Order("move", 2, "near_ball"))
        give_order(tmp_path, Order("move", 7, "near_ball"))
        tables = pipeline.take_tables()
        positions = len(tables["positions"])
        assert len(tables["updates"]) == len(records)
        pipeline.inspect_detectors()
        nodes.cut()
        snapshot = pipeline.snapshot()
        pushed(pipeline, blocks[third : third + 20])  # what a crash throws away
    with pipeline_over(sheet, 3, tmp_path, snapshot) as (pipeline, _):
        records += pushed(pipeline, blocks[third : 2 * third])
        give_order(tmp_path, Order("drain", 1))
        records += pushed(pipeline, blocks[2 * third :])
        records += pipeline.finish().updates
        positions += len(pipeline.take_tables()["positions"])
        health = pipeline._engine.health()
    assert standing(records) == alone[0]
    assert "period.end#clock:1/end" in alone[0]
    assert positions == alone[1] > 0
    assert not health.failed
    assert not any(health.faults.values())
    status = read_status(tmp_path)
    assert status is not None
    assert status.where()["near_ball"] == 2
    assert status.cordoned == (1,)
    assert "there is no node 7" in status.refused[0]
    with pytest.raises(SnapshotError, match="--nodes 3"), pipeline_over(sheet, 2, tmp_path) as (pipeline, _):
        pipeline.restore(snapshot)


def test_a_node_that_ends_takes_the_others_with_it(capture, tmp_path):
    with meshes(2) as (zero, one):
        placement = by_level(OPTIONS.hierarchy(capture.sheet), 5, 2)
        pipeline = MatchPipeline(capture.sheet, OPTIONS, make_engine=LiveNodes(zero).maker(placement, tmp_path))
        one.__exit__(None, None, None)
        with pytest.raises(NodeConnectionError, match="node 1"):
            pushed(pipeline, capture.payloads(capture.begin_us, capture.end_us))


def test_a_record_that_was_changed_or_repeated_is_refused():
    with meshes(2) as (zero, one):
        zero.put(1, 3, b"abc")
        assert one.wait(5.0) == [(0, 3, b"abc")]
        connection = zero._connections[1]
        connection._sent -= 1  # the same number again
        zero.put(1, 3, b"abc")
        with pytest.raises(NodeConnectionError, match="broken seal"):
            one.wait(5.0)


def test_a_caller_without_the_token_is_no_node():
    listener = listen()
    port = listener.getsockname()[1]
    found: list[Mesh] = []
    thread = threading.Thread(target=lambda: found.append(connect(0, {0: port, 1: 0}, listener, "right")))
    thread.start()
    with socket.create_connection(("127.0.0.1", port)) as stranger:
        stranger.sendall(b"x" * 50)
        assert stranger.recv(1) == b""
    other = listen()
    with pytest.raises(NodeConnectionError):
        connect(1, {0: port, 1: 0}, other, "wrong")
    mesh = connect(1, {0: port, 1: 0}, listen(), "right")
    thread.join()
    assert found[0].others == (1,)
    mesh.__exit__(None, None, None)
    found[0].__exit__(None, None, None)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"allocation": {"nobody": 1}}', "no detector nobody"),
        ('{"allocation": {"near_ball": 2}}', "near_ball is on 2; the nodes are 0 to 1"),
        ('{"allocation": {"near_ball": "edge"}}', "near_ball is on edge"),
    ],
)
def test_a_placement_that_does_not_fit_is_refused(content: str, message: str, tmp_path: Path):
    file = tmp_path / "placement.json"
    file.write_text(content)
    with pytest.raises(PlacementError, match=message):
        placement_of(OPTIONS.hierarchy(MatchSheet()), 2, file)


def test_a_placement_file_names_nodes_by_number_or_by_name(tmp_path: Path):
    file = tmp_path / "placement.json"
    hierarchy = OPTIONS.hierarchy(MatchSheet())
    names = [detector.spec.name for detector in hierarchy.detectors]
    file.write_text(f'{{"allocation": {{"{names[0]}": 1, "{names[1]}": "n1"}}, "cost": 3.5}}')
    assert placement_of(hierarchy, 2, file) == {names[0]: 1, names[1]: 1}


def test_a_drain_spreads_the_detectors_over_the_nodes_that_are_open():
    where = {("a", None): 1, ("b", None): 1, ("c", None): 2, ("@gate", None): 0, ("@sink", None): 0}
    book = OrderBook()
    moves = book.take([b'{"what": "drain", "node": 1}'], where, 3)
    assert [(move.part, move.node) for move in moves] == [("a", 2), ("b", 0)]
    refused = (b'{"what": "move", "node": 1, "part": "c"}', b'{"what": "drain", "node": 0}', b"{", b"{}")
    assert book.take([b"", *refused], where, 3) == []
    assert [text.partition(": ")[2][:12] for text in book.refused][:2] == ["node 1 is co", "node 0 canno"]
    assert len(book.refused) == 4
    again = [b'{"what": "uncordon", "node": 1}', refused[0]]
    assert [move.part for move in book.take([b""] * 5 + again, where, 3)] == ["c"]
