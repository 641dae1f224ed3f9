"""Greedy placement: detectors packed one by one, and moves that make an allocation cheaper."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from middleware.placement.graph import Floats, Ints, Problem

#: Exchanges whose critical path is computed, those that save most otherwise.
_EXCHANGES = 512


def packed(problem: Problem, random: np.random.Generator, choices: Sequence[Ints]) -> Ints | None:
    """A random allocation that fits, the largest loads first; None if a detector finds no room.

    Args:
        problem: what to place.
        random: chooses among the nodes with room.
        choices: nodes that each detector may run on.
    """
    free = problem.room.copy()
    order = np.argsort(-problem.cpu * random.uniform(0.8, 1.25, len(problem.cpu)))
    row: Ints = np.zeros(len(problem.cpu), np.int64)
    fullest_first = random.random() < 0.5
    for detector in order.tolist():
        nodes = choices[detector]
        nodes = nodes[free[nodes] >= problem.cpu[detector]]
        if not len(nodes):
            return None
        node = int(nodes[free[nodes].argmin()]) if fullest_first else int(random.choice(nodes))
        row[detector] = node
        free[node] -= problem.cpu[detector]
    return row


def greedy(problem: Problem) -> Ints | None:
    """Place the detectors in order of their load, each where it costs least now; None if one finds no room."""
    free = problem.room.copy()
    row: Ints = np.full(len(problem.cpu), -1, np.int64)
    for detector in np.argsort(-problem.cpu, kind="stable").tolist():
        costs = costs_by_node(problem, row)[detector]
        costs[(free < problem.cpu[detector]) | ~problem.allowed[detector]] = np.inf
        if not np.isfinite(costs).any():
            return None
        node = int(costs.argmin())
        row[detector] = node
        free[node] -= problem.cpu[detector]
    return row


def descend(problem: Problem, allocation: Ints) -> Ints:
    """Make the best move of a detector, or exchange of two, again and again until none makes it cheaper."""
    row = allocation.copy()
    free = problem.room - np.bincount(row, problem.cpu, len(problem.nodes))
    least = 1e-9 * (1.0 + float(problem.crossing.sum()))
    while _moved(problem, row, free, least) or _exchanged(problem, row, free, least):
        pass
    return row


def costs_by_node(problem: Problem, row: Ints) -> Floats:
    """(detectors, nodes): what a detector's subscriptions cost there, with the others where they are; -1 is nowhere."""
    at = (row[:, None] == np.arange(len(problem.nodes))).astype(np.float64)
    both = problem.crossing + problem.crossing.T
    crossing = (both @ at).sum(axis=1, keepdims=True) - both @ at
    latency = problem.links @ at @ problem.latency.T + problem.links.T @ at @ problem.latency
    return np.asarray(crossing + latency)


def _moved(problem: Problem, row: Ints, free: Floats, least: float) -> bool:
    """Move the detector to the node where that saves most, if it saves anything; True if one has moved."""
    costs = costs_by_node(problem, row)
    savings = costs[np.arange(len(row)), row][:, None] - costs
    if problem.awaited:
        moved = np.repeat(row[None], savings.size, axis=0)
        moved[np.arange(savings.size), np.repeat(np.arange(len(row)), savings.shape[1])] = np.tile(
            np.arange(savings.shape[1]), len(row)
        )
        savings += problem.waiting(row[None])[0] - problem.waiting(moved).reshape(savings.shape)
    savings[(free < problem.cpu[:, None]) | ~problem.allowed] = -np.inf
    detector, node = divmod(int(savings.argmax()), len(problem.nodes))
    if savings[detector, node] <= least:
        return False
    free[row[detector]] += problem.cpu[detector]
    free[node] -= problem.cpu[detector]
    row[detector] = node
    return True


def _exchanged(problem: Problem, row: Ints, free: Floats, least: float) -> bool:
    """Exchange the nodes of the two detectors for which that saves most, if it does; True if two were exchanged."""
    costs, cpu = costs_by_node(problem, row), problem.cpu
    now = costs[np.arange(len(row)), row]
    there = costs[:, row]  # of each detector, on the node of each other one
    both, latency = problem.crossing + problem.crossing.T, problem.latency[np.ix_(row, row)]
    # What two of them send each other crosses before and after; ``there`` takes it for local.
    mutual = 2.0 * both + (problem.links + problem.links.T) * (latency + latency.T)
    savings = now[:, None] + now[None] - there - there.T - mutual
    more = cpu[None] - cpu[:, None]  # what the node of the first gets more
    fits = (free[row][:, None] >= more) & (free[row][None] >= -more) & (row[:, None] != row[None])
    fits &= problem.allowed[:, row] & problem.allowed[:, row].T
    if problem.awaited:
        pairs = np.argwhere(np.triu(fits))
        pairs = pairs[np.argsort(-savings[pairs[:, 0], pairs[:, 1]], kind="stable")[:_EXCHANGES]]
        ones, twos = pairs.T
        swapped, at = np.repeat(row[None], len(pairs), axis=0), np.arange(len(pairs))
        swapped[at, ones], swapped[at, twos] = row[twos], row[ones]
        tried = savings[ones, twos] + problem.waiting(row[None])[0] - problem.waiting(swapped)
        savings = np.full_like(savings, -np.inf)
        savings[ones, twos] = tried
    savings[~fits] = -np.inf
    one, two = divmod(int(savings.argmax()), len(row))
    if savings[one, two] <= least:
        return False
    free[row[one]] -= more[one, two]
    free[row[two]] += more[one, two]
    row[one], row[two] = row[two], row[one]
    return True
