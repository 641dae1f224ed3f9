"""Compile a query into branches: sequences of steps without ``AND`` and ``OR``.

A match of the query is a match of one of its branches. A branch knows at which moment each condition is decided, so
that a search drops what cannot become a match at once.
"""

from __future__ import annotations

from functools import cached_property
from itertools import permutations, product
from typing import Any, NamedTuple

from detectors.patterns.expressions import Bound, Chosen, Condition
from detectors.patterns.syntax import (
    And,
    Node,
    Or,
    Part,
    PatternError,
    PatternEvent,
    Query,
    Step,
    Strategy,
    conjuncts,
    references,
    steps_of,
)

#: More branches than this are refused: AND of n parts has n! orders.
MOST_BRANCHES = 120


class Negation(NamedTuple):
    """A step that forbids events in a gap.

    Attributes:
        step: which events.
        place: number of positive steps before the gap; 0: before the match, within the window that ends with it; the
            number of all steps: after it, within the window that begins with it.
        own: conditions on the event alone.
        others: conditions that name other bindings, too.
        slot: of the event in these conditions.
        early: True if it is decided as soon as the gap closes; else when the match is complete.
    """

    step: Step
    place: int
    own: tuple[Condition, ...]
    others: tuple[Condition, ...]
    slot: int
    early: bool

    def forbids_alone(self, event: PatternEvent) -> bool:
        """True if the event is one of those, as far as it alone decides."""
        return self.step.takes(event.kind) and meets(self.own, self.slot, event)


class Branch:
    """A sequence of steps with its conditions.

    Attributes:
        steps: the positive ones.
        own: for each step, the conditions on its events alone.
        when_taken: for each step, conditions that are decided when an event is taken there.
        when_left: for each step, conditions on aggregates that are decided when a later step takes an event.
        negations: of the branch.
        starts: steps that may take the first event.
        complete_from: the last step that needs an event; a match may be complete from there on.
    """

    def __init__(self, query: Query, steps: list[Step]) -> None:
        self.steps = tuple(step for step in steps if not step.negated)
        count = len(self.steps)
        self.own: list[list[Condition]] = [[] for _ in self.steps]
        self.when_taken: list[list[Condition]] = [[] for _ in self.steps]
        self.when_left: list[list[Condition]] = [[] for _ in self.steps]
        mandatory = [at for at, step in enumerate(self.steps) if step.least]
        if not mandatory:
            raise PatternError(
                "a pattern needs a step that takes an event",
                "Write + for *, or add a step",
                steps_of(query.structure)[0].at,
            )
        self.starts = tuple(range(mandatory[0] + 1))
        self.complete_from = mandatory[-1]
        slots = {step.name: at for at, step in enumerate(self.steps) if step.name}
        placed = _places(steps, mandatory)
        for slot, (step, _) in enumerate(placed, count):
            if step.name:
                slots[step.name] = slot
        of_slot: dict[int, list[Condition]] = {slot: [] for slot in range(count, count + len(placed))}
        for node in conjuncts(query.where):
            if {name for name, _, _ in references(node)} <= slots.keys():
                self._place(node, Condition(node, slots, query.pitch), count, of_slot)
        self.negations = tuple(
            self._negation(step, place, slot, of_slot[slot]) for slot, (step, place) in enumerate(placed, count)
        )

    def _place(self, node: Node, condition: Condition, count: int, of_slot: dict[int, list[Condition]]) -> None:
        """Put a condition where it is decided."""
        negated = [slot for slot in {*condition.plain, *condition.aggregated} if slot >= count]
        if negated:
            if len(negated) > 1 or negated[0] in condition.aggregated:
                raise PatternError("a condition may name one event of NOT, and no aggregate of it", "Split it", node.at)
            of_slot[negated[0]].append(condition)
            return
        growing = [slot for slot in condition.aggregated if self.steps[slot].most != 1]
        taken = max([*condition.plain, *(s for s in condition.aggregated if s not in growing)], default=-1)
        left = max(growing, default=-1)
        if left >= taken:
            self.when_left[max(left, 0)].append(condition)
        elif condition.plain == [taken] and not condition.aggregated:
            self.own[taken].append(condition)
        else:
            self.when_taken[taken].append(condition)
            if taken in condition.aggregated and not self.steps[taken].least:
                self.when_left[taken].append(condition)  # an aggregate of nothing, too, is decided then

    def _negation(self, step: Step, place: int, slot: int, conditions: list[Condition]) -> Negation:
        own = tuple(c for c in conditions if c.plain == [slot] and not c.aggregated)
        others = tuple(c for c in conditions if c not in own)
        named = {other for c in others for other in (*c.plain, *c.aggregated)} - {slot}
        inside = 0 < place < len(self.steps)
        early = inside and all(other < place or (other == place and self.steps[place].most == 1) for other in named)
        return Negation(step, place, own, others, slot, early)

    @cached_property
    def is_ambiguous(self) -> bool:
        """True if one event may fit two steps."""
        steps = self.steps
        return any(
            first.takes(second.kind) or second.takes(first.kind)
            for at, first in enumerate(steps)
            for second in steps[at + 1 :]
        )

    @cached_property
    def is_simple(self) -> bool:
        """True if every step wants one event or at least one, and no condition joins events."""
        return (
            all(step.least == 1 and step.most in (1, None) for step in self.steps)
            and not self.negations
            and not any(self.when_taken)
            and not any(self.when_left)
        )

    def nests(self, strategy: Strategy) -> bool:
        """True if the matches of a shorter window are those of a longer one that are short enough.

        Nothing but the window may depend on it: no repetition that it ends, and no NOT at either end.
        """
        first_single, last_single = (step.least == step.most == 1 for step in (self.steps[0], self.steps[-1]))
        inside = all(0 < negation.place < len(self.steps) for negation in self.negations)
        return inside and last_single and (first_single or strategy in ("stnm", "stnm-all")) and strategy != "strict"

    def options(self, at: int, count: int) -> tuple[int, ...]:
        """Steps that may take the next event, the furthest first, the one that repeats last.

        Args:
            at: the step that took the last event; -1 before the first one.
            count: of events that it has.
        """
        found: list[int] = []
        if at < 0 or count >= self.steps[at].least:
            for step in range(at + 1, len(self.steps)):
                found.append(step)
                if self.steps[step].least:
                    break
        found.reverse()
        if at >= 0:
            most = self.steps[at].most
            if most is None or count < most:
                found.append(at)
        return tuple(found)

    def fits(self, at: int, event: PatternEvent) -> bool:
        """True if a step takes such an event, as far as the event alone decides."""
        return self.steps[at].takes(event.kind) and meets(self.own[at], at, event)


def meets(own: Any, slot: int, event: PatternEvent) -> bool:
    """True if an event meets conditions on itself alone."""
    chosen: Chosen = {slot: event}
    nothing: Bound = ()
    return all(condition.value(nothing, chosen) is True for condition in own)


def _places(steps: list[Step], mandatory: list[int]) -> list[tuple[Step, int]]:
    """Negated steps, each with the number of positive steps before it."""
    placed, positive = [], 0
    last = sum(not step.negated for step in steps)
    for step in steps:
        if not step.negated:
            positive += 1
            continue
        if (0 < positive <= mandatory[0]) or (mandatory[-1] < positive < last):
            raise PatternError(
                f"NOT {step.kind} stands between a step that may be empty and the end of the pattern",
                "Write + for * at that side, or move the NOT to the end",
                step.at,
            )
        placed.append((step, positive))
    return placed


def compile_branches(query: Query) -> list[Branch]:
    """Compile a query.

    Raises:
        PatternError: names that clash or that no step has, too many orders, a NOT at the wrong place.
    """
    _check(query)
    sequences = _sequences(query.structure)
    return [Branch(query, steps) for steps in sequences]


def _sequences(part: Part) -> list[list[Step]]:
    if isinstance(part, Step):
        return [[part]]
    inner = [_sequences(one) for one in part.parts]
    if isinstance(part, Or):
        return [steps for each in inner for steps in each]
    orders: Any = permutations(inner) if isinstance(part, And) else [inner]
    found = []
    for order in orders:
        for choice in product(*order):
            found.append([step for steps in choice for step in steps])
            if len(found) > MOST_BRANCHES:
                raise PatternError(
                    f"AND and OR make more than {MOST_BRANCHES} sequences", "Split the pattern", steps_of(part)[0].at
                )
    return found


def _check(query: Query) -> None:
    """Refuse names that clash, names that no step has, and NOT outside SEQ."""
    steps = steps_of(query.structure)
    names: dict[str, Step] = {}
    for step in steps:
        if step.name in names:
            raise PatternError(f"{step.name} names two steps", "Choose another name", step.at)
        if step.name:
            names[step.name] = step
    _check_negations(query.structure, inside=False)
    known = ", ".join(names) or "none"
    nodes = [node for node in [query.where, *(node for _, node in query.returns)] if node is not None]
    for name, _, at in (one for node in nodes for one in references(node)):
        if name not in names:
            raise PatternError(f"no step is named {name}", f"Names are: {known}", at)
    for _, node in query.returns:
        for name, _, at in references(node):
            if names[name].negated:
                raise PatternError(f"{name} is never part of a match", "Return another binding", at)


def _check_negations(part: Part, *, inside: bool) -> None:
    if isinstance(part, Step):
        if part.negated and not inside:
            raise PatternError(f"NOT {part.kind} stands outside SEQ", "Write SEQ(a, NOT b, c)", part.at)
        return
    for one in part.parts:
        _check_negations(one, inside=not isinstance(part, And | Or))
