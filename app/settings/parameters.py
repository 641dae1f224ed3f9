"""The settings file of the detectors: TOML, one section a group of parameters, every value checked by name.

    [near]
    enter_m = 0.9

What is not in it keeps its default. ``touchline detectors --toml`` writes a whole one.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from detectors.parameters import Parameter, Parameters, all_parameters, out_of_order, unit_of
from football.errors import UserError
from football.untrusted import UntrustedError, read_toml


class ParametersError(UserError, ValueError):
    """A settings file that cannot be used; the message names the file and the parameter."""


def load_parameters(path: Path) -> Parameters:
    """The parameters in a file, completed by the defaults.

    Raises:
        ParametersError: no such file, not TOML, an unknown parameter, or a value of the wrong type or out of range.
    """
    try:
        given = read_toml(path)
    except FileNotFoundError:
        raise ParametersError(f"--parameters {path}: no such file") from None
    except (OSError, UntrustedError) as error:
        raise ParametersError(f"--parameters {path}: {error}") from error
    return parameters_from(given, f"--parameters {path}")


def parameters_from(given: Mapping[str, Any], where: str) -> Parameters:
    """Parameters from nested plain values, as a file or a store's ``run.json`` holds them.

    Args:
        given: groups by name, values by name within them.
        where: named in errors.

    Raises:
        ParametersError: as in :func:`load_parameters`.
    """
    try:
        checked = _whole().model_validate(given)
    except ValidationError as error:
        raise ParametersError(f"{where}: " + "; ".join(_sentence(problem) for problem in error.errors())) from error
    tree = msgspec.convert(checked.model_dump(), Parameters)
    if broken := out_of_order(tree):
        raise ParametersError(f"{where}: " + "; ".join(broken))
    return tree


def as_toml(tree: Parameters) -> str:
    """A whole settings file, each value with its unit and range as a comment."""
    sections: dict[str, list[str]] = {}
    for parameter in all_parameters(tree):
        section, _, name = parameter.path.rpartition(".")
        sections.setdefault(section, []).append(f"{name} = {parameter.value!r}  # {_range(parameter)}")
    return "\n\n".join("\n".join([f"[{section}]", *lines]) for section, lines in sections.items()) + "\n"


@cache
def _whole() -> type[BaseModel]:
    """The model of the whole file."""
    return _model(Parameters())


def _model(group: msgspec.Struct) -> type[BaseModel]:
    """A model with the fields of a group, each bounded by its unit."""
    fields: dict[str, Any] = {}
    for field in msgspec.structs.fields(group):
        value = getattr(group, field.name)
        if isinstance(value, msgspec.Struct):
            inner = _model(value)
            fields[field.name] = (inner, Field(default_factory=inner))
        else:
            unit = unit_of(field.name, value)
            bounds = Field(default=value, ge=unit.least, le=unit.most, allow_inf_nan=False)
            fields[field.name] = (type(value), bounds)
    config = ConfigDict(extra="forbid", strict=True, frozen=True)
    return create_model(type(group).__name__, __config__=config, **fields)


def _sentence(problem: Any) -> str:
    path = ".".join(map(str, problem["loc"]))
    known = {p.path: p for p in all_parameters()}
    if problem["type"] == "extra_forbidden":
        near = get_close_matches(path, [*known, *(p.partition(".")[0] for p in known)], 1)
        return f"no parameter {path}" + (f" (is {near[0]} meant?)" if near else "")
    if path in known and problem["type"] in ("greater_than_equal", "less_than_equal", "finite_number"):
        return f"{path} = {problem['input']} is out of range: {_range(known[path])}"
    return f"{path} = {problem['input']!r}: {problem['msg']}"


def _range(parameter: Parameter) -> str:
    unit = parameter.unit
    return unit.span if unit.text == "1" else f"{unit.span} {unit.text}"
