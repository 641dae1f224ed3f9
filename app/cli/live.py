"""``touchline live``: plays matches, live. Its options are the fields of :class:`app.settings.model.LiveSettings`."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, get_args

import typer
from pydantic.fields import FieldInfo

from app.cli.options import Given
from app.settings.layers import flag
from app.settings.model import SECRET, SETTING_NAMES, LiveSettings, SettingsError
from app.settings.resolve import resolve_settings
from detectors.parameters import Parameters

app = typer.Typer(add_completion=False)

#: Options of type bool without a --no- form.
_ON_ONLY = frozenset(("standby",))


def live(
    context: typer.Context,
    config: Annotated[
        Path | None,
        Given(help="Settings file (TOML). Default touchline.toml in the working folder, if it exists."),
    ] = None,
    matches: Annotated[
        list[str] | None,
        Given(
            help="Several matches in one run, instead of --source. Each value is a source or a list of matches (.toml) "
            "that may grow during the run. kafka://host:port/topic plays every match of the topic, with ?match=NAME "
            "that one. --store is then the folder of all stores.",
        ),
    ] = None,
    verbose: Annotated[
        bool, Given("--verbose", help="Let the summary show kinds of events, ordering and latencies, too.")
    ] = False,
    as_json: Annotated[bool, Given("--json", help="Print the summary as JSON on stdout.")] = False,
    **settings: Any,
) -> None:
    """Plays a match through Spark: events, page, camera and store, live. Ctrl-C ends it cleanly.

    Exit code 3: it was played, but the input is wrong, and the summary says how to mend it. Exit code 4: it was played,
    but a detector failed, and its events are missing from then on.

    Every option but --matches can also be given in a settings file (window = 20) or as a variable
    (TOUCHLINE_WINDOW=20). `touchline config` shows the resulting settings, and where each comes from.

    Examples:
        touchline live
        touchline live --source track.parquet --sheet metadata.json --store matches/derby
        touchline live --source matches/derby --speed max --no-dashboard --engine inprocess
        touchline live --matches kafka://127.0.0.1:9092/positions --publish kafka://127.0.0.1:9092/events
    """
    from app.run.live import run_live
    from app.run.summary import code_of

    resolved = resolve_settings(context.params, os.environ, Path()).settings
    if not matches:
        raise typer.Exit(code_of(run_live(resolved, as_json=as_json, verbose=verbose)))
    from app.run.match_list import entries_of
    from app.run.matches import common_of, run_matches

    if settings["source"] is not None or settings["camera"] or settings["standby"]:
        raise SettingsError("--matches cannot be combined with --source, --camera or --standby")
    if resolved.nodes > 1:
        raise SettingsError("--matches cannot be combined with --nodes: many matches share the seats instead")
    common = common_of(resolved, context.params)
    raise typer.Exit(run_matches(lambda: entries_of(matches), common, as_json=as_json))


def _with_settings_as_options(command: Any) -> Any:
    """The command with an option for each setting in place of its ``**settings``; a secret is never an option."""
    signature = inspect.signature(command, eval_str=True)
    *own, _ = signature.parameters.values()
    parameters = [own[0], *_options(), *own[1:]]
    command.__signature__ = signature.replace(parameters=parameters)
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


def _options() -> Iterator[inspect.Parameter]:
    for name, field in SETTING_NAMES.items():
        if name not in SECRET:
            info = LiveSettings.model_fields[field]
            option = Annotated[_type(info) | None, Given(_flags(name, info), help=_help(info))]  # type: ignore[misc]
            yield inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None, annotation=option)


def _type(info: FieldInfo) -> type:
    """The type that the command line converts to; the model checks the rest."""
    kinds = set(get_args(info.annotation) or (info.annotation,)) - {NoneType}
    kind = kinds.pop() if len(kinds) == 1 else str
    return Path if kind is Parameters else kind if kind in (bool, int, float, Path) else str


def _flags(name: str, info: FieldInfo) -> str:
    if _type(info) is bool and name not in _ON_ONLY:
        return f"{flag(name)}/--no-{flag(name)[2:]}"
    return flag(name)


def _help(info: FieldInfo) -> str:
    """The description of a field with its default, unless it describes that itself or the default says nothing."""
    text, default = info.description or "", info.default
    if "Default" in text or default in (None, "", ()) or isinstance(default, bool):
        return text
    return f"{text} Default {default:g}." if isinstance(default, float) else f"{text} Default {default}."


def options_of_live(arguments: list[str]) -> Mapping[str, Any]:
    """The options that a command line has for ``live``, by name, without running it."""
    with typer.main.get_command(app).make_context("live", list(arguments)) as context:
        return dict(context.params)


app.command()(_with_settings_as_options(live))
