"""How does the matcher of patterns compare with FlinkCEP, in one sitting?

    python -m bench.patterns_flink [--only WORDS] [--interval MS] [--json FILE] [--answers]

Both sides take the same events from memory, in turn, each in a process of its own: CPU time and wall time of the run,
peak memory of the process. FlinkCEP 2.3.0 (Maven Central, fetched by ``mvn`` at the first run into ``~/.cache``) has
a local environment with parallelism 1, heap state, a warm-up, a filter of the kinds that matter, and the best of
several watermark intervals, found on the first case. Its ``followedBy`` with ``oneOrMore`` is our ``stnm-all``, its
``followedByAny`` with ``allowCombinations`` our ``stam-all``: the numbers of matches must be equal. ``stnm`` and
``stam`` of paper 003, which FlinkCEP does not have, are measured beside it.

Kinds are uniform, one event a millisecond. Of disorder, a share of the events arrives up to a second late; Flink waits
for just that bound. Ours answers at once and repairs: the time to answer is the event time that has been seen when the
last change of a match that stands leaves, less the time of its last event. Of Flink it is the least over all matches.
``--answers`` asks when answers stand, in wall time: both sides get the same events one a millisecond, and each match is
paired with itself: how long its answer takes after the last of its own events has arrived, and how much later Flink's
stands.

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

from app.base.garbage import collect_rarely
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
    Case("AB+C", "stnm", 100, 5_000, disorder=0.7),
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
    collect_rarely()
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


def ours_paced(case: Case, strategy: Any) -> dict[str, list[float]]:
    """When answers stand, one event a millisecond: by the times of the events, ms since the first and since the last.

    The second number counts from the arrival of the last event of the match.
    """
    arrivals = arrivals_of(case)
    matcher = Matcher([parse(f"PATTERN {STRUCTURES[case.name]} WITHIN {case.within} ms")], strategy)
    collect_rarely()
    sent_s: dict[str, float] = {}
    standing: dict[str, list[float]] = {}
    began_s, newest_us = time.perf_counter(), 0
    for number, event in enumerate(arrivals):
        while (left_s := began_s + number / 1e3 - time.perf_counter()) > 0:
            time.sleep(left_s)
        sent_s[event.id] = time.perf_counter()
        newest_us = max(newest_us, event.ts_us)
        changes = matcher.push(event)
        now_s = time.perf_counter()
        for change in changes:
            ids = [one.id for one in change.match]
            if change.diff > 0:
                waited_s = now_s - max(sent_s[name] for name in ids)
                standing[",".join(ids)] = [(now_s - began_s) * 1e3, waited_s * 1e3]
            else:
                del standing[",".join(ids)]
        if not number % 1_000:
            matcher.purge(newest_us - LATE_MS * 1_000)
    return standing


def answers(case: Case, interval_ms: int) -> dict[str, Any]:
    """Print when the answers of one case stand on both sides, each match paired with itself."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "answers.txt"
        events = Path(folder) / "events.txt"
        events.write_text("".join(f"{event.kind} {event.ts_us // 1_000}\n" for event in arrivals_of(case)))
        flink(case, events, interval_ms, str(file))
        lines = (line.split() for line in file.read_text().splitlines())
        theirs = {ids: [int(at_us) / 1e3, (int(at_us) - int(sent_us)) / 1e3] for ids, at_us, sent_us in lines}
        spec = json.dumps([*case, "stnm-all"])
        own = run_child([sys.executable, "-m", "bench.patterns_flink", "--answers", "--ours", spec])
    del own["peak_mb"]
    bound_ms = LATE_MS if case.disorder else 0
    # What the end of the stream flushes has waited for nothing.
    last_ms = case.events - bound_ms - 100
    both = [ids for ids in own if ids in theirs and int(ids.rpartition(",")[2]) < last_ms]
    later = sorted(theirs[ids][0] - own[ids][0] for ids in both)
    found = {
        "matches": len(both), "only_ours": len(own.keys() - theirs), "only_theirs": len(theirs.keys() - own),
        "ours_ms": _of(sorted(own[ids][1] for ids in both)), "flink_ms": _of(sorted(theirs[ids][1] for ids in both)),
        "later_ms": _of(later), "later_by_the_bound": sum(one >= bound_ms for one in later) / len(later),
    }  # fmt: skip
    print(f"{case.name} W {case.within}, {case.disorder:.0%} late, {case.events:,} events, one a ms:", end="")
    print(f" {len(both)} answers, {found['only_ours']} of ours alone, {found['only_theirs']} of Flink alone")
    for name, text in (("ours_ms", "ours after its last event"), ("flink_ms", "Flink the same"), ("later_ms", "later")):
        print(f"  {text:26} least {{:.2f}} p50 {{:.2f}} p99 {{:.2f}} max {{:.2f}} ms".format(*found[name]))
    print(f"  Flink later by the whole bound: {found['later_by_the_bound']:.1%}", flush=True)
    return {**case._asdict(), **found}


def _of(numbers: Sequence[float]) -> list[float]:
    """Least, median, 99th percentile and greatest of sorted numbers."""
    return [numbers[0], numbers[len(numbers) // 2], numbers[len(numbers) * 99 // 100], numbers[-1]]


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


def flink(case: Case, events: Path, interval_ms: int, answered: str = "-") -> dict[str, Any]:
    """One run of FlinkCEP; with a file for its answers at one event a millisecond."""
    bound = LATE_MS if case.disorder else 0
    opens = [f"--add-opens=java.base/java.{name}=ALL-UNNAMED" for name in ("util", "lang")]
    arguments = (events, case.name, case.policy, case.within, interval_ms, bound, case.patterns, answered)
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
    parser.add_argument("--answers", action="store_true", help="when answers stand, at one event a millisecond")
    parser.add_argument("--ours", default="", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.ours:
        *fields, strategy = json.loads(chosen.ours)
        print(json.dumps((ours_paced if chosen.answers else ours)(Case(*fields), strategy)))
        return
    prepare()
    found = []
    if chosen.answers:
        for share in (0.0, 0.2, 0.7):
            found.append(answers(Case("AB+C", "stnm", 10, 20_000, disorder=share), chosen.interval or 1))
        if chosen.json:
            chosen.json.write_text(json.dumps(found, indent=1))
        return
    interval_ms = chosen.interval or best_interval()
    for case in CASES:
        if not chosen.only or not {*chosen.only.split(",")}.isdisjoint(map(str, case)):
            found.append(compare(case, interval_ms, chosen.rounds))
            if chosen.json:
                chosen.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
