"""What does a commit cost, and how does that grow with the state that is held?

Question: at the end of a batch the fast lane stands still while the engine's state is pickled, sealed and written to
the disk, and the batch's rows are committed. How long is each part, for how much held state? Held state grows with how
long inputs are kept for repair (``memory``) and how many come in a second (``rate``). Also: what going on from a
state costs (read, seal checked, unpickled), which is part of a restart.

    python -m bench.commit_cost [--seconds 30] [--rates live full] [--memory 1 3 6] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from app.pipeline.pipeline import MatchPipeline, PipelineOptions
from app.pipeline.state_store import StateStore
from app.sources.captures import prepare_capture
from replay.capture import Capture
from replay.match_store import MatchStore

TIMES = 5


class Clock:
    """Times pieces of work: on the wall, and this process's share of it, which other processes lengthen less."""

    def __init__(self) -> None:
        self.cpu_ms = 0.0

    def ms(self, work: Callable[[], object]) -> tuple[float, Any]:
        """Return the milliseconds that a piece of work takes on the wall clock, and its result."""
        began, began_cpu = time.perf_counter(), time.process_time()
        given = work()
        self.cpu_ms += (time.process_time() - began_cpu) * 1e3
        return (time.perf_counter() - began) * 1e3, given


def measure(capture: Capture, memory_s: float, seconds: float, folder: Path) -> dict[str, Any]:
    """Play ``seconds`` and commit several times in the last of them; return the shortest time of each, in ms."""
    options = PipelineOptions(alpha=0.0, allowed_lateness_ms=round(memory_s * 1e3))
    pipeline = MatchPipeline(capture.sheet, options)
    states = StateStore(folder / "states", "bench")
    store, epoch = MatchStore.create(folder / "store", capture.sheet, {}), states.claim_epoch()
    commits_us = [capture.begin_us + round((seconds - TIMES + i + 1) * 1e6) for i in range(TIMES)]
    figures: dict[str, list[float]] = {
        name: [] for name in ("tables", "pickle", "seal_write_sync", "rows", "read_check", "unpickle", "commit_cpu")
    }
    size = held = 0
    for batch, (start_us, end_us) in enumerate(zip([capture.begin_us, *commits_us], commits_us, strict=False)):
        message = None
        for arrival_us, payload in capture.payloads(start_us, end_us):
            output = pipeline.push(payload, arrival_us)
            message = output if output is not None and output.health is not None else message
        assert message is not None
        assert message.health is not None
        clock = Clock()
        tables_ms, tables = clock.ms(pipeline.take_tables)
        pickle_ms, state = clock.ms(pipeline.snapshot)
        maker = pipeline.maker
        write_ms, _ = clock.ms(lambda at=end_us, what=state, who=maker: states.write(at, epoch, what, who))
        meta = {**pipeline.commit_meta(), "end_offset": end_us}
        rows_ms, _ = clock.ms(lambda n=batch, what=tables, how=meta: store.commit(n, what, how))
        cpu_ms = clock.cpu_ms
        states.forget_before(start_us)
        read_ms, again = clock.ms(lambda at=end_us, who=maker: states.read(at, who))
        other = MatchPipeline(capture.sheet, options, 1)
        unpickle_ms, _ = clock.ms(lambda one=other, what=again: one.restore(what))
        size, held = len(state), message.health.held
        taken = (tables_ms, pickle_ms, write_ms, rows_ms, read_ms, unpickle_ms, cpu_ms)
        for name, value in zip(figures, taken, strict=True):
            figures[name].append(value)
    shortest = {f"{name}_ms": round(min(values), 1) for name, values in figures.items()}
    stands_still = round(sum(shortest[f"{name}_ms"] for name in ("tables", "pickle", "seal_write_sync", "rows")), 1)
    return {"held": held, "state_mb": round(size / 1e6, 2), **shortest, "commit_ms": stands_still}


def main() -> None:
    """Measures every rate with every memory and prints or stores the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--rates", nargs="+", default=["live", "full"])
    parser.add_argument("--memory", type=float, nargs="+", default=[1.0, 3.0, 6.0])
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for rate in chosen.rates:
            prepare_capture("sim", "rtls", 32, folder / rate, duration_s=chosen.seconds + 1, rate=rate)
            for memory_s in chosen.memory:
                figures = measure(Capture.open(folder / rate), memory_s, chosen.seconds, folder / f"{rate}-{memory_s}")
                rows.append({"rate": rate, "memory_s": memory_s, **figures})
                print(json.dumps(rows[-1]), flush=True)
    result = {"seconds": chosen.seconds, "load_average": os.getloadavg()[0], "rows": rows}
    if chosen.json:
        chosen.json.write_text(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
