"""How many events a second does the matcher of patterns take?

``python -m bench.patterns`` prints a table: patterns, strategies, windows, disorder, kinds, and numbers of patterns.
``--together`` prints what fifty patterns cost, as a multiple of one: fifty windows, fifty patterns over 26 kinds, fifty
with a common prefix, and fifty over three kinds, of which eighteen are different apart from their windows. One pattern
is the mean of ten of the fifty, measured in turn with all of them in one run.
Types are uniform, one event a millisecond; of disorder, a share of the events stands at a random earlier place, over
the whole stream. CPU time of one process for each case, events made before; the live set is checked against that of the
sorted stream. A case with more matches than the bound is refused, and the table says so. ``--json FILE`` writes what
was measured.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from app.base.garbage import collect_rarely
from detectors.patterns.language import parse
from detectors.patterns.matcher import Matcher
from detectors.patterns.search import TooManyMatchesError
from detectors.patterns.syntax import PatternEvent

STRUCTURES = {"ABC": "SEQ(a x, b y, c z)", "AB+C": "SEQ(a x, b+ y, c z)", "A+B+C": "SEQ(a+ x, b+ y, c z)"}


class Case(NamedTuple):
    """One row of the table."""

    name: str
    strategy: Any
    within: int
    kinds: int = 3
    disorder: float = 0.0
    events: int = 200_000
    patterns: int = 1


CASES = (
    *(Case(name, "stnm", within) for name in STRUCTURES for within in (10, 100, 1_000)),
    *(Case("AB+C", "stnm", within, kinds=26) for within in (10, 100)),
    Case("AB+C", "stnm-all", 10, events=50_000),
    *(Case(name, "stam", 10, events=50_000) for name in STRUCTURES),
    *(Case(name, "stam", 100, events=10_000) for name in ("AB+C", "A+B+C")),
    *(Case("A+B+C", "stam", 1_000, events=count) for count in (500, 1_000, 2_000, 4_000)),
    Case("A+B+C", "stam-all", 10, events=10_000),
    *(Case("A+B+C", "stam-all", within, events=1_000) for within in (20, 30, 100)),
    *(
        Case("AB+C", "stnm", within, disorder=share, events=100_000)
        for within in (10, 100, 1_000)
        for share in (0.2, 0.7)
    ),
    Case("AB+C", "stam", 10, disorder=0.7, events=50_000),
    *(Case("AB+C", "stnm", 10, patterns=count, events=50_000) for count in (5, 50)),
)  # fmt: skip


def stream(count: int, kinds: int, seed: int = 1) -> list[PatternEvent]:
    """Uniform kinds, one event a millisecond."""
    chance, names = random.Random(seed), "abcdefghijklmnopqrstuvwxyz"[:kinds]
    drawn = (chance.choice(names) for _ in range(count))
    return [PatternEvent(number * 1_000, (kind,), str(number), kind, {}) for number, kind in enumerate(drawn)]


def scattered(events: Sequence[PatternEvent], share: float, seed: int = 2) -> list[PatternEvent]:
    """The events in an order where a share of them stands at a random earlier place."""
    chance = random.Random(seed)
    places = [number if chance.random() >= share else chance.uniform(0, number) for number in range(len(events))]
    return [events[number] for number in sorted(range(len(events)), key=lambda number: (places[number], number))]


def matcher_of(case: Case) -> Matcher:
    """The matcher of a case; further patterns have windows of their own, one millisecond longer each."""
    texts = (f"PATTERN {STRUCTURES[case.name]} WITHIN {case.within + extra} ms" for extra in range(case.patterns))
    return Matcher([parse(text) for text in texts], case.strategy)


def measure(case: Case) -> dict[str, Any]:
    """CPU seconds, changes, standing matches, if the live set is that of the sorted stream, and peak memory.

    Of a case that the bound refuses, the reason.
    """
    collect_rarely()
    events = stream(case.events, case.kinds)
    arrivals = scattered(events, case.disorder) if case.disorder else events
    matcher, changes = matcher_of(case), 0
    begin = time.process_time()
    try:
        for event in arrivals:
            changes += len(matcher.push(event))
    except TooManyMatchesError as error:
        return {"refused": str(error), "peak_mb": _peak_mb()}
    took_s = time.process_time() - begin
    peak_mb = _peak_mb()
    live = {(number, tuple(event.id for event in match)) for number, match in matcher.matches()}
    agrees = True
    if case.disorder:
        ordered = matcher_of(case)
        for event in events:
            ordered.push(event)
        agrees = live == {(number, tuple(e.id for e in match)) for number, match in ordered.matches()}
    found = {"cpu_s": took_s, "changes": changes, "matches": len(live), "is_exact": agrees, "peak_mb": peak_mb}
    return {**found, "places": sum(len(ids) for _, ids in live)}


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def fifty(kinds: int, prefix: str = "") -> list[str]:
    """Fifty patterns of three steps each, of all structures, the kinds drawn; windows of 10 to 99 ms.

    Args:
        kinds: how many there are.
        prefix: the kinds of the first steps, which all share.
    """
    chance, found = random.Random(3), []
    names = [kind for kind in "abcdefghijklmnopqrstuvwxyz"[:kinds] if kind not in prefix]
    forms = (
        ["SEQ({} x, {}+ y, {} z)"]
        if prefix
        else ["SEQ({} x, {} y, {} z)", "SEQ({} x, {}+ y, {} z)", "SEQ({}+ x, {}+ y, {} z)"]
    )
    for number in range(50):
        drawn = [*prefix, *chance.sample(names, 3 - len(prefix))]
        within = 10 + number % 7 if kinds == 3 else chance.randrange(10, 100)
        found.append(f"PATTERN {forms[number % len(forms)].format(*drawn)} WITHIN {within} ms")
    return found


#: Fifty patterns by workload, and the number of kinds.
TOGETHER = {
    "windows": (3, [f"PATTERN {STRUCTURES['AB+C']} WITHIN {10 + extra} ms" for extra in range(50)]),
    "26 kinds": (26, fifty(26)),
    "prefix": (26, fifty(26, "ab")),
    "3 kinds": (3, fifty(3)),
}

#: Fifty patterns should cost no more than this many times one.
GOAL_TOGETHER = 10.0


def together(name: str, rounds: int = 3) -> tuple[float, float]:
    """CPU seconds of one pattern and of fifty, the least of some rounds in turn."""
    kinds, texts = TOGETHER[name]
    events = stream(20_000, kinds)
    ones, all_s = [9e9] * 10, 9e9
    for _ in range(rounds):
        ones = [min(before, _cost([text], events)) for before, text in zip(ones, texts[::5], strict=True)]
        all_s = min(all_s, _cost(texts, events))
    return sum(ones) / len(ones), all_s


def _cost(texts: Sequence[str], events: Sequence[PatternEvent]) -> float:
    matcher = Matcher([parse(text) for text in texts])
    begin = time.process_time()
    for event in events:
        matcher.push(event)
    return time.process_time() - begin


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="cases whose pattern is this one")
    parser.add_argument("--together", action="store_true", help="what fifty patterns cost, as a multiple of one")
    parser.add_argument("--json", type=Path, help="write what was measured to this file")
    parser.add_argument("--case", default="", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.case:
        print(json.dumps(measure(Case(*json.loads(chosen.case)))))
        return
    found = []
    for one in _together() if chosen.together else _table(chosen.only):
        found.append(one)
        if chosen.json:
            chosen.json.write_text(json.dumps(found, indent=1))


def _together() -> Iterator[dict[str, Any]]:
    """Print what fifty patterns cost."""
    for name in TOGETHER:
        one_s, all_s = together(name)
        met = "met" if all_s <= GOAL_TOGETHER * one_s else "missed"
        print(f"{name:9} one {one_s:.3f} s, fifty {all_s:.3f} s: {all_s / one_s:.1f} times ({met})", flush=True)
        yield {"name": name, "one_s": one_s, "fifty_s": all_s, "times": all_s / one_s}


def _table(only: str) -> Iterator[dict[str, Any]]:
    """Print the table, each case in a process of its own."""
    print("pattern strategy    within kinds patterns disorder   events  events/s   changes   matches  exact  peak MB")
    for case in CASES:
        if only and case.name != only:
            continue
        command = [sys.executable, "-m", "bench.patterns", "--case", json.dumps(case)]
        found = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
        shown = f"{case.name:7} {case.strategy:9} {case.within:8} {case.kinds:5} {case.patterns:8} {case.disorder:8.0%}"
        shown += f" {case.events:8}"
        if "refused" in found:
            print(f"{shown} refused: {found['refused']} ({found['peak_mb']:.0f} MB)", flush=True)
        else:
            print(
                f"{shown} {case.events / found['cpu_s']:9,.0f} {found['changes']:9} {found['matches']:9}"
                f" {found['is_exact']!s:>6} {found['peak_mb']:8.0f}",
                flush=True,
            )
        yield {**case._asdict(), **found}


if __name__ == "__main__":
    main()
