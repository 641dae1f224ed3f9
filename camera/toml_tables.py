"""Converts decoded TOML tables into structs; a mistake names its field as the file has it. Pure."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterator
from typing import Any, TypeVar

import msgspec
from msgspec import inspect

from football.errors import UserError

T = TypeVar("T")

_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`")
_AT = re.compile(r"(.*?)(?: - at `\$\.?(.*)`)?", re.DOTALL)
_ANY_KEY = "[...]"


class TableError(UserError, ValueError):
    """A table is wrong; the message names the field and the reason. The caller names file and table."""


def convert_table(table: dict[str, Any], kind: type[T]) -> T:
    """Convert a decoded table into a struct whose numbers are finite.

    Raises:
        TableError: a field is unknown, missing, of another type or out of its range, or a number is not finite.
    """
    for path, number in _numbers(table, ""):
        if not math.isfinite(number):
            raise TableError(f"{path}: {number} is not a finite number")
    try:
        return msgspec.convert(table, kind)
    except msgspec.ValidationError as error:
        raise TableError(_reason(table, str(error), kind)) from error


def _numbers(value: object, path: str) -> Iterator[tuple[str, float]]:
    """Yield every number below a value with its path."""
    if isinstance(value, float):
        yield path, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _numbers(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for inner in value:
            yield from _numbers(inner, path)


def _reason(table: dict[str, Any], message: str, kind: type[Any]) -> str:
    """Return a message of msgspec as ``field: reason``."""
    match = _AT.fullmatch(message)
    assert match is not None, "the pattern takes every text"
    reason, path = match[1], match[2] or ""
    if _ANY_KEY in path:
        field = path.partition(_ANY_KEY)[0]
        path = path.replace(_ANY_KEY, f".{_wrong_key(table, field, kind)}", 1)
    unknown = _UNKNOWN.fullmatch(reason)
    if unknown is not None:
        reason = f"there is no such field{_nearest(unknown[1], kind)}"
        path = f"{path}.{unknown[1]}" if path else unknown[1]
    return f"{path}: {reason}" if path else reason


def _nearest(field: str, kind: type[Any]) -> str:
    """Return the end of a sentence that names the field which was probably meant; empty without one."""
    known = sorted(_fields(inspect.type_info(kind)))
    without_unit = [name for name in known if name.startswith(f"{field}_")]
    near = without_unit or difflib.get_close_matches(field, known, 1)
    return f"; {near[0]} is one" if near else ""


def _wrong_key(table: dict[str, Any], field: str, kind: type[Any]) -> str:
    """Return the key of a table in a table that cannot be converted; msgspec does not say which."""
    for key, value in table[field].items():
        try:
            msgspec.convert({**table, field: {key: value}}, kind)
        except msgspec.ValidationError:
            return str(key)
    return ""


def _fields(info: inspect.Type) -> set[str]:
    """Return the names of the fields of a struct and of those in it."""
    names: set[str] = set()
    if isinstance(info, inspect.StructType):
        for field in info.fields:
            names |= {field.encode_name} | _fields(field.type)
    for part in (*getattr(info, "types", ()), *getattr(info, "item_types", ())):
        names |= _fields(part)
    for name in ("item_type", "value_type"):
        if hasattr(info, name):
            names |= _fields(getattr(info, name))
    return names
