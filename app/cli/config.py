"""``touchline config``: the settings that a live match would run with, and where each comes from."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import typer
from pydantic import SecretStr
from rich.console import Console
from rich.table import Table

from app.kafka.address import SECRETS, SETTINGS_VARIABLE, connection, is_kafka, parse
from app.settings.layers import Layer
from app.settings.model import SETTING_NAMES, ResolvedSettings, resolve_settings
from detectors.parameters import Parameters, all_parameters

HIDDEN = "********"


class Setting(msgspec.Struct, frozen=True):
    """A setting as it is shown. ``origin``: default, file, environment, store or flag; ``where``: its name there."""

    value: Any
    origin: str
    where: str


def options_of_live(context: typer.Context) -> Mapping[str, Any]:
    """What the rest of this command line says to ``live``, by name, without running it."""
    assert context.parent is not None
    live = context.parent.command.commands["live"]  # type: ignore[attr-defined]
    with live.make_context("live", list(context.args)) as told:
        return dict(told.params)


def run_config(context: typer.Context, *, as_json: bool) -> None:
    """Prints the settings that ``live`` would have with the options of this command line.

    Raises:
        The errors of :func:`app.settings.model.resolve_settings`.
    """
    settled = resolve_settings(options_of_live(context), os.environ, Path())
    shown = {**shown_settings(settled), **kafka_settings(settled, os.environ)}
    if as_json:
        print(msgspec.json.encode(shown).decode())
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("setting", "value", "from", ""):
        table.add_column(heading, overflow="fold")
    for name, setting in shown.items():
        table.add_row(name, _text(setting.value), setting.origin, setting.where)
    Console().print(table)


def shown_settings(settled: ResolvedSettings) -> dict[str, Setting]:
    """All settings by name; a secret is hidden, and of the detectors' parameters only those that are not defaults."""
    return {name: _shown(settled, name, settled.origin.get(name)) for name in SETTING_NAMES}


def kafka_settings(settled: ResolvedSettings, environ: Mapping[str, str]) -> dict[str, Setting]:
    """How topics are connected to, as their own file says; empty without topics.

    Raises:
        KafkaError: that file cannot be used.
    """
    shown: dict[str, Setting] = {}
    for url in (settled.settings.source, settled.settings.publish):
        if is_kafka(url):
            address = parse(url)
            variable = "" if address.settings else SETTINGS_VARIABLE
            where = f"{address.settings or environ.get(variable, '')}"
            told = connection(address, environ)
            for name in sorted(set(told) - {"bootstrap_servers"}):
                value = HIDDEN if name in SECRETS else told[name]
                shown[f"kafka.{name}"] = Setting(value, "file", f"{where}: {name}")
    return shown


def _shown(settled: ResolvedSettings, name: str, layer: Layer | None) -> Setting:
    value: Any = getattr(settled.settings, SETTING_NAMES[name])
    if isinstance(value, SecretStr):
        value = HIDDEN if value.get_secret_value() else ""
    elif isinstance(value, Parameters):
        pairs = zip(all_parameters(value), all_parameters(Parameters()), strict=True)
        value = {mine.path: mine.value for mine, default in pairs if mine.value != default.value}
    elif isinstance(value, Path):
        value = str(value)
    return Setting(value, layer.kind, layer.called(name)) if layer is not None else Setting(value, "default", "")


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{path} = {number}" for path, number in value.items()) or "-"
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "-"
    return "-" if value in (None, "") else str(value)
