"""The values that ``RETURN`` gives a match."""

from __future__ import annotations

from typing import Any

from detectors.patterns.branches import compile_branches
from detectors.patterns.expressions import compile_value
from detectors.patterns.search import Bindings, Match, Search, flat
from detectors.patterns.syntax import Node, PatternError, Query, references, steps_of


class Returns:
    """Computes what a query returns, from the events of a match alone.

    Where the events fit the steps in several ways, the first way in the order of the branches counts.

    Raises:
        PatternError: a step that may have several events is named outside an aggregate.
    """

    def __init__(self, query: Query) -> None:
        self.query = query
        steps = {step.name: step for step in steps_of(query.structure)}
        for _, node in query.returns:
            for name, inside, at in references(node):
                if not inside and steps[name].most != 1:
                    raise PatternError(f"{name} may have several events", f"Write first({name}...), say", at)
        # NOT concerns events that are no part of the match.
        self._branches = compile_branches(query)

    def values(self, match: Match) -> dict[str, Any]:
        """Names and values; None where a value is not known."""
        for branch in self._branches:
            lists = [[event for event in match if branch.fits(at, event)] for at in range(len(branch.steps))]
            nothing: list[list[Any]] = [[] for _ in branch.negations]
            search = Search(self.query, branch, lists, nothing, list(match), most=1_000_000)
            for bound in search.picks(match[0], contiguous=True):
                if flat(bound) == match:
                    slots = {step.name: at for at, step in enumerate(branch.steps) if step.name}
                    return {name: self._value(node, slots, bound) for name, node in self.query.returns}
        return {name: None for name, _ in self.query.returns}

    def _value(self, node: Node, slots: dict[str, int], bound: Bindings) -> Any:
        named = references(node)
        if any(name not in slots or (not inside and not bound[slots[name]]) for name, inside, _ in named):
            return None
        chosen = {slots[name]: bound[slots[name]][0] for name, inside, _ in named if not inside}
        return compile_value(node, slots, self.query.pitch)(bound, chosen)
