"""A spare gateway takes over a live capture: no position twice or lost, and numbers that go on."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from app.gateway.address import parse_feed
from app.gateway.gateway import FeedRequest, GatewayFigures
from app.gateway.hand_over import Newest, SpareOutput, followed, following_packets
from app.gateway.outputs import CaptureOutput
from app.gateway.run import GatewayOptions, run_gateway
from football.errors import CaptureError
from football.match_sheet import MatchSheet
from football.packets import Block, Packet
from replay.capture import Capture
from replay.formats.officials import FILE
from tests.waiting import eventually

PROFILE = """
title = "test"
documents = "ours"
format = "json"

[[records]]
fields = {{ id = "id", time = "t_us", x = "x_m", y = "y_m"{numbers} }}

[time]
unit = "us"
clock = "utc"

[quality]
kind = "rtls"
"""


class Vendor:
    """A server that sends a position of two transmitters every five milliseconds to everybody who is connected."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._connections: list[socket.socket] = []
        self.sent = self.first = 0
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._accept, self._send)]

    def __enter__(self) -> Vendor:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        self._listener.close()
        self._threads[1].join()

    @property
    def connections(self) -> int:
        return len(self._connections)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                self._connections.append(self._listener.accept()[0])

    def _send(self) -> None:
        while not self._stop.wait(0.005):
            if not self._connections:
                continue
            now_us = time.time_ns() // 1000
            lines = b"".join(
                json.dumps({"id": name, "t_us": now_us, "x_m": self.sent / 1000, "y_m": 0.0, "n": self.sent}).encode()
                + b"\n"
                for name in ("ball", "home_7")
            )
            self.sent += 1
            for connection in list(self._connections):
                with suppress(OSError):
                    connection.sendall(lines)


@pytest.fixture
def vendor() -> Iterator[Vendor]:
    with Vendor() as running:
        yield running


class Running:
    """A gateway in a thread."""

    def __init__(self, options: GatewayOptions) -> None:
        self.stop = threading.Event()
        self.figures: GatewayFigures | None = None
        self._thread = threading.Thread(
            target=run_gateway, args=(options, self.stop.is_set, lambda figures: setattr(self, "figures", figures))
        )
        self._thread.start()

    def finish(self) -> None:
        self.stop.set()
        self._thread.join()


def options(vendor: Vendor, tmp_path: Path, *, numbers: bool, stand_by: bool = False, **more) -> GatewayOptions:
    profile = tmp_path / "profile.toml"
    profile.write_text(PROFILE.format(numbers=', sequence = "n"' if numbers else ""))
    request = FeedRequest(parse_feed(f"tcp://127.0.0.1:{vendor.port}?profile={profile}"))
    return GatewayOptions((request, *more.get("others", ())), MatchSheet(), tmp_path / "capture", stand_by=stand_by)


def all_once(folder: Path, first: int, until: int) -> None:
    """The positions of a range are in the capture once, and their packets' numbers go on."""
    packets: dict[str, list[Packet]] = {}
    for block in Capture.open(folder).live_blocks(0, 2**60):
        if block is None:
            break
        for packet in block.packets:
            packets.setdefault(packet.transmitter, []).append(packet)
    assert sorted(packets) == ["ball", "home_7"]
    for found in packets.values():
        values = [round(x_m * 1000) for packet in found for x_m in packet.x_m]
        inner = [value for value in values if first <= value < until]
        assert inner == list(range(first, until)), sorted(set(range(first, until)) ^ set(inner))
        numbers = [packet.sequence for packet in found]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))


@pytest.mark.parametrize("numbers", [pytest.param(True, marks=pytest.mark.slow), False])
def test_a_spare_goes_on_without_a_position_twice_or_lost(numbers: bool, vendor: Vendor, tmp_path: Path):
    before = Running(options(vendor, tmp_path, numbers=numbers))
    eventually(lambda: (tmp_path / "capture" / "gateway.json").exists())
    first = vendor.sent
    spare = Running(options(vendor, tmp_path, numbers=numbers, stand_by=True))
    eventually(lambda: vendor.connections == 2 and vendor.sent > first + 200)
    assert spare.figures is not None
    assert spare.figures.stands_by
    before.finish()
    stopped = vendor.sent
    eventually(lambda: vendor.sent > stopped + 100 and spare.figures is not None and not spare.figures.stands_by)
    until = vendor.sent - 20
    spare.finish()
    all_once(tmp_path / "capture", first, until)


def test_a_killed_gateway_is_followed_without_a_position_twice_or_lost(vendor: Vendor, tmp_path: Path):
    own = options(vendor, tmp_path, numbers=True)
    command = [
        sys.executable,
        "-m",
        "app.cli.main",
        "gateway",
        "--from",
        own.feeds[0].address.url,
        "--to",
        str(own.folder),
    ]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    eventually(lambda: (own.folder / "gateway.json").exists())
    first = vendor.sent
    spare = Running(options(vendor, tmp_path, numbers=True, stand_by=True))
    eventually(lambda: vendor.connections == 2 and vendor.sent > first + 100)
    process.send_signal(signal.SIGKILL)
    process.wait()
    stopped = vendor.sent
    eventually(lambda: vendor.sent > stopped + 100 and spare.figures is not None and not spare.figures.stands_by)
    until = vendor.sent - 20
    spare.finish()
    all_once(own.folder, first, until)


def test_a_spare_whose_match_has_ended_ends(vendor: Vendor, tmp_path: Path):
    with CaptureOutput(tmp_path / "capture", MatchSheet(), "f", 0) as output:
        output.write(Block(1_000, (Packet("ball", 0, (900,), (0.0,), (0.0,), (0.0,)),)))
        spare = Running(options(vendor, tmp_path, numbers=True, stand_by=True))
        eventually(lambda: spare.figures is not None)
    eventually(lambda: not spare._thread.is_alive())
    assert Capture.open(tmp_path / "capture").is_finished


def test_another_gateway_of_the_folder_is_refused_without_stand_by(vendor: Vendor, tmp_path: Path):
    with CaptureOutput(tmp_path / "capture", MatchSheet(), "f", 0), pytest.raises(CaptureError, match="is writing it"):
        run_gateway(options(vendor, tmp_path, numbers=True))


def test_decisions_that_a_spare_kept_are_no_copies_of_those_that_are_there(vendor: Vendor, tmp_path: Path):
    lines = tmp_path / "decisions.jsonl"
    lines.write_text('{"id": "a", "kind": "stop"}\n')
    others = (FeedRequest(parse_feed(f"file:{lines}?profile=decisions-json")),)
    before = Running(options(vendor, tmp_path, numbers=True, others=others))
    written = tmp_path / "capture" / FILE
    eventually(lambda: written.exists())
    spare = Running(options(vendor, tmp_path, numbers=True, stand_by=True, others=others))
    eventually(lambda: vendor.connections == 2)
    before.finish()
    with lines.open("a") as more:
        more.write('{"id": "b", "kind": "resume"}\n')
    eventually(lambda: len(written.read_bytes().splitlines()) == 2)
    spare.finish()
    assert [json.loads(line)["kind"] for line in written.read_text().splitlines()] == ["stop", "resume"]


def packet(sequence: int, *ts_us: int) -> Packet:
    places = tuple(float(at_us) for at_us in ts_us)
    return Packet("ball", sequence, ts_us, places, places, places)


def following(kept: list[Packet], last: Newest, *, numbered: bool) -> list[tuple[int, tuple[int, ...]]]:
    blocks, _ = following_packets([Block(i, (one,)) for i, one in enumerate(kept)], {"ball": last}, numbered=numbered)
    return [(one.sequence, one.ts_us) for block in blocks for one in block.packets]


@pytest.mark.parametrize(
    ("kept", "last", "numbered", "expected"),
    [
        # the source's numbers decide, although both gateways date its packets apart
        ([packet(4, 40), packet(5, 50), packet(6, 60)], Newest(5, 53), True, [(6, (60,))]),
        # a number that the other gateway had long before is another packet: the source has begun anew
        ([packet(4, 90_000_040), packet(5, 90_000_050)], Newest(5, 41), True, [(4, (90_000_040,)), (5, (90_000_050,))]),
        # counted by both gateways: the time decides, packets are cut, and numbers go on
        ([packet(90, 40, 50), packet(91, 60, 70)], Newest(7, 53), False, [(8, (60, 70))]),
        ([packet(90, 40, 50), packet(91, 60, 70)], Newest(7, 62), False, [(8, (70,))]),
        # nothing is known of the packet: all that is later
        ([packet(9, 80)], Newest(5, 50), True, [(9, (80,))]),
        ([], Newest(5, 50), True, []),
    ],
)
def test_what_follows_the_capture(
    kept: list[Packet], last: Newest, numbered: bool, expected: list[tuple[int, tuple[int, ...]]]
):
    assert following(kept, last, numbered=numbered) == expected


@pytest.mark.parametrize(("newest_us", "expected"), [(70, [8]), (53, [8, 9])])
def test_numbers_go_on_even_if_the_capture_has_all_that_was_kept(newest_us: int, expected: list[int]):
    kept = [Block(0, (packet(90, 40, 50), packet(91, 60, 70)))]
    blocks, seams = following_packets(kept, {"ball": Newest(7, newest_us)}, numbered=False)
    next_one = seams["ball"].follow(packet(92, 80))
    assert next_one is not None
    assert [one.sequence for block in blocks for one in block.packets] + [next_one.sequence] == expected


@pytest.mark.parametrize("numbered", [True, False])
def test_what_the_capture_has_is_left_out_though_it_comes_after_the_hand_over(numbered: bool):
    newest = {"ball": Newest(91, 70)}
    blocks, seams = following_packets([Block(0, (packet(90, 40, 50),))], newest, numbered=numbered)
    assert blocks == []
    later = [followed(Block(at, (one,)), seams) for at, one in enumerate((packet(91, 60, 70), packet(92, 80, 90)))]
    assert [[(one.sequence, one.ts_us) for one in block.packets] for block in later if block] == [[(92, (80, 90))]]


def test_a_spare_forgets_what_is_older_than_ten_seconds(tmp_path: Path):
    opened: list[CaptureOutput] = []

    def opens() -> CaptureOutput:
        opened.append(CaptureOutput(tmp_path / "capture", MatchSheet(), "f", 0))
        return opened[0]

    with SpareOutput(opens, 0) as spare:
        for at_s in range(30):
            spare.write(Block(at_s * 1_000_000, (packet(at_s, at_s * 1_000_000 - 5),)))
        assert spare.try_open()
        assert spare.filled == 11
        spare.write(Block(1, (packet(30, 30_000_000),)))  # a clock that is behind that of the capture
    assert Capture.open(tmp_path / "capture").end_us == 29_000_002
