"""A detector that publishes something that is no fact is refused and reported; the match goes on and can be stored."""

from __future__ import annotations

import msgspec
import pytest

from detectors.arrivals import arrival
from detectors.catalogue import build_detectors
from detectors.records import RecordMaker
from football.packets import RAW_KINDS
from middleware.engine import Engine
from middleware.hierarchy import Hierarchy
from simulator.radio.channels import channel_named, transmit
from simulator.simulate import Simulation, simulate


@pytest.mark.parametrize("wrong", [pytest.param(None, marks=pytest.mark.slow), "text"])
def test_a_payload_that_is_no_fact_stops_nobody(wrong: str | None):
    recording, _ = simulate(Simulation(duration_s=6.0))
    detectors = build_detectors(recording.sheet)
    hits = next(detector for detector in detectors if detector.spec.name == "player_hits_ball")
    step = hits.step

    def broken(state, event):
        after, outputs = step(state, event)
        return after, tuple(msgspec.structs.replace(out, payload=wrong) for out in outputs)

    hits.step = broken
    hierarchy = Hierarchy(RAW_KINDS, detectors)
    engine = Engine(hierarchy)
    updates = []
    for block in transmit(recording, channel_named("rtls"), 3).blocks():
        updates += engine.push([arrival(packet) for packet in block.packets], block.arrival_us).updates
    updates += engine.finish().updates
    maker = RecordMaker(detectors, recording.sheet)
    records = [maker.record(update.event) for update in updates]
    assert len(records) > 10
    assert "hit" not in {record.kind for record in records}
    assert list(engine.health().faults["player_hits_ball"]) == ["refused"]
