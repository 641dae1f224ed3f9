"""What does moving a detector while it runs cost: K, misdetections, forwarded events, pause (paper 002, section 5.2)?

A detector with four inputs runs on the old node and is moved in mid-match. ``near`` and ``not_near`` oscillate in delay
and come from a third node, ``peak`` comes soon from the node of the gate, ``height`` is rare: its first event after the
move comes 30 s later. Everything is in virtual time. Four ways to move: ours, and the classic ones, which keep K, stop
before they subscribe, or forward everything until all inputs are direct. A misdetection is an input that arrives later
than K: pure buffering would have given the detector later ones before it.

    python -m bench.nodes_move [--seconds 60] [--loss 0.01] [--jitter-ms 0] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

from middleware.detector import NOTHING, Spec, Step
from middleware.events import Arrival, Event
from middleware.hierarchy import Hierarchy
from middleware.nodes.links import LinkSettings
from middleware.nodes.move_records import MoveSettings
from middleware.nodes.node import Node
from middleware.nodes.part import Part
from middleware.nodes.simulation import Ordered, Outcome, Scenario, Simulation
from middleware.nodes.simulation import Path as Way
from middleware.ordering.policy import EngineSettings, UnitSettings
from middleware.ordering.slack.settings import SlackSettings
from middleware.ordering.speculation import FixedAlpha

#: Nodes: of the gate, of what is near, where the detector begins, where it goes to.
GATE_NODE, NEAR_NODE, OLD, NEW = range(4)

#: One-way latencies in microseconds. Over the new node's direct path ``near`` is 20 ms later than over the old one's.
LATENCY_US = {(GATE_NODE, NEAR_NODE): 2_000, (GATE_NODE, OLD): 5_000, (GATE_NODE, NEW): 5_000,
              (NEAR_NODE, OLD): 3_000, (NEAR_NODE, NEW): 23_000, (OLD, NEW): 30_000}  # fmt: skip

MOVED = ("pass", None)
STEP_US = 5_000
MOVE_AT_US = 6_000_000


class Oscillating:
    """Emits what happened up to ``most_us`` ago; the delay goes up and down (002, section 5.1)."""

    def __init__(self, name: str, number: str, outputs: tuple[str, ...], most_us: int, every: int) -> None:
        self.spec = Spec(name, number, 2, ("raw.position",), outputs, outputs, horizon_us=most_us, source="002, 5.1")
        self._most_us, self._every = most_us, every

    def initial(self) -> int:
        """Number of positions."""
        return 0

    def step(self, state: int, event: Event) -> Step[int]:
        """Emit on every so many positions, dated back."""
        if state % self._every:
            return state + 1, NOTHING
        # Mostly short; the greatest delays are rare, so a K that is too small is found out late.
        phase = ((state * 2_654_435_761) % 2**32 / 2**32) ** 12
        kind = self.spec.outputs[(state // self._every) % len(self.spec.outputs)]
        ts_us = event.ts_us - round(self._most_us * (0.1 + 0.9 * phase))
        return state + 1, (Event(kind, ts_us, "x", state, state % 7, f"{kind}#{state}"),)


class Rare:
    """Emits once in so many positions."""

    def __init__(self, at: frozenset[int]) -> None:
        self.spec = Spec("rare", "2.3", 2, ("raw.position",), ("height",), ("height",), source="002, 5.2")
        self._at = at

    def initial(self) -> int:
        """Number of positions."""
        return 0

    def step(self, state: int, event: Event) -> Step[int]:
        """Emit at chosen positions."""
        out = (Event("height", event.ts_us, "x", state, 0, f"height#{state}"),) if state in self._at else NOTHING
        return state + 1, out


class Pass:
    """Four inputs: a peak while the ball is near leads to a pass."""

    def __init__(self) -> None:
        inputs = ("near", "not_near", "peak", "height")
        self.spec = Spec("pass", "6.1", 6, inputs, ("pass.start",), source="002, 5.2")

    def initial(self) -> str:
        """Nothing near."""
        return ""

    def step(self, state: str, event: Event) -> Step[str]:
        """Remember what is near; a peak meanwhile is a pass."""
        if event.kind in ("near", "not_near"):
            return event.id if event.kind == "near" else "", NOTHING
        if event.kind == "height" or not state:
            return state, NOTHING
        return "", (Event("pass.start", event.ts_us, "x", event.seq, None, f"pass#{event.id}", (state, event.id)),)


def hierarchy_with(rare_at: frozenset[int]) -> Hierarchy:
    """Make the five detectors."""
    near = Oscillating("near", "2.1", ("near", "not_near"), 45_000, 1)
    return Hierarchy(("raw.position",), [near, Oscillating("peak", "2.2", ("peak",), 2_000, 2), Rare(rare_at), Pass()])


@dataclass
class Moved:
    """Figures of a move.

    Attributes:
        k_us: K of the detector whenever it changed, behind the time since the takeover, by node.
        late: inputs later than K since the takeover.
        inputs_last_us: last arrival on the old node's unit and first on the new one's.
    """

    k_us: list[tuple[int, int, int]] = field(default_factory=list)
    late: int = 0
    late_before: int = 0


def moved(way: MoveSettings, seconds: float, loss: float, jitter_us: int, seed: int = 1) -> tuple[Moved, Outcome]:
    """Play a match with one move."""
    count = round(seconds * 1e6) // STEP_US
    # One before the move, and the first one 30 s after it.
    rare_at = frozenset({400, (MOVE_AT_US + 30_000_000) // STEP_US})
    pushes = []
    for n in range(count):
        event = Event("raw.position", n * STEP_US, "ball", n, n % 11)
        pushes.append((n * STEP_US + 1_000, [Arrival(event, n * STEP_US)]))
    ways = {pair: Way(us, jitter_us, loss) for pair, us in LATENCY_US.items()}
    ways |= {(other, one): way for (one, other), way in list(ways.items())}
    scenario = Scenario(
        pushes, ways, moves=[Ordered(MOVE_AT_US, MOVED, NEW)], links=LinkSettings(batch_us=0), moving=way
    )
    unit = UnitSettings(FixedAlpha(1.0), slack=SlackSettings("kslack", ignores_progress=True))
    figures = Moved()

    def look(now_us: int, node: Node) -> None:
        part = node.parts.get(MOVED)
        if not isinstance(part, Part) or not part.active or not part.units:
            return
        one = part.units[""]
        k_us, late = one.slack.k_us, one.counters.late
        if not figures.k_us or figures.k_us[-1][1:] != (node.me, k_us):
            figures.k_us.append((now_us, node.me, k_us))
        if node.me == OLD:
            figures.late_before = late
        elif now_us < (count - 1) * STEP_US:
            figures.late = late - figures.late_before

    placement = {"near": NEAR_NODE, "rare": NEAR_NODE, "peak": GATE_NODE, "pass": OLD}
    simulation = Simulation(
        lambda: hierarchy_with(rare_at), EngineSettings(unit), placement, 4, scenario, Random(seed), look
    )
    return figures, simulation.run()


WAYS = {
    "ours": MoveSettings(),
    "K kept": MoveSettings(adapts=False),
    "stop, copy, start": MoveSettings(prepares=False, adapts=False),
    "forward everything": MoveSettings(selective=False),
}


def figures_of(seconds: float, loss: float, jitter_us: int) -> dict[str, dict[str, Any]]:
    """Figures by way."""
    rows = {}
    for name, way in WAYS.items():
        figures, outcome = moved(way, seconds, loss, jitter_us)
        at_us = {note.what: note.at_us for note in outcome.notes if note.part == MOVED}
        direct_us = max(note.at_us for note in outcome.notes if note.what == "direct")
        before = [k_us for now_us, node, k_us in figures.k_us if node == OLD][-1]
        after = [(now_us, k_us) for now_us, node, k_us in figures.k_us if node == NEW]
        stream = [k_us for now_us, k_us in after if now_us < seconds * 1e6]
        left_us = [now_us for now_us, update in outcome.log if update.event.kind == "pass.start"]
        left_us = [us for us in left_us if us < seconds * 1e6]
        rows[name] = {
            "k_before_ms": before / 1e3,
            "k_first_ms": stream[0] / 1e3,
            "k_after_1_s_ms": [k_us for us, k_us in after if us <= at_us["took over"] + 1_000_000][-1] / 1e3,
            "k_last_ms": stream[-1] / 1e3,
            "late": figures.late,
            "forwarded": outcome.forwarded,
            "echoes": outcome.echoes,
            "pause_ms": (at_us["took over"] - at_us["left"]) / 1e3,
            "longest_gap_ms": max(b - a for a, b in pairwise(left_us)) / 1e3,
            "all_direct_s": (direct_us - at_us["took over"]) / 1e6,
            "passes": len(left_us),
        }
    return rows


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--loss", type=float, default=0.0)
    parser.add_argument("--jitter-ms", type=float, default=0.0)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    rows = figures_of(given.seconds, given.loss, round(given.jitter_ms * 1e3))
    names = list(next(iter(rows.values())))
    print(f"{'way':20}" + "".join(f"{name:>16}" for name in names))
    for way, row in rows.items():
        print(f"{way:20}" + "".join(f"{row[name]:16g}" for name in names))
    if given.json:
        given.json.write_text(json.dumps(rows, indent=2))


if __name__ == "__main__":
    main()
