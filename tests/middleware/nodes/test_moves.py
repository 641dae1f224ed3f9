"""A move as in paper 002, section 5.2: K, misdetections, what is forwarded; against the classic ways."""

from __future__ import annotations

import pytest

from bench.nodes_move import WAYS, moved


@pytest.fixture(scope="module")
def figures():
    return {name: moved(way, 8.5, 0.0, 0) for name, way in WAYS.items() if name in ("ours", "K kept")}


def test_k_is_never_too_small_and_melts_to_what_the_direct_paths_need(figures):
    ours, _ = figures["ours"]
    before = max(k_us for _, node, k_us in ours.k_us if node == 2)
    after = [k_us for _, node, k_us in ours.k_us if node == 3]
    assert ours.late == 0
    assert after[0] == before + 25_000, "of height, whose direct path is not known: the forwarding delay"
    assert after[1] - before == pytest.approx(15_000, abs=100)


def test_the_classic_way_begins_with_the_old_k_and_fails(figures):
    kept, _ = figures["K kept"]
    before = max(k_us for _, node, k_us in kept.k_us if node == 2)
    assert next(k_us for _, node, k_us in kept.k_us if node == 3) == before
    assert kept.late > 0


def test_only_types_whose_direct_delay_is_not_known_are_forwarded(figures):
    _, outcome = figures["ours"]
    assert outcome.forwarded <= 1
    directs = {note.text for note in outcome.notes if note.what == "direct"}
    assert directs == {"near", "not_near", "peak"}
