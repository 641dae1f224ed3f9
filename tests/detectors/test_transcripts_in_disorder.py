"""The transcripts through the middleware in process: disordered, doubled and speculated upon, they say the same.

On the way every event's margins are looked at: a comparison that is told to have held must have.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import pytest

from detectors.catalogue import build_detectors
from detectors.inputs import RAW_KINDS, arrival
from detectors.margins import ROUNDING, Evidence, margins
from middleware.consolidation import consolidate
from middleware.engine import Engine
from middleware.events import Arrival, Event, canonical_key
from middleware.hierarchy import Hierarchy
from middleware.oracle import published
from middleware.policy import EngineSettings, FixedAlpha, UnitSettings
from middleware.record import Recording
from tests.detectors import stage
from tests.detectors.test_transcripts import CASES, QUALITIES

#: Of radio; the ball's packets come sooner, so that players are late for it.
DELAY_MOST_US, BALL_DELAY_MOST_US, SLOT_US = 120_000, 5_000, 10_000
DOUBLED_SHARE = 0.02
WAYS = ("on-demand", "full", "auto")


def scene(case: dict[str, Any], quality: str) -> tuple[Hierarchy, Any, list[Arrival]]:
    """Hierarchy, sheet and packets of a transcript."""
    players = {"home_1": [(0, -51, 0)], "away_1": [(0, 51.5, 0.4)], **case["players"]}
    declared = QUALITIES[quality]
    sheet = stage.sheet(players, declared)
    hierarchy = Hierarchy(RAW_KINDS, build_detectors(sheet, extra=case.get("extra", ())))
    packets = stage.packets(case["ball"], players, case["seconds"], declared)
    return hierarchy, sheet, [arrival(packet) for packet in packets]


def in_disorder(arrivals: list[Arrival], seed: int) -> Iterator[tuple[int, list[Arrival]]]:
    """Slots of arrival time with what came in each."""
    rng = random.Random(seed)
    came: list[tuple[int, int, Arrival]] = []
    for number, one in enumerate(arrivals):
        most_us = BALL_DELAY_MOST_US if one.event.kind == "raw.ball" else DELAY_MOST_US
        for _ in range(1 + (rng.random() < DOUBLED_SHARE)):
            came.append((one.until_us + rng.randint(0, most_us), number, one))
    came.sort(key=lambda row: row[:2])
    for slot, rows in groupby(came, key=lambda row: row[0] // SLOT_US):
        yield (slot + 1) * SLOT_US, [row[2] for row in rows]


def played(case: dict[str, Any], quality: str, recording: Recording) -> tuple[list[Event], list[Event], Hierarchy, Any]:
    """What the engine says in the end, and what it should."""
    hierarchy, sheet, arrivals = scene(case, quality)
    seed = len(case["name"])
    settings = EngineSettings(UnitSettings(FixedAlpha(0.0), WAYS[seed % 3]), memory_us=1_000_000)
    engine = Engine(hierarchy, settings, make_unit=recording.unit)
    updates = []
    for now_us, slot in in_disorder(arrivals, seed):
        updates += engine.push(slot, now_us).updates
    updates += engine.finish().updates
    assert not engine.take_lost()
    assert engine.health().failed == {}
    found = sorted(consolidate(updates).values(), key=lambda e: canonical_key(e, hierarchy.rank))
    return found, published(hierarchy, [one.event for one in arrivals]), hierarchy, sheet


def wrong_margins(recording: Recording, sheet: Any) -> list[str]:
    """Margins of recorded events that would not have let them through."""
    known = {name: versions[-1].told for name, versions in recording.found.items()}
    wrong = []
    for name, versions in recording.found.items():
        for c in versions:
            evidence = Evidence(c.told, c.by, c.before, c.detector.spec, known.get, sheet)
            wrong += [f"{name}: {m}" for m in margins(evidence) if m.margin < -ROUNDING]
    return wrong


def cases() -> Iterator[Any]:
    """Every second on optical input, every eighth on radio; the others are slow, to keep the rest short."""
    for number, case in enumerate(CASES):
        for quality in case["inputs"]:
            slow = number % (8 if quality == "rtls" else 2)
            yield pytest.param(case, quality, id=f"{case['name']} ({quality})", marks=pytest.mark.slow if slow else ())


@pytest.mark.parametrize(("case", "quality"), list(cases()))
def test_a_transcript_in_disorder_says_what_the_sorted_one_does(case: dict[str, Any], quality: str) -> None:
    recording = Recording(lambda event: bool(event.id))
    found, expected, hierarchy, sheet = played(case, quality, recording)
    assert found == expected
    plain = [kind for kind in case["look_at"] if kind not in hierarchy.internal | hierarchy.amendable]
    told = stage.lines(found, *plain)
    assert sorted(told) == sorted(tuple(row) for row in case["expect"] if row[0] in plain)
    assert wrong_margins(recording, sheet) == []
