"""The law on football: through radio disorder come the events of the sorted stream (oracle, differential)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest

from detectors.arrivals import arrival, frame_arrival
from detectors.catalogue import build_detectors
from football.match_sheet import MatchSheet
from football.packets import RAW_KINDS
from football.recording import Recording, flag_track
from middleware.consolidation import consolidate
from middleware.engine import Engine
from middleware.events import Event, canonical_key
from middleware.hierarchy import Hierarchy
from middleware.oracle import published
from middleware.ordering.policy import EngineSettings, UnitSettings
from middleware.ordering.speculation import FixedAlpha
from replay.formats.tracking import read_tracking
from simulator.radio.channels import Transmission, channel_named, transmit
from simulator.settings import rates_named
from simulator.simulate import Simulation, simulate

ALLOWED_LATENESS_US = 3_000_000

#: Of the stretch that is played of the real match.
BEGIN_US = 430_000_000


def stretch(recording: Recording, begin_us: int, end_us: int) -> Recording:
    """The positions with ``begin_us <= event time < end_us``."""
    kept = [(track, (track.ts_us >= begin_us) & (track.ts_us < end_us)) for track in recording.tracks]
    return Recording(recording.sheet, tuple(track.part(rows) for track, rows in kept if rows.any()))


@pytest.fixture(scope="module")
def match(shared_data: Path) -> Recording:
    source = shared_data / "portugal_switzerland_2019" / "first_20_minutes.parquet"
    return stretch(read_tracking(str(source)), BEGIN_US, BEGIN_US + 30_000_000)


def hierarchy(sheet: MatchSheet) -> Hierarchy:
    return Hierarchy(RAW_KINDS, build_detectors(sheet))


def run(transmission: Transmission, alpha: float, mode: str, restart_every: int = 0) -> tuple[list[Event], Engine]:
    """Pushes a transmission block by block and consolidates what is said."""
    sheet = transmission.recording.sheet
    settings = EngineSettings(UnitSettings(FixedAlpha(alpha), mode), allowed_lateness_us=ALLOWED_LATENESS_US)
    engine = Engine(hierarchy(sheet), settings)
    updates = []
    for n, block in enumerate(transmission.blocks()):
        updates += engine.push([arrival(packet) for packet in block.packets], block.arrival_us).updates
        if restart_every and n % restart_every == restart_every - 1:
            snapshot = engine.snapshot()
            engine = Engine(hierarchy(sheet), settings)
            engine.restore(snapshot)
    updates += engine.finish().updates
    rank = hierarchy(sheet).rank
    return sorted(consolidate(updates).values(), key=lambda e: canonical_key(e, rank)), engine


def oracle(transmission: Transmission) -> list[Event]:
    """The sorted replay of what arrived."""
    packets = [packet for block in transmission.blocks() for packet in block.packets]
    return published(hierarchy(transmission.recording.sheet), [arrival(packet).event for packet in packets])


def explain(found: list[Event], expected: list[Event]) -> str:
    """The first difference of two event lists."""
    for a, b in zip(found, expected, strict=False):
        if a != b:
            return f"found {a}\nexpected {b}"
    return f"found {len(found)} events, expected {len(expected)}"


@pytest.mark.parametrize("seconds", [12, pytest.param(30, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("channel", "seed", "alpha", "mode"),
    [
        ("none", 0, 0.0, "on-demand"),
        pytest.param("rtls", 1, 0.0, "on-demand", marks=pytest.mark.slow),
        pytest.param("rtls", 2, 0.5, "full", marks=pytest.mark.slow),
        pytest.param("rtls", 3, 1.0, "on-demand", marks=pytest.mark.slow),
        pytest.param("wifi", 4, 0.0, "full", marks=pytest.mark.slow),
        pytest.param("harsh", 5, 1.0, "on-demand", marks=pytest.mark.slow),
        ("harsh", 6, 0.3, "on-demand"),
    ],
)
def test_oracle_a_real_match_through_a_channel_gives_the_events_of_the_sorted_stream(
    match: Recording, channel: str, seed: int, alpha: float, mode: str, seconds: int
):
    transmission = transmit(stretch(match, BEGIN_US, BEGIN_US + seconds * 1_000_000), channel_named(channel), seed)
    found, engine = run(transmission, alpha, mode)
    lost = engine.take_lost()
    expected = oracle(transmission)
    assert not lost, f"{len(lost)} lost: memory is longer than the worst delay of {channel}"
    assert len(expected) > 100
    assert found == expected, explain(found, expected)


@pytest.mark.parametrize(
    ("channel", "alpha", "mode"),
    [("rtls", 0.0, "on-demand"), pytest.param("harsh", 0.5, "full", marks=pytest.mark.slow)],
)
def test_oracle_generated_radio_streams_obey_it_too(channel: str, alpha: float, mode: str):
    recording, _ = simulate(Simulation(duration_s=8.0))
    transmission = transmit(recording, channel_named(channel), 8)
    found, engine = run(transmission, alpha, mode)
    expected = oracle(transmission)
    assert not engine.take_lost()
    assert len(expected) > 100
    assert found == expected, explain(found, expected)


def test_oracle_an_alive_flag_that_is_late_and_lost_decides_what_the_sorted_stream_decides():
    """It says dead while the ball is played, as nothing else does."""
    recording, _ = simulate(Simulation(duration_s=10.5, **rates_named("live")))
    ts_us = np.arange(0, 10_500_000, 40_000)
    flag = flag_track(ts_us, ts_us < 8_000_000)
    assert flag is not None
    transmission = transmit(replace(recording, tracks=(*recording.tracks, flag)), channel_named("harsh"), 9)
    found, engine = run(transmission, 0.0, "on-demand")
    expected = oracle(transmission)
    assert not engine.take_lost()
    assert "flag" in [event.payload.detail["sign"] for event in expected if event.kind == "play.dead"]
    assert found == expected, explain(found, expected)


def test_differential_restarting_from_snapshots_changes_nothing(match: Recording):
    transmission = transmit(stretch(match, BEGIN_US, BEGIN_US + 8_000_000), channel_named("rtls"), 7)
    expected = run(transmission, 0.0, "on-demand")[0]
    assert len(expected) > 100
    assert run(transmission, 0.0, "on-demand", restart_every=40)[0] == expected


def test_differential_instants_and_single_packets_give_the_same_events(match: Recording):
    transmission = transmit(stretch(match, BEGIN_US, BEGIN_US + 12_000_000), channel_named("none"), 0)
    by_packet, _ = run(transmission, 0.0, "on-demand")
    sheet = msgspec.structs.replace(match.sheet, quality=msgspec.structs.replace(match.sheet.quality, framed=True))
    engine = Engine(hierarchy(sheet))
    updates = []
    for n, block in enumerate(transmission.blocks()):
        updates += engine.push([frame_arrival(block.packets, n)], block.arrival_us).updates
    updates += engine.finish().updates
    rank = hierarchy(sheet).rank
    by_instant = sorted(consolidate(updates).values(), key=lambda e: canonical_key(e, rank))
    names = [(e.id, e.payload) for e in by_packet]
    assert sorted(names, key=str) == sorted([(e.id, e.payload) for e in by_instant], key=str)
