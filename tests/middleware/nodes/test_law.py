"""The law over several nodes, with moves, crashes, partitions, lost frames and slow nodes, in virtual time.

A seed that fails is replayed by ``python -m tests.middleware.nodes.test_law SEED...``.
"""

from __future__ import annotations

import dataclasses
import sys
from collections import Counter

import pytest

from middleware.nodes.inbox import Inbox, Received
from middleware.nodes.move_records import MoveSettings
from middleware.nodes.moves import Moves
from middleware.nodes.part import PartBase
from middleware.nodes.simulation import SimulationError
from tests.middleware.nodes.scenarios import check_seed, play, some_case

#: Seeds of every run, and those of the slow tests by the block.
SEEDS = 24
BLOCKS, SEEDS_IN_BLOCK = 10, 100


def test_oracle_some_simulated_matches_over_several_nodes():
    happened: Counter[str] = Counter()
    for seed in range(SEEDS):
        outcome = check_seed(seed)
        happened.update({note.what for note in outcome.notes})
        happened["lost frames"] += any(counts.resent for counts in outcome.links.values())
        happened["forwarded"] += outcome.forwarded > 0
        happened["echoes"] += outcome.echoes > 0
        happened["restored"] += outcome.commits > 0 and outcome.restarts > 0
        happened["held"] += outcome.paused_us > 0
    expected = ("took over", "settled", "forwarding ended", "lost frames", "forwarded", "echoes", "restored", "held")
    assert all(happened[what] > 1 for what in expected), f"the scenarios are too tame: {happened}"


@pytest.mark.slow
@pytest.mark.parametrize("block", range(BLOCKS))
def test_oracle_a_thousand_simulated_matches_over_several_nodes(block: int):
    for seed in range(SEEDS + block * SEEDS_IN_BLOCK, SEEDS + (block + 1) * SEEDS_IN_BLOCK):
        check_seed(seed)


def test_a_case_of_a_seed_is_played_alike_again():
    assert play(some_case(3), 3).log == play(some_case(3), 3).log


def _fails(seeds: range, *, prepares: bool = True) -> int:
    """Count cases that fail; without preparation the new node depends on what the old one forwards."""
    failed = 0
    for seed in seeds:
        case = some_case(seed)
        if not prepares:
            moving = MoveSettings(lead_us=0, prepares=False)
            case = case._replace(scenario=dataclasses.replace(case.scenario, moving=moving))
        try:
            play(case, seed)
        except (AssertionError, SimulationError):
            failed += 1
    return failed


def test_the_simulations_find_items_that_are_not_put_into_order(monkeypatch: pytest.MonkeyPatch):
    def offer(self: Inbox, received: Received) -> list[Received]:
        self.next_seq = max(self.next_seq or 0, received.item.seq + 1)
        return [received]

    monkeypatch.setattr(Inbox, "offer", offer)
    assert _fails(range(16)) > 1


def test_the_simulations_find_a_node_that_forwards_nothing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Moves, "_forward", lambda self, name, out: None)
    assert _fails(range(16), prepares=False) > 1


def test_the_simulations_find_a_part_that_forgets_too_much(monkeypatch: pytest.MonkeyPatch):
    """A part that takes the newest statement of any channel for that of all loses what is late on the others."""
    monkeypatch.setattr(PartBase, "covered", lambda self: max((i.reached for i in self.inboxes.values()), default=0))
    assert _fails(range(16)) > 1


if __name__ == "__main__":
    for given_seed in sys.argv[1:]:
        check_seed(int(given_seed))
        print(f"seed {given_seed}: nothing found")
