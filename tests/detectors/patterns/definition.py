"""The meaning of a pattern, by brute force: every pick of events is tried. For streams of some ten events.

It shares nothing with the engine except the parts of a query. docs/patterns.md has the same definitions in words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise, permutations, product
from typing import Any

from detectors.patterns.syntax import AGGREGATES, And, Node, Or, PatternEvent, Query, Step, conjuncts, references

#: For each positive step of an alternative, the events that are bound to it.
Bound = tuple[tuple[PatternEvent, ...], ...]


def matches(query: Query, strategy: str, events: Sequence[PatternEvent]) -> set[tuple[str, ...]]:
    """Ids of all matches of a query in a set of events; copies count once."""
    stream = sorted({event.id: event for event in events}.values())
    partitions: dict[tuple[Any, ...], list[PatternEvent]] = {}
    for event in stream:
        key = tuple(event.payload.get(name) for name in query.keys)
        if None not in key:
            partitions.setdefault(key, []).append(event)
    found = set()
    for part in partitions.values():
        for steps in alternatives(query.structure):
            for bound in Definition(query, steps, part, stream).select(strategy):
                found.add(tuple(event.id for each in bound for event in each))
    return found


def alternatives(part: Any) -> list[list[Step]]:
    """The sequences of steps that a structure stands for."""
    if isinstance(part, Step):
        return [[part]]
    inner = [alternatives(one) for one in part.parts]
    if isinstance(part, Or):
        return [steps for each in inner for steps in each]
    orders = permutations(inner) if isinstance(part, And) else [inner]
    return [[step for steps in choice for step in steps] for order in orders for choice in product(*order)]


class Definition:
    """One sequence of steps over one partition, in canonical order."""

    def __init__(
        self, query: Query, steps: list[Step], stream: list[PatternEvent], everything: list[PatternEvent]
    ) -> None:
        self.query, self.stream, self.everything = query, stream, everything
        self.steps = [step for step in steps if not step.negated]
        #: Negated steps, each with the number of positive steps before it.
        self.negated = [(sum(not s.negated for s in steps[:at]), step) for at, step in enumerate(steps) if step.negated]
        self.index = {step.name: at for at, step in enumerate(self.steps) if step.name}
        known = {*self.index, *(step.name for _, step in self.negated)}
        self.conditions = [
            node for node in conjuncts(query.where) if {name for name, _, _ in references(node)} <= known
        ]
        nots = {step.name for _, step in self.negated if step.name}
        self.of_negated = {
            name: [n for n in self.conditions if name in {r for r, _, _ in references(n)}] for name in nots
        }
        self.conditions = [n for n in self.conditions if not nots & {r for r, _, _ in references(n)}]

    def select(self, strategy: str) -> list[Bound]:
        """The matches that a strategy selects."""
        if strategy == "stnm":
            return [bound for event in self.stream for bound in [self.next_match(event)] if bound]
        if strategy == "stnm-all":
            return [bound for event in self.stream for bound in self.branching(event)]
        found = [bound for bound in self.all_picks(contiguous=strategy == "strict") if self.accepted(bound)]
        return found if strategy == "stam-all" else [b for b in found if not any(larger(o, b) for o in found)]

    def before(self, first: PatternEvent, second: PatternEvent) -> bool:
        """True if the second event is strictly after the first."""
        return first < second and (self.query.ties or first.ts_us < second.ts_us)

    def in_window(self, first: PatternEvent, last: PatternEvent) -> bool:
        """True if a match may reach from one event to another."""
        for limit in self.query.limits:
            begin_us = first.ts_us if limit.with_first else first.ts_us + 1
            counted = [e for e in self.everything if e.kind in limit.kinds and begin_us <= e.ts_us <= last.ts_us]
            if len(counted) > limit.most:
                return False
        return last.ts_us - first.ts_us <= self.query.within_us

    def all_picks(self, *, contiguous: bool) -> Iterator[Bound]:
        """Every increasing pick within the window, in every spelling."""
        for size in range(1, len(self.stream) + 1):
            for places in combinations(range(len(self.stream)), size):
                if contiguous and places[-1] - places[0] != size - 1:
                    continue
                pick = [self.stream[at] for at in places]
                in_order = all(self.before(a, b) for a, b in pairwise(pick))
                if in_order and self.in_window(pick[0], pick[-1]):
                    yield from self.spellings(pick, 0)

    def spellings(self, pick: list[PatternEvent], at: int) -> Iterator[Bound]:
        """Every way to spread a pick over the steps from one on."""
        if at == len(self.steps):
            if not pick:
                yield ()
            return
        step = self.steps[at]
        for count in range(step.least, len(pick) + 1 if step.most is None else min(step.most, len(pick)) + 1):
            if all(step.takes(event.kind) for event in pick[:count]):
                for rest in self.spellings(pick[count:], at + 1):
                    yield (tuple(pick[:count]), *rest)

    # Greedy strategies: which event a run takes next.

    def next_match(self, start: PatternEvent) -> Bound | None:
        """The run of a start takes each event that fits; its longest accepted state is the match."""
        state = next((s for s in self.taken(None, start)), None)
        best = None
        while state is not None:
            bound, _ = state
            best = bound if self.accepted(bound) else best
            later = (s for event in self.stream for s in self.taken(state, event))
            state = next(later, None)
        return best

    def branching(self, start: PatternEvent) -> list[Bound]:
        """Every step that may come next takes the first event that fits it: a run for each."""
        runs, found = list(self.taken(None, start)), []
        while runs:
            state = runs.pop()
            if self.accepted(state[0]):
                found.append(state[0])
            for step in self.options(state):
                fitting = (s for event in self.stream for s in self.taken(state, event) if s[1] == step)
                runs += [s for s in [next(fitting, None)] if s is not None]
        return found

    def options(self, state: tuple[Bound, int] | None) -> list[int]:
        """Steps that may take the next event, the furthest first; the step that repeats is last."""
        at, count = (state[1], len(state[0][state[1]])) if state else (-1, 0)
        found = []
        if state is None or count >= self.steps[at].least:
            for step in range(at + 1, len(self.steps)):
                found.append(step)
                if self.steps[step].least:
                    break
        found.reverse()
        most = self.steps[at].most if state else 0
        return [*found, at] if most is None or count < most else found

    def taken(self, state: tuple[Bound, int] | None, event: PatternEvent) -> Iterator[tuple[Bound, int]]:
        """States of a run after it takes an event."""
        bound = state[0] if state else ((),) * len(self.steps)
        flat = [e for each in bound for e in each]
        if flat and not (self.before(flat[-1], event) and self.in_window(flat[0], event)):
            return
        for at in self.options(state):
            if self.steps[at].takes(event.kind):
                grown = (*bound[:at], (*bound[at], event), *bound[at + 1 :])
                if self.decided_hold(grown, at):
                    yield grown, at

    # Conditions.

    def decided_hold(self, bound: Bound, at: int) -> bool:
        """True if every condition holds that later events cannot change."""
        return all(self.holds(n, bound) for n in self.conditions if self.is_decided(n, at)) and all(
            self.is_absent(place, step, bound)
            for place, step in self.negated
            if 0 < place <= at and self.is_decided_early(place, step)
        )

    def is_decided(self, node: Node, at: int) -> bool:
        for name, aggregated, _ in references(node):
            step = self.index[name]
            if step > at or (aggregated and step == at and self.steps[at].most != 1):
                return False
        return True

    def is_decided_early(self, place: int, step: Step) -> bool:
        names = {r for n in self.of_negated.get(step.name, ()) for r, _, _ in references(n)} - {step.name}
        return all(
            self.index[name] < place or (self.index[name] == place and self.steps[place].most == 1) for name in names
        )

    def accepted(self, bound: Bound) -> bool:
        """True if the steps have their counts, and all conditions hold."""
        counts = all(
            s.least <= len(b) and (s.most is None or len(b) <= s.most) for s, b in zip(self.steps, bound, strict=True)
        )
        return (
            counts
            and all(self.holds(node, bound) for node in self.conditions)
            and all(self.is_absent(place, step, bound) for place, step in self.negated)
        )

    def is_absent(self, place: int, step: Step, bound: Bound) -> bool:
        """True if no event that the negated step forbids stands in its gap."""
        flat = [e for each in bound for e in each]
        last = [e for each in bound[:place] for e in each][-1:]
        following = [e for each in bound[place:] for e in each][:1]
        for event in self.stream:
            if not step.takes(event.kind):
                continue
            if (last and not self.before(last[0], event)) or (following and not self.before(event, following[0])):
                continue
            if not last and not self.in_window(event, flat[-1]):
                continue
            if not following and not self.in_window(flat[0], event):
                continue
            if all(self.holds(n, bound, {step.name: event}) for n in self.of_negated.get(step.name, ())):
                return False
        return True

    def holds(self, node: Node, bound: Bound, fixed: dict[str, PatternEvent] | None = None) -> bool:
        """True if a condition holds for each choice of one event of every binding that it names."""
        fixed = fixed or {}
        named = sorted({name for name, aggregated, _ in references(node) if not aggregated} - fixed.keys())
        for choice in product(*(bound[self.index[name]] for name in named)):
            if self.value(node, bound, {**dict(zip(named, choice, strict=True)), **fixed}) is not True:
                return False
        return True

    def value(self, node: Any, bound: Bound, chosen: dict[str, PatternEvent]) -> Any:
        """The value of an expression; None where it is not known."""
        if node.op in ("number", "text", "truth"):
            return node.args[0]
        if node.op == "field":
            return read(chosen[node.args[0]], node.args[1])
        if node.op == "call" and node.args[0] in AGGREGATES:
            name, field = node.args[1].args
            values = [read(event, field) for event in bound[self.index[name]]]
            return aggregate(node.args[0], values)
        if node.op == "call":
            return function(
                node.args[0],
                [chosen[n.args[0]] if n.args[1] == "" else self.value(n, bound, chosen) for n in node.args[1:]],
            )
        values = [self.value(arg, bound, chosen) for arg in node.args]
        if node.op == "and":
            return False if False in values else None if None in values else True
        if node.op == "or":
            return True if True in values else None if None in values else False
        if None in values:
            return None
        return operate(node.op, values)


def read(event: PatternEvent, field: str) -> Any:
    """A value of an event."""
    own = {"id": event.id, "kind": event.kind, "ts_ms": event.ts_us / 1000}
    return own[field] if field in own else event.payload.get(field)


def aggregate(name: str, values: list[Any]) -> Any:
    """An aggregate of the values of a binding; events without the value do not count."""
    if name == "count":
        return len(values)
    values = [v for v in values if v is not None]
    if name == "sum":
        return sum(values)
    if name == "distinct":
        return len(set(values))
    if not values:
        return None
    if name == "avg":
        return sum(values) / len(values)
    return {"min": min, "max": max, "first": lambda v: v[0], "last": lambda v: v[-1]}[name](values)


def function(name: str, values: list[Any]) -> Any:
    """A function of values or events."""
    if name == "abs":
        return None if values[0] is None else abs(values[0])
    raise AssertionError(f"the definition has no {name}")


def operate(op: str, values: list[Any]) -> Any:
    """An operator; None for values that it cannot take together."""
    first = values[0]
    try:
        if op in ("not", "minus"):
            return (not first) if op == "not" else -first
        second = values[1]
        return {
            "=": lambda: first == second, "!=": lambda: first != second, "<": lambda: first < second,
            "<=": lambda: first <= second, ">": lambda: first > second, ">=": lambda: first >= second,
            "+": lambda: first + second, "-": lambda: first - second, "*": lambda: first * second,
            "/": lambda: first / second,
        }[op]()  # fmt: skip
    except (TypeError, ZeroDivisionError):
        return None


def larger(other: Bound, bound: Bound) -> bool:
    """True if the other match binds all that this one binds, and more."""
    return other != bound and all({e.id for e in b} <= {e.id for e in o} for b, o in zip(bound, other, strict=True))
