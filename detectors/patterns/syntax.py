"""The parts of a query: what text and Python both build, and what the compiler reads.

A query is a structure of steps (``SEQ``, ``AND``, ``OR``), conditions, a window, keys, and a selection strategy.
docs/patterns.md has the meaning of each.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from football.errors import UserError
from football.pitch import Pitch

#: Selection strategies. ``stnm`` skips till the next match, ``stam`` till any match (maximal ones); ``-all`` keeps
#: every repetition that a Kleene step allows; ``strict`` wants neighbours.
Strategy = Literal["stnm", "stam", "stnm-all", "stam-all", "strict"]

#: Line and column of a text, from 1; (0, 0) where no text was read.
Position = tuple[int, int]

NOWHERE: Position = (0, 0)


class PatternError(UserError, ValueError):
    """A query that means nothing; the message has line and column, the reason, and how to mend it."""

    def __init__(self, reason: str, mend: str = "", at: Position = NOWHERE) -> None:
        place = f"line {at[0]}, column {at[1]}: " if at != NOWHERE else ""
        super().__init__(f"{place}{reason}{'. ' + mend if mend else ''}")


class Step(NamedTuple):
    """Events of one kind at one place of a pattern.

    Attributes:
        kind: of the events; ``pass.*`` stands for every kind that begins with ``pass.``.
        name: of the binding, for conditions; empty for none.
        least, most: how many events; ``most`` is None for any number.
        negated: True if no such event may be there.
        at: where the text has it.
    """

    kind: str
    name: str = ""
    least: int = 1
    most: int | None = 1
    negated: bool = False
    at: Position = NOWHERE

    def takes(self, kind: str) -> bool:
        """True if events of this kind fit."""
        return kind == self.kind or (self.kind.endswith(".*") and kind.startswith(self.kind[:-1]))


class Seq(NamedTuple):
    """Parts that follow one another."""

    parts: tuple[Any, ...]


class And(NamedTuple):
    """Parts that follow one another in any order; one is complete before the next begins."""

    parts: tuple[Any, ...]


class Or(NamedTuple):
    """One of several parts."""

    parts: tuple[Any, ...]


Part = Step | Seq | And | Or


class Node(NamedTuple):
    """An expression of a condition.

    Attributes:
        op: ``number``, ``text``, ``truth``, ``field`` (name of a binding, name of a value), ``call`` (function, then
            its arguments), ``and``, ``or``, ``not``, ``minus``, or an operator such as ``<=`` or ``+``.
        args: nodes, or the values of a leaf.
        at: where the text has it.
    """

    op: str
    args: tuple[Any, ...]
    at: Position = NOWHERE


class Limit(NamedTuple):
    """A bound on a match besides time: how many events of some kinds may lie within it, of whatever partition.

    Attributes:
        kinds: that are counted; the first is the one of the hierarchy.
        most: how many there may be from the first to the last event of a match.
        with_first: True if one at the instant of the first event counts.
    """

    kinds: tuple[str, ...]
    most: int
    with_first: bool


#: Kinds that are counted by ``WITHIN 3 passes``, and by ``WITHIN possession``.
PASSES = ("pass.attempt", "pass")
POSSESSIONS = ("chain.start", "possession")


class Query(NamedTuple):
    """A pattern with all its clauses.

    Attributes:
        structure: the steps.
        within_us: the window, inclusive: event time from the first to the last event of a match.
        limits: further bounds of the window, by passes and possession.
        where: the condition, or None.
        keys: names of values that all events of a match share; without any, all events are one partition.
        strategy: None leaves the choice to who runs it (``stnm``).
        ties: True if events of one instant may follow one another, in canonical order.
        returns: names and expressions of what a match carries.
        name: of the pattern.
        pitch: for ``zone`` and ``in_area``.
    """

    structure: Part
    within_us: int
    limits: tuple[Limit, ...] = ()
    where: Node | None = None
    keys: tuple[str, ...] = ()
    strategy: Strategy | None = None
    ties: bool = False
    returns: tuple[tuple[str, Node], ...] = ()
    name: str = ""
    pitch: Pitch = Pitch()


class PatternEvent(NamedTuple):
    """An event as patterns see it; the canonical order is the order of these tuples.

    Attributes:
        ts_us: event time.
        order: decides between events of one instant; with ``id`` it is unique.
        id: of the event.
        kind: its type.
        payload: its values by name. Never compared, because ids differ before.
    """

    ts_us: int
    order: tuple[Any, ...]
    id: str
    kind: str
    payload: dict[str, Any]


def steps_of(part: Part) -> list[Step]:
    """All steps of a structure, in the order of the text."""
    return [part] if isinstance(part, Step) else [step for inner in part.parts for step in steps_of(inner)]


def kinds_of(query: Query) -> list[str]:
    """All kinds that a query looks at, each once."""
    steps = (step.kind for step in steps_of(query.structure))
    return list(dict.fromkeys([*steps, *(kind for limit in query.limits for kind in limit.kinds)]))


def conjuncts(where: Node | None) -> list[Node]:
    """The conditions that ``AND`` joins, at the top of a condition."""
    if where is None:
        return []
    return [one for arg in where.args for one in conjuncts(arg)] if where.op == "and" else [where]


def renamed(node: Any, names: Mapping[str, str]) -> Any:
    """An expression with other names of bindings and without positions; equal expressions become equal values."""
    if not isinstance(node, Node):
        return node
    if node.op == "field":
        return Node("field", (names.get(node.args[0], ""), *node.args[1:]))
    return Node(node.op, tuple(renamed(arg, names) for arg in node.args))


def shape_of(query: Query) -> Query:
    """A query without its window, its name and what it returns, and with its steps named by their numbers.

    Queries with one shape have the same matches, except for the window.
    """
    steps = steps_of(query.structure)
    names = {step.name: f"#{number}" for number, step in enumerate(steps) if step.name}
    numbers = iter(range(len(steps)))

    def unnamed(part: Part) -> Part:
        if isinstance(part, Step):
            return part._replace(name=f"#{next(numbers)}", at=NOWHERE)
        return type(part)(tuple(unnamed(one) for one in part.parts))

    return query._replace(
        structure=unnamed(query.structure), within_us=0, where=renamed(query.where, names), returns=(), name=""
    )


#: Functions over all events of a binding; ``count`` takes the binding, the others one of its values.
AGGREGATES = ("count", "sum", "avg", "min", "max", "first", "last", "distinct")

#: Functions of two or one values of single events, and of their place.
FUNCTIONS = ("abs", "distance", "same_team", "same_player", "opponents", "zone", "in_area")


def references(node: Any, *, inside: bool = False) -> list[tuple[str, bool, Position]]:
    """Bindings that an expression names: (name, True if within an aggregate, position)."""
    if not isinstance(node, Node):
        return []
    if node.op == "field":
        return [(node.args[0], inside, node.at)]
    inside = inside or (node.op == "call" and node.args[0] in AGGREGATES)
    return [one for arg in node.args for one in references(arg, inside=inside)]
