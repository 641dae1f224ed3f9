"""The labelled clip: what was measured once must not be lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.opta_clip import Mark, match, score


def test_passes_shot_and_possession_agree_with_the_labels(shared_data: Path) -> None:
    figures, lines = score(shared_data / "opta_tracab_clip")
    assert figures["f1"] >= 0.85, "\n".join(lines)
    assert figures["shots_found"] == 1
    assert figures["possession_agreement"] >= 0.92
    assert figures["outcome_agreement"] >= 0.85


def test_the_match_is_one_to_one_in_order_and_by_player() -> None:
    labels = [Mark(0, "a", True), Mark(500, "a", True), Mark(3000, "b", False)]
    assert match(labels, [Mark(400, "a", None)]) in ([(0, 0)], [(1, 0)])
    assert match(labels, [Mark(400, "a", None), Mark(900, "a", None), Mark(4001, "b", None)]) == [(0, 0), (1, 1)]
    assert match(labels, [Mark(100, "b", None)]) == []
    assert match(labels, []) == []


@pytest.mark.parametrize("late_ms", [0, 999, 1000])
def test_a_second_is_the_tolerance(late_ms: float) -> None:
    assert match([Mark(0, "a", True)], [Mark(late_ms, "a", None)]) == [(0, 0)]
    assert match([Mark(0, "a", True)], [Mark(late_ms + 1001, "a", None)]) == []
