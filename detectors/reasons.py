"""Reasons of parameters: why a number is the number it is, kept beside it in the metadata of its field.

A parameter class says in its docstring, one line a field under ``Attributes:``, what each number is. Where the number
comes from (a measurement, generated matches by seed, a paper, a law) is its reason::

    far_m: Annotated[float, reason("5 % of frames at that distance differ by more; Opta clip")] = 0.5

``docs/thresholds.md`` shows both (``touchline detectors --thresholds``).
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from typing import Annotated, get_args, get_origin, get_type_hints

import msgspec

#: Key of the reason in a field's metadata.
_KEY = "reason"

#: ``name: text`` or ``one, two: text`` at the margin of the attributes of a docstring.
_ATTRIBUTE = re.compile(r"^(\w+(?:, \w+)*): (.*)$")


def reason(text: str) -> msgspec.Meta:
    """Metadata of a field: why its default is what it is, and the source."""
    return msgspec.Meta(extra={_KEY: text})


def reasons_of(group: type[msgspec.Struct]) -> Mapping[str, str]:
    """Reason by field of a parameter class, of those fields that have one."""
    found: dict[str, str] = {}
    for name, hint in get_type_hints(group, include_extras=True).items():
        if get_origin(hint) is not Annotated:
            continue
        for meta in get_args(hint)[1:]:
            if isinstance(meta, msgspec.Meta) and meta.extra and _KEY in meta.extra:
                found[name] = meta.extra[_KEY]
    return found


def prose_of(group: type[msgspec.Struct]) -> str:
    """The docstring of a parameter class before its attributes."""
    return (inspect.getdoc(group) or "").partition("Attributes:")[0].strip()


def meanings_of(group: type[msgspec.Struct]) -> Mapping[str, str]:
    """Meaning of each field of a parameter class, from the attributes of its docstring and of its bases'."""
    found: dict[str, str] = {}
    for base in reversed(group.__mro__):
        found.update(_attributes(base.__doc__ or ""))
    return found


def _attributes(doc: str) -> dict[str, str]:
    found: dict[str, str] = {}
    names: list[str] = []
    for line in inspect.cleandoc(inspect.cleandoc(doc).partition("Attributes:\n")[2]).splitlines():
        begun = _ATTRIBUTE.match(line)
        if begun is not None:
            names = begun.group(1).split(", ")
            found.update(dict.fromkeys(names, begun.group(2)))
        else:
            found.update({name: f"{found[name]} {line.strip()}" for name in names})
    return found
