"""``touchline config``: the settings of a live run, and the layer that each comes from."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from pydantic import SecretStr
from rich.table import Table

from app.base.terminal import make_console
from app.cli.live import options_of_live
from app.cli.options import TAKES_MORE, Given
from app.cli.output import print_json
from app.kafka.address import SECRETS, SETTINGS_VARIABLE, connection, is_kafka, parse
from app.settings.layers import Layer
from app.settings.model import SETTING_NAMES
from app.settings.resolve import ResolvedSettings, resolve_settings
from detectors.parameters import Parameters, all_parameters

app = typer.Typer(add_completion=False)

MASK = "********"


class Setting(msgspec.Struct, frozen=True):
    """A setting for display. ``origin``: default, file, environment, store or flag; ``where``: its name there."""

    value: Any
    origin: str
    where: str


@app.command(context_settings=TAKES_MORE)
def config(
    context: typer.Context,
    as_json: Annotated[bool, Given("--json", help="Print one JSON object.")] = False,
) -> None:
    """Shows the settings that `touchline live` would run with, and where each comes from.

    Takes the options of `live`: flags go before the environment (TOUCHLINE_...), that before a settings file
    (--config, TOUCHLINE_CONFIG or touchline.toml), that before the defaults.

    Examples:
        touchline config
        touchline config --speed 4 --json
    """
    resolved = resolve_settings(options_of_live(context.args), os.environ, Path())
    shown = {**shown_settings(resolved), **kafka_settings(resolved, os.environ)}
    if as_json:
        print_json(shown)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("setting", "value", "from", ""):
        table.add_column(heading, overflow="fold")
    for name, setting in shown.items():
        table.add_row(name, _text(setting.value), setting.origin, setting.where)
    make_console().print(table)


def shown_settings(resolved: ResolvedSettings) -> dict[str, Setting]:
    """All settings by name; a secret is masked, and of the detectors' parameters only those that are not defaults."""
    return {name: _shown(resolved, name, resolved.origin.get(name)) for name in SETTING_NAMES}


def kafka_settings(resolved: ResolvedSettings, environ: Mapping[str, str]) -> dict[str, Setting]:
    """The settings of the connection to topics, from their own file; empty without topics.

    Raises:
        KafkaError: that file cannot be used.
    """
    shown: dict[str, Setting] = {}
    for url in (resolved.settings.source, resolved.settings.publish):
        if is_kafka(url):
            address = parse(url)
            variable = "" if address.settings else SETTINGS_VARIABLE
            where = f"{address.settings or environ.get(variable, '')}"
            settings = connection(address, environ)
            for name in sorted(set(settings) - {"bootstrap_servers"}):
                value = MASK if name in SECRETS else settings[name]
                shown[f"kafka.{name}"] = Setting(value, "file", f"{where}: {name}")
    return shown


def _shown(resolved: ResolvedSettings, name: str, layer: Layer | None) -> Setting:
    value: Any = getattr(resolved.settings, SETTING_NAMES[name])
    if isinstance(value, SecretStr):
        value = MASK if value.get_secret_value() else ""
    elif isinstance(value, Parameters):
        pairs = zip(all_parameters(value), all_parameters(Parameters()), strict=True)
        value = {mine.path: mine.value for mine, default in pairs if mine.value != default.value}
    elif name == "patterns":
        value = tuple(value)
    elif isinstance(value, Path):
        value = str(value)
    return Setting(value, layer.kind, layer.called(name)) if layer is not None else Setting(value, "default", "")


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{path} = {number}" for path, number in value.items()) or "-"
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "-"
    return "-" if value in (None, "") else str(value)
