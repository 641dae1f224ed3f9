"""How does the matcher of patterns compare with FlinkCEP, in one sitting?

    python -m bench.patterns_flink [--only WORDS] [--interval MS] [--json FILE]

Both sides take the same events from memory, in turn, each in a process of its own: CPU time and wall time of the run,
peak memory of the process. FlinkCEP 2.3.0 (Maven Central, fetched by ``mvn`` at the first run into ``~/.cache``) has
a local environment with parallelism 1, heap state, a warm-up, a filter of the kinds that matter, and the best of
several watermark intervals, found on the first case. Its ``followedBy`` with ``oneOrMore`` is our ``stnm-all``, its
``followedByAny`` with ``allowCombinations`` our ``stam-all``: the numbers of matches must be equal. ``stnm`` and
``stam`` of paper 003, which FlinkCEP does not have, are measured beside it.

Kinds are uniform, one event a millisecond. Of disorder, a share of the events arrives up to a second late; Flink waits
for just that bound. Ours answers at once and repairs: the time to answer is the event time that has been seen when the
last change of a match that stands leaves, less the time of its last event. Of Flink it is the least over all matches.
Copies follow their event under the same id; Flink takes each as an event of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench.patterns import STRUCTURES, stream
from detectors.patterns.language import parse
from detectors.patterns.matcher import Matcher
from detectors.patterns.syntax import PatternEvent

HERE = Path(__file__).resolve().parent / "flink"
CACHE = Path.home() / ".cache" / "touchline" / "flink-2.3.0"

#: Lateness of events out of order, and the bound of Flink's watermark.
LATE_MS = 1_000
INTERVALS_MS = (1, 10, 50, 200)


class Case(NamedTuple):
    """One comparison."""

    name: str
    policy: str
    within: int
    events: int
    kinds: int = 3
    disorder: float = 0.0
    patterns: int = 1
    copies: float = 0.0


CASES = (
    Case("AB+C", "stnm", 10, 100_000),
    *(Case("AB+C", "stnm", 10, 10_000, patterns=count) for count in (1, 5, 50)),
    Case("AB+C", "stnm", 10, 50_000, disorder=0.2),
    Case("AB+C", "stnm", 10, 50_000, disorder=0.7),
    Case("AB+C", "stnm", 10, 50_000, copies=0.2),
    Case("ABC", "stnm", 10, 100_000),
    Case("AB+C", "stnm", 100, 50_000),
    Case("AB+C", "stnm", 100, 50_000, disorder=0.7),
    Case("ABC", "stnm", 100, 50_000),
    Case("AB+C", "stnm", 10, 100_000, kinds=26),
    Case("AB+C", "stnm", 100, 100_000, kinds=26),
    Case("ABC", "stam", 10, 50_000),
    Case("ABC", "stam", 10, 50_000, disorder=0.7),
    Case("AB+C", "stam", 10, 10_000),
    Case("AB+C", "stam", 10, 10_000, disorder=0.7),
    Case("ABC", "stam", 100, 5_000),
    Case("AB+C", "stnm", 10, 1_000_000),
)


def arrivals_of(case: Case) -> list[PatternEvent]:
    """The events of a case in order of arrival."""
    events, chance = stream(case.events, case.kinds), random.Random(7)
    late = [chance.uniform(0, LATE_MS * 1_000) if chance.random() < case.disorder else 0 for _ in events]
    order = sorted(zip(late, events, strict=True), key=lambda pair: pair[1].ts_us + pair[0])
    return [event for _, event in order for _ in range(1 + (chance.random() < case.copies))]


def ours(case: Case, strategy: Any) -> dict[str, Any]:
    """One run of the matcher, purged behind the greatest lateness, as a live one is."""
    arrivals = arrivals_of(case)
    texts = [f"PATTERN {STRUCTURES[case.name]} WITHIN {case.within + extra} ms" for extra in range(case.patterns)]
    matcher = Matcher([parse(text) for text in texts], strategy)
    log: list[tuple[int, Any]] = []
    newest_us = matches = 0
    cpu_s, wall_s = time.process_time(), time.perf_counter()
    for number, event in enumerate(arrivals):
        newest_us = max(newest_us, event.ts_us)
        if changes := matcher.push(event):
            log.append((newest_us, changes))
        if not number % 1_000:
            matcher.purge(newest_us - LATE_MS * 1_000)
    cpu_s, wall_s = time.process_time() - cpu_s, time.perf_counter() - wall_s
    standing: dict[Any, int] = {}
    for seen_us, changes in log:
        for change in changes:
            key = change.pattern, tuple(event.id for event in change.match)
            if change.diff > 0:
                standing[key] = seen_us - change.match[-1].ts_us
            else:
                del standing[key]
    matches = len(standing)
    waits = sorted(standing.values()) or [0]
    ordered = Matcher([parse(text) for text in texts], strategy)
    expected = None
    if case.disorder or case.copies:
        expected = {
            (change.pattern, tuple(event.id for event in change.match))
            for event in stream(case.events, case.kinds)
            for change in ordered.push(event)
        }
    return {
        "cpu_s": cpu_s, "wall_s": wall_s, "matches": matches, "exact": expected is None or expected == standing.keys(),
        "answer_ms": [waits[len(waits) // 2] / 1e3, waits[len(waits) * 99 // 100] / 1e3, waits[-1] / 1e3],
    }  # fmt: skip


def run_child(command: Sequence[str]) -> dict[str, Any]:
    """Run a process that prints JSON on its last line; add its peak memory."""
    with tempfile.TemporaryFile("w+") as out, open(os.devnull, "w") as nowhere:
        child = subprocess.Popen(command, stdout=out, stderr=nowhere)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        lines = out.read().splitlines()
    if child.returncode or not lines:
        raise SystemExit(f"{' '.join(command)} ended with {child.returncode}")
    return {**json.loads(lines[-1]), "peak_mb": usage.ru_maxrss / 1024}


def flink(case: Case, events: Path, interval_ms: int) -> dict[str, Any]:
    """One run of FlinkCEP."""
    bound = LATE_MS if case.disorder else 0
    opens = [f"--add-opens=java.base/java.{name}=ALL-UNNAMED" for name in ("util", "lang")]
    arguments = (events, case.name, case.policy, case.within, interval_ms, bound, case.patterns)
    classes = f"{CACHE / 'classes'}:{CACHE / 'lib'}/*"
    return run_child(
        ["java", "-Xmx3g", "-XX:+UseParallelGC", *opens, "-cp", classes, "FlinkPatterns", *map(str, arguments)]
    )


def prepare() -> None:
    """Fetch the jars once, and compile."""
    if not (CACHE / "lib").is_dir():
        copy = ["mvn", "-q", "-B", "-f", str(HERE / "pom.xml"), "dependency:copy-dependencies"]
        subprocess.run([*copy, f"-DoutputDirectory={CACHE / 'lib'}"], check=True)
    source = str(HERE / "FlinkPatterns.java")
    subprocess.run(["javac", "-cp", f"{CACHE / 'lib'}/*", "-d", str(CACHE / "classes"), source], check=True)


def compare(case: Case, interval_ms: int, rounds: int) -> dict[str, Any]:
    """Print one case: each side in turn, the least CPU time of some rounds; return what was found."""
    same = "stnm-all" if case.policy == "stnm" else "stam-all"
    found: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        events = Path(folder) / "events.txt"
        events.write_text("".join(f"{event.kind} {event.ts_us // 1_000}\n" for event in arrivals_of(case)))
        for _ in range(rounds):
            for side in ("flink", same, case.policy):
                if side == "flink":
                    result = flink(case, events, interval_ms)
                else:
                    spec = json.dumps([*case, side])
                    result = run_child([sys.executable, "-m", "bench.patterns_flink", "--ours", spec])
                if side not in found or result["cpu_s"] < found[side]["cpu_s"]:
                    found[side] = result
    theirs = found["flink"]
    kinds = f"{case.kinds} kinds, W {case.within}, {case.disorder:.0%} late, {case.patterns} patterns"
    kinds += f", {case.copies:.0%} doubled" if case.copies else ""
    print(f"{case.name} {case.policy}: {kinds}, {case.events:,} events", flush=True)
    for side, result in found.items():
        text = f"  {side:9} cpu {result['cpu_s']:7.2f} s  wall {result['wall_s']:7.2f} s  {result['matches']:9} matches"
        text += f"  {result['peak_mb']:5.0f} MB  {case.events / result['cpu_s']:9,.0f} events/s of CPU"
        if side == "flink":
            text += f"  answer from {result['answer_ms']} ms" if case.disorder else ""
        else:
            cpu, wall = theirs["cpu_s"] / result["cpu_s"], theirs["wall_s"] / result["wall_s"]
            text += f"  {cpu:.1f} and {wall:.1f} times Flink"
            text += "" if result["exact"] else "  NOT EXACT"
            text += "  answer p50 {:g} p99 {:g} max {:g} ms".format(*result["answer_ms"]) if case.disorder else ""
            if side == same and result["matches"] != theirs["matches"]:
                text += "  other number of matches"
        print(text, flush=True)
    return {**case._asdict(), "interval_ms": interval_ms, **found}


def best_interval() -> int:
    """The watermark interval with which Flink needs least CPU time on the first case."""
    case, took = CASES[0], {}
    with tempfile.TemporaryDirectory() as folder:
        events = Path(folder) / "events.txt"
        events.write_text("".join(f"{event.kind} {event.ts_us // 1_000}\n" for event in arrivals_of(case)))
        for interval_ms in INTERVALS_MS:
            result = flink(case, events, interval_ms)
            took[interval_ms] = result["cpu_s"]
            print(
                f"watermark every {interval_ms} ms: cpu {result['cpu_s']:.2f} s, wall {result['wall_s']:.2f} s",
                flush=True,
            )
    return min(took, key=lambda interval_ms: took[interval_ms])


def main() -> None:
    """Print the comparison."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="cases with one of these words, with commas, such as stam,0.7")
    parser.add_argument("--interval", type=int, default=0, help="of Flink's watermarks, in ms; 0: the best of several")
    parser.add_argument("--rounds", type=int, default=2, help="the least of so many")
    parser.add_argument("--json", type=Path, help="write what was measured to this file")
    parser.add_argument("--ours", default="", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.ours:
        *fields, strategy = json.loads(chosen.ours)
        print(json.dumps(ours(Case(*fields), strategy)))
        return
    prepare()
    interval_ms = chosen.interval or best_interval()
    found = []
    for case in CASES:
        if not chosen.only or not {*chosen.only.split(",")}.isdisjoint(map(str, case)):
            found.append(compare(case, interval_ms, chosen.rounds))
            if chosen.json:
                chosen.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
