"""Figures of the health strip."""

from __future__ import annotations

from typing import get_args, get_type_hints

import msgspec
import pytest

from dashboard.demo import demo_event
from dashboard.feed import InputState
from dashboard.strip import DetectionLatency, Table, percentiles_ms, strip_tables, watermark_sentence
from football.update_stream import Health, UpdateRecord, WatermarkHold
from middleware.sources.final_limit import HoldReason

HEALTH = Health(
    clk_us=10_000_000, frontier_us=9_000_000, slack_us={"shot": 181_000, "near": 45_000, "pass": 912_000},
    alpha={"shot": 0.35, "pass": 0.2}, buffered=1_412, held=7, late=3, retractions=5, lost=1, duplicates=9,
    differing_copies=4, quarantined=2, positions=1_234_567, lag_us={"shot": 63_000, "pass": 182_400},
    work_shares={"near": 0.612, "pass": 0.0312},
)  # fmt: skip


def cells(tables: list[Table], title: str) -> dict[str, tuple[str, ...]]:
    return {row[0]: row[1:] for table in tables if table.title == title for row in table.rows}


def test_the_strip_shows_every_counter_of_the_health():
    tables = strip_tables(HEALTH, {}, {}, now_us=10_500_000, frontier_us=9_000_000, withdrawn=2)
    assert cells(tables, "Ordering") == {
        "watermark lag": ("1.50 s",), "buffered inputs": ("1,412",), "held for repair": ("7",), "late": ("3",),
        "positions": ("1,234,567",),
    }  # fmt: skip
    assert cells(tables, "Repairs and losses") == {
        "retractions": ("5, 2 of shown kinds",), "duplicates": ("9",), "quarantined": ("2",), "lost": ("1, 4 differ",),
        "failed detectors": ("none",),
    }  # fmt: skip


def test_a_failed_detector_is_named():
    failed = msgspec.structs.replace(HEALTH, failed={"near_ball": "KeyError: 'x'"})
    assert cells(strip_tables(failed, {}, {}, 0, 0), "Repairs and losses")["failed detectors"] == ("near_ball",)


def test_how_far_behind_the_live_edge_we_are_comes_first_with_what_is_wrong():
    state = InputState(12.345, 1_234, 0.5, 2, ("no data for 12 s", "the store is failing: disk full"))
    tables = strip_tables(HEALTH, {}, {}, 0, 0, state)
    assert tables[0].title == "Live edge"
    assert cells(tables, "Live edge") == {
        "condition": ("no data for 12 s; the store is failing: disk full",), "behind": ("12.35 s",),
        "records behind": ("1,234",), "speed": ("0.50 x",), "engine restarts": ("2",),
    }  # fmt: skip
    unknown = cells(strip_tables(None, {}, {}, 0, 0, InputState(None, None, None, 0, ())), "Live edge")
    assert unknown == {
        "condition": ("running",), "behind": ("–",), "records behind": ("–",), "speed": ("–",),
        "engine restarts": ("0",),
    }  # fmt: skip
    assert "Live edge" not in {table.title for table in strip_tables(HEALTH, {}, {}, 0, 0)}


def test_units_with_the_greatest_slack_come_first_with_their_alpha_lag_and_cost():
    tables = strip_tables(HEALTH, {}, {}, 0, 0)
    assert list(cells(tables, "Units").items()) == [
        ("pass", ("912", "0.20", "182", "3.1%")), ("shot", ("181", "0.35", "63", "0.0%")),
        ("near", ("45", "–", "0.0", "61.2%")),
    ]  # fmt: skip
    many = msgspec.structs.replace(HEALTH, slack_us={f"unit {number}": number for number in range(160)})
    assert len(cells(strip_tables(many, {}, {}, 0, 0), "Units")) == 160, "each one, to be scrolled through"
    assert len(cells(strip_tables(many, {}, {}, 0, 0, all_units=False), "Units")) == 5, "the strip is not shown"
    unmeasured = strip_tables(msgspec.structs.replace(HEALTH, work_shares={}), {}, {}, 0, 0)
    assert {row[-1] for row in cells(unmeasured, "Units").values()} == {"–"}


@pytest.mark.parametrize(
    ("hold", "sentence"),
    [
        (WatermarkHold("source", "home_7.left_foot", 800_000, 7_100_000),
         "The watermark waits for home_7.left_foot, silent for 0.8 s; it waits 7.1 s at most."),
        (WatermarkHold("source", "ball.1", 20_000, 7_100_000), "The watermark follows the slowest source, ball.1."),
        (WatermarkHold("gap", "ball.1", 20_000, 3_000_000),
         "The watermark waits for a packet of ball.1, missing for 0.0 s; it waits 3.0 s at most."),
        (WatermarkHold("none"), "No source is waited for: the watermark stands where the input does."),
        (None, ""),
    ],
)  # fmt: skip
def test_one_sentence_says_why_the_watermark_stands_still(hold: WatermarkHold | None, sentence: str):
    assert watermark_sentence(msgspec.structs.replace(HEALTH, hold=hold)) == sentence


def test_every_reason_has_a_sentence():
    reasons = get_args(get_type_hints(WatermarkHold)["reason"])
    assert set(reasons) == set(get_args(HoldReason))
    sentences = [
        watermark_sentence(msgspec.structs.replace(HEALTH, hold=WatermarkHold(r, "p", 10**6))) for r in reasons
    ]
    assert len(set(sentences)) == len(reasons)


def test_what_is_not_known_is_not_shown_as_zero():
    tables = strip_tables(None, {}, {}, 0, -(2**62))
    assert cells(tables, "Ordering")["late"] == ("–",)
    assert cells(tables, "Ordering")["watermark lag"] == ("–",)
    assert cells(strip_tables(HEALTH, {}, {}, 0, -(2**62)), "Ordering")["watermark lag"] == ("–",)
    assert cells(strip_tables(None, {"lane": {"p50": float("nan")}}, {}, 0, 0), "Pipeline, ms") == {
        "lane": ("–", "–", "–")
    }


def test_percentiles_are_values_that_occurred():
    assert percentiles_ms(range(1_000, 101_000, 1_000)) == {"p50": 50.0, "p95": 95.0, "p99": 99.0}
    assert percentiles_ms([7_000]) == {"p50": 7.0, "p95": 7.0, "p99": 7.0}


def test_detection_latency_counts_an_event_once_at_its_first_assertion():
    event = demo_event("pass.attempt", 1_000_000, "ball:1")
    better = msgspec.structs.replace(event, x_m=1.0)
    latency = DetectionLatency()
    latency.apply(
        [
            UpdateRecord(0, 1, 1_250_000, event),
            UpdateRecord(1, -1, 1_900_000, event),
            UpdateRecord(2, 1, 1_900_000, better),
            UpdateRecord(3, 1, 1_900_000, demo_event("area.enter", 1_000_000, "ball:1")),
        ]
    )
    assert latency.percentiles_ms() == {"pass": {"p50": 250.0, "p95": 250.0, "p99": 250.0}}
