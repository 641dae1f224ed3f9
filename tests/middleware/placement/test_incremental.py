"""The optimiser of a running allocation: few moves at a time, none for little, and back if it was worse."""

from __future__ import annotations

from middleware.placement.graph import PlacedDetector, PlacedNode, PlacementGraph, Subscription, Weights
from middleware.placement.incremental import Incremental, IncrementalSettings

SPLIT = {"a": "0", "b": "1", "c": "0", "d": "1"}


def graph(capacity: float = 4.0, **rates: float) -> PlacementGraph:
    """Four detectors; ``ab=3`` is a subscription of b to a with 3 events a second."""
    nodes = tuple(PlacedNode(node, capacity) for node in "01")
    return PlacementGraph(
        tuple(PlacedDetector(name, 1.0) for name in "abcd"),
        tuple(Subscription(edge[0], edge[1], rate) for edge, rate in rates.items()),
        nodes,
        ((0.0, 1.0), (1.0, 0.0)),
        Weights(1.0, 0.0),
    )


def at_once():
    return True


def test_it_moves_at_most_so_many_at_once_and_reaches_the_best():
    optimiser = Incremental(IncrementalSettings(at_once=1))
    where = dict(SPLIT)
    rounds = []
    for _ in range(6):
        moves = optimiser.cycle(graph(ab=5, cd=4), where, at_once)
        rounds.append(len(moves))
        where.update(moves)
    assert max(rounds) == 1
    assert (where["a"], where["c"]) == (where["b"], where["d"])
    assert rounds[-1] == 0, "it rests when nothing is to be gained"


def test_it_does_not_move_for_little():
    quarter_less = graph(capacity=3.0, ab=4, ac=10, bd=3)
    assert Incremental(IncrementalSettings(hysteresis=0.5)).cycle(quarter_less, SPLIT, at_once) == ()
    assert Incremental().cycle(quarter_less, SPLIT, at_once) == (("b", "0"),)
    assert Incremental(IncrementalSettings(move_cost=6.0)).cycle(graph(ab=5), SPLIT, at_once) == ()
    assert Incremental().cycle(graph(ab=5), SPLIT, at_once)


def test_moves_after_which_the_cost_is_higher_are_taken_back_and_not_repeated_soon():
    optimiser = Incremental(IncrementalSettings(at_once=1, rest=2))
    (move,) = optimiser.cycle(graph(ab=5), SPLIT, at_once)
    where = SPLIT | {move[0]: move[1]}
    worse = {"ac": 20.0} if move[0] == "a" else {"bd": 20.0}
    back = optimiser.cycle(graph(ab=5, **worse), where, at_once)
    assert back == ((move[0], SPLIT[move[0]]),)
    assert optimiser.taken_back == 1
    assert move not in optimiser.cycle(graph(ab=5), SPLIT, at_once)


def test_a_full_node_gets_nothing_more():
    full = PlacementGraph(
        tuple(PlacedDetector(name, 2.0) for name in "abcd"),
        (Subscription("a", "b", 9.0),),
        (PlacedNode("0", 4.0), PlacedNode("1", 4.0)),
        ((0.0, 1.0), (1.0, 0.0)),
        Weights(1.0, 0.0),
    )
    optimiser = Incremental(IncrementalSettings(at_once=1))
    assert optimiser.cycle(full, SPLIT, at_once) == (), "an exchange needs room for one detector on the way"
