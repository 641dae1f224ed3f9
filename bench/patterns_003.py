"""The experiments of paper 003 (LimeCEP) again, with its profile and with the exact matcher.

    python -m bench.patterns_003 [--experiments 12345] [--seconds 60] [--json FILE]

1. Result quality on the mini stream of twenty events, W 10, in order and with 20 and 70 % of the events out of order.
   The paper's files are not used: each share is a hundred arrival orders in the manner of its generator, an event goes
   to a random earlier place. Means of true and false positives and false negatives against the definition.
2. Each event of the mini stream arrives up to three times: precision and recall.
3. Factor of the lateness threshold and weights of the score, 70 % out of order: recall.
4. and 5. On 10,000 events, one a minute, three uniform types: the longest answer to an event, run time, CPU time and
   peak memory, each case in a process of its own, ended after some seconds of CPU time. Windows are in events.

The paper's other engines (SASE, SASEXT) are not run.
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
from functools import partial
from pathlib import Path
from typing import Any

from detectors.patterns.language import parse
from detectors.patterns.limecep import LimeMatcher, LimeSettings
from detectors.patterns.matcher import Matcher
from detectors.patterns.search import TooManyMatchesError
from detectors.patterns.syntax import PatternEvent

MINI = (
    "b1", "b2", "a3", "a4", "a5", "a6", "a7", "b8", "a9", "c10", "b11", "b12", "a13", "b14", "a15", "b16", "a17", "a18",
    "c19", "c20",
)  # fmt: skip
STRUCTURES = {"ABC": "SEQ(a x, b y, c z)", "AB+C": "SEQ(a x, b+ y, c z)", "A+B+C": "SEQ(a+ x, b+ y, c z)"}
CASES = (("ABC", "stnm"), ("AB+C", "stnm"), ("ABC", "stam"), ("AB+C", "stam"), ("A+B+C", "stam"))
PROFILES: dict[str, LimeSettings | None] = {
    "exact": None,
    "limecep": LimeSettings(),
    "limecep NC": LimeSettings(correction=False),
}
ORDERS = 100
MINUTE_US = 60_000_000

Matches = set[tuple[str, ...]]

#: What an experiment finds, a row at a time.
Rows = Iterator[dict[str, Any]]


def mini() -> list[PatternEvent]:
    """The mini stream, a second an event."""
    return [PatternEvent(int(name[1:]) * 1_000_000, (name[0],), name, name[0], {}) for name in MINI]


def micro(count: int = 10_000) -> list[PatternEvent]:
    """The larger stream, a minute an event."""
    chance = random.Random(1)
    kinds = [chance.choice("abc") for _ in range(count)]
    return [PatternEvent(at * MINUTE_US, (kind,), f"{kind}{at}", kind, {}) for at, kind in enumerate(kinds)]


def reordered(events: Sequence[PatternEvent], share: float, seed: int) -> list[PatternEvent]:
    """A share of the events goes to a random earlier place, as in the paper's generator."""
    chance = random.Random(seed)
    order: list[PatternEvent] = []
    for event in events:
        order.insert(chance.randint(0, len(order)) if chance.random() < share else len(order), event)
    return order


def matcher_of(name: str, strategy: Any, within: str, settings: LimeSettings | None) -> Matcher | LimeMatcher:
    """The matcher of a pattern."""
    queries = [parse(f"PATTERN {STRUCTURES[name]} WITHIN {within}")]
    return Matcher(queries, strategy) if settings is None else LimeMatcher(queries, strategy, settings)


def answer(matcher: Matcher | LimeMatcher, arrivals: Sequence[PatternEvent]) -> Matches:
    """The matches that stand in the end."""
    for event in arrivals:
        matcher.push(event)
    if isinstance(matcher, LimeMatcher):
        matcher.finish()
    return {tuple(event.id for event in match) for _, match in matcher.matches()}


def first() -> Rows:
    """Experiment 1."""
    print("1: TP/FP/FN, mean of the arrival orders; in parentheses events dropped")
    for name, strategy in CASES:
        truth = answer(matcher_of(name, strategy, "10 s", None), mini())
        for profile, settings in PROFILES.items():
            cells, row = [], {"experiment": 1, "pattern": name, "strategy": strategy, "profile": profile}
            for share in (0.0, 0.2, 0.7):
                counts, orders = [0, 0, 0, 0], ORDERS if share else 1
                for seed in range(orders):
                    matcher = matcher_of(name, strategy, "10 s", settings)
                    found = answer(matcher, reordered(mini(), share, seed))
                    drops = len(matcher.dropped) if isinstance(matcher, LimeMatcher) else 0
                    added = (len(found & truth), len(found - truth), len(truth - found), drops)
                    counts = [a + b for a, b in zip(counts, added, strict=True)]
                tp, fp, fn, drops_mean = (count / orders for count in counts)
                cells.append(f"{share:4.0%} {tp:5.2f}/{fp:.2f}/{fn:.2f} ({drops_mean:.2f})")
                row[f"{share:.0%}"] = [tp, fp, fn, drops_mean]
            print(f"   {name:5} {strategy} {profile:10} {'   '.join(cells)}", flush=True)
            yield row


def second() -> Rows:
    """Experiment 2."""
    print("2: precision and recall with copies; matches emitted, copies left out")
    chance = random.Random(5)
    arrivals = [event for event in mini() for _ in range(chance.choice((1, 2, 3)))]
    for name, strategy in (("ABC", "stnm"), ("AB+C", "stnm"), ("A+B+C", "stam")):
        truth = answer(matcher_of(name, strategy, "10 s", None), mini())
        for profile, settings in PROFILES.items():
            if profile != "limecep NC":
                matcher, emitted = matcher_of(name, strategy, "10 s", settings), 0
                for event in arrivals:
                    emitted += sum(change.diff > 0 for change in matcher.push(event))
                found = {tuple(event.id for event in match) for _, match in matcher.matches()}
                right = len(found & truth)
                precision, recall = right / len(found), right / len(truth)
                shown = f"precision {precision:.0%} recall {recall:.0%}"
                print(f"   {name:5} {strategy} {profile:10} {shown} emitted {emitted} copies {matcher.duplicates}")
                row = {"experiment": 2, "pattern": name, "strategy": strategy, "profile": profile}
                yield {**row, "precision": precision, "recall": recall, "emitted": emitted}


def third() -> Rows:
    """Experiment 3."""
    print("3: recall at 70 % out of order, by factor of the threshold (across) and weights a, b, c")
    factors = (0.5, 1.0, 1.5, 2.0, 2.5)
    for name, strategy in (("ABC", "stnm"), ("A+B+C", "stam")):
        truth = answer(matcher_of(name, strategy, "10 s", None), mini())
        for weights in ((0.6, 0.2, 0.2), (1.0, 0.0, 0.0), (0.0, 0.5, 0.5), (0.34, 0.33, 0.33)):
            cells, row = [], {"experiment": 3, "pattern": name, "strategy": strategy, "weights": weights}
            for factor in factors:
                settings, right = LimeSettings(*weights, factor=factor), 0
                for seed in range(ORDERS):
                    matcher = matcher_of(name, strategy, "10 s", settings)
                    right += len(truth & answer(matcher, reordered(mini(), 0.7, seed)))
                cells.append(f"{factor}: {right / len(truth) / ORDERS:.0%}")
                row[f"recall at {factor}"] = right / len(truth) / ORDERS
            print(f"   {name:5} {strategy} {weights} {'  '.join(cells)}", flush=True)
            yield row


def measured(name: str, strategy: str, within: int, profile: str, seconds: float) -> dict[str, Any]:
    """One case of experiments 4 and 5, in this process, which ends after some seconds of CPU time."""
    resource.setrlimit(resource.RLIMIT_CPU, (round(seconds), round(seconds) + 1))
    matcher = matcher_of(name, strategy, f"{within} min", PROFILES[profile])
    events, longest_s = micro(), 0.0
    begin_s, cpu_s = time.perf_counter(), time.process_time()
    try:
        for event in events:
            before_s = time.process_time()
            if matcher.push(event):
                longest_s = max(longest_s, time.process_time() - before_s)
    except TooManyMatchesError as error:
        return {"refused": str(error)}
    return {
        "longest_ms": longest_s * 1e3,
        "wall_s": time.perf_counter() - begin_s,
        "cpu_s": time.process_time() - cpu_s,
        "matches": sum(1 for _ in matcher.matches()),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def fourth_and_fifth(seconds: float) -> Rows:
    """Experiments 4 and 5."""
    print("4, 5: longest answer (CPU time), run time, CPU time, peak memory on 10,000 events in order")
    for name, strategy in CASES:
        for within in (10, 100, 1_000):
            for profile in ("exact", "limecep"):
                arguments = ["--case", json.dumps([name, strategy, within, profile, seconds])]
                command = [sys.executable, "-m", "bench.patterns_003", *arguments]
                case = f"   {name:5} {strategy} W {within:4} {profile:7}"
                row = {"experiment": 4, "pattern": name, "strategy": strategy, "within": within, "profile": profile}
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                if done.returncode:
                    reason = f"not done after {seconds:g} s" if done.returncode < 0 else done.stderr.splitlines()[-1]
                    print(f"{case} {reason}", flush=True)
                    yield {**row, "reason": reason}
                    continue
                found = json.loads(done.stdout)
                yield {**row, **found}
                if "refused" in found:
                    print(f"{case} refused: {found['refused']}", flush=True)
                    continue
                print(
                    f"{case} longest {found['longest_ms']:9.2f} ms  wall {found['wall_s']:6.2f} s"
                    f"  cpu {found['cpu_s']:6.2f} s ({found['cpu_s'] / found['wall_s']:.0%})"
                    f"  {found['peak_mb']:5.0f} MB  {found['matches']} matches",
                    flush=True,
                )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--experiments", default="12345")
    parser.add_argument("--seconds", type=float, default=60.0, help="CPU time of one case of experiments 4 and 5")
    parser.add_argument("--json", type=Path, help="write what was found to this file")
    parser.add_argument("--case", default="", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.case:
        print(json.dumps(measured(*json.loads(chosen.case))))
        return
    found: list[dict[str, Any]] = []
    last = partial(fourth_and_fifth, chosen.seconds)
    for numbers, experiment in (("1", first), ("2", second), ("3", third), ("45", last)):
        if not {*numbers}.isdisjoint(chosen.experiments):
            for row in experiment():
                found.append(row)
                if chosen.json:
                    chosen.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
