"""Who listens to a kind, and how a word reaches them: tables made once, so that a word costs a call a listener."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from middleware.detector import KeyedDetector
from middleware.hierarchy import Hierarchy
from middleware.ordering.unit import Given


class Keyed(NamedTuple):
    """A keyed detector that listens to a kind: its place, and what each of its units was given in this push."""

    detector: KeyedDetector[object]
    number: int
    given: dict[str, list[Given]]


class Listeners(NamedTuple):
    """Who listens to a kind: what takes a word for each detector that is not keyed, and the keyed ones."""

    plain: tuple[Callable[[Given], None], ...]
    keyed: tuple[Keyed, ...]


def wired(
    hierarchy: Hierarchy,
    keyed: Sequence[KeyedDetector[object] | None],
    given: Sequence[list[Given]],
    given_by_key: Sequence[dict[str, list[Given]]],
) -> dict[str, Listeners]:
    """The listeners of each kind.

    Args:
        hierarchy: who subscribes to what.
        keyed: the detectors that are keyed, at their places.
        given, given_by_key: where what a detector is given is put down, at its place.
    """

    def listeners(places: tuple[int, ...]) -> Listeners:
        found = [(keyed[place], place) for place in places]
        return Listeners(
            tuple(given[place].append for detector, place in found if detector is None),
            tuple(Keyed(detector, place, given_by_key[place]) for detector, place in found if detector is not None),
        )

    return {kind: listeners(places) for kind, places in hierarchy.subscribers.items()}
