"""How much does a gateway take in on one core, what does it add to latency, and how well does it know a clock?

Questions: does one process take 36,000 positions/s in packets of ten with at most 5 ms added at p95; how many small
datagrams a second does it take; how long does a topic's thread need for ten minutes of outage at full rate, to read and
encode it, and to send it to a broker on this machine; what are the errors of offset and drift on simulated clocks; what
is lost or doubled, and how long does nothing come, if a gateway is killed (SIGKILL) at full rate and its spare takes
over, both in a multicast group? The sender of datagrams is another process on the other core. Added latency is from the
wall time at which the sender sent a packet, which the packet holds, to the time at which a reader of the capture, in a
third process, has its block. A datagram is lost if the capture lacks it at the end.

    python -m bench.gateway [--seconds N] [--spool] [--json FILE]
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from app.base.java import find_java
from app.gateway.address import parse_feed
from app.gateway.clock import SourceClock
from app.gateway.forward import Forwarder
from app.gateway.gateway import FeedRequest
from app.gateway.run import GatewayOptions, run_gateway
from app.kafka.address import parse
from app.kafka.broker import start_broker, stop_broker
from football.match_sheet import MatchSheet
from football.packets import Block, Packet
from replay import wire
from replay.capture import Capture, CaptureWriter

TAGS = 92
GOAL = {"added_p95_ms": 5.0, "catch_up_s": 60.0, "offset_ms": 2.0, "drift_ppm": 1.0}
_HEAD, _ROW = struct.Struct("<HHIBB"), struct.Struct("<Qiii")


def send(host: str, port: int, packets_per_s: float, positions: int, seconds: float) -> int:
    """Send packets of the form ``packed-binary`` from this process, evenly, with the wall time as their event time."""
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("127.0.0.1"))
    sender.connect((host, port))
    total = int(packets_per_s * seconds)
    began_s = time.time()
    numbers = [0] * TAGS
    sent = 0
    while sent < total:
        due = min(total, int((time.time() - began_s) * packets_per_s) + 1)
        while sent < due:
            tag = sent % TAGS
            now_us = time.time_ns() // 1000
            rows = b"".join(_ROW.pack(now_us - 5_000 * (positions - 1 - i), 1_000, i, 0) for i in range(positions))
            with contextlib.suppress(
                ConnectionRefusedError
            ):  # an overloaded gateway may have taken silence for the end
                sender.send(_HEAD.pack(21588, tag, numbers[tag], 100, positions) + rows)
            numbers[tag] += 1
            sent += 1
        time.sleep(0.0005)
    return sent


def follow(folder: str) -> None:
    """Read a capture while it grows; print the added latencies of its packets and their number."""
    while not (Path(folder) / "head.json").exists():
        time.sleep(0.01)
    capture = Capture.open(folder)
    zero_us = capture.live_zero_us or 0
    added_ms, packets, positions = [], 0, 0
    # The clock of the source is learned in the first second; what waited for that says nothing.
    for block in capture.blocks(capture.begin_us, 2**60):
        now_us = time.time_ns() // 1000
        for packet in block.packets:
            added_ms.append((now_us - zero_us - packet.ts_us[-1]) / 1e3)
            positions += len(packet.ts_us)
        packets += len(block.packets)
    late = np.array(added_ms[len(added_ms) // 4 :])
    shares = {f"p{share}_ms": round(float(np.percentile(late, share)), 2) for share in (50, 95, 99)}
    print(json.dumps({"packets": packets, "positions": positions, **shares}))


def received(packets_per_s: float, positions: int, seconds: float) -> dict[str, Any]:
    """One gateway process with a sender and a reader beside it."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "capture"
        run = [sys.executable, "-m", "bench.gateway"]
        gateway = subprocess.Popen([*run, "--receive", str(folder)], stdout=subprocess.PIPE)
        assert gateway.stdout is not None
        port = int(gateway.stdout.readline())
        reader = subprocess.Popen([*run, "--follow", str(folder)], stdout=subprocess.PIPE)
        asked = ["127.0.0.1", str(port), str(packets_per_s), str(positions), str(seconds)]
        sent = int(subprocess.run([*run, "--send", *asked], stdout=subprocess.PIPE, check=True).stdout)
        figures = json.loads(gateway.communicate()[0])
        found = json.loads(reader.communicate()[0])
    busy = figures["cpu_s"] / seconds
    return {
        "packets_per_s": packets_per_s, "positions_per_s": packets_per_s * positions, "sent": sent,
        "received": figures["messages"], "lost": sent - figures["messages"], "gateway_cores": round(busy, 2),
        "added": found,
    }  # fmt: skip


def handed_over(seconds: float) -> dict[str, Any]:
    """A gateway that is killed at full rate, and its spare, in a multicast group on loopback."""
    group, port, rate = "239.255.70.1", 5_470, 3_600.0
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "capture"
        run = [sys.executable, "-m", "bench.gateway"]
        receiving = [*run, "--receive", str(folder), "--at", f"udp://{group}:{port}?interface=127.0.0.1"]
        first = subprocess.Popen(receiving, stdout=subprocess.DEVNULL)
        sender = subprocess.Popen([*run, "--send", group, str(port), str(rate), "10", str(seconds)])
        while not (folder / "gateway.json").exists():
            time.sleep(0.05)
        spare = subprocess.Popen([*receiving, "--stand-by"], stdout=subprocess.PIPE)
        time.sleep(seconds / 2)
        first.kill()
        killed_us = time.time_ns() // 1000
        sender.wait()
        filled = json.loads(spare.communicate()[0].splitlines()[-1])["filled"]
        capture = Capture.open(folder)
        numbers: dict[str, list[int]] = {}
        arrivals_us = []
        for block in capture.blocks(capture.begin_us, capture.end_us):
            arrivals_us.append(block.arrival_us)
            for packet in block.packets:
                numbers.setdefault(packet.transmitter, []).append(packet.sequence)
        since_us = killed_us - (capture.live_zero_us or 0)
        near_us = [at_us for at_us in arrivals_us if since_us - 500_000 < at_us < since_us + 5_000_000]
        lost = sum(max(found) - min(found) + 1 - len(set(found)) for found in numbers.values())
        twice = sum(len(found) - len(set(found)) for found in numbers.values())
        gap_us = max(b - a for a, b in pairwise(near_us))
    return {
        "packets": sum(map(len, numbers.values())), "lost": lost, "twice": twice, "filled_in": filled,
        "longest_silence_ms": round(gap_us / 1e3, 1),
    }  # fmt: skip


def receive(folder: str, at: str = "udp://127.0.0.1:0?", *, stand_by: bool = False) -> None:
    """Run a gateway, on a free port that is printed first, until three seconds of silence; print its figures."""
    profile = Path(folder).with_name("utc.toml")
    shipped = Path(__file__).parents[1] / "app" / "gateway" / "profiles" / "packed-binary.toml"
    profile.write_text(shipped.read_text().replace('unit = "us"', 'unit = "us"\nclock = "utc"'))
    address = parse_feed(f"{at}&profile={profile}".replace("?&", "?"))
    options = GatewayOptions(
        (FeedRequest(address),), MatchSheet(), Path(folder), end_after_us=3_000_000, stand_by=stand_by
    )
    shown = threading.Event()

    def listens(ports: dict[str, int]) -> None:
        if ports and not shown.is_set():
            shown.set()
            print(next(iter(ports.values())), flush=True)

    figures = run_gateway(options, listens=listens)
    used = resource.getrusage(resource.RUSAGE_SELF)
    feed = next(iter(figures.feeds.values())).feed
    print(json.dumps({"messages": feed.messages, "filled": figures.filled, "cpu_s": used.ru_utime + used.ru_stime}))


def spool_read(seconds: float) -> dict[str, Any]:
    """Time to read and encode what an outage at full rate left on disk: all of a catch-up but the broker's share."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "spool"
        with CaptureWriter(folder, MatchSheet(), fingerprint="b", live_zero_us=0) as writer:
            for block in full_rate(seconds):
                writer.append(block)
        capture = Capture.open(folder)
        began_s = time.perf_counter()
        size = sum(len(wire.encode_compact(block)) for block in capture.blocks(0, capture.end_us))
        took_s = time.perf_counter() - began_s
    scale = 600.0 / seconds
    return {"outage_s": 600.0, "read_and_encode_s": round(took_s * scale, 1), "megabytes": round(size * scale / 1e6)}


def spool_sent(seconds: float) -> dict[str, Any]:
    """Time in which a topic's thread sends what an outage at full rate left on disk, to a broker on this machine."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "spool"
        broker = start_broker(Path(place) / "broker", 0, find_java(os.environ))
        try:
            with CaptureWriter(folder, MatchSheet("spool"), fingerprint="b", live_zero_us=0) as writer:
                for block in full_rate(seconds):
                    writer.append(block)
            began_s, began_cpu_s = time.perf_counter(), time.process_time()
            with Forwarder(folder, parse(f"kafka://{broker.address}/spool")) as forwarder:
                while forwarder.figures().blocks < seconds * 100 or forwarder.figures().behind_us:
                    time.sleep(0.05)
                took_s, cpu_s = time.perf_counter() - began_s, time.process_time() - began_cpu_s
        finally:
            stop_broker(Path(place) / "broker")
    scale = 600.0 / seconds
    return {
        "outage_s": seconds, "sent_s": round(took_s, 1), "ten_minutes_s": round(took_s * scale, 1),
        "ten_minutes_cpu_s": round(cpu_s * scale, 1),
    }  # fmt: skip


def full_rate(seconds: float) -> Iterator[Block]:
    """Blocks of 36,000 positions a second in packets of ten."""
    columns = [tuple(float(i) for i in range(10))] * 3
    for number in range(int(seconds * 100)):
        at_us = (number + 1) * 10_000
        ts_us = tuple(at_us - 9_000 + 1_000 * i for i in range(10))
        yield Block(at_us, tuple(Packet(f"t{i}", number, ts_us, *columns) for i in range(36)))  # type: ignore[arg-type]


def clocks() -> dict[str, float]:
    """Greatest errors over simulated clocks: delays of 1 ms and an exponential tail of 4 ms, bursts, ten minutes."""
    offset_us, drift_ppm = [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        drift = rng.uniform(-100, 100)
        true_us = np.arange(0, 600e6, 20_000)
        source_us = np.round(true_us * (1 - drift * 1e-6)).astype(int)
        delay_us = 1_000 + rng.exponential(4_000, len(true_us))
        delay_us[rng.random(len(true_us)) < 0.02] += 150_000
        clock = SourceClock(latency_us=1_000)
        for number, at_us in enumerate(np.round(true_us + delay_us).astype(int).tolist()):
            event_us = clock.event_us(int(source_us[number]), at_us)
            if event_us is not None and true_us[number] > 60e6:
                offset_us.append(abs(event_us - true_us[number]))
        drift_ppm.append(abs(clock.figures().drift_ppm - drift))
    return {"offset_ms_max": round(max(offset_us) / 1e3, 2), "drift_ppm_max": round(max(drift_ppm), 2)}


def main() -> None:
    """Runs all measurements and prints or stores the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--receive")
    parser.add_argument("--spool", action="store_true", help="measure the way to a broker only")
    parser.add_argument("--follow")
    parser.add_argument("--at", default="udp://127.0.0.1:0?")
    parser.add_argument("--stand-by", action="store_true")
    parser.add_argument("--send", nargs=5)
    chosen = parser.parse_args()
    if chosen.receive:
        receive(chosen.receive, chosen.at, stand_by=chosen.stand_by)
        return
    if chosen.follow:
        follow(chosen.follow)
        return
    if chosen.send:
        host, port, rate, positions, seconds = chosen.send
        print(send(host, int(port), float(rate), int(positions), float(seconds)))
        return
    if chosen.spool:
        print(json.dumps(spool_sent(3 * chosen.seconds)))
        return
    result = {
        "cores": os.cpu_count(), "load_before": round(os.getloadavg()[0], 1),
        "packets_of_ten": received(3_600, 10, chosen.seconds),
        "small_datagrams": [received(rate, 1, chosen.seconds / 2) for rate in (10_000, 20_000, 40_000, 100_000)],
        "hand_over": handed_over(chosen.seconds / 2), "spool": spool_read(chosen.seconds / 2),
        "spool_to_broker": spool_sent(3 * chosen.seconds), "clocks": clocks(),
        "goal": GOAL,
    }  # fmt: skip
    print(json.dumps(result, indent=2))
    if chosen.json:
        chosen.json.write_text(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
