"""Describes a query in words: its sequences, where conditions are decided, and how it is searched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from detectors.patterns.branches import Branch, compile_branches
from detectors.patterns.maximal import is_regular
from detectors.patterns.syntax import Limit, Node, Query, Step, Strategy, conjuncts

_MEANING = {
    "stnm": "one match for each first event at most: each next event is the first that fits",
    "stam": "every pick of events that fits and to which no event can be added",
    "stnm-all": "as stnm, and a repetition may also end after each of its events",
    "stam-all": "every pick of events that fits",
    "strict": "events that follow one another without any other event of the partition between them",
}


def describe(query: Query, strategy: Strategy) -> dict[str, Any]:
    """Return the description: ``strategy``, ``within_ms``, ``keys``, ``sequences``, and all as ``lines`` of text.

    Raises:
        PatternError: the query means nothing.
    """
    branches = compile_branches(query)
    sequences = [
        {
            "steps": [describe_step(step) for step in branch.steps],
            "not": _negations(branch),
            "search": how(branch, strategy),
        }
        for branch in branches
    ]
    keys = ", ".join(query.keys)
    lines = [
        f"{strategy}: {_MEANING[strategy]}",
        f"within {query.within_us / 1000:g} ms from the first event to the last, inclusive",
        *(_limit(limit) for limit in query.limits),
        f"in each partition by {keys}" if keys else "in one partition",
        "events of one instant may follow one another, in canonical order"
        if query.ties
        else "each event later than the one before",
    ]
    for number, sequence in enumerate(sequences, 1):
        lines.append(f"sequence {number}: {', then '.join(sequence['steps'])}")
        lines += [f"  {text}" for text in sequence["not"]]
        lines.append(f"  search: {sequence['search']}")
    lines += [f"where {render(node)}" for node in conjuncts(query.where)]
    lines += [f"returns {name} = {render(node)}" for name, node in query.returns]
    return {
        "strategy": strategy, "within_ms": query.within_us / 1000, "keys": list(query.keys), "sequences": sequences,
        "lines": lines,
    }  # fmt: skip


def _limit(limit: Limit) -> str:
    """A bound in words."""
    since = "from" if limit.with_first else "after"
    number = f"at most {limit.most}" if limit.most else "no"
    return f"{number} {' or '.join(limit.kinds)} {since} the first event up to the last"


def how(branch: Branch, strategy: Strategy) -> str:
    """How a branch is searched, in words."""
    if strategy == "stnm":
        return "by hops from list to list" if branch.is_simple else "event by event from each first event"
    if strategy == "stam" and is_regular(branch):
        return "maximal matches only, by the places where repetitions split"
    return "every pick is tried, up to the bound"


def describe_step(step: Step) -> str:
    """A step in words, such as ``b y (1 or more)``."""
    count = f"{step.least} or more" if step.most is None else f"{step.least} to {step.most}"
    name = f"{step.kind} {step.name}".strip()
    return name if step.least == step.most == 1 else f"{name} ({count if step.least != step.most else step.least})"


def render(node: Any) -> str:
    """The text of an expression."""
    if node.op == "text":
        return f'"{node.args[0]}"'
    if node.op in ("number", "truth"):
        return str(node.args[0])
    if node.op == "field":
        return ".".join(part for part in node.args if part)
    if node.op == "call":
        return f"{node.args[0]}({_list(node.args[1:])})"
    if node.op in ("not", "minus"):
        return f"{'NOT ' if node.op == 'not' else '-'}{_inner(node.args[0])}"
    return f" {node.op.upper()} ".join(_inner(arg) for arg in node.args)


def _inner(node: Node) -> str:
    is_leaf = node.op in ("number", "text", "truth", "field", "call")
    return render(node) if is_leaf else f"({render(node)})"


def _list(nodes: Sequence[Node]) -> str:
    return ", ".join(render(node) for node in nodes)


def _negations(branch: Branch) -> list[str]:
    found = []
    for negation in branch.negations:
        if negation.place == 0:
            where = "before the match, within the window that ends with it"
        elif negation.place == len(branch.steps):
            where = "after the match, within the window that begins with it"
        else:
            before, behind = branch.steps[negation.place - 1], branch.steps[negation.place]
            where = f"between {describe_step(before)} and {describe_step(behind)}"
        found.append(f"no {describe_step(negation.step)} {where}")
    return found
