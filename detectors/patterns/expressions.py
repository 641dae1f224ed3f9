"""Conditions of a pattern as functions of what is bound.

A value that an event lacks, or two values that an operator cannot take together, make an expression *unknown* (None); a
condition that is unknown does not hold. ``AND``, ``OR`` and ``NOT`` follow the three-valued logic of SQL.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from itertools import product
from math import hypot
from typing import Any

from detectors.patterns.syntax import AGGREGATES, Node, PatternError, PatternEvent, references
from football.areas import ball_areas
from football.pitch import Pitch

#: The events that are bound to each step.
Bound = Sequence[Sequence[PatternEvent]]

#: The event of each slot that an expression looks at.
Chosen = Mapping[int, PatternEvent]

Value = Callable[[Bound, Chosen], Any]

_OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
}  # fmt: skip

_OWN: Mapping[str, Callable[[PatternEvent], Any]] = {
    "id": lambda event: event.id,
    "kind": lambda event: event.kind,
    "ts_ms": lambda event: event.ts_us / 1000,
}


class Condition:
    """A condition that holds, or not, for what is bound.

    A binding with several events that the condition names outside an aggregate stands for each of its events: the
    condition must hold for all of them.

    Attributes:
        node: the expression.
        plain: slots that it names outside aggregates.
        aggregated: slots that it names inside aggregates.
    """

    def __init__(self, node: Node, slots: Mapping[str, int], pitch: Pitch) -> None:
        named = references(node)
        self.node = node
        self.plain = sorted({slots[name] for name, inside, _ in named if not inside})
        self.aggregated = sorted({slots[name] for name, inside, _ in named if inside})
        self.value = compile_value(node, slots, pitch)

    def holds(self, bound: Bound, fixed: Chosen | None = None) -> bool:
        """True if the condition holds; ``fixed`` chooses the event of some slots."""
        value, chosen = self.value, dict(fixed or {})
        several = [slot for slot in self.plain if slot not in chosen]
        if all(len(bound[slot]) == 1 for slot in several):
            for slot in several:
                chosen[slot] = bound[slot][0]
            return value(bound, chosen) is True
        for events in product(*(bound[slot] for slot in several)):
            chosen.update(zip(several, events, strict=True))
            if value(bound, chosen) is not True:
                return False
        return True


def compile_value(node: Node, slots: Mapping[str, int], pitch: Pitch) -> Value:
    """Make a function of an expression.

    Args:
        node: of the query.
        slots: place of each binding among what is bound.
        pitch: that events lie on.

    Raises:
        PatternError: a function is given what it cannot take.
    """
    op = node.op
    if op in ("number", "text", "truth"):
        constant = node.args[0]
        return lambda bound, chosen: constant
    if op == "field":
        return _field(node, slots)
    if op == "call":
        return _call(node, slots, pitch)
    values = [compile_value(arg, slots, pitch) for arg in node.args]
    if op in ("and", "or"):
        return _logic(values, ends=op == "or")
    if op == "not":
        return lambda bound, chosen: None if (v := values[0](bound, chosen)) is None else not v
    if op == "minus":
        return lambda bound, chosen: -v if isinstance(v := values[0](bound, chosen), int | float) else None
    return _binary(_OPERATORS[op], *values)


def _field(node: Node, slots: Mapping[str, int]) -> Value:
    name, field = node.args
    if not field:
        raise PatternError(f"{name} is a binding, and a value is wanted", f"Write {name}.speed, say", node.at)
    slot = slots[name]
    if own := _OWN.get(field):
        return lambda bound, chosen: own(chosen[slot])
    return lambda bound, chosen: chosen[slot].payload.get(field)


def _logic(values: list[Value], *, ends: bool) -> Value:
    """``OR`` (ends at True) or ``AND`` (ends at False)."""

    def value(bound: Bound, chosen: Chosen) -> Any:
        unknown = False
        for one in values:
            result = one(bound, chosen)
            if result is ends:
                return ends
            unknown = unknown or result is not (not ends)
        return None if unknown else not ends

    return value


def _binary(apply: Callable[[Any, Any], Any], left: Value, right: Value) -> Value:
    def value(bound: Bound, chosen: Chosen) -> Any:
        first, second = left(bound, chosen), right(bound, chosen)
        if first is None or second is None:
            return None
        try:
            return apply(first, second)
        except (TypeError, ZeroDivisionError):
            return None

    return value


def _call(node: Node, slots: Mapping[str, int], pitch: Pitch) -> Value:
    name, *args = node.args
    if name in AGGREGATES:
        return _aggregate(node, slots)
    if name == "abs":
        (inner,) = (compile_value(arg, slots, pitch) for arg in args)
        return lambda bound, chosen: abs(v) if isinstance(v := inner(bound, chosen), int | float) else None
    if name in ("zone", "in_area"):
        return _place(node, slots, pitch)
    if len(args) != 2 or any(arg.op != "field" or arg.args[1] for arg in args):
        raise PatternError(f"{name} takes two bindings", f"Write {name}(x, y)", node.at)
    first, second = (slots[arg.args[0]] for arg in args)
    compare = _FOOTBALL[name]
    return lambda bound, chosen: compare(chosen[first].payload, chosen[second].payload)


def _place(node: Node, slots: Mapping[str, int], pitch: Pitch) -> Value:
    """Number of the zone of an event, or whether it lies in a named area (``football.areas``)."""
    name, *args = node.args
    wanted, mend = (1, "Write zone(x)") if name == "zone" else (2, 'Write in_area(x, "left penalty area")')
    if len(args) != wanted or args[0].op != "field" or args[0].args[1] or any(arg.op != "text" for arg in args[1:]):
        raise PatternError(f"{name} takes a binding{' and the name of an area' if wanted == 2 else ''}", mend, node.at)
    areas = {area.name: area for area in ball_areas(pitch)}
    zones = [(int(called.split()[1]), area) for called, area in areas.items() if called.startswith("zone ")]
    if wanted == 2 and args[1].args[0] not in areas:
        near = get_close_matches(args[1].args[0], areas, 1)
        raise PatternError(f"no area {args[1].args[0]!r}", f"There are {', '.join(near or areas)}", args[1].at)
    slot, area = slots[args[0].args[0]], areas.get(args[1].args[0]) if wanted == 2 else None

    def value(bound: Bound, chosen: Chosen) -> Any:
        payload = chosen[slot].payload
        x_m, y_m, z_m = payload.get("x_m"), payload.get("y_m"), payload.get("z_m", 0.0)
        if not (isinstance(x_m, int | float) and isinstance(y_m, int | float) and isinstance(z_m, int | float)):
            return None
        if area is not None:
            return area.contains(x_m, y_m, z_m, 0.0)
        return next((number for number, one in zones if one.contains(x_m, y_m, z_m, 0.0)), None)

    return value


def _aggregate(node: Node, slots: Mapping[str, int]) -> Value:
    name, *args = node.args
    if len(args) != 1 or args[0].op != "field":
        raise PatternError(f"{name} takes one binding", f"Write {name}(y.speed), or count(y)", node.at)
    binding, field = args[0].args
    slot = slots[binding]
    if name == "count":
        return lambda bound, chosen: len(bound[slot])
    if not field:
        raise PatternError(f"{name} takes a value of a binding", f"Write {name}({binding}.speed), say", node.at)
    read = _OWN.get(field) or (lambda event: event.payload.get(field))
    apply = _AGGREGATES[name]

    def value(bound: Bound, chosen: Chosen) -> Any:
        values = [v for event in bound[slot] if (v := read(event)) is not None]
        if not values and name not in ("sum", "distinct"):
            return None
        try:
            return apply(values)
        except TypeError:
            return None

    return value


_AGGREGATES: Mapping[str, Callable[[list[Any]], Any]] = {
    "sum": sum,
    "avg": lambda values: sum(values) / len(values),
    "min": min,
    "max": max,
    "first": lambda values: values[0],
    "last": lambda values: values[-1],
    "distinct": lambda values: len(set(values)),
}


def _equal(name: str) -> Callable[[dict[str, Any], dict[str, Any]], bool | None]:
    def compare(first: dict[str, Any], second: dict[str, Any]) -> bool | None:
        one, other = first.get(name), second.get(name)
        return None if one is None or other is None else bool(one == other)

    return compare


def _opponents(first: dict[str, Any], second: dict[str, Any]) -> bool | None:
    same = _equal("team")(first, second)
    return None if same is None else not same


def _distance_m(first: dict[str, Any], second: dict[str, Any]) -> float | None:
    try:
        return hypot(first["x_m"] - second["x_m"], first["y_m"] - second["y_m"])
    except (KeyError, TypeError):
        return None


_FOOTBALL: Mapping[str, Callable[[dict[str, Any], dict[str, Any]], Any]] = {
    "distance": _distance_m,
    "same_team": _equal("team"),
    "same_player": _equal("player"),
    "opponents": _opponents,
}
