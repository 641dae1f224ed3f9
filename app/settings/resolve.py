"""Settings of a run: command line above environment above settings file above defaults, and a match store's own.

Each setting keeps its layer, so that ``touchline config`` shows where it comes from and an error names it there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from app.hub.sinks import SinkError, sink_kind
from app.kafka.address import is_kafka, parse
from app.settings.layers import Layer, chosen_file, environment_layer, file_layer, flag, name_origins
from app.settings.model import (
    SECRET,
    SETTING_NAMES,
    LiveSettings,
    SettingsError,
    detector_names,
    file_names,
    setting_name,
)
from app.settings.parameters import ParametersError, load_parameters, parameters_from
from app.settings.slack import LEARNED
from app.sources.registry import source_of
from detectors.parameters import all_parameters
from football.errors import UserError
from replay.match_store import StoreError, is_store, read_run

#: Settings that name a file, a folder or a topic.
_LOCATIONS = frozenset(("source", "sheet", "store", "official", "parameters", "publish", "nodes_placement"))


@dataclass(frozen=True)
class ResolvedSettings:
    """Settings, and the layer of each by name; a setting without a layer has its default."""

    settings: LiveSettings
    origin: Mapping[str, Layer]


def make_settings(given: dict[str, Any]) -> LiveSettings:
    """Settings from options (None: not given), completed by those of the match store.

    ``parameters`` is the path of a settings file of the detectors.

    Raises:
        SettingsError: an option is wrong, or contradicts the store that the run resumes.
        ParametersError: the settings file, or the store's parameters, cannot be used.
    """
    options = {setting_name(field): value for field, value in given.items() if value is not None}
    return _resolve([Layer("flag", "", options)]).settings


def resolve_settings(flags: Mapping[str, Any], environ: Mapping[str, str], folder: Path) -> ResolvedSettings:
    """Settings of a run: flags, above the environment, above a settings file, above the defaults.

    The options of a match store that the run resumes stand above environment and file: the match has begun with them,
    and those layers are for runs to come. A flag that contradicts the store is refused.

    Args:
        flags: by name, None where not given; ``config`` names the file.
        environ: variables.
        folder: working folder.

    Raises:
        SettingsError, ParametersError: as :func:`make_settings`.
        LayerError: a key or a variable is no setting, or the file cannot be read.
    """
    file = chosen_file(flags.get("config"), environ, folder)
    layers = [file_layer(*file, SETTING_NAMES)] if file is not None else []
    given = {name: value for name, value in flags.items() if value is not None and name in SETTING_NAMES}
    return _resolve([*layers, environment_layer(environ, SETTING_NAMES), Layer("flag", "", given)])


def _resolve(layers: Sequence[Layer]) -> ResolvedSettings:
    """Settings from layers, the last of which are the flags."""
    origin = {name: layer for layer in layers for name in layer.values}
    try:
        values = {SETTING_NAMES[name]: _absolute(name, layer.values[name], layer) for name, layer in origin.items()}
        store, file = values.get("store"), values.get("parameters")
        stored = (read_stored_settings(Path(store)) if store is not None else None) or {}
        of_store = Layer("store", str(store), {setting_name(field): value for field, value in stored.items()})
        for name in set(of_store.values) - set(layers[-1].values):
            origin[name] = of_store
        values = {field: value for field, value in values.items() if origin[setting_name(field)] is not of_store}
        if "parameters" in values:
            values["parameters"] = load_parameters(Path(str(file)))
        files = values.get("patterns", None if stored else [])
        if isinstance(files, list):
            values["patterns"] = _loaded(files, values.get("alerts", stored.get("alerts", True)))
        if "slack" in stored and any(text in str(values.get("slack")) for text in LEARNED):
            del values["slack"]  # the match has begun with what the store has
        for field in sorted(set(stored) & set(values)):
            if conflict := _contradiction(field, values[field], stored[field], f"the run in {store}", file):
                raise SettingsError(f"{conflict}; leave it out to resume the run, or choose another --store")
        _check_addresses(values, origin)
        return ResolvedSettings(LiveSettings(**{**stored, **values}), origin)
    except ValidationError as error:
        raise SettingsError(_message(error, origin)) from None
    except (SettingsError, ParametersError) as error:
        raise type(error)(name_origins(str(error), origin)) from error


def _check_addresses(values: Mapping[str, Any], origin: Mapping[str, Layer]) -> None:
    """Refuse wrong addresses before any other check, whose error might repeat a secret in one."""
    for name in ("source", "publish"):
        address = values.get(name)
        try:
            if name == "publish" and address:
                sink_kind(address).check(address)
            elif address and is_kafka(address):
                parse(address)
        except UserError as error:
            raise SettingsError(f"{origin[name].called(name)}: {error}") from None


def read_stored_settings(store: Path) -> dict[str, Any] | None:
    """Options that the match in a store began with, None if it holds no match.

    ``parameters`` are typed. A store from before an option existed has its default.

    Raises:
        StoreError: the store is damaged, or of another version.
        ParametersError: the program has no such parameters any more.
    """
    if not is_store(store):
        return None
    stored = read_run(store).get("settings")
    if not isinstance(stored, dict):
        raise StoreError(f"{store}: was not written by a live run, and cannot be resumed")
    names = stored.get("detectors", [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise StoreError(f"{store}/run.json: damaged: detectors = {names}")
    try:
        tree = parameters_from(stored.get("parameters", {}), f"{store}/run.json")
    except ParametersError as error:
        mend = f"another version made this match: `touchline live --source {store}` plays it again"
        raise ParametersError(f"{error}; {mend}") from error
    if patterns := stored.get("patterns"):
        from app.settings.patterns import check_patterns

        check_patterns(patterns, f"{store}/run.json")
    lateness_s = stored.get("allowed_lateness_s", LiveSettings.model_fields["allowed_lateness_s"].default)
    if not isinstance(lateness_s, int | float):
        raise StoreError(f"{store}/run.json: damaged: allowed_lateness_s = {lateness_s}")
    older = {"detectors": [], "patterns": {}, "alerts": False, "nodes": 1}
    return {**older, **stored, "allowed_lateness_s": lateness_s, "parameters": tree}


def _loaded(files: list[str], alerts: Any) -> dict[str, str]:
    """The patterns of files, and the shipped alerts if the settings want them."""
    with suppress(ValidationError):  # LiveSettings refuses the value
        alerts = TypeAdapter(bool).validate_python(alerts)
    if not files and not alerts:
        return {}
    from app.settings.patterns import ALERTS, load_patterns  # brings a parser

    return load_patterns([*([ALERTS] if alerts else []), *map(Path, files)])


def _contradiction(field: str, given: Any, stored: Any, where: str, file: Any) -> str:
    """The difference between an option and the one that a run began with; empty if there is none."""
    if field == "parameters":
        pairs = zip(all_parameters(given), all_parameters(stored), strict=True)
        other = [f"{mine.path} = {mine.value}, not {its.value}" for mine, its in pairs if mine.value != its.value]
        return f"--parameters {file} contradicts {where}, which has other numbers: {'; '.join(other)}" if other else ""
    if field == "detectors":
        mine, its = detector_names(given), detector_names(stored)
        text = f"--detectors {','.join(mine)} contradicts {where}, which has {','.join(its) or 'none'}"
        return text if mine != its else ""
    if field == "patterns":
        other = sorted(name for name in {*given, *stored} if given.get(name) != stored.get(name))
        return f"--patterns contradicts {where}: {', '.join(other)} differ" if other else ""
    if _plain(given) == _plain(stored):
        return ""
    return f"{flag(setting_name(field))} {given} contradicts {where}, which has {stored}"


def _absolute(name: str, value: Any, layer: Layer) -> Any:
    """The value with absolute paths, so that a store can be resumed from another working directory."""
    if name == "patterns":
        return value if isinstance(value, Mapping) else _absolute_files(value, layer)
    if name not in _LOCATIONS:
        return value
    if not isinstance(value, str | Path):
        raise SettingsError(f"{layer.called(name)} = {value}: must be text")
    if "\0" in str(value):
        raise SettingsError(f"{layer.called(name)}: no file has a name with a NUL")
    if name == "source":
        return source_of(str(value)).with_absolute_paths(str(value), layer.folder)
    if name == "publish":
        with suppress(SinkError):  # _check_addresses refuses it
            return sink_kind(str(value)).with_absolute_paths(str(value), layer.folder)
        return value
    return str((layer.folder / value).resolve())


def _absolute_files(value: Any, layer: Layer) -> list[str]:
    """The files of a list, or of text with commas."""
    if not isinstance(value, str | list | tuple):
        raise SettingsError(f"{layer.called('patterns')} = {value}: must be files with commas")
    return [str((layer.folder / name).resolve()) for name in file_names(value)]


def _plain(value: Any) -> Any:
    """Numbers as numbers, all else as text: an option of a command line is compared with one stored as JSON."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return str(value)


def _message(error: ValidationError, origin: Mapping[str, Layer]) -> str:
    """All problems in one line, each with the name that the setting has in its layer."""
    problems = []
    for problem in error.errors():
        text = problem["msg"].removeprefix("Value error, ")
        if not problem["loc"]:
            problems.append(name_origins(text, origin))
            continue
        name = setting_name(str(problem["loc"][0]))
        layer = origin.get(name)
        called = layer.called(name) if layer is not None else flag(name)
        between = "=" if layer is not None and layer.kind == "environment" else " "
        shown = "" if name in SECRET else f"{between}{problem['input']}"
        problems.append(f"{called}{shown}: {text}")
    return "; ".join(problems)
