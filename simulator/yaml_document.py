"""Reads YAML files that people write, checked by a pydantic model; an error names file, line and reason.

Scenarios and tracking profiles are such files. A file may be small only, nest little, and give no name twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from football.errors import UserError

M = TypeVar("M", bound=BaseModel)

#: Larger files and deeper trees are no documents of people.
_BYTES_MAX, _NODES_MAX, _DEPTH_MAX = 200_000, 20_000, 20

#: Path of a value in a document: names and numbers from the root.
_Path = tuple[str | int, ...]


class DocumentError(UserError, ValueError):
    """A file that cannot be used; the message names file, line and reason."""


def find_document(name: str, shipped: Path, what: str) -> Path:
    """Return the path of a file: as given, or by its name among those in ``shipped``, which come with the product.

    Args:
        name: path or name, with or without its suffix.
        shipped: folder of the product.
        what: what such files are called in messages, such as ``scenarios``.

    Raises:
        DocumentError: there is no such file.
    """
    path = Path(name)
    if path.is_file():
        return path
    own = shipped / path.name if path.suffix in (".yaml", ".yml") else shipped / f"{path.name}.yaml"
    if path.parent == Path() and own.is_file():
        return own
    known = ", ".join(sorted(p.stem for p in shipped.glob("*.yaml")))
    raise DocumentError(f"{name}: no such file, and none of the {what} that come with the product: {known}")


def read_text(path: Path, what: str) -> str:
    """Return the text of a small file; ``what`` it should be, for messages.

    Raises:
        DocumentError: it cannot be read, is too large, or is no UTF-8 text.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DocumentError(f"{path}: {error.strerror or error}") from error
    if len(data) > _BYTES_MAX:
        raise DocumentError(f"{path}: {len(data)} bytes are no {what}; at most {_BYTES_MAX}")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise DocumentError(f"{path}: line {line}: not UTF-8 text") from error


def parse_model(model: type[M], text: str, file: str, shape: str, choices: Mapping[str, str] | None = None) -> M:
    """Return a text as a model.

    Args:
        model: what the text must hold.
        text: of the file.
        file: names it in errors.
        shape: sentence about the outermost form, for a text that is no mapping.
        choices: of fields with more choices than anybody reads, what to say of them.

    Raises:
        DocumentError: not YAML, or a field is wrong.
    """
    plain, lines = _plain(text, file)
    if not isinstance(plain, dict):
        raise DocumentError(f"{file}: line 1: {shape}")
    try:
        return model.model_validate(plain)
    except ValidationError as error:
        raise DocumentError(_first_of(error, file, lines, choices or {})) from error


def _plain(text: str, file: str) -> tuple[Any, dict[_Path, int]]:
    """Return the document as plain values, and the line of each value by its path."""
    lines: dict[_Path, int] = {}
    try:
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        if node is None:
            raise DocumentError(f"{file}: line 1: the file is empty")
        return _value(loader, node, (), file, lines), lines
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        reason = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
        line = mark.line + 1 if mark else 1
        raise DocumentError(f"{file}: line {line}: not YAML: {reason}") from error
    except (ValueError, RecursionError) as error:
        if isinstance(error, DocumentError):
            raise
        raise DocumentError(f"{file}: line {max(lines.values(), default=1)}: not a usable value: {error}") from error


def _value(loader: yaml.SafeLoader, node: yaml.Node, path: _Path, file: str, lines: dict[_Path, int]) -> Any:
    line = node.start_mark.line + 1
    if len(lines) > _NODES_MAX or len(path) > _DEPTH_MAX:
        raise DocumentError(f"{file}: line {line}: nested too deep, or too much, for such a file")
    lines[path] = line
    if isinstance(node, yaml.SequenceNode):
        return [_value(loader, child, (*path, n), file, lines) for n, child in enumerate(node.value)]
    if not isinstance(node, yaml.MappingNode):
        return loader.construct_object(node)
    mapping: dict[str, Any] = {}
    for key, child in node.value:
        name, at = key.value, key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode) or not isinstance(name, str):
            raise DocumentError(f"{file}: line {at}: a name is a single word")
        if name in mapping:
            raise DocumentError(f"{file}: line {at}: {'.'.join(map(str, (*path, name)))} is given twice")
        mapping[name] = _value(loader, child, (*path, name), file, lines)
        if isinstance(child, yaml.ScalarNode) and child.style is None and child.value == "":
            lines[(*path, name)] = at
    return mapping


def _first_of(error: ValidationError, file: str, lines: dict[_Path, int], choices: Mapping[str, str]) -> str:
    """Return the first error of a validation as a sentence, and the number of further errors."""
    reasons: dict[tuple[int, int, str], str] = {}
    for mapping in error.errors(include_url=False):
        path = _known(mapping["loc"], lines)
        reason = _reason(mapping, choices)
        if mapping["type"] == "missing":
            last = mapping["loc"][-1]
            reason = f"{f'number {last + 1}' if isinstance(last, int) else last} is missing"
        where = ".".join(str(part + 1) if isinstance(part, int) else part for part in path)
        # Of one line the narrowest: a pair is too short because one of its numbers is none.
        reasons.setdefault((lines[path], -len(path), where), reason)
    (line, _, where), reason = min(reasons.items())
    more = f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""
    return f"{file}: line {line}: {where + ': ' if where else ''}{reason}{more}"


def _known(loc: tuple[str | int, ...], lines: dict[_Path, int]) -> _Path:
    """Return the longest beginning of a location that is in the file; alternatives of a type are left out."""
    path: _Path = ()
    for part in loc:
        if (*path, part) in lines:
            path = (*path, part)
    return path


def _reason(mapping: Mapping[str, Any], choices: Mapping[str, str]) -> str:
    kind, value = mapping["type"], mapping.get("input")
    shown = repr(value) if len(repr(value)) < 60 else type(value).__name__
    if kind == "extra_forbidden":
        return "no such field"
    if kind == "literal_error":
        field = str(mapping["loc"][-1])
        return f"{shown} is not {choices.get(field, mapping['ctx']['expected'])}"
    if kind == "value_error":
        return str(mapping["ctx"]["error"])
    text = str(mapping["msg"])
    return f"{shown}: {text[0].lower()}{text[1:]}"
