"""Reaction and arrival of a camera at events, and the path that it wastes on withdrawn ones."""

from __future__ import annotations

import pytest

from camera.event_scores import WATCHED_MAX, EventScores
from camera.head import Pose
from camera.interest import Cause
from camera.mount import Mount
from football.update_stream import EventRecord, UpdateRecord

MOUNT = Mount()
#: A subject at 28 degrees to the right.
SUBJECT = (40.0, 0.0)


def cause(event_id: str = "a", ts_us: int = 0) -> Cause:
    return Cause(event_id, "out", ts_us, "ball out", 1.0, *SUBJECT)


def update(diff: int, event_id: str = "a") -> UpdateRecord:
    return UpdateRecord(0, diff, 0, EventRecord(event_id, "out", "", 6, 0, "", "", *SUBJECT, None, 1.0))


def turned(scores: EventScores, event_id: str = "a", from_tick: int = 0, speed_deg_s: float = 10.0) -> None:
    """Stands still for a second, then turns towards the subject for three."""
    tilt_deg = MOUNT.aim(*SUBJECT)[1]
    for tick in range(from_tick, from_tick + 200):
        pan_deg = speed_deg_s * max(0, tick - from_tick - 50) * 0.02
        scores.tick(tick * 20_000, Pose(pan_deg, tilt_deg, 20.0), (cause(event_id),), 0.02)


def test_reaction_and_arrival_count_from_the_event() -> None:
    scores = EventScores(MOUNT, 16 / 9)
    turned(scores)
    figures = scores.figures()
    assert figures["reaction_p50_ms"] == pytest.approx(1_020, abs=20)
    assert figures["arrival_p50_ms"] == pytest.approx(1_000 + (28.4 - 9) * 100, abs=150)
    assert figures["wasted_deg_per_min"] == 0.0


def test_a_subject_that_is_in_the_picture_from_the_beginning_has_no_times() -> None:
    scores = EventScores(MOUNT, 16 / 9)
    for tick in range(50):
        scores.tick(tick * 20_000, Pose(*MOUNT.aim(*SUBJECT), 20.0), (cause(),), 0.02)
    assert "reaction_p50_ms" not in scores.figures()


def test_the_path_towards_a_withdrawn_event_is_wasted_unless_it_is_asserted_again() -> None:
    scores = EventScores(MOUNT, 16 / 9)
    turned(scores)
    scores.take_update(update(-1))
    figures = scores.figures()
    assert figures["wasted_deg_per_min"] == pytest.approx(28.4 * 15, rel=0.1)
    assert figures["wasted_share"] == pytest.approx(1.0, abs=0.1)
    assert figures["withdrawn_pulls"] == 1.0
    assert "arrival_p50_ms" not in figures
    scores.take_update(update(1))
    assert scores.figures()["wasted_deg_per_min"] == 0.0


def test_any_number_of_events_needs_bounded_memory_and_none_is_lost() -> None:
    scores = EventScores(MOUNT, 16 / 9)
    for number in range(2 * WATCHED_MAX):
        tilt_deg = MOUNT.aim(*SUBJECT)[1]
        for tick in range(3):
            scores.tick(tick * 20_000, Pose(float(tick), tilt_deg, 20.0), (cause(str(number)),), 0.02)
        scores.take_update(update(-1, str(number)))
    assert scores.figures()["withdrawn_pulls"] == 2 * WATCHED_MAX
