"""A simulated match in a vendor's form, through a gateway, gives the capture's events, less what the form loses."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from app.gateway.address import parse_feed
from app.gateway.feed import Feed
from app.gateway.gateway import FeedRequest, sheet_of
from app.gateway.identities import TagTable
from app.gateway.profile import Profile, read_profile, shipped_profiles
from app.gateway.run import GatewayOptions, run_gateway
from app.gateway.vendor import VendorEncoder, losses_of, play_as_vendor
from app.run.live import run_live
from app.settings.resolve import make_settings
from app.sources.captured import CaptureSource
from app.sources.interface import OpenBatch
from app.sources.production import write_simulation
from football.packets import Block
from replay import wire
from replay.capture import Capture, CaptureWriter
from replay.event_list import consolidated_events
from replay.refused_records import is_refused
from simulator.radio.channels import CHANNELS
from simulator.settings import rates_named
from simulator.simulate import MeasuredMatch, Simulation
from tests.app.host_run import captured
from tests.waiting import eventually

ZERO_US = 1_700_000_000_000_000

#: Arrivals of the capture in which every form is tried.
SHORT_US = 1_500_000


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Capture:
    folder = tmp_path_factory.mktemp("match")
    settings = Simulation(seed=11, duration_s=6.0, **rates_named("50/10"))
    write_simulation(MeasuredMatch(settings), folder, CHANNELS["rtls"], 11)
    return Capture.open(folder)


def synchronous(name: str) -> Profile:
    """A profile of a source with a clock set by NTP."""
    profile = read_profile(name)
    return msgspec.structs.replace(profile, time=msgspec.structs.replace(profile.time, clock="utc"))


def through(profile: Profile, capture: Capture, folder: Path, until_us: int = 2**62) -> tuple[Capture, Feed]:
    """The capture that a gateway makes of a capture, with the arrivals of the original."""
    encoder = VendorEncoder(profile, capture.sheet, ZERO_US)
    blocks = list(capture.blocks(capture.begin_us, min(until_us, capture.end_us)))
    encoder.encode(blocks)
    folder.mkdir(parents=True)
    (folder / "tags.csv").write_text(encoder.tag_table())
    sheet = sheet_of(capture.sheet, [profile])
    feed = Feed("vendor", profile, sheet, ZERO_US, TagTable(folder / "tags.csv"))
    encoder = VendorEncoder(profile, capture.sheet, ZERO_US)
    encoder.tags.update(_tags(folder / "tags.csv"))
    with CaptureWriter(folder / "capture", sheet, fingerprint="f", live_zero_us=ZERO_US) as writer:
        for block in blocks:
            for message, topic in encoder.encode([block]):
                feed.receive(message, topic, block.arrival_us)
            for number, packets in enumerate(feed.take()):
                writer.append(Block(max(writer.last_us + 1, block.arrival_us + number), packets))
        feed.finish()
    return Capture.open(folder / "capture"), feed


def _tags(path: Path) -> dict[str, str]:
    rows = [line.split(",") for line in path.read_text().splitlines()[1:]]
    return {f"{name}/{limb}" if limb else name: tag for tag, name, limb in rows}


def events_of(source: Path, store: Path) -> list[tuple[str, int, str]]:
    given = {"source": str(source), "engine": "inprocess", "speed": "max", "alpha": "0", "retraction": "on-demand",
             "store": store, "dashboard": False, "camera": False}  # fmt: skip
    run_live(make_settings(given), as_json=True)
    table = consolidated_events(store)
    return list(zip(*(table[name].to_pylist() for name in ("kind", "ts_us", "id")), strict=True))


@pytest.fixture(scope="module")
def expected(capture: Capture, tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, int, str]]:
    return events_of(capture.path, tmp_path_factory.mktemp("expected") / "store")


@pytest.mark.parametrize("name", ["json-lines", "packed-binary"])
def test_a_form_that_loses_nothing_gives_the_same_packets_at_the_same_arrivals(
    name: str, capture: Capture, tmp_path: Path
):
    assert losses_of(read_profile(name)) == []
    found, feed = through(synchronous(name), capture, tmp_path / "vendor")
    assert [(b.arrival_us, sorted(map(msgspec.structs.astuple, b.packets))) for b in found.blocks(0, found.end_us)] == [
        (b.arrival_us, sorted(map(msgspec.structs.astuple, b.packets))) for b in distinct(capture)
    ]
    assert feed.figures().refused == {}


def distinct(capture: Capture) -> list[Block]:
    """Blocks without the copies that the radio makes, which a gateway leaves out."""
    seen: set[tuple[str, int]] = set()
    blocks = []
    for block in capture.blocks(capture.begin_us, capture.end_us):
        packets = []
        for packet in block.packets:
            if (packet.transmitter, packet.ts_us[0]) not in seen:
                packets.append(packet)
            seen |= {(packet.transmitter, ts_us) for ts_us in packet.ts_us}
        if packets:
            blocks.append(Block(block.arrival_us, tuple(packets)))
    return blocks


def test_the_engine_gives_the_same_events_from_a_vendors_feed(capture: Capture, expected, tmp_path: Path):
    found, _ = through(synchronous("packed-binary"), capture, tmp_path / "vendor")
    assert events_of(found.path, tmp_path / "store") == expected
    assert len(expected) > 50


@pytest.mark.slow
def test_with_the_sources_own_clock_events_keep_their_kinds_and_intervals(capture: Capture, expected, tmp_path: Path):
    found, feed = through(read_profile("json-lines"), capture, tmp_path / "vendor")
    events = events_of(found.path, tmp_path / "store")
    clock = feed.clock.figures()
    assert clock.steps == clock.refused == 0
    kinds, others = (Counter(kind for kind, _, _ in one) for one in (expected, events))
    differing = sum(((kinds - others) + (others - kinds)).values())
    assert differing <= 0.1 * len(expected), (kinds - others, others - kinds)


#: Forms of positions, one at a time.
SINGLE = [
    name for name in shipped_profiles()
    if not read_profile(name).quality.framed and read_profile(name).gives == "positions"
]  # fmt: skip


@pytest.mark.parametrize("name", SINGLE)
def test_every_form_of_single_positions_brings_all_of_them(name: str, capture: Capture, tmp_path: Path):
    found, feed = through(synchronous(name), capture, tmp_path / "vendor", SHORT_US)
    lost = losses_of(read_profile(name))
    step_us = 1_000 if "times: whole milliseconds" in lost else 1
    sent = capture.blocks(capture.begin_us, SHORT_US)
    ours = {(p.transmitter, ts // step_us * step_us) for block in sent for p in block.packets for ts in p.ts_us}
    theirs = {(p.transmitter, ts) for block in found.blocks(0, 2**40) for p in block.packets for ts in p.ts_us}
    assert theirs == ours
    assert feed.figures().refused == {}


def test_a_gateway_over_a_socket_is_followed_by_a_run_while_it_grows(capture: Capture, tmp_path: Path):
    ports: list[int] = []
    profile = read_profile("json-lines")
    folder = tmp_path / "gateway"
    feeds = (FeedRequest(parse_feed("tcp-listen://127.0.0.1:0?profile=json-lines")),)
    options = GatewayOptions(feeds, capture.sheet, folder)
    stop = threading.Event()

    def listen(found: dict[str, int]) -> None:
        ports.extend(found.values())

    runner = threading.Thread(target=lambda: run_gateway(options, stop.is_set, listens=listen))
    runner.start()
    try:
        port = eventually(lambda: ports and ports[0])
        address = parse_feed(f"tcp://127.0.0.1:{port}")
        sending = threading.Thread(target=lambda: asyncio.run(play_as_vendor(capture, profile, address, 4.0)))
        sending.start()
        eventually(lambda: (folder / "head.json").exists())
        live = Capture.open(folder)
        batch = OpenBatch(2_000_000, 2, 2**62, tmp_path.joinpath, stop.is_set, lambda match: True)
        reader = CaptureSource().reader(batch)
        reader.add(captured(live, "m", 1.0), 1.0)
        rows = []
        while not any(row.closing for row in rows):
            rows += reader.read(10_000)
        sending.join(60)
    finally:
        stop.set()
        runner.join(60)
    closing = next(row for row in rows if row.closing)
    assert not closing.failed
    payloads = [(at_us, payload) for row in rows for at_us, _, payload in row.blocks if at_us < closing.end]
    read = [(at_us, payload) for at_us, payload in payloads if not is_refused(payload)]
    kept = [(b.arrival_us, wire.encode(b)) for b in Capture.open(folder).live_blocks(0, closing.end) if b is not None]
    assert read == kept[: len(read)]
    assert len(read) > 50
