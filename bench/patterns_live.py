"""What share of the engine's time do the forty patterns of football take in a match?

``python -m bench.patterns_live [--seconds 20] [--rate full] [--source FILE] [--json FILE]``

Two pipelines take the blocks of one capture by turns, one with the patterns of ``patterns/`` and one without, so that a
machine that is slower for a second is slower for both. CPU time of one process; the first tenth is to warm up. The
share is the difference over the time without patterns; the goal is 2 % at the full rate (36,000 positions/s), block
by block, as a live match has them.

A few patterns cost less than such a difference scatters, so the steps of the patterns are also timed by themselves:
the share of *folds* is the time within their detectors, that of *units* the time within their ordering units too.
"""

from __future__ import annotations

import argparse
import gc
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from app.base.garbage import collect_rarely
from app.pipeline.pipeline import MatchPipeline, PipelineOptions
from app.settings.patterns import load_patterns
from bench.hierarchy import capture_of
from detectors.patterns.detector import PatternDetector
from middleware.ordering.unit import OrderingUnit
from replay.capture import Capture

#: Share of the engine's time.
GOAL = 0.02


class Stopwatch:
    """Adds up the CPU time within some calls."""

    def __init__(self) -> None:
        self.took_ns = self.calls = 0

    def over(self, function: Callable[..., Any], counts: Callable[[Any], bool] = lambda _: True) -> Callable[..., Any]:
        """The function, timed where its first argument counts."""

        def timed(first: Any, *rest: Any, **named: Any) -> Any:
            if not counts(first):
                return function(first, *rest, **named)
            began_ns = time.process_time_ns()
            try:
                return function(first, *rest, **named)
            finally:
                self.took_ns += time.process_time_ns() - began_ns
                self.calls += 1

        return timed


def by_turns(capture: Capture, texts: dict[str, str], alpha: float) -> tuple[float, float]:
    """CPU seconds with the patterns, and without."""
    blocks = [(arrival_us, 0, payload) for arrival_us, payload in capture.payloads(capture.begin_us, capture.end_us)]
    options = [PipelineOptions(alpha=alpha, patterns=texts), PipelineOptions(alpha=alpha)]
    pipelines = [MatchPipeline(capture.sheet, one) for one in options]
    took_ns = [0, 0]
    for number, block in enumerate(blocks):
        for which in (0, 1) if number % 2 else (1, 0):
            began_ns = time.process_time_ns()
            pipelines[which].push_together([block], None)
            if number >= len(blocks) // 10:
                took_ns[which] += time.process_time_ns() - began_ns
    return took_ns[0] / 1e9, took_ns[1] / 1e9


def alone(capture: Capture, texts: dict[str, str], alpha: float) -> tuple[float, Stopwatch, Stopwatch]:
    """CPU seconds of a pipeline with the patterns, and of that the time within their folds and within their units."""
    folds, units = Stopwatch(), Stopwatch()
    step, process = PatternDetector.step, OrderingUnit.process
    PatternDetector.step = folds.over(step)  # type: ignore[method-assign]
    OrderingUnit.process = units.over(process, _is_pattern)  # type: ignore[method-assign]
    try:
        pipeline = MatchPipeline(capture.sheet, PipelineOptions(alpha=alpha, patterns=texts))
        gc.collect()
        began_s = time.process_time()
        for arrival_us, payload in capture.payloads(capture.begin_us, capture.end_us):
            pipeline.push_together([(arrival_us, 0, payload)], None)
        took_s = time.process_time() - began_s
    finally:
        PatternDetector.step = step  # type: ignore[method-assign]
        OrderingUnit.process = process  # type: ignore[method-assign]
    return took_s, folds, units


def _is_pattern(unit: Any) -> bool:
    return unit._detector.spec.name.startswith("pattern_")


def main() -> None:
    """Print the shares."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", default="sim", help="tracking file; default: the simulator")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--rate", default="full", help="of the simulator")
    parser.add_argument("--seed", type=int, default=18)
    parser.add_argument("--json", type=Path, help="write what was measured to this file")
    chosen = parser.parse_args()
    collect_rarely()
    found = []
    texts = load_patterns([Path("patterns")])
    with tempfile.TemporaryDirectory() as folder:
        capture = capture_of(chosen.source, chosen.rate, chosen.seconds, chosen.seed, Path(folder) / "capture")
        stream_s = (capture.end_us - capture.begin_us) / 1e6
        print(f"{len(texts)} patterns, {stream_s:.0f} s of {chosen.source}, {chosen.rate}")
        for alpha in (1.0, 0.0):
            whole_s, without_s = by_turns(capture, texts, alpha)
            share = whole_s / without_s - 1
            print(
                f"alpha {alpha:g}: with {whole_s:.2f} s, without {without_s:.2f} s, share {share:.2%}"
                f" (goal {GOAL:.0%}: {'met' if share <= GOAL else 'missed'})",
                flush=True,
            )
            took_s, folds, units = alone(capture, texts, alpha)
            print(
                f"  by themselves: folds {folds.took_ns / 1e9 / took_s:.3%} ({folds.calls} steps),"
                f" units {units.took_ns / 1e9 / took_s:.3%} ({units.calls} calls)",
                flush=True,
            )
            shares = {"folds_share": folds.took_ns / 1e9 / took_s, "units_share": units.took_ns / 1e9 / took_s}
            found.append({"alpha": alpha, "with_s": whole_s, "without_s": without_s, "share": share, **shares})
        if chosen.json:
            chosen.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
