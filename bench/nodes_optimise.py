"""How soon does the optimiser follow subscriptions that change, and how much traffic does it save (002, section 5.3)?

Eight detectors on two nodes send each other events. After every 100 s others of them do, so another allocation is the
best. The optimiser measures for a cycle, searches for a fixed number of iterations (so the result can be repeated), and
moves at most two detectors. All in virtual time, with the moves of ``middleware.nodes``. Printed: events a second that
cross between the nodes, for a fixed allocation, the best one of each phase, and ours.

    python -m bench.nodes_optimise [--seconds 300] [--cycle 5]
"""

from __future__ import annotations

import argparse
from random import Random

import numpy as np

from middleware.detector import NOTHING, Spec, Step
from middleware.events import Arrival, Event
from middleware.hierarchy import Hierarchy
from middleware.nodes.move_records import MoveSettings
from middleware.nodes.node import Node
from middleware.nodes.simulation import Scenario, Simulation
from middleware.ordering.policy import EngineSettings
from middleware.placement.graph import PlacedDetector, PlacedNode, PlacementGraph, Problem, Subscription, Weights
from middleware.placement.incremental import Incremental, IncrementalSettings
from middleware.placement.place import place

#: Who sends to whom in each of the two phases, and how many events on each tick.
PHASES = (
    {(0, 1): 3, (0, 2): 2, (1, 3): 3, (2, 3): 2, (4, 5): 3, (4, 6): 2, (5, 7): 3, (6, 7): 2, (3, 4): 1},
    {(0, 1): 3, (0, 6): 2, (1, 7): 3, (6, 7): 2, (2, 3): 3, (2, 4): 2, (3, 5): 3, (4, 5): 2, (1, 2): 1},
)
EDGES = sorted({edge for phase in PHASES for edge in phase})
#: The fixed allocation of the paper: detectors 0, 2, 5 and 7 on the first node.
STATIC = {f"d{n}": 0 if n in (0, 2, 5, 7) else 1 for n in range(8)}
TICK_US, SWAP_US = 100_000, 100_000_000


class Sender:
    """Sends to the detectors that subscribe in the phase of a tick."""

    def __init__(self, number: int) -> None:
        inputs = tuple(f"e{a}.{b}" for a, b in EDGES if b == number)
        outputs = tuple(f"e{a}.{b}" for a, b in EDGES if a == number) or (f"e{number}.",)
        self.spec = Spec(
            f"d{number}", f"{number + 2}.1", number + 2, ("tick", *inputs), outputs, outputs, source="002, 5.3"
        )
        self._number = number

    def initial(self) -> None:
        """No state."""

    def step(self, state: None, event: Event) -> Step[None]:
        """Send on a tick; what arrives is only counted."""
        if event.kind != "tick":
            return None, NOTHING
        phase = PHASES[event.ts_us // SWAP_US % 2]
        out = [
            Event(f"e{a}.{b}", event.ts_us, "x", event.seq * 4 + n)
            for (a, b), count in phase.items()
            if a == self._number
            for n in range(count)
        ]
        return None, out


def graph_of(rates: dict[tuple[int, int], float]) -> PlacementGraph:
    """Return the graph of measured rates: two nodes with room for five detectors each."""
    edges = tuple(Subscription(f"d{a}", f"d{b}", rate) for (a, b), rate in rates.items())
    detectors = tuple(PlacedDetector(f"d{n}", 1.0) for n in range(8))
    nodes = (PlacedNode("0", 5.0), PlacedNode("1", 5.0))
    return PlacementGraph(detectors, edges, nodes, ((0.0, 1.0), (1.0, 0.0)), Weights(1.0, 0.0))


class Master:
    """Measures, searches and orders moves, a cycle after another; the optimisation master of the paper."""

    def __init__(self, cycle_us: int, *, optimises: bool) -> None:
        self._cycle_us, self._optimises = cycle_us, optimises
        self._next_us = cycle_us
        self._sent: dict[tuple[int, int], int] = {}
        self._seen: dict[tuple[int, int], int] = {}
        self._optimiser = Incremental(IncrementalSettings())
        #: Time, events a second that cross.
        self.traffic: list[tuple[float, float]] = []
        self.moves = 0

    def look(self, now_us: int, node: Node) -> None:
        """Count what the parts of a node have sent; at the end of a cycle search and order moves."""
        for part in node.parts.values():
            if part.active and part.name[0].startswith("d"):
                for kind, output in part.outputs.items():
                    a, _, b = kind[1:].partition(".")
                    if b:
                        self._sent[int(a), int(b)] = output.seq
        if node.me != 0 or now_us < self._next_us:
            return
        self._next_us += self._cycle_us
        seconds = self._cycle_us / 1e6
        rates = {edge: (seq - self._seen.get(edge, 0)) / seconds for edge, seq in self._sent.items()}
        self._seen = dict(self._sent)
        where = {f"d{n}": str(node.where[f"d{n}", None]) for n in range(8)}
        crossing = sum(rate for (a, b), rate in rates.items() if where[f"d{a}"] != where[f"d{b}"])
        self.traffic.append((now_us / 1e6, crossing))
        if self._optimises and node.moves.is_idle:
            left = iter(range(200))
            graph = graph_of({edge: rate for edge, rate in rates.items() if rate})
            for name, target in self._optimiser.cycle(graph, where, lambda: next(left, None) is None):
                self.moves += 1
                node.moves.order((name, None), int(target))


def play(seconds: float, cycle_us: int, *, optimises: bool) -> Master:
    """Play the ticks over two nodes, beginning with the fixed allocation."""
    count = round(seconds * 1e6) // TICK_US
    pushes = [(n * TICK_US, [Arrival(Event("tick", n * TICK_US, "clock", n), n * TICK_US)]) for n in range(count)]
    master = Master(cycle_us, optimises=optimises)
    scenario = Scenario(pushes, moving=MoveSettings(settle_us=1_000_000))
    Simulation(
        lambda: Hierarchy(("tick",), [Sender(n) for n in range(8)]),
        EngineSettings(), STATIC, 2, scenario, Random(1), master.look,
    ).run()  # fmt: skip
    return master


def main() -> None:
    """Print traffic over time and the share of the possible saving."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--cycle", type=float, default=5.0)
    given = parser.parse_args()
    graphs = [graph_of({edge: n * 1e6 / TICK_US for edge, n in phase.items()}) for phase in PHASES]
    left = iter(range(200))
    ideal = [place(graph, lambda: next(left, None) is None, 1.0).cost for graph in graphs]
    problems = [Problem(graph) for graph in graphs]
    static = [problem.cost(np.array([STATIC[name] for name in problem.names])) for problem in problems]
    master = play(given.seconds, round(given.cycle * 1e6), optimises=True)
    saved = possible = 0.0
    reached: dict[int, float] = {}
    for at_s, crossing in master.traffic:
        swap = int((at_s - given.cycle / 2) * 1e6 // SWAP_US)
        saved += static[swap % 2] - crossing
        possible += static[swap % 2] - ideal[swap % 2]
        if crossing <= 1.05 * ideal[swap % 2]:
            reached.setdefault(swap, at_s - swap * SWAP_US / 1e6)
    print(
        "crossing events/s, fixed: "
        + ", ".join(f"{x:g}" for x in static)
        + "; best: "
        + ", ".join(f"{x:g}" for x in ideal)
    )
    print("ours, every cycle: " + " ".join(f"{x:.0f}" for _, x in master.traffic))
    print(f"share of the possible saving: {saved / possible:.3f}; moves: {master.moves}")
    print("seconds until within 5 % of the best: " + ", ".join(f"phase {n}: {s:.0f}" for n, s in reached.items()))


if __name__ == "__main__":
    main()
