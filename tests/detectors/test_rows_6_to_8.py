"""The types column of the hierarchy document for actions, outcomes and qualifiers (levels 6 to 8, tier M)."""

from __future__ import annotations

import pytest

from detectors.catalogue import catalogue

#: Row -> how many types it has: kind x enumeration x team; 7.6 with a dribble, 8.8 with carries apart are ours.
SIZES = {
    "6.1": 6, "6.2": 4, "6.3": 4, "6.5": 8, "6.6": 2, "6.7": 2, "6.8": 4, "6.9": 3, "6.10": 4, "6.11": 1,
    "7.1": 4 + 6, "7.2": 8, "7.4": 2, "7.5": 4, "7.6": 2 + 4 + 2, "7.8": 4, "7.9": 2, "7.10": 2, "7.12": 4, "7.13": 4,
    "7.14": 8, "7.15": 4,
    "8.1": 8, "8.2": 6, "8.3": 6, "8.4": 8, "8.5": 2, "8.6": 2, "8.7": 4, "8.8": 8 + 8, "8.9": 18, "8.10": 8,
    "8.11": 6, "8.12": 6,
}  # fmt: skip
#: Rows that another one's detector covers; their types are counted there.
COVERED = {"7.3": "7.1", "7.7": "7.6"}

ENTRIES = {entry.number: entry for entry in catalogue()}


@pytest.mark.parametrize("number", SIZES)
def test_a_row_has_the_types_that_the_document_counts(number: str) -> None:
    assert sum(t.count for t in ENTRIES[number].types if not t.internal) == SIZES[number]


def test_no_row_is_missing() -> None:
    rows = [f"6.{n}" for n in range(1, 12)] + [f"7.{n}" for n in range(1, 16)] + [f"8.{n}" for n in range(1, 13)]
    there = {*ENTRIES, *COVERED}
    assert not [row for row in rows if row not in there]
    for row, by in COVERED.items():
        assert row in ENTRIES[by].covers
