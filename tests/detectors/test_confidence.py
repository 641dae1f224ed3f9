"""Calibrated confidence: which row applies, what the shipped table may hold, and that records carry it."""

from __future__ import annotations

from random import Random

import pytest

from bench.confidence import PART_MIN, SAMPLES_MIN, Sample, brier, learned, reliability, renewed, written
from detectors.catalogue import build_detectors, catalogue
from detectors.confidence import (
    OPTICAL,
    OPTICAL_FLAT,
    RADIO,
    TABLE,
    Calibration,
    Row,
    calibration,
    condition,
    input_of,
    read_table,
)
from detectors.emission import make_event
from detectors.parameters import Parameters
from detectors.records import RecordMaker
from football.match_sheet import Quality
from football.payloads import EventPayload
from tests.detectors import stage

SLOW = EventPayload("long", confidence=0.5, detail={"speed_m_s": 5.0, "final": False})
FAST = EventPayload("short", confidence=1.0, detail={"speed_m_s": 15.0, "final": True})


@pytest.mark.parametrize(
    ("text", "slow", "fast"),
    [
        ("speed_m_s < 10", True, False),
        ("speed_m_s >= 15", False, True),
        ("variant = long", True, False),
        ("confidence < 0.9", True, False),
        ("final >= 1", False, True),
        ("unknown < 3", False, False),
    ],
)
def test_a_condition_reads_a_circumstance_of_the_event(text: str, slow: bool, fast: bool) -> None:
    holds = condition(text)
    assert (holds(SLOW), holds(FAST)) == (slow, fast)


@pytest.mark.parametrize("text", ["", "speed_m_s", "speed_m_s > 3", "speed_m_s < fast", "a < 1 and b < 2"])
def test_what_is_no_condition_is_refused_by_its_text(text: str) -> None:
    with pytest.raises(ValueError, match=r"condition|float"):
        condition(text)


def test_the_first_row_that_applies_decides_and_without_one_the_rule() -> None:
    table = Calibration(
        [
            Row("pass.attempt", OPTICAL, 0.6, 50, ("speed_m_s < 10",)),
            Row("pass.attempt", OPTICAL, 0.9, 50),
            Row("hit", OPTICAL, 0.8, 50, ("speed_m_s < 10",)),
        ]
    )
    optical = table.of(OPTICAL)
    assert optical.confidence("pass.attempt", SLOW) == 0.6
    assert optical.confidence("pass.attempt", FAST) == 0.9
    assert optical.confidence("hit", FAST) == 1.0
    assert table.of(RADIO).confidence("pass.attempt", SLOW) == 0.5


def test_inputs_are_told_apart_by_kind_and_height() -> None:
    assert input_of(Quality(kind="rtls", ball_height=False)) == RADIO
    assert input_of(Quality(ball_height=True)) == OPTICAL
    assert input_of(Quality(ball_height=False)) == OPTICAL_FLAT


def test_the_shipped_table_speaks_of_published_kinds_and_of_enough_samples() -> None:
    kinds = {kind for entry in catalogue(Parameters()) for kind in entry.outputs}
    rows = calibration().rows
    assert {row.kind for row in rows} <= kinds
    assert {row.tracking for row in rows} == {RADIO, OPTICAL, OPTICAL_FLAT}
    assert all(0.0 < row.chance < 1.0 and row.samples >= min(SAMPLES_MIN, PART_MIN) for row in rows)
    assert read_table(written(rows)) == rows
    assert TABLE.read_text("utf-8") == written(rows), "written by bench.confidence --learn, not by hand"


def test_a_record_carries_the_calibrated_confidence_and_is_the_same_at_any_time() -> None:
    sheet = stage.sheet(["home_1", "away_1"], Quality())
    maker = RecordMaker(build_detectors(sheet), sheet)
    event = make_event("pass.attempt", 7, "ball:5", EventPayload("", "home", "home_1", 1.0, 2.0))
    record = maker.record(event)
    assert record == maker.record(event) == RecordMaker(build_detectors(sheet), sheet).record(event)
    assert record.confidence == calibration().of(OPTICAL).confidence("pass.attempt", EventPayload())
    assert 0.5 < record.confidence < 1.0


def sampled(rng: Random, count: int) -> list[Sample]:
    """Passes of which nine in ten stand if they are fast, and every second one if they are slow."""
    made = []
    for at in range(count):
        speed_m_s = rng.uniform(2.0, 20.0)
        good = rng.random() < (0.9 if speed_m_s >= 8.0 else 0.5)
        detail = {"speed_m_s": speed_m_s, "angle_deg": rng.uniform(0, 180), "kicked_us": rng.randrange(10**9)}
        made.append(Sample("pass.attempt", OPTICAL, EventPayload(detail=detail), good, at % 5))
    return made


@pytest.mark.parametrize("seed", range(5))
def test_learning_finds_the_circumstance_that_matters_and_is_right_on_other_samples(seed: int) -> None:
    rows = learned(sampled(Random(f"learn {seed}"), 1_500))
    assert [row.where[0].split()[0] for row in rows if row.where], f"seed {seed}: no part found"
    others, table = sampled(Random(f"judge {seed}"), 1_500), Calibration(rows)
    scores = brier(others, table)
    assert scores["calibrated"] < scores["always_1"], f"seed {seed}"
    low, *_, high = reliability(others, table)
    assert low["good"] == pytest.approx(low["confidence"], abs=0.1), f"seed {seed}"
    assert high["good"] == pytest.approx(high["confidence"], abs=0.05), f"seed {seed}"
    assert not any("kicked_us" in where for row in rows for where in row.where), "an instant is no circumstance"


def test_too_few_samples_give_no_row() -> None:
    assert learned(sampled(Random(1), SAMPLES_MIN - 1)) == []


def test_what_holds_in_one_match_only_parts_nothing() -> None:
    """Twelve films of one match have its few fast passes twelve times."""
    made = [
        Sample("pass.attempt", OPTICAL, EventPayload(detail={"speed_m_s": speed}), good, match)
        for match in range(5)
        for speed, good in ((5.0, True), (5.0, False), (15.0, match == 0), (15.0, match == 0))
        for _ in range(12)
    ]
    assert [row.where for row in learned(made)] == [()]
    assert learned([sample for sample in made if sample.match < 2]) == []


def test_rows_of_an_input_that_was_not_counted_stay() -> None:
    before = [
        Row("hit", OPTICAL, 0.7, 40, ("speed_m_s < 10",)),
        Row("hit", OPTICAL, 0.9, 40),
        Row("hit", RADIO, 0.8, 50),
    ]
    counted = [Row("pass.attempt", OPTICAL, 0.6, 60), Row("hit", OPTICAL, 0.5, 60)]
    assert renewed(before, counted) == [counted[1], before[2], counted[0]]
