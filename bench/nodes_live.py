"""What do two nodes give one match, and what do they cost: throughput, latency and bytes against one node?

One match at a rate, played by the pipeline of a live match, first with the engine of one node, then with that of two or
more, which are processes with the connections of a live run. Alpha 0 and retraction on demand for both, without Spark,
store and page. Two ways: as fast as possible (stream seconds in a wall second), and at the pace of the stream. There
the latency of a published event is that from event time to the push after which it leaves, on the stream's clock, and
the wall time by which that push ends late. The events of both must be equal.

    python -m bench.nodes_live [--nodes 2] [--seconds 10] [--rate full] [--edge 5] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import secrets
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from app.nodes.live import LiveNodes, serve_node
from app.nodes.mesh import connect, listen
from app.nodes.orders import read_status
from app.nodes.placement import by_level
from app.pipeline.pipeline import MatchPipeline, PipelineOptions
from app.sources.production import write_simulation
from replay.capture import Capture
from simulator.radio.channels import channel_named
from simulator.settings import rates_named
from simulator.simulate import MeasuredMatch, Simulation

OPTIONS = PipelineOptions()

SEED = 205


def node_process(me: int, port: Any, token: str, path: Path, placement: Any) -> None:
    """Run a node in a process of its own; it sends its port when it is warm, as processes of Spark are."""
    capture = Capture.open(path)
    sheet = capture.sheet
    MatchPipeline.warm_up(sheet, OPTIONS, capture)
    listener = listen()
    port.send(listener.getsockname()[1])
    with connect(me, port.recv(), listener, token) as mesh:
        serve_node(mesh, sheet, OPTIONS, placement)


@contextmanager
def pipeline_over(capture: Capture, count: int, edge: int, store: Path) -> Iterator[MatchPipeline]:
    """A pipeline over so many nodes; over one it is that of a match without nodes."""
    sheet = capture.sheet
    if count == 1:
        yield MatchPipeline(sheet, OPTIONS)
        return
    placement, token = by_level(OPTIONS.hierarchy(sheet), edge, count), secrets.token_hex(16)
    context, listener = multiprocessing.get_context("spawn"), listen()
    pipes: dict[int, Any] = {}
    ports = {0: _port(listener)}
    processes = []
    for me in range(1, count):
        pipes[me], theirs = context.Pipe()
        process = context.Process(target=node_process, args=(me, theirs, token, capture.path, placement))
        process.start()
        processes.append(process)
    ports |= {me: pipe.recv() for me, pipe in pipes.items()}
    for pipe in pipes.values():
        pipe.send(ports)
    with connect(0, ports, listener, token) as mesh:
        nodes = LiveNodes(mesh)
        yield MatchPipeline(sheet, OPTIONS, make_engine=nodes.maker(placement, store))
        nodes.end()
        for process in processes:
            process.join()


def _port(listener: socket.socket) -> int:
    return int(listener.getsockname()[1])


def play(pipeline: MatchPipeline, capture: Capture, wait_us: Callable[[int], int]) -> dict[str, Any]:
    """Push a capture; return times, latencies and the events that stand.

    Args:
        wait_us: waits until a block of this arrival time is due; returns the wall time at which it was.
    """
    latencies_ms: list[float] = []
    standing: dict[str, Any] = {}
    began_s = time.perf_counter()

    def note(message: Any, due_us: int | None) -> None:
        for record in message.updates if message is not None else ():
            if record.diff < 0:
                del standing[record.event.id]
                continue
            standing[record.event.id] = record.event
            if due_us is not None:
                late_us = time.time_ns() // 1000 - due_us
                latencies_ms.append((record.emitted_us - record.event.ts_us + late_us) / 1e3)

    for arrival_us, payload in capture.payloads(capture.begin_us, capture.end_us):
        due_us = wait_us(arrival_us)
        note(pipeline.push(payload, arrival_us), due_us)
    note(pipeline.finish(), None)
    return {"took_s": time.perf_counter() - began_s, "latencies_ms": latencies_ms, "standing": standing}


def at_once(arrival_us: int) -> int:
    """Do not wait."""
    return time.time_ns() // 1000


def paced(begin_us: int) -> Callable[[int], int]:
    """Wait until a block is due, from a second after now on."""
    zero_us = time.time_ns() // 1000 + 1_000_000 - begin_us

    def wait(arrival_us: int) -> int:
        due_us = zero_us + arrival_us
        time.sleep(max(0.0, due_us / 1e6 - time.time()))
        return due_us

    return wait


def measure(capture: Capture, count: int, edge: int, folder: Path) -> dict[str, Any]:
    """Play a capture over so many nodes in both ways."""
    figures: dict[str, Any] = {"nodes": count}
    seconds = (capture.end_us - capture.begin_us) / 1e6
    store = folder / str(count)
    with pipeline_over(capture, count, edge, store) as pipeline:
        fast = play(pipeline, capture, at_once)
        figures["stream_s_per_s"] = round(seconds / fast["took_s"], 3)
    with pipeline_over(capture, count, edge, store) as pipeline:
        slow = play(pipeline, capture, paced(capture.begin_us))
        p50, p95 = np.percentile(slow["latencies_ms"], (50, 95))
        figures |= {"latency_p50_ms": round(p50, 1), "latency_p95_ms": round(p95, 1)}
    if (status := read_status(store)) is not None:
        figures["sent_kb_s"] = {
            f"{node.node} to {link.node}": round(link.bytes / seconds / 1e3, 1)
            for node in status.nodes
            for link in node.links
        }
        figures["busy_share"] = {node.node: round(node.busy_us / seconds / 1e6, 3) for node in status.nodes}
    figures["events"] = len(slow["standing"])
    assert fast["standing"] == slow["standing"], "the events depend on the pace"
    figures["standing"] = slow["standing"]
    return figures


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--rate", default="full")
    parser.add_argument("--edge", type=int, default=5)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        match = MeasuredMatch(Simulation(seed=SEED, duration_s=given.seconds, **rates_named(given.rate)))
        write_simulation(match, folder / "capture", channel_named("rtls"), SEED)
        capture = Capture.open(folder / "capture")
        MatchPipeline.warm_up(capture.sheet, OPTIONS, capture)
        one, several = (measure(capture, count, given.edge, folder) for count in (1, given.nodes))
        assert one.pop("standing") == several.pop("standing"), "the nodes gave other events"
    result = {
        "seconds": given.seconds,
        "rate": given.rate,
        "one": one,
        "several": several,
        "throughput_ratio": round(several["stream_s_per_s"] / one["stream_s_per_s"], 3),
        "latency_p50_ratio": round(several["latency_p50_ms"] / one["latency_p50_ms"], 3),
        "latency_p95_ratio": round(several["latency_p95_ms"] / one["latency_p95_ms"], 3),
    }
    print(json.dumps(result, indent=2))
    if given.json:
        given.json.write_text(json.dumps(result))


if __name__ == "__main__":
    main()
