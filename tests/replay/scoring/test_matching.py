"""Matching against trying everything out."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from replay.scoring import matching
from replay.scoring.matching import assign, within

TIMES = st.lists(st.integers(0, 30), max_size=5)


def best(truths: list[int], finds: list[int], window: int, forbidden: set[tuple[int, int]]) -> tuple[int, int]:
    """(pairs, total error) of the best matching, by trying all."""
    for size in range(min(len(truths), len(finds)), 0, -1):
        errors = [
            sum(abs(truths[i] - finds[j]) for i, j in zip(rows, cols, strict=True))
            for rows in combinations(range(len(truths)), size)
            for cols in permutations(range(len(finds)), size)
            if all(abs(truths[i] - finds[j]) <= window for i, j in zip(rows, cols, strict=True))
            and not forbidden & set(zip(rows, cols, strict=True))
        ]
        if errors:
            return size, min(errors)
    return 0, 0


@given(TIMES, TIMES, st.integers(0, 12), st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=8))
def test_as_many_as_can_be_and_of_those_the_nearest(truths, finds, window, forbidden):
    rows, cols = within(np.array(truths, np.int64), np.array(finds, np.int64), window)
    allowed = np.array([(i, j) not in forbidden for i, j in zip(rows.tolist(), cols.tolist(), strict=True)], bool)
    rows, cols = rows[allowed], cols[allowed]
    cost = np.abs(np.array(truths, np.int64)[rows] - np.array(finds, np.int64)[cols])
    pairs = assign((rows, cols), cost, len(truths), len(finds))
    chosen = list(zip(*(side.tolist() for side in pairs), strict=True))
    assert len({i for i, _ in chosen}) == len({j for _, j in chosen}) == len(chosen)
    assert set(chosen) <= set(zip(rows.tolist(), cols.tolist(), strict=True))
    assert (len(chosen), sum(abs(truths[i] - finds[j]) for i, j in chosen)) == best(truths, finds, window, forbidden)


@given(TIMES, TIMES, st.integers(0, 12))
def test_all_pairs_within_the_window_and_no_other(truths, finds, window):
    rows, cols = within(np.array(truths, np.int64), np.array(finds, np.int64), window)
    expected = {(i, j) for i, t in enumerate(truths) for j, f in enumerate(finds) if abs(t - f) <= window}
    found = list(zip(rows.tolist(), cols.tolist(), strict=True))
    assert len(found) == len(expected)
    assert set(found) == expected


def test_the_size_of_groups_changes_nothing(monkeypatch):
    rng = np.random.default_rng(7)
    truths, finds = (np.sort(rng.integers(0, 60_000, 400)) for _ in range(2))
    edges = within(truths, finds, 200)
    cost = np.abs(truths[edges[0]] - finds[edges[1]])
    totals = []
    for group in (1, 30, 10_000):
        monkeypatch.setattr(matching, "GROUP", group)
        rows, cols = assign(edges, cost, len(truths), len(finds))
        totals.append((len(rows), int(np.abs(truths[rows] - finds[cols]).sum())))
    assert totals[0] == totals[1] == totals[2]
