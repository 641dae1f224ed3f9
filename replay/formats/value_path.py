"""Paths to values in decoded trees of objects and lists, as the mappings and profiles of other people's data name them.

A path is names within each other, with dots between them: ``team.name``. A number is a place in a list: ``location.0``.
``streams[id=posX]`` is the first element of a list, or value of an object, with that value under that name. In a path
to records, ``*`` stands for all elements of a list, or all values of an object.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from football.errors import UserError

#: A value that a tree lacks.
NOTHING = object()

#: Records of one message: more than two squads with twenty limbs each have.
RECORDS_MAX = 10_000

_STEP = re.compile(r"([^.\[\]]+)|\[([^.\[\]=]+)=([^\[\]]*)\]")

Step = str | tuple[str, str]


class PathError(UserError, ValueError):
    """A path that cannot be read; the message has the path."""


def steps_of(path: str) -> tuple[Step, ...]:
    """Return the steps of a path; the empty path has none.

    Raises:
        PathError: an empty name, or brackets that do not fit.

    >>> steps_of("body.streams[id=posX].value")
    ('body', 'streams', ('id', 'posX'), 'value')
    """
    steps: list[Step] = []
    at = 0
    while at < len(path):
        found = _STEP.match(path, at)
        if found is None:
            raise PathError(f"path {path!r}: no name at character {at + 1}")
        steps.append(found[1] if found[1] is not None else (found[2], found[3]))
        at = found.end()
        if path[at : at + 1] == ".":
            at += 1
            if at == len(path):
                raise PathError(f"path {path!r}: ends with a dot")
        elif at < len(path) and path[at] != "[":
            raise PathError(f"path {path!r}: no name at character {at + 1}")
    return tuple(steps)


def value_at(tree: Any, steps: tuple[Step, ...]) -> Any:
    """Return the value under some steps; ``NOTHING`` without one.

    >>> value_at({"a": [{"id": "x", "v": 1}]}, steps_of("a[id=x].v"))
    1
    """
    for step in steps:
        if isinstance(step, tuple):
            tree = _selected(tree, *step)
        elif isinstance(tree, dict):
            tree = tree.get(step, NOTHING)
        elif isinstance(tree, list) and step.isdecimal() and int(step) < len(tree):
            tree = tree[int(step)]
        else:
            return NOTHING
    return tree


def records_at(tree: Any, steps: tuple[Step, ...], key: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the records under some steps, each with its key or place below the last ``*``.

    >>> list(records_at({"tags": {"7": 1, "8": 2}}, steps_of("tags.*")))
    [('7', 1), ('8', 2)]
    """
    if "*" not in steps:
        if (found := value_at(tree, steps)) is not NOTHING:
            yield key, found
        return
    star = steps.index("*")
    found = value_at(tree, steps[:star])
    if isinstance(found, dict):
        for name, inner in found.items():
            yield from records_at(inner, steps[star + 1 :], name)
    elif isinstance(found, list):
        for number, inner in enumerate(found):
            yield from records_at(inner, steps[star + 1 :], str(number))


def _selected(tree: Any, name: str, value: str) -> Any:
    elements = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    for element in elements:
        if isinstance(element, dict) and str(element.get(name, "")) == value:
            return element
    return NOTHING
