"""One-to-one matching of truths with detections: as many pairs as possible, with the least total time error.

Theory of operation
-------------------
A truth and a detection may pair if they lie within a window and agree on the actor. That makes a sparse bipartite
graph: in 90 minutes there are thousands of touches, but within a fifth of a second of one only a few others. Each
truth gets an additional edge to a private dummy that costs more than all real edges together, so that a full
assignment of least cost (Jonker-Volgenant on sparse graphs, scipy) exists, and uses as few dummies as possible.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, min_weight_full_bipartite_matching

from football.packet_table import Ints

#: Indexes of truths and of finds, of equal length.
Pairs = tuple[Ints, Ints]

#: Truths solved together, about.
GROUP = 200


def within(truth_us: Ints, found_us: Ints, window_us: int) -> Pairs:
    """Return all pairs at most ``window_us`` apart. Times in any order.

    >>> [i.tolist() for i in within(np.array([0, 10]), np.array([12, 4]), 4)]
    [[0, 1], [1, 0]]
    """
    order = np.argsort(found_us, kind="stable")
    times = found_us[order]
    low = np.searchsorted(times, truth_us - window_us, "left")
    count = np.searchsorted(times, truth_us + window_us, "right") - low
    rows = np.repeat(np.arange(len(truth_us)), count)
    offsets = np.arange(len(rows)) - np.repeat(np.cumsum(count) - count, count)
    return rows, order[np.repeat(low, count) + offsets]


def assign(edges: Pairs, cost: Ints, truths: int, finds: int) -> Pairs:
    """Return the largest one-to-one choice of edges, and among the largest one of least total cost.

    Args:
        edges: pairs that are allowed, each at most once.
        cost: of each edge, not negative.
        truths, finds: their numbers.
    """
    rows, cols = edges
    if not len(rows):
        return rows, cols
    assert cost.min() >= 0, "a cost is not negative"
    group = _groups(edges, truths, finds)
    order = np.argsort(group, kind="stable")
    cuts = np.flatnonzero(np.diff(group[order])) + 1
    chosen = [_solve(rows[part], cols[part], cost[part]) for part in np.split(order, cuts)]
    return np.concatenate([c[0] for c in chosen]), np.concatenate([c[1] for c in chosen])


def _groups(edges: Pairs, truths: int, finds: int) -> Ints:
    """Return for each edge the group that it is solved in: whole connected parts, some hundred truths together.

    The solver's time grows with the square of the truths, its overhead with the number of calls.
    """
    rows, cols = edges
    graph = csr_array((np.ones(len(rows)), (rows, truths + cols)), shape=(truths + finds,) * 2)
    part = connected_components(graph, directed=False)[1][:truths]
    sizes = np.cumsum(np.bincount(part))
    return np.asarray((sizes // GROUP)[part[rows]], np.int64)


def _solve(rows: Ints, cols: Ints, cost: Ints) -> Pairs:
    """Solve one group, by its own numbers."""
    row_names, row = np.unique(rows, return_inverse=True)
    col_names, col = np.unique(cols, return_inverse=True)
    truths, finds = len(row_names), len(col_names)
    # scipy takes an explicit zero for a missing edge.
    real = cost.astype(np.float64) + 1.0
    dummy = np.arange(truths)
    data = np.concatenate([real, np.full(truths, (real.max() + 1.0) * truths)])
    at = np.concatenate([row, dummy]), np.concatenate([col, finds + dummy])
    graph = csr_array((data, at), shape=(truths, finds + truths))
    chosen_rows, chosen_cols = min_weight_full_bipartite_matching(graph)
    paired = chosen_cols < finds
    return np.asarray(row_names[chosen_rows[paired]]), np.asarray(col_names[chosen_cols[paired]])
