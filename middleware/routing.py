"""Routing: tables, made once, of the subscribers of each kind and of how an update reaches them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from middleware.detector import KeyedDetector
from middleware.hierarchy import Hierarchy
from middleware.ordering.unit import KeyedUpdate


class KeyedSubscription(NamedTuple):
    """A keyed detector that subscribes to a kind: its number, and the inputs of each of its units in this push."""

    detector: KeyedDetector[object]
    number: int
    inputs: dict[str, list[KeyedUpdate]]


class Subscriptions(NamedTuple):
    """The subscribers of a kind: an ``append`` for each detector that is not keyed, and the keyed ones."""

    plain: tuple[Callable[[KeyedUpdate], None], ...]
    keyed: tuple[KeyedSubscription, ...]


def subscriptions(
    hierarchy: Hierarchy,
    keyed: Sequence[KeyedDetector[object] | None],
    inputs: Sequence[list[KeyedUpdate]],
    inputs_by_key: Sequence[dict[str, list[KeyedUpdate]]],
) -> dict[str, Subscriptions]:
    """Return the subscriptions of each kind.

    Args:
        hierarchy: has the subscribers of each kind.
        keyed: at the index of each keyed detector that detector, else None.
        inputs, inputs_by_key: receive the inputs of a push, at the index of the detector.
    """

    def of(indices: tuple[int, ...]) -> Subscriptions:
        detectors = [(keyed[index], index) for index in indices]
        return Subscriptions(
            tuple(inputs[index].append for detector, index in detectors if detector is None),
            tuple(KeyedSubscription(d, index, inputs_by_key[index]) for d, index in detectors if d is not None),
        )

    return {kind: of(indices) for kind, indices in hierarchy.subscribers.items()}
